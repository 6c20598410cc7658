"""Instruments: comparing results, measuring against other runtimes, checking what passes do to numbers."""

"""Hostile om files: mutations of good ones, each of which must end in an error in words or in a run."""

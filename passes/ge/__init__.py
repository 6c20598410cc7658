"""Passes of the ge level."""

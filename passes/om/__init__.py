"""Passes of the om level."""

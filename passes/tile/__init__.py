"""Passes of the tile level."""

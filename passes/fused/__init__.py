"""Passes of the fused level."""

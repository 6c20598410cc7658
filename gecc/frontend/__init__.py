"""Readers of models, one package a format."""

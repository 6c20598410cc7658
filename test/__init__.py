"""Tests: lit files mirroring dialects/ and passes/, Python tests in unit/, and the tools that run them."""

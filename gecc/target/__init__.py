"""Descriptions of the machines that gecc compiles for, as data, and the question which of them this CPU can run."""

from gecc.target.cpu import host, supports
from gecc.target.target import AARCH64, TARGETS, X86_64_V3, X86_64_V4, Target, load

__all__ = ["AARCH64", "TARGETS", "X86_64_V3", "X86_64_V4", "Target", "host", "load", "supports"]

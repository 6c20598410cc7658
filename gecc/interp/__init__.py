"""The numpy meaning of every level: what a module computes, without generating code."""

from gecc.interp.base import Env, meaning, run_module

__all__ = ["Env", "meaning", "run_module"]

"""Static memory planning: buffers with lifetimes in, one offset each out. Pure: knows nothing of the IR."""

from gecc.memory.checker import check
from gecc.memory.portfolio import EFFORTS, Plan, plan
from gecc.memory.problem import Buffer, Piece, PlanError, lower_bound

__all__ = ["EFFORTS", "Buffer", "Piece", "Plan", "PlanError", "check", "lower_bound", "plan"]

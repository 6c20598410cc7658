"""Static memory planning: buffers with lifetimes in, one offset each out. Pure: knows nothing of the IR."""

from gecc.memory.checker import check
from gecc.memory.portfolio import EFFORTS, Plan, plan
from gecc.memory.problem import Buffer, PlanError, lower_bound

__all__ = ["EFFORTS", "Buffer", "Plan", "PlanError", "check", "lower_bound", "plan"]

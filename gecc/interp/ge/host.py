"""What runs on the host means what the host engine makes of it."""

from __future__ import annotations

from typing import Any

from gecc.dialects.ge.host import HostOp
from gecc.interp.base import Env, meaning
from gecc.interp.host_call import run_call


@meaning(HostOp)
def host(env: Env, op: HostOp, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """A program on the values of the operands."""
    return tuple(run_call(op, inputs, env.store))

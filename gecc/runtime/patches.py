"""Operators that `onnx.reference` gets wrong or lacks, done right. Every class says what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_identity, op_if, op_loop


class _Optional(OpRun):
    """The reference takes no operator that returns an empty optional, None."""

    op_domain = ""

    def _check_and_fix_outputs(self, res: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(np.array(x) if np.isscalar(x) else x for x in res)


class Optional(_Optional):
    """The reference makes a list of one element, which is a sequence; an optional is the element itself, or None."""

    def _run(self, x: Any = None, type: Any = None) -> tuple[Any, ...]:
        return (x,)


class Identity(_Optional, op_identity.Identity):
    """For optionals without element."""

    def _run(self, a: Any) -> tuple[Any, ...]:
        return (None,) if a is None else op_identity.Identity._run(self, a)


class If(_Optional, op_if.If):
    """For branches that return an optional without element, which the reference makes an error."""

    def _run(self, cond: Any, context: Any = None, attributes: Any = None, bindings: Any = None, **_: Any) -> Any:
        branch = self._run_then_branch if np.asarray(cond).item() else self._run_else_branch
        return tuple(branch(context, attributes=attributes, bindings=bindings))


class Loop(_Optional, op_loop.Loop):
    """An absent condition is true, but stops the reference's loop before it starts; it joins the pieces of a scan output
    along their first dimension, where the standard stacks them along a new one; and of no pieces it makes an error.
    """

    op_domain = ""

    def _run(
        self, M: Any, cond: Any, *args: Any, context: Any = None, body: Any = None, **rest: Any
    ) -> tuple[Any, ...]:
        graph = self.body
        names, carried = graph.input_names, len(graph.input_names) - 2
        values = dict(context or {})
        state = list(args)
        pieces: list[list[Any]] = [[] for _ in graph.output_names[1 + carried :]]
        going = True if cond is None else bool(np.asarray(cond).reshape(()))
        trip, limit = 0, None if M is None else int(np.asarray(M).reshape(()))
        while going and (limit is None or trip < limit):
            values.update(zip(names, [np.array(trip, np.int64), np.array(going), *state], strict=True))
            made = self._run_body(values, attributes=rest.get("attributes"), bindings=rest.get("bindings"))
            going = bool(np.asarray(made[0]).reshape(()))
            state = list(made[1 : 1 + carried])
            for piece, value in zip(pieces, made[1 + carried :], strict=True):
                piece.append(value)
            trip += 1
        scans = [np.stack(p) if p else self._nothing(i) for i, p in enumerate(pieces)]
        return (*state, *scans)

    def _nothing(self, number: int) -> np.ndarray:
        """A scan output without pieces: no rows of the shape that the body declares, as far as it does."""
        from onnx.helper import tensor_dtype_to_np_dtype

        info = self.onnx_node.attribute[0].g.output[1 + len(self.body.input_names) - 2 + number]
        kind = info.type.tensor_type
        dims = [d.dim_value for d in kind.shape.dim]
        return np.zeros((0, *dims), tensor_dtype_to_np_dtype(kind.elem_type))


PATCHES: tuple[type[OpRun], ...] = (Identity, If, Loop, Optional)
"""Taken before the implementations of onnx; an entry serves every version of its operator."""

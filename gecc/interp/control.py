"""What branches and loops mean: their regions run by xDSL's interpreter, in scopes that see the values around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation

from gecc.dialects import fused, ge
from gecc.interp.base import Array, Env, finish, operand_values


def control_functions(env: Env) -> InterpreterFunctions:
    """The meanings of control flow at the ge and the fused level."""

    @register_impls
    class ControlFunctions(InterpreterFunctions):
        @impl_terminator(ge.Yield)
        def run_yield(
            self, _interpreter: Interpreter, op: ge.Yield, args: PythonValues
        ) -> tuple[TerminatorValue, PythonValues]:
            return ReturnedValues(args), ()

        @impl_terminator(fused.YieldOp)
        def run_fused_yield(
            self, _interpreter: Interpreter, op: fused.YieldOp, args: PythonValues
        ) -> tuple[TerminatorValue, PythonValues]:
            return ReturnedValues(args), ()

        @impl(ge.If)
        def run_if(self, interpreter: Interpreter, op: ge.If, args: PythonValues) -> PythonValues:
            region = op.then_body if _holds(args[0]) else op.else_body
            return finish(env, op, tuple(interpreter.run_ssacfg_region(region, (), "if")))

        @impl(fused.IfOp)
        def run_fused_if(self, interpreter: Interpreter, op: fused.IfOp, args: PythonValues) -> PythonValues:
            region = op.then_body if _holds(args[0]) else op.else_body
            return finish(env, op, tuple(interpreter.run_ssacfg_region(region, (), "if")))

        @impl(ge.While)
        def run_while(self, interpreter: Interpreter, op: ge.While, args: PythonValues) -> PythonValues:
            trips, condition, inits = operand_values(op, args)
            carried: Sequence[Any] = tuple(inits)
            rows: list[list[Array]] = [[] for _ in op.rows]
            go, number = condition is None or _holds(condition), 0
            while go and (trips is None or number < int(np.asarray(trips).reshape(()))):
                values = interpreter.run_ssacfg_region(op.body, (np.array(number, np.int64), *carried), "loop")
                go, carried = _holds(values[0]), values[1 : 1 + len(carried)]
                for whole, row in zip(rows, values[1 + len(carried) :], strict=True):
                    whole.append(row)
                number += 1
            return finish(env, op, (*carried, *_stacked(env, op, rows)))

        @impl(fused.WhileOp)
        def run_fused_while(self, interpreter: Interpreter, op: fused.WhileOp, args: PythonValues) -> PythonValues:
            go, carried = _holds(args[0]), args[1:]
            wholes = [_empty(env, result.type) for result in op.results[len(carried) :]]
            while go:
                values = interpreter.run_ssacfg_region(op.body, carried, "loop")
                place = int(carried[0]) if wholes else 0
                go, carried = _holds(values[0]), values[1 : 1 + len(carried)]
                for whole, row in zip(wholes, values[1 + len(carried) :], strict=True):
                    whole[place] = row
            return finish(env, op, (*carried, *wholes))

    return ControlFunctions()


def _holds(value: Any) -> bool:
    return bool(np.asarray(value).reshape(()))


def _stacked(env: Env, op: Operation, rows: Sequence[Sequence[Array]]) -> list[Array]:
    results = op.results[len(op.results) - len(rows) :]
    made: list[Array] = []
    for result, whole in zip(results, rows, strict=True):
        assert isinstance(result.type, TensorType)
        shape = [max(d, 0) for d in result.type.get_shape()[1:]]
        made.append(np.stack(whole) if whole else np.zeros((0, *shape), env.dtype(result.type.element_type)))
    return made


def _empty(env: Env, kind: Any) -> Array:
    """A tensor of which nothing is written yet: NaN, or -1."""
    assert isinstance(kind, TensorType)
    dtype = env.dtype(kind.element_type)
    return (
        np.full(kind.get_shape(), 0xFF, np.uint8).astype(dtype)
        if dtype.kind == "b"
        else np.full(
            kind.get_shape(), -1 if dtype.kind == "i" else np.iinfo(dtype).max if dtype.kind == "u" else np.nan
        ).astype(dtype)
    )

"""Differential testing of ge operators: the interpreter against ONNX's own definition of an operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.reference
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Block, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gecc.context import make_context
from gecc.dialects import ge
from gecc.interp import run_module

Array = np.ndarray[Any, Any]
OPSET = 22

TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
"""Relative (and, for values near 1, absolute) difference allowed."""


def module_of(build: Callable[..., Operation], types: Sequence[TensorType[Any]]) -> ModuleOp:
    """A module whose main applies `build` to its arguments and returns all results of the operator made."""
    block = Block(arg_types=types)
    op = build(*block.args)
    made: list[Operation] = []

    def place(o: Operation) -> None:
        if o.parent is None and o not in made:
            for value in o.operands:
                if isinstance(value.owner, Operation):
                    place(value.owner)
            made.append(o)

    place(op)
    block.add_ops([*made, func.ReturnOp(*op.results)])
    main = func.FuncOp("main", (list(types), [r.type for r in op.results]), Region(block))
    return ModuleOp([main])


def run(build: Callable[..., Operation], inputs: Sequence[Array], **options: Any) -> list[Array]:
    """Build, verify, send through both printed forms, and interpret."""
    types = [TensorType(ge.element_type(x.dtype), x.shape) for x in inputs]
    module = module_of(build, types)
    module.verify()
    for generic in (False, True):
        text = StringIO()
        Printer(text, print_generic_format=generic).print_op(module)
        again = Parser(make_context(), text.getvalue()).parse_module()
        again.verify()
        assert module.is_structurally_equivalent(again)
    results = list(run_module(module, inputs, **options).values())
    _check_unknown(build, inputs, results)
    return results


def _check_unknown(build: Callable[..., Operation], inputs: Sequence[Array], results: Sequence[Array]) -> None:
    """With every dimension unknown, inference must still admit the shapes computed."""
    types = [TensorType(ge.element_type(x.dtype), [DYNAMIC_INDEX] * x.ndim) for x in inputs]
    try:
        module = module_of(build, types)
    except VerifyException as error:
        # only what decides a rank may ask to be known
        if "rank" in str(error) or "needs scales" in str(error):
            return
        raise
    module.verify()
    for got, expected in zip(run_module(module, inputs).values(), results, strict=True):
        np.testing.assert_array_equal(got, expected)


def onnx_model(op: str, inputs: Sequence[Array | None], attrs: dict[str, Any], outputs: int) -> onnx.ModelProto:
    """A model of one node; None is an absent input."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    node = onnx.helper.make_node(op, names, [f"y{i}" for i in range(outputs)], **attrs)
    infos = [
        onnx.helper.make_tensor_value_info(f"x{i}", onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for i, x in enumerate(inputs)
        if x is not None
    ]
    ends = [onnx.helper.make_empty_tensor_value_info(f"y{i}") for i in range(outputs)]
    graph = onnx.helper.make_graph([node], "one", infos, ends)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=10)


def oracle(
    op: str, inputs: Sequence[Array | None], attrs: dict[str, Any], outputs: int = 1, *, ort: bool = False
) -> list[Array]:
    """What ONNX (its reference, or ONNX Runtime) computes."""
    model = onnx_model(op, inputs, attrs, outputs)
    feeds = {f"x{i}": x for i, x in enumerate(inputs) if x is not None}
    if ort:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        model = onnx.shape_inference.infer_shapes(model)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return [np.asarray(y) for y in session.run(None, feeds)]
    with np.errstate(all="ignore"):
        return [np.asarray(y) for y in onnx.reference.ReferenceEvaluator(model).run(None, feeds)]


def assert_close(got: Array, expected: Array, tolerance: float | None = None) -> None:
    """Equal dtype and shape; equal values, or close ones for floats. NaN equals NaN."""
    assert got.dtype == expected.dtype, f"dtype {got.dtype}, expected {expected.dtype}"
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(got, expected)
        return
    limit = TOLERANCE[expected.dtype.name] if tolerance is None else tolerance
    np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=limit, atol=limit)


class Checker:
    """Compares the interpreter with ONNX on one operator."""

    run = staticmethod(run)
    oracle = staticmethod(oracle)
    assert_close = staticmethod(assert_close)
    module_of = staticmethod(module_of)

    def __call__(
        self,
        build: Callable[..., Operation],
        op: str,
        inputs: Sequence[Array],
        attrs: dict[str, Any] | None = None,
        *,
        operands: Sequence[Array | None] | None = None,
        ort: bool = False,
        tolerance: float | None = None,
    ) -> list[Array]:
        """`build` applied to `inputs` against node `op` on `operands` (default: the same)."""
        got = run(build, inputs)
        expected = oracle(op, inputs if operands is None else operands, attrs or {}, len(got), ort=ort)
        for g, e in zip(got, expected, strict=True):
            assert_close(g, e, tolerance)
        return got


@pytest.fixture
def check() -> Checker:
    """The differential check."""
    return Checker()


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(20240607)

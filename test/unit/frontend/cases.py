"""Small ONNX models of one node, run through the importer and numpy on one side, ONNX Runtime on the other."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import ModuleOp

from gecc.context import make_context
from gecc.frontend.onnx import import_onnx
from gecc.interp import run_module
from gecc.weights import store_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Fixed:
    """An input that is an initializer of the model."""

    array: Array | np.generic


@dataclass(frozen=True)
class Case:
    """One node at one opset."""

    op: str
    opset: int
    inputs: Sequence[Array | Fixed | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    dynamic: bool = True
    """Whether the node can be imported with all dimensions of its inputs unknown."""
    reference: bool = False
    """Compare with onnx.reference: ONNX Runtime does not run the case."""
    tolerance: float = 1e-5
    rank: int | None = None
    """Rank of the result, for what ONNX cannot infer."""
    note: str = ""

    @property
    def id(self) -> str:
        """What pytest calls the case."""
        text = ",".join(f"{k}={v}" for k, v in self.attributes.items() if not isinstance(v, TensorProto))
        return f"{self.op}-{self.opset}-{text or 'plain'}{'-' + self.note if self.note else ''}".replace(" ", "")

    def model(self, *, unknown_dims: bool = False) -> ModelProto:
        """The model; with `unknown_dims` no input declares a size, but for vectors of integers (shapes, axes)."""
        names = ["" if x is None else f"i{i}" for i, x in enumerate(self.inputs)]
        infos = [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(x.dtype),
                [f"{name}_{d}" for d in range(x.ndim)] if unknown_dims and not _is_vector(x) else list(x.shape),
            )
            for name, x in zip(names, self.inputs, strict=True)
            if isinstance(x, np.ndarray)
        ]
        initializers = [
            numpy_helper.from_array(np.asarray(x.array), name)
            for name, x in zip(names, self.inputs, strict=True)
            if isinstance(x, Fixed)
        ]
        outputs = [f"o{i}" for i in range(self.outputs)]
        node = helper.make_node(self.op, names, outputs, name=f"the_{self.op}", **self.attributes)
        return model_of([node], infos, outputs, self.opset, initializers, self.rank)

    def feeds(self) -> dict[str, Array]:
        """The inputs by name."""
        return {f"i{i}": x for i, x in enumerate(self.inputs) if isinstance(x, np.ndarray)}


def _is_vector(x: Array) -> bool:
    return x.ndim == 1 and x.dtype == np.int64


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[str],
    opset: int,
    initializers: Sequence[TensorProto] = (),
    rank: int | None = None,
) -> ModelProto:
    """A model whose outputs have the types that ONNX infers, or `rank` where it infers no shape."""
    graph = helper.make_graph(
        list(nodes), "graph", list(inputs), [helper.make_empty_tensor_value_info(o) for o in outputs], initializers
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    inferred = onnx.shape_inference.infer_shapes(model)
    for info, known in zip(model.graph.output, inferred.graph.output, strict=True):
        if known.type.tensor_type.HasField("shape"):
            info.CopyFrom(known)
        elif rank is not None:
            kind = known.type.tensor_type.elem_type
            info.CopyFrom(helper.make_tensor_value_info(info.name, kind, [None] * rank))
        else:  # ONNX infers nothing for some function operators; their result is like their first input
            info.type.CopyFrom(inputs[0].type)
    return model


def imported(model: ModelProto, feeds: dict[str, Array]) -> tuple[ModuleOp, dict[str, Array]]:
    """The module of a model, verified, and its results in numpy."""
    ctx = make_context()
    module = import_onnx(ctx, model)
    module.verify()
    return module, run_module(module, feeds, store=store_of(ctx))


def expected(model: ModelProto, feeds: dict[str, Array], *, reference: bool = False) -> list[Array]:
    """The results of ONNX Runtime without its graph optimisations, or of onnx.reference."""
    if reference:
        return [np.asarray(r) for r in ReferenceEvaluator(model).run(None, feeds)]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [np.asarray(r) for r in session.run(None, feeds)]


def assert_close(found: dict[str, Array], wanted: Sequence[Array], tolerance: float) -> None:
    """Equal dtypes and shapes; values within `tolerance` of the largest, NaN and infinities at the same places."""
    for (name, a), b in zip(found.items(), wanted, strict=True):
        assert a.dtype == b.dtype, f"{name}: {a.dtype} is not {b.dtype}"
        assert a.shape == b.shape, f"{name}: {a.shape} is not {b.shape}"
        if a.dtype.kind not in "f":
            np.testing.assert_array_equal(a, b, err_msg=name)
            continue
        finite = np.isfinite(b)
        np.testing.assert_array_equal(a[~finite], b[~finite], err_msg=name)
        scale = max(1.0, float(np.abs(b[finite], dtype=np.float64).max(initial=0.0)))
        np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=tolerance * scale, err_msg=name)


def check(case: Case) -> None:
    """The case gives the oracle's numbers, with sizes declared and (where the case allows it) without."""
    feeds = case.feeds()
    wanted = expected(case.model(), feeds, reference=case.reference)
    assert_close(imported(case.model(), feeds)[1], wanted, case.tolerance)
    if case.dynamic and feeds:
        assert_close(imported(case.model(unknown_dims=True), feeds)[1], wanted, case.tolerance)


def floats(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32) -> Array:
    """Random numbers, the same ones for the same arguments."""
    seed = zlib.crc32(repr((shape, low, high, np.dtype(dtype).name)).encode())
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def ints(*shape: int, low: int = -9, high: int = 9, dtype: Any = np.int64) -> Array:
    """Random integers in [low, high), the same ones for the same arguments."""
    seed = zlib.crc32(repr((shape, low, high, np.dtype(dtype).name)).encode())
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def fixed(*values: Any, dtype: Any = np.int64) -> Fixed:
    """A constant vector."""
    return Fixed(np.array(values, dtype))

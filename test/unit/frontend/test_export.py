"""Export: what was imported runs again in ONNX Runtime with the same results; other levels become pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from gecc.context import make_context
from gecc.dialects import ge
from gecc.errors import InvalidModelError, UnsupportedError
from gecc.frontend.onnx import import_onnx
from gecc.frontend.onnx.export import export_onnx, export_view
from gecc.frontend.onnx.export.operators import EXPORTS
from test.unit.frontend.cases import Array, Case, assert_close, expected, floats, model_of
from test.unit.frontend.test_math import NORMS, PRODUCTS, REDUCES, SOFTMAXES
from test.unit.frontend.test_models import IMPORTED, MODELS
from test.unit.frontend.test_movement import INDEXED, PARTS, RESHAPES, SHAPES
from test.unit.frontend.test_pointwise import BINARY, CASTS, UNARY
from test.unit.frontend.test_quant import DEQUANTIZE, INTEGER_PRODUCTS, QUANTIZE
from test.unit.frontend.test_quant import DYNAMIC as RANGES
from test.unit.frontend.test_resize import ANTIALIASED, CROPPED, CUBIC
from test.unit.frontend.test_sampling import BLOCKS, DEFORMED, GRIDS
from test.unit.frontend.test_windows import CONVS, POOLS, RESIZES
from test.unit.frontend.test_windows_nd import ARGMAX
from test.unit.frontend.test_windows_nd import CONVS as CONVS_ND
from test.unit.frontend.test_windows_nd import POOLS as POOLS_ND

FAMILIES = [
    *(UNARY + BINARY + CASTS),
    *(RESHAPES + PARTS + INDEXED + SHAPES),
    *(PRODUCTS + REDUCES + SOFTMAXES + NORMS),
    *(CONVS + POOLS + RESIZES),
    *(CUBIC[::4] + ANTIALIASED[::4] + CROPPED[:2] + GRIDS[::5] + BLOCKS),
    *(replace(c, dynamic=False) for c in DEFORMED),  # displaced taps have no form of their own
    *(c for c in CONVS_ND + POOLS_ND + ARGMAX if c.op != "ConvInteger"),
    *(QUANTIZE + DEQUANTIZE + RANGES + INTEGER_PRODUCTS),
]


def exported(model: ModelProto, **shapes: tuple[int, ...]) -> ModelProto:
    ctx = make_context()
    proto, runnable = export_onnx(ctx, import_onnx(ctx, model, input_shapes=shapes))
    assert runnable
    onnx.checker.check_model(proto, full_check=True)
    return proto


def run(proto: ModelProto, feeds: dict[str, Array], *, reference: bool = False) -> dict[str, Array]:
    return dict(zip([o.name for o in proto.graph.output], expected(proto, feeds, reference=reference), strict=True))


@pytest.mark.parametrize("case", FAMILIES, ids=lambda c: c.id)
def test_export_of_import_gives_the_same_numbers(case: Case) -> None:
    feeds = case.feeds()
    wanted = expected(case.model(), feeds, reference=case.reference)
    assert_close(run(exported(case.model()), feeds), wanted, max(case.tolerance, 2e-5))


DYNAMIC = [c for c in FAMILIES if c.dynamic and c.inputs and c.attributes.get("mode") != "CRD"]


@pytest.mark.parametrize("case", DYNAMIC, ids=lambda c: c.id)
def test_forms_with_unknown_sizes(case: Case) -> None:
    feeds = case.feeds()
    wanted = expected(case.model(), feeds, reference=case.reference)
    assert_close(run(exported(case.model(unknown_dims=True)), feeds), wanted, max(case.tolerance, 2e-5))


@pytest.mark.skipif(not MODELS.is_dir(), reason=f"no models in {MODELS}")
@pytest.mark.parametrize("name", ["rapidocr_onnxruntime__ch_ppocr_mobile_v2.0_cls_infer", "hf_bert_eager.legacy17"])
def test_whole_models(name: str) -> None:
    with np.load(MODELS / f"{name}.case0.npz") as data:
        inputs = {k[3:]: data[k] for k in data if k.startswith("in:")}
        wanted = [data[k] for k in data if k.startswith("out:")]
    model = onnx.load(MODELS / f"{name}.onnx")
    assert_close(run(exported(model), inputs), wanted, IMPORTED[name])
    shapes = {k: v.shape for k, v in inputs.items()}
    assert_close(run(exported(model, **shapes), inputs), wanted, IMPORTED[name])


NOT_IN_ONNX = {"Const"}
"""Operators that export does not look up: constants become initializers."""


def test_every_operator_can_be_exported() -> None:
    missing = {op.__name__ for op in ge.OPS if op not in EXPORTS} - NOT_IN_ONNX
    assert not missing


def parse(text: str) -> tuple[ModelProto, bool]:
    ctx = make_context()
    return export_onnx(ctx, Parser(ctx, text).parse_module())


def test_operators_without_a_spelling_of_their_own() -> None:
    proto, runnable = parse("""
func.func @main(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x4xf32>) {
  %0 = ge.Silu(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = ge.Abs(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = ge.Rsqrt(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = ge.RMSNorm(%2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = ge.MatMulV2(%3, %w, %b) transpose_x2 true : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %4, %3 : tensor<2x3xf32>, tensor<2x4xf32>
}""")
    assert runnable
    assert [o.name for o in proto.graph.output] == ["out0", "out1"]
    x, w, b = floats(2, 4), floats(3, 4), floats(3)
    found = run(proto, {"arg0": x, "arg1": w, "arg2": b})
    inner = 1 / np.sqrt(np.abs(x / (1 + np.exp(-x))))
    normal = inner / np.sqrt((inner**2).mean(axis=-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(found["out1"], normal, rtol=1e-5)
    np.testing.assert_allclose(found["out0"], normal @ w.T + b, rtol=1e-4, atol=1e-5)


def test_outputs_that_no_operator_makes() -> None:
    """An argument, a constant, and one value as two outputs."""
    proto, _ = parse("""
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) {
  %c = ge.Const dense<[true, false]> : tensor<2xi1>
  %n = ge.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %x, %c, %n, %n : tensor<2xf32>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
}""")
    x = floats(2)
    for found, wanted in zip(run(proto, {"arg0": x}).values(), [x, [True, False], -x, -x], strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_what_onnx_cannot_say() -> None:
    with pytest.raises(UnsupportedError, match="SpaceToDepth of mode CRD and unknown extents has no form in ONNX"):
        parse("""
func.func @main(%x: tensor<?x1x2x2xf32>) -> tensor<?x4x1x1xf32> {
  %0 = ge.SpaceToDepth(%x) block_size 2 mode CRD : (tensor<?x1x2x2xf32>) -> tensor<?x4x1x1xf32>
  func.return %0 : tensor<?x4x1x1xf32>
}""")


def test_symbolic_dimensions_and_names_survive() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])
    proto = exported(model_of([helper.make_node("Relu", ["x"], ["y"], name="first")], [x], ["y"], 17))
    assert [d.dim_param or d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim] == ["batch", 3]
    assert [n.name for n in proto.graph.node] == ["first"]
    assert proto.graph.output[0].name == "y"


# -- pictures -----------------------------------------------------------------------------------------------------


def lowered(stage: str) -> tuple[ModelProto, bool, ModuleOp]:
    from gecc.api import lower

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 40])
    w = onnx.numpy_helper.from_array(floats(40, 40), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="product"),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("Softmax", ["b"], ["y"], name="softmax"),
    ]
    ctx = make_context()
    module = import_onnx(ctx, model_of(nodes, [x], ["y"], 17, [w]))
    lower(ctx, module, stage=stage)
    return *export_onnx(ctx, module), module


@pytest.mark.parametrize("stage", ["fused", "tile", "om"])
def test_later_levels_are_pictures(stage: str, tmp_path: Path) -> None:
    proto, runnable, _ = lowered(stage)
    assert not runnable
    graph = proto.graph
    assert [i.name for i in graph.input] == ["x"]
    assert [o.name for o in graph.output] == ["y"]
    assert {n.domain for n in graph.node} == {"gecc"}
    assert not any(t.raw_data for t in graph.initializer if len(t.dims) == 2)
    known = {i.name for i in graph.input} | {t.name for t in graph.initializer}
    for node in graph.node:
        assert known.issuperset(node.input), f"{node.name} reads {set(node.input) - known}"
        assert not known.intersection(node.output)
        known.update(node.output)
    assert "y" in known
    assert len({n.name for n in graph.node}) == len(graph.node)
    path = tmp_path / "picture.onnx"
    path.write_bytes(proto.SerializeToString(deterministic=True))
    assert onnx.load(path, load_external_data=False) == proto


def test_a_picture_of_ge_needs_no_weights() -> None:
    ctx = make_context()
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 40])
    w = onnx.numpy_helper.from_array(floats(40, 40), "w")
    module = import_onnx(ctx, model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [x], ["y"], 17, [w]))
    graph = export_view(ctx, module).graph
    assert [n.op_type for n in graph.node] == ["MatMulV2", "Output"]
    assert list(graph.initializer[0].dims) == [40, 40]
    assert not graph.initializer[0].raw_data
    assert graph.initializer[0].data_location == TensorProto.DEFAULT


def test_a_module_without_graph() -> None:
    with pytest.raises(InvalidModelError, match="the module has no graph"):
        export_view(make_context(), ModuleOp([FuncOp.external("main", [], [])]))

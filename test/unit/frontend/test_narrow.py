"""Element types below a byte and floats of a byte: their bits against ml_dtypes, operators against onnx.reference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from gecc.context import make_context
from gecc.errors import InvalidModelError, UnsupportedError
from gecc.frontend.onnx import import_onnx
from gecc.frontend.onnx.narrow import NARROW
from gecc.interp import run_module
from gecc.weights import store_of
from test.unit.frontend.cases import Array, floats, ints

FLOATS = [t for t, kind in NARROW.items() if kind.is_float and kind.mantissa]
INTEGERS = [t for t, kind in NARROW.items() if not kind.is_float]
POWERS = TensorProto.FLOAT8E8M0


def type_name(data_type: int) -> str:
    return helper.tensor_dtype_to_string(data_type)


def numpy_type(data_type: int) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, NARROW[data_type].name))


def bits(array: Array) -> Array:
    """What gecc holds for an array of ml_dtypes."""
    return array.view(np.uint8) if array.dtype.name in {kind.name for kind in NARROW.values()} else array


def every(data_type: int) -> Array:
    """All numbers of a type."""
    return np.arange(2 ** NARROW[data_type].bits, dtype=np.uint8).view(numpy_type(data_type))


def model_of(
    nodes: Sequence[onnx.NodeProto],
    feeds: dict[str, Array],
    output: int,
    rank: int,
    constants: Sequence[TensorProto] = (),
    opset: int = 25,
) -> ModelProto:
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in feeds.items()
    ]
    out = helper.make_tensor_value_info("y", output, [f"d{i}" for i in range(rank)])
    graph = helper.make_graph(list(nodes), "graph", inputs, [out], list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=13)


def found(model: ModelProto, feeds: dict[str, Array]) -> Array:
    """The result in numpy; a narrow one as its bits."""
    ctx = make_context()
    module = import_onnx(ctx, model)
    module.verify()
    (result,) = run_module(module, {n: bits(a) for n, a in feeds.items()}, store=store_of(ctx)).values()
    return result


def cast(x: Array, to: int, **attributes: Any) -> Array:
    """What a Cast makes of x."""
    feeds = {"x": x}
    return found(model_of([helper.make_node("Cast", ["x"], ["y"], to=to, **attributes)], feeds, to, x.ndim), feeds)


def every_edge(data_type: int) -> Array:
    """f32 around all that a type can tell apart: its numbers, the middles between two, the floats next to each."""
    with np.errstate(invalid="ignore"):
        numbers = every(data_type).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    grid = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2, numbers[[0, -1]] * 1.01]).astype(np.float32)
    every_float = np.random.default_rng(5).integers(0, 2**32, 5000, np.uint32).view(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e38, -1e38, 1e-45], np.float32)
    around = [np.nextafter(grid, np.float32(np.inf)), np.nextafter(grid, np.float32(-np.inf))]
    return np.concatenate([grid, *around, every_float, special])


def rounded(x: Array, data_type: int, saturate: bool) -> Array:
    """The bits of the nearest numbers, by ml_dtypes; what is too large by the standard's table."""
    kind, to = NARROW[data_type], numpy_type(data_type)
    limit = np.array(kind.most, np.uint8).view(to).astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        plain = x.astype(to)
        if kind.nan is None or not saturate:
            return bits(plain)
        return bits(np.clip(x, -limit, limit).astype(to))


def assert_same_floats(got: Array, want: Array, data_type: int) -> None:
    """The same bits, but for which NaN."""
    to = numpy_type(data_type)
    nan = np.isnan(got.view(to).astype(np.float32)), np.isnan(want.view(to).astype(np.float32))
    np.testing.assert_array_equal(*nan)
    np.testing.assert_array_equal(got[~nan[0]], want[~nan[0]])


@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("data_type", FLOATS, ids=type_name)
def test_rounding_to_floats(data_type: int, source: str, saturate: int) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        x = every_edge(data_type).astype(np.dtype(getattr(ml_dtypes, source, source)))
    want = rounded(x.astype(np.float32), data_type, bool(saturate))
    assert_same_floats(cast(x, data_type, saturate=saturate), want, data_type)


@pytest.mark.parametrize("data_type", FLOATS, ids=type_name)
def test_float64_is_rounded_once(data_type: int) -> None:
    """A hair beside the middle of two numbers, which an f32 cannot tell from it."""
    with np.errstate(invalid="ignore"):
        numbers = every(data_type).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    middles = (numbers[1:] + numbers[:-1]) / 2
    above = cast(np.nextafter(middles, np.inf), data_type)
    below = cast(np.nextafter(middles, -np.inf), data_type)
    for got, want in ((above, numbers[1:]), (below, numbers[:-1])):
        np.testing.assert_array_equal(got.view(numpy_type(data_type)).astype(np.float64), want)


@pytest.mark.parametrize("target", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("data_type", [*FLOATS, POWERS], ids=type_name)
def test_numbers_of_floats(data_type: int, target: str) -> None:
    to = np.dtype(getattr(ml_dtypes, target, target))
    x = every(data_type)
    with np.errstate(invalid="ignore", over="ignore"):
        want = x.astype(np.float32).astype(to)
    got = cast(x, helper.np_dtype_to_tensor_dtype(to))
    assert got.dtype == to
    np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))


@pytest.mark.parametrize("data_type", INTEGERS, ids=type_name)
def test_integers(data_type: int) -> None:
    kind, x = NARROW[data_type], every(data_type)
    numbers = x.astype(np.int32)
    assert (numbers.min(), numbers.max()) == kind.range
    for to in (np.float32, np.float16, np.int8, np.int64, np.uint8, np.bool_):
        np.testing.assert_array_equal(cast(x, helper.np_dtype_to_tensor_dtype(np.dtype(to))), numbers.astype(to))
    for source in (np.float32, np.float64, np.int8, np.int64):
        np.testing.assert_array_equal(cast(numbers.astype(source), data_type), bits(x))
    wide = np.arange(-300, 300, dtype=np.int16)
    np.testing.assert_array_equal(cast(wide, data_type), wide.astype(np.uint8) & (2**kind.bits - 1))
    np.testing.assert_array_equal(cast(np.array([2.7, -0.9], np.float32), TensorProto.INT4), [2, 0])


@pytest.mark.parametrize("data_type", [*FLOATS, *INTEGERS], ids=type_name)
def test_from_one_narrow_type_to_another(data_type: int) -> None:
    x = every(TensorProto.FLOAT4E2M1)
    if NARROW[data_type].is_float:
        want = rounded(x.astype(np.float32), data_type, True)
    else:
        want = x.astype(np.float32).astype(np.int32).astype(np.uint8) & (2 ** NARROW[data_type].bits - 1)
    np.testing.assert_array_equal(cast(x, data_type), want)


def test_powers_of_two() -> None:
    """Against their definition: exponents of 2 from -127 to 127."""
    exact = np.exp2(np.arange(-127.0, 128))
    for mode, factor, up in (
        ("up", 1.001, 1), ("up", 1.9, 1), ("down", 1.9, 0), ("nearest", 1.49, 0), ("nearest", 1.5, 1), ("nearest", 1.6, 1),
        ("up", 1.0, 0), ("down", 1.0, 0), ("nearest", 1.0, 0),
    ):  # fmt: skip
        x = (exact * factor).astype(np.float32)
        want = np.minimum(np.arange(255) + up, 254)
        np.testing.assert_array_equal(cast(x, POWERS, round_mode=mode), want, err_msg=f"{mode} {factor}")
    odd = np.array([0.0, np.inf, np.nan, 1e-42, 3.3e38], np.float32)
    np.testing.assert_array_equal(cast(odd, POWERS), [0, 254, 255, 0, 254])
    np.testing.assert_array_equal(cast(odd, POWERS, saturate=0, round_mode="nearest"), [255, 255, 255, 255, 255])


def quantisation(data_type: int, shape: str, *, zero: bool, backwards: bool) -> tuple[ModelProto, dict[str, Array]]:
    """QuantizeLinear or DequantizeLinear for the whole tensor, along axis 1, or by blocks of 2 of axis 1."""
    dims, attributes = {
        "whole": ((), {}),
        "axis": ((5,), {"axis": 1}),
        "block": ((4, 3), {"axis": 1, "block_size": 2}),
    }[shape]
    scale = floats(*dims, low=0.1, high=0.5)
    to = numpy_type(data_type)
    everything = every(data_type)
    if NARROW[data_type].nan is not None:
        everything = everything[np.isfinite(everything.astype(np.float32))]
    source = np.resize(everything, (4, 5)) if backwards else floats(4, 5, low=-3, high=3)
    feeds: dict[str, Array] = {"x": source, "s": scale}
    names = ["x", "s"]
    if zero:
        feeds["z"] = np.zeros(dims, to) if NARROW[data_type].is_float else np.full(dims, 1, to)
        names.append("z")
    elif not backwards:
        attributes = {**attributes, "output_dtype": data_type}
    node = helper.make_node("DequantizeLinear" if backwards else "QuantizeLinear", names, ["y"], **attributes)
    return model_of([node], feeds, TensorProto.FLOAT if backwards else data_type, 2), feeds


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("shape", ["whole", "axis", "block"])
@pytest.mark.parametrize("data_type", [*FLOATS, *INTEGERS], ids=type_name)
def test_quantisation(data_type: int, shape: str, zero: bool, backwards: bool) -> None:
    model, feeds = quantisation(data_type, shape, zero=zero, backwards=backwards)
    want = next(iter(ReferenceEvaluator(model).run(None, feeds)))
    got = found(model, feeds)
    np.testing.assert_array_equal(got, bits(np.asarray(want)))


MOVES = [
    helper.make_node("Transpose", ["x"], ["y"]),
    helper.make_node("Reshape", ["x", "shape"], ["y"]),
    helper.make_node("Flatten", ["x"], ["y"], axis=0),
    helper.make_node("Unsqueeze", ["x", "axes"], ["y"]),
    helper.make_node("Squeeze", ["x"], ["y"]),
    helper.make_node("Identity", ["x"], ["y"]),
    helper.make_node("Pad", ["x", "pads", "value"], ["y"]),
]


@pytest.mark.parametrize("node", MOVES, ids=lambda node: node.op_type)
@pytest.mark.parametrize("data_type", [TensorProto.INT4, TensorProto.FLOAT8E5M2], ids=type_name)
def test_operators_that_move(node: onnx.NodeProto, data_type: int) -> None:
    feeds = {"x": np.resize(every(data_type), (3, 4))}
    value = np.array(1.0).astype(numpy_type(data_type))
    constants = [
        numpy_helper.from_array(np.array([2, 6]), "shape"),
        numpy_helper.from_array(np.array([1]), "axes"),
        numpy_helper.from_array(np.array([1, 0, 0, 2]), "pads"),
        numpy_helper.from_array(value, "value"),
    ]
    model = model_of([node], feeds, data_type, 3 if node.op_type == "Unsqueeze" else 2, constants)
    if node.op_type == "Pad":
        want = np.pad(bits(feeds["x"]), [(1, 0), (0, 2)], constant_values=bits(value[None])[0])
    else:
        want = bits(np.asarray(next(iter(ReferenceEvaluator(model).run(None, feeds)))))
    np.testing.assert_array_equal(found(model, feeds), want)


@pytest.mark.parametrize("form", ["raw", "numbers", "node", "file"])
@pytest.mark.parametrize("data_type", [*INTEGERS, TensorProto.FLOAT4E2M1, TensorProto.FLOAT8E4M3FN], ids=type_name)
def test_constants(data_type: int, form: str, tmp_path: Path) -> None:
    """However the file holds them; of an odd number of elements, so that the last byte is not full."""
    values = np.resize(every(data_type), (3, 3))
    raw = numpy_helper.from_array(values, "w")
    cast_node = helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)
    nodes, constants = [cast_node], [raw]
    if form == "numbers":
        constants = [TensorProto(name="w", data_type=data_type, dims=[3, 3], int32_data=raw.raw_data)]
    elif form == "node":
        nodes, constants = [helper.make_node("Constant", [], ["w"], value=raw), cast_node], []
    elif form == "file":
        (tmp_path / "w.bin").write_bytes(raw.raw_data)
        moved = TensorProto(name="w", data_type=data_type, dims=[3, 3], data_location=TensorProto.EXTERNAL)
        moved.external_data.add(key="location", value="w.bin")
        constants = [moved]
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of(nodes, {}, TensorProto.FLOAT, 2, constants).SerializeToString())
    ctx = make_context()
    (got,) = run_module(import_onnx(ctx, path), {}, store=store_of(ctx)).values()
    np.testing.assert_array_equal(got, values.astype(np.float32))


def test_bits_stay_with_bit_cast() -> None:
    x = ints(4, low=0, high=256, dtype=np.uint8)
    node = helper.make_node("BitCast", ["x"], ["y"], to=TensorProto.FLOAT8E4M3FN)
    back = helper.make_node("Cast", ["y"], ["z"], to=TensorProto.FLOAT)
    model = model_of([node, back], {"x": x}, TensorProto.FLOAT8E4M3FN, 1, opset=26)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("z", TensorProto.FLOAT, [4]))
    np.testing.assert_array_equal(found(model, {"x": x}), x.view(ml_dtypes.float8_e4m3fn).astype(np.float32))


def node_of(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, outputs, **attributes)


def test_branches_and_loops() -> None:
    """An INT4 that is chosen, one that is carried, rows of one that are scanned and put together again."""
    kind, x = TensorProto.INT4, np.resize(every(TensorProto.INT4), (3, 4))
    info, no = helper.make_tensor_value_info, node_of
    trips = info("i", TensorProto.INT64, [])
    branches = {
        name: helper.make_graph([no("Identity", [source], [f"{name}_y"])], name, [], [info(f"{name}_y", kind, [3, 4])])
        for name, source in (("then_branch", "x"), ("else_branch", "z"))
    }
    body = helper.make_graph(
        [no("Identity", ["c"], ["c2"]), no("Identity", ["b"], ["b2"]), no("Transpose", ["b"], ["row"], perm=[0, 1])],
        "body",
        [trips, info("c", TensorProto.BOOL, []), info("b", kind, [3, 4])],
        [info("c2", TensorProto.BOOL, []), info("b2", kind, [3, 4]), info("row", kind, [3, 4])],
    )
    scanned = helper.make_graph(
        [no("Identity", ["r"], ["r2"])], "rows", [info("r", kind, [4])], [info("r2", kind, [4])]
    )
    nodes = [
        no("If", ["flag"], ["chosen"], **branches),
        no("Loop", ["count", "", "chosen"], ["end", "stack"], body=body),
        no("Scan", ["end"], ["y"], body=scanned, num_scan_inputs=1, scan_output_directions=[1]),
        no("Squeeze", ["stack", "zero"], ["s"]),
        no("Cast", ["y"], ["out"], to=TensorProto.FLOAT),
    ]
    constants = [numpy_helper.from_array(np.array(1), "count"), numpy_helper.from_array(np.array([0]), "zero")]
    feeds = {"flag": np.array(False), "x": x, "z": x[::-1].copy()}
    model = model_of(nodes, feeds, kind, 2, constants)
    model.graph.output.extend([info("out", TensorProto.FLOAT, [3, 4]), info("s", kind, [3, 4])])
    ctx = make_context()
    module = import_onnx(ctx, model)
    module.verify()
    y, out, stack = run_module(module, {n: bits(a) for n, a in feeds.items()}, store=store_of(ctx)).values()
    np.testing.assert_array_equal(y, bits(x))
    np.testing.assert_array_equal(out, x.astype(np.float32))
    np.testing.assert_array_equal(stack, bits(x[::-1]))


def test_what_computes_with_narrow_numbers_is_refused() -> None:
    x = every(TensorProto.FLOAT8E5M2)[None]

    names = ["x", "s", "z", "x", "s", "z", "s", "z"]
    zero = numpy_helper.from_array(np.zeros((), ml_dtypes.float8_e5m2), "z")
    scale = numpy_helper.from_array(np.array(1, np.float32), "s")
    model = model_of(
        [helper.make_node("QLinearMatMul", names, ["y"])], {"x": x}, TensorProto.FLOAT8E5M2, 2, [zero, scale]
    )
    with pytest.raises(UnsupportedError, match=r"QLinearMatMul of FLOAT8E5M2 is not supported(.|\n)*with Cast before"):
        import_onnx(make_context(), model)


def test_what_follows_a_refused_node_is_examined() -> None:
    """A Cast of what nobody can make is no second complaint, a second unknown operator is one."""
    nodes = [
        helper.make_node("RandomUniform", [], ["r"], "first", shape=[3]),
        helper.make_node("Cast", ["r"], ["c"], to=TensorProto.INT4),
        helper.make_node("Cast", ["c"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("RandomNormalLike", ["f"], ["y"], "second"),
    ]
    with pytest.raises(UnsupportedError, match=r"^2 parts(.|\n)*RandomUniform 'first'(.|\n)*RandomNormalLike 'second'"):
        import_onnx(make_context(), model_of(nodes, {}, TensorProto.FLOAT, 1))


def test_a_wrong_type_of_an_output_is_invalid() -> None:
    x = floats(3)
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT4)
    with pytest.raises(InvalidModelError, match="declares UINT4, but the node that makes it gives INT4"):
        import_onnx(make_context(), model_of([node], {"x": x}, TensorProto.UINT4, 1))

"""How each ge operator is said in ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np
from onnx import FunctionProto, GraphProto, numpy_helper
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue

from gecc.dialects import ge
from gecc.errors import UnsupportedError
from gecc.frontend.onnx.export.writer import DATA_TYPES, Names
from gecc.weights import WeightStore

_OpT = TypeVar("_OpT", bound=Operation)


class Emitter(Protocol):
    """What an export function appends to."""

    store: WeightStore
    names: Names
    functions: list[FunctionProto]

    def node(
        self,
        kind: str,
        inputs: Sequence[SSAValue | str | None],
        output: SSAValue | str | None = None,
        **attributes: Any,
    ) -> str: ...

    def node_of_many(
        self, kind: str, inputs: Sequence[SSAValue | str | None], outputs: Sequence[SSAValue | str], **attributes: Any
    ) -> list[str]: ...

    def constant(self, array: np.ndarray[Any, Any]) -> str: ...

    def ints(self, values: Sequence[int]) -> str: ...

    def refuse(self, rule: str) -> UnsupportedError: ...

    def subgraph(self, region: Region, inputs: Sequence[SSAValue | Attribute]) -> GraphProto: ...


Export: TypeAlias = Callable[[Emitter, Any], None]

EXPORTS: dict[type[Operation], Export] = {}
"""ge operator to the function that appends its ONNX nodes."""


def export(op: type[_OpT]) -> Callable[[Callable[[Emitter, _OpT], None]], Callable[[Emitter, _OpT], None]]:
    """Decorator: enter the export function of an operator."""

    def enter(function: Callable[[Emitter, _OpT], None]) -> Callable[[Emitter, _OpT], None]:
        EXPORTS[op] = function
        return function

    return enter


def plain(attr: Attribute) -> int | float | str | list[int]:
    """The value of a property as ONNX attributes hold it."""
    match attr:
        case IntegerAttr():
            return abs(attr.value.data) if attr.type == ge.element_type(np.bool_) else attr.value.data
        case FloatAttr():
            return attr.value.data
        case StringAttr():
            return attr.data
        case DenseArrayBase():
            return list(cast("DenseArrayBase[IntegerType]", attr).get_values())
        case _:
            raise TypeError(f"no ONNX attribute holds {attr}")


def same(kind: str, **names: str) -> Export:
    """One node with the operands as they are; `names` says which properties become which attributes."""

    def run(e: Emitter, op: Operation) -> None:
        attributes = {theirs: plain(op.properties[ours]) for ours, theirs in names.items() if ours in op.properties}
        e.node(kind, list(op.operands), op.results[0], **attributes)

    return run


_SAME = {
    **{op: op.__name__ for op in (ge.Relu, ge.Sigmoid, ge.Tanh, ge.Erf, ge.Exp, ge.Log, ge.Sqrt, ge.Reciprocal)},
    **{op: op.__name__ for op in (ge.Neg, ge.Abs, ge.Floor, ge.Ceil, ge.Round, ge.Sign, ge.Sin, ge.Cos)},
    **{op: op.__name__ for op in (ge.Tan, ge.Asin, ge.Acos, ge.Atan, ge.Sinh, ge.Cosh, ge.Asinh, ge.Acosh, ge.Atanh)},
    **{op: op.__name__ for op in (ge.BitwiseAnd, ge.BitwiseOr, ge.BitwiseXor, ge.BitwiseNot)},
    **{op: op.__name__ for op in (ge.Softplus, ge.HardSwish, ge.Identity, ge.Add, ge.Sub, ge.Mul, ge.Pow, ge.Equal)},
    **{op: op.__name__ for op in (ge.Greater, ge.Less, ge.GlobalAveragePool, ge.GlobalMaxPool, ge.Size, ge.Range)},
    ge.LogicalNot: "Not",
    ge.IsNan: "IsNaN",
    ge.RealDiv: "Div",
    ge.Maximum: "Max",
    ge.Minimum: "Min",
    ge.GreaterEqual: "GreaterOrEqual",
    ge.LessEqual: "LessOrEqual",
    ge.LogicalAnd: "And",
    ge.LogicalOr: "Or",
    ge.LogicalXor: "Xor",
    ge.PRelu: "PRelu",
    ge.Select: "Where",
    ge.ClipByValue: "Clip",
    ge.TransData: "Identity",
    ge.DynExpand: "Expand",
    ge.DynTile: "Tile",
    ge.DynSqueeze: "Squeeze",
    ge.DynUnsqueeze: "Unsqueeze",
}
for _op, _kind in _SAME.items():
    EXPORTS[_op] = same(_kind)

EXPORTS.update(
    {
        ge.Gelu: same("Gelu", approximate="approximate"),
        ge.HardSigmoid: same("HardSigmoid", alpha="alpha", beta="beta"),
        ge.LeakyRelu: same("LeakyRelu", alpha="alpha"),
        ge.Elu: same("Elu", alpha="alpha"),
        ge.Mod: same("Mod", fmod="fmod"),
        ge.ScatterElements: same("ScatterElements", axis="axis", reduction="reduction"),
        ge.ScatterND: same("ScatterND", reduction="reduction"),
        ge.ReverseSequence: same("ReverseSequence", batch_axis="batch_axis", time_axis="time_axis"),
        ge.BatchNorm: same("BatchNormalization", epsilon="epsilon"),
        ge.Softmax: same("Softmax", axis="axis"),
        ge.LogSoftmax: same("LogSoftmax", axis="axis"),
        ge.ArgMax: same("ArgMax", axis="axis", keep_dims="keepdims", select_last_index="select_last_index"),
        ge.ArgMin: same("ArgMin", axis="axis", keep_dims="keepdims", select_last_index="select_last_index"),
        ge.Transpose: same("Transpose", perm="perm"),
        ge.Concat: same("Concat", axis="axis"),
        ge.Gather: same("Gather", axis="axis"),
        ge.GatherElements: same("GatherElements", axis="axis"),
        ge.GatherND: same("GatherND", batch_dims="batch_dims"),
        ge.DepthToSpace: same("DepthToSpace", block_size="blocksize", mode="mode"),
        ge.Shape: same("Shape", start="start", end="end"),
        ge.DynReshape: same("Reshape", allowzero="allowzero"),
    }
)


@export(ge.Rsqrt)
def rsqrt(e: Emitter, op: ge.Rsqrt) -> None:
    e.node("Reciprocal", [e.node("Sqrt", [op.x])], op.result)


@export(ge.Silu)
def silu(e: Emitter, op: ge.Silu) -> None:
    e.node("Mul", [op.x, e.node("Sigmoid", [op.x])], op.result)


@export(ge.Cast)
def convert(e: Emitter, op: ge.Cast) -> None:
    e.node("Cast", [op.x], op.result, to=DATA_TYPES[ge.elem(op.result)])


@export(ge.Quantize)
def quantize(e: Emitter, op: ge.Quantize) -> None:
    """The result's element type is that of the zero point, or an attribute."""
    kind = {} if op.zero_point is not None else {"output_dtype": DATA_TYPES[ge.elem(op.result)]}
    e.node("QuantizeLinear", [op.x, op.scale, op.zero_point], op.result, **_axis_and_block(op), **kind)


@export(ge.Dequantize)
def dequantize(e: Emitter, op: ge.Dequantize) -> None:
    kind = {} if ge.elem(op.result) == ge.elem(op.scale) else {"output_dtype": DATA_TYPES[ge.elem(op.result)]}
    e.node("DequantizeLinear", [op.x, op.scale, op.zero_point], op.result, **_axis_and_block(op), **kind)


def _axis_and_block(op: ge.Quantisation) -> dict[str, int]:
    """Attributes of a quantisation; a scalar scale has neither."""
    if not ge.rank(op.scale):
        return {}
    return {"axis": op.parameter_axis(), "block_size": op.block_size.value.data}


@export(ge.MatMulV2)
def matmul(e: Emitter, op: ge.MatMulV2) -> None:
    """Gemm where both are matrices of floats; else MatMul, with transpositions and Add."""
    flags = [bool(op.transpose_x1.value.data), bool(op.transpose_x2.value.data)]
    if ge.rank(op.a) == ge.rank(op.b) == 2 and isinstance(ge.elem(op.a), AnyFloat) and (any(flags) or op.bias):
        e.node("Gemm", [op.a, op.b, op.bias], op.result, transA=int(flags[0]), transB=int(flags[1]))
        return
    sides: list[SSAValue | str] = []
    for value, flag in zip((op.a, op.b), flags, strict=True):
        order = list(range(ge.rank(value)))
        order[-2:] = order[-1], order[-2]
        side = e.node("Transpose", [value], perm=order) if flag else value
        if ge.elem(op.result) != ge.elem(value):  # MatMul knows no i8 and i16
            side = e.node("Cast", [side], to=DATA_TYPES[ge.elem(op.result)])
        sides.append(side)
    if op.bias is None:
        e.node("MatMul", sides, op.result)
    else:
        e.node("Add", [e.node("MatMul", sides), op.bias], op.result)


def _scale(e: Emitter, x: SSAValue, axis: int, scale: SSAValue | None) -> SSAValue | str | None:
    """A scale (or bias) of a norm as ONNX wants it, in the full shape of the normalised dimensions; None if unknown."""
    tail = ge.dims(x)[axis:]
    if scale is not None and len(ge.dims(scale)) == len(tail) and 1 not in ge.dims(scale):
        return scale
    if -1 in tail:
        return None
    if scale is None:
        return e.constant(np.ones(tail, ge.numpy_dtype(ge.elem(x))))
    return e.node("Expand", [scale, e.ints(tail)])


def _norm(e: Emitter, op: ge.LayerNorm | ge.RMSNorm, kind: str, beta: SSAValue | None) -> None:
    """The operator of the standard where extents are known well enough for it, else its parts."""
    axis, epsilon = ge.normal_axis(op.axis.value.data, ge.rank(op.x)), plain(op.epsilon)
    scale = _scale(e, op.x, axis, op.gamma)
    bias = None if beta is None else _scale(e, op.x, axis, beta)
    if scale is not None and (beta is None or bias is not None):
        e.node(kind, [op.x, scale, bias], op.result, axis=axis, epsilon=epsilon)
        return
    axes = e.ints(range(axis, ge.rank(op.x)))
    x = e.node("Identity", [op.x])
    if kind == "LayerNormalization":
        x = e.node("Sub", [x, e.node("ReduceMean", [x, axes])])
    mean = e.node("ReduceMean", [e.node("Mul", [x, x]), axes])
    deviation = e.node("Sqrt", [e.node("Add", [mean, e.constant(np.array(epsilon, ge.numpy_dtype(ge.elem(op.x))))])])
    x = e.node("Div", [x, deviation])
    if op.gamma is not None:
        x = e.node("Mul", [x, op.gamma])
    if beta is not None:
        x = e.node("Add", [x, beta])
    e.node("Identity", [x], op.result)


@export(ge.LayerNorm)
def layer_norm(e: Emitter, op: ge.LayerNorm) -> None:
    _norm(e, op, "LayerNormalization", op.beta)


@export(ge.RMSNorm)
def rms_norm(e: Emitter, op: ge.RMSNorm) -> None:
    _norm(e, op, "RMSNormalization", None)


def _reduce(e: Emitter, op: ge.Reduce) -> None:
    axes = e.ints(op.axes.get_values())
    keep = int(bool(op.keep_dims.value.data))
    e.node(type(op).__name__, [op.x, axes], op.result, keepdims=keep, noop_with_empty_axes=1)


for _reduction in (ge.ReduceSum, ge.ReduceMean, ge.ReduceMax, ge.ReduceMin, ge.ReduceProd):
    EXPORTS[_reduction] = _reduce


def _shape(e: Emitter, value: SSAValue) -> str:
    """The shape of a value as a constant; at most one dimension may be unknown."""
    dims = ge.dims(value)
    if dims.count(-1) > 1 or (-1 in dims and 0 in dims):
        raise e.refuse(f"a constant shape cannot say {ge.spell(dims)}")
    return e.ints(dims)


@export(ge.Reshape)
def reshape(e: Emitter, op: ge.Reshape) -> None:
    e.node("Reshape", [op.x, _shape(e, op.result)], op.result, allowzero=int(0 in ge.dims(op.result)))


@export(ge.Expand)
def expand(e: Emitter, op: ge.Expand) -> None:
    if -1 in ge.dims(op.result):
        raise e.refuse(f"a constant shape cannot say {ge.spell(ge.dims(op.result))}")
    e.node("Expand", [op.x, e.ints(ge.dims(op.result))], op.result)


@export(ge.Tile)
def tile(e: Emitter, op: ge.Tile) -> None:
    e.node("Tile", [op.x, e.ints(op.repeats.get_values())], op.result)


@export(ge.Slice)
def slice_(e: Emitter, op: ge.Slice) -> None:
    parts = [e.ints(p.get_values()) for p in (op.starts, op.ends, op.axes, op.steps)]
    e.node("Slice", [op.x, *parts], op.result)


@export(ge.DynSlice)
def dyn_slice(e: Emitter, op: ge.DynSlice) -> None:
    e.node("Slice", [op.x, op.starts, op.ends, op.axes, op.steps], op.result)


@export(ge.Pad)
def pad(e: Emitter, op: ge.Pad) -> None:
    e.node("Pad", [op.x, e.ints(op.pads.get_values()), op.value], op.result, mode=op.mode.data)


@export(ge.DynPad)
def dyn_pad(e: Emitter, op: ge.DynPad) -> None:
    e.node("Pad", [op.x, op.pads, op.value, op.axes], op.result, mode=op.mode.data)


@export(ge.BitShift)
def bit_shift(e: Emitter, op: ge.BitShift) -> None:
    if ge.elem(op.x1) in ge.SIGNED:
        raise e.refuse("shifts of signed integers came to the standard after the opset that is written")
    e.node("BitShift", [op.x1, op.x2], op.result, direction=op.direction.data)


@export(ge.BitCast)
def bit_cast(e: Emitter, op: ge.BitCast) -> None:
    raise e.refuse("BitCast came to the standard after the opset that is written")


@export(ge.CumProd)
def cumulative_product(e: Emitter, op: ge.CumProd) -> None:
    raise e.refuse("CumProd came to the standard after the opset that is written")


@export(ge.CumSum)
def cumulative_sum(e: Emitter, op: ge.CumSum) -> None:
    axis = e.constant(np.array(op.axis.value.data))
    e.node("CumSum", [op.x, axis], op.result, exclusive=plain(op.exclusive), reverse=plain(op.reverse))


@export(ge.TopK)
def top_k(e: Emitter, op: ge.TopK) -> None:
    count, kept = e.ints([op.k.value.data]), {"axis": op.axis.value.data, "largest": plain(op.largest)}
    e.node_of_many("TopK", [op.x, count], list(op.results), **kept)


@export(ge.Split)
def split(e: Emitter, op: ge.Split) -> None:
    e.node_of_many("Split", [op.x, e.ints(op.sizes.get_values())], list(op.results), axis=op.axis.value.data)


@export(ge.Resize)
def resize(e: Emitter, op: ge.Resize) -> None:
    """By scales when they give the result's extents, as ONNX rounds them; else to sizes."""
    scales = np.array(op.scales.get_values(), np.float32)
    source, target = ge.dims(op.x), ge.dims(op.result)
    fits = all(-1 in (s, t) or _rounds_to(s, f, t) for s, t, f in zip(source, target, scales, strict=True))
    if not fits and -1 in target:
        raise e.refuse(f"sizes {ge.spell(target)} are not constant, and scales {scales.tolist()} do not give them")
    operands = [e.constant(scales), None] if fits else [None, e.ints(target)]
    e.node("Resize", [op.x, _roi(e, op), *operands], op.result, **_resize_modes(op))


def _rounds_to(size: int, scale: np.float32, wanted: int) -> bool:
    """Whether size * scale rounds down to `wanted`, in single and in double precision: implementations differ."""
    return int(np.floor(np.float32(size) * scale)) == wanted == int(np.floor(float(size) * float(scale)))


@export(ge.DynResize)
def dyn_resize(e: Emitter, op: ge.DynResize) -> None:
    e.node("Resize", [op.x, _roi(e, op), op.scales, op.sizes], op.result, **_resize_modes(op))


def _roi(e: Emitter, op: ge.Resampling) -> str | None:
    roi = op.roi.get_values()
    return e.constant(np.array(roi, np.float32)) if roi else None


def _resize_modes(op: ge.Resampling) -> dict[str, Any]:
    """The attributes of a Resize, and those that matter to its mode alone where they do."""
    mode, coordinates = op.mode.data, op.coordinate_mode.data
    attributes: dict[str, Any] = {
        "mode": mode,
        "coordinate_transformation_mode": coordinates,
        "nearest_mode": op.nearest_mode.data,
    }
    if mode == "cubic":
        attributes |= {"cubic_coeff_a": plain(op.cubic_coeff_a), "exclude_outside": plain(op.exclude_outside)}
    if op.antialias.value.data:
        attributes["antialias"] = 1
    if coordinates == ge.CROP:
        attributes["extrapolation_value"] = plain(op.extrapolation_value)
    return attributes


@export(ge.SpaceToDepth)
def space_to_depth(e: Emitter, op: ge.SpaceToDepth) -> None:
    """Mode CRD came to the standard after the opset that is written: it is a transposition of blocks."""
    block = op.block_size.value.data
    if op.mode.data == "DCR":
        e.node("SpaceToDepth", [op.x], op.result, blocksize=block)
        return
    if -1 in ge.dims(op.x):
        raise e.refuse(f"SpaceToDepth of mode {op.mode.data} and unknown extents has no form in ONNX")
    n, c, h, w = ge.dims(op.x)
    blocks = e.node("Reshape", [op.x, e.ints([n, c, h // block, block, w // block, block])])
    moved = e.node("Transpose", [blocks], perm=[0, 1, 3, 5, 2, 4])
    e.node("Reshape", [moved, e.ints(ge.dims(op.result))], op.result, allowzero=1)


@export(ge.ConstantOfShape)
def constant_of_shape(e: Emitter, op: ge.ConstantOfShape) -> None:
    value = None
    if isinstance(op.value, DenseIntOrFPElementsAttr):
        dtype = ge.numpy_dtype(op.value.get_element_type())
        raw = np.frombuffer(op.value.data.data, np.uint8 if dtype == np.bool_ else dtype)
        value = numpy_helper.from_array(raw.astype(dtype).reshape(1), "value")
    e.node("ConstantOfShape", [op.shape], op.result, value=value)

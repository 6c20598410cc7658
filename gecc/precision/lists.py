"""Operators by how they bear a narrow type, and the names that other systems have for them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

CUBE: frozenset[str] = frozenset(
    {"MatMulV2", "Conv2D", "Conv3D", "ConvTranspose2D", "ConvTranspose3D"},
)
"""Products: the white list of mixed modes. Their sums are kept in f32 whatever the operands are."""

_RANGE = "its sums or powers need the range of f32"
_NORM = "a normalisation divides by what may be small"
_SMALL = "it divides by what may be small"
_FAST = "its result grows beyond any narrow range"

BLACK: dict[str, str] = {
    **dict.fromkeys(("Exp", "Pow", "Sinh", "Cosh", "Tan", "Softplus"), _FAST),
    **dict.fromkeys(("Log", "Reciprocal", "Rsqrt", "Sqrt", "RealDiv", "Mod"), _SMALL),
    **dict.fromkeys(("Softmax", "LogSoftmax"), "a sum of exponentials needs the range of f32"),
    **dict.fromkeys(("BatchNorm", "LayerNorm", "RMSNorm"), _NORM),
    **dict.fromkeys(("ReduceSum", "ReduceMean", "ReduceProd", "CumSum", "CumProd"), _RANGE),
    **dict.fromkeys(("ScatterElements", "ScatterND", "Col2Im"), _RANGE),
    **dict.fromkeys(("Acosh", "Asinh", "Atanh"), _SMALL),
}
"""Operators that mixed modes leave as they are, and why."""

_TYPES = "its types are what it is about"
_SHAPES = "shape arithmetic has to be exact"
_SCALES = "scales of quantisation need the range of f32"
_PLACES = "coordinates need the digits of f32"

FIXED: dict[str, str] = {
    **dict.fromkeys(("Cast", "BitCast", "TransData"), _TYPES),
    **dict.fromkeys(("Shape", "Size", "Range", "ConstantOfShape"), _SHAPES),
    **dict.fromkeys(("Quantize", "Dequantize"), _SCALES),
    **dict.fromkeys(("GridSample", "RoiAlign", "DeformableOffsets"), _PLACES),
}
"""Operators that no mode changes, and why."""

_ALIASES: dict[str, tuple[str, ...]] = {
    "MatMul": ("MatMulV2",), "BatchMatMul": ("MatMulV2",), "BatchMatMulV2": ("MatMulV2",), "Gemm": ("MatMulV2",),
    "FullyConnection": ("MatMulV2",), "Conv": ("Conv2D", "Conv3D"), "DepthwiseConv2D": ("Conv2D",),
    "ConvTranspose": ("ConvTranspose2D", "ConvTranspose3D"), "Conv2DTranspose": ("ConvTranspose2D",),
    "Conv2DTransposeD": ("ConvTranspose2D",), "Deconvolution": ("ConvTranspose2D",), "SoftmaxV2": ("Softmax",),
    "LogSoftmaxV2": ("LogSoftmax",), "LayerNormalization": ("LayerNorm",), "LayerNormV3": ("LayerNorm",),
    "LayerNormV4": ("LayerNorm",), "RMSNormalization": ("RMSNorm",), "BatchNormalization": ("BatchNorm",),
    "BNInference": ("BatchNorm",), "BNInferenceD": ("BatchNorm",), "BatchNormInference": ("BatchNorm",),
    "Div": ("RealDiv",), "Max": ("Maximum",), "Min": ("Minimum",), "Where": ("Select",), "SelectV2": ("Select",),
    "Clip": ("ClipByValue",), "ClipByValueV2": ("ClipByValue",), "Swish": ("Silu",), "FastGelu": ("Gelu",),
    "ReduceSumD": ("ReduceSum",), "ReduceMeanD": ("ReduceMean",), "ReduceMaxD": ("ReduceMax",),
    "ReduceMinD": ("ReduceMin",), "ReduceProdD": ("ReduceProd",), "AveragePool": ("AvgPool",),
    "AvgPoolV2": ("AvgPool",), "Pooling": ("AvgPool", "MaxPool"), "MaxPoolV3": ("MaxPool",), "ConcatD": ("Concat",),
    "ConcatV2": ("Concat",), "ConcatV2D": ("Concat",), "TransposeD": ("Transpose",), "SplitD": ("Split",),
    "SplitV": ("Split",), "SliceD": ("Slice",), "StridedSlice": ("Slice",), "StridedSliceD": ("Slice",),
    "GatherV2": ("Gather",), "GatherV2D": ("Gather",), "PadD": ("Pad",), "PadV3": ("Pad",), "TileD": ("Tile",),
    "TopKV2": ("TopK",), "Inv": ("Reciprocal",), "Cumsum": ("CumSum",), "CumsumD": ("CumSum",),
    "AscendQuant": ("Quantize",), "AscendDequant": ("Dequantize",), "QuantizeLinear": ("Quantize",),
    "DequantizeLinear": ("Dequantize",), "Flatten": ("Reshape",), "Squeeze": ("Reshape",), "Unsqueeze": ("Reshape",),
    "ExpandD": ("Expand",), "BroadcastTo": ("Expand",), "LeakyReLU": ("LeakyRelu",), "Upsample": ("Resize",),
    "ResizeNearestNeighborV2": ("Resize",), "ResizeBilinearV2": ("Resize",),
}  # fmt: skip
"""Names in ONNX and in Ascend's IR -> operators here."""


def _known() -> tuple[str, ...]:
    from gecc.dialects import ge

    return tuple(op.name.removeprefix("ge.") for op in ge.OPS)


def operators_called(name: str) -> tuple[str, ...]:
    """The operators of the ge level that a name means, whatever its case; none for an unknown one."""
    wanted = name.removeprefix("ge.").lower()
    own = tuple(op for op in _known() if op.lower() == wanted)
    return own or next((ops for alias, ops in _ALIASES.items() if alias.lower() == wanted), ())


def unknown_operator(name: str) -> str:
    """What to say about a name that no operator has, with near ones."""
    return f"no operator is called '{name}'{near(name, [*_known(), *_ALIASES])}"


def near(name: str, known: Iterable[str]) -> str:
    """`; near: a, b` for the names that `name` may have meant; nothing when there is none."""
    close = get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; near: {', '.join(close)}" if close else ""


def colour_of(operator: str) -> tuple[str, str]:
    """The list of mixed modes that an operator is on, "white", "black" or "grey", and why."""
    if operator in CUBE:
        return "white", "products are on the white list"
    if operator in BLACK:
        return "black", f"black list: {BLACK[operator]}"
    return "grey", "grey list: as what comes before it"

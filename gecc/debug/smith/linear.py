"""Random products, convolutions, pools, normalisations and reductions."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from gecc.debug.smith.graph import BOOL, F16, F32, Graph
from gecc.debug.smith.oracle import Rejected, Value


def matmul(g: Graph) -> None:
    """MatMul with vectors, batches and broadcasting; Gemm."""
    x = g.pick(lambda v: v.dtype != BOOL and v.dtype.name not in ("int8", "uint8"), 1, 5)
    columns = g.size()
    if g.chance(0.25) and x.rank == 2 and x.floating:
        _gemm(g, x, columns)
        return
    if g.chance(0.1):
        y = g.beside((x.shape[-1],), x.dtype)
    else:
        batch = [1 if g.chance(0.3) else d for d in x.shape[:-2]]
        while batch and g.chance(0.4):
            batch.pop(0)
        if len(batch) == x.rank - 2 and x.rank >= 2 and x.rank < 4 and g.chance(0.1):
            batch.insert(0, g.rng.choice((1, 2)))
        y = g.beside((*batch, x.shape[-1], columns), x.dtype)
    product = g.node("MatMul", x, y)
    _dressed(g, product)


def _gemm(g: Graph, x: Value, columns: int) -> None:
    across, along = int(g.chance(0.3)), int(g.chance(0.5))
    rows, depth = (x.shape[1], x.shape[0]) if across else x.shape
    y = g.fresh((columns, depth) if along else (depth, columns), x.dtype)
    c = None
    if g.chance(0.7):
        c = g.fresh(g.rng.choice(((columns,), (1, columns), (rows, 1), (rows, columns), (1,), ())), x.dtype)
    attributes: dict[str, float] = {}
    if g.chance(0.3):
        attributes["alpha"] = 0.5
    if g.chance(0.3):
        attributes["beta"] = g.rng.choice((2.0, 0.5))
    _dressed(g, g.node("Gemm", x, y, c, transA=across, transB=along, **attributes))


def _dressed(g: Graph, x: Value) -> Value:
    """What follows a product in networks, or almost that."""
    if not x.floating:
        return x
    if g.chance(0.4):
        bias = g.fresh(x.shape[-1:] if g.chance(0.8) else (1,) * x.rank, x.dtype)
        x = g.node("Add", *((x, bias) if g.chance(0.5) else (bias, x)))
    match g.rng.choice(("", "Relu", "gelu", "silu", "residual", "Sigmoid", "clip", "softmax")):
        case "gelu":
            return gelu(g, x)
        case "silu":
            return g.node("Mul", x, g.node("Sigmoid", x))
        case "residual":
            return g.node("Add", x, g.beside(x.shape, x.dtype))
        case "clip":
            return g.node("Clip", x, g.constant(0, x.dtype), g.constant(6, x.dtype))
        case "softmax" if x.rank:
            return g.node("Softmax", x, axis=g.rng.choice((-1, 0)))
        case "Relu" | "Sigmoid" as op:
            return g.node(op, x)
        case _:
            return x


def gelu(g: Graph, x: Value) -> Value:
    """The exact GELU as exporters spell it; at times with a constant that is not quite right."""
    root, half, one = 2**0.5, 0.5, 1.0
    if g.chance(0.25):
        root, half, one = g.rng.choice(((1.5, half, one), (root, 0.6, one), (root, half, 1.1)))
    scaled = g.node("Div", x, g.constant(root, x.dtype))
    shifted = g.node("Add", g.node("Erf", scaled), g.constant(one, x.dtype))
    if g.chance(0.5):
        return g.node("Mul", g.node("Mul", x, shifted), g.constant(half, x.dtype))
    return g.node("Mul", g.node("Mul", x, g.constant(half, x.dtype)), shifted)


def _image(g: Graph) -> Value:
    found = [v for v in g.values if v.dtype == F32 and v.rank in (3, 4, 5) and v.array.size and min(v.shape[2:]) > 1]
    if found and g.chance(0.8):
        return found[-1] if g.chance(0.5) else g.rng.choice(found)
    n, c = g.rng.choice((1, 1, 2, 3)), g.rng.choice((1, 2, 3, 4, 6, 8, 12, 16, 17, 33))
    extents = [g.rng.choice((2, 3, 4, 5, 7, 9, 12, 13))]
    if g.chance(0.8):
        extents.append(g.rng.choice((2, 3, 5, 8, 11, 16, 17)))
    if g.chance(0.15):
        extents.append(g.rng.choice((2, 3, 5)))
    return g.fresh((n, c, *extents), F32)


def _window(g: Graph, x: Value, *, pads: bool = True) -> tuple[list[int], dict[str, Any]]:
    spatial = x.rank - 2
    kernel = [g.rng.choice([k for k in (1, 1, 2, 3, 3, 5) if k <= d + 2] or [1]) for d in x.shape[2:]]
    attributes: dict[str, Any] = {"kernel_shape": kernel}
    if g.chance(0.4):
        attributes["strides"] = [g.rng.choice((1, 2, 3)) for _ in range(spatial)]
    if g.chance(0.2):
        attributes["dilations"] = [g.rng.choice((1, 2)) for _ in range(spatial)]
    if pads and g.chance(0.3):
        attributes["auto_pad"] = g.rng.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
        if "strides" in attributes:  # oracles disagree on SAME where strides are longer than windows
            attributes["strides"] = [min(s, k) for s, k in zip(attributes["strides"], kernel, strict=True)]
    elif pads and g.chance(0.7):
        limits = [g.rng.randint(0, k - 1) if g.chance(0.5) else k // 2 for k in kernel]
        ends = [g.rng.randint(0, k - 1) if g.chance(0.3) else p for k, p in zip(kernel, limits, strict=True)]
        attributes["pads"] = [*limits, *ends]
    return kernel, attributes


def conv(g: Graph) -> None:
    """Conv, with what follows it in networks, or almost that."""
    x = _image(g)
    kernel, attributes = _window(g, x)
    channels = x.shape[1]
    groups = [d for d in range(2, channels + 1) if channels % d == 0]
    group = g.rng.choice([channels, *groups]) if groups and g.chance(0.4) else 1
    filters = group * g.rng.choice((1, 1, 2, 3)) if group > 1 else g.rng.choice((1, 2, 5, 8, 12, 16, 17, 32, 33))
    weight = g.fresh((filters, channels // group, *kernel), F32, low=-1, high=1)
    bias = g.fresh((filters,), F32) if g.chance(0.5) else None
    y = g.node("Conv", x, weight, bias, group=group, **attributes)
    if g.chance(0.35):
        y = batch_norm_of(g, y)
    if g.chance(0.3):
        y = g.node(g.rng.choice(("Relu", "HardSwish", "Sigmoid")), y)
    if g.chance(0.3):
        y = g.node("Add", y, g.beside(y.shape, y.dtype))
        if g.chance(0.5):
            g.node("Relu", y)


def conv_transpose(g: Graph) -> None:
    """ConvTranspose."""
    x = _image(g)
    spatial = x.rank - 2
    kernel, attributes = _window(g, x)
    strides = attributes.get("strides", [1] * spatial)
    if g.chance(0.2) and max(strides) > 1:
        attributes["output_padding"] = [g.rng.randint(0, s - 1) for s in strides]
    channels = x.shape[1]
    group = channels if channels > 1 and g.chance(0.2) else 1
    weight = g.fresh((channels, g.rng.choice((1, 2, 5, 16)), *kernel), F32, low=-1, high=1)
    bias = g.fresh((weight.shape[1] * group,), F32) if g.chance(0.5) else None
    y = g.node("ConvTranspose", x, weight, bias, group=group, **attributes)
    if g.chance(0.3):
        g.node("Relu", batch_norm_of(g, y))


def batch_norm_of(g: Graph, x: Value) -> Value:
    """BatchNormalization of x."""
    shape = x.shape[1:2]
    scale, offset, mean = (g.fresh(shape, x.dtype, low=-1, high=1) for _ in range(3))
    variance = g.fresh(shape, x.dtype, low=0.5, high=2)
    return g.node("BatchNormalization", x, scale, offset, mean, variance, epsilon=g.rng.choice((1e-5, 1e-3)))


def batch_norm(g: Graph) -> None:
    """BatchNormalization."""
    batch_norm_of(g, g.floats(2, 5))


def pool(g: Graph) -> None:
    """Pools, global ones too."""
    x = _image(g)
    if g.chance(0.25):
        g.node(g.rng.choice(("GlobalAveragePool", "GlobalMaxPool")), x)
        return
    _, attributes = _window(g, x)
    attributes["ceil_mode"] = int(g.chance(0.2))
    if g.chance(0.5):
        g.node("MaxPool", x, **attributes)
        return
    if g.chance(0.3):
        if g.opset < 18:
            attributes.pop("dilations", None)
            attributes.pop("ceil_mode")
        if attributes.get("auto_pad", "").startswith("SAME"):  # ONNX Runtime pads as if the windows were not dilated
            attributes.pop("dilations", None)
        g.node("LpPool", x, p=g.rng.choice((1, 2, 3)), **attributes)
        return
    attributes["count_include_pad"] = int(g.chance(0.4))
    if g.opset < 19:
        attributes.pop("dilations", None)
    g.node("AveragePool", x, **attributes)


def softmax(g: Graph) -> None:
    """Softmax, also of masked scores."""
    x = g.floats(1)
    axis = g.rng.randrange(-x.rank, x.rank)
    if g.chance(0.3):
        mask = g.partner(x, BOOL, grow=False)
        x = g.node("Where", mask, x, g.constant(-1e4 if x.dtype != F16 else -1e2, x.dtype))
    g.node(g.rng.choice(("Softmax", "Softmax", "LogSoftmax", "Hardmax")), x, axis=axis)


def norm(g: Graph) -> None:
    """Normalisations over trailing dimensions, groups and instances."""
    match g.rng.choice(("layer", "layer", "spelled", "instance", "group", "rms", "mvn", "lrn")):
        case "layer":
            x = g.floats(1)
            axis = g.rng.randrange(x.rank)
            scale, bias = g.fresh(x.shape[axis:], x.dtype), g.fresh(x.shape[axis:], x.dtype)
            g.node("LayerNormalization", x, scale, bias if g.chance(0.7) else None, axis=axis)
        case "rms" if g.opset >= 23:
            x = g.floats(1)
            axis = g.rng.randrange(x.rank)
            g.node("RMSNormalization", x, g.fresh(x.shape[axis:], x.dtype), axis=axis)
        case "instance":
            x = g.floats(3, 4)
            scale, bias = (g.fresh(x.shape[1:2], x.dtype) for _ in range(2))
            g.node("InstanceNormalization", x, scale, bias)
        case "group" if g.opset >= 21:
            x = g.floats(3, 4)
            groups = [d for d in range(1, x.shape[1] + 1) if x.shape[1] % d == 0]
            if not groups:
                raise Rejected("no channels")
            scale, bias = (g.fresh(x.shape[1:2], x.dtype) for _ in range(2))
            # the standard takes the mean of f64 in f32 unless told otherwise, which gecc does not
            stash = int(TensorProto.DOUBLE if x.dtype == np.float64 else TensorProto.FLOAT)
            g.node("GroupNormalization", x, scale, bias, num_groups=g.rng.choice(groups), stash_type=stash)
        case "mvn":
            x = g.floats(4, 4)
            g.node("MeanVarianceNormalization", x, axes=g.rng.choice(([0, 2, 3], [2, 3], [1])))
        case "lrn":
            x = g.floats(4, 4)
            g.node("LRN", x, size=g.rng.choice((1, 3, 5)), alpha=0.1)
        case "spelled":
            _spelled_norm(g)
        case other:
            raise Rejected(f"{other} is not in opset {g.opset}")


def _spelled_norm(g: Graph) -> None:
    """Layer normalisation as exporters before opset 17 spell it, at times along an axis that it has not."""
    x = g.floats(1)
    axes = [x.rank - 1] if g.chance(0.8) else [g.rng.randrange(x.rank)]
    mean = reduced(g, "ReduceMean", x, axes, True)
    centred = g.node("Sub", x, mean)
    square = g.node("Pow", centred, g.constant(2.0, x.dtype)) if g.chance(0.5) else g.node("Mul", centred, centred)
    variance = reduced(g, "ReduceMean", square, axes, True)
    deviation = g.node("Sqrt", g.node("Add", variance, g.constant(1e-5 if x.dtype != F16 else 1e-3, x.dtype)))
    y = g.node("Div", centred, deviation)
    if g.chance(0.7):
        y = g.node("Mul", y, g.fresh(x.shape[-1:], x.dtype))
        g.node("Add", y, g.fresh(x.shape[-1:], x.dtype))


REDUCTIONS = (
    *("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceMean", "ReduceMax"),
    *("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"),
)


def reduced(g: Graph, op: str, x: Value, axes: list[int], keep: bool) -> Value:
    """A reduction, its axes given as the opset wants them."""
    if g.opset >= (13 if op == "ReduceSum" else 18):
        return g.node(op, x, g.ints(axes), keepdims=int(keep))
    return g.node(op, x, axes=axes, keepdims=int(keep))


def reduction(g: Graph) -> None:
    """Reductions over any axes, and places of extremes."""
    x = g.any()
    if x.dtype == BOOL:
        raise Rejected("reduction of bool")
    if x.rank and g.chance(0.15):
        if not x.array.size:
            raise Rejected("extreme of nothing")
        g.node(
            g.rng.choice(("ArgMax", "ArgMin")),
            x,
            axis=g.rng.randrange(x.rank),
            keepdims=int(g.chance(0.5)),
            select_last_index=int(g.chance(0.3)),
        )
        return
    op = g.rng.choice(REDUCTIONS if x.floating else REDUCTIONS[:8])
    if op == "ReduceProd" and x.array.size > 200:
        op = "ReduceSum"
    if op == "ReduceMean" and not x.floating:
        op = "ReduceSum"
    axes = g.rng.sample(range(x.rank), g.rng.randint(1, x.rank)) if x.rank else []
    if not axes or g.chance(0.1):
        g.node(op, x, keepdims=int(g.chance(0.5)))
        return
    reduced(g, op, x, [a - x.rank if g.chance(0.2) else a for a in axes], g.chance(0.5))


def attention(g: Graph) -> None:
    """Scores, mask, softmax and product, heads apart."""
    n, heads, length, size = g.rng.choice((1, 2)), g.rng.choice((1, 2, 3)), g.size() or 3, g.rng.choice((4, 8, 13))
    q, k, v = (g.fresh((n, length, heads * size), F32, low=-1, high=1) for _ in range(3))
    split = [n, length, heads, size]
    q, k, v = (g.node("Reshape", x, g.ints(split)) for x in (q, k, v))
    q = g.node("Transpose", q, perm=[0, 2, 1, 3])
    k = g.node("Transpose", k, perm=[0, 2, 3, 1])
    v = g.node("Transpose", v, perm=[0, 2, 1, 3])
    scores = g.node("Mul", g.node("MatMul", q, k), g.constant(np.float32(size**-0.5)))
    if g.chance(0.5):
        scores = g.node("Add", scores, g.fresh(g.rng.choice(((n, 1, 1, length), (1, 1, length, length))), F32))
    y = g.node("MatMul", g.node("Softmax", scores, axis=-1), v)
    y = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]), g.ints([n, length, heads * size]))
    if g.chance(0.5):
        g.node("Add", y, g.fresh(y.shape, F32))

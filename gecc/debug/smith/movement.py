"""Random nodes that move elements, and shapes as values."""

from __future__ import annotations

import math

import numpy as np

from gecc.debug.smith.graph import BOOL, F32, FLOATS, I32, I64, SMALL, Graph
from gecc.debug.smith.oracle import Rejected, Value


def factored(g: Graph, count: int) -> tuple[int, ...]:
    """A shape of `count` elements."""
    dims: list[int] = []
    while count > 1 and len(dims) < 5:
        divisors = [d for d in range(2, min(count, 66) + 1) if count % d == 0] or [count]
        dims.append(g.rng.choice(divisors))
        count //= dims[-1]
        if g.chance(0.3):
            break
    if count > 1:
        dims.append(count)
    while len(dims) < 6 and g.chance(0.25):
        dims.insert(g.rng.randint(0, len(dims)), 1)
    return tuple(dims)


def reshape(g: Graph) -> None:
    """Reshape by constants, with 0 and -1, or by a computed shape; Flatten."""
    x = g.any()
    if g.chance(0.2):
        g.node("Flatten", x, axis=g.rng.randint(0, x.rank))
        return
    if g.chance(0.2) and x.rank:
        _by_computed_shape(g, x)
        return
    if not x.array.size:
        dims = list(x.shape)
        g.rng.shuffle(dims)
        g.node("Reshape", x, g.ints(dims), allowzero=1)
        return
    dims = list(factored(g, x.array.size))
    if dims and g.chance(0.4):
        dims[g.rng.randrange(len(dims))] = -1
    if dims and dims[0] == x.shape[:1] and g.chance(0.4):
        dims[0] = 0
    g.node("Reshape", x, g.ints(dims))


def _by_computed_shape(g: Graph, x: Value) -> None:
    """As exporters write `x.reshape(x.shape[0], -1)`."""
    shape = g.node("Shape", x)
    first = g.node("Gather", shape, g.constant(0, np.int64), axis=0)
    wanted = g.node("Concat", g.node("Unsqueeze", first, g.ints([0])), g.ints([-1]), axis=0)
    if not x.array.size:
        raise Rejected("-1 of nothing")
    g.node("Reshape", x, wanted)


def transpose(g: Graph) -> None:
    """Any permutation."""
    x = g.any()
    perm = list(range(x.rank))
    g.rng.shuffle(perm)
    y = g.node("Transpose", x, perm=perm)
    if g.chance(0.3):
        back = [perm.index(i) for i in range(x.rank)]
        y = g.node("Relu", y) if y.floating and g.chance(0.5) else y
        g.node("Transpose", y, perm=back)


def squeeze(g: Graph) -> None:
    """Dimensions of one, gone or new."""
    x = g.any()
    ones = [i for i, d in enumerate(x.shape) if d == 1]
    if ones and g.chance(0.5):
        axes = g.rng.sample(ones, g.rng.randint(1, len(ones)))
        g.node("Squeeze", x, None if g.chance(0.2) else g.ints([a - x.rank if g.chance(0.3) else a for a in axes]))
    elif x.rank < 6:
        count = g.rng.randint(1, min(2, 6 - x.rank))
        rank = x.rank + count
        axes = g.rng.sample(range(rank), count)
        g.node("Unsqueeze", x, g.ints([a - rank if g.chance(0.3) else a for a in axes]))


def concat(g: Graph) -> None:
    """Values side by side, of which some are the same."""
    x = g.any(1)
    axis = g.rng.randrange(x.rank)
    parts = [x]
    for _ in range(g.rng.randint(0, 3)):
        if g.chance(0.25):
            parts.append(g.rng.choice(parts))
            continue
        dims = list(x.shape)
        dims[axis] = g.size() % 20 if g.chance(0.5) else dims[axis]
        parts.append(g.beside(dims, x.dtype))
    g.rng.shuffle(parts)
    g.node("Concat", *parts, axis=axis - x.rank if g.chance(0.3) else axis)


def split(g: Graph) -> None:
    """Parts of equal or given sizes."""
    x = g.any(1)
    axis = g.rng.randrange(x.rank)
    size, count = x.shape[axis], g.rng.randint(1, 4)
    if g.chance(0.6) or size % count:
        cuts = sorted(g.rng.randint(0, size) for _ in range(count - 1))
        sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]
        g.nodes_of("Split", x, g.ints(sizes), count=count, axis=axis)
    else:
        g.nodes_of("Split", x, count=count, axis=axis, num_outputs=count if g.opset >= 18 else None)


def slices(g: Graph) -> None:
    """Slices with bounds out of range, negative ones and steps of either sign."""
    x = g.any(1)
    axes = g.rng.sample(range(x.rank), g.rng.randint(1, x.rank))
    starts, ends, steps = list[int](), list[int](), list[int]()
    for axis in axes:
        size = x.shape[axis]
        a, b = sorted((g.rng.randint(0, size), g.rng.randint(0, size)))
        step = g.rng.choice((1, 1, 1, 2, 3, -1, -2))
        if step < 0:
            a, b = b - 1 if b else 0, a - 1 if a else -(2**31)
        starts.append(a - size if g.chance(0.2) and a - size < 0 else a)
        ends.append(2**31 - 1 if step > 0 and g.chance(0.3) else b)
        steps.append(step)
    g.node("Slice", x, g.ints(starts), g.ints(ends), g.ints(axes), None if set(steps) == {1} else g.ints(steps))


def pad(g: Graph) -> None:
    """Padding in every mode; constant padding may cut."""
    x = g.any(1)
    mode = g.rng.choice(("constant", "constant", "reflect", "edge", "wrap"))
    if mode == "wrap" and g.opset < 19:
        mode = "edge"
    pads = [0] * (2 * x.rank)
    for axis in g.rng.sample(range(x.rank), g.rng.randint(1, min(x.rank, 2))):
        size = x.shape[axis]
        for at in (axis, axis + x.rank):
            high = {"constant": 3, "edge": 3 if size else 0}.get(mode, min(size - 1, 3))
            low = -1 if mode == "constant" and size > 4 and g.chance(0.2) else 0
            pads[at] = g.rng.randint(low, max(high, 0))
    value = None
    if mode == "constant" and g.chance(0.5):
        value = g.constant(1 if x.dtype.kind != "f" else g.rng.choice((0.5, -1.5, 0.0)), x.dtype)
    g.node("Pad", x, g.ints(pads), value, mode=mode)


def expand(g: Graph) -> None:
    """Broadcast to a shape, both ways."""
    x = g.any()
    dims = [g.rng.choice((1, 2, 3, 17)) if d == 1 and g.chance(0.7) else (1 if g.chance(0.3) else d) for d in x.shape]
    while len(dims) < 5 and g.chance(0.3):
        dims.insert(0, g.rng.choice((1, 2, 3)))
    g.node("Expand", x, g.ints(dims))


def tile(g: Graph) -> None:
    """Repetition."""
    x = g.any(1)
    g.node("Tile", x, g.ints([g.rng.choice((1, 1, 2, 3)) for _ in x.shape]))


def gather(g: Graph) -> None:
    """Rows and elements by index, some counted from the end."""
    x = g.any(1)
    axis = g.rng.randrange(x.rank)
    size = x.shape[axis]
    if not size:
        raise Rejected("nothing to gather")
    dtype = g.rng.choice((I64, I32))
    if g.chance(0.6):
        shape = g.dims(0, max(0, min(2, 7 - x.rank)), limit=20)
        index = g.fresh(shape, dtype, low=-size if g.chance(0.3) else 0, high=size)
        g.node("Gather", x, index, axis=axis)
    elif g.chance(0.6):
        dims = [d if i == axis or g.chance(0.7) else g.rng.randint(min(d, 1), d) for i, d in enumerate(x.shape)]
        dims[axis] = g.rng.choice(SMALL)
        index = g.fresh(dims, dtype, low=-size if g.chance(0.3) else 0, high=size)
        g.node("GatherElements", x, index, axis=axis)
    else:
        _gather_nd(g, x)


def _gather_nd(g: Graph, x: Value) -> None:
    batch = g.rng.randint(0, min(1, x.rank - 1))
    length = g.rng.randint(1, x.rank - batch)
    smallest = min(x.shape[batch : batch + length])
    if not smallest:
        raise Rejected("nothing to gather")
    shape = (*x.shape[:batch], g.rng.choice(SMALL), length)
    index = g.fresh(shape, I64, low=-smallest if g.chance(0.3) else 0, high=smallest)
    g.node("GatherND", x, index, batch_dims=batch)


def depth(g: Graph) -> None:
    """Channels to pixels and back."""
    x = g.pick(lambda v: v.dtype in FLOATS, 4, 4)
    fits = [b for b in (2, 3) if x.shape[1] % (b * b) == 0 and x.shape[1]]
    if fits and g.chance(0.6):
        g.node("DepthToSpace", x, blocksize=g.rng.choice(fits), mode=g.rng.choice(("DCR", "CRD")))
        return
    fits = [b for b in (2, 3) if x.shape[2] % b == 0 and x.shape[3] % b == 0]
    if not fits:
        n = g.rng.choice((1, 2))
        x = g.fresh((n, g.rng.choice((4, 8, 12)), g.rng.choice(SMALL), g.rng.choice(SMALL)), F32)
        g.node("DepthToSpace", x, blocksize=2, mode=g.rng.choice(("DCR", "CRD")))
        return
    g.node("SpaceToDepth", x, blocksize=g.rng.choice(fits))


def resize(g: Graph) -> None:
    """Every mode, by scales or to sizes."""
    x = g.pick(lambda v: v.dtype == F32, 3, 4)
    if not x.array.size:
        raise Rejected("Resize of nothing")
    mode = g.rng.choice(("nearest", "linear", "cubic") if x.rank == 4 else ("nearest", "linear"))
    coordinates = g.rng.choice(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))
    nearest = g.rng.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")) if mode == "nearest" else None
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates, "nearest_mode": nearest}
    spatial = x.rank - 2
    if g.chance(0.5):
        scales = [1.0, 1.0, *(g.rng.choice((1.0, 2.0, 0.5, 3.0, 1.5)) for _ in range(spatial))]
        g.node("Resize", x, None, g.constant(np.array(scales, np.float32)), **attributes)
    else:
        sizes = [*x.shape[:2], *(g.rng.choice((1, 2, 3, 5, 8, 13)) for _ in range(spatial))]
        g.node("Resize", x, None, None, g.ints(sizes), **attributes)


def trilu(g: Graph) -> None:
    """Triangles."""
    x = g.any(2)
    k = None if g.chance(0.3) else g.constant(g.rng.randint(-3, 3), np.int64)
    g.node("Trilu", x, k, upper=g.rng.choice((0, 1)))


def numbers(g: Graph) -> None:
    """Tensors made of shapes and indices."""
    x = g.any()
    match g.rng.choice(("Shape", "Size", "OneHot", "EyeLike", "ConstantOfShape")):
        case "Shape":
            g.node("Shape", x)
        case "Size":
            g.node("Size", x)
        case "ConstantOfShape":
            shape = g.node("Shape", x)
            g.node("ConstantOfShape", shape)
        case "EyeLike" if x.rank == 2 and x.dtype != BOOL:
            g.node("EyeLike", x, k=g.rng.randint(-2, 2))
        case "OneHot":
            depth = g.rng.choice((3, 5, 8))
            index = g.fresh(g.dims(0, 3, limit=60), I64, low=-depth, high=depth + 2)
            values = g.constant(np.array([0.0, 1.0] if g.chance(0.5) else [-0.5, 2.0], np.float32))
            g.node("OneHot", index, g.constant(depth, np.int64), values, axis=g.rng.choice((-1, 0)))
        case other:
            raise Rejected(f"{other} does not fit")


def copies(g: Graph) -> None:
    """A view of a value among its uses: what may and may not share memory."""
    x = g.any()
    y = g.node("Identity", x)
    if math.prod(x.shape):
        z = g.node("Reshape", y, g.ints([-1]))
        if x.floating:
            g.node("Add", z, g.node("Reshape", g.node("Relu", x), g.ints([-1])))

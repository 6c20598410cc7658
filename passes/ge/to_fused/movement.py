"""Operators that move elements -> fused.view where no byte moves, else fused.generic with an index map."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from gecc.dialects import fused, ge
from gecc.dialects.fused import Body
from gecc.dialects.fused.build import Values
from gecc.dialects.ge.movement import slice_bounds
from gecc.dialects.ge.types import dims, elem, layout, normal_axes, normal_axis, rank, row_major, tensor
from gecc.errors import UnsupportedError
from gecc.passes.ge.to_fused._common import gather_map
from gecc.passes.ge.to_fused.linear import transpose_op
from gecc.rewrite import Pattern, Rewriter, location_names


class LowerConst(Pattern):
    """ge.Const."""

    ops = (ge.Const,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Const)
        rw.replace(op, fused.ConstOp(op.value))


class LowerReshape(Pattern):
    """ge.Reshape of row-major tensors: a view."""

    ops = (ge.Reshape,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Reshape)
        if op.x.type == op.result.type:
            return rw.replace(op, [], [op.x])
        rw.replace(op, fused.ViewOp(op.x, tensor(op.result)))


class LowerTranspose(Pattern):
    """ge.Transpose."""

    ops = (ge.Transpose,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Transpose)
        rw.replace(op, transpose_op(op.x, tensor(op.result), fused.ints(op.perm)))


class LowerTransData(Pattern):
    """ge.TransData: the identity on logical indices between two physical orders."""

    ops = (ge.TransData,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.TransData)
        if op.x.type == op.result.type:
            return rw.replace(op, [], [op.x])
        rw.replace(op, transpose_op(op.x, tensor(op.result), range(rank(op.x)), label="TransData"))


class LowerConcat(Pattern):
    """ge.Concat: the operand whose range holds the index, picked by a chain of selects on clamped loads."""

    ops = (ge.Concat,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Concat)
        axis = normal_axis(op.axis.value.data, rank(op.result))
        parts = [x for x in op.xs if dims(x)[axis]]
        if len(parts) == 1 and parts[0].type == op.result.type:
            return rw.replace(op, [], [parts[0]])
        inputs = list(dict.fromkeys(parts))

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            value: SSAValue | None = None
            end = dims(op.result)[axis]
            # from the last operand to the first: each takes the indices below its end
            for x in reversed(parts):
                size = dims(x)[axis]
                start = end - size
                inside = b.sub(d[axis], start)
                if start > 0:
                    inside = b.maximum(inside, 0)
                if value is not None:
                    inside = b.minimum(inside, size - 1)
                loaded = b.load(t[inputs.index(x)], [*d[:axis], inside, *d[axis + 1 :]])
                value = loaded if value is None else b.select(b.compare("lt", d[axis], end), loaded, value)
                end = start
            assert value is not None
            return value

        if not parts:  # nothing to copy, and nothing to load from
            return rw.replace(op, fused.ViewOp(op.xs[0], tensor(op.result)))
        rw.replace(op, fused.generic("Concat", tensor(op.result), inputs, body))


class LowerSlice(Pattern):
    """ge.Slice: start + index * step."""

    ops = (ge.Slice,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Slice)
        if op.x.type == op.result.type and all(step == 1 for step in fused.ints(op.steps)):
            return rw.replace(op, [], [op.x])
        place: dict[int, tuple[int, int]] = {}
        axes = normal_axes(fused.ints(op.axes), rank(op.x))
        for start, end, axis, step in zip(
            fused.ints(op.starts), fused.ints(op.ends), axes, fused.ints(op.steps), strict=True
        ):
            first, step, _ = slice_bounds(dims(op.x)[axis], start, end, step)
            place[axis] = (first, step)

        def index_map(b: Body, d: Values) -> list[SSAValue]:
            return [b.add(b.mul(index, place[i][1]), place[i][0]) if i in place else index for i, index in enumerate(d)]

        rw.replace(op, gather_map("Slice", op.x, tensor(op.result), index_map))


class LowerSplit(Pattern):
    """ge.Split: one slice for each result."""

    ops = (ge.Split,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Split)
        axis = normal_axis(op.axis.value.data, rank(op.x))
        new_ops: list[Operation] = []
        start = 0
        for result, size in zip(op.outputs, fused.ints(op.sizes), strict=True):
            new_ops.append(self._part(op.x, result, axis, start))
            start += size
        rw.replace(op, new_ops, [new.results[0] for new in new_ops])

    def _part(self, x: SSAValue, result: SSAValue, axis: int, start: int) -> Operation:
        return gather_map(
            "Split", x, tensor(result), lambda b, d: [b.add(i, start) if n == axis else i for n, i in enumerate(d)]
        )


class LowerPad(Pattern):
    """ge.Pad: constant selects on a clamped load; reflect, edge and wrap compute the index.

    Negative pads remove elements first: indices are those of the cropped operand, shifted back for the load.
    """

    ops = (ge.Pad,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Pad)
        pads, mode, count = fused.ints(op.pads), op.mode.data, rank(op.x)
        crop = [max(0, -p) for p in pads]
        size = [extent - crop[i] - crop[count + i] for i, extent in enumerate(dims(op.x))]
        for i, extent in enumerate(size):
            limit = {"reflect": extent - 1, "wrap": extent}.get(mode)
            if limit is not None and max(pads[i], pads[count + i]) > limit:
                raise UnsupportedError(
                    f"ge.Pad: mode {mode} adds {max(pads[i], pads[count + i])} elements to dimension {i}, which keeps "
                    f"{extent}; expected at most {limit}",
                    where=", ".join(location_names(op)) or None,
                )
        inputs = [op.x] if op.value is None else [op.x, op.value]

        def body(b: Body, d: Values, t: Values) -> SSAValue:
            valid: SSAValue | None = None
            indices: list[SSAValue] = []
            for i, extent in enumerate(size):
                before, after = max(0, pads[i]), max(0, pads[count + i])
                index = b.sub(d[i], before)
                if before:
                    valid = b.both(valid, b.compare("ge", index, 0))
                if after:
                    valid = b.both(valid, b.compare("lt", index, extent))
                indices.append(b.add(_padded(b, index, extent, before, after, mode), crop[i]))
            if mode != "constant":
                return b.load(t[0], indices)
            fill = b.load(t[1], []) if op.value is not None else b.constant(0, fused.scalar_type(elem(op.x)))
            if 0 in size:  # nothing to load
                return fill
            value = b.load(t[0], indices)
            return value if valid is None else b.select(valid, value, fill)

        rw.replace(op, fused.generic("Pad", tensor(op.result), inputs, body))


def _padded(b: Body, index: SSAValue, size: int, before: int, after: int, mode: str) -> SSAValue:
    """The index to load from: inside [0, size) whenever `size` is not 0."""
    if mode in ("constant", "edge"):
        if before:
            index = b.maximum(index, 0)
        return b.minimum(index, size - 1) if after else index
    if before:
        mirror = b.sub(0, index) if mode == "reflect" else b.add(index, size)
        index = b.select(b.compare("lt", index, 0), mirror, index)
    if after:
        mirror = b.sub(2 * (size - 1), index) if mode == "reflect" else b.sub(index, size)
        index = b.select(b.compare("ge", index, size), mirror, index)
    return index


class LowerExpand(Pattern):
    """ge.Expand: a load that broadcasts."""

    ops = (ge.Expand,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Expand)
        if op.x.type == op.result.type:
            return rw.replace(op, [], [op.x])
        rw.replace(
            op,
            fused.generic(
                "Expand", tensor(op.result), [op.x], lambda b, d, t: fused.broadcast_load(b, t[0], d, dims(op.result))
            ),
        )


class LowerTile(Pattern):
    """ge.Tile: a load that broadcasts, the repetitions of each dimension being one of their own, in physical order."""

    ops = (ge.Tile,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Tile)
        if op.x.type == op.result.type:
            return rw.replace(op, [], [op.x])
        shape, repeats = dims(op.x), fused.ints(op.repeats)
        order = layout(tensor(op.x))  # the result has the same
        physical = range(len(shape)) if order is None else order.permutation
        apart = fused.ViewOp(op.x, row_major([n for i in physical for n in (1, shape[i])], elem(op.x)))
        repeated = row_major([n for i in physical for n in (repeats[i], shape[i])], elem(op.x))
        made = fused.generic(
            "Tile", repeated, [apart.result], lambda b, d, t: fused.broadcast_load(b, t[0], d, repeated.get_shape())
        )
        rw.replace(op, [apart, made, fused.ViewOp(made.results[0], tensor(op.result))])


class LowerDepthToSpace(Pattern):
    """ge.DepthToSpace: the block's row and column come out of the channel."""

    ops = (ge.DepthToSpace,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.DepthToSpace)
        block, channels = op.block_size.value.data, dims(op.result)[1]
        outer = op.mode.data == "DCR"

        def index_map(b: Body, d: Values) -> list[SSAValue]:
            row, column = (b.rem(i, block, unsigned=True) for i in d[2:])
            y, x = (b.div(i, block, unsigned=True) for i in d[2:])
            place = b.add(b.mul(row, block), column)
            channel = b.add(b.mul(place, channels), d[1]) if outer else b.add(b.mul(d[1], block * block), place)
            return [d[0], channel, y, x]

        rw.replace(op, gather_map("DepthToSpace", op.x, tensor(op.result), index_map))


class LowerSpaceToDepth(Pattern):
    """ge.SpaceToDepth: the inverse of DepthToSpace."""

    ops = (ge.SpaceToDepth,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.SpaceToDepth)
        block, channels = op.block_size.value.data, dims(op.x)[1]
        outer = op.mode.data == "DCR"

        def index_map(b: Body, d: Values) -> list[SSAValue]:
            if outer:
                place, channel = b.div(d[1], channels, unsigned=True), b.rem(d[1], channels, unsigned=True)
            else:
                place = b.rem(d[1], block * block, unsigned=True)
                channel = b.div(d[1], block * block, unsigned=True)
            row, column = b.div(place, block, unsigned=True), b.rem(place, block, unsigned=True)
            return [d[0], channel, b.add(b.mul(d[2], block), row), b.add(b.mul(d[3], block), column)]

        rw.replace(op, gather_map("SpaceToDepth", op.x, tensor(op.result), index_map))


PATTERNS: Sequence[type[Pattern]] = (
    LowerConst, LowerReshape, LowerTranspose, LowerTransData, LowerConcat, LowerSlice, LowerSplit, LowerPad,
    LowerExpand, LowerTile, LowerDepthToSpace, LowerSpaceToDepth,
)  # fmt: skip

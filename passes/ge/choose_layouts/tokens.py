"""Reshapes between images [N, C, H, W] and token sequences, turned so that NHWC makes their Transpose free."""

from __future__ import annotations

from xdsl.ir import Operation

from gecc.dialects import ge
from gecc.passes.ge._match import producer, shape, uses
from gecc.passes.ge.choose_layouts.rules import ANCHORS, FOLLOWERS
from gecc.rewrite import Pattern, Rewriter, miss


def _spread(perm: tuple[int, ...], split: int) -> tuple[int, ...]:
    """`perm` when its source dimension `split` becomes the two dimensions `split` and `split + 1`."""
    result: list[int] = []
    for source in perm:
        result += [split, split + 1] if source == split else [source + (source > split)]
    return tuple(result)


class MergeAfterTranspose(Pattern):
    """`Transpose(Reshape(x: [N, C, H, W] -> [N, C, H W]))` becomes `Reshape(Transpose(x))`."""

    ops = (ge.Transpose,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        assert isinstance(op, ge.Transpose)
        merged = op.operands[0]
        if (view := producer(merged, ge.Reshape)) is None:
            return
        x, extents, flat = view.operands[0], shape(view.operands[0]), shape(merged)
        if len(extents) != 4 or len(flat) != 3 or -1 in extents or flat[:2] != extents[:2]:
            return
        if not isinstance(x.owner, ANCHORS + FOLLOWERS):
            return miss(op, "what is reshaped is not an image that may lie in NHWC")
        if uses(merged) != 1:
            return miss(op, "the reshaped value has {} uses, need 1", uses(merged))
        moved = ge.Transpose(x, _spread(tuple(op.perm.get_values()), 2))
        rw.replace(op, [moved, ge.Reshape(moved, shape(op.results[0]))], absorbed=[view])


class SplitBeforeTranspose(Pattern):
    """`Reshape(Transpose(t): [N, C, H W] -> [N, C, H, W])` becomes `Transpose(Reshape(t))`."""

    ops = (ge.Reshape,)

    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        moved = op.operands[0]
        if (transpose := producer(moved, ge.Transpose)) is None:
            return
        flat, extents = shape(moved), shape(op.results[0])
        if len(flat) != 3 or len(extents) != 4 or -1 in extents or flat[:2] != extents[:2]:
            return
        if not any(isinstance(use.operation, ANCHORS + FOLLOWERS) for use in op.results[0].uses):
            return miss(op, "no user takes the image in NHWC")
        if uses(moved) != 1:
            return miss(op, "the transposed value has {} uses, need 1", uses(moved))
        perm = tuple(transpose.perm.get_values())
        split = perm[2]
        source = shape(transpose.operands[0])
        image = ge.Reshape(transpose.operands[0], (*source[:split], *extents[2:], *source[split + 1 :]))
        rw.replace(op, [image, ge.Transpose(image, _spread(perm, split))], absorbed=[transpose])

"""Epilogues of products: their dimensions are walked in groups (item, row, pixel, column), not one loop each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects import arith
from xdsl.ir import Region, SSAValue

from gecc.dialects import fused
from gecc.passes.fused.to_tile.affine import Linear, RegionUse, region_use
from gecc.passes.fused.to_tile.kernel import KernelWriter


@dataclass
class Group:
    """Dimensions walked as one: `value` counts through them, the last one fastest."""

    dims: tuple[int, ...]
    value: SSAValue | None = None


class GroupedRegion:
    """A scalar region over dimensions that a kernel walks in groups."""

    def __init__(self, w: KernelWriter, region: Region, shape: Sequence[int], groups: Sequence[Group]) -> None:
        self.w = w
        self.region = region
        self.shape = tuple(shape)
        self.groups = list(groups)
        self.use: RegionUse = region_use(region, len(shape))
        self.args = list(region.block.args[: len(shape)])
        self._params: dict[tuple[object, int], SSAValue] = {}
        for load, address in self.use.addresses.items():
            self.declare(load, address)
        for group in self.groups:
            for dim in group.dims[1:]:
                self._params[("extent", dim)] = w.argument(self.shape[dim], "extent")

    def declare(self, key: object, address: Linear) -> None:
        """Make the parameters of one access."""
        if address.constant:
            self._params[(key, -1)] = self.w.argument(address.constant, "offset")
        for dim, arg in enumerate(self.args):
            factor = address.terms.get(arg, 0) if self.shape[dim] > 1 else 0
            if factor not in (0, 1):
                self._params[(key, dim)] = self.w.argument(factor, "stride")

    def _factors(self, group: Group, address: Linear) -> list[tuple[int, int]]:
        """(dimension, coefficient) of the dimensions with more than one index."""
        return [(d, address.terms.get(self.args[d], 0)) for d in group.dims if self.shape[d] > 1]

    def _scaled(self, key: object, dim: int, factor: int, index: SSAValue) -> SSAValue:
        return index if factor == 1 else self.w.body.mul(index, self._params[(key, dim)])

    def offset(self, key: object, address: Linear) -> SSAValue:
        """The address at the groups' current values."""
        b = self.w.body
        total = self._params.get((key, -1)) or b.index(0)
        for group in self.groups:
            factors = self._factors(group, address)
            if not any(factor for _, factor in factors) or group.value is None:
                continue
            walks_as_one = all(outer == inner * self.shape[dim] for (_, outer), (dim, inner) in pairwise(factors))
            if walks_as_one:
                dim, factor = factors[-1]
                total = b.add(total, self._scaled(key, dim, factor, group.value))
            else:
                for dim, factor in factors:
                    if factor:
                        total = b.add(total, self._scaled(key, dim, factor, self.dimension(dim)))
        return total

    def dimension(self, dim: int) -> SSAValue:
        """The index of one dimension, divided out of its group's value."""
        b = self.w.body
        group = next(g for g in self.groups if dim in g.dims)
        value = group.value
        if value is None or self.shape[dim] == 1:
            return b.index(0)
        position = group.dims.index(dim)
        for inner in reversed(group.dims[position + 1 :]):
            if self.shape[inner] > 1:
                value = b.div(value, self._params[("extent", inner)])
        if position and any(self.shape[d] > 1 for d in group.dims[:position]):
            value = b.rem(value, self._params[("extent", dim)])
        return value

    def write(self, scalars: Sequence[SSAValue], memories: Sequence[SSAValue]) -> SSAValue:
        """Write the region's operations at the groups' current values; returns what it yields."""

        def address(load: fused.LoadOp) -> SSAValue:
            return self.offset(load, self.use.addresses[load])

        indices = [self.dimension(d) if arg in self.use.pinned else None for d, arg in enumerate(self.args)]
        return self.w.inline(
            self.region, self.use, addresses=address, indices=indices, scalars=scalars, memories=memories
        )


def is_light(region: Region) -> bool:
    """Whether an epilogue is cheap enough to be written for each vector of a register tile."""
    cost = 0
    for op in region.block.ops:
        if op.name.startswith("math."):
            return False
        if not isinstance(op, arith.ConstantOp | fused.LoadOp | fused.YieldOp):
            cost += 1
    return cost <= LIGHT


LIGHT = 4
"""Operations of a light epilogue: bias, residual and activation."""

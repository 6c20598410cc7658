"""Sampling on another grid, and the form that takes the grid's sizes as an operand."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Prop, Value, ge_op, types_of
from gecc.dialects.ge.const import Const, const_ints
from gecc.dialects.ge.dynamic import vector_length
from gecc.dialects.ge.props import bool_prop, float_prop, floats_attr, floats_prop, word_prop
from gecc.dialects.ge.types import (
    ANY,
    DYNAMIC,
    NUMERIC,
    AnyTensor,
    agree,
    check_dtype,
    check_rank,
    dims,
    f32,
    like,
    rank,
    spell,
    tensor,
)

CROP = "tf_crop_and_resize"
"""The coordinate mode that samples a part of x, `roi`."""
COORDINATE_MODES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric", CROP)
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


class Resampling(GeOp):
    """What ge.Resize and ge.DynResize share: how a grid is sampled (ONNX Resize).

    `mode` is the interpolation, which `antialias` widens where a dimension shrinks; cubic has its coefficient, and
    without the taps outside x when `exclude_outside`. `roi` (starts of all dimensions, then ends) is what
    tf_crop_and_resize samples, and what lies outside x is then `extrapolation_value`. Integers are interpolated in
    floating point; results are rounded to even and cut to the type's range.
    """

    mode = word_prop("nearest", "linear", "cubic", default="nearest")
    coordinate_mode = word_prop(*COORDINATE_MODES, default="half_pixel")
    nearest_mode = word_prop(*NEAREST_MODES, default="round_prefer_floor")
    cubic_coeff_a = float_prop(-0.75)
    exclude_outside = bool_prop()
    antialias = bool_prop()
    roi = floats_prop(())
    extrapolation_value = float_prop(0.0)

    def check_sampling(self) -> None:
        """Raise VerifyException when properties do not fit x."""
        x = self.operands[0]
        check_dtype("x", x, ANY if self.mode.data == "nearest" else NUMERIC)
        expected = 2 * rank(x) if self.coordinate_mode.data == CROP else 0
        if len(self.roi.get_values()) != expected:
            raise VerifyException(f"roi is {list(self.roi.get_values())}, expected {expected} values")

    @property
    def sampling(self) -> dict[str, Prop]:
        """The properties of this class, as constructors take them."""
        return {name: self.properties.get(name) for name in _SAMPLING}


_SAMPLING = (
    *("mode", "coordinate_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside", "antialias", "roi"),
    "extrapolation_value",
)


def _properties(sampling: dict[str, Prop]) -> dict[str, Prop]:
    if unknown := sampling.keys() - set(_SAMPLING):
        raise TypeError(f"no property of a Resize: {', '.join(sorted(unknown))}")
    roi = sampling.get("roi")
    if roi is not None and isinstance(roi, Sequence) and not isinstance(roi, str):
        return {**sampling, "roi": floats_attr(roi)}
    return sampling


@ge_op
class Resize(Resampling):
    """x sampled on another grid (ONNX Resize). `scales` holds output / input per dimension; the result type, sizes."""

    x = operand_def(TensorType)
    scales = floats_prop()
    result = result_def(TensorType)

    def __init__(
        self, x: Value, shape: Sequence[int], *, scales: Sequence[float] | None = None, **sampling: Prop
    ) -> None:
        """`shape` is that of the result; `scales` default to its ratio to x."""
        value = SSAValue.get(x)
        if scales is None:
            if DYNAMIC in dims(value) or DYNAMIC in shape:
                raise VerifyException(f"resizing {spell(dims(value))} to {spell(shape)} needs scales")
            scales = [o / i if i else 1.0 for o, i in zip(shape, dims(value), strict=True)]
        self.setup([x], {**_properties(sampling), "scales": floats_attr(scales)}, [like(tensor(value), shape)])

    def infer(self) -> Sequence[AnyTensor]:
        self.check_sampling()
        check_rank("result", self.result, rank(self.x))
        scales = self.scales.get_values()
        if len(scales) != rank(self.x) or min(scales, default=1) <= 0:
            raise VerifyException(f"scales is {list(scales)}, expected {rank(self.x)} positive values")
        return [like(tensor(self.x), dims(self.result))]


def scaled_extent(size: int, scale: float) -> int:
    """The size of a dimension resized by `scale`: their product in f32, as ONNX Runtime computes it, rounded down."""
    return math.floor(struct.unpack("<f", struct.pack("<f", float(size) * scale))[0])


@ge_op
class DynResize(Resampling):
    """x on another grid, of size x * scales (in f32, rounded down) or `sizes`: exactly one of the two; see ge.Resize."""

    x = operand_def(TensorType)
    scales = opt_operand_def(TensorType)
    sizes = opt_operand_def(TensorType)
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        x: Value,
        scales: Value | None = None,
        sizes: Value | None = None,
        *,
        result_type: AnyTensor | None = None,
        **sampling: Prop,
    ) -> None:
        self.setup([x, scales, sizes], _properties(sampling), types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        self.check_sampling()
        if (self.scales is None) == (self.sizes is None):
            found = "neither" if self.scales is None else "both"
            raise VerifyException(f"has {found} of scales and sizes, expected exactly one")
        shape: Sequence[int] | None = None
        if self.sizes is not None:
            _check_per_dim("sizes", vector_length("sizes", self.sizes), rank(self.x))
            shape = const_ints(self.sizes)
        elif self.scales is not None:
            check_dtype("scales", self.scales, (f32,))
            check_rank("scales", self.scales, 1)
            _check_per_dim("scales", dims(self.scales)[0], rank(self.x))
            shape = _scaled(dims(self.x), self.scales)
        return [like(tensor(self.x), [DYNAMIC] * rank(self.x) if shape is None else shape)]


def _check_per_dim(what: str, count: int, rank: int) -> None:
    if not agree(count, rank):
        raise VerifyException(f"{what} has {count} elements, expected rank {rank}")


def _scaled(shape: Sequence[int], scales: SSAValue) -> tuple[int, ...] | None:
    op = scales.owner
    if not isinstance(op, Const) or not isinstance(op.value, DenseIntOrFPElementsAttr):
        return None
    factors = [float(v) for v in op.value.iter_values() if isinstance(v, float)]
    return tuple(DYNAMIC if d == DYNAMIC else scaled_extent(d, s) for d, s in zip(shape, factors, strict=True))

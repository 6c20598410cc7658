"""Matrix products and convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import bool_prop, int_prop, ints_prop
from gecc.dialects.ge.types import (
    DYNAMIC,
    FLOAT,
    NUMERIC,
    AnyTensor,
    DTypes,
    agree,
    bf16,
    broadcast,
    check_dtype,
    check_rank,
    check_row_major,
    check_same_dtype,
    dims,
    elem,
    f16,
    f32,
    i8,
    i16,
    i32,
    like,
    rank,
    row_major,
    spell,
    tensor,
)
from gecc.dialects.ge.windows import axis_name, check_window, conv_extents, deconv_extent


@ge_op
class MatMulV2(GeOp):
    """Matrix product of the last two dimensions; the others broadcast. `bias` [N] is added.

    a: [.., M, K] ([.., K, M] when transpose_x1), b: [.., K, N] ([.., N, K] when transpose_x2) -> [.., M, N]. Products
    of i8 and i16 are summed in i32 when that is the declared result type (`sums`); those of f16 and bf16 are summed in f32
    and left so when that is declared.
    """

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    transpose_x1 = bool_prop()
    transpose_x2 = bool_prop()
    result = result_def(TensorType)

    def __init__(
        self,
        a: Value,
        b: Value,
        bias: Value | None = None,
        *,
        transpose_x1: bool = False,
        transpose_x2: bool = False,
        sums: Attribute | None = None,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {"transpose_x1": transpose_x1, "transpose_x2": transpose_x2}
        self.setup([a, b, bias], properties, types_of(result_type) or _only_element(sums))
        if sums is not None:
            self.result._type = self.infer()[0]

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("a", self.a, NUMERIC)
        check_same_dtype(a=self.a, b=self.b)
        element = _result_element(self.a, self.result)
        _check_bias_element(self.bias, element)
        for name, value in (("a", self.a), ("b", self.b)):
            check_row_major(name, value)
            if rank(value) < 2:
                raise VerifyException(f"{name} has rank {rank(value)} {spell(dims(value))}, expected rank 2 or more")
        a, b = list(dims(self.a)), list(dims(self.b))
        if self.transpose_x1.value.data:
            a[-2:] = a[-1], a[-2]
        if self.transpose_x2.value.data:
            b[-2:] = b[-1], b[-2]
        if not agree(a[-1], b[-2]):
            raise VerifyException(f"inner dimensions differ: a is {spell(a)}, b is {spell(b)} (after transposition)")
        if self.bias is not None:
            check_rank("bias", self.bias, 1)
            if not agree(dims(self.bias)[0], b[-1]):
                raise VerifyException(f"bias has {dims(self.bias)[0]} elements, expected N = {b[-1]}")
        return [row_major([*broadcast(a[:-2], b[:-2]), a[-2], b[-1]], element)]


@ge_op
class Conv2D(GeOp):
    """Convolution (correlation) of x [N, C, H, W] with w [O, C / group, KH, KW], plus bias [O].

    pads are top, left, bottom, right. Result [N, O, OH, OW], in the layout of x. Sums of i32 wrap; products
    of i8 and i16 are summed in i32 when that is the declared result type (`sums`); those of f16 and bf16 are summed in f32
    and left so when that is declared.
    """

    x = operand_def(TensorType)
    w = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    strides = ints_prop((1, 1))
    pads = ints_prop((0, 0, 0, 0))
    dilations = ints_prop((1, 1))
    group = int_prop(1)
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        w: Value,
        bias: Value | None = None,
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        group: int = 1,
        sums: Attribute | None = None,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
        self.setup([x, w, bias], properties, types_of(result_type) or _only_element(sums))
        if sums is not None:
            self.result._type = self.infer()[0]

    def infer(self) -> Sequence[AnyTensor]:
        return _infer_conv(self, 2)


@ge_op
class Conv3D(GeOp):
    """Convolution of x [N, C, D, H, W] with w [O, C / group, KD, KH, KW], plus bias [O]; as Conv2D.

    More spatial dimensions, outermost first, are as good; properties have as many values.
    """

    x = operand_def(TensorType)
    w = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    strides = ints_prop((1, 1, 1))
    pads = ints_prop((0, 0, 0, 0, 0, 0))
    dilations = ints_prop((1, 1, 1))
    group = int_prop(1)
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        w: Value,
        bias: Value | None = None,
        *,
        strides: Sequence[int] = (1, 1, 1),
        pads: Sequence[int] = (0, 0, 0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1, 1),
        group: int = 1,
        sums: Attribute | None = None,
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
        self.setup([x, w, bias], properties, types_of(result_type) or _only_element(sums))
        if sums is not None:
            self.result._type = self.infer()[0]

    def infer(self) -> Sequence[AnyTensor]:
        check_row_major("x", self.x)
        return _infer_conv(self, max(rank(self.x) - 2, 3))


@ge_op
class ConvTranspose2D(GeOp):
    """The transpose (gradient) of Conv2D: x [N, C, H, W] with w [C, O / group, KH, KW], plus bias [O].

    OH = (H - 1) * stride - pad_top - pad_bottom + (KH - 1) * dilation + 1 + output_padding; likewise OW.
    """

    x = operand_def(TensorType)
    w = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    strides = ints_prop((1, 1))
    pads = ints_prop((0, 0, 0, 0))
    dilations = ints_prop((1, 1))
    group = int_prop(1)
    output_padding = ints_prop((0, 0))
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        w: Value,
        bias: Value | None = None,
        *,
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        group: int = 1,
        output_padding: Sequence[int] = (0, 0),
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {
            "strides": strides,
            "pads": pads,
            "dilations": dilations,
            "group": group,
            "output_padding": output_padding,
        }
        self.setup([x, w, bias], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        return _infer_transposed(self, 2)


@ge_op
class ConvTranspose3D(GeOp):
    """The transpose of Conv3D: x [N, C, D, H, W] with w [C, O / group, KD, KH, KW]; as ConvTranspose2D."""

    x = operand_def(TensorType)
    w = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    strides = ints_prop((1, 1, 1))
    pads = ints_prop((0, 0, 0, 0, 0, 0))
    dilations = ints_prop((1, 1, 1))
    group = int_prop(1)
    output_padding = ints_prop((0, 0, 0))
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        w: Value,
        bias: Value | None = None,
        *,
        strides: Sequence[int] = (1, 1, 1),
        pads: Sequence[int] = (0, 0, 0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1, 1),
        group: int = 1,
        output_padding: Sequence[int] = (0, 0, 0),
        result_type: AnyTensor | None = None,
    ) -> None:
        properties = {
            "strides": strides,
            "pads": pads,
            "dilations": dilations,
            "group": group,
            "output_padding": output_padding,
        }
        self.setup([x, w, bias], properties, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_row_major("x", self.x)
        return _infer_transposed(self, max(rank(self.x) - 2, 3))


_SUMMED_IN: dict[Attribute, DTypes] = {i32: (i8, i16), f32: (f16, bf16)}
"""Element type of sums -> those of operands that may have results of it."""


def _infer_conv(op: Conv2D | Conv3D, spatial: int) -> Sequence[AnyTensor]:
    _check_operands(op, spatial)
    group = op.group.value.data
    n, c, *sizes = dims(op.x)
    oc, icg, *kernel = dims(op.w)
    _check_group(group, "input channels", c)
    _check_group(group, "output channels", oc)
    if DYNAMIC not in (c, icg) and icg * group != c:
        raise VerifyException(f"w {spell(dims(op.w))} has {icg} channels, expected {c} / group {group}")
    _check_bias(op.bias, oc)
    out = conv_extents(sizes, kernel, *check_window(op.strides, op.pads, op.dilations, spatial))
    return [like(tensor(op.x), (n, oc, *out), _result_element(op.x, op.result))]


def _infer_transposed(op: ConvTranspose2D | ConvTranspose3D, spatial: int) -> Sequence[AnyTensor]:
    _check_operands(op, spatial)
    group = op.group.value.data
    n, c, *sizes = dims(op.x)
    ic, ocg, *kernel = dims(op.w)
    _check_group(group, "input channels", c)
    if not agree(c, ic):
        raise VerifyException(f"w {spell(dims(op.w))} has {ic} input channels, expected {c}")
    oc = DYNAMIC if ocg == DYNAMIC else ocg * group
    _check_bias(op.bias, oc)
    strides, pads, dilations = check_window(op.strides, op.pads, op.dilations, spatial)
    extra = op.output_padding.get_values()
    if len(extra) != spatial or min(extra) < 0:
        raise VerifyException(f"output_padding is {list(extra)}, expected {spatial} values of at least 0")
    out = [
        deconv_extent(
            axis_name(i, spatial), sizes[i], kernel[i], strides[i], pads[i], pads[spatial + i], dilations[i], extra[i]
        )
        for i in range(spatial)
    ]
    return [like(tensor(op.x), (n, oc, *out))]


def _check_operands(op: Conv2D | Conv3D | ConvTranspose2D | ConvTranspose3D, spatial: int) -> None:
    transposed = isinstance(op, ConvTranspose2D | ConvTranspose3D)
    check_dtype("x", op.x, FLOAT if transposed else (*FLOAT, i8, i16, i32))
    check_same_dtype(x=op.x, w=op.w)
    _check_bias_element(op.bias, _result_element(op.x, op.result))
    check_rank("x", op.x, 2 + spatial)
    check_rank("w", op.w, 2 + spatial)
    check_row_major("w", op.w)


def _only_element(element: Attribute | None) -> list[AnyTensor] | None:
    """Result types that say the element type until the shape is inferred."""
    return None if element is None else [row_major((), element)]


def _result_element(operand: SSAValue, result: SSAValue) -> Attribute:
    """The element type of the operands; that in which narrow operands are summed, i32 or f32, where it is declared."""
    declared = result.type.element_type if isinstance(result.type, TensorType) else None
    return declared if declared is not None and elem(operand) in _SUMMED_IN.get(declared, ()) else elem(operand)


def _check_bias_element(bias: SSAValue | None, expected: Attribute) -> None:
    if bias is not None and elem(bias) != expected:
        raise VerifyException(f"bias has element type {elem(bias)}, but the result has {expected}")


def _check_group(group: int, what: str, channels: int) -> None:
    if group < 1:
        raise VerifyException(f"group is {group}, expected at least 1")
    if channels != DYNAMIC and channels % group:
        raise VerifyException(f"group = {group} does not divide {what} = {channels}")


def _check_bias(bias: SSAValue | None, channels: int) -> None:
    if bias is None:
        return
    check_rank("bias", bias, 1)
    if not agree(dims(bias)[0], channels):
        raise VerifyException(f"bias has {dims(bias)[0]} elements, expected {channels} output channels")

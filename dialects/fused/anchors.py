"""The operations with tuned schedules: matmul, conv, softmax, norm; each with scalar work around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
    i8,
    i16,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, region_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.fused.base import (
    FusedOp,
    accumulator_type,
    check_region,
    compute_type,
    element_of,
    ints,
    shape_of,
)

NORM_KINDS = ("layer", "rms")


def _array(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, list(values))


def broadcast_shapes(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...] | None:
    """numpy broadcasting of two shapes, None when they do not agree."""
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    if any(x != y and 1 not in (x, y) for x, y in zip(left, right, strict=True)):
        return None
    return tuple(y if x == 1 else x for x, y in zip(left, right, strict=True))


@irdl_op_definition
class MatmulOp(FusedOp):
    """`result[.., m, n] = epilogue(sum over k of a[.., m, k] * b[.., k, n])`.

    `a` is [..batch, M, K]; `b` is [..batch or none, K, N], with `transpose_b` [.., N, K], with `packed = NR`
    [.., P, K, NR] where P = ceil(N / NR) and the last panel is padded with zeros. Batch dimensions broadcast as in
    numpy. Products are summed in `accumulator_type` of the element type that a and b share; packed b may hold i8 for i16.
    With `pairs` two steps of a panel's K lie column by column, (k, k + 1) of one next to those of the next. Region `epilogue` (result indices, sum, tensors of all operands) yields the result's element.
    """

    name = "fused.matmul"
    REGIONS: ClassVar[tuple[str, ...]] = ("epilogue",)

    a = operand_def(TensorType)
    b = operand_def(TensorType)
    extras = var_operand_def(TensorType)
    transpose_b = opt_prop_def(UnitAttr)
    packed = opt_prop_def(IntegerAttr)
    pairs = opt_prop_def(UnitAttr)
    epilogue = region_def()

    def __init__(
        self,
        label: str,
        a: SSAValue,
        b: SSAValue,
        extras: Sequence[SSAValue],
        result_type: TensorType,
        epilogue: Region,
        *,
        transpose_b: bool = False,
        packed: int | None = None,
    ) -> None:
        super().__init__(
            operands=[a, b, extras],
            result_types=[result_type],
            properties={
                "label": StringAttr(label),
                "transpose_b": UnitAttr() if transpose_b else None,
                "packed": IntegerAttr(packed, i64) if packed is not None else None,
            },
            regions=[epilogue],
        )

    @property
    def accumulator(self) -> Attribute:
        """The type in which products are summed, and of the epilogue's scalar argument."""
        return accumulator_type(element_of(self.a))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(M, N, K)."""
        m, n = self.result_type.get_shape()[-2:]
        return m, n, shape_of(self.a)[-1]

    def verify_op(self) -> None:
        a, b, result = shape_of(self.a), shape_of(self.b), self.result_type.get_shape()
        _check_elements(self, ("a", self.a), ("b", self.b))
        if len(a) < 2 or len(result) < 2:
            raise VerifyException(f"{self.name}: a has rank {len(a)}, result {len(result)}, expected at least 2")
        m, n, k = self.sizes
        _check_pairs(self, k)
        if self.packed is not None:
            nr = self.packed.value.data
            if nr < 1 or self.transpose_b is not None:
                raise VerifyException(f"{self.name}: packed is {nr}, expected at least 1 and no transpose_b")
            want: tuple[int, ...] = (-(-n // nr), k, nr)
        else:
            want = (n, k) if self.transpose_b is not None else (k, n)
        if len(b) < len(want) or b[-len(want) :] != want:
            raise VerifyException(f"{self.name}: b is {list(b)}, expected it to end with {list(want)}")
        if a[-2] != m:
            raise VerifyException(f"{self.name}: a has {a[-2]} rows, result has {m}, expected the same")
        batch = broadcast_shapes(a[:-2], b[: -len(want)])
        if batch != result[:-2]:
            raise VerifyException(
                f"{self.name}: batch dimensions {list(a[:-2])} and {list(b[: -len(want)])} do not broadcast to "
                f"{list(result[:-2])}"
            )
        check_region(self, "epilogue", self.epilogue, len(result), (self.accumulator,), self.result_scalar)


def _check_elements(op: MatmulOp | ConvOp, left: tuple[str, SSAValue], right: tuple[str, SSAValue]) -> None:
    """Both sides of a product hold one type, or the right one, packed, bytes (i8) for words (i16)."""
    held = element_of(left[1]), element_of(right[1])
    if held[0] == held[1] or (op.packed is not None and held == (i16, i8)):
        return
    raise VerifyException(
        f"{op.name}: {left[0]} holds {held[0]} and {right[0]} holds {held[1]}, expected the same"
        + (", or i16 and i8" if op.packed is not None else "")
    )


def _check_pairs(op: MatmulOp | ConvOp, run: int) -> None:
    """Pairs are of packed words that are multiplied with an even number of neighbours."""
    if op.pairs is not None and (op.packed is None or run % 2 or element_of(op.operands[0]) != i16):
        raise VerifyException(
            f"{op.name}: pairs of {element_of(op.operands[0])} in runs of {run}"
            f"{'' if op.packed is not None else ', not packed'}; expected packed i16 in runs of an even number"
        )


def is_depthwise_panel(out: int, group: int, depth: int, columns: int) -> bool:
    """Whether weights in panels of `columns` go into the one panel of a depthwise convolution, [1, 1, KH * KW, C]."""
    return depth == 1 and group > 1 and group == out == columns


def packed_conv_shape(out: int, group: int, depth: int, taps: int, columns: int) -> tuple[int, int, int, int]:
    """Shape of convolution weights [out, depth, taps] packed in panels of `columns`.

    A depthwise convolution (as many groups as channels) in panels of all its channels has one: [1, 1, taps, out].
    """
    if is_depthwise_panel(out, group, depth, columns):
        return 1, 1, taps, out
    return group, -(-(out // group) // columns), taps * depth, columns


@irdl_op_definition
class ConvOp(FusedOp):
    """2-D convolution (cross-correlation): logical x [N, C, H, W], w [OC, C / group, KH, KW], result [N, OC, OH, OW].

    `strides`, `dilations` and `kernel` are (vertical, horizontal), `pads` (top, left, bottom, right), zeros outside.
    With `packed = NR`, w is [group, P, KH * KW * C / group, NR], the third dimension in the order kh, kw, c, and
    P = ceil(OC / group / NR), the last panel padded with zeros; a depthwise convolution packed in panels of all its
    channels has w [1, 1, KH * KW, C]. `pairs` is as in fused.matmul, of channels of one tap. Products are summed in `accumulator_type`. Region
    `epilogue` (n, oc, oh, ow, sum, tensors of all operands) yields the result's element.
    """

    name = "fused.conv"
    REGIONS: ClassVar[tuple[str, ...]] = ("epilogue",)

    x = operand_def(TensorType)
    w = operand_def(TensorType)
    extras = var_operand_def(TensorType)
    kernel = prop_def(DenseArrayBase.constr(i64))
    strides = prop_def(DenseArrayBase.constr(i64))
    pads = prop_def(DenseArrayBase.constr(i64))
    dilations = prop_def(DenseArrayBase.constr(i64))
    group = prop_def(IntegerAttr)
    packed = opt_prop_def(IntegerAttr)
    pairs = opt_prop_def(UnitAttr)
    epilogue = region_def()

    def __init__(
        self,
        label: str,
        x: SSAValue,
        w: SSAValue,
        extras: Sequence[SSAValue],
        result_type: TensorType,
        epilogue: Region,
        *,
        kernel: Sequence[int],
        strides: Sequence[int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        dilations: Sequence[int] = (1, 1),
        group: int = 1,
        packed: int | None = None,
    ) -> None:
        super().__init__(
            operands=[x, w, extras],
            result_types=[result_type],
            properties={
                "label": StringAttr(label),
                "kernel": _array(kernel),
                "strides": _array(strides),
                "pads": _array(pads),
                "dilations": _array(dilations),
                "group": IntegerAttr(group, i64),
                "packed": IntegerAttr(packed, i64) if packed is not None else None,
            },
            regions=[epilogue],
        )

    @property
    def accumulator(self) -> Attribute:
        """The type in which products are summed, and of the epilogue's scalar argument."""
        return accumulator_type(element_of(self.x))

    def verify_op(self) -> None:
        x, w, result = shape_of(self.x), shape_of(self.w), self.result_type.get_shape()
        for name, values, count in (
            ("kernel", ints(self.kernel), 2),
            ("strides", ints(self.strides), 2),
            ("pads", ints(self.pads), 4),
            ("dilations", ints(self.dilations), 2),
        ):
            if len(values) != count:
                raise VerifyException(f"{self.name}: {name} is {list(values)}, expected {count} values")
        if min(*ints(self.kernel), *ints(self.strides), *ints(self.dilations)) < 1:
            raise VerifyException(f"{self.name}: kernel, strides and dilations must be at least 1")
        _check_elements(self, ("x", self.x), ("w", self.w))
        if len(x) != 4 or len(result) != 4:
            raise VerifyException(f"{self.name}: x is {list(x)}, result {list(result)}, expected rank 4")
        group, channels, out_channels = self.group.value.data, x[1], result[1]
        if group < 1 or channels % group or out_channels % group:
            raise VerifyException(
                f"{self.name}: group is {group}, expected a divisor of {channels} input and {out_channels} output channels"
            )
        kh, kw = ints(self.kernel)
        depth = channels // group
        _check_pairs(self, depth)
        if self.packed is not None:
            nr = self.packed.value.data
            if nr < 1:
                raise VerifyException(f"{self.name}: packed is {nr}, expected at least 1")
            want = packed_conv_shape(out_channels, group, depth, kh * kw, nr)
        else:
            want = (out_channels, depth, kh, kw)
        if w != want:
            raise VerifyException(f"{self.name}: w is {list(w)}, expected {list(want)}")
        strides, pads, dilations = ints(self.strides), ints(self.pads), ints(self.dilations)
        spatial = tuple(
            (x[2 + d] + pads[d] + pads[2 + d] - dilations[d] * ((kh, kw)[d] - 1) - 1) // strides[d] + 1
            for d in range(2)
        )
        if result != (x[0], out_channels, *spatial):
            raise VerifyException(f"{self.name}: result is {list(result)}, expected {[x[0], out_channels, *spatial]}")
        check_region(self, "epilogue", self.epilogue, 4, (self.accumulator,), self.result_scalar)


@irdl_op_definition
class SoftmaxOp(FusedOp):
    """Softmax along `axis` of the values that `prologue` computes; with `log` the logarithm of it.

    Regions: `prologue` (indices, tensors) yields x at these indices; `epilogue` (indices, softmax of x, tensors)
    yields the result's element. Both scalars are of one type, f32 or f64. Rows are shifted by their maximum.
    """

    name = "fused.softmax"
    REGIONS: ClassVar[tuple[str, ...]] = ("prologue", "epilogue")

    inputs = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    log = opt_prop_def(UnitAttr)
    prologue = region_def()
    epilogue = region_def()

    def __init__(
        self,
        label: str,
        inputs: Sequence[SSAValue],
        result_type: TensorType,
        prologue: Region,
        epilogue: Region,
        *,
        axis: int,
        log: bool = False,
    ) -> None:
        super().__init__(
            operands=[inputs],
            result_types=[result_type],
            properties={
                "label": StringAttr(label),
                "axis": IntegerAttr(axis, i64),
                "log": UnitAttr() if log else None,
            },
            regions=[prologue, epilogue],
        )

    @property
    def accumulator(self) -> Attribute:
        """The type of the prologue's and the epilogue's scalar."""
        return _row_scalar(self, self.epilogue)

    def verify_op(self) -> None:
        _verify_row_op(self, self.axis.value.data, self.prologue, self.epilogue, self.accumulator)


@irdl_op_definition
class NormOp(FusedOp):
    """Normalisation over the dimensions from `axis` to the last of the values that `prologue` computes.

    `kind` "layer": `(x - mean) / sqrt(mean((x - mean)^2) + epsilon)`; "rms": `x / sqrt(mean(x^2) + epsilon)`.
    Regions as for fused.softmax; scale and offset are part of `epilogue`.
    """

    name = "fused.norm"
    REGIONS: ClassVar[tuple[str, ...]] = ("prologue", "epilogue")

    inputs = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    epsilon = prop_def(FloatAttr)
    kind = prop_def(StringAttr)
    prologue = region_def()
    epilogue = region_def()

    def __init__(
        self,
        label: str,
        inputs: Sequence[SSAValue],
        result_type: TensorType,
        prologue: Region,
        epilogue: Region,
        *,
        axis: int,
        epsilon: float | FloatAttr,
        kind: str = "layer",
    ) -> None:
        super().__init__(
            operands=[inputs],
            result_types=[result_type],
            properties={
                "label": StringAttr(label),
                "axis": IntegerAttr(axis, i64),
                "epsilon": epsilon if isinstance(epsilon, FloatAttr) else FloatAttr(epsilon, f64),
                "kind": StringAttr(kind),
            },
            regions=[prologue, epilogue],
        )

    @property
    def accumulator(self) -> Attribute:
        """The type of the prologue's and the epilogue's scalar."""
        return _row_scalar(self, self.epilogue)

    def verify_op(self) -> None:
        if self.kind.data not in NORM_KINDS:
            raise VerifyException(f'{self.name}: kind is "{self.kind.data}", expected one of {", ".join(NORM_KINDS)}')
        if self.epsilon.value.data < 0:
            raise VerifyException(f"{self.name}: epsilon is {self.epsilon.value.data}, expected at least 0")
        _verify_row_op(self, self.axis.value.data, self.prologue, self.epilogue, self.accumulator)


def _row_scalar(op: FusedOp, epilogue: Region) -> Attribute:
    """The type in which a row is computed: f32 or f64 as the epilogue takes it, which may convert what it yields."""
    rank = op.result_type.get_num_dims()
    args = epilogue.block.args if len(epilogue.blocks) == 1 else ()
    given = args[rank].type if rank < len(args) else None
    return given if isinstance(given, Float32Type | Float64Type) else compute_type(op.result_type.get_element_type())


def _verify_row_op(op: FusedOp, axis: int, prologue: Region, epilogue: Region, scalar: Attribute) -> None:
    rank = op.result_type.get_num_dims()
    if not 0 <= axis < rank:
        raise VerifyException(f"{op.name}: axis is {axis}, expected 0 to {rank - 1}")
    check_region(op, "prologue", prologue, rank, (), scalar)
    check_region(op, "epilogue", epilogue, rank, (scalar,), op.result_scalar)

"""Normalisations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, types_of
from gecc.dialects.ge.props import float_prop, int_prop
from gecc.dialects.ge.types import (
    FLOAT,
    AnyTensor,
    agree,
    broadcast,
    check_dtype,
    check_rank,
    check_row_major,
    check_same_dtype,
    dims,
    like,
    normal_axis,
    rank,
    spell,
    tensor,
)


@ge_op
class BatchNorm(GeOp):
    """(x - mean) / sqrt(var + epsilon) * scale + offset per channel (dimension 1); the last four are [C]."""

    x = operand_def(TensorType)
    scale = operand_def(TensorType)
    offset = operand_def(TensorType)
    mean = operand_def(TensorType)
    var = operand_def(TensorType)
    epsilon = float_prop(1e-5)
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        scale: Value,
        offset: Value,
        mean: Value,
        var: Value,
        *,
        epsilon: float = 1e-5,
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, scale, offset, mean, var], {"epsilon": epsilon}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, FLOAT)
        parts = {"scale": self.scale, "offset": self.offset, "mean": self.mean, "var": self.var}
        check_same_dtype(x=self.x, **parts)
        if rank(self.x) < 2:
            raise VerifyException(f"x has rank {rank(self.x)}, expected rank 2 or more (dimension 1 is the channel)")
        for name, value in parts.items():
            check_rank(name, value, 1)
            if not agree(dims(value)[0], dims(self.x)[1]):
                raise VerifyException(f"{name} has {dims(value)[0]} elements, but x has {dims(self.x)[1]} channels")
        return [like(tensor(self.x))]


@ge_op
class LayerNorm(GeOp):
    """(x - mean) / sqrt(var + epsilon) * gamma + beta over dimensions `axis`..; gamma and beta broadcast over those."""

    x = operand_def(TensorType)
    gamma = opt_operand_def(TensorType)
    beta = opt_operand_def(TensorType)
    axis = int_prop(-1)
    epsilon = float_prop(1e-5)
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        x: Value,
        gamma: Value | None = None,
        beta: Value | None = None,
        *,
        axis: int = -1,
        epsilon: float = 1e-5,
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, gamma, beta], {"axis": axis, "epsilon": epsilon}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        return _infer_norm(self.x, self.axis.value.data, gamma=self.gamma, beta=self.beta)


@ge_op
class RMSNorm(GeOp):
    """x / sqrt(mean(x^2) + epsilon) * gamma over dimensions `axis`..; gamma broadcasts over those."""

    x = operand_def(TensorType)
    gamma = opt_operand_def(TensorType)
    axis = int_prop(-1)
    epsilon = float_prop(1e-5)
    result = result_def(TensorType)

    def __init__(
        self,
        x: Value,
        gamma: Value | None = None,
        *,
        axis: int = -1,
        epsilon: float = 1e-5,
        result_type: AnyTensor | None = None,
    ) -> None:
        self.setup([x, gamma], {"axis": axis, "epsilon": epsilon}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        return _infer_norm(self.x, self.axis.value.data, gamma=self.gamma)


def _infer_norm(x: SSAValue, axis: int, **parts: SSAValue | None) -> Sequence[AnyTensor]:
    check_dtype("x", x, FLOAT)
    check_row_major("x", x)
    check_same_dtype(x=x, **parts)
    tail = dims(x)[normal_axis(axis, rank(x)) :]
    for name, value in parts.items():
        if value is None:
            continue
        check_row_major(name, value)
        over = broadcast(tail, dims(value))
        if len(over) != len(tail) or not all(agree(a, b) for a, b in zip(over, tail, strict=True)):
            raise VerifyException(f"{name} {spell(dims(value))} does not broadcast to normalised {spell(tail)}")
    return [like(tensor(x))]


@ge_op
class Softmax(GeOp):
    """exp(x - max) / sum(exp(x - max)) along `axis`."""

    x = operand_def(TensorType)
    axis = int_prop(-1)
    result = result_def(TensorType)

    def __init__(self, x: Value, *, axis: int = -1, result_type: AnyTensor | None = None) -> None:
        self.setup([x], {"axis": axis}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, FLOAT)
        normal_axis(self.axis.value.data, rank(self.x))
        return [like(tensor(self.x))]


@ge_op
class LogSoftmax(GeOp):
    """x - max - log(sum(exp(x - max))) along `axis`."""

    x = operand_def(TensorType)
    axis = int_prop(-1)
    result = result_def(TensorType)

    def __init__(self, x: Value, *, axis: int = -1, result_type: AnyTensor | None = None) -> None:
        self.setup([x], {"axis": axis}, types_of(result_type))

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("x", self.x, FLOAT)
        normal_axis(self.axis.value.data, rank(self.x))
        return [like(tensor(self.x))]

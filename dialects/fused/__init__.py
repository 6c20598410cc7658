"""The fused dialect: each operation is one kernel launch to be, with scalar work in regions around an anchor."""

from xdsl.ir import Dialect

from gecc.dialects.fused.anchors import ConvOp, MatmulOp, NormOp, SoftmaxOp, broadcast_shapes
from gecc.dialects.fused.base import (
    FusedOp,
    accumulator_type,
    compute_type,
    element_of,
    ints,
    is_unsigned,
    scalar_type,
    shape_of,
)
from gecc.dialects.fused.generic import COMBINERS, GenericOp
from gecc.dialects.fused.scalar import CheckIndexOp, LoadOp, YieldOp
from gecc.dialects.fused.storage import ConstOp, ViewOp, value_type

Fused = Dialect(
    "fused",
    [ConstOp, ViewOp, GenericOp, MatmulOp, ConvOp, SoftmaxOp, NormOp, LoadOp, CheckIndexOp, YieldOp],
    [],
)

__all__ = [
    "COMBINERS",
    "CheckIndexOp",
    "ConstOp",
    "ConvOp",
    "Fused",
    "FusedOp",
    "GenericOp",
    "LoadOp",
    "MatmulOp",
    "NormOp",
    "SoftmaxOp",
    "ViewOp",
    "YieldOp",
    "accumulator_type",
    "broadcast_shapes",
    "compute_type",
    "element_of",
    "ints",
    "is_unsigned",
    "scalar_type",
    "shape_of",
    "value_type",
]

"""The fused dialect: each operation is one kernel launch to be, with scalar work in regions around an anchor."""

from xdsl.ir import Dialect

from gecc.dialects.fused.anchors import (
    ConvOp,
    MatmulOp,
    NormOp,
    SoftmaxOp,
    broadcast_shapes,
    is_depthwise_panel,
    packed_conv_shape,
)
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
from gecc.dialects.fused.body import Body, Scalar
from gecc.dialects.fused.build import BodyFn, EpilogueFn, broadcast_load, epilogue_region, generic, region
from gecc.dialects.fused.control import IfOp, WhileOp
from gecc.dialects.fused.generic_op import COMBINERS, GenericOp
from gecc.dialects.fused.host import HostOp
from gecc.dialects.fused.scalar import CheckIndexOp, LoadOp, YieldOp
from gecc.dialects.fused.storage import ConstOp, ViewOp

Fused = Dialect(
    "fused",
    [
        *(ConstOp, ViewOp, GenericOp, MatmulOp, ConvOp, SoftmaxOp, NormOp, HostOp),
        *(LoadOp, CheckIndexOp, YieldOp, IfOp, WhileOp),
    ],
    [],
)

__all__ = [
    "COMBINERS",
    "Body",
    "BodyFn",
    "CheckIndexOp",
    "ConstOp",
    "ConvOp",
    "EpilogueFn",
    "Fused",
    "FusedOp",
    "GenericOp",
    "HostOp",
    "IfOp",
    "LoadOp",
    "MatmulOp",
    "NormOp",
    "Scalar",
    "SoftmaxOp",
    "ViewOp",
    "WhileOp",
    "YieldOp",
    "accumulator_type",
    "broadcast_load",
    "broadcast_shapes",
    "compute_type",
    "element_of",
    "epilogue_region",
    "generic",
    "ints",
    "is_depthwise_panel",
    "is_unsigned",
    "packed_conv_shape",
    "region",
    "scalar_type",
    "shape_of",
]

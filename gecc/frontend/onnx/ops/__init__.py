"""Import functions, one file a family of operators. Importing the package fills the table."""

from gecc.frontend.onnx.ops import (
    conv,
    einsum,
    gather,
    matmul,
    movement,
    norm,
    ordering,
    pointwise,
    pool,
    quant,
    quant_microsoft,
    reduce,
    resize,
    scatter,
    shape,
    softmax,
)

__all__ = [
    "conv",
    "einsum",
    "gather",
    "matmul",
    "movement",
    "norm",
    "ordering",
    "pointwise",
    "pool",
    "quant",
    "quant_microsoft",
    "reduce",
    "resize",
    "scatter",
    "shape",
    "softmax",
]

"""Import functions, one file a family of operators. Importing the package fills the table."""

from gecc.frontend.onnx.ops import (
    conv,
    gather,
    matmul,
    movement,
    norm,
    pointwise,
    pool,
    quant,
    quant_microsoft,
    reduce,
    resize,
    shape,
    softmax,
)

__all__ = [
    "conv",
    "gather",
    "matmul",
    "movement",
    "norm",
    "pointwise",
    "pool",
    "quant",
    "quant_microsoft",
    "reduce",
    "resize",
    "shape",
    "softmax",
]

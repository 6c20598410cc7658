"""The numpy meaning of the ge dialect, exact to ONNX, one file per family of operators."""

from gecc.interp.ge import (
    indexing,
    linear,
    movement,
    norm,
    ordering,
    pointwise,
    pool,
    quant,
    reduce,
    resize,
    scatter,
    shape,
)

__all__ = [
    "indexing",
    "linear",
    "movement",
    "norm",
    "ordering",
    "pointwise",
    "pool",
    "quant",
    "reduce",
    "resize",
    "scatter",
    "shape",
]

"""The numpy meaning of the ge dialect, exact to ONNX, one file per family of operators."""

from gecc.interp.ge import (
    host,
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
    sampling,
    scatter,
    shape,
)

__all__ = [
    "host",
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
    "sampling",
    "scatter",
    "shape",
]

"""The numpy meaning of the ge dialect, exact to ONNX, one file per family of operators."""

from gecc.interp.ge import indexing, linear, movement, norm, pointwise, pool, quant, reduce, shape

__all__ = ["indexing", "linear", "movement", "norm", "pointwise", "pool", "quant", "reduce", "shape"]

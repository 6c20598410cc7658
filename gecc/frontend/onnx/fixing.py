"""Inputs whose values are fixed when a model is compiled: they become constants, so that they may decide shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, ValueInfoProto
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr

from gecc.dialects import ge
from gecc.errors import ShapeError
from gecc.frontend.onnx.inputs import declared_shape
from gecc.frontend.onnx.model import NUMPY_DTYPES, OnnxModel, type_name
from gecc.weights import WeightStore


def with_values(model: OnnxModel, values: Mapping[str, Any]) -> tuple[OnnxModel, dict[str, np.ndarray]]:
    """The model with these inputs as constants, and their values as arrays of the types declared.

    Raises ShapeError for an input that does not exist or is no tensor of gecc, and for a value that does not fit it.
    """
    if not values:
        return model, {}
    infos = {info.name: info for info in model.graph.input}
    fixed = {name: _fitting(model, infos, name, value) for name, value in values.items()}
    proto = ModelProto()
    proto.CopyFrom(model.proto)
    graph = proto.graph
    inputs = [info for info in graph.input if info.name not in fixed]
    initializers = [tensor for tensor in graph.initializer if tensor.name not in fixed]
    del graph.input[:]
    del graph.initializer[:]
    graph.input.extend(inputs)
    graph.initializer.extend(initializers)
    graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in fixed.items())
    return dataclasses.replace(model, proto=proto), fixed


def _fitting(model: OnnxModel, infos: Mapping[str, ValueInfoProto], name: str, value: Any) -> np.ndarray:
    info = infos.get(name)
    if info is None:
        raise ShapeError(f"no input is called '{name}'", hint=f"the inputs are {', '.join(infos) or 'none'}")
    element = info.type.tensor_type.elem_type
    if info.type.WhichOneof("value") != "tensor_type" or element not in NUMPY_DTYPES:
        what = info.type.WhichOneof("value") if element == 0 else type_name(element)
        raise ShapeError(f"input '{name}' is {what}: only tensors of numbers can be fixed")
    array = _as(name, value, NUMPY_DTYPES[element])
    declared = declared_shape(info, model.name)
    agree = all(not isinstance(d, int) or d == n for d, n in zip(declared.dims, array.shape, strict=False))
    if array.ndim != len(declared.dims) or not agree:
        raise ShapeError(f"the value for input '{name}' has shape {list(array.shape)}, expected {declared.spelled}")
    return array


def _as(name: str, value: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """A value as an array of `dtype`; numbers and lists are converted where nothing is lost but float precision."""
    given = np.asarray(value)
    if isinstance(value, np.ndarray):
        if given.dtype != dtype:
            raise ShapeError(f"the value for input '{name}' has dtype {given.dtype}, expected {dtype}")
        return given
    if given.dtype.kind in "biuf" and not (given.dtype.kind == "f" and dtype.kind in "iub"):
        with np.errstate(all="ignore"):
            array = given.astype(dtype)
        if dtype.kind not in "iub" or np.array_equal(array.astype(object), given.astype(object)):
            return array
    raise ShapeError(f"the value for input '{name}' is {value!r}, expected numbers of {dtype}")


def note(module: ModuleOp, fixed: Mapping[str, np.ndarray], store: WeightStore) -> None:
    """Let the module say which inputs are fixed to what, so that an om can refuse other values."""
    if fixed:
        module.attributes[ge.FIXED_NAMES] = ArrayAttr([StringAttr(name) for name in fixed])
        module.attributes[ge.FIXED_VALUES] = ArrayAttr([store.add(np.array(a, order="C")) for a in fixed.values()])

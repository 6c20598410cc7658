"""Types of ONNX values: as messages of the standard, as gecc's types, and spelled."""

from __future__ import annotations

import onnx
from onnx import TensorProto, TypeProto
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.data_types import DATA_TYPES
from gecc.frontend.onnx.model import NUMPY_DTYPES
from gecc.weights import element_type


def spelled(kind: TypeProto) -> str | None:
    """A type as the standard spells it, `seq(tensor(float))`; None when it is not known."""
    which = kind.WhichOneof("value")
    match which:
        case "tensor_type" | "sparse_tensor_type":
            number = getattr(kind, which).elem_type
            if number == TensorProto.UNDEFINED or number not in TensorProto.DataType.values():
                return None
            head = "tensor" if which == "tensor_type" else "sparse_tensor"
            return f"{head}({TensorProto.DataType.Name(number).lower()})"
        case "sequence_type" | "optional_type":
            inner = spelled(getattr(kind, which).elem_type)
            head = "seq" if which == "sequence_type" else "optional"
            return None if inner is None else f"{head}({inner})"
        case "map_type":
            inner = spelled(kind.map_type.value_type)
            key = TensorProto.DataType.Name(kind.map_type.key_type).lower()
            return None if inner is None else f"map({key},{inner})"
        case _:
            return None


def static_tensor(kind: TypeProto) -> ge.AnyTensor | None:
    """The type of a tensor of native element type and known shape; None for anything else."""
    tensor = kind.tensor_type
    if kind.WhichOneof("value") != "tensor_type" or tensor.elem_type not in NUMPY_DTYPES:
        return None
    if not tensor.HasField("shape") or not all(d.HasField("dim_value") for d in tensor.shape.dim):
        return None
    return ge.tensor_type([d.dim_value for d in tensor.shape.dim], element_type(NUMPY_DTYPES[tensor.elem_type]))


def type_of(kind: TypeProto) -> Attribute | None:
    """The type that a value has on the host's side: a tensor when all is known, else an object; None when unknown."""
    if (tensor := static_tensor(kind)) is not None:
        return tensor
    text = spelled(kind)
    return None if text is None else ge.ObjectType(text)


def kind_of(value: SSAValue) -> TypeProto:
    """The type of a value that is a tensor, or of an object of which nothing more is known."""
    if isinstance(value.type, TensorType):
        dims = [None if d == -1 else d for d in ge.dims(value)]
        return onnx.helper.make_tensor_type_proto(DATA_TYPES[ge.elem(value)], dims)
    assert isinstance(value.type, ge.ObjectType)
    return parsed(value.type.spelled.data)


def parsed(text: str) -> TypeProto:
    """The type that a spelling names. `text` is well formed."""
    head, _, rest = text.partition("(")
    inner = rest[:-1]
    match head:
        case "tensor":
            return onnx.helper.make_tensor_type_proto(TensorProto.DataType.Value(inner.upper()), None)
        case "sparse_tensor":
            return onnx.helper.make_sparse_tensor_type_proto(TensorProto.DataType.Value(inner.upper()), None)
        case "seq":
            return onnx.helper.make_sequence_type_proto(parsed(inner))
        case "optional":
            return onnx.helper.make_optional_type_proto(parsed(inner))
        case _:
            key, _, value = inner.partition(",")
            return onnx.helper.make_map_type_proto(TensorProto.DataType.Value(key.upper()), parsed(value))

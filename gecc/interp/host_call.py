"""Running a host operator, of any level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute

from gecc.dialects.ge.host import HostCall
from gecc.runtime.reference import Program
from gecc.weights import WeightStore, numpy_dtype


def run_call(op: HostCall, values: Sequence[Any], store: WeightStore) -> list[Any]:
    """The results of a host operator. Tensors reach the program in the dtypes that it declares, f32 among them."""
    program = Program(store.array(op.program).tobytes())
    return program.run([_declared(v, x.type) for v, x in zip(values, op.operands, strict=False)])


def _declared(value: Any, type: Attribute) -> Any:
    if isinstance(type, TensorType | MemRefType):
        return np.asarray(value).astype(numpy_dtype(type.element_type), copy=False)
    return value

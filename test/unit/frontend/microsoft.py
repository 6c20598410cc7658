"""One node of com.microsoft, run through the importer and numpy on one side, ONNX Runtime on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, helper, numpy_helper

from test.unit.frontend.cases import Array, Fixed, assert_close, expected, imported


@dataclass(frozen=True)
class Contributed:
    """A node of com.microsoft (or another domain, for what ONNX Runtime writes there)."""

    op: str
    inputs: Sequence[Array | Fixed | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: Sequence[bool] = (True,)
    """Which outputs are named."""
    note: str = ""
    domain: str = "com.microsoft"
    opset: int = 17
    tolerance: float = 1e-5

    @property
    def id(self) -> str:
        """What pytest calls the case."""
        text = ",".join(f"{k}={v}" for k, v in self.attributes.items())
        return f"{self.op}-{text or 'plain'}{'-' + self.note if self.note else ''}".replace(" ", "")

    @property
    def feeds(self) -> dict[str, Array]:
        """The inputs by name."""
        return {f"i{i}": x for i, x in enumerate(self.inputs) if isinstance(x, np.ndarray)}

    def model(self, shapes: Sequence[Sequence[int]] | None = None, dtypes: Sequence[Any] = ()) -> ModelProto:
        """The model, the outputs of given shapes and dtypes (else those of the first input, of unknown shape)."""
        names = ["" if x is None else f"i{i}" for i, x in enumerate(self.inputs)]
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in zip(names, self.inputs, strict=True)
            if isinstance(x, np.ndarray)
        ]
        fixed = [
            numpy_helper.from_array(np.asarray(x.array), name)
            for name, x in zip(names, self.inputs, strict=True)
            if isinstance(x, Fixed)
        ]
        outputs = [f"o{i}" if named else "" for i, named in enumerate(self.outputs)]
        node = helper.make_node(self.op, names, outputs, name=f"the_{self.op}", domain=self.domain, **self.attributes)
        made = [name for name in outputs if name]
        if shapes is None:
            infos = [helper.make_empty_tensor_value_info(name) for name in made]
        else:
            infos = [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(d), s)
                for name, s, d in zip(made, shapes, dtypes, strict=True)
            ]
        graph = helper.make_graph([node], "graph", inputs, infos, fixed)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def wanted(self) -> list[Array]:
        """The results of ONNX Runtime, which infers their types."""
        return expected(self.model(), self.feeds)


def declared(case: Contributed, results: Sequence[Array]) -> ModelProto:
    """The model of a case whose outputs are declared as `results` are."""
    return case.model([r.shape for r in results], [r.dtype for r in results])


def check(case: Contributed) -> None:
    """The case gives ONNX Runtime's numbers."""
    wanted = case.wanted()
    _, found = imported(declared(case, wanted), case.feeds)
    assert_close(found, wanted, case.tolerance)

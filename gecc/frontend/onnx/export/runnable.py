"""ge operators as the standard's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from gecc.dialects import ge
from gecc.errors import UnsupportedError
from gecc.frontend.onnx.export import control as _control  # noqa: F401, enters its functions
from gecc.frontend.onnx.export import host as _host  # enters its function
from gecc.frontend.onnx.export import sampling as _sampling  # noqa: F401, enters its functions
from gecc.frontend.onnx.export import windows as _windows  # noqa: F401, enters its functions
from gecc.frontend.onnx.export.operators import EXPORTS
from gecc.frontend.onnx.export.writer import (
    Names,
    dim_names,
    node_name,
    strings,
    tensor_proto,
    value_info,
)
from gecc.rewrite import location_names
from gecc.weights import WeightAttr, WeightStore

OPSET = 23
IR_VERSION = 11
LIMIT = 2**31 - 2**20
"""Bytes that one protobuf message holds at most, less some room."""


def export_runnable(main: FuncOp, store: WeightStore) -> ModelProto:
    """A model of opset 23 that computes what `main` computes.

    Raises UnsupportedError for what the standard cannot say, and for weights over 2 GB.
    """
    return _Exporter(main, store).run()


class _Exporter:
    """Collects nodes; functions of `EXPORTS` add to it (see `operators.Emitter`)."""

    def __init__(self, main: FuncOp, store: WeightStore) -> None:
        self.main = main
        self.store = store
        self.names = Names()
        self.nodes: list[NodeProto] = []
        self.functions: list[FunctionProto] = []
        self.initializers: list[TensorProto] = []
        self.infos: list[ValueInfoProto] = []
        self.op: Operation = main
        self._constants: dict[str, str] = {}
        self._bytes = 0

    def run(self) -> ModelProto:
        main = self.main
        block = main.body.block
        inputs = strings(main, "ge.input_names", "arg", len(block.args))
        outputs = strings(main, "ge.output_names", "out", len(main.function_type.outputs))
        for name in [*inputs, *outputs]:
            self.names.fresh(name)
        for argument, name in zip(block.args, inputs, strict=True):
            self.names.bind(argument, name)
        graph_inputs = [
            value_info(name, argument.type, dim_names(main, i))
            for i, (name, argument) in enumerate(zip(inputs, block.args, strict=True))
        ]
        results: Sequence[SSAValue] = ()
        for op in block.ops:
            if isinstance(op, ReturnOp):
                results = op.arguments
                self.op = op
        self._name_outputs(results, outputs)
        for op in block.ops:
            self._export(op)
        for value, name in zip(results, outputs, strict=True):
            if self.names.of(value) != name:
                self.node("Identity", [value], name)
        graph_outputs = [value_info(n, v.type) for n, v in zip(outputs, results, strict=True)]
        title = (location_names(main) or ("graph",))[0]
        graph = helper.make_graph(
            self.nodes, title, graph_inputs, graph_outputs, self.initializers, value_info=self.infos
        )
        opsets = [helper.make_opsetid("", OPSET)]
        if self.functions:
            opsets.append(helper.make_opsetid(_host.DOMAIN, 1))
        return helper.make_model(
            graph,
            opset_imports=opsets,
            functions=self.functions,
            ir_version=min(IR_VERSION, int(onnx.IR_VERSION)),
            producer_name="gecc",
        )

    def _name_outputs(self, results: Sequence[SSAValue], outputs: Sequence[str]) -> None:
        """A value that an operator makes and that is one output only gets the output's name at once."""
        for value, name in zip(results, outputs, strict=True):
            made = isinstance(value.owner, Operation) and not isinstance(value.owner, ge.Const)
            if made and list(results).count(value) == 1:
                self.names.bind(value, name)

    def _export(self, op: Operation) -> None:
        self.op = op
        if isinstance(op, ReturnOp | ge.Yield):
            return
        if isinstance(op, ge.Const):
            if isinstance(op.value, DenseIntOrFPElementsAttr | WeightAttr):
                hint = op.result.name_hint or "".join(location_names(op)[:1]) or "constant"
                self.names.bind(op.result, self._initializer(hint, self.store.array(op.value)))
            return
        EXPORTS[type(op)](self, op)
        outputs = {name for node in self.nodes[-1:] for name in node.output}
        for result in op.results:
            if self.names.of(result) in outputs:
                self.infos.append(value_info(self.names.of(result), result.type))

    def _initializer(self, hint: str, array: np.ndarray[Any, Any]) -> str:
        name = self.names.fresh(hint)
        self._bytes += array.nbytes
        if self._bytes > LIMIT:
            raise UnsupportedError(
                f"the weights take more than {LIMIT} bytes, which one ONNX file does not hold",
                hint="write an om or text",
            )
        self.initializers.append(tensor_proto(name, array))
        return name

    # -- what export functions use --------------------------------------------------------------------------------

    def node(
        self,
        kind: str,
        inputs: Sequence[SSAValue | str | None],
        output: SSAValue | str | None = None,
        **attributes: Any,
    ) -> str:
        """Append a node of one output and return the output's name."""
        if output is None:
            output = self.names.fresh(f"{self.op.name.removeprefix('ge.')}_inner")
        return self.node_of_many(kind, inputs, [output], **attributes)[0]

    def node_of_many(
        self, kind: str, inputs: Sequence[SSAValue | str | None], outputs: Sequence[SSAValue | str], **attributes: Any
    ) -> list[str]:
        """Append a node and return the names of its outputs."""
        names = [self._name(v) for v in inputs]
        while names and not names[-1]:
            names.pop()
        results = [self._name(v) for v in outputs]
        given = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(kind, names, results, name=node_name(self.names, self.op), **given))
        return results

    def _name(self, value: SSAValue | str | None) -> str:
        if value is None or isinstance(value, str):
            return value or ""
        return self.names.of(value)

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        """The name of an initializer that holds `array`; equal small ones are shared."""
        key = f"{array.dtype}{array.shape}{array.tobytes().hex()}"
        if key not in self._constants:
            self._constants[key] = self._initializer("constant", array)
        return self._constants[key]

    def ints(self, values: Sequence[int]) -> str:
        """The name of an i64 vector."""
        return self.constant(np.array(values, np.int64).reshape(-1))

    def subgraph(self, region: Region, inputs: Sequence[SSAValue | Attribute]) -> GraphProto:
        """What a region computes. Of `inputs`, types stand for arguments that nothing reads."""
        outer, self.nodes = self.nodes, []
        infos, self.infos = self.infos, []
        owner = self.op
        given = [
            value_info(self.names.of(x), x.type)
            if isinstance(x, SSAValue)
            else value_info(self.names.fresh("unused"), x)
            for x in inputs
        ]
        for inner in region.block.ops:
            self._export(inner)
        last = region.block.last_op
        assert last is not None
        outputs = [value_info(self.node("Identity", [value]), value.type) for value in last.operands]
        graph = helper.make_graph(self.nodes, "body", given, outputs, value_info=self.infos)
        self.nodes, self.infos, self.op = outer, infos, owner
        return graph

    def refuse(self, rule: str) -> UnsupportedError:
        """The error for an operation that ONNX cannot say."""
        places = ", ".join(location_names(self.op))
        return UnsupportedError(rule, where=f"{self.op.name}" + (f" ({places})" if places else ""))

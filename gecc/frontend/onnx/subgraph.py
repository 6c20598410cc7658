"""Importing the subgraphs of a node: branches and bodies of loops, which see the names around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import GraphProto, NodeProto, TensorProto
from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from gecc.errors import UnsupportedError
from gecc.frontend.onnx.narrow import NARROW
from gecc.frontend.onnx.order import captured, in_order

if TYPE_CHECKING:
    from gecc.frontend.onnx.node import Node


@dataclass(frozen=True)
class Scope:
    """What the subgraphs of a node may use: names of outside, and how a node is imported.

    `settle` infers the shapes of what a node has become and returns the values that its results are then.
    """

    make: Callable[[Node], Sequence[SSAValue | None]]
    settle: Callable[[Sequence[SSAValue | None]], Sequence[SSAValue | None]]
    outer: Callable[[str], SSAValue | None]
    opsets: Mapping[str, int]

    def inline(self, graph: GraphProto, given: Sequence[SSAValue], node: Node) -> list[SSAValue]:
        """Append what `graph`, a subgraph of `node`, computes of `given`, its inputs, and return its outputs.

        Refuses when a node in it is refused, naming that node, or when an output is no tensor.
        """
        graph = in_order(graph, node.model.name)
        if len(given) != len(graph.input):
            node.invalid(f"subgraph '{graph.name}' has {len(graph.input)} inputs, but {len(given)} values are for it")
        values: dict[str, SSAValue] = {
            info.name: value for info, value in zip(graph.input, self.settle(given), strict=True) if value is not None
        }
        before = node.build.location
        for tensor in graph.initializer:
            values[tensor.name] = self._constant(tensor, node)

        def value(name: str) -> SSAValue | None:
            return values[name] if name in values else self.outer(name)

        inner = Scope(self.make, self.settle, value, self.opsets)
        for number, proto in _needed(graph):
            if not proto.name:
                proto = _named(proto, f"{node.name}/{proto.op_type}_{number}")
            node.build.location = _location(proto.name)
            results = self._import(proto, node, inner, value)
            for name, made in zip(proto.output, results, strict=False):
                if name and made is not None:
                    values[name] = made
                    if made.name_hint is None and SSAValue.is_valid_name(name):
                        made.name_hint = name
        node.build.location = before
        outputs: list[SSAValue] = []
        for info in graph.output:
            found = value(info.name)
            if found is None:
                node.refuse(f"output '{info.name}' of its subgraph '{graph.name}' is no tensor that gecc knows")
            outputs.append(found)
        return outputs

    def _constant(self, tensor: TensorProto, node: Node) -> SSAValue:
        node.build.location = _location(tensor.name)
        value = node.build.const(node.model.array(tensor))
        return node.build.mark(value, tensor.data_type) if tensor.data_type in NARROW else value

    def _import(
        self, proto: NodeProto, node: Node, scope: Scope, value: Callable[[str], SSAValue | None]
    ) -> Sequence[SSAValue | None]:
        from gecc.frontend.onnx.node import Node, Refusal

        opset = self.opsets.get("" if proto.domain == "ai.onnx" else proto.domain, node.opset)
        inputs = [value(name) if name else None for name in proto.input]
        inner = Node(proto, node.index, opset, inputs, node.build, node.model)
        inner.scope = scope
        for name, found in zip(proto.input, inputs, strict=True):
            if name and found is None:
                node.refuse(f"its subgraph's {inner.where} uses '{name}', which is no tensor that gecc knows")
        try:
            return self.settle(self.make(inner))
        except Refusal as refusal:
            raise Refusal(f"its subgraph's {inner.where}: {refusal.rule}", refusal.hint) from None
        except UnsupportedError as error:
            raise Refusal(f"its subgraph's {inner.where}: {error.message}", error.hint) from error
        except VerifyException as error:
            rule = f"its subgraph's {inner.where}: {error}; inputs are {inner.spell_inputs()}"
            raise Refusal(rule) from error


def _needed(graph: GraphProto) -> list[tuple[int, NodeProto]]:
    """The nodes that the outputs need, in order, with their numbers."""
    wanted = {info.name for info in graph.output}
    needed: list[tuple[int, NodeProto]] = []
    for number, proto in reversed(list(enumerate(graph.node))):
        if wanted.intersection(proto.output):
            needed.append((number, proto))
            wanted.update(proto.input)
            wanted.update(captured(proto))
    return needed[::-1]


def _named(proto: NodeProto, name: str) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(proto)
    copy.name = name
    return copy


def _location(name: str) -> NameLoc:
    return NameLoc(StringAttr(name), NoneAttr())

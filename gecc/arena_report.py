"""The memory plan of an allocated module, as a report for people."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr

from gecc.dialects.tile import AllocOp, ViewOp
from gecc.errors import PassError
from gecc.memory.problem import align_up
from gecc.memory.report import Report, Row
from gecc.passes.tile._liveness import graph_functions, lifetimes, phases_of, resolve, steps_of
from gecc.passes.tile.allocate_buffers import MEMORY
from gecc.passes.tile.bufferize import memory_bytes
from gecc.rewrite import location_names


def memory_report(module: ModuleOp) -> Report:
    """The report of a module that went through tile-allocate-buffers. Raises PassError for another one."""
    memory = module.attributes.get(MEMORY)
    if not isinstance(memory, DictionaryAttr):
        raise PassError(f"the module has no {MEMORY}", hint="run tile-allocate-buffers first")
    rows: list[Row] = []
    start_of_graph = 0  # gears one after the other, as if all ran
    for function in graph_functions(module):
        steps = steps_of(function)
        phases = phases_of(steps)
        life = lifetimes(phases)
        labels = {w.root: s.label for s in reversed(steps) for w in s.writes}
        names = {alloc: f"b{number}" for number, alloc in enumerate(life, start=len(rows))}
        views: dict[AllocOp, list[int]] = {}
        for op in function.body.block.ops:
            if isinstance(op, ViewOp):
                size = memory_bytes(op.result.type)
                root = resolve(op.result, size).root
                if isinstance(root, AllocOp):
                    views.setdefault(root, []).append(size)
        for alloc, span in life.items():
            start, end = _span(alloc)
            # taken over: bytes of a buffer whose last phase is the first of this one
            shares = next(
                (
                    names[other]
                    for other, before in life.items()
                    if other is not alloc
                    and before.last == span.first
                    and before.first < span.first
                    and _span(other)[0] < end
                    and start < _span(other)[1]
                ),
                "",
            )
            rows.append(
                Row(
                    names[alloc],
                    end - start,
                    start,
                    start_of_graph + span.first,
                    start_of_graph + span.last,
                    _maker(labels.get(alloc, ""), location_names(alloc)),
                    shares,
                    len(views.get(alloc, [])),
                    sum(views.get(alloc, [])),
                )
            )
        start_of_graph += len(phases)
    numbers = {key: value.value.data for key, value in memory.data.items() if isinstance(value, IntegerAttr)}
    method = memory.data.get("method")
    return Report(
        tuple(rows), numbers["arena"], numbers["lower_bound"], method.data if isinstance(method, StringAttr) else ""
    )


def _maker(label: str, onnx: tuple[str, ...]) -> str:
    """What made a buffer: `ConvRelu (conv1 and 2 more)`."""
    for first in onnx[:1]:
        more = f" and {len(onnx) - 1} more" if len(onnx) > 1 else ""
        return f"{label} ({first}{more})"
    return label


def _span(alloc: AllocOp) -> tuple[int, int]:
    if alloc.offset is None:
        raise PassError("a tile.alloc has no offset", hint="run tile-allocate-buffers first")
    start = alloc.offset.value.data
    return start, start + align_up(alloc.bytes.value.data, alloc.alignment.value.data)

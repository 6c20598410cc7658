"""The memory plan of an allocated module, as a report for people."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr

from gecc.dialects.tile import AllocOp, ViewOp
from gecc.errors import PassError
from gecc.memory.report import Report, Row
from gecc.passes.tile._liveness import Access, graph_functions, lifetimes, phases_of, resolve, steps_of
from gecc.passes.tile._sizes import memory_bytes
from gecc.passes.tile.allocate_buffers import MEMORY
from gecc.rewrite import location_names


def memory_report(module: ModuleOp) -> Report:
    """The report of a module that went through tile-allocate-buffers. Raises PassError for another one."""
    memory = module.attributes.get(MEMORY)
    if not isinstance(memory, DictionaryAttr):
        raise PassError(f"the module has no {MEMORY}", hint="run tile-allocate-buffers first")
    rows: list[Row] = []
    count = 0
    start_of_graph = 0  # gears one after the other, as if all ran
    for function in graph_functions(module):
        steps = steps_of(function)
        phases = phases_of(steps)
        life = lifetimes(phases)
        names = {alloc: f"b{number}" for number, alloc in enumerate(life, start=count)}
        count += len(life)
        views: dict[AllocOp, list[int]] = {}
        for op in function.body.block.ops:
            if isinstance(op, ViewOp):
                size = memory_bytes(op.result.type)
                root = resolve(op.result, size).root
                if isinstance(root, AllocOp):
                    views.setdefault(root, []).append(size)
        placed = [(alloc, part, _start(alloc) + part.start) for alloc, parts in life.items() for part in parts]
        ids = [names[alloc] if len(life[alloc]) == 1 else f"{names[alloc]}+{part.start}" for alloc, part, _ in placed]
        for (alloc, part, start), id in zip(placed, ids, strict=True):
            # taken over: bytes of a buffer whose last phase is the first of this one
            shares = next(
                (
                    name
                    for (other, before, low), name in zip(placed, ids, strict=True)
                    if other is not alloc
                    and before.last == part.first
                    and before.first < part.first
                    and low < start + part.size
                    and start < low + before.size
                ),
                "",
            )
            writer = next(
                (s.label for s in steps for w in s.writes if w.meets(Access(alloc, part.start, part.size))), ""
            )
            seen = views.pop(alloc, [])
            maker = _maker(writer, location_names(alloc))
            first, last = start_of_graph + part.first, start_of_graph + part.last
            rows.append(Row(id, part.size, start, first, last, maker, shares, len(seen), sum(seen)))
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


def _start(alloc: AllocOp) -> int:
    if alloc.offset is None:
        raise PassError("a tile.alloc has no offset", hint="run tile-allocate-buffers first")
    return alloc.offset.value.data

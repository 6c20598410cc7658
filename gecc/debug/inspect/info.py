"""What an om file is, on one page: sizes, memory, weights, tasks, target, how it was compiled."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from gecc.om.container import PartitionType, parse_container
from gecc.om.gears import arenas, varies
from gecc.om.graph import COMMAND
from gecc.om.reader import map_file, read
from gecc.om.records import IoDesc, OmModel
from gecc.om.signature import signature_of
from gecc.plain import printable

_TASK_NAMES = {
    "KernelTask": "kernel",
    "LabelTask": "label",
    "GotoTask": "goto",
    "SwitchTask": "switch",
    "HostTask": "host call",
}


def info(path: str | os.PathLike[str]) -> str:
    """The page, a line a figure. Raises OmError for a file that is damaged."""
    model = read(path, verify="full")
    data = memoryview(map_file(path)).cast("B")
    container = parse_container(data, f"'{os.fspath(path)}'")
    signed = "there; gecc-run --trust KEY checks it" if any(signature_of(data)) else "none"
    lines = [*_model(model, os.path.getsize(path)), _line("signature", signed), *_memory(model)]
    lines += [_line(f"{_partition(p.type)} size", f"{p.size} bytes") for p in container.models[0]]
    lines += [*_interface(model), *_gears(model)]
    return "\n".join(lines) + "\n"


def _line(name: str, value: object) -> str:
    return f"{name + ':':<24}{printable(str(value), keep='')}"


def _partition(number: int) -> str:
    return PartitionType(number).name if number in PartitionType.__members__.values() else f"partition {number}"


def _model(model: OmModel, size: int) -> Iterator[str]:
    yield _line("model", model.name)
    yield _line("compiled by", model.producer)
    yield _line("options", model.attrs.get(COMMAND, "not stated"))
    yield _line("target", model.target)
    yield _line("ABI", model.abi)
    yield _line("file size", f"{size} bytes")
    kinds = Counter(_TASK_NAMES[type(task).__name__] for task in model.tasks)
    yield _line("tasks", ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none")
    yield _line("phases", model.phases)
    yield _line("streams", 1)
    yield _line("events", max(0, model.phases - 1))
    what = "tile IR, portable: compiled where it is loaded" if model.portable else "code"
    yield _line("kernels", f"{len(model.kernels)} in {memoryview(model.blob).nbytes} bytes of {what}")
    yield _line("graph nodes", len(model.nodes))
    names = {name for node in model.nodes for name in node.onnx_names}
    yield _line("ONNX nodes", len(names))


def _memory(model: OmModel) -> Iterator[str]:
    yield _line("arena", f"{model.arena_bytes} bytes")
    for key, name in (("lower_bound", "lower bound"), ("sum", "all buffers"), ("inplace", "in place")):
        value = model.attrs.get(f"memory_{key}")
        if isinstance(value, int):
            yield _line(f"arena, {name}", f"{value} bytes" if key != "inplace" else f"{value} buffers")
    yield _line("scratch", f"{model.scratch_bytes} bytes a rank")
    yield _line("weights", f"{len(model.weights.entries)} in {model.weights.size} bytes")
    yield _line("objects", model.slots)


def _interface(model: OmModel) -> Iterator[str]:
    for kind, descs in (("input", model.inputs), ("output", model.outputs)):
        for io in descs:
            yield _line(kind, f"{io.name} {spell(io)}")


def _gears(model: OmModel) -> Iterator[str]:
    ends = list(arenas(model))
    if ends:
        yield _line("gears", len(ends))
    for gear, end in enumerate(ends):
        sizes = ", ".join(f"{io.name} {list(io.shapes[gear])}" for io in (*model.inputs, *model.outputs) if varies(io))
        yield _line(f"gear {gear}", f"{sizes}; {end} bytes of arena")


def spell(io: IoDesc) -> str:
    """Type and shape of an input or output."""
    return f"{io.dtype}[{', '.join('?' if d < 0 else str(d) for d in io.shape)}]"

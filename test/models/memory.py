"""Compare the memory of compiled models with ONNX Runtime's: `python -m test.models.memory [--markdown] [name ...]`.

Three figures a net, in bytes: the plain bound, which is the most alive at once in the exported order with every tensor apart
(inputs, outputs and weights excluded); the logical bytes, which are the same after gecc's fusion, order and sharing; the
arena with the scratch of one rank, all that a run needs. ONNX Runtime's figure is the block of its memory pattern: the first
request of a second run to an arena of its own that was shrunk after the first, with basic optimisation, as it logs it.

Exits with 1 when the logical bytes exceed the plain bound anywhere or 0.78 of it in geometric mean, or the arena is more than
1 / 1.4 of ONNX Runtime's in geometric mean.
"""

from __future__ import annotations

import argparse
import math
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, load

from gecc import api
from gecc.context import make_context
from gecc.memory.problem import align_up
from test.models.bert import bert
from test.models.lstm import unrolled_lstm
from test.models.mobilenet import mobilenet
from test.models.nasnet import nasnet
from test.models.resnet import resnet
from test.models.unet import unet, unet_plus_plus

WORDS = {name: (1, 128) for name in ("input_ids", "attention_mask", "token_type_ids")}

NETS: dict[str, tuple[Callable[[], ModelProto], Mapping[str, tuple[int, ...]]]] = {
    "resnet50": (partial(resnet, 50), {}),
    "mobilenet": (mobilenet, {}),
    "bert-base": (partial(bert, 768, 12, 3072, layers=12, vocabulary=2000), WORDS),
    "unet": (unet, {}),
    "unet++": (unet_plus_plus, {}),
    "nasnet": (nasnet, {}),
    "lstm-unrolled": (unrolled_lstm, {}),
}
"""Name to what makes the net, and the sizes it leaves open."""

HANDED = Path(__file__).parents[2].parent / "shared" / "models"
"""Trained models, where they are at hand; each with recorded inputs."""

LOGICAL, ORT = 0.78, 1.4
"""What the geometric means must not exceed, and must reach."""

_PEER = """
import pickle, sys
import onnxruntime as ort
path, feeds = sys.argv[1], pickle.load(open(sys.argv[2], "rb"))
ort.set_default_logger_severity(0)
memory = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
arena = ort.OrtArenaCfg({"arena_extend_strategy": 1, "initial_chunk_size_bytes": 1, "max_mem": 0})
ort.create_and_register_allocator(memory, arena)
options = ort.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 0
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
options.add_session_config_entry("session.use_env_allocators", "1")
session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
shrink = ort.RunOptions()
shrink.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
for _ in range(2):
    print("=== run", file=sys.stderr, flush=True)
    session.run(None, feeds, shrink)
"""


@dataclass(frozen=True)
class Row:
    """One net; `peer` is None where ONNX Runtime plans nothing (no pattern) or does not take the model."""

    name: str
    plain: int
    logical: int
    arena: int
    scratch: int
    peer: int | None
    holders: str

    @property
    def total(self) -> int:
        """All that a run on one rank needs beside weights, inputs and outputs."""
        return self.arena + self.scratch


def plain_bound(model: Any, shapes: Mapping[str, tuple[int, ...]]) -> int:
    """The most bytes alive at once in the exported order, every tensor apart."""
    from xdsl.dialects.builtin import TensorType
    from xdsl.dialects.func import FuncOp, ReturnOp

    from gecc.dialects import ge
    from gecc.pipeline import run_pipeline
    from gecc.weights.dtypes import item_bytes

    ctx = make_context()
    module = api.import_model(ctx, model, shapes)
    run_pipeline(ctx, module, ("ge-infer-shapes", "ge-fold-constants", "ge-dce"), verify_each=False)
    main = next(op for op in module.ops if isinstance(op, FuncOp))
    ops = [op for op in main.body.block.ops if not isinstance(op, ge.Const)]
    returned = {value for op in ops if isinstance(op, ReturnOp) for value in op.operands}
    change = [0] * (len(ops) + 1)
    place = {op: i for i, op in enumerate(ops)}

    def user(operation: Any) -> int:
        while operation not in place:
            operation = operation.parent_op()
        return place[operation]

    for i, op in enumerate(ops):
        for result in op.results:
            if result in returned or not isinstance(result.type, TensorType):
                continue
            size = align_up(math.prod(result.type.get_shape()) * item_bytes(result.type.element_type), 64)
            change[i] += size
            change[max([i, *(user(use.operation) for use in result.uses)]) + 1] -= size
    peak = live = 0
    for step in change:
        live += step
        peak = max(peak, live)
    return peak


def pattern_bytes(path: str, feeds: Mapping[str, Any]) -> int | None:
    """Bytes of ONNX Runtime's memory pattern; None when it has none or refuses the model."""
    with tempfile.NamedTemporaryFile(suffix=".pkl") as file:
        pickle.dump(dict(feeds), file)
        file.flush()
        done = subprocess.run([sys.executable, "-c", _PEER, path, file.name], capture_output=True, text=True)
    runs = done.stderr.split("=== run")
    if done.returncode or len(runs) != 3:
        return None
    found = re.search(r"Extending BFCArena for Cpu.*rounded_bytes:(\d+)", runs[2])
    return int(found.group(1)) if found else None


def with_sizes(path: str, shapes: Mapping[str, tuple[int, ...]]) -> ModelProto:
    """The model with these sizes of its inputs, so that ONNX Runtime knows all shapes when it plans."""
    model = load(path)
    del model.graph.value_info[:]
    for info in model.graph.input:
        if info.name in shapes:
            del info.type.tensor_type.shape.dim[:]
            for extent in shapes[info.name]:
                info.type.tensor_type.shape.dim.add(dim_value=extent)
    for info in model.graph.output:
        info.type.tensor_type.ClearField("shape")
    return model


def measure(name: str, path: str, shapes: Mapping[str, tuple[int, ...]], feeds: Mapping[str, Any] | None) -> Row:
    """The figures of one net."""
    from gecc.arena_report import memory_report

    ctx = make_context()
    module = api.import_model(ctx, path, shapes)
    api.lower(ctx, module, stage="buffer")
    phase, alive = memory_report(module).busiest
    holders = f"phase {phase}: " + ", ".join(f"{r.maker} {r.size}" for r in alive[:3])
    om = api.compile_module(ctx, module).om
    if feeds is None:
        rng = np.random.default_rng(0)
        feeds = {
            io.name: np.ones(io.shape, np.int64) if io.dtype == "i64" else rng.standard_normal(io.shape, np.float32)
            for io in om.inputs
        }
    logical = om.attrs["memory_lower_bound"]
    assert isinstance(logical, int)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(with_sizes(path, shapes).SerializeToString())
        file.flush()
        peer = pattern_bytes(file.name, feeds)
    return Row(name, plain_bound(path, shapes), logical, om.arena_bytes, om.scratch_bytes, peer, holders)


def nets(names: list[str], folder: Path) -> Iterator[Row]:
    """A row for each net, built or handed."""
    for name, (make, shapes) in NETS.items():
        if not names or name in names:
            path = folder / f"{name}.onnx"
            path.write_bytes(make().SerializeToString())
            yield measure(name, str(path), shapes, None)
    for path in sorted(HANDED.glob("*.onnx")):
        name = path.stem.partition("__")[2] or path.stem
        if names and name not in names:
            continue
        with np.load(path.with_name(f"{path.stem}.case0.npz"), allow_pickle=False) as arrays:
            inputs = {i.name for i in load(path, load_external_data=False).graph.input}
            feeds = {k.removeprefix("in:"): arrays[k] for k in arrays if k.removeprefix("in:") in inputs}
        yield measure(name, str(path), {k: v.shape for k, v in feeds.items()}, feeds)


def mean(values: list[float]) -> float:
    """Geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0


def main() -> int:
    """Measure and print; see the module's docstring."""
    parser = argparse.ArgumentParser("python -m test.models.memory", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("nets", nargs="*", metavar="NET")
    args = parser.parse_args()
    print("| net | plain bound | logical bytes | of the bound | arena + scratch | ONNX Runtime | ratio |")
    print("|---|---|---|---|---|---|---|")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for row in nets(args.nets, Path(folder)):
            rows.append(row)
            peer = f"{row.peer} | {row.peer / max(row.total, 1):.2f}" if row.peer else "none | -"
            part = row.logical / max(row.plain, 1)
            print(
                f"| {row.name} | {row.plain} | {row.logical} | {part:.3f} | {row.arena} + {row.scratch} | {peer} |",
                flush=True,
            )
    logical = mean([max(r.logical, 64) / r.plain for r in rows if r.plain])
    ratios = [r.peer / r.total for r in rows if r.peer and r.total]
    above = [r for r in rows if r.peer and r.total > r.peer]
    print(
        f"\nGeometric means: logical bytes {logical:.3f} of the plain bound, ONNX Runtime {mean(ratios):.2f} times gecc."
    )
    for row in above:
        print(f"Above ONNX Runtime: {row.name}, held by {row.holders}.")
    worse = [r.name for r in rows if r.logical > r.plain]
    if worse:
        print(f"Above the plain bound: {', '.join(worse)}.")
    return int(bool(worse) or logical > LOGICAL or mean(ratios) < ORT)


if __name__ == "__main__":
    sys.exit(main())

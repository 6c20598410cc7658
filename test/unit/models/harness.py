"""Whole models on this machine: compiled, run by several ranks, compared with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import onnxruntime
from onnx import ModelProto

from gecc import api
from gecc.om.records import HostTask, KernelTask, OmModel
from gecc.target import TARGETS, supports

Array: TypeAlias = np.ndarray[Any, Any]
Arrays: TypeAlias = dict[str, Array]

RANKS = (1, 2, 3)
HERE = tuple(name for name, target in TARGETS.items() if target.native and not supports(target))
"""Targets whose code this machine runs, the most capable first."""


def compiled(model: api.Source, feeds: Mapping[str, Array], *, level: str = "O2", target: str = "host") -> api.Model:
    """The compiled model; every node of it runs as kernels, with jumps between them."""
    shapes = {name: array.shape for name, array in feeds.items()}
    result = api.compile(model, input_shapes=shapes, opt_level=level, target=target)
    strangers = [task for task in result.om.tasks if isinstance(task, HostTask)]
    assert not strangers, f"not kernels: {strangers}"
    assert "HostOp" not in {node.type for node in result.om.nodes}
    return result


def results(model: api.Model, feeds: Mapping[str, Array]) -> Arrays:
    """Outputs by name, of which one, two and three ranks make the very same bits, and so does a poisoned run."""
    by_ranks: list[Arrays] = []
    for ranks in RANKS:
        with api.load(model, threads=ranks, affinity="none") as executor:
            by_ranks.append(executor.run(feeds))
    for ranks, other in zip(RANKS[1:], by_ranks[1:], strict=True):
        differ = [name for name, array in by_ranks[0].items() if array.tobytes() != other[name].tobytes()]
        assert not differ, f"{ranks} ranks give other bits than one in {differ}"
    with api.load(model, poison=True) as executor:
        poisoned = executor.run(feeds)
    differ = [name for name, array in by_ranks[0].items() if array.tobytes() != poisoned[name].tobytes()]
    assert not differ, f"{differ} read memory that holds nothing"
    return by_ranks[0]


def reference(model: ModelProto, feeds: Mapping[str, Array]) -> Arrays:
    """What ONNX Runtime says, its graph optimisations off."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in model.graph.output]
    return {name: np.asarray(r) for name, r in zip(names, session.run(None, dict(feeds)), strict=True)}


def assert_close(found: Mapping[str, Array], wanted: Mapping[str, Array], tolerance: float) -> None:
    """The same names, types and shapes; errors within `tolerance` of the largest value of each output.

    An output that is constant, or not finite, would agree with too much: what is wanted must vary.
    """
    assert list(found) == list(wanted)
    for name, want in wanted.items():
        got = found[name]
        assert (got.dtype, got.shape) == (want.dtype, want.shape), name
        varies = want.size == 1 or want.std() > 0
        assert np.isfinite(want).all() and varies, f"{name}: the reference is no yardstick"
        error = np.abs(got.astype(np.float64) - want) / np.abs(want).max()
        worst = np.unravel_index(np.argmax(error), error.shape) if error.size else ()
        assert (error <= tolerance).all(), (
            f"{name}{[int(i) for i in worst]}: {got[worst]}, expected {want[worst]}, off by {error.max():.3g} of the "
            f"largest; {int((error > tolerance).sum())} of {error.size} are off by more than {tolerance}"
        )


def kernel_names(om: OmModel) -> list[str]:
    """The kernels that the model's tasks launch, in order of first use."""
    return list(dict.fromkeys(task.kernel for task in om.tasks if isinstance(task, KernelTask)))

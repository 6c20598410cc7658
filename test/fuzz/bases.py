"""The good files that mutants are made of: one of each kind of task, with inputs that run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

from gecc import api

CORPUS = Path(__file__).parents[1] / "corpus"


@dataclass(frozen=True)
class Base:
    """A good file and inputs for it."""

    name: str
    data: bytes
    feeds: dict[str, Any]


@cache
def bases() -> tuple[Base, ...]:
    """The files: products, images, checked indices, jumps, host calls, gears, and the corpus's newest."""
    found = [Base(name, api.compile(model).to_bytes(), feeds) for name, (model, feeds) in models().items()]
    model, feeds, gears = _gears()
    found.append(Base("gears", api.compile(model, gears=gears).to_bytes(), feeds))
    newest = [sorted(CORPUS.glob("abi*"))[-1], CORPUS / "schema3"]  # what has machine code
    for path in sorted(path for folder in newest for path in folder.glob("*.om")):
        with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:
            feeds = {name.removeprefix("in."): arrays[name] for name in arrays if name.startswith("in.")}
        found.append(Base(f"corpus/{path.stem}", path.read_bytes(), feeds))
    return tuple(found)


@cache
def portable_bases() -> tuple[Base, ...]:
    """Portable files. None jumps: tasks that jump back for ever are a run, too, which a test cannot wait for."""
    made = {name: pair for name, pair in models().items() if name in ("product", "image", "rows")}
    return tuple(
        Base(f"portable {name}", api.compile(model, kernels="portable").to_bytes(), feeds)
        for name, (model, feeds) in made.items()
    )


def models() -> dict[str, tuple[onnx.ModelProto, dict[str, Any]]]:
    """The models of the files, with inputs."""
    rng = np.random.default_rng(0)
    return {
        "product": (_product(), {"x": rng.standard_normal((3, 19)).astype(np.float32)}),
        "image": (_image(), {"x": rng.standard_normal((1, 3, 9, 7)).astype(np.float32)}),
        "rows": (_rows(), {"i": np.array([[0, -1], [4, 2]])}),
        "loop": (_loop(), {"x": rng.standard_normal(7).astype(np.float32), "go": np.array(True)}),
        "host": (_host(), {"x": np.array([0, 2, 0, 3], np.float32)}),
    }


def _model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, tuple[int, list[int]]],
    outputs: dict[str, tuple[int, list[Any]]],
    constants: dict[str, np.ndarray],
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "fuzz",
        [helper.make_tensor_value_info(n, t, s) for n, (t, s) in inputs.items()],
        [helper.make_tensor_value_info(n, t, s) for n, (t, s) in outputs.items()],
        [numpy_helper.from_array(a, n) for n, a in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def _product() -> onnx.ModelProto:
    rng = np.random.default_rng(1)
    w, v = rng.standard_normal((19, 24)).astype(np.float32), rng.standard_normal((24, 5)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Gelu", ["h"], ["g"]),
        helper.make_node("MatMul", ["g", "v"], ["p"]),
        helper.make_node("Softmax", ["p"], ["y"], axis=1),
    ]
    return _model(nodes, {"x": (1, [3, 19])}, {"y": (1, [3, 5])}, {"w": w, "v": v})


def _image() -> onnx.ModelProto:
    w = np.random.default_rng(2).standard_normal((6, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Concat", ["p", "p"], ["y"], axis=1),
    ]
    return _model(nodes, {"x": (1, [1, 3, 9, 7])}, {"y": (1, [1, 12, 4, 3])}, {"w": w})


def _rows() -> onnx.ModelProto:
    table = np.random.default_rng(3).standard_normal((5, 9)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["t", "i"], ["g"]),
        helper.make_node("ReduceMean", ["g"], ["y"], keepdims=0),
    ]
    inputs = {"i": (int(TensorProto.INT64), [2, 2])}
    return _model(nodes, inputs, {"g": (1, [2, 2, 9]), "y": (1, [])}, {"t": table})


def _loop() -> onnx.ModelProto:
    """Doubles x while it is small, three times at most."""
    return onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 20]>
        fuzz (float[7] x, bool go) => (float[7] y) {
            most = Constant<value = int64 {3}>()
            y = Loop(most, go, x) <body = step (int64 i, bool c, float[7] v) => (bool again, float[7] w) {
                w = Add(v, v)
                top = ReduceMax<keepdims = 0>(w)
                limit = Constant<value = float {4.0}>()
                again = Less(top, limit)
            }>
        }""")


def _gears() -> tuple[onnx.ModelProto, dict[str, Any], list[dict[str, tuple[int, ...]]]]:
    """Rows of a table, scaled, in three sizes of two inputs."""
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 20]>
        fuzz (int64[n] i, float[m] s) => (float[n, m] y, float same) {
            g = Gather(t, i)
            o = Unsqueeze(g, one)
            y = Mul(o, s)
            same = ReduceMax<keepdims = 0>(y)
        }""")
    table = np.random.default_rng(4).standard_normal(5).astype(np.float32)
    model.graph.initializer.extend([numpy_helper.from_array(table, "t"), numpy_helper.from_array(np.array([1]), "one")])
    feeds = {"i": np.array([4, -1, 0]), "s": np.ones(2, np.float32)}
    return model, feeds, [{"i": (n,), "s": (m,)} for n, m in ((3, 2), (1, 6), (7, 5))]


def _host() -> onnx.ModelProto:
    """Where x is not zero, beside work that is native."""
    nodes = [helper.make_node("Exp", ["x"], ["e"]), helper.make_node("NonZero", ["x"], ["y"])]
    outputs: dict[str, tuple[int, list[Any]]] = {"e": (1, [4]), "y": (int(TensorProto.INT64), [1, None])}
    return _model(nodes, {"x": (1, [4])}, outputs, {})

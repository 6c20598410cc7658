"""The cases of the onnx wheel: models, inputs and expected outputs. Nothing is fetched."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, TypeProto, numpy_helper
from onnx.backend.test import loader
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.runner import Runner

GROUPS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
"""The groups as onnx names them; `expanded` node cases (operators spelled as their definitions) count apart."""

DataSet = tuple[Sequence[Any], Sequence[Any]]
"""Inputs and expected outputs, in order."""


@dataclass(frozen=True)
class Case:
    """One model with its data sets."""

    group: str
    name: str
    source: TestCase

    def load(self) -> tuple[ModelProto, list[DataSet]]:
        """The model, and pairs of inputs and expected outputs."""
        if self.source.model is not None:
            sets = self.source.data_sets or []
            return self.source.model, [(list(map(_value, i)), list(map(_value, o))) for i, o in sets]
        if self.source.model_dir:
            return _from_folder(Path(self.source.model_dir))
        return _light(self.source)


def collect(groups: Sequence[str] = GROUPS) -> list[Case]:
    """All cases of the groups, in a fixed order."""
    cases: list[Case] = []
    for group in groups:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy overflows, while onnx makes its cases
            found = loader.load_model_tests(kind=group)
        for source in sorted(found, key=lambda s: s.name):
            expanded = group == "node" and "_expanded" in source.name
            cases.append(Case("node-expanded" if expanded else group, source.name, source))
    return cases


def _value(value: Any) -> Any:
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def _from_folder(folder: Path) -> tuple[ModelProto, list[DataSet]]:
    model = onnx.load(str(folder / "model.onnx"))
    sets: list[DataSet] = []
    for data in sorted(folder.glob("test_data_set*")):
        inputs = [_read(data / f"input_{i}.pb", v.type) for i, v in enumerate(_fed(data, "input", model.graph.input))]
        outputs = [_read(data / f"output_{i}.pb", v.type) for i, v in enumerate(model.graph.output)]
        sets.append((inputs, outputs))
    return model, sets


def _fed(data: Path, kind: str, infos: Sequence[onnx.ValueInfoProto]) -> Sequence[onnx.ValueInfoProto]:
    return infos[: len(list(data.glob(f"{kind}_*.pb")))]


def _light(source: TestCase) -> tuple[ModelProto, list[DataSet]]:
    """A well-known network with made-up weights; the input is made up too, the output lies beside the model."""
    assert source.url is not None
    path = Path(onnx.__file__).parent / Path(source.url).relative_to("onnx")
    model = onnx.load(str(path))
    constant = {t.name for t in model.graph.initializer}
    inputs = [
        Runner.generate_dummy_data(v, seed=0, name=source.model_name, random=False)
        for v in model.graph.input
        if v.name not in constant
    ]
    outputs = [_read(path.with_name(f"{path.stem}_output_{i}.pb"), v.type) for i, v in enumerate(model.graph.output)]
    return model, [(inputs, outputs)]


def _read(path: Path, kind: TypeProto) -> Any:
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    if kind.HasField("map_type"):
        return numpy_helper.to_dict(onnx.MapProto.FromString(data))
    return numpy_helper.to_array(TensorProto.FromString(data))

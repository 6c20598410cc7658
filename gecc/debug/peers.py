"""Other runtimes under one interface, to compare results and times with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gecc.errors import CliError, GeccError

Array = NDArray[Any]
Feeds = Mapping[str, Array]


class PeerError(GeccError):
    """Another runtime refused the model or its inputs."""


@contextmanager
def _refusals(peer: str) -> Iterator[None]:
    """What a runtime raises, as ours. Both are bindings whose exceptions have no common base but these."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] != peer and not isinstance(error, RuntimeError | ValueError):
            raise
        raise PeerError(f"{peer} refused: {error}") from error


class Runner(Protocol):
    """A model made ready to run in some runtime."""

    name: str

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Outputs by name."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


class Gecc:
    """An executor of ours."""

    name = "gecc"

    def __init__(self, model: Any, threads: int) -> None:
        from gecc import api

        self.executor = api.load(model, threads=threads)

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Outputs by name."""
        return self.executor.run(feeds)

    def close(self) -> None:
        """Close the executor."""
        self.executor.close()


def _package(name: str) -> Any:
    """The module of a runtime that need not be installed. Raises CliError when it is not."""
    try:
        return import_module(name)
    except ImportError as error:
        raise CliError(f"the package {name} cannot be imported: {error}", hint=f"pip install {name}") from error


def _plain(result: Any) -> Any:
    """A result with numbers as arrays; sequences, maps and what is missing stay."""
    return result if result is None or isinstance(result, list | dict) else np.asarray(result)


class OnnxRuntime:
    """ONNX Runtime on the CPU, all optimisations on."""

    name = "onnxruntime"

    def __init__(self, model: str, threads: int) -> None:
        onnxruntime = _package("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        with _refusals(self.name):
            self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.outputs = [output.name for output in self.session.get_outputs()]

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Outputs by name."""
        with _refusals(self.name):
            results = self.session.run(None, dict(feeds))
        return {name: _plain(result) for name, result in zip(self.outputs, results, strict=True)}

    def close(self) -> None:
        """Drop the session."""
        del self.session


class OpenVino:
    """OpenVINO on the CPU, for latency and in full f32 precision, as the others compute."""

    name = "openvino"

    def __init__(self, model: str, threads: int) -> None:
        openvino = _package("openvino")
        config = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
        }
        with _refusals(self.name):
            self.compiled = openvino.Core().compile_model(os.fspath(model), "CPU", config)
        self.names = [output.get_any_name() for output in self.compiled.outputs]
        self.request = self.compiled.create_infer_request()

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Outputs by name."""
        with _refusals(self.name):
            results = self.request.infer(dict(feeds), share_inputs=True)
        return {name: np.array(results[i]) for i, name in enumerate(self.names)}

    def close(self) -> None:
        """Drop the request and the model."""
        del self.request, self.compiled


PEERS: dict[str, Callable[[str, int], Runner]] = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}
"""Name to what makes an ONNX file ready to run with a number of threads."""


def parse_peers(text: str) -> Sequence[str]:
    """Names separated by commas. Raises CliError for one that is unknown."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in PEERS:
            raise CliError(f"unknown peer '{name}', expected {', '.join(PEERS)}")
    return list(dict.fromkeys(names))

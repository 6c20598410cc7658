"""Checking models in a process of its own, which may die or hang without harm.

A worker is asked for a seed or given a model, and answers with what failed. It says what it is at, so that a death can
be laid at the door of the oracle or of the compiler.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from onnx import ModelProto

from gecc.debug.smith.check import Failure, failure
from gecc.debug.smith.generate import generate
from gecc.debug.smith.oracle import Array, Rejected, run

PATIENCE = 120.0
"""Seconds after which a model hangs."""


@dataclass(frozen=True)
class Answer:
    """What came of a model: `failed` is None when all went well. `valid` is false when oracles did not take it."""

    failed: Failure | None = None
    valid: bool = True
    operators: Counter[str] = field(default_factory=Counter[str])
    rejected: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True)
class Settings:
    """How models are compiled."""

    nodes: int
    levels: tuple[str, ...]
    targets: tuple[str, ...]


class Worker:
    """A process that checks models, started anew when it was lost."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._settings), daemon=False)
        self._process.start()
        theirs.close()

    def ask(self, seed: int) -> None:
        """Ask for the model of a seed; `answer` then gives what came of it."""
        self.connection.send(seed)

    def answer(self) -> Answer:
        """Wait for the answer."""
        stage = "oracle"
        try:
            while self.connection.poll(PATIENCE):
                said = self.connection.recv()
                if isinstance(said, Answer):
                    return said
                stage = said
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self._start()
            return _lost(stage, Failure("died", "process", f"ended with status {code}"))
        self._process.kill()
        self._process.join()
        self._start()
        return _lost(stage, Failure("hangs", "process", f"no answer within {PATIENCE:.0f} s"))

    def check(self, model: ModelProto, feeds: Mapping[str, Array]) -> Answer:
        """What comes of a model."""
        self.connection.send((model.SerializeToString(), dict(feeds)))
        return self.answer()

    def close(self) -> None:
        """End the process."""
        self.connection.send(None)
        self._process.join()


def _lost(stage: str, failed: Failure) -> Answer:
    return Answer(valid=False) if stage == "oracle" else Answer(failed)


def _serve(connection: Connection, settings: Settings) -> None:
    while (request := connection.recv()) is not None:
        connection.send("oracle")
        connection.send(_served(connection, settings, request))


def _served(connection: Connection, settings: Settings, request: int | tuple[bytes, dict[str, Array]]) -> Answer:
    operators, rejected = Counter[str](), Counter[str]()
    if isinstance(request, int):
        sample = generate(request, settings.nodes)
        model, feeds, values = sample.model, sample.feeds, sample.values
        operators.update(node.op_type for node in model.graph.node)
        rejected = sample.rejected
        if not model.graph.output:
            return Answer(valid=False)
    else:
        model, feeds = ModelProto.FromString(request[0]), request[1]
        try:
            values = run(model, feeds)
        except Rejected:
            return Answer(valid=False)
    connection.send("compiler")
    failed = failure(model, feeds, values, settings.levels, settings.targets)
    return Answer(failed, operators=operators, rejected=rejected)


def start(count: int, settings: Settings) -> Sequence[Worker]:
    """Some workers."""
    return [Worker(settings) for _ in range(count)]

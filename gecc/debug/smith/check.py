"""A model compiled every way, run, and compared with its oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto

from gecc import api
from gecc.debug.smith.oracle import Array, Value, fault
from gecc.errors import GeccError, UnsupportedError
from gecc.om.reader import from_bytes

LEVELS = ("O0", "O1", "O2")
RANKS = (1, 2)


@dataclass(frozen=True)
class Failure:
    """What went wrong: `kind` says in a word what (`wrong`, `ranks`, `refused`, `error`, `died`, `hangs`), `where` at
    which level and for which target, `what` in full."""

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.kind}: {self.what}"


def failure(
    model: ModelProto,
    feeds: Mapping[str, Array],
    values: Mapping[str, Value],
    levels: Sequence[str] = LEVELS,
    targets: Sequence[str] = ("host",),
) -> Failure | None:
    """The first failure of a model, or None."""
    source = model.SerializeToString()
    for target in targets:
        for level in levels:
            try:
                found = _failure(source, feeds, values, level, target)
            except UnsupportedError as error:
                found = ("refused", str(error))
            except GeccError as error:
                found = ("error", f"{type(error).__name__}: {error}")
            # A fault of the compiler may be any exception; all are findings here.
            except Exception as error:
                found = ("error", f"{type(error).__name__}: {error}")
            if found is not None:
                return Failure(found[0], f"{level} {target}", found[1])
    return None


def _failure(
    source: bytes, feeds: Mapping[str, Array], values: Mapping[str, Value], level: str, target: str
) -> tuple[str, str] | None:
    data = api.compile(source, opt_level=level, target=target).to_bytes()
    om = from_bytes(data, verify="full")
    first: dict[str, Array] | None = None
    for ranks in RANKS:
        with api.load(om, threads=ranks, affinity="none") as executor:
            for _ in range(2):  # the second finds the arena as the first left it
                results = {name: np.array(a) for name, a in executor.run(feeds).items()}
                if first is None:
                    first = results
                    wrong = [(name, fault(array, values[name])) for name, array in results.items()]
                    told = "; ".join(f"{name}: {what}" for name, what in wrong if what)
                    if told:
                        return "wrong", told
                differ = [name for name, a in results.items() if a.tobytes() != first[name].tobytes()]
                if differ:
                    return "ranks", f"{', '.join(differ)} of {ranks} ranks differ from the first run by one"
    return None

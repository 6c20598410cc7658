"""What the executors of one model share: its code in executable pages, its weights, its host programs."""

from __future__ import annotations

import threading

import numpy as np

from gecc.om.records import OmModel
from gecc.runtime import abi
from gecc.runtime.blob import Code
from gecc.runtime.host import HostProgram, Programs
from gecc.runtime.inputs import address_of
from gecc.runtime.pages import Pages
from gecc.runtime.schedule import host_calls


class Resident:
    """Code and weights of a verified model, in memory until the last of its users has let go.

    Weights stay where they lie when that is aligned, as in a mapped file; else they are copied. Who makes a Resident is
    its first user.
    """

    def __init__(self, model: OmModel) -> None:
        self.programs = _programs(model)
        """The host calls by the index of their task."""
        self._pages: Pages | None = None
        self._users = 1
        self._lock = threading.Lock()
        self.code = Code.of(model)
        try:
            self.weights = self._place(model)
        except BaseException:
            self.code.close()
            raise
        self.copied_bytes = self._pages.size if self._pages is not None else 0
        """Bytes of weights that are a copy in this process's own memory."""

    def _place(self, model: OmModel) -> int:
        """Address of the weights."""
        weights = model.weights
        if weights.view is not None and weights.size:
            # numpy alone tells the address of read-only memory; the view stays alive with the model.
            address = address_of(np.frombuffer(weights.view, np.uint8))
            if address % abi.ALIGNMENT == 0:
                return address
        pages = self._pages = Pages(weights.size, f"weights of '{model.name}'")
        at = 0
        for piece in weights.stream():
            pages.write(at, piece)
            at += piece.nbytes
        return pages.address

    def share(self) -> Resident:
        """One more user."""
        with self._lock:
            self._users += 1
        return self

    def unlock(self) -> None:
        """In a forked child: a thread of the parent may have held the lock."""
        self._lock = threading.Lock()

    def release(self) -> None:
        """One user less; the last one gives the memory back."""
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last:
            self.code.close()
            if self._pages is not None:
                self._pages.close()


def _programs(model: OmModel) -> dict[int, HostProgram]:
    calls = list(host_calls(model.tasks))
    weights = model.weights.materialize() if calls else memoryview(b"")
    made: Programs = {}
    return {i: HostProgram(model, i, task, weights, made) for i, task in calls}

"""Machine code in memory: a kernel blob copied into anonymous pages that are then executable and no longer writable.

File pages are never executable: a file that changes on disk cannot change code that runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from gecc.om.records import Buffer, OmModel
from gecc.runtime.pages import Pages


class Code:
    """A placed blob and the addresses of its functions."""

    def __init__(self, blob: Buffer, offsets: Mapping[str, int], what: str) -> None:
        view = memoryview(blob).cast("B")
        self._pages = Pages(view.nbytes, what)
        self._pages.write(0, view)
        self._pages.make_executable()
        self._offsets = dict(offsets)
        self.size = view.nbytes

    @staticmethod
    def of(model: OmModel) -> Code:
        """The code of a model that was verified."""
        return Code(model.blob, {kernel.name: kernel.offset for kernel in model.kernels}, f"code of '{model.name}'")

    def address(self, name: str) -> int:
        """Where the function `name` lies."""
        return self._pages.address + self._offsets[name]

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """The function `name` as a callable of ctypes types. It releases the interpreter's lock while it runs."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))

    def close(self) -> None:
        """Unmap the code; nothing may be running in it."""
        self._pages.close()

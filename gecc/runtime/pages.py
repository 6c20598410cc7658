"""Anonymous memory straight from the system: page-aligned, zero, given back when closed, executable on demand."""

from __future__ import annotations

import ctypes
import mmap
import os

from gecc.errors import GeccError

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_PROT_NONE = 0
_LINE = 64
_MAP_FAILED = ctypes.c_void_p(-1).value


def round_up(size: int, multiple: int = mmap.PAGESIZE) -> int:
    """The least multiple of `multiple` that is at least `size`."""
    return -(-size // multiple) * multiple


class Pages:
    """At least `size` bytes of fresh memory at `address`, zero-filled, on a cache line's boundary.

    A page that nobody may touch stands before, and one right behind: code that runs past the end stops the process at once
    and harms nothing. Whoever uses the address must not outlive the object. Raises GeccError when the system has no memory
    left.
    """

    def __init__(self, size: int, what: str) -> None:
        self.size = round_up(max(size, 1), _LINE)
        self._what = what
        self._room = round_up(self.size)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        base = _libc.mmap(None, self._room + 2 * mmap.PAGESIZE, _PROT_NONE, flags, -1, 0)
        if base == _MAP_FAILED:
            raise self._error("cannot get")
        self._start: int = base + mmap.PAGESIZE
        if _libc.mprotect(self._start, self._room, mmap.PROT_READ | mmap.PROT_WRITE):
            error = self._error("cannot get")
            self.close()
            raise error
        self.address: int = self._start + self._room - self.size

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        """Copy `data` to `offset`."""
        view = memoryview(data).cast("B")
        if offset < 0 or view.nbytes > self.size - offset:
            raise ValueError(f"{view.nbytes} bytes at {offset} do not fit {self.size}")
        target = memoryview((ctypes.c_char * self.size).from_address(self.address)).cast("B")
        target[offset : offset + view.nbytes] = view

    def words(self) -> memoryview:
        """All of it as signed 64-bit integers."""
        return memoryview((ctypes.c_int64 * (self.size // 8)).from_address(self.address)).cast("B").cast("q")

    def make_executable(self) -> None:
        """Read and execute from now on, never write."""
        if _libc.mprotect(self._start, self._room, mmap.PROT_READ | mmap.PROT_EXEC):
            raise self._error("cannot make executable")

    def close(self) -> None:
        """Give the memory back; closing twice is no error."""
        if self._start:
            _libc.munmap(self._start - mmap.PAGESIZE, self._room + 2 * mmap.PAGESIZE)
            self._start = self.address = 0

    def _error(self, action: str) -> GeccError:
        reason = os.strerror(ctypes.get_errno())
        return GeccError(f"{action} {self.size} bytes of memory: {reason}", where=self._what)

    def __del__(self) -> None:
        # Absent after a failed mmap. Modules may be gone at interpreter exit, where the system takes all back anyway.
        if getattr(self, "_start", 0) and _libc is not None:
            self.close()

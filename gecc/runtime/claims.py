"""Advisory claims on CPUs among the gecc processes of one user, so that two of them do not pin to the same ones.

A claim is a lock on a file named after the CPU. It lasts as long as the process, and the system drops it when that ends
in whatever way. Nobody waits for a claim: without one, a process merely prefers other CPUs.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterable
from pathlib import Path

_FOLDER = Path("/tmp") / f"gecc-cpus-{os.getuid()}"

_lock = threading.Lock()
_held: dict[int, int] = {}  # CPU to the descriptor that holds its lock


def claim(candidates: Iterable[int], count: int, folder: Path = _FOLDER) -> list[int]:
    """`count` of `candidates` in ascending order: those this process holds first, then free ones, then the others.

    Those that were free are claimed.
    """
    cpus = list(candidates)
    with _lock:
        chosen = [cpu for cpu in cpus if cpu in _held][:count]
        for cpu in cpus:
            if len(chosen) < count and cpu not in _held and _take(cpu, folder):
                chosen.append(cpu)
        chosen += [cpu for cpu in cpus if cpu not in chosen][: count - len(chosen)]
    return sorted(chosen)


def _take(cpu: int, folder: Path) -> bool:
    """Try to claim a CPU; False when another process has it or the folder is not ours to use."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.stat(follow_symlinks=False).st_uid != os.getuid():
            return False
        handle = os.open(folder / str(cpu), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return False
    _held[cpu] = handle
    return True


def release() -> None:
    """Drop all claims of this process."""
    with _lock:
        for handle in _held.values():
            os.close(handle)
        _held.clear()


def _forget() -> None:
    """In a forked child: the claims are the parent's. Closing our copies leaves them in place."""
    global _lock
    _lock = threading.Lock()
    release()


os.register_at_fork(after_in_child=_forget)

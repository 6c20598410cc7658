"""An independent proof that a plan is sound. Shares no code with the planners."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping

from gecc.memory.problem import Buffer, PlanError


def check(buffers: Iterable[Buffer], offsets: Mapping[str, int], *, capacity: int | None = None) -> int:
    """Proves that no two buffers alive at once share a byte, and returns the peak in bytes.

    Sweeps over time with the live buffers kept sorted by address: a buffer that starts can only clash with its
    neighbours there, because those already alive are known to be disjoint.

    Raises PlanError naming the buffers for: an offset that is missing, negative or misaligned, a buffer that ends
    above `capacity`, two buffers that overlap in time and space, and an offset of an unknown buffer.
    """
    by_id: dict[str, Buffer] = {}
    for b in buffers:
        if b.id in by_id:
            raise PlanError(f"buffer id {b.id!r} is used twice")
        if b.lower >= b.upper or b.size < 0:
            raise PlanError(f"buffer {b.id!r} has size {b.size} and lives in [{b.lower}, {b.upper})")
        by_id[b.id] = b
    for name in offsets:
        if name not in by_id:
            raise PlanError(f"the plan places {name!r}, which is not a buffer of the problem")

    peak = 0
    for b in by_id.values():
        if b.id not in offsets:
            raise PlanError(f"buffer {b.id!r} ({b.size} bytes) has no offset")
        start = offsets[b.id]
        if start < 0:
            raise PlanError(f"buffer {b.id!r} is at offset {start}, expected 0 or more")
        if start % b.alignment:
            raise PlanError(f"buffer {b.id!r} is at offset {start}, expected a multiple of {b.alignment}")
        if capacity is not None and start + b.size > capacity:
            raise PlanError(f"buffer {b.id!r} ends at byte {start + b.size}, expected at most {capacity}")
        peak = max(peak, start + b.size)

    events: list[tuple[int, int, str]] = []
    for b in by_id.values():
        if b.size:
            events.append((b.upper, 0, b.id))  # ends first: lifetimes are half-open
            events.append((b.lower, 1, b.id))
    events.sort()
    live: list[tuple[int, str]] = []  # (offset, id), ascending
    for _, starts, name in events:
        key = (offsets[name], name)
        if not starts:
            del live[bisect_left(live, key)]
            continue
        at = bisect_left(live, key)
        for _, other in live[max(at - 1, 0) : at + 1]:
            _require_disjoint(by_id[other], by_id[name], offsets)
        insort(live, key)
    return peak


def _require_disjoint(a: Buffer, b: Buffer, offsets: Mapping[str, int]) -> None:
    a0, b0 = offsets[a.id], offsets[b.id]
    if a0 < b0 + b.size and b0 < a0 + a.size:
        raise PlanError(
            f"buffers {a.id!r} and {b.id!r} overlap: "
            f"{a.id!r} holds bytes [{a0}, {a0 + a.size}) during [{a.lower}, {a.upper}), "
            f"{b.id!r} holds bytes [{b0}, {b0 + b.size}) during [{b.lower}, {b.upper})"
        )

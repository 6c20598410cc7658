"""An independent proof that a plan is sound. Shares no code with the planners."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping

from gecc.memory.problem import Buffer, Piece, PlanError


def check(buffers: Iterable[Buffer], offsets: Mapping[str, int], *, capacity: int | None = None) -> int:
    """Proves that no two buffers alive at once share a byte, and returns the peak in bytes.

    Sweeps over time with the live buffers kept sorted by address: a buffer that starts can only clash with its
    neighbours there, because those already alive are known to be disjoint. A buffer of pieces is as many buffers, each at
    its place in the whole.

    Raises PlanError naming the buffers for: an offset that is missing, negative or misaligned, a buffer that ends
    above `capacity`, two buffers that overlap in time and space, and an offset of an unknown buffer.
    """
    by_id: dict[str, Buffer] = {}
    for b in buffers:
        if b.id in by_id:
            raise PlanError(f"buffer id {b.id!r} is used twice")
        if b.lower >= b.upper or b.size < 0:
            raise PlanError(f"buffer {b.id!r} has size {b.size} and lives in [{b.lower}, {b.upper})")
        if any(p.start < 0 or p.stop > b.size or p.lower < b.lower or p.upper > b.upper for p in b.pieces):
            raise PlanError(f"buffer {b.id!r} has pieces that reach over its {b.size} bytes or its lifetime")
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

    parts = [(offsets[b.id] + p.start, offsets[b.id] + p.stop, p, b.id) for b in by_id.values() for p in b.parts]
    events: list[tuple[int, int, int]] = []
    for number, (start, stop, p, _) in enumerate(parts):
        if start < stop:
            events.append((p.upper, 0, number))  # ends first: lifetimes are half-open
            events.append((p.lower, 1, number))
    events.sort()
    live: list[tuple[int, int]] = []  # (offset, number), ascending
    for _, starts, number in events:
        key = (parts[number][0], number)
        if not starts:
            del live[bisect_left(live, key)]
            continue
        at = bisect_left(live, key)
        for _, other in live[max(at - 1, 0) : at + 1]:
            _require_disjoint(parts[other], parts[number])
        insort(live, key)
    return peak


def _require_disjoint(a: tuple[int, int, Piece, str], b: tuple[int, int, Piece, str]) -> None:
    (a0, a1, p, first), (b0, b1, q, second) = a, b
    if a0 < b1 and b0 < a1:
        raise PlanError(
            f"buffers {first!r} and {second!r} overlap: "
            f"{first!r} holds bytes [{a0}, {a1}) during [{p.lower}, {p.upper}), "
            f"{second!r} holds bytes [{b0}, {b1}) during [{q.lower}, {q.upper})"
        )

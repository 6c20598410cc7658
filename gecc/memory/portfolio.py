"""`plan`: the best offsets that a stated amount of work finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gecc.memory.greedy import greedy
from gecc.memory.improve import Best, improve
from gecc.memory.problem import Buffer, Instance, PlanError, align_up, validate

EFFORTS = ("fast", "default", "best")


@dataclass(frozen=True, slots=True)
class Plan:
    """Offsets by buffer id; `peak` bytes are needed, and no plan needs fewer than `bound`."""

    offsets: dict[str, int]
    peak: int
    bound: int
    method: str = ""
    """The rule or search that found it."""

    @property
    def ratio(self) -> float:
        """peak / bound: 1.0 is proven optimal."""
        return self.peak / self.bound if self.bound else 1.0


def plan(buffers: Sequence[Buffer], *, capacity: int | None = None, effort: str = "default") -> Plan:
    """Plans the buffers, stopping at the lower bound or, when given, as soon as `capacity` is met.

    `effort` is "fast" (greedy rules), "default" (and searches of bounded work) or "best" (the same with far more
    work). Work is counted, never timed: the same buffers give the same plan on every machine, in whatever order they
    are listed. A plan above `capacity` is returned as it is; compare `peak`.

    Raises PlanError for a malformed buffer or an unknown effort.
    """
    if effort not in EFFORTS:
        raise PlanError(f"unknown memory effort {effort!r}", hint=f"one of {', '.join(EFFORTS)}")
    validate(buffers)
    if any(b.pieces for b in buffers):
        from gecc.memory.rigid import plan_rigid

        return plan_rigid(buffers, capacity, effort)
    exact = Instance(buffers)
    goal = exact.bound if capacity is None else max(capacity, exact.bound)
    if not exact.n:
        return Plan({b.id: 0 for b in buffers}, 0, 0, "empty")

    found, method = greedy(exact, stop_at=goal)
    best = Best(exact.peak(found), found, method)
    if best.peak > goal:
        # with one alignment that divides all sizes the searches need not think of alignment
        step = max(exact.align)
        if exact.uniform:
            best = improve(exact, best, goal, effort)
        elif all(step % a == 0 for a in exact.align):
            even = Instance([_even(b, step) for b in exact.buffers])
            found, method = greedy(even, stop_at=max(goal, even.bound))
            other = improve(even, Best(even.peak(found), found, method), max(goal, even.bound), effort)
            # the two instances list the buffers in the order of their own sizes
            by_id = {b.id: o for b, o in zip(even.buffers, other.offsets, strict=True)}
            back = [by_id[b.id] for b in exact.buffers]
            best = min(best, Best(exact.peak(back), back, other.method), key=lambda x: x.peak)
    return _finish(buffers, exact, best.offsets, best.method)


def _even(b: Buffer, alignment: int) -> Buffer:
    return replace(b, size=align_up(b.size, alignment), alignment=alignment)


def _finish(buffers: Sequence[Buffer], p: Instance, offsets: Sequence[int], method: str) -> Plan:
    by_id = {b.id: 0 for b in buffers}  # buffers of size 0 stay at 0; the caller's order is kept
    for b, offset in zip(p.buffers, offsets, strict=True):
        by_id[b.id] = offset
    return Plan(by_id, p.peak(offsets), p.bound, method)

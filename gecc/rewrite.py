"""Pattern rewriting: rules indexed by operation class, run from a worklist, with provenance and remarks.

Every driver of this project rewrites through `Rewriter`, which gives each new operation the (fused) location of
what it replaces; so messages, profile lines and om tasks can always name ONNX nodes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FusedLoc, LocationAttr, NameLoc, NoneAttr, StringAttr, UnknownLoc
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import is_side_effect_free
from xdsl.utils.worklist import Worklist

DISABLED: set[str] = set()
"""Class names of patterns that are switched off everywhere (mutation testing); see also `switched_off`."""

_off: ContextVar[frozenset[str]] = ContextVar("off", default=frozenset())
_counts: ContextVar[RuleCounts | None] = ContextVar("counts", default=None)


@contextmanager
def switched_off(names: Iterable[str]) -> Iterator[None]:
    """Switch patterns off within, in this thread: by the name of their class, or for operations of one kind alone, as
    in `FuseEpilogue:fused.conv`."""
    token = _off.set(_off.get() | frozenset(names))
    try:
        yield
    finally:
        _off.reset(token)


@dataclass
class RuleCounts:
    """How often patterns were tried and applied, by the name of class and operation: `FuseEpilogue:fused.conv`."""

    applied: dict[str, int] = field(default_factory=dict)
    """Rewrites done."""
    refused: dict[str, set[Operation]] = field(default_factory=dict)
    """Candidates that were examined and refused (see `miss`) at least once."""

    def matched(self, rule: str) -> int:
        """Candidates that a rule examined."""
        return self.applied.get(rule, 0) + len(self.refused.get(rule, ()))

    @property
    def rules(self) -> list[str]:
        """The rules that examined anything."""
        return sorted(self.applied.keys() | self.refused.keys())


@contextmanager
def counting() -> Iterator[RuleCounts]:
    """Count what patterns do within, in this thread."""
    counts = RuleCounts()
    token = _counts.set(counts)
    try:
        yield counts
    finally:
        _counts.reset(token)


@dataclass(frozen=True)
class Miss:
    """Why a rule examined a candidate and refused it. The text is rendered on demand."""

    op: Operation
    reason: str
    args: tuple[object, ...]

    def __str__(self) -> str:
        return self.reason.format(*self.args)


_sinks: list[Callable[[Miss], None]] = []


def miss(op: Operation, reason: str, *args: object) -> None:
    """Record why a rule refused `op`; `reason` is a format string for `args`. Costs nothing without a listener."""
    if _sinks:
        remark = Miss(op, reason, args)
        for sink in _sinks:
            sink(remark)


class listen:
    """Context manager that sends every `miss` to `sink`."""

    def __init__(self, sink: Callable[[Miss], None]) -> None:
        self.sink = sink

    def __enter__(self) -> None:
        _sinks.append(self.sink)

    def __exit__(self, *exc: object) -> None:
        _sinks.remove(self.sink)


def _parts(location: LocationAttr) -> tuple[LocationAttr, ...]:
    if isinstance(location, UnknownLoc):
        return ()
    if isinstance(location, FusedLoc):
        inner = cast("ArrayAttr[LocationAttr]", location.locations)
        return tuple(part for each in inner for part in _parts(each))
    return (location,)


def fuse_locations(locations: Iterable[LocationAttr]) -> LocationAttr:
    """One location for several: unknown ones dropped, nested ones flattened, duplicates kept once, order kept."""
    parts = tuple(dict.fromkeys(part for location in locations for part in _parts(location)))
    if not parts:
        return UnknownLoc()
    return parts[0] if len(parts) == 1 else FusedLoc(ArrayAttr(parts), NoneAttr())


def name_location(name: str) -> NameLoc:
    """The location of the ONNX node called `name`."""
    return NameLoc(StringAttr(name), NoneAttr())


def location_names(op: Operation) -> tuple[str, ...]:
    """Names of the ONNX nodes that `op` comes from, in order."""
    return tuple(part.desc.data for part in _parts(op.location) if isinstance(part, NameLoc))


class Rewriter(PatternRewriter):
    """A PatternRewriter that keeps provenance."""

    def replace(
        self,
        op: Operation,
        new_ops: Operation | Sequence[Operation],
        new_results: Sequence[SSAValue | None] | None = None,
        safe_erase: bool = True,
        absorbed: Iterable[Operation] = (),
    ) -> None:
        """Replace `op`; new operations get its location fused with those of `absorbed` operations.

        `absorbed` are other operations whose work the new ones do; they are not erased here, the driver removes
        them once they are dead.
        """
        new_ops = (new_ops,) if isinstance(new_ops, Operation) else tuple(new_ops)
        location = fuse_locations([*(other.location for other in absorbed), op.location])
        for new_op in new_ops:
            for inner in new_op.walk():
                if isinstance(inner.location, UnknownLoc):
                    inner.location = location
        super().replace(op, new_ops, new_results, safe_erase)

    def insert_before(self, anchor: Operation, new_ops: Operation | Sequence[Operation]) -> None:
        """Insert operations before `anchor`; those without a location take the anchor's."""
        new_ops = (new_ops,) if isinstance(new_ops, Operation) else tuple(new_ops)
        for new_op in new_ops:
            for inner in new_op.walk():
                if isinstance(inner.location, UnknownLoc):
                    inner.location = anchor.location
        self.insert(new_ops, InsertPoint.before(anchor))


class Pattern(ABC):
    """One rewrite rule. `ops` are the classes of operation it may start from."""

    ops: ClassVar[tuple[type[Operation], ...]]

    @abstractmethod
    def rewrite(self, op: Operation, rw: Rewriter) -> None:
        """Rewrite `op` through `rw`, or return having changed nothing."""


def apply_patterns(
    root: Operation, patterns: Sequence[Pattern], *, ctx: Context | None = None, max_rewrites: int = 10_000_000
) -> bool:
    """Run `patterns` on everything inside `root` to a fixed point; dead pure operations go too.

    Operations are visited in program order, those touched by a rewrite (with users and producers) again.
    Returns whether anything changed. Raises `RuntimeError` when `max_rewrites` rewrites did not reach a fixed point.
    """
    by_class: dict[type[Operation], list[Pattern]] = {}
    off = DISABLED | _off.get()
    counts = _counts.get()
    for pattern in patterns:
        rule = type(pattern).__name__
        if rule in off:
            continue
        for cls in pattern.ops:
            if f"{rule}:{cls.name}" not in off:
                by_class.setdefault(cls, []).append(pattern)

    worklist = Worklist()
    for op in reversed([op for op in root.walk() if op is not root]):
        worklist.push(op)

    def requeue(op: Operation) -> None:
        worklist.push(op)
        for result in op.results:
            for use in result.uses:
                worklist.push(use.operation)

    def on_removal(op: Operation) -> None:
        for inner in op.walk():
            worklist.remove(inner)
        for operand in op.operands:
            if isinstance(owner := operand.owner, Operation):
                worklist.push(owner)
                # a use count that falls to one can open a match at the remaining user
                for use in operand.uses:
                    if use.operation is not op:
                        worklist.push(use.operation)

    def on_replacement(op: Operation, values: Sequence[SSAValue | None]) -> None:
        for result in op.results:
            for use in result.uses:
                worklist.push(use.operation)

    changed = False
    rewrites = 0
    while worklist:
        op = worklist.pop()
        rules = by_class.get(type(op), ())
        dead = op.results and all(result.first_use is None for result in op.results) and is_side_effect_free(op)
        if not rules and not dead:
            continue
        rw = Rewriter(op)
        rw.operation_insertion_handler.append(requeue)
        rw.operation_modification_handler.append(requeue)
        rw.operation_removal_handler.append(on_removal)
        rw.operation_replacement_handler.append(on_replacement)
        if dead:
            rw.erase(op)
            changed = True
            continue
        for pattern in rules:
            if counts is None:
                pattern.rewrite(op, rw)
            else:
                _counted(counts, pattern, op, rw)
            if rw.has_done_action:
                changed = True
                rewrites += 1
                if rewrites > max_rewrites:
                    raise RuntimeError(
                        f"no fixed point after {max_rewrites} rewrites, last by {type(pattern).__name__}"
                    )
                if op.parent is not None:
                    worklist.push(op)
                break
    return changed


def _counted(counts: RuleCounts, pattern: Pattern, op: Operation, rw: Rewriter) -> None:
    """Let a pattern try, and note what came of it."""
    rule = f"{type(pattern).__name__}:{op.name}"
    misses: list[Miss] = []
    with listen(misses.append):
        pattern.rewrite(op, rw)
    if rw.has_done_action:
        counts.applied[rule] = counts.applied.get(rule, 0) + 1
        counts.refused.get(rule, set()).discard(op)
    elif misses:
        counts.refused.setdefault(rule, set()).add(op)

"""What became of the element types of a model, and why."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class PrecisionWarning(UserWarning):
    """Something about precision that a user should know: numbers were clipped, a name matched nothing."""


@dataclass(frozen=True)
class Decision:
    """What became of one operation on floats."""

    operator: str
    nodes: tuple[str, ...]
    """ONNX nodes that it comes from."""
    before: str
    """Element type of its float operands in the model."""
    after: str
    reason: str

    @property
    def changed(self) -> bool:
        """Whether its element type is another now."""
        return self.before != self.after


@dataclass(frozen=True)
class Clipped:
    """A constant that holds numbers which the narrow type does not."""

    nodes: tuple[str, ...]
    element: str
    outside: int
    """Elements beyond the range; clipped to it, or infinite when that is switched off."""
    vanished: int
    """Elements that are not zero and became zero."""


@dataclass
class PrecisionReport:
    """All decisions about a module, in order, and what goes beyond them."""

    mode: str
    decisions: list[Decision] = field(default_factory=list)
    constants: list[Clipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    clip: bool = True

    @property
    def changed(self) -> list[Decision]:
        """Operations whose element type is another now."""
        return [d for d in self.decisions if d.changed]

    @property
    def kept(self) -> list[Decision]:
        """Operations that compute in the model's element type."""
        return [d for d in self.decisions if not d.changed]

    @property
    def notices(self) -> list[str]:
        """What a user should read even who asked for no report."""
        lines = list(self.warnings)
        if outside := sum(c.outside for c in self.constants):
            tensors = [c for c in self.constants if c.outside]
            names = ", ".join(f"'{'+'.join(c.nodes) or '?'}'" for c in tensors[:3])
            more = f" and {len(tensors) - 3} more" if len(tensors) > 3 else ""
            what = "clipped to it" if self.clip else "made infinite"
            lines.append(
                f"{outside} elements of {len(tensors)} constants were outside the range of {tensors[0].element} and "
                f"were {what}: {names}{more}"
            )
        return lines

    def short(self) -> str:
        """A few lines: how many operations were changed and kept, and why."""
        lines = [f"precision {self.mode}: {len(self.changed)} operations changed, {len(self.kept)} kept"]
        groups = Counter((f"{d.before} to {d.after}", d.reason) for d in self.changed)
        lines += [f"  {count} {what}: {why}" for (what, why), count in groups.most_common()]
        kept = Counter(d.reason for d in self.kept)
        for why, count in kept.most_common():
            operators = Counter(d.operator for d in self.kept if d.reason == why)
            lines.append(f"  {count} kept: {why} ({', '.join(f'{n} {op}' for op, n in operators.most_common(4))})")
        if vanished := sum(c.vanished for c in self.constants):
            lines.append(f"  {vanished} elements of constants are too small for the narrow type and became 0")
        lines += [f"  {line}" for line in self.notices]
        return "\n".join(lines)

    def full(self) -> str:
        """Every operation with its types and the reason."""
        lines = [
            f"  {d.operator} '{'+'.join(d.nodes) or '?'}': {d.before if not d.changed else f'{d.before} -> {d.after}'}: "
            f"{d.reason}"
            for d in self.decisions
        ]
        return "\n".join([self.short(), *lines])


_sinks: list[tuple[Callable[[PrecisionReport], None], bool]] = []


@contextmanager
def listening(sink: Callable[[PrecisionReport], None], *, tells: bool = True) -> Iterator[None]:
    """Send the reports of passes that run meanwhile to `sink`. If it `tells` their notices, they are no warnings."""
    entry = (sink, tells)
    _sinks.append(entry)
    try:
        yield
    finally:
        _sinks.remove(entry)


def announce(report: PrecisionReport) -> None:
    """Tell whoever listens; what no listener tells on becomes warnings."""
    for sink, _ in _sinks:
        sink(report)
    if not any(tells for _, tells in _sinks):
        for line in report.notices:
            warnings.warn(line, PrecisionWarning, stacklevel=2)

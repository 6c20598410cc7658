"""A memory plan as text: the numbers that matter, and a line for each buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gecc.memory.problem import Buffer, lower_bound


@dataclass(frozen=True, slots=True)
class Row:
    """A buffer of the arena: `size` bytes at `offset` during phases [first, last].

    `shares` is the id of the buffer whose memory it took over in place, "" for none; `views` counts what looks into
    it without a buffer of its own; `maker` is what users call its producer.
    """

    id: str
    size: int
    offset: int
    first: int
    last: int
    maker: str = ""
    shares: str = ""
    views: int = 0
    viewed_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """A planned arena. `bound` is the least bytes any plan with the same sharing needs."""

    rows: tuple[Row, ...]
    arena: int
    bound: int
    method: str = ""

    @property
    def total(self) -> int:
        """Bytes of all buffers: the arena without any reuse."""
        return sum(r.size for r in self.rows)

    @property
    def reuse(self) -> float:
        """How many times over the arena is used: bytes of all buffers per byte of arena."""
        return self.total / self.arena if self.arena else 1.0

    @property
    def bound_without_sharing(self) -> int:
        """The least bytes any plan needs when nothing is computed in place."""
        return lower_bound(Buffer(r.id, r.first, r.last + 1, r.size) for r in self.rows)

    @property
    def busiest(self) -> tuple[int, list[Row]]:
        """The phase in which most bytes are alive, and the buffers alive then, largest first."""
        if not self.rows:
            return 0, []
        phases = range(max(r.last for r in self.rows) + 1)
        change = [0] * (len(phases) + 1)
        for r in self.rows:
            # what takes over memory in its first phase needs bytes of its own from the next on only
            first = r.first + 1 if r.shares else r.first
            if first <= r.last:
                change[first] += r.size
                change[r.last + 1] -= r.size
        live = best = phase = 0
        for p in phases:
            live += change[p]
            if live > best:
                best, phase = live, p
        alive = [r for r in self.rows if r.first <= phase <= r.last]
        return phase, sorted(alive, key=lambda r: (-r.size, r.offset))

    def summary(self) -> str:
        """The numbers, a line each."""
        joined = [r for r in self.rows if r.shares]
        views = sum(r.views for r in self.rows)
        phase, alive = self.busiest
        gap = f"{self.arena / self.bound:.4f} of the bound" if self.bound else "nothing to hold"
        lines = [
            f"arena        {_bytes(self.arena)}  ({gap}{f', by {self.method}' if self.method else ''})",
            f"lower bound  {_bytes(self.bound)}",
            f"no reuse     {_bytes(self.total)}  ({len(self.rows)} buffers, each byte used {self.reuse:.2f} times over)",
            f"in place     {len(joined)} buffers of {_bytes(sum(r.size for r in joined))}; "
            f"without it at least {_bytes(self.bound_without_sharing)}",
            f"views        {views} of {_bytes(sum(r.viewed_bytes for r in self.rows))}",
            f"fullest      phase {phase}, {len(alive)} buffers",
        ]
        return "\n".join(lines)

    def table(self, rows: Sequence[Row] | None = None) -> str:
        """A line for each buffer (all by default, in order of birth)."""
        cells = [["buffer", "bytes", "offset", "phases", "in place of", "made by"]]
        for r in self.rows if rows is None else rows:
            cells.append([r.id, str(r.size), str(r.offset), f"{r.first}-{r.last}", r.shares, r.maker])
        widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
        right = (False, True, True, True, False, False)
        return "\n".join(
            "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)).rstrip()
            for row in cells
        )

    def __str__(self) -> str:
        return f"{self.summary()}\n\n{self.table()}" if self.rows else self.summary()


def _bytes(count: int) -> str:
    """Bytes, and for large counts also in binary units."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= 10 * 1024**power or (power == 1 and count >= 1024):
            return f"{count} ({count / 1024**power:.1f} {unit})"
    return str(count)

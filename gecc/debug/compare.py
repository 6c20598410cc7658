"""How far results are from what they should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gecc.errors import InputError
from gecc.plain import printable

STRINGS = "OUST"
"""Kinds of numpy that hold strings."""

TOLERANCE = 1e-4
"""Greatest error of a float output that passes by default, relative to the output's greatest magnitude."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An output against its reference.

    max_abs: greatest absolute difference of finite elements.
    max_rel: `max_abs` relative to the greatest finite magnitude of the reference.
    cosine: of the angle between both, as vectors of their finite elements.
    mismatched: elements that differ in a way no tolerance forgives: unequal integers, or finite against not finite.
    size: number of elements.
    exact: whether the elements are integers, booleans or strings.
    shapes: found and expected, when they are not the same.
    """

    name: str
    max_abs: float
    max_rel: float
    cosine: float
    mismatched: int
    size: int
    exact: bool
    shapes: tuple[str, str] | None = None

    def within(self, tolerance: float) -> bool:
        """Whether the output passes. Integers must be equal."""
        return self.shapes is None and self.mismatched == 0 and (self.exact or self.max_rel <= tolerance)

    def row(self, tolerance: float) -> tuple[str, ...]:
        """The cells of a table's line, as `HEADER` names them."""
        if self.shapes is not None:
            return (self.name, "-", "-", "-", f"FAIL: {self.shapes[0]}, expected {self.shapes[1]}")
        verdict = "ok" if self.within(tolerance) else "FAIL"
        if self.mismatched:
            verdict += f": {self.mismatched} of {self.size} {'differ' if self.exact else 'are not finite alike'}"
        return (self.name, f"{self.max_abs:.3e}", f"{self.max_rel:.3e}", f"{self.cosine:.8f}", verdict)


HEADER = ("output", "max abs", "max rel", "cosine", "verdict")
"""Names of the columns of `Difference.row`."""


def difference(name: str, found: NDArray[Any], expected: NDArray[Any]) -> Difference:
    """Compare two arrays. NaN equals NaN, and an infinity the same infinity; strings are equal in whatever form."""
    if found.dtype.kind in STRINGS and expected.dtype.kind in STRINGS and found.shape == expected.shape:
        pairs = zip(found.reshape(-1).tolist(), expected.reshape(-1).tolist(), strict=True)
        wrong = sum(_text(one) != _text(other) for one, other in pairs)
        return Difference(name, 0.0, 0.0, 1.0, wrong, expected.size, exact=True)
    exact = expected.dtype.kind in "biu"
    if found.shape != expected.shape or found.dtype.kind != expected.dtype.kind:
        shapes = (f"{found.dtype}{list(found.shape)}", f"{expected.dtype}{list(expected.shape)}")
        return Difference(name, np.inf, np.inf, 0.0, expected.size, expected.size, exact, shapes)
    x, y = found.astype(np.float64).reshape(-1), expected.astype(np.float64).reshape(-1)
    finite = np.isfinite(x) & np.isfinite(y)
    alike = found.reshape(-1) == expected.reshape(-1) if exact else finite | (np.isnan(x) & np.isnan(y)) | (x == y)
    wrong = int(x.size - np.count_nonzero(alike))
    x, y = x[finite], y[finite]
    max_abs = float(np.abs(x - y).max(initial=0.0))
    scale = float(np.abs(y).max(initial=0.0))
    max_rel = max_abs / scale if scale else (0.0 if max_abs == 0.0 else np.inf)
    return Difference(name, max_abs, max_rel, _cosine(x, y), wrong, expected.size, exact)


def _cosine(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    length = float(np.linalg.norm(x)) * float(np.linalg.norm(y))
    return float(x @ y) / length if length else float(np.array_equal(x, y))


def compare(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[Difference]:
    """Compare outputs by name, in the order of `expected`: arrays, and sequences and maps of them part by part.

    Raises InputError when the names are not the same.
    """
    if set(found) != set(expected):
        raise InputError(f"found the outputs {sorted(found)}, expected {sorted(expected)}")
    return [part for name, reference in expected.items() for part in _parts(name, found[name], reference)]


def _parts(name: str, found: Any, expected: Any) -> Iterator[Difference]:
    if isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from _parts(f"{name}[{i}]", one, other)
    elif isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        for key, reference in expected.items():
            yield from _parts(f"{name}[{key!r}]", found[key], reference)
    elif expected is None and found is None:
        yield Difference(name, 0.0, 0.0, 1.0, 0, 0, exact=True)
    elif any(value is None or isinstance(value, list | dict) for value in (found, expected)):
        kinds = (_spelled(found), _spelled(expected))
        yield Difference(name, np.inf, np.inf, 0.0, 1, 1, exact=True, shapes=kinds)
    else:
        yield difference(name, np.asarray(found), np.asarray(expected))


def _spelled(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a map of {', '.join(map(repr, value))}"
    return f"{np.asarray(value).dtype}{list(np.shape(value))}"


def _text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


MOST_CELL = 120
"""Most characters of a cell."""


def _cell(text: str, most: int) -> str:
    return printable(text if len(text) <= most else f"{text[: most - 2]}..", keep="")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of aligned columns: the first to the left, the last as it is, the others to the right.

    Cells are cut at `MOST_CELL` characters, or one long name would widen every line, and the last at ten times as many;
    what does not print is escaped.
    """
    rows = [[*(_cell(cell, MOST_CELL) for cell in row[:-1]), _cell(row[-1], 10 * MOST_CELL)] for row in rows]
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    last = len(header) - 1

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if i == 0 else cell if i == last else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return "\n".join(line(row) for row in (header, *rows))

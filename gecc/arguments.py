"""What a caller may pass to `gecc.compile` and its like: arguments of a wrong kind are told in words, before anything starts.

Standard library only.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TypeGuard

from gecc.errors import CliError, ShapeError

MAX_ELEMENTS = 2**48
"""Elements of a tensor: more bytes than any address has bits for."""


def plain_shapes(shapes: object) -> dict[str, tuple[int, ...]] | None:
    """Shapes by input name, of Python's own integers; integers of another kind, such as numpy's, will do.

    Raises ShapeError for what is no shape.
    """
    if shapes is None:
        return None
    if not isinstance(shapes, Mapping):
        raise ShapeError(f"input_shapes is {shapes!r}, expected shapes by input name", hint="such as {'x': (1, 3)}")
    found: dict[str, tuple[int, ...]] = {}
    for name, shape in shapes.items():
        if not isinstance(shape, Iterable) or isinstance(shape, str | bytes | Mapping):
            raise ShapeError(f"input '{name}' is given the shape {shape!r}, expected a list of sizes")
        sizes: list[int] = []
        for size in shape:
            if isinstance(size, bool) or not hasattr(size, "__index__"):
                raise ShapeError(f"input '{name}' is given the shape {list(shape)}: {size!r} is no size")
            sizes.append(size.__index__())
        if prod(map(abs, sizes)) > MAX_ELEMENTS:
            raise ShapeError(
                f"input '{name}' is given the shape {sizes}, which has more elements than memory has bytes"
            )
        found[name] = tuple(sizes)
    return found


def check_names(names: object, what: str) -> None:
    """Check that an argument is a list of names, or None. Raises CliError."""
    if names is None or (_is_list(names) and all(isinstance(name, str) for name in names)):
        return
    hint = f"{what}=[{names!r}]" if isinstance(names, str) else ""
    raise CliError(f"{what} is {names!r}, expected a list of names", hint=hint)


def check_by_name(given: object, what: str, *, for_all: bool = False) -> None:
    """Check that an argument has texts by name, or None, or a text `for_all`. Raises CliError."""
    if given is None or (for_all and isinstance(given, str)):
        return
    if not isinstance(given, Mapping) or not all(isinstance(v, str) for pair in given.items() for v in pair):
        raise CliError(f"{what} is {given!r}, expected {'a text, or ' if for_all else ''}texts by name")


def check_kind(given: object, kinds: type | tuple[type, ...], what: str) -> None:
    """Check that an argument is of a kind, or None. Raises CliError."""
    if given is not None and not isinstance(given, kinds):
        names = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise CliError(f"{what} is {given!r}, expected {names}")


def check_borders(aipp: object, input_format: object, inputs: object, outputs: object) -> None:
    """Check the arguments that give inputs and outputs other forms. Raises CliError."""
    check_kind(aipp, (str, os.PathLike), "aipp")
    if aipp == "":
        raise CliError("aipp is '', expected a file or its text")
    if input_format not in ("NCHW", "NHWC"):
        raise CliError(f"input_format is {input_format!r}, expected 'NCHW' or 'NHWC'")
    check_by_name(inputs, "input_types")
    check_by_name(outputs, "output_types", for_all=True)


def check_size(given: object, what: str, *, may_lack: bool = False) -> None:
    """Check that an argument is an integer from 0 on. Raises CliError."""
    if may_lack and given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise CliError(f"{what} is {given!r}, expected an integer from 0 on")


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)

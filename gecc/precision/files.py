"""The files that edit lists and choose types by name, in the forms that atc takes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from gecc.errors import CliError
from gecc.files import read_text
from gecc.precision.lists import colour_of, operators_called, unknown_operator
from gecc.precision.options import custom_of

_LISTS = {"black-list": "black", "white-list": "white", "gray-list": "grey", "grey-list": "grey"}


@dataclass(frozen=True)
class Lists:
    """Operators that a file puts on another list, and what it says that has no effect."""

    white: tuple[str, ...] = ()
    black: tuple[str, ...] = ()
    grey: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_modify_mixlist(path: str) -> Lists:
    """Read the JSON of --modify_mixlist. Raises CliError for a file that cannot be read or is not of that form."""
    return mixlist_of(read_text(path, "modify_mixlist"), path)


def mixlist_of(text: str, where: str) -> Lists:
    """`{"black-list": {"to-add": [..], "to-remove": [..]}, "white-list": .., "gray-list": ..}` as lists.

    What is removed from the black or white list becomes grey. Raises CliError when it is not of that form, or puts an
    operator on two lists.
    """
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise CliError(f"not JSON: {error.msg}", where=f"{where}, line {error.lineno}") from error
    if not isinstance(given, dict):
        raise CliError("expected an object of lists", where=where)
    target: dict[str, str] = {}
    warnings: list[str] = []
    removed: list[tuple[str, str]] = []
    for key, edits in given.items():
        colour = _LISTS.get(key)
        if colour is None:
            raise CliError(f"'{key}' is no list, expected black-list, white-list or gray-list", where=where)
        if not isinstance(edits, dict) or not set(edits) <= {"to-add", "to-remove"}:
            raise CliError(f"{key} is to hold to-add and to-remove", where=where)
        for name in _names(edits.get("to-add", []), f"to-add of {key}", where):
            _put(target, name, colour, where)
        removed += [(name, colour) for name in _names(edits.get("to-remove", []), f"to-remove of {key}", where)]
    for name, colour in removed:
        found = operators_called(name)
        if found and all(colour_of(each)[0] != colour for each in found):
            warnings.append(f"{where}: '{name}' is not on the {colour} list, from which it is to be removed")
        elif colour != "grey" and name not in target:
            _put(target, name, "grey", where)
    warnings += [f"{where}: {unknown_operator(name)}" for name in target if not operators_called(name)]
    names = {colour: tuple(n for n, c in target.items() if c == colour) for colour in ("white", "black", "grey")}
    return Lists(names["white"], names["black"], names["grey"], tuple(warnings))


def read_keep_dtype(path: str) -> tuple[str, ...]:
    """The lines of --keep_dtype: names of nodes, or `OpType::Type`. Raises CliError for a file that cannot be read."""
    return tuple(line for _, line in _lines(path, "keep_dtype"))


def read_customize_dtypes(path: str) -> tuple[str, ...]:
    """The lines of --customize_dtypes. Raises CliError naming the line that cannot be read."""
    lines = _lines(path, "customize_dtypes")
    for number, line in lines:
        custom_of(line, f"{path}, line {number}")
    return tuple(line for _, line in lines)


def _put(target: dict[str, str], name: str, colour: str, where: str) -> None:
    if target.setdefault(name, colour) != colour:
        raise CliError(f"'{name}' is put on the {target[name]} list and on the {colour} list", where=where)


def _names(found: Any, what: str, where: str) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise CliError(f"{what} is to be a list of names of operators", where=where)
    return found


def _lines(path: str, flag: str) -> list[tuple[int, str]]:
    """Lines that say something, with their numbers; `#` and `//` begin a comment line."""
    lines = enumerate((line.strip() for line in read_text(path, flag).splitlines()), start=1)
    return [(number, line) for number, line in lines if line and not line.startswith(("#", "//"))]

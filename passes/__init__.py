"""Passes, one file each, in a folder per level, and the registry that finds them by path.

`passes/ge/fold_constants.py` is the pass `ge-fold-constants`: being there is its registration. A pass that outgrows a
file is a package of the same name whose `__init__.py` holds the pass. A name that starts with an underscore is a
helper, not a pass. Nothing is imported before a pass is asked for. Import as `gecc.passes`: gecc/passes is a link
to here.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

if __name__ != "gecc.passes":  # found through the working directory: every class would exist twice
    raise ImportError("import gecc.passes, not passes")
__path__ = [os.path.realpath(p) for p in __path__]  # debuggers and coverage then show passes/

LEVELS: tuple[str, ...] = ("ge", "fused", "tile", "om")
"""The folders of passes, in the order in which a model goes through them."""


@cache
def pass_files() -> dict[str, Path]:
    """Pass name to the file that defines it, by level and then by name. Reads folders only, imports nothing."""
    found: dict[str, Path] = {}
    root = Path(__path__[0])
    for level in LEVELS:
        for entry in sorted((root / level).iterdir()):
            if entry.name.startswith(("_", ".")):
                continue
            if entry.suffix == ".py":
                found[f"{level}-{entry.stem.replace('_', '-')}"] = entry
            elif (entry / "__init__.py").is_file():
                found[f"{level}-{entry.name.replace('_', '-')}"] = entry / "__init__.py"
    return found


def pass_module(name: str) -> ModuleType:
    """Import the module that defines pass `name`. Raises `KeyError` when there is no such pass."""
    path = pass_files()[name]
    stem = path.parent.name if path.name == "__init__.py" else path.stem
    level = name.split("-", 1)[0]
    return import_module(f"gecc.passes.{level}.{stem}")


def load_pass(name: str) -> type[ModulePass]:
    """The class of pass `name`.

    Raises `KeyError` when there is no such pass, and `TypeError` when its file does not define exactly one pass of
    that name.
    """
    from xdsl.passes import ModulePass

    module = pass_module(name)
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, ModulePass)
        and (value.__module__ == module.__name__ or value.__module__.startswith(f"{module.__name__}."))
    ]
    if len(found) != 1:
        raise TypeError(f"{pass_files()[name]} must define one pass, found {[cls.__name__ for cls in found]}")
    if found[0].name != name:
        raise TypeError(f"{pass_files()[name]} must name its pass '{name}', found '{found[0].name}'")
    return found[0]


def all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Pass name to a function that imports it, as xDSL's drivers want them."""
    return {name: partial(load_pass, name) for name in pass_files()}


def pass_docstring(name: str) -> str:
    """The docstring of the class of pass `name` (of its module when the class has none), read without importing it."""
    tree = ast.parse(pass_files()[name].read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_sets_name(statement, name) for statement in node.body):
            return ast.get_docstring(node) or ast.get_docstring(tree) or ""
    return ast.get_docstring(tree) or ""


def rule_names() -> frozenset[str]:
    """Names of the classes defined in the files of passes, rewrite rules among them, read without importing."""
    files = sorted(Path(__path__[0]).rglob("*.py"))
    return frozenset(
        name for path in files for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )


def _sets_name(statement: ast.stmt, name: str) -> bool:
    """Whether a statement of a class body is `name = "<name>"`, annotated or not."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="name")], value=ast.Constant(value=found)):
            return found == name
        case ast.AnnAssign(target=ast.Name(id="name"), value=ast.Constant(value=found)):
            return found == name
        case _:
            return False

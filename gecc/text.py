"""Modules as text with their weights beside them: `<name>` and `<name>.weights`.

The text names weights by digest; the module attribute `ge.weights` names the side file, which lies in the same
folder. A module marked `ge.elided` was written without one and can be read, but not compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from gecc.errors import WeightError
from gecc.files import is_stream

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

SIDE_FILE = "ge.weights"
"""Module attribute: the name of the side file, a bare file name."""

ELIDED = "ge.elided"
"""Module attribute: the text was written without its weights."""


def weight_digests(modules: Iterable[ModuleOp]) -> list[str]:
    """Digests of the weights that modules name, each once, in order of first use."""
    from gecc.weights.attribute import WeightAttr

    found: dict[str, None] = {}
    for module in modules:
        for op in module.walk():
            for values in (op.properties.values(), op.attributes.values()):
                for attribute in _flatten(values):
                    if isinstance(attribute, WeightAttr):
                        found[attribute.digest.data] = None
    return list(found)


def _flatten(attributes: Iterable[Attribute]) -> Iterator[Attribute]:
    """Attributes with the members of arrays and dictionaries."""
    from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr

    for attribute in attributes:
        if isinstance(attribute, ArrayAttr):
            yield from _flatten(attribute.data)
        elif isinstance(attribute, DictionaryAttr):
            yield from _flatten(attribute.data.values())
        else:
            yield attribute


def attach_weights(ctx: Context, module: ModuleOp, folder: Path) -> None:
    """Map the side file that `module` names, if any, from `folder` into the context's store.

    Raises `WeightError` when the file is missing or damaged, or its name leads out of the folder.
    """
    from xdsl.dialects.builtin import StringAttr

    named = module.attributes.get(SIDE_FILE)
    if named is None:
        return
    name = named.data if isinstance(named, StringAttr) else ""
    if PurePath(name).name != name or name in ("", "..") or not name.isprintable():
        raise WeightError(f"module attribute {SIDE_FILE} is {named}, expected the name of a file in the same folder")
    from gecc.weights.store import store_of

    store_of(ctx).attach(folder / name)


def save_weights(ctx: Context, modules: Sequence[ModuleOp], text_path: Path) -> Path | None:
    """Write `<text_path>.weights` with what `modules` name and note it in them; nothing when they name none.

    Text for a device such as /dev/null has no side file, the modules are marked so.

    Call before printing. Returns the path written. Raises `WeightError` for a weight that the store does not hold.
    """
    from xdsl.dialects.builtin import StringAttr

    for module in modules:
        module.attributes.pop(SIDE_FILE, None)
        module.attributes.pop(ELIDED, None)
    digests = weight_digests(modules)
    if not digests:
        return None
    if is_stream(text_path):
        for module in modules:
            mark_elided(module)
        return None
    from gecc.weights.store import store_of

    path = text_path.with_name(f"{text_path.name}.weights")
    store_of(ctx).save(path, digests)
    for module in modules:
        module.attributes[SIDE_FILE] = StringAttr(path.name)
    return path


def mark_elided(module: ModuleOp) -> None:
    """Note in `module` that its text will have no side file; nothing when it names no weights."""
    from xdsl.dialects.builtin import UnitAttr

    module.attributes.pop(SIDE_FILE, None)
    if weight_digests([module]):
        module.attributes[ELIDED] = UnitAttr()


def without_weights(module: ModuleOp) -> ModuleOp:
    """A copy of `module` marked as written without its weights."""
    copy = module.clone()
    copy.location = module.location
    mark_elided(copy)
    return copy


def module_text(module: ModuleOp, *, locations: bool = False) -> str:
    """A module as text that the parser reads; with `locations`, its origins too."""
    from io import StringIO

    from xdsl.printer import Printer

    text = StringIO()
    Printer(stream=text, print_debuginfo=locations).print_op(module)
    return text.getvalue() + "\n"

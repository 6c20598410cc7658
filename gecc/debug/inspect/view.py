"""An om, or a model compiled to one, as text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gecc import api, translate
from gecc.errors import CliError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def look(
    path: str,
    form: translate.Form,
    view: str,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    *,
    opt_level: str,
    target: str,
) -> str:
    """An om, or a model compiled to one, as text for people: `view` is json, info or disassemble.

    json and info tell what a file holds, so they take om files alone. Raises CliError for anything else.
    """
    if view == "disassemble":
        from gecc.debug.inspect.disassembly import disassembly

        if form == "om":
            from gecc.om.reader import read as read_om

            return disassembly(read_om(path, verify="full"))
        subject = translate.read(path, form, input_shapes)
        api.lower(subject.ctx, subject.as_module(), opt_level=opt_level, target=target)
        ir = _kernel_texts(subject.as_module())
        om = api.compile_module(subject.ctx, subject.as_module(), opt_level=opt_level, target=target).om
        return disassembly(om, ir)
    if form != "om":
        raise CliError(f"--{view} looks into an om file, '{path}' is {form}")
    if view == "json":
        from gecc.debug.inspect.json_form import json_form

        return json_form(path)
    from gecc.debug.inspect.info import info

    return info(path)


def _kernel_texts(module: ModuleOp) -> dict[str, str]:
    """The tile IR of each kernel of a module, by name."""
    from gecc.dialects.tile import KernelOp

    return {op.sym_name.data: str(op) for op in module.body.ops if isinstance(op, KernelOp)}

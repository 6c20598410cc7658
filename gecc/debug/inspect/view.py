"""An om, or a model compiled to one, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from gecc import api, translate
from gecc.errors import CliError

if TYPE_CHECKING:
    from gecc.om.records import KernelForm
    from gecc.options import CompileOptions


def look(path: str, form: translate.Form, view: str) -> str:
    """An om as text for people: `view` is json, info or disassemble. Raises CliError for a model of another form."""
    if form != "om":
        option = "--to json" if view == "json" else f"--{view}"
        raise CliError(f"{option} looks into an om file, '{path}' is {form}")
    if view == "disassemble":
        from gecc.debug.inspect.disassembly import disassembly
        from gecc.om.reader import read

        return disassembly(read(path, verify="full"))
    if view == "json":
        from gecc.debug.inspect.json_form import json_form

        return json_form(path)
    from gecc.debug.inspect.info import info

    return info(path)


def disassemble(
    subject: translate.Subject, kernels: KernelForm | None = None, **options: Unpack[CompileOptions]
) -> str:
    """The kernels of what a model is compiled to, beside their tile IR. Raises as `gecc.api.compile_module` does."""
    from gecc.codegen.emit import emit
    from gecc.debug.inspect.disassembly import disassembly
    from gecc.dialects.tile import KernelOp
    from gecc.weights import store_of

    module = subject.as_module()
    api.lower(subject.ctx, module, **options)
    ir = {op.sym_name.data: str(op) for op in module.body.ops if isinstance(op, KernelOp)}
    return disassembly(emit(module, store_of(subject.ctx), kernels), ir)

"""One form of a model to another: ONNX, text of any level, om."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack, get_args

from gecc import api
from gecc.errors import CliError, InvalidModelError
from gecc.files import whole_file, write_whole
from gecc.om.records import KernelForm, OmModel
from gecc.options import CompileOptions, ImportOptions

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from gecc.report import Report

Form: TypeAlias = Literal["onnx", "mlir", "om"]

FORMS: tuple[Form, ...] = get_args(Form)
"""Forms that can be read and written. An om can be looked into as well, see `gecc.debug.inspect`."""


def form_of(path: str, option: str) -> Form:
    """The form that a file's extension says. Raises CliError naming the option that says it instead."""
    extension = Path(path).suffix.removeprefix(".").lower()
    if extension not in FORMS:
        raise CliError(
            f"cannot tell the form of '{path}' by its extension", hint=f"{option} names one of {', '.join(FORMS)}"
        )
    return extension


@dataclass(slots=True)
class Subject:
    """A model that was read: a module in its context, or an om."""

    ctx: Context
    module: ModuleOp | None = None
    om: OmModel | None = None
    report: Report | None = None
    """What runs where, of an ONNX model."""

    def as_module(self) -> ModuleOp:
        """The module; of an om, its text form."""
        if self.module is None:
            from gecc.om_ir import from_model
            from gecc.weights import store_of

            assert self.om is not None
            self.module = from_model(self.om, store_of(self.ctx))
        return self.module


def read(
    path: str,
    form: Form,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    **options: Unpack[ImportOptions],
) -> Subject:
    """Read a model. Raises GeccError of the kind that fits, ParseError for text that is no module."""
    from gecc.context import make_context

    said = {"gears": options.get("gears"), "input shapes": input_shapes, "input values": options.get("input_values")}
    if form != "onnx" and (what := next((what for what, value in said.items() if value), None)):
        raise CliError(f"{what} are for ONNX models; the sizes in '{path}' are fixed")
    match form:
        case "onnx":
            return read_onnx(path, input_shapes, **options)
        case "om":
            from gecc.om.reader import read

            return Subject(make_context(), om=read(path, verify="full"))
        case "mlir":
            from gecc.report import report_of

            ctx = make_context()
            module = read_text(ctx, path)
            return Subject(ctx, module, report=report_of(module))


def read_onnx(
    model: api.Source,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    **options: Unpack[ImportOptions],
) -> Subject:
    """Read an ONNX model, which may be a message. Raises as `gecc.api.compile` does."""
    from gecc.context import make_context

    ctx = make_context()
    module, report = api.import_reported(ctx, model, input_shapes, **options)
    return Subject(ctx, module, report=report)


def read_text(ctx: Context, path: str) -> ModuleOp:
    """Parse and verify a module, its weights from the side file. Raises InvalidModelError when it cannot be read."""
    from gecc.parser import TextParser, in_words
    from gecc.text import attach_weights
    from gecc.verify import verify_module

    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidModelError(f"cannot read the module: {error.strerror}", where=path) from error
    except UnicodeDecodeError as error:
        raise InvalidModelError(f"not text in UTF-8: {error.reason} at byte {error.start}", where=path) from error
    module = TextParser(ctx, text, path).parse_module()
    attach_weights(ctx, module, Path(path).absolute().parent)
    with in_words(path):
        verify_module(module)
    return module


def lower(subject: Subject, stage: str, **options: Unpack[CompileOptions]) -> None:
    """Run passes up to the end of a stage. Raises as `gecc.api.lower` does."""
    api.lower(subject.ctx, subject.as_module(), stage=stage, **options)


def memory_report(subject: Subject, path: str, **options: Unpack[CompileOptions]) -> str:
    """Plan the memory of a model and tell of the plan: as a page for a path that ends in .html, a picture for .svg, else
    as text. The subject is then at the stage "buffer". Raises CliError for an om, whose memory was planned before."""
    from gecc.arena_report import memory_report as report_of
    from gecc.memory.picture import html, svg

    if subject.om is not None:
        raise CliError("--memory-report takes what is still to be compiled, found an om")
    lower(subject, "buffer", **options)
    module = subject.as_module()
    report = report_of(module)
    match Path(path).suffix:
        case ".html":
            name = module.attributes.get(api.MODEL_NAME)
            return html(report, f"Memory of {getattr(name, 'data', 'the model')}")
        case ".svg":
            return svg(report)
        case _:
            return str(report)


def write_om(
    subject: Subject,
    path: str,
    *,
    kernels: KernelForm | None = None,
    key: str | None = None,
    external: bool = False,
    **options: Unpack[CompileOptions],
) -> str:
    """Compile to an om file, signed with the private key in the file `key` if given, its weights in a file of their own if
    `external`; returns a line about it. `kernels` is the form of its kernels (None: that which they have, else native).

    Raises PassError for an om whose kernels have the other form.
    """
    from gecc.om.signature import signer
    from gecc.om.writer import write

    finish = None if key is None else signer(key)  # first: a key of no use is told before anything is compiled
    om = subject.om
    if om is None:
        assert subject.module is not None
        om = api.compile_module(subject.ctx, subject.module, kernels=kernels, **options).om
    else:
        from gecc.codegen.emit import check_form

        check_form(om, kernels)
    try:
        write(om, path, external=external, finish=finish)
    except OSError as error:
        raise CliError(f"cannot write '{path}': {error.strerror}") from error
    size = os.path.getsize(path)
    return f"{path}: om for {om.target}, {len(om.tasks)} tasks, {len(om.kernels)} kernels, {size} bytes"


def write_text(subject: Subject, path: str | None, *, elide: bool, locations: bool = True) -> str:
    """Write the module as text with its weights beside it; returns a line about it, or the text when `path` is None.

    With `elide`, and always without a path, weights are left out.
    """
    from gecc.text import mark_elided, module_text, save_weights

    module = subject.as_module()
    if path is None:
        mark_elided(module)
        return module_text(module, locations=locations)
    with whole_file(path) as file:  # opened first: where the text cannot be written, no weights appear either
        weights = None
        if elide:
            mark_elided(module)
        else:
            weights = save_weights(subject.ctx, [module], Path(path))
        file.write(module_text(module, locations=locations).encode())
    return f"{path}: text" + (f", weights in {weights.name}" if weights else "")


def write_onnx(subject: Subject, path: str) -> str:
    """Write ONNX: runnable from the operators that ONNX knows, else a picture for Netron. The line says which."""
    from gecc.frontend.onnx.export import export_onnx

    proto, runnable = export_onnx(subject.ctx, subject.as_module())
    write_whole(path, proto.SerializeToString(deterministic=True))
    kind = "runnable ONNX" if runnable else "ONNX to look at in Netron, not runnable"
    return f"{path}: {kind}, {len(proto.graph.node)} nodes"

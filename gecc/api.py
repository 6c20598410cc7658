"""What users call: `compile` a model, `save` it, `load` it, run it.

    model = gecc.compile("net.onnx", input_shapes={"x": (1, 3, 224, 224)})
    model.save("net.om")
    executor = gecc.load("net.om", threads=2)
    results = executor.run({"x": array})

Importing this module imports neither the compiler nor what it needs: loading an om takes numpy and protobuf alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from gecc.errors import CliError
from gecc.om.gears import gear_shapes
from gecc.om.records import IoDesc, KernelForm, OmModel
from gecc.options import CompileOptions, Host, ImportOptions

if TYPE_CHECKING:
    from onnx import ModelProto
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from gecc.dumps import Dumps
    from gecc.errors import UnsupportedError
    from gecc.frontend.onnx import OnnxModel, Placement
    from gecc.om.reader import Trust, Verify
    from gecc.pipeline import AfterPass, MemoryOptions
    from gecc.precision import Precision, PrecisionReport
    from gecc.report import Report
    from gecc.runtime.cpus import Affinity
    from gecc.runtime.executor import Executor
    from gecc.switches import Switches

Source: TypeAlias = "str | os.PathLike[str] | bytes | ModelProto | OnnxModel"
"""An ONNX model: a file, its bytes, the message itself, or what `gecc.frontend.onnx.load_model` has read."""

MODEL_NAME = "ge.model_name"
"""Module attribute: what the om will call the model."""


@dataclass(frozen=True, slots=True)
class Model:
    """A compiled model in memory. `om` is all that its file will say."""

    om: OmModel
    report: Report | None = None
    """What runs where, and why; None for a model that was not compiled from ONNX here."""
    precision: PrecisionReport | None = None
    """Which operations compute in another element type than the model says, and why; None when none was to."""

    @property
    def name(self) -> str:
        """The name of the ONNX graph."""
        return self.om.name

    @property
    def target(self) -> str:
        """The name of the machine description it was compiled for."""
        return self.om.target

    @property
    def inputs(self) -> tuple[IoDesc, ...]:
        """Names, element types and shapes (with gears -1 where they differ) of the inputs, in order."""
        return self.om.inputs

    @property
    def outputs(self) -> tuple[IoDesc, ...]:
        """Names, element types and shapes (with gears -1 where they differ) of the outputs, in order."""
        return self.om.outputs

    @property
    def gears(self) -> tuple[Mapping[str, tuple[int, ...]], ...]:
        """The shapes of the inputs in each gear, by name; () for a model without gears."""
        return gear_shapes(self.om)

    def save(self, path: str | os.PathLike[str], *, external_weights: bool = False) -> None:
        """Write the om file, all or nothing; with `external_weights` its weights into a file beside it, which models with
        the same weights share. Raises OSError when the disk refuses."""
        from gecc.om.writer import write

        write(self.om, path, external=external_weights)

    def to_bytes(self) -> bytes:
        """The bytes of the om file."""
        from gecc.om.writer import to_bytes

        return to_bytes(self.om)


def compile(
    model: Source,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    input_values: Mapping[str, Any] | None = None,
    gears: Sequence[Mapping[str, Sequence[int]]] | None = None,
    outputs: Sequence[str] | None = None,
    opt_level: str | int = "O2",
    target: str = "host",
    host: Host = "allow",
    memory: MemoryOptions | None = None,
    precision: str | Precision | None = None,
    aipp: str | os.PathLike[str] | None = None,
    input_format: str = "NCHW",
    input_types: Mapping[str, str] | None = None,
    output_types: str | Mapping[str, str] | None = None,
    switches: Switches | None = None,
    dumps: Dumps | None = None,
    kernels: KernelForm = "native",
) -> Model:
    """Compile an ONNX model.

    input_shapes: sizes for the inputs whose dimensions the model leaves open, by input name.
    gears: 2 to 100 shapes for the inputs, by name; the model then runs in all of them, and the shapes of the arrays that a
        run is given choose. Inputs that a gear does not name have their shape in `input_shapes`, where -1 stands for what
        gears give. `gecc.batch_gears`, `image_gears` and `dims_gears` make gears from sizes alone.
    input_values: values of inputs that are the same in every run, by name; they may decide shapes. The model then has no
        such input any more, and an executor that is given one of another value refuses.
    outputs: what to compute instead of the model's own outputs, in order: names of tensors, or `node:0` for a node's.
    opt_level: "O0" (legal, nothing fused), "O1" (folding, epilogues) or "O2" (everything); 0 to 2 do as well.
    target: the name of a machine description (`gecc.target.TARGETS`), or "host" for the best this machine can run.
    host: whether what has no native form may run on the host (`Model.report` says what does and why), or is refused.
    memory: how the arena is planned (`gecc.pipeline.MemoryOptions`): work spent, a limit in bytes.
    precision: the element types to compute in: a mode such as "fp16" or "mixed_float16" (`gecc.precision.MODES`), or all
        that can be said (`gecc.precision.Precision`); by default the model's own. `Model.precision` says what it did.
    aipp: a file (or its text) that makes inputs pictures of bytes, and prepares them (docs/aipp.md); `input_format` says
        whether the model has its channels as "NCHW" or "NHWC".
    input_types: other element types of inputs, by name: "float16", "uint8", ...; converted to the model's.
    output_types: the element type of all outputs, or element types by name.
    switches: passes and rules to do without (`gecc.switches`).
    dumps: where to write the module after each pass; by default what the DUMP_* environment variables say.
    kernels: "native" is machine code for the target; "portable" is code that `load` checks and compiles (docs/portable.md).

    Raises InvalidModelError for a model that breaks the standard, UnsupportedError listing every node that cannot be
    compiled, ShapeError for sizes missing or in conflict, CodegenError when machine code cannot be made.
    """
    from gecc.arguments import check_borders, check_kind
    from gecc.borders import Borders, prepare
    from gecc.context import make_context
    from gecc.pipeline import MemoryOptions
    from gecc.precision import Precision
    from gecc.switches import Switches

    check_kind(memory, MemoryOptions, "memory")
    check_kind(precision, (str, Precision), "precision")
    check_kind(switches, Switches, "switches")
    check_borders(aipp, input_format, input_types, output_types)
    ctx = make_context()
    module, report = import_reported(
        ctx, model, input_shapes, input_values=input_values, gears=gears, outputs=outputs, host=host
    )
    prepare(ctx, module, Borders(aipp, input_format, input_types or {}, output_types))
    made = compile_module(
        ctx,
        module,
        opt_level=opt_level,
        target=target,
        memory=memory,
        precision=precision,
        switches=switches,
        dumps=dumps,
        kernels=kernels,
    )
    return Model(made.om, report, made.precision)


def import_model(
    ctx: Context,
    model: Source,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    **options: Unpack[ImportOptions],
) -> ModuleOp:
    """An ONNX model as a module of the ge level, its weights in the store of `ctx`. Raises as `compile` does."""
    return import_reported(ctx, model, input_shapes, **options)[0]


def import_reported(
    ctx: Context,
    model: Source,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    **options: Unpack[ImportOptions],
) -> tuple[ModuleOp, Report]:
    """What `import_model` gives, and what of it runs where. Raises as `compile` does."""
    from xdsl.dialects.builtin import StringAttr

    from gecc.report import make_report
    from gecc.rewrite import location_names

    placements: list[Placement] = []
    module = _import(ctx, model, placements, input_shapes, **options)
    graph = location_names(module)
    module.attributes[MODEL_NAME] = StringAttr(graph[0] if graph else "main")
    return module, make_report(module, placements)


def _import(
    ctx: Context,
    model: Source,
    placements: list[Placement],
    input_shapes: Mapping[str, Sequence[int]] | None,
    *,
    input_values: Mapping[str, Any] | None = None,
    gears: Sequence[Mapping[str, Sequence[int]]] | None = None,
    outputs: Sequence[str] | None = None,
    host: Host = "allow",
) -> ModuleOp:
    from gecc.arguments import check_kind, check_names, plain_shapes
    from gecc.frontend.onnx import import_gears, import_onnx
    from gecc.gears import gears_of

    if host not in ("allow", "forbid"):
        raise CliError(f"host is {host!r}, expected 'allow' or 'forbid'")
    input_shapes = plain_shapes(input_shapes)
    check_names(outputs, "outputs")
    check_kind(input_values, Mapping, "input_values")
    if gears is None:
        read = partial(import_onnx, input_shapes=input_shapes)
    else:
        chosen = gears_of(gears, input_shapes)
        read = partial(import_gears, gears=chosen, kind=chosen.kind)
    allow = host == "allow"
    return read(ctx, model, input_values=input_values, outputs=outputs, host=allow, placements=placements)


def check(
    model: Source,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    **options: Unpack[ImportOptions],
) -> tuple[Report, UnsupportedError | None]:
    """What would run where, without compiling; and the error, when a part of the model can run nowhere.

    Raises the other errors of `compile`.
    """
    from gecc.context import make_context
    from gecc.errors import UnsupportedError
    from gecc.report import Report, make_report

    placements: list[Placement] = []
    try:
        module = _import(make_context(), model, placements, input_shapes, **options)
    except UnsupportedError as error:
        return Report(tuple(placements), None), error
    return make_report(module, placements), None


def compile_module(
    ctx: Context,
    module: ModuleOp,
    *,
    kernels: KernelForm | None = None,
    **options: Unpack[CompileOptions],
) -> Model:
    """Compile a module of any level, which is used up; without `kernels` those of a finished om stay what they are.

    Raises as `compile` does, PassError for a finished om whose kernels have the other form.
    """
    from gecc.codegen.emit import emit
    from gecc.precision.report import listening
    from gecc.weights import store_of

    if kernels not in (None, "native", "portable"):
        raise CliError(f"kernels is {kernels!r}, expected 'native' or 'portable'")
    found: list[PrecisionReport] = []
    with listening(found.append, tells=False):
        lower(ctx, module, **options)
    return Model(emit(module, store_of(ctx), kernels), precision=found[-1] if found else None)


def lower(
    ctx: Context,
    module: ModuleOp,
    *,
    opt_level: str | int = "O2",
    stage: str = "om",
    target: str = "host",
    memory: MemoryOptions | None = None,
    precision: str | Precision | None = None,
    switches: Switches | None = None,
    dumps: Dumps | None = None,
    after: AfterPass | None = None,
) -> None:
    """Bring a module, in place, from the level it is at to the end of `stage` (see `gecc.pipeline.STAGES`).

    `switches` are passes and rules to do without; `after` is called after every pass. The module is verified before the
    first pass and after the last. Raises CliError for an unknown level, stage or one that lies behind, ShapeError for inputs
    of unknown size, PassError for a module without its weights, MemoryLimitError when the arena does not fit.
    """
    from gecc import pipeline
    from gecc.dumps import Dumps
    from gecc.errors import PassError
    from gecc.om_ir import note_options
    from gecc.precision import Precision
    from gecc.rewrite import switched_off
    from gecc.switches import Switches
    from gecc.text import ELIDED
    from gecc.verify import has_provenance

    if ELIDED in module.attributes:
        raise PassError(f"the module was written without its weights ({ELIDED})", hint="write it again without --elide")
    memory = memory or pipeline.MemoryOptions()
    switches = switches or Switches()
    name = target_name(target)
    level = f"O{opt_level}" if isinstance(opt_level, int) else opt_level
    start = pipeline.stage_of(module)
    wanted = precision if isinstance(precision, Precision) else Precision(precision or "origin")
    specs = pipeline.with_precision(pipeline.specs_for(module, level, stage), wanted)
    specs = tuple(spec for spec in specs if spec not in switches.passes)
    if start == "ge":
        from gecc.frontend.onnx.inputs import require_static

        require_static(module)
    dumps = Dumps.from_environment() if dumps is None else dumps
    dumps.write("import" if start == "ge" else start, ctx, module, last=not specs)
    ends = pipeline.ends_of_stages(specs)
    place = count(0)

    def done(step: str, module: ModuleOp) -> None:
        i = next(place)
        if i == len(specs) - 1 and stage == "om":
            flags = (*memory.flags, *wanted.flags, *switches.flags)
            note_options(module, " ".join([f"-{level} --target={name}", *flags]))
        dumps.write(step.partition("{")[0], ctx, module, ends=i in ends, last=i == len(specs) - 1)
        if after is not None:
            after(step, module)

    passes = pipeline.with_memory(pipeline.for_target(pipeline.parse_passes(specs), name), memory)
    locations = has_provenance(module)
    planning = pipeline.planning(passes)
    with switched_off(switches.rules):
        if memory.limit is not None and stage in ("buffer", "om"):
            from gecc.fit import fit

            if planning is None:
                raise CliError(
                    "a memory limit needs a module whose memory is still to be planned", hint="stages ge to tile"
                )
            before, within, passes = planning
            pipeline.run_passes(ctx, module, before, verify_each=False, locations=locations, after=done)
            fit(ctx, module, within, memory)
            for step in within:
                done(str(step), module)
        pipeline.run_passes(ctx, module, passes, verify_each=False, locations=locations, after=done)


def target_name(target: str) -> str:
    """The name of a target; "host" is the best that this machine runs. Raises UnsupportedError for an unknown one."""
    from gecc.target import host
    from gecc.target import load as load_target

    return (host() if target == "host" else load_target(target)).name


def load(
    model: str | os.PathLike[str] | Model | OmModel,
    *,
    threads: int | None = None,
    affinity: Affinity = "auto",
    verify: Verify = "fast",
    trust: Trust = (),
    poison: bool = False,
    target: str = "host",
) -> Executor:
    """Make a compiled model ready to run: an om file, or a `Model` that was just compiled.

    threads: number of ranks; by default the cores this process may use and that have work. Results do not depend on it.
    affinity: "auto" pins each rank to a CPU of its own, "none" leaves them free, a list names the CPUs.
    verify: "full" also hashes the weights' bytes of a file.
    trust: files of public keys (PEM, Ed25519), or one: one of them must have signed the file.
    poison: fill memory that holds nothing with NaN before every phase, to show that nothing reads it; slow, on one rank.
    target: of a portable om, for what to compile it; "host" is what it was tiled for if this machine runs that, else the
        best that it runs. A native om has the one that it was compiled for.

    Raises OmError for a file that is damaged, for another machine or of another version, InputError for threads or
    affinity that cannot be had, CliError for other arguments that are wrong. A portable om needs the compiler, and is a
    CodegenError when its kernels are none.
    """
    from gecc.runtime import executor

    def compile_kernels(om: OmModel, where: str) -> OmModel:
        from gecc.codegen.portable import compile_model

        return compile_model(om, where, target)

    if isinstance(model, Model):
        model = model.om
    if isinstance(model, OmModel):
        if trust:
            raise CliError("only a file can be signed, found a model in memory")
        ready = executor.Executor(
            model, threads=threads, affinity=affinity, poison=poison, compile_kernels=compile_kernels
        )
    elif isinstance(model, str | os.PathLike):
        ready = executor.load(
            model,
            threads=threads,
            affinity=affinity,
            verify=verify,
            trust=trust,
            poison=poison,
            compile_kernels=compile_kernels,
        )
    else:
        raise CliError(
            f"the model is of type {type(model).__name__}, expected the path of an om file or a compiled model"
        )
    if target not in ("host", ready.model.target):
        ready.close()
        raise CliError(
            f"target is '{target}', but the om has kernels for {ready.model.target}; only portable ones can be compiled for "
            "another",
            hint="compile the model for it, or with portable kernels",
        )
    return ready

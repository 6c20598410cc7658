"""Pipelines as data: each optimisation level is a list of pass specs in xDSL's pass syntax.

A model goes ge -> fused -> tile -> buffer -> om. A stage is a place to stop: `specs_until("O2", "tile")` are the
passes that bring an imported module to tiled kernels on tensors. A name is a pass, by path (see `gecc.passes`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from gecc.errors import CliError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from gecc.precision import Precision

STAGES: tuple[str, ...] = ("ge", "fused", "tile", "buffer", "om")
"""Where a compilation may stop: the graph, kernel-sized operations, kernels on tensors, planned memory, tasks."""

_FIRST_OF_NEXT_STAGE: dict[str, str] = {
    "ge": "ge-to-fused",
    "fused": "fused-to-tile",
    "tile": "tile-choose-joins",
    "buffer": "tile-to-om",
}
"""The pass before which each stage stops."""

_GE_LEGAL = ("ge-infer-shapes", "ge-fold-constants", "ge-dce")
_GE_CANONICAL = (
    "ge-infer-shapes",
    "ge-fold-constants",
    "ge-canonicalize",
    "ge-hoist-invariants",
    "ge-cse",
    "ge-dce",
)
_KERNELS = ("fused-to-tile", "tile-deduplicate-kernels")
_MEMORY = ("tile-choose-joins", "tile-bufferize", "tile-schedule", "tile-allocate-buffers")

PIPELINES: dict[str, tuple[str, ...]] = {
    "O0": (
        *_GE_LEGAL,
        "ge-to-fused",
        "fused-choose-tilings",
        "fused-pack-weights",
        *_KERNELS,
        *_MEMORY,
        "tile-to-om",
    ),
    "O1": (
        *_GE_CANONICAL,
        "ge-fold-batch-norm",
        "ge-dce",
        "ge-to-fused",
        "fused-fuse-epilogues",
        "fused-fold-views",
        "fused-choose-tilings",
        "fused-pack-weights",
        "fused-hoist-invariants",
        *_KERNELS,
        "tile-reorder",
        *_MEMORY,
        "tile-to-om",
    ),
    "O2": (
        *_GE_CANONICAL,
        "ge-fold-batch-norm",
        "ge-recognise-gelu",
        "ge-recognise-hard-swish",
        "ge-recognise-silu",
        "ge-recognise-layer-norm",
        "ge-split-joined-conv",
        "ge-split-product",
        "ge-choose-layouts",
        "ge-canonicalize",
        "ge-hoist-invariants",
        "ge-cse",
        "ge-dce",
        "ge-to-fused",
        "fused-fuse-epilogues",
        "fused-fold-views",
        "fused-fuse-pointwise",
        "fused-fuse-epilogues",
        "fused-choose-tilings",
        "fused-pack-weights",
        "fused-hoist-invariants",
        "fused-fuse-pointwise",
        *_KERNELS,
        "tile-reorder",
        *_MEMORY,
        "tile-to-om",
    ),
}
"""Optimisation level to its passes: O0 legal and unfused, O1 canonical with epilogues, O2 everything (the default)."""

DEFAULT_LEVEL = "O2"

AfterPass = Callable[[str, "ModuleOp"], None]
"""Called after every pass with its spec as text and the module."""


def specs_until(level: str, stage: str = "om") -> tuple[str, ...]:
    """The passes of `level` up to the end of `stage`. Raises `CliError` for an unknown level or stage."""
    if level not in PIPELINES:
        raise CliError(f"unknown optimisation level '{level}', expected one of {', '.join(PIPELINES)}")
    if stage not in STAGES:
        raise CliError(f"unknown stage '{stage}', expected one of {', '.join(STAGES)}")
    specs = PIPELINES[level]
    if stage not in _FIRST_OF_NEXT_STAGE:
        return specs
    stop = _FIRST_OF_NEXT_STAGE[stage]
    return specs[: next(i for i, spec in enumerate(specs) if spec.split("{")[0] == stop)]


def pipeline_text(specs: Iterable[str]) -> str:
    """A pipeline as `-p` takes it."""
    return ",".join(specs)


def parse_passes(specs: Sequence[str] | str) -> tuple[ModulePass, ...]:
    """Passes from specs such as `ge-fold-constants{limit=4}`.

    Raises `CliError` for a spec that cannot be parsed, a pass that does not exist (naming the nearest) and options
    that the pass does not take.
    """
    if not specs:
        return ()
    from xdsl.transforms import get_all_passes
    from xdsl.utils.arg_spec import parse_pipeline
    from xdsl.utils.exceptions import ArgSpecParseError

    from gecc.passes import all_passes

    available = {**get_all_passes(), **all_passes()}
    text = specs if isinstance(specs, str) else pipeline_text(specs)
    try:
        parsed = tuple(parse_pipeline(text))
    except ArgSpecParseError as error:
        raise CliError(f"cannot read the pipeline '{text}': {error}") from error
    unknown = list(dict.fromkeys(spec.name for spec in parsed if spec.name not in available))
    if unknown:
        raise CliError(
            f"unknown pass {', '.join(repr(name) for name in unknown)}",
            hint=_nearest(unknown[0], list(available)),
        )
    passes: list[ModulePass] = []
    for spec in parsed:
        cls = available[spec.name]()
        try:
            passes.append(cls.from_spec(spec))
        except ValueError as error:
            raise CliError(f"pass '{spec.name}': {error}") from error
    return tuple(passes)


def _nearest(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    return f"did you mean '{close[0]}'?" if close else "--list-passes shows the passes"


def run_pipeline(
    ctx: Context,
    module: ModuleOp,
    specs: Sequence[str] | str,
    *,
    verify_each: bool = True,
    locations: bool = False,
    after: AfterPass | None = None,
) -> None:
    """Run the passes named by `specs` on `module` in place; see `run_passes`."""
    run_passes(ctx, module, parse_passes(specs), verify_each=verify_each, locations=locations, after=after)


def run_passes(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    *,
    verify_each: bool = True,
    locations: bool = False,
    after: AfterPass | None = None,
) -> None:
    """Run `passes` on `module` in place.

    With `verify_each` the module is verified (types, dominance and, with `locations`, provenance) before the first
    pass and after each; otherwise only before the first and after the last. `after` is called after every pass.
    Raises whatever a pass raises, and `VerifyException`; both carry a note that names the pass.
    """
    from gecc.verify import verify_module

    verify_module(module, locations=locations)
    for index, step in enumerate(passes):
        try:
            step.apply(ctx, module)
        except Exception as error:  # only to say where; it goes on its way
            error.add_note(f"in pass '{step}'")
            raise
        if verify_each or index == len(passes) - 1:
            try:
                verify_module(module, locations=locations)
            except Exception as error:
                error.add_note(f"found after pass '{step}'")
                raise
        if after is not None:
            after(str(step), module)


def stage_of(module: ModuleOp) -> str:
    """The stage that a module is at, told from its operations: one of `STAGES`.

    A module with functions of several stages is at the earliest of them; one without any graph operation is at "ge".
    """
    from gecc.verify import graph_operations

    if any(op.name == "om.model" for op in module.body.ops):
        return "om"
    found = {op.name.partition(".")[0] for op in graph_operations(module)}
    if "tile" in found and any(
        value.type.name == "memref" for op in graph_operations(module) for value in (*op.operands, *op.results)
    ):
        found.add("buffer")
        found.discard("tile")
    return next((stage for stage in STAGES if stage in found), "ge")


def specs_for(module: ModuleOp, level: str, stage: str = "om") -> tuple[str, ...]:
    """The passes of `level` that bring `module`, from where it is, to the end of `stage`.

    Raises `CliError` when `stage` lies before the module's own, and for an unknown level or stage.
    """
    specs = specs_until(level, stage)
    start = stage_of(module)
    if STAGES.index(stage) < STAGES.index(start):
        raise CliError(f"the module is at stage '{start}', which lies behind '{stage}'")
    if start == "ge":
        return specs
    if start == "om":
        return ()
    done = {"fused": "ge-to-fused", "tile": "fused-to-tile", "buffer": "tile-bufferize"}[start]
    if start == "buffer" and _is_allocated(module):
        done = "tile-allocate-buffers"
    names = [spec.partition("{")[0] for spec in specs]
    return specs[names.index(done) + 1 :]


def ends_of_stages(specs: Sequence[str]) -> frozenset[int]:
    """Places in `specs` of the passes that are followed by one that begins another stage."""
    starts = frozenset(_FIRST_OF_NEXT_STAGE.values())
    return frozenset(i for i, spec in enumerate(specs[1:]) if spec.partition("{")[0] in starts)


def _is_allocated(module: ModuleOp) -> bool:
    """Whether all launches on memory have a phase and all buffers an offset."""
    from gecc.verify import graph_operations

    phased = ("tile.launch", "tile.label", "tile.goto", "tile.switch")
    needed = {"tile.alloc": "offset", **dict.fromkeys(phased, "phase")}
    return all(op.name not in needed or needed[op.name] in op.properties for op in graph_operations(module))


def for_target(passes: Sequence[ModulePass], target: str) -> tuple[ModulePass, ...]:
    """The same passes, those with a `target` option compiling for the machine of this name."""
    return tuple(
        dataclasses.replace(step, target=target) if any(f.name == "target" for f in dataclasses.fields(step)) else step
        for step in passes
    )


@dataclasses.dataclass(frozen=True)
class MemoryOptions:
    """How the arena is planned.

    effort         work spent on order and offsets: "fast", "default" or "best"
    limit          most bytes of the arena; None: as few as the passes find
    disable_reuse  every buffer gets bytes of its own (a debugging aid)
    slack          percent of the arena that may be given for fewer barriers
    """

    effort: str = "default"
    limit: int | None = None
    disable_reuse: bool = False
    slack: int = 0

    def __post_init__(self) -> None:
        from gecc.arguments import check_size

        check_size(self.limit, "limit", may_lack=True)
        check_size(self.slack, "slack")

    @property
    def flags(self) -> tuple[str, ...]:
        """The options of the command line that say the same, but for those at their defaults."""
        found = {
            f"--memory-effort={self.effort}": self.effort != "default",
            f"--memory-limit={self.limit}": self.limit is not None,
            "--disable-reuse-memory": self.disable_reuse,
            f"--memory-slack={self.slack}": self.slack,
        }
        return tuple(flag for flag, given in found.items() if given)


def with_precision(specs: Sequence[str], wanted: Precision) -> tuple[str, ...]:
    """The same passes, with the one that chooses element types where what becomes one operation is recognised and layouts
    are not chosen yet; unchanged when nothing is to change, or the module is past that."""
    if wanted.changes_nothing:
        return tuple(specs)
    names = [spec.partition("{")[0] for spec in specs]
    before = ("ge-split-joined-conv", "ge-choose-layouts", "ge-to-fused")
    place = next((names.index(name) for name in before if name in names), None)
    if place is None:
        raise CliError(
            "element types are chosen at the ge level, which this module or stage does not come through",
            hint="compile the ONNX model, or text of the ge level, without --stage ge",
        )
    tidy = ("ge-canonicalize", "ge-cse", "ge-dce") if "ge-canonicalize" in names else ("ge-dce",)
    return (*specs[:place], spec_of(wanted), *tidy, *specs[place:])


def spec_of(wanted: Precision) -> str:
    """The pass that follows `wanted`, as `-p` takes it. Raises CliError for a name that holds a quotation mark."""
    parts = [f"mode={quoted(wanted.mode)}"]
    for option in ("white", "black", "grey", "keep", "customize"):
        if entries := getattr(wanted, option):
            parts.append(f"{option}={','.join(quoted(entry) for entry in entries)}")
    if not wanted.clip:
        parts.append("clip=false")
    return f"ge-choose-precision{{{' '.join(parts)}}}"


def quoted(text: str) -> str:
    """A value of an option of a pass, as `-p` takes it. Raises CliError for what cannot be written so."""
    if '"' in text or "\\" in text or "\n" in text:
        raise CliError(f"'{text}' holds a quotation mark, a backslash or a line break")
    return f'"{text}"'


PLANNING = ("tile-reorder", "tile-choose-joins")
"""The first of the passes that memory options are about: the former, or where a level leaves it out the latter."""


def with_memory(passes: Sequence[ModulePass], options: MemoryOptions) -> tuple[ModulePass, ...]:
    """The same passes with the options of memory planning set."""
    values = {"effort": options.effort, "disable_reuse": options.disable_reuse, "slack": options.slack}
    changed: list[ModulePass] = []
    for step in passes:
        own = {f.name for f in dataclasses.fields(step)} if step.name.startswith("tile-") else set()
        changed.append(dataclasses.replace(step, **{k: v for k, v in values.items() if k in own}))
    return tuple(changed)


def planning(
    passes: Sequence[ModulePass],
) -> tuple[tuple[ModulePass, ...], tuple[ModulePass, ...], tuple[ModulePass, ...]] | None:
    """The passes before those that plan memory, these, and those behind; None when they are not all among `passes`."""
    names = [step.name for step in passes]
    start = next((names.index(name) for name in PLANNING if name in names), None)
    if start is None or "tile-allocate-buffers" not in names:
        return None
    stop = names.index("tile-allocate-buffers") + 1
    return tuple(passes[:start]), tuple(passes[start:stop]), tuple(passes[stop:])

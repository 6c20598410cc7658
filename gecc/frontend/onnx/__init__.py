"""The ONNX frontend: file to module at the ge level.

`OnnxFrontend` makes `gecc-opt model.onnx` work; `import_onnx` is what the compiler calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from gecc.errors import GeccError, UnsupportedError
from gecc.frontend.onnx.cutting import with_outputs
from gecc.frontend.onnx.fixing import note, with_values
from gecc.frontend.onnx.importer import import_model
from gecc.frontend.onnx.inputs import parse_input_shape, require_static
from gecc.frontend.onnx.model import ModelSource, OnnxModel, load_model
from gecc.frontend.onnx.placement import Placement
from gecc.gear_module import gear_problems, join
from gecc.weights import store_of

__all__ = [
    "ModelSource",
    "OnnxFrontend",
    "OnnxModel",
    "Placement",
    "import_gears",
    "import_model",
    "import_onnx",
    "load_model",
    "parse_input_shape",
    "require_static",
]


def import_onnx(
    ctx: Context,
    source: ModelSource,
    *,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    input_values: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    host: bool = False,
    placements: list[Placement] | None = None,
) -> ModuleOp:
    """Read, check and import a model (a path, bytes or a ModelProto) into the context's weight store.

    `input_values` fixes inputs: they become constants, and the module says so. `outputs` are computed instead of the
    model's own (see `gecc.frontend.onnx.cutting`). With `host`, nodes without a native form become ge.HostOp; where each node went is appended to `placements`.
    Raises InvalidModelError, UnsupportedError (listing every node that cannot be imported), ShapeError, or CliError for
    an output that there is not.
    """
    store = store_of(ctx)
    model, fixed = _prepared(source, input_values, outputs)
    module = import_model(model, store, input_shapes=input_shapes, host=host, placements=placements)
    note(module, fixed, store)
    return module


def _prepared(
    source: ModelSource, input_values: Mapping[str, Any] | None, outputs: Sequence[str] | None
) -> tuple[OnnxModel, Mapping[str, Any]]:
    """The model, cut at `outputs` and with inputs fixed, and the values of these."""
    whole = load_model(source)
    return with_values(whole if outputs is None else with_outputs(whole, outputs), input_values or {})


def import_gears(
    ctx: Context,
    source: ModelSource,
    gears: Sequence[Mapping[str, Sequence[int]]],
    kind: str,
    *,
    input_values: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    host: bool = False,
    placements: list[Placement] | None = None,
) -> ModuleOp:
    """As `import_onnx`, once for each of several sizes of the inputs: a module with gears (`gecc.gear_module`).

    `placements` get the first gear's, and of the others what does not go where it went in the first. Raises ShapeError, which
    names the gear, also for sizes that leave the shape of an input unknown, UnsupportedError for outputs that differ
    from gear to gear in more than sizes.
    """
    store = store_of(ctx)
    model, fixed = _prepared(source, input_values, outputs)
    modules: list[ModuleOp] = []
    seen: dict[tuple[int, str], str] = {}
    for number, shapes in enumerate(gears):
        found: list[Placement] = []
        try:
            module = import_model(model, store, input_shapes=shapes, host=host, placements=found)
            require_static(module)
        except GeccError as error:
            error.where = f"gear {number}" + (f", {error.where}" if error.where else "")
            raise
        finally:
            if placements is not None:
                placements += [
                    p for p in found if seen.setdefault((p.index, p.name), p.engine) != p.engine or number == 0
                ]
        modules.append(module)
    note(modules[0], fixed, store)
    module = join(modules, kind)
    for problem in gear_problems(module):
        raise UnsupportedError(f"the gears do not make one model: {problem}", where=model.name)
    return module


@dataclass(frozen=True)
class OnnxFrontend(Frontend):
    """Read a model in xDSL's driver: `-f 'onnx{input-shape="x:1,3,48,192"}'`, or by the extension of the file."""

    name = "onnx"

    input_shape: str = ""
    """Shapes of inputs in atc's syntax; dimensions not given stay unknown."""

    host: bool = True
    """Whether nodes without a native form may run on the host."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        """Import the model in `input`. External data is looked for beside the file, when the stream is one."""
        shapes = parse_input_shape(self.input_shape)
        path = getattr(input, "name", None)
        if isinstance(path, str) and Path(path).is_file():
            return import_onnx(ctx, path, input_shapes=shapes, host=self.host)
        model = load_model(input.read(), name=input_name)
        return import_model(model, store_of(ctx), input_shapes=shapes, host=self.host)

"""What comes in and goes out in other forms than the model's: pictures of bytes, other element types.

Done to a module as imported, before everything else; the graph between stays as it is.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gecc.errors import CliError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from gecc.aipp import Aipp


@dataclass(frozen=True)
class Borders:
    """Forms of inputs and outputs.

    aipp          a file of --insert_op_conf, or its text: inputs that are pictures of bytes (`gecc.aipp`)
    input_format  where inputs that `aipp` makes have their channels: "NCHW" or "NHWC"
    inputs        element types of inputs, by name: "float16", "uint8", ...
    outputs       the element type of all outputs, or element types by name
    """

    aipp: str | os.PathLike[str] | None = None
    input_format: str = "NCHW"
    inputs: Mapping[str, str] = field(default_factory=dict)
    outputs: str | Mapping[str, str] | None = None

    @property
    def changes_nothing(self) -> bool:
        """Whether inputs and outputs are the model's."""
        return self.aipp is None and not self.inputs and not self.outputs


def prepare(ctx: Context, module: ModuleOp, borders: Borders, tell: Callable[[str], None] = warnings.warn) -> None:
    """Give the inputs and outputs of a module as imported these forms, in place. `tell` is called with each line about
    what has no effect.

    Raises CliError for a configuration that does not fit the model, names that are no inputs or outputs, element types
    that cannot be had, and an input that is a picture and of another type as well; ShapeError for unknown sizes.
    """
    if borders.changes_nothing:
        return
    from gecc.passes.ge.insert_aipp import InsertAipp
    from gecc.passes.ge.set_io_types import SetIoTypes
    from gecc.pipeline import run_passes, stage_of
    from gecc.verify import has_provenance

    if stage_of(module) != "ge":
        raise CliError(f"inputs and outputs are changed at the ge level, the module is at '{stage_of(module)}'")
    passes = []
    if borders.aipp is not None:
        from gecc.frontend.onnx.inputs import require_static

        require_static(module)
        text = borders.aipp if isinstance(borders.aipp, str) and "{" in borders.aipp else ""
        config = "" if text else os.fspath(borders.aipp)
        step = InsertAipp(config, text, borders.input_format)
        passes.append(step)
        configs = step.configs()
        for line in (line for op in configs for line in op.warnings):
            tell(line)
        _refuse_both(module, configs, borders.inputs)
    if borders.inputs or borders.outputs:
        outputs = borders.outputs or {}
        passes.append(
            SetIoTypes(
                tuple(f"{name}:{kind}" for name, kind in borders.inputs.items()),
                (outputs,) if isinstance(outputs, str) else tuple(f"{name}:{kind}" for name, kind in outputs.items()),
            )
        )
    run_passes(ctx, module, passes, locations=has_provenance(module))


def outputs_of(module: ModuleOp) -> list[str]:
    """The names of a module's outputs."""
    from gecc.gear_module import main_functions, output_names

    return output_names(main_functions(module)[0])


def _refuse_both(module: ModuleOp, configs: Sequence[Aipp], types: Mapping[str, str]) -> None:
    from gecc.passes.ge.insert_aipp import inputs_of

    for name in inputs_of(module, configs):
        if name in types:
            raise CliError(f"E10034: input '{name}' is a picture of bytes (AIPP), and is to be {types[name]} as well")

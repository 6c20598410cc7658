"""What may be said about reading and about compiling a model, as functions hand it on to each other.

`gecc.api.compile` tells what each means; what is not said has the default that it has there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from gecc.dumps import Dumps
    from gecc.pipeline import AfterPass, MemoryOptions
    from gecc.precision import Precision
    from gecc.switches import Switches

Host: TypeAlias = Literal["allow", "forbid"]
"""Whether nodes without a native form may run on the host, by the package onnx."""


class ImportOptions(TypedDict, total=False):
    """How an ONNX model is read, beside the shapes of its inputs."""

    input_values: Mapping[str, Any] | None
    gears: Sequence[Mapping[str, Sequence[int]]] | None
    outputs: Sequence[str] | None
    host: Host


class CompileOptions(TypedDict, total=False):
    """How a module is brought to a later stage (`gecc.api.lower`)."""

    opt_level: str | int
    target: str
    memory: MemoryOptions | None
    precision: str | Precision | None
    switches: Switches | None
    dumps: Dumps | None
    after: AfterPass | None

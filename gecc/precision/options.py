"""Precision modes, and everything that may be said beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from gecc.errors import CliError


@dataclass(frozen=True)
class Mode:
    """What a mode asks of an operation on floats, by the kind of operation."""

    name: str
    cube: str | None
    """Element type of products (matrices and convolutions): "f16", "bf16", "f32"; None keeps the model's."""
    vector: str | None
    """Element type of everything else."""
    lists: bool = False
    """Whether black, white and grey lists decide, and `cube` says the narrow type alone."""
    wide_results: bool = False
    """Whether products of narrow operands have results of f32."""
    old: tuple[str, ...] = ()
    """Other names, those of --precision_mode."""


MODES: tuple[Mode, ...] = (
    Mode("origin", None, None, old=("must_keep_origin_dtype",)),
    Mode("fp16", "f16", "f16", old=("force_fp16",)),
    Mode("fp32", "f32", "f32", old=("force_fp32",)),
    Mode("cube_fp16", "f16", None, old=("allow_fp32_to_fp16",)),
    Mode("cube_fp16in_fp32out", "f16", "f32", wide_results=True),
    Mode("mixed_float16", "f16", None, lists=True, old=("allow_mix_precision", "allow_mix_precision_fp16")),
    Mode("mixed_bfloat16", "bf16", None, lists=True, old=("allow_mix_precision_bf16",)),
)
"""All modes, under the names of this project; `old` are those that atc's --precision_mode has for them."""

_KNOWN_ELSEWHERE = {"mixed_hif8": "no CPU has floats of type HiF8"}

DTYPES: dict[str, str] = {
    **dict.fromkeys(("float16", "fp16", "f16", "half", "dt_float16"), "f16"),
    **dict.fromkeys(("bfloat16", "bf16", "dt_bf16"), "bf16"),
    **dict.fromkeys(("float32", "fp32", "f32", "float", "dt_float"), "f32"),
}
"""Spellings of the element types that can be chosen."""


def find_mode(name: str) -> Mode:
    """The mode of that name, old or new. Raises CliError naming all of them."""
    for mode in MODES:
        if name in (mode.name, *mode.old):
            return mode
    if name in _KNOWN_ELSEWHERE:
        raise CliError(f"precision mode '{name}' is not supported: {_KNOWN_ELSEWHERE[name]}")
    names = [each for mode in MODES for each in (mode.name, *mode.old)]
    close = get_close_matches(name, names, n=1)
    raise CliError(
        f"unknown precision mode '{name}', expected one of {', '.join(names)}",
        hint=f"did you mean {close[0]}?" if close else None,
    )


@dataclass(frozen=True)
class Custom:
    """Element types chosen for one operation or operator by hand."""

    name: str
    """Of an ONNX node, or of an operator when `is_type`."""
    is_type: bool
    inputs: tuple[str | None, ...]
    """"f16", "bf16", "f32", or None where nothing is said, for each operand."""
    outputs: tuple[str | None, ...]

    def __str__(self) -> str:
        return f"OpType::{self.name}" if self.is_type else self.name


def custom_of(line: str, where: str | None = None) -> Custom:
    """Read `name::InputDtype:a,b,OutputDtype:c` or `OpType::Type:InputDtype:a,b,OutputDtype:c`. Raises CliError."""
    head, found, rest = line.partition("InputDtype:")
    if found:
        inputs, _, outputs = rest.partition("OutputDtype:")
    else:
        head, found, outputs = line.partition("OutputDtype:")
        inputs = ""
    name = head.strip()
    is_type = name.startswith("OpType::")
    name = name.removeprefix("OpType::").rstrip(":").strip()
    if not found or not name:
        raise CliError(
            f"'{line}' names no element types",
            where=where,
            hint="expected node::InputDtype:float16,float16,OutputDtype:float16, or OpType::Type:InputDtype:...",
        )
    separator = ":" if is_type else "::"
    if not head.strip().endswith(separator):
        raise CliError(f"'{line}' has no '{separator}' behind '{name}'", where=where)
    trailing = inputs.rstrip().endswith(",") and bool(outputs)  # the comma before OutputDtype
    return Custom(
        name,
        is_type,
        _dtypes(inputs.rstrip().removesuffix(",") if trailing else inputs, line, where),
        _dtypes(outputs, line, where),
    )


def _dtypes(text: str, line: str, where: str | None) -> tuple[str | None, ...]:
    if not text.strip():
        return ()
    found: list[str | None] = []
    for word in (part.strip() for part in text.split(",")):
        if not word:
            found.append(None)
        elif (dtype := DTYPES.get(word.lower())) is not None:
            found.append(dtype)
        else:
            raise CliError(
                f"'{word}' in '{line}' is no element type that can be chosen",
                where=where,
                hint="float16, bfloat16 or float32; leave the place of another operand empty",
            )
    return tuple(found)


@dataclass(frozen=True)
class Precision:
    """What to do about element types.

    mode         one of `MODES`, by either name; "origin" keeps the model's types
    white, black, grey   operators put on that list (by their name here, in ONNX or in Ascend's IR), for mixed modes
    keep         ONNX nodes, or `OpType::Type`, that keep the model's types in every mode
    customize    `name::InputDtype:..,OutputDtype:..`, which wins over `keep`
    clip         constants outside of the range of a narrow type take its nearest finite value, not infinity
    """

    mode: str = "origin"
    white: Sequence[str] = ()
    black: Sequence[str] = ()
    grey: Sequence[str] = ()
    keep: Sequence[str] = ()
    customize: Sequence[str] = ()
    clip: bool = True

    def __post_init__(self) -> None:
        find_mode(self.mode)
        for line in self.customize:
            custom_of(line)

    @property
    def changes_nothing(self) -> bool:
        """Whether the model's types stay as they are."""
        return find_mode(self.mode).name == "origin" and not self.customize

    @property
    def flags(self) -> tuple[str, ...]:
        """The options of the command line that say the same, as far as they fit into a line."""
        if self.changes_nothing:
            return ()
        edits = {"modify_mixlist": (*self.white, *self.black, *self.grey), "keep_dtype": self.keep}
        edits["customize_dtypes"] = self.customize
        return (
            f"--precision={find_mode(self.mode).name}",
            *(f"--{name}({len(entries)})" for name, entries in edits.items() if entries),
            *(() if self.clip else ("--is_weight_clip=0",)),
        )

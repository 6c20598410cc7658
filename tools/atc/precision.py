"""The flags about precision, as `gecc.precision` takes them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gecc.errors import CliError
from gecc.tools.atc.command import Command, warn

if TYPE_CHECKING:
    from gecc.precision import Precision, PrecisionReport


def precision(command: Command) -> Precision:
    """What the flags ask for; lines about what has no effect go to stderr. Raises CliError for flags that exclude each
    other, and for files that cannot be read."""
    from gecc.precision import (
        Lists,
        Precision,
        find_mode,
        read_customize_dtypes,
        read_keep_dtype,
        read_modify_mixlist,
    )

    if "precision_mode" in command and "precision_mode_v2" in command:
        raise CliError("E10047: --precision_mode and --precision_mode_v2 exclude each other")
    mode = command["precision_mode_v2"] or command["precision_mode"]
    if (
        mode is None
        and "soc_version" in command
        and not {"keep_dtype", "customize_dtypes", "modify_mixlist"} & command.given.keys()
    ):
        _say("note: element types stay as in the model; atc's default, fp16, is --precision_mode_v2=fp16 here")
    mode = mode or "origin"
    lists = Lists()
    if (path := command["modify_mixlist"]) is not None:
        if not find_mode(mode).lists:
            raise CliError(
                f"--modify_mixlist is about mixed precision, the mode is {mode}", hint="mixed_float16 has lists"
            )
        lists = read_modify_mixlist(path)
    keep = read_keep_dtype(path) if (path := command["keep_dtype"]) is not None else ()
    customize = read_customize_dtypes(path) if (path := command["customize_dtypes"]) is not None else ()
    if "op_select_implmode" in command:
        warn("--op_select_implmode has no effect: an operator has one implementation, which is precise")
    for line in lists.warnings:
        warn(line)
    return Precision(mode, lists.white, lists.black, lists.grey, keep, customize, command["is_weight_clip"] != "0")


def tell(report: PrecisionReport) -> None:
    """Say on stderr what became of element types."""
    _say(report.short())


def _say(text: str) -> None:
    print(text, file=sys.stderr)

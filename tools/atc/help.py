"""The part of --help that is about atc's flags."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from gecc.tools.atc.flags import FLAGS, GROUPS, State

_WIDTH = 100
_INDENT = 26


def help_text() -> str:
    """The flags that are followed, a line or two each; those ignored and refused by name."""
    lines = ["atc's flags: a command line written for atc runs as it is, --name=value"]
    for group, flags in GROUPS.items():
        followed = [flag for flag in flags if flag.state is State.FOLLOWED]
        if followed:
            lines.append(f" {group}:")
        for flag in followed:
            default = f" (default: {flag.default})" if flag.default else ""
            lines += _entry(f"--{flag.name}={flag.syntax}", flag.help + default)
    for state, said in ((State.IGNORED, "ignored, with a line that says why"), (State.REFUSED, "refused")):
        names = " ".join(f"--{flag.name}" for flag in FLAGS.values() if flag.state is state)
        lines += [f" {said}:", *textwrap.wrap(names, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
    return "\n".join(lines) + "\n"


def _entry(flag: str, text: str) -> Iterator[str]:
    wrapped = textwrap.wrap(text, _WIDTH - _INDENT)
    if len(flag) + 4 > _INDENT:
        yield f"  {flag}"
    else:
        yield f"  {flag:<{_INDENT - 2}}{wrapped.pop(0)}"
    for line in wrapped:
        yield " " * _INDENT + line

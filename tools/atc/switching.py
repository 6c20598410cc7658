"""The flags that switch passes and fusions on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gecc.tools.atc.command import Command, warn

if TYPE_CHECKING:
    from gecc.switches import Switch, Switches


def switches(command: Command) -> Switches:
    """What the flags switch off. Names that match nothing are said on stderr, a line a flag.

    Of several flags the later ones here beat the earlier: the file, --optimization_switch, --oo_...
    Raises CliError for a file that cannot be read, and for passes that cannot be left out.
    """
    from gecc.switches import Switch, read_switches, resolve

    given: list[Switch] = []
    if command["op_debug_level"] == "2":
        given += [Switch("ALL", False)]
    for flag, read in (("fusion_switch_file", read_switches), ("optimization_switch", _parse)):
        text = command[flag]
        if text is None:
            continue
        found = read(text)
        _warn(flag, found)
        given += found
    if command["oo_constant_folding"] == "false":
        given.append(Switch("ge-fold-constants", False))
    if command["oo_dead_code_elimination"] == "false":
        given.append(Switch("ge-dce", False))
    return resolve(given)[0]


def _parse(text: str) -> list[Switch]:
    from gecc.switches import parse_switches

    return parse_switches(text, "--optimization_switch")


def _warn(flag: str, found: list[Switch]) -> None:
    from gecc.switches import resolve

    if unknown := resolve(found)[1]:
        names = ", ".join(repr(name) for name in unknown)
        warn(f"--{flag}: no pass and no fusion here is called {names}")

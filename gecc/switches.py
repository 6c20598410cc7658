"""Passes and rules switched off by name: gecc's own names, or those that atc's users know.

A file is lines `Name:on|off`, or JSON

    {"Switch": {"GraphFusion": {"ALL": "off", "ConvBatchnormFusionPass": "on"},
                "UBFusion": {"TbeConvElemwiseFusionPass": "off"}}}

where a single name beats ALL. A name is a pass (`ge-cse`, `cse`), a rule (`FoldGelu`, or `FuseEpilogue:fused.conv` for
one kind of operation), or a fusion of Ascend's, known by `FUSIONS` to be done by these rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal, TypeAlias

from gecc.errors import CliError
from gecc.files import read_text

Section: TypeAlias = Literal["GraphFusion", "UBFusion"]
SECTIONS: tuple[Section, Section] = ("GraphFusion", "UBFusion")
ALL = "ALL"


@dataclass(frozen=True)
class Fusion:
    """A fusion under the name that Ascend's users look for, with the rules that do its work here.

    `likes` are other names of the same, in lower case; `*` stands for anything.
    """

    name: str
    section: Section
    rules: tuple[str, ...]
    likes: tuple[str, ...] = ()


_ANY_EPILOGUE = tuple(f"FuseEpilogue:fused.{anchor}" for anchor in ("conv", "matmul", "softmax", "norm", "generic"))
_CONV, _MATMUL, _SOFTMAX, _NORM, _GENERIC = _ANY_EPILOGUE

FUSIONS: tuple[Fusion, ...] = (
    Fusion(
        "ConvBatchnormFusionPass",
        "GraphFusion",
        ("FoldBatchNorm", "FoldScaleOrShift"),
        ("*conv*batchnorm*", "*matmul*batchnorm*", "*batchnormbninfer*", "*hostbn*", "*convscale*", "*depthwisedwmul*"),
    ),
    Fusion("MatMulBiasAddFusionPass", "GraphFusion", ("FoldScaleOrShift",), ("*biasadd*", "*conv*mul*fusion*")),
    Fusion("BatchNormSplitFusionPass", "GraphFusion", ("SplitBatchNorm",), ("*singlebatchnorm*", "*fusedbatchnorm*")),
    Fusion("GeluFusionPass", "GraphFusion", ("FoldGelu",), ("*gelu*",)),
    Fusion("HardSwishFusionPass", "GraphFusion", ("FoldHardSwish",), ("*hardswish*",)),
    Fusion("SwishFusionPass", "GraphFusion", ("FoldSilu",), ("*swish*", "*silu*", "*sigmoidmul*")),
    Fusion("RmsNormFusionPass", "GraphFusion", ("FoldRmsNorm",), ("*rmsnorm*",)),
    Fusion("LayerNormONNXFusionPass", "GraphFusion", ("FoldLayerNorm", "FoldScale", "FoldShift"), ("*layernorm*",)),
    Fusion("ConcatConvFusionPass", "GraphFusion", ("SplitJoinedConv",), ("*concatconv*",)),
    Fusion("PadConv2dFusionPass", "GraphFusion", ("PadIntoConv",), ("*padconv*", "*padfusion*")),
    Fusion(
        "TransposeReshapeFusionPass",
        "GraphFusion",
        ("TransposeToReshape", "MergeTransposes"),
        ("*permute*", "*reshapetranspose*", "*transposereshape*"),
    ),
    Fusion("CastRemoveFusionPass", "GraphFusion", ("MergeCasts",), ("*castremove*", "*castcast*", "*mergecast*")),
    Fusion("ZConcatDFusionPass", "GraphFusion", ("FlattenConcats", "ConcatOfSplit"), ("zconcat*", "concatfusion*")),
    Fusion("ZSplitVFusionPass", "GraphFusion", ("SplitOfConcat",), ("zsplit*", "splitfusion*")),
    Fusion(
        "TbeConvElemwiseFusionPass", "UBFusion", (_CONV,), ("tbe*conv*", "tbe*depthwise*", "*conv*clip*", "tbeaipp*")
    ),
    Fusion("TbeMatmulElemwiseFusionPass", "UBFusion", (_MATMUL,), ("*matmul*", "*fullyconnect*", "*gemm*")),
    Fusion("TbeSoftmaxElemwiseFusionPass", "UBFusion", (_SOFTMAX,), ("tbe*softmax*",)),
    Fusion("TbeNormalizeElemwiseFusionPass", "UBFusion", (_NORM,), ("tbe*norm*", "normalize*", "tbe*bnupdate*")),
    Fusion("TbeReduceElemwiseFusionPass", "UBFusion", (_GENERIC,), ("*reduce*", "*pool*", "*argmax*")),
    Fusion(
        "TbeEltwiseFusionPass",
        "UBFusion",
        ("FuseProducer",),
        ("*eltwise*", "*elemwise*", "automaticubfusion", "*multioutput*", "*broadcast*"),
    ),
    Fusion(
        "TbeStridedReadWriteFusionPass",
        "UBFusion",
        ("ReadThroughView", "RemoveView", "SinkView"),
        ("*stridedread*", "*stridedwrite*", "*readselect*", "*writeselect*", "*confusiontranspose*"),
    ),
)
"""The fusions that have a name. Where several are like a name given, the first is meant."""

PASS_NAMES: Mapping[str, str] = {
    "*constantfolding*": "ge-fold-constants",
    "*commonsubexpression*": "ge-cse",
    "*deadcode*": "ge-dce",
    "*prunepass*": "ge-dce",
}
"""Names of GE's passes, and the pass that does the same here."""


@dataclass(frozen=True)
class Switches:
    """What is switched off."""

    passes: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    """Classes of patterns, or `Class:operation`."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Options that say the same to gecc-opt."""
        return tuple(f"--disable={name}" for name in (*sorted(self.passes), *sorted(self.rules)))


@dataclass(frozen=True)
class Switch:
    """One line of a file, `section` where it is in one."""

    name: str
    on: bool
    section: Section | None = None


def read_switches(path: str) -> list[Switch]:
    """The switches of a file, either form. Raises CliError for a file that is none, naming the line or the key."""
    text = read_text(path)
    return list(_from_json(text, path) if text.lstrip().startswith("{") else _from_lines(text, path))


def parse_switches(text: str, where: str) -> list[Switch]:
    """The switches of `Name:on;Name:off`. Raises CliError for another syntax."""
    return [_switch(part.strip(), where) for part in text.split(";") if part.strip()]


def _from_lines(text: str, path: str) -> Iterator[Switch]:
    for number, line in enumerate(text.splitlines(), 1):
        if (line := line.partition("#")[0].strip()) != "":
            yield _switch(line, f"line {number} of '{path}'")


def _switch(text: str, where: str) -> Switch:
    name, _, value = text.rpartition(":")
    return Switch(name.strip(), _on(value.strip(), text, where, bool(name.strip())))


def _on(value: object, said: str, where: str, named: bool = True) -> bool:
    if not named or value not in ("on", "off"):
        raise CliError(
            f"E10003: {where} says '{said}'", hint="expected a name and on or off, such as GeluFusionPass:off"
        )
    return value == "on"


def _from_json(text: str, path: str) -> Iterator[Switch]:
    try:
        form: Any = json.loads(text)
    except ValueError as error:
        raise CliError(f"E10003: '{path}' is no JSON: {error}") from error
    shape = '{"Switch": {"GraphFusion": {"<name>": "on|off"}, "UBFusion": {...}}}'
    sections = form.get("Switch")
    if not isinstance(sections, dict) or len(form) != 1:
        raise CliError(f"E10003: '{path}' has the keys {', '.join(form)}", hint=f"expected {shape}")
    for section, entries in sections.items():
        if section not in SECTIONS or not isinstance(entries, dict):
            raise CliError(f"E10003: '{path}' has '{section}' under Switch", hint=f"expected {shape}")
        for name, value in entries.items():
            yield Switch(name, _on(value, f"{name}: {value}", f"'{path}'"), section)


def resolve(switches: Iterable[Switch]) -> tuple[Switches, list[str]]:
    """What to switch off, and the names that match nothing here. A single name beats ALL, a later one an earlier.

    Raises CliError for a pass that cannot be left out.
    """
    given = list(switches)
    passes: dict[str, bool] = {}
    rules: dict[str, bool] = {}
    unknown: list[str] = []
    for switch in given:
        if switch.name == ALL:
            sections = SECTIONS if switch.section is None else (switch.section,)
            rules.update({r: switch.on for f in FUSIONS if f.section in sections for r in f.rules})
    for switch in given:
        if switch.name == ALL:
            continue
        meant = _meant(switch)
        if meant is None:
            unknown.append(switch.name)
            continue
        needed = next((name for name in meant.passes if name not in optional_passes()), None)
        if not switch.on and needed is not None:
            raise CliError(
                f"{switch.name}: the pass {needed} cannot be left out", hint="no module gets to an om without"
            )
        passes.update(dict.fromkeys(meant.passes, switch.on))
        rules.update(dict.fromkeys(meant.rules, switch.on))
    off = Switches(
        frozenset(name for name, on in passes.items() if not on), frozenset(n for n, on in rules.items() if not on)
    )
    return off, list(dict.fromkeys(unknown))


def _meant(switch: Switch) -> Switches | None:
    """The passes and rules that a name stands for."""
    from gecc.passes import pass_files

    if switch.name in pass_files():
        return Switches(frozenset({switch.name}))
    same = {name for name in pass_files() if name.partition("-")[2] == switch.name}
    if same:
        return Switches(frozenset(same))
    rule, _, operation = switch.name.partition(":")
    if operation in known_rules().get(rule, ()) or (not operation and rule in known_rules()):
        return Switches(rules=frozenset({switch.name}))
    lowered = switch.name.lower()
    sections = SECTIONS if switch.section is None else (switch.section,)
    for fusion in FUSIONS:
        if lowered == fusion.name.lower() and fusion.section in sections:
            return Switches(rules=frozenset(fusion.rules))
    for like, name in PASS_NAMES.items():
        if fnmatchcase(lowered, like):
            return Switches(frozenset({name}))
    for fusion in FUSIONS:
        if fusion.section in sections and any(fnmatchcase(lowered, like) for like in fusion.likes):
            return Switches(rules=frozenset(fusion.rules))
    return None


@cache
def optional_passes() -> tuple[str, ...]:
    """Passes that can be left out, by name."""
    from gecc.pipeline import PIPELINES

    needed = frozenset(PIPELINES["O0"]) - {"ge-fold-constants", "ge-dce"}
    return tuple(sorted({spec.partition("{")[0] for level in PIPELINES.values() for spec in level} - needed))


@cache
def known_rules() -> Mapping[str, tuple[str, ...]]:
    """The rules of the passes that can be left out, with the operations that they start from."""
    return rules_of(optional_passes())


def rules_of(passes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The rules of passes, with the operations that they start from. Imports the passes."""
    import pkgutil
    from importlib import import_module

    from gecc.passes import pass_module
    from gecc.rewrite import Pattern

    found: dict[str, tuple[str, ...]] = {}
    for name in passes:
        module = pass_module(name)
        parts = [
            module,
            *(
                import_module(p.name)
                for p in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}.")
            ),
        ]
        for cls in (value for part in parts for value in vars(part).values()):
            if isinstance(cls, type) and issubclass(cls, Pattern) and "ops" in dir(cls):
                found[cls.__name__] = tuple(op.name for op in cls.ops)
    return found


def fusion_of(rule: str) -> Fusion | None:
    """The fusion that a rule, `Class:operation`, does the work of."""
    return next((f for f in FUSIONS if rule in f.rules or rule.partition(":")[0] in f.rules), None)

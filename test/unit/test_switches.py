"""Passes and rules off by name: files of either form, what a name means, and what is left out then."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gecc import api
from gecc.errors import CliError
from gecc.om.records import KernelTask
from gecc.rewrite import counting, switched_off
from gecc.switches import FUSIONS, PASS_NAMES, Switch, Switches, known_rules, parse_switches, read_switches, resolve
from test.unit.tools.models import mlp


def labels(*names: str, level: str = "O2") -> list[str]:
    """The launches of an MLP compiled without what these names mean."""
    off, unknown = resolve([Switch(name, False) for name in names])
    assert not unknown
    om = api.compile(mlp(), switches=off, opt_level=level).om
    return [task.label for task in om.tasks if isinstance(task, KernelTask)]


def test_the_table_names_rules_that_there_are() -> None:
    rules = known_rules()
    for fusion in FUSIONS:
        for rule in fusion.rules:
            name, _, operation = rule.partition(":")
            assert name in rules and (not operation or operation in rules[name]), rule
        assert all(like == like.lower() for like in fusion.likes)
    from gecc.passes import pass_files

    assert set(PASS_NAMES.values()) <= set(pass_files())


def test_every_fusion_is_found_by_its_own_name() -> None:
    for fusion in FUSIONS:
        off, unknown = resolve([Switch(fusion.name, False, fusion.section)])
        assert off.rules == frozenset(fusion.rules) and not off.passes and not unknown


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("GeluFusionPass", "FoldGelu"),
        ("geluv2fusionpass", "FoldGelu"),
        ("MDCLayerNormONNXFusionPass", "FoldLayerNorm"),
        ("AddRmsNormFusionPass", "FoldRmsNorm"),
        ("HostBNFusionPass", "FoldBatchNorm"),
        ("AABiasaddConvFusion", "FoldScaleOrShift"),
        ("HardSwishFusionPass", "FoldHardSwish"),
        ("PermuteFusionPass", "MergeTransposes"),
        ("TbeConvReluFusionPass", "FuseEpilogue:fused.conv"),
        ("TbeDepthwiseConvElemwiseFusionPass", "FuseEpilogue:fused.conv"),
        ("ATbeMatmulElemwiseFusionPass", "FuseEpilogue:fused.matmul"),
        ("AutomaticUbFusion", "FuseProducer"),
        ("TbeReduceElemwiseFusionPass", "FuseEpilogue:fused.generic"),
        ("FoldGelu", "FoldGelu"),
        ("FuseEpilogue:fused.norm", "FuseEpilogue:fused.norm"),
    ],
)
def test_names_that_users_bring(name: str, rule: str) -> None:
    off, unknown = resolve([Switch(name, False)])
    assert rule in off.rules and not unknown


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("ge-cse", "ge-cse"),
        ("cse", "ge-cse"),
        ("CommonSubexpressionEliminationPass", "ge-cse"),
        ("reorder", "tile-reorder"),
    ],
)
def test_passes_by_name(name: str, step: str) -> None:
    assert resolve([Switch(name, False)]) == (Switches(frozenset({step})), [])


def test_names_that_match_nothing_are_given_back() -> None:
    given = [Switch("ConstToAttrPass", False), Switch("FuseEpilogue:ge.Add", False), Switch("LowerConv", False)]
    off, unknown = resolve([*given, Switch("Nothing", True), given[0]])
    assert off == Switches() and unknown == ["ConstToAttrPass", "FuseEpilogue:ge.Add", "LowerConv", "Nothing"]


def test_a_pass_that_is_needed_stays() -> None:
    with pytest.raises(CliError, match="the pass ge-to-fused cannot be left out"):
        resolve([Switch("ge-to-fused", False)])
    assert resolve([Switch("ge-to-fused", True)]) == (Switches(), [])


def test_single_names_beat_all_wherever_they_stand() -> None:
    off, _ = resolve([Switch("GeluFusionPass", True), Switch("ALL", False)])
    assert "FoldGelu" not in off.rules and {"FoldSilu", "FuseProducer"} <= off.rules
    off, _ = resolve([Switch("ALL", False, "UBFusion")])
    assert "FoldGelu" not in off.rules and {"FuseProducer", "FuseEpilogue:fused.conv"} <= off.rules
    assert resolve([Switch("ALL", True), Switch("FoldGelu", False), Switch("FoldGelu", True)])[0] == Switches()


def test_a_section_holds_only_its_own_fusions() -> None:
    assert resolve([Switch("AutomaticUbFusion", False, "GraphFusion")])[1] == ["AutomaticUbFusion"]
    assert resolve([Switch("TbeConvElemwiseFusionPass", False, "UBFusion")])[1] == []


def test_what_is_off_is_not_done() -> None:
    assert labels() == ["MatMulV2Gelu", "MatMulV2"]
    assert labels("FoldGelu") == ["MatMulV2RealDivErfAddMulMul", "MatMulV2"]
    assert labels("FuseEpilogue:fused.matmul") == ["MatMulV2", "Gelu", "MatMulV2"]
    assert labels("FuseEpilogue:fused.conv") == labels()
    assert labels("GeluFusionPass", "FuseEpilogue", "AutomaticUbFusion")[1:-1] == [
        "RealDiv",
        "Erf",
        "Add",
        "Mul",
        "Mul",
    ]


def test_the_om_says_what_was_off() -> None:
    off, _ = resolve([Switch("FoldGelu", False), Switch("cse", False)])
    om = api.compile(mlp(), switches=off).om
    assert str(om.attrs["atc_cmdline"]).endswith("--disable=ge-cse --disable=FoldGelu")


def test_switches_end_with_the_compilation() -> None:
    labels("FoldGelu")
    assert labels() == ["MatMulV2Gelu", "MatMulV2"]


def test_switches_are_those_of_a_thread() -> None:
    with switched_off(["FoldGelu"]), ThreadPoolExecutor(1) as other:
        assert other.submit(labels).result() == ["MatMulV2Gelu", "MatMulV2"] != labels()


@pytest.mark.parametrize("level", ["O0", "O2"])
def test_constants_and_dead_code_may_stay(level: str) -> None:
    assert labels("ge-fold-constants", "ge-dce", level=level) == labels(level=level)


def test_counts_of_rules() -> None:
    with counting() as counts:
        api.compile(mlp())
    assert counts.applied["FoldGelu:ge.Mul"] == 1
    assert counts.applied["FuseEpilogue:fused.matmul"] == 1
    # Gelu goes into the first product; what that has become and the second product have nothing behind them
    assert counts.matched("FuseEpilogue:fused.matmul") == 3
    assert counts.matched("FoldSilu:ge.Mul") == 0 == counts.matched("no such rule")
    before = dict(counts.applied)
    api.compile(mlp())
    assert counts.applied == before


def write(folder: Path, text: str) -> str:
    path = folder / "switch.cfg"
    path.write_text(text)
    return str(path)


def test_files_of_either_form(tmp_path: Path) -> None:
    lines = write(tmp_path, "GeluFusionPass:off\n\n# not this one\n FuseEpilogue:fused.conv : on # nor this\n")
    assert read_switches(lines) == [Switch("GeluFusionPass", False), Switch("FuseEpilogue:fused.conv", True)]
    form = {"Switch": {"GraphFusion": {"ALL": "off", "A": "on"}, "UBFusion": {"B": "off"}}}
    assert read_switches(write(tmp_path, json.dumps(form))) == [
        Switch("ALL", False, "GraphFusion"),
        Switch("A", True, "GraphFusion"),
        Switch("B", False, "UBFusion"),
    ]
    assert read_switches(write(tmp_path, "")) == []
    assert parse_switches("A:on; B:off;", "x") == [Switch("A", True), Switch("B", False)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A:on\nB:maybe", "line 2 of"),
        ("A", "says 'A'"),
        (":on", "says ':on'"),
        ("{", "is no JSON"),
        ('{"GraphFusion": {}}', "has the keys GraphFusion"),
        ('{"Switch": {"Fusion": {}}}', "has 'Fusion' under Switch"),
        ('{"Switch": {"UBFusion": []}}', "has 'UBFusion' under Switch"),
        ('{"Switch": {"UBFusion": {"A": 0}}}', "says 'A: 0'"),
    ],
)
def test_files_that_are_none(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CliError) as caught:
        read_switches(write(tmp_path, text))
    assert "E10003" in str(caught.value) and said in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="cannot read"):
        read_switches(str(tmp_path / "none"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(CliError, match="no text in UTF-8"):
        read_switches(str(tmp_path / "bytes"))

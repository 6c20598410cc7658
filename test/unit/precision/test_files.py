"""Modes, lists and the files that edit them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gecc.errors import CliError
from gecc.precision import (
    BLACK,
    CUBE,
    FIXED,
    Precision,
    colour_of,
    custom_of,
    find_mode,
    mixlist_of,
    operators_called,
    read_customize_dtypes,
    read_keep_dtype,
    read_modify_mixlist,
)
from gecc.precision.lists import _ALIASES


def test_modes_have_both_names() -> None:
    assert find_mode("force_fp16") is find_mode("fp16")
    assert find_mode("allow_mix_precision") is find_mode("mixed_float16")
    assert find_mode("must_keep_origin_dtype").cube is None
    with pytest.raises(CliError, match="did you mean mixed_float16"):
        find_mode("mixed_float")
    with pytest.raises(CliError, match="HiF8"):
        find_mode("mixed_hif8")


def test_lists_hold_operators_and_no_two_hold_one() -> None:
    names = [*CUBE, *BLACK, *FIXED]
    assert len(names) == len(set(names))
    for name in (*names, *(op for ops in _ALIASES.values() for op in ops)):
        assert operators_called(name) == (name,), name
    assert operators_called("conv") == ("Conv2D", "Conv3D") and operators_called("ge.Relu") == ("Relu",)
    assert operators_called("Frobnicate") == ()
    assert [colour_of(name)[0] for name in ("MatMulV2", "Exp", "Relu")] == ["white", "black", "grey"]


def test_mixlist() -> None:
    text = json.dumps(
        {
            "black-list": {"to-remove": ["Exp", "Relu"], "to-add": ["MatMul"]},
            "white-list": {"to-add": ["Softmax", "Nothing"], "to-remove": ["Conv"]},
            "gray-list": {"to-add": ["Tanh"]},
        }
    )
    found = mixlist_of(text, "lists.json")
    assert found.black == ("MatMul",)
    assert found.white == ("Softmax", "Nothing")
    assert found.grey == ("Tanh", "Exp", "Conv")
    assert len(found.warnings) == 2
    assert "'Relu' is not on the black list" in found.warnings[0]
    assert "no operator is called 'Nothing'" in found.warnings[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{\n'a'}", "line 2"),
        ("[]", "expected an object"),
        ('{"red-list": {}}', "'red-list' is no list"),
        ('{"black-list": []}', "to-add and to-remove"),
        ('{"black-list": {"add": []}}', "to-add and to-remove"),
        ('{"black-list": {"to-add": "Exp"}}', "a list of names"),
        ('{"black-list": {"to-add": ["Exp"]}, "white-list": {"to-add": ["Exp"]}}', "black list and on the white list"),
    ],
)
def test_bad_mixlists(text: str, said: str) -> None:
    with pytest.raises(CliError, match=said):
        mixlist_of(text, "lists.json")


def test_customize_lines() -> None:
    node = custom_of("a/b:c::InputDtype:float16,,FP32,OutputDtype:bf16")
    assert (node.name, node.is_type) == ("a/b:c", False)
    assert node.inputs == ("f16", None, "f32") and node.outputs == ("bf16",)
    kind = custom_of("OpType::MatMul:InputDtype:,float16,OutputDtype:float32")
    assert (kind.name, kind.is_type, kind.inputs, kind.outputs) == ("MatMul", True, (None, "f16"), ("f32",))
    only = custom_of("OpType::Exp:OutputDtype:float16")
    assert (only.inputs, only.outputs) == ((), ("f16",))
    assert custom_of("n::InputDtype:float16").outputs == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a", "names no element types"),
        ("::InputDtype:float16", "names no element types"),
        ("a:InputDtype:float16", "no '::' behind 'a'"),
        ("a::InputDtype:int8,OutputDtype:float16", "'int8' in .* is no element type"),
    ],
)
def test_bad_customize_lines(line: str, said: str) -> None:
    with pytest.raises(CliError, match=said):
        custom_of(line)
    with pytest.raises(CliError, match=said):
        Precision("fp16", customize=(line,))


def test_files(tmp_path: Path) -> None:
    keep, custom, lists = tmp_path / "keep.cfg", tmp_path / "custom.cfg", tmp_path / "lists.json"
    keep.write_text("# what stays\n\n  /encoder/norm \nOpType::Softmax\n")
    custom.write_text("// types\nn::InputDtype:float16\nm::Input\n")
    lists.write_text('{"gray-list": {"to-add": ["Exp"]}}')
    assert read_keep_dtype(str(keep)) == ("/encoder/norm", "OpType::Softmax")
    assert read_modify_mixlist(str(lists)).grey == ("Exp",)
    with pytest.raises(CliError, match="line 3"):
        read_customize_dtypes(str(custom))
    with pytest.raises(CliError, match="cannot read"):
        read_keep_dtype(str(tmp_path / "absent"))
    keep.write_bytes(b"\xff\xfe")
    with pytest.raises(CliError, match="no text in UTF-8"):
        read_keep_dtype(str(keep))


def test_flags_say_what_was_asked_for() -> None:
    assert Precision().flags == () and Precision().changes_nothing
    assert Precision("force_fp16", clip=False).flags == ("--precision=fp16", "--is_weight_clip=0")
    assert Precision("fp16", keep=("a", "b")).flags == ("--precision=fp16", "--keep_dtype(2)")
    assert not Precision(customize=("n::InputDtype:float16",)).changes_nothing

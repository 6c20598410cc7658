"""The flags about precision, from a command line to an om."""

from __future__ import annotations

from pathlib import Path

import pytest

from gecc import api
from gecc.errors import CliError
from gecc.precision import MODES, find_mode
from gecc.tools.atc.command import read
from gecc.tools.atc.flags import PRECISION_MODES, PRECISION_MODES_V2
from gecc.tools.atc.precision import precision
from gecc.tools.gecc_translate import main
from test.unit.tools.conftest import Call, Compiled


def test_every_mode_of_atc_is_known() -> None:
    reached = {find_mode(name).name for name in (*PRECISION_MODES, *PRECISION_MODES_V2) if name != "mixed_hif8"}
    assert reached == {mode.name for mode in MODES} - {"fp32", "cube_fp16"} | {
        find_mode("force_fp32").name,
        find_mode("allow_fp32_to_fp16").name,
    }


def test_files_and_modes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "keep").write_text("OpType::Exp\nnode\n")
    (tmp_path / "custom").write_text("n::InputDtype:float16\n")
    (tmp_path / "lists").write_text('{"black-list": {"to-add": ["Relu"], "to-remove": ["Relu6"]}}')
    wanted = precision(
        read(
            [
                "--precision_mode_v2=mixed_float16",
                f"--keep_dtype={tmp_path / 'keep'}",
                f"--customize_dtypes={tmp_path / 'custom'}",
                f"--modify_mixlist={tmp_path / 'lists'}",
                "--is_weight_clip=0",
                "--op_select_implmode=high_precision",
            ]
        )
    )
    assert wanted.mode == "mixed_float16" and not wanted.clip
    assert wanted.keep == ("OpType::Exp", "node") and wanted.customize == ("n::InputDtype:float16",)
    assert wanted.black == ("Relu",) and wanted.grey == ("Relu6",)
    said = capsys.readouterr().err
    assert "an operator has one implementation" in said and "no operator is called 'Relu6'" in said
    assert precision(read(["--framework=5", "--soc_version=Ascend310P3"])).changes_nothing
    assert "element types stay as in the model" in capsys.readouterr().err
    assert precision(read(["--precision_mode=must_keep_origin_dtype"])).changes_nothing
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--precision_mode=fp16"], "E10007"),
        (["--precision_mode_v2=force_fp16"], "E10007"),
        (["--precision_mode_v2=mixed_hif8"], "HiF8"),
        (["--precision_mode_v2=fp16", "--precision_mode=force_fp16"], "E10047"),
        (["--precision_mode_v2=fp16", "--modify_mixlist=x"], "is about mixed precision"),
        (["--precision_mode_v2=mixed_float16", "--modify_mixlist=/no/such"], "cannot read"),
        (["--op_select_implmode=best"], "E10007"),
        (["--is_weight_clip=true"], "E10006"),
    ],
)
def test_bad_flags(arguments: list[str], said: str) -> None:
    with pytest.raises(CliError, match=said):
        precision(read(arguments))


def test_an_om_in_f16(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    out = tmp_path / "half"
    done = call(main, f"--model={compiled.onnx}", "--framework=5", f"--output={out}", "--precision_mode=force_fp16")
    assert done.code == 0 and "precision force_fp16: " in done.err and "f32 to f16" in done.err
    with api.load(f"{out}.om") as half, api.load(compiled.om) as full:
        assert [d.dtype for d in half.outputs] == [d.dtype for d in full.outputs]
    assert Path(f"{out}.om").stat().st_size < Path(compiled.om).stat().st_size


def test_the_own_option(call: Call, compiled: Compiled, tmp_path: Path) -> None:
    done = call(main, compiled.onnx, "-o", tmp_path / "half.om", "--precision", "mixed_float16")
    assert done.code == 0 and "precision mixed_float16: " in done.err
    done = call(main, compiled.onnx, "--to", "mlir", "--stage", "ge", "--precision=fp16")
    assert done.code == 0 and "xf16>" in done.out
    assert call(main, compiled.onnx, "-o", tmp_path / "x.om", "--precision", "fp8").code == 2
    done = call(main, compiled.om, "--to", "mlir", "--precision", "fp16")
    assert done.code == 2 and "the input is an om" in done.err
    done = call(main, compiled.onnx, "--to", "mlir", "--precision", "fp16")
    assert done.code == 2 and "--stage" in done.err

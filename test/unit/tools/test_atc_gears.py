"""Several sizes in one om, by gecc-translate's own options and by atc's flags."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gecc
from gecc.tools import gecc_run, gecc_translate
from test.unit.runtime.gear_models import conv_net, several_inputs
from test.unit.tools.conftest import Call, Outcome
from test.unit.tools.models import save


def atc(call: Call, *argv: str, path: str = "") -> Outcome:
    path = path or save(conv_net(), Path())
    return call(gecc_translate.main, "--framework=5", f"--model={path}", "--output=a", *argv)


def own(call: Call, *argv: str, path: str = "") -> Outcome:
    return call(gecc_translate.main, path or save(conv_net(), Path()), "-o", "b.om", *argv)


@pytest.mark.parametrize(
    ("shape", "flag", "option", "sizes", "gears"),
    [
        ("x:-1,3,8,8", "dynamic_batch_size", "batch", "1,4,2", [(1, 3, 8, 8), (4, 3, 8, 8), (2, 3, 8, 8)]),
        ("x:2,3,-1,-1", "dynamic_image_size", "image", "8,8;9,16;", [(2, 3, 8, 8), (2, 3, 9, 16)]),
        ("x:-1,3,-1,-1", "dynamic_dims", "dims", " 1,8,8 ; 2,8,9 ", [(1, 3, 8, 8), (2, 3, 8, 9)]),
        ("x:-1,3,8,-1", "dynamic_dims", "dims", "1,8;2,8", [(1, 3, 8, 8), (2, 3, 8, 8)]),
    ],
)
def test_flags_and_options_make_the_same_om(
    call: Call, shape: str, flag: str, option: str, sizes: str, gears: list[tuple[int, ...]]
) -> None:
    done = atc(call, f"--input_shape={shape}", f"--{flag}={sizes}")
    assert done.code == 0, done.err
    done = own(call, f"--input-shape={shape}", f"--{option}-gears={sizes}")
    assert done.code == 0, done.err
    assert Path("a.om").read_bytes() == Path("b.om").read_bytes()
    assert [gear["x"] for gear in gecc.load("a.om").gears] == gears


def test_dims_are_those_of_all_inputs_in_the_order_of_the_shapes(call: Call) -> None:
    path = save(several_inputs(), Path())
    done = atc(call, "--input_shape=z:-1;w:7;scale:;x:-1,7", "--dynamic_dims=5,1;6,2", "--input_format=ND", path=path)
    assert done.code == 0, done.err
    assert [(g["z"], g["x"]) for g in gecc.load("a.om").gears] == [((5,), (1, 7)), ((6,), (2, 7))]
    done = atc(call, "--input_shape=x:-1,7;z:-1;w:7;scale:", "--dynamic_batch_size=2,3", path=path)
    assert done.code == 0, done.err
    assert [(g["z"], g["x"]) for g in gecc.load("a.om").gears] == [((2,), (2, 7)), ((3,), (3, 7))]


BATCH, IMAGE, DIMS = "--dynamic_batch_size", "--dynamic_image_size", "--dynamic_dims"


@pytest.mark.parametrize(
    ("shape", "flag", "sizes", "said"),
    [
        ("x:-1,3,8,8", BATCH, "1", "E10035: there is 1 gear"),
        ("x:-1,3,8,8", BATCH, ",".join(map(str, range(1, 102))), "E10036: there are 101 gears"),
        ("x:-1,3,8,8", BATCH, "1,0", "E10038: gear 1 gives input 'x' the shape [0, 3, 8, 8]"),
        ("x:-1,3,8,8", BATCH, "1,-2", "E10038"),
        ("x:-1,3,8,8", BATCH, "2,4,2", "E10039: gears 0 and 2 are the same"),
        ("x:2,3,8,8", BATCH, "1,2", "E10012: no input has -1 as its first dimension: x[2, 3, 8, 8]"),
        ("x:-1,3,-1,8", BATCH, "1,2", "E10018: input 'x'"),
        ("x:-1,3,8,8", BATCH, "1,b", "E10014: 'b' in '1,b' is no number"),
        ("x:-1,3,8,8", BATCH, "1,,2", "E10014: ''"),
        ("x:-1,3,8,8", BATCH, "1,1.5", "E10014: '1.5'"),
        ("x:-1,3,8,8", BATCH, "1;2", "E10014: '1;2' holds groups"),
        ("x:1,3,-1,-1", IMAGE, "8,8;9", "E10020: a size of images is [9]"),
        ("x:1,3,-1,-1", IMAGE, "8,8;9,9,9", "E10020"),
        ("x:1,3,-1,-1", IMAGE, "8,8;8,8", "E10039"),
        ("x:1,3,-1,-1", IMAGE, "8,8", "E10035"),
        ("x:1,3,-1,-1", IMAGE, "8,8;;9,9", "E10014"),
        ("x:-1,3,-1,-1", IMAGE, "8,8;9,9", "E10019: input 'x' has the shape [-1, 3, -1, -1]"),
        ("x:1,3,8,-1", IMAGE, "8,8;9,9", "E10019"),
        ("x:1,3,8,8", IMAGE, "8,8;9,9", "E10040"),
        ("x:1,3,8,8", DIMS, "8;9", "E10040: no input has a dimension of -1"),
        ("x:-1,3,8,-1", DIMS, "1,8;2", "E10037: gears have 1 and 2 sizes"),
        ("x:-1,3,8,-1", DIMS, "1;2", "E10045: gears have 1 sizes, expected 2, one for each -1 of x[-1, 3, 8, -1]"),
        ("x:-1,3,8,-1", DIMS, "1,8;1,8", "E10039"),
        ("x:-1,3,8,-1", DIMS, "1,0;1,8", "E10038"),
    ],
)
def test_sizes_that_break_a_rule(call: Call, shape: str, flag: str, sizes: str, said: str) -> None:
    done = atc(call, f"--input_shape={shape}", f"{flag}={sizes}")
    assert done.code == 2 and said in done.err and "Traceback" not in done.err
    option = {BATCH: "batch", IMAGE: "image", DIMS: "dims"}[flag]
    done = own(call, f"--input-shape={shape}", f"--{option}-gears={sizes}")
    assert done.code == 2 and said in done.err


def test_flags_that_exclude_each_other(call: Call) -> None:
    done = atc(call, "--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,2", "--dynamic_dims=1;2")
    assert done.code == 2 and "E10009: --dynamic_batch_size and --dynamic_dims exclude each other" in done.err
    done = atc(call, "--input_shape=x:-1,3,8,8", "--dynamic_dims=1;2", "--input_format=NCHW")
    assert done.code == 2 and "--dynamic_dims goes with --input_format=ND, found NCHW" in done.err
    done = atc(call, "--dynamic_batch_size=1,2")
    assert done.code == 2 and "--input_shape is missing" in done.err
    done = own(call, "--input-shape=x:-1,3,8,8", "--batch-gears=1,2", "--dims-gears=1;2")
    assert done.code == 2 and "not allowed with argument" in done.err


def test_open_sizes_without_gears_are_refused(call: Call) -> None:
    assert "E10001" in atc(call, "--input_shape=x:-1,3,8,8").err
    assert own(call, "--input-shape=x:-1,3,8,8").code == 2


def test_what_the_model_refuses_names_the_gear(call: Call) -> None:
    done = atc(call, "--input_shape=x:-1,4,8,8", "--dynamic_batch_size=1,2")
    assert done.code == 1 and "gear 0" in done.err


def test_mode_3_checks_with_gears(call: Call) -> None:
    path = save(conv_net(), Path())
    done = call(
        gecc_translate.main,
        *("--mode=3", "--framework=5", f"--model={path}", "--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,2"),
    )
    assert done.code == 0, done.err
    assert json.loads(Path("check_result.json").read_text())["result"] == "success"


def test_what_a_file_with_gears_holds(call: Call) -> None:
    assert atc(call, "--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,2").code == 0
    said = call(gecc_translate.main, "a.om", "--info").out
    assert "gears:                  2\n" in said
    assert "x [1, 3, 8, 8], y [1, 5], f [1, 8, 4, 4]; " in said and "x f32[?, 3, 8, 8]" in said
    form = json.loads(call(gecc_translate.main, "a.om", "--to", "json").out)
    assert form["attr"]["_all_gears_info"]["list"]["s"] == ["x[1, 3, 8, 8]", "x[2, 3, 8, 8]"]
    (case,) = (op for op in form["graph"][0]["op"] if op["type"] == "Case")
    assert case["name"] == "ascend_mbatch_shape_case"
    assert case["attr"]["_pred_value_1"]["list"]["i"] == [2]
    (data,) = (op for op in form["graph"][0]["op"] if op["type"] == "Data")
    assert data["attr"]["_mbatch_origin_input_dims"]["list"]["i"] == [-1, 3, 8, 8]


def test_gecc_run_takes_a_gear(call: Call) -> None:
    assert atc(call, "--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,2,4").code == 0
    done = call(gecc_run.main, "a.om", "--gear", "2", "-o", "y.npz")
    assert done.code == 0, done.err
    assert np.load("y.npz")["y"].shape == (4, 5)
    np.save("x.npy", np.zeros((2, 3, 8, 8), np.float32))
    assert "y: float32[2, 5]" in call(gecc_run.main, "a.om", "--input", "x.npy").out
    np.save("x.npy", np.zeros((3, 3, 8, 8), np.float32))
    done = call(gecc_run.main, "a.om", "--input", "x.npy")
    assert done.code == 1 and "no gear of the model takes x[3, 3, 8, 8]" in done.err
    rows = call(gecc_run.main, "a.om", "--gear", "1", "--profile").out
    assert sum("MatMulV2" in row for row in rows.splitlines()) == 1  # those of the other gears did not run
    assert "the model has 3 gears" in call(gecc_run.main, "a.om", "--gear", "3").err


def test_text_and_numerics_of_every_pass(call: Call) -> None:
    path = save(conv_net(), Path())
    done = call(gecc_translate.main, path, "--input-shape=x:-1,3,8,8", "--batch-gears=1,2", "-o", "g.mlir")
    assert done.code == 0, done.err
    assert 'ge.gears = "batch"' in Path("g.mlir").read_text()
    from gecc.tools import gecc_opt

    done = call(gecc_opt.main, "g.mlir", "-O2", "--verify-numerics", "-o", "o.mlir")
    assert done.code == 0, done.err
    done = call(gecc_translate.main, "o.mlir", "-o", "c.om")
    assert done.code == 0, done.err
    assert len(gecc.load("c.om").gears) == 2


def test_precision_types_and_pictures_are_those_of_every_gear(call: Call) -> None:
    Path("aipp.cfg").write_text(
        "aipp_op { aipp_mode: static\n related_input_rank: 0\n input_format: RGB888_U8\n csc_switch: false\n"
        " var_reci_chn_0: 0.0039\n var_reci_chn_1: 0.0039\n var_reci_chn_2: 0.0039 }\n"
    )
    flags = ("--precision_mode=force_fp16", "--output_type=FP16", "--insert_op_conf=aipp.cfg")
    done = atc(call, "--input_shape=x:-1,3,8,8", "--dynamic_batch_size=1,2", *flags)
    assert done.code == 0, done.err
    rng = np.random.default_rng(0)
    with gecc.load("a.om") as executor:
        shapes = [gear["x"] for gear in executor.gears]
        given = [rng.integers(0, 256, shape).astype(np.uint8) for shape in shapes]
        found = [executor.run([x]) for x in given]
    for shape, x, results in zip(shapes, given, found, strict=True):
        done = atc(call, f"--input_shape=x:{shape[0]},3,8,8", *flags)
        assert done.code == 0, done.err
        with gecc.load("a.om") as executor:
            for name, array in executor.run([x]).items():
                assert results[name].dtype == np.float16 and results[name].tobytes() == array.tobytes()
    done = atc(call, "--input_shape=x:-1,3,8,8", "--dynamic_dims=1;2", flags[-1])
    assert done.code == 2 and "E10047: --dynamic_dims and --insert_op_conf exclude each other" in done.err

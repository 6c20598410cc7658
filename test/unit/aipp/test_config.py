"""AIPP configurations read strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from gecc.aipp import FORMATS, Channel, Csc, aipp_of, read_aipp
from gecc.aipp.schema import INPUT_FORMATS, NAMES, config_class
from gecc.errors import CliError

WHOLE = """\
# what a user would write
aipp_op {
  aipp_mode: static
  related_input_rank: 1
  input_format: YUV420SP_U8
  src_image_size_w: 8
  src_image_size_h: 6
  crop: true
  load_start_pos_w: 2
  load_start_pos_h: 4
  crop_size_w: 3
  crop_size_h: 1
  csc_switch: true
  rbuv_swap_switch: true
  matrix_r0c0: 256 matrix_r0c1: 0 matrix_r0c2: 359
  matrix_r1c0: 256 matrix_r1c1: -88 matrix_r1c2: -183
  matrix_r2c0: 256 matrix_r2c1: 454 matrix_r2c2: 0
  input_bias_0: 0 input_bias_1: 128 input_bias_2: 128
  mean_chn_0: 104
  min_chn_1: 0.5
  var_reci_chn_2: 0.25
  padding: true
  left_padding_size: 1
  bottom_padding_size: 2
}
aipp_op { aipp_mode: static related_input_name: "other" input_format: RGB888_U8 }
"""


def op(*lines: str, form: str = "RGB888_U8") -> str:
    return "\n".join(["aipp_op {", "aipp_mode: static", f"input_format: {form}", *lines, "}"])


def test_a_whole_configuration() -> None:
    first, second = aipp_of(WHOLE, "a.cfg")
    assert first.format is FORMATS["YUV420SP_U8"] and first.rank == 1 and first.name is None
    assert first.source == (6, 8) and first.crop == (4, 2) and first.crop_size == (1, 3)
    assert first.swap_colours and not first.rotate_alpha
    assert first.csc == Csc(((256, 0, 359), (256, -88, -183), (256, 454, 0)), (0, 128, 128), (0, 0, 0))
    assert first.channels[:3] == (Channel(mean=104), Channel(least=0.5), Channel(factor=0.25))
    assert first.padding == (0, 1, 2, 0) and first.warnings == () and first.where == "a.cfg, line 2"
    assert second.name == "other" and second.csc is None and second.source is None and second.where == "a.cfg, line 26"


def test_defaults_of_the_colour_matrix() -> None:
    (yuv,) = aipp_of(op("csc_switch: true", form="YUV420SP_U8"), "a.cfg")
    assert yuv.csc == Csc(((298, 516, 0), (298, -100, -208), (298, 0, 409)), (16, 128, 128), (0, 0, 0))
    matrix = [f"matrix_r{r}c{c}: 1" for r in range(3) for c in range(3)]
    (rgb,) = aipp_of(op("csc_switch: true", *matrix, "input_bias_1: 3"), "a.cfg")
    assert rgb.csc is not None and rgb.csc.output_bias == (16, 128, 128) and rgb.csc.input_bias == (0, 0, 0)
    assert rgb.warnings == ("a.cfg, line 14: input_bias_1 has no effect: RGB888_U8 takes output biases",)


def test_what_has_no_effect_is_told() -> None:
    text = op(
        "max_src_image_size: 5", "resize_output_w: 3", "load_start_pos_h: 1", "left_padding_size: 2", "matrix_r0c0: 1"
    )
    (found,) = aipp_of(text, "a.cfg")
    assert sorted(line.partition(": ")[2].split(" ")[0] for line in found.warnings) == [
        "left_padding_size", "load_start_pos_h", "max_src_image_size", "resize_output_w", "the",
    ]  # fmt: skip
    assert found.warnings[0].startswith("a.cfg, line 4: ")


SIZE = ("src_image_size_h: 6", "src_image_size_w: 8")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", None, "no aipp_op"),
        ("aipp_op { aipp_mode: static\n input_fromat: RGB888_U8 }", 2, "did you mean input_format"),
        ("aipp_op {\n aipp_mode: statik }", 2, "statik"),
        ("aipp_op {\n aipp_mode: static\n aipp_mode: static }", 3, "aipp_mode"),
        ("aipp_op {\n aipp_mode: static\n mean_chn_0: 1.5 }", 3, "1.5"),
        ("aip_op { }", 1, "did you mean aipp_op"),
        ("aipp_op { aipp_mode: static", None, "E10052"),
        ("\n\naipp_op { input_format: RGB888_U8 }", 3, "aipp_mode is missing"),
        ("aipp_op {\n aipp_mode: dynamic }", 2, "dynamic"),
        ("aipp_op { aipp_mode: static }", 1, "input_format is missing"),
        (op(form="RAW12"), 3, "RAW12 is not supported"),
        (op(form="RGB8_IR"), 3, "RGB8_IR is not supported"),
        (op(form="NC1HWC0DI_FP16"), 3, "is not supported"),
        (op("resize: true"), 4, "pictures are not resized"),
        (op("single_line_mode: true"), 4, "single_line_mode"),
        (op("support_rotation: true"), 4, "rotated"),
        (op("raw_rgbir_to_f16_n: 2"), 4, "raw formats"),
        (op("input_edge_idx: 1"), 4, "input_edge_idx"),
        (op("cpadding_value: 1.0"), 4, "cpadding_value"),
        (op("src_image_size_h: 3"), 4, "only one of"),
        (op("src_image_size_h: -3", "src_image_size_w: 4"), 4, "src_image_size_h is -3"),
        (op("src_image_size_h: 3", "src_image_size_w: 4", form="YUV420SP_U8"), 4, "src_image_size_h is 3, expected an even"),
        (op("src_image_size_h: 4", "src_image_size_w: 3", form="YUYV_U8"), 5, "src_image_size_w is 3, expected an even"),
        (op("crop: true"), 4, "crop needs src_image_size_h"),
        (op("padding: true"), 4, "padding needs src_image_size_h"),
        (op(*SIZE, "crop: true", "load_start_pos_h: 5", "crop_size_h: 2"), 8, "goes from 5 to 7, but the picture has 6"),
        (op(*SIZE, "crop: true", "load_start_pos_w: 9"), 7, "goes from 9"),
        (op(*SIZE, "crop: true", "load_start_pos_w: 1", form="YUV420SP_U8"), 7, "load_start_pos_w is 1, expected an even"),
        (op(*SIZE, "crop: true", "padding: true", "crop_size_h: 2"), 1, "crop_size_w is needed"),
        (op("rbuv_swap_switch: true", form="YUV400_U8"), 4, "no colours to swap"),
        (op("ax_swap_switch: true"), 4, "no fourth byte"),
        (op("csc_switch: true", form="YUV400_U8"), 4, "no colours to convert"),
        (op("csc_switch: true"), 4, "needs matrix_r0c0"),
        (op("csc_switch: true", "matrix_r0c0: 1", form="YUV420SP_U8"), 5, "lacks matrix_r0c1"),
        (op("csc_switch: true", *(f"matrix_r{r}c{c}: 32677" for r in range(3) for c in range(3))), 5, "32677"),
        (op("csc_switch: true", "input_bias_2: 256", form="YUV420SP_U8"), 5, "expected 0 to 255"),
        (op("mean_chn_3: -1"), 4, "mean_chn_3 is -1"),
        (op("min_chn_0: 70000"), 4, "min_chn_0 is 70000"),
        (op("min_chn_0: nan"), 4, "min_chn_0 is nan"),
        (op("var_reci_chn_1: 0"), 4, "var_reci_chn_1 is 0"),
        (op(*SIZE, "padding: true", "top_padding_size: -1"), 7, "top_padding_size is -1"),
    ],
)  # fmt: skip
def test_errors_name_line_and_field(text: str, line: int | None, said: str) -> None:
    with pytest.raises(CliError, match=said) as caught:
        aipp_of(text, "a.cfg")
    assert "E10052" in str(caught.value)
    assert caught.value.where is not None
    if line is not None:
        assert caught.value.where == f"a.cfg, line {line}"


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "a.cfg"
    path.write_text(WHOLE)
    assert read_aipp(str(path)) == aipp_of(WHOLE, str(path))
    with pytest.raises(CliError, match="cannot read"):
        read_aipp(str(tmp_path / "absent"))
    path.write_bytes(b"\xff")
    with pytest.raises(CliError, match="UTF-8"):
        read_aipp(str(path))


def test_the_schema_is_its_own_and_whole() -> None:
    message = config_class()
    assert message.DESCRIPTOR.full_name == "domi.InsertNewOps"
    fields = message.DESCRIPTOR.fields_by_name["aipp_op"].message_type.fields_by_name
    assert tuple(fields) == NAMES and len({f.number for f in fields.values()}) == len(NAMES)
    assert INPUT_FORMATS.index("YUV420SP_U8") == 1 and INPUT_FORMATS.index("AYUV444_U8") == 10
    assert INPUT_FORMATS.index("RAW10") == 11 and INPUT_FORMATS.index("RGB24_IR") == 20

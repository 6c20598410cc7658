"""Every format and step of AIPP against the reference, on random pictures, as kernels and interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from gecc import api
from gecc.aipp import FORMATS
from gecc.borders import Borders, prepare
from gecc.context import make_context
from gecc.interp import run_module
from gecc.pipeline import run_pipeline
from gecc.weights import store_of
from test.unit.aipp.reference import aipp

RGB_TO_YUV = ((77, 150, 29), (-43, -85, 128), (128, -107, -21))
YUV_TO_RGB = ((298, 516, 0), (298, -100, -208), (298, 0, 409))
HUGE = ((32676, -32677, 32676), (-32677, -32677, -32677), (0, 256, 0))


def model(shape: tuple[int, ...], element: int = TensorProto.FLOAT) -> Any:
    """y = x, and z, for which there is something to compute."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Relu", ["x"], ["z"])],
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info(o, element, shape) for o in ("y", "z")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def text_of(form: str, size: tuple[int, int] | None, options: dict[str, Any]) -> str:
    """The configuration that says the options of the reference."""
    lines = ["aipp_mode: static", f"input_format: {form}"]
    if size is not None:
        lines += [f"src_image_size_h: {size[0]}", f"src_image_size_w: {size[1]}"]
    lines += ["rbuv_swap_switch: true"] * bool(options.get("swap")) + ["ax_swap_switch: true"] * bool(
        options.get("rotate")
    )
    if "crop" in options:
        names = ("load_start_pos_h", "load_start_pos_w", "crop_size_h", "crop_size_w")
        lines += ["crop: true", *(f"{n}: {v}" for n, v in zip(names, options["crop"], strict=True))]
    if "matrix" in options:
        lines += ["csc_switch: true"]
        lines += [f"matrix_r{r}c{c}: {options['matrix'][r][c]}" for r in range(3) for c in range(3)]
        lines += [f"input_bias_{i}: {b}" for i, b in enumerate(options.get("bias_in", (0, 0, 0)))]
        lines += [f"output_bias_{i}: {b}" for i, b in enumerate(options.get("bias_out", (0, 0, 0)))]
    for key, name in (("mean", "mean_chn"), ("least", "min_chn"), ("factor", "var_reci_chn")):
        lines += [f"{name}_{i}: {v}" for i, v in enumerate(options.get(key, ()))]
    if "pad" in options:
        names = ("top", "left", "bottom", "right")
        lines += ["padding: true", *(f"{n}_padding_size: {v}" for n, v in zip(names, options["pad"], strict=True))]
    return "aipp_op {\n" + "\n".join(lines) + "\n}"


NORMAL = {"mean": [104, 117, 124, 7], "least": [0.5, -1.25, 0, 3], "factor": [0.017, 0.25, -2, 1]}

CASES: list[tuple[str, tuple[int, int], int, dict[str, Any]]] = [
    ("RGB888_U8", (5, 7), 3, {}),
    ("RGB888_U8", (5, 7), 3, {"swap": True, **NORMAL}),
    ("RGB888_U8", (9, 11), 3, {"crop": (1, 3, 5, 7)}),
    ("RGB888_U8", (9, 11), 3, {"swap": True, "crop": (3, 0, 6, 1), "pad": (1, 0, 2, 3), **NORMAL}),
    ("RGB888_U8", (4, 6), 3, {"matrix": RGB_TO_YUV, "bias_out": (0, 128, 128), **NORMAL}),
    ("RGB888_U8", (4, 6), 3, {"matrix": HUGE, "bias_out": (255, 255, 0)}),
    ("RGB888_U8", (4, 6), 1, {"matrix": ((77, 150, 29), (0, 0, 0), (0, 0, 0)), "pad": (0, 2, 0, 0)}),
    ("XRGB8888_U8", (3, 5), 3, {"rotate": True, "swap": True}),
    ("XRGB8888_U8", (3, 5), 3, {}),
    ("ARGB8888_U8", (3, 5), 4, {"rotate": True, **NORMAL}),
    ("ARGB8888_U8", (3, 5), 4, {"swap": True, "matrix": RGB_TO_YUV, "bias_out": (1, 2, 3)}),
    ("AYUV444_U8", (3, 5), 3, {"rotate": True, "swap": True, "matrix": YUV_TO_RGB, "bias_in": (16, 128, 128)}),
    ("YUV400_U8", (3, 5), 1, {"crop": (1, 1, 2, 3), "pad": (3, 1, 0, 1), "mean": [5], "factor": [0.5]}),
    ("YUV420SP_U8", (4, 6), 3, {}),
    ("YUV420SP_U8", (6, 8), 3, {"swap": True, "crop": (2, 4, 3, 3), "pad": (1, 1, 1, 1), **NORMAL}),
    ("YUV420SP_U8", (8, 6), 3, {"matrix": YUV_TO_RGB, "bias_in": (16, 128, 128), **NORMAL}),
    ("YUV420SP_U8", (4, 4), 1, {"matrix": ((256, 0, 0), (0, 0, 0), (0, 0, 0))}),
    ("YUV422SP_U8", (3, 6), 3, {"crop": (1, 2, 2, 3), "matrix": YUV_TO_RGB, "bias_in": (0, 128, 128)}),
    ("YUYV_U8", (3, 6), 3, {"swap": True, "crop": (1, 2, 2, 3), "mean": [1, 2, 3]}),
]


def test_every_format_is_among_the_cases() -> None:
    assert {case[0] for case in CASES} == set(FORMATS)


@pytest.mark.parametrize(("form", "size", "channels", "options"), CASES)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_pixels(form: str, size: tuple[int, int], channels: int, options: dict[str, Any], layout: str) -> None:
    batch = 2
    picture = np.random.default_rng(5).integers(0, 256, FORMATS[form].shape(batch, *size), np.uint8)
    wanted = aipp(picture, form, size, channels, **options)
    if layout == "NHWC":
        wanted = wanted.transpose(0, 2, 3, 1)
    ctx = make_context()
    module = api.import_model(ctx, model(wanted.shape))
    prepare(ctx, module, Borders(text_of(form, size, options), layout))
    found = run_module(module, {"x": picture}, store=store_of(ctx))
    assert np.allclose(found["y"], wanted, rtol=3e-7, atol=1e-5)
    assert found["y"].dtype == np.float32 and wanted.std() > 0
    run_pipeline(ctx, module, "ge-canonicalize,ge-cse,ge-dce")
    with api.load(api.compile_module(ctx, module), threads=2, affinity="none") as executor:
        results = executor.run({"x": picture})
    assert np.array_equal(results["y"], found["y"]) and np.array_equal(results["z"], np.maximum(found["y"], 0))


@pytest.mark.parametrize("level", ["O0", "O1"])
def test_other_levels(level: str) -> None:
    form, size, channels, options = CASES[15]
    picture = np.random.default_rng(6).integers(0, 256, FORMATS[form].shape(1, *size), np.uint8)
    wanted = aipp(picture, form, size, channels, **options)
    made = api.compile(model(wanted.shape), aipp=text_of(form, size, options), opt_level=level)
    (described,) = made.inputs
    assert (described.dtype, tuple(described.shape)) == ("ui8", picture.shape)
    with api.load(made, threads=1) as executor:
        assert np.allclose(executor.run({"x": picture})["y"], wanted, rtol=3e-7, atol=1e-5)


def test_compile_warns_of_what_has_no_effect() -> None:
    text = text_of("RGB888_U8", None, {}).replace("}", "crop_size_w: 2\n}")
    with pytest.warns(UserWarning, match="line 4: crop_size_w has no effect without crop"):
        api.compile(model((1, 3, 4, 4)), aipp=text)


def test_a_model_of_f16_and_precision() -> None:
    form, size, channels, options = CASES[1]
    picture = np.random.default_rng(7).integers(0, 256, (1, *size, 3), np.uint8)
    wanted = aipp(picture, form, size, channels, **options)
    config = text_of(form, None, options)
    half = api.compile(model(wanted.shape, TensorProto.FLOAT16), aipp=config)
    mixed = api.compile(model(wanted.shape), aipp=config, precision="fp16")
    for made, dtype in ((half, np.float16), (mixed, np.float32)):
        with api.load(made, threads=1) as executor:
            found = executor.run({"x": picture})["y"]
        assert found.dtype == dtype and np.allclose(found, wanted, rtol=4e-3, atol=4e-3)

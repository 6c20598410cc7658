"""AIPP in numpy, pixel by pixel as its documentation says it, written apart from the pass."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def pixel(picture: Array, form: str, n: int, y: int, x: int) -> list[int]:
    """The bytes of one pixel of `picture` in the order of its format, chroma taken from its block."""
    match form:
        case "YUV420SP_U8":
            height = picture.shape[1] * 2 // 3
            u = picture[n, height + y // 2, x // 2 * 2, 0]
            v = picture[n, height + y // 2, x // 2 * 2 + 1, 0]
            return [picture[n, y, x, 0], u, v]
        case "YUV422SP_U8":
            height = picture.shape[1] // 2
            return [
                picture[n, y, x, 0],
                picture[n, height + y, x // 2 * 2, 0],
                picture[n, height + y, x // 2 * 2 + 1, 0],
            ]
        case "YUYV_U8":
            left = x // 2 * 2
            return [picture[n, y, x, 0], picture[n, y, left, 1], picture[n, y, left + 1, 1]]
        case _:
            return list(picture[n, y, x])


def aipp(picture: Array, form: str, size: tuple[int, int], channels: int, **options: Any) -> Array:
    """The prepared pictures [N, channels, H, W], in float64.

    Options: swap, rotate, crop (top, left, height, width), matrix with bias_in and bias_out, mean, least, factor (per
    channel), pad (top, left, bottom, right).
    """
    top, left, height, width = options.get("crop", (0, 0, *size))
    above, before, below, behind = options.get("pad", (0, 0, 0, 0))
    count = picture.shape[0]
    result = np.zeros((count, channels, height + above + below, width + before + behind))
    mean, least, factor = (
        options.get(key, [default] * 4) for key, default in (("mean", 0), ("least", 0), ("factor", 1))
    )
    for n in range(count):
        for y in range(height):
            for x in range(width):
                values = [int(v) for v in pixel(picture, form, n, top + y, left + x)]
                if options.get("rotate"):
                    values = values[1:] + values[:1]
                if options.get("swap"):
                    i, j = (1, 2) if "YUV" in form or form == "YUYV_U8" else (0, 2)
                    values[i], values[j] = values[j], values[i]
                if "matrix" in options:
                    shifted = [v - b for v, b in zip(values[:3], options.get("bias_in", (0, 0, 0)), strict=True)]
                    values[:3] = [
                        min(max(((sum(m * v for m, v in zip(row, shifted, strict=True)) + 128) >> 8) + bias, 0), 255)
                        for row, bias in zip(options["matrix"], options.get("bias_out", (0, 0, 0)), strict=True)
                    ]
                for c in range(channels):
                    result[n, c, above + y, before + x] = (values[c] - mean[c] - least[c]) * factor[c]
    return result

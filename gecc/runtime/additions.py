"""Operators of the standard that `onnx.reference` does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.helper import tensor_dtype_to_np_dtype
from onnx.reference.op_run import OpRun

Array = np.ndarray[Any, Any]

ML = "ai.onnx.ml"


class ZipMap(OpRun):
    """Rows of scores to dictionaries from class to score."""

    op_domain = ML

    def _run(self, x: Array, classlabels_int64s: Any = None, classlabels_strings: Any = None, **_: Any) -> Any:
        labels = list(classlabels_strings or classlabels_int64s or ())
        rows = x.reshape(1, -1) if x.ndim == 1 else x
        if rows.shape[-1] != len(labels):
            raise ValueError(f"{rows.shape[-1]} scores a row, but {len(labels)} class labels")
        return ([dict(zip(labels, row, strict=True)) for row in rows],)


class CastMap(OpRun):
    """A dictionary from integers to a row of its values, in order of its keys."""

    op_domain = ML

    def _run(self, x: Any, cast_to: str = "TO_FLOAT", map_form: str = "DENSE", max_map: int = 1, **_: Any) -> Any:
        dtype: Any = {"TO_FLOAT": np.float32, "TO_INT64": np.int64, "TO_STRING": object}[cast_to or "TO_FLOAT"]
        convert = {"TO_FLOAT": float, "TO_INT64": int, "TO_STRING": str}[cast_to or "TO_FLOAT"]
        if (map_form or "DENSE") == "DENSE":
            return (np.array([[convert(x[key]) for key in sorted(x)]], dtype),)
        row = np.array([["" if dtype is object else 0] * max_map], dtype)
        for key, value in x.items():
            if not 0 <= key < max_map:
                raise ValueError(f"key {key} of the dictionary is outside of 0 to {max_map - 1}")
            row[0, key] = convert(value)
        return (row,)


class CategoryMapper(OpRun):
    """Strings to integers or back, by two lists."""

    op_domain = ML

    def _run(
        self,
        x: Array,
        cats_int64s: Any = None,
        cats_strings: Any = None,
        default_int64: int | None = None,
        default_string: str | None = None,
        **_: Any,
    ) -> Any:
        numbers, texts = list(cats_int64s), list(cats_strings)
        flat = x.reshape(-1).tolist()
        if x.dtype.kind in "OUST":
            known: dict[Any, Any] = dict(zip(texts, numbers, strict=True))
            default: Any = -1 if default_int64 is None else default_int64
            return (np.array([known.get(v, default) for v in flat], np.int64).reshape(x.shape),)
        known = dict(zip(numbers, texts, strict=True))
        default = "_Unused" if default_string is None else default_string
        return (np.array([known.get(v, default) for v in flat], object).reshape(x.shape),)


class Multinomial(OpRun):
    """Draws classes by their unnormalised log-probabilities; a seed fixes what is drawn."""

    op_domain = ""

    def _run(self, x: Array, dtype: int | None = None, sample_size: int | None = None, seed: Any = None) -> Any:
        generator = np.random.default_rng(
            None if seed is None else np.frombuffer(np.float32(seed).tobytes(), np.uint32)
        )
        weights = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        below = np.cumsum(weights / weights.sum(1, keepdims=True), 1)
        drawn = generator.random((x.shape[0], sample_size or 1))
        found = (drawn[:, :, None] >= below[:, None, :-1]).sum(-1)
        return (found.astype(tensor_dtype_to_np_dtype(dtype or 6)),)


class MaxRoiPool(OpRun):
    """The maximum in each of h x w bins of regions of images, as in Fast R-CNN: bounds rounded, both ends inside."""

    op_domain = ""

    def _run(self, x: Array, rois: Array, pooled_shape: Any = None, spatial_scale: float | None = None) -> Any:
        height, width = (int(n) for n in pooled_shape)
        scale = 1.0 if spatial_scale is None else spatial_scale
        result = np.zeros((len(rois), x.shape[1], height, width), x.dtype)
        for number, roi in enumerate(rois):
            image = x[int(roi[0])]
            left, top, right, bottom = (int(np.floor(float(v) * scale + 0.5)) for v in roi[1:5])
            rows = _bins(top, bottom, height, image.shape[1])
            columns = _bins(left, right, width, image.shape[2])
            for i, (y0, y1) in enumerate(rows):
                for j, (x0, x1) in enumerate(columns):
                    if y0 < y1 and x0 < x1:
                        result[number, :, i, j] = image[:, y0:y1, x0:x1].max((1, 2))
        return (result,)


def _bins(first: int, last: int, count: int, size: int) -> list[tuple[int, int]]:
    """The spans of `count` bins over [first, last], cut to [0, size)."""
    step = max(last - first + 1, 1) / count
    return [
        (
            min(max(int(np.floor(i * step)) + first, 0), size),
            min(max(int(np.ceil((i + 1) * step)) + first, 0), size),
        )
        for i in range(count)
    ]


ADDITIONS: tuple[type[OpRun], ...] = (CastMap, CategoryMapper, MaxRoiPool, Multinomial, ZipMap)
"""Every version of the operator alike."""

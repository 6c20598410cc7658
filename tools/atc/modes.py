"""Values that the flags about precision take."""

from __future__ import annotations

OLD_MODES = (
    "force_fp16",
    "force_fp32",
    "cube_fp16in_fp32out",
    "allow_mix_precision",
    "allow_mix_precision_fp16",
    "allow_mix_precision_bf16",
    "allow_fp32_to_fp16",
    "must_keep_origin_dtype",
)
NEW_MODES = ("fp16", "origin", "cube_fp16in_fp32out", "mixed_float16", "mixed_bfloat16", "mixed_hif8")
IMPLEMENTATIONS = (
    "high_precision",
    "high_performance",
    "high_precision_for_all",
    "high_performance_for_all",
)

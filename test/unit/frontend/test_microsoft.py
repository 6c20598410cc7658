"""Fused operators and normalisations of com.microsoft against ONNX Runtime."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gecc.context import make_context
from gecc.errors import UnsupportedError
from gecc.frontend.onnx import import_onnx
from test.unit.frontend.cases import Array, Fixed, assert_close, floats, imported, ints
from test.unit.frontend.microsoft import Contributed, check, declared

X = floats(2, 5, 12)
ROW, OTHER_ROW = floats(12), floats(12, low=-1)
BOTH = (True, False, False, True)
IDS, SEGMENTS = ints(2, 5, low=0, high=20, dtype=np.int32), ints(2, 5, low=0, high=2, dtype=np.int32)
TABLES = [floats(20, 12), floats(9, 12), floats(2, 12)]
IMAGE, KERNEL, BIAS = floats(2, 4, 7, 6), floats(6, 4, 3, 3), floats(6)


ACTIVATIONS = [
    *(Contributed(op, [floats(3, 40, low=-6, high=6)]) for op in ("Gelu", "FastGelu", "QuickGelu")),
    Contributed("QuickGelu", [X], {"alpha": 1.0}),
    Contributed("QuickGelu", [X], {"alpha": 0.5}),
    Contributed("BiasGelu", [X, ROW]),
    Contributed("FastGelu", [X, ROW]),
    Contributed("FastGelu", [X, Fixed(ROW)], note="constant"),
]

PRODUCTS = [
    *(
        Contributed(
            "FusedMatMul",
            [floats(2, 3, *((5, 4) if a else (4, 5))), floats(3, *((6, 5) if b else (5, 6)))],
            {"transA": a, "transB": b, "alpha": alpha},
        )
        for a, b, alpha in product((0, 1), (0, 1), (1.0, 0.25))
    ),
    Contributed("FusedMatMul", [floats(5), floats(5, 6)], {"alpha": 2.0}, note="row"),
    Contributed("FusedMatMul", [floats(4, 3, 5), floats(3, 5, 6)], {"transBatchA": 1}),
    Contributed("FusedMatMul", [floats(2, 4, 3, 5), floats(4, 3, 2, 6)], {"transBatchA": 1, "transA": 1}),
    Contributed("FusedMatMul", [floats(3, 4, 5), floats(5, 3, 6)], {"transBatchB": 1}),
    Contributed("TransposeMatMul", [floats(2, 5, 4), floats(2, 5, 6)], {"transA": 1, "alpha": 0.5}),
]

PARAMETERS: dict[str, dict[str, float]] = {
    "Relu": {}, "Tanh": {}, "Sigmoid": {}, "LeakyRelu": {"alpha": 0.2}, "Elu": {"alpha": 0.7},
    "HardSigmoid": {"alpha": 0.3, "beta": 0.4}, "Softplus": {},
}  # fmt: skip
GEMMS = [
    Contributed(
        "FusedGemm",
        [floats(4, 5), floats(5, 6), floats(6)],
        {"activation": name, "alpha": 0.5, **{f"activation_{k}": v for k, v in given.items()}},
    )
    for name, given in PARAMETERS.items()
]
GEMMS += [
    Contributed("FusedGemm", [floats(5, 4), floats(6, 5)], {"activation": "Tanh", "transA": 1, "transB": 1}),
    Contributed("FusedGemm", [floats(4, 5), floats(5, 6), floats(4, 1)], {"activation": "Relu", "beta": 0.5}),
]

CONVOLUTIONS = [
    *(
        Contributed(
            "FusedConv",
            [IMAGE, KERNEL, BIAS],
            {"activation": name, **({"activation_params": given} if given else {})},
        )
        for name, given in (
            ("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.1]), ("Clip", [-0.5, 0.75]),
            ("HardSigmoid", [0.1, 0.6]),
        )
    ),
    Contributed(
        "FusedConv",
        [IMAGE, KERNEL, None, floats(2, 6, 7, 6)],
        {"activation": "Relu", "pads": [1, 1, 1, 1]},
        note="sum",
    ),
    Contributed("FusedConv", [IMAGE, KERNEL, BIAS, floats(2, 6, 4, 3)], {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    Contributed(
        "FusedConv", [IMAGE, floats(8, 2, 3, 3), None], {"group": 2, "activation": "Relu", "auto_pad": "SAME_UPPER"}
    ),
    *(
        Contributed("NhwcMaxPool", [ints(2, 9, 8, 3, low=low, high=low + 256, dtype=kind)], attributes)
        for low, kind in ((0, np.uint8), (-128, np.int8))
        for attributes in (
            {"kernel_shape": [2, 3]},
            {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1},
        )
    ),
]  # fmt: skip

NORMALISATIONS = [
    *(
        Contributed("SkipLayerNormalization", [X, skip, ROW, *rest], {"epsilon": 1e-3}, outputs)
        for skip in (floats(2, 5, 12, low=-1), floats(1, 5, 12), floats(5, 12))
        for rest in ((), (OTHER_ROW,), (OTHER_ROW, floats(12, high=1)), (None, floats(12, high=1)))
        for outputs in ((True,), BOTH)
    ),
    *(
        Contributed("SkipSimplifiedLayerNormalization", [X, floats(2, 5, 12, low=-1), ROW, *rest], {}, outputs)
        for rest in ((), (OTHER_ROW,))
        for outputs in ((True,), BOTH)
    ),
    Contributed("SkipSimplifiedLayerNormalization", [floats(7, 12), floats(7, 12, low=-1), ROW], {"epsilon": 1e-2}),
    Contributed("SimplifiedLayerNormalization", [X, ROW], domain=""),
    Contributed("SimplifiedLayerNormalization", [X, floats(5, 12)], {"axis": 1, "epsilon": 1e-2}, (True, True), domain=""),
    Contributed("SimplifiedLayerNormalization", [X.astype(np.float64), ROW.astype(np.float64)], domain="", note="f64"),
    Contributed("LayerNormalization", [X, ROW, OTHER_ROW], {"epsilon": 1e-2}, domain="", opset=13),
    Contributed("LayerNormalization", [X, floats(5, 12)], {"axis": -2}, (True, True, True), domain="", opset=12),
    Contributed("EmbedLayerNormalization", [IDS, SEGMENTS, *TABLES, ROW, OTHER_ROW], {"epsilon": 1e-3}, (True, True)),
    Contributed("EmbedLayerNormalization", [IDS, None, *TABLES[:2], None, ROW, OTHER_ROW], {}, (True, False, True)),
    Contributed(
        "EmbedLayerNormalization",
        [IDS, SEGMENTS, *TABLES, ROW, OTHER_ROW, np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)],
        {},
        (True, True, True),
    ),
    *(
        Contributed(
            "EmbedLayerNormalization",
            [IDS, SEGMENTS, *TABLES, ROW, OTHER_ROW, None, ints(batch, 5, low=0, high=9, dtype=np.int32)],
            {},
            (True, True),
            note=f"positions{batch}",
        )
        for batch in (1, 2)
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "case", [*ACTIVATIONS, *PRODUCTS, *GEMMS, *CONVOLUTIONS, *NORMALISATIONS], ids=lambda case: case.id
)
def test_equals_onnx_runtime(case: Contributed) -> None:
    check(case)


def packed(values: Array, bits: int) -> Array:
    """Numbers of `bits` along the last dimension in bytes, the first one in the lowest bits."""
    count = 8 // bits
    pad = -values.shape[-1] % count
    values = np.pad(values, [*[(0, 0)] * (values.ndim - 1), (0, pad)])
    groups = values.reshape(*values.shape[:-1], -1, count).astype(np.uint32)
    return (groups << np.arange(0, 8, bits, dtype=np.uint32)).sum(-1).astype(np.uint8)


def few_bits(
    bits: int, k: int, block: int, *, zeros: str = "", bias: bool = False, shuffled: bool = False, fixed: bool = True
) -> Contributed:
    """MatMulNBits of 3 rows and 10 columns."""
    rng, blocks, columns = np.random.default_rng(bits * k + block), -(-k // block), 10
    weights = packed(rng.integers(0, 2**bits, (columns, blocks, block)), bits)
    given: list[Any] = [floats(2, 3, k), weights, floats(columns, blocks, low=0.01, high=0.1), None, None, None]
    if zeros == "packed":
        given[3] = packed(rng.integers(0, 2**bits, (columns, blocks)), bits)
    elif zeros:
        given[3] = floats(columns, blocks, low=0, high=2**bits - 1)
    if shuffled:
        given[4] = rng.permutation(k).astype(np.int32) // block
    if bias:
        given[5] = floats(columns)
    given = [given[0], *(Fixed(x) if fixed and x is not None else x for x in given[1:])]
    while given[-1] is None:
        given.pop()
    return Contributed(
        "MatMulNBits",
        given,
        {"K": k, "N": columns, "bits": bits, "block_size": block},
        note=f"{zeros or 'middle'}{'-bias' * bias}{'-shuffled' * shuffled}{'-fed' * (not fixed)}",
    )


@pytest.mark.parametrize(
    "case",
    [
        *(few_bits(b, k, 16, zeros=z) for b in (4, 8) for k in (32, 50) for z in ("", "packed")),
        *(few_bits(4, k, 16, zeros="real") for k in (32, 50)),
        *(few_bits(2, 64, 32, zeros=z) for z in ("", "packed")),
        few_bits(4, 16, 32),
        few_bits(4, 96, 32, zeros="packed", bias=True),
        *(few_bits(4, 96, 32, zeros=z, shuffled=True) for z in ("", "real")),
        few_bits(4, 96, 32, zeros="packed", fixed=False),
        few_bits(8, 96, 32, bias=True, fixed=False),
    ],
    ids=lambda case: case.id,
)
def test_products_of_few_bits(case: Contributed) -> None:
    check(case)


def table(kind: str, *, zeros: bool, indices: Array, block: int = 16) -> Contributed:
    """GatherBlockQuantized of 9 rows of 48 numbers."""
    scales, rng = Fixed(floats(9, -(-48 // block), low=0.01, high=0.1)), np.random.default_rng(3)
    bits = int(kind[-1])
    if kind.startswith("packed"):
        data, zero = (packed(rng.integers(0, 2**bits, (9, n)), bits) for n in (48, -(-48 // block)))
    else:
        low, dtype = (-8 if kind == "int4" else 0), np.dtype(getattr(ml_dtypes, kind))
        data, zero = (rng.integers(low, low + 16, (9, n)).astype(dtype) for n in (48, -(-48 // block)))
    inputs = [Fixed(data), indices, scales, *([Fixed(zero)] if zeros else [])]
    attributes = {"gather_axis": 0, "quantize_axis": 1, "block_size": block, "bits": bits}
    return Contributed(
        "GatherBlockQuantized", inputs, attributes, note=f"{kind}{'-zeros' * zeros}-{indices.ndim}", opset=21
    )


@pytest.mark.parametrize(
    "case",
    [
        *(
            table(kind, zeros=zeros, indices=indices)
            for kind in ("packed4", "packed8", "int4", "uint4")
            for zeros in (False, True)
            for indices in (np.array([[0, 8, 3], [-1, 4, 4]]), np.array(5, np.int32))
        ),
        table("packed4", zeros=True, indices=np.array([2, 7]), block=32),
    ],
    ids=lambda case: case.id,
)
def test_tables_of_few_bits(case: Contributed) -> None:
    check(case)


def test_packed_zero_points_of_shuffled_columns() -> None:
    """ONNX Runtime leaves them out, against its documentation."""
    case = few_bits(4, 96, 32, zeros="packed", shuffled=True)
    a, b, scales, zeros, groups = (np.asarray(x.array if isinstance(x, Fixed) else x) for x in case.inputs)
    numbers = np.stack([b & 15, b >> 4], -1).reshape(10, 96).astype(np.float32)
    zeros = np.stack([zeros & 15, zeros >> 4], -1).reshape(10, 4).astype(np.float32)
    wanted = a @ ((numbers - zeros[:, groups]) * scales[:, groups]).T
    _, found = imported(declared(case, [wanted]), case.feeds)
    np.testing.assert_allclose(found["o0"], wanted, rtol=0, atol=1e-4)


def group_normal(x: Array, gamma: Array, beta: Array, groups: int) -> Array:
    """GroupNorm of [N, C, H, W] with epsilon 1e-5 and SiLU, in float64."""
    parts = x.astype(np.float64).reshape(len(x), groups, -1)
    normal = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + 1e-5)
    y = normal.reshape(x.shape) * gamma[:, None, None] + beta[:, None, None]
    return (y / (1 + np.exp(-y))).astype(np.float32)


@pytest.mark.parametrize("last", [0, 1])
def test_group_norm(last: int) -> None:
    """ONNX Runtime has it for other devices than the CPU."""
    x, skip, bias = floats(2, 6, 5, 3), floats(2, 6, low=-1), floats(6, high=1)
    gamma, beta = floats(6, high=3), floats(6, high=4)
    given = x.transpose(0, 2, 3, 1).copy() if last else x
    attributes = {"groups": 3, "activation": 1, "channels_last": last}
    total = x + skip[:, :, None, None] + bias[:, None, None]
    for case, wanted in (
        (Contributed("GroupNorm", [given, gamma, beta], attributes), [group_normal(x, gamma, beta, 3)]),
        (
            Contributed("SkipGroupNorm", [given, gamma, beta, skip, bias], attributes, (True, True)),
            [group_normal(total, gamma, beta, 3), total],
        ),
    ):
        wanted = [w.transpose(0, 2, 3, 1) if last else w for w in wanted]
        _, found = imported(declared(case, wanted), case.feeds)
        assert_close(found, wanted, 1e-5)


def test_bias_add() -> None:
    """ONNX Runtime has it for other devices than the CPU."""
    skip = floats(2, 5, 12, low=-1)
    case = Contributed("BiasAdd", [X, ROW, skip])
    _, found = imported(declared(case, [X]), case.feeds)
    np.testing.assert_allclose(found["o0"], X + ROW + skip, rtol=1e-6)


def test_an_unknown_activation_is_refused() -> None:
    case = Contributed("FusedConv", [IMAGE, KERNEL, BIAS], {"activation": "Fancy"})
    with pytest.raises(UnsupportedError, match=r"FusedConv 'the_FusedConv' .*activation 'Fancy' is not supported"):
        import_onnx(make_context(), case.model([(2, 6, 5, 4)], [np.dtype(np.float32)]))


def test_prepacked_weights_are_refused() -> None:
    case = few_bits(4, 32, 16)
    case.attributes["weight_prepacked"] = 1
    with pytest.raises(UnsupportedError, match="a layout of one device"):
        import_onnx(make_context(), case.model([(2, 3, 10)], [np.dtype(np.float32)]))

"""Quantisation and integer products of the standard and of com.microsoft, to the bit against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from gecc.context import make_context
from gecc.errors import InvalidModelError
from gecc.frontend.onnx import import_onnx
from test.unit.frontend.cases import Array, Case, Fixed, check, expected, floats, imported, ints

TIES = np.arange(-300, 300, dtype=np.float32).reshape(5, 4, 30) * np.float32(0.25)
"""Every other quotient by 0.5 is halfway between two integers; the ends saturate."""
QUANTISED = ("int8", "uint8", "int16", "uint16")


def one(value: float, dtype: Any = np.float32) -> Array:
    return np.array(value, dtype)


def quantised(*shape: int, dtype: str = "uint8") -> Array:
    info = np.iinfo(dtype)
    return ints(*shape, low=int(info.min), high=int(info.max) + 1, dtype=np.dtype(dtype))


def scales(*shape: int) -> Array:
    return floats(*shape, low=0.01, high=0.5)


QUANTIZE = [
    Case(
        "QuantizeLinear",
        23,
        [ints(4, 5, low=-400, high=400, dtype=np.int32), one(3, "int32"), one(-7, "int8")],
        reference=True,
        note="scale of i32",
    ),
    *(Case("QuantizeLinear", 10, [TIES, one(0.5), one(3, d)], note=d) for d in ("int8", "uint8")),
    Case("QuantizeLinear", 10, [TIES, one(0.5)]),
    Case(
        "QuantizeLinear", 23, [ints(4, 5, low=-400, high=400, dtype=np.int32), one(3), one(-7, np.int8)], reference=True
    ),
    Case(
        "QuantizeLinear", 10, [np.array([np.inf, -np.inf, 3e38, -3e38, -0.0], np.float32), one(0.001), one(9, np.uint8)]
    ),
    *(
        Case("QuantizeLinear", 13, [TIES, Fixed(scales(4)), Fixed(quantised(4, dtype=d))], note=d)
        for d in QUANTISED[:2]
    ),
    *(Case("QuantizeLinear", 13, [TIES, scales(5), quantised(5)], {"axis": a}) for a in (0, -3)),
    Case("QuantizeLinear", 19, [TIES, scales(30), quantised(30, dtype="int8")], {"axis": -1}),
    *(Case("QuantizeLinear", 21, [TIES * 400, one(0.5), one(3, d)], note=d) for d in QUANTISED[2:]),
    Case("QuantizeLinear", 21, [TIES, scales(5, 4, 4), quantised(5, 4, 4)], {"axis": 2, "block_size": 8}),
    Case("QuantizeLinear", 21, [TIES, scales(5, 2, 30)], {"axis": -2, "block_size": 2}),
    Case("QuantizeLinear", 21, [TIES, one(0.5)], {"output_dtype": TensorProto.INT16}),
    Case("QuantizeLinear", 19, [floats(50, dtype=np.float16), one(0.01, np.float16), one(1, np.int8)], reference=True),
    Case("QuantizeLinear", 23, [floats(60), one(0.01, np.float16)], {"precision": TensorProto.FLOAT}, reference=True),
]

DEQUANTIZE = [
    *(Case("DequantizeLinear", 10, [quantised(3, 50, dtype=d), one(0.3), one(3, d)], note=d) for d in QUANTISED[:2]),
    *(Case("DequantizeLinear", 21, [quantised(3, 50, dtype=d), one(0.3), one(3, d)], note=d) for d in QUANTISED[2:]),
    Case("DequantizeLinear", 10, [quantised(3, 5), one(0.3)]),
    Case("DequantizeLinear", 13, [ints(3, 4, low=-(2**30), high=2**30, dtype=np.int32), scales(4)], note="i32"),
    Case("DequantizeLinear", 13, [quantised(3, 4, 5), scales(4), quantised(4)]),
    Case("DequantizeLinear", 13, [quantised(3, 4), Fixed(scales(3)), Fixed(quantised(3))], {"axis": -2}),
    Case("DequantizeLinear", 13, [quantised(3, 4), scales(1), quantised(1)], note="one element"),
    Case("DequantizeLinear", 21, [quantised(3, 9), scales(3, 3), quantised(3, 3)], {"axis": 1, "block_size": 3}),
    Case("DequantizeLinear", 19, [quantised(3, 9), one(0.3, np.float16), one(3, np.uint8)], note="f16"),
]

DYNAMIC = [
    Case("DynamicQuantizeLinear", 11, [floats(3, 7)], outputs=3, note="both signs"),
    Case("DynamicQuantizeLinear", 11, [floats(3, 7, low=0.5)], outputs=3, note="positive"),
    Case("DynamicQuantizeLinear", 11, [floats(3, 7, low=-5, high=-1)], outputs=3, note="negative"),
    Case("DynamicQuantizeLinear", 11, [np.zeros((2, 3), np.float32)], outputs=3, note="zeros"),
    Case("DynamicQuantizeLinear", 11, [np.arange(-100, 156, dtype=np.float32) / 2], outputs=3, note="ties"),
]

A, B = quantised(3, 20), quantised(20, 5, dtype="int8")

PRODUCTS = [
    Case("MatMulInteger", 10, [A, B]),
    Case("MatMulInteger", 10, [A, Fixed(B), one(100, np.uint8), one(-3, np.int8)], note="scalars"),
    Case("MatMulInteger", 10, [A, quantised(20, 5), one(255, np.uint8), quantised(5)], note="columns"),
    Case("MatMulInteger", 10, [quantised(2, 3, 20, dtype="int8"), B, one(5, np.int8), one(7, np.int8)], note="batch"),
    Case("MatMulInteger", 10, [quantised(20), B, one(5, np.uint8), one(7, np.int8)], note="row"),
    Case(
        "ConvInteger",
        10,
        [quantised(1, 2, 5, 5), Fixed(quantised(3, 2, 3, 3)), one(9, np.uint8)],
        {"pads": [1, 1, 1, 1]},
    ),
    Case("ConvInteger", 10, [quantised(1, 4, 5, 6), Fixed(quantised(4, 1, 3, 3)), one(9, np.uint8)], {"group": 4}),
    Case(
        "ConvInteger",
        10,
        [quantised(1, 2, 7), Fixed(quantised(3, 2, 3)), one(9, np.uint8), one(4, np.uint8)],
        note="1-D",
    ),
    *(
        Case("QLinearMatMul", 10, [A, s1, one(100, np.uint8), b, s2, z2, one(1.7), one(99, np.uint8)], note=note)
        for note, s1, b, s2, z2 in [
            ("u8u8", one(0.02), quantised(20, 5), one(0.03), one(120, np.uint8)),
            ("u8s8", one(0.02), B, one(0.03), one(-2, np.int8)),
            ("columns", one(0.02), B, scales(5), quantised(5, dtype="int8")),
        ]
    ),
]

X, W = quantised(2, 4, 6, 7), quantised(8, 4, 3, 3, dtype="int8")
BIAS = ints(8, low=-5000, high=5000, dtype=np.int32)
Y = [one(2.5), one(101, np.uint8)]
CONVOLUTIONS = [
    Case("QLinearConv", 10, [X, one(0.02), one(120, np.uint8), Fixed(W), one(0.1), one(0, np.int8), *Y], note="u8s8"),
    Case(
        "QLinearConv",
        10,
        [X, one(0.02), one(120, np.uint8), Fixed(quantised(8, 4, 3, 3)), one(0.1), one(99, np.uint8), *Y],
    ),
    Case(
        "QLinearConv",
        10,
        [X, one(0.02), one(120, np.uint8), Fixed(W), Fixed(scales(8)), Fixed(np.zeros(8, np.int8)), *Y, Fixed(BIAS)],
        {"pads": [1, 1, 1, 1], "strides": [2, 1]},
    ),
    Case(
        "QLinearConv",
        10,
        [X, one(0.02), one(120, np.uint8), Fixed(quantised(4, 1, 3, 3)), one(0.1), one(77, np.uint8), *Y],
        {"group": 4, "auto_pad": "SAME_UPPER"},
    ),
]

INTEGER_PRODUCTS = [case for case in PRODUCTS if "Conv" not in case.op]


@pytest.mark.parametrize("case", [*QUANTIZE, *DEQUANTIZE, *DYNAMIC, *PRODUCTS, *CONVOLUTIONS], ids=lambda c: c.id)
def test_standard(case: Case) -> None:
    check(case)


# -- com.microsoft -----------------------------------------------------------------------------------------------------

SIDE = [quantised(6, 40), one(0.05), one(117, np.uint8)]
OTHER = [quantised(40), one(0.02), one(3, np.uint8)]
TABLE = [np.arange(256, dtype=np.uint8), one(0.05), one(128, np.uint8)]
SIGNED = [np.arange(-128, 128, dtype=np.int8), one(0.05), one(-5, np.int8)]
BYTES = quantised(3, 10)
RESULT = [one(0.06), one(99, np.uint8)]
UNIT = [one(1 / 256), one(0, np.uint8)]
REAL, BYTE, SIGNED_BYTE = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8

MICROSOFT: list[tuple[str, int, Sequence[Array | Fixed | None], dict[str, Any]]] = [
    ("QuantizeLinear", BYTE, [TIES, one(0.5), one(3, np.uint8)], {}),
    ("QuantizeLinear", TensorProto.INT16, [TIES * 400, scales(5), quantised(5, dtype="int16")], {"axis": 0}),
    ("DequantizeLinear", REAL, [quantised(3, 4, dtype="uint16"), scales(4), quantised(4, dtype="uint16")], {"axis": 1}),
    ("DynamicQuantizeMatMul", REAL, [floats(3, 20), B, one(0.02)], {}),
    ("DynamicQuantizeMatMul", REAL, [floats(3, 20), Fixed(B), scales(5), quantised(5, dtype="int8"), floats(5)], {}),
    ("MatMulIntegerToFloat", REAL, [A, B, one(0.02), one(0.05), one(117, np.uint8), one(3, np.int8)], {}),
    ("MatMulIntegerToFloat", REAL, [A, B, one(0.02), scales(5), one(9, np.uint8), None, floats(5)], {}),
    ("QLinearAdd", BYTE, [*SIDE, *OTHER, *RESULT], {}),
    ("QLinearAdd", SIGNED_BYTE, [*SIGNED, SIGNED[0][::-1].copy(), one(0.1), one(9, np.int8), one(0.1), one(3, np.int8)], {}),
    ("QLinearMul", BYTE, [*SIDE, *OTHER, *RESULT], {}),
    ("QLinearMul", SIGNED_BYTE, [*SIGNED, SIGNED[0][::-1].copy(), one(0.1), one(9, np.int8), one(0.5), one(3, np.int8)], {}),
    ("QLinearSigmoid", BYTE, [*TABLE, *UNIT], {}),
    ("QLinearLeakyRelu", BYTE, [*TABLE, *RESULT], {"alpha": 0.1}),
    ("QLinearLeakyRelu", SIGNED_BYTE, [*SIGNED, one(0.06), one(9, np.int8)], {}),
    ("QLinearSoftmax", BYTE, [BYTES, one(0.05), one(3, np.uint8), *UNIT], {"axis": -1, "opset": 13}),
    ("QLinearSoftmax", BYTE, [quantised(2, 3, 4), one(0.05), one(3, np.uint8), *UNIT], {"axis": 1, "opset": 11}),
    *(
        ("QLinearSoftmax", kind, [x, one(0.05), one(3, d), one(scale), one(low, d)], {"axis": -1, "opset": 13})
        for x, kind, d, low in (
            (quantised(40, 10), BYTE, np.uint8, 0),
            (quantised(40, 10, dtype="int8"), SIGNED_BYTE, np.int8, -128),
        )
        for scale in (1 / 255, 1 / 256, 0.0061)
    ),
    ("QLinearGlobalAveragePool", BYTE, [quantised(2, 3, 7, 5), *TABLE[1:], *RESULT], {"channels_last": 0}),
    ("QLinearGlobalAveragePool", BYTE, [quantised(2, 7, 5, 3), *TABLE[1:], *RESULT], {"channels_last": 1}),
    ("QLinearWhere", BYTE, [floats(6, 40) > 0, *SIDE, *OTHER, *RESULT], {}),
    *(
        ("QLinearAveragePool", BYTE, [quantised(*dims), *TABLE[1:], one(0.0613), one(99, np.uint8)], {"kernel_shape": [3, 2], **more})
        for dims, more in (
            ((2, 3, 7, 5), {}),
            ((2, 3, 7, 5), {"strides": [2, 1], "pads": [1, 0, 1, 1]}),
            ((2, 3, 7, 5), {"pads": [1, 1, 1, 1], "count_include_pad": 1}),
            ((2, 7, 5, 3), {"channels_last": 1}),
        )
    ),
    ("QLinearConcat", BYTE, [*RESULT, *SIDE, quantised(6, 3), *RESULT], {"axis": 1}),
    ("QGemm", BYTE, [A, *TABLE[1:], B, one(0.02), one(3, np.int8), ints(5, high=900, dtype=np.int32), *RESULT], {"alpha": 0.5}),
    (
        "QGemm",
        BYTE,
        [A, *TABLE[1:], Fixed(B.T.copy()), scales(5), quantised(5, dtype="int8"), None, *RESULT],
        {"transB": 1},
    ),
    ("QGemm", REAL, [A.T.copy(), *TABLE[1:], B, one(0.02), one(3, np.int8)], {"transA": 1}),
]  # fmt: skip


def model_of(op: str, kind: int, inputs: Sequence[Array | Fixed | None], attributes: dict[str, Any]) -> ModelProto:
    """One node of com.microsoft, of whose result only the element type is declared."""
    names = ["" if x is None else f"i{i}" for i, x in enumerate(inputs)]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in zip(names, inputs, strict=True)
        if isinstance(x, np.ndarray)
    ]
    fixed = [
        numpy_helper.from_array(np.asarray(x.array), n)
        for n, x in zip(names, inputs, strict=True)
        if isinstance(x, Fixed)
    ]
    node = helper.make_node(op, names, ["o0"], name=f"the_{op}", domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "graph", infos, [helper.make_tensor_value_info("o0", kind, None)], fixed)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def both(op: str, kind: int, inputs: Sequence[Array | Fixed | None], attributes: dict[str, Any]) -> tuple[Array, Array]:
    """The result found and the one of ONNX Runtime, whose shape the model then declares."""
    model = model_of(op, kind, inputs, attributes)
    feeds = {f"i{i}": x for i, x in enumerate(inputs) if isinstance(x, np.ndarray)}
    (wanted,) = expected(model, feeds)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("o0", kind, wanted.shape))
    (found,) = imported(model, feeds)[1].values()
    return found, wanted


@pytest.mark.parametrize(
    ("op", "kind", "inputs", "attributes"), MICROSOFT, ids=lambda v: v if isinstance(v, str) else ""
)
def test_microsoft(op: str, kind: int, inputs: Sequence[Array | Fixed | None], attributes: dict[str, Any]) -> None:
    found, wanted = both(op, kind, inputs, attributes)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if kind == REAL:
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(found, wanted)


def test_sums_of_halves_are_those_of_onnx_runtime() -> None:
    """All pairs of bytes, with scales for which many sums lie halfway between two results."""
    left, right = (side.ravel().astype(np.uint8) for side in np.mgrid[:256, :256])
    for op, scale in (("QLinearAdd", 0.2), ("QLinearMul", 0.5)):
        inputs = [
            left,
            one(0.1),
            one(128, np.uint8),
            right,
            one(0.3),
            one(77, np.uint8),
            one(scale),
            one(101, np.uint8),
        ]
        found, wanted = both(op, BYTE, inputs, {})
        np.testing.assert_array_equal(found, wanted)


def test_zero_points_of_rows() -> None:
    """ONNX Runtime knows none, the reference evaluator takes them for columns."""
    rows, columns = quantised(3), quantised(5, dtype="int8")
    case = Case("MatMulInteger", 10, [A, B, rows, columns])
    (found,) = imported(case.model(), case.feeds())[1].values()
    wanted = (A.astype(np.int32) - rows[:, None]) @ (B.astype(np.int32) - columns)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, wanted)


def test_nan_becomes_the_least_integer() -> None:
    case = Case("QuantizeLinear", 13, [np.array([np.nan, 1], np.float32), one(1), one(3, np.int8)])
    (found,) = imported(case.model(), case.feeds())[1].values()
    np.testing.assert_array_equal(found, [-128, 4])


def test_a_zero_point_of_another_type_is_invalid() -> None:
    case = Case("QuantizeLinear", 21, [floats(3), one(1), one(0, np.int8)], {"output_dtype": TensorProto.UINT8})
    with pytest.raises(InvalidModelError, match="output_dtype is ui8, but the zero point is i8"):
        import_onnx(make_context(), case.model())

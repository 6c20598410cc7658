"""Windows over one to four dimensions, pools with indices and their inverse: in numpy and as machine code."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gecc
from gecc.errors import InvalidModelError, UnsupportedError
from test.unit.frontend.cases import Case, Fixed, assert_close, expected, fixed, floats, imported, ints, model_of
from test.unit.frontend.native import check_everywhere, check_native, run_native

L, X, V = floats(2, 4, 11), floats(2, 4, 9, 7), floats(2, 4, 5, 6, 7)
EVEN = {"kernel_shape": [2, 3, 2], "strides": [1, 2, 2], "pads": [1, 0, 1, 0, 1, 0]}

CONVS = [
    Case("Conv", 11, [V, Fixed(floats(6, 4, 3, 3, 3)), Fixed(floats(6))]),
    Case("Conv", 11, [V, Fixed(floats(6, 4, 1, 1, 1))], note="points"),
    Case("Conv", 22, [V, Fixed(floats(6, 4, 2, 3, 2)), Fixed(floats(6))], {"strides": [2, 1, 3], "pads": [1, 0, 2] * 2}),
    Case("Conv", 11, [V, Fixed(floats(6, 4, 2, 2, 2))], {"dilations": [3, 2, 2]}),
    Case("Conv", 11, [V, Fixed(floats(8, 1, 3, 2, 2))], {"group": 4, "pads": [2, 1, 0, 1, 0, 1]}),
    Case("Conv", 11, [V, Fixed(floats(6, 2, 3, 2, 2)), Fixed(floats(6))], {"group": 2}),
    Case("Conv", 11, [V, floats(6, 4, 3, 3, 3)], {"auto_pad": "SAME_UPPER", "strides": [2, 2, 2]}, dynamic=False),
    Case("Conv", 11, [V, Fixed(floats(6, 4, 3, 3, 3))], {"auto_pad": "SAME_LOWER", "strides": [2, 1, 2]}),
    Case("Conv", 11, [floats(1, 3, 1, 8, 8), Fixed(floats(17, 3, 1, 3, 3))], note="flat"),
    Case("ConvTranspose", 11, [V, Fixed(floats(4, 3, 2, 3, 2)), Fixed(floats(3))], {"strides": [2, 1, 3]}),
    Case(
        "ConvTranspose",
        11,
        [V, Fixed(floats(4, 3, 3, 3, 2)), Fixed(floats(6))],
        {"group": 2, "strides": [2, 3, 1], "pads": [1, 0, 1, 0, 1, 0], "output_padding": [1, 1, 0]},
    ),
    Case("ConvTranspose", 11, [V, Fixed(floats(4, 3, 2, 1, 3)), Fixed(floats(6))], {"group": 2, "strides": [2, 1, 3]}),
    Case("ConvTranspose", 11, [V, Fixed(floats(4, 2, 2, 2, 2))], {"dilations": [2, 1, 3], "auto_pad": "VALID"}),
    Case("ConvTranspose", 11, [V, Fixed(floats(4, 2, 3, 3, 3))], {"strides": [2, 2, 2], "output_shape": [10, 12, 14]},
         dynamic=False),
    Case("ConvTranspose", 11, [X, Fixed(floats(4, 2, 3, 3))], {"strides": [3, 2], "output_shape": [29, 16]},
         dynamic=False, note="larger"),
    Case("ConvInteger", 10, [ints(1, 2, 3, 4, 5, low=0, dtype=np.uint8), Fixed(ints(3, 2, 2, 2, 2, low=0, dtype=np.uint8)),
                             Fixed(np.uint8(3)), Fixed(np.uint8(2))],
         {"pads": [1] * 6}),
]  # fmt: skip

QCONV = Case(
    "QLinearConv",
    10,
    [
        ints(1, 4, 3, 5, 4, low=0, high=255, dtype=np.uint8),
        Fixed(np.float32(0.05)),
        Fixed(np.uint8(120)),
        Fixed(ints(6, 2, 2, 3, 2, low=-128, high=127, dtype=np.int8)),
        Fixed(np.linspace(0.01, 0.03, 6, dtype=np.float32)),
        Fixed(np.zeros(6, np.int8)),
        Fixed(np.float32(0.3)),
        Fixed(np.uint8(128)),
        Fixed(ints(6, low=-50, high=50, dtype=np.int32)),
    ],
    {"group": 2, "strides": [1, 2, 1], "pads": [1, 1, 0, 0, 1, 1]},
)

POOLS = [
    Case("MaxPool", 12, [V], EVEN),
    Case("MaxPool", 12, [V - 5], {"kernel_shape": [2, 2, 3], "dilations": [2, 3, 1], "pads": [1, 1, 1] * 2}),
    Case("MaxPool", 12, [V], {"kernel_shape": [3, 3, 3], "strides": [2, 2, 2], "ceil_mode": 1}),
    Case("MaxPool", 12, [V], {"kernel_shape": [3, 2, 2], "strides": [2, 2, 2], "auto_pad": "SAME_UPPER"}),
    Case("AveragePool", 19, [V], EVEN),
    Case("AveragePool", 19, [V], {**EVEN, "count_include_pad": 1}),
    Case("AveragePool", 22, [V], {"kernel_shape": [2, 2, 3], "dilations": [2, 3, 1]}),
    Case("AveragePool", 22, [V], {"kernel_shape": [3, 3, 3], "strides": [2, 2, 2], "ceil_mode": 1}),
    Case("LpPool", 11, [L], {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    Case("LpPool", 11, [X], {"kernel_shape": [2, 3], "p": 3}, tolerance=1e-4),
    Case("LpPool", 11, [X], {"kernel_shape": [2, 3], "p": 1, "auto_pad": "SAME_LOWER"}),
    Case("LpPool", 18, [V], EVEN),
    Case("LpPool", 18, [V], {"kernel_shape": [2, 2, 2], "dilations": [2, 1, 2], "p": 4}, tolerance=1e-4),
    Case("GlobalLpPool", 2, [V], {"p": 3}, tolerance=1e-4),
    Case("GlobalLpPool", 2, [L]),
    Case("GlobalAveragePool", 22, [V]),
    Case("GlobalMaxPool", 22, [V]),
]

ARGMAX = [
    Case("MaxPool", 12, [x], {"storage_order": order, **attributes}, outputs=2, note=str(x.ndim))
    for order in (0, 1)
    for x, attributes in (
        (L, {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
        (X, {"kernel_shape": [3, 2], "pads": [1, 1, 1, 0]}),
        (X - 5, {"kernel_shape": [2, 2], "dilations": [3, 2], "pads": [1, 1, 1, 1], "strides": [2, 1]}),
        (np.zeros((2, 3, 5, 4), np.float32), {"kernel_shape": [2, 2], "ceil_mode": 1, "strides": [2, 2]}),
        (V, EVEN),
    )
] + [
    Case("MaxPool", 12, [ints(1, 2, 6, 7, low=-100, high=100, dtype=np.int8)], {"kernel_shape": [3, 3]}, outputs=2),
    Case("MaxPool", 12, [X.astype(np.float64)], {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER"}, outputs=2,
         dynamic=False),
]  # fmt: skip


@pytest.mark.parametrize("case", [*CONVS, QCONV, *POOLS, *ARGMAX], ids=lambda c: c.id)
def test_numbers(case: Case) -> None:
    check_everywhere(case)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("op", ["Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"])
def test_dtypes(op: str, dtype: Any) -> None:
    """Against the numbers of f32 (or the f64 meaning), to the precision of the type."""
    x = floats(1, 4, 4, 5, 6).astype(dtype)
    inputs = [x, Fixed(floats(4, 3, 2, 2, 2).astype(dtype))] if op == "ConvTranspose" else [x]
    inputs = [x, Fixed(floats(3, 4, 2, 2, 2).astype(dtype))] if op == "Conv" else inputs
    case = Case(op, 22, inputs, {} if op.startswith("Conv") else {"kernel_shape": [2, 2, 3]})
    precise = [Fixed(np.asarray(i.array, np.float32)) if isinstance(i, Fixed) else i.astype(np.float32) for i in inputs]
    [wanted] = expected(*_model(Case(op, 22, precise, case.attributes)))
    [found] = run_native(case)
    assert found.dtype == dtype
    limit = {2: 2.0**-7, 8: 1e-5}[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=limit, atol=limit * np.abs(wanted).max())


def _model(case: Case) -> tuple[onnx.ModelProto, dict[str, Any]]:
    return case.model(), case.feeds()


UNPOOLS = [
    Case("MaxUnpool", 11, [floats(1, 2, 3), ints(1, 2, 3, low=0, high=12)], {"kernel_shape": [2], "strides": [2]}),
    Case(
        "MaxUnpool",
        11,
        [floats(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]]), fixed(1, 1, 5, 6)],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        reference=True,
    ),
    Case("MaxUnpool", 11, [floats(1, 1, 2, 2), np.array([[[[0, 2], [8, 11]]]])],
         {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 0]}),
]  # fmt: skip


@pytest.mark.parametrize("case", UNPOOLS, ids=lambda c: c.id)
def test_max_unpool(case: Case) -> None:
    check_native(case)
    assert_close(imported(*_model(case))[1], expected(*_model(case), reference=case.reference), 1e-6)


@pytest.mark.parametrize("shape", [(1, 2, 7), (1, 2, 5, 7), (1, 2, 4, 5, 3)])
def test_max_unpool_undoes_max_pool(shape: tuple[int, ...]) -> None:
    """Where the indices are seen to number the elements of `output_shape`, they do."""
    x = floats(*shape)
    window: dict[str, Any] = {"kernel_shape": [2] * (len(shape) - 2), "strides": [2] * (len(shape) - 2)}
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p", "i"], **window),
        helper.make_node("MaxUnpool", ["p", "i", "s"], ["y"], **window),
    ]
    sizes = onnx.numpy_helper.from_array(np.array(shape), "s")
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    model = model_of(nodes, [info], ["y"], 12, [sizes], rank=len(shape))
    [wanted] = expected(model, {"x": x})
    with gecc.load(gecc.compile(model), threads=1, affinity="none") as executor:
        np.testing.assert_array_equal(executor.run({"x": x})["y"], wanted)
    assert np.count_nonzero(wanted) > 1


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (Case("LpPool", 18, [X], {"kernel_shape": [2, 2], "p": 0}), "p is 0"),
        (Case("ConvTranspose", 11, [V, floats(4, 1, 2, 2, 2)], {"output_padding": [1, 1]}), "output_padding"),
        (Case("MaxPool", 12, [V], {"kernel_shape": [2, 2]}), "kernel_shape"),
    ],
)
def test_what_contradicts_the_standard(case: Case, words: str) -> None:
    rank = next(x.ndim for x in case.inputs if isinstance(x, np.ndarray))
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node(case.op, [f"i{i}" for i in range(len(case.inputs))], ["y"], **case.attributes)],
            "graph",
            [
                helper.make_tensor_value_info(f"i{i}", TensorProto.FLOAT, x.shape)
                for i, x in enumerate(case.inputs)
                if isinstance(x, np.ndarray)
            ],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * rank)],
        ),
        opset_imports=[helper.make_opsetid("", case.opset)],
        ir_version=10,
    )
    with pytest.raises((InvalidModelError, UnsupportedError), match=words):
        gecc.compile(model)

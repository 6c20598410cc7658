"""Text that xDSL prints and its own parser takes for something else: strings, and floats that are not finite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from gecc.context import make_context
from gecc.parser import TextParser
from gecc.tools.gecc_translate import main


def read_back(attr: Attribute) -> Attribute:
    text = str(ModuleOp([], {"x": attr}))
    return TextParser(make_context(), text).parse_module().attributes["x"]


@pytest.mark.parametrize("text", ["é", "узел", "🚀", 'ä"\\\n\t\0', "plain", "", "\u2028", "\\C3\\A9"])
def test_strings_read_back(text: str) -> None:
    assert read_back(StringAttr(text)) == StringAttr(text)


def test_bytes_that_are_no_text_stay_bytes() -> None:
    assert read_back(BytesAttr(b"\xff\xfe")) == BytesAttr(b"\xff\xfe")


@pytest.mark.parametrize(
    ("kind", "bits"),
    [
        (f32, [0xFFC00000, 0x7F800000, 0xFF800000, 0x3F800000]),
        (f16, [0x7C00, 0xFC00, 0x7E00, 0x3C00]),
        (bf16, [0x7F80, 0xFF80, 0x7FC0, 0x3F80]),
        (f64, [0x7FF0 << 48, 0xFFF0 << 48, 0x3FF0 << 48, 1]),
    ],
    ids=str,
)
def test_floats_that_are_not_finite_read_back(kind: Any, bits: list[int]) -> None:
    data = np.array(bits, f"u{kind.bitwidth // 8}").tobytes()
    attr: DenseIntOrFPElementsAttr[Any] = DenseIntOrFPElementsAttr(TensorType(kind, [4]), BytesAttr(data))
    found = read_back(attr)
    assert isinstance(found, DenseIntOrFPElementsAttr)
    assert found.data.data == data


def test_hexadecimal_integers_stay_integers() -> None:
    text = "builtin.module attributes {x = dense<[0x10, 3]> : tensor<2xi8>} {}"
    found = TextParser(make_context(), text).parse_module().attributes["x"]
    assert isinstance(found, DenseIntOrFPElementsAttr)
    assert list(found.get_values()) == [16, 3]


def test_more_bits_than_the_type_has() -> None:
    text = "builtin.module attributes {x = dense<0x17F800000> : tensor<2xf32>} {}"
    with pytest.raises(ParseError, match="expected the bits of f32, at most 8 digits"):
        TextParser(make_context(), text).parse_module()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("stage", ["ge", "fused", "tile", "buffer"])
def test_a_model_with_infinities_is_the_same_through_text(tmp_path: Path, level: str, stage: str) -> None:
    """As attributes of nodes, as in masks, and as small constants, which text holds within it."""
    inf, nan = float("inf"), float("nan")
    nodes = [
        helper.make_node("Add", ["x", "mask"], ["a"], "mask"),
        helper.make_node("LeakyRelu", ["a"], ["b"], "leaky", alpha=inf),
        helper.make_node("Elu", ["b"], ["c"], "elu", alpha=-inf),
        helper.make_node("HardSigmoid", ["c"], ["d"], "hard", alpha=nan, beta=-1.5),
        helper.make_node("Gemm", ["d", "w", "bias"], ["y"], "gemm", alpha=-0.0, beta=nan),
    ]
    constants = {
        "mask": np.array([0, -inf, inf, nan], np.float32),
        "w": np.eye(4, dtype=np.float32),
        "bias": np.array([nan, -nan, inf, 1], np.float32),
    }
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 4]) for name in "xy"]
    initializers = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "infinite", infos[:1], infos[1:], initializers)
    source, text, made, again = (str(tmp_path / name) for name in ("m.onnx", "m.mlir", "m.om", "again.om"))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), source)
    assert main([source, level, "-o", made]) == 0
    assert main([source, level, "--stage", stage, "-o", text]) == 0
    assert main([text, level, "-o", again]) == 0
    assert Path(again).read_bytes() == Path(made).read_bytes()

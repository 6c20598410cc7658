"""RNN, GRU and LSTM against ONNX Runtime: directions, lengths, states, peepholes, activations, element types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper

from gecc import api
from gecc.context import make_context
from gecc.debug import verify_numerics
from gecc.pipeline import specs_until
from test.unit.models.harness import Array, Arrays, compiled, reference, results

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def model(
    op: str,
    *,
    steps: int = 7,
    batch: int = 3,
    size: int = 5,
    hidden: int = 6,
    dtype: Any = np.float32,
    bias: bool = True,
    states: bool = False,
    lengths: list[int] | None = None,
    peepholes: bool = False,
    computed: bool = False,
    outputs: str = "yhc",
    seed: int = 0,
    **attributes: Any,
) -> tuple[ModelProto, Arrays]:
    """A model of one layer, and its inputs; with `computed` the weights are inputs too."""
    rng = np.random.default_rng(seed)
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    gates = GATES[op]

    def real(*shape: int) -> Array:
        return (rng.standard_normal(shape) * 0.7).astype(dtype)

    feeds: Arrays = {"x": real(steps, batch, size)}
    given: dict[str, Array] = {
        "w": real(directions, gates * hidden, size),
        "r": real(directions, gates * hidden, hidden),
    }
    names = ["x", "w", "r", "", "", "", "", ""]
    if bias:
        names[3], given["b"] = "b", real(directions, 2 * gates * hidden)
    if lengths is not None:
        names[4], feeds["lengths"] = "lengths", np.array(lengths, np.int32)
    if states:
        names[5], feeds["h0"] = "h0", real(directions, batch, hidden)
        if op == "LSTM":
            names[6], feeds["c0"] = "c0", real(directions, batch, hidden)
    if peepholes:
        names[7], given["p"] = "p", real(directions, 3 * hidden)
    if computed:
        feeds |= given
        given = {}
    while not names[-1]:
        names.pop()
    made = [name if name in outputs else "" for name in ("yhc" if op == "LSTM" else "yh")]
    node = helper.make_node(op, names, made, hidden_size=hidden, **attributes)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [node],
        "layer",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in feeds.items()
        ],
        [helper.make_tensor_value_info(name, kind, [None] * (4 if name == "y" else 3)) for name in made if name],
        [numpy_helper.from_array(array, name) for name, array in given.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), feeds


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "no_bias": {"bias": False},
    "reverse": {"direction": "reverse", "states": True},
    "bidirectional": {"direction": "bidirectional", "states": True},
    "one_row": {"batch": 1, "direction": "bidirectional"},
    "one_step": {"steps": 1, "states": True},
    "lengths": {"lengths": [7, 2, 4], "states": True},
    "lengths_reverse": {"lengths": [3, 7, 1], "direction": "reverse"},
    "lengths_both": {"lengths": [5, 1, 7], "direction": "bidirectional", "states": True},
    "clip": {"clip": 0.4, "states": True},
    "computed": {"computed": True, "direction": "bidirectional"},
    "only_rows": {"outputs": "y"},
    "only_last": {"outputs": "h", "direction": "bidirectional"},
    "wide": {"hidden": 37, "size": 19, "batch": 2},
}


def check(proto: ModelProto, feeds: Arrays, level: str = "O2", tolerance: float = 3e-6) -> None:
    found = results(compiled(proto, feeds, level=level), feeds)
    for name, wanted in reference(proto, feeds).items():
        assert found[name].shape == wanted.shape, name
        np.testing.assert_allclose(found[name], wanted, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("op", GATES)
def test_agrees_with_onnxruntime(op: str, name: str) -> None:
    check(*model(op, **CASES[name]))


@pytest.mark.parametrize("level", ["O0", "O1"])
@pytest.mark.parametrize("op", GATES)
def test_other_levels(op: str, level: str) -> None:
    check(*model(op, **CASES["lengths_both"]), level=level)


@pytest.mark.parametrize("name", ["plain", "bidirectional", "lengths", "clip"])
def test_reset_after_the_product(name: str) -> None:
    check(*model("GRU", linear_before_reset=1, **CASES[name]))


@pytest.mark.parametrize("name", ["plain", "bidirectional", "reverse", "clip"])
def test_peepholes(name: str) -> None:
    check(*model("LSTM", peepholes=True, **CASES[name]))


@pytest.mark.parametrize("name", ["plain", "bidirectional"])
def test_input_forget(name: str) -> None:
    check(*model("LSTM", input_forget=1, **CASES[name]))


@pytest.mark.parametrize(
    ("names", "alpha", "beta"),
    [
        (["Relu", "Softsign", "Sigmoid"], None, None),
        (["HardSigmoid", "ScaledTanh", "Tanh"], [0.3, 1.2], [0.4, 0.7]),
        (["Sigmoid", "LeakyRelu", "Affine"], [0.1, 0.8], [0.05]),
        (["Sigmoid", "Softplus", "ThresholdedRelu"], [0.2], None),
        (["Sigmoid", "Elu", "Tanh"], [0.5], None),
    ],
)
def test_activations(names: list[str], alpha: list[float] | None, beta: list[float] | None) -> None:
    given: dict[str, Any] = {"activation_alpha": alpha, "activation_beta": beta}
    given = {key: value for key, value in given.items() if value}
    check(*model("LSTM", activations=names, **given))


def test_directions_with_activations_of_their_own() -> None:
    names = ["Sigmoid", "Tanh", "Tanh", "HardSigmoid", "Relu", "Tanh"]
    check(*model("LSTM", activations=names, **CASES["bidirectional"]))
    check(*model("RNN", activations=["Tanh", "Relu"], **CASES["lengths_both"]))


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
@pytest.mark.parametrize("op", GATES)
def test_other_element_types(op: str, dtype: Any) -> None:
    """ONNX Runtime has f32 alone: what f32 gives is the yardstick."""
    tolerance = 2e-3 if dtype == np.float16 else 3e-6
    proto, feeds = model(op, dtype=dtype, **CASES["lengths_both"])
    found = results(compiled(proto, feeds), feeds)
    single, _ = model(op, **CASES["lengths_both"])
    for mine, theirs in zip(single.graph.initializer, proto.graph.initializer, strict=True):
        mine.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(theirs).astype(np.float32), mine.name))
    given = {name: a.astype(np.float32) if a.dtype == dtype else a for name, a in feeds.items()}
    for name, wanted in reference(single, given).items():
        assert found[name].dtype == dtype
        np.testing.assert_allclose(found[name], wanted, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("op", GATES)
def test_no_pass_moves_a_result(op: str) -> None:
    ctx = make_context()
    proto, feeds = model(op, **CASES["lengths_both"])
    shapes = {name: array.shape for name, array in feeds.items()}
    verify_numerics.run(ctx, api.import_model(ctx, proto, shapes), specs_until("O2"))


def test_a_step_of_an_lstm_is_few_launches() -> None:
    """The product, the cell, the hidden state and its row; the counter and the condition. Nothing is copied."""
    om = compiled(*model("LSTM", steps=9, batch=1, outputs="y")).om
    tasks = [task.label for task in om.tasks]
    head = next(i for i, label in enumerate(tasks) if label.startswith("label"))
    step = tasks[head + 1 : tasks.index("switch", head)]
    assert "Copy" not in step
    assert len(step) <= 6, step


def test_x_of_unknown_shape_is_refused() -> None:
    from gecc.errors import UnsupportedError

    proto, _ = model("GRU")
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "steps"
    with pytest.raises(UnsupportedError, match="GRU needs an input X of known shape"):
        api.compile(proto, host="forbid")


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("name", ["plain", "bidirectional", "reverse", "lengths"])
def test_weights_of_bytes(name: str, signed: bool) -> None:
    """com.microsoft's DynamicQuantizeLSTM, to the bit where nothing rounds the other way."""
    proto, feeds = model("LSTM", **CASES[name])
    node, arrays = proto.graph.node[0], {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}
    made: dict[str, Array] = {"b": arrays["b"]}
    for key in ("w", "r"):
        real = arrays[key].transpose(0, 2, 1)
        directions = real.shape[0]
        scale = np.abs(real).max((1, 2)).astype(np.float32) / 127
        zero = np.full(directions, 0 if signed else 128, np.int8 if signed else np.uint8)
        steps = np.rint(real / scale[:, None, None]) + zero[:, None, None]
        made |= {key: steps.astype(zero.dtype), f"{key}_scale": scale, f"{key}_zero": zero}
    names = [*node.input, *[""] * (8 - len(node.input)), "w_scale", "w_zero", "r_scale", "r_zero"]
    keep = [a for a in node.attribute if a.name in ("direction", "hidden_size")]
    quantised = helper.make_node("DynamicQuantizeLSTM", names, list(node.output), domain="com.microsoft")
    quantised.attribute.extend(keep)
    proto.graph.node[0].CopyFrom(quantised)
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in made.items())
    proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    check(proto, feeds, tolerance=2e-4)

"""What an ONNX node should give, and how sure of that one can be.

Every node is run by ONNX Runtime on the operands in the model's own types, or by `onnx.reference` where the runtime has
no kernel, and once more by `onnx.reference` with f64 in place of every narrower float. The second is the yardstick;
where the two disagree by more than roundings explain, one of them is wrong and the node is rejected.

How far a right answer may be from the yardstick is measured, not guessed: operands are moved by their own uncertainty
(and by a rounding or two), and what the result then moves by is the result's. A node whose result jumps, such as a
Floor just below an integer, is rejected.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from onnx import (
    AttributeProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    checker,
    helper,
    numpy_helper,
    shape_inference,
)

Array: TypeAlias = np.ndarray[Any, Any]

ROUNDINGS = 2.0
"""Units in the last place by which operands are moved."""

MARGIN = 6.0
"""Uncertainty over the movement by roundings that was seen, which has random signs."""

FEW, DRAWS = 64, 6
"""A result of fewer elements is moved by more draws of signs, since one of them may hardly move a sum."""

CARRY = 1.5
"""The same for the movement by the operands' own uncertainty, which is a bound already."""

SURE = {"float32": 2e-3, "float64": 1e-9, "float16": 1e-1}
"""Greatest uncertainty of a value, relative to its largest element, that is still worth comparing."""

EXACT = frozenset(
    """Abs And ArgMax ArgMin Cast Ceil Clip Concat DepthToSpace Equal Expand EyeLike Flatten Floor Gather GatherElements
    GatherND Greater GreaterOrEqual Identity IsInf IsNaN Less LessOrEqual Max MaxPool Min Neg Not OneHot Or Pad Relu
    ReduceMax ReduceMin Reshape Round Shape Sign Size Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze
    Where Xor GlobalMaxPool Hardmax ThresholdedRelu ConstantOfShape Range Constant""".split()
)
"""Operators that round nothing, so that exact operands give exact results."""

PARAMETERS: Mapping[str, frozenset[int]] = {"Resize": frozenset({1, 2, 3})}
"""Operands that are not data and keep their type."""

FAULTY = frozenset({"GlobalMaxPool", "LRN"})
"""Operators that `onnx.reference` has wrong: the first for one spatial dimension."""


class Rejected(Exception):
    """The node proves nothing: no oracle runs it, oracles disagree, or its result is too uncertain."""


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor and its oracle: `array` in the model's type, `wide` in f64, `slack` the distance a right answer may be
    from `wide`; 0 says that all agree bit by bit."""

    name: str
    array: Array
    wide: Array
    slack: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    @property
    def rank(self) -> int:
        return self.array.ndim

    @property
    def floating(self) -> bool:
        return self.dtype.kind == "f"


def given(name: str, array: Array) -> Value:
    """A value that is an input or a constant."""
    return Value(name, array, _widened(array))


def evaluate(node: NodeProto, operands: Sequence[Value | None], opset: int) -> list[Value]:
    """The outputs of a node. Raises Rejected."""
    arrays = [None if v is None else v.array for v in operands]
    _refuse_traps(node, arrays)
    narrow = _narrow(node, arrays, opset)
    wide = _wide(node, operands, [_wide_operand(node, i, v) for i, v in enumerate(operands)], opset)
    if wide is None:
        wide = [_widened(a) for a in narrow]
    few = max((a.size for a in narrow), default=0) < FEW
    moved = _moved(node, operands, opset, DRAWS if few else 1)
    return [
        _value(name, node, a, w, [m[i] for m in moved.uncertain], [m[i] for m in moved.rounded])
        for i, (name, a, w) in enumerate(zip(node.output, narrow, wide, strict=True))
    ]


def run(model: ModelProto, feeds: Mapping[str, Array]) -> dict[str, Value]:
    """All values of a model. Raises Rejected."""
    opset = model.opset_import[0].version
    values = {t.name: given(t.name, numpy_helper.to_array(t)) for t in model.graph.initializer}
    values |= {name: given(name, array) for name, array in feeds.items()}
    for node in model.graph.node:
        operands = [values[name] if name else None for name in node.input]
        values |= {v.name: v for v in evaluate(node, operands, opset)}
    return values


def fault(found: Array, expected: Value) -> str | None:
    """What is wrong with a result, or None."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    got, want = _widened(found), expected.wide
    if expected.slack == 0 and expected.floating:
        want = _widened(expected.array)
    with np.errstate(all="ignore"):
        distance = np.abs(got - want) if expected.floating else (got != want).astype(np.float64)
    same = (got == want) | (np.isnan(got) & np.isnan(want) if expected.floating else False)
    bad = ~same & ~(distance <= expected.slack)
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return (
        f"{int(bad.sum())} of {bad.size} elements are wrong, first at {list(at)}: {found[at]}, expected {want[at]} "
        f"within {expected.slack:.3g}"
    )


def check(node: NodeProto, operands: Sequence[Value | None], results: Sequence[Value], opset: int) -> None:
    """Ask the standard's checker about a node with these operands and results. Raises Rejected."""
    model, _ = _model(node, [None if v is None else v.array for v in operands], opset)
    for declared, value in zip(model.graph.output, results, strict=True):
        declared.CopyFrom(_info(value.name, value.array))
    try:
        checker.check_model(model, full_check=True)
    except (checker.ValidationError, shape_inference.InferenceError) as error:
        raise Rejected(f"the standard does not allow {node.op_type}: {error}") from error


# -- running a node ----------------------------------------------------------------------------------------------------


def _narrow(node: NodeProto, arrays: Sequence[Array | None], opset: int) -> list[Array]:
    """The node in the model's types, by ONNX Runtime first."""
    found = _by_runtime(node, arrays, opset)
    if found is None:
        found = _by_reference(node, arrays, opset)
    if found is None:
        raise Rejected(f"no oracle runs {node.op_type}")
    return found


def _wide(
    node: NodeProto, operands: Sequence[Value | None], arrays: Sequence[Array | None], opset: int
) -> list[Array] | None:
    """The node in f64, by the reference first; in the operands' types where neither oracle has it in f64."""
    wide = _widened_node(node)
    found = None if node.op_type in FAULTY else _by_reference(wide, arrays, opset)
    if found is None:
        found = _by_runtime(wide, arrays, opset)
    if found is None:
        narrow = [
            a if a is None or v is None else a.astype(v.dtype, copy=False)
            for a, v in zip(arrays, operands, strict=True)
        ]
        found = _by_runtime(node, narrow, opset)
    return None if found is None else [_widened(a) for a in found]


def _model(node: NodeProto, arrays: Sequence[Array | None], opset: int) -> tuple[ModelProto, dict[str, Array]]:
    """A model of one node; operands that are the same array twice are one input."""
    feeds = {name: a for name, a in zip(node.input, arrays, strict=True) if a is not None}
    inputs = [_info(name, a) for name, a in feeds.items()]
    outputs = [ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "node", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), feeds


def _info(name: str, array: Array) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


@cache
def _runtime() -> ModuleType:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    return onnxruntime


def _by_runtime(node: NodeProto, arrays: Sequence[Array | None], opset: int) -> list[Array] | None:
    runtime = _runtime()
    errors = runtime.capi.onnxruntime_pybind11_state
    model, feeds = _model(node, arrays, opset)
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found = session.run(list(node.output), {name: np.asarray(value) for name, value in feeds.items()})
    except (errors.Fail, errors.InvalidArgument, errors.NotImplemented, errors.InvalidGraph, errors.RuntimeException):
        return None
    return [np.asarray(a) for a in found]


def _by_reference(node: NodeProto, arrays: Sequence[Array | None], opset: int) -> list[Array] | None:
    from onnx.reference import ReferenceEvaluator

    model, feeds = _model(node, arrays, opset)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ReferenceEvaluator(model, new_ops=_in_double()).run(None, feeds)
    # The reference evaluator is a pile of numpy expressions: what it cannot do shows up as any of these.
    except (
        *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError),
        *(NotImplementedError, RuntimeError, TypeError, ValueError),
    ):
        return None
    return [np.asarray(a) for a in found] if isinstance(found, Sequence) else None


@cache
def _in_double() -> list[type[Any]]:
    """Operators that the reference rounds to f32, or whose constants it does."""
    from onnx.reference.op_run import OpRun

    erf = np.vectorize(math.erf, otypes=[np.float64])

    class Erf(OpRun):
        op_domain = ""

        def _run(self, x: Array) -> tuple[Array]:
            return (erf(x).astype(x.dtype),)

    class Gelu(OpRun):
        op_domain = ""

        def _run(self, x: Array, approximate: str | None = None) -> tuple[Array]:
            wide = x.astype(np.float64)
            if approximate == "tanh":
                bell = np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3))
            else:
                bell = erf(wide / math.sqrt(2))
            return ((0.5 * wide * (1 + bell)).astype(x.dtype),)

    class HardSwish(OpRun):
        op_domain = ""

        def _run(self, x: Array) -> tuple[Array]:
            wide = x.astype(np.float64)
            return ((wide * np.clip(wide / 6 + 0.5, 0, 1)).astype(x.dtype),)

    return [Erf, Gelu, HardSwish]


def _refuse_traps(node: NodeProto, arrays: Sequence[Array | None]) -> None:
    """Keep from what is undefined, or ends the oracle's process."""
    if node.op_type in ("Div", "Mod") and arrays[1] is not None and arrays[1].dtype.kind in "iu":
        if not arrays[1].all() or (arrays[1] == -1).any():
            raise Rejected("division by zero, or overflow")
    if node.op_type == "Cast" and arrays[0] is not None and arrays[0].dtype.kind == "f":
        to = helper.tensor_dtype_to_np_dtype(next(a.i for a in node.attribute if a.name == "to"))
        x = arrays[0].astype(np.float64)
        if to.kind in "iu":
            info = np.iinfo(to)
            if not np.isfinite(x).all() or (x.size and (np.trunc(x).min() < info.min or np.trunc(x).max() > info.max)):
                raise Rejected("the integer type does not hold the values")


# -- f64 and uncertainty -----------------------------------------------------------------------------------------------


def _widened(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _wide_operand(node: NodeProto, i: int, value: Value | None) -> Array | None:
    if value is None:
        return None
    return value.array if i in PARAMETERS.get(node.op_type, ()) else value.wide


def _widened_node(node: NodeProto) -> NodeProto:
    """A node that makes f64 where it made narrower floats."""
    narrow = (TensorProto.FLOAT, TensorProto.FLOAT16)
    if not any(a.name in ("to", "dtype") and a.i in narrow for a in node.attribute):
        return node
    result = NodeProto()
    result.CopyFrom(node)
    for attribute in result.attribute:
        if attribute.type == AttributeProto.INT and attribute.name in ("to", "dtype") and attribute.i in narrow:
            attribute.i = TensorProto.DOUBLE
    return result


def _epsilon(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).eps)


@dataclass(frozen=True)
class Moved:
    """Results of a node for operands moved both ways: by their own uncertainty, and by roundings of each element."""

    uncertain: list[list[Array]]
    rounded: list[list[Array]]


def _moved(node: NodeProto, operands: Sequence[Value | None], opset: int, draws: int) -> Moved:
    parameters = PARAMETERS.get(node.op_type, frozenset())
    data = [v is not None and v.floating and i not in parameters for i, v in enumerate(operands)]
    uncertain: list[Array | None] = [
        np.full(v.shape, v.slack) if v is not None and is_data and v.slack else None
        for v, is_data in zip(operands, data, strict=True)
    ]
    rounded: list[Array | None] = [
        ROUNDINGS * _epsilon(v.dtype) * np.abs(v.wide) if v is not None and is_data else None
        for v, is_data in zip(operands, data, strict=True)
    ]
    if node.op_type in EXACT:
        rounded = [None] * len(operands)
    return Moved(
        _moved_by(node, operands, uncertain, opset, draws),
        _moved_by(node, operands, rounded, opset, draws),
    )


def _moved_by(
    node: NodeProto, operands: Sequence[Value | None], amounts: Sequence[Array | None], opset: int, draws: int
) -> list[list[Array]]:
    if all(amount is None or not amount.any() for amount in amounts):
        return []
    rng = np.random.default_rng(1)
    signs: list[Array | None] = []
    results: list[list[Array]] = []
    for draw in range(2 * draws):
        way = -1.0 if draw % 2 else 1.0
        if way > 0:
            signs = [None if a is None else rng.choice([-1.0, 1.0], a.shape) for a in amounts]
        moved: list[Array | None] = []
        for i, (value, amount, sign) in enumerate(zip(operands, amounts, signs, strict=True)):
            array = _wide_operand(node, i, value)
            if array is not None and amount is not None and sign is not None:
                array = array + np.where(np.isfinite(array), way * sign * amount, 0)
            moved.append(array)
        found = _wide(node, operands, moved, opset)
        if found is not None:
            results.append(found)
    if not results:
        raise Rejected(f"no yardstick for {node.op_type}")
    return results


def _value(
    name: str, node: NodeProto, narrow: Array, wide: Array, uncertain: list[Array], rounded: list[Array]
) -> Value:
    """One output from its accounts. Raises Rejected when they do not go together."""
    moved = [*uncertain, *rounded]
    if narrow.shape != wide.shape:
        raise Rejected(f"oracles of {node.op_type} disagree: shapes {narrow.shape} and {wide.shape}")
    if narrow.dtype.kind != "f":
        if not np.array_equal(narrow, wide) or not all(np.array_equal(narrow, m) for m in moved):
            raise Rejected(f"oracles of {node.op_type} disagree, or its result is near a jump")
        return Value(name, narrow, narrow)
    plain = np.isfinite(wide)
    for other in (narrow, *moved):
        if other.shape != wide.shape or not np.array_equal(np.isfinite(other), plain):
            raise Rejected(f"{node.op_type} overflows, or its oracles disagree")
        if not np.array_equal(other[~plain], wide[~plain], equal_nan=True):
            raise Rejected(f"oracles of {node.op_type} disagree where they are not finite")
    scale = float(np.abs(wide[plain]).max(initial=0))
    apart = float(np.abs(narrow.astype(np.float64)[plain] - wide[plain]).max(initial=0))
    if node.op_type in EXACT and not moved and apart == 0:
        return Value(name, narrow, wide)

    def spread(arrays: list[Array]) -> float:
        return max((float(np.abs(a - wide)[plain].max(initial=0)) for a in arrays), default=0.0)

    slack = (1 if node.op_type in EXACT else CARRY) * spread(uncertain) + MARGIN * spread(rounded)
    if node.op_type not in EXACT or apart > slack:
        # Below the smallest normal number precision is absolute.
        slack += 4 * _epsilon(narrow.dtype) * scale + 4 * float(np.finfo(narrow.dtype).smallest_subnormal)
    if apart > slack:
        raise Rejected(f"oracles of {node.op_type} are {apart:.3g} apart, expected {slack:.3g}")
    if slack > SURE[narrow.dtype.name] * scale and scale:
        raise Rejected(f"{node.op_type} is too uncertain")
    return Value(name, narrow, wide, slack)

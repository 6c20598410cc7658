"""Shape inference: shape arithmetic folds, forms with shape operands become static, partial knowledge is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.errors import ShapeError
from gecc.passes.ge.infer_shapes import infer_operations
from gecc.passes.ge.infer_shapes.values import Values
from gecc.rewrite import name_location

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Graph

DYNAMIC_OPS = ("ge.Dyn", "ge.Shape", "ge.Size", "ge.Range", "ge.ConstantOfShape")


def unknown(rank: int) -> Any:
    return TensorType(ge.element_type(np.float32), (-1,) * rank)


def ints(g: Graph, *values: int) -> SSAValue:
    return g.const(np.array(values, np.int64))


def dim(g: Graph, x: SSAValue, index: int) -> SSAValue:
    """One dimension of x as a vector of one element."""
    return g.add(ge.Gather(g.add(ge.Shape(x)), ints(g, index)))


def image(g: Graph, rng: np.random.Generator, *shape: int) -> SSAValue:
    return g.input(rng.normal(size=shape).astype(np.float32))


def is_static(g: Graph) -> bool:
    return not any(
        op.name.startswith(DYNAMIC_OPS) or any(-1 in ge.dims(result) for result in op.results) for op in g.block.ops
    )


def test_reshape_from_shape_arithmetic(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 2, 3, 4, 5)
    heads = graph.add(ge.RealDiv(dim(graph, x, 3), ints(graph, 5)))
    flat = graph.add(ge.Mul(dim(graph, x, 1), dim(graph, x, 2)))
    shape = graph.add(ge.Concat([dim(graph, x, 0), flat, heads, ints(graph, -1)], 0))
    graph.finish(graph.add(ge.DynReshape(x, shape, result_type=unknown(4)))).check("ge-infer-shapes", rtol=0, atol=0)
    assert graph.names() == ["ge.Reshape"]
    assert is_static(graph)


@pytest.mark.parametrize(
    ("wanted", "allowzero", "expected"),
    [
        ((0, -1), False, (2, 12)),
        ((-1,), False, (24,)),
        ((4, 0, -1), False, (4, 3, 2)),
        ((2, 3, 4, 1), True, (2, 3, 4, 1)),
    ],
)
def test_reshape_rules(
    graph: Graph, rng: np.random.Generator, wanted: Sequence[int], allowzero: bool, expected: Sequence[int]
) -> None:
    x = image(graph, rng, 2, 3, 4)
    y = graph.add(ge.DynReshape(x, ints(graph, *wanted), allowzero=allowzero))
    graph.finish(y).check("ge-infer-shapes", rtol=0, atol=0)
    [reshape] = [op for op in graph.block.ops if isinstance(op, ge.Reshape)]
    assert ge.dims(reshape.result) == tuple(expected)


def test_expand_with_where_on_the_shape(graph: Graph, rng: np.random.Generator) -> None:
    """Repeated heads as the legacy exporter writes them: ConstantOfShape, Mul -1, Equal, Where on a shape."""
    x = image(graph, rng, 2, 1, 3, 4)
    wanted = ints(graph, 2, 5, -1, 4)
    ones = graph.add(ge.ConstantOfShape(ints(graph, 4), ge.dense(np.array([1], np.int64))))
    minus = graph.add(ge.Mul(ones, ints(graph, -1)))
    picked = graph.add(ge.Select(graph.add(ge.Equal(wanted, minus)), ones, wanted))
    graph.finish(graph.add(ge.DynExpand(x, picked, result_type=unknown(4))))
    graph.check("ge-infer-shapes", rtol=0, atol=0)
    assert graph.names() == ["ge.Expand"]


def test_pads_as_the_legacy_exporter_computes_them(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 1, 2, 3, 4)
    zeros = graph.add(ge.ConstantOfShape(ints(graph, 4), ge.dense(np.array([0], np.int64))))
    pads = graph.add(ge.Concat([ints(graph, 1, 2, 3, 4), zeros], 0))
    pairs = graph.add(ge.DynReshape(pads, ints(graph, -1, 2)))
    flipped = graph.add(ge.DynSlice(pairs, ints(graph, -1), ints(graph, -(2**63)), ints(graph, 0), ints(graph, -1)))
    order = graph.add(ge.DynReshape(graph.add(ge.Transpose(flipped, (1, 0))), ints(graph, -1)))
    graph.finish(graph.add(ge.DynPad(x, graph.add(ge.Cast(order, ge.element_type(np.int64))))))
    graph.check("ge-infer-shapes", rtol=0, atol=0)
    assert graph.names() == ["ge.Pad"]
    assert is_static(graph)


def test_every_form_becomes_static(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 1, 2, 4, 1)
    n = dim(graph, x, 2)
    a = graph.add(ge.DynSlice(x, ints(graph, 1), n, ints(graph, 2)))
    b = graph.add(ge.DynTile(a, graph.add(ge.Concat([ints(graph, 1, 1), n, ints(graph, 2)], 0))))
    c = graph.add(ge.DynSqueeze(b, ints(graph, 0)))
    d = graph.add(ge.DynUnsqueeze(c, ints(graph, 0)))
    sizes = graph.add(ge.Concat([graph.add(ge.Shape(d, start=0, end=2)), ints(graph, 6, 6)], 0))
    e = graph.add(ge.DynResize(d, sizes=sizes, mode="linear"))
    f = graph.add(ge.DynResize(e, graph.const([1.0, 1.0, 2.0, 1.5]), coordinate_mode="asymmetric"))
    graph.finish(f, graph.add(ge.DynSqueeze(x))).check("ge-infer-shapes", rtol=0, atol=0)
    assert is_static(graph)


def test_scales_computed_from_shapes_in_floating_point(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 1, 2, 5, 7)
    sizes = graph.add(ge.Cast(graph.add(ge.Shape(x, start=2)), ge.element_type(np.float32)))
    wanted = graph.add(ge.Floor(graph.add(ge.Mul(sizes, graph.const([1.5, 2.0])))))
    scales = graph.add(ge.Concat([graph.const([1.0, 1.0]), graph.add(ge.RealDiv(wanted, sizes))], 0))
    graph.finish(graph.add(ge.DynResize(x, scales))).check("ge-infer-shapes", rtol=0, atol=0, double=False)
    [resize] = [op for op in graph.block.ops if isinstance(op, ge.Resize)]
    assert ge.dims(resize.result) == (1, 2, 7, 14)


def test_range_and_large_fill(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 300, 4)
    length = graph.add(ge.DynSqueeze(dim(graph, x, 0)))
    positions = graph.add(ge.Range(graph.const(np.array(0, np.int64)), length, graph.const(np.array(1, np.int64))))
    halves = graph.add(ge.Range(graph.const(0.0), graph.const(2.0), graph.const(0.5)))
    fill = graph.add(ge.ConstantOfShape(graph.add(ge.Shape(x)), ge.dense(np.array([2.5], np.float32))))
    graph.finish(positions, halves, graph.add(ge.Add(x, fill))).check("ge-infer-shapes", rtol=0, atol=0)
    assert is_static(graph)
    assert graph.names() == ["ge.Expand", "ge.Add"]


def test_number_of_elements_in_a_scale(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 3, 4)
    n = graph.add(ge.Cast(graph.add(ge.Size(x)), ge.element_type(np.float32)))
    graph.finish(graph.add(ge.RealDiv(x, graph.add(ge.Sqrt(n)))))
    graph.check("ge-infer-shapes", rtol=0, atol=0, double=False)
    assert graph.names() == ["ge.RealDiv"]


def test_types_follow_the_operands(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 2, 3)
    y = graph.add(ge.Relu(x, result_type=unknown(2)))
    graph.finish(graph.add(ge.Concat([y, y], 1, result_type=unknown(2))))
    graph.apply("ge-infer-shapes")
    assert is_static(graph)
    [function] = [op for op in graph.module.walk() if isinstance(op, FuncOp)] if graph.module else []
    [output] = function.function_type.outputs
    assert output == TensorType(ge.element_type(np.float32), (2, 6))


# -- dynamic inputs -------------------------------------------------------------------------------------------------


def named(g: Graph, names: Sequence[Sequence[str]]) -> None:
    assert g.module is not None
    [function] = [op for op in g.module.walk() if isinstance(op, FuncOp)]
    function.attributes["ge.input_dims"] = ArrayAttr([ArrayAttr([StringAttr(n) for n in row]) for row in names])


def test_a_dynamic_batch_leaves_one_dimension(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 6, 4)).astype(np.float32), shape=(-1, 6, 4))
    shape = graph.add(ge.Concat([dim(graph, x, 0), ints(graph, 3, 2, 4)], 0))
    graph.finish(graph.add(ge.DynReshape(x, shape))).check("ge-infer-shapes", rtol=0, atol=0)
    assert graph.names() == ["ge.Reshape"]
    [reshape] = [op for op in graph.block.ops if isinstance(op, ge.Reshape)]
    assert ge.dims(reshape.result) == (-1, 3, 2, 4)


def test_equal_names_are_equal_sizes(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 6)).astype(np.float32), shape=(-1, -1))
    y = graph.input(rng.normal(size=(2, 6)).astype(np.float32), shape=(-1, -1))
    same = graph.add(ge.Equal(dim(graph, x, 0), dim(graph, y, 0)))
    other = graph.add(ge.Equal(dim(graph, x, 0), dim(graph, y, 1)))
    graph.finish(same, other)
    named(graph, [["n", "a"], ["n", "b"]])
    graph.check("ge-infer-shapes", rtol=0, atol=0)
    [result] = [op for op in graph.block.ops if isinstance(op, ge.Equal)]
    assert result.result.first_use is not None
    assert graph.names().count("ge.Equal") == 1


def test_dynamic_sizes_cancel(graph: Graph, rng: np.random.Generator) -> None:
    """(n * 8) / n elements a row, whatever n is."""
    x = graph.input(rng.normal(size=(3, 2, 4)).astype(np.float32), shape=(-1, 2, 4))
    flat = graph.add(ge.DynReshape(x, ints(graph, -1)))
    back = graph.add(ge.DynReshape(flat, graph.add(ge.Concat([dim(graph, x, 0), ints(graph, -1)], 0))))
    graph.finish(back).check("ge-infer-shapes", rtol=0, atol=0)
    [*_, last] = [op for op in graph.block.ops if isinstance(op, ge.Reshape)]
    assert ge.dims(last.result) == (-1, 8)


def test_two_dynamic_dimensions_stay_dynamic_and_right(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 5, 4)).astype(np.float32), shape=(-1, -1, 4))
    shape = graph.add(ge.Concat([dim(graph, x, 0), dim(graph, x, 1), ints(graph, 2, 2)], 0))
    graph.finish(graph.add(ge.DynReshape(x, shape))).check("ge-infer-shapes", rtol=0, atol=0)
    [reshape] = [op for op in graph.block.ops if isinstance(op, ge.DynReshape)]
    assert ge.dims(reshape.result) == (-1, -1, 2, 2)


def test_a_size_is_never_minus_one(graph: Graph, rng: np.random.Generator) -> None:
    x = graph.input(rng.normal(size=(2, 1, 4)).astype(np.float32), shape=(-1, 1, 4))
    wanted = graph.add(ge.Concat([dim(graph, x, 0), ints(graph, 3, 4)], 0))
    same = graph.add(ge.Equal(wanted, ints(graph, -1, -1, -1)))
    picked = graph.add(ge.Select(same, ints(graph, 1, 1, 1), wanted))
    graph.finish(graph.add(ge.DynExpand(x, picked))).check("ge-infer-shapes", rtol=0, atol=0)
    [expand] = [op for op in graph.block.ops if isinstance(op, ge.DynExpand)]
    assert ge.dims(expand.result) == (-1, 3, 4)


def random_shape_program(g: Graph, rng: np.random.Generator, x: SSAValue) -> SSAValue:
    """A vector of one element that random arithmetic makes of the shape of x."""
    pool = [dim(g, x, i) for i in range(3)] + [ints(g, int(n)) for n in rng.integers(1, 5, size=2)]
    for _ in range(6):
        a, b = (pool[rng.integers(len(pool))] for _ in range(2))
        match rng.integers(9):
            case 0:
                made = g.add(ge.Add(a, b))
            case 1:
                made = g.add(ge.Mul(a, b))
            case 2:
                made = g.add(ge.Sub(a, b))
            case 3:
                made = g.add(ge.RealDiv(a, ints(g, int(rng.integers(1, 4)))))
            case 4:
                made = g.add(ge.Maximum(a, b))
            case 5:
                made = g.add(ge.Select(g.add(ge.Less(a, b)), a, b))
            case 6:
                made = g.add(ge.ReduceProd(g.add(ge.Concat([a, b], 0)), (0,), keep_dims=True))
            case 7:
                made = g.add(ge.Select(g.add(ge.Equal(a, b)), ints(g, 1), b))
            case _:
                made = g.add(ge.Minimum(g.add(ge.Neg(a)), b))
        pool.append(made)
    return pool[-1]


@pytest.mark.parametrize("seed", range(60))
def test_partial_knowledge_is_never_wrong(make_graph: Callable[[], Graph], seed: int) -> None:
    """What is folded with dynamic dimensions is right for several sizes of them."""
    for sizes in ((1, 1, 2), (2, 3, 5), (3, 1, 1)):
        rng = np.random.default_rng(seed)
        g = make_graph()
        hidden = rng.random(3) < 0.6
        x = g.input(np.ones(sizes, np.float32), shape=[-1 if h else s for h, s in zip(hidden, sizes, strict=True)])
        g.finish(random_shape_program(g, rng, x), random_shape_program(g, rng, x))
        g.check("ge-infer-shapes", rtol=0, atol=0)


@pytest.mark.parametrize("seed", range(10))
def test_static_inputs_leave_constants_only(make_graph: Callable[[], Graph], seed: int) -> None:
    rng = np.random.default_rng(seed)
    g = make_graph()
    x = g.input(np.ones((2, 3, 4), np.float32))
    g.finish(random_shape_program(g, rng, x)).check("ge-infer-shapes", rtol=0, atol=0)
    assert g.names() == []


# -- errors ---------------------------------------------------------------------------------------------------------


def test_a_shape_from_data_is_an_error_that_names_everything(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 1, 6)
    wanted = graph.input(np.array([2, 3], np.int64))
    doubled = ge.Mul(wanted, ints(graph, 1))
    graph.add(doubled)
    expand = ge.DynExpand(x, doubled, result_type=unknown(2))
    doubled.location, expand.location = name_location("scale"), name_location("block/expand")
    graph.finish(graph.add(expand))
    with pytest.raises(ShapeError) as error:
        graph.apply("ge-infer-shapes")
    for part in ("ge.DynExpand", "'shape'", "block/expand", "ge.Mul", "scale", "values of input 1"):
        assert part in str(error.value)


def test_one_unknown_size_of_a_reshape_follows_from_the_others(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 2, 6)
    rows = graph.input(np.array([4], np.int64))
    shape = graph.add(ge.Concat([rows, ints(graph, 3)], 0))
    graph.finish(graph.add(ge.DynReshape(x, shape))).check("ge-infer-shapes", rtol=0, atol=0)
    assert graph.names() == ["ge.Reshape"]


def test_a_wrong_declared_shape_is_an_error(graph: Graph, rng: np.random.Generator) -> None:
    x = image(graph, rng, 2, 6)
    relu = ge.Relu(x)
    relu.location = name_location("act")
    y = graph.add(relu)
    graph.finish(y)
    y._type = TensorType(ge.element_type(np.float32), (2, 7))
    with pytest.raises(ShapeError, match=r"2x7.*dimension 1 is 7, not 6(.|\n)*act"):
        graph.apply("ge-infer-shapes")


def test_shapes_that_do_not_broadcast_are_an_error(graph: Graph, rng: np.random.Generator) -> None:
    x, y = image(graph, rng, 2, 6), image(graph, rng, 2, 5)
    add = ge.Add(x, y, result_type=unknown(2))
    add.location = name_location("sum")
    graph.block.add_op(add)
    values = Values(graph.store, graph.block.args, ())
    with pytest.raises(ShapeError, match=r"do not broadcast(.|\n)*sum"):
        infer_operations(list(graph.block.ops), values)

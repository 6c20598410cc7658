"""If, Loop and Scan as kernels and jumps, at every level, by several ranks, against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, checker, parser
from xdsl.dialects.builtin import ModuleOp

from gecc import api
from gecc.debug import verify_numerics
from gecc.errors import ShapeError, UnsupportedError
from gecc.om.records import SwitchTask
from gecc.pipeline import specs_until
from test.unit.models.harness import Array, Arrays, compiled, reference, results

RNG = np.random.default_rng(11)
HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

SWAPPED = """
    g (float[4] x, float[4] y) => (float[4] a, float[4] b, float[5, 4] rows)
    <int64 n = {5}, bool go = {1}> {
        a, b, rows = Loop(n, go, x, y) <body = body (int64 i, bool c, float[4] u, float[4] v)
            => (bool c2, float[4] v2, float[4] s, float[4] row) {
            c2 = Identity(c)
            v2 = Identity(v)
            s = Identity(u)
            row = Sub(u, v)
        }>
    }
"""

FIBONACCI = """
    g (float[4] x, float[4] y) => (float[4] a, float[4] b)
    <int64 n = {6}, bool go = {1}> {
        a, b = Loop(n, go, x, y) <body = body (int64 i, bool c, float[4] u, float[4] v)
            => (bool c, float[4] v2, float[4] s) {
            v2 = Identity(v)
            s = Add(u, v)
        }>
    }
"""

UNTIL = """
    g (float[3, 4] x, float limit) => (float[3, 4] y, int64 count)
    <int64 n = {1000}, int64 zero = {0}, int64 one = {1}, float[1] half = {0.5}> {
        total = ReduceSum <keepdims = 0> (x)
        go = Less(total, limit)
        y, count = Loop(n, go, x, zero) <body = body (int64 i, bool c, float[3, 4] u, int64 k)
            => (bool c2, float[3, 4] v, int64 k2) {
            v = Add(u, half)
            sum = ReduceSum <keepdims = 0> (v)
            c2 = Less(sum, limit)
            k2 = Add(k, one)
        }>
    }
"""

ALTERNATING = """
    g (float[2, 3] x, float[2, 3] w) => (float[7, 2, 3] rows, float[2, 3] last)
    <int64 n = {7}, bool go = {1}, int64 two = {2}, int64 zero = {0}> {
        last, rows = Loop(n, go, x) <body = body (int64 i, bool c, float[2, 3] u)
            => (bool c2, float[2, 3] v, float[2, 3] row) {
            c2 = Identity(c)
            r = Mod(i, two)
            even = Equal(r, zero)
            v = If(even) <
                then_branch = then () => (float[2, 3] p) { q = Mul(u, w)  p = Tanh(q) },
                else_branch = other () => (float[2, 3] p) { p = Add(u, x) }
            >
            row = Exp(v)
        }>
    }
"""

NESTED = """
    g (float[4] x) => (float[3, 2, 4] all, float[4] y)
    <int64 outer = {3}, int64 inner = {2}, bool go = {1}, float[1] k = {0.75}> {
        y, all = Loop(outer, go, x) <body = body (int64 i, bool c, float[4] u)
            => (bool c2, float[4] v, float[2, 4] rows) {
            c2 = Identity(c)
            f = Cast <to = 1> (i)
            v, rows = Loop(inner, go, u) <body = deep (int64 j, bool d, float[4] s)
                => (bool d2, float[4] t, float[4] row) {
                d2 = Identity(d)
                a = Mul(s, k)
                t = Add(a, f)
                row = Sub(t, u)
            }>
        }>
    }
"""

BRANCHES = """
    g (float[5] x, float[5] y) => (float[5] a, float[5] b, float[5] c)
    <float[1] zero = {0.0}> {
        sum = ReduceSum <keepdims = 1> (x)
        positive = Greater(sum, zero)
        z = Add(x, y)
        a, b, c = If(positive) <
            then_branch = then () => (float[5] p, float[5] q, float[5] r) {
                p = Mul(z, y)
                q = Identity(p)
                r = Identity(x)
            },
            else_branch = other () => (float[5] p, float[5] q, float[5] r) {
                p = Identity(z)
                q = Exp(y)
                r = Sub(q, z)
            }
        >
    }
"""

SCANNED = """
    g (float[2] s, float[6, 2] x, float[2, 3, 6] z) => (float[2] last, float[2, 6] rows, float[6, 3, 2] more)
    {
        last, rows, more = Scan <num_scan_inputs = 2, scan_input_axes = [0, 2], scan_input_directions = [1, 0],
            scan_output_axes = [1, 0], scan_output_directions = [0, 1],
            body = body (float[2] u, float[2] p, float[2, 3] q) => (float[2] v, float[2] row, float[3, 2] turned) {
            v = Add(u, p)
            row = Tanh(v)
            t = Transpose <perm = [1, 0]> (q)
            turned = Mul(t, v)
        }> (s, x, z)
    }
"""

PRODUCTS = """
    g (float[3, 40] x, float[40, 40] w, float[40, 40] r) => (float[3, 40] y)
    <int64 n = {4}, bool go = {1}> {
        y = Loop(n, go, x) <body = body (int64 i, bool c, float[3, 40] u) => (bool c2, float[3, 40] v) {
            c2 = Identity(c)
            fixed = MatMul(x, w)
            moved = MatMul(u, r)
            sum = Add(fixed, moved)
            v = Tanh(sum)
        }>
    }
"""

IMAGES = """
    g (float[1, 8, 9, 7] x, float[8, 8, 3, 3] w) => (float[1, 8, 9, 7] y, float[3, 1, 8, 4, 3] pooled)
    <int64 n = {3}, bool go = {1}> {
        first = Conv <pads = [1, 1, 1, 1]> (x, w)
        y, pooled = Loop(n, go, first) <body = body (int64 i, bool c, float[1, 8, 9, 7] u)
            => (bool c2, float[1, 8, 9, 7] v, float[1, 8, 4, 3] p) {
            c2 = Identity(c)
            conv = Conv <pads = [1, 1, 1, 1]> (u, w)
            v = Tanh(conv)
            p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (v)
        }>
    }
"""

VIEWED = """
    g (float[2, 6] x, float[3, 4] y) => (float[2, 6] a, float[3, 4] b)
    <int64 n = {3}, bool go = {1}, int64[2] wide = {3, 4}, int64[2] tall = {2, 6}> {
        a, b = Loop(n, go, x, y) <body = body (int64 i, bool c, float[2, 6] u, float[3, 4] v)
            => (bool c2, float[2, 6] p, float[3, 4] q) {
            c2 = Identity(c)
            e = Exp(v)
            p = Reshape(e, tall)
            q = Reshape(u, wide)
        }>
    }
"""

GROWING = """
    g (float[1, 3] x) => (float[5, 3] y)
    <int64 n = {4}, bool go = {1}> {
        y = Loop(n, go, x) <body = body (int64 i, bool c, float[k, 3] u) => (bool c2, float[l, 3] v) {
            c2 = Identity(c)
            f = Cast <to = 1> (i)
            row = Add(x, f)
            v = Concat <axis = 0> (u, row)
        }>
    }
"""

SLICED = """
    g (float[5, 3] x) => (float[1, 3] y, float[4, 1, 3] rows)
    <int64 n = {4}, bool go = {1}, int64 one = {1}, int64[1] zero = {0}, float[1, 3] start = {0, 0, 0}> {
        y, rows = Loop(n, go, start) <body = body (int64 i, bool c, float[1, 3] u)
            => (bool c2, float[1, 3] v, float[1, 3] row) {
            c2 = Identity(c)
            next = Add(i, one)
            from = Unsqueeze(i, zero)
            to = Unsqueeze(next, zero)
            row = Slice(x, from, to)
            v = Add(u, row)
        }>
    }
"""

COUNTED_BY_DATA = """
    g (float[4] x, int64 n) => (float[4] y)
    <bool go = {1}, float[1] k = {1.5}> {
        y = Loop(n, go, x) <body = body (int64 i, bool c, float[4] u) => (bool c2, float[4] v) {
            c2 = Identity(c)
            v = Mul(u, k)
        }>
    }
"""


def model(text: str) -> ModelProto:
    proto = parser.parse_model(HEAD + text)
    checker.check_model(proto)
    return proto


def real(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


CASES: dict[str, tuple[str, Arrays]] = {
    "swapped": (SWAPPED, {"x": real(4), "y": real(4)}),
    "fibonacci": (FIBONACCI, {"x": real(4), "y": real(4)}),
    "until": (UNTIL, {"x": real(3, 4), "limit": np.array(40, np.float32)}),
    "not_at_all": (UNTIL, {"x": real(3, 4), "limit": np.array(-40, np.float32)}),
    "alternating": (ALTERNATING, {"x": real(2, 3), "w": real(2, 3)}),
    "nested": (NESTED, {"x": real(4)}),
    "then": (BRANCHES, {"x": np.abs(real(5)), "y": real(5)}),
    "else": (BRANCHES, {"x": -np.abs(real(5)), "y": real(5)}),
    "scanned": (SCANNED, {"s": real(2), "x": real(6, 2), "z": real(2, 3, 6)}),
    "products": (PRODUCTS, {"x": real(3, 40), "w": real(40, 40) / 6, "r": real(40, 40) / 6}),
    "images": (IMAGES, {"x": real(1, 8, 9, 7), "w": real(8, 8, 3, 3) / 8}),
    "viewed": (VIEWED, {"x": -np.abs(real(2, 6)), "y": -np.abs(real(3, 4))}),
    "growing": (GROWING, {"x": real(1, 3)}),
    "sliced": (SLICED, {"x": real(5, 3)}),
    "three_times": (COUNTED_BY_DATA, {"x": real(4), "n": np.array(3, np.int64)}),
    "no_times": (COUNTED_BY_DATA, {"x": real(4), "n": np.array(0, np.int64)}),
    "negative_times": (COUNTED_BY_DATA, {"x": real(4), "n": np.array(-2, np.int64)}),
}


@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_onnxruntime(name: str, level: str) -> None:
    text, feeds = CASES[name]
    proto = model(text)
    found = results(compiled(proto, feeds, level=level), feeds)
    for output, wanted in reference(proto, feeds).items():
        np.testing.assert_allclose(found[output], wanted, rtol=2e-5, atol=2e-5, err_msg=output)


@pytest.mark.parametrize("name", ["alternating", "nested", "until", "else", "scanned"])
def test_exported_to_onnx_it_computes_the_same(name: str) -> None:
    from gecc.context import make_context
    from gecc.frontend.onnx.export import export_onnx

    ctx = make_context()
    text, feeds = CASES[name]
    proto = model(text)
    exported, runnable = export_onnx(ctx, api.import_model(ctx, proto, {k: a.shape for k, a in feeds.items()}))
    assert runnable
    found = reference(exported, feeds)
    for output, wanted in reference(proto, feeds).items():
        np.testing.assert_allclose(found[output], wanted, rtol=1e-6)


@pytest.mark.parametrize("name", ["alternating", "nested", "then", "products", "viewed", "swapped", "scanned"])
def test_no_pass_moves_a_result(name: str) -> None:
    from gecc.context import make_context

    ctx = make_context()
    text, feeds = CASES[name]
    module = api.import_model(ctx, model(text), {key: array.shape for key, array in feeds.items()})
    verify_numerics.run(ctx, module, specs_until("O2"))


def test_a_constant_condition_leaves_one_branch() -> None:
    proto = model(BRANCHES.replace("sum = ReduceSum <keepdims = 1> (x)", "sum = Constant <value_floats = [1.0]> ()"))
    feeds = CASES["then"][1]
    om = compiled(proto, feeds).om
    assert not [task for task in om.tasks if isinstance(task, SwitchTask)]
    found = results(api.Model(om), feeds)
    for output, wanted in reference(proto, feeds).items():
        np.testing.assert_allclose(found[output], wanted, rtol=1e-6)


def test_weights_of_a_loop_are_packed_once() -> None:
    """The product of what does not change in the loop, and the packing of both right sides, stand before it."""
    om = compiled(model(PRODUCTS), CASES["products"][1]).om
    head = next(i for i, task in enumerate(om.tasks) if task.label.startswith("label"))
    assert [task.label for task in om.tasks[:head]].count("TransData") == 2
    assert sum("MatMul" in task.label for task in om.tasks[:head]) == 1
    assert sum("MatMul" in task.label for task in om.tasks[head:]) == 1


def test_a_growing_value_is_refused_when_the_loop_cannot_be_unrolled() -> None:
    text = GROWING.replace("float[1, 3] x)", "float[1, 3] x, int64 n)").replace("int64 n = {4}, ", "")
    with pytest.raises(UnsupportedError, match=r"carried value 0 begins as f32\[1, 3\] and becomes f32\[2, 3\]"):
        api.compile(model(text), host="forbid")


def test_rows_whose_number_depends_on_data_are_refused() -> None:
    text = SWAPPED.replace("c2 = Identity(c)", "t = ReduceSum <keepdims = 0> (u)  c2 = Less(t, zero)")
    text = text.replace("int64 n = {5}", "float zero = {0}, int64 n = {5}").replace(
        "float[5, 4] rows", "float[k, 4] rows"
    )
    with pytest.raises(UnsupportedError, match="number of rows of a scan output depends on data"):
        api.compile(model(text), host="forbid")


def test_a_refusal_in_a_body_names_the_inner_node() -> None:
    text = SWAPPED.replace(
        "row = Sub(u, v)", "nz = NonZero(u)  f = Cast <to = 1> (nz)  z = ReduceSum(f)  row = Mul(z, v)"
    )
    with pytest.raises((UnsupportedError, ShapeError), match="NonZero"):
        api.compile(model(text), host="forbid")


@pytest.mark.parametrize("name", ["alternating", "nested", "scanned", "images"])
def test_every_level_reads_back(name: str) -> None:
    from xdsl.parser import Parser

    from gecc.context import make_context
    from gecc.pipeline import run_pipeline
    from gecc.text import module_text

    ctx = make_context()
    text, feeds = CASES[name]
    module = api.import_model(ctx, model(text), {key: array.shape for key, array in feeds.items()})

    def after(step: str, module: ModuleOp) -> None:
        written = module_text(module, locations=True)
        read = Parser(ctx, written).parse_module()
        read.verify()
        assert module_text(read, locations=True) == written, step

    run_pipeline(ctx, module, specs_until("O2"), after=after)


@pytest.mark.parametrize("stage", ["ge", "fused", "tile"])
def test_pictures_show_what_is_in_loops_and_branches(stage: str) -> None:
    from gecc.context import make_context
    from gecc.frontend.onnx.export import export_view
    from gecc.pipeline import run_pipeline

    ctx = make_context()
    module = api.import_model(ctx, model(ALTERNATING))
    run_pipeline(ctx, module, specs_until("O2", stage))
    [loop] = [node for node in export_view(ctx, module).graph.node if node.op_type == "While"]
    [body] = [a.g for a in loop.attribute if a.name == "body"]
    [branch] = [node for node in body.node if node.op_type == "If"]
    found = [node.op_type for a in branch.attribute if a.HasField("g") for node in a.g.node]
    assert any("Tanh" in name for name in found)
    assert {a.name for a in branch.attribute if a.HasField("g")} == {"then_branch", "else_branch"}


def test_nodes_without_names_are_called_by_where_they_stand() -> None:
    from gecc.context import make_context
    from gecc.dumps import structure

    lines = list(structure(api.import_model(make_context(), model(ALTERNATING))))
    assert [line.split("// ")[1] for line in lines if "ge.Tanh" in line] == ["Loop_0/If_3/Tanh_1"]

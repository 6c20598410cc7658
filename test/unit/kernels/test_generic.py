"""fused.generic without reduction: pointwise with broadcasting, transposes, gathers, and the shapes at the edges."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from gecc.context import make_context
from gecc.dialects.fused import Body, broadcast_load, generic
from gecc.errors import KernelError
from gecc.interp.tile import kernel_runner
from gecc.interp.tile_graph import find_graph, run_graph
from gecc.pipeline import run_pipeline
from gecc.runtime.executor import Executor
from gecc.weights import element_type
from test.unit.kernels.harness import TARGET_NAMES, Array, Suite, numbers, tensor

Values = Sequence[SSAValue]
DTYPES = ("float32", "float64", "float16", "int8", "uint8", "int16", "int32", "int64", "bool")


def element(dtype: Any) -> Attribute:
    return element_type(np.dtype(dtype))


def copy(
    suite: Suite, name: str, x: Array, shape: Sequence[int], where: Any, layouts: Sequence[str | None] = ()
) -> None:
    """A case that moves elements: `where` gives the indices into x of a result index."""
    result = tensor(shape, element_type(x.dtype), layouts[1] if len(layouts) > 1 else None)

    def build(args: Values) -> Any:
        return generic("Copy", result, args, lambda b, d, t: b.load(t[0], where(b, d)))

    suite.add(name, [x], build, layouts=layouts[:1])


def pointwise(suite: Suite) -> None:
    shapes = [
        ((5, 37), (5, 37)),
        ((5, 37), (37,)),
        ((4, 1, 19), (3, 1)),
        ((2, 3, 4, 5), (4, 1)),
        ((), ()),
        ((1,), (257,)),
    ]
    for left, right in shapes:
        shape = np.broadcast_shapes(left, right)

        def build(args: Values, shape: Sequence[int] = shape) -> Any:
            def body(b: Body, d: Values, t: Values) -> SSAValue:
                x, y = (broadcast_load(b, tensor, d) for tensor in t)
                return b.maximum(b.add(b.mul(x, y), 0.5), y)

            return generic("Mix", TensorType(f32, shape), args, body)

        suite.add(f"broadcast {left} {right}", [numbers(left), numbers(right, seed=2)], build)
    for dtype in DTYPES:
        for size in (17, 200):
            x, y = numbers((size,), dtype), numbers((size,), dtype, 2)
            kind = "xor" if dtype == "bool" else "add"

            def binary(args: Values, kind: str = kind, dtype: str = dtype, size: int = size) -> Any:
                def body(b: Body, d: Values, t: Values) -> SSAValue:
                    return b.binary(kind, b.load(t[0], d), b.load(t[1], d))

                return generic("Binary", TensorType(element(dtype), [size]), args, body)

            suite.add(f"{kind} {dtype} {size}", [x, y], binary, scale=4.0)


def divisions(suite: Suite) -> None:
    """Quotients and remainders of integers; lanes past the end, which hold zeros, must not trap."""
    for dtype in ("int32", "int64", "uint8"):
        x, y = numbers((35,), dtype), numbers((35,), dtype, 2)
        y[y == 0] = 3
        for kind in ("div", "rem"):

            def build(args: Values, kind: str = kind, dtype: str = dtype) -> Any:
                def body(b: Body, d: Values, t: Values) -> SSAValue:
                    return b.binary(kind, b.load(t[0], d), b.load(t[1], d), unsigned=dtype.startswith("u"))

                return generic("Divide", TensorType(element(dtype), [35]), args, body)

            suite.add(f"{kind} {dtype}", [x, y], build)


def movements(suite: Suite) -> None:
    x = numbers((6, 35))
    copy(suite, "transpose", x, (35, 6), lambda b, d: [d[1], d[0]])
    y = numbers((3, 5, 7, 9))
    copy(suite, "transpose 4", y, (9, 3, 7, 5), lambda b, d: [d[1], d[3], d[2], d[0]])
    copy(suite, "reverse", x, (6, 35), lambda b, d: [b.sub(5, d[0]), b.sub(34, d[1])])
    copy(suite, "slice step", x, (2, 11), lambda b, d: [b.add(b.mul(d[0], 2), 1), b.add(b.mul(d[1], 3), 2)])
    copy(suite, "reshape by div", x, (210,), lambda b, d: [b.div(d[0], 35), b.rem(d[0], 35)])
    copy(suite, "expand", numbers((1, 7)), (4, 7), lambda b, d: [0, d[1]])
    copy(suite, "clamp", x, (9, 40), lambda b, d: [b.minimum(d[0], 5), b.clamp(b.sub(d[1], 2), 0, 34)])
    z = numbers((2, 5, 4, 3))
    copy(suite, "to NHWC", z, z.shape, lambda b, d: d, (None, "NHWC"))
    copy(suite, "from NHWC", z, z.shape, lambda b, d: d, ("NHWC", None))
    copy(suite, "NHWC to NHWC", z, z.shape, lambda b, d: d, ("NHWC", "NHWC"))
    copy(suite, "diagonal", numbers((9, 9)), (9,), lambda b, d: [d[0], d[0]])
    for shape in ((0, 4), (4, 0), (1, 1, 1), (1, 40, 1)):
        copy(suite, f"sizes {shape}", numbers(shape), shape, lambda b, d: d)

    def pad(args: Values) -> Any:
        def body(b: Body, d: Values, t: Values) -> SSAValue:
            i = b.sub(d[0], 3)
            inside = b.both(b.compare("ge", i, 0), b.compare("lt", i, 20))
            assert inside is not None
            return b.select(inside, b.load(t[0], [b.clamp(i, 0, 19)]), 7.0)

        return generic("Pad", TensorType(f32, [30]), args, body)

    suite.add("pad", [numbers((20,))], pad)

    def concat(args: Values) -> Any:
        def body(b: Body, d: Values, t: Values) -> SSAValue:
            first = b.compare("lt", d[1], 5)
            left = b.load(t[0], [d[0], b.minimum(d[1], 4)])
            right = b.load(t[1], [d[0], b.maximum(b.sub(d[1], 5), 0)])
            return b.select(first, left, right)

        return generic("Concat", TensorType(f32, [3, 28]), args, body)

    suite.add("concat", [numbers((3, 5)), numbers((3, 23), seed=3)], concat)


def gather(args: Values, rows: int, shape: Sequence[int], *, inner: bool) -> Any:
    """Rows (or with `inner`, columns) of the first operand chosen by the second, checked."""

    def body(b: Body, d: Values, t: Values) -> SSAValue:
        chosen = b.check_index(b.to_index(b.load(t[1], [d[1] if inner else d[0]])), rows)
        return b.load(t[0], [d[0], chosen] if inner else [chosen, d[1]])

    return generic("Gather", TensorType(f32, shape), args, body)


def gathers(suite: Suite) -> None:
    rng = np.random.default_rng(5)
    for dtype in ("int64", "int32"):
        index = rng.integers(0, 11, 19).astype(dtype)
        suite.add(f"gather rows {dtype}", [numbers((11, 21)), index], lambda t: gather(t, 11, (19, 21), inner=False))
        suite.add(f"gather columns {dtype}", [numbers((4, 11)), index], lambda t: gather(t, 11, (4, 19), inner=True))


def conversions(suite: Suite) -> None:
    """Casts between all types, with values that fit."""
    names = ("float32", "float64", "float16", "int8", "uint8", "int64", "bool")
    for source in names:
        for target in names:
            if source == target:
                continue
            x = (
                np.abs(numbers((35,), source))
                if target.startswith("uint") and source != "bool"
                else numbers((35,), source)
            )

            def build(args: Values, source: str = source, target: str = target) -> Any:
                def body(b: Body, d: Values, t: Values) -> SSAValue:
                    return b.convert(b.load(t[0], d), element(source), element(target))

                return generic("Cast", TensorType(element(target), [35]), args, body)

            suite.add(f"cast {source} {target}", [x], build)


@pytest.fixture(scope="module")
def suite() -> Suite:
    """All cases of this file in one module."""
    made = Suite()
    for part in (pointwise, divisions, movements, gathers, conversions):
        part(made)
    return made


@pytest.mark.parametrize("target", TARGET_NAMES)
def test_generic(suite: Suite, target: str) -> None:
    suite.check(target, interpret=target == TARGET_NAMES[0])


def test_machine_level_is_text() -> None:
    """What kernels are lowered to verifies, prints and parses."""
    suite, target = Suite(), TARGET_NAMES[0]
    gathers(suite)
    divisions(suite)
    assert suite.module
    module = suite.tiled(target)
    run_pipeline(suite.ctx, module, ["tile-expand-math", f'tile-to-llvm{{target="{target}"}}'])
    module.verify()
    text, again = StringIO(), StringIO()
    Printer(text).print_op(module)
    parsed = Parser(make_context(), text.getvalue()).parse_module()
    parsed.verify()
    Printer(again).print_op(parsed)
    assert again.getvalue() == text.getvalue()


@pytest.mark.parametrize("target", TARGET_NAMES)
@pytest.mark.parametrize(("bad", "inner"), [(11, False), (-1, False), (11, True), (-3, True), (1 << 40, True)])
def test_index_out_of_range(target: str, bad: int, inner: bool) -> None:
    """The run fails and names the index, the bound and the operation."""
    suite = Suite()
    shape = (4, 37) if inner else (37, 4)
    data = numbers((4, 11) if inner else (11, 4))
    index = np.zeros(37, np.int64)
    index[35] = bad
    suite.add("gather", [data, index], lambda t: gather(t, 11, shape, inner=inner))
    assert suite.module
    with pytest.raises(KernelError, match=rf"{bad}.*0.*10"):
        suite.expected()
    module = suite.tiled(target)
    with pytest.raises(KernelError, match=f"index {bad} is out of range, expected 0 to 10"):
        run_graph(find_graph(module), suite.inputs, kernel_runner(module), suite.store)
    for ranks in (1, 2):
        with Executor(suite.om(target), threads=ranks) as executor, pytest.raises(KernelError, match=str(bad)) as error:
            executor.run(suite.inputs)
        assert "Gather" in str(error.value)
        assert "11" in str(error.value) or "10" in str(error.value)

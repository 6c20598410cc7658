"""Kernels of somebody who means harm: each ends in an error in words, or in a run that touches nothing but its operands."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from gecc.errors import CodegenError, GeccError, KernelError, OmError
from gecc.om.records import KernelEntry, KernelTask
from gecc.target import TARGETS, supports
from test.unit.portable.harness import N, kernel, portable, run

X = np.arange(N, dtype=np.float32)
HERE = [name for name, target in TARGETS.items() if not supports(target)]

COPY = """
  %zero = arith.constant 0 : index
  tile.lanes %i = {low} to {high} {{
    %v = tile.load %x[{at}] : memref<?xf32>
    tile.store %v, %y[{to}] : memref<?xf32>
  }}"""


def copy(low: str = "%zero", high: str = "%n", at: str = "%i", to: str = "%i", before: str = "") -> str:
    text = COPY.format(low=low, high=high, at=at, to=to)
    return kernel(text.replace("index\n", f"index\n{before}\n", 1), "n p")


@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_harmless_kernel_runs(target: str, ranks: int) -> None:
    found = run(portable(copy(), params=(N, 0)), X, target=target, ranks=ranks)
    np.testing.assert_array_equal(found, X)


ACCESSES = {
    "one element too many": (copy(), (N + 1, 0)),
    "a vector too many": (copy(), (N + 64, 0)),
    "from before": (copy(low="%p"), (N, -1)),
    "far before": (copy(low="%p"), (N, -(1 << 20))),
    "shifted load": (
        copy().replace("%v = tile.load %x[%i]", "%s = arith.addi %i, %p : index\n    %v = tile.load %x[%s]"),
        (N, 1),
    ),
    "shifted store": (
        copy().replace("tile.store %v, %y[%i]", "%s = arith.addi %i, %p : index\n    tile.store %v, %y[%s]"),
        (N, 1 << 40),
    ),
    "an offset that wraps around in bytes": (
        copy().replace("%v = tile.load %x[%i]", "%s = arith.addi %i, %p : index\n    %v = tile.load %x[%s]"),
        (N, 1 << 62),
    ),
    "a gather": (
        copy().replace("%v = tile.load %x[%i]", "%s = arith.muli %i, %p : index\n    %v = tile.load %x[%s]"),
        (N, 3),
    ),
    "a gather that wraps around": (
        copy().replace("%v = tile.load %x[%i]", "%s = arith.muli %i, %p : index\n    %v = tile.load %x[%s]"),
        (N, 1 << 62),
    ),
    "a scatter": (
        copy().replace("tile.store %v, %y[%i]", "%s = arith.muli %i, %p : index\n    tile.store %v, %y[%s]"),
        (N, -1),
    ),
    "one load": (
        kernel("%v = tile.load %x[%n] : memref<?xf32>\ntile.store %v, %y[%p] : memref<?xf32>", "n p"),
        (N, 0),
    ),
    "one store": (
        kernel("%v = tile.load %x[%n] : memref<?xf32>\ntile.store %v, %y[%p] : memref<?xf32>", "n p"),
        (0, -1),
    ),
    "one load at the greatest offset": (
        kernel("%v = tile.load %x[%n] : memref<?xf32>\ntile.store %v, %y[%p] : memref<?xf32>", "n p"),
        ((1 << 63) - 1, 0),
    ),
}


@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize("name", ACCESSES)
def test_an_access_outside_an_operand(name: str, target: str) -> None:
    text, params = ACCESSES[name]
    with pytest.raises(KernelError, match=r"an access outside operand [01] of 160 bytes"):
        run(portable(text, params=params), X, target=target)


def test_the_size_is_the_operands_not_the_spaces() -> None:
    with pytest.raises(KernelError, match="an access outside operand 1 of 156 bytes"):
        run(portable(copy(), params=(N, 0), sizes=(4 * N, 4 * N - 4)), X)
    with pytest.raises(KernelError, match="an access outside operand 0 of 0 bytes"):
        run(portable(copy(), params=(N, 0), sizes=(0, 4 * N)), X)


def test_operands_need_no_alignment() -> None:
    """Elements at odd addresses: bytes are moved as they are."""
    found = run(portable(copy(), params=(N - 1, 0), sizes=(4 * N - 4, 4 * N - 4), offset=1), X)
    assert found.tobytes()[1:-3] == X.tobytes()[1:-3]


MMA = """
  %zero = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %acc = tile.fill %f : f32 to vector<2x16xf32>
  %t = tile.mma %acc, %x[%lo], %x[%ro] rows %rs depth %d outer(%n1 by %s1, %n2 by %s2) : vector<2x16xf32>
  %c = arith.constant 16 : index
  tile.store_tile %t, %y[%zero] rows %c columns %c (%v : f32, %r : index, %q : index) {
    tile.yield %v : f32
  }"""
MMA_PARAMS = "lo ro rs d n1 s1 n2 s2"
BIG = 1 << 62


@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize(
    "params",
    [
        (0, 0, 0, 3, 1, 0, 1, 0),  # three rows of 16 are 48 elements of the right side
        (39, 0, 0, 2, 1, 0, 1, 0),
        (0, 24, 0, 2, 1, 0, 1, 0),
        (-1, 0, 0, 1, 1, 0, 1, 0),
        (0, -1, 0, 1, 1, 0, 1, 0),
        (0, 0, 40, 1, 1, 0, 1, 0),
        (0, 0, -1, 1, 1, 0, 1, 0),
        (0, 0, 1, 1, 2, 39, 1, 0),
        (0, 0, 1, 1, 1, 0, 2, -1),
        (0, 0, 1, 1, BIG, 0, 1, 0),
        (0, 0, 1, 1, BIG, BIG, BIG, BIG),
        (0, 0, 1, BIG, 4, 0, 1, 0),
        (0, 0, BIG, 1, 1, 0, 1, 0),
        (0, 0, -BIG * 2, 1, 1, 0, 1, 0),
        (BIG, BIG, BIG, 1, 1, BIG, 1, BIG),
        (0, 0, 1, 1, 1 << 34, 0, 1 << 34, 0),
    ],
)
def test_a_product_that_reads_outside(params: tuple[int, ...], target: str) -> None:
    with pytest.raises(KernelError, match=r"an access outside operand 0 of 160 bytes"):
        run(portable(kernel(MMA, MMA_PARAMS), params=params), X, target=target)


@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize(
    "params",
    [(0, 0, 0, 0, 1, 0, 1, 0), (BIG, BIG, BIG, -1, 1, 0, 1, 0), (0, 0, 0, -BIG, 1, 0, 1, 0), (0, 0, 0, 1, -5, 0, BIG, 0),
     (BIG, BIG, 0, 0, BIG, 0, BIG, 0), (BIG, 0, 0, 1, 1, BIG, 0, 0)],
)  # fmt: skip
def test_a_product_of_no_steps_reads_nothing(params: tuple[int, ...], target: str) -> None:
    """The store that follows stays within y: the tile is 32 zeros."""
    found = run(portable(kernel(MMA, MMA_PARAMS), params=params), X, target=target)
    np.testing.assert_array_equal(found[:32], 0)


@pytest.mark.parametrize(
    ("rows", "columns", "offset"), [(40, 16, 0), (16, 16, 20), (-16, 16, 0), (BIG, 1, 0), (0, 9, 32)]
)
def test_a_register_tile_stored_outside(rows: int, columns: int, offset: int) -> None:
    text = kernel(
        """
  %f = arith.constant 1.0 : f32
  %t = tile.fill %f : f32 to vector<2x16xf32>
  tile.store_tile %t, %y[%o] rows %rs columns %c (%v : f32, %r : index, %q : index) {
    tile.yield %v : f32
  }""",
        "rs c o",
    )
    with pytest.raises(KernelError, match="an access outside operand 1"):
        run(portable(text, params=(rows, columns, offset)), X)


SCRATCH = """
  %s = tile.scratch %p : memref<?xf32>
  %v = tile.load %s[%n] : memref<?xf32>
  %zero = arith.constant 0 : index
  tile.store %v, %s[%n] : memref<?xf32>
  tile.store %v, %y[%zero] : memref<?xf32>"""


@pytest.mark.parametrize(
    "params", [(16, 0), (0, 61), (0, 65), (-1, 0), (0, -1), (0, -(1 << 63)), (1 << 62, 4), (-1, 4)]
)
def test_scratch(params: tuple[int, int]) -> None:
    with pytest.raises(KernelError, match="an access outside the scratch of 64 bytes"):
        run(portable(kernel(SCRATCH, "n p"), params=params, scratch=64), X)


def test_scratch_within() -> None:
    assert run(portable(kernel(SCRATCH, "n p"), params=(14, 4), scratch=64), X)[0] == 0


DIVIDE = """
  %zero = arith.constant 0 : index
  %high = arith.constant 40 : index
  tile.lanes %i = %zero to %high {{
    %a = tile.load %x[%i] : memref<?x{type}>
    %b = {divisor}
    %q = arith.{op} %a, %b : {type}
    tile.store %q, %y[%i] : memref<?x{type}>
  }}"""
DIVISIONS = ("divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi", "ceildivui")


@pytest.mark.parametrize("op", DIVISIONS)
@pytest.mark.parametrize("element", ["i32", "i64", "i8"])
def test_division_by_zero(op: str, element: str) -> None:
    x = np.arange(N).astype({"i32": "i4", "i64": "i8", "i8": "i1"}[element])
    for divisor in ("arith.subi %a, %a : {type}", "arith.constant 0 : {type}"):
        text = DIVIDE.format(type=element, op=op, divisor=divisor.format(type=element))
        with pytest.raises(KernelError, match="integer division by zero"):
            run(portable(kernel(text, element=element), element=element), x)


@pytest.mark.parametrize("op", ["divsi", "remsi", "floordivsi", "ceildivsi"])
@pytest.mark.parametrize("element", ["i32", "i64"])
def test_the_least_number_by_minus_one(op: str, element: str) -> None:
    """The one quotient that overflows traps on x86."""
    dtype = np.dtype({"i32": "i4", "i64": "i8"}[element])
    x = np.full(N, np.iinfo(dtype).min, dtype)
    text = DIVIDE.format(type=element, op=op, divisor=f"arith.constant -1 : {element}")
    found = run(portable(kernel(text, element=element), element=element), x)
    if op != "ceildivsi":  # which goes through x + y - 1
        np.testing.assert_array_equal(found, 0 if op == "remsi" else x)


def test_division_of_indices() -> None:
    text = kernel(
        """
  %q = arith.divsi %n, %p : index
  %v = tile.load %x[%q] : memref<?xf32>
  tile.store %v, %y[%q] : memref<?xf32>""",
        "n p",
    )
    with pytest.raises(KernelError, match="integer division by zero"):
        run(portable(text, params=(4, 0)), X)
    with pytest.raises(KernelError, match="an access outside operand 0"):
        run(portable(text, params=(-(1 << 63), -1)), X)
    assert run(portable(text, params=(-4, -1)), X)[4] == 4


@pytest.mark.parametrize("op", ["shli", "shrui", "shrsi"])
def test_shifts_beyond_the_width(op: str) -> None:
    """The amount is taken modulo the width: 1 << 64 is 1, 1 << -1 lies far outside."""
    text = kernel(
        f"""
  %s = arith.{op} %n, %p : index
  %v = tile.load %x[%s] : memref<?xf32>
  tile.store %v, %y[%s] : memref<?xf32>""",
        "n p",
    )
    assert run(portable(text, params=(1, 64)), X)[1] == 1
    if op == "shli":
        with pytest.raises(KernelError, match="an access outside operand 0"):
            run(portable(text, params=(1, -1)), X)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9])
def test_floats_that_fit_no_integer(value: float) -> None:
    text = kernel(
        """
  %zero = arith.constant 0 : index
  tile.lanes %i = %zero to %n {
    %v = tile.load %x[%i] : memref<?xf32>
    %w = arith.fptosi %v : f32 to i64
    %j = arith.index_cast %w : i64 to index
    %u = tile.load %x[%j] : memref<?xf32>
    tile.store %u, %y[%i] : memref<?xf32>
  }
  %f = tile.load %x[%zero] : memref<?xf32>
  %g = arith.fptoui %f : f32 to i64
  %h = arith.index_cast %g : i64 to index
  %e = tile.load %x[%h] : memref<?xf32>
  tile.store %e, %y[%zero] : memref<?xf32>""",
        "n",
    )
    with pytest.raises(KernelError, match="an access outside operand 0"):
        run(portable(text, params=(N,)), np.full(N, value, np.float32))


LOOP = """
  %zero = arith.constant 0 : index
  %f = tile.load %x[%zero] : memref<?xf32>
  scf.for %i = %lo to %hi step %st {
    tile.store %f, %y[%zero] : memref<?xf32>
  }"""


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ((0, 8, 0), "a loop with a step below 1"),
        ((0, 8, -1), "a loop with a step below 1"),
        ((0, 1 << 60, 1), "loops of more than"),
        ((-(1 << 61), 1 << 61, 1 << 60), "loops of more than"),
        ((0, (1 << 63) - 1, 1), "beyond 2"),
        (((1 << 63) - 8, (1 << 63) - 1, 4), "beyond 2"),
        ((-(1 << 63), 0, 1), "beyond 2"),
        ((0, 4, (1 << 63) - 1), "beyond 2"),
    ],
)
def test_loops_that_do_not_end(params: tuple[int, ...], message: str) -> None:
    with pytest.raises(KernelError, match=re.escape(message)):
        run(portable(kernel(LOOP, "lo hi st"), params=params), X)


def test_loops_within_loops_are_counted_together() -> None:
    text = LOOP.replace(
        "    tile.store %f, %y[%zero] : memref<?xf32>",
        "    scf.for %j = %lo to %hi step %st {\n tile.store %f, %y[%zero] : memref<?xf32>\n }",
    )
    with pytest.raises(KernelError, match="loops of more than"):
        run(portable(kernel(text, "lo hi st"), params=(0, 1 << 16, 1)), X)
    assert run(portable(kernel(text, "lo hi st"), params=(0, 1 << 8, 1)), X)[0] == 0


@pytest.mark.parametrize(
    ("low", "high"),
    [(-(1 << 63), -(1 << 63) + 3), ((1 << 63) - 3, (1 << 63) - 1), (-(1 << 61), 1 << 61), (5, -(1 << 63))],
)
def test_lanes_of_insane_bounds(low: int, high: int) -> None:
    text = kernel(
        """
  %c = arith.constant 40 : index
  tile.lanes %i = %n to %p {
    %m = arith.remui %i, %c : index
    %v = tile.load %x[%m] : memref<?xf32>
    tile.store %v, %y[%m] : memref<?xf32>
  }""",
        "n p",
    )
    with pytest.raises(KernelError, match=r"beyond 2|loops of more than"):
        run(portable(text, params=(low, high)), X)


def test_more_blocks_than_steps() -> None:
    with pytest.raises(KernelError, match="loops of more than"):
        run(portable(copy(), params=(N, 0), blocks=(1 << 32) - 1), X)


def test_an_index_from_memory() -> None:
    """A checked index is not believed either: its extent is the kernel's word."""
    text = kernel(
        """
  %zero = arith.constant 0 : index
  tile.lanes %i = %zero to %n {
    %v = tile.load %x[%i] : memref<?xi64>
    %j = arith.index_cast %v : i64 to index
    %k = tile.check_index %j in %p
    %u = tile.load %x[%k] : memref<?xi64>
    tile.store %u, %y[%i] : memref<?xi64>
  }""",
        "n p",
        "i64",
    )
    x = np.arange(N)[::-1].copy()
    x[3] = 1 << 40
    with pytest.raises(KernelError, match="index 1099511627776 is out of range"):
        run(portable(text, params=(N, N), element="i64"), x)
    with pytest.raises(KernelError, match="an access outside operand 0"):
        run(portable(text, params=(N, 1 << 50), element="i64"), x)


# ---------------------------------------------------------------------------------------------------- what may be said

REFUSED = {
    "nothing": ("", "the text is no"),
    "no kernel": ("func.func @k() { func.return }", "the text is no kernel"),
    "half a kernel": (copy()[:100], "the text is no kernel"),
    "two kernels": (copy() + copy(), "the text is not one tile.kernel"),
    "another name": (copy().replace("@k", "@other"), "the kernel is called 'other'"),
    "a name that is LLVM IR": (copy().replace("@k", '@"k() { ret void }"'), "the kernel is called"),
    "an attribute": (
        copy().replace("arith.constant 0 : index", "arith.constant {a = 1} 0 : index"),
        "attributes or successors",
    ),
    "a flag": (
        kernel("%s = arith.addi %n, %n overflow<nsw> : index", "n"),
        "has the property overflowFlags",
    ),
    "fast math": (
        kernel("%f = arith.constant 1.0 : f32\n%s = arith.addf %f, %f fastmath<nnan> : f32", "n"),
        "has the property fastmath",
    ),
    "an operation of another kind": (kernel("tile.goto 0"), "'tile.goto' may not stand in a kernel"),
    "memory of its own": (
        kernel('%m = "memref.alloca"() : () -> memref<4xf32>'),
        "the text is no kernel",
    ),
    "an unknown operation": (kernel('"evil.op"() : () -> ()'), "the text is no kernel"),
    "a launch": (
        kernel('tile.launch @k "k" ins() params [] blocks 1 scratch 0 inplace []'),
        "'tile.launch' may not stand in a kernel",
    ),
    "a memory with a layout": (
        "tile.kernel @k(%x: memref<?xf32, strided<[2]>>, %y: memref<?xf32>, %blk: index) {\n}\n",
        "no layout and no space",
    ),
    "a memory of fixed size": (
        "tile.kernel @k(%x: memref<9xf32>, %y: memref<?xf32>, %blk: index) {\n}\n",
        "expected memref<?xT>",
    ),
    "a memory of vectors": (
        "tile.kernel @k(%x: memref<?xvector<4xf32>>, %y: memref<?xf32>, %blk: index) {\n}\n",
        "expected memref<?xT>",
    ),
    "a memory of odd numbers": (
        "tile.kernel @k(%x: memref<?xi24>, %y: memref<?xf32>, %blk: index) {\n}\n",
        "expected memref<?xT>",
    ),
    "numbers of many bits": (kernel("%s = arith.constant 0 : i4096"), "expected a number"),
    "a huge register tile": (
        kernel("%f = arith.constant 0.0 : f32\n%t = tile.fill %f : f32 to vector<4096x4096xf32>"),
        "a register tile is",
    ),
    "lanes within lanes": (
        kernel("tile.lanes %i = %n to %n {\n tile.lanes %j = %n to %n {\n }\n}", "n"),
        "'tile.lanes' may not stand within lanes",
    ),
    "a tile within lanes": (
        kernel("%f = arith.constant 0.0 : f32\ntile.lanes %i = %n to %n {\n %t = tile.fill %f : f32 to vector<1x16xf32>\n}", "n"),
        "'tile.fill' may not stand within lanes",
    ),
    "a value before it is there": (
        kernel("tile.store %f, %y[%n] : memref<?xf32>\n%f = arith.constant 0.0 : f32", "n"),
        "%f is used before its definition",
    ),
    "a value out of its loop": (
        kernel(
            "%one = arith.constant 1 : index\nscf.for %i = %n to %n step %one {\n %f = arith.constant 0.0 : f32\n}\n"
            "tile.store %f, %y[%n] : memref<?xf32>",
            "n",
        ),
        "%f is used before its definition",
    ),
    "memory that is chosen": (
        kernel("%c = arith.constant true\n%m = arith.select %c, %x, %y : memref<?xf32>"),
        "expected a number",
    ),
    "more brackets than a parser bears": (kernel("((" * 50000), "brackets within one another"),
    "a deep nest": (
        kernel("%one = arith.constant 1 : index\n" + "".join(f"scf.for %i{i} = %n to %n step %one {{\n" for i in range(40)) + "}\n" * 40, "n"),
        "regions within one another",
    ),
    "many operations": (kernel("".join(f"%s{i} = arith.constant 1 : index\n" for i in range(5000))), "the kernel is larger than"),
    "an epilogue that is copied often": (
        kernel(
            "%z = arith.constant 0 : index\n%f = arith.constant 0.0 : f32\n%t = tile.fill %f : f32 to vector<128x32xf32>\n"
            "tile.store_tile %t, %y[%z] rows %z columns %z (%v : f32, %r : index, %q : index) {\n"
            + "".join(f"%w{i} = arith.addf %v, %v : f32\n" for i in range(900))
            + "tile.yield %v : f32\n}"
        ),
        "once they are copied",
    ),
    "a store of another type": (kernel("tile.store %n, %y[%n] : memref<?xf32>", "n"), "the memory holds f32, the value is index"),
    "a sum of two types": (
        kernel("%f = arith.constant 1.0 : f64\n%g = arith.constant 1.0 : f32\n%h = arith.addf %f, %g : f32"),
        "the text is no kernel",
    ),
    "bits of another width": (
        kernel("%f = arith.constant 1.0 : f64\n%g = arith.bitcast %f : f64 to f32\ntile.store %g, %y[%n] : memref<?xf32>", "n"),
        "the text is no kernel",
    ),
    "a wider number made narrower": (
        kernel('%c = arith.constant 1 : i8\n%g = "arith.trunci"(%c) : (i8) -> i64'),
        "the text is no kernel",
    ),
    "an index that differs between lanes": (
        kernel(
            "%one = arith.constant 1 : index\ntile.lanes %i = %n to %n {\n scf.for %j = %n to %i step %one {\n }\n}", "n"
        ),
        "differs between lanes where one value is needed",
    ),
    "a tile of odd width": (
        kernel(
            "%f = arith.constant 0.0 : f32\n%t = tile.fill %f : f32 to vector<1x17xf32>\n"
            "tile.store_tile %t, %y[%n] rows %n columns %n (%v : f32, %r : index, %q : index) {\n tile.yield %v : f32\n}",
            "n",
        ),
        "a register tile of 17 columns",
    ),
    "no text at all": ("\ufffd\ufffe\x01", "the text is no kernel"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_kernel_is_refused_in_words(name: str) -> None:
    text, message = REFUSED[name]
    params = (1, 0) if "%p: index" in text else (1,) if "%n: index" in text else ()
    with pytest.raises(GeccError, match=re.escape(message)):
        run(portable(text or " ", params=params), X)


@pytest.mark.parametrize("name", ["gecc_run", "gecc_worker", "a b", "k\n", 'k"', "", "k" * 300, "ü", "k,i64"])
def test_names_that_no_kernel_may_have(name: str) -> None:
    model = portable(copy(), params=(N, 0))
    model = replace(
        model,
        kernels=tuple(replace(entry, name=name) for entry in model.kernels),
        tasks=tuple(replace(task, kernel=name) for task in model.tasks if isinstance(task, KernelTask)),
    )
    with pytest.raises(GeccError):
        run(model, X)


def test_text_that_is_not_utf8() -> None:
    model = portable(copy(), params=(N, 0))
    data = bytes(model.blob)[:-1] + b"\xff"
    with pytest.raises(CodegenError, match="is not UTF-8"):
        run(replace(model, blob=data), X)


def test_more_text_than_a_kernel_may_have() -> None:
    model = portable(copy() + "\n" * (1 << 18), params=(N, 0))
    with pytest.raises(CodegenError, match=r"has \d+ bytes, expected at most 262144"):
        run(model, X)


# ------------------------------------------------------------------------------------------------------------- tasks


def test_a_task_gives_what_its_kernel_takes() -> None:
    for params in ((N,), (N, 0, 0), ()):
        with pytest.raises(OmError, match="kernel 'k' takes 2 and 2"):
            run(portable(copy(), params=params), X)


def test_a_kernel_writes_only_what_its_task_writes() -> None:
    backwards = copy().replace("tile.load %x", "tile.load %y").replace("tile.store %v, %y", "tile.store %v, %x")
    with pytest.raises(OmError, match="kernel 'k' writes operand 0, the task only reads the first 1"):
        run(portable(backwards, params=(N, 0)), X)
    with pytest.raises(OmError, match="kernel 'k' writes operand 1, the task only reads the first 2"):
        run(portable(copy(), params=(N, 0), n_outs=0), X)


def test_entries_beyond_the_text() -> None:
    model = portable(copy(), params=(N, 0))
    for entry in (KernelEntry("k", 0, 1 << 40), KernelEntry("k", 10, len(model.blob)), KernelEntry("k", 0, 0)):
        with pytest.raises(OmError, match="do not fit the blob"):
            run(replace(model, kernels=(entry,)), X)


def test_a_dispatcher_of_its_own() -> None:
    with pytest.raises(OmError, match="expected none among portable kernels"):
        run(replace(portable(copy(), params=(N, 0)), dispatcher="k"), X)

"""No inner loop that multiplies and adds keeps a vector on the stack."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gecc.codegen.emit import kernel_ir
from gecc.codegen.object import compile_ir
from gecc.dialects import tile
from gecc.target import TARGETS, load
from test.unit.kernels.harness import Suite
from test.unit.kernels.test_products import Conv, Product, conv, gelu, matmul, relu, residual

LABEL = re.compile(r"^(\.L\w+):")
JUMP = re.compile(r"^\s+j\w+\s+(\.L\w+)")
VECTOR_ON_STACK = re.compile(r"\(%r[sb]p\b.*%[xyz]mm|%[xyz]mm.*\(%r[sb]p\b")


def inner_loops(assembly: str) -> Iterator[list[str]]:
    """The instructions of loops that hold no other loop."""
    lines = [line for line in assembly.splitlines() if LABEL.match(line) or re.match(r"^\s+[a-z]", line)]
    places = {m[1]: i for i, line in enumerate(lines) if (m := LABEL.match(line))}
    loops: list[tuple[int, int]] = []
    for i, line in enumerate(lines):
        if (m := JUMP.match(line)) and places.get(m[1], i + 1) <= i:
            loops.append((places[m[1]], i))
    for start, end in loops:
        if not any(start <= a and b <= end and (a, b) != (start, end) for a, b in loops):
            yield lines[start : end + 1]


def spills(assembly: str) -> list[str]:
    """Instructions with a vector on the stack, of inner loops with a multiply-add."""
    return [
        line.strip()
        for loop in inner_loops(assembly)
        if any("vfmadd" in line for line in loop)
        for line in loop
        if VECTOR_ON_STACK.search(line)
    ]


def test_spills_are_seen() -> None:
    text = """
.LBB0_1:
        vmovups 64(%rsp), %zmm3
.LBB0_2:
        vfmadd231ps     %zmm1, %zmm2, %zmm3
        vmovaps %zmm3, 128(%rbp)
        vfmadd231ps     192(%rsp), %zmm2, %zmm3
        movq    8(%rsp), %rax
        jne     .LBB0_2
        jne     .LBB0_1
.LBB0_3:
        vmovups 64(%rsp), %zmm3
        jne     .LBB0_3
"""
    assert spills(text) == ["vmovaps %zmm3, 128(%rbp)", "vfmadd231ps     192(%rsp), %zmm2, %zmm3"]


@pytest.fixture(scope="module")
def suite() -> Suite:
    """Products of many tile shapes, each with the epilogues that models have."""
    made = Suite()
    light, heavy = Product(relu, bias=True), Product(gelu, bias=True)
    for m, k, n in ((1, 64, 256), (2, 64, 100), (6, 64, 64), (26, 40, 32), (32, 64, 128), (49, 64, 48), (64, 64, 16)):
        matmul(made, (m, k), (k, n), light)
    matmul(made, (32, 64), (64, 128), heavy)
    matmul(made, (32, 64), (64, 128), Product(residual, bias=True, residual=True))
    matmul(made, (4, 32, 16), (4, 16, 32), constant=False)
    matmul(made, (32, 64), (64, 128), dtype="float16")
    conv(made, Conv((1, 64, 14, 14), 64, (1, 1)), light)
    conv(made, Conv((1, 64, 14, 14), 128, (1, 1), (2, 2)), light)
    conv(made, Conv((1, 3, 28, 28), 64, (7, 7), (2, 2), (3, 3, 3, 3)), light)
    conv(made, Conv((1, 64, 14, 14), 64, (3, 3), pads=(1, 1, 1, 1)), light)
    conv(made, Conv((1, 64, 7, 7), 64, (3, 3), pads=(1, 1, 1, 1)), Product(residual, bias=True, residual=True))
    conv(made, Conv((1, 64, 14, 14), 64, (3, 3), pads=(1, 1, 1, 1), group=2), light)
    conv(made, Conv((1, 64, 14, 14), 64, (3, 3), pads=(1, 1, 1, 1), group=64), light)
    conv(made, Conv((1, 64, 14, 14), 64, (3, 3), (2, 2), (1, 1, 1, 1), group=64), heavy)
    return made


@pytest.mark.parametrize("target", [name for name, target in TARGETS.items() if target.native])
def test_inner_loops_keep_vectors_in_registers(suite: Suite, target: str) -> None:
    assert suite.module
    kernels = [op for op in suite.tiled(target).ops if isinstance(op, tile.KernelOp)]
    products = [k for k in kernels if not k.sym_name.data.startswith("TransData")]
    assert len(products) == len(suite.cases)
    texts = [kernel_ir(kernel, load(target)) for kernel in products]
    faults: list[str] = []
    multiplying = 0
    for case, kernel, code in zip(suite.cases, products, compile_ir(texts, load(target), assembly=True), strict=True):
        assembly = code.decode()
        multiplying += any("vfmadd" in line for loop in inner_loops(assembly) for line in loop)
        if found := spills(assembly):
            faults.append(f"{case.name}, @{kernel.sym_name.data}: {len(found)} such as `{found[0]}`")
    assert multiplying == len(products), "a product without a loop that multiplies and adds"
    assert not faults, "\n".join(faults)

"""Inner loops of kernels keep everything in registers: none moves a vector to or from the stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from onnx import ModelProto

from gecc import api
from gecc.codegen.emit import kernel_ir
from gecc.codegen.object import compile_ir
from gecc.context import make_context
from gecc.dialects import tile
from gecc.passes.tile.deduplicate_kernels import kernel_text
from gecc.target import TARGETS, Target
from test.models.mlp import mlp
from test.models.mobilenet import mobilenet
from test.models.resnet import resnet

LABEL = re.compile(r"(\.L\w+):")
JUMP = re.compile(r"\tj\w+\t(\.L\w+)")
MULTIPLY_ADD = re.compile(r"\tvfn?m(add|sub)\w+\t")
FRAME = re.compile(r"\tmovq\t%rsp, %rbp")
STACK = re.compile(r"\tv\w+\t.*\(%rsp\b")
STACK_OR_FRAME = re.compile(r"\tv\w+\t.*\(%r[sb]p\b")
STORE = re.compile(r"\tv\w+\t%[xyz]mm\d+, .*\(")


@dataclass(frozen=True)
class Loop:
    """Lines from a label to the last jump back to it."""

    first: int
    last: int

    def holds(self, other: Loop) -> bool:
        return self != other and self.first <= other.first and other.last <= self.last


def loops(lines: list[str]) -> list[Loop]:
    """The loops of a function in assembly."""
    labels: dict[str, int] = {}
    ends: dict[int, int] = {}
    for number, line in enumerate(lines):
        if match := LABEL.match(line):
            labels[match[1]] = number
        elif (match := JUMP.match(line)) and match[1] in labels:
            ends[labels[match[1]]] = number
    return [Loop(first, last) for first, last in ends.items()]


def hot_loops(lines: list[str]) -> list[Loop]:
    """Loops with a multiply-add that are innermost, or that keep sums in registers: no vector goes to memory in them.

    Loops around those work on whole tiles; what they save on the stack costs nothing.
    """
    stack = STACK_OR_FRAME if any(FRAME.match(line) for line in lines) else STACK
    found = loops(lines)
    hot: list[Loop] = []
    for loop in found:
        inside = lines[loop.first : loop.last]
        innermost = not any(loop.holds(other) for other in found)
        stores = any(STORE.match(line) and not stack.match(line) for line in inside)
        if any(MULTIPLY_ADD.match(line) for line in inside) and (innermost or not stores):
            hot.append(loop)
    return hot


def spills(assembly: str) -> list[str]:
    """Vector instructions with an operand on the stack, in hot loops, in order."""
    lines = assembly.splitlines()
    # without a frame, rbp is a register like any other
    stack = STACK_OR_FRAME if any(FRAME.match(line) for line in lines) else STACK
    inside = sorted({number for loop in hot_loops(lines) for number in range(loop.first, loop.last)})
    return [lines[number].strip() for number in inside if stack.match(lines[number])]


def networks() -> Iterator[ModelProto]:
    yield mlp()
    yield resnet()
    yield mobilenet()


def kernels(target: Target) -> list[tile.KernelOp]:
    """The kernels of all networks, equal ones once."""
    found: dict[str, tile.KernelOp] = {}
    for model in networks():
        ctx = make_context()
        module = api.import_model(ctx, model)
        api.lower(ctx, module, stage="tile", target=target.name)
        for op in module.ops:
            if isinstance(op, tile.KernelOp):
                found.setdefault(kernel_text(op), op)
    return list(found.values())


@pytest.mark.whole
@pytest.mark.parametrize(
    "target", [t for t in TARGETS.values() if t.native and t.machine == "x86_64"], ids=lambda t: t.name
)
def test_no_spills_in_hot_loops(target: Target) -> None:
    ops = kernels(target)
    assemblies = [code.decode() for code in compile_ir([kernel_ir(op, target) for op in ops], target, assembly=True)]
    names = [op.sym_name.data for op in ops]
    faults = {name: found for name, text in zip(names, assemblies, strict=True) if (found := spills(text))}
    assert not faults
    cold = [
        name
        for name, text in zip(names, assemblies, strict=True)
        if name.startswith(("MatMul", "Conv2D")) and not hot_loops(text.splitlines())
    ]
    assert not cold, f"products without an inner loop of multiply-adds: {cold}"


PRODUCT = """\
f:
{frame}
.LBB0_1:
	vxorps	%xmm1, %xmm1, %xmm1
{outside}
.LBB0_2:
	xorl	%ecx, %ecx
{between}
.LBB0_3:
	vmovups	(%rsi,%rcx,4), %ymm0
{inside}
	vfmadd231ps	(%rdx,%rcx,4), %ymm0, %ymm1
	addq	$8, %rcx
	cmpq	%r8, %rcx
	jl	.LBB0_3
	decq	%r9
	jne	.LBB0_2
	vmovups	%ymm1, (%rdi)
	jmp	.LBB0_1
"""


@pytest.mark.parametrize(
    "spill",
    ["\tvmovaps\t%ymm1, 32(%rsp)", "\tvmovups\t-64(%rbp), %zmm1", "\tvfmadd213ps\t64(%rsp), %ymm0, %ymm1",
     "\tvmovaps\t(%rsp,%rax), %xmm3"],
)  # fmt: skip
def test_spills_are_seen(spill: str) -> None:
    def found(**places: str) -> list[str]:
        return spills(
            PRODUCT.format(**{"frame": "\tmovq\t%rsp, %rbp", "outside": "", "between": "", "inside": "", **places})
        )

    assert found() == []
    assert found(inside=spill) == found(between=spill) == [spill.strip()]
    assert found(outside=spill) == [], "around whole tiles"
    assert found(inside="\tmovq\t32(%rsp), %rax") == [], "a scalar"
    without_frame = [] if "%rbp" in spill else [spill.strip()]
    assert found(inside=spill, frame="\tpushq\t%rbp") == without_frame

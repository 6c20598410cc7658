"""Order of definition and use, and provenance, which xDSL's verifier leaves alone."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, UnknownLoc, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from gecc.context import make_context
from gecc.dialects import ge
from gecc.pipeline import run_passes
from gecc.rewrite import name_location
from gecc.verify import check_dominance, check_locations, has_provenance, verify_module

TEXT = """
func.func @main(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %0 = ge.Exp(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("exp")
  %1 = scf.if %p -> (tensor<4xf32>) {
    %2 = ge.Log(%0) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  } loc("if")
  %3 = ge.Neg(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("neg")
  func.return %3 : tensor<4xf32>
}
"""


@pytest.fixture
def module() -> ModuleOp:
    return Parser(make_context(), TEXT).parse_module()


def find(module: ModuleOp, kind: type[Operation]) -> Operation:
    return next(op for op in module.walk() if isinstance(op, kind))


def test_good_module(module: ModuleOp) -> None:
    verify_module(module, locations=True)


def test_use_before_definition(module: ModuleOp) -> None:
    exp = find(module, ge.Exp)
    exp.detach()
    block = find(module, ge.Neg).parent
    assert block is not None
    block.insert_op_before(exp, find(module, ge.Neg))
    module.verify()  # which sees nothing
    with pytest.raises(VerifyException, match=r"'ge.Log' uses operand 0 .* that does not dominate"):
        check_dominance(module)


def test_value_of_a_nested_region_used_outside(module: ModuleOp) -> None:
    find(module, ge.Neg).operands[0] = find(module, ge.Log).results[0]
    module.verify()
    with pytest.raises(VerifyException, match=r"'ge.Neg' uses operand 0 .*result of 'ge.Log', .*not dominate it; at "):
        check_dominance(module)


def test_value_of_the_other_branch(module: ModuleOp) -> None:
    branches = next(op for op in module.walk() if op.name == "scf.if")
    terminator = branches.regions[1].block.last_op
    assert terminator is not None
    terminator.operands[0] = find(module, ge.Log).results[0]
    with pytest.raises(VerifyException, match=r"'scf.yield' uses operand 0"):
        check_dominance(module)


def test_detached_producer(module: ModuleOp) -> None:
    find(module, ge.Neg).operands[0] = ge.Exp(find(module, ge.Exp).operands[0]).result
    with pytest.raises(VerifyException, match="an operation that is in no block"):
        check_dominance(module)


def test_isolated_region_sees_nothing_of_outside() -> None:
    block = Block(arg_types=[TensorType(f32, [4])])
    inner = FuncOp("inner", ([], []), Region(Block([ge.Neg(block.args[0])])))
    block.add_op(inner)
    outer = FuncOp("outer", (list(block.arg_types), []), Region(block))
    with pytest.raises(VerifyException, match="a block argument that is not visible here"):
        check_dominance(ModuleOp([outer]))


def _one():
    import numpy as np

    return np.ones((), np.float32)


def test_lost_locations(module: ModuleOp) -> None:
    assert has_provenance(module)
    find(module, ge.Exp).location = UnknownLoc()
    assert not has_provenance(module)
    with pytest.raises(VerifyException, match=r"1 operations have lost their location: ge\.Exp"):
        check_locations(module)


def test_nothing_has_no_provenance() -> None:
    assert not has_provenance(ModuleOp([]))


def test_pass_that_breaks_ir_is_named(module: ModuleOp) -> None:
    from dataclasses import dataclass

    from xdsl.context import Context
    from xdsl.passes import ModulePass

    @dataclass(frozen=True)
    class Careless(ModulePass):
        name = "careless"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            find(op, ge.Neg).location = UnknownLoc()

    with pytest.raises(VerifyException) as caught:
        run_passes(make_context(), module, [Careless()], locations=True)
    assert caught.value.__notes__ == ["found after pass 'careless'"]
    find(module, ge.Neg).location = name_location("neg")
    seen: list[str] = []
    run_passes(make_context(), module, [Careless()], after=lambda name, _: seen.append(name))
    assert seen == ["careless"]

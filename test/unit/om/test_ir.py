"""An om file as text and back gives identical bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gecc import om_ir
from gecc.context import make_context
from gecc.errors import PassError
from gecc.om.reader import from_bytes
from gecc.om.records import OmModel
from gecc.om.writer import to_bytes
from gecc.rewrite import location_names
from gecc.text import attach_weights, save_weights
from gecc.verify import verify_module
from gecc.weights.store import store_of
from test.unit.om.samples import empty, mlp
from test.unit.om.strategies import models


def context() -> Context:
    ctx = make_context()
    for name in ("ge", "om"):
        ctx.load_registered_dialect(name)
    return ctx


@pytest.mark.parametrize("model", [mlp(), empty()], ids=["mlp", "empty"])
def test_text_and_side_file_give_the_same_file(model: OmModel, tmp_path: Path) -> None:
    data = to_bytes(model)
    ctx = context()
    module = om_ir.from_model(from_bytes(data), store_of(ctx))
    save_weights(ctx, [module], tmp_path / "net.mlir")
    (tmp_path / "net.mlir").write_text(str(module))

    other = context()
    parsed = Parser(other, (tmp_path / "net.mlir").read_text()).parse_module()
    verify_module(parsed)
    attach_weights(other, parsed, tmp_path)
    assert to_bytes(om_ir.to_model(parsed, store_of(other))) == data


@settings(max_examples=60, deadline=None)
@given(models())
def test_any_model_survives_as_text(model: OmModel) -> None:
    data = to_bytes(model)
    ctx = context()
    module = om_ir.from_model(from_bytes(data), store_of(ctx))
    verify_module(module)
    text = str(module)
    parsed = Parser(ctx, text).parse_module()
    verify_module(parsed)
    assert str(parsed) == text
    assert to_bytes(om_ir.to_model(parsed, store_of(ctx))) == data


def test_operations_say_which_onnx_nodes_they_are() -> None:
    ctx = context()
    module = om_ir.from_model(mlp(), store_of(ctx))
    found = {op.name: location_names(op) for op in module.walk() if location_names(op)}
    assert found == {"om.node": ("add:0",), "om.kernel": ("add:0",)}
    first = next(op for op in module.walk() if op.name == "om.kernel")
    assert location_names(first) == ("dense/MatMul", "dense/Relu")


def test_a_module_needs_one_model() -> None:
    with pytest.raises(PassError, match=r"the module has 0 om\.model operations, expected 1"):
        om_ir.to_model(ModuleOp([]), store_of(context()))

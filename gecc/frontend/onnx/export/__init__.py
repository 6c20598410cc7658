"""Modules as ONNX: runnable from the ge level, a picture for Netron from any.

A runnable model computes what the module computes; layouts, which change no value, are dropped. A picture has a node
per operation in the domain `gecc`, the names of the ONNX nodes it comes from, and no bytes of weights.
"""

from __future__ import annotations

from onnx import ModelProto
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from gecc.dialects import ge
from gecc.errors import InvalidModelError
from gecc.frontend.onnx.export.operators import EXPORTS
from gecc.frontend.onnx.export.runnable import export_runnable
from gecc.frontend.onnx.export.view import view
from gecc.gear_module import gear_functions, main_functions
from gecc.weights import store_of

__all__ = ["export_onnx", "export_view"]


def export_onnx(ctx: Context, module: ModuleOp) -> tuple[ModelProto, bool]:
    """The module as ONNX, and whether that runs: it does when every operation of `@main` is a ge operator.

    Of a module with gears it is a picture of the last: ONNX has no gears.
    """
    if (main := _main(module)) and not gear_functions(module):
        if all(type(op) in EXPORTS or isinstance(op, ge.Const | ReturnOp) for op in main.body.block.ops):
            return export_runnable(main, store_of(ctx)), True
    return export_view(ctx, module), False


def export_view(ctx: Context, module: ModuleOp) -> ModelProto:
    """The graph of a module of any level, of its last gear if it has such, as a picture.

    Raises InvalidModelError for a module without a graph.
    """
    from gecc.dialects.om import ModelOp

    main = _main(module)
    graphs = [main] if main else [op for op in module.ops if isinstance(op, ModelOp)]
    if not graphs:
        raise InvalidModelError("the module has no graph: neither func.func @main nor om.model")
    return view(graphs[0], store_of(ctx))


def _main(module: ModuleOp) -> FuncOp | None:
    return next((op for op in reversed(main_functions(module)) if not op.is_declaration), None)

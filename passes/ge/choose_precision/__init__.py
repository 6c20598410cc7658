"""ge-choose-precision: operations compute in the element type that a precision mode says."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gecc.passes.ge.choose_precision.decide import Decider
from gecc.passes.ge.choose_precision.retype import Retyper
from gecc.precision import Precision, PrecisionReport, announce
from gecc.weights import store_of


@dataclass(frozen=True)
class ChoosePrecision(ModulePass):
    """Change the element types of operations on floats by mode, with casts where neighbours differ.

    With `mode=fp16`:

    ```mlir
    func.func @main(%x: tensor<1x8xf32>) -> tensor<1x4xf32> {
      %w = ge.Const dense<0.1> : tensor<8x4xf32>
      %y = ge.MatMulV2(%x, %w) : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>
      %z = ge.Relu(%y) : (tensor<1x4xf32>) -> tensor<1x4xf32>
      func.return %z : tensor<1x4xf32>
    }
    // becomes
    func.func @main(%x: tensor<1x8xf32>) -> tensor<1x4xf32> {
      %x16 = ge.Cast(%x) : (tensor<1x8xf32>) -> tensor<1x8xf16>
      %w = ge.Const dense<0.1> : tensor<8x4xf16>
      %y = ge.MatMulV2(%x16, %w) : (tensor<1x8xf16>, tensor<8x4xf16>) -> tensor<1x4xf16>
      %z = ge.Relu(%y) : (tensor<1x4xf16>) -> tensor<1x4xf16>
      %z32 = ge.Cast(%z) : (tensor<1x4xf16>) -> tensor<1x4xf32>
      func.return %z32 : tensor<1x4xf32>
    }
    ```

    mode: origin (nothing changes), fp16, fp32, cube_fp16 (products alone), cube_fp16in_fp32out, mixed_float16 and
    mixed_bfloat16 (by the lists of `gecc.precision`), or the names of atc's --precision_mode. `white`, `black` and
    `grey` put operators on another list; `keep` names ONNX nodes, or `OpType::Type`, that stay; `customize` says types
    as `name::InputDtype:float16,OutputDtype:float32`.

    Constants are converted now; what lies beyond the narrow range takes its nearest finite value (`clip`). Inputs and
    outputs of the function keep their types, and so do f64, operators that write types down (Cast), sampling
    coordinates, scales of quantisation, and whatever computes indices. Why an operation was not changed is told with
    `gecc-opt --remarks`; the report goes to whoever listens (`gecc.precision.listening`).
    """

    name = "ge-choose-precision"

    mode: str = "origin"
    white: tuple[str, ...] = ()
    black: tuple[str, ...] = ()
    grey: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    customize: tuple[str, ...] = ()
    clip: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        wanted = Precision(self.mode, self.white, self.black, self.grey, self.keep, self.customize, self.clip)
        if wanted.changes_nothing:
            return
        report = PrecisionReport(self.mode, clip=self.clip)
        retyper = Retyper(store_of(ctx), report)
        Decider(wanted, report, retyper).run(op)
        retyper.finish()
        announce(report)

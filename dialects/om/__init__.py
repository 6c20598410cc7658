"""The om dialect: the contents of an om file as IR.

One `om.model` holds the interface, the constants, the graph that people see, and the tasks that run, in the words of
the container: kernels, jumps, host calls, event records and waits. Encoding it gives the file, decoding the file gives it back
(`gecc.om_ir`). Machine code and weights are named by digest and lie in the text's side file.

```mlir
om.model "net" target "x86-64-v4" abi 2 arena 64 scratch 0 producer "gecc" {
  %x = om.input "x" : tensor<8xf32>
  %t = om.node "Exp" "exp" (%x : tensor<8xf32>) onnx ["exp"] places [#om.mem<arena, 0, 32>] -> tensor<8xf32>
  %y = om.node "Neg" "neg" (%t : tensor<8xf32>) onnx ["neg"] -> tensor<8xf32>
  om.output "y" : tensor<8xf32> = %y : tensor<8xf32>
  om.kernel "k0" "Exp" node 0 blocks 1 ins [#om.mem<input 0, 0, 32>] outs [#om.mem<arena, 0, 32>] params array<i64: 8>
  om.event_record 0
  om.event_wait 0
  om.kernel "k1" "Neg" node 1 blocks 1 ins [#om.mem<arena, 0, 32>] outs [#om.mem<output 0, 0, 32>] params array<i64: 8>
}
```
"""

from __future__ import annotations

from xdsl.ir import Dialect

from gecc.dialects.om.attrs import HostTensorAttr, MemAttr, ObjectAttr, ObjectType, SlotAttr
from gecc.dialects.om.graph import InputOp, NodeOp, OutputOp, WeightOp
from gecc.dialects.om.model import ModelOp
from gecc.dialects.om.tasks import (
    EntryOp,
    EventRecordOp,
    EventWaitOp,
    GotoOp,
    HostOp,
    KernelOp,
    LabelOp,
    SwitchOp,
    TaskOp,
)

__all__ = [
    "EntryOp",
    "EventRecordOp",
    "EventWaitOp",
    "GotoOp",
    "HostOp",
    "HostTensorAttr",
    "InputOp",
    "KernelOp",
    "LabelOp",
    "MemAttr",
    "ModelOp",
    "NodeOp",
    "ObjectAttr",
    "ObjectType",
    "Om",
    "OutputOp",
    "SlotAttr",
    "SwitchOp",
    "TaskOp",
    "WeightOp",
]

Om = Dialect(
    "om",
    [
        *(ModelOp, InputOp, WeightOp, NodeOp, OutputOp, EntryOp),
        *(KernelOp, LabelOp, GotoOp, SwitchOp, HostOp, EventRecordOp, EventWaitOp),
    ],
    [MemAttr, HostTensorAttr, ObjectAttr, SlotAttr, ObjectType],
)

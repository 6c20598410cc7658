"""The tile dialect: tiled kernels, and the graph of launches that runs them.

A `tile.kernel` is a symbol whose body does the work of ONE block of a launch. Its parameters are, in order: flat
memories (`memref<?xT>`, inputs before outputs), extents and strides (`index`), and the number of the block (`index`).
Bodies hold `scf.for` loops, `arith` and `math` operations, and the operations of this dialect. Two of them carry
vector meaning, so that the IR stays free of any machine's vector width:

- `tile.lanes` is a loop whose iterations are independent but for declared reductions; its body is scalar and is run
  by as many lanes at once as the target has.
- register tiles are one value each, such as `vector<6x64xf32>`; `tile.mma` contracts a whole panel into one, and
  `tile.store_tile` stores it through a scalar epilogue.

The graph is a `func.func` of `tile.launch` operations, first on tensors, after bufferization on memrefs.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from gecc.dialects.tile.control import GotoOp, IfOp, Jump, LabelOp, SwitchOp, WhileOp
from gecc.dialects.tile.graph import AllocOp, InputOp, JoinOp, LaunchOp, OutputOp, ViewOp, WeightOp, int_array
from gecc.dialects.tile.host import HostOp, SlotOp
from gecc.dialects.tile.kernel import (
    COMBINERS,
    CheckIndexOp,
    KernelOp,
    LanesOp,
    LoadOp,
    ReturnOp,
    ScratchOp,
    StoreOp,
    YieldOp,
    identity,
)
from gecc.dialects.tile.register import FillOp, MmaOp, StoreTileOp

__all__ = [
    "COMBINERS",
    "AllocOp",
    "CheckIndexOp",
    "FillOp",
    "GotoOp",
    "HostOp",
    "IfOp",
    "InputOp",
    "JoinOp",
    "Jump",
    "KernelOp",
    "LabelOp",
    "LanesOp",
    "LaunchOp",
    "LoadOp",
    "MmaOp",
    "OutputOp",
    "ReturnOp",
    "ScratchOp",
    "SlotOp",
    "StoreOp",
    "StoreTileOp",
    "SwitchOp",
    "Tile",
    "ViewOp",
    "WeightOp",
    "WhileOp",
    "YieldOp",
    "identity",
    "int_array",
]

Tile = Dialect(
    "tile",
    [
        KernelOp,
        ReturnOp,
        YieldOp,
        LoadOp,
        StoreOp,
        ScratchOp,
        CheckIndexOp,
        LanesOp,
        FillOp,
        MmaOp,
        StoreTileOp,
        LaunchOp,
        HostOp,
        SlotOp,
        WeightOp,
        ViewOp,
        JoinOp,
        InputOp,
        OutputOp,
        AllocOp,
        IfOp,
        WhileOp,
        LabelOp,
        GotoOp,
        SwitchOp,
    ],
    [],
)

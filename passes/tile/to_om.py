"""Lower an allocated graph of launches to the tasks of an om."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.passes import ModulePass

from gecc.dialects import tile
from gecc.dialects.ge.attrs import FIXED_NAMES, FIXED_VALUES, WeightAttr
from gecc.dialects.om.build import build_model
from gecc.errors import PassError
from gecc.gear_module import GEARS
from gecc.om.fixed import KEY as FIXED
from gecc.om.fixed import FixedInput
from gecc.om.records import (
    AttrValue,
    OmModel,
)
from gecc.passes.tile._gears import join_gears
from gecc.passes.tile._om_builder import Builder, spell, texts
from gecc.runtime import abi
from gecc.target import host, load
from gecc.weights import WeightStore, store_of


def _fixed_inputs(module: ModuleOp, store: WeightStore) -> dict[str, AttrValue]:
    """The inputs that were fixed when the model was imported, as the attribute of the om."""
    names, values = module.attributes.get(FIXED_NAMES), module.attributes.get(FIXED_VALUES)
    if not isinstance(names, ArrayAttr) or not isinstance(values, ArrayAttr):
        return {}
    lines: list[str] = []
    for name, value in zip(names.data, values.data, strict=True):
        assert isinstance(name, StringAttr) and isinstance(value, WeightAttr) and isinstance(value.type, TensorType)
        data = store.array(value).tobytes()
        fixed = FixedInput.of(name.data, spell(value.type.element_type), tuple(value.type.get_shape()), data)
        lines.append(fixed.text())
    return {FIXED: tuple(lines)}


@dataclass(frozen=True)
class ToOm(ModulePass):
    """Turn an allocated graph of launches into an `om.model`; the kernels stay beside it, to be compiled.

    ```mlir
    func.func @main() {
      %x = tile.input 0 : memref<16xf32>
      %y = tile.output 0 : memref<16xf32>
      tile.launch @Relu "Relu" ins(%x : memref<16xf32>) outs(%y : memref<16xf32>) params [16, 64] blocks 1 ... phase 0
      func.return
    }
    ```
    becomes
    ```mlir
    om.model "main" target "x86-64-v4" abi 2 arena 0 scratch 0 producer "gecc" {
      %0 = om.input "x" : tensor<16xf32>
      %1 = om.node "Relu" "relu" (%0 : tensor<16xf32>) onnx ["relu"] ... -> tensor<16xf32>
      om.output "y" : tensor<16xf32> = %1 : tensor<16xf32>
      om.kernel "Relu" "Relu" node 0 blocks 1 ins [...] outs [...] params [16, 64]
    }
    ```

    The functions of a module with gears (`ge.gears`) become one list of tasks, which begins with a switch on the gear.

    Needs: tile-bufferize, tile-schedule and tile-allocate-buffers.
    """

    name = "tile-to-om"
    target: str = "host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = host() if self.target == "host" else load(self.target)
        functions = [f for f in op.ops if isinstance(f, func.FuncOp)]
        gears = op.attributes.pop(GEARS, None)
        if len(functions) != 1 and gears is None:
            raise PassError(f"the module has {len(functions)} functions, expected one")
        function = functions[0]
        b = Builder(functions)
        if gears is None:
            inputs = b.place_inputs(function)
            weight_ops = b.place_weights()
            b.launches(function)
            outputs = b.output_descs(function)
        else:
            assert isinstance(gears, StringAttr)
            inputs, weight_ops, outputs = join_gears(b, gears.data)
        memory = op.attributes.get("tile.memory")
        arena = 0
        attrs: dict[str, AttrValue] = {}
        if isinstance(memory, DictionaryAttr):
            for key, value in sorted(memory.data.items()):
                if isinstance(value, IntegerAttr):
                    attrs[f"memory_{key}"] = value.value.data
            found = attrs.get("memory_arena", 0)
            arena = found if isinstance(found, int) else 0
        attrs.update(_fixed_inputs(op, store_of(ctx)))
        for attribute in ("input_types", "output_types"):  # see gecc/runtime/narrow.py
            if types := texts(function, f"ge.{attribute}"):
                attrs[attribute] = tuple(types)
        launches = [o for f in functions for o in f.body.block.ops if isinstance(o, tile.LaunchOp)]
        name = op.attributes.get("ge.model_name")
        model = OmModel(
            name=name.data if isinstance(name, StringAttr) else "main" if gears else function.sym_name.data,
            target=target.name,
            abi=abi.ABI,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            nodes=tuple(b.nodes),
            tasks=tuple(b.tasks),
            arena_bytes=arena,
            slots=len(b.slot_numbers) or len(b.slots),
            scratch_bytes=max((launch.scratch.value.data for launch in launches), default=0),
            dispatcher=abi.RUN,
            attrs=attrs,
        )
        model_op = build_model(model, weight_ops, None)
        model_op.location = function.location
        op.body.block.insert_op_after(model_op, function)
        for each in functions:
            each.detach()
            each.erase()

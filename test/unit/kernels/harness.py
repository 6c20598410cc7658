"""Fused operations run three ways: interpreted, as interpreted kernels, and as machine code.

A `Suite` collects many small cases in one module, so that one compilation serves all. Every result is compared:
machine code with the interpretation of the kernels, both with the interpretation of the fused operations in f64 where
these compute in f32, and machine code run by one, two and three ranks bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from gecc.codegen.emit import emit
from gecc.context import make_context
from gecc.dialects import fused
from gecc.dialects.ge.attrs import LayoutAttr
from gecc.interp import run_module
from gecc.interp.tile import kernel_runner
from gecc.interp.tile_graph import find_graph, run_graph
from gecc.om.records import OmModel
from gecc.pipeline import run_pipeline
from gecc.runtime.executor import Executor
from gecc.target import TARGETS, supports
from gecc.weights import element_type, store_of

Array: TypeAlias = np.ndarray[Any, Any]
Build: TypeAlias = Callable[[Sequence[SSAValue]], Operation | Sequence[Operation]]

TARGET_NAMES = tuple(name for name, target in TARGETS.items() if target.native and not supports(target))
"""Targets whose machine code this machine runs."""

TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 4e-15}
"""Difference allowed, relative to the larger of the value and the scale that a case states."""


@dataclass
class Case:
    """One operation: its inputs in logical shape, and what to compare."""

    name: str
    inputs: list[Array]
    results: list[SSAValue]
    tolerance: float | None
    scale: float


@dataclass
class Suite:
    """Cases in one module. `add` them first, then ask for results by target."""

    cases: list[Case] = field(default_factory=list[Case])

    def __post_init__(self) -> None:
        self.ctx = make_context()
        for dialect in ("ge", "fused", "tile", "om"):
            self.ctx.load_registered_dialect(dialect)
        self.store = store_of(self.ctx)
        self.block = Block()
        self._tiled: dict[str, ModuleOp] = {}
        self._oms: dict[str, OmModel] = {}

    def constant(self, array: Array) -> SSAValue:
        """A weight of the model."""
        op = fused.ConstOp(self.store.add(array))
        self.block.add_op(op)
        return op.result

    def add(
        self,
        name: str,
        inputs: Sequence[Array],
        build: Build,
        *,
        layouts: Sequence[str | None] = (),
        tolerance: float | None = None,
        scale: float = 1.0,
    ) -> None:
        """One case: `build` makes operations from the inputs; the last one's result is compared.

        `scale` is the size of the largest terms that are summed, to which errors are relative.
        """
        padded = [*layouts, *[None] * (len(inputs) - len(layouts))]
        args: list[SSAValue] = []
        for array, layout in zip(inputs, padded, strict=True):
            type_ = tensor(array.shape, element_type(array.dtype))
            arg = self.block.insert_arg(type_, len(self.block.args))
            args.append(self._relaid(arg, layout))
        built = build(args)
        ops = [built] if isinstance(built, Operation) else list(built)
        self.block.add_ops(ops)
        results = [self._relaid(value, None) for value in ops[-1].results]
        self.cases.append(Case(name, list(inputs), results, tolerance, scale))

    def _relaid(self, value: SSAValue, layout: str | None) -> SSAValue:
        """`value` in another layout; inputs and outputs of a graph are row-major."""
        assert isinstance(value.type, TensorType)
        wanted = tensor(value.type.get_shape(), value.type.get_element_type(), layout)
        if value.type == wanted:
            return value
        op = fused.generic("TransData", wanted, [value], lambda b, d, t: b.load(t[0], d))
        self.block.add_op(op)
        return op.result

    @cached_property
    def module(self) -> ModuleOp:
        """The module of all cases at the fused level."""
        results = [value for case in self.cases for value in case.results]
        self.block.add_op(func.ReturnOp(*results))
        types = FunctionType.from_lists([a.type for a in self.block.args], [r.type for r in results])
        self.result_types = [value.type for value in results]
        module = ModuleOp([func.FuncOp("main", types, Region(self.block))])
        module.verify()
        return module

    @cached_property
    def inputs(self) -> list[Array]:
        """All inputs in logical shape."""
        return [array for case in self.cases for array in case.inputs]

    def expected(self, wide: bool = True) -> list[Array]:
        """The fused interpreter's results, in f64 where the operations compute in f32."""
        results = run_module(self.module, self.inputs, store=self.store, compute_dtype=np.float64 if wide else None)
        return list(results.values())

    def tiled(self, target: str) -> ModuleOp:
        """The module as kernels."""
        if target in self._tiled:
            return self._tiled[target].clone()
        module = self.module.clone()
        run_pipeline(
            self.ctx,
            module,
            [f'fused-choose-tilings{{target="{target}"}}', "fused-pack-weights", f'fused-to-tile{{target="{target}"}}'],
        )
        module.verify()
        self._tiled[target] = module
        return module.clone()

    def interpreted(self, target: str, *passes: str) -> list[Array]:
        """Results of interpreting the kernels for a target, after some more passes."""
        module = self.tiled(target)
        run_pipeline(self.ctx, module, passes)
        outputs = run_graph(find_graph(module), self.inputs, kernel_runner(module), self.store)
        return self._typed(outputs)

    def om(self, target: str) -> OmModel:
        """The compiled model for a target."""
        if target not in self._oms:
            module = self.tiled(target)
            run_pipeline(
                self.ctx,
                module,
                [
                    "tile-deduplicate-kernels",
                    "tile-bufferize",
                    "tile-schedule",
                    "tile-allocate-buffers",
                    f'tile-to-om{{target="{target}"}}',
                ],
            )
            self._oms[target] = emit(module, self.store)
        return self._oms[target]

    def native(self, target: str, ranks: int) -> list[Array]:
        """Results of machine code for a target, run by some ranks."""
        with Executor(self.om(target), threads=ranks) as executor:
            inputs = [a.view(np.uint16) if a.dtype.name == "bfloat16" else a for a in self.inputs]
            outputs = list(executor.run(inputs).values())
        return self._typed(outputs)

    def _typed(self, outputs: Sequence[Array]) -> list[Array]:
        found: list[Array] = []
        for array, type_ in zip(outputs, self.result_types, strict=True):
            assert isinstance(type_, TensorType)
            dtype = dtype_of(type_)
            array = array.view(dtype) if array.dtype != dtype else array
            found.append(array)
        return found

    def check(self, target: str, *, interpret: bool = True) -> None:
        """Compare everything; the message names each case that differs.

        `interpret = False` leaves out the interpretation of kernels, which for all but products are the same for
        every target.
        """
        assert self.module
        wanted = self.expected()
        kernels = self.interpreted(target) if interpret else None
        one, two, three = (self.native(target, ranks) for ranks in (1, 2, 3))
        faults: list[str] = []
        at = 0
        for case in self.cases:
            for _ in case.results:
                pairs = [("machine code", one[at], wanted[at])]
                if kernels is not None:
                    pairs.append(("interpreted kernel", kernels[at], wanted[at]))
                    pairs.append(("machine code against the interpreted kernel", one[at], kernels[at]))
                for what, got, want in pairs:
                    if fault := difference(got, want, case.tolerance, case.scale):
                        faults.append(f"{case.name}: {what}: {fault}")
                for ranks, other in ((2, two[at]), (3, three[at])):
                    if one[at].tobytes() != other.tobytes():
                        faults.append(f"{case.name}: {ranks} ranks give other bits than one")
                at += 1
        assert not faults, "\n".join(faults)


def numbers(shape: Sequence[int], dtype: Any = np.float32, seed: int = 1) -> Array:
    """Reproducible numbers of any dtype."""
    import ml_dtypes

    rng = np.random.default_rng(seed)
    kind = np.dtype(ml_dtypes.bfloat16) if str(dtype) == "bfloat16" else np.dtype(dtype)
    if kind == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind.kind in "iu":
        return rng.integers(0 if kind.kind == "u" else -100, 100, shape).astype(kind)
    return rng.uniform(-3, 3, shape).astype(kind)


def tensor(shape: Sequence[int], element: Attribute, layout: str | None = None) -> TensorType:
    """A tensor type of a layout by name (None is row-major)."""
    return TensorType(element, shape, *([LayoutAttr(layout)] if layout else []))


def dtype_of(type_: TensorType) -> np.dtype[Any]:
    """The numpy type of a tensor's elements."""
    from gecc.weights import numpy_dtype

    return numpy_dtype(type_.get_element_type())


def difference(got: Array, want: Array, tolerance: float | None, scale: float) -> str | None:
    """What is wrong with `got`, or None."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got.dtype.kind in "iub":
        if got.dtype != want.dtype:
            return f"dtype {got.dtype}, expected {want.dtype}"
        bad = got != want
        distance = bad
    else:
        limit = TOLERANCE[got.dtype.name] if tolerance is None else tolerance
        a, b = got.astype(np.float64), want.astype(np.float64)
        with np.errstate(all="ignore"):
            distance = np.abs(a - b) / np.maximum(np.abs(b), scale)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            bad = ~same & ~(distance <= limit)
    if not bad.any():
        return None
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    worst = float(np.nanmax(np.where(bad, distance, 0))) if got.size else 0.0
    return f"{int(bad.sum())} of {bad.size} differ, first at {where}: {got[where]}, expected {want[where]}; worst {worst:.3g}"

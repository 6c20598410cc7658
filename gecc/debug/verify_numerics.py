"""Do passes change what a module computes? Run it before and after each, and name the first that moves a result.

The yardstick is the module before the first pass, interpreted in float64. Interpreted in float32 it has an error of its
own; a pass may bring that to `FACTOR` times as much, where an error below `FLOOR` units in the last place of an
output's greatest magnitude counts as that. Integers must stay as they are, but for as many as differ in float32 anyhow.

A comparison that cannot fail is no comparison: over 1 % of non-finite elements, or all elements equal, where the
yardstick has none, is a failure, and so is a yardstick that itself is not finite.

ge and fused are interpreted; graphs of launches run in the interpreter's byte array with kernels as machine code, and a
sample of blocks interpreted beside it (`gecc.debug.launches`); an om is emitted and run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp

from gecc.debug.domains import draw_inputs
from gecc.debug.launches import LaunchRunner
from gecc.dialects import tile
from gecc.errors import GeccError
from gecc.gear_module import input_names, main_functions, output_names
from gecc.interp.base import run_module
from gecc.interp.tile_graph import run_graph
from gecc.pipeline import parse_passes, run_passes, stage_of
from gecc.target import Target, host
from gecc.target import load as load_target
from gecc.verify import has_provenance
from gecc.weights import WeightStore, store_of

FACTOR = 8.0
"""How much of the float32 interpretation's own error a pass may bring."""

FLOOR = 4.0
"""Units in the last place of the greatest magnitude that an error counts as at least."""

NON_FINITE = 0.01
"""Share of non-finite elements above which a comparison fails."""

MEANT = ("ge-choose-precision", "ge-set-io-types", "ge-insert-aipp")
"""Passes that are there to change results, or what goes in and out."""

Array = NDArray[Any]
Results = Mapping[str, Array]


class NumericsError(GeccError):
    """A pass moved a result."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a pass did. `ratio` is the greatest error of an output over its limit: up to 1 is allowed. Of a pass that
    left the module alone, nothing was run and `ratio` is that of the one before."""

    name: str
    stage: str
    changed: bool
    ratio: float


def run(
    ctx: Context,
    module: ModuleOp,
    specs: Sequence[str] | str,
    *,
    seed: int = 0,
    report: Callable[[Step], None] | None = None,
) -> list[Step]:
    """Run the passes `specs` on `module` in place and compare its results after each with those before all.

    `report` is called with each step. Raises NumericsError naming the first pass that moved a result beyond its limit,
    ShapeError when an input has a dimension of unknown size.
    """
    from gecc.frontend.onnx.inputs import require_static

    require_static(module)
    store = store_of(ctx)
    passes = parse_passes(specs)
    names = [function.sym_name.data for function in main_functions(module)]
    checks = [Check(module, store, draw_inputs(module, store, seed, name), name) for name in names]
    steps: list[Step] = []
    target = next((load_target(name) for p in passes if (name := getattr(p, "target", "host")) != "host"), None)
    for check in checks:
        check.target = target or host()
    before = module.clone()

    def after(name: str, module: ModuleOp) -> None:
        nonlocal before
        changed = not module.is_structurally_equivalent(before)
        if changed and name.partition("{")[0] in MEANT:
            # what comes from here on is compared with what this pass made
            for i, check in enumerate(checks):
                inputs = draw_inputs(module, store, seed, check.function)
                checks[i] = Check(module, store, inputs, check.function, narrow=True)
                checks[i].target = check.target
            ratio, before = 0.0, module.clone()
        elif changed:
            ratio = max(check.ratio(module, name) for check in checks)
            before = module.clone()
        else:
            ratio = steps[-1].ratio if steps else 0.0
        steps.append(Step(name, stage_of(module), changed, ratio))
        if report is not None:
            report(steps[-1])

    try:
        run_passes(ctx, module, passes, locations=has_provenance(module), after=after)
    finally:
        for check in checks:
            check.close()
    return steps


class Check:
    """The yardstick of a function of a module, and how far others are from it."""

    def __init__(
        self, module: ModuleOp, store: WeightStore, inputs: Results, function: str = "main", *, narrow: bool = False
    ) -> None:
        """Interpret `function` of `module` (ge, fused or tile), `@main` or a gear, on `inputs`, given by name.

        With `narrow` an error counts as at least a unit of the narrowest float type inside, since passes that change the
        order of a sum change how it is rounded to that.
        """
        self.store = store
        self.function = function
        self.inputs = inputs
        self.target: Target | None = None
        self.sampled: set[str] = set()
        """Bodies of kernels whose meaning was compared with their machine code."""
        self._compiled: tuple[str, LaunchRunner] | None = None
        main = self._function(module)
        self.order = input_names(main)
        self.outputs = output_names(main)
        single = self.results(module)
        exact = stage_of(module) in ("ge", "fused")
        wide = self._interpret(module, np.float64) if exact else single
        self.yardstick = as_arrays(wide)
        single = as_arrays(single)
        self.limits = {
            name: _limit(single[name], self.yardstick[name], _narrowest(module) / FLOOR if narrow else 0.0)
            for name in self.yardstick
        }
        for name, wide in self.yardstick.items():
            if (share := _non_finite(wide)) > NON_FINITE:
                raise NumericsError(
                    f"{share:.0%} of output '{name}' is not finite in float64: a comparison would say nothing",
                    hint="the random inputs do not fit the graph",
                )

    def results(self, module: ModuleOp) -> Results:
        """What a module of any level computes from the inputs, in its own precision."""
        stage = stage_of(module)
        if stage in ("ge", "fused"):
            return self._interpret(module)
        if stage == "om":
            return self._run_om(module)
        arrays = run_graph(
            self._function(module), [self.inputs[name] for name in self.order], self._runner(module), self.store
        )
        return dict(zip(self.outputs, arrays, strict=True))

    def _function(self, module: ModuleOp) -> FuncOp:
        return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == self.function)

    def _interpret(self, module: ModuleOp, dtype: Any = None) -> Results:
        return run_module(module, self.inputs, store=self.store, compute_dtype=dtype, function=self.function)

    def _runner(self, module: ModuleOp) -> LaunchRunner:
        """What runs the module's kernels; the one at hand while they stay the same."""
        kernels = "\n".join(str(op) for op in module.ops if isinstance(op, tile.KernelOp))
        if self._compiled is None or self._compiled[0] != kernels:
            self.close()
            self._compiled = (kernels, LaunchRunner(module, self.target or host(), self.sampled))
        return self._compiled[1]

    def close(self) -> None:
        """Unmap compiled kernels."""
        if self._compiled is not None:
            self._compiled[1].close()
            self._compiled = None

    def _run_om(self, module: ModuleOp) -> Results:
        from gecc import api
        from gecc.codegen.emit import emit

        with api.load(emit(module, self.store), threads=1, affinity="none") as executor:
            # numpy has no bf16: there, its bits as uint16 stand for it
            fed = {name: _as_bits(array) for name, array in self.inputs.items()}
            results = executor.run(fed)
        return {
            name: array.view(self.yardstick[name].dtype)
            if name in self.yardstick and _is_bits(array, self.yardstick[name])
            else array
            for name, array in results.items()
        }

    def ratio(self, module: ModuleOp, name: str) -> float:
        """The greatest error of an output of `module` over its limit.

        Raises NumericsError, blaming the pass `name`, when that is over 1, or a result is degenerate.
        """
        try:
            results = as_arrays(self.results(module))
        except GeccError as error:
            raise NumericsError(
                f"after pass '{name}' the module cannot be run: {error.message}", where=error.where, hint=error.hint
            ) from error
        worst = 0.0
        if list(results) != list(self.yardstick):
            raise NumericsError(f"pass '{name}' changed outputs: they are {list(results)}, not {list(self.yardstick)}")
        for output in self.yardstick:
            found, wide = results[output], self.yardstick[output]
            if problem := degenerate(found, wide):
                raise NumericsError(f"pass '{name}' spoiled output '{output}': {problem}")
            error, limit = _error(found, wide), self.limits[output]
            worst = max(worst, error / limit)
            if error > limit:
                what = "elements" if wide.dtype.kind in "biu" else "at most"
                raise NumericsError(
                    f"pass '{name}' moved output '{output}': it differs from float64 by {error:.3e}, the limit is "
                    f"{limit:.3e} ({what})",
                    hint=f"the greatest magnitude is {_magnitude(wide):.3e}",
                )
        return worst


def as_arrays(results: Mapping[str, Any]) -> dict[str, Array]:
    """Results as arrays of numbers by name: the elements of sequences one by one, strings by a checksum of each."""
    found: dict[str, Array] = {}
    for name, value in results.items():
        if isinstance(value, list | tuple):
            found.update(as_arrays({f"{name}[{i}]": item for i, item in enumerate(value)}))
        elif isinstance(value, dict):
            found.update(as_arrays({f"{name}[{key!r}]": item for key, item in sorted(value.items())}))
        elif value is not None:
            array = np.asarray(value)
            if array.dtype.kind in "OUST":
                sums = [zlib.crc32(str(item).encode()) for item in array.reshape(-1).tolist()]
                array = np.array(sums, np.int64).reshape(array.shape)
            found[name] = array
    return found


def degenerate(found: Array, wide: Array) -> str | None:
    """What makes a comparison of `found` with the yardstick worthless, if anything."""
    if found.shape != wide.shape:
        return f"its shape is {list(found.shape)}, expected {list(wide.shape)}"
    if (share := _non_finite(found)) > NON_FINITE and _non_finite(wide) == 0:
        return f"{share:.1%} of it is not finite, in float64 nothing"
    if found.size > 1 and bool(np.all(found == found.flat[0])) and not bool(np.all(wide == wide.flat[0])):
        return f"all elements are {found.flat[0]}, in float64 they differ"
    return None


def _narrowest(module: ModuleOp) -> float:
    """The unit in the last place, relative to its value, of the narrowest float type that a module computes in."""
    units = {"f16": 2.0**-10, "bf16": 2.0**-7}
    found = {str(r.type.element_type) for op in module.walk() for r in op.results if isinstance(r.type, TensorType)}
    return max((unit for name, unit in units.items() if name in found), default=0.0)


def _limit(single: Array, wide: Array, least_unit: float = 0.0) -> float:
    """The error that an output may have: of floats absolute, of integers a number of elements."""
    if wide.dtype.kind in "biu":
        return FACTOR * max(_error(single, wide), 1.0 / (FACTOR + 1.0))
    unit = 2.0**-8 if single.dtype.itemsize == 2 and single.dtype.kind != "f" else float(np.finfo(single.dtype).eps)
    unit = max(unit, least_unit)
    return FACTOR * max(_error(single, wide), FLOOR * unit * _magnitude(wide), float(np.finfo(np.float32).tiny))


def _error(found: Array, wide: Array) -> float:
    """The greatest absolute difference of floats, infinite where only one is finite; of integers, how many differ."""
    if wide.dtype.kind in "biu":
        return float(np.count_nonzero(found != wide))
    x, y = found.astype(np.float64), wide.astype(np.float64)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore"):
        distance = np.where(same, 0.0, np.abs(x - y))
    return float(np.nan_to_num(distance, nan=np.inf, posinf=np.inf).max(initial=0.0))


def _magnitude(array: Array) -> float:
    wide = array.astype(np.float64)
    return float(np.abs(wide[np.isfinite(wide)]).max(initial=0.0))


def _non_finite(array: Array) -> float:
    """The share of elements that are NaN or infinite."""
    if array.dtype.kind in "biu" or array.size == 0:
        return 0.0
    return 1.0 - float(np.count_nonzero(np.isfinite(array.astype(np.float64)))) / array.size


def _is_bits(array: Array, like: Array) -> bool:
    return array.dtype == np.uint16 and like.dtype != np.uint16


def _as_bits(array: Array) -> Array:
    return array.view(np.uint16) if array.dtype.itemsize == 2 and array.dtype.kind not in "fiu" else array

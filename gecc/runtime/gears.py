"""Which gear a run takes: the one whose input shapes are those of the arrays given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gecc.errors import InputError
from gecc.om.fixed import FixedInput
from gecc.om.gears import gear_count, in_gear, spell_gear, varies
from gecc.om.records import IoDesc, OmModel
from gecc.runtime.inputs import Binder, Inputs, as_array
from gecc.runtime.narrow import Interface
from gecc.runtime.outputs import Results

SHOWN = 10
"""Gears that an error names."""


class Gears:
    """Binds the inputs of a verified model and makes its results, in the gear that their shapes ask for.

    A model without gears has one, number 0.
    """

    def __init__(self, model: OmModel, fixed: Sequence[FixedInput], interface: Interface) -> None:
        self._inputs = model.inputs
        count = gear_count(model)
        gears = range(count or 1)
        self._binders = [Binder(in_gear(model.inputs, gear), fixed, interface.inputs) for gear in gears]
        self._results = [Results(in_gear(model.outputs, gear), interface.outputs) for gear in gears]
        self._open = [io for io in model.inputs if varies(io)]
        self._chosen = {tuple(io.shapes[gear] for io in self._open): gear for gear in range(count)}

    def bind(self, inputs: Inputs) -> tuple[int, list[Any]]:
        """The gear, and the arrays in the model's order as `Binder.bind` gives them.

        Raises InputError for what that refuses, and for sizes of no gear, naming the gears and the nearest.
        """
        if not self._chosen:
            return 0, self._binders[0].bind(inputs)
        gear = self._gear(inputs)
        return gear, self._binders[gear].bind(inputs)

    def results(self, gear: int) -> Results:
        """What makes or checks the results of a run in `gear`."""
        return self._results[gear]

    def _gear(self, inputs: Inputs) -> int:
        found = self._shapes(inputs)
        gear = self._chosen.get(tuple(found.values())) if len(found) == len(self._open) else None
        if gear is not None:
            return gear
        nearest = min(self._chosen.values(), key=lambda gear: _distance(self._open, found, gear))
        if len(found) < len(self._open):
            return nearest  # where the binder says which input is missing
        given = ", ".join(f"{name}{list(shape)}" for name, shape in found.items())
        shown = [f"{gear}: {spell_gear(self._inputs, gear)}" for gear in list(self._chosen.values())[:SHOWN]]
        more = f"; and {len(self._chosen) - SHOWN} more" if len(self._chosen) > SHOWN else ""
        raise InputError(
            f"no gear of the model takes {given}; the nearest is gear {nearest}: {spell_gear(self._inputs, nearest)}",
            hint=f"the gears are {'; '.join(shown)}{more}",
        )

    def _shapes(self, inputs: Inputs) -> dict[str, tuple[int, ...]]:
        """The shapes of the given ones of the inputs whose shape depends on the gear, in order, by name."""
        if isinstance(inputs, Mapping):
            named: Mapping[str, Any] = inputs
        elif isinstance(inputs, list | tuple):
            named = dict(zip((io.name for io in self._inputs), inputs, strict=False))
        else:
            named = {}
        found: dict[str, tuple[int, ...]] = {}
        for io in self._open:
            if io.name in named:
                value = named[io.name]
                found[io.name] = value.shape if type(value) is np.ndarray else as_array(value, io.name).shape
        return found


def _distance(descs: Sequence[IoDesc], found: Mapping[str, tuple[int, ...]], gear: int) -> tuple[float, int]:
    """How far a gear is from shapes: by the factors between sizes. Of gears as far, one that all would fit is nearer."""
    total, short = 0.0, 0
    for io in descs:
        shape = found.get(io.name)
        if shape is None:
            continue
        if len(shape) != len(io.shapes[gear]):
            return math.inf, 0
        for mine, its in zip(shape, io.shapes[gear], strict=True):
            total += abs(math.log((mine + 1) / (its + 1)))
            short += its < mine
    return total, short

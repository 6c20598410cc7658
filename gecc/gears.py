"""Gears as users give them: several sizes of a model's inputs, of which the shapes of a run choose one.

    gecc.compile("net.onnx", gears=[{"x": (1, 3, 224, 224)}, {"x": (4, 3, 224, 224)}])
    gecc.compile("net.onnx", gears=gecc.batch_gears({"x": (-1, 3, 224, 224)}, [1, 2, 4, 8]))

The rules, and the codes of what breaks them, are those of atc's --dynamic_batch_size, --dynamic_image_size and
--dynamic_dims. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gecc.errors import CliError, ShapeError
from gecc.om.gears import MAX_GEARS

Shapes = Mapping[str, Sequence[int]]
"""A shape for each of some inputs; -1 for a size that gears give."""

HEIGHT_AND_WIDTH = {"NCHW": (2, 3), "NHWC": (1, 2)}
"""Which dimensions of an image are its height and width, by layout."""


@dataclass(frozen=True)
class Gears(Sequence[Shapes]):
    """The gears of a model: for each the shapes of all inputs named. `kind` is "batch", "image" or "dims".

    Raises ShapeError for fewer than 2 (E10035) or more than 100 (E10036), for a size that is not positive (E10038), and
    for two that are the same (E10039).
    """

    shapes: tuple[dict[str, tuple[int, ...]], ...]
    kind: str = "dims"

    def __post_init__(self) -> None:
        count = len(self.shapes)
        if count < 2:
            raise ShapeError(
                f"E10035: there is {count} gear, expected at least 2", hint="give its sizes as the input shape"
            )
        if count > MAX_GEARS:
            raise ShapeError(f"E10036: there are {count} gears, expected at most {MAX_GEARS}")
        seen: dict[tuple[tuple[str, tuple[int, ...]], ...], int] = {}
        for gear, shapes in enumerate(self.shapes):
            for name, shape in shapes.items():
                if any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in shape):
                    raise ShapeError(
                        f"E10038: gear {gear} gives input '{name}' the shape {list(shape)}, expected positive sizes"
                    )
            if (other := seen.setdefault(tuple(sorted(shapes.items())), gear)) != gear:
                raise ShapeError(f"E10039: gears {other} and {gear} are the same")

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, index: int) -> dict[str, tuple[int, ...]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.shapes[index]

    def __iter__(self) -> Iterator[dict[str, tuple[int, ...]]]:
        return iter(self.shapes)


def gears_of(given: Sequence[Shapes], input_shapes: Shapes | None = None) -> Gears:
    """Gears as `compile` takes them: `Gears`, or for each gear shapes by input name.

    An input that a gear does not name has its shape in `input_shapes`. Raises ShapeError for gears that are none, for a size
    left open, or one that contradicts `input_shapes`.
    """
    base = {name: _plain(shape) for name, shape in (input_shapes or {}).items()}
    kind = given.kind if isinstance(given, Gears) else "dims"
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(map(_is_shapes, given)):
        raise ShapeError(f"gears are {given!r}, expected a list of shapes by input name")
    found: list[dict[str, tuple[int, ...]]] = []
    for number, gear in enumerate(given):
        shapes = dict(base)
        for name, given_shape in gear.items():
            shape = _plain(given_shape)
            known = base.get(name, shape)
            if len(known) != len(shape) or any(k not in (-1, size) for k, size in zip(known, shape, strict=True)):
                raise ShapeError(
                    f"gear {number} gives input '{name}' the shape {list(shape)}, the input shape is {list(known)}"
                )
            shapes[name] = shape
        for name, shape in shapes.items():
            if -1 in shape:
                raise ShapeError(f"gear {number} leaves input '{name}' with the shape {list(shape)}")
        found.append(shapes)
    return Gears(tuple(found), kind)


def batch_gears(input_shapes: Shapes, sizes: Sequence[int]) -> Gears:
    """A gear for each batch size, in the place of -1, which must be the first dimension of the inputs that have it.

    Raises ShapeError as `Gears` does, and when another dimension is -1 (E10018) or none is (E10012).
    """
    for name, shape in input_shapes.items():
        if -1 in tuple(shape)[1:]:
            raise ShapeError(
                f"E10018: input '{name}' has the shape {list(shape)}, but only its first dimension may be -1"
            )
    if not _open(input_shapes):
        raise ShapeError(f"E10012: no input has -1 as its first dimension: {_spell(input_shapes)}")
    return Gears(tuple(_filled(input_shapes, [size] * len(_open(input_shapes))) for size in sizes), "batch")


def image_gears(input_shapes: Shapes, sizes: Sequence[Sequence[int]], layout: str = "NCHW") -> Gears:
    """A gear for each height and width, in the place of the two -1 of the inputs that have them.

    Raises ShapeError as `Gears` does, when other dimensions than height and width are -1 (E10019) or none is (E10040), and
    for a size of other than two numbers (E10020).
    """
    if layout not in HEIGHT_AND_WIDTH:
        raise ShapeError(f"the layout of images is '{layout}', expected {' or '.join(HEIGHT_AND_WIDTH)}")
    axes = list(HEIGHT_AND_WIDTH[layout])
    for name, shape in input_shapes.items():
        found = [axis for axis, size in enumerate(shape) if size == -1]
        if found and (found != axes or len(shape) != 4):
            raise ShapeError(
                f"E10019: input '{name}' has the shape {list(shape)}, but only height and width of {layout} may be -1, "
                "and both must be"
            )
    if not _open(input_shapes):
        raise ShapeError(f"E10040: no input has -1 as height and width: {_spell(input_shapes)}")
    for pair in sizes:
        if len(pair) != 2:
            raise ShapeError(f"E10020: a size of images is {list(pair)}, expected height and width")
    images = len(_open(input_shapes)) // 2
    return Gears(tuple(_filled(input_shapes, list(pair) * images) for pair in sizes), "image")


def dims_gears(input_shapes: Shapes, sizes: Sequence[Sequence[int]]) -> Gears:
    """A gear for each group of sizes, which take the places of all -1 of all inputs, in their order.

    Raises ShapeError as `Gears` does, when nothing is -1 (E10040), for groups of different length (E10037), and for
    those that are not as long as there are -1 (E10045).
    """
    places = _open(input_shapes)
    if not places:
        raise ShapeError(f"E10040: no input has a dimension of -1: {_spell(input_shapes)}")
    lengths = sorted({len(group) for group in sizes})
    if len(lengths) > 1:
        raise ShapeError(f"E10037: gears have {' and '.join(map(str, lengths))} sizes, expected as many in each")
    if lengths and lengths[0] != len(places):
        raise ShapeError(
            f"E10045: gears have {lengths[0]} sizes, expected {len(places)}, one for each -1 of {_spell(input_shapes)}"
        )
    return Gears(tuple(_filled(input_shapes, list(group)) for group in sizes), "dims")


def parse_gears(kind: str, text: str, input_shapes: Shapes, layout: str = "NCHW") -> Gears:
    """Gears from the value of one of atc's flags: `1,2,4,8` for "batch", `224,224;448,448` for "image" and "dims".

    Raises CliError for another syntax (E10014), ShapeError for gears that break a rule.
    """
    groups = [_numbers(group, text) for group in text.strip().removesuffix(";").split(";")]
    match kind:
        case "batch":
            if len(groups) > 1:
                raise CliError(f"E10014: '{text}' holds groups, batch sizes are numbers", hint="such as 1,2,4,8")
            return batch_gears(input_shapes, groups[0])
        case "image":
            return image_gears(input_shapes, groups, layout)
        case _:
            return dims_gears(input_shapes, groups)


def _numbers(group: str, text: str) -> tuple[int, ...]:
    fields = [field.strip() for field in group.split(",")]
    for field in fields:
        if not (field.removeprefix("-").isdecimal() and field.isascii()):
            raise CliError(
                f"E10014: '{field}' in '{text}' is no number", hint="groups end in ';', numbers in them in ','"
            )
    return tuple(int(field) for field in fields)


def _open(shapes: Shapes) -> list[tuple[str, int]]:
    """The places of -1."""
    return [(name, axis) for name, shape in shapes.items() for axis, size in enumerate(shape) if size == -1]


def _filled(shapes: Shapes, sizes: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The shapes with each -1 replaced, in order."""
    found = {name: list(shape) for name, shape in shapes.items()}
    for (name, axis), size in zip(_open(shapes), sizes, strict=True):
        found[name][axis] = size
    return {name: _plain(shape) for name, shape in found.items()}


def _is_shapes(gear: object) -> bool:
    return isinstance(gear, Mapping) and all(isinstance(shape, Iterable) for shape in gear.values())


def _plain(shape: Iterable[Any]) -> tuple[Any, ...]:
    """A shape whose sizes are Python's own integers where they are integers of another kind, such as numpy's."""
    return tuple(
        size.__index__() if hasattr(size, "__index__") and not isinstance(size, bool) else size for size in shape
    )


def _spell(shapes: Shapes) -> str:
    return ", ".join(f"{name}{list(shape)}" for name, shape in shapes.items()) or "no shapes are given"

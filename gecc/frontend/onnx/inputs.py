"""Shapes of graph inputs: symbolic dimensions, the shapes a user gives, and the check that none is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onnx import ValueInfoProto
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp

from gecc.dialects import ge
from gecc.errors import CliError, InvalidModelError, ShapeError
from gecc.gear_module import main_functions

ANONYMOUS = "?"
"""Name of a dimension that the model leaves open without naming it; two of them are not related."""


@dataclass(frozen=True)
class InputShape:
    """The shape that a model declares for an input."""

    name: str
    dims: tuple[int | str, ...]
    """Extents; a name where the model leaves one open."""

    @property
    def spelled(self) -> str:
        """The shape for messages: `[batch, 3, ?, ?]`."""
        return f"[{', '.join(str(d) for d in self.dims)}]"


def declared_shape(info: ValueInfoProto, model: str) -> InputShape:
    """The shape of a graph input. Raises InvalidModelError when its rank is not declared."""
    kind = info.type.tensor_type
    if not kind.HasField("shape"):
        raise InvalidModelError("the input has no shape, not even a rank", where=f"input '{info.name}' of {model}")
    dims: list[int | str] = []
    for dim in kind.shape.dim:
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            dims.append(dim.dim_value)
        else:
            dims.append(dim.dim_param.strip() or ANONYMOUS)
    return InputShape(info.name, tuple(dims))


def specialise(declared: Sequence[InputShape], given: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """The shapes of all inputs, -1 where still unknown, after those given; a named dimension is one size everywhere.

    A scalar may be given as a vector of one, as ONNX Runtime takes it, and is one then.

    Raises ShapeError for an unknown input, a wrong rank, or sizes that contradict the model or each other.
    """
    by_name = {shape.name: shape for shape in declared}
    bound: dict[str, tuple[int, str]] = {}
    for name, sizes in given.items():
        shape = by_name.get(name)
        if shape is None:
            raise ShapeError(f"no input is called '{name}'", hint=f"the inputs are {_all(declared)}")
        if not shape.dims and list(sizes) == [1]:
            continue
        if len(sizes) != len(shape.dims):
            raise ShapeError(
                f"input '{name}' has rank {len(shape.dims)} {shape.spelled}, found the shape {list(sizes)}"
            )
        for i, (size, dim) in enumerate(zip(sizes, shape.dims, strict=True)):
            if size < 0:
                raise ShapeError(f"dimension {i} of input '{name}' is given as {size}, expected 0 or more")
            if isinstance(dim, int):
                if size != dim:
                    raise ShapeError(f"dimension {i} of input '{name}' {shape.spelled} is {dim}, found {size}")
            elif dim != ANONYMOUS:
                known, source = bound.setdefault(dim, (size, name))
                if known != size:
                    raise ShapeError(f"dimension '{dim}' is {known} in input '{source}' and {size} in input '{name}'")
    result: dict[str, tuple[int, ...]] = {}
    for shape in declared:
        if shape.name in given:
            result[shape.name] = tuple(given[shape.name])
        else:
            result[shape.name] = tuple(d if isinstance(d, int) else bound.get(d, (-1, ""))[0] for d in shape.dims)
    return result


def _all(declared: Sequence[InputShape]) -> str:
    return ", ".join(f"'{s.name}' {s.spelled}" for s in declared) or "none"


def parse_input_shape(text: str, *, open_sizes: bool = False) -> dict[str, tuple[int, ...]]:
    """Shapes in atc's syntax: `x:1,3,48,192;y:2,4`. A scalar is `x:`. With `open_sizes` a size may be -1, as where gears give
    it. Raises CliError for anything else."""
    shapes: dict[str, tuple[int, ...]] = {}
    for part, name, fields in split_shapes(text):
        if not name or not all(f.isdecimal() or (open_sizes and f == "-1") for f in fields):
            raise CliError(f"'{part}' is no input shape", hint="expected name:1,3,224,224;other:2,4")
        if name in shapes:
            raise CliError(f"the shape of input '{name}' is given twice")
        shapes[name] = tuple(int(f) for f in fields)
    return shapes


def split_shapes(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """The entries of `x:1,3,48,192;y:2,4`: each as it is, its name ("" when it has none), and its sizes, unchecked."""
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, numbers = part.rpartition(":")
        yield part, name.strip(), [f.strip() for f in numbers.split(",")] if numbers.strip() else []


def require_static(module: ModuleOp, *, option: str = "--input-shape '{}'") -> None:
    """Check that every dimension of every input of `@main`, or of the gears, is known. `option` is what takes shapes.

    Raises ShapeError naming each input that has an unknown dimension, and its dimensions.
    """
    for op in main_functions(module):
        missing = [text for text in map(_unknown, _arguments(op)) if text]
        if missing:
            example = ";".join(f"{name}:{','.join(dims)}" for name, _, dims in _arguments(op) if name)
            raise ShapeError(
                f"the size of every dimension must be known; unknown in {', '.join(missing)}",
                hint=f"give input shapes, such as {option.format(example)} with numbers in place of names",
            )


def _unknown(argument: tuple[str, TensorType[Any], list[str]]) -> str | None:
    name, kind, dims = argument
    return f"input '{name}' [{', '.join(dims)}]" if -1 in ge.shape_of(kind) else None


def _arguments(op: FuncOp) -> list[tuple[str, TensorType[Any], list[str]]]:
    """Name, type and dimensions (a name or `?` where unknown) of each argument."""
    names = _strings(op.attributes.get("ge.input_names"))
    dims = op.attributes.get("ge.input_dims")
    result: list[tuple[str, TensorType[Any], list[str]]] = []
    for i, argument in enumerate(op.args):
        if not isinstance(argument.type, TensorType):
            continue
        spelled = [ANONYMOUS if d == -1 else str(d) for d in ge.shape_of(argument.type)]
        declared = _strings(dims.data[i]) if isinstance(dims, ArrayAttr) and i < len(dims.data) else []
        if len(declared) == len(spelled):
            spelled = [n if s == ANONYMOUS else s for s, n in zip(spelled, declared, strict=True)]
        result.append((names[i] if i < len(names) else str(i), argument.type, spelled))
    return result


def _strings(attr: object) -> list[str]:
    return [s.data for s in attr.data if isinstance(s, StringAttr)] if isinstance(attr, ArrayAttr) else []

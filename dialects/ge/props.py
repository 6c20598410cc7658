"""Properties of ge operators: each kind knows how it is checked, printed and parsed."""

from __future__ import annotations

import math
import struct
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, VerificationContext, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.types import f32, f64, i1, i64


def int_attr(value: int) -> IntegerAttr[IntegerType]:
    """An i64 attribute."""
    return IntegerAttr(value, i64)


def bool_attr(value: bool) -> IntegerAttr[IntegerType]:
    """An i1 attribute."""
    return IntegerAttr(int(value), i1)


def float_attr(value: float) -> FloatAttr[Any]:
    """A number as f32 when that is exact (it then prints short), else as f64."""
    try:
        exact = struct.unpack("<f", struct.pack("<f", value))[0] == value
    except OverflowError:
        exact = False
    return FloatAttr(value, f32 if exact else f64)


def ints_attr(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """A dense array of i64."""
    return DenseArrayBase.from_list(i64, [int(v) for v in values])


def floats_attr(values: Sequence[float]) -> DenseArrayBase[Any]:
    """A dense array of f64."""
    return DenseArrayBase.from_list(f64, [float(v) for v in values])


class Kind(AttrConstraint[Attribute]):
    """What a property holds."""

    @abstractmethod
    def expects(self) -> str:
        """What the property holds, in words."""

    @abstractmethod
    def accepts(self, attr: Attribute) -> bool:
        """Whether `attr` is of this kind."""

    @abstractmethod
    def print(self, attr: Any, printer: Printer) -> None:
        """Print the value after the property's name."""

    @abstractmethod
    def parse(self, parser: Parser) -> Attribute:
        """Parse what `print` prints."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.accepts(attr):
            raise VerifyException(f"found {attr}, expected {self.expects()}")

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> Self:
        return self


class _Int(Kind):
    def expects(self) -> str:
        return "an i64 integer"

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, IntegerAttr) and attr.type == i64

    def print(self, attr: IntegerAttr, printer: Printer) -> None:
        printer.print_string(str(attr.value.data))

    def parse(self, parser: Parser) -> Attribute:
        return int_attr(parser.parse_integer())


class _Bool(Kind):
    def expects(self) -> str:
        return "true or false"

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, IntegerAttr) and attr.type == i1

    def print(self, attr: IntegerAttr, printer: Printer) -> None:
        printer.print_string("true" if attr.value.data else "false")

    def parse(self, parser: Parser) -> Attribute:
        return bool_attr(parser.parse_boolean())


class _Float(Kind):
    def expects(self) -> str:
        return "an f32 or f64 number"

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, FloatAttr) and attr.type in (f32, f64)

    def print(self, attr: FloatAttr[Any], printer: Printer) -> None:
        printer.print_string(_shortest(attr.value.data, single=attr.type == f32))
        if attr.type != f32:  # f32 is the usual case and goes without saying
            printer.print_string(" f64")

    def parse(self, parser: Parser) -> Attribute:
        value = _number(parser)
        return FloatAttr(value, f64 if parser.parse_optional_keyword("f64") else f32)


def _shortest(value: float, *, single: bool) -> str:
    """The shortest decimal that rounds to this f32 or f64, with a point, as MLIR asks; else inf, -inf or nan."""
    text = repr(value)
    if not math.isfinite(value):
        return text
    if single:
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if struct.pack("<f", float(text)) == struct.pack("<f", value):
                break
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


def _number(parser: Parser) -> float:
    """What `_shortest` gives."""
    sign = -1.0 if parser.parse_optional_punctuation("-") else 1.0
    for word in ("inf", "nan"):
        if parser.parse_optional_keyword(word):
            return sign * float(word)
    return sign * float(parser.parse_number())


class _Ints(Kind):
    def expects(self) -> str:
        return "a dense array of i64"

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, DenseArrayBase) and attr.elt_type == i64

    def print(self, attr: DenseArrayBase[IntegerType], printer: Printer) -> None:
        printer.print_string("[" + ", ".join(str(v) for v in attr.get_values()) + "]")

    def parse(self, parser: Parser) -> Attribute:
        return ints_attr(parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer))


class _Floats(Kind):
    def expects(self) -> str:
        return "a dense array of f64"

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, DenseArrayBase) and attr.elt_type == f64

    def print(self, attr: DenseArrayBase[Any], printer: Printer) -> None:
        printer.print_string("[" + ", ".join(_shortest(float(v), single=False) for v in attr.get_values()) + "]")

    def parse(self, parser: Parser) -> Attribute:
        return floats_attr(parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, lambda: _number(parser)))


class _Word(Kind):
    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    def expects(self) -> str:
        return "one of " + ", ".join(self.words)

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, StringAttr) and attr.data in self.words

    def print(self, attr: StringAttr, printer: Printer) -> None:
        printer.print_string(attr.data)

    def parse(self, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_keyword_in(self.words))


class _Dense(Kind):
    def expects(self) -> str:
        return "a dense attribute"

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, DenseIntOrFPElementsAttr)

    def print(self, attr: Attribute, printer: Printer) -> None:
        printer.print_attribute(attr)

    def parse(self, parser: Parser) -> Attribute:
        return parser.parse_attribute()


_INT, _BOOL, _FLOAT, _INTS, _FLOATS, _DENSE = _Int(), _Bool(), _Float(), _Ints(), _Floats(), _Dense()


def int_prop(default: int | None = None) -> IntegerAttr[IntegerType]:
    """Declare an i64 property."""
    return cast(IntegerAttr[IntegerType], prop_def(_INT, None if default is None else int_attr(default)))


def opt_int_prop() -> IntegerAttr[IntegerType] | None:
    """Declare an i64 property that may be absent."""
    return cast("IntegerAttr[IntegerType] | None", opt_prop_def(_INT))


def bool_prop(default: bool = False) -> IntegerAttr[IntegerType]:
    """Declare a boolean property."""
    return cast(IntegerAttr[IntegerType], prop_def(_BOOL, bool_attr(default)))


def float_prop(default: float | None = None) -> FloatAttr[Any]:
    """Declare a real property; the default is rounded to f32, as ONNX defines it."""
    return cast(FloatAttr[Any], prop_def(_FLOAT, None if default is None else FloatAttr(default, f32)))


def ints_prop(default: Sequence[int] | None = None) -> DenseArrayBase[IntegerType]:
    """Declare a property that is a list of i64."""
    return cast(DenseArrayBase[IntegerType], prop_def(_INTS, None if default is None else ints_attr(default)))


def floats_prop(default: Sequence[float] | None = None) -> DenseArrayBase[Any]:
    """Declare a property that is a list of f64."""
    return cast(DenseArrayBase[Any], prop_def(_FLOATS, None if default is None else floats_attr(default)))


def word_prop(*words: str, default: str | None = None) -> StringAttr:
    """Declare a property that is one of `words`."""
    return cast(StringAttr, prop_def(_Word(words), None if default is None else StringAttr(default)))


def opt_dense_prop() -> DenseIntOrFPElementsAttr[Any] | None:
    """Declare a property that is a dense attribute and may be absent."""
    return cast("DenseIntOrFPElementsAttr[Any] | None", opt_prop_def(_DENSE))

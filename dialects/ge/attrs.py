"""Attributes of the ge dialect: weights by digest, and the layout of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gecc.weights.attribute import WeightAttr

__all__ = ["FIXED_NAMES", "FIXED_VALUES", "LAYOUTS", "LayoutAttr", "WeightAttr"]

_T = TypeVar("_T")

FIXED_NAMES, FIXED_VALUES = "ge.fixed_names", "ge.fixed_values"
"""Module attributes: the inputs that were fixed when the model was imported, and their values (weights), in order."""

LAYOUTS: dict[str, tuple[int, ...]] = {"NHWC": (0, 2, 3, 1)}
"""Layout name -> for each physical dimension, outermost first, the logical dimension (NCHW) stored there."""


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute):
    """`#ge.layout<NHWC>`: the physical order of a tensor whose logical shape stays NCHW.

    It is the encoding of a builtin tensor type. A tensor without encoding is row-major.
    """

    name = "ge.layout"

    order: StringAttr

    def __init__(self, order: str | StringAttr) -> None:
        super().__init__(StringAttr(order) if isinstance(order, str) else order)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.order.data)

    def verify(self) -> None:
        if self.order.data not in LAYOUTS:
            raise VerifyException(f"unknown layout {self.order.data}, expected one of {', '.join(LAYOUTS)}")

    @property
    def permutation(self) -> tuple[int, ...]:
        """For each physical dimension, outermost first, the logical dimension stored there."""
        return LAYOUTS[self.order.data]

    @property
    def inverse(self) -> tuple[int, ...]:
        """For each logical dimension, its physical place."""
        permutation = self.permutation
        return tuple(permutation.index(i) for i in range(len(permutation)))

    def physical(self, logical: Sequence[_T]) -> tuple[_T, ...]:
        """A logical shape (or index) in physical order."""
        if len(logical) != len(self.permutation):
            raise VerifyException(
                f"layout {self.order.data} is for rank {len(self.permutation)}, found rank {len(logical)}"
            )
        return tuple(logical[i] for i in self.permutation)

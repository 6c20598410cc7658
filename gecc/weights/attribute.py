"""The attribute that names a weight: `#ge.weight<"digest", tensor<64x3x7x7xf32>>`.

It belongs to the ge dialect by name, and stands here beside the store whose entries it names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

_DIGEST = re.compile(r"[0-9a-f]{64}")


@irdl_attr_definition
class WeightAttr(ParametrizedAttribute):
    """A constant by the digest of its entry in the context's weight store, and the tensor type it is read as.

    Bytes are little-endian, dense, in the physical order of the type's layout.
    """

    name = "ge.weight"

    digest: StringAttr
    type: TensorType

    def __init__(self, digest: str | StringAttr, type: TensorType[Any]) -> None:
        super().__init__(StringAttr(digest) if isinstance(digest, str) else digest, type)

    def verify(self) -> None:
        if not _DIGEST.fullmatch(self.digest.data):
            raise VerifyException(f"the digest of a weight is 64 lower-case hex digits, found '{self.digest.data}'")
        if not self.type.has_static_shape():
            raise VerifyException(f"a weight has a static shape, found {self.type}")

    @property
    def tensor_type(self) -> TensorType[Any]:
        """The type of the constant."""
        return self.type

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            digest = parser.parse_str_literal(" of digest")
            parser.parse_punctuation(",")
            position = parser.pos
            type = parser.parse_type()
            if not isinstance(type, TensorType):
                parser.raise_error(f"expected a tensor type, found {type}", position)
        return [StringAttr(digest), type]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.digest.data)
            printer.print_string(", ")
            printer.print_attribute(self.type)

"""Values that are no tensors of static shape and native element type: `!ge.object<"seq(tensor(float))">`.

An object lives in Python: a numpy array (of strings, or whose shape depends on data), a list, None. Only operations
that run on the host take and make objects.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

_LEAF = re.compile(r"(sparse_)?tensor\([a-z0-9]+\)")


def is_spelled(text: str) -> bool:
    """Whether `text` is a type as the ONNX standard spells it: tensor, sequence, map or optional."""
    while _LEAF.fullmatch(text) is None:
        for head in ("seq(", "optional("):
            if text.startswith(head) and text.endswith(")"):
                text = text[len(head) : -1]
                break
        else:
            found = re.fullmatch(r"map\([a-z0-9]+,(.+)\)", text)
            if found is None:
                return False
            text = found[1]
    return True


@irdl_attr_definition
class ObjectType(ParametrizedAttribute, TypeAttribute):
    """`!ge.object<"tensor(string)">`: a Python object; the text is the type as ONNX spells it."""

    name = "ge.object"

    spelled: StringAttr

    def __init__(self, spelled: str | StringAttr) -> None:
        super().__init__(StringAttr(spelled) if isinstance(spelled, str) else spelled)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_str_literal())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.spelled.data)

    def verify(self) -> None:
        if not is_spelled(self.spelled.data):
            raise VerifyException(
                f"'{self.spelled.data}' is no type of ONNX, expected such as tensor(string), seq(tensor(float)) or "
                "optional(tensor(int64))"
            )


def is_object(value: SSAValue) -> bool:
    """Whether a value is a Python object."""
    return isinstance(value.type, ObjectType)

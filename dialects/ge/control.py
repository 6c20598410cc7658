"""Control flow: operators with regions that are run not at all, once, or many times.

Regions see the values of the blocks around them. Each is one block that ends in `ge.Yield`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, TensorType, i32
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from gecc.dialects.ge.base import GeOp, Value, ge_op, mismatch
from gecc.dialects.ge.const import Const, const_ints
from gecc.dialects.ge.types import (
    BOOL,
    DYNAMIC,
    AnyTensor,
    check_dtype,
    dims,
    elem,
    i1,
    i64,
    like,
    row_major,
    shape_of,
    spell,
    tensor,
    tensor_type,
)


@irdl_op_definition
class Yield(IRDLOperation):
    """Ends a region of ge.If or ge.While with its values."""

    name = "ge.Yield"
    values = var_operand_def(TensorType)
    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, values: Sequence[Value]) -> None:
        super().__init__(operands=[list(values)])


class Control(GeOp):
    """An operator with regions."""

    def yielded(self, number: int) -> Sequence[SSAValue]:
        """What region `number` yields. Raises VerifyException when it does not end in ge.Yield."""
        region = self.regions[number]
        if len(region.blocks) != 1:
            raise VerifyException(f"region {number} has {len(region.blocks)} blocks, expected one")
        last = region.block.last_op
        if not isinstance(last, Yield):
            raise VerifyException(f"region {number} ends in {last.name if last else 'nothing'}, expected ge.Yield")
        return last.values

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        slots = self._operand_slots()
        while slots and slots[-1] is None:
            slots.pop()
        printer.print_list(slots, lambda v: printer.print_string("none") if v is None else printer.print_operand(v))
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)
        for region in self.regions:
            printer.print_string(" ")
            printer.print_region(region, print_entry_block_args=True)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        slots = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN,
            lambda: None if parser.parse_optional_keyword("none") else parser.parse_unresolved_operand(),
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        operands = parser.resolve_operands([s for s in slots if s is not None], type.inputs.data, position)
        properties: dict[str, Attribute] = {}
        definition = cls.get_irdl_definition()
        if any(isinstance(o, AttrSizedOperandSegments) for o in definition.options):
            fixed = len(definition.operands) - 1
            sizes = [int(i < len(slots) and slots[i] is not None) for i in range(fixed)]
            sizes.append(max(0, len(slots) - fixed))
            properties[AttrSizedOperandSegments.attribute_name] = DenseArrayBase.from_list(i32, sizes)
        regions = [parser.parse_region() for _ in definition.regions]
        return cls.create(
            operands=operands,
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )


@ge_op
class If(Control):
    """What `then_body` yields when `condition` holds, else what `else_body` yields (ONNX If).

    `%y = ge.If(%c) : (tensor<i1>) -> tensor<4xf32> { ... ge.Yield %a } { ... ge.Yield %b }`. `condition` has one element. A dimension in which
    the branches differ is unknown.
    """

    condition = operand_def(TensorType)
    results_ = var_result_def(TensorType)
    then_body = region_def()
    else_body = region_def()

    def __init__(self, condition: Value, then_body: Region, else_body: Region) -> None:
        IRDLOperation.__init__(
            self,
            operands=[condition],
            result_types=[_joined_types(then_body, else_body)],
            regions=[then_body, else_body],
        )

    def infer(self) -> Sequence[AnyTensor]:
        check_dtype("condition", self.condition, BOOL)
        if any(d not in (1, DYNAMIC) for d in dims(self.condition)):
            raise VerifyException(f"condition has shape {spell(dims(self.condition))}, expected one element")
        for region in self.regions:
            if region.block.args:
                raise VerifyException(f"a branch has {len(region.block.args)} arguments, expected none")
        return [_joined(i, a, b) for i, (a, b) in enumerate(self._pairs())]

    def _pairs(self) -> list[tuple[SSAValue, SSAValue]]:
        a, b = self.yielded(0), self.yielded(1)
        if len(a) != len(b):
            raise VerifyException(f"the branches yield {len(a)} and {len(b)} values, expected as many")
        return list(zip(a, b, strict=True))


def _joined_types(then_body: Region, else_body: Region) -> list[AnyTensor]:
    ends = [region.block.last_op for region in (then_body, else_body)]
    assert all(isinstance(end, Yield) for end in ends)
    a, b = (end.operands for end in ends if end is not None)
    if len(a) != len(b):
        raise VerifyException(f"the branches yield {len(a)} and {len(b)} values, expected as many")
    return [_joined(i, x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]


def _joined(number: int, a: SSAValue, b: SSAValue) -> AnyTensor:
    """The type of either of two values; a dimension that is not the same in both is unknown."""
    x, y = tensor(a), tensor(b)
    if x.element_type != y.element_type or x.get_num_dims() != y.get_num_dims() or x.encoding != y.encoding:
        raise VerifyException(f"result {number} is {x} in one branch and {y} in the other")
    return like(x, [p if p == q else DYNAMIC for p, q in zip(shape_of(x), shape_of(y), strict=True)])


@ge_op
class While(Control):
    """A loop (ONNX Loop and Scan import to it).

    `%last, %all = ge.While(%trips, %condition, %first) : (...) -> (...) { ^bb0(%i: tensor<i64>, %x: tensor<4xf32>): ... ge.Yield %go, %next, %row }`

    The body runs while the iteration number is less than `trips` (when given) and the condition holds: `condition`
    (when given) before the first iteration, what the body yields first after each. Arguments of the body are the
    number of the iteration, from 0, and the carried values: `inits` at first, then what the body yielded next. Results
    are the carried values at the end, and for each value that the body yields beyond them these of all iterations, in
    order, along a new first dimension. Carried values never change their type.
    """

    trips = opt_operand_def(TensorType)
    condition = opt_operand_def(TensorType)
    inits = var_operand_def(TensorType)
    results_ = var_result_def(TensorType)
    body = region_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, trips: Value | None, condition: Value | None, inits: Sequence[Value], body: Region) -> None:
        end = body.block.last_op
        assert isinstance(end, Yield)
        kinds = [tensor(arg) for arg in body.block.args[1:]]
        count = DYNAMIC if trips is None or not is_true(end.operands[0]) else _number(SSAValue.get(trips))
        kinds += [_stacked(count, value) for value in end.operands[1 + len(kinds) :]]
        IRDLOperation.__init__(self, operands=[trips, condition, list(inits)], result_types=[kinds], regions=[body])

    @property
    def carried(self) -> Sequence[SSAValue]:
        """The body's arguments behind the number of the iteration."""
        return self.body.block.args[1:]

    @property
    def next_condition(self) -> SSAValue:
        """Whether another iteration may follow, as the body yields it."""
        return self.yielded(0)[0]

    @property
    def next_values(self) -> Sequence[SSAValue]:
        """The carried values for the next iteration."""
        return self.yielded(0)[1 : 1 + len(self.inits)]

    @property
    def rows(self) -> Sequence[SSAValue]:
        """What the body yields for the results that hold a value of each iteration."""
        return self.yielded(0)[1 + len(self.inits) :]

    @property
    def counted(self) -> bool:
        """Whether the loop runs `trips` times: no condition can end it early."""
        return (
            self.trips is not None
            and is_true(self.next_condition)
            and (self.condition is None or is_true(self.condition))
        )

    @property
    def trip_count(self) -> int:
        """How many iterations there are, -1 when that is not known."""
        return _number(self.trips) if self.trips is not None and self.counted else DYNAMIC

    def infer(self) -> Sequence[AnyTensor]:
        for name, value, kinds in (("trips", self.trips, (i64,)), ("condition", self.condition, BOOL)):
            if value is not None:
                check_dtype(name, value, kinds)
                if any(d not in (1, DYNAMIC) for d in dims(value)):
                    raise VerifyException(f"{name} has shape {spell(dims(value))}, expected one element")
        args = self.body.block.args
        if len(args) != 1 + len(self.inits):
            raise VerifyException(
                f"the body has {len(args)} arguments for {len(self.inits)} carried values and a number"
            )
        if args[0].type != tensor_type((), i64):
            raise VerifyException(f"the body's first argument is {args[0].type}, expected the number as tensor<i64>")
        values = self.yielded(0)
        if len(values) < len(args):
            raise VerifyException(
                f"the body yields {len(values)} values, expected a condition and {len(args) - 1} more"
            )
        if elem(values[0]) != i1 or any(d not in (1, DYNAMIC) for d in dims(values[0])):
            raise VerifyException(f"the body yields {values[0].type} first, expected a condition of one element")
        for i, (arg, init, new) in enumerate(zip(args[1:], self.inits, self.next_values, strict=True)):
            for what, value in (("begins as", init), ("continues as", new)):
                if (problem := mismatch(value.type, tensor(arg))) is not None:
                    raise VerifyException(f"carried value {i} is {arg.type} but {what} {value.type}: {problem}")
        stacked = [_stacked(self.trip_count, value) for value in self.rows]
        return [*(tensor(arg) for arg in args[1:]), *stacked]


def _stacked(count: int, value: SSAValue) -> AnyTensor:
    return row_major((count, *dims(value)), elem(value))


def _number(value: SSAValue) -> int:
    """A trip count, 0 for a negative one, when it is constant; else -1."""
    known = const_ints(value)
    return DYNAMIC if known is None else max(0, known[0])


def is_true(value: SSAValue) -> bool:
    """Whether a condition is the constant true."""
    owner = value.owner
    return (
        isinstance(owner, Const)
        and isinstance(owner.value, DenseIntOrFPElementsAttr)
        and all(bool(v) for v in owner.value.iter_values())
    )

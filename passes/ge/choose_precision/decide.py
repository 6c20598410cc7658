"""Which element type each operation is to have, and why."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from gecc.dialects import ge
from gecc.dialects.ge.types import bf16, elem, f16, f32, f64
from gecc.errors import PassError
from gecc.passes.ge.choose_precision.integers import integer_arithmetic
from gecc.passes.ge.choose_precision.retype import Retyper
from gecc.precision import CUBE, FIXED, Custom, Decision, Precision, PrecisionReport, colour_of, custom_of, find_mode
from gecc.precision.lists import near, operators_called, unknown_operator
from gecc.rewrite import location_names, miss

_ELEMENTS: dict[str, Attribute] = {"f16": f16, "bf16": bf16, "f32": f32}

CHOSEN = (f16, bf16, f32)
"""Element types that may be changed; f64 was asked for by the model and never is."""


_DOUBLE = "f64 is what the model asks for"


class Decider:
    """Goes through a module in order, so that what comes before an operation is decided before it."""

    def __init__(self, wanted: Precision, report: PrecisionReport, retyper: Retyper) -> None:
        self.mode = find_mode(wanted.mode)
        self.report = report
        self.retyper = retyper
        self.exact: dict[Operation, str] = {}
        """Operations that stand for integers, and how."""
        self.unused = set(wanted.keep)
        self.keep_nodes = {name for name in wanted.keep if not name.startswith("OpType::")}
        self.keep_types = self._by_operator(
            [n.removeprefix("OpType::") for n in wanted.keep if n.startswith("OpType::")]
        )
        self.custom_nodes: dict[str, Custom] = {}
        self.custom_types: dict[str, Custom] = {}
        for custom in map(custom_of, wanted.customize):
            self.unused.add(str(custom))
            if not custom.is_type:
                self.custom_nodes[custom.name] = custom
            else:
                for operator in self._by_operator([custom.name]):
                    self.custom_types[operator] = custom
        self.colours: dict[str, tuple[str, str]] = {}
        for colour, names in (("white", wanted.white), ("black", wanted.black), ("grey", wanted.grey)):
            for operator, name in self._by_operator(names).items():
                reason = (
                    "put on the grey list: as what comes before it" if colour == "grey" else f"put on the {colour} list"
                )
                if operator in self.colours:
                    report.warnings.append(
                        f"{operator} is put on the {self.colours[operator][0]} list and on the {colour} list, which counts"
                    )
                self.colours[operator] = (colour, f"{reason} as '{name}'")
        if (wanted.white or wanted.black or wanted.grey) and not self.mode.lists:
            report.warnings.append(f"mode {wanted.mode} has no lists; what was put on them has no effect")

    def _by_operator(self, names: Sequence[str]) -> dict[str, str]:
        """Operators meant -> the name given."""
        found: dict[str, str] = {}
        for name in names:
            operators = operators_called(name)
            if not operators:
                self.report.warnings.append(unknown_operator(name))
                self.unused.discard(f"OpType::{name}")
            found.update(dict.fromkeys(operators, name))
        return found

    def run(self, module: ModuleOp) -> None:
        """Decide on every operation and change it."""
        self.exact = integer_arithmetic(module)
        for op in [op for op in module.walk() if isinstance(op, ge.GeOp) and _concerned(op)]:
            self._decide(op)
        self._tell_unused()

    # -- one operation ------------------------------------------------------------------------------------------------

    def _decide(self, op: ge.GeOp) -> None:
        operator = op.name.removeprefix("ge.")
        nodes = location_names(op)
        before = _float_of(op)
        assert before is not None
        custom = next((self.custom_nodes[n] for n in nodes if n in self.custom_nodes), None)
        custom = custom or self.custom_types.get(operator)
        if custom is not None:
            self.unused.discard(str(custom))
            return self._customise(op, custom, before)
        kept = self._kept(op, operator, nodes, before)
        if kept is not None:
            return self._keep(op, before, kept)
        target, reason = self._wanted(op, operator)
        result = f32 if self.mode.wide_results and operator in CUBE else None
        if target is None or not _differs(op, target, result or target):
            return self._keep(op, before, reason if target is None else f"it computes in {target} already")
        if (problem := self.retyper.change(op, target, result)) is not None:
            return self._keep(op, before, f"it has no form in {target}: {problem}")
        after = f"{target}" if result is None else f"{target} with results of {result}"
        self.report.decisions.append(Decision(operator, nodes, str(before), after, reason))

    def _kept(self, op: ge.GeOp, operator: str, nodes: Sequence[str], before: Attribute) -> str | None:
        """Why an operation keeps its types in every mode, or None."""
        if named := [n for n in nodes if n in self.keep_nodes]:
            self.unused -= set(named)
            return f"kept by name, '{named[0]}'"
        if operator in self.keep_types:
            self.unused.discard(f"OpType::{self.keep_types[operator]}")
            return f"kept by operator, OpType::{self.keep_types[operator]}"
        if before == f64:
            return _DOUBLE
        if operator in FIXED:
            return FIXED[operator]
        return self.exact.get(op)

    def _wanted(self, op: ge.GeOp, operator: str) -> tuple[Attribute | None, str]:
        """The element type that the mode wants for an operation, None for its own, and why."""
        mode = self.mode
        if not mode.lists:
            cube = operator in CUBE
            name = mode.cube if cube else mode.vector
            if name is None:
                return None, f"mode {mode.name} keeps the model's types" + (" but for products" if mode.cube else "")
            return _ELEMENTS[name], f"mode {mode.name}" + (" for products" if cube and mode.cube != mode.vector else "")
        assert mode.cube is not None
        narrow = _ELEMENTS[mode.cube]
        colour, reason = self.colours.get(operator) or colour_of(operator)
        if colour == "black":
            return None, reason
        if colour == "grey":
            given = [v for v in op.operands if _is_float(v) and not isinstance(v.owner, ge.Const)]
            if not given or not all(self.retyper.holds(value, narrow) for value in given):
                return None, f"grey list: what comes before it is not in {narrow}"
            if isinstance(op, ge.Mul) and op.operands[0] is op.operands[1]:
                return None, "grey list: a square needs the range and the digits of f32"
            if (problem := self._outside(op, narrow)) is not None:
                return None, problem
        return narrow, reason

    def _outside(self, op: ge.GeOp, narrow: Attribute) -> str | None:
        """Why the constants of an operation on the grey list do not bear the narrow type, or None."""
        for value in op.operands:
            if _is_float(value) and isinstance(value.owner, ge.Const):
                outside, vanished = self.retyper.losses(value.owner, narrow)
                if outside or vanished:
                    what = "are beyond the range of" if outside else "would become 0 in"
                    return f"{outside or vanished} elements of a constant operand {what} {narrow}"
        return None

    def _customise(self, op: ge.GeOp, custom: Custom, before: Attribute) -> None:
        operator, nodes = op.name.removeprefix("ge."), location_names(op)
        reason = f"customised by '{custom}'"
        if operator in ("Cast", "BitCast", "Shape", "Size"):
            self.report.warnings.append(f"'{custom}': the element types of {operator} cannot be chosen")
            return self._keep(op, before, FIXED[operator])
        if before == f64:
            self.report.warnings.append(f"'{custom}': {operator} computes in f64, which is never changed")
            return self._keep(op, before, _DOUBLE)
        for what, said, there in (("inputs", custom.inputs, op.operands), ("outputs", custom.outputs, op.results)):
            if len(said) > len(there):
                raise PassError(
                    f"'{custom}' says {len(said)} element types of {what}, {operator} has {len(there)} {what}",
                    where=", ".join(nodes) or operator,
                )
            for i, (name, value) in enumerate(zip(said, there, strict=False)):
                if name is not None and not _is_float(value):
                    self.report.warnings.append(
                        f"'{custom}': {what[:-1]} {i} of {operator} holds {elem(value)}, not floats; it stays"
                    )
        inputs = {n for n, v in zip(custom.inputs, op.operands, strict=False) if n is not None and _is_float(v)}
        if len(inputs) > 1:
            raise PassError(
                f"'{custom}' wants inputs of {' and '.join(sorted(inputs))}, but {operator} takes floats of one type",
                where=", ".join(nodes) or operator,
            )
        outputs = [None if n is None else _ELEMENTS[n] for n in custom.outputs]
        target = _ELEMENTS[inputs.pop()] if inputs else before
        if (problem := self.retyper.customise(op, target, outputs)) is not None:
            raise PassError(
                f"'{custom}': {operator} has no form in {target}: {problem}", where=", ".join(nodes) or None
            )
        after = ", ".join(
            [str(target), *(f"results of {o}" for o in dict.fromkeys(outputs) if o not in (None, target))]
        )
        self.report.decisions.append(Decision(operator, nodes, str(before), after, reason))

    def _keep(self, op: ge.GeOp, before: Attribute, reason: str) -> None:
        self.report.decisions.append(
            Decision(op.name.removeprefix("ge."), location_names(op), str(before), str(before), reason)
        )
        miss(op, "{}", reason)

    def _tell_unused(self) -> None:
        nodes = list(dict.fromkeys(n for d in self.report.decisions for n in d.nodes))
        operators = list(dict.fromkeys(d.operator for d in self.report.decisions))
        for name in sorted(self.unused):
            if name.startswith("OpType::"):
                there = f"; there are {', '.join(operators)}" if operators else ""
                self.report.warnings.append(f"'{name}' matches no operation on floats{there}")
            else:
                self.report.warnings.append(
                    f"'{name}' matches no operation on floats (a constant is none){near(name, nodes)}"
                )


def _differs(op: ge.GeOp, target: Attribute, result: Attribute) -> bool:
    """Whether a value that may be changed has another element type than wanted."""
    return any(elem(v) in CHOSEN and elem(v) != target for v in op.operands if _is_float(v)) or any(
        elem(v) in CHOSEN and elem(v) != result for v in op.results if _is_float(v)
    )


def _concerned(op: ge.GeOp) -> bool:
    """Whether an operation computes on floats itself: no constant, no control flow, nothing that the host runs."""
    return not isinstance(op, ge.Const | ge.Control | ge.HostOp) and _float_of(op) is not None


def _float_of(op: Operation) -> Attribute | None:
    """The element type of the first float among operands, or else results."""
    return next((elem(v) for v in (*op.operands, *op.results) if _is_float(v)), None)


def _is_float(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, AnyFloat)

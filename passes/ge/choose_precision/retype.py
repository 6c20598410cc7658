"""Give an operation other element types, with casts at its border that cancel those of its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from gecc.dialects import ge
from gecc.dialects.ge.types import elem, f64, like, tensor
from gecc.passes.ge._evaluate import constant_of
from gecc.passes.ge.canonicalize.pointwise import holds_all
from gecc.precision import Clipped, PrecisionReport
from gecc.rewrite import fuse_locations, location_names
from gecc.weights import WeightStore


class Retyper:
    """Changes operations one by one. Values keep their types towards users that were not changed."""

    def __init__(self, store: WeightStore, report: PrecisionReport) -> None:
        self.store = store
        self.report = report
        self._made: dict[tuple[SSAValue, Attribute], SSAValue] = {}
        """(value, element type) -> the same in that type."""
        self._inserted: list[Operation] = []
        self._constants: set[Operation] = set()
        """Constants that were converted; those without other users go."""
        self._losses: dict[tuple[Operation, Attribute], tuple[int, int]] = {}

    def change(self, op: ge.GeOp, target: Attribute, result: Attribute | None) -> str | None:
        """Let `op` compute in `target`, with results in `result` (None: in `target`). Why it cannot, or None."""
        return self._change(op, target, [target if result is None else result] * len(op.results), [])

    def customise(self, op: ge.GeOp, target: Attribute, outputs: Sequence[Attribute | None]) -> str | None:
        """The same with a type for each result, None where nothing is said.

        Where the operator cannot make them itself, its results are converted.
        """
        wanted = [*outputs, *[None] * (len(op.results) - len(outputs))]
        direct = [target if w is None else w for w in wanted]
        if any(w not in (None, target) for w in wanted) and self._change(op, target, direct, []) is None:
            return None
        return self._change(op, target, [target] * len(op.results), wanted)

    def holds(self, value: SSAValue, element: Attribute) -> bool:
        """Whether a value is there in `element`, without anything lost by reading it so."""
        owner = value.owner
        return elem(value) == element or (isinstance(owner, ge.Cast) and elem(owner.x) == element)

    def losses(self, const: ge.Const, element: Attribute) -> tuple[int, int]:
        """How many elements of a constant `element` has no finite value for, and how many become 0 without being 0."""
        key = (const, element)
        if key not in self._losses:
            import numpy as np

            values, limit = self.store.array(const.value), _greatest(element)
            finite = np.isfinite(values)
            with np.errstate(all="ignore"):
                outside = finite & (np.abs(values.astype(np.float64)) > limit)
                zero = (values.astype(ge.numpy_dtype(element)) == 0) & (values != 0)
            self._losses[key] = int(np.count_nonzero(outside)), int(np.count_nonzero(zero))
        return self._losses[key]

    def finish(self) -> None:
        """Remove casts and constants that nothing uses."""
        for op in reversed(self._inserted):
            if op.parent is not None and all(r.first_use is None for r in op.results):
                Rewriter.erase_op(op)
        for op in self._constants:
            if all(r.first_use is None for r in op.results):
                Rewriter.erase_op(op)

    # -- an operation -------------------------------------------------------------------------------------------------

    def _change(
        self, op: ge.GeOp, target: Attribute, elements: Sequence[Attribute], rounded: Sequence[Attribute | None]
    ) -> str | None:
        bias = _bias_place(op)
        operands = [
            self._as(v, elements[0] if i == bias else target, op) if _may_change(v) else v
            for i, v in enumerate(op.operands)
        ]
        types = [
            like(tensor(r), element=e) if _may_change(r) else r.type for r, e in zip(op.results, elements, strict=True)
        ]
        made = type(op).create(
            operands=operands,
            result_types=types,
            properties=op.properties.copy(),
            attributes=op.attributes.copy(),
        )
        made.location = op.location
        try:
            made.verify()
        except VerifyException as error:
            made.drop_all_references()
            return str(error).partition("\n")[0].removeprefix("Operation does not verify: ")
        Rewriter.insert_op(made, InsertPoint.before(op))
        for i, (old, new) in enumerate(zip(list(op.results), list(made.results), strict=True)):
            new.name_hint = old.name_hint
            value: SSAValue = new
            if i < len(rounded) and (kind := rounded[i]) not in (None, elem(new)):
                assert kind is not None
                value = self._cast(new, kind, made)
            if value.type != old.type:
                value = self._cast(value, elem(old), made)
            old.replace_all_uses_with(value)
        Rewriter.erase_op(op)
        return None

    def _as(self, value: SSAValue, element: Attribute, user: Operation) -> SSAValue:
        """A value in another element type, made where it is made."""
        if elem(value) == element:
            return value
        owner = value.owner
        if isinstance(owner, ge.Cast) and elem(owner.x) == element and holds_all(elem(value), element):
            return owner.x
        if (known := self._made.get((value, element))) is None:
            if isinstance(owner, ge.Const):
                known = self._constant(owner, element)
            else:
                known = self._cast(value, element, user)
            self._made[value, element] = known
        return known

    def _cast(self, value: SSAValue, element: Attribute, near: Operation) -> SSAValue:
        """A Cast right behind where `value` is made; without a place of its own it is named after `near`."""
        made = ge.Cast(value, element)
        owner = value.owner
        if isinstance(owner, Block):
            made.location = fuse_locations([near.location])
            Rewriter.insert_op(made, InsertPoint.at_start(owner))
        else:
            made.location = fuse_locations([owner.location])
            Rewriter.insert_op(made, InsertPoint.after(owner))
        self._inserted.append(made)
        return made.result

    def _constant(self, const: ge.Const, element: Attribute) -> SSAValue:
        import numpy as np

        values, limit = self.store.array(const.value), _greatest(element)
        outside, vanished = self.losses(const, element)
        if outside or vanished:
            names = location_names(const)
            self.report.constants.append(Clipped(names, str(element), outside, vanished))
        if outside and self.report.clip:
            clipped = np.clip(values, values.dtype.type(-limit), values.dtype.type(limit))
            values = np.where(np.isinf(values), values, clipped)
        with np.errstate(all="ignore"):
            narrow = np.ascontiguousarray(values.astype(ge.numpy_dtype(element)))
        made = constant_of(narrow.reshape(values.shape), like(tensor(const.result), element=element), self.store)
        made.location = const.location
        made.result.name_hint = const.result.name_hint
        Rewriter.insert_op(made, InsertPoint.after(const))
        self._inserted.append(made)
        self._constants.add(const)
        return made.result


def _may_change(value: SSAValue) -> bool:
    kind = value.type
    return isinstance(kind, TensorType) and isinstance(kind.element_type, AnyFloat) and kind.element_type != f64


def _bias_place(op: ge.GeOp) -> int | None:
    """The place of the operand that is added to sums and so has the type of the result, None without one."""
    return 2 if isinstance(op, ge.MatMulV2 | ge.Conv2D | ge.Conv3D) and op.bias is not None else None


def _greatest(element: Attribute) -> float:
    """The greatest finite number of a float type."""
    import ml_dtypes

    return float(ml_dtypes.finfo(ge.numpy_dtype(element)).max)

"""Signals: Fourier transforms, spectrograms, the mel scale; and determinants."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.fourier import Complex, Fourier, complex_of, onnx_of
from gecc.frontend.onnx.ops.movement import integers
from gecc.frontend.onnx.ops.pointwise import cast_target
from gecc.frontend.onnx.registry import onnx_op

_F32, _F64 = (ge.element_type(np.dtype(d)) for d in (np.float32, np.float64))


def _wide(n: Node, x: SSAValue) -> tuple[SSAValue, Fourier]:
    """A signal in the type of its computation, and the builder of transforms."""
    wide = n.build.cast(x, _F64 if element(x) == _F64 else _F32)
    return wide, Fourier(n.build, ge.numpy_dtype(element(wide)))


def _signal(n: Node, x: SSAValue) -> SSAValue:
    """A tensor whose last dimension holds one or two numbers."""
    if rank(x) < 2 or shape(x)[-1] not in (1, 2):
        n.refuse(f"the last dimension of the signal must be known and 1 or 2, its shape is {list(shape(x))}")
    return x


def _number(n: Node, i: int, what: str) -> int | None:
    """An operand of one integer, None when it is not given."""
    if not n.has(i):
        return None
    values = integers(n, i)
    if values is None:
        n.refuse(f"{what} (input {i}) must be constant", hint="fix its value, or fold the model's constants")
    if len(values) != 1:
        n.invalid(f"{what} (input {i}) holds {len(values)} numbers, expected one")
    return values[0]


@onnx_op("DFT", since=17)
def dft_by_attribute(n: Node) -> SSAValue:
    """The axis is an attribute, which counts from the front by default."""
    return _dft(n, n.attr_int("axis", 1))


@onnx_op("DFT", since=20)
def dft(n: Node) -> SSAValue:
    """The axis is an operand."""
    axis = _number(n, 2, "axis")
    return _dft(n, -2 if axis is None else axis)


def _dft(n: Node, axis: int) -> SSAValue:
    """Forward or inverse, of real or complex signals; one-sided results or, with `inverse`, operands."""
    given = _signal(n, n.input(0))
    axis = n.axis(axis, rank(given))
    if axis == rank(given) - 1:
        n.invalid(f"axis is {axis}, the dimension that holds complex numbers")
    inverse, onesided = bool(n.attr_int("inverse", 0)), bool(n.attr_int("onesided", 0))
    x, fourier = _wide(n, given)
    size, length = shape(x)[axis], _number(n, 1, "dft_length")
    if size == -1:
        n.refuse(f"the length of dimension {axis} must be known", hint="give input shapes")
    if onesided and not inverse and shape(x)[-1] == 2:
        n.invalid("onesided is 1 for a complex signal")
    back = inverse and onesided
    length = length if length is not None else 2 * (size - 1) if back else size
    if length < 1:
        n.invalid(f"dft_length is {length}, expected at least 1")
    order = [*(d for d in range(rank(x) - 1) if d != axis), axis]
    parts = complex_of(n.build, x)
    moved = Complex(*(None if p is None else n.build.transpose(p, order) for p in parts))  # pyright: ignore[reportArgumentType]
    moved = _fitted(n, moved, length // 2 + 1 if back else length)
    if back:
        y = Complex(_real_inverse(n, fourier, moved, length), None)
    else:
        y = fourier.transform(moved, inverse=inverse, outputs=length // 2 + 1 if onesided else None)
        y = _scaled(n, y, 1 / length) if inverse else y
    undone = [order.index(d) for d in range(len(order))]
    restored = Complex(*(None if p is None else n.build.transpose(p, undone) for p in y))  # pyright: ignore[reportArgumentType]
    return n.build.cast(onnx_of(n.build, restored), element(given))


def _fitted(n: Node, x: Complex, length: int) -> Complex:
    """Cut or padded with zeros to `length` elements of the last dimension."""

    def fit(part: SSAValue) -> SSAValue:
        size, last = shape(part)[-1], rank(part) - 1
        if size > length:
            return n.add(ge.Slice(part, [0], [length], [last]))
        pads = [0] * (2 * rank(part))
        pads[-1] = length - size
        return part if size == length else n.add(ge.Pad(part, pads=pads))

    return Complex(fit(x.real), None if x.imaginary is None else fit(x.imaginary))


def _scaled(n: Node, x: Complex, factor: float) -> Complex:
    real = n.add(ge.Mul(x.real, n.build.scalar(factor, x.real)))
    return Complex(real, None if x.imaginary is None else n.add(ge.Mul(x.imaginary, n.build.scalar(factor, x.real))))


def _real_inverse(n: Node, fourier: Fourier, x: Complex, length: int) -> SSAValue:
    """The real signal of which x is the one-sided spectrum: what is left out is the conjugate of what is there."""
    count, last = length // 2 + 1, rank(x.real) - 1
    mirrored = length - count  # elements 1 to length - count, backwards
    if mirrored:

        def whole(part: SSAValue, sign: int) -> SSAValue:
            tail = n.add(ge.Slice(part, [mirrored], [0], [last], [-1]))
            return n.add(ge.Concat([part, tail if sign > 0 else n.add(ge.Neg(tail))], axis=last))

        x = Complex(whole(x.real, 1), None if x.imaginary is None else whole(x.imaginary, -1))
    if x.imaginary is not None:  # the first element, and the middle one of an even length, are real
        real = np.ones(length)
        real[0] = 0
        if length % 2 == 0:
            real[length // 2] = 0
        x = Complex(x.real, n.add(ge.Mul(x.imaginary, fourier.const(real))))
    return _scaled(n, fourier.transform(x, inverse=True), 1 / length).real


@onnx_op("STFT", since=17)
def stft(n: Node) -> SSAValue:
    """The transforms of windows that step over a signal [N, length, 1 or 2]."""
    given = _signal(n, n.input(0))
    if rank(given) == 2:
        n.invalid(f"the signal has shape {list(shape(given))}, expected [N, length, 1 or 2]")
    step, length = _number(n, 1, "frame_step"), _number(n, 3, "frame_length")
    window, size = n.optional(2), shape(given)[1]
    if length is None:
        length = size if window is None else shape(window)[0]
    if size == -1 or length == -1:
        n.refuse("the lengths of signal and frames must be known", hint="give input shapes")
    if step is None or step < 1 or not 1 <= length <= size:
        n.invalid(f"frames of {length} that step by {step} do not fit a signal of {size}")
    x, fourier = _wide(n, given)
    starts = np.arange((size - length) // step + 1) * step
    places = n.build.const(starts[:, None] + np.arange(length))
    parts = [None if part is None else n.add(ge.Gather(part, places, axis=1)) for part in complex_of(n.build, x)]
    if window is not None:
        if shape(window) not in ((length,), (-1,)):
            n.invalid(f"the window has shape {list(shape(window))}, expected [{length}]")
        weights = n.build.cast(window, element(x))
        parts = [None if part is None else n.add(ge.Mul(part, weights)) for part in parts]
    real, imaginary = parts
    assert real is not None
    onesided = bool(n.attr_int("onesided", 1)) and imaginary is None
    y = fourier.transform(Complex(real, imaginary), outputs=length // 2 + 1 if onesided else None)
    return n.build.cast(onnx_of(n.build, y), element(given))


@onnx_op("MelWeightMatrix", since=17)
def mel_weight_matrix(n: Node) -> SSAValue:
    """Triangles on the mel scale: a constant, as all operands are."""
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    bins, length, rate, low, high = (n.required_constant(i, name).reshape(()) for i, name in enumerate(names))
    bins, length, rate = int(bins), int(length), int(rate)
    if min(bins, length, rate) < 1:
        n.invalid(f"num_mel_bins, dft_length and sample_rate are {bins}, {length}, {rate}, expected at least 1")
    ends = [2595 * np.log1p(edge / 700) / np.log(10) for edge in (low, high)]
    mels = np.arange(bins + 2) * ((ends[1] - ends[0]) / (bins + 2)) + ends[0]
    places = (((length + 1) * (700 * np.expm1(mels / 2595 * np.log(10)))) // rate).astype(np.int64)
    rows = length // 2 + 1
    if places.min() < 0 or places.max() > rows:
        n.invalid(f"frequencies from {low} to {high} Hz do not lie in {rows} bins of a rate of {rate}")
    table = np.zeros((rows + 1, bins))
    for i, (left, centre, right) in enumerate(zip(places, places[1:], places[2:], strict=False)):
        if left == centre:
            table[centre, i] = 1
        else:
            table[left : centre + 1, i] = np.arange(centre - left + 1) / (centre - left)
        if right > centre:
            table[centre:right, i] = np.arange(right - centre, 0, -1) / (right - centre)
    kind = cast_target(n, n.attr_int("output_datatype", 1))
    return n.build.const(table[:rows].astype(ge.numpy_dtype(kind)))


@onnx_op("Det", since=11)
def det(n: Node) -> SSAValue:
    """Gaussian elimination of all matrices at once; in each step the largest element of a column is the pivot."""
    given = n.input(0)
    if rank(given) < 2 or shape(given)[-1] != shape(given)[-2]:
        n.invalid(f"input 0 has shape {list(shape(given))}, expected square matrices")
    size = shape(given)[-1]
    if size == -1:
        n.refuse("the size of the matrices must be known", hint="give input shapes")
    wide = n.build.cast(given, _F64 if element(given) == _F64 else _F32)
    lead = n.build.extents(given, 0, rank(given) - 2) if rank(given) > 2 else None
    if size == 0:
        n.refuse("determinants of matrices without elements are not supported")
    left, result = n.build.reshape(wide, [-1, size, size]), None
    for m in range(size, 0, -1):
        pivot, left = _eliminated(n, left, m)
        result = pivot if result is None else n.add(ge.Mul(result, pivot))
    assert result is not None
    known = shape(given)[:-2]
    if lead is None or -1 not in known:
        y = n.build.reshape(result, known)
    else:
        y = n.add(ge.DynReshape(result, lead))
    return n.build.cast(y, element(given))


def _eliminated(n: Node, a: SSAValue, m: int) -> tuple[SSAValue, SSAValue]:
    """One step on matrices [B, m, m]: the pivot with its sign, and the matrices [B, m - 1, m - 1] that are left."""
    add = n.add

    def part(x: SSAValue, axis: int, start: int, end: int) -> SSAValue:
        return add(ge.Slice(x, [start], [end], [axis]))

    if m == 1:
        return a, a
    column = part(a, 2, 0, 1)
    place = add(ge.ArgMax(add(ge.Abs(column)), 1, keep_dims=True))  # [B, 1, 1]
    rows = n.build.const(np.arange(m).reshape(1, m, 1))
    chosen = add(ge.Equal(rows, place))  # [B, m, 1]
    zero, one = n.build.scalar(0, a), n.build.scalar(1, a)
    pivots = add(ge.ReduceSum(add(ge.Select(chosen, a, zero)), [1], keep_dims=True))  # [B, 1, m]
    swapped = part(add(ge.Select(chosen, part(a, 1, 0, 1), a)), 1, 1, m)  # row 0 takes the place of the pivot's
    pivot = part(pivots, 2, 0, 1)
    divisor = add(ge.Select(add(ge.Equal(pivot, zero)), one, pivot))
    factor = add(ge.RealDiv(part(swapped, 2, 0, 1), divisor))
    left = add(ge.Sub(part(swapped, 2, 1, m), add(ge.Mul(factor, part(pivots, 2, 1, m)))))
    stays = add(ge.Equal(place, n.build.scalar(0, place)))
    return add(ge.Select(stays, pivot, add(ge.Neg(pivot)))), left

"""Discrete Fourier transforms as matrix products with constants.

A complex tensor is a pair (real, imaginary) here, transformed along its last dimension. Short lengths are one product
with the matrix of roots of unity; composite ones are split in two factors (Cooley and Tukey 1965), which takes
n * (a + b) instead of n^2 operations; long primes become a convolution of twice the length (Bluestein 1970).
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import Builder, rank, shape

DIRECT = 64
"""Lengths up to which one matrix product is best."""
PRIME = 1024
"""Prime factors up to which a matrix product is still taken."""


Part: TypeAlias = Callable[[SSAValue], SSAValue]
"""What is done to the real and the imaginary part alike."""


class Complex(NamedTuple):
    """A complex tensor; without an imaginary part it is real."""

    real: SSAValue
    imaginary: SSAValue | None


class Fourier:
    """Builds transforms for tensors of one element type, f32 or f64."""

    def __init__(self, build: Builder, dtype: np.dtype) -> None:
        self.build = build
        self.dtype = dtype

    def const(self, array: np.ndarray) -> SSAValue:
        """A constant in the element type."""
        return self.build.const(array.astype(self.dtype))

    def transform(self, x: Complex, *, inverse: bool = False, outputs: int | None = None) -> Complex:
        """The sum over j of x[j] * exp(-+ 2 pi i j k / n), for the first `outputs` of k; not scaled."""
        n = shape(x.real)[-1]
        count = n if outputs is None else outputs
        factor = _factor(n)
        if n <= DIRECT or (factor == 1 and n <= PRIME):
            return self._direct(x, n, count, inverse)
        y = self._split(x, n, factor, inverse) if factor > 1 else self._bluestein(x, n, inverse)
        return y if count == n else self._each(y, lambda v: self._head(v, count))

    def _direct(self, x: Complex, n: int, count: int, inverse: bool) -> Complex:
        angle = 2 * np.pi * (np.outer(np.arange(n), np.arange(count)) % n) / n
        cos, sin = np.cos(angle), np.sin(angle) if inverse else -np.sin(angle)
        table, left = np.hstack([cos, sin]), x.real
        if x.imaginary is not None:
            table = np.vstack([table, np.hstack([-sin, cos])])
            left = self.build.add(ge.Concat([x.real, x.imaginary], axis=rank(x.real) - 1))
        y = self.build.add(ge.MatMulV2(left, self.const(table)))
        return Complex(self._head(y, count), self._part(y, count, 2 * count))

    def _split(self, x: Complex, n: int, a: int, inverse: bool) -> Complex:
        """Length n = a * b: element b * j1 + j2 of x gives element k1 + a * k2 of the result."""
        b = n // a
        outer = shape(x.real)[:-1]
        columns = self._each(x, lambda v: self._swap(self.build.reshape(v, [*outer, a, b])))
        first = self.transform(columns, inverse=inverse)  # [.., j2, k1]
        angle = 2 * np.pi * np.outer(np.arange(b), np.arange(a)) / n
        turned = self.multiply(first, np.exp(1j * (angle if inverse else -angle)))
        second = self.transform(self._each(turned, self._swap), inverse=inverse)  # [.., k1, k2]
        return self._each(second, lambda v: self.build.reshape(self._swap(v), [*outer, n]))

    def _bluestein(self, x: Complex, n: int, inverse: bool) -> Complex:
        """j k = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution, done with a power of two."""
        size = 1 << (2 * n - 2).bit_length()
        chirp = np.exp((1j if inverse else -1j) * np.pi * (np.arange(n, dtype=np.int64) ** 2 % (2 * n)) / n)
        response = np.zeros(size, np.complex128)
        response[:n] = chirp.conj()
        response[size - n + 1 :] = chirp[1:][::-1].conj()
        pads = [0] * (2 * rank(x.real))
        pads[-1] = size - n
        padded = self._each(self.multiply(x, chirp), lambda v: self.build.add(ge.Pad(v, pads=pads)))
        spectrum = self.multiply(self.transform(padded), np.fft.fft(response) / size)
        y = self.transform(spectrum, inverse=True)
        return self.multiply(self._each(y, lambda v: self._head(v, n)), chirp)

    def multiply(self, x: Complex, factor: np.ndarray[Any, np.dtype[np.complex128]]) -> Complex:
        """x times constants."""
        add = self.build.add
        real, imaginary = self.const(factor.real), self.const(factor.imag)
        if x.imaginary is None:
            return Complex(add(ge.Mul(x.real, real)), add(ge.Mul(x.real, imaginary)))
        return Complex(
            add(ge.Sub(add(ge.Mul(x.real, real)), add(ge.Mul(x.imaginary, imaginary)))),
            add(ge.Add(add(ge.Mul(x.real, imaginary)), add(ge.Mul(x.imaginary, real)))),
        )

    def _each(self, x: Complex, function: Part) -> Complex:
        return Complex(function(x.real), None if x.imaginary is None else function(x.imaginary))

    def _swap(self, x: SSAValue) -> SSAValue:
        """The last two dimensions exchanged."""
        order = list(range(rank(x)))
        order[-2:] = order[-1], order[-2]
        return self.build.transpose(x, order)

    def _head(self, x: SSAValue, count: int) -> SSAValue:
        return self._part(x, 0, count)

    def _part(self, x: SSAValue, start: int, end: int) -> SSAValue:
        """Elements of the last dimension."""
        if (start, end) == (0, shape(x)[-1]):
            return x
        return self.build.add(ge.Slice(x, [start], [end], [rank(x) - 1]))


def _factor(n: int) -> int:
    """The largest factor that is not above the square root; 1 for a prime."""
    return next((a for a in range(isqrt(n), 1, -1) if n % a == 0), 1)


def complex_of(build: Builder, x: SSAValue) -> Complex:
    """The parts of an ONNX signal, whose last dimension holds one number or two."""
    last = rank(x) - 1
    if shape(x)[-1] == 1:
        return Complex(build.squeeze(x, [last]), None)
    real, imaginary = (build.squeeze(build.add(ge.Slice(x, [i], [i + 1], [last])), [last]) for i in range(2))
    return Complex(real, imaginary)


def onnx_of(build: Builder, x: Complex) -> SSAValue:
    """A complex tensor with its parts in a last dimension of two; a real one in a last dimension of one."""
    parts = [build.unsqueeze(part, [rank(part)]) for part in x if part is not None]
    return parts[0] if len(parts) == 1 else build.add(ge.Concat(parts, axis=rank(parts[0]) - 1))


__all__ = ["Complex", "Fourier", "complex_of", "onnx_of"]

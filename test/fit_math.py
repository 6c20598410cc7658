"""Where the coefficients in passes/tile/expand_math/tables.py come from: `python -m test.fit_math` prints them.

Polynomials are found by Remez's exchange algorithm in 60 decimal digits, so that they serve f64; rationals, which
serve f32 only, by weighted least squares in double (Lawson's method). Each is printed with its largest error against
the exact function, before any rounding of its evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, getcontext

import numpy as np

getcontext().prec = 60
D = Decimal
Function = Callable[[Decimal], Decimal]
PI = D("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def series(x: Decimal, term: Callable[[int], Decimal]) -> Decimal:
    """sum of term(k) x^k."""
    total, power, k = D(0), D(1), 0
    while True:
        step = term(k) * power
        total += step
        power *= x
        k += 1
        if k > 8 and abs(power) < D("1e-58"):
            return total


def inverse_factorial(n: int) -> Decimal:
    return 1 / D(math.factorial(n))


def exp_tail(r: Decimal) -> Decimal:
    """(exp(r) - 1 - r) / r^2."""
    return series(r, lambda k: inverse_factorial(k + 2))


def log_tail(f: Decimal) -> Decimal:
    """(log(1 + f) - f + f^2 / 2) / f^3."""
    if abs(f) < D("0.05"):
        return series(f, lambda k: D((-1) ** k) / (k + 3))
    return ((1 + f).ln() - f + f * f / 2) / (f * f * f)


def atanh_tail(z: Decimal) -> Decimal:
    """(2 atanh(s) - 2 s) / s^3 with z = s^2."""
    return series(z, lambda k: D(2) / (2 * k + 3))


def atanh_rest(z: Decimal) -> Decimal:
    """(2 atanh(s) - 2 s - 2 s^3 / 3) / s^5 with z = s^2."""
    return series(z, lambda k: D(2) / (2 * k + 5))


def sin_tail(z: Decimal) -> Decimal:
    """(sin(r) - r) / r^3 with z = r^2."""
    return series(z, lambda k: D((-1) ** (k + 1)) * inverse_factorial(2 * k + 3))


def cos_tail(z: Decimal) -> Decimal:
    """(cos(r) - 1 + r^2 / 2) / r^4 with z = r^2."""
    return series(z, lambda k: D((-1) ** k) * inverse_factorial(2 * k + 4))


def solve(rows: list[list[Decimal]], right: list[Decimal]) -> list[Decimal]:
    """The solution of a linear system, by Gauss elimination with row pivots."""
    n = len(right)
    a = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda j: abs(a[j][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for j in range(i + 1, n):
            factor = a[j][i] / a[i][i]
            for k in range(i, n + 1):
                a[j][k] -= factor * a[i][k]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (a[i][n] - sum((a[i][k] * x[k] for k in range(i + 1, n)), D(0))) / a[i][i]
    return x


def powers(x: Decimal, degree: int) -> list[Decimal]:
    """1, x, .., x^degree."""
    out = [D(1)]
    for _ in range(degree):
        out.append(out[-1] * x)
    return out


def evaluate(coefficients: Sequence[Decimal], x: Decimal) -> Decimal:
    total = D(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def remez(f: Function, low: float | Decimal, high: float | Decimal, degree: int) -> tuple[list[float], float]:
    """The polynomial of smallest largest error on [low, high], and that error."""
    low, high = D(low), D(high)
    count = degree + 2

    def nodes(n: int) -> list[Decimal]:
        """Points of [low, high], denser at its ends."""
        places = [D(str(-math.cos(math.pi * i / (n - 1)))) for i in range(n)]
        return [(low + high) / 2 + (high - low) / 2 * p for p in places]

    grid = nodes(40 * count)
    values = [f(x) for x in grid]
    at = [round(i * (len(grid) - 1) / (count - 1)) for i in range(count)]
    best: tuple[list[Decimal], Decimal] | None = None
    for _ in range(12):
        rows = [[*powers(grid[i], degree), D((-1) ** n)] for n, i in enumerate(at)]
        coefficients = solve(rows, [values[i] for i in at])[:-1]
        errors = [evaluate(coefficients, x) - y for x, y in zip(grid, values, strict=True)]
        largest = max(abs(e) for e in errors)
        if best is None or largest < best[1]:
            best = coefficients, largest
        at = extremes(errors, count)
    assert best is not None
    return [float(c) for c in best[0]], float(best[1])


def extremes(errors: Sequence[Decimal], count: int) -> list[int]:
    """The places of `count` alternating extreme errors, the largest of each run of one sign."""
    runs: list[int] = []
    for i, e in enumerate(errors):
        if runs and (e > 0) == (errors[runs[-1]] > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        if (len(runs) - count) % 2:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
        else:  # drop the neighbours of the smallest one, and so keep alternating
            pair = min(range(len(runs) - 1), key=lambda k: max(abs(errors[runs[k]]), abs(errors[runs[k + 1]])))
            del runs[pair : pair + 2]
    if len(runs) < count:
        return [round(i * (len(errors) - 1) / (count - 1)) for i in range(count)]
    return runs


def rational(
    f: Callable[[float], float], high: float, p: int, q: int, rounds: int = 60, points: int = 4000
) -> tuple[list[float], list[float], float]:
    """P(t) / Q(t) near f on [0, high] with Q(0) = 1 and the smallest largest relative error (Lawson's method)."""
    t = (np.cos(np.pi * (np.arange(points) + 0.5) / points) + 1) / 2 * high
    y = np.array([f(float(v)) for v in t])
    weights, denominator, s = np.ones(points), np.ones(points), t / high
    best: tuple[float, list[float], list[float]] | None = None
    for _ in range(rounds):
        a = np.concatenate([s[:, None] ** np.arange(p + 1), -y[:, None] * s[:, None] ** np.arange(1, q + 1)], 1)
        scale = (denominator * y)[:, None]
        root = np.sqrt(weights)
        x = np.linalg.lstsq(a / scale * root[:, None], y / scale[:, 0] * root, rcond=None)[0]
        top = x[: p + 1] / high ** np.arange(p + 1)
        bottom = np.concatenate([[1.0], x[p + 1 :] / high ** np.arange(1, q + 1)])
        denominator = np.polyval(bottom[::-1], t)
        error = np.abs(np.polyval(top[::-1], t) / denominator / y - 1)
        if best is None or error.max() < best[0]:
            best = float(error.max()), top.tolist(), bottom.tolist()
        weights = weights * (error / error.max() + 1e-3) ** 0.7
        weights /= weights.mean()
    assert best is not None
    return best[1], best[2], best[0]


def odd_ratio(f: Callable[[float], float], slope: float) -> Callable[[float], float]:
    """t -> f(sqrt(t)) / sqrt(t) for an odd function whose derivative at 0 is `slope`."""
    return lambda t: f(math.sqrt(t)) / math.sqrt(t) if t > 1e-12 else slope * (1 - t / 3)


HALF_LN2 = D(2).ln() / 2
ROOT = D(2).sqrt()
LARGEST_Z = ((ROOT - 1) / (ROOT + 1)) ** 2
EIGHTH = (PI / 4) ** 2
WIDE = D("1.001")
"""Arguments may leave their interval by the rounding of their reduction."""

POLYNOMIALS: dict[str, tuple[Function, Decimal, Decimal, int]] = {
    "EXP_F32": (exp_tail, -HALF_LN2 * WIDE, HALF_LN2 * WIDE, 4),
    "EXP_F64": (exp_tail, -HALF_LN2 * WIDE, HALF_LN2 * WIDE, 10),
    "LOG_F32": (log_tail, 1 / ROOT - 1, ROOT - 1, 7),
    "LOG_F64": (atanh_tail, D(0), LARGEST_Z * WIDE, 7),
    "LOG_REST_F64": (atanh_rest, D(0), LARGEST_Z * WIDE, 7),
    "SIN_F32": (sin_tail, D(0), EIGHTH * WIDE, 2),
    "COS_F32": (cos_tail, D(0), EIGHTH * WIDE, 2),
    "SIN_F64": (sin_tail, D(0), EIGHTH * WIDE, 6),
    "COS_F64": (cos_tail, D(0), EIGHTH * WIDE, 6),
}
RATIONALS: dict[str, tuple[Callable[[float], float], float, int, int]] = {
    "TANH_F32": (odd_ratio(math.tanh, 1.0), 9.02**2, 5, 4),
    "ERF_F32": (odd_ratio(math.erf, 2 / math.sqrt(math.pi)), 3.93**2, 5, 5),
}


def chunks(value: Decimal, bits: int, count: int) -> list[int]:
    """The first `count` groups of `bits` bits after the binary point."""
    out: list[int] = []
    for _ in range(count):
        value *= 1 << bits
        whole = int(value)
        out.append(whole)
        value -= whole
    return out


def inverse_turn(bits: int) -> Decimal:
    """1 / (2 pi) to `bits` bits: pi by Machin's formula in integers."""
    guard = bits + 64

    def arctan_inverse(n: int) -> int:
        total = term = (1 << guard) // n
        k, square = 3, n * n
        while term:
            term //= -square
            total += term // k
            k += 2
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    getcontext().prec = int(bits * 0.302) + 40
    return D(1) / (2 * D(pi) / D(1 << guard))


def main() -> None:
    """Print all tables."""
    for name, (f, low, high, degree) in POLYNOMIALS.items():
        found, error = remez(f, low, high, degree)
        print(f"{name} = {tuple(found)}  # {error:.2g}")
    for name, (g, top, p, q) in RATIONALS.items():
        numerator, denominator, error = rational(g, top, p, q)
        print(f"{name} = {tuple(numerator)}, {tuple(denominator)}  # {error:.2g}")
    print("TURN_F32 =", tuple(chunks(inverse_turn(300), 29, 7)))
    print("TURN_F64 =", tuple(chunks(inverse_turn(1300), 26, 45)))


if __name__ == "__main__":
    main()

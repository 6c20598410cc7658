"""Functions that numpy lacks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

# W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969), pp. 631-637;
# coefficients as in SPECFUN's CALERF. Relative error below 1e-15.
_SMALL_P = (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
            3.20937758913846947e3)  # fmt: skip
_SMALL_Q = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
_MIDDLE_P = (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
             2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
             1.23033935479799725e3)  # fmt: skip
_MIDDLE_Q = (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
             3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3)  # fmt: skip
_LARGE_P = (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
            1.60837851487422766e-2, 6.58749161529837803e-4)  # fmt: skip
_LARGE_Q = (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
            2.33520497626869185e-3)  # fmt: skip


def erf(x: Array) -> Array:
    """The error function to double precision, in float64; the result has the dtype of `x`."""
    return _erf(x, complement=False)


def erfc(x: Array) -> Array:
    """1 - erf(x) without cancellation: relative precision also where it is tiny."""
    return _erf(x, complement=True)


def normal_cdf(x: Array) -> Array:
    """The cumulative distribution of the standard normal, relatively precise in the left tail too."""
    return 0.5 * erfc(-np.asarray(x, np.float64) / np.sqrt(2.0))


def _erf(x: Array, *, complement: bool) -> Array:
    given = np.asarray(x)
    x = given.astype(np.float64)
    y = np.abs(x)
    small = y <= 0.46875
    with np.errstate(all="ignore"):
        square = np.where(small, y * y, 0.0)
        inner = x * _ratio(_SMALL_P, _SMALL_Q, square)
        middle = _ratio(_MIDDLE_P, _MIDDLE_Q, np.clip(y, 0.46875, 4.0))
        inverse = 1.0 / np.square(np.maximum(y, 4.0))
        large = (1.0 / np.sqrt(np.pi) - inverse * _ratio(_LARGE_P, _LARGE_Q, inverse)) / np.maximum(y, 4.0)
        # exp(-y^2) with y^2 split in two, so that its rounding error is not magnified
        head = np.trunc(np.minimum(y, 32.0) * 16.0) / 16.0
        tail = (np.minimum(y, 32.0) - head) * (np.minimum(y, 32.0) + head)
        beyond = np.exp(-head * head) * np.exp(-tail) * np.where(y <= 4.0, middle, large)
    if complement:
        result = np.where(small, 1.0 - inner, np.where(x < 0, 2.0 - beyond, beyond))
    else:
        result = np.where(small, inner, np.copysign(1.0 - beyond, x))
    return np.where(np.isnan(x), x, result).astype(given.dtype if given.dtype.kind == "f" else np.float64)


def _ratio(p: tuple[float, ...], q: tuple[float, ...], x: Array) -> Array:
    return np.polyval(p, x) / np.polyval(q, x)

"""Bounds of sums and products that plain double arithmetic computes, whatever the order of its operations (PROOF).

u = 2^-53, and gamma(m) >= m u / (1 - m u). A sum of products of m pairs has m roundings on each way at most, so that

    |computed - exact| <= gamma(m) sum |a| |b| + m tiny        (Higham 2002, section 3.1; fused or not, BLAS or not)

where tiny >= what an underflow loses. `upward` makes up for that and for its own roundings: of numbers that are not
negative, the exact sum is at most the computed one times (1 + gamma). Strassen's products are not of this kind; no BLAS
that NumPy is built with uses them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

TINY = 2.0**-1073
_ULP = 2.0**-52
MOST_TERMS = 2**40


def gamma(terms: int) -> float:
    """Return a double of at least gamma(terms), for terms u < 1/4."""
    assert 0 <= terms <= MOST_TERMS
    return float(np.nextafter((terms + 1) * _ULP, np.inf))  # (m + 1) 2u >= m u / (1 - m u), with room for rounding


def upward(computed: npt.ArrayLike, terms: int) -> FloatArray:
    """Return at least the exact sum of products of `terms` pairs of numbers >= 0 that was computed as `computed`."""
    found: FloatArray = np.asarray(computed) * (1.0 + 2.0 * gamma(terms + 2)) + (terms + 2) * TINY
    return found


def apart(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return at least |a - b|."""
    found: FloatArray = np.nextafter(np.abs(a - b), np.inf)
    return found

"""Where a fraction of a range lies, and the sample points' fractions of a diagonal.

The core computes the same (core/staging/rows.h).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

FRACTIONS = np.arange(1, 11) / 11.0
_LARGEST = float(np.finfo(np.float64).max)


def at_fraction(lo: FloatArray, hi: FloatArray, fraction: float | FloatArray) -> FloatArray:
    """A finite point at this fraction of each range."""
    with np.errstate(invalid="ignore", over="ignore"):
        plain = lo + (hi - lo) * fraction
    if np.isfinite(plain).all():
        return np.asarray(plain)
    low, high = bent(lo), bent(hi)
    curved = straight(low + (high - low) * fraction)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.isfinite(hi - lo), plain, np.clip(curved, lo, hi))


def bent(x: FloatArray) -> FloatArray:
    """The real line on [-1, 1]."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(x)))


def straight(t: FloatArray) -> FloatArray:
    """The inverse, cut to finite numbers."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(t / (1 - np.abs(t)), -_LARGEST, _LARGEST))

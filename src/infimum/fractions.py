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
    """Return a finite point at this fraction of each range."""
    with np.errstate(invalid="ignore", over="ignore"):
        plain: FloatArray = lo + (hi - lo) * fraction
    if np.isfinite(plain).all():
        return plain
    low, high = to_unit(lo), to_unit(hi)
    curved = from_unit(low + (high - low) * fraction)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.isfinite(hi - lo), plain, np.clip(curved, lo, hi))


def middle(lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return about the middle of each finite range, within it and never -0.0."""
    found: FloatArray = np.clip(0.5 * lo + 0.5 * hi, lo, hi) + 0.0
    return found


def to_unit(x: FloatArray) -> FloatArray:
    """Map the real line to [-1, 1]."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(x)))


def from_unit(t: FloatArray) -> FloatArray:
    """Map [-1, 1] back to the real line; what would be infinite is the largest double."""
    with np.errstate(divide="ignore"):
        found: FloatArray = np.clip(t / (1 - np.abs(t)), -_LARGEST, _LARGEST)
    return found

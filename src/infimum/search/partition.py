"""Where a range is cut, and where a fraction of it lies (POLICY): equal parts, on a bent scale where it is infinite.

Cuts are only proposals: `edges` clamps and sorts them, neighbours share them exactly, and the outermost parts keep the
range's own ends, so that no partition can lose a point.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_LARGEST = float(np.finfo(np.float64).max)


def _bent(x: FloatArray) -> FloatArray:
    """The real line on [-1, 1]."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(x)))


def _straight(t: FloatArray) -> FloatArray:
    """The inverse, cut to finite numbers."""
    with np.errstate(divide="ignore"):
        return np.clip(t / (1 - np.abs(t)), -_LARGEST, _LARGEST)


def at_fraction(lo: FloatArray, hi: FloatArray, fraction: float | FloatArray) -> FloatArray:
    """A finite point at this fraction of each range."""
    with np.errstate(invalid="ignore", over="ignore"):
        plain = lo + (hi - lo) * fraction
    if np.isfinite(plain).all():
        return np.asarray(plain)
    low, high = _bent(lo), _bent(hi)
    bent = _straight(low + (high - low) * fraction)
    return np.where(np.isfinite(hi - lo), plain, np.clip(bent, lo, hi))


def edges(lo: FloatArray, hi: FloatArray, parts: int) -> FloatArray:
    """The ends (ranges, parts + 1) of equal parts, never decreasing, the outermost the ranges' own."""
    inner = [np.clip(at_fraction(lo, hi, k / parts), lo, hi) for k in range(1, parts)]
    return np.maximum.accumulate(np.stack([lo, *inner, hi], 1), 1)

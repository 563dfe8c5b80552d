"""Local descent within bounds (POLICY): a limited-memory quasi-Newton method with projection.

Small and without dependencies, since it runs at the start of every solve; SciPy's takes longer to import than most
problems to solve. What it finds is only a proposal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Objective = Callable[[FloatArray], tuple[float, FloatArray]]

_PAIRS = 8
_HALVINGS = 30
_ENOUGH = 1e-4  # of the decrease that the slope promises


def descended(f: Objective, start: FloatArray, lo: FloatArray, hi: FloatArray, steps: int = 80) -> FloatArray:
    """A point of [lo, hi] with a value not above the start's."""
    x = np.clip(start, lo, hi)
    value, slope = f(x)
    pairs: list[tuple[FloatArray, FloatArray]] = []
    for _ in range(steps):
        if not np.isfinite(value) or not np.isfinite(slope).all():
            break
        free = ~((x <= lo) & (slope > 0) | (x >= hi) & (slope < 0))
        direction = -_scaled(np.where(free, slope, 0.0), pairs)
        direction = np.where(free, direction, 0.0)
        if not direction @ slope < 0:
            direction, pairs = np.where(free, -slope, 0.0), []
        found = _step(f, x, value, slope, direction, lo, hi, first=not pairs)
        if found is None:
            if not pairs:
                break
            pairs = []
            continue
        y, new_value, new_slope = found
        pair = (y - x, new_slope - slope)
        if pair[0] @ pair[1] > 1e-12 * (pair[1] @ pair[1]):
            pairs = [*pairs[-_PAIRS + 1 :], pair]
        x, value, slope = y, new_value, new_slope
    return x


def _scaled(slope: FloatArray, pairs: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """The inverse of the curvature seen so far, applied to a slope (two-loop recursion)."""
    q = slope.copy()
    factors = []
    for s, y in reversed(pairs):
        factors.append((s @ q) / (s @ y))
        q -= factors[-1] * y
    if pairs:
        s, y = pairs[-1]
        q *= (s @ y) / (y @ y)
    for (s, y), factor in zip(pairs, reversed(factors), strict=True):
        q += (factor - (y @ q) / (s @ y)) * s
    return q


def _step(
    f: Objective,
    x: FloatArray,
    value: float,
    slope: FloatArray,
    direction: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    first: bool,
) -> tuple[FloatArray, float, FloatArray] | None:
    """A point along the direction with enough of a decrease, or None."""
    length = 1.0
    largest = float(np.abs(direction).max()) if direction.size else 0.0
    if largest == 0:
        return None
    if first:
        width = float(np.minimum(hi - lo, 1e3).max())
        length = min(1.0, 0.1 * width / largest)
    for _ in range(_HALVINGS):
        y = np.clip(x + length * direction, lo, hi)
        if (y == x).all():
            return None
        new_value, new_slope = f(y)
        if np.isfinite(new_value) and new_value <= value + _ENOUGH * float(slope @ (y - x)):
            return (y, new_value, new_slope) if new_value < value else None
        length *= 0.5 if np.isfinite(new_value) else 0.1
    return None

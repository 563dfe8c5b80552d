"""Boxes as arrays (k, n) of ends: which are empty, how much they shrank.

The arrays are NumPy's, or CuPy's where boxes lie on a GPU; NumPy's functions work on both. What is added up is added up
in an order of our own, so that both have the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InvalidInterval, ShapeMismatch
from infimum.interval.reading import ends

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Boxes = tuple[FloatArray, FloatArray]

_SEEN = 16  # boxes by which the shrinkage of all is judged, where it is only told


def doubles(lo: npt.ArrayLike, hi: npt.ArrayLike) -> Boxes:
    """New arrays of doubles with the ends of boxes (k, n); refused where that would change a number or a shape."""
    low, high = _copied(lo), _copied(hi)
    if low.ndim != 2 or low.shape != high.shape:
        raise ShapeMismatch(
            f"boxes are two arrays (k, n) of lower and upper ends, got shapes {low.shape} and {high.shape}. For a "
            "single box write lo[None], hi[None]."
        )
    return low, high


def _copied(given: Any) -> FloatArray:
    if getattr(given, "dtype", None) == np.float64:
        same: FloatArray = given.copy()
        return same
    found = np.array(given, np.float64)
    if not np.array_equal(np.asarray(given, object), found.astype(object)):
        raise InvalidInterval("an end of a box is no double. Round it outward: infimum.Interval(lo, hi).")
    return found


def limits(boxes: FloatArray, upper: Any) -> FloatArray:
    """What f may be at most on each box, as doubles rounded upward, (k,)."""
    is_double = isinstance(upper, float) or getattr(upper, "dtype", None) == np.float64
    found = for_each(boxes, upper if is_double else ends(upper)[1])
    if np.isnan(found).any():
        raise InvalidInterval("the number that f may be at most is NaN.")
    return found


def is_empty(lo: FloatArray, hi: FloatArray) -> BoolArray:
    """Which boxes have no point: one empty component is enough."""
    void = np.logical_not(lo <= hi)
    if not void.any():
        return np.zeros_like(void[:, 0])
    found: BoolArray = np.any(void, axis=1)
    return found


def emptied(lo: FloatArray, hi: FloatArray, where: BoolArray) -> Boxes:
    """The boxes, those marked being empty in every component."""
    if not where.any():
        return lo, hi
    return np.where(where[:, None], np.inf, lo), np.where(where[:, None], -np.inf, hi)


def kept(before: Boxes, after: Boxes, where: BoolArray) -> Boxes:
    """The boxes after a change, those marked as they were before."""
    marked = where[:, None]
    return np.where(marked, before[0], after[0]), np.where(marked, before[1], after[1])


def met(a: Boxes, b: Boxes) -> Boxes:
    """What two lists of boxes have in common, box by box; whole boxes are empty or none of their components."""
    lo, hi = np.maximum(a[0], b[0]), np.minimum(a[1], b[1])
    return emptied(lo, hi, is_empty(lo, hi))


def shrinkage(before: Boxes, after: Boxes) -> FloatArray:
    """By how much each box shrank: the mean over its components of the part of the width that is gone (0 to 1)."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        old, new = before[1] - before[0], after[1] - after[0]
        left = new / old
    mean = sums(left) / left.shape[1]
    if not ((mean >= 0) & (mean <= 1)).all():  # an empty box, 0/0 or inf/inf; finite/inf is 0 already
        left = np.where(np.isnan(left), (new >= old).astype(float), left)
        mean = sums(np.minimum(np.maximum(left, 0.0), 1.0)) / left.shape[1]
    found: FloatArray = 1.0 - mean
    return found


def taken(before: Boxes, after: Boxes, some: BoolArray | None = None) -> float:
    """About how many boxes were taken away, those that are left being marked: by what the first ones of these lost."""
    first = slice(0, _SEEN) if some is None else np.flatnonzero(some)[:_SEEN]
    gone = shrinkage((before[0][first], before[1][first]), (after[0][first], after[1][first]))
    left = len(after[0]) if some is None else int(some.sum())
    return len(after[0]) - left + total(gone) * left / max(1, len(gone))


def for_each(boxes: FloatArray, number: npt.ArrayLike) -> FloatArray:
    """A number, or one for each box, as an array (k,) where the boxes lie."""
    found: FloatArray = np.empty_like(boxes[:, 0])
    found[...] = number
    return found


def total(numbers: FloatArray) -> float:
    """The sum of an array (k,), by halves."""
    return float(sums(numbers[None])[0]) if len(numbers) else 0.0


def sums(rows: FloatArray) -> FloatArray:
    """The sums of the rows, by halves; a column that is left over is added to the first."""
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        both = rows[:, :half] + rows[:, half : 2 * half]
        if rows.shape[1] % 2:
            both[:, 0] = both[:, 0] + rows[:, -1]
        rows = both
    return rows[:, 0]

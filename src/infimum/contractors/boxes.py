"""Boxes as arrays (k, n) of ends: which are empty, how much they shrank."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Boxes = tuple[FloatArray, FloatArray]


def is_empty(lo: FloatArray, hi: FloatArray) -> BoolArray:
    """Which boxes have no point: one empty component is enough."""
    found: BoolArray = np.logical_not(np.all(lo <= hi, axis=1))
    return found


def emptied(lo: FloatArray, hi: FloatArray, where: BoolArray) -> Boxes:
    """The boxes, those marked being empty in every component."""
    if not where.any():
        return lo, hi
    return np.where(where[:, None], np.inf, lo), np.where(where[:, None], -np.inf, hi)


def met(a: Boxes, b: Boxes) -> Boxes:
    """What two lists of boxes have in common, box by box; whole boxes are empty or none of their components."""
    lo, hi = np.maximum(a[0], b[0]), np.minimum(a[1], b[1])
    return emptied(lo, hi, is_empty(lo, hi))


def shrinkage(before: Boxes, after: Boxes) -> FloatArray:
    """By how much each box shrank: the mean over its components of the part of the width that is gone (0 to 1)."""
    with np.errstate(invalid="ignore", over="ignore"):
        old, new = before[1] - before[0], after[1] - after[0]
        gone = 1.0 - new / old
    gone = np.where(np.isnan(gone), (new < old).astype(float), gone)  # 0/0, inf/inf: nothing; finite/inf is 1 already
    found: FloatArray = np.clip(gone, 0.0, 1.0).mean(axis=1)
    return found

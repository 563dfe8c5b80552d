"""Points and boxes as users give them, read as arrays of doubles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import is_on_device
from infimum.errors import NotAPoint, ShapeMismatch
from infimum.interval import Interval
from infimum.interval.reading import as_array, ends

FloatArray = npt.NDArray[np.float64]


def read_points(name: str, n: int, points: npt.ArrayLike) -> tuple[FloatArray, bool]:
    """Return points (k, n) of the function of that name, and whether one point was given."""
    x = _doubles(points)
    if x.ndim not in (1, 2) or x.shape[-1] != n:
        raise ShapeMismatch(f"{name} takes points of shape ({n},) or (k, {n}), got {x.shape}")
    return np.atleast_2d(x), x.ndim == 1


def read_boxes(name: str, n: int, boxes: Any) -> tuple[FloatArray, FloatArray, bool]:
    """Return the lower and upper ends (k, n) of boxes, and whether one box was given."""
    if not isinstance(boxes, Interval):
        pairs = as_array(boxes)
        if pairs.ndim not in (2, 3) or pairs.shape[-2:] != (n, 2):
            raise ShapeMismatch(
                f"{name} takes a box as pairs of shape ({n}, 2), boxes as (k, {n}, 2) or an "
                f"Interval of shape ({n},) or (k, {n}); got shape {pairs.shape}"
            )
        boxes = Interval.from_pairs(pairs)
    if boxes.ndim not in (1, 2) or boxes.shape[-1] != n:
        raise ShapeMismatch(f"{name} takes boxes of shape ({n},) or (k, {n}), got an Interval of shape {boxes.shape}")
    return np.atleast_2d(boxes.lo), np.atleast_2d(boxes.hi), boxes.ndim == 1


def _doubles(points: Any) -> FloatArray:
    """Return points as doubles, and refuse numbers that are none: the value at another point is another value."""
    if getattr(points, "dtype", None) == np.float64:
        found: FloatArray = points if is_on_device(points) else np.asarray(points)
        return found
    lo, hi = ends(points)
    if (lo < hi).any():
        i = tuple(int(k) for k in np.argwhere(lo < hi)[0])
        raise NotAPoint(
            f"The point's coordinate {i if len(i) > 1 else i[0]} lies between the doubles {float(lo[i])!r} and "
            f"{float(hi[i])!r}. Give one of them, or enclose the function on the box between them."
        )
    return lo

"""What lies around every low point of a convex function on an unbounded box.

Let f be convex on X, B a box within X, z a point of B with f(z) <= level. If no point of the faces of B that are not
faces of X has a value up to the level, then every point of X that has one lies in B: on the straight way from z to
another one f would be at most the level, by convexity, and the way would cross such a face.

How large a B is tried is policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from infimum.boxes import Boxes, Ends, FloatArray

MOST_VARIABLES = 32  # each has two faces, and each of these is closed as a box of its own
_NEAR, _FARTHER, _TRIES = 16.0, 64.0, 3  # times the size of z


def surrounded(box: Boxes, z: FloatArray, has_low_points: Callable[[Boxes], bool]) -> Boxes:
    """Return a bounded box around what is low in an unbounded one (1 box), or the box itself where none is found.

    has_low_points: whether a face may have points up to a level that f(z) does not exceed
    Guarantee: it contains every point up to the level, if f is convex on the box and z (n,) in it.
    """
    (lo,), (hi,) = box.ends
    reach = _NEAR * (1.0 + np.abs(z))
    for _ in range(_TRIES):
        low, high = np.where(np.isinf(lo), z - reach, lo), np.where(np.isinf(hi), z + reach, hi)
        if not (np.isfinite(low) & np.isfinite(high) & (low <= z) & (z <= high)).all():
            break
        if not any(has_low_points(face) for face in _faces((lo, hi), (low, high))):
            return Boxes(low[None], high[None], box.lower)
        reach = _FARTHER * reach
    return box


def _faces(whole: Ends, part: Ends) -> Iterator[Boxes]:
    """Yield the faces of a part of a box that are not those of the whole."""
    for side in range(2):
        for i in np.flatnonzero(whole[side] != part[side]):
            ends = part[0].copy(), part[1].copy()
            ends[1 - side][i] = part[side][i]
            yield Boxes(ends[0][None], ends[1][None])

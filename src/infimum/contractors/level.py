"""Level: keep the points at which a function is at most a given number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes, FloatArray, doubles, emptied, for_each, is_empty, limits, shrinkage
from infimum.function.function import Function


class Levelled(NamedTuple):
    """Boxes (k, n) that contain the points kept; lower: a bound (k,) of the function there, +inf for an empty box.

    gone: about how much of each box was taken away, from 0 to 1.
    """

    lo: FloatArray
    hi: FloatArray
    lower: FloatArray
    passes: int
    gone: FloatArray


class Level:
    """HC4 on f(x) <= upper, repeated as long as a pass takes `least` of a box away, `passes` times at most."""

    def __init__(self, function: Function, passes: int = 20, least: float = 0.05) -> None:
        self.function = function
        self.passes = passes
        self.least = least

    def contract(self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, threads: int = 1) -> Boxes:
        """Boxes around every point of each box with f(x) <= upper, one number or one for each box."""
        found = self.narrow(lo, hi, upper, threads=threads)
        return found.lo, found.hi

    def narrow(self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, threads: int = 1) -> Levelled:
        """The same, with the lower bounds that the passes find on their way."""
        low, high = doubles(lo, hi)
        limit, left = limits(low, upper), for_each(low, 1.0)
        nothing = is_empty(low, high)
        lower = for_each(low, -np.inf)
        lower[nothing] = np.inf
        active = np.flatnonzero(~nothing)
        count = 0
        while active.size and count < self.passes:
            at = slice(None) if active.size == len(low) else active  # most often all of them: nothing need be copied
            before, most = (low[at], high[at]), limit[at]
            found_lo, found_hi, value_lo, value_hi = self.function.contraction_ends(*before, most, threads=threads)
            after = np.maximum(before[0], found_lo), np.minimum(before[1], found_hi)
            nothing = is_empty(*after) | ~(value_lo <= np.minimum(value_hi, most))
            gone = np.where(nothing, 1.0, shrinkage(before, after))
            low[at], high[at] = emptied(*after, nothing)
            lower[at] = np.where(nothing, np.inf, np.maximum(lower[at], value_lo))
            left[at] = left[at] * (1.0 - gone)
            active = active[~nothing & (gone >= self.least)]
            count += 1
        return Levelled(low, high, lower, count, 1.0 - left)

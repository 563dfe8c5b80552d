"""Level: keep the points at which a function is at most a given number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.contractors.boxes import Boxes, FloatArray, emptied, is_empty, met, shrinkage
from infimum.function import Function


class Levelled(NamedTuple):
    """Boxes (k, n) that contain the points kept; lower: a bound (k,) of the function there, +inf for an empty box."""

    lo: FloatArray
    hi: FloatArray
    lower: FloatArray
    passes: int


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
        low, high = lo.copy(), hi.copy()
        limit = np.broadcast_to(np.asarray(upper, np.float64), len(lo))
        lower = np.full(len(lo), -np.inf)
        active = np.flatnonzero(~is_empty(lo, hi))
        lower[is_empty(lo, hi)] = np.inf
        count = 0
        while active.size and count < self.passes:
            before = low[active], high[active]
            *ends, value_lo, value_hi = self.function.contraction_ends(*before, limit[active], threads=threads)
            after = met(before, (ends[0], ends[1]))
            nothing = is_empty(*after) | ~(value_lo <= np.minimum(value_hi, limit[active]))
            low[active], high[active] = emptied(*after, nothing)
            lower[active] = np.where(nothing, np.inf, np.maximum(lower[active], value_lo))
            active = active[~nothing & (shrinkage(before, after) >= self.least)]
            count += 1
        return Levelled(low, high, lower, count)

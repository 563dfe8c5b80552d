"""Stationary: keep the points whose gradient a minimiser over the domain can have.

What the gradient's component i is at a minimiser, as the box's component i reaches

    no edge of the domain     0
    its lower edge only       >= 0
    its upper edge only       <= 0
    both                      anything
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import BoolArray, Boxes, FloatArray, doubles, emptied, is_empty, kept, met, shrinkage
from infimum.contractors.edges import touched
from infimum.contractors.known import Known
from infimum.domain import Domain
from infimum.function.function import Function


class Stationary:
    """HC4 on the partial derivatives, repeated as `Level` is. Boxes on which f is not smooth stay as they are.

    A box that is emptied has no minimiser; infima at infinity are kept by the infinite edges.
    """

    def __init__(
        self, function: Function, domain: Domain, passes: int = 3, least: float = 0.05, known: Known | None = None
    ) -> None:
        self.function = function
        self.known = function if known is None else known
        self.domain = domain
        self.passes = passes
        self.least = least

    def contract(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Boxes:
        """Boxes around every minimiser over the domain that lies in each box."""
        low, high = doubles(lo, hi)
        active = np.flatnonzero(~is_empty(low, high) & self._says_something(low, high))
        active = active[smooth(self.known, low[active], high[active], threads)]
        for _ in range(self.passes):
            if not active.size:
                break
            before = low[active], high[active]
            wanted = self._wanted(*before)
            *ends, slope_lo, slope_hi = self.function.slope_contraction_ends(*before, wanted, threads=threads)
            impossible = is_empty(np.maximum(slope_lo, wanted[0]), np.minimum(slope_hi, wanted[1]))
            after = emptied(*met(before, (ends[0], ends[1])), impossible)
            nowhere = is_empty(slope_lo, slope_hi)  # a slope that exists nowhere on the box may be anything
            if nowhere.any():
                after = kept(before, after, nowhere)
            low[active], high[active] = after
            active = active[~is_empty(*after) & (shrinkage(before, after) >= self.least)]
        return emptied(low, high, is_empty(low, high))

    def _says_something(self, lo: FloatArray, hi: FloatArray) -> BoolArray:
        """Which boxes have a component that does not reach both edges."""
        at_lower, at_upper = touched(self.domain, lo, hi)
        found: BoolArray = np.any(~(at_lower & at_upper), axis=1)
        return found

    def _wanted(self, lo: FloatArray, hi: FloatArray) -> Boxes:
        at_lower, at_upper = touched(self.domain, lo, hi)
        nothing = np.zeros_like(lo)
        return np.where(at_upper, -np.inf, nothing), np.where(at_lower, np.inf, nothing)


def smooth(function: Function | Known, lo: FloatArray, hi: FloatArray, threads: int) -> BoolArray:
    """Which boxes the function is certainly smooth around."""
    if function.is_smooth_everywhere:
        everywhere: BoolArray = np.full_like(lo[:, 0], True, dtype=bool)
        return everywhere
    return function.fact_arrays(lo, hi, threads=threads)[1]

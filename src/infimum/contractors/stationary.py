"""Stationary: keep the points whose gradient a minimiser over the domain can have.

What the gradient's component i is at a minimiser, as the box's component i reaches

    no edge of the domain     0
    its lower edge only       >= 0
    its upper edge only       <= 0
    both                      anything
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.boxes import BoolArray, Boxes, Ends, FloatArray, emptied, is_empty, kept, met, shrinkage
from infimum.contractors.edges import touched
from infimum.contractors.known import Known
from infimum.domain import Domain


@dataclass(frozen=True)
class Stationary:
    """HC4 on the partial derivatives, repeated as `Level` is. Boxes on which f is not smooth stay as they are.

    A box that is emptied has no minimiser; infima at infinity are kept by the infinite edges.
    """

    passes: int = 3
    least: float = 0.05

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every minimiser over the domain that lies in each box."""
        low, high = boxes.lo.copy(), boxes.hi.copy()
        active = np.flatnonzero(~boxes.is_empty() & _says_something(known.domain, low, high))
        active = active[known.smooth(boxes[active])]
        for _ in range(self.passes):
            if not active.size:
                break
            before = low[active], high[active]
            wanted = _wanted(known.domain, *before)
            found = known.function.slope_contraction_ends(*before, wanted, threads=known.threads)
            slope_lo, slope_hi = found[2], found[3]
            impossible = is_empty(np.maximum(slope_lo, wanted[0]), np.minimum(slope_hi, wanted[1]))
            after = emptied(*met(before, (found[0], found[1])), impossible)
            nowhere = is_empty(slope_lo, slope_hi)  # a slope that exists nowhere on the box may be anything
            if nowhere.any():
                after = kept(before, after, nowhere)
            low[active], high[active] = after
            active = active[~is_empty(*after) & (shrinkage(before, after) >= self.least)]
        return Boxes(low, high, boxes.lower).emptied(is_empty(low, high))


def _says_something(domain: Domain, lo: FloatArray, hi: FloatArray) -> BoolArray:
    """Return which boxes have a component that does not reach both edges."""
    at_lower, at_upper = touched(domain, lo, hi)
    found: BoolArray = np.any(~(at_lower & at_upper), axis=1)
    return found


def _wanted(domain: Domain, lo: FloatArray, hi: FloatArray) -> Ends:
    """Return what the gradient can be at a minimiser in each box."""
    at_lower, at_upper = touched(domain, lo, hi)
    nothing = np.zeros_like(lo)
    return np.where(at_upper, -np.inf, nothing), np.where(at_lower, np.inf, nothing)

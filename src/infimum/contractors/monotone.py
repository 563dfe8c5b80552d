"""Monotone: where a function rises along a variable all over a box, its minimisers there lie at the lower end.

    slope on a smooth box    for the value                  for the location, the domain's edge
                                                            not reached      reached
    > 0                      the lower face is enough       no minimiser     only at the edge
    >= 0                     the lower face is enough       -                -
and mirrored. The face is the box's own; the edge is the user's.
"""

from __future__ import annotations

import numpy as np

from infimum.backends.placement import like
from infimum.boxes import BoolArray, Boxes, FloatArray, doubles, emptied, is_empty
from infimum.contractors.edges import touched
from infimum.contractors.known import Known
from infimum.contractors.stationary import smooth
from infimum.domain import Domain
from infimum.function.function import Function


class Monotone:
    """The gradient's signs. Boxes on which f is not smooth stay as they are."""

    def __init__(self, function: Function, domain: Domain, known: Known | None = None) -> None:
        self.function = function
        self.domain = domain
        self.known = function if known is None else known

    def contract(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Boxes:
        """Boxes around every minimiser over the domain that lies in each box."""
        lo, hi = doubles(lo, hi)
        slope_lo, slope_hi, certain = self._slopes(lo, hi, threads)
        rising, falling = certain[:, None] & (slope_lo > 0), certain[:, None] & (slope_hi < 0)
        at_lower, at_upper = touched(self.domain, lo, hi)
        nothing = ((rising & ~at_lower) | (falling & ~at_upper)).any(axis=1) | is_empty(lo, hi)
        edges = like(self.domain.inner_lo, lo), like(self.domain.inner_hi, lo)
        high = np.where(rising & np.isfinite(edges[0]), np.minimum(hi, edges[0]), hi)
        low = np.where(falling & np.isfinite(edges[1]), np.maximum(lo, edges[1]), lo)
        return emptied(low, high, nothing | is_empty(low, high))

    def face(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Boxes:
        """Faces on which f comes as low as on the whole box; for bounds, not for locations."""
        lo, hi = doubles(lo, hi)
        slope_lo, slope_hi, certain = self._slopes(lo, hi, threads)
        rises, falls = certain[:, None] & (slope_lo >= 0), certain[:, None] & (slope_hi <= 0)
        rises &= np.isfinite(lo)
        falls &= np.isfinite(hi) & ~rises
        return np.where(falls, hi, lo), np.where(rises, lo, hi)

    def _slopes(self, lo: FloatArray, hi: FloatArray, threads: int) -> tuple[FloatArray, FloatArray, BoolArray]:
        certain = smooth(self.known, lo, hi, threads) & ~is_empty(lo, hi)
        return *self.known.gradient_ends(lo, hi, threads=threads), certain

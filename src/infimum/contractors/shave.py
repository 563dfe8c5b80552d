"""Shave: cut slices off the ends of a box's variables where f is certainly above the upper bound.

A slice is the whole box in all variables but one, in which it is its lowest or its highest part. Where contraction
empties a slice under f(x) <= upper, the box need not hold it: this sees what `Level` does not where a variable occurs
more than once, at the price of two evaluations for each variable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.boxes import BoolArray, Boxes, FloatArray, is_empty
from infimum.contractors.known import Known


@dataclass(frozen=True)
class Shave:
    """Slices of `part` of the width, one variable after the other. Beyond `most` variables boxes stay as they are."""

    part: float = 0.125
    most: int = 16

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper."""
        if boxes.n > self.most:
            return boxes
        whole = np.flatnonzero(~boxes.is_empty())
        lo, hi, limit = boxes.lo[whole], boxes.hi[whole], known.limits(boxes)[whole]
        for i in range(boxes.n):
            # Each slice shares its inner end with what is left, so that no point lies between them.
            cut = _inside(lo[:, i], hi[:, i], self.part)
            gone = _is_above(lo, _with_column(hi, i, cut), limit, known)
            lo[:, i] = np.where(gone, cut, lo[:, i])
            cut = _inside(lo[:, i], hi[:, i], 1 - self.part)
            gone = _is_above(_with_column(lo, i, cut), hi, limit, known)
            hi[:, i] = np.where(gone, cut, hi[:, i])
        low, high = boxes.lo.copy(), boxes.hi.copy()
        low[whole], high[whole] = lo, hi
        return Boxes(low, high, boxes.lower)


def _inside(lo: FloatArray, hi: FloatArray, fraction: float) -> FloatArray:
    """Return the place of a cut; of an infinite range 0, or the end that is nearest to it."""
    with np.errstate(invalid="ignore", over="ignore"):
        plain = lo + (hi - lo) * fraction
    found: FloatArray = np.clip(np.where(np.isfinite(plain), plain, 0.0), lo, hi)
    return found


def _with_column(ends: FloatArray, i: int, column: FloatArray) -> FloatArray:
    changed = ends.copy()
    changed[:, i] = column
    return changed


def _is_above(lo: FloatArray, hi: FloatArray, limit: FloatArray, known: Known) -> BoolArray:
    """Return on which boxes f is nowhere at most the limit, by one pass forward and back."""
    found = known.function.contraction_ends(lo, hi, limit, threads=known.threads)
    met = np.maximum(lo, found[0]), np.minimum(hi, found[1])
    above: BoolArray = is_empty(*met) | ~(found[2] <= np.minimum(found[3], limit))
    return above

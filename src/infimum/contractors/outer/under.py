"""Lines below a function of one variable: for a slope s, a number a with phi(u) >= s u + a for every u of a range.

Piece by piece (pieces.py), on the part [l, h] of the range in it, e(u) = phi(u) - s u is at least

    piece        the best, on [l, h] or on each of [l, t1], [t1, t2], [t2, h], of
    convex       two tangents, at t1 and t2: e(t) + (phi'(t) - s)(u - t), phi smooth around t; else natural enclosures
    concave      the smaller of e(l) and e(h)
    neither      natural enclosures; e(m) + (phi'([l, h]) - s)(u - m), where phi is smooth around [l, h]

A tangent is below all of a convex piece, wherever it touches: t1 and t2 are policy (slopes.py). phi' is not s at a
double, so that the tangents have some slope left; between two of them it is lost over a short way only.

Guarantee: every value is rounded downward, and phi(u) - s u >= a wherever phi is defined on the range.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import numpy.typing as npt

from infimum.contractors.outer.pieces import CONCAVE, CONVEX, Piece
from infimum.function.function import Function

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]


class Under:
    """What lies below one phi."""

    def __init__(self, phi: Function, parts: list[Piece]) -> None:
        self.phi = phi
        self.pieces = parts

    def intercepts(self, lo: FloatArray, hi: FloatArray, s: FloatArray, t: list[Ends]) -> FloatArray:
        """Return a (k,) with phi(u) >= s u + a on the ranges (k,); -inf where nothing is known, inf where phi is not.

        t: for each piece two numbers (k,), the first not above the second
        """
        covered = (self.pieces[0].lo <= lo) & (hi <= self.pieces[-1].hi)
        found = np.full_like(lo, np.inf)
        found[~covered] = -np.inf
        for piece, touching in zip(self.pieces, t, strict=True):
            low, high = np.maximum(lo, piece.lo), np.minimum(hi, piece.hi)
            rows = np.flatnonzero(low <= high)
            if rows.size:
                box = low[rows], high[rows]
                least = self._least(piece.bend, box, s[rows], (touching[0][rows], touching[1][rows]))
                found[rows] = np.minimum(found[rows], least)
        return found

    def _least(self, bend: int, box: Ends, s: FloatArray, t: Ends) -> FloatArray:
        if bend == CONCAVE:
            return np.minimum(*(self._value(end, s) for end in box))
        if bend == CONVEX:
            first, second = np.clip(t[0], *box), np.clip(t[1], *box)
            parts = (box[0], first), (first, second), (second, box[1])
            tangents = [self._tangent(at, s, parts) for at in (first, second)]
            below: FloatArray = reduce(np.minimum, [np.maximum(*both) for both in zip(*tangents, strict=True)])
            lost = np.flatnonzero(~np.isfinite(below))
            if lost.size:
                below[lost] = np.maximum(below[lost], self._natural((box[0][lost], box[1][lost]), s[lost]))
            return below
        return np.maximum(self._natural(box, s), self._mean_value(box, s))

    def _value(self, at: FloatArray, s: FloatArray) -> FloatArray:
        """Return lower bounds of phi(u) - s u at numbers; -inf at infinities, inf where phi is not defined."""
        finite = np.isfinite(at)
        some = np.where(finite, at, 0.0)
        return np.where(finite, self._natural((some, some), s), -np.inf)

    def _natural(self, box: Ends, s: FloatArray) -> FloatArray:
        low, high = self.phi.sharp_ends(box[0][:, None], box[1][:, None])
        known = low <= high
        value = np.where(known, low, 0.0), np.where(known, high, 0.0)
        return np.where(known, self._sub(value, self._mul((s, s), box))[0], np.inf)

    def _tangent(self, at: FloatArray, s: FloatArray, parts: tuple[Ends, ...]) -> list[FloatArray]:
        """Return lower bounds of a tangent to phi(u) - s u over each part."""
        finite = np.isfinite(at)
        point = np.where(finite, at, 0.0)[:, None]
        smooth = finite & self.phi.fact_arrays(point, point)[1]
        value, slope = self._value(at, s), self._slope((point[:, 0], point[:, 0]), s)
        return [np.where(smooth, self._below(value, slope, point[:, 0], part), -np.inf) for part in parts]

    def _mean_value(self, box: Ends, s: FloatArray) -> FloatArray:
        finite = np.isfinite(box[0]) & np.isfinite(box[1])
        low, high = np.where(finite, box[0], 0.0), np.where(finite, box[1], 0.0)
        smooth = finite & self.phi.fact_arrays(low[:, None], high[:, None])[1]
        middle = np.clip(0.5 * low + 0.5 * high, low, high)
        form = self._below(self._value(middle, s), self._slope((low, high), s), middle, (low, high))
        return np.where(smooth, form, -np.inf)

    def _slope(self, box: Ends, s: FloatArray) -> Ends:
        low, high = self.phi.gradient_ends(box[0][:, None], box[1][:, None])
        return self._sub((low[:, 0], high[:, 0]), (s, s))

    def _below(self, value: FloatArray, slope: Ends, at: FloatArray, box: Ends) -> FloatArray:
        """Return lower bounds of value + slope (u - at) over the box, inf where the value is."""
        known = value < np.inf
        above = np.where(known, value, 0.0), np.full_like(value, np.inf)
        found = self.phi.place.apply("add", above, self._mul(slope, self._sub(box, (at, at))))[0]
        return np.where(known, found, np.inf)

    def _sub(self, a: Ends, b: Ends) -> Ends:
        return self.phi.place.apply("sub", a, b)

    def _mul(self, a: Ends, b: Ends) -> Ends:
        return self.phi.place.apply("mul", a, b)

"""Which line is taken, and where tangents touch: policy, in plain doubles; every answer is right.

The best slope at a number u of a range is that of the convex envelope of phi over the range: phi'(u) where the envelope
touches, that of a chord elsewhere.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import like
from infimum.contractors.outer.pieces import CONVEX, Piece
from infimum.function.function import Function

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[FloatArray, FloatArray]

_SAMPLES = 17  # of phi over a range
_HALVINGS = 20  # of the slopes of an envelope
_TURNS = 8  # of bisection and false position
_KNOTS = 200  # at which slopes are known, on each side of 0
_SHARE = 16.0  # of a range: how far a kink is rounded


class Slopes:
    """Slopes for one phi."""

    def __init__(self, phi: Function, parts: list[Piece]) -> None:
        self.phi = phi
        self.pieces = parts
        self._knots = [self._table(piece) if piece.bend == CONVEX else None for piece in parts]

    def derivatives(self, u: FloatArray, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return phi' and phi'' at u (k,) in ranges, of a phi with its kinks rounded; 0 where they are not finite."""
        with np.errstate(all="ignore"):
            slope, bend = self._value_and_slope(u)[1].copy(), self.phi.hessian(u[:, None])[:, 0, 0]
            rows = self._kinked(lo, hi)
            if rows.size:
                slope[rows], bend[rows] = self._differences(u[rows], lo[rows], hi[rows])
        return _finite(slope), _finite(bend)

    def best(self, u: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """Return the slopes of the convex envelope over the ranges (k,) at u (k,)."""
        with np.errstate(all="ignore"):
            value, own = self._value_and_slope(u)
            own = own.copy()
            steps = like(np.linspace(0.0, 1.0, _SAMPLES) ** 2, u)
            low, high = np.clip(lo, -1e300, 1e300), np.clip(hi, -1e300, 1e300)
            at = low[:, None] + (high - low)[:, None] * steps
            values = self._values(at.reshape(-1)).reshape(at.shape)
            values = np.where(np.isfinite(values), values, np.inf)
            d = at - u[:, None]
            above = values - value[:, None]
            tolerance = 1e-9 * (np.abs(own[:, None] * d) + np.abs(above))
            chord = np.flatnonzero(~(above - own[:, None] * d >= -tolerance).all(axis=1))
            if chord.size:
                own[chord] = _envelope(at[chord], values[chord], u[chord])
            rows = self._kinked(lo, hi)
            if rows.size:
                rounded = self._differences(u[rows], lo[rows], hi[rows])[0]
                own[rows] = np.where(np.isfinite(rounded), rounded, own[rows])
        return _finite(own)

    def _kinked(self, lo: FloatArray, hi: FloatArray) -> IndexArray:
        """Return the ranges on which phi has a kink, or its slopes no bound."""
        if self.phi.is_smooth_everywhere:
            return np.empty(0, np.int64)
        return np.flatnonzero(~self.phi.fact_arrays(lo[:, None], hi[:, None])[1])

    def _differences(self, u: FloatArray, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return first and second differences over a share of the range."""
        h = (hi - lo) / _SHARE
        at = np.clip(u, lo + h, hi - h)
        left, middle, right = (self._values(t) for t in (at - h, at, at + h))
        return (right - left) / (2 * h), (right - 2 * middle + left) / (h * h)

    def touching(self, s: FloatArray, lo: FloatArray, hi: FloatArray) -> list[Ends]:
        """Return for each piece two numbers between which phi' passes s."""
        return [self._between(knots, s) if knots is not None else (lo, hi) for knots in self._knots]

    def _values(self, u: FloatArray) -> FloatArray:
        found: Any = self.phi(u[:, None])
        return cast(FloatArray, found)

    def _value_and_slope(self, u: FloatArray) -> Ends:
        found: Any = self.phi.value_and_gradient(u[:, None])
        return found[0], found[1][:, 0]

    def _table(self, piece: Piece) -> Ends:
        """Return knots of a piece, and the slopes there."""
        powers = 2.0 ** np.linspace(-40, 40, _KNOTS)
        knots = np.concatenate([-powers[::-1], [0.0], powers])
        ends = [end for end in (piece.lo, piece.hi) if np.isfinite(end)]
        knots = np.unique(np.concatenate([knots[(knots > piece.lo) & (knots < piece.hi)], ends]))
        with np.errstate(all="ignore"):
            _, slope = self._value_and_slope(knots)
        known = np.isfinite(slope)
        if not known.any():
            return knots, np.zeros_like(knots)
        return knots[known], np.maximum.accumulate(slope[known])

    def _between(self, knots: Ends, s: FloatArray) -> Ends:
        """Return ends of the last steps of bisection and false position in turn."""
        at, slope = (like(array, s) for array in knots)
        if not at.size:
            return np.zeros_like(s), np.zeros_like(s)
        after = np.searchsorted(slope, s)
        first, last = np.maximum(after - 1, 0), np.minimum(after, at.size - 1)
        lo, hi, low, high = at[first], at[last], slope[first] - s, slope[last] - s
        for step in range(_TURNS):
            middle = 0.5 * lo + 0.5 * hi
            with np.errstate(all="ignore"):
                if step % 2:
                    secant = lo - low * (hi - lo) / (high - low)
                    middle = np.where((lo < secant) & (secant < hi), secant, middle)
                found = self._value_and_slope(middle)[1] - s
            below = found < 0
            lo, low = np.where(below, middle, lo), np.where(below, found, low)
            hi, high = np.where(below, hi, middle), np.where(below, high, found)
        return lo, hi


def _envelope(at: FloatArray, values: FloatArray, u: FloatArray) -> FloatArray:
    """Return the slopes at u (k,) of the convex envelopes of samples (k, count) on both sides of u."""
    d = at - u[:, None]
    finite = np.isfinite(values)
    step = np.diff(values, axis=1) / np.diff(at, axis=1)
    step = np.where(np.isfinite(step), step, 0.0)
    low, high = step.min(axis=1), step.max(axis=1)
    for _ in range(_HALVINGS):
        s = 0.5 * low + 0.5 * high
        least = np.argmin(np.where(finite, values - s[:, None] * d, np.inf), axis=1)
        left = np.take_along_axis(d, least[:, None], axis=1)[:, 0] < 0
        low, high = np.where(left, s, low), np.where(left, high, s)
    middle: FloatArray = 0.5 * low + 0.5 * high
    return middle


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isfinite(values), values, 0.0)

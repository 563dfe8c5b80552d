"""Convex quadratic functions: one tangent, and what it leaves of a box (PROOF).

f(x) = x'Qx/2 + b'x + a, and every matrix within the enclosure of Q is positive semidefinite (positive.py). For any x^,
with g = Q x^ + b in the enclosure of f's slope there and d = x - x^,

    f(x) = f(x^) + g'd + d'Qd/2 >= f(x^) + g'd     for all x.

So the linear form f(x^) + g'd is below f: a lower bound, and where it is above the level there is no point that low.
Let b be a lower bound of the form over a box. A point of the box with f(x) <= level has d'Qd <= 2 (level - b). With Y
any matrix of doubles, columns y, and rho = e_i - Q y,

    d_i = y'Qd + rho'd,   |d_i| <= sqrt(y'Qy d'Qd) + |rho|'|d|,   y'Qy = y_i - y'rho <= y_i + |y|'|rho|,

by Cauchy and Schwarz. All in the scaled variables t = d / 2^exponents; |d| is bounded by the box. A narrower box makes
b larger, and so on: what the rounding of x^ costs a tangent falls to nothing in a few rounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infimum.boxes import BoolArray, Boxes, FloatArray, shrinkage
from infimum.concurrency import cached_property
from infimum.contractors.known import Known
from infimum.contractors.quadratic.minimiser import Minimiser
from infimum.contractors.quadratic.positive import Scaled
from infimum.contractors.quadratic.rounded import TINY, apart, gamma, upward
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function

_MOST_INVERSE = 200  # variables of which the inverse is formed
_ROUNDS = 12
_CLOSE = 2.0**-44  # relative: bounds that are so close are not brought closer
_LEAST = 0.01  # of a box that a round takes away, for another one
_MOST_POINTS = 64  # boxes of a batch that get a point of their own


class Reach(NamedTuple):
    """|t_i| <= sqrt(2 (level - b) square_i) + sum_j loss_ij max |t_j| for the scaled rows; see above."""

    square: FloatArray
    loss: FloatArray


class Convex:
    """The tangents of one convex quadratic function."""

    def __init__(self, function: Function, matrix: Scaled) -> None:
        self.function = function
        self.matrix = matrix
        self.minimiser = Minimiser(function, matrix)
        self._lowest: FloatArray | None = None

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point with a value up to the level, and lower bounds on the boxes given."""
        lo, hi, lower, limit = boxes.lo.copy(), boxes.hi.copy(), boxes.lower.copy(), known.limits(boxes)
        active = np.flatnonzero(~boxes.is_empty())
        points = self._points(lo[active], hi[active])
        known.offer(points[:_MOST_POINTS])
        value, slope = self._tangents(points, known.threads)
        for _ in range(_ROUNDS):
            if not active.size:
                break
            before, level = (lo[active], hi[active]), limit[active]
            low, high, bound = form_contraction_ends(
                self.function, before, slope, points, value, level, threads=known.threads
            )
            bound = np.where(np.isnan(bound), -np.inf, bound)
            lower[active] = np.maximum(lower[active], np.minimum(bound, level))
            low, high = np.maximum(low, before[0]), np.minimum(high, before[1])
            if self._is_open(bound, level) and self._reach is not None:
                low, high = self._within_reach(low, high, points, level, bound)
            nothing = (low > high).any(1) | (bound > level)
            lo[active], hi[active] = (
                np.where(nothing[:, None], before[0], low),
                np.where(nothing[:, None], before[1], high),
            )
            lower[active[nothing]] = np.inf
            if not self._is_open(bound, level):
                break
            more: BoolArray = ~nothing & (shrinkage(before, (low, high)) > _LEAST)
            active, points = active[more], points[more]
            value, slope = ((end[0][more], end[1][more]) for end in (value, slope))
        return Boxes(lo, hi, lower).emptied(lower == np.inf)

    def _is_open(self, bound: FloatArray, level: FloatArray) -> bool:
        """Return whether there is room between the bounds worth a second thought."""
        return bool((np.isfinite(level) & (level - bound > _CLOSE * np.abs(level))).any())

    @cached_property
    def _reach(self) -> Reach | None:
        return reach(self.matrix) if self.matrix.kept.size <= _MOST_INVERSE else None

    def _tangents(self, points: FloatArray, threads: int) -> tuple[tuple[FloatArray, FloatArray], ...]:
        value = self.function.range_ends(points, points, threads=threads)
        return value, self.function.gradient_ends(points, points, threads=threads)

    def _points(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """Return a point for the tangent of each box: where f is smallest in it, for the first ones."""
        if not len(lo):
            return lo
        if self._lowest is None:
            self._lowest = self.minimiser.point(lo.min(0), hi.max(0))
        found = np.clip(self._lowest, lo, hi)
        inside = (found == self._lowest).all(1)
        for k in np.flatnonzero(~inside)[:_MOST_POINTS]:
            found[k] = self.minimiser.point(lo[k], hi[k])
        return found

    def _within_reach(
        self, low: FloatArray, high: FloatArray, points: FloatArray, level: FloatArray, bound: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        assert self._reach is not None
        kept, exponents = self.matrix.kept, self.matrix.exponents
        with np.errstate(all="ignore"):
            room = np.maximum(np.nextafter(level - bound, np.inf), 0.0)
            far = np.maximum(apart(high, points), apart(points, low))[:, kept]
            scaled = np.nextafter(np.ldexp(far, -exponents), np.inf)
            root = np.nextafter(np.sqrt(np.nextafter(2.0 * room[:, None] * self._reach.square, np.inf)), np.inf)
            t = upward(root + upward(scaled @ self._reach.loss.T, kept.size), 2)
            d = np.nextafter(np.ldexp(t, exponents), np.inf)
            bottom, top = np.nextafter(points[:, kept] - d, -np.inf), np.nextafter(points[:, kept] + d, np.inf)
        low, high = low.copy(), high.copy()
        low[:, kept] = np.fmax(low[:, kept], bottom)
        high[:, kept] = np.fmin(high[:, kept], top)
        return low, high


def reach(matrix: Scaled) -> Reach | None:
    """Return what bounds a point by its value, from an approximate inverse; None where there is none."""
    middle, radius = matrix.middle, matrix.radius
    n = matrix.kept.size
    try:
        inverse = np.linalg.inv(middle)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all():
        return None
    size = np.abs(inverse)
    left = apart(np.eye(n), middle @ inverse) + gamma(n) * 2.0 * upward(np.abs(middle) @ size, n)
    loss = upward(left + upward(radius @ size, n) + n * TINY, 4)  # |e_i - Q y_i| in its column i
    square = upward(np.maximum(np.diag(inverse), 0.0) + upward((size * loss).sum(0), n), 2)
    return Reach(square, loss.T) if np.isfinite(square).all() and np.isfinite(loss).all() else None

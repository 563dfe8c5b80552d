"""Quadratic functions that are not convex: convex ones below them on a box (PROOF).

f(x) = x'Qx/2 + b'x + a. For every s >= 0 and every x of a box [lo, hi]

    F(x) = f(x) + sum of s_i (x_i - lo_i) (x_i - hi_i) / 2 <= f(x),

as each product is <= 0 there; with a negative s_i it would not be so. Where Q + diag s is positive semidefinite in the
variables that the box leaves free, F is convex on the box, and above its tangents: for any x^ in the box

    f(x) >= F(x^) + F'(x^) (x - x^),

a linear form whose value and slope at x^ are enclosed (passes/hessian/shift.py), and which contracts the box as any
other. s is chosen in plain doubles (shifts.py). That Q + diag s is positive semidefinite is shown of

    V = D M D + D^2 diag s - diag of the sums of the rows of D R D,      D = diag of powers of two,  Q within M +- R,

with the diagonal rounded downward and the sums upward: t'DEDt >= -sum_ij |t_i| (D R D)_ij |t_j| >= -sum_i t_i^2
sum_j (D R D)_ij for every symmetric |E| <= R. D M D and D^2 diag s are exact, or s is not used; V is taken to be
positive semidefinite where core.linear.is_positive says so. The rows of variables with lo_i = hi_i are replaced by
those of the unit matrix: D^2 diag s and the rest of their row play no part where x_i does not move.

Second-order conditions, for minimisers over the domain:

    Q_ii < 0                            along x_i the function is strictly concave: x_i lies on the domain's edge
    v'Qv < 0, v_i = 0 where the box     no minimiser: from x one can go along v either way within the domain, and one
    reaches the domain's edge           of both ways leads down
Edges are the user's: they lie between the outward- and the inward-rounded ones (edges.py). Boxes with an infinite end
along such a variable stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from infimum.backends.linear import box_minimum, is_positive
from infimum.boxes import Boxes, FloatArray, is_empty
from infimum.contractors.edges import faces, touched
from infimum.contractors.known import Known
from infimum.contractors.monotone import Monotone
from infimum.contractors.quadratic.rounded import TINY, apart, gamma, upward
from infimum.contractors.quadratic.shifts import shifts
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.expression import form_contraction_ends, shifted_ends
from infimum.function.function import Function

if TYPE_CHECKING:
    from infimum.function.hessians import SparseHessian

BoolArray = npt.NDArray[np.bool_]

MOST_VARIABLES = 128  # each box costs some n^3
_MOST_NUMBERS = 2**21  # in the matrices of one batch
_AT_EDGES = 0.05  # of what a shift costs in the middle: what it still counts at an end of a concave variable
_OFFERED = 4
_SWEEPS = 30


class Below:
    """Convex functions below one quadratic function."""

    def __init__(self, function: Function, matrix: SparseHessian) -> None:
        self.function = function
        low, high = matrix.dense(function.n)
        is_known = low == high
        self.middle = np.where(is_known, low, 0.5 * low + 0.5 * high)
        self.radius = np.where(is_known, 0.0, np.maximum(apart(self.middle, low), apart(high, self.middle)))
        self.concave = np.diag(high) < 0

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every minimiser over the domain with a value up to the level, and lower bounds."""
        found = Monotone().contract(boxes, known)
        found = self._without_concave(found, known.domain)
        with np.errstate(all="ignore"):
            usable = np.isfinite(found.hi - found.lo).all(1)
        active = np.flatnonzero(usable & ~found.is_empty())
        lo, hi, lower, limit = found.lo.copy(), found.hi.copy(), found.lower.copy(), known.limits(found)
        weights = np.full_like(lo, np.nan)
        points = np.empty_like(lo)
        each = max(1, _MOST_NUMBERS // boxes.n**2)
        for first in range(0, active.size, each):
            some = active[first : first + each]
            box = lo[some], hi[some]
            points[some], shift, weights[some] = self._shifted(*box)
            low, high, bound = self._tangent(box, points[some], shift, limit[some], known.threads)
            lo[some], hi[some] = np.maximum(box[0], low), np.minimum(box[1], high)
            lower[some] = np.fmax(lower[some], np.minimum(bound, limit[some]))
            gone = (bound > limit[some]) | is_empty(lo[some], hi[some])
            lo[some[gone]], hi[some[gone]] = np.inf, -np.inf
        if active.size:
            known.offer(self._descended(points[active[np.argsort(lower[active])[:_OFFERED]]], known.domain))
        after = Boxes(lo, hi, lower)
        after = after.emptied(after.is_empty())
        known.hint(after, weights)
        return after

    # ------------------------------------------------------------------------------------------ second order
    def _without_concave(self, boxes: Boxes, domain: Domain) -> Boxes:
        """Return the boxes without points at which a direction leads down on either side."""
        free = ~np.logical_or(*touched(domain, *boxes.ends))
        (lo, hi), gone = faces(domain, boxes.ends, np.broadcast_to(self.concave, boxes.lo.shape))
        gone = gone | is_empty(lo, hi)
        asked = np.flatnonzero(~gone & (free.sum(1) > 1))
        if asked.size:
            gone[asked] = self._curves_down(free[asked])
        return Boxes(lo, hi, boxes.lower).emptied(gone)

    def _curves_down(self, free: BoolArray) -> BoolArray:
        """Return where v'Qv < 0 for some v that is 0 along all other variables."""
        distinct, which = np.unique(free, axis=0, return_inverse=True)
        both = distinct[:, :, None] & distinct[:, None, :]
        v = np.linalg.eigh(np.where(both, self.middle, 0.0))[1][:, :, 0]
        v = np.where(distinct, v, 0.0)
        size = np.abs(v)
        n = v.shape[1]
        terms = upward(((size @ np.abs(self.middle)) * size).sum(1), 2 * n)
        spread = upward(((size @ self.radius) * size).sum(1), 2 * n)
        least = ((v @ self.middle) * v).sum(1) + upward(spread + 2.0 * gamma(2 * n + 2) * terms + n * n * TINY, 4)
        found: BoolArray = (least < 0)[which.ravel()]
        return found

    # ------------------------------------------------------------------------------------------ convex below
    def _shifted(self, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return a point, the s >= 0 for which F is proved convex (NaN without), and what a cut promises."""
        k, n = lo.shape
        at = np.arange(n)
        free = lo < hi
        half = np.where(free, np.maximum(0.5 * hi - 0.5 * lo, 1e-300), 1.0)
        power = np.rint(np.log2(half)).astype(np.int64)
        both = free[:, :, None] & free[:, None, :]
        exponents = power[:, :, None] + power[:, None, :]
        scaled = np.where(both, np.ldexp(self.middle, exponents), 0.0)
        scaled[:, at, at] += np.where(free, 0.0, 1.0)
        lost = upward(np.where(both, np.ldexp(self.radius, exponents), 0.0).sum(2), n) + 2 * n * TINY
        lost = np.where(free, lost, 0.0)
        lowered = _lowered(scaled, np.zeros((k, n)), lost)
        convex = is_positive(lowered)
        c = np.clip(at_fraction(lo, hi, 0.5), lo, hi)
        slope = np.where(free, np.ldexp(self.function.value_and_gradient(c)[1], power), 0.0)
        sigma = np.zeros((k, n))
        others = np.flatnonzero(~convex)
        if others.size:
            chosen = np.where(free[others], shifts(lowered[others], slope[others]), 0.0)
            sigma[others] = np.where(np.isfinite(chosen), np.maximum(chosen, 0.0), 0.0)
        s = np.ldexp(sigma, -2 * power)
        sigma = np.where((np.ldexp(s, 2 * power) == sigma) & np.isfinite(s), sigma, 0.0)
        s = np.where(sigma > 0, s, 0.0)
        proved = convex | is_positive(_lowered(scaled, sigma, lost))
        moved = scaled.copy()
        moved[:, at, at] += sigma
        ends = (np.where(free, np.ldexp(end - c, -power), 0.0) for end in (lo, hi))
        t = box_minimum(moved, slope, *ends)
        points = np.clip(c + np.where(free, np.ldexp(t, power), 0.0), lo, hi)
        points = np.where(np.isfinite(points), points, c)
        width = np.maximum(hi - lo, 1e-300)
        apart_from_ends = np.maximum((points - lo) * (hi - points), _AT_EDGES * 0.25 * self.concave * width**2)
        weights = np.where(convex[:, None], np.nan, s * apart_from_ends + 1e-12 * sigma.max(1, keepdims=True) * free)
        return points, np.where(proved[:, None], s, np.nan), weights

    def _tangent(
        self, box: tuple[FloatArray, FloatArray], points: FloatArray, s: FloatArray, level: FloatArray, threads: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the ends around the points of a box at which its tangent is not above the level, and its bound."""
        proved = ~np.isnan(s).any(1)
        low, high, bound = box[0].copy(), box[1].copy(), np.full(len(points), -np.inf)
        if proved.any():
            own, x = (box[0][proved], box[1][proved]), points[proved]
            value = self.function.range_ends(x, x, threads=threads)
            slope = self.function.gradient_ends(x, x, threads=threads)
            value, slope = shifted_ends(self.function, x, own, s[proved], value, slope, threads=threads)
            found = form_contraction_ends(self.function, own, slope, x, value, level[proved], threads=threads)
            low[proved], high[proved] = found[0], found[1]
            bound[proved] = np.where(np.isnan(found[2]), -np.inf, found[2])
        return low, high, bound

    # ------------------------------------------------------------------------------------------ good points
    def _descended(self, points: FloatArray, domain: Domain) -> FloatArray:
        """Return the points moved to where no single variable leads down, in plain doubles."""
        x = np.clip(points, domain.inner_lo, domain.inner_hi)
        slope = np.asarray(self.function.value_and_gradient(x)[1])
        for _ in range(_SWEEPS):
            moved = False
            for i, curve in enumerate(np.diag(self.middle)):
                step = _least_along(slope[:, i], curve, domain.inner_lo[i] - x[:, i], domain.inner_hi[i] - x[:, i])
                if (np.abs(step) > 2.0**-40 * (1.0 + np.abs(x[:, i]))).any():
                    moved = True
                    x[:, i] = np.clip(x[:, i] + step, domain.inner_lo[i], domain.inner_hi[i])
                    slope = slope + step[:, None] * self.middle[i]
            if not moved:
                break
        return x[np.isfinite(x).all(1)]


def _lowered(matrices: FloatArray, added: FloatArray, lost: FloatArray) -> FloatArray:
    """Return the matrices with something added to their diagonals, and something taken away, rounded downward."""
    at = np.arange(matrices.shape[1])
    found = matrices.copy()
    diagonal = np.where(added > 0, np.nextafter(matrices[:, at, at] + added, -np.inf), matrices[:, at, at])
    found[:, at, at] = np.where(lost > 0, np.nextafter(diagonal - lost, -np.inf), diagonal)
    return found


def _least_along(slope: FloatArray, curve: float, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the step in [lo, hi] at which slope t + curve t^2 / 2 is smallest; none to an infinite end."""
    if curve > 0:
        return np.clip(-slope / curve, lo, hi)
    ends = np.where(np.isfinite(lo), lo, 0.0), np.where(np.isfinite(hi), hi, 0.0)
    first, second = (slope * end + 0.5 * curve * end * end for end in ends)
    best = np.where(first <= second, ends[0], ends[1])
    found: FloatArray = np.where(np.minimum(first, second) < 0, best, 0.0)
    return found

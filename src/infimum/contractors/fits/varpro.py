"""Varpro: a fit's lower bound over its nonlinear parameters, those that enter linearly being projected out.

f = H(S), S = |A(p) c + h(p)|^2 + constant (passes/linear_parameters). On a box P of p, for any c°(p) and matrix T
(projected.py),

    S >= psi(p) = R - kappa W + constant for every c,     1/kappa <= 1 - |M - I| <= the least eigenvalue of M on P

    lower bounds, P    from psi at the middle, its slope there and its curvature on P (core/linear/quadratic.h)
    c                  with c = c° + T z and M >= 1/kappa: |z + M^-1 w|^2 <= kappa (S - least S), |M^-1 w| <= kappa |w|,
                       and |c_l - c°_l| <= |row l of T| |z|
    where kappa is     the columns nearly coalesce, or have no derivatives: the box goes to dual lines, which see the
    not known          ranges of c

Ranges of c play no part in the bound, and may be infinite; where they are what holds the minimum up it stays below it.
Policy: c° and T, a least-squares fit at the middle by a QR factorisation, and how it moves with p: every choice is
right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from infimum.backends.linear import quadratic
from infimum.boxes import BoolArray, Boxes, Ends, FloatArray
from infimum.concurrency import cached_property
from infimum.contractors.contractor import Contractor
from infimum.contractors.dual import dual
from infimum.contractors.fits.nullspace import nullspace
from infimum.contractors.fits.size import small_fit
from infimum.contractors.known import Known
from infimum.contractors.trial import Tried
from infimum.fractions import at_fraction
from infimum.function.function import Function
from infimum.function.outer import DualLines
from infimum.function.projection import Fit, Projection, ProjectionEnds
from infimum.interval import Interval

MOST_PROJECTED, MOST_COLUMNS = 4, 8  # parameters of which curvatures are taken; columns
_LEAST = 0.05  # of an eigenvalue
_ROUNDS = 8
_OFFERED = 4
_CLOSE = 1e-7  # relative


class _Bound(NamedTuple):
    """What is known of boxes; nothing where it is not usable.

    lower     (k,) of S
    p, c      ends around what may have S up to the level
    costs     (k, q) what the width of each parameter costs: policy
    """

    usable: BoolArray
    lower: FloatArray
    p: Ends
    c: Ends
    costs: FloatArray


@dataclass(frozen=True)
class Varpro:
    """The variable projection of one function. Boxes with infinite ends of p stay as they are."""

    projection: Projection
    lines: DualLines
    fallback: Contractor | None
    price: float

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        low, high, lower = (array.copy() for array in boxes)
        limit = known.limits(boxes)
        own, linear = self.projection.nonlinear, self.projection.linear
        most = self.lines.most(limit)
        finite = (np.isfinite(low[:, own]) & np.isfinite(high[:, own]) & (low[:, own] <= high[:, own])).all(axis=1)
        active = np.flatnonzero(finite & np.isfinite(most))
        if not active.size:
            return boxes
        box = low[active], high[active]
        fit = self._fitted(box, most[active], known)
        found = self._bound(box, fit, most[active], known.threads)
        some, others = active[found.usable], active[~found.usable]
        for columns, ends in ((own, found.p), (linear, found.c)):
            at = np.ix_(some, columns)
            low[at] = np.maximum(low[at], ends[0][found.usable])
            high[at] = np.minimum(high[at], ends[1][found.usable])
        lower[some] = np.maximum(lower[some], self.lines.least(found.lower)[found.usable])
        if self.fallback is not None and others.size:
            given = Boxes(low[others], high[others], lower[others])
            low[others], high[others], lower[others] = self.fallback.contract(given, known.under(limit[others]))
        self._hint(Boxes(low[active], high[active]), found, fit.c, known)
        after = Boxes(low, high, lower)
        return after.emptied(after.is_empty() | (lower > limit))

    # ------------------------------------------------------------------------------------------ proof
    def _bound(self, box: Ends, fit: Fit, most: FloatArray, threads: int) -> _Bound:
        """Return what is known of boxes (k, n)."""
        own = self.projection.nonlinear
        p = box[0][:, own], box[1][:, own]
        t = np.clip(at_fraction(*p, 0.5), *p)
        ends = self.projection.ends(p, t, fit, threads=threads)
        kappa, usable = _kappa(ends)
        value, slope, curvature = (
            whole - _spread(kappa, whole.ndim) * lost for whole, lost in (ends.values, ends.slopes, ends.curvatures)
        )
        value = value + self.projection.constant
        found = quadratic(
            p, t, value.lo, (slope.lo, slope.hi), (curvature.lo, curvature.hi), np.ones(t.shape, bool), most,
            rounds=_ROUNDS, threads=threads,
        )  # fmt: skip
        known = np.isfinite(found.lower)
        room = np.maximum((Interval(most) - np.where(known, found.lower, 0.0)).hi, 0.0)
        reach = self._reach(ends, kappa, fit.turn, np.where(known, room, np.inf))
        steps = (Interval(*p) - t)[:, None, :]
        around = fit.c + np.sum(Interval(fit.follows) * steps, axis=2) + Interval(-reach, reach)
        radius = 0.5 * p[1] - 0.5 * p[0]
        with np.errstate(all="ignore"):
            spread = (np.matmul(curvature.hi - curvature.lo, radius[:, :, None])[:, :, 0] + np.abs(slope.hi)) * radius
        costs = np.where(np.isfinite(spread), spread, 0.0)
        return _Bound(usable, found.lower, (found.lo, found.hi), (around.lo, around.hi), costs)

    def _reach(self, ends: ProjectionEnds, kappa: Interval, turn: FloatArray, room: FloatArray) -> FloatArray:
        """Return how far c may be from c°, (k, L), where S may be more than its least by up to `room`."""
        size = np.sqrt(np.sum(ends.turned**2, axis=1))
        far = kappa * size + np.sqrt(kappa * Interval(np.zeros_like(room), room))
        rows = np.sqrt(np.sum(Interval(turn) ** 2, axis=2))
        found: FloatArray = (rows * far.reshape(-1, 1)).hi
        return found

    # ------------------------------------------------------------------------------------------ policy
    def _fitted(self, box: Ends, most: FloatArray, known: Known) -> Fit:
        """Return c° and T, and offer points that have turned out well."""
        own, linear = self.projection.nonlinear, self.projection.linear
        p = box[0][:, own], box[1][:, own]
        t = np.clip(at_fraction(*p, 0.5), *p)
        found = self.projection.at_points(t, threads=known.threads)
        clean: BoolArray = np.asarray(np.isfinite(found).all(axis=(1, 2, 3)))
        found = np.where(clean[:, None, None, None], found, 0.0)
        a, h, moved = found[:, 0, :, :-1], found[:, 0, :, -1], found[:, 1:]
        with np.errstate(all="ignore"):
            size = np.sqrt((a**2).sum(1))
            scale = np.where((size > 0) & np.isfinite(size), 1.0 / np.where(size > 0, size, 1.0), 1.0)
            q, triangle = np.linalg.qr(a * scale[:, None, :])
            turn = _finite(_inverse(triangle) * scale[:, :, None])
            c = _finite(-np.einsum("kij,kmj,km->ki", turn, q, h))
            r = np.einsum("kml,kl->km", a, c) + h
            squares = (r**2).sum(1)
            # B'r = 0 along each parameter, too: B'(A_i c + h_i + A C_i) + B_i'r = 0.
            turned = np.einsum("kiml,kl->kim", moved[..., :-1], c) + moved[..., -1]
            right = np.einsum("kmj,kim->kij", q, turned) + np.einsum("klj,kiml,km->kij", turn, moved[..., :-1], r)
            follows = _finite(-np.einsum("klj,kij->kli", turn, right))
        inside = ((known.domain.lo[linear] <= c) & (c <= known.domain.hi[linear])).all(1)
        squares = np.where(clean & inside & np.isfinite(squares), squares, np.inf)
        best = np.argsort(squares, kind="stable")[:_OFFERED]
        with np.errstate(over="ignore"):
            best = best[squares[best] < most[best] - _CLOSE * np.abs(most[best])]
        points = at_fraction(box[0][best], box[1][best], 0.5)
        points[:, own], points[:, linear] = t[best], c[best]
        known.offer(points[np.isfinite(points).all(1)])
        return Fit(c, follows, turn)

    def _hint(self, boxes: Boxes, found: _Bound, c: FloatArray, known: Known) -> None:
        """Say that cuts are worth while along p, unless ranges of c are finite and count."""
        # | kappa known | c° in its bounds | range of c | cut                                |
        # | yes         | yes              | any        | p, by what their widths cost       |
        # | otherwise                      | infinite   | p, the widest part of its bounds   |
        # | otherwise                      | finite     | as others like                     |
        own, linear = self.projection.nonlinear, self.projection.linear
        inside = ((known.domain.lo[linear] <= c) & (c <= known.domain.hi[linear])).all(1)
        with np.errstate(all="ignore"):
            part = (boxes.hi - boxes.lo)[:, own] / (known.domain.hi - known.domain.lo)[own]
            is_free = np.isinf((boxes.hi - boxes.lo)[:, linear]).any(1)
        by_cost = found.usable & inside
        weights = np.zeros_like(boxes.lo)
        weights[:, own] = np.maximum(np.where(by_cost[:, None], found.costs, part), 1e-300)
        known.hint(boxes, np.where((by_cost | is_free)[:, None], weights, np.nan))


def _kappa(ends: ProjectionEnds) -> tuple[Interval, BoolArray]:
    """Return kappa (k,), and where it is known."""
    apart = ends.gram - np.eye(ends.gram.shape[1])
    least = (1 - np.sqrt(np.sum(np.sum(apart**2, axis=2), axis=1))).lo
    usable = ends.smooth & (least >= _LEAST)
    found = 1 / Interval(np.where(usable, least, 1.0))
    return Interval(found.hi), usable


def _spread(kappa: Interval, ndim: int) -> Interval:
    found: Interval = kappa.reshape(-1, *[1] * (ndim - 1))
    return found


def _finite(numbers: FloatArray) -> FloatArray:
    """Return arrays (k, …), those with a number that is not finite as 0."""
    known = np.isfinite(numbers).reshape(len(numbers), -1).all(1)
    found: FloatArray = np.where(known.reshape(-1, *[1] * (numbers.ndim - 1)), numbers, 0.0) + 0.0
    return found


def _inverse(triangle: FloatArray) -> FloatArray:
    """Return the inverses of upper triangles (k, L, L); not finite where there is none."""
    n = triangle.shape[1]
    found = np.zeros_like(triangle)
    for i in reversed(range(n)):
        row = -np.einsum("kj,kjl->kl", triangle[:, i, i + 1 :], found[:, i + 1 :])
        row[:, i] += 1.0
        found[:, i] = row / triangle[:, i, i, None]
    return found


class Varpros:
    """The variable projection of a function: always on boxes with infinite ranges, else where it is seen to pay.

    There is none where orthogonal vectors are known (nullspace.py), which need no curvature.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self._tried = Tried(lambda: self._own, function.n)

    @cached_property
    def _own(self) -> Varpro | None:
        return varpro(self._function) if nullspace(self._function) is None else None

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        with np.errstate(all="ignore"):
            is_wide = np.isinf(boxes.hi - boxes.lo).any(1) & ~boxes.is_empty()
        if not is_wide.any():
            return self._tried.contract(boxes, known)
        if self._own is None:
            return boxes
        low, high, lower = boxes.lo.copy(), boxes.hi.copy(), boxes.lower.copy()
        for rows, own in ((np.flatnonzero(is_wide), self._own), (np.flatnonzero(~is_wide), self._tried)):
            if rows.size:
                low[rows], high[rows], lower[rows] = own.contract(boxes[rows], known)
        return Boxes(low, high, lower)


def varpro(function: Function) -> Varpro | None:
    """Return the contractor of a fit with parameters that enter linearly; None where it costs more than it brings."""
    fit = small_fit(function)
    if fit is None:
        return None
    _, lines = fit
    parameters = function.linear_parameters
    if parameters is None or parameters.nonlinear.size > MOST_PROJECTED or parameters.linear.size > MOST_COLUMNS:
        return None
    found = function.projection
    if found is None or parameters.m < parameters.linear.size:
        return None
    fallback = dual(function)
    return Varpro(found, lines, fallback, found.operations / function.operations)

"""Separable: a fit's lower bound over the parameters that enter nonlinearly, those that enter linearly in their ranges.

f = H(S), S = |r|^2 + g, r = A(p) c + h(p) (passes/linear_parameters). For every y, as |r - y|^2 >= 0,

    S >= 2 y'r - |y|^2 + g,   y'r = sum over groups of columns of G(p, c)
and each G is bounded alone, over the few parameters of its columns: its box is cut into cells, and the least of their
bounds counts. What the groups have in common is y alone: the residuals at the least sum of squares of the box, by
bounded Levenberg-Marquardt steps. The bound is then the best that there is for p fixed, and what is lost is of second
order in the width of p where every c keeps its sign.

    step                                why it is below S
    y'r - |y|^2 / 2                     for the very doubles y, whatever they are; y'r by intervals, |y|^2 rounded up
    a group's least                     of its cells, which cover its part of the box; those that are cut, by both parts
    a cell's bound                      passes/linear_parameters/support; +inf where the columns are defined nowhere
    twice the sum of the groups         each c stands in one group, each p in one: the leasts add up, rounded down;
                                        +inf where one is, as f is defined nowhere then, even if another is -inf
    H                                   does not fall: taken through by intervals
    left out                            a box whose bound is above what f may be; no box is made smaller
Policy: y, and where cells and boxes are cut; every choice is right. Points are finite, as Programs take no others.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.boxes import BoolArray, Boxes, Ends, FloatArray
from infimum.contractors.fits.descent import boxed_step, least_in_boxes
from infimum.contractors.fits.size import small_fit
from infimum.contractors.known import Known
from infimum.fractions import at_fraction
from infimum.function.function import Function
from infimum.function.linear_parameters import MOST_SLOPES, LinearParameters
from infimum.function.outer import DualLines, Residuals

_MOST_ENTRIES = 400_000  # of a Jacobian that is held for a few boxes at a time
_STEPS = 8
_ROUNDS = 5  # of cutting cells
_PART = 0.5  # of what a group loses, from below: cells in it are cut
_LITTLE = 0.02  # of what all groups lose
_NOTHING = 1e300  # where there is no bound
_MOST_SEEN = 512
_FAR = 0.25  # in widths of a box
_EDGE = 1e-3  # of the width of a range
_SHARE = 0.05  # of the largest number of a range
_MOST_NUMBERS = 2**22  # of y, as often as there are cells, and of Jacobians

IndexArray = npt.NDArray[np.int64]


class Separable:
    """The separable dual of one function. Boxes with infinite ends stay as they are."""

    def __init__(self, parameters: LinearParameters, residuals: Residuals, lines: DualLines) -> None:
        self.parameters = parameters
        self.residuals = residuals
        self.lines = lines
        self._seen = np.empty((0, residuals.n))  # where squares were least in boxes lately

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return the boxes with better lower bounds; empty where they are above what f may be."""
        # What others have hinted at is in good hands; before an upper bound is known, nothing could be discarded.
        wanted = np.isnan(known.hints(boxes)).any(1) & (known.limits(boxes) < np.inf)
        finite = (np.isfinite(boxes.lo) & np.isfinite(boxes.hi)).all(axis=1)
        active = np.flatnonzero(wanted & finite & ~boxes.is_empty())
        if not active.size:
            return boxes
        found, limit = boxes.lower.copy(), known.limits(boxes)
        size = max(1, _MOST_NUMBERS // (self.residuals.m * self.residuals.n))
        for start in range(0, active.size, size):
            some = active[start : start + size]
            found[some] = np.maximum(found[some], self._lower(boxes[some], limit[some], known))
        return boxes.with_lower(found).emptied(found > limit)

    def _lower(self, boxes: Boxes, limit: FloatArray, known: Known) -> FloatArray:
        """Return lower bounds of f on boxes (k,), with hints where to cut them."""
        box, most = boxes.ends, self.lines.most(limit)
        with np.errstate(all="ignore"):
            x, y, slopes = self._least(box, known)
            known.offer(x[np.argsort((y**2).sum(1), kind="stable")[:2]])
            lower, lost = self._bound(box, x, y, slopes, most, known)
            known.hint(boxes, self._weights(box, x, lost, known))
        return self.lines.least(lower)

    def _least(self, box: Ends, known: Known) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return points of boxes where the sum of squares is small, the residuals there, and their slopes."""
        lo, hi = box
        start, is_far = self._remembered(lo, hi)
        some = np.flatnonzero(is_far)
        if some.size:
            start[some] = self._middle(lo[some], hi[some], known)
        x, r, slopes = least_in_boxes(self.residuals, lo, hi, start, _STEPS, threads=known.threads)
        self._seen = np.concatenate([x, self._seen[: _MOST_SEEN - min(len(x), _MOST_SEEN)]])
        return x, _finite(r), slopes

    def _middle(self, lo: FloatArray, hi: FloatArray, known: Known) -> FloatArray:
        """Return the middles of boxes, with about the best c."""
        start = at_fraction(lo, hi, 0.5)
        r = self.residuals.values(start, threads=known.threads)
        slopes = self.residuals.jacobian(start, threads=known.threads)
        own = self.parameters.linear
        c = start[:, own]
        step = boxed_step(_finite(slopes[:, :, own]), _finite(r), lo[:, own] - c, hi[:, own] - c, 1e-14)
        start[:, own] = _inside(c + step, lo[:, own], hi[:, own])
        return start

    def _remembered(self, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return for each box the point seen lately that is nearest to it, moved into it, and whether that is far."""
        if not len(self._seen):
            return at_fraction(lo, hi, 0.5), np.ones(len(lo), bool)
        own = self.parameters.nonlinear
        low, high, seen = lo[:, None, own], hi[:, None, own], self._seen[None, :, own]
        with np.errstate(all="ignore"):
            away = (np.maximum(low - seen, seen - high) / (high - low)).max(2)  # in widths of the box
        away = np.where(np.isnan(away), np.inf, away)
        nearest = away.argmin(1)
        rows = np.arange(len(lo))
        found = np.clip(self._seen[nearest], lo, hi)
        linear = self.parameters.linear
        found[:, linear] = _inside(found[:, linear], lo[:, linear], hi[:, linear])
        return found, away[rows, nearest] > _FAR

    def _bound(
        self, box: Ends, x: FloatArray, y: FloatArray, slopes: FloatArray, most: FloatArray, known: Known
    ) -> tuple[FloatArray, FloatArray]:
        """Return what S is at least on boxes, and what each group loses (k, groups).

        Cells are cut where they keep the bound low, as long as it is not above `most`, what S may be.
        """
        groups = [_Cells(self, number, box, x, y, known) for number in range(len(self.parameters.groups))]
        constant = core.apply("sub", self.parameters.constant_ends(len(y)), self.parameters.square_ends(y))[0]
        at_points = np.stack([self._at_point(number, x, y, slopes) for number in range(len(groups))], 1)
        for round_ in range(_ROUNDS + 1):
            total = _sum(constant, [own.least for own in groups])
            with np.errstate(all="ignore"):
                lost = np.maximum(at_points - np.stack([own.least for own in groups], 1), 0.0)
            lost = np.nan_to_num(lost, nan=_NOTHING, posinf=_NOTHING)
            # A group that loses little beside the others is not worth its cells.
            open_ = (total <= most)[:, None] & (lost > _LITTLE * lost.sum(1, keepdims=True))
            if round_ == _ROUNDS or not open_.any():
                break
            for number, own in enumerate(groups):
                own.refine(open_[:, number], at_points[:, number])
        return total, lost

    def _linear(self, columns: npt.NDArray[np.int64], x: FloatArray) -> FloatArray:
        """Return what the columns of a group stand under, at x: 1 for h."""
        is_rest = columns == self.parameters.linear.size
        numbers = self.parameters.linear[np.where(is_rest, 0, columns)]
        return np.where(is_rest, 1.0, x[:, numbers])

    def _at_point(self, number: int, x: FloatArray, y: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return the value of a group at x in plain doubles."""
        group = self.parameters.groups[number]
        own = self.parameters.linear
        sums = np.einsum("km,kmn->kn", y, slopes[:, :, own])
        rest = (y * y).sum(1) - (sums * x[:, own]).sum(1)
        each = np.concatenate([sums * x[:, own], rest[:, None]], 1)
        found: FloatArray = each[:, group.columns].sum(1)
        return found

    def _weights(self, box: Ends, x: FloatArray, lost: FloatArray, known: Known) -> FloatArray:
        """Return what cutting each variable promises: how far its columns move along it, times what its group loses."""
        own = self.parameters.linear
        size = x.copy()
        size[:, own] = np.maximum(np.abs(x[:, own]), _SHARE * np.maximum(np.abs(box[0]), np.abs(box[1]))[:, own])
        slopes = _finite(self.residuals.jacobian(size, threads=known.threads))
        moves = np.sqrt((slopes**2).sum(1)) * np.maximum(box[1] - box[0], 0.0)
        found: FloatArray = np.zeros_like(moves)
        with np.errstate(all="ignore"):
            relative = _finite((box[1] - box[0]) / (known.domain.hi - known.domain.lo))
        for number, group in enumerate(self.parameters.groups):
            own = self.parameters.nonlinear[group.parameters]
            gain = lost[:, number : number + 1]
            by_moves = np.maximum(moves[:, own], 1e-200) * np.clip(gain, 1e-100, 1e100)
            # Where a group has no bound at all, as on both sides of a pole, its widest parameter is cut.
            found[:, own] = np.where(gain < _NOTHING, by_moves, 1e250 * np.maximum(relative[:, own], 1e-9))
        return found


def _inside(x: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return numbers a little away from the ends of their ranges, where nothing moves."""
    return np.clip(x, at_fraction(lo, hi, _EDGE), at_fraction(lo, hi, 1 - _EDGE))


class _Cells:
    """The cells of one group's parameters, for many boxes: `least` is the least bound over the cells of each."""

    def __init__(self, dual: Separable, number: int, box: Ends, x: FloatArray, y: FloatArray, known: Known) -> None:
        group = dual.parameters.groups[number]
        own = dual.parameters.nonlinear[group.parameters]
        self._support = partial(dual.parameters.support_ends, number, threads=known.threads)
        self._c = dual._linear(group.columns, box[0]), dual._linear(group.columns, box[1])
        self._t = dual._linear(group.columns, x)
        self._y = y
        self._width = box[1][:, own] - box[0][:, own]
        self.lo, self.hi = box[0][:, own], box[1][:, own]
        self.owner = np.arange(len(y))
        self.low = self._enclosed(self.lo, self.hi, self.owner)
        self.least = self.low.copy()

    def _enclosed(self, lo: FloatArray, hi: FloatArray, owner: IndexArray) -> FloatArray:
        """Return lower bounds of the group on cells; +inf where it is defined nowhere."""
        found = np.empty(len(owner))
        size = max(1, _MOST_NUMBERS // self._y.shape[1])
        for start in range(0, len(owner), size):
            some = slice(start, start + size)
            at = owner[some]
            c = self._c[0][at], self._c[1][at]
            point = at_fraction(lo[some], hi[some], 0.5)
            (low, high), _ = self._support((lo[some], hi[some]), point, c, self._t[at], self._y[at])
            found[some] = np.where(low <= high, low, np.where(low > high, np.inf, -np.inf))
        return found

    def refine(self, wanted: BoolArray, at_point: FloatArray) -> None:
        """Cut the cells that keep the bounds of these boxes low, along their widest parameter in units of the box."""
        if not self.lo.shape[1]:
            return
        with np.errstate(all="ignore"):
            limit = np.where(np.isfinite(self.least), self.least + _PART * (at_point - self.least), self.least)
            width = self._width[self.owner]
            shares = np.where(width > 0, (self.hi - self.lo) / width, 0.0)
        some = np.flatnonzero(wanted[self.owner] & (self.low <= limit[self.owner]) & (shares > 0).any(1))
        if not some.size:
            return
        along = shares[some].argmax(1)
        lo, hi, each = self.lo[some], self.hi[some], np.arange(some.size)
        cut = at_fraction(lo[each, along], hi[each, along], 0.5)
        below, above = hi.copy(), lo.copy()
        below[each, along] = above[each, along] = cut
        owner = np.concatenate([self.owner[some], self.owner[some]])
        low = self._enclosed(np.concatenate([lo, above]), np.concatenate([below, hi]), owner)
        low = np.maximum(low, np.concatenate([self.low[some], self.low[some]]))
        kept = np.ones(len(self.owner), bool)
        kept[some] = False
        self.lo = np.concatenate([self.lo[kept], lo, above])
        self.hi = np.concatenate([self.hi[kept], below, hi])
        self.owner, self.low = np.concatenate([self.owner[kept], owner]), np.concatenate([self.low[kept], low])
        self.least = np.full(len(self.least), np.inf)
        np.minimum.at(self.least, self.owner, self.low)


def _sum(constant: FloatArray, parts: list[FloatArray]) -> FloatArray:
    """Return at most constant + 2 (sum of the parts), all lower ends; +inf where a part is: it is defined nowhere."""
    nowhere = np.zeros(len(constant), bool)
    above = np.full_like(constant, np.inf)
    total = constant, above
    for part in parts:
        nowhere |= part == np.inf
        ends = np.where(part == np.inf, 0.0, part), above
        total = core.apply("add", total, core.apply("add", ends, ends))
    return np.where(nowhere, np.inf, total[0])


def _finite(numbers: FloatArray) -> FloatArray:
    found: FloatArray = np.where(np.isfinite(numbers), numbers, 0.0)
    return found


def separable(function: Function) -> Separable | None:
    """Return the contractor of a fit with parameters that enter linearly; None where it costs more than it brings."""
    fit = small_fit(function, _MOST_ENTRIES)
    if fit is None:
        return None
    residuals, lines = fit
    parameters = function.linear_parameters
    if parameters is None or any(group.parameters.size > MOST_SLOPES for group in parameters.groups):
        return None
    return Separable(parameters, residuals, lines)

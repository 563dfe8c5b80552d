"""Separable: a fit's lower bound over the parameters that enter nonlinearly, those that enter linearly in their ranges.

f = H(S), S = |r|^2 + g, r = A(p) c + h(p) (passes/linear_parameters). For every y, as |r - y|^2 >= 0,

    S >= 2 y'r - |y|^2 + g,   y'r = sum over groups of columns of G(p, c)
and each G is bounded alone, over the few parameters of its columns: its box is cut into cells, and the least of their
bounds counts. What the groups have in common is y alone: the residuals at the least sum of squares of the box, by
bounded Levenberg-Marquardt steps. The bound is then the best that there is for p fixed, and what is lost is of second
order in the width of p where every c keeps its sign.

Policy: y, and where cells and boxes are cut; every choice is right.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.boxes import BoolArray, Boxes, Ends, FloatArray
from infimum.contractors.fits.descent import boxed_step, least_in_boxes
from infimum.contractors.known import Known
from infimum.fractions import at_fraction
from infimum.function.function import Function
from infimum.function.linear_parameters import MOST_SLOPES, LinearParameters
from infimum.function.outer import DualLines, Residuals, dual_lines

MOST_VARIABLES, MOST_ENTRIES = 50, 20_000  # of the Jacobian, of which each step takes several
_STEPS = 8
_CELLS = {0: 1, 1: 8, 2: 4, 3: 2}  # along each parameter of a group
_MOST_SEEN = 512
_FAR = 0.25  # in widths of a box
_EDGE = 1e-3  # of the width of a range
_SHARE = 0.05  # of the largest number of a range
_MOST_NUMBERS = 2**22  # of y, as often as there are cells


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
        box, limit = boxes[active].ends, known.limits(boxes)[active]
        x, y, slopes = self._least(box, known)
        known.offer(x[np.argsort((y**2).sum(1), kind="stable")[:2]])
        most = self.lines.most(limit)
        lower, lost = self._bound(box, x, y, slopes, 1, known)
        some = np.flatnonzero(lower <= most)
        if some.size:
            finer = self._bound(_rows(box, some), x[some], y[some], slopes[some], 0, known)
            lower[some] = np.maximum(lower[some], finer[0])
            lost[some] = finer[1]
        known.hint(boxes[active], self._weights(box, x, lost, known))
        found = boxes.lower.copy()
        found[active] = np.maximum(found[active], self.lines.least(lower))
        return boxes.with_lower(found).emptied(found > known.limits(boxes))

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
        self, box: Ends, x: FloatArray, y: FloatArray, slopes: FloatArray, cells: int, known: Known
    ) -> tuple[FloatArray, FloatArray]:
        """Return what S is at least on boxes, and what each group loses (k, groups)."""
        total = self.parameters.constant_ends(len(y))
        total = core.apply("sub", total, self.parameters.square_ends(y))
        lost = []
        for number in range(len(self.parameters.groups)):
            least = self._group(number, box, x, y, cells, known)
            at_point = self._at_point(number, x, y, slopes)
            with np.errstate(all="ignore"):
                lost.append(np.nan_to_num(at_point - least, nan=1e300, posinf=1e300))
            twice = core.apply("add", (least, least), (least, least))
            total = core.apply("add", total, twice)
        return total[0], np.maximum(np.stack(lost, 1), 0.0)

    def _group(
        self, number: int, box: Ends, x: FloatArray, y: FloatArray, cells: int, known: Known
    ) -> FloatArray:
        """Return what one group is at least on boxes, (k,)."""
        group = self.parameters.groups[number]
        own = self.parameters.nonlinear[group.parameters]
        count = cells or _CELLS.get(own.size, 1)
        c = self._linear(group.columns, box[0]), self._linear(group.columns, box[1])
        t = self._linear(group.columns, x)
        pieces = _cells(box[0][:, own], box[1][:, own], count)  # (cells, k, q)
        least = np.full(len(y), np.inf)
        for lo, hi in zip(*pieces, strict=True):
            point = at_fraction(lo, hi, 0.5)
            found, _ = self.parameters.support_ends(number, (lo, hi), point, c, t, y, threads=known.threads)
            least = np.minimum(least, np.where(found[0] <= found[1], found[0], np.inf))
        return least

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
        found = np.zeros_like(moves)
        with np.errstate(all="ignore"):
            relative = _finite((box[1] - box[0]) / (known.domain.hi - known.domain.lo))
        for number, group in enumerate(self.parameters.groups):
            own = self.parameters.nonlinear[group.parameters]
            gain = lost[:, number : number + 1]
            by_moves = np.maximum(moves[:, own], 1e-200) * np.clip(gain, 1e-100, 1e100)
            # Where a group has no bound at all, as on both sides of a pole, its widest parameter is cut.
            found[:, own] = np.where(gain < 1e300, by_moves, 1e250 * np.maximum(relative[:, own], 1e-9))
        return found


def _inside(x: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return numbers a little away from the ends of their ranges, where nothing moves."""
    return np.clip(x, at_fraction(lo, hi, _EDGE), at_fraction(lo, hi, 1 - _EDGE))


def _cells(lo: FloatArray, hi: FloatArray, count: int) -> Ends:
    """Return boxes (k, q) cut into `count` along each variable: (cells, k, q)."""
    if not lo.shape[1]:
        return lo[None], hi[None]
    edges = np.stack([lo, *(at_fraction(lo, hi, i / count) for i in range(1, count)), hi])
    at = np.stack(np.meshgrid(*[np.arange(count)] * lo.shape[1], indexing="ij"), -1).reshape(-1, lo.shape[1])
    each = np.arange(lo.shape[1])
    return edges[at, :, each].transpose(0, 2, 1), edges[at + 1, :, each].transpose(0, 2, 1)


def _rows(ends: Ends, some: npt.NDArray[np.int64]) -> Ends:
    return ends[0][some], ends[1][some]


def _finite(numbers: FloatArray) -> FloatArray:
    found: FloatArray = np.where(np.isfinite(numbers), numbers, 0.0)
    return found


def separable(function: Function) -> Separable | None:
    """Return the contractor of a fit with parameters that enter linearly; None where it costs more than it brings."""
    if function.n > MOST_VARIABLES:
        return None
    residuals, lines = function.residuals, dual_lines(function)
    if residuals is None or lines is None or residuals.m * function.n > MOST_ENTRIES:
        return None
    parameters = function.linear_parameters
    if parameters is None or any(group.parameters.size > MOST_SLOPES for group in parameters.groups):
        return None
    return Separable(parameters, residuals, lines)

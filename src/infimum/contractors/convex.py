"""Convex: where f is convex on a box X, it lies above its tangent planes, and one of them may be all there is to say.

If f is certainly convex on X (passes/convex: the set D of the points of X at which f is defined is convex, and f is
convex on D) and certainly smooth at a point c of X, then for every x in D

    f(x) >= f(c) + f'(c) (x - c),
as t -> f(c + t (x - c)) is convex on [0, 1] with the slope f'(c) (x - c) at 0. Value and slope are enclosed at the
single point c, so that nothing is lost to the width of X: the bound is f(c) - sum of the larger of f'_i(c) (c_i - lo_i)
and f'_i(c) (c_i - hi_i), rounded downward. Where c is close to the minimiser of f on X it is as good as the minimum,
for one variable as for a million. The same form with f(x) <= upper contracts X (passes/contract/linear_form.py). A
plane that lies below f on X does so on every box within X, wherever c is.

Where c lies is policy (minimiser.py); so is which boxes are asked about.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infimum.boxes import BoolArray, Boxes, Ends, FloatArray
from infimum.contractors.contractor import Contractor
from infimum.contractors.kinked import mixed
from infimum.contractors.known import Known
from infimum.contractors.minimiser import MOST_GRADIENTS, improved, minimised, slack
from infimum.contractors.surround import MOST_VARIABLES, surrounded
from infimum.fractions import at_fraction
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function

_BESIDE = 2.0**-36  # of the size of a point: how far from a kink it is moved
_LITTLE = 2.0**-31  # of the value: what a plane on a single box lacks, where another one is not worth looking for
_LARGEST = float(np.finfo(np.float64).max)
_BEFORE_MIXING = 200  # gradients: at a kink descents go on for long and lead to little
_FIRST = 32  # boxes that are asked about first, of a function that is not convex everywhere
_MOST_TURNS_OFF = 63  # that pass without a question, where none of the first is convex


class Planes(NamedTuple):
    """A plane for each box: a point (k, n), the ends of f (k,) and of its slope (k, n) there, and which are true."""

    points: FloatArray
    value: Ends
    slope: Ends
    known: BoolArray


class Convex:
    """Tangent planes on boxes on which f is convex; other boxes stay as they are. It is made for one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._region: Ends | None = None  # (n,), on which f is convex
        self._lowest: FloatArray | None = None  # where it is about smallest there
        self._last: tuple[Ends, Planes] | None = None  # the last box that was alone, and its plane
        self._off, self._next_off = 0, 1  # turns
        self._looks = 2  # for what lies around all low points, in all

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        if len(boxes) == 1 and not (np.isfinite(boxes.lo).all() and np.isfinite(boxes.hi).all()):
            boxes = self._surrounded(boxes, known)
        whole = np.flatnonzero(~boxes.is_empty())
        active = whole[self._are_convex(boxes[whole], known)] if whole.size else whole
        if not active.size:
            return boxes
        planes = self._planes(boxes[active], known, alone=len(boxes) == 1)
        if not planes.known.any():
            return boxes
        active, some = active[planes.known], planes.known
        limit = known.limits(boxes)
        low, high, bound = form_contraction_ends(
            self.function,
            boxes[active].ends,
            (planes.slope[0][some], planes.slope[1][some]),
            planes.points[some],
            (planes.value[0][some], planes.value[1][some]),
            limit[active],
            threads=known.threads,
        )
        lo, hi, lower = boxes.lo.copy(), boxes.hi.copy(), boxes.lower.copy()
        lo[active], hi[active] = low, high
        lower[active] = np.fmax(lower[active], bound)
        found = boxes.meet(Boxes(lo, hi, lower))
        return found.emptied(found.lower > limit)

    def _surrounded(self, box: Boxes, known: Known) -> Boxes:
        """Return a single unbounded box, as far as low points may lie (surround.py); it is looked for once or twice.

        What is left out is above the upper bound, and so above every lower bound that is told of what stays.
        """
        limit = float(known.limits(box)[0])
        if self._looks == 0 or box.n > MOST_VARIABLES or not np.isfinite(limit) or box.is_empty()[0]:
            return box
        if not self._are_convex(box, known)[0]:
            return box
        self._looks -= 1
        z = _finite(self._points(box, alone=True))
        level = _level(limit, self.function.range_ends(z, z, threads=known.threads)[1][0])
        if not np.isfinite(level) or not self.function.fact_arrays(z, z, threads=known.threads)[0][0]:
            return box
        under = known.under(level)
        return surrounded(box, z[0], lambda face: not bool(self.contract(face, under).is_empty()[0]))

    # ------------------------------------------------------------------------------------------ which boxes
    def _are_convex(self, boxes: Boxes, known: Known) -> BoolArray:
        """Return on which boxes f is certainly convex.

        A box within one on which it is needs no question. Others are asked about now and then: the first of them, and
        where there is one among these, all.
        """
        if self.function.is_convex_everywhere:
            return np.ones(len(boxes), bool)
        found: BoolArray = np.zeros(len(boxes), bool)
        if self._region is not None:
            found = np.all((boxes.lo >= self._region[0]) & (boxes.hi <= self._region[1]), axis=1)
            if found.all():
                return found
        self._off -= 1
        if self._off >= 0:
            return found
        asked = np.flatnonzero(~found)
        for some in (asked[:_FIRST], asked[_FIRST:]):
            if some.size:
                found[some] = self.function.shape_arrays(*boxes[some].ends, threads=known.threads)[0]
            if not found[some].any():
                break
        if found[asked].any():
            self._off, self._next_off = 0, 1
        else:
            self._off, self._next_off = self._next_off, min(2 * self._next_off + 1, _MOST_TURNS_OFF)
        if len(boxes) == 1 and found[0]:
            self._region = boxes.lo[0].copy(), boxes.hi[0].copy()
        return found

    # ------------------------------------------------------------------------------------------ which planes
    def _planes(self, boxes: Boxes, known: Known, *, alone: bool) -> Planes:
        """Return a plane below f on each box on which f is convex."""
        if alone and self._last is not None:
            (lo, hi), planes = self._last
            inside = (planes.points >= boxes.lo) & (planes.points <= boxes.hi)
            if inside.all() and (boxes.lo >= lo).all() and (boxes.hi <= hi).all():
                return planes
        planes = self._tangents(self._points(boxes, alone=alone), boxes, known)
        if alone:
            planes = self._at_kinks(planes, boxes, known)
        value = planes.value[1]
        known.offer(planes.points[planes.known & (value < known.limits(boxes))][:_FIRST])
        if alone:
            self._last = boxes.ends, planes
        return planes

    def _tangents(self, points: FloatArray, boxes: Boxes, known: Known) -> Planes:
        """Return the tangent planes at points of boxes, or beside them."""
        points = _finite(points)
        smooth = self._smooth(points, boxes, known)
        if not smooth.all():  # beside a kink a plane may be hardly worse
            away = _BESIDE * np.maximum(np.abs(points), 2.0**-20) * (1.0 + np.arange(points.shape[1]) % 7)
            with np.errstate(over="ignore"):
                beside = np.where(points + away <= boxes.hi, points + away, points - away)
            points = np.where(smooth[:, None], points, _finite(np.clip(beside, boxes.lo, boxes.hi)))
            smooth = self._smooth(points, boxes, known)
        value = self.function.range_ends(points, points, threads=known.threads)
        slope = self.function.gradient_ends(points, points, threads=known.threads)
        return Planes(points, value, slope, smooth)

    def _at_kinks(self, planes: Planes, boxes: Boxes, known: Known) -> Planes:
        """Return a plane on a single box that is higher, if need be: of mixed slopes, or after a longer descent."""
        (lo,), (hi,) = boxes.ends
        value, least = self._lowest_value(planes, lo, hi)
        limit = float(known.limits(boxes)[0])
        if not self._mixes or value - least <= _LITTLE * abs(value) or least > limit:
            return planes
        if np.isfinite(lo).all() and np.isfinite(hi).all():
            found = self._mixed(planes.points[0], least, boxes, known)
            if found is not None:
                return found
        return self._tangents(minimised(self.function, planes.points[0], lo, hi)[None], boxes, known)

    def _mixed(self, start: FloatArray, least: float, boxes: Boxes, known: Known) -> Planes | None:
        """Return a plane whose slope mixes those around a kink, if it is nowhere as low as this on a single box."""
        kinks = self.function.kinks
        if kinks is None:
            return None
        found = mixed(kinks, start, boxes.lo[0], boxes.hi[0], float(known.limits(boxes)[0]))
        if found is None or not found.least > least:
            return None
        known.offer(found.lowest[None])
        point = found.point[None]
        value, slope, is_below = kinks.plane(boxes.ends, point, found.s[None], threads=known.threads)
        return Planes(point, value, slope, np.array([True])) if is_below else None

    @property
    def _mixes(self) -> bool:
        """Whether planes at kinks may be mixed."""
        return not self.function.is_smooth_everywhere and self.function.kinks is not None

    def _lowest_value(self, planes: Planes, lo: FloatArray, hi: FloatArray) -> tuple[float, float]:
        """Return about f at the point of a single plane, and the plane's least value on the box."""
        value, slope = planes.value[0][0], planes.slope[0]
        if not (planes.known[0] and np.isfinite(slope).all()):
            return float(value), -np.inf
        return float(value), float(value) - slack(planes.points[0], slope[0], lo, hi)

    def _smooth(self, points: FloatArray, boxes: Boxes, known: Known) -> BoolArray:
        """Return which points certainly lie in their boxes, and f is smooth there."""
        inside: BoolArray = np.all((boxes.lo <= points) & (points <= boxes.hi), axis=1)
        if self.function.is_smooth_everywhere:
            return inside
        return inside & self.function.fact_arrays(points, points, threads=known.threads)[1]

    def _points(self, boxes: Boxes, *, alone: bool) -> FloatArray:
        """Return about where f is smallest in each box."""
        lo, hi = boxes.ends
        middle = at_fraction(lo, hi, 0.5)
        if alone:
            start = middle[0] if self._lowest is None else np.clip(self._lowest, lo[0], hi[0])
            most = _BEFORE_MIXING if self._mixes else MOST_GRADIENTS
            found = minimised(self.function, start, lo[0], hi[0], most)[None]
            if self._lowest is None:
                self._lowest = found[0]
            return found
        start = middle if self._lowest is None else np.clip(self._lowest, lo, hi)
        return improved(self.function, start, lo, hi)


def _level(limit: float, value: float) -> float:
    """Return what f may be at most, so that it is not more at a point with this value; NaN if that is no number."""
    return float(np.maximum(limit, value))


def _finite(points: FloatArray) -> FloatArray:
    """Return points of boxes that may reach to infinity, none of them there."""
    return np.clip(points, -_LARGEST, _LARGEST)


def convex(function: Function) -> Contractor | None:
    """Return the contractor of a function that is convex on some boxes, None where none could be known to be."""
    return Convex(function) if function.may_be_convex else None

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
from infimum.contractors.minimiser import improved, minimised, slack
from infimum.fractions import at_fraction
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function

_BESIDE = 2.0**-36  # of the size of a point: how far from a kink it is moved
_LITTLE = 2.0**-31  # of the value: what a plane on a single box lacks, where another one is not worth looking for
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

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
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
        points = self._points(boxes, alone=alone)
        smooth = self._smooth(points, boxes, known)
        if not smooth.all():  # beside a kink a plane may be hardly worse
            away = _BESIDE * np.maximum(np.abs(points), 2.0**-20) * (1.0 + np.arange(points.shape[1]) % 7)
            beside = np.where(points + away <= boxes.hi, points + away, points - away)
            points = np.where(smooth[:, None], points, np.clip(beside, boxes.lo, boxes.hi))
            smooth = self._smooth(points, boxes, known)
        value = self.function.range_ends(points, points, threads=known.threads)
        slope = self.function.gradient_ends(points, points, threads=known.threads)
        planes = Planes(points, value, slope, smooth)
        if alone:
            planes = self._mixed(planes, boxes, known)
        known.offer(points[smooth & (value[1] < known.limits(boxes))][:_FIRST])
        if alone:
            self._last = boxes.ends, planes
        return planes

    def _mixed(self, planes: Planes, boxes: Boxes, known: Known) -> Planes:
        """Return a plane whose slope mixes those around a kink, where it is higher on a single box."""
        lo, hi = boxes.ends
        if self.function.is_smooth_everywhere or not (np.isfinite(lo).all() and np.isfinite(hi).all()):
            return planes
        value, least = self._lowest_value(planes, lo, hi)
        if value - least <= _LITTLE * abs(value):
            return planes
        kinks = self.function.kinks
        found = None if kinks is None else mixed(kinks, planes.points[0], lo[0], hi[0])
        if kinks is None or found is None or not found.least > least:
            return planes
        point = found.point[None]
        value_ends, slope, is_below = kinks.plane(boxes.ends, point, found.s[None], threads=known.threads)
        known.offer(found.lowest[None])
        return Planes(point, value_ends, slope, np.array([True])) if is_below else planes

    def _lowest_value(self, planes: Planes, lo: FloatArray, hi: FloatArray) -> tuple[float, float]:
        """Return about f at the point of a single plane, and the plane's least value on the box."""
        value, slope = planes.value[0][0], planes.slope[0]
        if not (planes.known[0] and np.isfinite(slope).all()):
            return float(value), -np.inf
        return float(value), float(value) - slack(planes.points[0], slope[0], lo[0], hi[0])

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
            found = minimised(self.function, start, lo[0], hi[0])[None]
            if self._lowest is None:
                self._lowest = found[0]
            return found
        start = middle if self._lowest is None else np.clip(self._lowest, lo, hi)
        return improved(self.function, start, lo, hi)


def convex(function: Function) -> Contractor | None:
    """Return the contractor of a function that is convex on some boxes, None where none could be known to be."""
    return Convex(function) if function.may_be_convex else None

"""Convex: where f is convex on a box X, it lies above its tangent planes, and one of them may be all there is to say.

If f is certainly convex on X (passes/convex: the set D of the points of X at which f is defined is convex, and f is
convex on D) and certainly smooth at a point c of X, then for every x in D

    f(x) >= f(c) + f'(c) (x - c),
as t -> f(c + t (x - c)) is convex on [0, 1] with the slope f'(c) (x - c) at 0. Value and slope are enclosed at the
single point c, so that nothing is lost to the width of X: the bound is f(c) - sum of the larger of f'_i(c) (c_i - lo_i)
and f'_i(c) (c_i - hi_i), rounded downward. Where c is a good approximation of the minimiser of f on X it is as good as
the minimum, for one variable as for a million; the same form with f(x) <= upper contracts X (passes/contract/linear_form).

Where c lies is policy (minimiser.py): any point of X at which f is smooth is right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infimum.boxes import BoolArray, Boxes, Ends, FloatArray
from infimum.contractors.known import Known
from infimum.contractors.minimiser import minimised, slack
from infimum.fractions import at_fraction
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function

_BESIDE = 2.0**-40  # of a box's width: how far from a kink a point is moved
_AT_ONCE = 64  # boxes that are asked about first, of a function that is not convex everywhere
_WORTH = 0.05  # of them, that are to be convex for all others to be asked about
_CLOSE = 2.0**-26  # of the value: a bound that leaves nothing to the other contractors


class Tangents(NamedTuple):
    """Planes below f on boxes: a point of each (k, n), the value's ends (k,) and the slope's ends (k, n) there."""

    points: FloatArray
    value: Ends
    slope: Ends


class Convex:
    """Tangent planes where f is convex; other boxes stay as they are. It is made for one function and its search.

    Whatever it remembers of earlier boxes is true of every box within them.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self._region: Ends | None = None  # (n,), on which f is convex
        self._best: FloatArray | None = None  # where f is about smallest on the region
        self._last: tuple[Ends, Tangents] | None = None  # of the last single box
        self._turns, self._skipped = 0, 0

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        whole = np.flatnonzero(~boxes.is_empty())
        active = whole[self._are_convex(boxes[whole], known)] if whole.size else whole
        if not active.size:
            return boxes
        some = boxes[active]
        tangents = self._tangents(some, known)
        smooth = self._smooth(tangents.points, known)
        if not smooth.any():
            return boxes
        active, some = active[smooth], some[smooth]
        points, value, slope = tangents
        limit = known.limits(boxes)
        low, high, bound = form_contraction_ends(
            known.function, some.ends, (slope[0][smooth], slope[1][smooth]), points[smooth],
            (value[0][smooth], value[1][smooth]), limit[active], threads=known.threads,
        )  # fmt: skip
        lo, hi, lower = boxes.lo.copy(), boxes.hi.copy(), boxes.lower.copy()
        lo[active], hi[active] = low, high
        lower[active] = np.fmax(lower[active], bound)
        found = boxes.meet(Boxes(lo, hi, lower))
        return found.emptied(found.lower > limit)

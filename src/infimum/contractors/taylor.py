"""Taylor: what value, slope and second derivatives say of a box; it ends the clusters of boxes around minima.

f(x) >= f(c) + f'(c) (x - c) + (x - c)'H(X)(x - c)/2 for every x of a box X and c in X, where f is C2 on X. What follows
is proved in core/linear/quadratic.h, once f and f' are enclosed at c and H on X:

    what                            because
    a lower bound                   a convex quadratic lies below the form, above one of its tangents
    the points with f(x) <= upper   they lie in an ellipsoid
    X has no minimiser              v'H(X)v < 0 for some v that is 0 along what may reach the domain's edge
    its minimisers lie on a face    H_ii(X) < 0, and along x_i it reaches one edge (edges.py)
    f is convex on X                H(X) is positive semidefinite
Where f is convex, all is told again from about the minimiser on X. There the slope is almost 0, or leads out of X, so
that nothing is lost to the width of X: the bound is the minimum on X, and only where f is almost as low is X kept.

Some contractors say where boxes are to be cut (`Known.hint`), along a few of the variables, as they see through the
others. There nobody would cut a box so small that f is seen to be convex on it. So a few boxes are cut into cells here:
a small search by second order alone, which ends with what is left of them, or gives up.

Boxes on which f is not known to be C2 stay as they are, and so do those with an infinite end: -x^2 has no minimiser on
the line, and its infimum is -inf all the same. Which points are taken for c is policy.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from infimum.backends.linear import box_minimum, quadratic
from infimum.backends.placement import like, to_host
from infimum.boxes import BoolArray, Boxes, Ends, FloatArray, concatenated, is_empty, shrinkage
from infimum.contractors.edges import faces, touched
from infimum.contractors.known import Known
from infimum.contractors.on_host import on_host
from infimum.core.linear import Quadratic
from infimum.fractions import at_fraction
from infimum.function.function import Function

MOST_VARIABLES = 200
_MOST_NUMBERS = 2**21  # in the matrices of a batch
_ELEMENT = 50  # boxes for each element of H, after which a Program of its elements is worth making
_STEPS = 3  # of Newton's
_FEW, _MOST_CELLS, _ROUNDS = 2, 256, 40  # boxes of a turn; cells of a box at a time; times that all are halved
_PAYS = 0.75  # of boxes that are taken away
_NEAR = 0.003  # of the upper bound: a box whose bound is so close to it is cut into cells
_CLOSE = 2.0**-44  # of the upper bound: a cell so close to it is not cut
_OFFERED = 4  # points of a batch
# Of the upper bound; of what a box lacks: a point that is better by more is worth another pass over the batch.
_LITTLE, _MUCH = 1e-13, 0.1


class _Told(NamedTuple):
    """What is told of boxes (k, n).

    left      what is left of them
    bound     f is nowhere below it on the boxes as they were
    ruled     whether points were left out for another reason than their values
    points    with small values
    loss      what each width costs
    """

    left: Boxes
    bound: FloatArray
    ruled: BoolArray
    points: FloatArray
    loss: FloatArray


class Taylor:
    """The contractor of one function in one search."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._seen = 0  # boxes
        self._off, self._next_off = 0, 1  # turns without cells

    @property
    def price(self) -> float:
        """What it costs on a box (trial.py)."""
        n = self.function.n
        curvature = self.function.hessian_cost if self._is_long else None
        own = self.function.hessian_product_cost if curvature is None else curvature
        return (own + 2 * n**3 + 50 * n) / self.function.operations

    @property
    def _is_long(self) -> bool:
        """Whether a Program of the Hessian's elements is worth making: its products serve for a while."""
        return self._seen >= _ELEMENT * self.function.n**2

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every minimiser over the domain with f(x) <= upper, and lower bounds on boxes given."""
        low, high, lower = (array.copy() for array in boxes)
        limit = known.limits(boxes)
        active = np.flatnonzero((np.isfinite(low) & np.isfinite(high) & (low <= high)).all(axis=1))
        active = active[self.function.is_twice_smooth(low[active], high[active], threads=known.threads)]
        self._seen += active.size
        whole = np.zeros_like(lower, dtype=bool)
        each = max(1, _MOST_NUMBERS // boxes.n**2)
        for first in range(0, active.size, each):
            some = active[first : first + each]
            told = self._told(boxes[some], limit[some], known)
            low[some], high[some], lower[some] = told.left
            whole[some] = ~told.ruled & ~told.left.is_empty()
            self._offer(told.points, told.bound, limit[some], known)
        found = Boxes(low, high, lower)
        if not known.has_hints:
            return found
        return on_host(lambda boxes, known: self._cut(boxes, to_host(whole), to_host(limit), known), found, known)

    def _told(self, boxes: Boxes, limit: FloatArray, known: Known) -> _Told:
        """Return what is told of finite boxes on which f is C2."""
        curvature = self._curvature(boxes.ends, known.threads)
        middle = np.clip(at_fraction(*boxes.ends, 0.5), *boxes.ends)
        said = self._said(boxes.ends, middle, curvature, limit, known)
        points, bound = said.points, np.maximum(boxes.lower, said.lower)
        left, ruled = _left(boxes, said, limit, known)
        convex = np.flatnonzero(said.convex & ~left.is_empty())
        if convex.size:
            own = left[convex]
            points[convex] = self._least(own.ends, points[convex])
            ends = curvature[0][convex], curvature[1][convex]
            said = self._said(own.ends, points[convex], ends, limit[convex], known)
            low, high, lower = left.lo.copy(), left.hi.copy(), left.lower.copy()
            (low[convex], high[convex], lower[convex]), more = _left(own, said, limit[convex], known)
            left = Boxes(low, high, lower)
            ruled[convex] = ruled[convex] | more
            # What was cut off the box is above the limit.
            bound[convex] = np.maximum(bound[convex], np.minimum(said.lower, limit[convex]))
        return _Told(left, bound, ruled, points, _losses(boxes.ends, curvature))

    # ------------------------------------------------------------------------------------------ cells
    def _cut(self, boxes: Boxes, whole: BoolArray, limit: FloatArray, known: Known) -> Boxes:
        """Return what is left of a few boxes that are almost closed, and that nobody else cuts along all variables."""
        self._off -= 1
        with np.errstate(all="ignore"):
            near = limit - boxes.lower <= _NEAR * np.abs(limit)
        open_ = np.flatnonzero(whole & near)
        if self._off >= 0 or not 0 < open_.size <= _FEW or not np.isfinite(limit).all():
            return boxes
        low, high, lower = boxes.lo.copy(), boxes.hi.copy(), boxes.lower.copy()
        for k in open_.tolist():
            low[k], high[k], lower[k] = self._in_cells(boxes[k : k + 1], float(limit[k]), known)
        gone = shrinkage((boxes.lo[open_], boxes.hi[open_]), (low[open_], high[open_]))
        paid = float(np.where(is_empty(low[open_], high[open_]), 1.0, gone).mean()) > _PAYS
        self._off, self._next_off = (0, 1) if paid else (self._next_off, 2 * self._next_off + 1)
        return Boxes(low, high, lower)

    def _in_cells(self, box: Boxes, limit: float, known: Known) -> tuple[FloatArray, FloatArray, float]:
        """Return the ends around what is left of one box, searched by second order alone, and a lower bound on it.

        The cells that are left hold every minimiser of the box up to the limit. What is left out for another reason
        than its values counts for the bound.
        """
        cells, least = box, limit
        for _ in range(_ROUNDS):
            found = self._told(cells, np.full(len(cells), limit), known)
            gone = found.left.is_empty()
            least = min(least, float(found.bound[found.ruled].min(initial=np.inf)))
            cells = found.left[~gone]
            if not len(cells):
                return np.full(box.n, np.inf), np.full(box.n, -np.inf), np.inf
            is_open = (cells.lower < limit - _CLOSE * abs(limit))[:, None]
            parts = _halves(cells, np.where(is_open, found.loss[~gone], 0.0))
            if not len(cells) < len(parts) <= _MOST_CELLS:
                break
            cells = parts
        lower = max(float(box.lower[0]), min(least, float(cells.lower.min())))
        return cells.lo.min(0), cells.hi.max(0), lower

    # ------------------------------------------------------------------------------------------ what is known of a box
    def _curvature(self, box: Ends, threads: int) -> Ends:
        """Return the ends of H on boxes on which f is C2."""
        if self._is_long and self.function.hessian_cost is not None:
            return self.function.hessian_ends(*box, threads=threads)
        return self.function.hessian_ends_by_products(*box, threads=threads)

    def _said(self, box: Ends, c: FloatArray, curvature: Ends, limit: FloatArray, known: Known) -> Quadratic:
        """Return what is known of boxes by value and slope at c, and by the curvature on them or around them."""
        value, _ = self.function.range_ends(c, c, threads=known.threads)
        slope = self.function.gradient_ends(c, c, threads=known.threads)
        edge = np.logical_or(*touched(known.domain, *box))
        return quadratic(box, c, value, slope, curvature, edge, limit, threads=known.threads)

    def _least(self, box: Ends, points: FloatArray) -> FloatArray:
        """Return where a function that is convex on boxes is about smallest there (POLICY): Newton's steps."""
        x = np.clip(points, *box)
        (k, n), each = x.shape, like(np.eye(x.shape[1]), x)
        for _ in range(_STEPS):
            slope = self.function.value_and_gradient(x)[1]
            curvature = self.function.hessian_product(np.repeat(x, n, axis=0), np.tile(each, (k, 1))).reshape(k, n, n)
            x = np.clip(x + box_minimum(curvature, slope, box[0] - x, box[1] - x), *box)
        return x

    def _values(self, points: FloatArray) -> FloatArray:
        found: Any = self.function(points)
        return cast(FloatArray, found)

    def _offer(self, points: FloatArray, bound: FloatArray, limit: FloatArray, known: Known) -> None:
        """Propose the best points, where they are better than what is known."""
        value = self._values(points)
        first = np.argsort(value, kind="stable")[:_OFFERED]
        least = np.maximum(_LITTLE * np.abs(limit), _MUCH * (limit - bound))
        gain = np.where(np.isfinite(least), least, 0.0)
        known.offer(points[first[(value < limit - gain)[first]]])


def _losses(box: Ends, curvature: Ends) -> FloatArray:
    """Return by how much the radii of the curvature lower the bounds along each variable (POLICY)."""
    total = np.zeros_like(box[0])
    with np.errstate(all="ignore"):
        radius = 0.5 * box[1] - 0.5 * box[0]
        for j in range(radius.shape[1]):  # not np.sum, whose order varies
            total = total + (curvature[1][:, :, j] - curvature[0][:, :, j]) * radius[:, j : j + 1]
        found: FloatArray = np.nan_to_num(total * radius, nan=0.0, posinf=1e300)
    return found


def _halves(cells: Boxes, loss: FloatArray) -> Boxes:
    """Return both halves of each cell along the variable of the largest loss; those without any stay whole."""
    rows, along = np.arange(len(cells)), loss.argmax(axis=1)
    middle = at_fraction(cells.lo[rows, along], cells.hi[rows, along], 0.5)
    cut = (loss[rows, along] > 0) & (cells.lo[rows, along] < middle) & (middle < cells.hi[rows, along])
    rows, along, middle = rows[cut], along[cut], middle[cut]
    low, high = cells.lo.copy(), cells.hi.copy()
    high[rows, along] = middle
    above = cells[rows]
    lo = above.lo.copy()
    lo[np.arange(rows.size), along] = middle
    return concatenated([Boxes(low, high, cells.lower), Boxes(lo, above.hi, above.lower)])


def _left(boxes: Boxes, said: Quadratic, limit: FloatArray, known: Known) -> tuple[Boxes, BoolArray]:
    """Return what is left of boxes, and from which of them something was taken for another reason than its values."""
    lower = np.maximum(boxes.lower, said.lower)
    found, gone = faces(known.domain, (said.lo, said.hi), said.concave)
    ruled = said.no_minimiser | gone | ((found[0] != said.lo) | (found[1] != said.hi)).any(axis=1)
    after = Boxes(*found, lower)
    return after.emptied(said.no_minimiser | gone | (lower > limit) | after.is_empty()), ruled


def taylor(function: Function) -> Taylor | None:
    """Return the contractor of a function; None where second derivatives are not known, too many, or all constants."""
    if function.n > MOST_VARIABLES or not function.has_second_derivatives or function.quadratic is not None:
        return None
    return Taylor(function)

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

Boxes on which f is not known to be C2 stay as they are, and so do those with an infinite end: -x^2 has no minimiser on
the line, and its infimum is -inf all the same. Which points are taken for c is policy.
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes, Ends, FloatArray
from infimum.contractors.edges import faces, touched
from infimum.contractors.known import Known
from infimum.core.linear import Quadratic, box_minimum, quadratic
from infimum.fractions import at_fraction
from infimum.function.function import Function

MOST_VARIABLES = 200
_MOST_NUMBERS = 2**21  # in the matrices of a batch
_ELEMENT = 50  # boxes for each element of H, after which a Program of its elements is worth making
_STEPS = 3  # of Newton's
_OFFERED = 4  # points of a batch
_LITTLE = 1e-13  # of the upper bound: a point that is better by less is not worth another pass over the batch


class Taylor:
    """The contractor of one function in one search."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._seen = 0  # boxes

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
        each = max(1, _MOST_NUMBERS // boxes.n**2)
        for first in range(0, active.size, each):
            some = active[first : first + each]
            found = self._contracted(Boxes(low[some], high[some], lower[some]), limit[some], known)
            low[some], high[some], lower[some] = found
        return Boxes(low, high, lower)

    def _contracted(self, boxes: Boxes, limit: FloatArray, known: Known) -> Boxes:
        """Return what is left of finite boxes on which f is C2."""
        curvature = self._curvature(boxes.ends, known.threads)
        middle = np.clip(at_fraction(*boxes.ends, 0.5), *boxes.ends)
        said = self._said(boxes.ends, middle, curvature, limit, known)
        found, points = _left(boxes, said, limit, known), said.points
        convex = np.flatnonzero(said.convex & ~found.is_empty())
        if convex.size:
            own = found[convex]
            points[convex] = self._least(own.ends, points[convex])
            ends = curvature[0][convex], curvature[1][convex]
            said = self._said(own.ends, points[convex], ends, limit[convex], known)
            low, high, lower = found.lo.copy(), found.hi.copy(), found.lower.copy()
            low[convex], high[convex], lower[convex] = _left(own, said, limit[convex], known)
            found = Boxes(low, high, lower)
        self._offer(points, limit, known)
        return found

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
        (k, n), each = x.shape, np.eye(x.shape[1])
        for _ in range(_STEPS):
            slope = np.asarray(self.function.value_and_gradient(x)[1])
            curvature = self.function.hessian_product(np.repeat(x, n, axis=0), np.tile(each, (k, 1))).reshape(k, n, n)
            x = np.clip(x + box_minimum(curvature, slope, box[0] - x, box[1] - x), *box)
        return x

    def _offer(self, points: FloatArray, limit: FloatArray, known: Known) -> None:
        """Propose the best points, where they are better than what is known."""
        value = np.asarray(self.function(points))
        first = np.argsort(value, kind="stable")[:_OFFERED]
        gain = np.where(np.isfinite(limit), _LITTLE * np.abs(limit), 0.0)
        known.offer(points[first[(value < limit - gain)[first]]])


def _left(boxes: Boxes, said: Quadratic, limit: FloatArray, known: Known) -> Boxes:
    """Return what is left of boxes."""
    lower = np.maximum(boxes.lower, said.lower)
    found, gone = faces(known.domain, (said.lo, said.hi), said.concave)
    after = Boxes(*found, lower)
    return after.emptied(said.no_minimiser | gone | (lower > limit) | after.is_empty())


def taylor(function: Function) -> Taylor | None:
    """Return the contractor of a function; None where second derivatives are not known, or too many."""
    return Taylor(function) if function.n <= MOST_VARIABLES and function.has_second_derivatives else None

"""Dual: where a function adds up squares, each square is at least a line, and the lines' sum is one function.

f = H(S), S = sum r_j^2 + g, H increasing. For every y: S(x) >= Phi(x) = sum y_j (2 r_j(x) - y_j) + g(x), as
(r_j - y_j)^2 >= 0. What the residuals have in common cancels in Phi, as it does not in S; its curvature is that of the
residuals times y, which is small where the model fits.

    y               what the residuals become at the best point of the box for the model that is linear at its middle:
                    r(c) + J(c)(t radius), t least squares over |t_i| <= 1. Policy: every y is right
    lower bounds    Phi(X), its mean-value form, its Taylor form of second order (passes/outer/lines): the best of them
    what is kept    the points with Phi(x) <= the most that S may be, by both forms, which are linear in x

Guarantee: H is taken through by intervals both ways, so that f(x) <= upper implies Phi(x) <= most(upper), and f is at
least least(b) where S is at least b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.backends.linear import least_squares_box
from infimum.boxes import Boxes, Ends, FloatArray, sums
from infimum.contractors.known import Known
from infimum.contractors.outer.contractor import MOST_ENTRIES, OuterLines, outer_lines
from infimum.fractions import middle
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function
from infimum.function.outer import DualLines, Residuals, dual_lines

_ROUNDS = 30
MOST_VARIABLES = 50  # beyond, its Programs cost more than they bring
_OFFERED = 4  # points of a batch whose squares are looked at
_MUCH = 1e-3  # of what S may be: a point that is better by less is not worth another pass over the batch


@dataclass(frozen=True)
class Dual:
    """Dual lines for one function. Boxes with infinite ends stay as they are."""

    lines: DualLines
    residuals: Residuals
    price: float

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        low, high, lower = (array.copy() for array in boxes)
        limit = known.limits(boxes)
        finite = (np.isfinite(low) & np.isfinite(high) & (low <= high)).all(axis=1)
        active = np.flatnonzero(finite)
        if active.size:
            box, most = (low[active], high[active]), self.lines.most(limit[active])
            c = middle(*box)
            y = self._places(box, c, most, known)
            low[active], high[active], bound = self._contracted(box, c, y, most, known)
            lower[active] = np.maximum(lower[active], self.lines.least(bound))
        found = Boxes(low, high, lower)
        return found.emptied(found.is_empty() | (found.lower > limit))

    def _places(self, box: Ends, c: FloatArray, most: FloatArray, known: Known) -> FloatArray:
        """Return y (k, m), and offer points that have turned out well (POLICY)."""
        threads = known.threads
        with np.errstate(all="ignore"):
            radius = 0.5 * box[1] - 0.5 * box[0]
            r, _, slope = self.residuals.values_and_rest(c, threads=threads)
            scaled = self.residuals.jacobian(c, threads=threads) * radius[:, None, :]
            t, y = least_squares_box(scaled, r, slopes=0.5 * slope * radius, rounds=_ROUNDS, threads=threads)
            first = np.argsort(sums(y * y), kind="stable")[:_OFFERED]
            points = np.clip(c[first] + radius[first] * t[first], box[0][first], box[1][first])
            r, rest, _ = self.residuals.values_and_rest(points, threads=threads)
            value = sums(r * r) + rest
            known.offer(points[value < most[first] - _MUCH * np.abs(most[first])])
        return y

    def _contracted(
        self, box: Ends, c: FloatArray, y: FloatArray, most: FloatArray, known: Known
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ends around the points of each box with Phi(x) <= most, and lower bounds of Phi on the boxes."""
        low, high = box[0].copy(), box[1].copy()
        found = self.lines.ends(*box, c, y, threads=known.threads)
        lower = np.where(found.range[0] <= found.range[1], found.range[0], np.inf)
        some = np.flatnonzero(self.lines.smooth(*box, c, y, threads=known.threads))
        for form in found.forms if some.size else ():
            own, slope, value = ((ends[0][some], ends[1][some]) for ends in (box, form.slope, form.value))
            *after, bound = form_contraction_ends(
                known.function, own, slope, c[some], value, most[some], threads=known.threads
            )
            low[some], high[some] = np.maximum(low[some], after[0]), np.minimum(high[some], after[1])
            lower[some] = np.maximum(lower[some], bound)
        return low, high, lower


def dual(function: Function) -> Dual | OuterLines | None:
    """Return the contractor of a function that adds up squares or their like; None where it would cost too much."""
    if function.n > MOST_VARIABLES:
        return None
    other = outer_lines(function)
    if other is not None:
        return other
    residuals, lines = function.residuals, dual_lines(function)
    if residuals is None or lines is None or residuals.m * function.n > MOST_ENTRIES:
        return None
    return Dual(lines, residuals, lines.operations / function.operations)

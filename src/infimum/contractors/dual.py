"""Dual: where a function adds up squares, each square is at least a line, and the lines' sum is one function.

f = H(S), S = sum r_j^2 + g, H increasing. For every y: S(x) >= Phi(x) = sum y_j (2 r_j(x) - y_j) + g(x), as
(r_j - y_j)^2 >= 0. The residuals' parts in common cancel in Phi as they do not in S: the slope of Phi at c is that of S
where y = r(c), and its curvature is that of the residuals alone, times y, which is small where the model fits.

    y               what the residuals become at the best point of the box of the model that is linear at its middle:
                    r(c) + J(c)(t rad), t least squares over |t_i| <= 1. Policy: every y is right
    lower bounds    Phi(X), the mean-value form, the Taylor form of second order (passes/outer/lines), the best of them
    what is kept    the points with Phi(x) <= the most that S may be: by the backward pass, and by both forms, which are
                    linear in x, with constants that are enclosed
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.boxes import Boxes, Ends, FloatArray, is_empty
from infimum.contractors.known import Known
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function
from infimum.function.outer import DualLines, Residuals, dual_lines

_SWEEPS = 15
MOST_VARIABLES, MOST_ENTRIES = 50, 20_000  # of the Jacobian; beyond, its Programs cost more than they bring


@dataclass(frozen=True)
class Dual:
    """Dual lines for one function. Boxes with infinite ends stay as they are."""

    lines: DualLines
    residuals: Residuals
    with_second: bool = True
    with_hc4: bool = True
    with_forms: bool = True

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        finite = (np.isfinite(boxes.lo) & np.isfinite(boxes.hi)).all(axis=1)
        active = np.flatnonzero(finite & ~boxes.is_empty())
        if not active.size:
            return boxes
        box, limit = boxes[active], known.limits(boxes)[active]
        c = np.clip(0.5 * box.lo + 0.5 * box.hi, box.lo, box.hi)
        y, best = self._places(box.ends, c, known.threads)
        known.offer(best)
        after, lower = self._contracted(box.ends, c, y, self.lines.most(limit), known)
        lower = np.maximum(box.lower, self.lines.least(lower))
        found = box.meet(Boxes(*after, lower))
        found = found.emptied(found.is_empty() | (found.lower > limit))
        low, high, bound = (array.copy() for array in boxes)
        low[active], high[active], bound[active] = found
        return Boxes(low, high, bound)

    def _places(self, box: Ends, c: FloatArray, threads: int) -> tuple[FloatArray, FloatArray]:
        """Return y (k, m), and the points (some, n) whose squares are promising."""
        r = self.residuals.values(c, threads=threads)
        jacobian = self.residuals.jacobian(c, threads=threads)
        with np.errstate(all="ignore"):
            radius = 0.5 * box[1] - 0.5 * box[0]
            scaled = jacobian * radius[:, None, :]
            t = box_least_squares(scaled, r)
            y = r + np.matmul(scaled, t[:, :, None])[:, :, 0]
            y = np.where(np.isfinite(y), y, np.where(np.isfinite(r), r, 0.0))
            points = np.clip(c + radius * t, *box)
            expected = (y * y).sum(axis=1)
            first = np.argsort(expected, kind="stable")[:2]
        return y, points[first]

    def _contracted(
        self, box: Ends, c: FloatArray, y: FloatArray, limit: FloatArray, known: Known
    ) -> tuple[Ends, FloatArray]:
        """Return what is left of boxes where Phi is at most the limit, and lower bounds of Phi on the boxes."""
        once, twice = self.lines.facts(*box, threads=known.threads)
        found = self.lines.ends(*box, c, y, with_second=self.with_second, threads=known.threads)
        lower = np.where(found.on_box[0] <= found.on_box[1], found.on_box[0], np.inf)
        low, high = box[0].copy(), box[1].copy()
        forms = [(once, found.slopes_on_box, found.at_centre)]
        if found.second_order is not None:
            form = found.at_centre, found.second_order
            forms.append((twice, found.slopes_at_centre, _added(*form)))
        for smooth, slope, value in forms:
            some = np.flatnonzero(smooth)
            if not some.size:
                continue
            own = tuple(end[some] for end in slope)
            whole = tuple(end[some] for end in box)
            level = limit[some] if self.with_forms else np.full(len(some), np.inf)
            after = form_contraction_ends(
                known.function, whole, own, c[some], tuple(end[some] for end in value), level, threads=known.threads
            )
            low[some], high[some] = np.maximum(low[some], after[0]), np.minimum(high[some], after[1])
            lower[some] = np.maximum(lower[some], after[2])
        if self.with_hc4:
            some = np.flatnonzero((lower <= limit) & ~is_empty(low, high) & (limit < np.inf))
            if some.size:
                after = self.lines.contraction_ends(low[some], high[some], y[some], limit[some], threads=known.threads)
                low[some], high[some] = np.maximum(low[some], after[0]), np.minimum(high[some], after[1])
        return (low, high), lower


def _added(a: Ends, b: Ends) -> Ends:
    """Return ends around the sums, each rounded outward by a neighbour: nearest rounding errs by less."""
    return np.nextafter(a[0] + b[0], -np.inf), np.nextafter(a[1] + b[1], np.inf)


def box_least_squares(a: FloatArray, r: FloatArray, sweeps: int = _SWEEPS) -> FloatArray:
    """Return about the t (k, n) in [-1, 1] that make |r + A t| least, by sweeps over the coordinates (POLICY)."""
    gram, right = np.matmul(a.transpose(0, 2, 1), a), np.matmul(a.transpose(0, 2, 1), r[:, :, None])[:, :, 0]
    n = a.shape[2]
    t = np.zeros_like(right)
    diagonal = np.einsum("kii->ki", gram)
    scale = np.where(diagonal > 0, 1.0 / diagonal, 0.0)
    for _ in range(sweeps):
        for i in range(n):
            slope = right[:, i] + (gram[:, i] * t).sum(axis=1)
            t[:, i] = np.clip(t[:, i] - slope * scale[:, i], -1.0, 1.0)
    return np.where(np.isfinite(t), t, 0.0)


def dual(function: Function) -> Dual | None:
    """Return the contractor of a function that adds up squares; None where it would cost more than it brings."""
    residuals, lines = function.residuals, dual_lines(function)
    if residuals is None or lines is None:
        return None
    if function.n > MOST_VARIABLES or residuals.m * function.n > MOST_ENTRIES:
        return None
    return Dual(lines, residuals)

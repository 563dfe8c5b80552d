"""NullSpace: a fit's lower bound over some of its parameters, whatever the others are.

Vectors y(p) that are orthogonal to all that the other parameters can change give sum r_k^2 >= 2 y'r - |y|^2, in which
those do not occur. How they are found depends on the residuals:

    residuals                      y                             file
    quotients of polynomials       D(p) u                        ratio_dual.py
    exponentials, waves on grids   filters of v, p their numbers  shift_dual.py
    step                           why it is below S = sum r_k^2 + g
    2 y'r - |y|^2                  for every y, orthogonal or not; what the others add to y'r is 0, or slack
    a vertex                       G is enclosed at doubles of p, or of z; NaN and no value count as -inf
    the least of the vertices      G is concave in each p_i, or z_i, alone, with the same u, or v, at all of them
    less twice the slack           over the whole box, and |c| up to its ends there; rounded down
    H                              does not fall: taken through by intervals
A box is contracted to nothing where its bound is above what f may be; cuts are proposed in p alone, as long as the p of
the box are what keeps the bound low.
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes
from infimum.contractors.fits.descent import least_in_boxes
from infimum.contractors.fits.ratio_dual import RatioDual
from infimum.contractors.fits.shift_dual import ShiftDual
from infimum.contractors.fits.size import small_fit
from infimum.contractors.known import Known
from infimum.fractions import at_fraction
from infimum.function.function import Function
from infimum.function.outer import DualLines, Residuals

_STEPS = 20
_OFFERED = 2
_CLOSE = 1e-7  # relative


class NullSpace:
    """The null-space dual of one function. Boxes with infinite ends of p stay as they are."""

    def __init__(self, dual: RatioDual | ShiftDual, residuals: Residuals, lines: DualLines) -> None:
        self.dual = dual
        self.residuals = residuals
        self.lines = lines

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return the boxes with better lower bounds; empty where they are above what f may be."""
        own = self.dual.parameters
        finite = (np.isfinite(boxes.lo[:, own]) & np.isfinite(boxes.hi[:, own])).all(axis=1)
        active = np.flatnonzero(finite & ~boxes.is_empty() & (known.limits(boxes) < np.inf))
        if not active.size:
            return boxes
        lo, hi = boxes.lo[active], boxes.hi[active]
        with np.errstate(all="ignore"):
            known_of = self.dual.bounds(lo, hi, known.threads)
        limit = known.limits(boxes)[active]
        found = boxes.lower.copy()
        found[active] = np.maximum(found[active], self.lines.least(known_of.least))
        weights = np.zeros_like(lo)
        weights[:, own] = np.maximum(np.where(np.isfinite(known_of.costs), known_of.costs, 0.0), 1e-300)
        # Where the other parameters, if free, do better than what is known, it is their ranges that count, not p.
        most = self.lines.most(limit)
        with np.errstate(all="ignore"):
            is_free = known_of.values < most - _CLOSE * np.abs(most)
        known.hint(boxes[active], np.where(is_free[:, None], np.nan, weights))
        self._offer(lo, hi, known_of.least, known)
        return boxes.with_lower(found).emptied(found > known.limits(boxes))

    def _offer(self, lo: np.ndarray, hi: np.ndarray, least: np.ndarray, known: Known) -> None:
        """Propose where the squares are least in the most promising boxes."""
        some = np.argsort(least, kind="stable")[:_OFFERED]
        start = at_fraction(lo[some], hi[some], 0.5)
        if not np.isfinite(start).all():
            return
        x, _, _ = least_in_boxes(self.residuals, lo[some], hi[some], start, _STEPS, threads=known.threads)
        known.offer(x)


def nullspace(function: Function) -> NullSpace | None:
    """Return the contractor of a fit whose residuals have orthogonal vectors; None where none are found."""
    fit = small_fit(function)
    if fit is None:
        return None
    residuals, lines = fit
    ratios, shifts = function.ratios, function.shifts
    if ratios is not None:
        dual = RatioDual(ratios)
        if dual.is_usable:
            return NullSpace(dual, residuals, lines)
    return None if shifts is None else NullSpace(ShiftDual(shifts), residuals, lines)

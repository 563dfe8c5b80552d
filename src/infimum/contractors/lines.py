"""Lines: a linear function below f on each box, made by going from f through its graph back to x.

f(x) >= value + A x (function/lines). Its least value bounds f, and as f(x) <= upper implies value + A x <= upper,
it contracts the box. A box takes some thirty times as long as with the contractors that always run, so that it is for
functions of which those see little, as networks: it does not run unless it is named.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.fractions import middle
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function
from infimum.function.lines.programs import GraphLines, graph_lines
from infimum.interval import Interval

MOST_VARIABLES = 64


@dataclass(frozen=True)
class Lines:
    """Linear functions below one function. Boxes with infinite ends stay as they are."""

    lines: GraphLines

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        low, high, lower = (array.copy() for array in boxes)
        limit = known.limits(boxes)
        active = np.flatnonzero((np.isfinite(low) & np.isfinite(high) & (low <= high)).all(axis=1))
        if active.size:
            box = low[active], high[active]
            at = middle(*box)
            found = self.lines.below(*box, at, threads=known.threads)
            own = np.flatnonzero(np.isfinite(np.column_stack(found)).all(1))
            some = active[own]
            slope = Interval(found.slope[own]) + Interval(-found.radius[own], found.radius[own])
            start = (found.value[own] + np.sum(slope * at[own], axis=1)).lo
            *after, bound = form_contraction_ends(
                known.function, (box[0][own], box[1][own]), (slope.lo, slope.hi), at[own], (start, start), limit[some],
                threads=known.threads,
            )  # fmt: skip
            low[some], high[some] = np.maximum(low[some], after[0]), np.minimum(high[some], after[1])
            lower[some] = np.fmax(lower[some], bound)
        left = Boxes(low, high, lower)
        return left.emptied(left.is_empty() | (lower > limit))


def lines(function: Function) -> Lines | None:
    """Return the contractor of a function of few variables, None where it is too large."""
    if function.n > MOST_VARIABLES:
        return None
    found = graph_lines(function)
    return None if found is None else Lines(found)

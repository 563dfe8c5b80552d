"""Lines: a linear function below f on each box, made by going from f through its graph back to x.

f(x) >= value + A x (function/graph_lines). Its least value bounds f, and as f(x) <= upper implies value + A x <= upper,
it contracts the box. The way down is gone twice: the lines of the first touch f's graph where x is the middle of the box,
those of the second where x is half way to the corner at which the first linear function is least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.backends.placement import like, to_host
from infimum.boxes import Boxes, FloatArray
from infimum.contractors.known import Known
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function
from infimum.function.graph_lines import GraphLines, graph_lines
from infimum.interval import Interval

MOST_VARIABLES = 64
_WAYS = 2


@dataclass(frozen=True)
class Lines:
    """Linear functions below one function. Boxes with infinite ends stay as they are."""

    lines: GraphLines
    price: float

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        low, high, lower = (to_host(array).copy() for array in boxes)
        limit = to_host(known.limits(boxes))
        active = np.flatnonzero((np.isfinite(low) & np.isfinite(high) & (low <= high)).all(axis=1))
        if active.size:
            box, at = (low[active], high[active]), _middle(low[active], high[active])
            for _ in range(_WAYS):
                found = self.lines.below(*box, at, threads=known.threads)
                lower[active[found.value == np.inf]] = np.inf
                own = np.flatnonzero(np.isfinite(np.column_stack(found)).all(1))
                some, around = active[own], Interval(-found.radius[own], found.radius[own])
                slope = found.slope[own] + around
                start = (found.value[own] + np.sum(slope * at[own], axis=1)).lo
                *after, bound = form_contraction_ends(
                    known.function, (box[0][own], box[1][own]), (slope.lo, slope.hi), at[own], (start, start),
                    limit[some], threads=known.threads,
                )  # fmt: skip
                low[some], high[some] = np.maximum(low[some], after[0]), np.minimum(high[some], after[1])
                lower[some] = np.fmax(lower[some], bound)
                corner = np.where(found.slope > 0, box[0], np.where(found.slope < 0, box[1], at))
                at = np.clip(0.5 * at + 0.5 * corner, *box)
        found_boxes = Boxes(*(like(array, boxes.lo) for array in (low, high, lower)))
        return found_boxes.emptied(found_boxes.is_empty() | (found_boxes.lower > like(limit, boxes.lo)))


def _middle(lo: FloatArray, hi: FloatArray) -> FloatArray:
    middle: FloatArray = np.clip(0.5 * lo + 0.5 * hi, lo, hi) + 0.0
    return middle


def lines(function: Function) -> Lines | None:
    """Return the contractor of a function of few variables; None where it would cost more than it brings."""
    if function.n > MOST_VARIABLES:
        return None
    found = graph_lines(function)
    return None if found is None else Lines(found, 4.0 * found.operations / function.operations)

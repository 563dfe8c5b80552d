"""MeanValue: f(x) lies in f(c) + f'(X) (x - c) for every x in a box X and c in X, where f is smooth.

The centre is policy: any point of the box is right. The lower bound is best, for slopes [l, u] and X_i = [a, b], at

    0 <= l       a
    u <= 0       b
    l < 0 < u    (u a - l b) / (u - l)
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes, Ends, FloatArray
from infimum.contractors.known import Known
from infimum.function.expression import form_contraction_ends


class MeanValue:
    """The mean-value form. Boxes on which f is not smooth stay as they are, and so do their bounds."""

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        low, high = boxes.lo.copy(), boxes.hi.copy()
        lower, limit = boxes.lower.copy(), known.limits(boxes)
        whole = np.flatnonzero(~boxes.is_empty())
        some = boxes[whole]
        is_smooth = known.smooth(some)
        active = whole[is_smooth]
        if active.size:
            box, slopes = some[is_smooth].ends, known.gradient(some)
            slope = slopes[0][is_smooth], slopes[1][is_smooth]
            c = centre(box, slope)
            value = known.function.range_ends(c, c, threads=known.threads)
            low[active], high[active], bound = form_contraction_ends(
                known.function, box, slope, c, value, limit[active], threads=known.threads
            )
            lower[active] = np.maximum(lower[active], bound)
        found = boxes.meet(Boxes(low, high, lower))
        return found.emptied(found.lower > limit)


def centre(box: Ends, slope: Ends) -> FloatArray:
    """Return the point of each box that makes the lower bound highest; the middle where no slope is known."""
    (a, b), (low, high) = box, slope
    a, b = np.maximum(a, -np.finfo(np.float64).max), np.minimum(b, np.finfo(np.float64).max)
    with np.errstate(all="ignore"):
        between = (high * a - low * b) / (high - low)
        between = np.where(np.isfinite(between), between, 0.5 * a + 0.5 * b)
    found = np.where(low >= 0, a, np.where(high <= 0, b, between))
    clipped: FloatArray = np.clip(found, a, b)
    return clipped

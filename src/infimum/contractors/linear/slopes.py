"""LayerSlopes: behind a regular linear layer, a minimiser inside the domain has the gradient 0 in y as well.

f(x) = g(A x + b) has the gradient A^T g'(y), and where A is regular this is 0 only where g'(y) is. So a slice of Y, all
of it but for one component near its upper or its lower end, holds no such minimiser if the slope along that component
is not 0 anywhere in it. Hulls of level sets lose a factor of about the square root of n on their way from y back to x;
slices make good for it at the price of one gradient for each.

    needed                                                        why
    g reads x through y only, A is square, |I - C A| sums < 1     C A is regular, and so is A
    the box does not reach the domain's edge                      a minimiser there has no slope
    g is smooth on Y                                              its gradient exists
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes, Ends, is_empty, met
from infimum.contractors.edges import touched
from infimum.contractors.known import Known
from infimum.contractors.linear.layer import LinearLayer

_LEFT = (2.0**-8, 2.0**-8, 0.25, 2.0**-8, 0.25, 0.25)  # of a component, where both slices go, round by round
_NARROW = 2.0**-16  # relative: such boxes are left alone
_MOST_NUMBERS = 2**23  # in all the slices of a box
_MOST_BOXES = 16


class LayerSlopes:
    """Slices of y cut off by their slopes, and x contracted from what is left of y."""

    def __init__(self, layer: LinearLayer) -> None:
        self.layer = layer

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every minimiser over the domain that lies in each box, with a value up to `upper`."""
        layer = self.layer
        if not layer.is_regular or layer.reads_x or 2 * layer.n**2 > _MOST_NUMBERS or len(boxes) > _MOST_BOXES:
            return boxes
        low, high, limit = boxes.lo.copy(), boxes.hi.copy(), known.limits(boxes)
        at_lower, at_upper = touched(known.domain, *boxes.ends)
        for i in np.flatnonzero(~(at_lower | at_upper).any(1) & ~boxes.is_empty()):
            box = boxes.lo[i : i + 1], boxes.hi[i : i + 1]
            y = layer.behind(Boxes(*box), known.under(limit[i : i + 1]))
            if is_empty(*y).all() or not self._is_smooth(y, known.threads):
                continue
            for left in _LEFT:
                if _is_narrow(box):
                    break
                y = self._sliced(y, left, known.threads)
                box = met(box, layer.preimage(box, y))
            low[i], high[i] = box[0][0], box[1][0]
        return Boxes(low, high, boxes.lower)

    def _is_smooth(self, y: Ends, threads: int) -> bool:
        inner = self.layer.inner
        return inner.is_smooth_everywhere or bool(inner.fact_arrays(*y, threads=threads)[1].all())

    def _sliced(self, y: Ends, left: float, threads: int) -> Ends:
        """Return one box of y without the slices that have a slope."""
        (lo,), (hi,) = y
        each = np.arange(lo.size)
        with np.errstate(over="ignore"):
            middle, reach = 0.5 * lo + 0.5 * hi, left * (0.5 * hi - 0.5 * lo)
        cut_lo, cut_hi = np.clip(middle - reach, lo, hi), np.clip(middle + reach, lo, hi)
        low, high = np.tile(lo, (2 * lo.size, 1)), np.tile(hi, (2 * lo.size, 1))
        low[each, each], high[lo.size + each, each] = cut_hi, cut_lo
        slopes = self.layer.inner.gradient_ends(low, high, threads=threads)
        steep = (slopes[0] > 0) | (slopes[1] < 0)
        upper, lower = steep[each, each], steep[lo.size + each, each]
        return np.where(lower, cut_lo, lo)[None], np.where(upper, cut_hi, hi)[None]


def _is_narrow(box: Ends) -> bool:
    """Say whether there is nothing left to do: an empty box is narrow as well."""
    return not (box[1] - box[0] > _NARROW * np.maximum(1.0, np.abs(box[0]))).any()

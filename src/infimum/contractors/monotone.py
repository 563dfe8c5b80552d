"""Monotone: where a function rises along a variable all over a box, its minimisers there lie at the domain's edge.

    slope on a smooth box    the domain's lower edge is    what is left
    > 0                      not reached                   nothing: values fall further, outside the box
    > 0                      reached                       the edge
    any other                                              the box as it was
and mirrored. The edge is the user's.
"""

from __future__ import annotations

import numpy as np

from infimum.backends.placement import like
from infimum.boxes import Boxes, is_empty
from infimum.contractors.edges import touched
from infimum.contractors.known import Known


class Monotone:
    """The gradient's signs. Boxes on which f is not smooth stay as they are."""

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every minimiser over the domain that lies in each box."""
        lo, hi = boxes.ends
        empty = boxes.is_empty()
        certain = (known.smooth(boxes) & ~empty)[:, None]
        slope_lo, slope_hi = known.gradient(boxes)
        rising, falling = certain & (slope_lo > 0), certain & (slope_hi < 0)
        at_lower, at_upper = touched(known.domain, lo, hi)
        nothing = ((rising & ~at_lower) | (falling & ~at_upper)).any(axis=1) | empty
        edges = like(known.domain.inner_lo, lo), like(known.domain.inner_hi, lo)
        high = np.where(rising & np.isfinite(edges[0]), np.minimum(hi, edges[0]), hi)
        low = np.where(falling & np.isfinite(edges[1]), np.maximum(lo, edges[1]), lo)
        return Boxes(low, high, boxes.lower).emptied(nothing | is_empty(low, high))

"""Inside: what closes boxes for S closes them for f = H(S), where H does not fall: log of a sum of squares, -exp(-S).

f(x) <= upper implies S(x) <= most(upper), so that every point which is to stay for f is kept where S is contracted to
that level; and where S is at least b, f is at least least(b). Both are intervals taken through H (function/inner.py).
Contractors that keep minimisers alone are not for S: f may be undefined where S is smallest, as log and roots are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from infimum.boxes import Boxes
from infimum.contractors.contractor import Contractor
from infimum.contractors.enclosure import Enclosure
from infimum.contractors.known import Known
from infimum.function.function import Function
from infimum.function.inner import Inner, inner

Make = Callable[[Function], Contractor | None]


@dataclass(frozen=True)
class Inside:
    """A contractor made for S, for f = H(S); one that keeps every point up to the level."""

    contractor: Contractor
    inner: Inner

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        limit = known.limits(boxes)
        boxes = Enclosure().contract(boxes, known)  # f may be defined nowhere in some, where S is
        most = self.inner.most(limit)
        own = Known(self.inner.function, known.domain, most.max(initial=-np.inf), known.threads)  # one for all boxes
        nothing = np.full(len(boxes), -np.inf)
        found = self.contractor.contract(Boxes(boxes.lo, boxes.hi, nothing), own)
        for points in own.offered():
            known.offer(points)
        lower = np.maximum(boxes.lower, self.inner.least(found.lower))
        return Boxes(found.lo, found.hi, lower).emptied(found.is_empty() | (lower > limit))


def with_inside(make: Make, make_inside: Make) -> Make:
    """Return how a contractor is made for a function, or, the other way, for what it is an increasing function of."""

    def made(function: Function) -> Contractor | None:
        found = make(function)
        below = inner(function) if found is None else None
        inside = None if below is None else make_inside(below.function)
        return found if below is None or inside is None else Inside(inside, below)

    return made

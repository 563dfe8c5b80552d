"""Level: keep the points at which a function is at most a given number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.boxes import Boxes, emptied, is_empty, shrinkage
from infimum.contractors.known import Known


@dataclass(frozen=True)
class Level:
    """HC4 on f(x) <= upper, repeated as long as a pass takes `least` of a box away, `passes` times at most."""

    passes: int = 20
    least: float = 0.05

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and the lower bounds found on the way."""
        low, high, limit = boxes.lo.copy(), boxes.hi.copy(), known.limits(boxes)
        nothing = boxes.is_empty()
        lower = boxes.lower.copy()
        lower[nothing] = np.inf
        active = np.flatnonzero(~nothing)
        for _ in range(self.passes):
            if not active.size:
                break
            at = slice(None) if active.size == len(low) else active  # most often all of them: nothing need be copied
            before, most = (low[at], high[at]), limit[at]
            found = known.function.contraction_ends(*before, most, threads=known.threads)
            after = np.maximum(before[0], found[0]), np.minimum(before[1], found[1])
            nothing = is_empty(*after) | ~(found[2] <= np.minimum(found[3], most))
            gone = np.where(nothing, 1.0, shrinkage(before, after))
            low[at], high[at] = emptied(*after, nothing)
            lower[at] = np.where(nothing, np.inf, np.maximum(lower[at], found[2]))
            active = active[~nothing & (gone >= self.least)]
        return Boxes(low, high, lower)

"""Boxes with their lower bounds, the best first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infimum.boxes import Boxes, FloatArray, concatenated, no_boxes, without_nan


class Pool:
    """Boxes with lower bounds; what is added stays until it is taken, or found above the upper bound."""

    def __init__(self, n: int) -> None:
        self._parts: list[Boxes] = []
        self._n = n
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, boxes: Boxes) -> None:
        """Keep these boxes as well. A bound that is no number says nothing."""
        if len(boxes):
            self._parts.append(boxes.with_lower(without_nan(boxes.lower)))
            self._count += len(boxes)

    def all(self) -> Boxes:
        """Return every box."""
        if not self._parts:
            return no_boxes(self._n)
        self._parts = [concatenated(self._parts)]
        return self._parts[0]

    def take(self, most: int) -> Boxes:
        """Remove and return up to `most` boxes, those with the smallest lower bounds; of equal ones, the oldest."""
        boxes = self.all()
        order = np.argsort(boxes.lower, kind="stable")
        rest = np.sort(order[most:])
        self._parts, self._count = ([boxes[rest]] if len(rest) else []), len(rest)
        return boxes[order[:most]]

    def lowest(self) -> float:
        """Return the smallest lower bound, +inf where there is no box."""
        return min((float(boxes.lower.min()) for boxes in self._parts), default=np.inf)

    def drop_above(self, upper: float) -> None:
        """Forget boxes whose lower bound is above `upper`."""
        if any((boxes.lower > upper).any() for boxes in self._parts):
            boxes = self.all()
            self._parts, self._count = [], 0
            self.add(boxes[boxes.lower <= upper])

    def parts_up_to(self, upper: float) -> list[Boxes]:
        """Return the boxes whose lower bounds are at most `upper`, in their order, in pieces."""
        return [part if (kept := part.lower <= upper).all() else part[kept] for part in self._parts]


def written(pools: Sequence[Pool], n: int, upper: float) -> tuple[FloatArray, FloatArray]:
    """Return boxes (k, n, 2) of n variables with lower bounds (k,) of at most `upper`, from all pools; once copied."""
    parts = [part for pool in pools for part in pool.parts_up_to(upper)]
    ends = np.empty((sum(map(len, parts)), n, 2))
    first = 0
    for part in parts:
        ends[first : first + len(part), :, 0], ends[first : first + len(part), :, 1] = part.ends
        first += len(part)
    return ends, np.concatenate([part.lower for part in parts] or [np.empty(0)])

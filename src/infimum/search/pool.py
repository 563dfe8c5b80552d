"""Boxes with their lower bounds, the best first; they lie in the core's memory (core/pool.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes, FloatArray
from infimum.core import pool as core

IndexArray = npt.NDArray[np.int64]

_AT_ONCE = 2**18  # numbers of ends of one kind that are written down at a time


class Pool:
    """Boxes with lower bounds; what is added stays until it is taken, or found above the upper bound."""

    def __init__(self, n: int, threads: int = 1) -> None:
        self._n = n
        self._boxes = core.Pool(n, threads)

    def __len__(self) -> int:
        return len(self._boxes)

    def add(self, boxes: Boxes) -> None:
        """Keep these boxes as well. A bound that is no number says nothing."""
        if len(boxes):
            self._boxes.add(*boxes)

    def add_halves(self, boxes: Boxes, sides: IndexArray, at: FloatArray) -> int:
        """Keep boxes cut in two along a side each, whole where the number `at` is not inside it; return the cuts made.

        Both halves share the cut and keep the outer ends and the bound, so that no point is lost.
        """
        lo, hi, lower = boxes
        return self._boxes.add_halves(lo, hi, lower, sides, at) if len(boxes) else 0

    def all(self) -> Boxes:
        """Return every box, the oldest first."""
        return Boxes(*self._boxes.read(np.inf, 0, len(self))[0])

    def take(self, most: int) -> Boxes:
        """Remove and return up to `most` boxes, those with the smallest lower bounds; of equal ones, the oldest."""
        return Boxes(*self._boxes.take(max(0, most)))

    def lowest(self) -> float:
        """Return the smallest lower bound, +inf where there is no box."""
        return self._boxes.lowest()

    def drop_above(self, upper: float) -> None:
        """Forget boxes whose lower bound is above `upper`."""
        self._boxes.drop_above(upper)

    def count_up_to(self, upper: float) -> int:
        """Return how many boxes have a lower bound of at most `upper`."""
        return self._boxes.count_up_to(upper)

    def up_to(self, upper: float) -> Iterator[Boxes]:
        """Yield the boxes whose lower bounds are at most `upper`, the oldest first, some at a time."""
        at, step = 0, max(1, _AT_ONCE // self._n)
        while at < len(self):
            found, at = self._boxes.read(upper, at, step)
            if len(found[2]):
                yield Boxes(*found)


def written(pools: Sequence[Pool], n: int, upper: float) -> tuple[FloatArray, FloatArray]:
    """Return boxes (k, n, 2) of n variables with lower bounds (k,) of at most `upper`, from all pools; once copied."""
    count = sum(pool.count_up_to(upper) for pool in pools)
    ends, bounds = np.empty((count, n, 2)), np.empty(count)
    first = 0
    for pool in pools:
        for part in pool.up_to(upper):
            here = slice(first, first + len(part))
            ends[here, :, 0], ends[here, :, 1], bounds[here] = part
            first += len(part)
    return ends, bounds

"""Boxes with their lower bounds, the best first.

Ends lie in slabs and stay where they are until their box is taken or dropped; then its place is used again. Bounds and
places alone are looked through: the best are selected, not everything sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from infimum.boxes import BoolArray, Boxes, Ends, FloatArray, without_nan

IndexArray = npt.NDArray[np.int64]

_FIRST_SLAB, _MOST_NUMBERS = 64, 2**20  # boxes; ends of one kind in a slab, unless it is of one box
_AT_ONCE = 2**18  # numbers of ends of one kind that are written down at a time


class Pool:
    """Boxes with lower bounds; what is added stays until it is taken, or found above the upper bound."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._clear()

    def _clear(self) -> None:
        self._lower = np.empty(0)  # of each box, the oldest first
        self._place = np.empty(0, np.int64)  # of its ends, in the slabs put one after the other
        self._free = np.empty(0, np.int64)
        self._slabs: list[Ends] = []
        self._starts = np.zeros(1, np.int64)  # of the slabs, and the end of the last

    def __len__(self) -> int:
        return len(self._lower)

    def add(self, boxes: Boxes) -> None:
        """Keep these boxes as well. A bound that is no number says nothing."""
        if not len(boxes):
            return
        while len(self._free) < len(boxes):
            self._enlarge()
        places, self._free = self._free[: len(boxes)], self._free[len(boxes) :]
        for (lo, hi), rows, some in self._rows(places):
            lo[rows], hi[rows] = boxes.lo[some], boxes.hi[some]
        self._lower = np.concatenate([self._lower, without_nan(boxes.lower)])
        self._place = np.concatenate([self._place, places])

    def all(self) -> Boxes:
        """Return every box, the oldest first."""
        return self._boxes(slice(None))

    def take(self, most: int) -> Boxes:
        """Remove and return up to `most` boxes, those with the smallest lower bounds; of equal ones, the oldest."""
        best = _smallest(self._lower, most)
        boxes = self._boxes(best)
        left = np.ones(len(self), bool)
        left[best] = False
        self._keep(left)
        return boxes

    def lowest(self) -> float:
        """Return the smallest lower bound, +inf where there is no box."""
        return float(self._lower.min(initial=np.inf))

    def drop_above(self, upper: float) -> None:
        """Forget boxes whose lower bound is above `upper`."""
        left = ~(self._lower > upper)
        if not left.all():
            self._keep(left)

    def up_to(self, upper: float) -> Iterator[Boxes]:
        """Yield the boxes whose lower bounds are at most `upper`, the oldest first, some at a time."""
        at = np.flatnonzero(self._lower <= upper)
        step = max(1, _AT_ONCE // self._n)
        for first in range(0, len(at), step):
            yield self._boxes(at[first : first + step])

    # ------------------------------------------------------------------------------------------ places
    def _keep(self, left: BoolArray) -> None:
        self._free = np.concatenate([self._place[~left], self._free])
        self._lower, self._place = self._lower[left], self._place[left]
        if not len(self._lower):
            self._clear()

    def _enlarge(self) -> None:
        """Make a slab as large as all others together, within limits."""
        end = int(self._starts[-1])
        size = max(1, min(max(_FIRST_SLAB, end), _MOST_NUMBERS // self._n))
        self._slabs.append((np.empty((size, self._n)), np.empty((size, self._n))))
        self._starts = np.append(self._starts, end + size)
        self._free = np.concatenate([self._free, np.arange(end, end + size)])

    def _boxes(self, some: IndexArray | slice) -> Boxes:
        places = self._place[some]
        found = np.empty((len(places), self._n)), np.empty((len(places), self._n))
        for (lo, hi), rows, at in self._rows(places):
            found[0][at], found[1][at] = lo[rows], hi[rows]
        return Boxes(*found, self._lower[some])

    def _rows(self, places: IndexArray) -> Iterator[tuple[Ends, IndexArray, IndexArray | slice]]:
        """Yield the slabs in which places lie, with the rows there and which of the places these are."""
        if len(self._slabs) == 1:
            yield self._slabs[0], places, slice(None)
            return
        slab = np.searchsorted(self._starts, places, side="right") - 1
        for k in np.unique(slab):
            at = np.flatnonzero(slab == k)
            yield self._slabs[k], places[at] - self._starts[k], at


def _smallest(numbers: FloatArray, most: int) -> IndexArray:
    """Return where up to `most` numbers are smallest, in rising order; of equal ones the first."""
    if most <= 0:
        some = np.empty(0, np.int64)
    elif most < len(numbers):
        pivot = np.partition(numbers, most - 1)[most - 1]
        below = np.flatnonzero(numbers < pivot)
        ties = np.flatnonzero(numbers == pivot)[: most - len(below)]
        some = np.sort(np.concatenate([below, ties]))
    else:
        some = np.arange(len(numbers))
    return some[np.argsort(numbers[some], kind="stable")]


def written(pools: Sequence[Pool], n: int, upper: float) -> tuple[FloatArray, FloatArray]:
    """Return boxes (k, n, 2) of n variables with lower bounds (k,) of at most `upper`, from all pools; once copied."""
    count = sum(int((pool._lower <= upper).sum()) for pool in pools)
    ends, bounds = np.empty((count, n, 2)), np.empty(count)
    first = 0
    for pool in pools:
        for part in pool.up_to(upper):
            here = slice(first, first + len(part))
            ends[here, :, 0], ends[here, :, 1], bounds[here] = part
            first += len(part)
    return ends, bounds

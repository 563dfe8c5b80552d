"""A run whose children are all evaluated: for functions without the structure that staging needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from infimum.boxes import without_nan
from infimum.deadline import ask
from infimum.errors import InvalidOption
from infimum.function.function import Function
from infimum.search.paper.split import Split
from infimum.search.paper.tuning import BATCH, BATCH_ENDS, MOST_CHILDREN

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


class Run(Protocol):
    """The surviving children of a region in the order (lower bound, index); call advance while bound() is finite.

    survivors: how many there were at first
    """

    survivors: int

    def bound(self) -> float: ...
    def advance(self) -> tuple[float, int]: ...
    def left(self) -> tuple[FloatArray, IndexArray]: ...


class EnumeratedRun:
    """The surviving children in the order (lower bound, index), 16 bytes each; call advance while bound() is finite."""

    def __init__(
        self, function: Function, split: Split, lo: FloatArray, hi: FloatArray, upper: float, threads: int = 1
    ) -> None:
        refuse_too_many(split)
        count = children(split)
        found: list[tuple[FloatArray, IndexArray]] = []
        for index in batches(0, count, lo.size):
            bottom, top = function.range_ends(*boxes(split, index, lo, hi), threads=threads)
            bottom = without_nan(bottom)
            keep = ~((bottom > upper) | (bottom > top))
            found.append((bottom[keep], index[keep]))
        bounds = np.concatenate([b for b, _ in found])
        indices = np.concatenate([i for _, i in found])
        order = np.lexsort((indices, bounds))
        self._bounds, self._indices = bounds[order], indices[order]
        self._next, self.survivors = 0, bounds.size

    def bound(self) -> float:
        return float(self._bounds[self._next]) if self._next < self._bounds.size else np.inf

    def advance(self) -> tuple[float, int]:
        """Emit the best child: its lower bound and its index."""
        found = float(self._bounds[self._next]), int(self._indices[self._next])
        self._next += 1
        return found

    def left(self) -> tuple[FloatArray, IndexArray]:
        """Return the lower bounds and the indices of the children not emitted."""
        return self._bounds[self._next :], self._indices[self._next :]


def batches(first: int, last: int, n: int) -> Iterator[IndexArray]:
    """Yield the numbers from first to last, so many at a time that their boxes of n variables fit into memory."""
    size = max(1, min(BATCH, BATCH_ENDS // n))
    for start in range(first, last, size):
        ask()
        yield np.arange(start, min(start + size, last))


def children(split: Split) -> int:
    """Return how many children a split has."""
    return int(split.parts**split.count)


def refuse_too_many(split: Split) -> None:
    """Refuse a split with more children than can be evaluated and kept."""
    count = children(split)
    if count > MOST_CHILDREN:
        raise InvalidOption(
            f"{split.parts} parts of {split.count} variables are {count} children, each of which is "
            f"evaluated for this function. Choose a partition with at most {MOST_CHILDREN}, such as Uniform(4, 10)."
        )


def boxes(split: Split, index: IndexArray, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the boxes (k, n) of the children of [lo, hi] with these numbers."""
    digits, rows = _digits(split, index), np.arange(split.count)
    low, high = np.repeat(lo[None], index.size, 0), np.repeat(hi[None], index.size, 0)
    low[:, split.variables] = split.edges[rows, digits]
    high[:, split.variables] = split.edges[rows, digits + 1]
    return low, high


def _digits(split: Split, index: IndexArray) -> IndexArray:
    """Return the digits (k, P) of the children with these numbers, the first one fastest."""
    found: IndexArray = (index[:, None] // split.parts ** np.arange(split.count)) % split.parts
    return found

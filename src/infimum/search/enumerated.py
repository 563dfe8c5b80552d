"""A run whose children are all evaluated: for functions without the structure that staging needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum.function import Function
from infimum.search.partition import at_fraction
from infimum.search.samples import FRACTIONS
from infimum.search.tables import Split

FloatArray = npt.NDArray[np.float64]

_BATCH = 4096


class EnumeratedRun:
    """The surviving children in the order (lower bound, index), 16 bytes each."""

    def __init__(
        self,
        function: Function,
        split: Split,
        lo: FloatArray,
        hi: FloatArray,
        sample: Callable[[FloatArray], None],
        upper: Callable[[], float],
    ) -> None:
        self.split = split
        self.opened = 0
        count = split.parts**split.count
        found: list[tuple[FloatArray, npt.NDArray[np.int64]]] = []
        for start in range(0, count, _BATCH):
            index = np.arange(start, min(start + _BATCH, count))
            low, high = self._boxes(index, lo, hi)
            sample(_best_sample(function, low, high))
            bottom, top = function.range_ends(low, high)
            keep = (bottom <= upper()) & (bottom <= top)
            found.append((bottom[keep], index[keep]))
        bounds = np.concatenate([b for b, _ in found])
        indices = np.concatenate([i for _, i in found])
        order = np.lexsort((indices, bounds))
        self._bounds, self._indices = bounds[order], indices[order]
        self._next = 0

    def _digits(self, index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return (index[:, None] // self.split.parts ** np.arange(self.split.count)) % self.split.parts

    def _boxes(self, index: npt.NDArray[np.int64], lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
        digits = self._digits(index)
        low, high = np.repeat(lo[None], index.size, 0), np.repeat(hi[None], index.size, 0)
        rows = np.arange(self.split.count)
        low[:, self.split.variables] = self.split.edges[rows, digits]
        high[:, self.split.variables] = self.split.edges[rows, digits + 1]
        return low, high

    def bound(self) -> float:
        return float(self._bounds[self._next]) if self._next < self._bounds.size else np.inf

    def advance(self, upper: float) -> tuple[float, int, tuple[int, ...]] | None:
        index = int(self._indices[self._next])
        bound = float(self._bounds[self._next])
        self._next += 1
        return bound, index, tuple(self._digits(np.array([index]))[0].tolist())

    def prefixes(self) -> list[tuple[float, tuple[int, ...]]]:
        rest = slice(self._next, None)
        digits = self._digits(self._indices[rest]).tolist()
        return [(bound, tuple(d)) for bound, d in zip(self._bounds[rest].tolist(), digits, strict=True)]


def _best_sample(function: Function, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """The best of the children's ten diagonal points, in plain doubles."""
    best, point = np.inf, at_fraction(lo[0], hi[0], 0.5)
    for fraction in FRACTIONS:
        x = at_fraction(lo, hi, float(fraction))
        values = np.asarray(function(x))
        values = np.where(np.isnan(values), np.inf, values)
        at = int(values.argmin())
        if values[at] < best:
            best, point = float(values[at]), x[at]
    return point

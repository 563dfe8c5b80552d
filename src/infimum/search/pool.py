"""Boxes with their lower bounds, the best first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Boxes = tuple[FloatArray, FloatArray, FloatArray]


def known(lower: FloatArray) -> FloatArray:
    """Lower bounds, of which one that is no number says nothing: else comparisons would drop its box without a word."""
    found: FloatArray = np.where(np.isnan(lower), -np.inf, lower) if np.isnan(lower).any() else lower
    return found


class Pool:
    """Boxes (k, n) with lower bounds (k,); what is added stays until it is taken, or found above the upper bound."""

    def __init__(self, n: int) -> None:
        self._parts: list[Boxes] = []
        self._n = n
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, lo: FloatArray, hi: FloatArray, lower: FloatArray) -> None:
        """Keep these boxes as well."""
        if len(lower):
            self._parts.append((lo, hi, known(lower)))
            self._count += len(lower)

    def all(self) -> Boxes:
        """Every box."""
        if not self._parts:
            return np.empty((0, self._n)), np.empty((0, self._n)), np.empty(0)
        if len(self._parts) > 1:
            lo, hi, lower = (np.concatenate([part[i] for part in self._parts]) for i in range(3))
            self._parts = [(lo, hi, lower)]
        return self._parts[0]

    def take(self, most: int) -> Boxes:
        """Remove and hand out up to `most` boxes, those with the smallest lower bounds; of equal ones, the oldest."""
        lo, hi, lower = self.all()
        if len(lower) <= most:
            self._parts, self._count = [], 0
            order = np.argsort(lower, kind="stable")
            return lo[order], hi[order], lower[order]
        order = np.argsort(lower, kind="stable")
        first, rest = order[:most], np.sort(order[most:])
        self._parts, self._count = [(lo[rest], hi[rest], lower[rest])], len(rest)
        return lo[first], hi[first], lower[first]

    def lowest(self) -> float:
        """The smallest lower bound, +inf where there is no box."""
        return min((float(lower.min()) for _, _, lower in self._parts), default=np.inf)

    def drop_above(self, upper: float) -> None:
        """Forget boxes whose lower bound is above `upper`."""
        if any((lower > upper).any() for _, _, lower in self._parts):
            lo, hi, lower = self.all()
            keep = lower <= upper
            self._parts, self._count = [], 0
            self.add(lo[keep], hi[keep], lower[keep])

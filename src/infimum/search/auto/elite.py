"""The best ends of descents, and starts made from them: steps away at all distances, and mixtures (POLICY)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_SIZE = 24  # ends that are kept
_SAME = 1e-6  # of the value: ends that are no farther apart are taken for one
_WIDEST, _NARROWEST = 1.0, 2.0**-10  # steps, as parts of the domain's width


class Elite:
    """Points (k, n) of [lo, hi] of different values (k,), the best first."""

    def __init__(self, lo: FloatArray, hi: FloatArray, draw: np.random.Generator) -> None:
        self.lo, self.hi = lo, hi
        self.draw = draw
        self.x, self.value = np.empty((0, lo.size)), np.empty(0)

    def keep(self, x: FloatArray, value: FloatArray) -> None:
        """Keep the best of these points and those kept so far, one of each value."""
        x, value = np.vstack([self.x, x]), np.concatenate([self.value, value])
        order = np.argsort(value, kind="stable")
        x, value = x[order], value[order]
        new = np.isfinite(value)
        with np.errstate(all="ignore"):
            new[1:] &= ~(value[1:] - value[:-1] <= _SAME * np.abs(value[1:]))
        self.x, self.value = x[new][:_SIZE], value[new][:_SIZE]

    def near(self, count: int, tries: int) -> FloatArray:
        """Return starts (count, tries, n): some variables of a kept point moved, all tries alike and as far."""
        return self._moved(self.x[self._some(count)], tries)

    def mixed(self, count: int, tries: int) -> FloatArray:
        """Return starts (count, tries, n): a stretch of one kept point's variables in another, half of them moved."""
        n = self.lo.size
        first, last = np.sort(self.draw.integers(n + 1, size=(2, count)), axis=0)
        at = np.arange(n)
        own = (first[:, None] <= at) & (at < last[:, None])
        child = np.where(own, self.x[self._some(count)], self.x[self._some(count)])
        moved = self._moved(child, tries)
        return np.where(self.draw.random((count, 1, 1)) < 0.5, child[:, None], moved)

    def _some(self, count: int) -> npt.NDArray[np.int64]:
        """Return which kept points are taken, the better ones more often."""
        return (len(self.x) * self.draw.random(count) ** 2).astype(np.int64)

    def _moved(self, x: FloatArray, tries: int) -> FloatArray:
        count, n = x.shape
        size = _WIDEST * (_NARROWEST / _WIDEST) ** self.draw.random((count, 1))
        moved = self.draw.random((count, n)) < n ** -self.draw.random((count, 1))
        moved[np.arange(count), self.draw.integers(n, size=count)] = True
        with np.errstate(all="ignore"):
            width = np.where(np.isfinite(self.hi - self.lo), self.hi - self.lo, np.maximum(1.0, np.abs(x)))
        reach = np.where(moved, size * width, 0.0)[:, None]
        found = x[:, None] + (2 * self.draw.random((count, tries, n)) - 1) * reach
        return np.clip(found, self.lo, self.hi)

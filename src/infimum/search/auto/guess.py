"""Levels that are guessed: f(x) <= lower + a little (POLICY). A box that a guess empties has its lower bound raised."""

from __future__ import annotations

import numpy as np

from infimum.boxes import BoolArray, FloatArray
from infimum.search.auto.tuning import FIRST_GUESS, LEAST_GUESS, MOST_GUESS
from infimum.search.outcome import Options


class Guess:
    """How far above a lower bound the minimum is guessed to be, relative to the bound."""

    def __init__(self, options: Options) -> None:
        self.size = max(options.ftol / 4, LEAST_GUESS) if options.ftol else FIRST_GUESS
        # | ftol | fatol    | a guess is relative to a bound, or to this where the bound is nearer to zero |
        # | None |          | 1                                                                           |
        # |      | positive | where fatol takes over from ftol                                            |
        # |      | zero     | the upper bound                                                             |
        self._floor = 1.0 if options.ftol is None else options.fatol / (4 * self.size)

    def level(self, lower: FloatArray, upper: float, finer: float = 1.0) -> FloatArray:
        """Return what is guessed for boxes with such lower bounds: a little more, never above the upper bound."""
        with np.errstate(over="ignore"):
            level: FloatArray = np.minimum(lower + self.size * finer * self._scale(lower, upper), upper)
        return level

    def is_settled(self, lower: FloatArray, upper: float) -> BoolArray:
        """Return whether the upper bound is as close to the lower ones as a guess would be."""
        if not np.isfinite(upper):
            return np.zeros(lower.shape, bool)
        settled: BoolArray = upper - lower <= self.size * self._scale(upper, upper) / 4
        return settled

    def shrink(self) -> None:
        """Guess much less from now on."""
        self.size *= 1e-4

    def grow(self) -> None:
        """Guess twice as much from now on."""
        self.size = min(self.size * 2, MOST_GUESS)

    def _scale(self, bound: FloatArray | float, upper: float) -> FloatArray:
        """Return what a guess is relative to."""
        floor = self._floor if self._floor or not np.isfinite(upper) else abs(upper)
        return np.maximum(floor, np.abs(bound))

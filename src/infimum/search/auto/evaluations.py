"""The function in plain doubles, many points at a time, and what that has cost (POLICY)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.deadline import ask
from infimum.function.function import Function
from infimum.search.auto.tuning import SQUARES_UP_TO

FloatArray = npt.NDArray[np.float64]

CALL = 64.0  # values: what a batch costs beside its points


class Evaluations:
    """A function at points in plain doubles.

    count: points; spent: what they have cost, a value at a point being 1.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        found = function.residuals if function.n <= SQUARES_UP_TO else None
        self.squares = found if found is not None and found.is_whole else None
        self.count = 0
        self.spent = 0.0

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.function.n

    def values(self, x: FloatArray) -> FloatArray:
        """Return the values (k,) at points (k, n); NaN where undefined."""
        self._pay(len(x), 1.0)
        return np.asarray(self.function(x), np.float64).reshape(-1)

    def values_and_slopes(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the values (k,) and slopes (k, n) at points (k, n)."""
        self._pay(len(x), 2.0)
        value, slope = self.function.value_and_gradient(x)
        return np.asarray(value), np.asarray(slope)

    def residuals(self, x: FloatArray) -> FloatArray:
        """Return the residuals (k, m) at points (k, n), where there are any."""
        assert self.squares is not None
        self._pay(len(x), 1.0)
        return self.squares.values(x)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Return the residuals' partial derivatives (k, m, n) at points (k, n)."""
        assert self.squares is not None
        self._pay(len(x), 1.0 + self.n / 2)
        return self.squares.jacobian(x)

    def _pay(self, count: int, each: float) -> None:
        ask()
        self.count += count
        self.spent += CALL + count * each

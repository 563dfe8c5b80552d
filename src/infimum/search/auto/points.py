"""Where good points may be, for the default method (POLICY); what is found is proved by the witness."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes
from infimum.deadline import Late
from infimum.domain import Domain
from infimum.function.function import Function
from infimum.search.auto.descent import descended, dived
from infimum.search.auto.evaluations import Evaluations
from infimum.search.auto.least_squares import LevenbergMarquardt
from infimum.search.auto.tuning import (
    DESCENTS,
    LEAST_STEPS,
    MANY_POINTS,
    MOST_STEPS,
    OFFERED,
    POLISH_STEPS,
    POLISH_STEPS_EACH,
    STEP_NUMBERS,
)
from infimum.search.witness import Witness

FloatArray = npt.NDArray[np.float64]


class Points(Witness):
    """The best point so far, with the ways to better ones. Each way says whether it led to one."""

    def __init__(self, function: Function, domain: Domain, threads: int = 1) -> None:
        super().__init__(function, domain)
        self._threads = threads
        self._starts: set[int] = set()

    def offer_best(self, points: FloatArray) -> bool:
        """Offer the best of these points, where plain doubles promise anything."""
        x = np.clip(points, self.domain.inner_lo, self.domain.inner_hi)
        x = x[np.isfinite(x).all(1)]
        if not len(x):
            return False
        before = self.upper
        values = self.values(x)
        for i in _smallest(values, OFFERED):
            if values[i] < self.upper:
                self.offer(x[i])
        return self.upper < before

    def descend(self, starts: FloatArray, boxes: Boxes | None = None) -> str:
        """Offer where local descent leads to from the best starts, in the whole domain: "descent", if it is better.

        boxes, where given, are those around the starts. From a start that no slope leads down from, halving its box is
        tried in place of it: "dive".
        """
        found = ""
        x = np.clip(starts, self.domain.inner_lo, self.domain.inner_hi)
        values = self.values(x)
        for i in _smallest(values, DESCENTS):
            if not np.isfinite(values[i]) or not self._is_new(x[i]):
                continue
            with np.errstate(all="ignore"):
                end = self._descended(x[i])
                if self.offer(end):
                    found = "descent"
                elif boxes is None or (end != x[i]).any():
                    continue
                elif self.offer(dived(self.values, boxes.lo[i], boxes.hi[i])):
                    found = found or "dive"
        return found

    def polish(self, evaluate: Evaluations) -> None:
        """Follow the best point down to its last digits."""
        if self.x is None:
            return
        if evaluate.squares is not None:
            descent = LevenbergMarquardt(evaluate, self.x[None], *self._bounds())
            descent.run(POLISH_STEPS)
            self.offer(descent.x[0])
        if self._is_new(self.x):
            self.offer(self._descended(self.x, max(POLISH_STEPS, POLISH_STEPS_EACH * self.function.n)))

    def _descended(self, start: FloatArray, most: int = MOST_STEPS) -> FloatArray:
        """Return where local descent leads to; offer the best point on its way where there is no time for all of it."""
        best, point = np.inf, start

        def seen(x: FloatArray) -> tuple[float, FloatArray]:
            nonlocal best, point
            value, slope = self._value_and_slope(x)
            if value < best:
                best, point = value, x
            return value, slope

        try:
            return descended(seen, start, *self._bounds(), steps=self._steps(most))
        except Late:
            self.offer(point)
            raise

    def _is_new(self, start: FloatArray) -> bool:
        """Return whether this is the first descent from a point: a second one would end where the first did."""
        known = hash(start.tobytes())
        is_new = known not in self._starts
        self._starts.add(known)
        return is_new

    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.domain.inner_lo, self.domain.inner_hi

    def _steps(self, most: int) -> int:
        """Return the number of steps: fewer for many variables, where each costs as much as a contraction."""
        return max(LEAST_STEPS, min(most, STEP_NUMBERS // self.function.n))

    def values(self, x: FloatArray) -> FloatArray:
        """Return the values (k,) at points (k, n) in plain doubles."""
        self.evaluated += len(x)
        threads = self._threads if len(x) >= MANY_POINTS else 1
        return np.asarray(self.function(x, threads=threads), np.float64).reshape(-1)

    def _value_and_slope(self, x: FloatArray) -> tuple[float, FloatArray]:
        self.evaluated += 1
        value, slope = self.function.value_and_gradient(x)
        return float(value), np.asarray(slope)


def _smallest(values: FloatArray, most: int) -> list[int]:
    """Return where up to `most` values (k,) are smallest, the smallest first; of equal ones the first, NaN last."""
    left = np.where(np.isnan(values), np.inf, values)
    found: list[int] = []
    for _ in range(min(most, len(left))):
        found.append(int(np.argmin(left)))
        left[found[-1]] = np.inf
    return found

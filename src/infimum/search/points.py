"""Where good points may be, for the default method (POLICY); what is found is proved by the witness."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.search.descent import descended
from infimum.search.witness import Witness

FloatArray = npt.NDArray[np.float64]

_OFFERED = 2  # of the points looked at, the best ones
_DESCENTS = 2


class Points(Witness):
    """The best point so far, with the ways to better ones."""

    def offer_best(self, points: FloatArray) -> None:
        """Offer the best of these points, where plain doubles promise anything."""
        x = np.clip(points, self.domain.inner_lo, self.domain.inner_hi)
        x = x[np.isfinite(x).all(1)]
        if not len(x):
            return
        values = np.asarray(self.function(x), np.float64).reshape(-1)
        for i in np.argsort(values, kind="stable")[:_OFFERED]:
            if values[i] < self.upper:
                self.offer(x[i])

    def descend(self, starts: FloatArray) -> None:
        """Offer where local descent leads to from the best starts, in the whole domain."""
        x = np.clip(starts, self.domain.inner_lo, self.domain.inner_hi)
        values = np.asarray(self.function(x), np.float64).reshape(-1)
        for i in np.argsort(values, kind="stable")[:_DESCENTS]:
            if np.isfinite(values[i]):
                with np.errstate(all="ignore"):
                    self.offer(descended(self._value_and_slope, x[i], *self._bounds(), steps=self._steps()))

    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.domain.inner_lo, self.domain.inner_hi

    def _steps(self) -> int:
        """Fewer for many variables, where each costs as much as a contraction."""
        return max(8, min(80, 10_000_000 // self.function.n))

    def _value_and_slope(self, x: FloatArray) -> tuple[float, FloatArray]:
        value, slope = self.function.value_and_gradient(x)
        return float(value), np.asarray(slope)

"""Where good points may be, for the default method (POLICY); what is found is proved by the witness."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.function import Function
from infimum.search.witness import Witness
from infimum.staging.fractions import at_fraction

FloatArray = npt.NDArray[np.float64]

_OFFERED = 2  # of the points looked at, the best ones
_DESCENTS = 2
_STEPS = 60
_WORST = 1e300  # stands for an undefined value where a descent needs a number


class Points(Witness):
    """The best point so far, with the ways to better ones."""

    def look(self, points: FloatArray) -> None:
        """Offer the best of these points, where plain doubles promise anything."""
        x = np.clip(points, self.domain.inner_lo, self.domain.inner_hi)
        x = x[np.isfinite(x).all(1)]
        if not len(x):
            return
        values = np.asarray(self.function(x), np.float64).reshape(-1)
        for i in np.argsort(values, kind="stable")[:_OFFERED]:
            if values[i] < self.upper:
                self.offer(x[i])

    def descend(self, starts: FloatArray, lo: FloatArray, hi: FloatArray) -> None:
        """Offer where L-BFGS-B leads to from the best starts, in the whole domain; nothing without SciPy."""
        try:
            from scipy import optimize  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            return
        x = np.clip(starts, self.domain.inner_lo, self.domain.inner_hi)
        values = np.asarray(self.function(x), np.float64).reshape(-1)
        order = [i for i in np.argsort(values, kind="stable")[:_DESCENTS] if np.isfinite(values[i])]
        bounds = optimize.Bounds(self.domain.inner_lo, self.domain.inner_hi)
        for i in order:
            with np.errstate(all="ignore"):
                found = optimize.minimize(
                    _descent, x[i], (self.function,), "L-BFGS-B", jac=True, bounds=bounds,
                    options={"maxiter": _STEPS, "ftol": 1e-15, "gtol": 1e-10},
                )  # fmt: skip
            self.offer(found.x)

    def probe(self, lo: FloatArray, hi: FloatArray) -> None:
        """Offer points of a box where a condition of the function holds, or fails."""
        for spike in self.spikes:
            found = spike.point(lo, hi, at_fraction(lo, hi, 0.5) if self.x is None else self.x)
            if found is not None:
                self.offer(found)


def _descent(x: FloatArray, function: Function) -> tuple[float, FloatArray]:
    value, slope = function.value_and_gradient(x)
    return (float(value) if np.isfinite(value) else _WORST), np.nan_to_num(np.asarray(slope), posinf=0.0, neginf=0.0)

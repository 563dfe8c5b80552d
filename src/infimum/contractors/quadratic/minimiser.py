"""Where a convex quadratic function is smallest in a box, in plain doubles (POLICY)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.contractors.quadratic.positive import Scaled
from infimum.function.function import Function

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_STEPS = 40
_PATIENCE = 2  # steps without a better bound
_HALVES = 30


class Minimiser:
    """Newton's method for one function, projected on boxes; a factorisation is kept while the free variables stay."""

    def __init__(self, function: Function, matrix: Scaled) -> None:
        self.function = function
        self.matrix = matrix
        self._free: BoolArray | None = None
        self._solve: Any = None

    def point(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """Return the point (n,) of a box at which the tangent gives about the highest bound."""
        x = np.clip(np.where(np.isfinite(lo) & np.isfinite(hi), 0.5 * lo + 0.5 * hi, 0.0), lo, hi)
        best, bound, patience = x, -np.inf, _PATIENCE
        value, slope = self._at(x)
        for _ in range(_STEPS):
            found = value - _slack(slope, x, lo, hi)
            if found > bound:
                best, bound, patience = x, found, _PATIENCE
            elif patience:
                patience -= 1
            else:
                break
            step = self._step(x, slope, lo, hi)
            if step is None or not step.any():
                break
            after = np.clip(x + step, lo, hi)
            whole = np.array_equal(after, x + step)
            for _ in range(0 if whole else _HALVES):
                if self._at(after)[0] < value:
                    break
                step = 0.5 * step
                after = np.clip(x + step, lo, hi)
            x = after
            value, slope = self._at(x)
        return best

    def _at(self, x: FloatArray) -> tuple[float, FloatArray]:
        value, slope = self.function.value_and_gradient(x)
        return float(value), np.asarray(slope)

    def _step(self, x: FloatArray, slope: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray | None:
        """Return a step along the free variables; those along which the function is linear go to their ends."""
        step = np.where(slope > 0, lo - x, np.where(slope < 0, hi - x, 0.0))
        step[~np.isfinite(step)] = 0.0
        kept, exponents, middle, _ = self.matrix
        at_end = ((x <= lo) & (slope >= 0)) | ((x >= hi) & (slope <= 0))
        free = ~at_end[kept]
        step[kept] = 0.0
        if not free.any():
            return step
        if self._free is None or not np.array_equal(free, self._free):
            self._free, self._solve = free, _solver(middle, free)
        if self._solve is None:
            return None
        some = kept[free]
        with np.errstate(all="ignore"):
            own = np.ldexp(self._solve(np.ldexp(-slope[some], exponents[free])), exponents[free])
        step[some] = own
        return step if np.isfinite(own).all() else None


def _slack(slope: FloatArray, x: FloatArray, lo: FloatArray, hi: FloatArray) -> float:
    """Return how far a tangent at x falls within the box."""
    with np.errstate(all="ignore"):
        fall = np.where(slope > 0, slope * (x - lo), slope * (x - hi))
    return float(np.where(np.isfinite(fall), fall, np.abs(slope)).sum())


def _solver(matrix: Any, free: BoolArray) -> Any:
    """Return what solves a system with the free rows and columns; None where they are singular."""
    try:
        if isinstance(matrix, np.ndarray):
            inverse = np.linalg.inv(matrix[np.ix_(free, free)])
            return inverse.__matmul__
        from scipy.sparse.linalg import splu  # type: ignore[import-untyped, unused-ignore]

        return splu(matrix[free][:, free].tocsc()).solve
    except (np.linalg.LinAlgError, RuntimeError):
        return None

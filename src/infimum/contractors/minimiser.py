"""Where a convex function is smallest on a box (POLICY): projected Newton steps, to the last digits that doubles have.

The second derivatives are differences of gradients: as a matrix, whose columns are found in one batch, for few
variables; by conjugate gradients, of which each step takes one gradient, for many. Whoever uses the point proves what
it says; another point, or one from a function that is not convex, costs time only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infimum.boxes import FloatArray
from infimum.deadline import ask
from infimum.function.function import Function

_DENSE = 64  # variables up to which a matrix is kept
_MOST_STEPS = 60
_MOST_NUMBERS = 600_000_000  # coordinates at which gradients are taken, in all
_LEAST_GRADIENTS, _MOST_GRADIENTS = 200, 4000
_MOST_INNER = 500  # steps of conjugate gradients within one of Newton's
_LOOSE, _TIGHTEST = 0.1, 1e-7  # what a Newton step may leave of the slope
_DIFFERENCE = 2.0**-24  # a step of a difference, relative
_CLOSE = 2.0**-31  # of the value: what is left to gain, where it is as good as nothing
_SMALL = 2.0**-10  # a value as near to 0 as this is as good as this
_NOISE = 2.0**-44  # of the value: so little it may seem to rise by rounding
_HALVINGS = 40


class Budget:
    """How many gradients may be taken."""

    def __init__(self, n: int) -> None:
        self.left = max(_LEAST_GRADIENTS, min(_MOST_GRADIENTS, _MOST_NUMBERS // n))

    def spend(self, count: int) -> bool:
        """Take so many; say whether that was possible."""
        ask()
        self.left -= count
        return self.left >= 0


def minimised(function: Function, start: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return a point of the box [lo, hi] with a value that is not much above the least, where all goes well."""
    with np.errstate(all="ignore"):
        return _Descent(function, lo, hi).from_(np.clip(start, lo, hi))


def slack(x: FloatArray, slope: FloatArray, lo: FloatArray, hi: FloatArray) -> float:
    """Return how far below its value at x the plane through it falls on the box: no more than this can be gained."""
    with np.errstate(all="ignore"):
        fall = np.where(slope > 0, slope * (x - lo), slope * (x - hi))
        return float(np.sum(np.where(slope == 0, 0.0, fall)))


class _Place(NamedTuple):
    x: FloatArray
    value: float
    slope: FloatArray
    left: float  # to gain, at most


class _Descent:
    def __init__(self, function: Function, lo: FloatArray, hi: FloatArray) -> None:
        self.function = function
        self.lo, self.hi = lo, hi
        self.budget = Budget(function.n)
        with np.errstate(over="ignore"):
            width = np.where(np.isfinite(hi - lo), hi - lo, 1.0)
        self.scale = np.minimum(1.0, width)

    def from_(self, x: FloatArray) -> FloatArray:
        """Return where Newton's steps lead to."""
        value, slope = self._at(x)
        best = slack(x, slope, self.lo, self.hi)
        stale, tight = 0, _LOOSE
        for _ in range(_MOST_STEPS):
            if not (np.isfinite(value) and np.isfinite(slope).all()) or stale > 2 or not self.budget.spend(1):
                break
            goal = _CLOSE * max(abs(value), _SMALL)
            if best <= goal:
                break
            free = ~((x <= self.lo) & (slope > 0) | (x >= self.hi) & (slope < 0))
            if not free.any():
                break
            step = self._newton(x, slope, free, max(tight, min(_LOOSE, 0.03 * goal / best)))
            here = _Place(x, value, slope, best)
            found = self._moved(here, step) or self._moved(here, -self._steep(slope, free))
            if found is None:
                break
            gained = value - found.value
            stale = stale + 1 if found.left > 0.5 * best and gained <= _NOISE * abs(value) else 0
            ratio = found.left / best
            tight = max(_TIGHTEST, min(tight, ratio * ratio)) if ratio < 0.3 else _LOOSE
            x, value, slope, best = found
        return x

    def _at(self, x: FloatArray) -> tuple[float, FloatArray]:
        value, slope = self.function.value_and_gradient(x)
        return float(value), np.asarray(slope)

    def _steep(self, slope: FloatArray, free: np.ndarray) -> FloatArray:
        """Return the slope, as long as the variables' ranges allow."""
        pull = np.where(free, slope, 0.0)
        largest = float(np.abs(pull).max(initial=0.0))
        return pull * (float(self.scale.max()) / largest) if largest > 0 else pull

    def _moved(self, here: _Place, step: FloatArray) -> _Place | None:
        """Return the place along a step, within the box, where f is lower, or where less is left to gain."""
        x, value, slope, before = here
        noise = _NOISE * abs(value)
        length = 1.0
        for _ in range(_HALVINGS):
            y = np.clip(x + length * step, self.lo, self.hi)
            if (y == x).all() or not self.budget.spend(1):
                return None
            new, turned = self._at(y)
            if np.isfinite(new) and np.isfinite(turned).all():
                left = slack(y, turned, self.lo, self.hi)
                promised = _dot(slope, x - y)
                falls = new <= value - 1e-4 * promised if promised > noise else new <= value + noise and left < before
                if falls:
                    return _Place(y, new, turned, left)
                if promised <= noise * 2.0**-20:
                    return None
            length *= 0.5 if np.isfinite(new) else 0.125
        return None

    # ------------------------------------------------------------------------------------------ Newton's step
    def _newton(self, x: FloatArray, slope: FloatArray, free: np.ndarray, tight: float) -> FloatArray:
        """Return the step of the free variables to where the quadratic model is least."""
        (some,) = np.nonzero(free)
        step = np.zeros_like(x)
        if x.size <= _DENSE:
            step[some] = self._by_matrix(x, slope, some)
        else:
            step = self._by_conjugates(x, slope, free, tight)
        return step

    def _by_matrix(self, x: FloatArray, slope: FloatArray, some: np.ndarray) -> FloatArray:
        size = _DIFFERENCE * np.maximum(np.abs(x[some]), self.scale[some])
        size = np.where(x[some] + size > self.hi[some], -size, size)
        points = np.tile(x, (some.size, 1))
        points[np.arange(some.size), some] += size
        size = points[np.arange(some.size), some] - x[some]
        if not self.budget.spend(some.size):
            return -slope[some]
        _, slopes = self.function.value_and_gradient(points)
        matrix = (np.asarray(slopes)[:, some] - slope[some]) / size[:, None]
        matrix = 0.5 * (matrix + matrix.T)
        if not np.isfinite(matrix).all():
            return -self._steep(slope, np.ones_like(slope, bool))[some]
        return _solved(matrix, -slope[some])

    def _by_conjugates(self, x: FloatArray, slope: FloatArray, free: np.ndarray, tight: float) -> FloatArray:
        """Return about the solution of H step = -slope, by conjugate gradients."""
        rest = np.where(free, -slope, 0.0)
        step, way = np.zeros_like(x), rest
        size = _dot(rest, rest)
        goal = tight * tight * size
        reach = _DIFFERENCE * max(float(np.abs(x).max()), float(self.scale.max()))
        for _ in range(_MOST_INNER):
            if size <= goal or not self.budget.spend(1):
                break
            h = reach / float(np.abs(way).max())
            turned = np.where(free, (self._at(x + h * way)[1] - slope) / h, 0.0)
            along = _dot(way, turned)
            if not along > 0 or not np.isfinite(along):
                break
            length = size / along
            step = step + length * way
            rest = rest - length * turned
            size, before = _dot(rest, rest), size
            way = rest + (size / before) * way
        return step if step.any() else rest


def _dot(a: FloatArray, b: FloatArray) -> float:
    return float(np.sum(a * b))  # not BLAS: its threads cost more than they bring, and its order varies


def _solved(matrix: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return the solution of a symmetric system, of least length where it has many."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    size = np.where(size > 0, size, 1.0)
    scaled = matrix / np.outer(size, size)
    try:
        lower = np.linalg.cholesky(scaled)
        if np.diag(lower).min() > 1e-7:
            half = np.linalg.solve(lower, wanted / size)
            return np.asarray(np.linalg.solve(lower.T, half) / size)
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(scaled)
    kept = np.maximum(values, 1e-13 * max(float(values.max()), 1e-300))
    return np.asarray(vectors @ ((vectors.T @ (wanted / size)) / kept) / size)

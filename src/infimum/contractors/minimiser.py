"""Where a convex function is smallest on a box (POLICY): projected Newton steps, to the last digits that doubles have.

The second derivatives are differences of gradients: as a matrix, whose columns are found in one batch, for few
variables; by conjugate gradients, of which each step takes one gradient, for many, or a product with the Hessian where
that is cheaper, as it is for polynomials. Whoever uses the point proves what
it says; another point, or one from a function that is not convex, costs time only.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from infimum.backends.linear import box_minimum
from infimum.boxes import BoolArray, FloatArray
from infimum.deadline import ask
from infimum.function.function import Function

IndexArray = npt.NDArray[np.int64]

_DENSE = 64  # variables up to which a matrix is kept
_MOST_STEPS = 60
_MOST_NUMBERS = 600_000_000  # coordinates at which gradients are taken, in all
_LEAST_GRADIENTS, MOST_GRADIENTS = 200, 4000
_MOST_INNER = 500  # steps of conjugate gradients within one of Newton's
_LOOSE, _TIGHTEST = 0.1, 1e-7  # what a Newton step may leave of the slope
_DIFFERENCE = 2.0**-24  # a step of a difference, relative
_CLOSE = 2.0**-31  # of the value: what is left to gain, where it is as good as nothing
_SMALL = 2.0**-10  # a value as near to 0 as this is as good as this
_NOISE = 2.0**-44  # of the value: so little it may seem to rise by rounding
_HALVINGS = 40
_BATCH_STEPS = 2  # of Newton's for each of many boxes
_MOST_COLUMNS = 8192  # gradients of such a step, for all boxes together


class Budget:
    """How many gradients may be taken."""

    def __init__(self, n: int, most: int = MOST_GRADIENTS) -> None:
        self.left = max(_LEAST_GRADIENTS, min(most, _MOST_NUMBERS // n))

    def spend(self, count: int) -> bool:
        """Take so many; say whether that was possible."""
        ask()
        self.left -= count
        return self.left >= 0


def minimised(
    function: Function, start: FloatArray, lo: FloatArray, hi: FloatArray, most: int = MOST_GRADIENTS
) -> FloatArray:
    """Return a point of the box [lo, hi] with a value that is not much above the least, where all goes well.

    most: gradients that are taken, about
    """
    with np.errstate(all="ignore"):
        return _Descent(function, lo, hi, most).from_(np.clip(start, lo, hi))


def improved(function: Function, points: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return points (k, n) of boxes whose planes are higher than those at the points given, where that is cheap."""
    x = np.clip(points, lo, hi)
    n = x.shape[1]
    if n > _DENSE:
        return x
    some = slice(0, max(1, _MOST_COLUMNS // n))
    with np.errstate(all="ignore"):
        x[some] = _improved(function, x[some], lo[some], hi[some])
    return x


def _improved(function: Function, x: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    ask()
    value, slope = function.value_and_gradient(x)
    slope = np.asarray(slope)
    best, bound = x.copy(), value - slacks(x, slope, lo, hi)
    for _ in range(_BATCH_STEPS):
        matrix = curvatures(function, x, slope, lo, hi, np.arange(x.shape[1]))
        reach = 8.0 * (1.0 + np.abs(x))
        bottom, top = np.maximum(lo - x, -reach), np.minimum(hi - x, reach)
        step = box_minimum(np.where(np.isfinite(matrix), matrix, 0.0), slope, bottom, top)
        x = np.clip(x + step, lo, hi)
        value, turned = function.value_and_gradient(x)
        slope = np.asarray(turned)
        found = value - slacks(x, slope, lo, hi)
        better = found > bound
        best[better], bound[better] = x[better], found[better]
    return best


def slacks(x: FloatArray, slope: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return how far below their values at points (k, n) the planes fall on boxes: no more than this can be gained.

    An infinite side is taken for one a little beyond the point.
    """
    with np.errstate(all="ignore"):
        far = 1.0 + np.abs(x)
        low, high = np.where(np.isfinite(lo), x - lo, far), np.where(np.isfinite(hi), hi - x, far)
        return np.asarray(np.sum(np.where(slope > 0, slope * low, -slope * high), axis=1))


def slack(x: FloatArray, slope: FloatArray, lo: FloatArray, hi: FloatArray) -> float:
    """Return the same for one point (n,)."""
    return float(slacks(x[None], slope[None], lo[None], hi[None])[0])


class Sloped(Protocol):
    """What has values and slopes at points."""

    def value_and_gradient(self, points: FloatArray) -> Any: ...


def curvatures(
    function: Sloped, x: FloatArray, slope: FloatArray, lo: FloatArray, hi: FloatArray, some: IndexArray
) -> FloatArray:
    """Return about the second derivatives (k, m, m) at points (k, n) by some of the variables."""
    k, n = x.shape
    m = some.size
    with np.errstate(over="ignore"):
        scale = np.maximum(np.abs(x), np.minimum(1.0, np.where(np.isfinite(hi - lo), hi - lo, 1.0)))[:, some]
    size = _DIFFERENCE * scale
    size = np.where(x[:, some] + size > hi[:, some], -size, size)
    points = np.repeat(x, m, axis=0).reshape(k, m, n)
    points[:, np.arange(m), some] += size
    size = points[:, np.arange(m), some] - x[:, some]
    _, slopes = function.value_and_gradient(points.reshape(k * m, n))
    rows = np.asarray(slopes).reshape(k, m, n)[:, :, some]
    found = (rows - slope[:, None, some]) / size[:, :, None]
    return np.asarray(0.5 * (found + found.transpose(0, 2, 1)))


class _Place(NamedTuple):
    x: FloatArray
    value: float
    slope: FloatArray
    left: float  # to gain, at most


class _Descent:
    def __init__(self, function: Function, lo: FloatArray, hi: FloatArray, most: int) -> None:
        self.function = function
        self.lo, self.hi = lo, hi
        self.budget = Budget(function.n, most)
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

    def _steep(self, slope: FloatArray, free: BoolArray) -> FloatArray:
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
    def _newton(self, x: FloatArray, slope: FloatArray, free: BoolArray, tight: float) -> FloatArray:
        """Return the step of the free variables to where the quadratic model is least."""
        (some,) = np.nonzero(free)
        step = np.zeros_like(x)
        if x.size <= _DENSE:
            step[some] = self._by_matrix(x, slope, some)
        else:
            step = self._by_conjugates(x, slope, free, tight)
        return step

    def _by_matrix(self, x: FloatArray, slope: FloatArray, some: IndexArray) -> FloatArray:
        if not self.budget.spend(some.size):
            return -slope[some]
        here = x[None], slope[None], self.lo[None], self.hi[None]
        (matrix,) = curvatures(self.function, *here, some)
        if not np.isfinite(matrix).all():
            return -self._steep(slope, np.ones_like(slope, bool))[some]
        return _solved(matrix, -slope[some])

    def _by_conjugates(self, x: FloatArray, slope: FloatArray, free: BoolArray, tight: float) -> FloatArray:
        """Return about the solution of H step = -slope, by conjugate gradients."""
        rest = np.where(free, -slope, 0.0)
        step, way = np.zeros_like(x), rest
        size = _dot(rest, rest)
        goal = tight * tight * size
        reach = _DIFFERENCE * max(float(np.abs(x).max()), float(self.scale.max()))
        for _ in range(_MOST_INNER):
            if size <= goal or not self.budget.spend(1):
                break
            turned = np.where(free, self._turned(x, slope, way, reach), 0.0)
            along = _dot(way, turned)
            if not along > 0 or not np.isfinite(along):
                break
            length = size / along
            step = step + length * way
            rest = rest - length * turned
            size, before = _dot(rest, rest), size
            way = rest + (size / before) * way
        return step if step.any() else rest

    def _turned(self, x: FloatArray, slope: FloatArray, way: FloatArray, reach: float) -> FloatArray:
        """Return about the Hessian times a direction."""
        if self.function.has_cheap_products:
            return np.asarray(self.function.hessian_product(x[None], way[None])[0])
        h = reach / float(np.abs(way).max())
        return np.asarray((self._at(x + h * way)[1] - slope) / h)


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

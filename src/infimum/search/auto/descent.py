"""Local descent within bounds (POLICY): a quasi-Newton method with projection; halving, without slopes.

Small and without dependencies, since it runs at the start of every solve; SciPy's takes longer to import than most
problems to solve. What it finds is only a proposal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum.fractions import at_fraction

FloatArray = npt.NDArray[np.float64]
Objective = Callable[[FloatArray], tuple[float, FloatArray]]

_PAIRS = 8  # steps that are remembered for many variables
_FEW = 64  # variables up to which a matrix is kept
_HALVINGS = 30  # of a step, until it is given up
_HALVES = 12  # of each variable in a dive: a box is then 4096 times as narrow
_MOST_NUMBERS = 2**20  # of a dive, in all its points
_ENOUGH = 1e-4  # of the decrease that the slope promises
_NOISE = 2.0**-46  # of the value: a smaller decrease is rounding error, as good as none
_LEAST_CHANGE, _MOST_CHANGE = 2.0**-50, 2.0**30  # of f along a slope for f's own units to do
_FLAT = 2.0**-520  # a change so small is no unit's: f is flat there
_DOUBT = 2.0**-30  # of the value: where so little is promised and nothing found, rounding errors are in the way


def descended(f: Objective, start: FloatArray, lo: FloatArray, hi: FloatArray, steps: int = 80) -> FloatArray:
    """Return a point of [lo, hi] with a value not above the start's."""
    x = np.clip(start, lo, hi)
    value, slope = f(x)
    unit = float(units(slope[None], lo, hi)[0])
    if unit != 1.0:
        value, slope, f = value / unit, slope / unit, _divided(f, unit)
    curvature = _Dense(_scale(lo, hi)) if x.size <= _FEW else _Pairs(_scale(lo, hi))
    for _ in range(steps):
        if not np.isfinite(value) or not np.isfinite(slope).all():
            break
        free = ~((x <= lo) & (slope > 0) | (x >= hi) & (slope < 0))
        pull = np.where(free, slope, 0.0)
        direction = np.where(free, -curvature.applied(pull), 0.0)
        promised = -float(direction @ slope)
        if not promised > 0:
            curvature.forget()
            direction = -curvature.applied(pull)
            promised = -float(direction @ slope)
        if promised <= _NOISE * abs(value):
            break
        found = _step(f, x, value, slope, direction, lo, hi, first=not curvature.is_known)
        if found is None:
            if not curvature.is_known or promised <= _DOUBT * abs(value):
                break
            curvature.forget()
            continue
        y, new_value, new_slope = found
        curvature.learn(y - x, new_slope - slope)
        gained = value - new_value
        x, value, slope = y, new_value, new_slope
        if gained <= _NOISE * abs(value):
            break
    return x


def units(slope: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return numbers (k,) by which to divide values for their slopes (k, n) to be ordinary numbers; 1 where they are.

    How far a first step goes, and when a slope turns too little to be believed, is a matter of f's units.
    """
    with np.errstate(all="ignore"):
        width = np.where(np.isfinite(hi - lo), hi - lo, 1.0)
        change = np.abs(slope * width).max(axis=1, initial=0.0)
    is_ordinary = (change < _FLAT) | ((change >= _LEAST_CHANGE) & (change <= _MOST_CHANGE))
    return np.where(is_ordinary | ~np.isfinite(change), 1.0, change)


def _divided(f: Objective, unit: float) -> Objective:
    def found(x: FloatArray) -> tuple[float, FloatArray]:
        value, slope = f(x)
        return value / unit, slope / unit

    return found


class _Curvature(ABC):
    """What steps have told of the inverse of the second derivative; at first it is `scale`, a diagonal."""

    is_known = False

    def __init__(self, scale: FloatArray) -> None:
        self.scale = scale

    @abstractmethod
    def applied(self, slope: FloatArray) -> FloatArray:
        """Return the inverse times a slope."""

    def learn(self, step: FloatArray, turn: FloatArray) -> None:
        """Learn that the slope turned by so much along a step."""
        along = float(step @ turn)
        if along > 1e-12 * (turn @ turn) and turn @ (self.scale * turn) > 0:  # which may underflow
            self._learn(step, turn, along)
            self.is_known = True

    @abstractmethod
    def _learn(self, step: FloatArray, turn: FloatArray, along: float) -> None: ...

    def forget(self) -> None:
        """Forget what steps have told."""
        self.is_known = False


class _Dense(_Curvature):
    """As a matrix, for few variables."""

    inverse: FloatArray

    def applied(self, slope: FloatArray) -> FloatArray:
        found: FloatArray = self.inverse @ slope if self.is_known else self.scale * slope
        return found

    def _learn(self, step: FloatArray, turn: FloatArray, along: float) -> None:
        if not self.is_known:
            self.inverse = np.diag(self.scale * (along / float(turn @ (self.scale * turn))))
        ahead = self.inverse @ turn
        weight = (1.0 + float(turn @ ahead) / along) / along
        mixed = np.outer(ahead / along, step)
        self.inverse = self.inverse + np.outer(weight * step, step) - (mixed + mixed.T)


class _Pairs(_Curvature):
    """As the last few steps, for many variables."""

    pairs: list[tuple[FloatArray, FloatArray, float]]

    def applied(self, slope: FloatArray) -> FloatArray:
        q, factors = slope.copy(), []
        pairs = self.pairs if self.is_known else []
        for step, turn, along in reversed(pairs):
            factors.append(step.dot(q) / along)
            q -= factors[-1] * turn
        q *= self.scale
        if pairs:
            _, turn, along = pairs[-1]
            q *= along / turn.dot(self.scale * turn)
        for (step, turn, along), factor in zip(pairs, reversed(factors), strict=True):
            q += (factor - turn.dot(q) / along) * step
        return q

    def _learn(self, step: FloatArray, turn: FloatArray, along: float) -> None:
        self.pairs = [*(self.pairs[1 - _PAIRS :] if self.is_known else []), (step, turn, along)]


def _scale(lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the squares of the variables' widths, up to a factor, as what is wide may change much; 1 for infinity."""
    with np.errstate(over="ignore"):
        width = np.where(np.isfinite(hi - lo), hi - lo, 0.0)
    widest = float(width.max(initial=0.0))
    if widest == 0:
        return np.ones(width.shape)
    found: FloatArray = np.where(width > 0, np.maximum(width / widest, 2.0**-50) ** 2, 1.0)
    return found


def _step(
    f: Objective,
    x: FloatArray,
    value: float,
    slope: FloatArray,
    direction: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    first: bool,
) -> tuple[FloatArray, float, FloatArray] | None:
    """Return a point along the direction with enough of a decrease, or None."""
    length = 1.0
    largest = float(np.abs(direction).max()) if direction.size else 0.0
    if largest == 0:
        return None
    if first:
        width = float(np.minimum(hi - lo, 1e3).max())
        length = min(1.0, 0.1 * width / largest)
    for _ in range(_HALVINGS):
        y = np.clip(x + length * direction, lo, hi)
        if (y == x).all():
            return None
        new_value, new_slope = f(y)
        if np.isfinite(new_value) and new_value <= value + _ENOUGH * float(slope @ (y - x)):
            return (y, new_value, new_slope) if new_value < value else None
        length *= 0.5 if np.isfinite(new_value) else 0.1
    return None


def dived(f: Callable[[FloatArray], FloatArray], lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return a good point of a box, found by values alone: go into the half with the best middle, and so on.

    The halves are those along all variables that were halved least often; f takes many points at once.
    """
    low, high, halved = lo.copy(), hi.copy(), np.zeros(lo.size, np.int64)
    point = at_fraction(low, high, 0.5)
    best = np.inf
    for _ in range(min(_HALVES * lo.size, _MOST_NUMBERS // lo.size**2)):
        middle = at_fraction(low, high, 0.5)
        some = np.flatnonzero(halved == halved.min())
        x = np.tile(middle, (2 * some.size, 1))
        lower_half, upper_half = np.arange(some.size), some.size + np.arange(some.size)
        x[lower_half, some] = at_fraction(low, middle, 0.5)[some]
        x[upper_half, some] = at_fraction(middle, high, 0.5)[some]
        values = f(x)
        at = int(np.argmin(np.where(np.isnan(values), np.inf, values)))
        if values[at] < best:
            best, point = float(values[at]), x[at]
        i = some[at % some.size]
        (low if at >= some.size else high)[i] = middle[i]
        halved[i] += 1
    return point

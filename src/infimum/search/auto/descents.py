"""Local descents side by side: k points at once, each step one batch in plain doubles (POLICY).

A point tries one step in each batch: where the value falls enough it moves there, where it does not its next step is
shorter. None waits for another. What they find is only a proposal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from infimum.search.auto.descent import units
from infimum.search.auto.evaluations import Evaluations

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

FEW = 64  # variables up to which a matrix is kept for each point
_PAIRS = 10  # steps that are remembered for each point beyond
_ENOUGH = 1e-4  # of the decrease that the slope promises
_SHORTEST = 2.0**-40  # part of a step
_FIRST = 0.1  # of the widest variable's width: the length of a first step
_MOST_WIDTH = 1e3
_DONE = 1e-13  # of the value: a point that is promised less has arrived
_SLOW = 1e-10  # of the value: one that gained less in a step, too


class Descents(ABC):
    """Points x (k, n) of [lo, hi] on their way down, with their values (k,); those that have arrived are not active."""

    def __init__(self, evaluate: Evaluations, x: FloatArray, lo: FloatArray, hi: FloatArray) -> None:
        self.evaluate = evaluate
        self.lo, self.hi = lo, hi
        self.x = np.clip(x, lo, hi)
        self.value = np.full(len(x), np.inf)
        self.active = np.ones(len(x), bool)

    @abstractmethod
    def step(self) -> None:
        """Try one step from every active point."""

    def run(self, steps: int) -> None:
        """Step so often; twice on the way, the worse half of the points is left where it is."""
        for count in range(steps):
            if count in (steps // 4, steps // 2):
                self.active &= self.value <= np.median(self.value)
            if not self.active.any():
                return
            self.step()

    def _free(self, x: FloatArray, slope: FloatArray) -> BoolArray:
        """Return which variables may move: all but those at a bound to which the slope holds them."""
        free: BoolArray = ~((x <= self.lo) & (slope > 0) | (x >= self.hi) & (slope < 0))
        return free


class QuasiNewton(Descents):
    """By values and slopes: BFGS with projection; a point's slopes are in units of its own."""

    def __init__(self, evaluate: Evaluations, x: FloatArray, lo: FloatArray, hi: FloatArray) -> None:
        super().__init__(evaluate, x, lo, hi)
        self.value, slope = evaluate.values_and_slopes(self.x)
        self.unit = units(slope, lo, hi)
        self.slope = slope / self.unit[:, None]
        self.active = np.isfinite(self.value) & np.isfinite(self.slope).all(1)
        with np.errstate(all="ignore"):
            width = np.where(np.isfinite(hi - lo), hi - lo, 0.0)
        widest = float(width.max(initial=0.0)) or 1.0
        self.scale = np.where(width > 0, np.maximum(width / widest, 2.0**-50) ** 2, 1.0)
        self.reach = _FIRST * min(_MOST_WIDTH, widest)
        self.curvature: _Matrices | _Pairs = (_Matrices if evaluate.n <= FEW else _Pairs)(len(x), self.scale)
        self.known = np.zeros(len(x), bool)  # whether anything is known of a point's curvature
        self.aims = np.ones(len(x), bool)  # whether its direction is to be made anew
        self.direction = np.zeros(self.x.shape)
        self.length = np.ones(len(x))  # of the next step, as a part of the direction

    def step(self) -> None:
        """Try one step from every active point."""
        self._aim(np.flatnonzero(self.active & self.aims))
        at = np.flatnonzero(self.active)
        if not at.size:
            return
        y = np.clip(self.x[at] + self.length[at, None] * self.direction[at], self.lo, self.hi)
        value, slope = self.evaluate.values_and_slopes(y)
        slope = slope / self.unit[at, None]
        step = y - self.x[at]
        wanted = self.value[at] + _ENOUGH * (self.slope[at] * step).sum(1) * self.unit[at]
        finite = np.isfinite(value) & np.isfinite(slope).all(1)
        good = finite & (value <= wanted) & (value < self.value[at])
        self._shorten(at[~good], finite[~good])
        self._move(at[good], step[good], value[good], slope[good])

    def _aim(self, at: IndexArray) -> None:
        """Make the directions of these points anew; one that promises nothing has arrived."""
        if not at.size:
            return
        slope, known = self.slope[at], self.known[at]
        free = self._free(self.x[at], slope)
        pull = np.where(free, slope, 0.0)
        direction = np.where(known[:, None], -self.curvature.applied(at, pull), -self.scale * pull)
        direction = np.where(free, direction, 0.0)
        promised = -(direction * slope).sum(1)
        wrong = ~(promised > 0) & known
        if wrong.any():
            self.known[at[wrong]] = known[wrong] = False
            direction[wrong] = -self.scale * pull[wrong]
            promised[wrong] = -(direction[wrong] * slope[wrong]).sum(1)
        longest = np.maximum(np.abs(direction).max(1), 1e-300)
        self.length[at] = np.where(known, 1.0, np.minimum(1.0, self.reach / longest))
        self.direction[at] = direction
        self.aims[at] = False
        self.active[at] = promised * self.unit[at] > _DONE * np.abs(self.value[at])

    def _shorten(self, at: IndexArray, finite: BoolArray) -> None:
        """Shorten the next step from these points; from where none helps try without curvature, then stay."""
        self.length[at] *= np.where(finite, 0.35, 0.1)
        over = at[self.length[at] < _SHORTEST]
        self.active[over] = self.known[over]
        self.known[over], self.aims[over] = False, True

    def _move(self, at: IndexArray, step: FloatArray, value: FloatArray, slope: FloatArray) -> None:
        """Move these points, and learn from how their slopes turned."""
        turn = slope - self.slope[at]
        along = (step * turn).sum(1)
        tells = along > 1e-12 * (turn * turn).sum(1)
        some = at[tells]
        if some.size:
            self.curvature.learn(some, step[tells], turn[tells], along[tells], self.known[some])
            self.known[some] = True
        gained = self.value[at] - value
        self.x[at] = np.clip(self.x[at] + step, self.lo, self.hi)
        self.value[at], self.slope[at], self.aims[at] = value, slope, True
        self.active[at] = gained > _SLOW * np.abs(value)


class _Matrices:
    """The inverse of the second derivative as a matrix for each point."""

    def __init__(self, count: int, scale: FloatArray) -> None:
        self.scale = scale
        self.inverse = np.zeros((count, scale.size, scale.size))

    def applied(self, at: IndexArray, slope: FloatArray) -> FloatArray:
        """Return the inverses of the points `at` times these slopes."""
        return np.asarray((self.inverse[at] @ slope[:, :, None])[:, :, 0])

    def learn(self, at: IndexArray, step: FloatArray, turn: FloatArray, along: FloatArray, known: BoolArray) -> None:
        """Learn that slopes turned by so much along steps; along = step * turn > 0."""
        first = along / (turn * turn * self.scale).sum(1)
        h = np.where(known[:, None, None], self.inverse[at], first[:, None, None] * np.diag(self.scale))
        ahead = (h @ turn[:, :, None])[:, :, 0]
        weight = (1.0 + (turn * ahead).sum(1) / along) / along
        mixed = (ahead / along[:, None])[:, :, None] * step[:, None, :]
        h += (weight[:, None] * step)[:, :, None] * step[:, None, :] - (mixed + mixed.transpose(0, 2, 1))
        self.inverse[at] = h


class _Pairs:
    """The same as the last few steps and turns of each point, the latest first."""

    def __init__(self, count: int, scale: FloatArray) -> None:
        self.scale = scale
        self.steps, self.turns = np.zeros((2, count, _PAIRS, scale.size))
        self.along = np.full((count, _PAIRS), np.inf)  # where there is no pair

    def applied(self, at: IndexArray, slope: FloatArray) -> FloatArray:
        """Return the inverses of the points `at` times these slopes."""
        steps, turns, along = self.steps[at], self.turns[at], self.along[at]
        q, factors = slope.copy(), np.zeros(along.shape)
        for i in range(_PAIRS):
            factors[:, i] = (steps[:, i] * q).sum(1) / along[:, i]
            q -= factors[:, i, None] * turns[:, i]
        q *= self.scale
        known = np.isfinite(along[:, 0])
        size = (turns[:, 0] ** 2 * self.scale).sum(1)
        q[known] *= (along[known, 0] / size[known])[:, None]
        for i in reversed(range(_PAIRS)):
            q += (factors[:, i] - (turns[:, i] * q).sum(1) / along[:, i])[:, None] * steps[:, i]
        return q

    def learn(self, at: IndexArray, step: FloatArray, turn: FloatArray, along: FloatArray, known: BoolArray) -> None:
        """Learn that slopes turned by so much along steps; along = step * turn > 0."""
        self.along[at[~known]] = np.inf
        self.steps[at[~known]] = self.turns[at[~known]] = 0.0
        for kept, new in ((self.steps, step), (self.turns, turn), (self.along, along)):
            kept[at, 1:] = kept[at, :-1]
            kept[at, 0] = new

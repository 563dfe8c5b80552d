"""Descents where f is a sum of squares: Levenberg and Marquardt's method within bounds, k points at once (POLICY).

Of the residuals r and their Jacobian J at x, the step s minimises |r + J s|^2 + damping * |D s|^2 within the bounds, D
the lengths of J's columns: in units of its own for every variable. Variables that enter linearly are found by what J
depends on; given the others, their best values are one step away.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.search.auto.descents import Descents
from infimum.search.auto.evaluations import Evaluations

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_FIRST = 1e-3  # damping
_LEAST, _MOST = 1e-12, 1e16
_ROUNDS = 3  # of a step in which variables arrive at their bounds
_SWEEPS = 4  # over the variables of a step that these rounds have spoiled
_DONE = 1e-13  # of the value: a point that is promised less has arrived
_SLOW = 1e-10  # of the value: one that gained less in a step, too
_SAME = 1e-9  # of its length: a column of J that changes by less is constant
_TINY = 1e-10  # damping where only linear variables move


class LevenbergMarquardt(Descents):
    """By residuals and their Jacobian."""

    def __init__(self, evaluate: Evaluations, x: FloatArray, lo: FloatArray, hi: FloatArray) -> None:
        super().__init__(evaluate, x, lo, hi)
        k, n = self.x.shape
        self.damping = np.full(k, _FIRST)
        self.growth = np.full(k, 2.0)
        self.residuals = evaluate.residuals(self.x)
        self.jacobian = np.zeros((k, self.residuals.shape[1], n))
        self.size = np.zeros((k, n))  # of the Jacobian's columns, the largest so far
        value = (self.residuals**2).sum(1)
        self.active = np.isfinite(value)
        self.value = np.where(self.active, value, np.inf)
        self.aims = np.ones(k, bool)  # whether the Jacobian is to be made anew

    def step(self) -> None:
        """Try one step from every active point."""
        self._linearise(np.flatnonzero(self.active & self.aims))
        at = np.flatnonzero(self.active)
        if not at.size:
            return
        x, r, jac = self.x[at], self.residuals[at], self.jacobian[at]
        step = bounded_step(r, jac, self.size[at], self.damping[at], self.lo - x, self.hi - x)
        y = np.clip(x + step, self.lo, self.hi)
        step = y - x
        promised = self.value[at] - ((r + (jac @ step[:, :, None])[:, :, 0]) ** 2).sum(1)
        residuals = self.evaluate.residuals(y)
        value = (residuals**2).sum(1)
        gained = self.value[at] - value
        good = np.isfinite(value) & (gained > 0)
        arrived = ~(promised > _DONE * self.value[at]) | ((gained <= _SLOW * value) & good)
        share = np.clip(gained / np.maximum(promised, 1e-300), 0.0, 1.0)
        softer = np.maximum(1 / 9, 1 - (2 * share - 1) ** 3)
        self.damping[at] *= np.where(good, softer, self.growth[at])
        self.growth[at] = np.where(good, 2.0, 2 * self.growth[at])
        self.active[at] = ~arrived & (self.damping[at] < _MOST)
        self.damping[at] = np.maximum(self.damping[at], _LEAST)
        at, some = at[good], good
        self.x[at], self.value[at], self.residuals[at] = y[some], value[some], residuals[some]
        self.aims[at] = True

    def _linearise(self, at: IndexArray) -> None:
        """Make the Jacobians of these points anew; a point without one stays."""
        if not at.size:
            return
        jac = self.evaluate.jacobian(self.x[at])
        finite = np.isfinite(jac).all((1, 2))
        self.active[at] = finite
        at, jac = at[finite], jac[finite]
        self.jacobian[at], self.aims[at] = jac, False
        self.size[at] = np.maximum(0.1 * self.size[at], np.sqrt((jac**2).sum(1)))


def bounded_step(
    r: FloatArray, jac: FloatArray, size: FloatArray, damping: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return steps (k, n) within [low, high] that make |r + jac s|^2 + damping |size s|^2 small."""
    k, _, n = jac.shape
    size = np.where(size > 0, size, 1.0)
    unit = jac / size[:, None, :]
    gram = unit.transpose(0, 2, 1) @ unit
    pull = -(unit.transpose(0, 2, 1) @ r[:, :, None])[:, :, 0]
    low, high = low * size, high * size
    held = (low >= 0) & (pull < 0) | (high <= 0) & (pull > 0)
    found = np.zeros((k, n))
    eye = np.eye(n)
    for _ in range(_ROUNDS):
        free = ~held
        rest = np.where(free, pull - (gram @ np.where(held, found, 0.0)[:, :, None])[:, :, 0], 0.0)
        both = free[:, :, None] & free[:, None, :]
        matrix = np.where(both, gram, 0.0) + (damping[:, None] * free + held)[:, :, None] * eye
        try:
            moved = np.linalg.solve(matrix, rest[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return np.zeros((k, n))
        wanted = np.where(free, moved, found)
        found = np.clip(wanted, low, high)
        beyond = free & (wanted != found)
        if not beyond.any():
            break
        held |= beyond
    matrix = gram + damping[:, None, None] * eye
    promised = ((pull - 0.5 * (matrix @ found[:, :, None])[:, :, 0]) * found).sum(1)
    worse = np.flatnonzero(~(promised > 0))
    if worse.size:  # a variable that was stopped at a bound on the way should have left it again
        found[worse] = _swept(matrix[worse], pull[worse], low[worse], high[worse])
    return np.asarray(found / size)


def _swept(matrix: FloatArray, pull: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return steps s (k, n) within [low, high] that make s M s / 2 - pull s small: one variable after the other."""
    found = np.zeros_like(pull)
    for _ in range(_SWEEPS):
        for i in range(pull.shape[1]):
            left = pull[:, i] - (matrix[:, i] * found).sum(1) + matrix[:, i, i] * found[:, i]
            found[:, i] = np.clip(left / np.maximum(matrix[:, i, i], 1e-300), low[:, i], high[:, i])
    return np.where(np.isfinite(found), found, 0.0)


def linear_variables(evaluate: Evaluations, x: FloatArray, other: FloatArray) -> IndexArray:
    """Return variables that the residuals are linear in together, judged by J at points x (k, n) and beside them.

    other (k, n): another value for each variable of each point.
    """
    n = x.shape[1]
    clash, reads = np.zeros((n, n), bool), np.zeros(n, bool)
    for here, there in zip(x, other, strict=True):
        around = np.tile(here, (n + 1, 1))
        around[np.arange(n), np.arange(n)] = there
        jac = evaluate.jacobian(around)
        if not np.isfinite(jac).all():
            continue
        change = np.abs(jac[:n] - jac[n]).max(1)  # (variables that move, columns)
        clash |= change > _SAME * np.abs(jac[n]).max(0)
        reads |= (jac[n] != 0).any(0)
    clash |= clash.T
    found: list[int] = []
    for i in np.argsort(clash.sum(1), kind="stable").tolist():
        if reads[i] and not clash[i, i] and not clash[i, found].any():
            found.append(i)
    return np.array(sorted(found), np.int64)


def with_best_linear(
    evaluate: Evaluations, x: FloatArray, linear: IndexArray, lo: FloatArray, hi: FloatArray
) -> FloatArray:
    """Return the points (k, n) with their linear variables at what is about best within the bounds."""
    if not linear.size:
        return x
    r, jac = evaluate.residuals(x), evaluate.jacobian(x)[:, :, linear]
    fine = np.isfinite(r).all(1) & np.isfinite(jac).all((1, 2))
    if not fine.any():
        return x
    r, jac, found = r[fine], jac[fine], x.copy()
    size, damping = np.sqrt((jac**2).sum(1)), np.full(len(r), _TINY)
    own = x[fine][:, linear]
    step = bounded_step(r, jac, size, damping, lo[linear] - own, hi[linear] - own)
    found[np.ix_(fine, linear)] = np.clip(own + step, lo[linear], hi[linear])
    return found

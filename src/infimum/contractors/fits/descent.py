"""Levenberg and Marquardt's method within boxes, for many boxes at once (POLICY): where a sum of squares is least.

Nothing rests on what is found: overflows and singular matrices may spoil it, and cost time at most. Points are finite
and lie in their boxes all the same, as Programs are run on them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from infimum.boxes import BoolArray, FloatArray
from infimum.fractions import at_fraction

_ROUNDS = 4  # of fixing variables that run into the edge of their box
_DAMPING = 1e-3
_LEAST = 1e-15
_MOST_NUMBERS = 2**24  # of Jacobians that are held at once


class Squares(Protocol):
    """Residuals and their slopes at points, in plain doubles."""

    def values(self, points: FloatArray, *, threads: int = 1) -> FloatArray: ...

    def jacobian(self, points: FloatArray, *, threads: int = 1) -> FloatArray: ...


def least_in_boxes(
    squares: Squares, lo: FloatArray, hi: FloatArray, start: FloatArray, steps: int, *, threads: int = 1
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return points (k, n) of boxes where sums of squares are small, the residuals (k, m) there, and their slopes."""
    x = np.clip(np.where(np.isfinite(start), start, at_fraction(lo, hi, 0.5)), lo, hi)
    r = squares.values(x, threads=threads)
    f = _sums(r)
    jacobian = _finite(squares.jacobian(x, threads=threads))
    damping = np.full(len(x), _DAMPING)
    active = np.arange(len(x))
    for _ in range(steps):
        if not active.size:
            break
        own = x[active]
        with np.errstate(over="ignore"):
            reach = lo[active] - own, hi[active] - own
        step = boxed_step(jacobian[active], np.nan_to_num(r[active]), *reach, damping[active])
        tried = np.clip(own + step, lo[active], hi[active])
        new = squares.values(tried, threads=threads)
        value = _sums(new)
        better = value < f[active]
        with np.errstate(invalid="ignore"):
            gained = np.where(better, f[active] - value, 0.0)
        some = active[better]
        x[some], r[some] = tried[better], new[better]
        if some.size:
            jacobian[some] = _finite(squares.jacobian(x[some], threads=threads))
        going = np.where(better, gained > 1e-12 * f[active], damping[active] < 1e3)
        f[some] = value[better]
        damping[active] = np.where(better, np.maximum(damping[active] * 0.1, _LEAST), damping[active] * 10 + 1e-6)
        active = active[going]
    return x, r, jacobian


def boxed_step(
    jacobian: FloatArray, r: FloatArray, lo: FloatArray, hi: FloatArray, damping: npt.ArrayLike
) -> FloatArray:
    """Return d (k, n) in boxes that makes |r + J d|^2 + damping |D d|^2 small, D the lengths of J's columns.

    It is finite: 0 where numbers overflow.
    """
    with np.errstate(all="ignore"):
        found = _boxed_step(jacobian, r, lo, hi, damping)
    return np.where(np.isfinite(found), found, 0.0)


def _boxed_step(
    jacobian: FloatArray, r: FloatArray, lo: FloatArray, hi: FloatArray, damping: npt.ArrayLike
) -> FloatArray:
    k, m, n = jacobian.shape
    scale = np.sqrt((jacobian**2).sum(1))
    scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
    root = np.sqrt(np.broadcast_to(np.asarray(damping, np.float64), (k,)))[:, None, None] * np.eye(n)
    rows = np.concatenate([jacobian / scale[:, None], root], 1)
    q, triangle = np.linalg.qr(rows)
    target = -np.einsum("kmn,km->kn", q[:, :m], r)
    low, high = lo * scale, hi * scale
    d = np.zeros((k, n))
    slope = np.einsum("kmn,km->kn", rows[:, :m], r)
    fixed = ((slope > 0) & (low >= 0)) | ((slope < 0) & (high <= 0))
    for _ in range(_ROUNDS):
        d = np.where(fixed, np.clip(d, low, high), 0.0)
        free = _solved(triangle, target - np.einsum("kij,kj->ki", triangle, d), fixed)
        d = d + free
        out = ~fixed & ((d < low) | (d > high))
        if not out.any():
            break
        d = np.where(out, np.clip(d, low, high), d)
        fixed |= out
    return np.clip(d, low, high) / scale


def _solved(triangle: FloatArray, target: FloatArray, fixed: BoolArray) -> FloatArray:
    """Return the least-squares solution of R d = target in the components that are not fixed, 0 in the others."""
    n = target.shape[1]
    rows = np.concatenate([np.where(fixed[:, None], 0.0, triangle), fixed[:, :, None] * np.eye(n)], 1)
    q, r = np.linalg.qr(rows)
    right = np.einsum("kij,ki->kj", q[:, :n], target)
    diagonal = np.einsum("kii->ki", r)
    small = np.abs(diagonal) <= 1e-300
    if small.any():
        r = r + np.where(small, 1.0, 0.0)[:, :, None] * np.eye(n)
    found = np.linalg.solve(r, right[:, :, None])[:, :, 0]
    return np.where(fixed | ~np.isfinite(found), 0.0, found)


def _sums(r: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        found = (r**2).sum(1)
    return np.where(np.isfinite(found), found, np.inf)


def _finite(jacobian: FloatArray) -> FloatArray:
    found: FloatArray = np.where(np.isfinite(jacobian), jacobian, 0.0)
    return found

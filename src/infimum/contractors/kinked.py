"""Where a convex function with kinks is smallest on a box, and how its slopes mix to nothing there (POLICY).

Each kink is rounded: |u| is taken for sqrt(u^2 + m^2), max(u, v) and maxima likewise, with m a little of the kink's own
size. The rounded function is smooth, and Newton's steps with its own curvature find where it is smallest; then m is
reduced, a few steps more, and so on. What a rounded kink's slope is at the end is the mixture s (passes/convex/kinks).
Whoever uses point and mixture proves what they say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infimum.backends.linear import box_minimum
from infimum.boxes import FloatArray
from infimum.contractors.minimiser import curvatures, slack
from infimum.deadline import ask
from infimum.function.kinks import GROUPED, WITHIN, Kink, Kinks, Slopes

_SHARPER, _BLUNTEST = 0.1, 0.8  # of the rounding, each time
_LEAST = 1e-13  # rounding
_STEPS, _MOST_STEPS = 12, 200  # of Newton's for a rounding, and for all of them
_HALVINGS = 12
_NOTHING = 1e-300  # of a value: what is divided by at least
_NEAR, _FAR = 1e-3, 1.0  # of what a rounding adds: what there may be left to gain; where it has failed
_ALMOST, _CLOSE = 2.0**-24, 2.0**-32  # of the value: what is left to gain, where a step that fails is the last; nothing
_FLAT = 1e-9  # of the kinks' curvature: what there is beside them where it counts for nothing
_FLAT_TIMES = 3  # matrices in a row, after which nothing beside the kinks is looked for
_FREE = 1e-7  # from the ends of what a number of a mixture may be: between them it is balanced
_BALANCES, _EVEN = 2, 0.1  # times; of what the rounding adds: how far a plane may fall that needs no balance


class Mixed(NamedTuple):
    """A point (n,), a mixture (numbers,), about what the plane that they give is at least on the box; a low point."""

    point: FloatArray
    s: FloatArray
    least: float
    lowest: FloatArray


class _Place(NamedTuple):
    x: FloatArray
    s: FloatArray
    w: FloatArray
    bends: FloatArray  # how much each s changes with its argument
    value: float
    slopes: Slopes


def mixed(kinks: Kinks, start: FloatArray, lo: FloatArray, hi: FloatArray, enough: float = np.inf) -> Mixed | None:
    """Return the best mixture that was found on a box [lo, hi] with finite ends; None where there is none.

    enough: a plane that lies above this need be no better
    """
    with np.errstate(all="ignore"):
        return _Rounded(kinks, lo, hi, enough).from_(np.clip(start, lo, hi))


class _Rounded:
    def __init__(self, kinks: Kinks, lo: FloatArray, hi: FloatArray, enough: float) -> None:
        self.kinks = kinks
        self.lo, self.hi = lo, hi
        self.enough = enough
        self.size = np.ones(len(kinks.each))
        self.best: Mixed | None = None
        self.steps = self.flat = 0  # Newton's steps; how many in a row had no curvature beside the kinks'

    def from_(self, x: FloatArray) -> Mixed | None:
        """Return where ever sharper roundings lead to: points move on as the rounding is reduced."""
        self.size = self._sizes()
        rounding, way, sharper = 1.0, np.zeros_like(x), _SHARPER
        here = self._at(x, rounding)
        here = None if here is None else self._smallest(here, rounding)
        while here is not None and not self._is_enough(here) and rounding > _LEAST and self.steps < _MOST_STEPS:
            start = np.clip(here.x + (1.0 - sharper) * rounding * way, self.lo, self.hi)
            found = self._at(start, sharper * rounding)
            found = None if found is None else self._smallest(found, sharper * rounding)
            if found is None or self._left(found) > _FAR * self._rest(found):
                if sharper > _BLUNTEST or self._lacks(here) <= _ALMOST:
                    break
                sharper = sharper**0.5
                continue
            way = (found.x - here.x) / ((1.0 - sharper) * rounding)
            here, rounding, sharper = found, sharper * rounding, max(_SHARPER, sharper**2)
        return self.best

    def _left(self, here: _Place) -> float:
        """Return how much there is to gain under this rounding."""
        return slack(here.x, here.slopes.by_x[0], self.lo, self.hi)

    def _rest(self, here: _Place) -> float:
        """Return how much the rounding adds to the value."""
        return float(np.abs(here.w * here.slopes.by_w[0]).sum())

    def _sizes(self) -> FloatArray:
        """Return how large the arguments of each node of kinks are in the box, about."""
        odd = np.arange(self.lo.size) % 2
        points = [self.lo + share * (self.hi - self.lo) for share in (0.25 + 0.5 * odd, 0.75 - 0.5 * odd)]
        sizes = np.array([[self._size(given, kink) for kink in self.kinks.each] for given in map(self._given, points)])
        found: FloatArray = sizes.max(axis=0)
        return np.where((found > 0.0) & np.isfinite(found), found, 1.0)

    def _given(self, x: FloatArray) -> FloatArray:
        at = self._at(x, 1.0)
        return np.zeros(self.kinks.numbers) if at is None else self.kinks.arguments(x[None], at.s[None], at.w[None])[0]

    def _size(self, given: FloatArray, kink: Kink) -> float:
        own = given[kink.s]
        return float(np.mean(np.abs(own - _first(own, kink.kind, kink.width))))

    def _at(self, x: FloatArray, rounding: float) -> _Place | None:
        """Return the rounded function at a point; None where it is not known."""
        k = self.kinks
        s, w, bends = np.zeros(k.numbers), np.zeros(k.rests), np.zeros(k.numbers)
        for depth in range(1 + max(kink.depth for kink in k.each)):
            given = k.arguments(x[None], s[None], w[None])[0]
            for kink, size in zip(k.each, self.size, strict=True):
                if kink.depth == depth:
                    s[kink.s], w[kink.w], bends[kink.s] = _ROUNDINGS[kink.kind](
                        given[kink.s], rounding * size, kink.width, kink.sign
                    )
        slopes = k.slopes(x[None], s[None], w[None])
        value = float(slopes.value[0])
        if not (np.isfinite(value) and np.isfinite(slopes.by_x).all() and np.isfinite(s).all()):
            return None
        return _Place(x, s, w, bends, value, slopes)

    def _smallest(self, here: _Place, rounding: float) -> _Place:
        """Return where Newton's steps lead to under one rounding."""
        for _ in range(_STEPS):
            ask()
            slope = here.slopes.by_x[0]
            if self._left(here) <= _NEAR * self._rest(here):
                break
            self.steps += 1
            matrix = self._matrix(here)
            if not np.isfinite(matrix).all():
                break
            step = box_minimum(matrix[None], slope[None], (self.lo - here.x)[None], (self.hi - here.x)[None])[0]
            moved = self._moved(here, step, rounding)
            if moved is None:
                break
            here = moved
        return here

    def _moved(self, here: _Place, step: FloatArray, rounding: float) -> _Place | None:
        promised = -float(np.sum(here.slopes.by_x[0] * step))
        if not promised > 0.0:
            return None
        length = 1.0
        for _ in range(_HALVINGS):
            y = np.clip(here.x + length * step, self.lo, self.hi)
            found = self._at(y, rounding)
            if found is not None and found.value <= here.value - 1e-4 * length * promised:
                return found
            length *= 0.5
        return None

    def _matrix(self, here: _Place) -> FloatArray:
        """Return the rounded function's second derivatives: those beside the kinks, and the kinks' own."""
        k, x = self.kinks, here.x[None]
        if self.flat < _FLAT_TIMES:
            beside = _Beside(k, here.s, here.w)
            found = curvatures(beside, x, here.slopes.by_x, self.lo[None], self.hi[None], np.arange(k.n))[0]
        else:
            found = np.zeros((k.n, k.n))
        own_size = float(np.abs(found).max())
        inner = k.jacobian(x, here.s[None], here.w[None])[0]
        by_w = here.slopes.by_w[0]
        for kink in k.each:
            rows, weights, bends = inner[kink.s], np.abs(by_w[kink.w]), here.bends[kink.s]
            if kink.kind not in GROUPED:
                found = found + (rows * (weights * bends)[:, None]).T @ rows
                continue
            shares = here.s[kink.s].reshape(-1, kink.width)
            for i, (share, weight) in enumerate(zip(shares, weights, strict=True)):
                own, bend = rows[i * kink.width : (i + 1) * kink.width], bends[i * kink.width]
                if kink.kind == "norm":
                    along = share @ own
                    found = found + weight * bend * (own.T @ own - np.outer(along, along))
                    continue
                own = own - share @ own
                found = found + weight * (own * (share * bend)[:, None]).T @ own
        self.flat = self.flat + 1 if own_size <= _FLAT * float(np.abs(found).max()) else 0
        symmetric: FloatArray = 0.5 * (found + found.T)
        return symmetric

    def _is_enough(self, here: _Place) -> bool:
        """Keep what a place gives, and say whether more can hardly be gained."""
        s = here.s
        for _ in range(1 + _BALANCES):
            plane = self.kinks.slopes(here.x[None], s[None], np.zeros_like(here.w)[None])
            falls = slack(here.x, plane.by_x[0], self.lo, self.hi)
            least = float(plane.value[0]) - falls
            if not np.isfinite(least):
                break
            before = self.best
            if before is None or least > before.least:
                self.best = Mixed(here.x, s, least, here.x)
            else:
                self.best = before._replace(lowest=here.x)
            if least > self.enough:
                return True
            if falls <= _EVEN * (here.value - float(plane.value[0])):
                break
            s = self._balanced(here, s, plane)
        return self._lacks(here) <= _CLOSE

    def _lacks(self, here: _Place) -> float:
        """Return how far the best plane falls below the rounded function, of its value."""
        return np.inf if self.best is None else (here.value - self.best.least) / max(abs(here.value), _NOTHING)

    def _balanced(self, here: _Place, s: FloatArray, plane: Slopes) -> FloatArray:
        """Return almost the same mixture, with smaller slopes where the point is not at an end of the box."""
        inner = self.kinks.jacobian(here.x[None], here.s[None], here.w[None])[0]
        pull, free = np.zeros_like(inner), np.zeros(s.size, bool)
        lowest = np.zeros_like(s)
        for kink in self.kinks.each:
            weight = np.repeat(plane.by_w[0][kink.w], kink.numbers // kink.rests) * kink.sign
            rows = inner[kink.s]
            if kink.kind == "max_of":
                groups = rows.reshape(kink.rests, kink.width, -1)
                shares = s[kink.s].reshape(kink.rests, kink.width)
                rows = (groups - np.einsum("gw,gwn->gn", shares, groups)[:, None]).reshape(rows.shape)
            lowest[kink.s] = 0.0 if kink.kind in ("max", "max_of") else -1.0
            pull[kink.s] = weight[:, None] * rows
            free[kink.s] = (s[kink.s] > lowest[kink.s] + _FREE) & (s[kink.s] < 1.0 - _FREE)
            if kink.kind == "norm":
                free[kink.s] = np.repeat(
                    np.sum(s[kink.s].reshape(-1, kink.width) ** 2, axis=1) < 1.0 - _FREE, kink.width
                )
        slope = plane.by_x[0]
        along = (self.lo < here.x) & (here.x < self.hi)
        if not free.any() or not along.any() or not np.isfinite(pull).all():
            return s
        change = np.linalg.lstsq(pull[free][:, along].T, -slope[along], rcond=1e-12)[0]
        found = s.copy()
        found[free] = np.clip(s[free] + change, lowest[free], 1.0)
        for kink in self.kinks.each:
            if kink.kind == "norm":
                found[kink.s] = _within(found[kink.s].reshape(-1, kink.width))
        return found


class _Beside:
    """Phi with its s and w held, as a function of x."""

    def __init__(self, kinks: Kinks, s: FloatArray, w: FloatArray) -> None:
        self._kinks, self._s, self._w = kinks, s, w

    def value_and_gradient(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        s, w = (np.broadcast_to(a, (len(points), a.size)) for a in (self._s, self._w))
        found = self._kinks.slopes(points, s, w)
        return found.value, found.by_x


def _first(given: FloatArray, kind: str, width: int) -> FloatArray:
    """Return what a kink's arguments are measured from: the largest of a group, else 0."""
    if kind != "max_of":
        return np.zeros_like(given)
    largest: FloatArray = np.max(given.reshape(-1, width), axis=1)
    return np.repeat(largest, width)


# Each returns s, w, and how much s changes with its argument, under the rounding m.


def _of_magnitude(u: FloatArray, m: float, width: int, sign: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    root = np.hypot(u, m)
    return u / root, m * (m / root), (m / root) ** 2 / root


def _of_two(d: FloatArray, m: float, width: int, sign: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    root = np.hypot(d, 2 * m)
    return 0.5 * (1 + sign * d / root), 2 * m * (m / root), 2 * (m / root) ** 2 / root


def _of_many(u: FloatArray, m: float, width: int, sign: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    of = sign * u.reshape(-1, width) / m
    parts = np.exp(of - of.max(axis=1, keepdims=True))
    share = parts / parts.sum(axis=1, keepdims=True)
    rest = -m * np.sum(np.where(share > 0, share * np.log(share), 0.0), axis=1)
    return share.ravel(), rest, np.full(u.size, 1 / m)


def _of_lengths(u: FloatArray, m: float, width: int, sign: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    of = u.reshape(-1, width)
    root = np.hypot(np.sqrt(np.sum(of**2, axis=1)), m)
    return _within(of / root[:, None]), m * (m / root), np.repeat(1 / root, width)


def _within(s: FloatArray) -> FloatArray:
    """Return rows that are no longer than 1 allows, and that can be told to be so, in one line."""
    size = np.sqrt(np.sum(s**2, axis=1))
    most = np.sqrt(WITHIN) * (1.0 - 2.0**-50)
    return np.asarray((s * np.minimum(1.0, most / np.maximum(size, most))[:, None]).ravel())


_ROUNDINGS = {"abs": _of_magnitude, "max": _of_two, "max_of": _of_many, "norm": _of_lengths}

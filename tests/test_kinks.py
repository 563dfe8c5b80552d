"""Kinks: a plane with any mixture of slopes is below a convex function, and each condition broken is noticed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.boxes import FloatArray
from infimum.contractors import convex as contractor
from infimum.function import kinks as module
from infimum.function.function import Function, trace
from infimum.function.kinks import Kinks
from infimum.passes.convex import kinks as expressions

Patch = pytest.MonkeyPatch
Maker = Callable[[Any, Any], Callable[[Any], Any]]

N, ROWS = 3, 6


def _largest_of_each(x: Any) -> Any:
    return np.max(x.reshape(N, -1), axis=1)


def _root(q: Any) -> Fraction:
    """The square root of a fraction, hardly rounded upward."""
    shift = 2**400
    return Fraction(math.isqrt(q.numerator * shift // q.denominator) + 1, 2**200)


def _length(r: Any, axis: int | None = None) -> Any:
    if isinstance(r, np.ndarray) and r.dtype == object:
        squares = np.sum(r**2, axis=axis)
        return np.vectorize(_root, otypes=[object])(squares) if axis is not None else _root(squares)
    return np.linalg.norm(r, axis=axis)


def _hypot(u: Any, v: Any) -> Any:
    if isinstance(u, np.ndarray) and u.dtype == object:
        return np.vectorize(_root, otypes=[object])(u**2 + v**2)
    return np.hypot(u, v) if u.size > 2 else np.sqrt(u**2 + v**2)


def _tilted(r: Any) -> Any:
    return np.where(r < 0, -r, 3 * r)


# Of a @ x - y. Exact in fractions, too, where a and y are integers.
MAKERS: dict[str, Maker] = {
    "a sum of magnitudes": lambda a, y: lambda x: np.sum(np.abs(a @ x - y)),
    "the largest": lambda a, y: lambda x: np.max(a @ x - y),
    "the largest magnitude": lambda a, y: lambda x: np.max(np.abs(a @ x - y)),
    "its square": lambda a, y: lambda x: np.max(np.abs(a @ x - y)) ** 2,
    "the square of a sum": lambda a, y: lambda x: np.sum(np.abs(a @ x - y)) ** 2,
    "less the least": lambda a, y: lambda x: np.sum(x * x) - 3 * np.min(a @ x - y),
    "hinges": lambda a, y: lambda x: np.sum(np.maximum(0, 1 - y * (a @ x))) + np.sum(x**2),
    "largest of groups": lambda a, y: lambda x: np.sum(_largest_of_each(a @ x - y)),
    "kinks in kinks": lambda a, y: lambda x: np.sum(np.maximum(np.abs(a @ x - y), 2 * (a @ x) + 1)),
    "less smaller ones": lambda a, y: lambda x: -np.sum(np.minimum(a @ x, np.minimum(-y, 2 * (a @ x)))),
    "another slope on each side": lambda a, y: lambda x: np.sum(_tilted(a @ x - y)),
    "a condition as a number": lambda a, y: lambda x: np.sum((a @ x - y) * (0.75 - 1.0 * (a @ x - y < 0))),
    "a length": lambda a, y: lambda x: _length(a @ x - y) + np.sum(np.abs(x)),
    "lengths of groups": lambda a, y: lambda x: np.sum(_length((a @ x - y).reshape(3, -1), 1)),
    "the largest length": lambda a, y: lambda x: np.max(_length((a @ x - y).reshape(-1, 2), 1)),
    "hypot": lambda a, y: lambda x: np.sum(_hypot((a @ x - y)[:3], (a @ x)[3:])),
    "roots of squares": lambda a, y: lambda x: np.sum(_hypot((a @ x - y)[:2], (a @ x)[2:4])) + np.max(x),
    "less a length": lambda a, y: lambda x: np.sum(x * x) - _length(a @ x - y),
    "less magnitudes": lambda a, y: lambda x: np.sum(x * x) - np.sum(np.abs(a @ x - y)),
    "a product of magnitudes": lambda a, y: lambda x: np.prod(np.abs(x)) + np.sum(np.abs(a @ x)),
    "a cube": lambda a, y: lambda x: np.sum(10 * np.abs(x) + (1 - np.abs(x)) ** 3),
    "a jump": lambda a, y: lambda x: np.sum(np.where(x <= 1, np.abs(x), -5)),
}
LENGTHS = {"a length", "lengths of groups", "the largest length", "hypot", "roots of squares", "less a length"}
NOT_CONVEX = {"less magnitudes", "less a length", "a product of magnitudes", "a cube", "a jump"}


class Drawn:
    """A function with its exact values, and boxes with points."""

    def __init__(self, name: str, seed: int) -> None:
        self.draw = np.random.default_rng([seed, *name.encode()])
        a, y = self.draw.integers(-4, 5, (ROWS, N)), self.draw.integers(-3, 4, ROWS)
        self.name = name
        self.function: Function = trace(MAKERS[name](a, y), N, compare=False)
        self.exact = MAKERS[name](a.astype(object), y.astype(object))

    def planes(self, count: int) -> Iterator[tuple[Kinks, FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Yield kinks, a box, a point and a mixture of any kind."""
        kinks = self.function.kinks
        draw = self.draw
        if kinks is None:
            return
        for k in range(count):
            lo, hi = np.sort(np.round(draw.uniform(-6, 6, (2, N)), 2), axis=0)
            c = draw.choice([lo, hi, draw.uniform(lo, hi)]) if k % 8 else draw.uniform(-6, 6, N)
            s = np.round(draw.uniform(-1.3, 1.6, kinks.numbers), 1) * (0.4 if self.name in LENGTHS and k % 2 else 1.0)
            s = s if k % 4 == 0 else np.abs(np.clip(s, -1, 1)) if k % 4 < 3 else np.clip(s, -1, 1)
            yield kinks, lo, hi, c, s

    def faults(self, count: int = 24, points: int = 12) -> Iterator[str]:
        """Yield where the function is below a plane."""
        for kinks, lo, hi, c, s in self.planes(count):
            value, slope, is_below = kinks.plane((lo[None], hi[None]), c[None], s[None])
            if not is_below:
                continue
            for _ in range(points):
                x = self.draw.choice([lo, hi, self.draw.uniform(lo, hi)], axis=0)
                x = np.where(self.draw.random(N) < 0.5, x, self.draw.choice([lo, hi], axis=0))
                if Fraction(self.exact(_fractions(x))) < _height(value[0][0], (slope[0][0], slope[1][0]), x, c):
                    yield f"{self.name} at {x.tolist()}, from {c.tolist()} with {s.tolist()}"


def _fractions(x: FloatArray) -> Any:
    return np.array([Fraction(float(v)) for v in x], dtype=object)


def _height(value: float, slope: tuple[FloatArray, FloatArray], x: FloatArray, c: FloatArray) -> Fraction:
    """The least that a plane with an uncertain value and slope may be at x."""
    found = Fraction(float(value))
    for low, high, to, start in zip(*slope, x, c, strict=True):
        step = Fraction(float(to)) - Fraction(float(start))
        found += Fraction(float(low if step > 0 else high)) * step
    return found


def faults(seeds: range = range(6), names: Any = MAKERS) -> list[str]:
    """The first planes that are not below their functions."""
    for seed in seeds:
        for name in names:
            found = list(Drawn(name, seed).faults())
            if found:
                return found
    return []


def test_no_plane_is_above_its_function() -> None:
    assert not faults()


@pytest.mark.torture
def test_no_plane_of_many_functions_is_above_its_function() -> None:
    assert not faults(range(100, 250))


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in NOT_CONVEX])
def test_most_mixtures_of_convex_functions_give_a_plane(name: str) -> None:
    drawn = Drawn(name, 0)
    part = 0.3 if name in LENGTHS else 1.0
    allowed = [part * np.abs(np.clip(s, -1, 1)) for *_, s in drawn.planes(24)]
    given = zip(drawn.planes(24), allowed, strict=True)
    found = [
        kinks.plane((lo[None], hi[None]), np.clip(c, lo, hi)[None], s[None])[2] for (kinks, lo, hi, c, _), s in given
    ]
    assert sum(found) >= (20 if "square" not in name else 1)


# --- whole problems --------------------------------------------------------------------------------------------------


def _data(n: int) -> tuple[FloatArray, FloatArray]:
    draw = np.random.default_rng(n)
    a = draw.normal(size=(4 * n, n))
    return a, a @ draw.uniform(-5, 5, n) + 0.3 * draw.standard_t(2, size=4 * n)


PROBLEMS: dict[str, Maker] = {
    "least magnitudes": lambda a, y: lambda x: np.sum(np.abs(a @ x - y)),
    "least largest": lambda a, y: lambda x: np.max(np.abs(a @ x - y)),
    "the largest of all, in a loop": lambda a, y: lambda x: max(a[i] @ x - y[i] for i in range(len(y))),
    "a quantile": lambda a, y: lambda x: np.mean(np.where(a @ x > y, 0.3 * (a @ x - y), 0.7 * (y - a @ x))),
    "hinges": lambda a, y: lambda x: np.mean(np.maximum(0, 1 - np.sign(y) * (a @ x))) + 1e-3 * np.dot(x, x),
    "a lasso": lambda a, y: lambda x: np.mean((a @ x - y) ** 2) + 2 * np.sum(np.abs(x)),
    "total variation": lambda a, y: lambda x: np.sum((x - y[: len(x)]) ** 2) + np.sum(np.abs(np.diff(x))),
    "distances": lambda a, y: lambda x: np.sum(np.linalg.norm(a - x, axis=1)) + 30 * np.linalg.norm(x - a[0]),
    "the largest distance": lambda a, y: lambda x: max(np.linalg.norm(a[i] - x) for i in range(len(a))),
    "groups": lambda a, y: lambda x: np.mean((a @ x - y) ** 2) + np.sum(np.linalg.norm(x.reshape(3, -1), axis=1)),
    "hypotenuses": lambda a, y: lambda x: sum(np.hypot(x[0] - a[i, 0], x[1] - y[i]) for i in range(9)) + x[2] ** 2,
    "a norm beside it": lambda a, y: lambda x: np.sum(np.abs(a @ x - y)) + np.linalg.norm(x),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("n", [3, 12])
def test_a_convex_problem_with_kinks_is_closed_at_the_root(name: str, n: int) -> None:
    result = infimum.minimize(PROBLEMS[name](*_data(n)), [(-10, 10)] * n, time_limit=20)
    assert result.success and result.nregions == 1 and result.nit == 1


def test_the_least_sum_of_magnitudes_is_that_of_linear_programming() -> None:
    from scipy.optimize import linprog

    a, y = _data(6)
    result = infimum.minimize(lambda x: np.sum(np.abs(a @ x - y)), [(-10, 10)] * 6)
    one = np.eye(len(y))
    found = linprog(
        np.r_[np.zeros(6), np.ones(len(y))],
        A_ub=np.block([[a, -one], [-a, -one]]),
        b_ub=np.r_[y, -y],
        bounds=[(-10, 10)] * 6 + [(0, None)] * len(y),
    )
    assert result.success and result.minimum.lo <= found.fun + 1e-9 and found.fun <= result.minimum.hi + 1e-9


def test_a_least_value_of_0_is_no_divisor() -> None:
    def f(x: Any) -> Any:
        low = np.minimum(np.maximum(x[0], 0.0), x[0] ** 2)
        return np.sum(np.maximum(low, np.maximum(np.abs(x[0]), 1.5)) + np.array([0.0, 1.0, 2.0]) * x[0])

    assert infimum.minimize(f, [(-3.0, 0.0)]).success


# --- broken on purpose -----------------------------------------------------------------------------------------------


def _anywhere(self: Kinks, box: Any, c: FloatArray, s: FloatArray, **more: Any) -> Any:
    lowest, highest = np.fmin(box[0], c), np.fmax(box[1], c)
    value, slope, known = _PLANE(self, (lowest, highest), c, s, **more)
    return value, slope, known or bool(((box[0] > c) | (c > box[1])).any() and _PLANE(self, (c, c), c, s)[2])


_PLANE = Kinks.plane


def _one(self: expressions.Kinks) -> Any:
    return self.build.number(1)


def _with_bound(change: Callable[[expressions.Kinks, list[Any]], list[Any]]) -> Callable[[Patch], None]:
    made = expressions.Kinks.bound

    def breaks(patch: Patch) -> None:
        patch.setattr(expressions.Kinks, "bound", lambda self: change(self, made(self)))

    return breaks


def _flat_rests(self: expressions.Kinks, found: list[Any]) -> list[Any]:
    b = self.build
    return [found[0], found[1], b.full(b.number(0), self.rests)]


BROKEN: dict[str, Callable[[Patch], None]] = {
    "any mixture": lambda patch: patch.setattr(Kinks, "_is_allowed", lambda self, s: True),
    "a mixture longer than 1": lambda patch: patch.setattr(module, "WITHIN", 2.0),
    "every function taken for a convex one": lambda patch: patch.setattr(expressions.Kinks, "convex", property(_one)),
    "a falling rest": _with_bound(_flat_rests),
    "no rest above the line": lambda patch: patch.setattr(module, "_MOST_ABOVE", 0.0),
    "a point anywhere": lambda patch: patch.setattr(Kinks, "plane", _anywhere),
}


@pytest.mark.parametrize("part", BROKEN)
def test_a_broken_part_is_noticed(part: str, monkeypatch: Patch) -> None:
    BROKEN[part](monkeypatch)
    assert faults(range(40)), part


def test_there_is_no_plane_where_what_is_left_has_no_slope() -> None:
    function = trace(lambda x: np.sum(np.abs(x - 1)) - np.sum(np.sqrt(x)), N, compare=False)
    kinks = function.kinks
    assert kinks is not None
    box, s = (np.full((1, N), 0.0), np.full((1, N), 2.0)), np.zeros((1, kinks.numbers))
    assert not kinks.plane(box, np.zeros((1, N)), s)[2]
    assert kinks.plane(box, np.ones((1, N)), s)[2]


def test_functions_without_kinks_or_with_too_many_have_none() -> None:
    assert trace(lambda x: np.sum(x**2), N, compare=False).kinks is None
    many = np.ones((module._MOST_ENTRIES // N + 1, N))
    assert trace(lambda x: np.sum(np.abs(many @ x)), N, compare=False).kinks is None
    assert trace(lambda x: np.sum(np.abs(x)), module.MOST_VARIABLES + 1, compare=False).kinks is None


def test_a_search_that_knows_nothing_of_kinks_has_no_better_bound(monkeypatch: Patch) -> None:
    a, y = _data(3)
    monkeypatch.setattr(contractor, "mixed", lambda *args: None)
    result = infimum.minimize(lambda x: np.sum(np.abs(a @ x - y)), [(-10, 10)] * 3, max_iter=1)
    assert not (result.success and result.nregions == 1)

"""Surrounded: a bounded box has every low point of a convex function on an unbounded one; each condition is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import infimum
from contractions import Applied
from infimum.boxes import Boxes, FloatArray
from infimum.contractors import convex as contractor
from infimum.contractors import surround as module
from infimum.contractors.convex import Convex
from infimum.function.function import trace

Patch = pytest.MonkeyPatch
INF = np.inf
N = 3


class Drawn:
    """A random convex function on an unbounded domain, and points of all sizes with their values."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        rows = int(draw.integers(1, 8))  # few rows leave directions in which nothing grows
        a, y = draw.normal(size=(rows, N)), draw.normal(size=rows) * 3
        kinds: list[Callable[[Any], Any]] = [
            lambda x: np.sum(np.abs(a @ x - y)),
            lambda x: np.sum(np.maximum(a @ x - y, 0)),
            lambda x: np.max(a @ x - y) + 0.5 * np.abs(x[0]),
            lambda x: np.sum(np.logaddexp(0, a @ x - y)) + 0.1 * np.sum(np.abs(x[1:])),
            lambda x: np.sum((a @ x - y) ** 2),
            lambda x: np.sum(np.where(np.abs(a @ x - y) <= 1, 0.5 * (a @ x - y) ** 2, np.abs(a @ x - y) - 0.5)),
            lambda x: np.linalg.norm(a @ x - y) - 0.1 * x[0],
            lambda x: np.sum(np.exp(a @ x - y)) + np.sum(np.exp(-(a @ x))),
        ]
        self.f = kinds[seed % len(kinds)]
        self.function = trace(self.f, N, compare=False)
        ends = np.where(draw.random((2, N)) < 0.75, [[-INF], [INF]], [[-2.0], [5.0]])
        self.lo, self.hi = ends
        far = 10.0 ** draw.uniform(-1, 7, (300, 1))
        null = np.linalg.svd(a)[2][min(rows, N - 1) :]  # along which nothing or little changes
        along = draw.normal(size=(300, len(null))) @ null * far
        x = np.vstack([draw.normal(size=(300, N)) * far, along, along + draw.normal(size=(300, N))])
        self.points = np.clip(x, self.lo, self.hi)
        with np.errstate(over="ignore"):
            self.values = np.array([float(self.f(p)) for p in self.points])

    def faults(self) -> Iterator[str]:
        """Yield points that are lost though their values are clearly below the level."""
        least = float(np.nanmin(self.values))
        for level in (least, least + 1.0, 2.0 * abs(least) + 5.0):
            found = Applied(Convex(self.function), self.function).boxes(self.lo[None], self.hi[None], level)
            low = self.points[self.values < level - 1e-6 * (1.0 + abs(level))]
            for x in low[~_inside(found, low)]:
                yield f"{x.tolist()} at {level}"


def _inside(box: Boxes, points: FloatArray) -> Any:
    return ((box.lo[0] <= points) & (points <= box.hi[0])).all(axis=1)


def faults(seeds: range = range(64)) -> list[str]:
    for seed in seeds:
        found = list(Drawn(seed).faults())
        if found:
            return [f"seed {seed}: {found[0]}"]
    return []


def test_no_low_point_is_lost() -> None:
    assert not faults()


@pytest.mark.torture
def test_no_low_point_of_many_functions_is_lost() -> None:
    assert not faults(range(100, 1500))


A = np.random.default_rng(3).normal(size=(40, 6))
Y = A @ np.arange(6.0) + np.random.default_rng(4).standard_t(2, size=40)
SIGN = np.where(np.random.default_rng(5).random(40) < 0.8, np.sign(Y), -np.sign(Y))

PROBLEMS: dict[str, Callable[[Any], Any]] = {
    "least magnitudes": lambda x: np.sum(np.abs(A @ x - Y)),
    "Huber": lambda x: np.sum(np.where(np.abs(A @ x - Y) <= 1, 0.5 * (A @ x - Y) ** 2, np.abs(A @ x - Y) - 0.5)),
    "hinges": lambda x: np.mean(np.maximum(0, 1 - SIGN * (A @ x))) + 1e-3 * x @ x,
    "logistic": lambda x: np.mean(np.logaddexp(0, -SIGN * (A @ x))),
    "a quantile": lambda x: np.mean(np.maximum(0.3 * (A @ x - Y), -0.7 * (A @ x - Y))),
    "inside a logarithm": lambda x: np.log(1 + np.sum(np.abs(A @ x - Y))),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("bound", [(-INF, INF), (0, INF)])
def test_an_unbounded_convex_problem_is_closed_at_the_root(name: str, bound: Any) -> None:
    result = infimum.minimize(PROBLEMS[name], [bound] + [(-INF, INF)] * 5, time_limit=20)
    assert result.success and result.nregions == 1
    near = infimum.minimize(PROBLEMS[name], [(max(bound[0], -1e3), 1e3)] + [(-1e3, 1e3)] * 5, time_limit=20)
    assert near.success and result.minimum.lo <= near.minimum.hi and near.minimum.lo <= result.minimum.hi


# --- broken on purpose -----------------------------------------------------------------------------------------------

_FACES = module._faces


def _upper_faces(whole: Any, part: Any) -> Iterator[Boxes]:
    yield from _FACES((part[0], whole[1]), part)


def _no_faces(whole: Any, part: Any) -> Iterator[Boxes]:
    yield from ()


BROKEN: dict[str, Callable[[Patch], None]] = {
    "no face is looked at": lambda patch: patch.setattr(module, "_faces", _no_faces),
    "one side alone": lambda patch: patch.setattr(module, "_faces", _upper_faces),
}


@pytest.mark.parametrize("part", BROKEN)
def test_a_broken_part_is_noticed(part: str, monkeypatch: Patch) -> None:
    BROKEN[part](monkeypatch)
    assert faults(), part


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_level_below_the_value_at_the_point_in_the_middle_would_lose_points(
    is_broken: bool, monkeypatch: Patch
) -> None:
    function = trace(lambda x: np.sum(np.abs(x)), N, compare=False)
    monkeypatch.setattr(Convex, "_points", lambda self, boxes, *, alone: np.clip(1e6, *boxes.ends))
    monkeypatch.setattr(module, "_NEAR", 0.1)
    if is_broken:
        monkeypatch.setattr(contractor, "_level", lambda limit, value: limit)
    found = Applied(Convex(function), function).boxes(np.full((1, N), -INF), np.full((1, N), INF), 1.0)
    assert bool((found.lo <= 0).all() and (found.hi >= 0).all()) != is_broken


def test_functions_that_are_not_convex_keep_their_boxes() -> None:
    function = trace(lambda x: np.sum(np.cos(x)) + np.sum(np.abs(x)), N, compare=False)
    found = Applied(Convex(function), function).boxes(np.full((1, N), -INF), np.full((1, N), INF), 5.0)
    assert np.isneginf(found.lo).all() and np.isposinf(found.hi).all()


def test_beside_a_kink_at_the_largest_double_a_point_is_finite() -> None:
    most, tiny = float(np.finfo(float).max), 2.0**-1000
    function = trace(lambda x: np.abs(tiny * x[0] - tiny * most) + np.abs(x[1]), 2, compare=False)
    lo, hi = np.array([[most, -1.0], [0.0, -1.0]]), np.array([[INF, 2.0], [1.0, 3.0]])
    found = Applied(Convex(function), function).boxes(lo, hi, 1e305)
    assert len(found) == 2 and not found.is_empty().any()

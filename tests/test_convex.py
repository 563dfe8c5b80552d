"""Convex: planes lie below the function and keep what they promise; each part broken on purpose is noticed."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import flint
import numpy as np
import pytest
from scipy.special import logsumexp

import infimum
from contractions import Applied
from convex_functions import N, Tree, Undecided, exact, random_boxes, random_tree, traced, value
from infimum.boxes import Boxes, FloatArray
from infimum.contractors import Known, minimiser
from infimum.contractors import convex as module
from infimum.contractors.convex import Convex, convex
from infimum.domain import read_bounds
from infimum.errors import TraceError
from infimum.function.function import Function, trace

Patch = pytest.MonkeyPatch
INF = np.inf

# --- what must be kept -----------------------------------------------------------------------------------------------


class Sampled:
    """A random function with boxes, and points in them with balls around the values there."""

    def __init__(self, tree: Tree, function: Function, seed: int, boxes: int = 6, points: int = 6) -> None:
        self.tree, self.function = tree, function
        draw = np.random.default_rng(seed)
        self.lo, self.hi = random_boxes(draw, boxes)
        self.values: list[tuple[int, FloatArray, Any]] = []
        flint.ctx.prec = 200
        for k in range(boxes):
            for _ in range(points):
                x = draw.uniform(self.lo[k], self.hi[k])
                kind = draw.integers(4, size=N)
                x = np.where(kind == 0, self.lo[k], np.where(kind == 1, self.hi[k], x))
                try:
                    found = value(functools.partial(exact, tree), [flint.arb(float(v)) for v in x])
                except Undecided:
                    continue
                if found is not None:
                    self.values.append((k, x, found))

    def faults(self) -> Iterator[str]:
        """Bounds above a value, and points that are lost though their value is at most the level."""
        ends = zip(self.lo[:, None], self.hi[:, None], strict=True)
        alone = [Applied(Convex(self.function), self.function).boxes(*each) for each in ends]
        together = Applied(Convex(self.function), self.function).boxes(self.lo, self.hi)
        for k, x, exactly in self.values:
            for bound in (alone[k].lower[0], together.lower[k]):
                if not exactly >= bound:
                    yield f"{self.tree}: {float(bound).hex()} at {x.tolist()}"
        for k, x, exactly in self.values[:: max(6, len(self.values) // 6)]:
            level = float(np.nextafter(float(exactly.upper()), INF))
            found = Applied(Convex(self.function), self.function).boxes(self.lo[k][None], self.hi[k][None], level)
            if not ((found.lo[0] <= x) & (x <= found.hi[0])).all() or found.lower[0] > level:
                yield f"{self.tree}: {x.tolist()} is lost at {level.hex()}"


@functools.cache
def sampled(seed: int) -> Sampled | None:
    """A random function that is convex on some boxes, None where it is not."""
    tree = random_tree(np.random.default_rng(seed), 1 + seed % 3)
    try:
        function = traced(tree)
    except TraceError:
        return None
    return Sampled(tree, function, seed) if function.may_be_convex else None


def plane(seed: int) -> Sampled:
    """A function that is its own tangent plane, but for what is hardly there: no rounding may be the wrong way."""
    draw = np.random.default_rng(seed)
    tree: Tree = ("affine", *draw.normal(size=N + 1).tolist())
    tree = ("times", 0.1, ("add", tree, ("times", 2.0**-60, ("exp", ("affine", 0.0, *draw.normal(size=N).tolist())))))
    return Sampled(tree, traced(tree), seed, points=40)


def faults(seeds: range = range(90), planes: range = range(30)) -> list[str]:
    """What is wrong with bounds and contractions of random functions, the first of them."""
    for seed in seeds:
        made = sampled(seed)
        found = list(made.faults()) if made is not None else []
        if found:
            return found
    for seed in planes:
        found = list(plane(seed).faults())
        if found:
            return found
    return []


def test_no_bound_exceeds_a_value_and_no_point_at_most_the_level_is_lost() -> None:
    assert not faults()


@pytest.mark.torture
def test_no_bound_of_many_functions_exceeds_a_value() -> None:
    assert not faults(range(1000, 6000), range(1000, 1400))


def test_bounds_are_those_of_the_minimum() -> None:
    function = trace(lambda x: np.sum(np.exp(x) - 2 * x) + np.sum((x[1:] - x[:-1]) ** 2), N, compare=False)
    lo = np.array([[-5.0] * N, [1.0] * N, [0.5] * N, [-4.0, 2.0, 0.0]])
    hi = np.array([[5.0] * N, [3.0] * N, [1.0] * N, [-3.5, 2.5, 1.0]])
    ends = zip(lo[:, None], hi[:, None], strict=True)
    alone = np.array([Applied(Convex(function), function).boxes(*each).lower[0] for each in ends])
    assert alone[0] == pytest.approx(N * (2 - 2 * np.log(2)), rel=1e-8)
    assert alone[1] == pytest.approx(N * (np.e - 2), rel=1e-12)
    together = Applied(Convex(function), function).boxes(lo, hi).lower
    assert (together <= alone + 1e-9).all() and (together[1:] >= alone[1:] - 1e-4 * np.abs(alone[1:])).all()


def test_boxes_on_which_it_is_not_convex_stay_as_they_are() -> None:
    function = trace(lambda x: np.sum(x**2 - 10 * np.cos(2 * np.pi * x)), N, compare=False)
    lo, hi = np.array([[-0.5] * N, [-0.125] * N, [INF] * N]), np.array([[0.5] * N, [0.125] * N, [-INF] * N])
    found = Applied(Convex(function), function).boxes(lo, hi)
    assert np.isneginf(found.lower[0]) and found.lower[1] == pytest.approx(-10 * N)
    assert np.array_equal(found.lo[:2], lo[:2]) and found.is_empty().tolist() == [False, False, True]


def test_there_is_none_for_a_function_that_is_never_known_to_be_convex() -> None:
    assert convex(trace(lambda x: x[0] * x[1] + np.floor(x[2]), N, compare=False)) is None
    assert convex(trace(lambda x: np.sum(x**4), N, compare=False)) is not None


def test_points_are_offered_and_asked_for_once() -> None:
    function = trace(lambda x: np.sum(np.cosh(x - 0.3)), N, compare=False)
    domain = read_bounds([(-4, 4)] * N, N)
    known, contractor = Known(function, domain), Convex(function)
    first = contractor.contract(Boxes(domain.lo[None], domain.hi[None]), known)
    (offered,) = known.offered()
    assert np.allclose(offered, 0.3, atol=1e-7) and first.lower[0] == pytest.approx(N)
    again = contractor.contract(first, known.under(N + 1e-6))
    assert again.lower[0] == first.lower[0] and not known.offered()


def test_beside_a_kink_there_is_a_plane() -> None:
    function = trace(lambda x: np.sum(np.maximum(x, 0)) + np.sum(x**2) + np.abs(x[0]), N, compare=False)
    found = Applied(Convex(function), function).boxes(np.full((1, N), -1.0), np.full((1, N), 1.0))
    assert np.isfinite(found.lower[0]) and found.lower[0] <= 0


# --- whole problems --------------------------------------------------------------------------------------------------


def boxes_of(result: Any) -> float:
    return 1 + sum(dict(step.work).get("split", 0) for step in result.history)


def logistic(n: int, m: int = 200) -> Any:
    draw = np.random.default_rng(n)
    a = draw.normal(size=(m, n))
    y = np.where(draw.random(m) < 1 / (1 + np.exp(-a @ draw.normal(size=n) / np.sqrt(n))), 1.0, -1.0)
    return lambda x: np.mean(np.logaddexp(0, -y * (a @ x))) + 5e-4 * np.dot(x, x)


def energy(side: int) -> Any:
    load = np.random.default_rng(side).normal(size=(side, side))

    def f(x: Any) -> Any:
        u = x.reshape(side, side)
        steps = np.sum(np.diff(u, axis=0) ** 2) + np.sum(np.diff(u, axis=1) ** 2)
        return 0.5 * steps + np.sum(u**4) / 4 - np.sum(load * u)

    return f


@pytest.mark.parametrize(("f", "n"), [(logistic(20), 20), (energy(10), 100), (energy(40), 1600)])
def test_a_convex_problem_is_closed_at_the_root(f: Any, n: int) -> None:
    result = infimum.minimize(f, [(-10, 10)] * n, ftol=1e-6)
    assert result.success and boxes_of(result) == 1 and result.nit == 1


def test_maximising_a_concave_function_is_as_easy() -> None:
    f = logistic(20)
    result = infimum.minimize(lambda x: -f(x), [(-10, 10)] * 20, ftol=1e-6, maximize=True)
    assert result.success and boxes_of(result) == 1


def test_minimisers_are_enclosed_as_narrowly_as_asked_for() -> None:
    result = infimum.minimize(
        lambda x: np.sum(np.cosh(x - 0.25)) + x[0] * x[0], [(-5, 5)] * 3, xtol=1e-6, time_limit=20
    )
    assert result.success


@pytest.mark.parametrize(
    ("f", "bounds", "at"),
    [
        (lambda x: np.logaddexp(-(x[0] ** 2), -(x[1] ** 2)), [(-1, 1)] * 2, [1, 1]),
        (lambda x: np.logaddexp(-np.exp(x[0]), x[1]) + 0.3 * x[0], [(-8, 2), (-20, -19)], [2, -20]),
        (lambda x: logsumexp(-np.exp(x)) + 0.1 * np.sum(x), [(-8, 2)] * 3, [2, 2, 2]),
    ],
    ids=["concave ones", "one concave", "the largest taken out"],
)
def test_a_log_sum_exp_of_concave_exponents_has_its_minimum_in_corners(f: Any, bounds: Any, at: Any) -> None:
    result = infimum.minimize(f, bounds, time_limit=20)
    assert result.success and result.minimum.lo <= f(np.array(at, float)) <= result.minimum.hi + 1e-9
    assert any((lo <= at).all() and (at <= hi).all() for lo, hi in result.boxes.transpose(0, 2, 1))


def test_without_bounds_it_is_closed_too() -> None:
    result = infimum.minimize(logistic(3), [(None, None)] * 3, ftol=1e-6, time_limit=20)
    assert result.success


@pytest.mark.parametrize(
    ("f", "value"),
    [
        (lambda x: np.where(x[0] < 1, 0.5, 1.0), 1.0),
        (lambda x: np.where(x[0] < 1, x[0], 2 * x[0] - 1), 1.0),
        (lambda x: np.heaviside(x[0] - 1, 0.5), 0.5),
    ],
)
def test_a_box_of_one_point_at_a_jump_has_the_value_there_for_a_bound(f: Any, value: float) -> None:
    result = infimum.minimize(f, [(1, 1)])
    assert result.success and result.minimum.lo == result.minimum.hi == value


# --- broken on purpose -----------------------------------------------------------------------------------------------


def _to_nearest(function: Any, box: Any, slope: Any, centre: Any, ends: Any, upper: Any, *, threads: int = 1) -> Any:
    middle, v = 0.5 * (slope[0] + slope[1]), 0.5 * (ends[0] + ends[1])
    fall = np.where(middle > 0, middle * (box[0] - centre), middle * (box[1] - centre))
    return box[0], box[1], v + fall.sum(1)


class _Plain(Function):
    """A function whose values and slopes at points are plain doubles, without their rounding."""

    value_is_plain = slope_is_plain = False

    def range_ends(self, lo: Any, hi: Any, **how: Any) -> Any:
        found = super().range_ends(lo, hi, **how)
        return (found[0] + (found[1] - found[0]), found[1]) if self.value_is_plain else found

    def gradient_ends(self, lo: Any, hi: Any, **how: Any) -> Any:
        found = super().gradient_ends(lo, hi, **how)
        return (found[1], found[1]) if self.slope_is_plain else found


def _plain(part: str) -> Any:
    def breaks(patch: Patch) -> None:
        made = Convex.__init__

        def init(self: Any, function: Function) -> None:
            other = _Plain(function.value_node, function.n, "")
            setattr(other, part, True)
            made(self, other)

        patch.setattr(Convex, "__init__", init)

    return breaks


def _all(self: Any, boxes: Boxes, *more: Any) -> Any:
    return np.ones(len(boxes), bool)


def _smooth_anyhow(self: Any, points: FloatArray, boxes: Boxes, known: Known) -> Any:
    return np.ones(len(points), bool)


def _beyond(self: Any, boxes: Boxes, *, alone: bool) -> FloatArray:
    return boxes.hi + 0.5 * (boxes.hi - boxes.lo)


BROKEN: dict[str, Any] = {
    "rounded to nearest": lambda patch: patch.setattr(module, "form_contraction_ends", _to_nearest),
    "a value without its rounding": _plain("value_is_plain"),
    "every box taken for one on which it is convex": lambda patch: patch.setattr(Convex, "_are_convex", _all),
    "a plane at a kink": lambda patch: patch.setattr(Convex, "_smooth", _smooth_anyhow),
}


@pytest.mark.parametrize("part", BROKEN)
def test_a_broken_part_is_noticed(part: str, monkeypatch: Patch) -> None:
    BROKEN[part](monkeypatch)
    assert faults(), part


def test_a_slope_without_its_rounding_is_noticed(monkeypatch: Patch) -> None:
    # Where f is smallest the slope is 0, or leads out of the box: elsewhere its rounding shows.
    monkeypatch.setattr(Convex, "_points", lambda self, boxes, *, alone: 0.5 * boxes.lo + 0.5 * boxes.hi)
    assert not faults(range(0))
    _plain("slope_is_plain")(monkeypatch)
    assert faults(range(0))


def test_a_point_outside_its_box_says_nothing(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Convex, "_points", _beyond)
    function = trace(lambda x: np.sum(np.where(x <= 1, x**2, -5.0)), N, compare=False)
    found = Applied(Convex(function), function).boxes(np.full((2, N), 0.0), np.full((2, N), [[1.0], [0.5]]))
    assert found.lower[0] <= 0 and np.isneginf(found.lower[0])


# --- where it is smallest --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 30, 300])
def test_newton_ends_where_no_plane_leaves_much_to_gain(n: int) -> None:
    draw = np.random.default_rng(n)
    a = draw.normal(size=(2 * n, n)) * 10.0 ** draw.uniform(-1, 1, n)
    function = trace(lambda x: np.sum(np.logaddexp(0, a @ x)) + np.sum(x**2), n, compare=False)
    lo, hi = np.full(n, -0.5), np.full(n, 2.0)
    x = minimiser.minimised(function, np.full(n, 1.5), lo, hi)
    value, slope = function.value_and_gradient(x)
    assert (lo <= x).all() and (x <= hi).all()
    assert minimiser.slack(x, slope, lo, hi) <= 1e-8 * value


_MATRIX = np.random.default_rng(1).normal(size=(200, 100))


def _losses(x: Any) -> Any:
    return np.logaddexp(0, _MATRIX @ x)


@pytest.mark.parametrize("curve", [lambda x: x**4, _losses], ids=["polynomial", "losses"])
def test_products_with_the_hessian_take_the_place_of_gradients_where_they_are_cheaper(curve: Any) -> None:
    n = 100
    function = trace(lambda x: np.sum(curve(x)) + np.sum((x[1:] - x[:-1]) ** 2) - x[0], n, compare=False)
    assert function.has_cheap_products == (curve is not _losses)
    asked: list[str] = []
    for name in ("hessian_product", "value_and_gradient"):
        how = getattr(function, name)
        setattr(function, name, lambda *args, name=name, how=how: (asked.append(name), how(*args))[1])
    lo, hi = np.full(n, -2.0), np.full(n, 2.0)
    x = minimiser.minimised(function, np.full(n, 1.5), lo, hi)
    value, slope = function.value_and_gradient(x)
    assert minimiser.slack(x, slope, lo, hi) <= 1e-8 * max(1.0, abs(value))
    assert (asked.count("hessian_product") > asked.count("value_and_gradient")) == (curve is not _losses)


def test_it_stays_within_its_budget(monkeypatch: Patch) -> None:
    function = trace(lambda x: np.sum(np.abs(x[1:] - x[:-1])) + np.sum(np.sqrt(1 + x**2)), 40, compare=False)
    calls: list[int] = []
    ask = Function.value_and_gradient

    def counted(self: Function, x: Any, **how: Any) -> Any:
        calls.append(len(np.atleast_2d(x)))
        return ask(self, x, **how)

    monkeypatch.setattr(Function, "value_and_gradient", counted)
    minimiser.minimised(function, np.linspace(-3, 5, 40), np.full(40, -9.0), np.full(40, 9.0))
    assert sum(calls) <= minimiser.MOST_GRADIENTS + 100

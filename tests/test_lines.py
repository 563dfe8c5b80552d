"""Lines: no value of a function is below the linear function that is claimed, and each rule broken is noticed."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import infimum
from contractions import Applied, boxes_around, boxes_of_any_size, missing
from coupled_functions import coupled_function
from infimum.boxes import Boxes, FloatArray
from infimum.contractors import Known
from infimum.contractors.lines import lines
from infimum.domain import read_bounds
from infimum.function.function import trace
from infimum.function.lines import descent, sums
from infimum.function.lines.block_line import BlockLine
from infimum.function.lines.descent import Descent
from infimum.graph.payload import map_of
from infimum.interval import Interval
from random_functions import RandomFunction, planted_function, random_function
from test_contractors import known_points

Patch = pytest.MonkeyPatch
SEEDS = range(40)
MAKERS: tuple[Callable[[int], RandomFunction], ...] = (random_function, planted_function, coupled_function)


@cache
def drawn(seed: int, number: int) -> tuple[RandomFunction, FloatArray, list[Any]]:
    """A random function, points of its box, and balls around its values there."""
    f = MAKERS[number](seed)
    return f, *known_points(f, seed)


def claims(seeds: Any = SEEDS) -> tuple[list[str], int, int]:
    """False claims: points up to upper that are removed, bounds above a value; the boxes, and those with a claim."""
    found, count, claimed = [], 0, 0
    for seed in seeds:
        for number in range(len(MAKERS)):
            f, x, values = drawn(seed, number)
            own = lines(function := trace(f, f.n))
            if own is None or not len(x):
                continue
            lo, hi = boxes_around(x, f.bounds, seed)
            upper = np.array([math.nextafter(float(v.upper()), math.inf) for v in values])
            for limit in (upper, upper + 1.0):
                kept = Applied(own, function, read_bounds(f.bounds, f.n)).boxes(lo, hi, limit)
                found += [f"{f.name}: {m}" for m in missing(x, kept.ends)]
                found += [f"{f.name}: {b.hex()}" for b, v in zip(kept.lower, values, strict=True) if not v >= b]
                claimed += int((kept.lower > -np.inf).sum())
            count += 2 * len(x)
    return found, count, claimed


def test_no_point_up_to_the_upper_bound_is_lost_and_no_bound_is_above_a_value() -> None:
    found, count, claimed = claims()
    assert not found
    assert count > 2000 and claimed > count / 2


# --- sums ------------------------------------------------------------------------------------------------------------


def wrong_sums(seeds: Any = range(300)) -> list[str]:
    """Sums of doubles that are not within what is said of them."""
    found = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        b = draw.normal(size=(1, int(draw.integers(2, 40)))) * 10.0 ** draw.integers(-3, 4)
        exact = sum((Fraction(v) for v in b[0].tolist()), Fraction(0))
        if Fraction(float(descent.sum_down(b)[0])) > exact:
            found.append(f"{seed}: the sum rounded down")
        parts = [(b[:, i : i + 1], np.zeros((1, 1))) for i in range(b.shape[1])]
        s, r = descent.total(parts)
        if abs(Fraction(float(s[0, 0])) - exact) > Fraction(float(r[0, 0])):
            found.append(f"{seed}: the sum and its radius")
    return found


def nested(seed: int) -> tuple[Callable[[Any], Any], FloatArray, Fraction]:
    """c_m (… c_2 (c_1 x_0 + x_1) + x_2 …), a point, and the value there: linear, with many roundings on the way."""
    draw = np.random.default_rng(seed)
    factors, x = draw.normal(size=24).tolist(), draw.normal(size=4)

    def f(x: Any) -> Any:
        y = x[0]
        for i, factor in enumerate(factors):
            y = factor * y + x[i % 4]
        return y

    exact = [Fraction(v) for v in x.tolist()]
    value = exact[0]
    for i, factor in enumerate(factors):
        value = Fraction(factor) * value + exact[i % 4]
    return f, x, value


def wrong_linear_functions(seeds: Any = range(60)) -> list[str]:
    """Linear functions below linear functions that are above them at a point."""
    found = []
    for seed in seeds:
        f, x, value = nested(seed)
        own = lines(trace(f, 4))
        assert own is not None
        below = own.lines.below(x[None], x[None], x[None])
        parts = zip(below.slope[0].tolist(), below.radius[0].tolist(), x.tolist(), strict=True)
        most = Fraction(float(below.value[0])) + sum(
            Fraction(s) * Fraction(v) - Fraction(r) * abs(Fraction(v)) for s, r, v in parts
        )
        found += [str(seed)] if most > value else []
    return found


def wrong_pairs(seeds: Any = range(20)) -> list[str]:
    """Bounds of sums of squared differences of many pairs, elements read often, above a value in the box."""
    found = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        i, j, y = draw.integers(0, 4, 12), draw.integers(0, 4, 12), draw.normal(0, 20, 12)
        own = lines(function := trace(lambda x, i=i, j=j, y=y: np.sum((x[i] + 2 * x[j] - y) ** 2), 4))
        assert own is not None
        x = draw.normal(size=(10, 4))
        reach = 10.0 ** draw.uniform(-3, 0, (2, 10, 4))
        known = Known(function, read_bounds([(None, None)] * 4, 4))
        lower = own.contract(Boxes(x - reach[0], x + reach[1]), known).lower
        for point, bound in zip(x.tolist(), lower.tolist(), strict=True):
            rows = zip(i.tolist(), j.tolist(), y.tolist(), strict=True)
            value = sum((Fraction(point[a]) + 2 * Fraction(point[b]) - Fraction(c)) ** 2 for a, b, c in rows)
            found += [f"{seed}: {bound.hex()}"] if Fraction(bound) > value else []
    return found


def test_sums_and_linear_functions_are_rounded_to_the_right_side() -> None:
    assert not wrong_sums() and not wrong_linear_functions() and not wrong_pairs()


# --- what is broken --------------------------------------------------------------------------------------------------


def put(where: Any, name: str, value: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(where, name, value)


def _nothing(v: FloatArray, count: int) -> FloatArray:
    return np.zeros_like(v)


def _nothing_over(patch: Patch) -> None:
    for where in (sums, descent):
        patch.setattr(where, "over", _nothing)


def _upper_corner(s: FloatArray, a: Any, x: FloatArray, y: FloatArray) -> Any:
    return (Interval(s) * x * y - Interval(a[0]) * x + Interval(a[1]) * y).lo


def _most_multiple(s: FloatArray, ends: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.maximum(s * ends[0], s * ends[1])


def _curved(change: Callable[..., Any]) -> Callable[[Patch], None]:
    """Something else in the place of phi, phi', phi'' and the fact that it is smooth."""
    own = BlockLine._at
    return put(BlockLine, "_at", lambda self, lo, hi: change(*own(self, lo, hi), lo, hi))


_ON_CELLS, _CONSTANT, _REPLACE, _OF = BlockLine._on_cells, Descent._constant, Descent._replace, BlockLine.of


def _extremes_alone(self: Descent, node: Any, s: FloatArray) -> None:
    """Take the least element for all of them."""
    before = len(self.constants)
    _REPLACE(self, node, s)
    if node.op in ("min_of", "max_of", "min", "max"):
        self.constants[before:] = [np.where(np.isfinite(b), 0.0, b) for b in self.constants[before:]]


def _first_alone(parts: Any) -> Any:
    return parts[0]


def _on_one_cell(self: BlockLine, s: FloatArray, a: FloatArray, lo: FloatArray, hi: FloatArray) -> Any:
    return _ON_CELLS(self, s, a, lo, 0.5 * lo + 0.5 * hi)


def _last_alone(self: Descent, node: Any, s: FloatArray) -> None:
    """Take the last reader of an element for all of them."""
    indices = map_of(node).indices()
    places = np.flatnonzero(indices >= 0)
    found = np.zeros((len(s), node.args[0].size))
    found[:, indices[places]] = s[:, places]
    self._ask(node.args[0], found)


# What is broken, and how.
MUTANTS: dict[str, Callable[[Patch], None]] = {
    "no error of sums and products": _nothing_over,
    "the sum of constants to nearest": put(descent, "sum_down", lambda b: b.sum(1)),
    "one user of a node alone": put(descent, "total", _first_alone),
    "one reader of an element alone": put(Descent, "_take", _last_alone),
    "a corner of a product": put(descent, "at_corner", _upper_corner),
    "the most of a multiple": put(descent, "least_multiple", _most_multiple),
    "no constants at all": put(Descent, "_constant", lambda self, b: _CONSTANT(self, np.minimum(0.0 * b, 0.0))),
    "extremes without the others": put(Descent, "_replace", _extremes_alone),
    "no curvature": _curved(lambda value, slope, curve, smooth, lo, hi: (value, slope, 0.0 * curve, smooth)),
    "curvature with the other sign": _curved(
        lambda value, slope, curve, smooth, lo, hi: (value, slope, -curve, smooth)
    ),
    "smooth everywhere": _curved(lambda value, slope, curve, smooth, lo, hi: (value, slope, curve, smooth | True)),
    "half of the cells": put(BlockLine, "_on_cells", _on_one_cell),
    "the line without its constant": put(
        BlockLine, "of", lambda self, s, lo, hi, point: (found := _OF(self, s, lo, hi, point), (found[0], 0 * s))[1]
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_broken_is_noticed(name: str, monkeypatch: Patch) -> None:
    MUTANTS[name](monkeypatch)
    assert wrong_sums() or wrong_linear_functions() or wrong_pairs() or any(claims([seed])[0] for seed in SEEDS)


@pytest.mark.torture
def test_no_claim_about_many_random_functions_is_false() -> None:
    found, _, _ = claims(range(50, 2060))
    assert not found


# --- what it is for --------------------------------------------------------------------------------------------------


def network(x: Any) -> Any:
    """The squared error of two hidden units that are to learn "either, not both"."""
    total = 0.0
    for a, b, t in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
        units = [1 / (1 + np.exp(-(x[i] * a + x[i + 1] * b + x[4 + i // 2]))) for i in (0, 2)]
        total = total + (1 / (1 + np.exp(-(x[6] * units[0] + x[7] * units[1] + x[8]))) - t) ** 2
    return total


def test_the_bound_of_a_network_is_twice_as_near_as_that_of_intervals() -> None:
    function = trace(network, 9)
    own = lines(function)
    assert own is not None
    draw = np.random.default_rng(0)
    lo = draw.uniform(-1, 0.5, (50, 9))
    hi = lo + 0.5
    found = own.contract(Boxes(lo, hi), Known(function, read_bounds([(-1, 1)] * 9, 9))).lower
    plain = function.range_ends(lo, hi)[0]
    points = np.min([function(draw.uniform(lo, hi)) for _ in range(200)], axis=0)
    assert (found <= points).all()
    assert np.median(points - found) < 0.5 * np.median(points - plain)


def test_it_runs_where_it_is_named_and_not_otherwise() -> None:
    def f(x: Any) -> Any:
        return (x[0] * x[1] - 1) ** 2 + np.sin(x[0] + x[1]) ** 2 + np.minimum(x[0] ** 2, x[1])

    for names, runs in ((("level", "lines"), True), (None, False)):
        result = infimum.minimize(f, [(-3, 3)] * 2, contractors=names, threads=1)
        assert result.success
        assert any(name == "lines" for step in result.history for name, _ in step.work) == runs


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("upper", [1.0, 1e300, -1e300, np.inf])
def test_numbers_of_any_size_are_borne(upper: float) -> None:
    for seed in range(15):
        f, _, _ = drawn(seed, seed % len(MAKERS))
        function, everywhere = trace(f, f.n), read_bounds([(None, None)] * f.n, f.n)
        made = [own for own in (lines(function),) if own is not None]
        lo, hi = boxes_of_any_size(f.n, seed)
        for own in made:
            found = own.contract(Boxes(lo, hi), Known(function, everywhere, upper))
            assert ((found.lo >= lo) & (found.hi <= hi) | found.is_empty()[:, None]).all()


def test_infinite_boxes_stay_as_they_are_and_large_functions_have_none() -> None:
    function = trace(lambda x: x[0] ** 2 + x[0] * x[1], 2)
    own = lines(function)
    assert own is not None
    lo, hi = np.array([[-np.inf, 0.0]]), np.array([[1.0, 2.0]])
    found = own.contract(Boxes(lo, hi), Known(function, read_bounds([(None, 1), (0, 2)], 2), 1.0))
    assert np.array_equal(found.lo, lo) and np.array_equal(found.hi, hi)
    assert lines(trace(lambda x: np.sum(x**2), 65)) is None


def test_a_variable_and_a_number_alone_have_none() -> None:
    assert lines(trace(lambda x: x[0], 1)) is None
    assert lines(trace(lambda x: 0.0 * x[0] + 1.0, 1)) is None


@pytest.mark.parametrize(
    ("f", "bounds", "at"),
    [
        (lambda x: (np.cumsum(np.sqrt(x[1] - np.arange(4.0)))[1] * x[0] - 1) ** 2 + x[0], [(0.5, 2), (1, 4)], [0.5, 2]),
        (
            lambda x: (np.cumsum(np.sqrt(x - np.array([0.0, 0.0, 10.0])))[1] - 2.2) ** 2 + x[0] * x[1],
            [(0.5, 2)] * 3, [1, 1, 1],
        ),
        (
            lambda x: np.log(1 + np.sum((np.cumsum(np.sqrt(x - [0, 0, 10]))[:2] - 1) ** 2)), [(0.5, 2)] * 3,
            [0.5, 0.5, 1],
        ),
    ],
    ids=["in some boxes", "everywhere", "inside of a logarithm"],
)  # fmt: skip
def test_an_element_that_is_not_read_need_not_be_defined(f: Any, bounds: Any, at: Any) -> None:
    point = np.array(at, float)
    with np.errstate(invalid="ignore"):
        value = float(f(point))
    for names in (("lines",), ("level", "lines")):
        result = infimum.minimize(f, bounds, contractors=names, max_iter=10)
        assert result.minimum.lo <= value
        assert any((own[:, 0] <= point).all() and (point <= own[:, 1]).all() for own in result.boxes)


def test_the_smallest_coefficients_are_not_halved() -> None:
    function = trace(lambda x: 5e-324 * (x[0] * x[1]), 2)
    box = Boxes(np.full((1, 2), -1e150), np.full((1, 2), 1e150))
    found = lines(function).contract(box, Known(function, read_bounds([(-1e150, 1e150)] * 2)))  # type: ignore[union-attr]
    assert found.lower[0] <= function.enclose(Interval([1e150, -1e150])).hi


def test_arrays_made_of_pieces_are_gone_through() -> None:
    result = infimum.minimize(
        lambda x: np.sum(np.abs(np.concatenate([[x[0] * x[1] - 1], np.stack([x[0] + x[1], x[1] - 2])]))), [(-1, 2)] * 2,
        contractors=("lines",), max_iter=200,
    )  # fmt: skip
    x = np.random.default_rng(1).uniform(-1, 2, (1000, 2))
    values = np.abs(x[:, 0] * x[:, 1] - 1) + np.abs(x.sum(1)) + np.abs(x[:, 1] - 2)
    assert result.minimum.lo <= values.min() and result.minimum.lo > 0

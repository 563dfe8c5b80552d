"""Contractors never lose what they promise to keep, and each broken on purpose is noticed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import infimum
from chain_reference import centre
from contractions import (
    Applied,
    boxes_around,
    layer,
    layer_slopes,
    level,
    mean_value,
    missing,
    monotone,
    stationary,
)  # fmt: skip
from infimum import problems
from infimum.boxes import Boxes, Ends, FloatArray
from infimum.domain import Domain, read_bounds
from infimum.errors import InvalidInterval, ShapeMismatch
from infimum.function.function import Function, trace
from random_functions import RandomFunction, planted_function, random_function


def box(*pairs: tuple[float, float]) -> Ends:
    ends = np.array(pairs, float).T
    return ends[:1], ends[1:]


def pairs_of(found: Ends) -> list[tuple[float, float]]:
    return list(zip(found[0][0].tolist(), found[1][0].tolist(), strict=True))


NOTHING = (math.inf, -math.inf)

# --- what must be kept -----------------------------------------------------------------------------------------------


def known_points(f: RandomFunction, seed: int) -> tuple[FloatArray, list[Any]]:
    """Points of a random function's box and balls around its values there."""
    low, high = (np.clip(np.array(end), -20, 20) for end in zip(*f.bounds, strict=True))
    x = np.random.default_rng(seed).uniform(low, high, (12, f.n))
    x = np.vstack([x, f.good_points(4)]) if f.n < 4 else x
    values = [f.value(point) for point in x]
    return x[[v is not None for v in values]], [v for v in values if v is not None]


def lost_levels(make: Callable[[Function], Any], seeds: range = range(40)) -> list[str]:
    """Points with f(x) <= upper that a contractor removes."""
    found = []
    for seed in seeds:
        for f in (random_function(seed), planted_function(seed)):
            x, values = known_points(f, seed)
            if len(x):
                upper = np.array([math.nextafter(float(v.upper()), math.inf) for v in values])
                kept = make(trace(f, f.n)).contract(*boxes_around(x, f.bounds, seed), upper)
                found += [f"{f.name}: {m}" for m in missing(x, kept)]
    return found


def wrong_bounds(bound: Callable[[Function, Domain, FloatArray, FloatArray], FloatArray]) -> list[str]:
    """Lower bounds of boxes above the value at one of their points."""
    found = []
    for seed in range(40):
        for f in (random_function(seed), planted_function(seed)):
            x, values = known_points(f, seed)
            if len(x):
                function, domain = trace(f, f.n), read_bounds(f.bounds, f.n)
                lower = bound(function, domain, *boxes_around(x, f.bounds, seed))
                found += [f"{f.name}: {b.hex()}" for b, v in zip(lower, values, strict=True) if not v >= b]
    return found


def lost_minimisers(make: Callable[[Function, Domain], Any], seeds: range = range(60)) -> list[str]:
    """Boxes around a planted minimiser that lose it."""
    found = []
    for seed in seeds:
        f = planted_function(seed)
        x = np.repeat(np.array([f.minimiser], float), 12, axis=0)
        kept = make(trace(f, f.n), read_bounds(f.bounds, f.n)).contract(*boxes_around(x, f.bounds, seed))
        found += [f"{f.name}: {m}" for m in missing(x, kept)]
    return found


def in_mean(function: Function, domain: Domain, lo: FloatArray, hi: FloatArray) -> FloatArray:
    return mean_value(function).boxes(lo, hi).lower


def lower_of_level(function: Function, domain: Domain, lo: FloatArray, hi: FloatArray) -> FloatArray:
    return level(function).boxes(lo, hi, np.inf).lower


def test_level_keeps_every_point_at_most_upper() -> None:
    assert not lost_levels(level)


def test_mean_value_keeps_every_point_at_most_upper() -> None:
    assert not lost_levels(mean_value)


@pytest.mark.parametrize("bound", [in_mean, lower_of_level])
def test_no_bound_exceeds_a_value(bound: Any) -> None:
    assert not wrong_bounds(bound)


@pytest.mark.parametrize("make", [stationary, monotone])
def test_no_minimiser_is_removed(make: Any) -> None:
    assert not lost_minimisers(make)


class Edge:
    """A function, its bounds, a minimiser, and a box that it is in."""

    def __init__(self, f: Callable[[Any], Any], bounds: Any, minimiser: Any, within: Any = None) -> None:
        self.domain = read_bounds(bounds, len(bounds))
        self.function = trace(f, len(bounds))
        self.minimiser = minimiser
        pairs = within or self.domain.pairs().tolist()
        self.box = box(*pairs)

    def lost(self, make: Callable[[Function, Domain], Any]) -> list[str]:
        lo, hi = make(self.function, self.domain).contract(*self.box)
        return [
            f"{x} not in [{a}, {b}]"
            for x, a, b in zip(self.minimiser, lo[0].tolist(), hi[0].tolist(), strict=True)
            if a > b or not (a <= x and x <= b)
        ]


EDGES = {
    "undefined up to the minimiser": Edge(lambda x: np.sqrt(x[0] - 1), [(0, 3)], [1]),
    "a jump at the minimiser": Edge(lambda x: np.where(x[0] < 0, 10, x[0]), [(-1, 1)], [0]),
    "a jump, from there on": Edge(lambda x: np.where(x[0] < 0, 10, x[0]), [(-1, 1)], [0], [(0, 0.5)]),
    "a root, from there on": Edge(lambda x: np.sqrt(x[0] - 1), [(0, 3)], [1], [(1, 2)]),
    "rising from the edge": Edge(lambda x: x[0] + x[1] ** 2, [(1, 2), (-1, 1)], [1, 0]),
    "falling to the edge": Edge(lambda x: -x[0] + x[1] ** 2, [(1, 2), (-1, 1)], [2, 0]),
    "rising from the edge, near it": Edge(lambda x: x[0] + x[1] ** 2, [(1, 2), (-1, 1)], [1, 0], [(1, 1.5), (-0.5, 1)]),
    "falling to the edge, near it": Edge(lambda x: -x[0] + x[1] ** 2, [(1, 2), (-1, 1)], [2, 0], [(1.5, 2), (-1, 0.5)]),
    "flat": Edge(lambda x: 0 * x[0] + x[1] ** 2, [(1, 2), (-1, 1)], [1.5, 0]),
    "an edge that is no double": Edge(lambda x: np.exp(x[0]), [(infimum.pi, 4)], [infimum.pi]),
    "an upper edge that is no double": Edge(lambda x: np.exp(-x[0]), [(0, infimum.pi)], [infimum.pi]),
    "both edges": Edge(lambda x: -(x[0] ** 2), [(-1, 1)], [1]),
    "a kink": Edge(lambda x: np.abs(x[0]), [(-1, 1)], [0], [(0, 0.5)]),
}


@pytest.mark.parametrize("make", [stationary, monotone])
@pytest.mark.parametrize("name", EDGES)
def test_minimisers_at_edges_jumps_and_kinks_are_kept(name: str, make: Any) -> None:
    assert not EDGES[name].lost(make)


@pytest.mark.parametrize("make", [stationary, monotone])
def test_an_infimum_at_infinity_is_not_discarded(make: Any) -> None:
    function, domain = trace(lambda x: np.exp(-x[0]), 1), read_bounds([(0, math.inf)], 1)
    assert pairs_of(make(function, domain).contract(*box((5.0, math.inf)))) == [(5.0, math.inf)]


# --- what they do ----------------------------------------------------------------------------------------------------


def passes_of(function: Function, boxes: Boxes, upper: float, **how: Any) -> tuple[Boxes, int]:
    """What `Level` leaves of a box, and the number of passes that it took."""
    before = function.place.boxes_evaluated
    found = level(function, **how).boxes(boxes.lo, boxes.hi, upper)
    return found, function.place.boxes_evaluated - before


def test_level_repeats_while_it_pays() -> None:
    function = trace(lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[:-1] - 1) ** 2), 50)
    start = Boxes(np.full((1, 50), -30.0), np.full((1, 50), 30.0))
    once, passes = passes_of(function, start, 1e-6, passes=1)
    assert passes == 1
    often, passes = passes_of(function, start, 1e-6)
    assert 5 < passes < 21
    assert (often.hi - often.lo).max() < 1e-2 < (once.hi - once.lo).max()
    assert often.lower[0] <= 0


def test_level_treats_every_box_by_itself() -> None:
    function = trace(lambda x: np.sum(x**2), 2)
    lo, hi = np.array([[-3.0, -3.0], [1.0, 1.0], [0.0, -9.0]]), np.array([[3.0, 3.0], [2.0, 2.0], [0.5, 9.0]])
    found = level(function).boxes(lo, hi, np.array([4.0, 1.0, np.inf]))
    assert list(zip(found.lo.tolist(), found.hi.tolist(), strict=True)) == [
        ([-2.0, -2.0], [2.0, 2.0]),
        ([math.inf] * 2, [-math.inf] * 2),
        ([0.0, -9.0], [0.5, 9.0]),
    ]
    assert found.lower.tolist() == [0.0, math.inf, 0.0]


def test_empty_boxes_stay_empty() -> None:
    function, domain = trace(lambda x: np.sum(x**2 + np.sqrt(x)), 2), read_bounds([(0, 1)] * 2, 2)
    nothing = box(NOTHING, NOTHING)
    for found in (
        level(function).contract(*nothing, 1.0),
        mean_value(function).contract(*nothing, 1.0),
        stationary(function, domain).contract(*nothing),
        monotone(function, domain).contract(*nothing),
    ):
        assert pairs_of(found) == [NOTHING, NOTHING]


def test_level_reaches_infinite_boxes() -> None:
    function = trace(lambda x: x[0] ** 2 + np.exp(x[1]), 2)
    (first, second) = pairs_of(level(function).contract(*box((-math.inf, math.inf), (-math.inf, math.inf)), 4.0))
    assert first == (-2.0, 2.0)
    assert second[0] == -math.inf
    assert math.log(4) <= second[1] < math.log(4) + 1e-12


def test_stationary_finds_the_stationary_point() -> None:
    function, domain = trace(lambda x: np.sum((x - 1) ** 2), 2), read_bounds([(-4, 4)] * 2, 2)
    assert pairs_of(stationary(function, domain).contract(*box((-3, 3), (0, 4)))) == [(1.0, 1.0), (1.0, 1.0)]
    assert pairs_of(stationary(function, domain).contract(*box((2, 3), (0, 3)))) == [NOTHING, NOTHING]


def test_monotone_discards_and_fixes() -> None:
    function, domain = trace(lambda x: x[0] + x[1] ** 2, 2), read_bounds([(-4, 4), (-4, 4)], 2)
    contractor = monotone(function, domain)
    assert pairs_of(contractor.contract(*box((-3, 3), (-1, 1)))) == [NOTHING, NOTHING]
    assert pairs_of(contractor.contract(*box((-4, 3), (-1, 1)))) == [(-4.0, -4.0), (-1.0, 1.0)]


def test_the_mean_value_form_is_better_on_small_boxes() -> None:
    function = trace(lambda x: x[0] * (1 - x[0]) + x[1] * x[0], 2)
    small = box((0.3, 0.31), (0.2, 0.21))
    assert mean_value(function).boxes(*small).lower[0] > function.range_ends(*small)[0][0] + 1e-3
    kept = mean_value(function).contract(*small, 0.2705)
    assert (kept[1] - kept[0]).sum() < 0.9 * (small[1] - small[0]).sum()


def test_the_best_centre_beats_the_middle() -> None:
    lo, hi = np.array([[0.0, -2.0, 1.0]]), np.array([[2.0, 6.0, 3.0]])
    slopes = np.array([[1.0, -3.0, -5.0]]), np.array([[2.0, 1.0, -4.0]])
    assert centre((lo, hi), slopes).tolist() == [[0.0, 4.0, 3.0]]


@pytest.mark.parametrize("name", ["ackley", "griewank", "levy", "rastrigin", "styblinski"])
def test_level_contracts_ten_thousand_variables(name: str) -> None:
    problem = getattr(problems, name)(10_000)
    domain = read_bounds(problem.bounds, 10_000)
    upper = float(problem.minimum) + 1e-9 * max(1, abs(float(problem.minimum)))
    function = trace(problem.f, 10_000)
    found, passes = passes_of(function, Boxes(domain.lo[None], domain.hi[None]), upper)
    minimiser = np.array(problem.minimiser, dtype=float)
    assert ((found.lo[0] <= minimiser + 1e-13) & (minimiser - 1e-13 <= found.hi[0])).all()
    assert (found.hi - found.lo).max() < 1e-1
    assert passes <= 6


# --- used alone ------------------------------------------------------------------------------------------------------


def alone(f: Any, n: int, bounds: Any) -> list[Callable[..., Any]]:
    """Each contractor as a function of boxes alone, under f(x) <= 1 where it needs a level."""
    function, domain = trace(f, n), read_bounds(bounds, n)
    made: list[Callable[..., Any]] = [
        lambda lo, hi: level(function).contract(lo, hi, 1),
        lambda lo, hi: mean_value(function).contract(lo, hi, 1),
        stationary(function, domain).contract,
        monotone(function, domain).contract,
    ]
    return [
        *made,
        lambda lo, hi: layer(function).contract(lo, hi, 1),
        lambda lo, hi: layer_slopes(function, domain).contract(lo, hi, 1),
    ]


def turned(x: Any) -> Any:
    return np.sum((np.array([[3.0, 1.0], [-1.0, 2.0]]) @ x) ** 2)


def test_ends_that_are_integers_or_lists_are_read_as_doubles() -> None:
    lo, hi = np.array([[-3, -2]]), np.array([[2, 3]])
    for contract in alone(turned, 2, [(-3, 2), (-2, 3)]):
        for given in ((lo, hi), (lo.tolist(), hi.tolist())):
            for mine, own in zip(contract(*given), contract(lo.astype(float), hi.astype(float)), strict=True):
                np.testing.assert_array_equal(mine, own)


@pytest.mark.parametrize("end", [2**53 + 1, Fraction(1, 10)])
def test_ends_that_are_no_doubles_are_refused(end: Any) -> None:
    for contract in alone(turned, 2, [(-3, 2), (-2, 3)]):
        with pytest.raises(InvalidInterval, match="Round it outward"):
            contract([[0, 0]], [[end, end]])


def test_boxes_of_another_shape_are_refused_with_a_substitute() -> None:
    for contract in alone(turned, 2, [(-3, 2), (-2, 3)]):
        with pytest.raises(ShapeMismatch, match=r"For a single box write lo\[None\], hi\[None\]"):
            contract(np.zeros(2), np.ones(2))


def test_a_level_is_rounded_upward_and_never_nan() -> None:
    function = trace(lambda x: x[0], 1)
    lo, hi = np.array([[0.0]]), np.array([[2.0**60]])
    for upper in (2**53 + 1, Fraction(2**54 + 2, 2), infimum.exact(2**53 + 1)):
        for made in (level(function), mean_value(function)):
            assert made.contract(lo, hi, upper)[1][0, 0] >= 2**53 + 2
    for contractor in (level(function), mean_value(function)):
        with pytest.raises(InvalidInterval, match="NaN"):
            contractor.contract(lo, hi, math.nan)
    with pytest.raises(InvalidInterval, match="NaN"):
        layer(trace(turned, 2)).contract(np.zeros((1, 2)), np.ones((1, 2)), math.nan)


def test_what_was_given_is_not_written_to() -> None:
    lo, hi = np.array([[-3.0, -2.0]]), np.array([[2.0, 3.0]])
    for contract in alone(turned, 2, [(-3, 2), (-2, 3)]):
        contract(lo, hi)
        assert lo.tolist() == [[-3.0, -2.0]] and hi.tolist() == [[2.0, 3.0]]


# --- broken on purpose -----------------------------------------------------------------------------------------------


def rounded_outward(function: Function, domain: Domain) -> Applied:
    return monotone(function, dataclasses.replace(domain, inner_lo=domain.lo, inner_hi=domain.hi))


def edge_losses(make: Any) -> Callable[[], list[str]]:
    return lambda: [loss for edge in EDGES.values() for loss in edge.lost(make)]


def lost_at_the_limit(make: Callable[[Function], Any]) -> Callable[[], list[str]]:
    """Points at which f is exactly what it may be at most."""

    def lost() -> list[str]:
        function = trace(lambda x: np.sum(x**2) + x[0], 2)
        points = np.array([[2.0, 1.0], [-3.0, 0.5], [0.0, 0.0]])
        lo, hi = np.array([[2.0, 1.0], [-3.0, 0.5], [0.0, 0.0]]), np.array([[2.0, 1.0], [-3.0, 1.0], [4.0, 0.0]])
        return missing(points, make(function).contract(lo, hi, function(points)))

    return lost


BREAKS: dict[tuple[str, int], Callable[[], list[str]]] = {
    ("level: a box at its limit", 21): lost_at_the_limit(level),
    ("mean value: a box at its limit", 22): lost_at_the_limit(mean_value),
    ("monotone: a slope that may be 0", 23): edge_losses(monotone),
    ("monotone: no edges", 24): edge_losses(monotone),
    ("stationary: no edges", 25): edge_losses(stationary),
    ("stationary: smooth everywhere", 27): edge_losses(stationary),
    ("monotone: smooth everywhere", 27): edge_losses(monotone),
    ("mean value: smooth everywhere", 27): lambda: wrong_bounds(in_mean),
    ("level: the limit of another box", 35): lambda: lost_levels(level, range(12)),
    ("mean value: the limit of another box", 35): lambda: lost_levels(mean_value, range(12)),
    ("mean value: a centre outside", 37): lambda: wrong_bounds(in_mean),
    ("monotone: the edge rounded outward", 0): edge_losses(rounded_outward),
}


@pytest.mark.parametrize(("name", "number"), BREAKS)
def test_a_broken_contractor_is_noticed(name: str, number: int, break_rule: Callable[[int], None]) -> None:
    check = BREAKS[name, number]
    if number:
        break_rule(0)
        assert not check()
    break_rule(number)
    assert check()


@pytest.mark.parametrize("make", [level, mean_value])
def test_a_point_at_the_limit_is_kept(make: Any) -> None:
    assert not lost_at_the_limit(make)()

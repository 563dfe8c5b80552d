"""Strategies: each solves, none can make a result false, and what a strategy is not is refused by name."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import infimum
from infimum import problems
from infimum.domain import read_bounds
from infimum.errors import InvalidOption
from infimum.function.function import trace
from infimum.search.paper.partition import PARTITIONS, Golden, Logarithmic, Partition, Uniform, cut
from infimum.search.paper.sampling import SAMPLINGS, Grid, Latin, Local, Look, Random, Several
from infimum.search.paper.selection import SELECTIONS, Best
from infimum.search.paper.split import Split
from infimum.search.status import Status

FloatArray = npt.NDArray[np.float64]


class Case(NamedTuple):
    """A function whose minimum and minimisers are known."""

    f: Callable[[Any], Any]
    bounds: list[tuple[float, float]]
    minimum: float
    minimisers: list[list[float]]


INF = math.inf
SMALL = {
    "bowl": Case(lambda x: np.sum((x - 0.3) ** 2), [(-1, 2)] * 2, 0.0, [[0.3, 0.3]]),
    "two minima": Case(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2, [(-2, 2)] * 2, 0.0, [[-1, 0], [1, 0]]),
    "slope": Case(lambda x: x[0] + x[1], [(-1, 2)] * 2, -2.0, [[-1, -1]]),
    "corner": Case(lambda x: x[0] - x[1], [(-1, 2)] * 2, -3.0, [[-1, 2]]),
    "kink": Case(lambda x: np.abs(x[0]) + np.abs(x[1] - 1), [(-2, 2.5)] * 2, 0.0, [[0, 1]]),
    "jump": Case(lambda x: np.where(x[0] < 0, 10.0, x[0]), [(-1, 1)], 0.0, [[0]]),
    "undefined below 1": Case(lambda x: np.sqrt(x[0] - 1) + x[1] ** 2, [(0, 3), (-1, 1)], 0.0, [[1, 0]]),
    "not staged": Case(lambda x: np.sum((x - np.mean(x)) ** 2) + x[0] ** 2, [(-1, 1.5)] * 2, 0.0, [[0, 0]]),
    "whole plane": Case(lambda x: np.sum((x - 3) ** 2), [(-INF, INF)] * 2, 0.0, [[3, 3]]),
    "decades": Case(lambda x: (np.log(x[0]) - np.log(x[0])) + np.abs(x[0] - 100), [(1e-8, 1e8)], 0.0, [[100]]),
}


# --- hostile -------------------------------------------------------------------------------------------------------


class RandomCuts:
    """Cuts drawn anew each time, a few of them far outside."""

    parts, variables = 3, 2

    def __init__(self) -> None:
        self.draw = np.random.default_rng(1)

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        low, high = np.maximum(lo, -1e9), np.minimum(hi, 1e9)
        return self.draw.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (2, lo.size)).T


class Constant:
    """The same cut whatever the range is."""

    parts, variables = 4, 3

    def __init__(self, value: float) -> None:
        self.value = value

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        return np.full((lo.size, 3), self.value)


class OneIsNone(Uniform):
    """Equal parts, but one of the cuts is no number."""

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        proposed = super().cuts(lo, hi)
        proposed[:, 1] = np.nan
        return proposed


class Reversed(Uniform):
    """Equal parts, named from the far end."""

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        return super().cuts(lo, hi)[:, ::-1]


class Slivers:
    """Cuts at the ends themselves and beside them."""

    parts, variables = 4, 1

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        return np.stack([lo, np.nextafter(lo, hi), hi], 1)


class Overwriting(Uniform):
    """Writes into what it was shown."""

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        proposed = super().cuts(lo, hi)
        lo[:], hi[:] = 7.0, 8.0
        return proposed


class Absurd:
    """Samples of one number each, whatever the region is."""

    def __init__(self, *values: float) -> None:
        self.values = values

    def propose(self, look: Look) -> FloatArray:
        return np.repeat(np.array(self.values)[:, None], look.lo.size, 1)


class Mixed:
    """Points of which some coordinates are no numbers, and none at all every other time."""

    def propose(self, look: Look) -> FloatArray:
        if look.iteration % 2:
            return np.empty((0, look.lo.size))
        x = np.full((5, look.lo.size), 0.5)
        x[::2, 0] = [np.nan, np.inf, -np.inf]
        return x


class Meddling:
    """Tries to write into the region."""

    def propose(self, look: Look) -> FloatArray:
        for array in (look.lo, look.hi, look.split.edges, look.domain.lo, *([] if look.best is None else [look.best])):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
        return look.middle()


HOSTILE: dict[str, dict[str, Any]] = {
    "random cuts": {"partition": RandomCuts()},
    "cuts above": {"partition": Constant(1e300)},
    "cuts below": {"partition": Constant(-1e300)},
    "infinite cuts": {"partition": Constant(INF)},
    "NaN cuts": {"partition": Constant(np.nan)},
    "a NaN among the cuts": {"partition": OneIsNone()},
    "zero cuts": {"partition": Constant(0.0)},
    "reversed cuts": {"partition": Reversed()},
    "slivers": {"partition": Slivers()},
    "a partition that overwrites": {"partition": Overwriting()},
    "NaN samples": {"sampling": Absurd(np.nan)},
    "infinite samples": {"sampling": Absurd(INF, -INF)},
    "a sample far below": {"sampling": Absurd(-1e9)},
    "samples outside": {"sampling": Absurd(1e9, -1e9, 12.0)},
    "mixed samples": {"sampling": Mixed()},
    "a sampling that overwrites": {"sampling": Meddling()},
    "many at once": {"selection": Best(50)},
    "everything": {"partition": RandomCuts(), "sampling": Absurd(np.nan, 1e9), "selection": Best(3)},
}


def _told(result: Any, case: Case) -> None:
    slack = 1e-12 * (1 + abs(case.minimum))
    assert result.minimum.lo <= case.minimum + slack and case.minimum - slack <= result.minimum.hi
    for minimiser in case.minimisers:
        inside = (result.boxes[:, :, 0] <= minimiser) & (minimiser <= result.boxes[:, :, 1])
        assert inside.all(1).any(), minimiser
    if result.x is not None:
        assert read_bounds(case.bounds).contains(result.x)


@pytest.mark.parametrize("strategy", HOSTILE)
@pytest.mark.parametrize("name", SMALL)
def test_no_strategy_makes_a_result_false(name: str, strategy: str) -> None:
    case = SMALL[name]
    for iterations in (1, 4, 40):
        _told(infimum.minimize(case.f, case.bounds, max_iter=iterations, xtol=1e-2, **HOSTILE[strategy]), case)


def test_an_upper_bound_comes_only_from_a_point_where_the_function_is_certainly_defined() -> None:
    third = infimum.exact(1, 3)
    result = infimum.minimize(lambda x: x[0] + 0 * np.sqrt(x[0] - third), [(0, 1)], x0=[1 / 3], max_iter=5)
    assert Fraction(result.minimum.lo) <= Fraction(1, 3) <= Fraction(result.minimum.hi)


def test_without_a_point_no_gap_is_closed() -> None:
    options: dict[str, Any] = {"xtol": None, "ftol": 1e-3, "sampling": Absurd(np.nan), "max_iter": 5}
    result = infimum.minimize(lambda x: np.sum(x**2), [(-1, 2)], **options)
    assert result.status == Status.ITERATIONS and result.minimum.hi == INF


# --- every named strategy solves -----------------------------------------------------------------------------------

NAMED = [
    *({"partition": name} for name in PARTITIONS),
    *({"sampling": name} for name in SAMPLINGS),
    *({"selection": name} for name in SELECTIONS),
    {"partition": Uniform(parts=2, variables=5)},
    {"partition": Uniform(parts=3, variables=1)},
    {"partition": Golden(parts=2, variables=3)},
    {"partition": Logarithmic(parts=5, variables=2)},
    {"sampling": ["midpoint", "local", Random(count=5, seed=7)]},
    {"sampling": Grid(points=2, most=16)},
    {"sampling": Latin(count=10)},
    {"sampling": Local(every=4)},
    {"selection": Best(count=4)},
    {"partition": "golden", "sampling": "latin", "selection": Best(2)},
]


@pytest.mark.parametrize("strategy", NAMED, ids=str)
@pytest.mark.parametrize("name", ["levy", "rastrigin", "ackley"])
def test_every_strategy_solves_the_papers_problems(name: str, strategy: dict[str, Any]) -> None:
    problem = problems.named(name, 5)
    result = infimum.minimize(problem, time_limit=60, **strategy)
    assert result.success and float(problem.minimum) in result.minimum and result.minimum.wid < 1e-2
    point = np.asarray(problem.minimiser, float)
    assert ((result.boxes[:, :, 0] <= point) & (point <= result.boxes[:, :, 1])).all(1).any()


@pytest.mark.parametrize("strategy", NAMED, ids=str)
def test_every_strategy_solves_decades_and_the_whole_line(strategy: dict[str, Any]) -> None:
    def decades(x: Any) -> Any:
        return np.sum(np.log(x / 100) ** 2)

    result = infimum.minimize(decades, [(1e-8, 1e8)] * 2, time_limit=60, xtol=1e-3, **strategy)
    assert result.success and 0 in result.minimum and result.minimum.wid < 1e-3
    result = infimum.minimize(lambda x: np.sum((x - 3) ** 2), [(-INF, INF)] * 2, time_limit=60, **strategy)
    assert result.success and 0 in result.minimum and result.minimum.wid < 1e-3


def test_the_same_strategy_gives_the_same_result_twice() -> None:
    for sampling in ("random", "latin"):
        a, b = (infimum.minimize(problems.ackley(4), sampling=sampling) for _ in range(2))
        assert a.nit == b.nit and a.minimum.pairs().tolist() == b.minimum.pairs().tolist()
        assert np.array_equal(a.boxes, b.boxes)


def test_several_regions_an_iteration_are_fewer_iterations() -> None:
    problem = problems.rosenbrock(10)
    one, four = (infimum.minimize(problem, selection=Best(count)) for count in (1, 4))
    assert four.nit < one.nit and 0 in four.minimum and four.success


def test_a_local_descent_finds_the_minimum_of_a_valley_at_once() -> None:
    result = infimum.minimize(problems.rosenbrock(10), sampling="local", max_iter=1)
    assert result.minimum.hi < 1e-6


# --- cuts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "partition", [RandomCuts(), Constant(np.nan), Constant(3.0), Slivers(), Golden(), Logarithmic()]
)
def test_the_parts_cover_the_range(partition: Partition) -> None:
    lo = np.array([-1.0, 0.0, 1e-8, -INF, -INF, 5.0, -1e308, -1e-320, 2.0])
    hi = np.array([2.0, 1e8, 1e8, INF, -3.0, INF, 1e308, 1e-320, np.nextafter(2.0, 3.0)])
    ends = cut(partition, lo, hi)
    assert np.array_equal(ends[:, 0], lo) and np.array_equal(ends[:, -1], hi)
    assert (ends[:, 1:] >= ends[:, :-1]).all() and not np.isnan(ends).any()
    assert ((ends[:-1, 1:-1] > lo[:-1, None]) & (ends[:-1, 1:-1] < hi[:-1, None])).any(1).all()


def test_logarithmic_cuts_by_ratios_where_a_range_has_one_sign() -> None:
    lo, hi = np.array([1e-8, -1e8, 0.0, 1.0, -1e8]), np.array([1e8, -1e-8, 1.0, 2.0, 1e8])
    found = Logarithmic().cuts(lo, hi)
    assert np.allclose(found[0], [1e-4, 1, 1e4]) and np.allclose(found[1], [-1e4, -1, -1e-4])
    assert np.allclose(found[2], [1e-12, 1e-8, 1e-4]) and np.allclose(found[3], [1.25, 1.5, 1.75])
    assert np.allclose(found[4], [-1, 0, 1], atol=1e-6)


def test_logarithmic_needs_fewer_iterations_over_decades() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.log(x * 1e6) ** 2)

    counts = [infimum.minimize(f, [(1e-8, 1e8)], xtol=1e-7, partition=p).nit for p in ("logarithmic", "uniform")]
    assert counts[0] < counts[1]


# --- widths in chosen variables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("xtol", [{0: 1e-3}, {-3: 1e-3}, [1e-3, INF, None], np.array([1e-3, INF, INF])])
def test_widths_may_matter_in_chosen_variables_only(xtol: Any) -> None:
    result = infimum.minimize(lambda x: np.sum(np.abs(x - 1)), [(-2, 3)] * 3, xtol=xtol, partition=Uniform(2, 1))
    widths = (result.boxes[:, :, 1] - result.boxes[:, :, 0]).max(0)
    assert result.success and widths[0] < 1e-3 <= widths[1:].max() and 0 in result.minimum
    every = infimum.minimize(lambda x: np.sum(np.abs(x - 1)), [(-2, 3)] * 3, xtol=1e-3, partition=Uniform(2, 1))
    assert result.nit < every.nit


def test_both_goals_hold_where_both_are_given() -> None:
    result = infimum.minimize(lambda x: np.sum(np.abs(x - 0.3)), [(-2, 3)] * 2, xtol=0.5, ftol=1e-6)
    assert result.success and result.minimum.hi - result.minimum.lo <= 1e-6
    assert (result.boxes[:, :, 1] - result.boxes[:, :, 0]).max() < 0.5


def test_a_cycle_of_fixed_variables_loses_nothing() -> None:
    bounds = [(0.5, 0.5)] * 12 + [(-1.0, 2.0)] * 3
    result = infimum.minimize(lambda x: np.sum(x**2), bounds)
    assert 3.0 in result.minimum and result.minimum.wid < 1e-6 and result.success


# --- refusals ------------------------------------------------------------------------------------------------------


class Misshapen(Uniform):
    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        return np.zeros(3)


class Flat:
    def propose(self, look: Look) -> FloatArray:
        return np.zeros((2, 7))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"partition": "silver"}, "one of 'paper', 'uniform', 'golden', 'logarithmic', or an object such as infimum"),
        ({"partition": Uniform}, "is not offered"),
        ({"partition": Uniform(parts=1)}, "partition.parts must be an integer from 2 on, got 1"),
        ({"partition": Uniform(variables=0)}, "partition.variables must be an integer from 1 on, got 0"),
        ({"partition": Misshapen()}, r"Misshapen.cuts proposes points of shape \(3,\), where \(2, 3\) is meant"),
        ({"sampling": "dense"}, "one of 'paper', 'midpoint', 'grid', 'latin', 'random', 'local'"),
        ({"sampling": []}, r"sampling=\[\] is not offered"),
        ({"sampling": ["paper", "dense"]}, "sampling='dense' is not offered"),
        ({"sampling": Flat()}, r"Flat.propose returns points of shape \(2, 7\), where \(k, 2\) is meant"),
        ({"selection": Best(0)}, "selection.count must be a positive integer, got 0"),
        ({"selection": "worst"}, "one of 'paper', 'best'"),
        ({"xtol": {2: 1e-3}}, "xtol names the variable 2, and there are 2: 0 to 1"),
        ({"xtol": {}}, "names no variable"),
        ({"xtol": {0: -1}}, r"xtol\[0\] must be positive, got -1"),
        ({"xtol": [1e-3]}, r"xtol has shape \(1,\), and the function 2 variables"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value,  # the same in every process
)
def test_what_is_no_strategy_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        infimum.minimize(lambda x: np.sum(x**2), [(-1, 2)] * 2, **given)


def test_more_children_than_can_be_evaluated_are_refused() -> None:
    matrix = np.random.default_rng(0).normal(size=(12, 12))
    with pytest.raises(InvalidOption, match="8 parts of 12 variables are 68719476736 children"):
        infimum.minimize(
            lambda x: np.sum((matrix @ x) ** 2), [(-1, 2)] * 12, partition=Uniform(8, 12), sampling="midpoint"
        )


def test_a_grid_and_several_propose_what_they_say() -> None:
    f = trace(lambda x: np.sum(x**2), 3)
    split = Split(np.array([0, 2]), np.array([[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]))
    lo, hi = np.zeros(3), np.array([2.0, 8.0, 4.0])
    look = Look(f, read_bounds([(0, 8)] * 3), None, split, lo, hi, None, 1)
    assert Grid(points=2).propose(look).tolist() == [[0.5, 4, 1], [0.5, 4, 3], [1.5, 4, 1], [1.5, 4, 3]]
    hypercube = Latin(count=8).propose(look)
    assert (np.sort(np.floor(hypercube / hi * 8), 0) == np.arange(8)[:, None]).all()
    assert Several((Grid(2), Random(5))).propose(look).shape == (9, 3)


def test_limits_hold_while_many_narrow_regions_are_put_out() -> None:
    started = time.process_time()
    f = lambda x: np.where(x[0] > 0, 0.0, 1.0) + 0 * x[1]  # noqa: E731
    result = infimum.minimize(f, [(-1, 1)] * 2, method="paper", time_limit=1)
    assert result.status == Status.TIME and time.process_time() - started < 10
    assert 0 in result.minimum

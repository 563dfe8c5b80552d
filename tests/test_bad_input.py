"""What means nothing is refused with a sentence, what cannot be reached is said: nothing hangs, nothing is made up."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.errors import InfimumError, InvalidBounds, InvalidOption, UnreachableTolerance
from infimum.search.status import Status

INF, NAN = math.inf, math.nan


def bowl(x: Any) -> Any:
    return np.sum((x - 0.3) ** 2)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([(2, 1)], r"variable 0 are \(2.0, 1.0\): the lower one is larger"),
        ([(0, 1), (3, -3), (1, 0)], r"variable 1 \(and 1 more\)"),
        ([(NAN, 1)], "NaN is no number"),
        ([(0, NAN)], "NaN is no number"),
        (np.array([[0, 1], [NAN, NAN]]), "NaN is no number"),
        ([(INF, INF)], "no real number"),
        ([(-INF, -INF)], "no real number"),
        ([(0, 1, 2)], "which is no pair"),
        ([0, 1], r"For one variable write bounds=\[\(0, 1\)\]"),
        ([("a", 1)], "which is no number"),
        ([(1j, 2)], "which is no number"),
        ([], "there is no variable"),
        ("01", "are no bounds"),
        (3, "are no bounds"),
        (np.zeros((2, 3)), r"shape \(2, 3\)"),
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        (SimpleNamespace(lb=[0, 0], ub=[1, 1, 1]), "Give one length to both"),
        ([(infimum.pi, infimum.pi)], "no double lies between"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_bounds_that_mean_nothing_are_refused(bounds: Any, words: str) -> None:
    with pytest.raises(InvalidBounds, match=words):
        infimum.minimize(bowl, bounds)


def test_bounds_of_another_length_are_refused() -> None:
    with pytest.raises(InvalidBounds, match="has 3 variables, and bounds were given for 2"):
        infimum.minimize(problems.levy(3), [(0, 1)] * 2)
    with pytest.raises((InfimumError, IndexError, ValueError)):
        infimum.minimize(lambda x: x[0] + x[2], [(0, 1)] * 2)
    with pytest.raises((InfimumError, IndexError, ValueError)):
        infimum.minimize(lambda x: np.sum(x * np.arange(3)), [(0, 1)] * 2)


@pytest.mark.parametrize("name", ["xtol", "ftol"])
@pytest.mark.parametrize("value", [-1e-6, -INF, NAN, "fine", [1], {}, {"x": 1}, -0.5])
def test_tolerances_that_mean_nothing_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidOption, match=name):
        infimum.minimize(bowl, [(-1, 2)] * 2, **{name: value})


@pytest.mark.parametrize(
    "given",
    [
        {"method": "Paper"}, {"backend": "gpu0"}, {"partition": ""}, {"sampling": "Latin"},
        {"sampling": ("paper", None, 3)}, {"selection": "first"}, {"selection": 3}, {"max_iter": NAN},
        {"max_iter": "10"}, {"time_limit": NAN}, {"time_limit": -1}, {"max_regions": 0.5}, {"threads": -1},
        {"threads": 1.5}, {"x0": [NAN, 0]}, {"x0": [[[0, 0]]]}, {"x0": [[0], [0]]}, {"x0": []},
        {"x0": [[0, 0], [0]]}, {"jac": "exact"},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_mean_nothing_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=next(iter(given))):
        infimum.minimize(bowl, [(-1, 2)] * 2, **given)


def test_an_option_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="tolerance"):
        infimum.minimize(bowl, [(-1, 2)] * 2, tolerance=1e-3)  # type: ignore[call-arg]


NOWHERE: dict[str, tuple[Callable[[Any], Any], int]] = {
    "logarithm": (lambda x: np.log(-1 - x[0] ** 2), 1),
    "sum of roots": (lambda x: np.sum(np.sqrt(-1 - x**2)), 12),
    "quotient by 0": (lambda x: x[0] / (0 * x[0]), 1),
    "one variable spoils it": (lambda x: np.sum(x**2) + np.arcsin(x[2] + 5), 5),
    "product": (lambda x: np.prod(np.log(-x)), 11),
    "matrix": (lambda x: np.sum(np.sqrt(-1 - (np.ones((4, 4)) @ x) ** 2)), 4),
    "both branches": (lambda x: np.where(x[0] < 0.5, np.log(-x[0]), np.sqrt(-x[0])), 1),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_a_function_that_is_defined_nowhere_has_no_minimum(name: str) -> None:
    f, n = NOWHERE[name]
    result = infimum.minimize(f, [(0.25, 1.5)] * n, time_limit=20)
    assert result.status == Status.UNDEFINED and not result.success and result.nregions == 0 and result.x is None
    assert "undefined on the whole domain" in result.message
    assert np.isnan(result.fun) and result.minimum.lo > result.minimum.hi and str(result)


@pytest.mark.filterwarnings("ignore:overflow encountered in divide")
@pytest.mark.parametrize("where", [0.0, 1.0, 1e15, -1e300])
@pytest.mark.parametrize("f", [lambda x: np.abs(x[0] - 0.3), lambda x: x[0] * 1e-300, lambda x: np.floor(x[0])])
def test_a_tolerance_finer_than_the_doubles_ends(f: Callable[[Any], Any], where: float) -> None:
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachableTolerance)
        result = infimum.minimize(f, [(where, where + max(1.0, abs(where)))], xtol=1e-320, time_limit=1)
    assert result.status in (Status.PROVED, Status.GOAL_MISSED, Status.TIME) and time.process_time() - started < 10
    assert result.minimum.lo <= result.minimum.hi and result.nregions


def test_a_gap_of_nothing_ends() -> None:
    result = infimum.minimize(lambda x: np.sum(np.abs(x)), [(-1, 2)] * 2, xtol=None, ftol=0, fatol=0, time_limit=2)
    assert result.status in (Status.PROVED, Status.TIME) and 0 in result.minimum
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachableTolerance)
        both = infimum.minimize(lambda x: np.sin(x[0]) + x[0] / 3, [(-9, 9)], xtol=1e-300, ftol=1e-300, time_limit=2)
    assert both.status in (Status.GOAL_MISSED, Status.TIME) and both.minimum.lo < both.minimum.hi


def test_every_variable_may_be_fixed() -> None:
    result = infimum.minimize(bowl, [(0.5, 0.5), (1.0, 1.0)])
    assert result.success and result.nregions == 1 and result.minimum.wid < 1e-15


@pytest.mark.parametrize("bounds", [(-2.0, -2.0), (-2.0, -1.5)])
def test_a_domain_that_needs_no_split_may_hold_no_value(bounds: tuple[float, float]) -> None:
    assert infimum.minimize(lambda x: np.log(x[0]), [bounds], xtol=1.0).status == Status.UNDEFINED


@pytest.mark.parametrize("value", [0, -1, 1.5, "2GB", NAN, True, [2**30]])
def test_a_memory_limit_that_means_nothing_is_refused(value: Any) -> None:
    with pytest.raises(InvalidOption, match=r"memory_limit must be a positive number of bytes.*memory_limit=None"):
        infimum.minimize(bowl, [(-1, 2)] * 2, memory_limit=value)


@pytest.mark.parametrize("name", ["memory", "max_memory", "memory_limits"])
def test_other_names_of_the_memory_limit_are_refused_with_the_right_one(name: str) -> None:
    with pytest.raises(InvalidOption, match="memory_limit"):
        infimum.minimize(bowl, [(-1, 2)] * 2, **{name: 10**9})


def test_problems_that_are_not_there_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidOption, match=r"no problem 'rastrigrin'\. Did you mean 'rastrigin'\? There are ackley"):
        problems.named("rastrigrin", 3)
    with pytest.raises(
        InvalidOption, match=r"levy can have any number of variables: give one, such as named\('levy', 100\)"
    ):
        problems.named("levy")
    with pytest.raises(InvalidOption, match="hartmann6 has 6 variables, got 5"):
        problems.named("hartmann6", 5)
    assert problems.named("hartmann6").n == problems.hartmann6().n == problems.size("hartmann6") == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ftol": float("inf")}, "ftol=None"),
        ({"ftol": 10**400}, "ftol=None"),
        ({"xtol": -(10**400)}, "xtol must be positive"),
        ({"method": np.array([1, 2])}, "method="),
        ({"batch": 0}, "batch=None for a share of those that wait"),
        ({"x0": [infimum.Interval(0, 1), 0]}, "it has a width"),
    ],
    ids=str,
)
def test_odd_numbers_are_refused_in_words(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        infimum.minimize(lambda x: x[0] ** 2 + x[1] ** 2, [(-1, 1)] * 2, **options)


@pytest.mark.parametrize("options", [{"time_limit": 10**400}, {"xtol": 10**400}, {"threads": 10**12}], ids=str)
def test_numbers_beyond_all_doubles_are_no_limits(options: dict[str, Any]) -> None:
    assert infimum.minimize(lambda x: x[0] ** 2, [(-1, 1)], **options).success


@pytest.mark.parametrize(
    "bounds", [([0, 0], [5, 5]), (np.array([0, 0]), np.array([5, 5])), ((0, 0), (5.0, 5.0))], ids=str
)
def test_scipys_columns_of_two_variables_are_not_read_as_pairs(bounds: Any) -> None:
    with pytest.raises(infimum.InvalidBounds, match=r"is SciPy's \(lower, upper\)\. Write one pair"):
        infimum.minimize(lambda x: (x[0] - 1) ** 2 + (x[1] - 2) ** 2, bounds)

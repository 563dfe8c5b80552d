"""The paper's functions: their known minima are true, and they can be evaluated on points and on boxes."""

from __future__ import annotations

import copy
import csv
import dataclasses
import pickle
import time
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from infimum import problems
from infimum.domain import read_bounds
from infimum.errors import InvalidOption
from infimum.exact.number import Exact, exact, pi
from infimum.function.function import trace
from infimum.interval import Interval
from infimum.problems.problem import Problem

SIZES = [1, 2, 3, 4, 5, 6, 50]
CASES = [(name, n) for name in problems.names("paper") for n in SIZES if not (name == "rosenbrock" and n == 1)]
SMOOTH = [name for name in problems.names("paper") if name != "discontinuous"]
# Where the minimiser lies under a square root of zero, the gradient does not exist.
KINKED = {"ackley", "belegundu", "salomon"}


def point(problem: Problem) -> np.ndarray[Any, Any]:
    return np.asarray(problem.minimiser, np.float64)


@pytest.mark.parametrize(("name", "n"), CASES)
def test_the_value_at_the_minimiser_is_the_known_minimum(name: str, n: int) -> None:
    problem = problems.named(name, n)
    assert problem.name == name and problem.n == n and len(problem.bounds) == n
    assert abs(float(problem.f(point(problem))) - float(problem.minimum)) < 1e-9 * n
    assert read_bounds(problem.bounds).contains(point(problem))


@pytest.mark.parametrize(("name", "n"), CASES)
def test_the_enclosure_at_the_minimiser_contains_the_known_minimum(name: str, n: int) -> None:
    problem = problems.named(name, n)
    traced = trace(problem.f, n)
    value = traced.enclose(Interval(problem.minimiser))
    assert problem.minimum in value
    assert value.wid < 1e-6
    assert traced.name == name


@pytest.mark.parametrize(("name", "n"), [case for case in CASES if case[0] in SMOOTH])
def test_the_gradient_vanishes_at_the_minimiser(name: str, n: int) -> None:
    problem = problems.named(name, n)
    traced, kinked = trace(problem.f, n), name in KINKED
    reach = 1e-3 if kinked else 0.0
    box = Interval(problem.minimiser) + Interval(-reach, reach)
    slopes = traced.gradient(box)
    assert all(0 in slope for slope in slopes)
    assert traced.facts(box).smooth == (not kinked)
    assert kinked or slopes.mag.max() < 1e-6


@pytest.mark.parametrize(("name", "n"), CASES)
def test_no_random_point_is_below_the_known_minimum(name: str, n: int) -> None:
    problem = problems.named(name, n)
    domain = read_bounds(problem.bounds)
    points = np.random.default_rng(n).uniform(domain.inner_lo, domain.inner_hi, (200, n))
    values = [float(problem.f(x)) for x in points]
    assert np.isfinite(values).all() and min(values) >= float(problem.minimum)
    assert np.allclose(values, trace(problem.f, n)(points), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", problems.names("paper"))
def test_plain_evaluation_is_fast_in_a_thousand_variables(name: str) -> None:
    problem = problems.named(name, 1000)
    x = np.linspace(-1, 1, 1000)
    problem.f(x)
    start = time.process_time()
    value = problem.f(x)
    assert time.process_time() - start < 0.5
    assert np.isfinite(float(value)) and not isinstance(value, Exact)


@pytest.mark.parametrize("n", [2, 3, 6, 50])
def test_the_gradient_of_rosenbrock_is_the_papers(n: int) -> None:
    problem = problems.rosenbrock(n)
    assert problem.jac is not None
    x = np.random.default_rng(3).uniform(-3, 3, n)
    _, derived = trace(problem.f, n).value_and_gradient(x)
    assert np.allclose(problem.jac(x), derived, rtol=1e-12)
    assert np.abs(problem.jac(np.ones(n))).max() == 0


def test_constants_are_the_real_numbers_that_the_paper_means() -> None:
    assert problems.breiman(50).minimum == -5 and problems.breiman(3).minimum == exact("-0.3")
    assert problems.zabinsky(2).bounds[0][1] == pi
    assert problems.zabinsky(2).minimiser[0] == 2 * pi / 3
    assert problems.fu(2).minimiser[1] == exact("0.9")
    assert problems.styblinski(7).minimum == -28


def test_the_spike_is_closed_and_has_the_papers_width() -> None:
    f = problems.discontinuous(2).f
    traced = trace(f, 2)
    assert traced.enclose([(1.5, 1.5), (1.4999996, 1.5000004)]).hi == -1
    assert traced.enclose([(1.5, 1.5), (1.5000006, 1.6)]).lo > 0
    assert float(f(np.array([1.5, 1.5 + 4e-7]))) == -1 and float(f(np.array([1.5, 1.5 + 6e-7]))) > 0


def test_the_names_are_those_of_the_papers_tables() -> None:
    text = (files("infimum.bench") / "data" / "paper_tables.csv").read_text()
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    assert {row["function"] for row in rows} == set(problems.names("paper"))
    assert all(problems.named(name, 2).name == name for name in problems.names("paper"))


def test_unknown_names_and_sizes_are_refused() -> None:
    with pytest.raises(InvalidOption, match=r"no problem 'levi'\. Did you mean 'levy'\? There are ackley"):
        problems.named("levi", 2)
    with pytest.raises(InvalidOption, match="at least 2"):
        problems.rosenbrock(1)
    for n in (0, -1, 2.5, True, "3"):
        with pytest.raises(InvalidOption, match="positive integer"):
            problems.levy(n)  # type: ignore[arg-type]


def test_a_million_variables_are_set_up_at_once() -> None:
    start = time.process_time()
    assert problems.levy(1_000_000).n == len(problems.zabinsky(1_000_000).bounds) == 1_000_000
    assert time.process_time() - start < 2


def test_a_problem_that_was_changed_is_copied_as_it_is() -> None:
    problem = problems.levy(3)
    assert pickle.loads(pickle.dumps(problem)).bounds == problem.bounds
    changed = dataclasses.replace(problem, bounds=((2, 3),) * 3)
    assert copy.copy(changed).bounds == changed.bounds
    with pytest.raises((AttributeError, pickle.PicklingError)):  # its function is local, as any other of the user's
        pickle.dumps(changed)

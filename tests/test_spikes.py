"""Spikes: the box on which a condition holds is read off the expression, and its middle is tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.function.conditions import ConditionBox
from infimum.function.function import trace

TINY = 1e-6

# A function of two variables, and a limited box (variables, lo, hi) on which one of its conditions holds or fails.
CONDITIONS: dict[str, tuple[Callable[[Any], Any], list[int], list[float], list[float]]] = {
    "one variable": (lambda x: np.where(x[0] <= 3, -1, x[1]), [0], [-np.inf], [3]),
    "from below": (lambda x: np.where(x[1] >= 3, -1, x[0]), [1], [3], [np.inf]),
    "strictly": (lambda x: np.where(np.greater(3, x[1]), -1, x[0]), [1], [-np.inf], [3]),
    "around a point": (lambda x: np.where(np.abs(x[0] - 5) <= TINY, -1, x[1]), [0], [5 - TINY], [5 + TINY]),
    "negated": (lambda x: np.where(np.abs(x[0] - 5) > TINY, x[1], -1), [0], [5 - TINY], [5 + TINY]),
    "not": (lambda x: np.where(~(np.abs(x[0] - 5) > TINY), -1, x[1]), [0], [5 - TINY], [5 + TINY]),
    "equal": (lambda x: np.where(2 * x[0] == 5, -1, x[1]), [0], [2.5], [2.5]),
    "all": (lambda x: np.where(np.all(np.abs(x - 5) <= 1), -1, x[1]), [0, 1], [4, 4], [6, 6]),
    "any negated": (lambda x: np.where(np.any(np.abs(x - 5) > 1), x[1], -1), [0, 1], [4, 4], [6, 6]),
    "and": (lambda x: np.where((x[0] < 2) & (x[1] > 1), -1, x[1]), [0, 1], [-np.inf, 1], [2, np.inf]),
    "bounds of both sides": (lambda x: np.where((x[0] < 2) & (x[0] > 1), -1, x[1]), [0], [1], [2]),
    "scaled and shifted": (lambda x: np.where(1 - 4 * x[0] >= 9, -1, x[1]), [0], [-np.inf], [-2]),
    "divided": (lambda x: np.where(x[0] / -2 < 1, -1, x[1]), [0], [-2], [np.inf]),
    "square": (lambda x: np.where((x[0] - 1) ** 2 <= 4, -1, x[1]), [0], [-1], [3]),
    "cube": (lambda x: np.where(x[0] ** 3 <= -8, -1, x[1]), [0], [-np.inf], [-2]),
    "sum of squares": (lambda x: np.where(np.sum((x - 3) ** 2) <= 4, -1, x[1]), [0, 1], [1, 1], [5, 5]),
    "norm": (lambda x: np.where(np.linalg.norm(x - 3) <= 2, -1, x[1]), [0, 1], [1, 1], [5, 5]),
    "logarithm": (lambda x: np.where(np.log(x[0]) <= 0, -1, x[1]), [0], [0], [1]),
    "other constants": (
        lambda x: np.where(np.all(np.abs(x - np.array([1, 2])) <= np.array([0.5, 0.25])), -1, x[1]),
        [0, 1],
        [0.5, 1.75],
        [1.5, 2.25],
    ),
    "elementwise": (lambda x: np.sum(np.where(np.abs(x - 5) <= 1, -1, x)), [0, 1], [4, 4], [6, 6]),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_is_inverted(name: str) -> None:
    f, variables, lo, hi = CONDITIONS[name]
    box = (np.array([0.25, -9.0]), np.array([9.0, 9.0])) if name == "logarithm" else None  # where it is defined
    found = trace(f, 2, box=box).condition_boxes
    assert any(
        spike.variables.tolist() == variables
        and np.allclose(spike.lo, lo, rtol=1e-12)
        and np.allclose(spike.hi, hi, rtol=1e-12)
        for spike in found
    ), [(s.variables, s.lo, s.hi) for s in found]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x**2),
        lambda x: np.where(np.sin(x[0]) > 0.5, -1, x[1]),
        lambda x: np.where(x[0] < x[1], -1, x[1]),
        lambda x: np.where(0 * x[0] < 1, -1, x[1]),
    ],
)
def test_what_is_not_understood_limits_nothing(f: Callable[[Any], Any]) -> None:
    assert trace(f, 2).condition_boxes == []


def test_a_condition_that_contradicts_itself_has_no_spike() -> None:
    f = lambda x: np.where((x[0] < 1) & (x[0] > 2), -1, x[1])  # noqa: E731
    assert all((spike.lo <= spike.hi).all() for spike in trace(f, 2).condition_boxes)


def test_a_long_chain_of_conditions_is_read_without_recursion() -> None:
    def f(x: Any) -> Any:
        condition = x[0] > 0
        for i in range(1, 3000):
            condition = condition & (x[i] * (1 + i % 7) > (i % 5))
        return np.where(condition, -1, x[0])

    assert trace(f, 3000).condition_boxes


def test_the_point_of_a_spike_lies_in_the_region() -> None:
    spike = ConditionBox(np.array([1]), np.array([2.0]), np.array([np.inf]))
    lo, hi = np.array([0.0, 1.0]), np.array([1.0, 4.0])
    point = spike.point(lo, hi, np.array([9.0, 9.0]))
    assert point is not None and point.tolist() == [1.0, 3.0]
    assert spike.point(lo, np.array([1.0, 1.5]), lo) is None


@pytest.mark.parametrize(("n", "iterations"), [(50, 45), (100, 90)])
def test_a_spike_of_width_1e_6_in_many_variables_is_found(n: int, iterations: int) -> None:
    result = infimum.minimize(problems.discontinuous(n), method="paper")
    assert result.minimum.lo == result.minimum.hi == -1
    assert result.nit == iterations and result.nregions == 1
    assert (result.boxes[0, :, 0] <= 1.5).all() and (result.boxes[0, :, 1] >= 1.5).all()


def test_a_spike_is_found_by_contraction_as_well() -> None:
    result = infimum.minimize(problems.discontinuous(1000), method="auto")
    assert result.minimum.lo == result.minimum.hi == -1 and result.nregions == 1
    assert (result.boxes[0, :, 0] <= 1.5).all() and (result.boxes[0, :, 1] >= 1.5).all()


def test_spikes_in_each_variable_are_found_one_by_one() -> None:
    def f(x: Any) -> Any:
        near = np.abs(x - np.array([0.1, 0.7, -0.3])) <= TINY
        return np.sum(np.where(near, -1, x**2))

    assert -3 in infimum.minimize(f, [(-1, 1)] * 3).minimum
    assert infimum.minimize(f, [(-1, 1)] * 3).minimum.hi < -2.999

"""The user's gradient: traced, met with the derived one where that is sound, refused where it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.errors import InvalidJacobian, TraceError
from infimum.function.function import trace
from infimum.interval import Interval
from infimum.tracing.trace import trace_vector


def bowl(x: Any) -> Any:
    return np.sum((x - 1) ** 2)


@pytest.mark.parametrize(
    "jac",
    [
        lambda x: 2 * (x - 1),
        lambda x: [2 * (x[0] - 1), 2 * (x[1] - 1)],
        lambda x: np.array([2 * (x[0] - 1), 2 * (x[1] - 1)]),
        lambda x: np.concatenate([2 * x[:1] - 2, 2 * x[1:] - 2]),
    ],
)
def test_a_gradient_may_be_written_in_any_form(jac: Callable[[Any], Any]) -> None:
    function = trace(bowl, 2, jac=jac)
    assert np.array_equal(function.gradient([(2, 3), (0, 1)]).pairs(), [[2, 4], [-2, 0]])
    assert 0 in infimum.minimize(bowl, [(-2, 3)] * 2, jac=jac).minimum


def test_a_gradient_may_be_constant() -> None:
    result = infimum.minimize(lambda x: x[0] + 2 * x[1], [(-1, 1)] * 2, jac=lambda x: [1, 2])
    assert -3 in result.minimum and result.success
    high = infimum.minimize(lambda x: x[0] + 2 * x[1], [(-1, 1)] * 2, jac=lambda x: (1, 2), maximize=True)
    assert 3 in high.maximum


def test_a_form_with_fewer_repetitions_is_tighter_and_both_are_met() -> None:
    problem = problems.rosenbrock(4)
    plain, met = trace(problem.f, 4), trace(problem.f, 4, jac=problem.jac)
    boxes = Interval([[-3.0] * 4, [0.5] * 4], [[2.0] * 4, [1.5] * 4])
    a, b = plain.gradient(boxes), met.gradient(boxes)
    assert (a.lo <= b.lo).all() and (b.hi <= a.hi).all() and (b.wid < a.wid).any()
    points = np.random.default_rng(1).uniform(0.5, 1.5, (200, 4))
    slopes = plain.value_and_gradient(points)[1]
    assert (b.lo[1] - 1e-9 <= slopes).all() and (slopes <= b.hi[1] + 1e-9).all()


def test_rosenbrock_takes_as_many_iterations_as_in_the_paper() -> None:
    result = infimum.minimize(problems.rosenbrock(50), method="paper")
    assert (result.nit, result.nregions) == (209, 9) and 0 in result.minimum


def test_at_a_kink_the_given_gradient_is_not_used() -> None:
    def f(x: Any) -> Any:
        return np.abs(x[0])

    met = trace(f, 1, jac=lambda x: np.where(x > 0, 1.0, 1.0))  # wrong for x < 0, and never asked there
    assert np.array_equal(met.gradient([(-1, 1)]).pairs(), [[-1, 1]])
    assert np.array_equal(met.gradient([(0, 0)]).pairs(), [[-1, 1]])
    with pytest.raises(InvalidJacobian, match=r"derivative by variable 0 in \[1.0, 1.0\].*lies in \[-1.0, -1.0\]"):
        met.gradient([(-2, -1)])


def test_where_the_given_gradient_is_undefined_it_is_not_used() -> None:
    # The derivative of x^2/2 is x; this formula is x from 1 on and undefined below, and encloses only x >= 1.
    met = trace(lambda x: x[0] ** 2 / 2, 1, jac=lambda x: np.sqrt(x - 1) ** 2 + 1)
    assert np.array_equal(met.gradient([(-2, 2)]).pairs(), [[-2, 2]])
    result = infimum.minimize(lambda x: x[0] ** 2 / 2, [(-2, 2.5)], jac=lambda x: np.sqrt(x - 1) ** 2 + 1)
    assert 0 in result.minimum and any(box[0, 0] <= 0 <= box[0, 1] for box in result.boxes)


def test_a_gradient_wrong_in_one_corner_is_refused_by_the_search_not_believed() -> None:
    def jac(x: Any) -> Any:
        return np.where(np.abs(x - 1) < 1e-3, 7.0, 2 * (x - 1))  # right but near the minimiser

    with pytest.raises(InvalidJacobian, match="so it is not its gradient"):
        infimum.minimize(bowl, [(-2, 3)] * 2, jac=jac)


def test_a_gradient_wrong_on_a_large_part_is_not_believed_either() -> None:
    # Right wherever it is compared at the start, and inside the derived enclosure of every box around [0.5, 1.5]^2.
    def jac(x: Any) -> Any:
        return np.where(np.all(np.abs(x - 1) < 0.5), 0.25, 2 * (x - 1))

    with pytest.raises(InvalidJacobian):
        infimum.minimize(bowl, [(-20, 30)] * 2, jac=jac)


def test_what_is_no_gradient_is_refused() -> None:
    with pytest.raises(TraceError, match="returns None"):
        trace_vector(lambda x: None, 2)
    with pytest.raises(TraceError, match=r"shape \(\), where one of shape \(2,\)"):
        trace_vector(lambda x: x[0], 2)
    with pytest.raises(TraceError, match=r"shape \(3,\), where one of shape \(2,\)"):
        trace_vector(lambda x: np.concatenate([x, x[:1]]), 2)
    calls = iter(range(1, 100))
    with pytest.raises(TraceError, match="hidden state"):
        infimum.trace(bowl, 2, jac=lambda x: x * next(calls))

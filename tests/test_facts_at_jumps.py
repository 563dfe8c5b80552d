"""Facts and slopes where functions jump: what was claimed falsely once, random functions against ball arithmetic."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import jumpy_functions
from contractions import stationary
from infimum import minimize, ops
from infimum.domain import read_bounds
from infimum.errors import InfimumError, InternalError
from infimum.function.function import trace
from infimum.passes import near
from infimum.search.contradiction import refuse_contradiction
from jumpy_functions import contradicted, false_facts, jumpy, lost

METHODS = ("auto", "paper")

# --- what was claimed falsely ----------------------------------------------------------------------------------------

LOST: dict[str, tuple[Callable[[Any], Any], tuple[float, float], float, float]] = {  # f, bounds, minimiser, minimum
    "a truth value times 1": (lambda x: np.where((x[0] >= 0) * 1.0 > 0.5, x[0], 10.0), (-1, 1), 0.0, 0.0),
    "a truth value as a float": (lambda x: np.where((x[0] >= 0).astype(float) > 0.5, x[0], 10.0), (-1, 1), 0.0, 0.0),
    "a truth value compared": (lambda x: np.where((x[0] < 0) > 0.5, 10.0, x[0]), (-1, 1), 0.0, 0.0),
    "a truth value compared twice": (lambda x: np.where(((x[0] < 0) > 0.5) == 1, 10.0, x[0]), (-1, 1), 0.0, 0.0),
    "where of truth values": (
        lambda x: np.where(np.where(x[0] >= 0, x[0] < 9, x[0] > 9), x[0], 10.0), (-1, 1), 0.0, 0.0,
    ),
    "where of truth values compared": (
        lambda x: np.where(np.where(x[0] < 0, 0.0, 1.0) > 0.5, x[0], 10.0), (-1, 1), 0.0, 0.0,
    ),
    "a sum of truth values": (
        lambda x: np.where((x[0] >= 0) * 1.0 + (x[0] > -9) >= 2, x[0], 10.0), (-1, 1), 0.0, 0.0,
    ),
    "floor compared": (lambda x: np.where(np.floor(x[0]) > -0.5, x[0], 10.0), (-1, 1), 0.0, 0.0),
    "sign compared": (lambda x: np.where(np.sign(x[0]) > -0.5, x[0], 10.0), (-1, 1), 0.0, 0.0),
    "mod compared": (lambda x: np.where(x[0] % 1 < 0.5, x[0] % 1, 10.0), (0.25, 1.75), 1.0, 0.0),
    "a comparison asked only where it is defined": (
        lambda x: np.where(np.where(x[0] >= 0, np.sqrt(x[0]) > 1, False), 5.0, x[0]), (-3, 3), -3.0, -3.0,
    ),
    "the slope of log(x)**0": (lambda x: np.log(x[0]) ** 0 + (x[0] - 1) ** 2, (0.5, 3), 1.0, 1.0),
    "a polynomial with its constant term": (
        lambda x: sum(c * np.log(x[0]) ** k for k, c in enumerate([3, 0, 1])), (0.5, 3), 1.0, 3.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LOST)
def test_no_minimiser_is_lost_at_a_jump(name: str, method: Any) -> None:
    f, bounds, minimiser, minimum = LOST[name]
    result = minimize(f, [bounds], method=method)
    assert minimum in result.minimum
    assert any(lo <= minimiser <= hi for ((lo, hi),) in result.boxes)


CONTRADICTED = [
    "np.where((x[0] >= 0) * 1.0 > 0.5, x[0], 10.0)",
    "np.where(np.where(x[0] >= 1, x[0] < 9, x[0] > 9), x[0], 10.0)",
    "np.where(np.where(np.sqrt(x[0]) > 1, x[0] > 0, x[0] > 1), x[0], x[0] + 1)",
    "np.where(x[0] < -0.5, np.where(np.sqrt(x[0]) > 0.75, np.sqrt(x[0]), 1), 2)",
    "np.where(x[0] > 0, x[0], -x[0])",
    "np.where(x[0] > 0, x[0] * np.log(x[0]), 2 * x[0])",
    "(x[0] >= 1) * (x[0] - 1)",
    "(x[0] - 1) * np.floor(x[0])",
    "np.mod(x[0], 1.0) * (1 - np.mod(x[0], 1.0))",
    "np.log(x[0]) ** 0 + x[0]",
    "np.where((1 / x[0] > 1) & (x[0] < 2), x[0], 1.0)",
    "np.max(np.array([(x[0] > 1) * x[0], np.floor(x[0]), 0.5]))",
    "np.maximum(x[0] > 0, x[0] > 1) * x[0]",
    "np.arctan2(x[0] - 1, -1.0)",
    "np.sqrt(x[0] ** 2 + (x[0] * 2) ** 2)",
    "np.cbrt(x[0]) ** 3 + np.sqrt(np.abs(x[0])) ** 2",
    "np.abs(x[0]) ** 1.5 + np.abs(x[0]) ** 1.0 + (np.abs(x[0]) ** 0.5) ** 2",
    "np.prod(np.array([x[0], np.sign(x[0]), x[0] >= 1]))",
    "np.where(np.where(x[0] >= 0, np.sqrt(x[0]) > 1, False), 5.0, x[0])",
    "np.where(np.where(x[0] != 0, 1 / x[0] > 1, False), x[0], 1.0)",
    "np.where(np.where(x[0] > 0, np.log(x[0]) < 0, False) | (x[0] > 2), x[0], -x[0])",
    "np.cumsum(np.array([x[0] > 0, np.sqrt(x[0]), x[0]]))[2]",
]


@pytest.mark.parametrize("text", CONTRADICTED)
def test_nothing_false_is_claimed_around_jumps(text: str) -> None:
    assert contradicted(text) == []


def test_a_where_has_both_slopes_at_its_kink_as_abs_has() -> None:
    chosen, plain = (trace(f, 1) for f in (lambda x: np.where(x[0] > 0, x[0], -x[0]), lambda x: np.abs(x[0])))
    for box in ([(0, 0)], [(0, 1)], [(-1, 0)], [(-1, 1)], [(2.0**-1074, 1)], [(-1, -(2.0**-1074))]):
        assert (chosen.gradient(box).pairs() == plain.gradient(box).pairs()).all(), box


def test_decided_conditions_cost_no_sharpness() -> None:
    f = trace(lambda x: ((x[0] > 0) | (x[0] > 1)) * x[0] + np.where((x[0] > 0) * 1.0 > 0.5, x[0], 7), 1)
    for box, smooth in (([(1.5, 2)], True), ([(0.5, 1.5)], True), ([(0, 1)], False), ([(-2, -1)], True)):
        assert f.facts(box) == (True, smooth), box
    assert f.gradient([(1.5, 2)]).pairs().tolist() == [[2, 2]]


COUNTED = {
    "parity": lambda x: np.where(np.floor(x[0]) % 2 == 0, x[0], -x[0]),
    "a count": lambda x: np.where(np.sum(x > 0) >= 2, x[0], 5.0),
    "an integer": lambda x: np.floor(x[0]).astype(int) * x[0],
    "at least 1": lambda x: np.where((x[0] > 0) * 1.0 >= 1, x[0], 7.0),
    "equal": lambda x: np.where(np.floor(x[0]) == 1, x[0], 3.0),
}


@pytest.mark.parametrize("name", COUNTED)
def test_conditions_on_counts_are_decided_between_their_jumps(name: str) -> None:
    f = trace(COUNTED[name], 2)
    assert all(f.facts([box, (0.5, 0.75)]).smooth for box in ((1.25, 1.5), (-0.75, -0.5), (2.25, 2.5)))
    assert name == "equal" or not f.facts([(0.0, 0.5), (0.5, 0.75)]).smooth


# --- slopes ----------------------------------------------------------------------------------------------------------


def test_a_constant_below_all_doubles_is_not_zero() -> None:
    f = trace(lambda x: x[0] * 1e200 * 1e200 / 1e200 / 1e200 + x[0] ** 2, 1)
    assert 1.0 in f.gradient([(0, 0)])[0]
    result = minimize(lambda x: x[0] * 1e200 * 1e200 / 1e200 / 1e200 + x[0] ** 2, [(-1, 1)])
    assert -0.25 in result.minimum


def test_a_slope_that_exists_nowhere_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a slope's formula is: here that of g**0 divides by g again."""

    def divided(b: Any, args: Any, y: Any) -> Any:
        return (b.graph.node("mul", (b.number(y.data), b.apply("pown", args[0], data=y.data - 1)), 1),)

    monkeypatch.setitem(ops.OPERATIONS, "pown", dataclasses.replace(ops.OPERATIONS["pown"], slope=divided))
    f = trace(lambda x: np.log(x[0]) ** 0 + x[0] ** 2, 1, box=(np.array([0.5]), np.array([2.0])))
    one = np.array([[1.0]])
    assert not np.isfinite(f.gradient_ends(one, one)).any()
    lo, hi = stationary(f, read_bounds([(0.5, 3)])).contract(one, one)
    assert lo == hi == 1.0


def test_an_element_that_nobody_wrote_is_0_whatever_its_neighbours_are() -> None:
    """sqrt(x[0]) times the missing elements of an array is nothing where x[0] < 0; the elements themselves are 0."""

    def f(x: Any) -> Any:
        y = np.zeros(3)
        y[1:] = (np.sqrt(x[0]) * x)[:-1]
        return np.sum(np.where(np.array([x[0] < 0, x[0] >= 0]), y[:2], x[0]))

    assert trace(f, 3).enclose([(-1, -1), (2, 2), (3, 3)]).pairs().tolist() == [-1, -1]
    assert -4.0 in minimize(f, [(-4, 1)] * 3).minimum


# --- contradictions --------------------------------------------------------------------------------------------------


def test_a_false_fact_ends_in_an_internal_error_not_in_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near.Near, "_made", lambda self, node: node)
    with pytest.raises(InternalError, match=r"No box is left, yet a value of at most .* is known at x = .*report"):
        minimize(lambda x: np.where(x[0] < 0, 10.0, x[0]), [(-1, 1)])


def test_what_contradicts_itself_is_no_claim() -> None:
    x = np.zeros(1)
    refuse_contradiction(1, x, 1.0, 1.0)
    refuse_contradiction(0, None, np.inf, np.inf)
    for boxes, point, lower, upper in ((0, x, 1.0, 1.0), (0, None, 1.0, 1.0), (1, x, 1.5, 1.0)):
        with pytest.raises(InternalError, match="no claim is made"):
            refuse_contradiction(boxes, point, lower, upper)


# --- random functions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", range(10))
def test_no_random_function_with_jumps_is_claimed_to_be_what_it_is_not(block: int) -> None:
    claimed = 0
    for seed in range(8 * block, 8 * block + 8):
        f = jumpy(seed)
        if f is None:
            continue
        for box in jumpy_functions.boxes(seed, f.n, 4):
            assert false_facts(f, box) == []
            claimed += bool(f.function.facts(box).smooth)
    assert claimed, "a test of claims needs some"


@pytest.mark.parametrize("seed", range(200, 230))
def test_no_random_function_with_jumps_loses_its_minimiser(seed: int) -> None:
    f = jumpy(seed)
    if f is None:
        pytest.skip("refused by the tracer")
    for box, method in zip(jumpy_functions.boxes(seed, f.n, 2), METHODS, strict=True):
        try:
            result = minimize(f.f, box, method=method, max_iter=12)  # type: ignore[arg-type]
        except InternalError:
            raise
        except InfimumError:
            continue  # refused: no claim
        assert lost(f, box, result) == []


def test_the_samples_see_a_minimum_that_was_lost() -> None:
    """The oracle of the tests above, on a claim that is false."""
    f = jumpy_functions.of_text("np.where(x[0] < 0, 10.0, x[0])")
    result = minimize(f.f, [(-1, 1)])
    assert lost(f, [(-1.0, 1.0)], result) == []
    other = minimize(lambda x: np.where(x[0] <= 0, 10.0, x[0] + 1), [(-1, 1)])
    assert lost(f, [(-1.0, 1.0)], other) != []
    assert jumpy_functions.value(f, (Fraction(0),)) == 0

"""The outer form of a function: the squares that it adds up, through every spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.function.function import Function

T = np.linspace(0.1, 1.0, 7)
Y = np.random.default_rng(5).normal(size=7)
W = np.linspace(1.0, 2.0, 7)


def r(x: Any) -> Any:
    return x[0] * np.exp(-x[1] * T) - Y


def looped(x: Any) -> Any:
    total = 0.0
    for i in range(7):
        total = total + W[i] * (x[0] * np.exp(-x[1] * T[i]) - Y[i]) ** 2
    return total


def assembled(x: Any) -> Any:
    found = np.zeros(7)
    for i in range(7):
        found[i] = x[0] * np.exp(-x[1] * T[i]) - Y[i]
    return found


def watson(x: Any) -> Any:
    total = 0.0
    for i in range(1, 30):
        t = i / 29
        slope = sum(j * x[j] * t ** (j - 1) for j in range(1, 3))
        total += (slope - sum(x[j] * t**j for j in range(3)) ** 2 - 1) ** 2
    return total + x[0] ** 2 + (x[1] - x[0] ** 2 - 1) ** 2


# name: the function, its variables, its squares, what H makes of their sum
SPELLINGS: dict[str, tuple[Callable[..., Any], int, int, Callable[[Any], Any]]] = {
    "sum": (lambda x: np.sum(r(x) ** 2), 2, 7, lambda s: s),
    "method": (lambda x: (r(x) ** 2).sum(), 2, 7, lambda s: s),
    "product": (lambda x: np.sum(r(x) * r(x)), 2, 7, lambda s: s),
    "dot": (lambda x: np.dot(r(x), r(x)), 2, 7, lambda s: s),
    "matmul": (lambda x: r(x) @ r(x), 2, 7, lambda s: s),
    "weighted dot": (lambda x: r(x) @ (W * r(x)), 2, 7, lambda s: s),
    "einsum": (lambda x: np.einsum("i,i->", r(x), r(x)), 2, 7, lambda s: s),
    "squared norm": (lambda x: np.linalg.norm(r(x)) ** 2, 2, 7, lambda s: s),
    "norm": (lambda x: np.linalg.norm(r(x)), 2, 7, np.sqrt),
    "mean": (lambda x: np.mean(r(x) ** 2), 2, 7, lambda s: s),
    "rms": (lambda x: np.sqrt(np.mean(r(x) ** 2)), 2, 7, np.sqrt),
    "log": (lambda x: 3 + 7 * np.log(np.sum(r(x) ** 2)) - 2, 2, 7, lambda s: 1 + 7 * np.log(s)),
    "weights": (lambda x: np.sum(W * r(x) ** 2), 2, 7, lambda s: s),
    "sigma": (lambda x: 0.5 * np.sum((r(x) / W) ** 2), 2, 7, lambda s: s),
    "negated twice": (lambda x: -(0 - np.mean((r(x) / W) ** 2)), 2, 7, lambda s: s),
    "subtracted": (lambda x: 1 - np.sum(-(r(x) ** 2)), 2, 7, lambda s: 1 + s),
    "loop": (looped, 2, 7, lambda s: s),
    "assembled": (lambda x: np.sum(assembled(x) ** 2), 2, 7, lambda s: s),
    "concatenated": (lambda x: np.sum(np.concatenate([r(x), 10 * x]) ** 2), 2, 9, lambda s: s),
    "two sums": (lambda x: np.sum(r(x) ** 2 + (x[0] * x[1] * T - Y) ** 2), 2, 14, lambda s: s),
    "ridge": (lambda x: 0.5 * np.sum(r(x) ** 2) + 0.1 * x @ x, 2, 9, lambda s: s),
    "fourth powers": (lambda x: np.sum(r(x) ** 4), 2, 7, lambda s: s),
    "regression": (lambda x: np.sum((np.vander(T, 3) @ x - Y) ** 2), 3, 7, lambda s: s),
    "Watson": (watson, 3, 31, lambda s: s),
    "Rosenbrock": (lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), 5, 8, lambda s: s),
    "a constant": (lambda x: np.sum(r(x) ** 2) + 5, 2, 7, lambda s: s + 5),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_of_a_sum_of_squares_is_seen(name: str) -> None:
    f, n, m, chain = SPELLINGS[name]
    function = infimum.trace(f, n)
    found = function.residuals
    assert found is not None
    assert found.is_whole
    assert found.m == m
    points = np.random.default_rng(1).uniform(0.2, 1.0, (9, n))
    values = found.values(points)
    assert values.shape == (9, m)
    np.testing.assert_allclose(chain((values**2).sum(1)), function(points), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SPELLINGS)
def test_the_jacobian_of_the_residuals_is_that_of_differences(name: str) -> None:
    f, n, m, _ = SPELLINGS[name]
    found = infimum.trace(f, n).residuals
    assert found is not None
    points = np.random.default_rng(2).uniform(0.2, 1.0, (4, n))
    h = 1e-6
    by_differences = [(found.values(points + h * e) - found.values(points - h * e)) / (2 * h) for e in np.eye(n)]
    found_there = found.jacobian(points)
    assert found_there.shape == (4, m, n)
    np.testing.assert_allclose(found_there, np.stack(by_differences, 2), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", SPELLINGS)
def test_ends_contain_the_residuals_and_their_slopes_all_over_a_box(name: str) -> None:
    f, n, _, _ = SPELLINGS[name]
    found = infimum.trace(f, n).residuals
    assert found is not None
    draw = np.random.default_rng(3)
    lo = draw.uniform(0.2, 1.0, (5, n))
    hi = lo + draw.uniform(0.0, 0.3, (5, n))
    ends, slopes = found.ends(lo, hi), found.jacobian_ends(lo, hi)
    for _ in range(20):
        points = draw.uniform(lo, hi)
        values, jacobian = found.values(points), found.jacobian(points)
        assert (ends[0] - 1e-12 <= values).all()
        assert (values <= ends[1] + 1e-12).all()
        assert (slopes[0] - 1e-12 <= jacobian).all()
        assert (jacobian <= slopes[1] + 1e-12).all()


@pytest.mark.parametrize(
    ("f", "m"),
    [
        (lambda x: np.sum(x**2 - 10 * np.cos(x)), 2),
        (lambda x: np.sum(r(x) ** 2) - np.sum((x - 1) ** 2), 7),  # what is subtracted belongs to the rest
        (lambda x: np.sum(np.array([1.0, -1.0]) * x**2) + np.exp(x[0]), 1),
        (lambda x: x[0] ** 2 + x[0] * x[1], 1),
    ],
)
def test_what_is_no_square_is_the_rest(f: Callable[..., Any], m: int) -> None:
    found = infimum.trace(f, 2).residuals
    assert found is not None
    assert found.m == m
    assert not found.is_whole


@pytest.mark.parametrize("f", [lambda x: np.sum(np.abs(r(x))), lambda x: -np.sum(r(x) ** 2), lambda x: np.sin(x[0])])
def test_where_no_square_is_added_there_are_no_residuals(f: Callable[..., Any]) -> None:
    assert infimum.trace(f, 2).residuals is None


def test_residuals_are_where_their_function_is_and_can_be_sent_away() -> None:
    import pickle

    function = infimum.trace(lambda x: np.sum(r(x) ** 2), 2)
    assert function.residuals is not None
    copy: Function = pickle.loads(pickle.dumps(function))
    assert copy.residuals is not None
    point = np.array([[0.5, 0.5]])
    np.testing.assert_array_equal(copy.residuals.values(point), function.residuals.values(point))

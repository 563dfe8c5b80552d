"""Log-sum-exps are read as smooth, whatever they are written like, and stay the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import pytest
from scipy.special import log_expit, log_softmax, logsumexp

from infimum.backends import cpu
from infimum.function.function import Function, trace
from infimum.passes import smoother
from infimum.passes.lowering.lower import lower

Patch = pytest.MonkeyPatch
N = 4
LARGE = np.full(N, -1e6), np.full(N, 1e6)


def by_hand(x: Any) -> Any:
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def by_rows(x: Any) -> Any:
    z = np.reshape(np.concatenate([x, x**2, -x]), (3, N))
    m = z.max(axis=1, keepdims=True)
    return np.sum(m[:, 0] + np.log(np.sum(np.exp(z - m), axis=1)))


def bounded(x: Any) -> Any:
    m = np.max(x)
    total = np.sum(np.exp(np.minimum(x - m, 0)))
    return np.log(np.minimum(np.maximum(total, 1), 4)) + m


def cross_entropy(x: Any) -> Any:
    return np.sum(np.maximum(x, 0) - x * np.arange(N) + np.log1p(np.exp(-np.abs(x))))


def in_branches(x: Any) -> Any:
    return np.sum(np.where(x > 0, x + np.log1p(np.exp(-x)), np.log1p(np.exp(x))))


def in_other_branches(x: Any) -> Any:
    return np.sum(np.where(x >= 0, np.log(1 + np.exp(-x)) + x, np.log1p(np.exp(x))))


def sigmoid(x: Any) -> Any:
    return np.sum(np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))))


SMOOTH: dict[str, Callable[[Any], Any]] = {
    "logaddexp": lambda x: np.sum(np.logaddexp(x[1:], x[:-1] ** 2)),
    "logaddexp with 0": lambda x: np.sum(np.logaddexp(0, x)),
    "logaddexp with a number": lambda x: np.sum(np.logaddexp(x, 2.5)),
    "logaddexp with a scalar": lambda x: np.sum(np.logaddexp(x, x[0] ** 2)) - np.logaddexp(x[0], x[1]),
    "log_expit": lambda x: np.sum(log_expit(x)) - np.sum(log_expit(x**2)),
    "the smaller one": lambda x: np.minimum(x[0], x[1]) - np.log1p(np.exp(-np.abs(x[0] - x[1]))),
    "logsumexp": lambda x: logsumexp(np.concatenate([x, x**2])),
    "log_softmax": lambda x: np.sum(log_softmax(x) * np.arange(N)),
    "by hand": by_hand,
    "by rows": by_rows,
    "bounded": bounded,
    "cross entropy": cross_entropy,
    "in branches": in_branches,
    "in other branches": in_other_branches,
    "a sigmoid in branches": sigmoid,
}
# Almost the same: left as they are, for what they would be turned into is another function.
ROUGH: dict[str, Callable[[Any], Any]] = {
    "another distance": lambda x: np.maximum(x[0], x[1]) + np.log1p(np.exp(-np.abs(x[0] - x[2]))),
    "half a distance": lambda x: np.maximum(x[0], x[1]) + np.log1p(np.exp(-np.abs(x[0] - x[1]) / 2)),
    "a difference": lambda x: np.maximum(x[0], x[1]) - np.log1p(np.exp(-np.abs(x[0] - x[1]))),
    "the smaller one, added": lambda x: np.minimum(x[0], x[1]) + np.log1p(np.exp(-np.abs(x[0] - x[1]))),
    "twice the logarithm": lambda x: np.maximum(x[0], x[1]) + 2 * np.log1p(np.exp(-np.abs(x[0] - x[1]))),
    "away from 0": lambda x: np.maximum(x[0], x[1]) + np.log1p(np.exp(-np.abs(x[0]))),
    "a shift by something else": lambda x: np.max(x) + np.log(np.sum(np.exp(x - np.max(x[1:])))),
    "a shift of something else": lambda x: np.max(x) + np.log(np.sum(np.exp(x**2 - np.max(x)))),
    "below another largest": lambda x: np.sum(np.minimum(x - np.max(x[1:]), 0) ** 2 + np.exp(x)),
    "less than the largest": lambda x: np.max(x) + np.log(np.sum(np.exp(np.minimum(x - np.max(x), -1)))),
    "bounded by less": lambda x: np.max(x) + np.log(np.minimum(np.sum(np.exp(x - np.max(x))), 3)),
    "bounded from below by more": lambda x: np.max(x) + np.log(np.maximum(np.sum(np.exp(x - np.max(x))), 1.5)),
    "minus the largest": lambda x: np.log(np.sum(np.exp(x - np.max(x)))) - np.max(x),
    "other branches": lambda x: np.sum(np.where(x > 0, x + np.log1p(np.exp(-x)), np.log1p(np.exp(-x)))),
    "branches of others": lambda x: np.sum(np.where(x > 0, np.log1p(np.exp(x)), np.log1p(np.exp(2 * x)))),
    "an undefined condition": lambda x: np.sum(np.where(np.sqrt(x) > 1, x + np.log1p(np.exp(-x)), np.log1p(np.exp(x)))),
}


def points() -> np.ndarray:
    draw = np.random.default_rng(3)
    x = draw.normal(size=(40, N)) * 10.0 ** draw.uniform(-2, 1.5, (40, 1))
    x[::4, 1] = x[::4, 0]
    x[::5, 2] = 0.0
    x[7] = 0.0
    return x


def differences(function: Function) -> list[str]:
    """Points at which what is smooth has certainly another value, or is defined where the function is not."""
    found = []
    nodes = [function.value_node, function.programs.smoothed.output]
    x = points()
    (low, high), (least, most) = (cpu.run(lower([node], N), x, x)[0] for node in nodes)
    for k in range(len(x)):
        if not (max(low[k], least[k]) <= min(high[k], most[k]) or (low[k] > high[k] and least[k] > most[k])):
            found.append(f"{x[k].tolist()}: {low[k]} to {high[k]}, {least[k]} to {most[k]}")
    return found


def traced(f: Callable[[Any], Any]) -> Function:
    return trace(f, N, box=LARGE, compare=False)


@pytest.mark.parametrize("name", SMOOTH)
def test_a_log_sum_exp_is_smooth_and_the_same(name: str) -> None:
    function = traced(SMOOTH[name])
    assert not differences(function)
    lo, hi = np.full((1, N), -3.0), np.full((1, N), 4.0)
    assert function.fact_arrays(lo, hi)[1].all()


@pytest.mark.parametrize("name", ROUGH)
def test_what_is_almost_one_stays_as_it_is(name: str) -> None:
    function = trace(ROUGH[name], N, compare=False)
    assert not differences(function)


def test_slopes_are_those_of_the_exact_function() -> None:
    function = traced(SMOOTH["logsumexp"])
    flint.ctx.prec = 200
    for x in np.clip(points()[:12], -9, 9):
        z = [flint.arb(v) for v in x] + [flint.arb(v) ** 2 for v in x]
        total = sum(v.exp() for v in z)
        exact = [z[i].exp() / total + 2 * z[i] * z[i + N].exp() / total for i in range(N)]
        low, high = function.gradient_ends(x[None], x[None])
        assert all(low[0, i] <= exact[i] <= high[0, i] for i in range(N))
        assert (high - low).max() < 1e-9 * max(1.0, float(np.abs(x).max()))


@pytest.mark.parametrize("f", [lambda x: logsumexp(1e4 * x), by_hand, bounded])
def test_points_have_the_right_slopes_where_exponents_differ_much(f: Callable[[Any], Any]) -> None:
    value, slope = traced(f).value_and_gradient(np.array([1000.0, -2000.0, 1001.0, 0.0]))
    assert np.isfinite(value) and np.isfinite(slope).all()
    assert slope[1] == slope[3] == 0 and slope[2] > 0.7 and abs(slope[0] + slope[2] - slope.sum()) == 0


def test_large_exponents_do_not_overflow_in_slopes() -> None:
    function = trace(lambda x: np.sum(np.log1p(np.exp(x))), N, compare=False)
    low, high = function.gradient_ends(np.array([[-800.0, 700.0, 0.0, 30.0]]), np.array([[-790.0, 700.0, 0.0, 31.0]]))
    assert 0 <= low[0, 0] <= high[0, 0] < 1e-300 and low[0, 1] > 0.999 and high[0, 3] <= 1 and low[0, 3] > 1 - 1e-12


def _taken(self: Any, other: Any, logarithm: Any, *, alike: bool) -> Any:
    return self._of_two(other, logarithm) if other.op in ("max", "min") and logarithm.op == "log1p" else None


BROKEN: dict[str, tuple[str, Any]] = {
    "signs do not matter": ("_pair", _taken),
    "any distance will do": (
        "_of_two",
        lambda self, extreme, logarithm: self.op(
            "add", extreme.args[0], self.op("log1p", self.op("exp", self.op("sub", *extreme.args[::-1])))
        ),
    ),
    "branches need not be equal": ("_where", lambda self, node: node.args[1]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rewriting_is_noticed(name: str, monkeypatch: Patch) -> None:
    method, replacement = BROKEN[name]
    monkeypatch.setattr(smoother._Smoother, method, replacement)
    assert any(differences(trace(f, N, compare=False)) for f in ROUGH.values())


def test_bounds_that_are_met_are_noticed(monkeypatch: Patch) -> None:
    def without(self: Any, node: Any) -> Any:
        return node.args[1] if node.op in ("min", "max") and node.args[0].op == "constant" else node

    monkeypatch.setattr(smoother._Bounds, "without", without)
    assert any(differences(trace(f, N, compare=False)) for f in ROUGH.values())


def test_a_shift_by_something_else_is_noticed(monkeypatch: Patch) -> None:
    def largest(node: Any) -> Any:
        return smoother._inside(node.args[1]) if node.op == "sub" else None

    monkeypatch.setattr(smoother, "_excess_of", largest)
    assert any(differences(trace(f, N, compare=False)) for f in ROUGH.values())

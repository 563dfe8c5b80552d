"""Columns: which parameters enter residuals linearly, and that the columns are those of the residuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import infimum
from fit_claims import drawn
from infimum.backends import cpu
from infimum.function.function import Function, trace
from infimum.function.linear_parameters import LinearPrograms, linear_programs
from infimum.passes.linear_parameters import columns, degrees
from infimum.passes.lowering.lower import lower

Patch = pytest.MonkeyPatch
T = np.array([0.3, 0.5, 1.1, 1.7, 2.0])
Y = np.array([1.0, 0.4, 0.8, -0.3, 0.1])


def _of(model: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: np.sum((model(x) - Y) ** 2)


def _looped(x: Any) -> Any:
    total = 0.0
    for t, y in zip(T.tolist(), Y.tolist(), strict=True):
        own = 0.0
        for i in range(2):
            own = own + x[i] * np.exp(-x[2 + i] * t)
        total = total + (own - y) ** 2
    return total


def _summed_up(x: Any) -> Any:
    return np.sum((np.cumsum(x[0] * np.exp(-x[1] * T)) + x[2] * T - Y) ** 2)


# A function, its number of variables, and those that enter linearly: one set, or several of one size.
FOUND: dict[str, tuple[Callable[[Any], Any], int, list[set[int]]]] = {
    "an exponential": (_of(lambda x: x[0] * np.exp(-x[1] * T)), 2, [{0}]),
    "a loop": (_looped, 4, [{0, 1}]),
    "a matrix": (lambda x: np.sum((np.exp(-x[2] * np.stack([T, 2 * T], 1)) @ x[:2] - Y) ** 2), 3, [{0, 1}]),
    "a norm, squared": (lambda x: np.linalg.norm(x[0] * np.exp(-x[1] * T) + x[2] - Y) ** 2, 3, [{0, 2}]),
    "a dot product": (lambda x: np.dot(x[0] ** 1 * np.sin(x[1] * T) - Y, x[0] * np.sin(x[1] * T) - Y), 2, [{0}]),
    "a mean in a root": (lambda x: np.sqrt(np.mean((x[0] * np.exp(-x[1] * T) - Y) ** 2)), 2, [{0}]),
    "weights": (lambda x: np.sum(T * (x[0] * np.exp(-x[1] * T) - Y) ** 2), 2, [{0}]),
    "a quotient by p": (_of(lambda x: x[0] / (x[1] + T)), 2, [{0}]),
    "a choice by p": (_of(lambda x: np.where(x[1] > T, x[0], x[2] * T)), 3, [{0, 2}]),
    "running sums": (_summed_up, 3, [{0, 2}]),
    "a product of two": (_of(lambda x: x[0] * x[1] * T + np.exp(-x[2] * T)), 3, [{0}, {1}]),
    "one for each row": (_of(lambda x: x[:5] * np.exp(-x[5] * T)), 6, [{0, 1, 2, 3, 4}]),
    "one for some rows": (_of(lambda x: x[[0, 1, 0, 1, 1]] * np.exp(-x[2] * T)), 3, [{0, 1}]),
    "rows apart": (lambda x: (x[0] * np.exp(-x[1]) - 1) ** 2 + (x[2] * x[1] - 2) ** 2, 3, [{0, 2}]),
    "linear in another's place": (_of(lambda x: (x[0] - x[2]) * np.exp(-x[1] * T) - x[0]), 3, [{0, 2}]),
}
# What must not be found: variables that enter otherwise as well, or that are not read.
NONE: dict[str, tuple[Callable[[Any], Any], int, int]] = {
    "linear and in an exponent": (_of(lambda x: x[0] * np.exp(-x[0] * T) + x[1] * np.exp(-x[2] * T)), 3, 0),
    "linear here and squared there": (_of(lambda x: x[0] * T + x[1] * np.exp(-x[2] * T) + x[0] ** 2), 3, 0),
    "a square": (_of(lambda x: x[0] ** 2 * T + x[1] * np.exp(-x[2] * T)), 3, 0),
    "a size": (_of(lambda x: np.abs(x[0]) * T + x[1] * np.exp(-x[2] * T)), 3, 0),
    "a root": (_of(lambda x: np.sqrt(x[0]) * T + x[1] * np.exp(-x[2] * T)), 3, 0),
    "the larger of two": (_of(lambda x: np.maximum(x[0], 0.5) * T + x[1] * np.exp(-x[2] * T)), 3, 0),
    "a largest element": (lambda x: np.max(x[0] * T) ** 2 + np.sum((x[1] * np.exp(-x[2] * T) - Y) ** 2), 3, 0),
    "a product of elements": (lambda x: (np.prod(x[0] * T) - 1) ** 2 + (x[1] * np.exp(-x[2]) - 1) ** 2, 3, 0),
    "a divisor": (_of(lambda x: T / x[0] + x[1] * np.exp(-x[2] * T)), 3, 0),
    "a condition": (_of(lambda x: np.where(x[0] > T, 1.0, 2.0) + x[1] * np.exp(-x[2] * T)), 3, 0),
    "a condition and a branch": (_of(lambda x: np.where(x[0] > T, x[0], 2.0) + x[1] * np.exp(-x[2] * T)), 3, 0),
    "a step": (_of(lambda x: np.floor(x[0]) * T + x[1] * np.exp(-x[2] * T)), 3, 0),
    "a factor of running products": (_of(lambda x: np.cumprod(x[0] * T) + x[1] * np.exp(-x[2] * T)), 3, 0),
    "never read": (_of(lambda x: x[1] * np.exp(-x[2] * T)), 3, 0),
    "in a row that is masked": (
        lambda x: np.sum((np.where([True, True, True, True, False], x[1] * np.exp(-x[2] * T), x[0] * T) - Y)[:4] ** 2),
        3, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_what_enters_linearly_is_found(name: str) -> None:
    f, n, expected = FOUND[name]
    found = trace(f, n).linear_parameters
    assert found is not None and set(found.linear.tolist()) in expected
    assert set(found.nonlinear.tolist()) == set(range(n)) - set(found.linear.tolist())


@pytest.mark.parametrize("name", NONE)
def test_what_enters_otherwise_is_not(name: str) -> None:
    f, n, other = NONE[name]
    found = trace(f, n).linear_parameters
    assert found is not None and other not in found.linear.tolist()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum((x[0] * T + x[1] - Y) ** 2),  # all are
        lambda x: np.sum((np.exp(-x[0] * T) * np.sin(x[1] * T) - Y) ** 2),  # none is
        lambda x: np.sum((x[0] * np.exp(-x[1] * T) - Y) ** 2) + x[1],  # not squares alone
        lambda x: np.sum(np.abs(x[0] * np.exp(-x[1] * T) - Y)),
    ],
)
def test_where_nothing_is_gained_there_are_no_columns(f: Any) -> None:
    assert trace(f, 2).linear_parameters is None


def test_columns_that_share_a_parameter_are_one_group() -> None:
    def model(x: Any) -> Any:
        return x[0] * np.exp(-x[4] * T) + x[1] * np.sin(x[5] * T) + x[2] * np.exp(-x[4] * T) * T + x[3] + T**2

    found = trace(_of(model), 6).linear_parameters
    assert found is not None
    groups = {(tuple(g.columns.tolist()), tuple(g.parameters.tolist())) for g in found.groups}
    assert groups == {((0, 2), (0,)), ((1,), (1,)), ((3, 4), ())}


# ---------------------------------------------------------------------------------------------- the columns themselves
def _programs(function: Function) -> LinearPrograms | None:
    return linear_programs(function.programs.outer)


def wrong_columns(f: Any, n: int, bounds: Any, seed: int = 0) -> list[str]:
    """Points at which r and A c + h are certainly not the same numbers, or columns are defined nowhere though r is."""
    function = trace(f, n)
    programs, residuals = _programs(function), function.residuals
    if programs is None or residuals is None:
        return []
    own = programs.columns
    program = lower([*own.columns, own.rest], own.nonlinear.size)
    draw = np.random.default_rng(seed)
    lo, hi = (np.clip(np.array(end, float), -10, 10) for end in zip(*bounds, strict=True))
    x = draw.uniform(lo, hi, (20, n))
    known = residuals.ends(x, x)
    p = np.ascontiguousarray(x[:, own.nonlinear])
    ends = cpu.run(program, p, p, threads=1)
    found = []
    for i in range(len(x)):
        wanted = infimum.Interval(np.minimum(known[0][i], known[1][i]), np.maximum(known[0][i], known[1][i]))
        if not (known[0][i] <= known[1][i]).all():
            continue
        if any(not (low[i] <= high[i]).all() for low, high in ends):
            found.append(f"{x[i].tolist()}: a column is defined nowhere")
            continue
        total = infimum.Interval(np.zeros(own.m))
        for (low, high), c in zip(ends, [*x[i, own.linear], 1.0], strict=True):
            total = total + infimum.Interval(low[i], high[i]) * c
        # Both are a few ulps wide; what is apart is no rounding.
        if not ((total.lo <= wanted.hi) & (wanted.lo <= total.hi)).all():
            found.append(f"{x[i].tolist()}: {total} is not {wanted}")
    return found


def _all_wrong() -> list[str]:
    by_name = [(f, n) for f, n, _ in [*FOUND.values(), *NONE.values()]]
    found = [text for f, n in by_name for text in wrong_columns(f, n, [(0.1, 3.0)] * n)]
    for seed in range(30):
        fit = drawn("columns", seed)
        found += wrong_columns(fit, fit.n, fit.bounds, seed)
    return found


def test_columns_and_residuals_are_the_same_numbers() -> None:
    assert not _all_wrong()


def _noticed() -> bool:
    """Whether a wrong claim is made, or a contradiction met."""
    try:
        return bool(_all_wrong())
    except (AssertionError, KeyError, IndexError, AttributeError, ValueError):
        return True


def _meeting_nobody(op: str) -> Callable[[Patch], None]:
    def wrong(node: Any, below: Any, n: int, met: Any) -> Any:
        return _READS(node, below, n, np.zeros_like(met) if node.op == op else met)

    return lambda patch: patch.setattr(degrees, "_reads", wrong)


def _negative_kept(self: Any, node: Any, own: Any) -> Any:
    return _ADDED(self, _As(node, "add") if node.op == "sub" else node, own)


class _As:
    def __init__(self, node: Any, op: str) -> None:
        self.op, self.size = op, node.size


def _elements_everywhere(self: Any, part: Any, size: int) -> Any:
    if part is None:
        return self.build.full(self.build.number(0), size)
    return self.build.full(part.node, size)


def _first_alone(self: Any, first: Any, second: Any, size: int) -> Any:
    return first


_READS, _ADDED = degrees._reads, columns._Forms._added

MUTANTS: dict[str, Callable[[Patch], None]] = {
    **{f"{op} lets nothing meet": _meeting_nobody(op) for op in ("mul", "div", "exp", "sqr", "recurrence")},
    "a difference is a sum": lambda patch: patch.setattr(columns._Forms, "_added", _negative_kept),
    "missing elements are there": lambda patch: patch.setattr(columns._Forms, "whole", _elements_everywhere),
    "a term is forgotten": lambda patch: patch.setattr(columns._Forms, "_both", _first_alone),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_broken_is_noticed(name: str, monkeypatch: Patch) -> None:
    MUTANTS[name](monkeypatch)
    assert _noticed()

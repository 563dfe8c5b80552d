"""Whatever way a user writes a model, it is seen as the same: squares, parameters, convexity, quadratics, and boxes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special

import infimum
from infimum.passes.unbounded import paths

Model = Callable[[Any], Any]
Spelling = Callable[[Model], Model]

_DRAW = np.random.default_rng(5)
T = np.linspace(0.1, 2.0, 12)
Y = 2.5 * np.exp(-1.3 * T) + 0.05 * _DRAW.normal(size=12)
A = _DRAW.normal(size=(12, 4))
B = A @ np.array([1.0, -2.0, 0.5, 3.0]) + 0.3 * _DRAW.normal(size=12)
W = np.linspace(1.0, 2.0, 12)
D = np.diag(W)
DENSE = D + 0.5
LABEL = np.where(A @ np.ones(4) > 0, 1.0, -1.0)
M = len(T)


def decay(x: Any) -> Any:
    return x[0] * np.exp(-x[1] * T) - Y


def affine(x: Any) -> Any:
    return A @ x - B


def by_values(r: Model) -> Model:
    def f(x: Any) -> Any:
        total = 0.0
        for v in r(x):
            total += v**2
        return total

    return f


def by_numbers(r: Model) -> Model:
    def f(x: Any) -> Any:
        v, total = r(x), 0
        for i in range(len(v)):
            total = total + v[i] * v[i]
        return total

    return f


def own_square(r: Model) -> Model:
    def f(x: Any) -> Any:
        v = r(x)
        return v @ v

    return f


# Sums of squares of the residuals r(x), up to a positive factor and a number.
SUMS: dict[str, Spelling] = {
    "sum of **2": lambda r: lambda x: np.sum(r(x) ** 2),
    "loop over values": by_values,
    "loop over numbers": by_numbers,
    "generator": lambda r: lambda x: sum(v * v for v in r(x)),
    "pow": lambda r: lambda x: sum(pow(v, 2) for v in r(x)),
    "math.pow": lambda r: lambda x: sum(math.pow(v, 2) for v in r(x)),
    "dot": lambda r: lambda x: np.dot(r(x), r(x)),
    "method dot": lambda r: lambda x: r(x).dot(r(x)),
    "@": lambda r: lambda x: r(x) @ r(x),
    "one name @": own_square,
    "transposed": lambda r: lambda x: r(x).T @ r(x),
    "matmul": lambda r: lambda x: np.matmul(r(x), r(x)),
    "column": lambda r: lambda x: (r(x)[:, None].T @ r(x)[:, None])[0, 0],
    "vdot": lambda r: lambda x: np.vdot(r(x), r(x)),
    "inner": lambda r: lambda x: np.inner(r(x), r(x)),
    "einsum": lambda r: lambda x: np.einsum("i,i", r(x), r(x)),
    "tensordot": lambda r: lambda x: np.tensordot(r(x), r(x), 1),
    "trace of outer": lambda r: lambda x: np.trace(np.outer(r(x), r(x))),
    "norm**2": lambda r: lambda x: np.linalg.norm(r(x)) ** 2,
    "square of norm": lambda r: lambda x: np.square(np.linalg.norm(r(x), 2)),
    "norm of dist": lambda r: lambda x: math.dist(r(x), np.zeros(M)) ** 2,
    "mean": lambda r: lambda x: np.mean(r(x) ** 2),
    "method mean": lambda r: lambda x: (r(x) ** 2).mean(),
    "sum over length": lambda r: lambda x: np.sum(r(x) ** 2) / len(r(x)),
    "average": lambda r: lambda x: np.average(r(x) ** 2),
    "square": lambda r: lambda x: np.sum(np.square(r(x))),
    "power": lambda r: lambda x: np.sum(np.power(r(x), 2)),
    "power 2.0": lambda r: lambda x: np.sum(r(x) ** 2.0),
    "float_power": lambda r: lambda x: np.sum(np.float_power(r(x), 2)),
    "abs**2": lambda r: lambda x: np.sum(abs(r(x)) ** 2),
    "abs times abs": lambda r: lambda x: np.sum(np.abs(r(x)) * np.abs(r(x))),
    "negated": lambda r: lambda x: np.sum((-r(x)) ** 2),
    "reshaped": lambda r: lambda x: np.sum(np.sum(r(x).reshape(-1, 2) ** 2, axis=0)),
    "stacked": lambda r: lambda x: np.sum(np.stack(list(r(x))) ** 2),
    "reduce": lambda r: lambda x: np.add.reduce(r(x) ** 2),
    "root squared": lambda r: lambda x: np.sqrt(np.sum(r(x) ** 2)) ** 2,
    "half": lambda r: lambda x: 0.5 * np.sum(r(x) ** 2),
    "minus minus": lambda r: lambda x: -(0.0 - np.sum(r(x) ** 2)),
    "identity matrix": lambda r: lambda x: r(x).T @ np.eye(M) @ r(x),
}
# Weighted ones; DENSE is correlated.
WEIGHTED: dict[str, Spelling] = {
    "w r**2": lambda r: lambda x: np.sum(W * r(x) ** 2),
    "w r r": lambda r: lambda x: np.sum(W * r(x) * r(x)),
    "w @ r**2": lambda r: lambda x: W @ r(x) ** 2,
    "dot of squares": lambda r: lambda x: np.dot(W, np.square(r(x))),
    "average": lambda r: lambda x: np.average(r(x) ** 2, weights=W),
    "r.T @ W @ r": lambda r: lambda x: r(x).T @ D @ r(x),
    "r @ (W @ r)": lambda r: lambda x: r(x) @ (D @ r(x)),
    "dot of dot": lambda r: lambda x: np.dot(r(x), np.dot(D, r(x))),
    "einsum of vectors": lambda r: lambda x: np.einsum("i,i,i", W, r(x), r(x)),
    "einsum of a matrix": lambda r: lambda x: np.einsum("i,ij,j", r(x), D, r(x)),
    "roots": lambda r: lambda x: np.sum((np.sqrt(W) * r(x)) ** 2),
    "norm": lambda r: lambda x: np.linalg.norm(np.sqrt(W) * r(x)) ** 2,
    "(w r) @ r": lambda r: lambda x: (W * r(x)) @ r(x),
    "inner": lambda r: lambda x: np.inner(W * r(x), r(x)),
    "loop": lambda r: lambda x: sum(w * v * v for w, v in zip(W, r(x), strict=True)),
    "loop of quotients": lambda r: lambda x: sum(v * v / (1 / w) for w, v in zip(W, r(x), strict=True)),
    "over sigma": lambda r: lambda x: np.sum((r(x) / (1 / np.sqrt(W))) ** 2),
    "factor": lambda r: lambda x: np.sum((np.linalg.cholesky(D).T @ r(x)) ** 2),
}
CORRELATED: dict[str, Spelling] = {
    "r.T @ W @ r": lambda r: lambda x: r(x).T @ DENSE @ r(x),
    "r.T.dot(W).dot(r)": lambda r: lambda x: r(x).T.dot(DENSE).dot(r(x)),
    "einsum": lambda r: lambda x: np.einsum("i,ij,j->", r(x), DENSE, r(x)),
    "multi_dot": lambda r: lambda x: np.linalg.multi_dot([r(x), DENSE, r(x)]),
    "covariance": lambda r: lambda x: r(x) @ np.linalg.inv(np.linalg.inv(DENSE)) @ r(x),
    "half": lambda r: lambda x: 0.5 * (r(x) @ DENSE @ r(x)),
    "factor": lambda r: lambda x: np.sum((np.linalg.cholesky(DENSE).T @ r(x)) ** 2),
}
# Increasing functions of the sum.
AROUND: dict[str, Spelling] = {
    "a number more": lambda r: lambda x: np.sum(r(x) ** 2) + 7,
    "root": lambda r: lambda x: np.sqrt(np.sum(r(x) ** 2)),
    "**0.5": lambda r: lambda x: np.sum(r(x) ** 2) ** 0.5,
    "**0.25": lambda r: lambda x: np.sum(r(x) ** 2) ** 0.25,
    "**1.5": lambda r: lambda x: np.sum(r(x) ** 2) ** 1.5,
    "sum squared": lambda r: lambda x: np.sum(r(x) ** 2) ** 2,
    "root of mean": lambda r: lambda x: np.sqrt(np.mean(r(x) ** 2)),
    "norm": lambda r: lambda x: np.linalg.norm(r(x)),
    "math.hypot": lambda r: lambda x: math.hypot(*r(x)),
    "math.sqrt": lambda r: lambda x: math.sqrt(np.sum(r(x) ** 2)),
    "log": lambda r: lambda x: np.log(np.sum(r(x) ** 2)),
    "math.log": lambda r: lambda x: math.log(np.sum(r(x) ** 2)),
    "log10 of mean": lambda r: lambda x: np.log10(np.mean(r(x) ** 2)),
    "log of root": lambda r: lambda x: np.log(np.sqrt(np.mean(r(x) ** 2))),
    "log1p": lambda r: lambda x: np.log1p(np.sum(r(x) ** 2)),
    "likelihood": lambda r: lambda x: M / 2 * np.log(2 * np.pi * np.sum(r(x) ** 2) / M) + M / 2,
    "minus exp of minus": lambda r: lambda x: -np.exp(-np.sum(r(x) ** 2)),
    "1 - 1/(1 + S)": lambda r: lambda x: 1 - 1 / (1 + np.sum(r(x) ** 2)),
    "-2/(1 + S)": lambda r: lambda x: -2 / (1 + np.mean(r(x) ** 2)),
    "-(1 + S)**-2": lambda r: lambda x: -((1 + np.mean(r(x) ** 2)) ** -2.0),
    "minus R2": lambda r: lambda x: -(1 - np.sum(r(x) ** 2) / 17.0),
}
EVERY = {
    f"{kind}: {name}": spelling
    for kind, spellings in {"": SUMS, "weighted": WEIGHTED, "correlated": CORRELATED, "around": AROUND}.items()
    for name, spelling in spellings.items()
}


class Seen(NamedTuple):
    squares: int
    are_all: bool
    linear: tuple[int, ...]


def seen(f: Model, n: int) -> Seen | None:
    function = infimum.trace(f, n)
    found, parameters = function.residuals, function.linear_parameters
    if found is None:
        return None
    return Seen(found.m, found.is_whole, () if parameters is None else tuple(parameters.linear.tolist()))


@pytest.mark.parametrize("name", EVERY)
def test_the_squares_and_the_linear_parameters_of_a_fit_are_seen(name: str) -> None:
    assert seen(EVERY[name](decay), 2) == Seen(12, True, (0,))


@cache
def best(kind: str) -> Any:
    """The best point of a fit in its plainest spelling."""
    spelling = {"weighted": WEIGHTED["roots"], "correlated": CORRELATED["factor"]}.get(kind, SUMS["sum of **2"])
    return infimum.minimize(spelling(decay), [(0, 10), (0, 10)], max_iter=60, threads=1).x


@pytest.mark.parametrize("name", EVERY)
def test_a_fit_takes_about_the_same_boxes_to_the_same_point(name: str) -> None:
    result = infimum.minimize(EVERY[name](decay), [(0, 10), (0, 10)], max_iter=60, threads=1)
    assert result.success and result.boxes_evaluated <= 200
    np.testing.assert_allclose(result.x, best(name.split(":")[0]), rtol=1e-2)


@pytest.mark.parametrize("name", EVERY)
def test_a_maximum_of_the_negative_is_the_same_fit(name: str) -> None:
    f = EVERY[name](decay)
    one = infimum.minimize(f, [(0, 10), (0, 10)], max_iter=60, threads=1)
    other = infimum.minimize(lambda x: -f(x), [(0, 10), (0, 10)], max_iter=60, threads=1, maximize=True)
    assert other.success and (one.minimum.lo, one.minimum.hi) == (-other.maximum.hi, -other.maximum.lo)
    assert other.boxes_evaluated == one.boxes_evaluated


@pytest.mark.parametrize("name", EVERY)
def test_a_regression_is_closed_in_one_box(name: str) -> None:
    result = infimum.minimize(EVERY[name](affine), [(-10, 10)] * 4, max_iter=3, threads=1)
    assert result.success and result.nregions == 1


def test_the_logarithm_of_a_large_sum_is_not_taken_for_a_fall_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lower bound is still -inf, paths along which f may fall cost a share of the work, and not all of it."""
    count = 0
    falls = paths._Prover._falls

    def counted(self: Any, start: Any) -> bool:
        nonlocal count
        count += 1
        return falls(self, start)

    monkeypatch.setattr(paths._Prover, "_falls", counted)
    t = np.linspace(0.1, 2.0, 60)
    y = 2.5 * np.exp(-1.3 * t) + 0.05 * np.random.default_rng(1).normal(size=60)
    f: Model = lambda x: np.log(np.sum((x[0] * np.exp(-x[1] * t) + x[2] - y) ** 2))  # noqa: E731
    result = infimum.minimize(f, [(0, 10), (0, 10), (-1, 1)], max_iter=60, threads=1)
    assert result.success and count <= 10 * result.nit


# ---------------------------------------------------------------------------------------------- convex losses
G = A * LABEL[:, None]


def ridge(w: Any) -> Any:
    return 1e-2 * np.sum(w**2)


def cross_entropy(w: Any) -> Any:
    p, y = 1 / (1 + np.exp(-(A @ w))), (LABEL + 1) / 2
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)) + ridge(w)


def without_overflow(w: Any) -> Any:
    u = -(G @ w)
    return np.mean(np.maximum(u, 0) + np.log1p(np.exp(-np.abs(u)))) + ridge(w)


def by_cases(w: Any) -> Any:
    u = -(G @ w)
    return np.mean(np.where(u > 0, u + np.log1p(np.exp(-u)), np.log1p(np.exp(u)))) + ridge(w)


LOGISTIC: dict[str, Model] = {
    "log(1 + exp)": lambda w: np.mean(np.log(1 + np.exp(-(G @ w)))) + ridge(w),
    "log1p(exp)": lambda w: np.mean(np.log1p(np.exp(-LABEL * (A @ w)))) + ridge(w),
    "logaddexp": lambda w: np.mean(np.logaddexp(0, -(G @ w))) + 1e-2 * w @ w,
    "loop": lambda w: (
        sum(math.log(1 + math.exp(-sum(g * v for g, v in zip(row, w, strict=True)))) for row in G) / M + ridge(w)
    ),
    "sigmoid": lambda w: -np.mean(np.log(1 / (1 + np.exp(-(G @ w))))) + ridge(w),
    "tanh": lambda w: -np.mean(np.log(0.5 * (1 + np.tanh(G @ w / 2)))) + ridge(w),
    "expit": lambda w: -np.mean(np.log(special.expit(G @ w))) + ridge(w),
    "log_expit": lambda w: -np.mean(special.log_expit(G @ w)) + ridge(w),
    "logsumexp": lambda w: np.mean(special.logsumexp(np.stack([np.zeros(M), -(G @ w)]), axis=0)) + ridge(w),
    "cross-entropy": cross_entropy,
    "without overflow": without_overflow,
    "by cases": by_cases,
    "norm": lambda w: np.mean(np.log1p(np.exp(-(G @ w)))) + 1e-2 * np.linalg.norm(w) ** 2,
    "product": lambda w: -np.log(np.prod(1 / (1 + np.exp(-(G @ w))))) / M + ridge(w),
}


@pytest.mark.parametrize("name", LOGISTIC)
def test_a_logistic_regression_is_convex_and_closed_in_one_box(name: str) -> None:
    f = LOGISTIC[name]
    assert infimum.trace(f, 4).is_convex_everywhere
    result = infimum.minimize(f, [(-10, 10)] * 4, max_iter=3, threads=1)
    assert result.success and result.nregions == 1


CONVEX: dict[str, Model] = {
    "Poisson": lambda w: np.sum(np.exp(A @ w) - 3 * (A @ w)),
    "log of cosh": lambda w: np.sum(np.log(np.cosh(affine(w)))),
    "pseudo-Huber": lambda w: np.sum(np.sqrt(1 + affine(w) ** 2) - 1),
    "hypot": lambda w: np.sum(np.hypot(1.0, affine(w)) - 1),
    "log-sum-exp": lambda w: np.log(np.sum(np.exp(affine(w)))) + ridge(w),
    "logsumexp": lambda w: special.logsumexp(affine(w)) + ridge(w),
    "of the largest": lambda w: np.max(affine(w)) + np.log(np.sum(np.exp(affine(w) - np.max(affine(w))))) + ridge(w),
}


@pytest.mark.parametrize("name", CONVEX)
def test_convex_losses_are_closed_in_one_box(name: str) -> None:
    result = infimum.minimize(CONVEX[name], [(-5, 5)] * 4, max_iter=3, threads=1)
    assert result.success and result.nregions == 1


# ---------------------------------------------------------------------------------------------- polynomials
V = np.vander(T, 4)


def horner(c: Any) -> Any:
    found = 0 * T
    for v in c:
        found = found * T + v
    return np.sum((found - Y) ** 2)


POLYNOMIALS: dict[str, Model] = {
    "polyval": lambda c: np.sum((np.polyval(c, T) - Y) ** 2),
    "polyval at each": lambda c: np.sum((np.array([np.polyval(c, t) for t in T]) - Y) ** 2),
    "vander": lambda c: np.sum((np.vander(T, 4) @ c - Y) ** 2),
    "polyvander": lambda c: np.sum((np.polynomial.polynomial.polyvander(T, 3) @ c - Y) ** 2),
    "Horner": horner,
    "powers": lambda c: np.sum((sum(c[k] * T ** (3 - k) for k in range(4)) - Y) ** 2),
    "power.outer": lambda c: np.sum((np.power.outer(T, np.arange(4)) @ c - Y) ** 2),
    "column_stack": lambda c: np.sum((np.column_stack([T**3, T**2, T, np.ones(M)]) @ c - Y) ** 2),
    "einsum": lambda c: np.sum((np.einsum("ij,j->i", V, c) - Y) ** 2),
    "broadcast": lambda c: np.sum((np.sum(V * c, axis=1) - Y) ** 2),
    "loops": lambda c: sum((sum(c[k] * t ** (3 - k) for k in range(4)) - y) ** 2 for t, y in zip(T, Y, strict=True)),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_a_polynomial_is_a_regression(name: str) -> None:
    function = infimum.trace(POLYNOMIALS[name], 4)
    assert function.quadratic is not None and function.is_convex_everywhere
    assert seen(POLYNOMIALS[name], 4) == Seen(12, True, ())
    result = infimum.minimize(POLYNOMIALS[name], [(-10, 10)] * 4, max_iter=3, threads=1)
    assert result.success and result.nregions == 1


@pytest.mark.parametrize(
    "f",
    [
        lambda c: np.sum((np.convolve(c, np.array([1.0, 2.0, 1.0])) - np.arange(6.0)) ** 2),
        lambda c: c @ (V.T @ V) @ c - 2 * (V.T @ Y) @ c + Y @ Y,
    ],
    ids=["convolve", "normal equations"],
)
def test_other_regressions_are_closed_in_one_box(f: Model) -> None:
    result = infimum.minimize(f, [(-10, 10)] * 4, max_iter=3, threads=1)
    assert result.success and result.nregions == 1


# ---------------------------------------------------------------------------------------------- what is none
@pytest.mark.parametrize(
    "f",
    [
        lambda x: -np.sqrt(np.sum(decay(x) ** 2)),
        lambda x: np.exp(-np.sum(decay(x) ** 2)),
        lambda x: 1 / (1 + np.sum(decay(x) ** 2)),
        lambda x: decay(x) @ (D - 1.2 * np.eye(M)) @ decay(x),
        lambda x: decay(x) @ (np.ones((M, M)) - 0.5 * np.eye(M)) @ decay(x),
    ],
    ids=["minus root", "exp of minus", "inverse", "a negative weight", "an indefinite matrix"],
)
def test_what_falls_with_the_squares_is_no_sum_of_them(f: Model) -> None:
    assert seen(f, 2) is None

"""f = H(S): no point of f is lost where S is contracted, a form is its squares, and each rule broken is noticed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

import infimum
from contractions import Applied, missing
from infimum import core
from infimum.contractors.convex import convex
from infimum.contractors.inside import Inside, with_inside
from infimum.contractors.quadratic.contractor import convex_quadratic, quadratic
from infimum.domain import read_bounds
from infimum.function import inner as function_inner
from infimum.function.inner import inner
from infimum.passes.outer import chain, forms

FloatArray = npt.NDArray[np.float64]
Model = Callable[[Any], Any]
Patch = pytest.MonkeyPatch
SEEDS = range(30)
flint.ctx.prec = 300

# Increasing functions of s > 1/2, in NumPy and in Arb alike: pow where an exponent is no integer.
AROUND: dict[str, Model] = {
    "log": lambda s: np.log(s) - 2,
    "root": lambda s: 3 * np.sqrt(s),
    "power": lambda s: s**1.5,
    "small power": lambda s: s**0.25 + 1,
    "cube": lambda s: s**3 / 4,
    "square": lambda s: s**2,
    "log of square": lambda s: np.log(1 + s**2),
    "-exp(-s)": lambda s: -np.exp(-s / 4),
    "-1/s": lambda s: -1 / s,
    "1 - 2/s": lambda s: 1 - 2 / s,
    "-1/s^2": lambda s: -(s**-2),
    "-s^-1.5": lambda s: -(s**-1.5),
    "of a quotient": lambda s: np.log(3 - 1 / s),
    "-1/(1 + exp)": lambda s: -1 / (1 + np.exp(s / 8)),
}
FALLING: dict[str, Model] = {
    "1/s": lambda s: 1 / s,
    "-log": lambda s: -np.log(s),
    "exp(-s)": lambda s: np.exp(-s),
    "-s^2": lambda s: -(s**2),
}


def drawn(seed: int) -> tuple[Model, FloatArray, FloatArray]:
    """S > 1/2, affine squares or convex losses of two to four variables, and a box."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 5))
    a, b = draw.integers(-8, 9, (n + 1, n)) / 4.0, draw.integers(-8, 9, n + 1) / 4.0
    lo = draw.integers(-16, 0, n) / 8.0
    spellings: list[Model] = [
        lambda x: np.sum((a @ x - b) ** 2) + 0.5,
        lambda x: np.sum(np.exp(a @ x / 2)) + np.sum((x - 1) ** 2) + 0.5,
    ]
    return spellings[seed % 2], lo, lo + draw.integers(1, 25, n) / 8.0


def value(f: Model, x: FloatArray) -> Any:
    return f(np.array([flint.arb(float(v)) for v in x], object))


def lost(around: dict[str, Model] = AROUND, seeds: Any = SEEDS) -> tuple[list[str], int]:
    """Points up to a level that are removed, bounds above values, and how many boxes were narrowed or bounded."""
    found, worked = [], 0
    for seed in seeds:
        s, lo, hi = drawn(seed)
        name = list(around)[seed % len(around)]

        def f(x: Any, h: Model = around[name], s: Model = s) -> Any:
            return h(s(x))

        function, domain = infimum.trace(f, lo.size), read_bounds(list(zip(lo, hi, strict=True)), lo.size)
        draw = np.random.default_rng(1000 + seed)
        points = draw.uniform(lo, hi, (12, lo.size))
        values = [value(f, x) for x in points]
        reach = (hi - lo) * 2.0 ** -draw.integers(0, 6, (12, 1))
        boxes = np.maximum(lo, points - reach * draw.random((12, 1))), np.minimum(hi, points + reach)
        level = np.array([math.nextafter(float(v.upper()), math.inf) for v in values])
        for make in (with_inside(quadratic, convex_quadratic), with_inside(convex, convex)):
            contractor = make(function)
            if not isinstance(contractor, Inside):
                continue
            for limit in (level, np.full(12, np.inf)):
                kept = Applied(contractor, function, domain).boxes(*boxes, limit)
                found += [f"{name} {seed}: {m}" for m in missing(points, kept.ends)]
                found += [f"{name} {seed}: {b}" for b, v in zip(kept.lower, values, strict=True) if flint.arb(b) > v]
                worked += int(((kept.lo > boxes[0]).any(1) | (kept.hi < boxes[1]).any(1) | (kept.lower > -1e9)).sum())
    return found, worked


def test_no_point_up_to_the_level_is_lost_inside_of_what_is_around() -> None:
    found, worked = lost(seeds=range(60))
    assert found == [] and worked > 800


@pytest.mark.parametrize("name", AROUND)
def test_what_increases_with_a_convex_function_is_closed_in_one_box(name: str) -> None:
    for seed in (0, 1):
        s, lo, hi = drawn(seed)
        h = AROUND[name]
        bounds = list(zip(lo, hi, strict=True))
        result = infimum.minimize(lambda x, h=h, s=s: h(s(x)), bounds, max_iter=2, threads=1)
        assert result.success and result.nregions == 1


@pytest.mark.parametrize("name", FALLING)
def test_what_falls_is_turned_and_no_point_is_lost(name: str) -> None:
    assert lost({name: FALLING[name]}, range(10))[0] == []


def test_a_minimiser_at_the_edge_of_where_a_root_is_defined_is_kept() -> None:
    """The root of a concave quadratic is least where this is 0: inside of the domain, and at no minimiser of it."""
    for h in (np.sqrt, lambda s: s**1.5, lambda s: np.sqrt(s) ** 3):
        result = infimum.minimize(
            lambda x, h=h: h(1 - x[0] ** 2 - x[1] ** 2), [(-2, 2), (-2, 2)], max_iter=8, threads=1
        )
        x = np.array([0.6, 0.8])
        near = (result.listed[:, :, 0] <= x + 2e-16) & (x - 2e-16 <= result.listed[:, :, 1])
        assert near.all(1).any() and result.minimum.lo <= 0


# ---------------------------------------------------------------------------------------------- forms
def form(seed: int) -> tuple[Model, FloatArray, int]:
    """u'Mu + 1 for three to six elements of u and a positive M, spelled in one of several ways."""
    draw = np.random.default_rng(seed)
    k, n = int(draw.integers(3, 7)), 3
    half = draw.normal(size=(k, k))
    m = half @ half.T + 0.1 * np.eye(k)
    m = 0.5 * (m + m.T) if seed % 2 else np.diag(np.diag(m))
    a, b = draw.normal(size=(k, n)), draw.normal(size=k)

    def u(x: Any) -> Any:
        return np.exp(a[:, 0] * x[0]) * x[1] + a @ x - b

    spellings: list[Model] = [
        lambda x: u(x) @ m @ u(x) + 1,
        lambda x: 2 * (u(x) @ (0.5 * (m @ u(x)))) + 1,
        lambda x: np.sum(np.outer(u(x), u(x)) * m) + 1,
        lambda x: -np.sum(-(u(x)[:, None] * m * u(x)[None, :])) + 1,
    ]
    return spellings[seed // 2 % len(spellings)], m, k


def wrong_forms(seeds: Any = SEEDS) -> list[str]:
    """Points at which the squares and the rest do not enclose the form, in Arb."""
    found = []
    for seed in seeds:
        f, _, k = form(seed)
        function = infimum.trace(f, 3)
        squares = function.residuals
        if squares is None or squares.m != k:
            found.append(f"{seed}: no squares")
            continue
        for x in np.random.default_rng(seed).uniform(-2, 2, (6, 3)):
            low, high = squares.ends(x[None], x[None])
            rest = squares.values_and_rest(x[None])[1][0]
            total = flint.arb(float(rest))
            for lo, hi in zip(low[0].tolist(), high[0].tolist(), strict=True):
                r = flint.arb(lo).union(flint.arb(hi))
                total += r * r
            if not total.overlaps(value(f, x)):
                found.append(f"{seed}: {total} at {x}")
    return found


def wrong_factors(seeds: Any = SEEDS) -> list[str]:
    """Elements of Cholesky's factor in Arb that lie outside of the enclosure; factors of matrices that have none."""
    found = []
    for seed in seeds:
        _, m, k = form(seed)
        ends = forms._factored(m, m)
        exact = [[flint.arb(0)] * k for _ in range(k)]
        for j in range(k):
            for i in range(j, k):
                left = flint.arb(m[i, j]) - sum((exact[i][p] * exact[j][p] for p in range(j)), flint.arb(0))
                exact[i][j] = left.sqrt() if i == j else left / exact[j][j]
                if ends is None or not flint.arb(ends[0][i, j]) <= exact[i][j] <= flint.arb(ends[1][i, j]):
                    found.append(f"{seed}: element {i}, {j}")
        indefinite = m - 1.01 * np.linalg.eigvalsh(m)[0] * np.eye(k)
        if forms._factored(indefinite, indefinite) is not None:
            found.append(f"{seed}: a factor of an indefinite matrix")
    return found


def test_the_squares_of_a_form_are_the_form() -> None:
    assert wrong_forms() == []


def test_factors_contain_those_of_arb_and_indefinite_matrices_have_none() -> None:
    assert wrong_factors() == []


def test_a_form_of_some_variables_is_seen_and_one_that_is_not_definite_is_left() -> None:
    seen = infimum.trace(lambda x: x[1] ** 2 + x[1] * x[2] + x[2] ** 2 + np.sin(x[0]), 4).residuals
    assert seen is not None and seen.m == 2 and not seen.is_whole
    two = infimum.trace(lambda x: x[1] ** 2 + 3 * x[1] * x[2] + x[2] ** 2, 4).residuals
    assert two is not None and not two.is_whole  # the two squares alone


# ---------------------------------------------------------------------------------------------- broken on purpose


def test_a_factor_rounded_to_nearest_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(forms.core, "apply", _nearest_of(core.apply))
    assert wrong_factors()


def _nearest_of(apply: Any) -> Any:
    def nearest(op: str, *args: Any, **how: Any) -> Any:
        lo, hi = apply(op, *args, **how)
        return (0.5 * (lo + hi),) * 2

    return nearest


def test_pivots_that_are_not_looked_at_are_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(forms, "_factored", lambda low, high: (np.tril(low), np.tril(high)))
    assert wrong_forms(range(1, 9)) and wrong_factors(range(3))


def test_a_form_that_forgets_half_of_the_matrix_is_noticed(monkeypatch: Patch) -> None:
    right = forms._matrix

    def diagonal(*args: Any) -> Any:
        found = right(*args)
        return None if found is None else (np.diag(np.diag(found[0])), np.diag(np.diag(found[1])))

    monkeypatch.setattr(forms, "_matrix", diagonal)
    assert wrong_forms(range(1, 9))


@pytest.mark.parametrize("broken", ["step", "sign", "bounds", "level"])
def test_each_rule_of_what_is_around_broken_on_purpose_is_noticed(monkeypatch: Patch, broken: str) -> None:
    step, sign = chain._step, chain._sign
    if broken == "step":  # what falls is taken to rise
        monkeypatch.setattr(chain, "_step", lambda t, node: None if step(t, node) is None else (step(t, node)[0], True))
    elif broken == "sign":  # the sign of a factor is not looked at
        monkeypatch.setattr(chain, "_sign", lambda node: abs(sign(node)))
    elif broken == "bounds":  # what bounds S bounds f
        monkeypatch.setattr(function_inner.Inner, "least", lambda self, lower: lower)
    else:  # the level of f is that of S
        monkeypatch.setattr(function_inner.Inner, "most", lambda self, upper: upper)
    assert lost(AROUND | FALLING, range(60))[0] or not_increasing()


def not_increasing() -> list[str]:
    """Functions whose S does not rise with f between two points."""
    found = []
    for name, h in (AROUND | FALLING).items():
        s, lo, hi = drawn(0)
        function = infimum.trace(lambda x, h=h, s=s: h(s(x)), lo.size)
        below = inner(function)
        if below is None:
            continue
        x = np.random.default_rng(1).uniform(lo, hi, (8, lo.size))
        order = np.argsort(function(x))
        if (np.diff(np.asarray(below.function(x))[order]) < -1e-9).any():
            found.append(name)
    return found


def test_s_rises_with_f() -> None:
    assert not_increasing() == []


@pytest.mark.parametrize(
    "names", [("convex",), ("convex", "stationary"), ("quadratic", "convex", "mean_value")], ids=str
)
def test_some_boxes_of_a_batch_may_be_convex_inside_and_others_not(names: tuple[str, ...]) -> None:
    def f(x: Any) -> Any:
        return np.sqrt(300 + np.sum(x**3) + (x[1] - x[0]) ** 2 + (x[2] - x[1]) ** 2)

    result = infimum.minimize(f, [(-4, 4)] * 3, contractors=names, max_iter=60)
    assert result.minimum.lo <= f(np.full(3, -4.0)) <= result.minimum.hi + 1e-9

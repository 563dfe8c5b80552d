"""Limits at edges of definition, and steps: enclosures that contain every value, and are tight where it matters."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

import infimum
from infimum.function.function import Function, trace
from infimum.graph.node import ancestors
from infimum.passes.contract.contraction import contracted
from infimum.passes.sharper import factors as sharper_factors
from infimum.passes.sharper import limits as sharper_limits
from infimum.passes.sharper import steps as sharper_steps

FloatArray = npt.NDArray[np.float64]
Formula = Callable[[Any, Any], Any]

NUMPY = SimpleNamespace(
    sin=np.sin, cos=np.cos, tan=np.tan, exp=np.exp, expm1=np.expm1, log=np.log, log1p=np.log1p, log2=np.log2,
    log10=np.log10, sqrt=np.sqrt, sinh=np.sinh, cosh=np.cosh, tanh=np.tanh, asin=np.arcsin, atan=np.arctan,
    asinh=np.arcsinh, atanh=np.arctanh, pi=infimum.pi, power=np.power,
)  # fmt: skip
ARB = SimpleNamespace(
    sin=flint.arb.sin, cos=flint.arb.cos, tan=flint.arb.tan, exp=flint.arb.exp, expm1=flint.arb.expm1,
    log=flint.arb.log, log1p=flint.arb.log1p, log2=lambda t: t.log() / flint.arb(2).log(),
    log10=lambda t: t.log() / flint.arb(10).log(), sqrt=flint.arb.sqrt, sinh=flint.arb.sinh, cosh=flint.arb.cosh,
    tanh=flint.arb.tanh, asin=flint.arb.asin, atan=flint.arb.atan, asinh=flint.arb.asinh, atanh=flint.arb.atanh,
    pi=flint.arb.pi(), power=lambda a, b: a**b if a > 0 else flint.arb.nan(),
)  # fmt: skip

# The formula, its domain, and the infimum over it up to 1e-9.
ONE_VARIABLE: dict[str, tuple[Formula, tuple[float, float], float]] = {
    "sin(x)/x": (lambda x, m: m.sin(x[0]) / x[0], (-1.0, 1.0), 0.8414709848),
    "sin(3x)/x": (lambda x, m: m.sin(3 * x[0]) / x[0], (-0.5, 1.0), 0.1411200081),
    "x/sin(x)": (lambda x, m: x[0] / m.sin(x[0]), (-2.0, 2.0), 1.0),
    "a square": (lambda x, m: -((m.sin(x[0]) / x[0]) ** 2), (-3.0, 3.0), -1.0),
    "sin(pi x)/x": (lambda x, m: m.sin(m.pi * x[0]) / x[0], (-0.5, 0.5), 2.0),
    "tan(x)/x": (lambda x, m: m.tan(x[0]) / x[0], (-1.0, 1.0), 1.0),
    "x/tan(x)": (lambda x, m: x[0] / m.tan(x[0]), (-1.0, 1.0), 0.6420926159),
    "expm1(x)/x": (lambda x, m: m.expm1(x[0]) / x[0], (-1.0, 1.0), 0.6321205588),
    "(exp(x) - 1)/x": (lambda x, m: (m.exp(x[0]) - 1) / x[0], (-1.0, 1.0), 0.6321205588),
    "(1 - exp(-x))/x": (lambda x, m: (1 - m.exp(-x[0])) / x[0], (-1.0, 1.0), 0.6321205588),
    "x/(exp(x) - 1)": (lambda x, m: x[0] / (m.exp(x[0]) - 1), (-1.0, 1.0), 0.5819767069),
    "log1p(x)/x": (lambda x, m: m.log1p(x[0]) / x[0], (-0.5, 1.0), 0.6931471806),
    "log(1 + x)/x": (lambda x, m: m.log(1 + x[0]) / x[0], (-0.5, 1.0), 0.6931471806),
    "log(1 - x)/x": (lambda x, m: m.log(1 - x[0]) / x[0], (-1.0, 0.5), -1.3862943611),
    "log(x)/(x - 1)": (lambda x, m: m.log(x[0]) / (x[0] - 1), (0.5, 2.0), 0.6931471806),
    "(1 - cos(x))/x^2": (lambda x, m: (1 - m.cos(x[0])) / x[0] ** 2, (-1.0, 1.0), 0.4596976941),
    "(cos(x) - 1)/x": (lambda x, m: (m.cos(x[0]) - 1) / x[0], (-1.0, 1.0), -0.4596976941),
    "(cosh(x) - 1)/x^2": (lambda x, m: (m.cosh(x[0]) - 1) / x[0] ** 2, (-1.0, 1.0), 0.5),
    "sinh(x)/x": (lambda x, m: m.sinh(x[0]) / x[0], (-1.0, 1.0), 1.0),
    "tanh(x)/x": (lambda x, m: m.tanh(x[0]) / x[0], (-1.0, 1.0), 0.761594156),
    "asin(x)/x": (lambda x, m: m.asin(x[0]) / x[0], (-0.5, 0.5), 1.0),
    "atan(x)/x": (lambda x, m: m.atan(x[0]) / x[0], (-1.0, 1.0), 0.7853981634),
    "asinh(x)/x": (lambda x, m: m.asinh(x[0]) / x[0], (-1.0, 1.0), 0.881373587),
    "atanh(x)/x": (lambda x, m: m.atanh(x[0]) / x[0], (-0.5, 0.5), 1.0),
    "x log(x)": (lambda x, m: x[0] * m.log(x[0]), (0.0, 1.0), -0.3678794412),
    "x log(x/3)": (lambda x, m: x[0] * m.log(x[0] / 3), (0.0, 2.0), -1.1036383235),
    "x^2 log(x)": (lambda x, m: x[0] ** 2 * m.log(x[0]), (0.0, 1.0), -0.1839397206),
    "sqrt(x) log(x)": (lambda x, m: m.sqrt(x[0]) * m.log(x[0]), (0.0, 1.0), -0.7357588823),
    "x log2(x)": (lambda x, m: x[0] * m.log2(x[0]), (0.0, 1.0), -0.5307378454),
    "-x log10(1/x)": (lambda x, m: -x[0] * m.log10(1 / x[0]), (0.0, 1.0), -0.1597680119),
    "x^2 log(x^2)": (lambda x, m: x[0] ** 2 * m.log(x[0] ** 2), (-1.0, 1.0), -0.3678794412),
    "x (2 + log(x))": (lambda x, m: x[0] * (2 + m.log(x[0])), (0.0, 1.0), -0.0497870684),
    "both ends": (lambda x, m: x[0] * m.log(x[0]) + (1 - x[0]) * m.log(1 - x[0]), (0.0, 1.0), -0.6931471806),
    "with log1p": (lambda x, m: (1 - x[0]) * m.log1p(-x[0]), (0.0, 1.0), -0.3678794412),
    "sin(tan(x))/tan(x)": (lambda x, m: m.sin(m.tan(x[0])) / m.tan(x[0]), (-1.0, 1.0), 0.6420350677),
    "x^x": (lambda x, m: m.power(x[0], x[0]), (0.0, 1.0), 0.6922006276),
    "x^(2x)": (lambda x, m: m.power(x[0], 2 * x[0]), (0.0, 1.0), 0.4791417088),
    "log(1 + exp(x)) - x": (lambda x, m: m.log(1 + m.exp(x[0])) - x[0], (-50.0, 30.0), 9.3576e-14),
}  # fmt: skip
TWO_VARIABLES: dict[str, Formula] = {
    "x log(x/y)": lambda x, m: x[0] * m.log(x[0] / x[1]),
    "x log(y/x)": lambda x, m: x[0] * m.log(x[1] / x[0]),
    "x log(x y)": lambda x, m: x[0] * m.log(x[0] * x[1]),
    "x (y + log(x/(x + y)))": lambda x, m: x[0] * (x[1] + m.log(x[0] / (x[0] + x[1]))),
    "x^2 log(x y)": lambda x, m: x[0] ** 2 * m.log(x[0] * x[1]),
    "y sin(x)/x": lambda x, m: x[1] * m.sin(x[0]) / x[0],
    "sin(x y)/y": lambda x, m: m.sin(x[0] * x[1]) / x[1],
    "x^y": lambda x, m: m.power(x[0], x[0] * x[1]),
}


def _meets(function: Function) -> int:
    return sum(node.op == "intersection" for node in ancestors([function.programs.sharp_node]))


def _sides(random: np.random.Generator, lo: float, hi: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Boxes within [lo, hi]: at the edges and at 0, wide and tiny, with ends of all sizes."""
    span = hi - lo
    size = span * np.exp2(-random.uniform(0, 60, (count, 2)))
    centre = random.choice([lo, hi, 0.0, 0.0], count)
    centre = np.where(random.random(count) < 0.3, random.uniform(lo, hi, count), centre)
    one_sided = random.random((count, 2)) < 0.4
    size = np.where(one_sided, 0.0, size)
    return np.clip(centre - size[:, 0], lo, hi), np.clip(centre + size[:, 1], lo, hi)


def _points(random: np.random.Generator, lo: FloatArray, hi: FloatArray) -> FloatArray:
    part = random.choice([0.0, 1.0, 0.5, 1e-9, 1 - 1e-9], lo.shape)
    part = np.where(random.random(lo.shape) < 0.5, random.random(lo.shape), part)
    return np.clip(lo + (hi - lo) * part, lo, hi)


def _escapes(f: Formula, n: int, bounds: tuple[float, float], count: int = 400) -> list[str]:
    """Values of a formula, by Arb, that its sharper enclosure over a box around the point does not contain."""
    random = np.random.default_rng(n)
    function = trace(lambda x: f(x, NUMPY), n)
    lo, hi = (np.stack(side, -1) for side in zip(*(_sides(random, *bounds, count) for _ in range(n)), strict=True))
    low, high = function.sharp_ends(lo, hi)
    back_lo, back_hi, _, _ = function.contraction_ends(lo, hi, np.inf)
    found, compared = [], 0
    with flint.ctx.workprec(400):
        for i, point in enumerate(_points(random, lo, hi)):
            value = f([flint.arb(float(v)) for v in point], ARB)
            if not value.is_finite():
                continue
            compared += 1
            if value < flint.arb(float(low[i])) or value > flint.arb(float(high[i])) or low[i] > high[i]:
                found.append(f"{point}: {value} outside [{low[i]}, {high[i]}] over {lo[i]}, {hi[i]}")
            if ((point < back_lo[i]) | (point > back_hi[i])).any():
                found.append(f"{point}: contracted away from {lo[i]}, {hi[i]}")
    assert compared > count // 4
    return found


@pytest.mark.parametrize("name", ONE_VARIABLE)
def test_no_value_escapes_a_formula_with_a_limit(name: str) -> None:
    f, bounds, _ = ONE_VARIABLE[name]
    assert not _escapes(f, 1, bounds)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0), (0.0, 1e300), (-1e-300, 1e-300)])
@pytest.mark.parametrize("name", TWO_VARIABLES)
def test_no_value_escapes_a_formula_of_two_variables(name: str, bounds: tuple[float, float]) -> None:
    if name == "x^y" and bounds[1] > 1:
        pytest.skip("its values have more digits than memory")
    assert not _escapes(TWO_VARIABLES[name], 2, bounds, 100 if bounds[0] < 0 else 200)


@pytest.mark.parametrize("name", ONE_VARIABLE)
def test_the_infimum_is_proved_however_it_is_written(name: str) -> None:
    f, bounds, infimum_of_it = ONE_VARIABLE[name]
    function = trace(lambda x: f(x, NUMPY), 1)
    assert _meets(function) >= 1
    result = infimum.minimize(lambda x: f(x, NUMPY), [bounds], xtol=None, ftol=1e-9, max_iter=100)
    assert float(result.minimum.lo) == pytest.approx(infimum_of_it, abs=3e-9)
    assert float(result.minimum.lo) <= infimum_of_it + 1e-9


def test_elements_of_arrays_have_limits_too() -> None:
    function = trace(lambda x: np.sum(x * np.log(x) + np.sin(x) / x), 5)
    lo, hi = function.sharp_ends(np.zeros((1, 5)), np.ones((1, 5)))
    assert lo[0] == pytest.approx(5 * (np.sin(1.0) - np.exp(-1.0)), abs=1e-12)
    assert hi[0] == pytest.approx(5.0, abs=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sin(x[0]) / (x[0] + 1), lambda x: np.log(x[0]) / x[0], lambda x: x[0] * np.log(x[1] + 2),
        lambda x: np.sin(x[0]) * x[0], lambda x: np.exp(x[0]) / x[0], lambda x: np.exp(x[1] * np.log(x[0])),
        lambda x: np.sum(np.cos(x) * x**2), lambda x: (np.exp(x[0]) - 2) / x[0], lambda x: np.log(x[0]) * 0 + x[1],
    ],
)  # fmt: skip
def test_what_has_no_such_limit_stays_as_it_is(f: Callable[[Any], Any]) -> None:
    function = trace(f, 2)
    assert function.programs.sharp_node is function.value_node
    assert function.programs.sharp is function.value_program


def _wrong_sign(s: Any, y: Any) -> Any:
    found = sharper_limits._less_one(s, y)
    return None if found is None else found._replace(scale=s.op("neg", found.scale))


BROKEN: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "sign of 1 - exp": (
        lambda patch: patch.setitem(sharper_limits._RULES, "sub", (_wrong_sign,)), "(1 - exp(-x))/x"),
    "tan without its cosine": (
        lambda patch: patch.setitem(
            sharper_limits._RULES, "tan", (sharper_limits._of_argument(("sin_over_x", 1)),)), "tan(x)/x"),
    "log1p times, not over": (
        lambda patch: patch.setitem(
            sharper_limits._RULES, "log1p", (sharper_limits._of_value(("expm1_over_x", 1)),)), "log1p(x)/x"),
    "the base of a logarithm": (
        lambda patch: patch.setattr(sharper_limits._Limits, "_per_log", lambda self, name: None), "x log2(x)"),
    "roots as whole powers": (
        lambda patch: patch.setattr(
            sharper_factors, "_power", lambda build, u, power: build.apply("pown", u, data=int(power + 1))),
        "sqrt(x) log(x)"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_lets_values_escape(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking, formula = BROKEN[name]
    breaking(monkeypatch)
    f, bounds, _ = ONE_VARIABLE[formula]
    assert _escapes(f, 1, bounds)


def test_a_logarithm_of_a_product_is_split_only_where_signs_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """x log(x y) where x and y are both negative: log(x) has no value there."""
    monkeypatch.setattr(sharper_limits._Limits, "_is_positive", lambda self, inner, u: True)
    assert _escapes(TWO_VARIABLES["x log(x y)"], 2, (-1.0, 1.0))


# --- steps -----------------------------------------------------------------------------------------------------------

STEPS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "a square": (lambda x: (np.floor(x[0]) + 0.5) ** 2, 1),
    "two steps": (lambda x: (np.floor(x[0]) + np.ceil(x[1]) + 0.5) ** 2, 2),
    "shared": (lambda x: (np.floor(x[0]) - 0.5) ** 2 - 2 * np.floor(x[0]) * x[1], 2),
    "beside a variable": (lambda x: (np.trunc(x[0]) + 0.25 * x[1]) ** 2 + x[1], 2),
    "signs": (lambda x: (np.sign(x[0]) - 0.5) ** 2 + np.abs(np.sign(x[1]) + 0.25), 2),
    "conditions": (lambda x: ((x[0] > 0) + 2.0 * (x[1] <= 0.5) - 1.5) ** 2, 2),
    "rounding": (lambda x: np.abs(np.round(x[0]) - 0.5) + np.cos(np.rint(x[1])), 2),
    "a sum of elements": (lambda x: (np.sum(np.floor(x) * np.array([3.0, 5.0, 2.0])) - 4.5) ** 2, 3),
    "elements": (lambda x: np.sum((np.floor(x) + 0.5) ** 2), 3),
    "neighbours": (lambda x: np.sum((np.floor(x[1:]) - np.floor(x[:-1]) - 0.5) ** 2), 3),
    "undefined corners": (lambda x: np.log(np.floor(x[0]) + 0.25 * x[1]) ** 2 + np.sqrt(np.ceil(x[1])) * x[0], 2),
    "quotients": (lambda x: 1 / (np.floor(x[0]) - 0.5) + (np.floor(x[0]) * x[1]) ** 2, 2),
    "steps of steps": (lambda x: (np.floor(x[0] + 0.5 * np.floor(x[1])) + 0.25) ** 2, 2),
    "a product of steps": (lambda x: (np.floor(x[0]) * np.floor(x[1]) - 0.5) ** 2, 2),
}


def _step_escapes(name: str, count: int = 3000) -> list[str]:
    """Values by NumPy: all numbers are short, so that sums and products are exact or nearly so."""
    f, n = STEPS[name]
    random = np.random.default_rng(n)
    function = trace(f, n)
    centre = random.integers(-2, 3, (count, n)) + random.choice([0.0, 0.0, 0.5, 0.25], (count, n))
    lo = centre - np.exp2(random.integers(-30, 2, (count, n)).astype(float)) * random.integers(0, 2, (count, n))
    hi = centre + np.exp2(random.integers(-30, 2, (count, n)).astype(float)) * random.integers(0, 2, (count, n))
    low, high = function.sharp_ends(lo, hi)
    back_lo, back_hi, _, _ = function.contraction_ends(lo, hi, np.inf)
    found = []
    with np.errstate(all="ignore"):
        for fraction in (0.0, 0.25, 0.5, 1.0, None):
            part = random.random(lo.shape) if fraction is None else np.full(lo.shape, fraction)
            x = np.clip(lo + (hi - lo) * np.where(random.random(lo.shape) < 0.2, 1 - part, part), lo, hi)
            values = np.array([float(f(row)) for row in x])
            slack = 1e-12 * np.maximum(1, np.abs(values))
            bad = np.isfinite(values) & ((values < low - slack) | (values > high + slack))
            bad |= np.isfinite(values) & ((x < back_lo) | (x > back_hi)).any(1)
            found += [f"{x[i]}: {values[i]}, [{low[i]}, {high[i]}] over {lo[i]}, {hi[i]}" for i in np.flatnonzero(bad)]
    return found


@pytest.mark.parametrize("name", STEPS)
def test_no_value_escapes_an_expression_of_steps(name: str) -> None:
    assert _meets(trace(*STEPS[name])) >= 1
    assert not _step_escapes(name)


@pytest.mark.parametrize("name", ["a square", "two steps", "shared", "a sum of elements", "conditions"])
def test_a_missing_corner_lets_values_escape(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sharper_steps._Corners._ends
    monkeypatch.setattr(sharper_steps._Corners, "_ends", lambda self, leaf, mixed: whole(self, leaf, mixed)[:1])
    assert _step_escapes(name, 500)


def test_elements_that_meet_have_corners_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sharper_steps._Corners._ends
    monkeypatch.setattr(sharper_steps._Corners, "_ends", lambda self, leaf, mixed: whole(self, leaf, False))
    assert _step_escapes("a sum of elements", 500)


def test_a_corner_without_a_value_removes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hull's operands need not be defined: contraction must not go through them."""
    assert not _step_escapes("undefined corners")
    from infimum.passes.contract import contraction as contract

    monkeypatch.setattr(contract, "_read", lambda outputs: set(ancestors(outputs)))
    rules = {**contract.RULES, "hull": lambda op, a, c, data: (c, c)}
    monkeypatch.setattr(contract, "RULES", rules)
    assert _step_escapes("undefined corners")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.where(x[0] < 0, x[0] ** 2, x[1]), lambda x: (x[0] > 0) * (x[1] < 1) * (x[0] - x[1]),
        lambda x: np.floor(x[0]) + np.ceil(x[1]), lambda x: np.exp(np.floor(x[0])) * x[1],
    ],
)  # fmt: skip
def test_what_corners_do_not_help_stays_as_it_is(f: Callable[[Any], Any]) -> None:
    function = trace(f, 2)
    assert function.programs.sharp_node is function.value_node


@pytest.mark.parametrize(
    ("f", "n", "least"),
    [
        (lambda x: (np.floor(x[0]) + 0.5) ** 2, 1, 0.25),
        (lambda x: np.sum((np.floor(x) + 0.5) ** 2), 6, 1.5),
        (
            lambda x: (np.floor(x[0]) + np.floor(x[1]) + 0.5) ** 2 + (np.floor(x[0]) - np.floor(x[1]) - 0.3) ** 2,
            2,
            0.34,
        ),
        (
            lambda x: (
                (3 * np.floor(x[0]) + 5 * np.floor(x[1]) + 2 * np.floor(x[2]) - 17.5) ** 2 + np.sum(np.abs(x)) / 8
            ),
            3,
            0.75,
        ),
        (lambda x: (np.trunc(x[0]) - 1.5) ** 2 / 2 + np.abs(np.round(x[1]) - x[0]) + (x[1] - 2.25) ** 2, 2, 0.125),
    ],
)
def test_functions_of_steps_are_proved_quickly(f: Callable[[Any], Any], n: int, least: float) -> None:
    result = infimum.minimize(f, [(-10, 10)] * n, xtol=None, ftol=1e-7, max_iter=60)
    assert float(result.minimum.lo) == pytest.approx(least, abs=1e-6)
    assert float(result.minimum.hi) == pytest.approx(least, abs=1e-6)


def test_corners_are_few() -> None:
    function = trace(lambda x: (np.sum(np.floor(x) * np.arange(1.0, 9.0)) - 3.5) ** 2, 8)
    assert function.programs.sharp_node is function.value_node
    assert len(contracted([function.programs.sharp_node], 8)) == 2
    assert list(itertools.islice(ancestors([function.programs.sharp_node]), 1))


# --- steps that exclude each other, and arrays of which elements are read alone --------------------------------------


def _tariff(y: Any) -> Any:
    return np.select([y < 10, (y >= 10) & (y < 40), y >= 40], [0.1 * y, 1 + 0.2 * y, 9 + 0 * y])


def _servers(n: Any) -> Any:
    k = np.floor(n)
    return 10 * np.sum(k) + 500 / (k[0] * k[1])


@pytest.mark.parametrize(
    ("f", "bounds", "least"),
    [
        (_servers, [(1, 50)] * 2, 111.25),
        (lambda x: _tariff(x[0]) + _tariff(x[1]) + 0.001 * (x[0] + x[1] - 150) ** 2, [(0, 200)] * 2, 9.0),
        (lambda x: x[0] % 3 + x[0] // 2, [(-2, 2)], 0.0),
    ],
)
def test_steps_that_have_much_in_common_are_told_apart(f: Any, bounds: Any, least: float) -> None:
    result = infimum.minimize(f, bounds, max_iter=20)
    assert result.success and result.minimum.lo <= least <= result.minimum.hi

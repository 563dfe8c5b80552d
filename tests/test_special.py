"""Special functions as SciPy and math have them: traced, differentiated, contracted, and defined where they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import infimum
from infimum import interval
from infimum.backends.cpu import run
from infimum.errors import TraceError
from infimum.function.function import Function, trace
from infimum.graph.build import Build
from infimum.passes import derive
from infimum.passes.lowering.lower import lower

special = pytest.importorskip("scipy.special")

FUNCTIONS: dict[str, tuple[Any, Any, Callable[[Any], Any], float, float]] = {
    # name: SciPy's function, math's, the derivative, and where it is tried
    "erf": (special.erf, math.erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), -6.0, 6.0),
    "erfc": (special.erfc, math.erfc, lambda x: -2 / math.sqrt(math.pi) * np.exp(-x * x), -6.0, 12.0),
    "lgamma": (special.gammaln, math.lgamma, special.digamma, 0.01, 20.0),
    "digamma": (special.digamma, None, lambda x: special.polygamma(1, x), 0.01, 20.0),
}
each = pytest.mark.parametrize("name", FUNCTIONS)


def traced(f: Callable[[Any], Any], lo: float, hi: float) -> Function:
    return trace(lambda x: f(x[0]), 1, box=(np.array([lo]), np.array([hi])))


def near(value: float, found: Any, share: float = 1e-13) -> bool:
    slack = share * abs(value) + 1e-14
    return bool(found.lo - slack <= value <= found.hi + slack and found.hi - found.lo <= 2 * slack)


@each
def test_the_value_and_the_slope_are_those_of_the_real_function(name: str) -> None:
    f, of_math, slope, lo, hi = FUNCTIONS[name]
    functions = [traced(g, lo, hi) for g in (f, of_math) if g is not None]
    for x in np.random.default_rng(1).uniform(lo, hi, 50):
        for function in functions:
            assert near(float(f(x)), function.enclose([(x, x)]))
            assert near(float(slope(x)), function.gradient([(x, x)])[0])


@each
def test_an_array_is_taken_element_by_element(name: str) -> None:
    f, _, _, lo, hi = FUNCTIONS[name]
    x = np.linspace(lo, hi, 4)
    function = trace(
        lambda x: np.sum(f(x.reshape(2, 2)) * np.array([1.0, 2.0])), 4, box=(np.full(4, lo), np.full(4, hi))
    )
    assert near(float(np.sum(f(x.reshape(2, 2)) * np.array([1.0, 2.0]))), function.enclose(np.stack([x, x], axis=1)))


@each
def test_an_interval_is_taken_by_scipy_and_by_its_name(name: str) -> None:
    f, _, _, _, hi = FUNCTIONS[name]
    box = interval.Interval(0.5, hi)
    assert interval.equal(f(box), getattr(interval, name)(box))
    for x in (0.5, 1.0, hi):
        assert f(box).lo <= f(x) + 1e-12 * abs(f(x)) and f(x) - 1e-12 * abs(f(x)) <= f(box).hi


@each
def test_no_point_below_a_level_is_contracted_away(name: str) -> None:
    f, _, _, lo, hi = FUNCTIONS[name]
    function = traced(f, lo, hi)
    points = np.random.default_rng(2).uniform(lo, hi, 40)
    for level in f(points[:8]):
        low, high, _, _ = function.contraction_ends(np.array([[lo]]), np.array([[hi]]), level)
        for x in points[f(points) <= level - 1e-9 * abs(level)]:
            assert low[0, 0] <= x <= high[0, 0]


def test_the_level_of_an_error_function_is_inverted() -> None:
    function = traced(special.erf, -6.0, 6.0)
    low, high, _, _ = function.contraction_ends(np.array([[-6.0]]), np.array([[6.0]]), special.erf(0.5))
    assert low[0, 0] == -6.0
    assert high[0, 0] == pytest.approx(0.5, abs=1e-12)


def test_infinite_operands_have_scipys_limits() -> None:
    for f in (special.erf, special.erfc):
        function = traced(lambda x, f=f: f(1 / x), 0.0, 2.0)
        assert near(float(f(np.inf)), function.enclose([(0, 0)]))
        assert near(float(f(0.5)), function.enclose([(2, 2)]))


def test_a_fit_of_a_step_that_is_smeared_out_is_found() -> None:
    t = np.linspace(-3.0, 3.0, 25)
    y = special.erf((t - 0.5) / 0.75)
    result = infimum.minimize(
        lambda x: np.sum((special.erf((t - x[0]) / x[1]) - y) ** 2), [(-2, 2), (0.25, 2)], xtol=1e-3
    )
    assert result.success
    assert result.x == pytest.approx([0.5, 0.75], abs=1e-2)


def test_gamma_functions_of_numbers_below_0_are_refused() -> None:
    for f in (special.gammaln, math.lgamma, special.digamma):
        with pytest.raises(TraceError, match="offered for numbers above 0"):
            traced(f, -0.5, 2.0)
        assert traced(lambda x, f=f: f(np.square(x) + 1.0), -0.5, 2.0).facts([(-0.5, 2)]).smooth


def test_at_0_scipys_gamma_functions_have_poles() -> None:
    """exp(-gammaln(x)) is 0 there, and so is exp(digamma(x)); math.lgamma raises an error."""
    assert near(0.0, traced(lambda x: np.exp(-special.gammaln(x)), 0.0, 2.0).enclose([(0, 0)]))
    assert near(0.0, traced(lambda x: np.exp(special.digamma(x)), 0.0, 2.0).enclose([(0, 0)]))
    assert interval.is_empty(traced(lambda x: np.exp(-math.lgamma(x)), 0.0, 2.0).enclose([(0, 0)]))


def test_trigamma_has_a_slope_that_contains_the_real_one() -> None:
    build = Build(1)
    slope = derive.gradient(build, build.apply("trigamma", build.x))
    for x in (0.01, 0.5, 1.0, 3.0, 40.0):
        ((lo, hi),) = run(lower([slope], 1), np.array([[x]]), np.array([[x]]))
        assert lo[0, 0] <= special.polygamma(2, x) <= hi[0, 0]


def test_the_least_value_of_the_gamma_function_is_found() -> None:
    result = infimum.minimize(lambda x: np.exp(special.gammaln(x[0])), [(0.1, 10)], ftol=1e-9)
    assert result.x == pytest.approx([1.4616321449683623], abs=1e-6)
    assert 0.8856031944108887 in result.minimum


# --- made of other operations ----------------------------------------------------------------------------------------

SPELLINGS: dict[str, Callable[[Any], Any]] = {
    "expit": lambda x: special.expit(x[0]),
    "log_expit": lambda x: special.log_expit(x[0]) + special.log_expit(-x[1]),
    "xlogy": lambda x: special.xlogy(np.floor(x[0]), x[1] + 7),
    "xlogy of one": lambda x: special.xlogy(np.abs(x[0]), np.abs(x[0])),
    "xlog1py": lambda x: special.xlog1py(np.floor(x[0]), np.abs(x[1])),
    "logsumexp": special.logsumexp,
    "softmax": lambda x: special.softmax(x)[0] + special.softmax(np.stack([x, 2 * x]), axis=1)[1, 0],
    "log_softmax": lambda x: special.log_softmax(x)[1],
    "huber": lambda x: special.huber(1.5, x[0]) + special.huber(2, x)[1],
    "pseudo_huber": lambda x: special.pseudo_huber(1.5, x[0]) + special.pseudo_huber(2, x)[1],
    "log1p": lambda x: special.log1p(np.abs(x[0])) + special.expm1(x[1] / 1000),
    "cbrt": lambda x: special.cbrt(x[0]) + special.exp2(x[1] / 1000) + special.exp10(x[0] / 1000),
}


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("size", [6.0, 5000.0])
def test_scipys_spellings_have_scipys_values_and_do_not_overflow(name: str, size: float) -> None:
    f = SPELLINGS[name]
    function = trace(f, 2, box=(np.full(2, -size), np.full(2, size)))
    points = np.random.default_rng(4).uniform(-size, size, (60, 2))
    points[:20] = np.round(points[:20] / size * 2)  # zeros among them
    points = points[np.minimum(points[:, 1], 0) > -7] if name == "xlogy" else points
    for x in points:
        expected, found = float(f(x)), function.enclose(np.stack([x, x], axis=1))
        assert near(expected, found, 1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: special.huber(-1, x[0]),
        lambda x: special.huber(x[1], x[0]),
        lambda x: special.pseudo_huber(0.0, x[0]),
        lambda x: special.pseudo_huber(np.array([1.0, 2.0]), x)[0],
    ],
)
def test_a_loss_without_a_plain_threshold_is_refused(f: Callable[[Any], Any]) -> None:
    with pytest.raises(TraceError, match="must be a plain number above 0"):
        trace(f, 2)


def test_the_threshold_of_a_loss_is_squared_without_rounding() -> None:
    d = 1 + 2.0**-30
    r = 0.75 * d  # sqrt(1 + (r/d)^2) = 5/4
    found = infimum.minimize(lambda x: special.pseudo_huber(d, x[0]), [(r, r)]).minimum
    assert Fraction(found.lo) <= Fraction(d) ** 2 / 4 <= Fraction(found.hi)
    step = traced(lambda x: np.where(special.pseudo_huber(1e-170, x) > 0, -1.0, 1.0), 1e-170, 1e-169)
    assert step.enclose([(1e-170, 1e-169)]).lo == -1


def test_xlogy_of_0_is_0_unless_the_other_operand_is_nan() -> None:
    f = trace(lambda x: special.xlogy(np.floor(x[0]), np.sqrt(x[1])), 2, box=(np.zeros(2), np.ones(2)))
    assert near(0.0, f.enclose([(0, 0), (0, 0)]))
    g = trace(lambda x: special.xlogy(np.floor(x[0]), np.sqrt(x[1])), 2, box=(-np.ones(2), np.ones(2)))
    assert interval.is_empty(g.enclose([(0, 0), (-1, -1)]))
    assert near(0.0, g.enclose([(0, 0), (0.5, 0.5)]))


def test_the_entropy_of_a_box_at_0_is_bounded() -> None:
    found = trace(lambda x: special.xlogy(x[0], x[0]), 1, box=(np.zeros(1), np.ones(1))).enclose([(0, 1)])
    assert found.lo == pytest.approx(-math.exp(-1)) and found.hi == 0.0


def test_a_sum_that_is_never_below_0_is_taken() -> None:
    found = infimum.minimize(lambda x: special.gammaln(x[0] + x[1]) + x[0], [(0, 3), (0, 3)])
    assert found.success and -0.12148629053584961 in found.minimum


@pytest.mark.parametrize("f", [lambda x: x[0] * x[0] + 0.1, lambda x: x @ x + 0.1, lambda x: np.sum(x * x) + 0.1])
def test_a_square_is_never_below_0_however_it_is_written(f: Callable[[Any], Any]) -> None:
    assert infimum.minimize(lambda x: special.gammaln(f(x)), [(-3, 3)] * 2).success

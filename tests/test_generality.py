"""Functions of every sort are minimised truly: jumps, steps, kinks, poles, edges, infinite ranges, decades, maxima."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import flint
import numpy as np
import pytest

import infimum
from claims import Claim, Truth, falsehoods
from infimum.search.status import Status

INF = math.inf
flint.ctx.prec = 300
PI, E = flint.arb.pi(), flint.arb(1).exp()
TENTH, HUNDREDTH = infimum.exact("0.1"), infimum.exact("0.01")
LINES = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0], [-2.0, 1.0]])


class Case(NamedTuple):
    """A function, where it is minimised (or maximised), what its optimum is and where some optima lie."""

    name: str
    f: Callable[[Any], Any]
    bounds: list[tuple[Any, Any]]
    optimum: Any
    places: list[list[Any]]
    maximize: bool = False


def camel(x: Any) -> Any:
    a, b = x[0], x[1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2


def goldstein_price(x: Any) -> Any:
    a, b = x[0], x[1]
    one = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    two = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return one * two


def beale(x: Any) -> Any:
    a, b = x[0], x[1]
    return (1.5 - a + a * b) ** 2 + (2.25 - a + a * b**2) ** 2 + (2.625 - a + a * b**3) ** 2


def easom(x: Any) -> Any:
    return -np.prod(np.cos(x)) * np.exp(-np.sum((x - infimum.pi) ** 2))


def himmelblau(x: Any) -> Any:
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def three_pieces(x: Any) -> Any:
    t = x[0]
    return np.where(t <= -1, t + 3, np.where(t < 1, t**2, 2 - t))


def bukin(x: Any) -> Any:
    return 100 * np.sqrt(np.abs(x[1] - HUNDREDTH * x[0] ** 2)) + HUNDREDTH * np.abs(x[0] + 10)


CASES = [
    # steps and jumps
    Case("ceil", lambda x: np.ceil(np.abs(x[0] - 0.3)) + (x[0] - 0.3) ** 2, [(-2, 3)], 0, [[0.3]]),
    Case("distance to an integer", lambda x: np.abs(x[0] - np.rint(x[0])) + x[0] ** 2, [(-3.4, 2.6)], 0, [[0]]),
    Case("remainder", lambda x: x[0] % 1 + np.abs(x[0] - 2), [(-1.5, 3.5)], 0, [[2]]),
    Case("one point alone", lambda x: 2 * np.sign(x[0] - 1) ** 2 + x[0] ** 2, [(-2, 3)], 1, [[1]]),
    Case("spike", lambda x: np.where(np.abs(x[0] - 0.7) <= 1e-3, -1.0, x[0] ** 2), [(-2, 3)], -1, [[0.7]]),
    Case("three pieces", three_pieces, [(-2.5, 2.4)], 2 - Fraction(2.4), [[2.4]]),
    Case("plateau", lambda x: np.sum(np.floor(x + 0.5) ** 2), [(-2, 2.5)] * 2, 0, [[0, 0], [-0.5, 0.25]]),
    Case("jump on a diagonal", lambda x: np.where(x[0] + x[1] < 1, 5.0, x[0] ** 2 + x[1] ** 2), [(-2, 2)] * 2,
         Fraction(1, 2), [[0.5, 0.5]]),
    # kinks
    Case("chain of kinks", lambda x: np.sum(np.abs(x[1:] - x[:-1])) + np.abs(x[-1] - 1), [(-2, 3)] * 3, 0, [[1, 1, 1]]),
    Case("largest residual", lambda x: np.max(np.abs(LINES @ x - LINES @ np.array([2.0, -1.0]))), [(-4, 5)] * 2, 0,
         [[2, -1]]),
    Case("smaller of two bowls", lambda x: np.minimum((x[0] + 1) ** 2, (x[0] - 2) ** 2 + 0.5), [(-3, 4)], 0, [[-1]]),
    Case("bukin", bukin, [(-15, -5), (-3, 3)], 0, [[-10, 1]]),
    # edges and corners
    Case("falling", lambda x: np.sum(np.exp(-x)), [(0, 3)] * 4, 4 * flint.arb(-3).exp(), [[3] * 4]),
    Case("one corner", lambda x: -np.sum(x**2), [(-1, 2)] * 3, -12, [[2, 2, 2]]),
    Case("every corner", lambda x: -np.sum(x**2), [(-1, 1)] * 2, -2, [[a, b] for a in (-1, 1) for b in (-1, 1)]),
    Case("an end that is no double", lambda x: np.cos(x[0]), [(0, infimum.pi)], -1, [[PI]]),
    Case("constant", lambda x: 3 + 0 * x[0], [(-1, 2)], 3, [[-1], [2], [0.3]]),
    # infinite ranges
    Case("booth", lambda x: (x[0] + 2 * x[1] - 7) ** 2 + (2 * x[0] + x[1] - 5) ** 2, [(-INF, INF)] * 2, 0, [[1, 3]]),
    Case("x - log x", lambda x: x[0] - np.log(x[0]), [(0, INF)], 1, [[1]]),
    Case("least at infinity", lambda x: np.exp(-x[0]), [(0, INF)], 0, []),
    Case("left of 0", lambda x: x[0] ** 4 + 4 * x[0], [(-INF, 0)], -3, [[-1]]),
    # decades
    Case("decades of two", lambda x: (np.log10(x[0]) + 3) ** 2 + (np.log10(x[1]) - 5) ** 2, [(1e-8, 1e8)] * 2, 0,
         [[Fraction(1, 1000), 1e5]]),
    Case("balance", lambda x: x[0] / 1000 + 1000 / x[0], [(1e-8, 1e8)], 2, [[1000]]),
    # poles and holes
    Case("two atoms", lambda x: 1 / x[0] ** 12 - 2 / x[0] ** 6, [(0.5, 5)], -1, [[1]]),
    Case("two atoms, pole included", lambda x: 1 / x[0] ** 12 - 2 / x[0] ** 6, [(0, 5)], -1, [[1]]),
    Case("tangent", lambda x: np.tan(x[0]) ** 2, [(-4, 4)], 0, [[-PI], [0], [PI]]),
    Case("unbounded below", lambda x: 1 / x[0], [(-1, 1)], None, []),
    Case("hole in the middle", lambda x: np.sqrt(x[0] ** 2 - 4), [(-5, 5)], 0, [[-2], [2]]),
    Case("arc sine", lambda x: np.arcsin(x[0]), [(-3, 3)], -PI / 2, [[-1]]),
    Case("disc", lambda x: np.sqrt(1 - x[0] ** 2 - x[1] ** 2), [(-2, 2)] * 2, 0, [[1, 0], [0, -1]]),
    Case("logarithm", lambda x: np.log(x[0] - 1) ** 2, [(-3, 4)], 0, [[2]]),
    Case("x to the x", lambda x: np.exp(x[0] * np.log(x[0])), [(0, 4)], (-1 / E).exp(), [[1 / E]]),
    # maxima
    Case("parabola, maximum", lambda x: x[0] * (1 - x[0]), [(0, 1)], Fraction(1, 4), [[0.5]], True),
    Case("entropy, maximum", lambda x: -np.sum(x * np.log(x)), [(0, 1)] * 2, 2 / E, [[1 / E, 1 / E]], True),
    Case("steps, maximum", lambda x: np.floor(x[0]), [(0, 2.5)], 2, [[2], [2.25], [2.5]], True),
    # well known
    Case("himmelblau", himmelblau, [(-6, 6.5)] * 2, 0, [[3, 2]]),
    Case("goldstein-price", goldstein_price, [(-2, 2.5)] * 2, 3, [[0, -1]]),
    Case("beale", beale, [(-4.5, 4.6)] * 2, 0, [[3, 0.5]]),
    Case("easom", easom, [(-10, 11)] * 2, -1, [[PI, PI]]),
    Case("six-hump camel", camel, [(-3, 3.5), (-2, 2.5)], flint.arb("-1.03162845349 +/- 1e-11"), []),
]  # fmt: skip


def test_there_are_more_than_twenty_of_them() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_optimum_and_where_it_is_are_enclosed_at_every_stage(case: Case) -> None:
    sign = -1 if case.maximize else 1
    bounds = [(_plain(lo), _plain(hi)) for lo, hi in case.bounds]
    truth = Truth(bounds, None if case.optimum is None else sign * case.optimum, case.places)
    for iterations in (1, 3, 9, 40):
        result = infimum.minimize(
            case.f, case.bounds, max_iter=iterations, xtol=1e-3, time_limit=2, threads=1, maximize=case.maximize
        )
        assert falsehoods(Claim.of(result), truth) == [], iterations
        if result.status == Status.PROVED:
            break


def _plain(bound: Any) -> Any:
    return PI if bound is infimum.pi else bound


@pytest.mark.parametrize(
    "name", ["x - log x", "balance", "two atoms", "one corner", "parabola, maximum", "tangent", "beale"]
)
def test_the_optimum_is_found_closely(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    result = infimum.minimize(case.f, case.bounds, maximize=case.maximize, partition="logarithmic", time_limit=20)
    assert result.success and float(result.optimum.wid) < 1e-3


def test_what_lies_at_infinity_is_said() -> None:
    falling = infimum.minimize(lambda x: np.exp(-x[0]), [(0, INF)], max_iter=20)
    assert falling.minimum.lo == 0 and "may lie at infinity" in falling.message
    pole = infimum.minimize(lambda x: 1 / x[0], [(-1, 1)], max_iter=20)
    assert pole.minimum.lo == -INF and "beyond every number" in pole.message

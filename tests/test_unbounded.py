"""Functions without lower bound are proved to have none, others never; unbounded boxes are contracted, nothing lost."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest
from scipy import special

import infimum
from contractions import Applied
from infimum.contractors.unbounded_boxes import UnboundedBoxes
from infimum.domain import read_bounds
from infimum.function import expression
from infimum.function.expression import unbounded_below
from infimum.function.function import trace
from infimum.graph.node import ancestors
from infimum.ops import OPERATIONS
from infimum.passes.unbounded import coercive, germs, paths
from infimum.passes.unbounded.coercive import minorant, radii
from infimum.passes.unbounded.germs import Germ, Undefined, number, within
from infimum.passes.unbounded.polynomials import Polynomial
from infimum.search.auto.search import Search
from infimum.search.outcome import Options
from infimum.search.status import Status

FloatArray = npt.NDArray[np.float64]
Formula = Callable[[Any], Any]
Bounds = list[tuple[float, float]]
INF = math.inf
LINE, PLANE, UNIT = [(-INF, INF)], [(-INF, INF)] * 2, [(-1.0, 1.0)]

# Each goes to -inf somewhere in its box: at a pole, at an edge, at infinity.
FALLING: dict[str, tuple[Formula, Bounds]] = {
    "1/x": (lambda x: 1 / x[0], UNIT),
    "log(x)": (lambda x: np.log(x[0]), [(0.0, 1.0)]),
    "-x": (lambda x: -x[0], [(0.0, INF)]),
    "x^3": (lambda x: x[0] ** 3, LINE),
    "a pole at 0.3": (lambda x: -1 / (x[0] - 0.3) ** 2, UNIT),
    "a pole at 1/3": (lambda x: 1 / (3 * x[0] - 1), [(0.0, 1.0)]),
    "a pole at sqrt(2)": (lambda x: 1 / (x[0] ** 2 - 2), [(0.0, 2.0)]),
    "a pole at pi": (lambda x: 1 / np.sin(x[0]), [(2.0, 4.0)]),
    "a line of poles": (lambda x: 1 / (x[0] - x[1]), UNIT * 2),
    "a pole at a point": (lambda x: -1 / ((x[0] - 1) ** 2 + (x[1] - 0.5) ** 2), [(-2.0, 2.0)] * 2),
    "a saddle": (lambda x: x[0] ** 2 - x[1] ** 2, PLANE),
    "a product": (lambda x: x[0] * x[1], PLANE),
    "different speeds": (lambda x: x[0] ** 2 * x[1] + x[1] ** 2, PLANE),
    "an exponential": (lambda x: -np.exp(x[0]), LINE),
    "a logarithm beside a pole": (lambda x: np.log(x[0]) + 1 / np.sqrt(x[1]) + x[0], [(0.0, 1.0)] * 2),
    "log(x)/x": (lambda x: np.log(x[0]) / x[0], [(0.0, 1.0)]),
    "log|x - 1/4|": (lambda x: np.log(np.abs(x[0] - 0.25)), UNIT),
    "a sum of logarithms": (lambda x: np.sum(np.log(x)), [(0.0, 1.0)] * 3),
    "with bounded terms": (lambda x: x[0] + np.sin(x[0]) + np.cos(7 * x[0]), LINE),
    "a quotient": (lambda x: x[0] ** 2 - x[0] ** 4 / (1 + x[0]), [(0.0, INF)]),
    "a branch": (lambda x: np.where(x[0] > 0, -np.sqrt(x[0]), x[0] ** 2), LINE),
    "a power": (lambda x: -(x[0] ** -0.5), [(0.0, 1.0)]),
}
# None of these does, though something in each seems to.
BOUNDED: dict[str, tuple[Formula, Bounds]] = {
    "x^2/x": (lambda x: x[0] ** 2 / x[0], UNIT),
    "log(x) + 1/x": (lambda x: np.log(x[0]) + 1 / x[0], [(0.0, 1.0)]),
    "sqrt(x)/x": (lambda x: np.sqrt(x[0]) / x[0], [(0.0, 1.0)]),
    "(x - 1)/(x^2 - 1)": (lambda x: (x[0] - 1) / (x[0] ** 2 - 1), [(0.5, 2.0)]),
    "x log(x)": (lambda x: x[0] * np.log(x[0]), [(0.0, 1.0)]),
    "sin(x)/x": (lambda x: -np.sin(x[0]) / x[0], UNIT),
    "1/x^2": (lambda x: 1 / x[0] ** 2, UNIT),
    "1/x from above": (lambda x: 1 / x[0], [(0.0, 1.0)]),
    "-log(x)": (lambda x: -np.log(x[0]), [(0.0, 1.0)]),
    "x + 1 - x": (lambda x: (x[0] + 1) - x[0], LINE),
    "a valley": (lambda x: x[0] ** 2 - 2 * x[0] * x[1] + x[1] ** 2 - x[0] / 1024 + x[1] / 1024, PLANE),
    "exp(x) - x^2": (lambda x: np.exp(x[0]) - x[0] ** 2, [(0.0, INF)]),
    "exp(x) - x^8": (lambda x: np.exp(x[0]) - x[0] ** 8, [(0.0, INF)]),
    "a limit": (lambda x: -(x[0] ** 2) / (1 + x[0] ** 2), LINE),
    "-atan(x)": (lambda x: -np.arctan(x[0]), LINE),
    "1/x - 1/x": (lambda x: 1 / x[0] - 1 / (x[0] + 0 * x[0]), UNIT),
    "(cos(x) - 1)/x^2": (lambda x: (np.cos(x[0]) - 1) / x[0] ** 2, UNIT),
    "-x exp(-x)": (lambda x: -x[0] * np.exp(-x[0]), [(0.0, INF)]),
    "-log1p(x)/x": (lambda x: -np.log1p(x[0]) / x[0], [(-0.5, 1.0)]),
    "-x (1/x)": (lambda x: -x[0] * (1 / x[0]), UNIT),
    "steps": (lambda x: -1 / (np.floor(x[0]) + 0.5), UNIT),
    "nearly a pole": (lambda x: -1 / (x[0] ** 2 + 1e-30), UNIT),
    "very nearly a pole": (lambda x: -1 / (x[0] ** 2 + 1e-300), UNIT),
    "nearly a kink": (lambda x: -1 / (np.abs(x[0]) + 1e-80), UNIT),
    "cut off": (lambda x: -np.minimum(1 / x[0] ** 2, 1e200), UNIT),
    "cut off by a branch": (lambda x: np.where(np.abs(x[0]) < 1e-100, 0.0, -1 / np.abs(x[0])), UNIT),
    "a pole outside": (lambda x: 1 / (x[0] - 2), [(-1.0, 1.9999)]),
    "log(x) on [1e-300, 1]": (lambda x: np.log(x[0]), [(1e-300, 1.0)]),
    "-x on [0, 1e300]": (lambda x: -x[0], [(0.0, 1e300)]),
    "a product of opposites": (lambda x: np.log(x[0]) * np.log(x[1]) / (x[0] + 1), [(0.0, 1.0)] * 2),
    "x^2 y^2 - 2 x y": (lambda x: (x[0] * x[1]) ** 2 - 2 * x[0] * x[1], PLANE),
}  # fmt: skip


def _boxes(f: Formula, bounds: Bounds, iterations: int = 20) -> FloatArray:
    result = infimum.minimize(f, bounds, xtol=None, ftol=1e-9, max_iter=iterations)
    order = np.argsort(result.lower_bounds)[:4]
    found: FloatArray = result.boxes[order]
    return found


def _claim(f: Formula, bounds: Bounds, boxes: FloatArray) -> object:
    return unbounded_below(trace(f, len(bounds)), read_bounds(bounds, len(bounds)), boxes, 100_000)


@pytest.mark.parametrize("name", FALLING)
def test_a_function_without_lower_bound_is_proved_to_have_none(name: str) -> None:
    f, bounds = FALLING[name]
    assert _claim(f, bounds, _boxes(f, bounds)) is not None


@pytest.mark.parametrize("name", FALLING)
def test_the_search_finds_the_ray_itself(name: str) -> None:
    f, bounds = FALLING[name]
    search = Search(trace(f, len(bounds)), read_bounds(bounds, len(bounds)), Options(ftol=1e-6, xtol=None, max_iter=16))
    search.run()
    assert search.proof is not None and search.proof.status == Status.UNBOUNDED


@pytest.mark.parametrize("name", BOUNDED)
def test_a_function_with_a_lower_bound_is_never_claimed_to_have_none(name: str) -> None:
    f, bounds = BOUNDED[name]
    n = len(bounds)
    near = np.array([[0.0, 2.0**-60]] * n)
    around = np.array([[-(2.0**-40), 2.0**-40]] * n)
    whole = np.array(bounds)
    for boxes in (_boxes(f, bounds), near[None], around[None], whole[None], np.ones((1, n, 2))):
        inside = np.clip(boxes, whole[None, :, :1], whole[None, :, 1:])
        assert _claim(f, bounds, inside) is None


# --- germs -----------------------------------------------------------------------------------------------------------


def _arb_of(g: Germ, s: Any) -> tuple[Any, Any]:
    """The ends of a germ at s."""
    size = s ** flint.arb(flint.fmpq(g.k.numerator, g.k.denominator)) * (1 / s).log() ** g.j
    c = flint.arb(flint.fmpq(g.c.numerator, g.c.denominator))
    ends = [flint.arb(end) * size + c if math.isfinite(end) else flint.arb(end) for end in (g.lo, g.hi)]
    return ends[0], ends[1]


def _decided(yes: bool, no: bool) -> Any:
    """1 or 0; no number where balls overlap."""
    return flint.arb(int(yes)) if yes or no else flint.arb.nan()


_ARB: dict[str, Callable[..., Any]] = {
    "neg": lambda a: -a, "recip": lambda a: 1 / a, "sqr": lambda a: a * a, "sqrt": flint.arb.sqrt, "abs": abs,
    "log": flint.arb.log, "exp": flint.arb.exp, "sin": flint.arb.sin, "expm1": flint.arb.expm1,
    "sinh": flint.arb.sinh, "log1p": flint.arb.log1p, "tan": flint.arb.tan,
    "log2": lambda a: a.log() / flint.arb(2).log(), "log10": lambda a: a.log() / flint.arb(10).log(),
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "min": lambda a, b: a.min(b), "max": lambda a, b: a.max(b), "pow": lambda a, b: a**b,
    "sign": lambda a: _decided(a > 0, a <= 0) - _decided(a < 0, a >= 0),
    "is_less": lambda a, b: _decided(a < b, a >= b), "is_less_equal": lambda a, b: _decided(a <= b, a > b),
    "is_equal": lambda a, b: _decided(a == b, a < b or a > b),
    "tanh": flint.arb.tanh, "asin": flint.arb.asin, "asinh": flint.arb.asinh, "atan": flint.arb.atan,
    "atanh": flint.arb.atanh,
}  # fmt: skip
_OF_ONE, _OF_TWO = (sorted(op for op in _ARB if OPERATIONS[op].arity == arity) for arity in (1, 2))


def _germs(random: np.random.Generator, depth: int, points: list[Any]) -> tuple[Germ, list[Any]]:
    """A random germ with its values at the points."""
    if depth == 0 or random.random() < 0.15:
        d = float(random.choice([-2.0, -1.0, 1.0, 3.0]))
        kind = random.integers(0, 5)
        if kind == 0:
            return number(d), [flint.arb(d)] * len(points)
        if kind == 1:
            return within(d, d), [flint.arb(d)] * len(points)
        if kind == 2:
            return Germ(Fraction(1), 0, d, d, Fraction(3, 4)), [flint.arb(3) / 4 + d * s for s in points]
        if kind == 3:
            return Germ(Fraction(-1), 0, d, d), [d / s for s in points]
        return Germ(Fraction(1), 0, d, d), [d * s for s in points]
    if random.random() < 0.5:
        op = str(random.choice(_OF_ONE))
        g, values = _germs(random, depth - 1, points)
        return germs._apply(op, (g,), None), [_ARB[op](v) for v in values]
    op = str(random.choice(_OF_TWO))
    (a, va), (b, vb) = (_germs(random, depth - 1, points) for _ in range(2))
    return germs._apply(op, (a, b), None), [_ARB[op](v, w) for v, w in zip(va, vb, strict=True)]


def _germ_escapes(count: int) -> tuple[int, list[str]]:
    random = np.random.default_rng(5)
    compared, found = 0, []
    with flint.ctx.workprec(6000):
        points = [flint.arb(2) ** -200, flint.arb(3) * flint.arb(2) ** -210, flint.arb(2) ** -1000]
        for _ in range(count):
            try:
                g, values = _germs(random, int(random.integers(1, 5)), points)
            except Undefined:
                continue
            for s, value in zip(points, values, strict=True):
                if not value.is_finite() or value.rel_accuracy_bits() < 100:
                    continue
                compared += 1
                low, high = _arb_of(g, s)
                if value < low or value > high:
                    found.append(f"{g} at {s.str(5)}: {value.str(10)}")
    return compared, found


def test_germs_contain_the_values_of_random_expressions() -> None:
    compared, found = _germ_escapes(3000)
    assert compared > 1500
    assert not found, "\n".join(found[:5])


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("_ratio", lambda k, j: (0.0, 0.0) if k > 0 else (1.0, 1.0)),
        ("_log", lambda g: germs._plain(g)),
        ("_neg", lambda g: g),
    ],
)
def test_a_broken_rule_of_germs_is_noticed(name: str, broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(germs, name, broken)
    if name[1:] in germs._RULES:
        monkeypatch.setitem(germs._RULES, name[1:], broken)
    assert _germ_escapes(500)[1]


def test_a_path_outside_the_domain_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    f, bounds = BOUNDED["-x on [0, 1e300]"]
    prover = paths._Prover(trace(f, 1).value_node, read_bounds(bounds, 1))
    ray = (np.zeros(1), np.ones(1), -np.ones(1))
    assert not prover.falls_along(*ray)
    monkeypatch.setattr(paths._Prover, "_is_inside", lambda self, *ray: True)
    assert prover.falls_along(*ray)


def test_a_pivot_needs_a_change_of_sign() -> None:
    prover = paths._Prover(trace(lambda x: -1 / (x[0] ** 2 + 1e-30), 1).value_node, read_bounds(UNIT, 1))
    for node, element in prover.edges:
        for sign in (-1, 1):
            assert not prover.falls_through(np.array([0.0]), np.array([1e-3]), (node, element, sign))


# --- polynomials and rational functions on unbounded boxes -----------------------------------------------------------


def _polynomial(random: np.random.Generator, n: int) -> Polynomial:
    """With even leading powers that mostly win."""
    found: Polynomial = {}
    for i in range(n):
        power = int(random.choice([2, 4, 6]))
        c = Fraction(int(random.integers(1, 20)), 4)
        found[((i, power),)] = (c, c)
    for _ in range(int(random.integers(1, 8))):
        powers = random.integers(0, 4, n) * (random.random(n) < 0.6)
        monomial = tuple((i, int(p)) for i, p in enumerate(powers) if p)
        c = Fraction(int(random.integers(-20, 21)), 8)
        if monomial not in found:
            found[monomial] = (c, c + Fraction(int(random.integers(0, 3)), 8))
    return found


def _value(p: Polynomial, x: list[Fraction], upper: bool) -> Fraction:
    total = Fraction(0)
    for monomial, (lo, hi) in p.items():
        term = Fraction(1)
        for i, power in monomial:
            term *= x[i] ** power
        total += term * (hi if (term > 0) == upper else lo)
    return total


def _low_values(count: int) -> tuple[int, list[str]]:
    """Points where a polynomial is below its minorant, and how many polynomials had one."""
    random = np.random.default_rng(11)
    proved, found = 0, []
    for _ in range(count):
        n = int(random.integers(1, 4))
        p = _polynomial(random, n)
        bounds = [
            ((-INF, INF), (0.0, INF), (-INF, 0.0), (-2.0, 3.0))[k] for k in random.choice(4, n, p=[0.7, 0.1, 0.1, 0.1])
        ]
        lower = minorant(p, bounds)
        if lower is None:
            continue
        proved += 1
        for _ in range(30):
            x = random.normal(size=n) * np.exp2(random.uniform(-6, 8, n))
            x = [Fraction(float(np.clip(v, *ends))) for v, ends in zip(x, bounds, strict=True)]
            bound = sum((d * abs(x[i]) ** m for i, (m, d) in lower.powers.items()), -lower.constant)
            if _value(p, x, upper=False) < bound:
                found.append(f"{p} at {x}")
            level = _value(p, x, upper=False)
            sizes = radii(lower, level)
            if any(abs(x[i]) > sizes[i] for i in sizes):
                found.append(f"{p}: {x} is beyond {sizes}")
    return proved, found


def test_a_polynomial_is_nowhere_below_its_minorant() -> None:
    proved, found = _low_values(600)
    assert proved > 150
    assert not found, found[:3]


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("_factor", lambda term, weights, lead: abs(term.c) / 64),
        ("_balance", lambda small, rest: (small / 2, Fraction(1))),
        ("_least", lambda monomial, c, bounds: c[1]),
        ("_root_above", lambda value, degree: 0.5 * float(value) ** (1 / degree)),
    ],
)
def test_a_broken_rule_of_minorants_is_noticed(name: str, broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coercive, name, broken)
    assert _low_values(200)[1]


PROVED: dict[str, tuple[Formula, Bounds, float]] = {
    "three-hump camel": (
        lambda x: 2 * x[0] ** 2 - 1.05 * x[0] ** 4 + x[0] ** 6 / 6 + x[0] * x[1] + x[1] ** 2,
        PLANE,
        0.0,
    ),
    "six-hump camel": (
        lambda x: (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (-4 + 4 * x[1] ** 2) * x[1] ** 2,
        PLANE,
        -1.0316284535,
    ),
    "Himmelblau": (lambda x: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2, PLANE, 0.0),
    "a quartic": (lambda x: x[0] ** 4 + x[1] ** 4 - 10 * x[0] * x[1], PLANE, -12.5),
    "one variable": (lambda x: x[0] ** 4 - 3 * x[0] ** 3 + x[0], LINE, -6.3184277358),
    "Styblinski-Tang": (lambda x: np.sum(x**4 - 16 * x**2 + 5 * x) / 2, LINE * 4, -156.6646628151),
    "half a line": (lambda x: x[0] ** 3 - 4 * x[0], [(0.0, INF)], -3.0792014357),
    "a bounded variable": (lambda x: x[0] ** 2 - 3 * x[0] * x[1] + x[1], [(-INF, INF), (-1.0, 2.0)], -7.0),
    "bounded terms": (lambda x: x[0] ** 2 - x[0] * 4 + np.sin(x[0]) * np.cos(x[0]), LINE, -4.4369039152),
    "x/(1 + x^2)": (lambda x: x[0] / (1 + x[0] ** 2), LINE, -0.5),
    "a quotient": (lambda x: (x[0] ** 2 - 3 * x[0]) / (1 + x[0] ** 4), LINE, -1.2997063560),
    "of two": (lambda x: (x[0] + x[1]) / (1 + x[0] ** 2 + x[1] ** 2), PLANE, -0.7071067812),
    "approached at infinity": (lambda x: x[0] * x[1] / (1 + x[0] ** 2 + x[1] ** 2), PLANE, -0.5),
    "growing": (lambda x: (x[0] ** 4 + x[1] ** 2 - x[0]) / (1 + x[0] ** 2), PLANE, -0.3522623792),
}


@pytest.mark.parametrize("name", PROVED)
def test_rational_functions_are_proved_on_unbounded_boxes(name: str) -> None:
    f, bounds, least = PROVED[name]
    result = infimum.minimize(f, bounds, xtol=None, ftol=1e-6, max_iter=100)
    assert float(result.minimum.lo) == pytest.approx(least, rel=3e-6, abs=3e-6)
    assert float(result.minimum.lo) <= least + 1e-9 <= float(result.minimum.hi) + 2e-6


@pytest.mark.parametrize("name", PROVED)
def test_no_point_below_the_upper_bound_is_contracted_away(name: str) -> None:
    f, bounds, least = PROVED[name]
    n = len(bounds)
    function, domain = trace(f, n), read_bounds(bounds, n)
    contractor = Applied(UnboundedBoxes(function, domain), function, domain)
    random = np.random.default_rng(3)
    points = random.normal(size=(300, n)) * np.exp2(random.uniform(-3, 6, (300, 1)))
    points = np.clip(points, domain.lo, domain.hi)
    for x, value in zip(points, np.asarray(function(points)), strict=True):
        upper = np.nextafter(value, np.inf) + 1e-9 * abs(value)
        found = contractor.boxes(domain.lo[None], domain.hi[None], float(upper))
        assert len(found) == 1
        assert (found.lo[0] <= x).all()
        assert (x <= found.hi[0]).all()
        assert found.lower[0] <= least + 1e-9


def test_a_divisor_that_may_be_negative_is_refused() -> None:
    for f in (
        lambda x: 1 / (x[0] ** 2 - 4),
        lambda x: x[0] / (1 + x[0] ** 3),
        lambda x: x[0] / (x[0] ** 2 - x[0] * 3 + 1),
    ):
        assert UnboundedBoxes(trace(f, 1), read_bounds(LINE, 1)).is_idle


def test_bounded_domains_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression, "rational", lambda *_: pytest.fail("read"))
    contractor = UnboundedBoxes(trace(lambda x: x[0] ** 2, 1), read_bounds([(-1, 1)], 1))
    assert contractor.is_idle


def test_a_fall_between_two_points_is_not_said_to_be_at_one_of_them() -> None:
    found = infimum.minimize(lambda x: special.xlogy(x[0] - 1, np.sqrt(x[1])), [(-3, 4), (-2.5, 3)])
    assert found.status == 9 and "between x = (" in found.message and "goes to (" not in found.message


def test_the_search_for_a_fall_leaves_time_for_the_search() -> None:
    t, y = np.linspace(0, 5, 8), np.array([-1.68, -0.54, 5.44, -0.08, -2.03, 0.31, 2.39, -4.44])
    f = trace(lambda x: np.log(np.sum((x[0] * t + x[1] - y) ** 2)), 2)
    size = sum(node.size for node in ancestors([f.value_node]))
    asked = 0

    class Counted(paths._Prover):
        def _falls(self, start: Any) -> bool:
            nonlocal asked
            asked += 1
            return super()._falls(start)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "_Prover", Counted)
        assert unbounded_below(f, read_bounds([(-5, 5)] * 2), np.array([[[-5.0, 5.0]] * 2] * 4), 100 * size) is None
    assert 0 < asked <= 100

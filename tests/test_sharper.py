"""Completed squares: enclosures that contain the exact values, never wider than natural ones, and no other change."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import infimum
import reference
from contractions import boxes_around, missing
from infimum import problems
from infimum.backends import cpu
from infimum.function.function import Function, trace
from infimum.graph.node import ancestors
from infimum.passes.contract.contraction import contracted, contraction
from infimum.passes.lowering.lower import lower
from infimum.passes.sharper import squares as sharpening
from infimum.passes.sharper import terms as sharper_terms
from infimum.passes.sharper.squares import sharper
from infimum.passes.sharper.terms import Reader
from random_functions import RandomFunction, Tree, plain, random_function

FloatArray = npt.NDArray[np.float64]
Formula = Callable[[Any], Any]


def squares(function: Function) -> int:
    """How many nodes are met with completed squares."""
    return sum(node.op == "intersection" for node in ancestors([function.programs.sharp_node]))


def ends(function: Function, *box: tuple[float, float]) -> tuple[float, float]:
    lo, hi = function.sharp_ends(np.array([[pair[0] for pair in box]]), np.array([[pair[1] for pair in box]]))
    return float(lo[0]), float(hi[0])


# --- what is found ---------------------------------------------------------------------------------------------------


def _of(x: Any, step: Callable[[Any], Any]) -> Any:
    """One expression, used several times."""
    return step(x)


# Every one of these is y^2 - y for some y that can be 1/2, so that its least value is -1/4.
WRITTEN: dict[str, tuple[Formula, int]] = {
    "quotients": (lambda x: 1 / x[0] ** 6 - 1 / x[0] ** 3, 1),
    "negative powers": (lambda x: x[0] ** -6 - x[0] ** -3, 1),
    "a reciprocal's powers": (lambda x: _of(1 / x[0], lambda s: s**12 - s**6), 1),
    "a product with itself": (lambda x: _of((1 / x[0]) ** 3, lambda s: s * s - s), 1),
    "a product of sum and term": (lambda x: _of((1 / x[0]) ** 3, lambda s: s * (s - 1)), 1),
    "one quotient": (lambda x: (1 - x[0] ** 3) / x[0] ** 6, 1),
    "scaled": (lambda x: _of(2 / x[0], lambda s: s**12 / 4096 - (s / 2) ** 6), 1),
    "in pieces": (lambda x: 3 / x[0] ** 6 - (5 / x[0] ** 3 - 4 / x[0] ** 3) - 2 / x[0] ** 6, 1),
    "negated": (lambda x: -(1 / x[0] ** 3 - 1 / x[0] ** 6), 1),
    "a distance": (lambda x: _of(np.sqrt(x[0] ** 2 + x[1] ** 2), lambda d: 1 / d**12 - 1 / d**6), 2),
    "a sum": (lambda x: _of(x[0] ** 2 + x[1] ** 2, lambda s: s**2 - s), 2),
    "a sum's quotient": (lambda x: _of(x[0] ** 2 + x[1] ** 2, lambda s: 1 / s**2 - 1 / s), 2),
    "a variable": (lambda x: x[0] ** 2 - x[0], 1),
    "a variable in a product": (lambda x: x[0] * (x[0] - 1), 1),
    "squares of squares": (lambda x: x[0] ** 4 - x[0] ** 2, 1),
    "a product of two": (lambda x: x[0] ** 2 * x[1] ** 2 - x[0] * x[1], 2),
    "a root": (lambda x: x[0] - np.sqrt(x[0]), 1),
    "exponentials": (lambda x: np.exp(-2 * (x[0] - 1)) - np.exp(-(x[0] - 1)), 1),
    "multiples of an exponent": (lambda x: np.exp(-2 * x[0]) - np.exp(-x[0]), 1),
    "elements of an array": (lambda x: np.sum(x**4 - x**2) / 3, 3),
    "coefficients of an array": (lambda x: np.sum(np.arange(1.0, 4.0) * (x**2 - x)) / 6, 3),
    "with more terms": (lambda x: x[0] ** 2 + np.sin(0 * x[1]) - x[0], 2),
    "in the middle of a sum": (lambda x: (x[0] ** 2 + x[1] ** 2 + 0.25) - x[0] - x[1], 2),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_least_value_is_found_however_the_square_is_written(name: str) -> None:
    f, n = WRITTEN[name]
    function = trace(f, n)
    assert squares(function) >= 1
    lo, _ = ends(function, *[(0.0, 3.0)] * n)
    assert -0.25 - 1e-14 <= lo <= -0.25
    assert function.range_ends(np.zeros((1, n)), np.full((1, n), 3.0))[0][0] < -0.3


def test_squares_of_several_variables_are_completed_one_after_the_other() -> None:
    function = trace(lambda x: 3 * x[0] ** 2 + 6 * x[0] * x[1] + 3 * x[1] ** 2 - 14 * x[0] - 14 * x[1], 2)
    assert squares(function) == 1
    assert ends(function, (-9.0, 9.0), (-9.0, 9.0))[0] == pytest.approx(-49 / 3, abs=1e-13)
    definite = trace(lambda x: x[0] ** 2 - x[0] * x[1] + x[1] ** 2, 2)
    assert ends(definite, (-np.inf, np.inf), (-np.inf, np.inf))[0] == 0.0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.sin(x) + x),
        lambda x: x[0] ** 2 + x[1],
        lambda x: x[0] ** 2 + x[0] ** 4,  # rises with x^2: nothing to gain
        lambda x: np.exp(x[0]) + np.exp(2 * x[0]),
        lambda x: (x[0] + 1) ** 2 + (x[1] - 2) ** 2,
        lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2,
    ],
)
def test_expressions_without_such_squares_stay_as_they_are(f: Formula) -> None:
    function = trace(f, 2)
    assert function.programs.sharp_node is function.value_node
    assert function.programs.sharp is function.value_program


def test_long_expressions_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharpening, "_MOST_NODES", 2)
    assert squares(trace(lambda x: x[0] ** 2 - x[0], 1)) == 0


# --- random polynomials, also of negative powers ---------------------------------------------------------------------


def polynomial(seed: int) -> tuple[Formula, int]:
    """A sum of products that often has squares to complete, with coefficients of all sizes."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 4))
    k = int(draw.choice([1, 1, 2, 3]))
    sign = int(draw.choice([1, 1, -1]))
    powers = [[sign * k * int(e) for e in draw.choice([0, 0, 1, 2, 4], n)] for _ in range(draw.integers(2, 7))]
    size = 10.0 ** draw.choice([0, 0, 3, 150, -150])
    weights = [
        float(np.round(w, int(draw.choice([0, 1, 17]))) * s)
        for w, s in zip(
            draw.uniform(-9, 9, len(powers)), np.where(draw.random(len(powers)) < 0.2, size, 1.0), strict=True
        )
    ]
    offset = float(draw.choice([0.0, 0.0, 0.1]))

    def f(x: Any) -> Any:
        total: Any = 0
        for weight, exponents in zip(weights, powers, strict=True):
            term: Any = weight
            for i, e in enumerate(exponents):
                term = term * (x[i] + offset) ** e if e else term
            total = total + term
        return total + 0 * x[0]

    return f, n


def exactly(f: Formula, x: FloatArray) -> Fraction | None:
    """The value as a fraction; a double that meets one is one too."""
    try:
        return Fraction(f([_Rational(v) for v in x.tolist()]).value)
    except ZeroDivisionError:
        return None


class _Rational:
    """Fractions that take doubles for what they are, as traced expressions do."""

    def __init__(self, value: Any) -> None:
        self.value = Fraction(value)

    def __add__(self, other: Any) -> _Rational:
        return _Rational(self.value + _value(other))

    def __mul__(self, other: Any) -> _Rational:
        return _Rational(self.value * _value(other))

    def __pow__(self, power: int) -> _Rational:
        return _Rational(self.value**power)

    __radd__, __rmul__ = __add__, __mul__


def _value(other: Any) -> Fraction:
    return other.value if isinstance(other, _Rational) else Fraction(other)


def sampled(seed: int, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points, some of them round, in boxes of all sizes."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(12, n)) * 10.0 ** draw.integers(-3, 3, (12, 1))
    x = np.where(draw.random(x.shape) < 0.2, np.round(x), x)
    lo, hi = boxes_around(x, [(-np.inf, np.inf)] * n, seed)
    return x, lo, hi


def outside(seed: int) -> list[str]:
    """Exact values that are not in their enclosures, and enclosures that are wider than the natural ones."""
    f, n = polynomial(seed)
    function = trace(f, n)
    x, lo, hi = sampled(seed, n)
    low, high = function.sharp_ends(lo, hi)
    natural = function.range_ends(lo, hi)
    found = [f"{seed}: wider" for i in range(len(x)) if low[i] < natural[0][i] or high[i] > natural[1][i]]
    for i, point in enumerate(x):
        y = exactly(f, point)
        if y is not None and not (_below(low[i], y) and _above(high[i], y)):
            found.append(f"{seed}: {point.tolist()} {float(y)} not in {low[i]}, {high[i]}")
    return found


def _below(end: float, y: Fraction) -> bool:
    return end == -np.inf or (np.isfinite(end) and Fraction(end) <= y)


def _above(end: float, y: Fraction) -> bool:
    return end == np.inf or (np.isfinite(end) and Fraction(end) >= y)


def removed(seed: int) -> list[str]:
    """Points with f(x) <= upper that a contraction takes away."""
    f, n = polynomial(seed)
    function = trace(f, n)
    x, lo, hi = sampled(seed, n)
    defined, _ = function.fact_arrays(x, x)
    x, lo, hi = x[defined], lo[defined], hi[defined]
    _, upper = function.range_ends(x, x)
    found_lo, found_hi, bottom, top = function.contraction_ends(lo, hi, upper)
    assert np.array_equal((bottom, top), function.sharp_ends(lo, hi))
    return missing(x, (found_lo, found_hi))


SEEDS = range(400)


def test_enclosures_contain_the_exact_values_and_are_never_wider() -> None:
    assert not [line for seed in SEEDS for line in outside(seed)]


def test_the_polynomials_have_squares_to_complete() -> None:
    assert sum(squares(trace(*polynomial(seed))) > 0 for seed in SEEDS) > len(SEEDS) // 4


def test_no_point_that_satisfies_the_constraint_is_removed() -> None:
    assert not [line for seed in SEEDS for line in removed(seed)]


def quadratics_of(tree: Tree, seed: int) -> list[Tree]:
    """Quadratic polynomials of a random expression and of its reciprocal, exponential and root."""
    draw = np.random.default_rng(seed)
    a, b = (("c", float(v)) for v in np.round(draw.uniform(-3, 3, 2), 1) + 0.05)
    made = []
    for p in (tree, ("div", ("c", 1.0), tree), ("exp", tree), ("sqrt", tree)):
        square = {"exp": ("exp", ("mul", ("c", 2.0), tree)), "sqrt": tree}.get(p[0], ("mul", p, p))
        made.append(("add", ("mul", a, square), ("mul", b, p)))
    return made


def beyond_arb(seed: int) -> list[str]:
    """Values by Arb that are not in their enclosures, and points that are contracted away."""
    f = random_function(seed)
    draw = np.random.default_rng(seed)
    low, high = (np.clip(np.array(end, float), -50, 50) for end in zip(*f.bounds, strict=True))
    x = draw.uniform(low, high, (4, len(low)))
    lo, hi = boxes_around(x, list(zip(low, high, strict=True)), seed)
    found = []
    for tree in quadratics_of(f.tree, seed):
        if not RandomFunction("quadratic", tree, f.bounds).is_traced:
            continue
        function = trace(lambda x, tree=tree: plain(tree, x), len(low))
        bottom, top = function.sharp_ends(lo, hi)
        for i, point in enumerate(x):
            y = RandomFunction("quadratic", tree, f.bounds).value(point)
            if y is None:
                continue
            if not bottom[i] <= top[i] or y < bottom[i] or y > top[i]:
                found.append(f"{seed} {tree}: {y} at {point.tolist()} not in {bottom[i]}, {top[i]}")
            upper = function.range_ends(x[i : i + 1], x[i : i + 1])[1]
            left = function.contraction_ends(lo[i : i + 1], hi[i : i + 1], upper)
            found += missing(x[i : i + 1], (left[0], left[1]))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_quadratics_of_random_expressions_are_enclosed_and_contracted(seed: int) -> None:
    assert not beyond_arb(seed)


BROKEN: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "half of B forgotten": lambda patch: patch.setattr(
        sharpening, "folded", lambda terms, true=sharpening.folded: true(dict(list(terms.items())[:1]))
    ),
    "the square of B left where it was": lambda patch: patch.setattr(Reader, "product", _unsquared),
    "a square taken for its root": lambda patch: patch.setattr(sharper_terms, "_joined", frozenset.union),
}


def _unsquared(self: Any, a: Any, b: Any, true: Any = Reader.product) -> Any:
    return {} if a is b else true(self, a, b)


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_square_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BROKEN[name](monkeypatch)
    assert any(outside(seed) for seed in SEEDS)


# --- where there is no value -----------------------------------------------------------------------------------------


def test_points_without_a_value_have_none_in_either_form() -> None:
    function = trace(lambda x: 1 / x[0] ** 6 - 1 / x[0] ** 3, 1)
    lo, hi = ends(function, (0.0, 0.0))
    assert lo > hi
    found = function.contraction_ends(np.zeros((1, 1)), np.zeros((1, 1)), 5.0)
    assert found[0][0, 0] > found[1][0, 0]
    root = trace(lambda x: x[0] - 3 * np.sqrt(x[0]), 1)
    lo, hi = ends(root, (-2.0, -1.0))
    assert lo > hi
    assert ends(root, (-2.0, 9.0)) == (-2.25, 0.0)


def test_a_pole_in_a_branch_that_is_not_taken_removes_nothing() -> None:
    function = trace(lambda x: np.where(x[0] < 1, x[0], 1 / (x[0] - 1) ** 2 - 1 / (x[0] - 1)), 1)
    assert squares(function) == 1
    x = np.array([[-2.0], [0.5], [1.5], [4.0]])
    lo, hi, *_ = function.contraction_ends(np.full((4, 1), -3.0), np.full((4, 1), 5.0), function.range_ends(x, x)[1])
    assert not missing(x, (lo, hi))


def test_terms_that_cancel_do_not_matter() -> None:
    function = trace(lambda x: x[0] ** 2 + 1 / x[1] - x[0] - 1 / x[1], 2)
    assert ends(function, (0.0, 1.0), (2.0, 4.0))[0] >= -0.5
    lo, hi = ends(function, (0.0, 1.0), (0.0, 0.0))
    assert lo > hi


# --- all else stays --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITTEN)
def test_values_derivatives_facts_and_stages_stay_the_same_bit_for_bit(name: str) -> None:
    f, n = WRITTEN[name]
    plain, other = trace(f, n), trace(f, n)
    size = len(other.programs.build.graph)
    assert squares(other)
    other.programs.level  # noqa: B018
    assert len(other.programs.build.graph) == size
    draw = np.random.default_rng(1)
    x = draw.uniform(0.1, 3.0, (50, n))
    lo, hi = boxes_around(x, [(0.0, 4.0)] * n, 2)
    for one, two in (
        (plain(x), other(x)),
        (plain.value_and_gradient(x)[1], other.value_and_gradient(x)[1]),
        (plain.range_ends(lo, hi), other.range_ends(lo, hi)),
        (plain.gradient_ends(lo, hi), other.gradient_ends(lo, hi)),
        (plain.fact_arrays(lo, hi), other.fact_arrays(lo, hi)),
    ):
        assert np.asarray(one).tobytes() == np.asarray(two).tobytes()
    assert plain.show() == other.show()
    box = [(0.5, 3.0)] * n
    assert list(plain.staged(box, [0], 8).children()) == list(other.staged(box, [0], 8).children())


@pytest.mark.parametrize("name", WRITTEN)
def test_all_backends_give_the_same_bits(name: str) -> None:
    f, n = WRITTEN[name]
    function = trace(f, n)
    x = np.random.default_rng(3).uniform(0.0, 3.0, (20, n))
    lo, hi = boxes_around(x, [(0.0, 4.0)] * n, 4)
    node = sharper(function.value_node, n)
    (slow,) = reference.enclose([node], lo, hi)
    (fast,) = cpu.run(lower([node], n), lo, hi)
    assert np.array_equal(slow, fast)
    upper = function.range_ends(x, x)[1]
    low, high = np.hstack([lo, np.full((20, 1), -np.inf)]), np.hstack([hi, upper[:, None]])
    for one, two in zip(
        reference.enclose(contracted([node], n), low, high), cpu.run(contraction([node], n), low, high), strict=True
    ):
        assert np.array_equal(one, two)


# --- what it is for --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "n", "minimum"), [("lj3", 3, -3.0), ("lj3safe", 3, -3.0), ("lj4", 6, -6.0)])
def test_atoms_that_may_coincide_are_solved(name: str, n: int, minimum: float) -> None:
    result = infimum.minimize(problems.named(name, n), ftol=1e-6, xtol=None, time_limit=20, progress=False)
    assert result.success
    assert result.minimum.lo <= minimum <= result.minimum.hi
    assert result.minimum.hi - result.minimum.lo <= 1e-5

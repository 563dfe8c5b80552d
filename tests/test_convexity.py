"""What is said of convexity is true: of random expressions on random segments, and each rule broken is noticed."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import flint
import numpy as np
import pytest
from scipy.special import erf, gammaln, log_expit, logsumexp, softmax, xlogy

import convex_functions
from convex_functions import (
    N,
    Tree,
    defects,
    exact,
    nonzero,
    not_negative,
    operations,
    positive,
    random_boxes,
    random_tree,
    text,
    traced,
)
from infimum import core
from infimum.errors import TraceError
from infimum.function.function import Function, trace
from infimum.ops import OPERATIONS
from infimum.ops.curves import ABOVE_ZERO, Curve, Span, Spans, integer_power, power
from infimum.passes.convex import convexity, products, shape
from infimum.passes.convex.logarithms import Logarithms
from infimum.passes.convex.norms import Norms
from infimum.passes.convex.products import Products
from infimum.passes.convex.truths import Truths

Patch = pytest.MonkeyPatch
INF = math.inf

# --- random expressions ----------------------------------------------------------------------------------------------


@functools.cache
def tree_of(seed: int) -> Tree:
    return random_tree(np.random.default_rng(seed), 1 + seed % 4)


@functools.cache
def function_of(seed: int) -> Function | None:
    """What is traced of a tree; None where it is refused."""
    try:
        return traced(tree_of(seed))
    except TraceError:
        return None


def false_claims(seeds: range, among: str = "", boxes: int = 8, segments: int = 6) -> tuple[list[str], int]:
    """Claims on random boxes that a segment contradicts, the first ones, and how many claims there were.

    among: names of operations of which a tree has one at least; any tree where none is named.
    """
    found: list[str] = []
    claims = 0
    for seed in seeds:
        tree = tree_of(seed)
        known = function_of(seed) if not among or operations(tree) & set(among.split()) else None
        if known is None:
            continue
        function = Function(known.value_node, N, "")  # its shape is told anew
        if not function.may_be_convex and not function.may_be_concave:
            continue
        draw = np.random.default_rng(seed)
        lo, hi = random_boxes(draw, boxes)
        for sign, claimed in zip((1, -1), function.shape_arrays(lo, hi), strict=True):
            for k in np.flatnonzero(claimed):
                claims += 1
                wrong = defects(functools.partial(exact, tree), lo[k], hi[k], sign, draw, segments)
                found += [f"seed {seed}, {text(tree)}, {sign}: {defect}" for defect in wrong]
        if found:
            break
    return found, claims


def test_no_claim_about_a_random_expression_is_false() -> None:
    found, claims = false_claims(range(700))
    assert not found
    assert claims > 1000


@pytest.mark.torture
def test_no_claim_about_many_random_expressions_is_false() -> None:
    found, claims = false_claims(range(10_000, 40_000), boxes=12, segments=12)
    assert not found and claims > 40_000


# --- what users write ------------------------------------------------------------------------------------------------

_DRAW = np.random.default_rng(5)
A, B, Z = _DRAW.normal(size=(5, N)), _DRAW.normal(size=5), np.array([0.0, 1.0, 1.0, 0.0, 1.0])
Y = 2 * Z - 1
LINE, ABOVE = (-10.0, 10.0), (0.125, 8.0)
WIDE = (-1e6, 1e6)


def by_loops(x: Any) -> Any:
    total = 0.0
    for i in range(5):
        fitted = 0.0
        for j in range(N):
            fitted = fitted + A[i, j] * x[j]
        total = total + (fitted - B[i]) ** 2 + np.logaddexp(0, x[i % N])
    return total


def shifted_by_hand(x: Any) -> Any:
    z = A @ x
    m = np.max(z)
    return m + np.log(np.sum(np.exp(z - m)))


def shifted_by_rows(x: Any) -> Any:
    z = A * x
    m = np.max(z, axis=1, keepdims=True)
    return np.sum(m[:, 0] + np.log(np.sum(np.exp(z - m), axis=1)))


def cross_entropy(x: Any) -> Any:
    z = A @ x
    return np.mean(np.maximum(z, 0) - z * Z + np.log1p(np.exp(-np.abs(z))))


def negative_log_likelihood(x: Any) -> Any:
    p = 1 / (1 + np.exp(-(A @ x)))
    return -np.sum(Z * np.log(p) + (1 - Z) * np.log(1 - p))


def stable_softplus(x: Any) -> Any:
    z = A @ x
    return np.sum(np.where(z > 0, z + np.log1p(np.exp(-z)), np.log1p(np.exp(z))))


def grid(x: Any) -> Any:
    u = np.pad(np.reshape(np.tile(x, 3), (3, 3)), 1)
    return 0.5 * np.sum(np.diff(u, axis=0) ** 2) + 0.5 * np.sum(np.diff(u, axis=1) ** 2) + np.sum(np.exp(u)) - np.sum(u)


SPELLINGS: dict[str, tuple[Callable[[Any], Any], tuple[float, float]]] = {
    "a sum of squares": (lambda x: np.sum((A @ x - B) ** 2), LINE),
    "a dot product": (lambda x: np.dot(A @ x - B, A @ x - B), LINE),
    "a length squared": (lambda x: np.linalg.norm(A @ x - B) ** 2, LINE),
    "a length": (lambda x: np.linalg.norm(A @ x - B), LINE),
    "other lengths": (lambda x: np.linalg.norm(A @ x, 1) + np.linalg.norm(x, np.inf), LINE),
    "a mean of squares": (lambda x: np.mean(np.square(A @ x - B)), LINE),
    "weights": (lambda x: np.average((A @ x - B) ** 2, weights=[1, 2, 3, 4, 5]), LINE),
    "a variance and a deviation": (lambda x: np.var(A @ x) + np.std(x), LINE),
    "loops": (by_loops, LINE),
    "a grid": (grid, LINE),
    "running sums": (lambda x: np.sum(np.cumsum(x) ** 2) + np.sum(np.diff(x) ** 4), LINE),
    "Horner": (lambda x: np.sum((np.polyval(x, B) - Z) ** 2), LINE),
    "logaddexp": (lambda x: np.mean(np.logaddexp(0, -Y * (A @ x))) + 1e-3 * np.dot(x, x), LINE),
    "logaddexp of two": (lambda x: np.sum(np.logaddexp(A @ x, x[0] ** 2)), LINE),
    "log1p exp": (lambda x: np.sum(np.log1p(np.exp(-Y * (A @ x)))), LINE),
    "log 1 + exp": (lambda x: np.sum(np.log(1 + np.exp(A @ x))), LINE),
    "log_expit": (lambda x: -np.sum(log_expit(Y * (A @ x))), LINE),
    "log_expit, large": (lambda x: -np.sum(log_expit(Y * (A @ x))), WIDE),
    "cross entropy": (cross_entropy, LINE),
    "negative log likelihood": (negative_log_likelihood, LINE),
    "softplus in two branches": (stable_softplus, LINE),
    "log sum exp": (lambda x: np.log(np.sum(np.exp(A @ x))), LINE),
    "logsumexp": (lambda x: logsumexp(A @ x), LINE),
    "logsumexp, large": (lambda x: logsumexp(A @ x), WIDE),
    "logsumexp of convex ones, large": (lambda x: logsumexp((A @ x) ** 2), WIDE),
    "a shift by hand": (shifted_by_hand, LINE),
    "shifts by rows": (shifted_by_rows, LINE),
    "log of softmax": (lambda x: -np.sum(np.log(softmax(A @ x))), LINE),
    "Poisson regression": (lambda x: np.sum(np.exp(A @ x) - Z * (A @ x)), LINE),
    "probit": (lambda x: -np.sum(np.log(0.5 * (1 + erf(A @ x)))), LINE),
    "a hinge": (lambda x: np.sum(np.maximum(0, 1 - Y * (A @ x))) + 0.1 * np.sum(np.abs(x)), LINE),
    "a hinge by where": (lambda x: np.sum(np.where(A @ x > 0, A @ x, 0)) + np.sum(np.where(x < 0, 0.1 * x, x)), LINE),
    "maximum and minimum": (lambda x: np.max(A @ x) - np.min(x), LINE),
    "hypot": (lambda x: np.sum(np.hypot(x[1:], x[:-1])), LINE),
    "cosh, powers": (lambda x: np.sum(np.cosh(A @ x)) + np.sum(2.0**x) + np.sum(np.abs(x) ** 1.5), LINE),
    "log cosh": (lambda x: np.sum(np.log(np.cosh(A @ x - B))), LINE),
    "x log x": (lambda x: np.sum(x * np.log(x)) + np.sum(xlogy(x, x)), ABOVE),
    "relative entropy": (lambda x: np.sum(x[1:] * np.log(x[1:] / x[:-1])) + np.sum(x * (np.log(x) - np.log(3))), ABOVE),
    "relative entropy in differences": (lambda x: np.sum(x[1:] * (np.log(x[1:]) - np.log(x[:-1]))), ABOVE),
    "squares over a number": (lambda x: x[0] ** 2 / x[1] + np.sum(x**2) / x[2] + 3 / (x[0] * x[1]), ABOVE),
    "a barrier": (lambda x: -np.sum(np.log(20 - A @ x)) - np.sum(np.log(x)) + 1 / np.sqrt(x[0]), ABOVE),
    "roots and gammas": (lambda x: np.sum(gammaln(x)) - np.sum(np.sqrt(x)) - np.cbrt(x[0]), ABOVE),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_spelling_of_something_convex_is_seen_through(name: str) -> None:
    f, ends = SPELLINGS[name]
    lo, hi = np.full((1, N), ends[0]), np.full((1, N), ends[1])
    function = trace(f, N, box=(lo[0], hi[0]), compare=False)
    assert function.shape_arrays(lo, hi)[0].all()
    assert trace(lambda x: -f(x), N, box=(lo[0], hi[0]), compare=False).shape_arrays(lo, hi)[1].all()


NOT_CONVEX: dict[str, Callable[[Any], Any]] = {
    "a product": lambda x: x[0] * x[1],
    "a difference": lambda x: np.sum(x**2) - 2 * x[0] ** 2,
    "a square of a square": lambda x: (x[1] - x[0] ** 2) ** 2,
    "a root of a sum of squares that may be negative": lambda x: np.sqrt(1 + x[0] ** 2 - 0.5 * x[1] ** 2),
    "a jump": lambda x: np.where(x[0] > 0, x[0] ** 2, x[0] ** 2 + 1),
    "two convex branches": lambda x: np.where(x[0] > 0, x[0] ** 2, (x[0] + 1) ** 2),
    "a step": lambda x: np.floor(x[0]) + x[0] ** 2,
    "a smaller one": lambda x: np.minimum(x[0], x[1] ** 2),
    "a product of all": lambda x: np.prod(x),
    "a sigmoid": lambda x: 1 / (1 + np.exp(-x[0])),
    "a running product": lambda x: x[0] * x[1] * x[2] + x[0],
    # log-sum-exps whose exponents are not among the nodes that the output is made of once it is in smooth spelling
    "the larger of two concave ones, rounded off": lambda x: np.logaddexp(-(x[0] ** 2), -(x[1] ** 2)),
    "one exponent that is concave": lambda x: np.logaddexp(-np.exp(x[0]), x[1]),
    "a largest exponent taken out": lambda x: _log_sum_exp(-np.exp(x)),
    "minus a smaller one, rounded off": lambda x: (
        np.log1p(np.exp(-np.abs(np.exp(x[0]) - x[1]))) - np.minimum(np.exp(x[0]), x[1])
    ),
    "a mixture": lambda x: logsumexp(-np.sum((np.array([[-1.0] * N, [1.0] * N]) - x) ** 2, axis=1)),
    "powers in turn": lambda x: logsumexp(-(x[::-1] ** 4)),
}


def _log_sum_exp(z: Any) -> Any:
    largest = np.max(z)
    return largest + np.log(np.sum(np.exp(z - largest)))


@pytest.mark.parametrize("name", NOT_CONVEX)
def test_of_something_that_is_not_convex_nothing_is_claimed(name: str) -> None:
    function = trace(NOT_CONVEX[name], N, compare=False)
    assert not function.shape_arrays(np.full((1, N), -2.0), np.full((1, N), 2.0))[0].any()


def test_on_small_boxes_more_is_convex() -> None:
    function = trace(lambda x: np.sum(x**2 - 10 * np.cos(2 * np.pi * x)), N, compare=False)
    lo = np.array([[-0.2] * N, [0.8] * N, [-0.5] * N, [0.3] * N])
    convex, concave = function.shape_arrays(lo, lo + 0.4)
    assert convex.tolist() == [True, True, False, False] and not concave.any()
    assert function.may_be_convex and not function.is_convex_everywhere


def test_a_point_and_an_unbounded_box_are_boxes() -> None:
    function = trace(lambda x: 1 / x[0] + np.exp(x[1]) + x[2] ** 3, N, compare=False)
    lo = np.array([[1.0, -INF, 0.0], [-1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]])
    hi = np.array([[INF, INF, INF], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    assert function.shape_arrays(lo, hi)[0].tolist() == [True, False, True, True]


def test_an_empty_box_is_nothing_to_claim_of() -> None:
    function = trace(lambda x: 1 / x[0] + x[1] ** 2, N, compare=False)
    found = function.shape_arrays(np.full((1, N), INF), np.full((1, N), -INF))
    assert not found[0].any() and not found[1].any()


# --- each rule broken on purpose -------------------------------------------------------------------------------------


ANY: Spans = (Span(),)


def _everywhere(self: Any, node: Any, spans: Spans) -> Any:
    return bool(spans)


def _always(self: Any, node: Any, *more: Any, **ends: Any) -> Any:
    return True


def _convex_power(least: float, most: float) -> Curve:
    return Curve(ANY, rises=ABOVE_ZERO)


def _kept_sign(t: Any, known: Any, nonnegative: Any, nonpositive: Any) -> Any:
    return known


def _same(known: Any) -> Any:
    return known


def _one_for_all(self: Any, *truths: Any) -> Any:
    return self._combined("max", truths, decides=True)


def _of_all(self: Any, node: Any) -> Any:
    return shape.added(self.truths, *map(self.of, node.args))


def _of_branches(self: Any, node: Any) -> Any:
    return shape.added(self.truths, *map(self.of, node.args[1:]))


def _rising_and_falling(self: Any, node: Any) -> Any:
    return self.through(Curve(ANY, (), ANY, ANY), node.args[1])


def _square_alone(self: Any, u: Any, k: int, w: Any, m: int) -> Any:
    return shape.Shape(self.shapes.magnitude(u), False)


def _any_entropy(self: Any, u: Any, above: Any, below: Any, sign: Any) -> Any:
    return shape.Shape(sign, False)


def _as_itself(self: Any, node: Any, depth: int = 0) -> Any:
    return self.shapes.of(node).convex


def _sum_as_convex(self: Any, node: Any, depth: int = 0) -> Any:
    return self.is_convex(node, depth) if node.op in ("add", "sum") else False


def _as_one_plus(self: Any, u: Any) -> Any:
    return self.shapes.of(u.args[0]).concave if u.args else False


def _any_exponents(self: Any, node: Any, found: Any) -> Any:
    return shape.Shape(True, False) if node in self._exponents else found


def _curve_of(name: str, curve: Curve | None) -> Callable[[Patch], None]:
    return lambda patch: patch.setitem(OPERATIONS, name, dataclasses.replace(OPERATIONS[name], curve=curve))


def _method(owner: Any, name: str, replacement: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, replacement)


def _rule(op: str, of: Callable[[Any, Any], Any]) -> Callable[[Patch], None]:
    """Break the rule of one operation: its shape becomes what `of` makes of all shapes and the node."""
    kept = convexity.Shapes._made
    rule = lambda self, node: of(self, node) if node.op == op else kept(self, node)  # noqa: E731
    return lambda patch: patch.setattr(convexity.Shapes, "_made", rule)


class Mutant(NamedTuple):
    """How a rule is broken, and operations of trees on which that may show."""

    breaks: Callable[[Patch], None]
    among: str = ""


MUTANTS = {
    "the hull of the range is ignored": Mutant(_method(Truths, "spans", _everywhere)),
    "a coefficient's sign is ignored": Mutant(_method(products, "scaled", _kept_sign), "times"),
    "minus a convex one is convex": Mutant(_method(convexity, "turned", _same)),
    "a difference is treated as a sum": Mutant(_rule("sub", _of_all), "sub"),
    "every range is fine": Mutant(_method(Truths, "within", _always)),
    "everything is positive": Mutant(_method(Truths, "positive", lambda self, node: True), "log_less recip_product"),
    "one of several truths is enough": Mutant(_method(Truths, "both", _one_for_all)),
    "both branches are convex, so the whole is": Mutant(_rule("where", _of_branches), "where"),
    "a minimum of convex ones is convex": Mutant(_rule("min", _of_all), "min"),
    "a maximum of concave ones is concave": Mutant(_rule("max", _of_all), "max"),
    "hypot is convex in convex ones": Mutant(_rule("hypot", _of_all), "hypot"),
    "tanh bends the other way": Mutant(_curve_of("tanh", OPERATIONS["sinh"].curve), "tanh"),
    "log rises and falls": Mutant(_curve_of("log", Curve((), ANY, ANY, ANY)), "log"),
    "exp rises and falls": Mutant(_curve_of("exp", Curve(ANY, (), ANY, ANY)), "exp"),
    "sqrt is convex": Mutant(_curve_of("sqrt", Curve(ANY, ANY, ANY)), "sqrt"),
    "1/t is convex on both sides": Mutant(_method(products, "integer_power", lambda k: Curve(ANY, falls=ANY)), "recip"),
    "|t| rises everywhere": Mutant(_method(convexity, "MAGNITUDE", Curve(ANY, ABOVE_ZERO, ANY)), "length hypot"),
    "sin is concave everywhere": Mutant(_curve_of("sin", Curve(concave=ANY)), "sin"),
    "x log x rises everywhere": Mutant(_curve_of("x_log_x", Curve(ANY, rises=ANY)), "xlogx"),
    "erf bends the other way": Mutant(_curve_of("erf", OPERATIONS["sinh"].curve), "erf"),
    "t^p is convex for every p": Mutant(
        _method(convexity, "power", lambda a, b: Curve(ANY, rises=ABOVE_ZERO)), "pow0.25"
    ),
    "2^t and 0.5^t rise and fall": Mutant(_rule("pow", _rising_and_falling), "two half"),
    "every quotient of a square is convex": Mutant(_method(Products, "_quotient", _square_alone), "square_over"),
    "u log(v) is convex": Mutant(_method(Products, "_relative_entropy", _any_entropy), "log_ratio"),
    "every sum is a sum of squares": Mutant(_method(Norms, "is_square", lambda self, node, depth=0: True), "sqrt"),
    "the logarithm of a convex one is convex": Mutant(_method(Logarithms, "is_convex", _as_itself), "log"),
    "sums have concave logarithms": Mutant(
        _method(Logarithms, "is_concave", _sum_as_convex), "log_sigmoid recip_product"
    ),
    "1 - erf as 1 + erf": Mutant(_method(Logarithms, "_one_minus", _as_one_plus), "log_not_erf"),
    "1 + erf for any exponent": Mutant(_method(Logarithms, "_one_plus", lambda self, u: u.op == "erf"), "probit"),
    "exponents need not be convex": Mutant(_method(convexity.Shapes, "_met", _any_exponents), "logaddexp"),
    "exponents that were not read are affine": Mutant(
        _method(convexity.Shapes, "of", lambda self, node: self._known.get(node, shape.AFFINE)),
        "log_less_of_both log_sum_exp logaddexp",
    ),
}


@pytest.mark.parametrize("rule", MUTANTS)
def test_a_broken_rule_is_noticed(rule: str, monkeypatch: Patch) -> None:
    mutant = MUTANTS[rule]
    mutant.breaks(monkeypatch)
    assert false_claims(range(2500), mutant.among)[0], rule


# --- the table of curves ---------------------------------------------------------------------------------------------

WITH_CURVES = sorted(name for name, row in OPERATIONS.items() if row.curve is not None)
VALUES: dict[str, Callable[[Any], Any]] = {
    "sqr": lambda t: t * t, "recip": lambda t: nonzero(t, lambda: 1 / t), "sqrt": lambda t: not_negative(t, t.sqrt),
    "abs": abs, "cbrt": convex_functions.OPERATIONS["cbrt"][2], "exp": lambda t: t.exp(),
    "exp2": lambda t: (t * flint.arb(2).log()).exp(), "exp10": lambda t: (t * flint.arb(10).log()).exp(),
    "expm1": lambda t: t.expm1(), "log": lambda t: positive(t, t.log),
    "log2": lambda t: positive(t, lambda: t.log() / flint.arb(2).log()),
    "log10": lambda t: positive(t, lambda: t.log() / flint.arb(10).log()), "log1p": lambda t: positive(1 + t, t.log1p),
    "sinh": lambda t: t.sinh(), "cosh": lambda t: t.cosh(), "tanh": lambda t: t.tanh(), "asinh": lambda t: t.asinh(),
    "acosh": lambda t: not_negative(t - 1, t.acosh), "atanh": lambda t: positive(1 - abs(t), t.atanh),
    "sin": lambda t: t.sin(), "cos": lambda t: t.cos(), "sinpi": lambda t: t.sin_pi(), "cospi": lambda t: t.cos_pi(),
    "tan": lambda t: nonzero(t.cos(), t.tan), "asin": lambda t: not_negative(1 - abs(t), t.asin),
    "acos": lambda t: not_negative(1 - abs(t), t.acos), "atan": lambda t: t.atan(), "erf": lambda t: t.erf(),
    "erfc": lambda t: t.erfc(), "x_log_x": convex_functions.OPERATIONS["xlogx"][2],
    "lgamma": lambda t: positive(t, t.lgamma), "digamma": lambda t: positive(t, t.digamma),
    "trigamma": lambda t: positive(t, lambda: flint.arb(2).zeta(t)),
}  # fmt: skip


def holds_on(spans: Spans, lo: float, hi: float) -> bool:
    """Whether operands in [lo, hi] lie in one of the spans."""
    return any(_ends(span.of, lo, hi)[0] >= span.lo and _ends(span.of, lo, hi)[1] <= span.hi for span in spans)


def _ends(op: str, lo: float, hi: float) -> tuple[float, float]:
    low, high = core.apply(op, (lo, hi)) if op else (lo, hi)
    return float(low), float(high)


def curve_defects(of: Callable[[Any], Any], curve: Curve, draws: int = 150) -> list[str]:
    """What contradicts a curve on random intervals."""
    flint.ctx.prec = 200
    draw = np.random.default_rng(7)
    found = []
    for _ in range(draws):
        ends = np.sort(draw.choice([-1.0, 1.0], 2) * 10.0 ** draw.uniform(-2, 0.8, 2))
        lo, hi = (float(v) for v in np.where(draw.random(2) < 0.2, 0.0, ends))
        if lo > hi:
            continue
        points = [flint.arb(lo) + (flint.arb(hi) - lo) * k / 8 for k in range(9)]
        values = [_at(of, p) for p in points]
        found += [f"{what} on [{lo}, {hi}]" for what in _contradicted(curve, lo, hi, values)]
    return found


def _at(of: Callable[[Any], Any], point: Any) -> Any:
    """The value, None where there is none, NotImplemented where Arb cannot tell."""
    try:
        return convex_functions.value(of, point)
    except convex_functions.Undecided:
        return NotImplemented


def _contradicted(curve: Curve, lo: float, hi: float, values: list[Any]) -> list[str]:
    convex, concave, rises, falls = (holds_on(spans, lo, hi) for spans in curve)
    known = [v for v in values if v is not None and v is not NotImplemented]
    inside = [i for i, v in enumerate(values) if v is not None]
    found = []
    if (convex or concave) and inside and inside != list(range(inside[0], inside[-1] + 1)):
        found.append("defined in two pieces")
    steps = [b - a for a, b in itertools.pairwise(known)]
    if rises and any(s < 0 for s in steps):
        found.append("does not rise")
    if falls and any(s > 0 for s in steps):
        found.append("does not fall")
    turns = [b - a for a, b in itertools.pairwise(steps)] if len(known) == len(values) else []
    if convex and any(t < 0 for t in turns):
        found.append("is not convex")
    if concave and any(t > 0 for t in turns):
        found.append("is not concave")
    below = values[0] is None and len(inside) > 0
    above = values[-1] is None and len(inside) > 0
    if below and ((convex and rises) or (concave and falls)):
        found.append("is undefined below")
    if above and ((convex and falls) or (concave and rises)):
        found.append("is undefined above")
    return found


@pytest.mark.parametrize("name", WITH_CURVES)
def test_a_curve_is_that_of_its_operation(name: str) -> None:
    assert not curve_defects(VALUES[name], OPERATIONS[name].curve or Curve())


@pytest.mark.parametrize("k", [-4, -3, -2, -1, 1, 2, 3, 4, 5])
def test_the_curve_of_a_whole_power_is_right(k: int) -> None:
    assert not curve_defects(lambda t: t**k if k > 0 else nonzero(t, lambda: t**k), integer_power(k))


@pytest.mark.parametrize("p", [-2.0, -0.5, 0.25, 0.5, 1.0, 1.25, 2.0, 3.5])
def test_the_curve_of_a_broken_power_is_right(p: float) -> None:
    def of(t: Any) -> Any:
        if t == 0 and p > 0:
            return flint.arb(0)
        return positive(t, lambda: t ** flint.arb(p))

    assert not curve_defects(of, power(p, p))


@pytest.mark.parametrize("name", WITH_CURVES)
def test_a_curve_that_claims_one_thing_more_is_noticed(name: str) -> None:
    curve = OPERATIONS[name].curve or Curve()
    for part in curve._fields:
        if getattr(curve, part) != ANY:
            assert curve_defects(VALUES[name], curve._replace(**{part: ANY})), part

"""Pieces: what is said of a function of one number holds exactly, and each rule broken on purpose is noticed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import special

import infimum
from infimum.function.function import Function, trace
from infimum.graph.node import Node, ancestors
from infimum.ops.curves import EVERYWHERE, Curve
from infimum.passes.convex import pieces as module
from infimum.passes.convex.pieces import curve_of

Patch = pytest.MonkeyPatch
Tree = tuple[Any, ...]

NUMBERS = [-2.0, -1.0, -0.5, 0.25, 0.5, 1.0, 1.5, 3.0]


def random_tree(draw: np.random.Generator, depth: int) -> Tree:
    """A random function of one number; conditions often join what meets at their place."""
    if depth == 0 or draw.random() < 0.1:
        return ("t",)
    kind = str(
        draw.choice(
            ["join", "join", "huber", "abs", "max", "min", "add", "sub", "times", "sqr", "where", "within", "beyond"]
        )
    )
    number = float(draw.choice(NUMBERS))
    if kind in ("abs", "sqr"):
        return (kind, random_tree(draw, depth - 1))
    if kind in ("times", "huber"):
        return (kind, number, random_tree(draw, depth - 1))
    if kind in ("within", "beyond"):
        return (kind, number, *(float(draw.choice(NUMBERS)) for _ in range(2)))
    if kind == "join":
        return (kind, number, *(random_tree(draw, depth - 1) for _ in range(2)))
    if kind == "where":
        return (kind, *(random_tree(draw, depth - 1) for _ in range(4)))
    return (kind, *(random_tree(draw, depth - 1) for _ in range(2)))


def value(tree: Tree, t: Any, where: Callable[..., Any], largest: Callable[..., Any], least: Callable[..., Any]) -> Any:
    """The tree at t, with these three for NumPy's."""
    name, *rest = tree

    def at(part: Tree, place: Any = t) -> Any:
        return value(part, place, where, largest, least)

    match name:
        case "t":
            return t
        case "abs":
            return abs(at(rest[0]))
        case "sqr":
            return at(rest[0]) ** 2
        case "times":
            return rest[0] * at(rest[1])
        case "add":
            return at(rest[0]) + at(rest[1])
        case "sub":
            return at(rest[0]) - at(rest[1])
        case "max":
            return largest(at(rest[0]), at(rest[1]))
        case "min":
            return least(at(rest[0]), at(rest[1]))
        case "within" | "beyond":
            d = abs(rest[0])
            one, other = rest[1] * (t * t - d * d), rest[2] * (abs(t) - d)
            if name == "within":
                return where((t >= -d) & (t < d), one, other)
            outside = (t < -d) | (t >= d)
            inside = not outside if isinstance(outside, bool) else ~outside
            return where(inside if rest[0] < 0 else outside, one, other)
        case "where":
            return where(at(rest[0]) < at(rest[1]), at(rest[2]), at(rest[3]))
        case "huber":
            size, d = abs(at(rest[1])), abs(rest[0])
            return where(size <= d, size * size / 2, d * (size - d / 2))
        case "join":
            place = rest[0]
            step = t - place
            return where(t <= place, at(rest[1], step) * step, at(rest[2], step) * step)
    raise AssertionError(name)


def exact(tree: Tree, t: Fraction) -> Fraction:
    found = value(_in_fractions(tree), t, lambda c, x, y: x if c else y, max, min)
    return Fraction(found)


def _in_fractions(tree: Tree) -> Tree:
    return tuple(_in_fractions(v) if isinstance(v, tuple) else Fraction(v) if isinstance(v, float) else v for v in tree)


def traced(tree: Tree) -> Function:
    def f(x: Any) -> Any:
        return value(tree, x[0], np.where, np.maximum, np.minimum)

    return trace(f, 1, compare=False)


def curve(function: Function) -> Curve | None:
    """What is said of a function as a whole."""
    varying: set[Node] = set()
    for node in ancestors([function.value_node]):
        if node.op == "x" or varying.intersection(node.args):
            varying.add(node)
    found = curve_of(function.value_node, lambda node: node in varying)
    return None if found is None else found[0]


def faults(tree: Tree, found: Curve, draw: np.random.Generator) -> Iterator[str]:
    """What contradicts a curve on triples of points of its spans."""
    for name, spans in found._asdict().items():
        for span in spans:
            lo, hi = max(span.lo, -9.0), min(span.hi, 9.0)
            if not lo < hi:
                continue
            points = sorted({Fraction(float(v)) for v in [lo, hi, *draw.uniform(lo, hi, 14), *_round(lo, hi)]})
            values = [exact(tree, t) for t in points]
            for k, ((a, b), (u, v)) in enumerate(zip(pairwise(points), pairwise(values), strict=True)):
                later, w = points[-1 - k // 2], values[-1 - k // 2]
                wrong = (name == "rises" and u > v) or (name == "falls" and u < v)
                if name in ("convex", "concave") and later > b:
                    chord = u + (w - u) * (b - a) / (later - a)
                    wrong = v > chord if name == "convex" else v < chord
                if wrong:
                    yield f"{tree}: not {name} on {span} near {float(a)}"


def _round(lo: float, hi: float) -> Iterator[float]:
    return (0.25 * k for k in range(math.ceil(4 * lo), math.floor(4 * hi) + 1))


def checked(seeds: range) -> tuple[list[str], int]:
    """The first faults, and how many functions something was said of."""
    said = 0
    for seed in seeds:
        draw = np.random.default_rng(seed)
        tree = random_tree(draw, 1 + seed % 3)
        found = curve(traced(tree))
        if found is None or not any(found):
            continue
        said += 1
        wrong = list(faults(tree, found, draw))
        if wrong:
            return wrong, said
    return [], said


def test_what_is_said_of_random_functions_holds() -> None:
    wrong, said = checked(range(1000))
    assert not wrong and said > 200


@pytest.mark.torture
def test_what_is_said_of_many_random_functions_holds() -> None:
    assert not checked(range(2000, 20000))[0]


# --- spellings of losses ---------------------------------------------------------------------------------------------

LOSSES: dict[str, Callable[[Any], Any]] = {
    "where": lambda r: np.where(np.abs(r) <= 1, 0.5 * r**2, np.abs(r) - 0.5),
    "another threshold": lambda r: np.where(np.abs(r) < 1.345, 0.5 * r * r, 1.345 * (np.abs(r) - 0.5 * 1.345)),
    "the other branch first": lambda r: np.where(np.abs(r) > 1, 2 * np.abs(r) - 1, r**2),
    "one side after the other": lambda r: np.where(r < -1, -r - 0.5, np.where(r <= 1, 0.5 * r**2, r - 0.5)),
    "of squares": lambda r: np.where(r**2 <= 1, r**2, 2 * np.sqrt(r**2) - 1),
    "a minimum": lambda r: 0.5 * np.minimum(np.abs(r), 1) ** 2 + (np.abs(r) - np.minimum(np.abs(r), 1)),
    "clip": lambda r: r * np.clip(r, -1, 1) - 0.5 * np.clip(r, -1, 1) ** 2,
    "SciPy's": lambda r: special.huber(1.5, r),
    "within": lambda r: np.where((r > -1) & (r < 1), 0.5 * r**2, np.abs(r) - 0.5),
    "beyond": lambda r: np.where(np.logical_or(r < -1, r > 1), np.abs(r) - 0.5, 0.5 * r**2),
    "not beyond": lambda r: np.where(~(np.abs(r) > 1), 0.5 * r**2, np.abs(r) - 0.5),
    "a sum of cases": lambda r: (np.abs(r) <= 1) * 0.5 * r**2 + (np.abs(r) > 1) * (np.abs(r) - 0.5),
    "signs": lambda r: np.where(r * np.sign(r) <= 1, 0.5 * r**2, r * np.sign(r) - 0.5),
    "a condition as a number": lambda r: r * (0.75 - (r < 0)),
    "pseudo": lambda r: special.pseudo_huber(1.5, r),
    "one side": lambda r: np.where(r < 1, 0.0, (r - 1) ** 2),
    "squared hinge": lambda r: np.maximum(0, 1 - r) ** 2,
    "smoothed hinge": lambda r: np.where(r >= 1, 0, np.where(r <= 0, 0.5 - r, 0.5 * (1 - r) ** 2)),
    "insensitive": lambda r: np.maximum(np.abs(r) - 0.5, 0) ** 2,
    "cubic": lambda r: np.where(r < 0, r**2, r**2 + r**3),
}


def _data(n: int) -> Any:
    draw = np.random.default_rng(n)
    a = draw.normal(size=(5 * n, n))
    return a, a @ draw.uniform(-5, 5, n) + 0.3 * draw.standard_t(2, size=5 * n)


@pytest.mark.parametrize("name", LOSSES)
def test_a_regression_with_a_convex_loss_is_closed_at_the_root(name: str) -> None:
    a, y = _data(8)
    result = infimum.minimize(lambda x: np.sum(LOSSES[name](a @ x - y)) + 1e-3 * x @ x, [(-10, 10)] * 8, time_limit=20)
    assert result.success and result.nregions == 1


JUMPS: list[Callable[[Any], Any]] = [
    lambda x: np.where(np.abs(x[0]) <= 1, 0.5 * x[0] ** 2, np.abs(x[0]) - 0.25),  # a step up
    lambda x: np.where(np.abs(x[0]) <= 1, 0.5 * x[0] ** 2, 1.345 * np.abs(x[0]) - 0.5 * 1.345**2),
    lambda x: np.where((x[0] - 1) ** 2 <= 0, 5.0, x[0] ** 2),  # a spike
    lambda x: x[0] ** 2 - (x[0] == 1),
    lambda x: np.where(np.abs(x[0]) <= 0.1 * 3, x[0] ** 2, 0.6 * np.abs(x[0]) - 0.09),  # but for rounding
    lambda x: np.where(x[0] ** 2 <= 2, x[0] ** 2, 2.0),  # at the root of 2
    lambda x: x[0] * (0.25 - (x[0] < 1)),
]


@pytest.mark.parametrize("f", JUMPS)
def test_nothing_is_said_of_what_jumps_or_may_jump(f: Callable[[Any], Any]) -> None:
    assert curve(trace(f, 1, compare=False)) is None


def test_a_span_ends_where_the_function_turns() -> None:
    found = curve(trace(lambda x: np.where(x[0] < 1, x[0] ** 2, 2 * x[0] - 1), 1, compare=False))
    assert found == Curve(EVERYWHERE, ((1.0, math.inf, ""),), ((0.0, math.inf, ""),), ((-math.inf, 0.0, ""),))


def test_other_numbers_for_each_element_are_seen_through_where_they_go_together() -> None:
    y = np.array([0.1, 2.0, -3.0])

    def together(x: Any) -> Any:
        return np.sum(np.where(x - y < -1, -(x - y) - 0.5, np.where(x - y <= 1, 0.5 * (x - y) ** 2, (x - y) - 0.5)))

    def apart(x: Any) -> Any:
        return np.sum(np.where(x < y, (x - y) ** 2, 0.5 * (x - 2 * y) ** 2 - 0.5 * y**2))

    assert trace(together, 3, compare=False).is_convex_everywhere
    assert not trace(apart, 3, compare=False).is_convex_everywhere


def test_a_condition_that_is_a_number_is_read() -> None:
    assert trace(lambda x: np.sum(x * (0.75 - (x < 0))), 3, compare=False).is_convex_everywhere


def test_a_node_is_no_function_of_itself() -> None:
    y = np.array([0.5, -2.0, 3.0])
    assert curve(trace(lambda x: np.sum(np.where(x < y, x, y**2)), 3, compare=False)) is None
    assert not trace(lambda x: np.sum(np.maximum(x * x * x, y)), 3, compare=False).is_convex_everywhere


# --- broken on purpose -----------------------------------------------------------------------------------------------

_RUNS, _ROOTS = module._runs, module._roots


def _with(name: str, how: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(module, name, how)


def _turned(condition: Any, x: Any, y: Any) -> Any:
    return y if condition else x


def _beside(pieces: Any, t: Fraction) -> Any:
    return module._trimmed([module._value(module._at(pieces, t), t)])


def _going_on(cuts: Any, holds: Any, goes_on: Any) -> Any:
    return _RUNS(cuts, holds, [True] * len(cuts))


def _everywhere(cuts: Any, holds: Any, goes_on: Any) -> Any:
    return EVERYWHERE if holds[0] else ()


def _one_root(p: Any) -> Any:
    return _ROOTS(p)[:1]


BROKEN: dict[str, Callable[[Patch], None]] = {
    "pieces that do not meet": _with("_is_continuous", lambda pieces: True),
    "the other branch": _with("_chosen", _turned),
    "the other comparison": _with("_COMPARISONS", {**module._COMPARISONS, "is_less_equal": (False, True, True)}),
    "no value between pieces": _with("_there", _beside),
    "a slope that falls at a place": _with("_runs", _going_on),
    "what holds at first": _with("_runs", _everywhere),
    "one root of two": _with("_roots", _one_root),
    "a lost coefficient": _with("_slope", lambda p: module._trimmed(list(p)[1:])),
}


def jumps() -> bool:
    """Whether something is said of a function that jumps."""
    return any(curve(trace(f, 1, compare=False)) is not None for f in JUMPS)


@pytest.mark.parametrize("part", BROKEN)
def test_a_broken_rule_is_noticed(part: str, monkeypatch: Patch) -> None:
    BROKEN[part](monkeypatch)
    assert checked(range(1000))[0] or jumps(), part


def test_a_span_is_rounded_inward() -> None:
    third, huge, most = Fraction(1, 3), Fraction(10) ** 400, sys.float_info.max
    assert Fraction(module._rounded(third, 1)) >= third >= Fraction(module._rounded(third, -1))
    assert module._rounded(Fraction(1), 1) == 1.0
    assert module._rounded(huge, 1) == math.inf and module._rounded(huge, -1) == most
    assert module._rounded(-huge, 1) == -most and module._rounded(-huge, -1) == -math.inf
    assert module._rounded(Fraction(most) + 1, 1) == math.inf and module._rounded(Fraction(most) + 1, -1) == most


def _beyond(x: Any) -> Any:
    v = np.exp(x[0]) * 1e-200
    return np.minimum(v, 2e150 - v)


def _far(x: Any) -> Any:
    place = infimum.exact("1e400")
    return np.minimum(np.abs(x[0]), 2 * place - np.abs(x[0]))


@pytest.mark.parametrize("contractors", [None, ("level", "convex"), ("level", "dual")])
def test_a_function_that_turns_beyond_the_doubles_is_not_taken_for_convex(contractors: Any) -> None:
    for f, bounds in ((_beyond, (0, 1000)), (_beyond, (709, 900)), (_far, (-math.inf, math.inf))):
        result = infimum.minimize(f, [bounds], contractors=contractors, time_limit=2, max_iter=20)
        assert result.minimum.lo < -1e190
    assert not trace(_far, 1, compare=False).is_convex_everywhere


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.minimum(np.minimum(x[0], 1.7e308) ** 2, x[0]),
        lambda x: np.where((1e-310 * x[0]) ** 2 <= 9, (1e-310 * x[0]) ** 2, 9),
    ],
)
def test_spans_that_no_double_is_in_are_left_out(f: Callable[[Any], Any]) -> None:
    assert infimum.minimize(f, [(-1, 1)], time_limit=5).minimum.lo <= 0


def test_places_that_are_given_for_each_element_are_no_pieces_of_one_function() -> None:
    lo, hi = np.array([-0.5, 0.25]), np.array([0.5, 0.75])
    assert infimum.minimize(lambda x: np.sum(np.clip(x, lo, hi) ** 2) + x[0] * x[0], [(-1, 1)] * 2).success
    assert infimum.minimize(lambda x: np.sum(np.minimum(hi, x * x)), [(-1, 1)] * 2).success

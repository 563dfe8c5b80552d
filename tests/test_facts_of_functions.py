"""Edges of definition: what F.facts claims is true, box by box, against dense sampling in ball arithmetic.

A permanent regression file: the first-order discard trusts `smooth`, and an upper bound trusts `defined`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import exact_values
import infimum
from exact_values import Undecided, told
from infimum.function.function import Function, trace
from infimum.tracing.trace import trace_graph
from traced_objectives import Both

INF = math.inf
TINY = 2.0**-1074
BESIDE_0 = 2.0**-40  # nearer than any other end, but far beyond the reach of a difference quotient
RIGHT_ANGLE = math.pi / 2  # the double below the real number
SMOOTH, KINK, UNDEFINED = (True, True), (True, False), (False, False)
Boxes = list[tuple[Any, tuple[bool, bool]]]


class Case(NamedTuple):
    """A function of one variable with the points where something happens; `sharp`: facts are claimed where true."""

    f: Callable[[Any], Any]
    critical: tuple[float, ...]
    sharp: bool = True


def of_first(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: f(x[0]) + 0.0 * x[0]


CASES = {
    "sqrt(x - 1)": Case(lambda t: np.sqrt(t - 1), (1.0,)),
    "where(x < 0, 10, x)": Case(lambda t: np.where(t < 0, 10, t), (0.0,)),
    "where(x <= 0, 10, x)": Case(lambda t: np.where(t <= 0, 10, t), (0.0,)),
    "where(x > 0, sqrt(x), 0)": Case(lambda t: np.where(t > 0, np.sqrt(t), 0), (0.0,), sharp=False),
    "where(x > 0, log(x), 0)": Case(lambda t: np.where(t > 0, np.log(t), 0), (0.0,), sharp=False),
    "where(x > 0, sqrt(x), 3 x)": Case(lambda t: np.where(t > 0, np.sqrt(t), 3 * t), (0.0,), sharp=False),
    "where(sqrt(x) < 5, x, 2)": Case(lambda t: np.where(np.sqrt(t) < 5, t, 2), (0.0, 25.0), sharp=False),
    "where(floor(x) > 4.5, x, 7)": Case(lambda t: np.where(np.floor(t) > 4.5, t, 7), (5.0,), sharp=False),
    "where(where(x < 0, 9, x) > 4.5, x, 7)": Case(
        lambda t: np.where(np.where(t < 0, 9, t) > 4.5, t, 7), (0.0, 4.5), sharp=False
    ),
    "where(x == 0, 5, x)": Case(lambda t: np.where(t == 0, 5, t), (0.0,)),
    "where(x != 0, 5, x)": Case(lambda t: np.where(t != 0, 5, t), (0.0,)),
    "abs(x)": Case(np.abs, (0.0,)),
    "abs(x) ** 3": Case(lambda t: np.abs(t) ** 3, (0.0,), sharp=False),
    "floor(x)": Case(np.floor, (0.0, 1.0)),
    "ceil(x)": Case(np.ceil, (0.0, 1.0)),
    "trunc(x)": Case(np.trunc, (-1.0, 1.0), sharp=False),
    "rint(x)": Case(np.rint, (0.5, 1.5)),
    "sign(x)": Case(np.sign, (0.0,)),
    "heaviside(x, 0.5)": Case(lambda t: np.heaviside(t, 0.5), (0.0,)),
    "clip(x, -1, 2)": Case(lambda t: np.clip(t, -1, 2), (-1.0, 2.0)),
    "x % 1": Case(lambda t: t % 1, (0.0, 1.0)),
    "x // 1": Case(lambda t: t // 1, (0.0, 1.0)),
    "fmod(x, 1)": Case(lambda t: np.fmod(t, 1.0), (-1.0, 1.0), sharp=False),
    "1 / x": Case(lambda t: 1 / t, (0.0,)),
    "x ** -2": Case(lambda t: t**-2, (0.0,)),
    "log(x)": Case(np.log, (0.0,)),
    "log(x) * 0": Case(lambda t: np.log(t) * 0, (0.0,)),
    "log(x) - log(x)": Case(lambda t: np.log(t) - np.log(t), (0.0,)),
    "log1p(x)": Case(np.log1p, (-1.0,)),
    "x ** 0.5": Case(lambda t: t**0.5, (0.0,)),
    "x ** 1.5": Case(lambda t: t**1.5, (0.0,)),
    "cbrt(x)": Case(np.cbrt, (0.0,)),
    "arcsin(x)": Case(np.arcsin, (-1.0, 1.0)),
    "arccos(x)": Case(np.arccos, (-1.0, 1.0)),
    "arctanh(x)": Case(np.arctanh, (-1.0, 1.0)),
    "arccosh(x)": Case(np.arccosh, (1.0,)),
    "sqrt(x ** 2)": Case(lambda t: np.sqrt(t**2), (0.0,)),
    "max(x, 0)": Case(lambda t: np.maximum(t, 0), (0.0,)),
    "max(x, 0) ** 2": Case(lambda t: np.maximum(t, 0) ** 2, (0.0,), sharp=False),
    "sqrt(max(x, 0))": Case(lambda t: np.sqrt(np.maximum(t, 0)), (0.0,), sharp=False),
    "min(x, 1, 2 - x)": Case(lambda t: np.min(np.array([t, 0.75, 2 - t])), (0.75, 1.25)),
    "(x > 1) * x": Case(lambda t: (t > 1) * t, (1.0,)),
    "sqrt(x) * (x > 1)": Case(lambda t: np.sqrt(t) * (t > 1), (0.0, 1.0)),
    "where(log(x) < 0, 1, x)": Case(lambda t: np.where(np.log(t) < 0, 1, t), (0.0, 1.0), sharp=False),
    "select": Case(lambda t: np.select([t < -1, t < 1], [np.log(-t), t * t], 1.0), (-1.0, 1.0), sharp=False),
    "where(not x < 1, sqrt(x - 1), x)": Case(
        lambda t: np.where(np.logical_not(t < 1), np.sqrt(t - 1), t), (1.0,), sharp=False
    ),
}


def ends(critical: tuple[float, ...]) -> list[float]:
    """Ends of boxes: the critical points, the doubles beside them, and some further away."""
    found = set()
    for c in critical:
        below, above = (math.nextafter(c, -INF), math.nextafter(c, INF)) if c else (-BESIDE_0, BESIDE_0)
        found |= {c, below, above, c - 0.25, c + 0.25, c - 1.0, c + 0.125}
    return sorted(found)


def truth(both: Both, lo: list[float], hi: list[float], extra: list[tuple[float, ...]]) -> tuple[bool, bool]:
    """Whether every sample of the box is defined, and differentiable from all sides."""
    sides = [sorted({a, b, 0.5 * a + 0.5 * b, min(b, 0.25 * a + 0.75 * b)}) for a, b in zip(lo, hi, strict=True)]
    inside = [p for p in extra if all(a <= v <= b for a, v, b in zip(lo, p, hi, strict=True))]
    defined = smooth = True
    for x in [*itertools.product(*sides), *inside]:
        try:
            defined = defined and exact_values.value(both.raw, x) is not None
            smooth = smooth and defined and None not in exact_values.gradient(both.raw, x)
        except Undecided:
            continue
    return defined, smooth


def false_claims(case: Case) -> list[str]:
    """Boxes where a fact is claimed that samples contradict, or, if sharp, where a true one is not claimed."""
    f = of_first(case.f)
    both = Both(trace_graph(f, 1).output, trace(f, 1))
    grid = ends(case.critical)
    bad = []
    for lo, hi in itertools.combinations_with_replacement(grid, 2):
        found = tuple(both.function.facts([(lo, hi)]))
        true = truth(both, [lo], [hi], [(c,) for c in case.critical])
        claimed = (found[0] and not true[0]) or (found[1] and not true[1])
        missed = case.sharp and found != true
        if claimed or missed:
            bad.append(f"[{lo.hex()}, {hi.hex()}]: claimed {found}, true {true}")
    return bad


@pytest.mark.parametrize("name", CASES)
def test_what_is_claimed_is_true_and_what_is_true_is_claimed(name: str) -> None:
    assert false_claims(CASES[name]) == []


# --- values to be read -----------------------------------------------------------------------------------------------

EXPECTED: list[tuple[str, Callable[[Any], Any], int, Boxes]] = [
    ("sqrt(x - 1): the minimiser 1 must survive", lambda x: np.sqrt(x[0] - 1), 1, [
        ([(0, 3)], UNDEFINED), ([(1, 3)], KINK), ([(1.5, 3)], SMOOTH), ([(0, 0.5)], UNDEFINED), ([(1, 1)], KINK)]),
    ("where(x < 0, 10, x)", lambda x: np.where(x[0] < 0, 10, x[0]), 1, [
        ([(-1, 1)], KINK), ([(0, 1)], KINK), ([(-1, 0)], KINK), ([(-1, -TINY)], SMOOTH), ([(TINY, 1)], SMOOTH)]),
    ("abs", lambda x: np.abs(x[0]), 1, [([(-1, 1)], KINK), ([(0, 1)], KINK), ([(TINY, 1)], SMOOTH)]),
    ("floor", lambda x: np.floor(x[0]), 1, [
        ([(0.25, 0.75)], SMOOTH), ([(0, 0.5)], KINK), ([(0.5, 1)], KINK), ([(0.5, 1.5)], KINK)]),
    ("1/x", lambda x: 1 / x[0], 1, [
        ([(-1, 1)], UNDEFINED), ([(0, 1)], UNDEFINED), ([(TINY, 1)], SMOOTH), ([(-1, -TINY)], SMOOTH)]),
    ("log near 0", lambda x: np.log(x[0]), 1, [
        ([(0, 1)], UNDEFINED), ([(TINY, INF)], SMOOTH), ([(-1, 1)], UNDEFINED), ([(-2, -1)], UNDEFINED)]),
    ("tan around its pole", lambda x: np.tan(x[0]), 1, [
        ([(0, 1.5)], SMOOTH), ([(0, RIGHT_ANGLE)], SMOOTH), ([(1, 2)], UNDEFINED),
        ([(RIGHT_ANGLE, math.nextafter(RIGHT_ANGLE, 2))], UNDEFINED), ([(math.nextafter(RIGHT_ANGLE, 2), 3)], SMOOTH)]),
    ("arcsin near 1", lambda x: np.arcsin(x[0]), 1, [
        ([(0, 1)], KINK), ([(0, math.nextafter(1, 0))], SMOOTH), ([(0, math.nextafter(1, 2))], UNDEFINED)]),
    ("nested conditions", lambda x: np.where(x[0] > 0, np.where(x[1] > 1, np.log(x[0]), np.sqrt(x[1])), -x[1]), 2, [
        ([(1, 2), (2, 3)], SMOOTH), ([(1, 2), (0.5, 0.75)], SMOOTH), ([(1, 2), (0, 0.5)], KINK),
        ([(1, 2), (-1, -0.5)], UNDEFINED), ([(-2, -1), (-3, 3)], SMOOTH), ([(-1, 1), (2, 3)], UNDEFINED),
        ([(-1, 0), (2, 3)], KINK), ([(1, 2), (0.5, 1)], KINK), ([(1, 2), (0.5, 2)], KINK)]),
    ("max of several", lambda x: np.max(x), 3, [
        ([(2, 3), (0, 1), (0, 1)], SMOOTH), ([(2, 3), (0, 2), (0, 1)], KINK), ([(0, 1), (0, 1), (2, 3)], SMOOTH),
        ([(0, 1), (0, 1), (0, 1)], KINK), ([(1, 1), (0, 0), (0, 0)], SMOOTH), ([(1, 1), (1, 1), (0, 0)], KINK)]),
    ("min of several, one of them partial", lambda x: np.min(np.sqrt(x)), 2, [
        ([(4, 5), (1, 2)], SMOOTH), ([(4, 5), (0, 2)], KINK), ([(4, 5), (-1, 2)], UNDEFINED),
        ([(0, 1), (2, 3)], KINK)]),
    ("any", lambda x: np.where(np.any(x > 1), 5.0, x[0]), 2, [
        ([(2, 3), (-9, 9)], SMOOTH), ([(0, 0.5), (0, 0.5)], SMOOTH), ([(0, 2), (0, 2)], KINK),
        ([(0, 1), (0, 0.5)], KINK), ([(1, 1), (0, 0)], KINK), ([(2, 3), (1, 1)], SMOOTH)]),
    ("all", lambda x: np.where(np.all(x > 1), 5.0, x[0]), 2, [
        ([(2, 3), (2, 3)], SMOOTH), ([(0, 0.5), (-9, 9)], SMOOTH), ([(2, 3), (0, 2)], KINK), ([(2, 3), (1, 2)], KINK)]),
    ("and of conditions", lambda x: np.where((x[0] > 0) & (x[1] > 0), x[0], -1.0), 2, [
        ([(1, 2), (1, 2)], SMOOTH), ([(-2, -1), (-1, 1)], SMOOTH), ([(0, 1), (1, 2)], KINK),
        ([(1, 2), (-1, 1)], KINK)]),
    ("a condition on what is partial", lambda x: np.where((x[0] > 0) & (np.sqrt(x[1]) < 5), x[0], -1.0), 2, [
        ([(1, 2), (1, 4)], SMOOTH), ([(1, 2), (0, 4)], KINK), ([(1, 2), (-1, 4)], UNDEFINED),
        ([(-2, -1), (-1, 4)], UNDEFINED), ([(-2, -1), (0, 4)], KINK)]),
    ("a jump in what is compared", lambda x: np.where(np.floor(x[0]) > 4.5, x[0], 7.0), 1, [
        ([(5.25, 5.5)], SMOOTH), ([(5, 5.5)], KINK), ([(4.5, 4.75)], SMOOTH)]),
    ("norm", lambda x: np.linalg.norm(x), 2, [
        ([(-1, 1), (1, 2)], SMOOTH), ([(-1, 1), (-1, 1)], KINK), ([(0, 0), (0, 0)], KINK), ([(0, 1), (0, 1)], KINK)]),
    ("the same variable twice", lambda x: x[0] - x[0] + np.log(x[1]) * 0, 2, [
        ([(-INF, INF), (1, 2)], SMOOTH), ([(0, 1), (0, 2)], UNDEFINED)]),
    ("pow with a variable exponent", lambda x: x[0] ** x[1], 2, [
        ([(1, 2), (-1, 1)], SMOOTH), ([(0, 2), (1, 2)], KINK), ([(0, 2), (0, 2)], UNDEFINED),
        ([(-1, 2), (1, 2)], UNDEFINED)]),
    ("arctan2 across its cut", lambda x: np.arctan2(x[1], x[0]), 2, [
        ([(1, 2), (-1, 1)], SMOOTH), ([(-2, -1), (1, 2)], SMOOTH), ([(-2, -1), (-1, 1)], KINK),
        ([(-2, -1), (0, 1)], KINK), ([(-1, 1), (-1, 1)], UNDEFINED)]),
    ("mod by a variable", lambda x: x[0] % x[1], 2, [
        ([(0.25, 0.5), (1, 2)], SMOOTH), ([(0, 0.5), (1, 2)], KINK), ([(1, 2), (-1, 1)], UNDEFINED)]),
    ("a sum has the facts of its worst term", lambda x: np.sum(np.sqrt(x)), 3, [
        ([(1, 2), (1, 2), (1, 2)], SMOOTH), ([(1, 2), (0, 2), (1, 2)], KINK), ([(1, 2), (1, 2), (-1, 2)], UNDEFINED)]),
    ("what is not read does not count", lambda x: np.sqrt(x)[1:].sum(), 2, [
        ([(-2, -1), (1, 2)], SMOOTH), ([(1, 2), (-2, -1)], UNDEFINED)]),
    ("infinite boxes", lambda x: np.exp(-x[0] ** 2) + np.sqrt(x[1] ** 2 + 1), 2, [
        ([(-INF, INF), (-INF, INF)], SMOOTH)]),
    ("cumulative sums", lambda x: np.cumsum(np.sqrt(x))[-1], 2, [
        ([(1, 2), (1, 2)], SMOOTH), ([(0, 2), (1, 2)], KINK), ([(-1, 2), (1, 2)], UNDEFINED)]),
    ("discontinuous on a tiny cube", lambda x: np.where(np.all(np.abs(x - 1.5) <= 0.5), -1.0, np.sum(x * x)), 2, [
        ([(0, 3), (3, 4)], SMOOTH), ([(1.25, 1.75), (1.25, 1.75)], SMOOTH), ([(1, 2), (1, 2)], KINK),
        ([(0, 1), (1.25, 1.75)], KINK), ([(0, 0.75), (1, 2)], SMOOTH)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "f", "n", "boxes"), EXPECTED, ids=[row[0] for row in EXPECTED])
def test_facts_are_these(name: str, f: Any, n: int, boxes: Boxes) -> None:
    function = trace(f, n)
    found = [(box, tuple(function.facts(box))) for box, _ in boxes]
    assert found == boxes


@pytest.mark.parametrize(("name", "f", "n", "boxes"), EXPECTED, ids=[row[0] for row in EXPECTED])
def test_facts_of_many_variables_agree_with_sampling(name: str, f: Any, n: int, boxes: Boxes) -> None:
    both = Both(trace_graph(f, n).output, trace(f, n))
    for box, _ in boxes:
        if not np.isfinite(box).all() or TINY in np.abs(box):
            continue
        found = both.function.facts(box)
        defined, smooth = truth(both, [a for a, _ in box], [b for _, b in box], [])
        assert defined or not found.defined, box
        assert smooth or not found.smooth, box


def test_smooth_implies_defined() -> None:
    for _, f, n, boxes in EXPECTED:
        facts = trace(f, n).facts(np.array([box for box, _ in boxes], float))
        assert not np.any(np.asarray(facts.smooth) & ~np.asarray(facts.defined))


# --- slopes where something happens ----------------------------------------------------------------------------------

KINKS: list[tuple[str, Callable[[Any], Any], list[tuple[tuple[float, float], tuple[float, float]]]]] = [
    ("abs", lambda x: np.abs(x[0]), [((0, 0), (-1, 1)), ((0, 1), (-1, 1)), ((-1, 1), (-1, 1)), ((1, 2), (1, 1))]),
    ("max(x, -x)", lambda x: np.maximum(x[0], -x[0]), [((0, 0), (-1, 1)), ((0, 1), (-1, 1)), ((1, 2), (1, 1))]),
    ("max(x, 0)", lambda x: np.maximum(x[0], 0), [((0, 0), (0, 1)), ((0, 1), (0, 1)), ((-1, 0), (0, 1))]),
    ("max(x, abs(x)), equal for x > 0", lambda x: np.maximum(x[0], np.abs(x[0])),
     [((1, 1), (1, 1)), ((-2, -1), (-1, -1))]),
    ("the smallest of twins", lambda x: np.min(np.array([x[0], x[0], 5.0])), [((1, 1), (1, 1)), ((6, 7), (0, 0))]),
    ("where(x > 0, sqrt(x), 3 x)", lambda x: np.where(x[0] > 0, np.sqrt(x[0]), 3 * x[0]), [((-2, -1), (3, 3))]),
    ("where(x > 0, x sqrt(x), 3 x)", lambda x: np.where(x[0] > 0, np.sqrt(x[0]) * x[0], 3 * x[0]),
     [((-2, -1), (3, 3))]),
    ("where(x > 0, prod(log), 3 x)", lambda x: np.where(x[0] > 0, np.prod(np.log(x[0] * np.arange(2, 6))), 3 * x[0]),
     [((-2, -1), (3, 3))]),

        ("where(x > 0, cumprod, 3 x)",
     lambda x: np.where(x[0] > 0, np.cumprod(np.sqrt(x[0] * np.arange(2, 6)))[-1], 3 * x[0]),
     [((-2, -1), (3, 3))]),
    ("where(x > 0, where(sqrt(x) < 1, 1, x), 3 x)",
     lambda x: np.where(x[0] > 0, np.where(np.sqrt(x[0]) < 1, 1, x[0]), 3 * x[0]), [((-2, -1), (3, 3))]),
    ("sqrt(max(x, 0)), constant for x < 0", lambda x: np.sqrt(np.maximum(x[0], 0)),
     [((-2, -1), (0, 0)), ((4, 4), (0.25, 0.25))]),
    ("cbrt of a constant 0", lambda x: np.cbrt(np.maximum(x[0], 0)), [((-2, -1), (0, 0))]),
    ("hypot of constants 0", lambda x: np.hypot(np.maximum(x[0], 0), 0 * x[0]), [((-2, -1), (0, 0))]),
    ("arcsin of a constant 1", lambda x: np.arcsin(np.minimum(x[0], 1)), [((2, 3), (0, 0))]),
    ("arccosh of a constant 1", lambda x: np.arccosh(np.maximum(x[0], 1)), [((-3, -2), (0, 0))]),
    ("a power of a constant 0", lambda x: np.maximum(x[0], 0) ** (2 + x[0]), [((-1, -0.5), (0, 0))]),
    ("a root of a constant 0", lambda x: np.maximum(x[0], 0) ** 0.3, [((-1, -0.5), (0, 0))]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "f", "slopes"), KINKS, ids=[row[0] for row in KINKS])
def test_slopes_contain_the_hull_of_all_slopes_nearby(name: str, f: Any, slopes: Any) -> None:
    function = trace(f, 1)
    for box, (least, most) in slopes:
        found = function.gradient([box])
        lo, hi = float(found.lo[0]), float(found.hi[0])
        assert lo <= least <= most <= hi, f"{told(box)}: [{lo.hex()}, {hi.hex()}]"


@pytest.mark.parametrize(
    ("f", "n"),
    [
        *[(lambda x: np.linalg.norm(x), 2), (lambda x: np.hypot(x[0], x[1]), 2), (lambda x: np.cbrt(x[0]), 1)],
        *[(lambda x: np.sqrt(x[0]), 1), (lambda x: x[0] ** 0.5, 1), (lambda x: x[0] ** 0.3, 1)],
    ],
)
def test_a_defined_point_never_has_an_empty_gradient(f: Any, n: int) -> None:
    function = trace(f, n)
    origin = [(0.0, 0.0)] * n
    assert function.facts(origin) == KINK
    found = function.gradient(origin)
    assert (found.lo <= found.hi).all()
    assert not np.isnan(function.value_and_gradient(np.zeros(n))[1]).any()


def test_plain_gradients_ignore_the_branch_not_taken() -> None:
    function = trace(lambda x: np.where(x[0] > 0, np.sqrt(x[0]), 3 * x[0]), 1)
    value, slope = function.value_and_gradient([-2.0])
    assert (value, slope.tolist()) == (-6.0, [3.0])


def test_gradients_of_smooth_boxes_are_never_empty() -> None:
    rows: list[tuple[Function, Any]] = [
        (trace(f, n), box) for _, f, n, boxes in EXPECTED for box, fact in boxes if fact == SMOOTH
    ]
    assert len(rows) > 40
    for function, box in rows:
        found = function.gradient(box)
        assert (found.lo <= found.hi).all(), (function, box)


def test_the_double_pi_is_not_pi() -> None:
    rounded = trace(lambda x: np.where(x[0] < np.pi, 1.0, 2.0), 1)
    exact = trace(lambda x: np.where(x[0] < infimum.pi, 1.0, 2.0), 1)
    here, below = [(math.pi, math.pi)], [(3.0, math.nextafter(math.pi, 3))]
    assert rounded.enclose(here).lo == 2.0 and rounded.facts(here) == KINK
    assert exact.enclose(here).lo == 1.0, "the double lies below the number"
    assert rounded.facts(below) == exact.facts(below) == SMOOTH

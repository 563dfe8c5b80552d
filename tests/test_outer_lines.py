"""Lines are below their outer functions, no point up to the upper bound is lost, and each rule broken is noticed."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
import pytest

import infimum
from claims import Claim, Truth, falsehoods
from composed_functions import PHI, composed_function, planted_outer
from contractions import Applied, boxes_around, missing
from infimum.boxes import Boxes, FloatArray
from infimum.contractors import Known
from infimum.contractors.dual import dual
from infimum.contractors.outer import contractor, pieces
from infimum.contractors.outer.contractor import OuterLines
from infimum.contractors.outer.pieces import CONCAVE, CONVEX, NEITHER, Piece
from infimum.contractors.outer.under import Under
from infimum.domain import read_bounds
from infimum.function.composed import SlantedLines, outer_functions
from infimum.function.function import Function, trace
from infimum.passes.outer import composed, lines
from random_functions import RandomFunction
from test_contractors import known_points

Patch = pytest.MonkeyPatch
SEEDS = range(40)

# --- lines below outer functions -------------------------------------------------------------------------------------

ALONE = {name: RandomFunction(name, phi.of(("x", 0)), ((-math.inf, math.inf),)) for name, phi in PHI.items()}
RANGES = [
    (-3.0, 2.0),
    (0.0, 1.0),
    (0.0, 30.0),
    (0.3, 2.5),
    (-1.0, 1e-3),
    (1.0, 1.0),
    (0.7, 0.8),
    (-40.0, 50.0),
    (2.0, 6.0),
]


def above_their_functions(name: str) -> list[str]:
    """Lines that are somewhere above the outer function, whatever is known of its pieces, touching anywhere."""
    phi = trace(ALONE[name], 1)
    return [
        line
        for parts in (pieces.pieces(phi), [Piece(-math.inf, math.inf, NEITHER)])
        for ends in RANGES
        for line in _lines_above(ALONE[name], Under(phi, parts), *ends)
    ]


def _lines_above(f: RandomFunction, below: Under, lo: float, hi: float) -> list[str]:
    draw = np.random.default_rng(3)
    slope = np.concatenate([[0.0, 1.0, -1.0], 3 * draw.normal(size=5), 100 * draw.normal(size=2)])
    touching = []
    for _ in below.pieces:
        t = draw.uniform(lo, hi, slope.size)
        touching.append((t, np.minimum(hi, t + draw.choice([0.0, 0.3, 10.0], slope.size))))
    intercept = below.intercepts(np.full_like(slope, lo), np.full_like(slope, hi), slope, touching)
    points = np.concatenate([[lo, hi, min(max(0.0, lo), hi)], draw.uniform(lo, hi, 60)])
    known = [(u, v) for u in points.tolist() if (v := f.value([u])) is not None]
    lines_of = zip(slope.tolist(), intercept.tolist(), strict=True)
    return [
        f"{f.name}: {s} u + {a} at {u.hex()}"
        for s, a in lines_of
        for u, v in known
        if not v - flint.arb(s) * flint.arb(u) >= a
    ]


@pytest.mark.parametrize("name", PHI)
def test_lines_are_below_their_outer_functions(name: str) -> None:
    assert not above_their_functions(name)


def bent_otherwise(name: str) -> list[str]:
    """Three points in a row of a piece that is said to be convex (concave) and is not."""
    f = ALONE[name]
    draw = np.random.default_rng(4)
    found = []
    for piece in pieces.pieces(trace(f, 1)):
        if piece.bend == NEITHER:
            continue
        lo, hi = max(piece.lo, -50.0), min(piece.hi, 50.0)
        if lo > hi:
            continue
        for _ in range(40):
            u, w = (lo, hi) if draw.random() < 0.1 else np.sort(draw.uniform(lo, hi, 2)).tolist()
            values = [f.value([t]) for t in (u, 0.5 * u + 0.5 * w, w)]
            if None in values:
                if piece.bend == CONCAVE and piece.hi < math.inf and piece.lo > -math.inf:
                    found.append(f"{piece}: not defined between {u} and {w}")
                continue
            share = flint.arb(0) if u == w else (flint.arb(0.5 * u + 0.5 * w) - u) / (flint.arb(w) - u)
            above = values[1] - (1 - share) * values[0] - share * values[2]
            if piece.bend * above > 1e-9 * (1 + abs(values[0]) + abs(values[2])):
                found.append(f"{piece}: {u}, {w}")
    return found


@pytest.mark.parametrize("name", PHI)
def test_pieces_bend_as_they_say(name: str) -> None:
    assert not bent_otherwise(name)


@pytest.mark.parametrize(
    ("name", "bends"),
    [
        ("magnitude", [CONVEX]),
        ("exponential", [CONVEX]),
        ("softplus", [CONVEX]),
        ("entropy", [CONVEX]),
        ("minus logarithm", [CONVEX]),
        ("fourth power", [CONVEX]),
        ("step", [CONVEX, CONCAVE]),
        ("cube", [CONCAVE, CONVEX]),
    ],
)
def test_outer_functions_have_few_pieces(name: str, bends: list[int]) -> None:
    assert [piece.bend for piece in pieces.pieces(trace(ALONE[name], 1))] == bends


def test_a_pair_potential_is_convex_up_to_its_inflection_and_concave_beyond() -> None:
    found = pieces.pieces(trace(ALONE["pair"], 1), 0.0, 100.0)
    inflection = 1.75 ** (1 / 3)
    assert [piece.bend for piece in found] == [NEITHER, CONVEX, NEITHER, CONCAVE]
    assert found[0].hi < 1e-15
    assert found[1].hi < inflection < found[2].hi < found[1].hi + 1e-4


@pytest.mark.parametrize("name", PHI)
def test_good_lines_touch(name: str) -> None:
    """Over a narrow range the line is as close as the square of its width."""
    f = ALONE[name]
    phi = trace(f, 1)
    parts = pieces.pieces(phi)
    slopes = contractor.Slopes(phi, parts)
    lo, hi, u = np.array([0.9]), np.array([0.91]), np.array([0.905])
    s = slopes.best(u, lo, hi)
    a = Under(phi, parts).intercepts(lo, hi, s, slopes.touching(s, lo, hi))
    assert 0 <= phi(u[:, None])[0] - (s * u + a)[0] < 1e-2


# --- boxes -----------------------------------------------------------------------------------------------------------

drawn = cache(composed_function)
points_of = cache(known_points)


def claims(seeds: Any = SEEDS) -> tuple[list[str], int]:
    """False claims about random functions: points up to upper that are removed, bounds above a value; and the boxes."""
    found, count = [], 0
    for seed in seeds:
        f = drawn(seed)
        domain = read_bounds(f.bounds, f.n)
        function = trace(f, f.n, box=(domain.lo, domain.hi))
        made = dual(function)
        x, values = points_of(f, seed)
        if not isinstance(made, OuterLines) or not len(x):
            continue
        for size in range(2):
            lo, hi = boxes_around(x, f.bounds, seed + 1000 * size)
            upper = np.array([math.nextafter(float(v.upper()), math.inf) for v in values])
            for limit in (upper, np.full(len(x), np.inf)):
                kept = Applied(made, function, domain).boxes(lo, hi, limit)
                found += [f"{f.name}: {m}" for m in missing(x, kept.ends)]
                found += [f"{f.name}: {b.hex()}" for b, v in zip(kept.lower, values, strict=True) if not v >= b]
            count += len(x)
    return found, count


def test_no_point_up_to_the_upper_bound_is_lost_and_no_bound_is_above_a_value() -> None:
    found, count = claims()
    assert not found
    assert count > 500


def beyond_their_ranges(seed: int) -> list[str]:
    """Points up to the upper bound at which an argument lies outside the range that its line is taken over."""
    f = drawn(seed)
    domain = read_bounds(f.bounds, f.n)
    made = dual(trace(f, f.n, box=(domain.lo, domain.hi)))
    x, values = points_of(f, seed)
    if not isinstance(made, OuterLines) or not len(x):
        return []
    upper = np.array([math.nextafter(float(v.upper()), math.inf) for v in values])
    box = boxes_around(x, f.bounds, seed)
    (lo, hi), impossible = made._ranges(box, made.outer.lines.most(upper), 1)
    low, high = made.outer.arguments.ends(x, x)
    out = impossible | ((high < lo) | (low > hi)).any(axis=1)
    return [f"{f.name}: {x[i].tolist()}" for i in np.flatnonzero(out)]


@pytest.mark.parametrize("seed", SEEDS)
def test_arguments_of_points_up_to_the_upper_bound_lie_in_their_ranges(seed: int) -> None:
    assert not beyond_their_ranges(seed)


def _no_slope(self: Under, box: Any, s: FloatArray) -> Any:
    return np.zeros_like(s), np.zeros_like(s)


def _slope_of_the_middle(self: Under, box: Any, s: FloatArray) -> Any:
    middle = 0.5 * box[0] + 0.5 * box[1]
    return _SLOPE(self, (middle, middle), s)


def _always_convex(phi: Function, lo: FloatArray, hi: FloatArray) -> Any:
    return np.where(_BY_CURVATURE(phi, lo, hi) != NEITHER, CONVEX, NEITHER)


def _turned(phi: Function, lo: FloatArray, hi: FloatArray) -> Any:
    return -_BY_CURVATURE(phi, lo, hi)


def _defined_or_not(phi: Function, lo: FloatArray, hi: FloatArray) -> Any:
    convex, concave = phi.shape_arrays(lo[:, None], hi[:, None])
    return np.where(convex, CONVEX, np.where(concave, CONCAVE, NEITHER))


def _narrow(self: OuterLines, *rest: Any) -> Any:
    (lo, hi), impossible = _RANGES(self, *rest)
    return (np.clip(0.75 * lo, lo, hi), np.clip(0.75 * hi, lo, hi)), impossible


def _all_of_them(place: Any, most: FloatArray, rest: FloatArray, least: FloatArray) -> FloatArray:
    return _LIMITS(place, most, rest, least) - np.abs(least)


def _of_the_centre(self: SlantedLines, lo: FloatArray, hi: FloatArray, c: FloatArray, *rest: Any, **more: Any) -> Any:
    return _ENDS(self, c, c, c, *rest, **more)


def _no_second_tangent(self: Under, bend: int, box: Any, s: FloatArray, t: Any) -> FloatArray:
    return self._value(t[0], s) if bend == CONVEX else _LEAST(self, bend, box, s, t)


def _higher(self: Under, *given: Any) -> FloatArray:
    found = _INTERCEPTS(self, *given)
    return np.where(np.isfinite(found), found + 1e-3 * (1 + np.abs(found)), found)


def _one_end(self: Under, bend: int, box: Any, s: FloatArray, t: Any) -> FloatArray:
    return self._value(box[0], s) if bend == CONCAVE else _LEAST(self, bend, box, s, t)


_SLOPE, _LEAST, _INTERCEPTS = Under._slope, Under._least, Under.intercepts
_BY_CURVATURE, _RANGES, _LIMITS, _ENDS = (
    pieces._by_curvature, OuterLines._ranges, contractor._all_but_one, SlantedLines.slanted_ends,
)  # fmt: skip


def _with(owner: Any, name: str, how: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, how)


# What is broken, and how.
MUTANTS: dict[str, Callable[[Patch], None]] = {
    "the slope's sign": _with(
        lines, "slanted", lambda b, u, s, a: b.apply("add", b.apply("neg", b.apply("mul", s, u)), a)
    ),
    "no intercept": _with(lines, "slanted", lambda b, u, s, a: b.apply("mul", s, u)),
    "the intercept's sign": _with(lines, "slanted", lambda b, u, s, a: b.apply("sub", b.apply("mul", s, u), a)),
    "an intercept too high": _with(Under, "intercepts", _higher),
    "a touching point is believed": _with(Under, "_least", _no_second_tangent),
    "no slope is left at a touching point": _with(Under, "_slope", _no_slope),
    "slopes of the middle on a range": _with(Under, "_slope", _slope_of_the_middle),
    "one end of a concave piece": _with(Under, "_least", _one_end),
    "what bends is convex": _with(pieces, "_by_curvature", _always_convex),
    "the curvature's sign": _with(pieces, "_by_curvature", _turned),
    "a concave piece has gaps": _with(pieces, "_by_rules", _defined_or_not),
    "the range is too small": _with(OuterLines, "_ranges", _narrow),
    "the others may be too low": _with(contractor, "_all_but_one", _all_of_them),
    "the centre for the box": _with(SlantedLines, "slanted_ends", _of_the_centre),
    "H is forgotten on the way in": _with(SlantedLines, "most", lambda self, upper: upper),
    "H is forgotten on the way out": _with(SlantedLines, "least", lambda self, lower: lower),
    "the rest is forgotten": _with(
        lines, "moved", lambda b, nodes, n, start: [_MOVED(b, nodes, n, start)[0], b.number(0)][: len(nodes)]
    ),
    "a sum of terms is its first": _with(
        composed._Gathering, "_phi", lambda self, members, at: _PHI(self, members[:1], at)
    ),
}
_MOVED, _PHI = lines.moved, composed._Gathering._phi


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_broken_is_noticed(name: str, monkeypatch: Patch) -> None:
    MUTANTS[name](monkeypatch)
    assert any(above_their_functions(each) or bent_otherwise(each) for each in PHI) or any(
        beyond_their_ranges(seed) or claims([seed])[0] for seed in SEEDS
    )


# --- whole problems --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_no_box_with_a_planted_minimiser_is_discarded(seed: int) -> None:
    f, minimum = planted_outer(seed)
    truth = Truth(f.bounds, Fraction(minimum), [list(f.minimiser or ())])
    for iterations in (3, 8, 12):
        result = infimum.minimize(f, f.bounds, max_iter=iterations, threads=1, contractors=("level", "dual"))
        assert not falsehoods(Claim.of(result), truth)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(20, 300))
def test_no_box_with_a_planted_minimiser_is_discarded_by_any_of_the_contractors(seed: int) -> None:
    f, minimum = planted_outer(seed)
    truth = Truth(f.bounds, Fraction(minimum), [list(f.minimiser or ())])
    for options in ({"contractors": ("level", "dual")}, {}):
        result = infimum.minimize(f, f.bounds, max_iter=25, threads=1, time_limit=20, **options)
        assert not falsehoods(Claim.of(result), truth)


@pytest.mark.torture
def test_no_claim_about_many_random_functions_is_false() -> None:
    found, _ = claims(range(50, 2000))
    assert not found


def test_four_atoms_in_other_words_are_closed() -> None:
    def energy(x: Any) -> Any:
        atoms = np.concatenate([np.zeros(3), [x[0], 0, 0], [x[1], x[2], 0], x[3:6]]).reshape(4, 3)
        apart = [np.sum((atoms[i] - atoms[j]) ** 2) for i in range(4) for j in range(i)]
        return sum(1 / q**6 - 2 / q**3 for q in apart)

    result = infimum.minimize(energy, [(0.5, 2), (-2, 2), (0, 2), (-2, 2), (-2, 2), (0, 2)], threads=1, time_limit=60)
    assert result.success
    assert result.minimum.lo <= -6.0 <= result.minimum.hi


# --- what is seen ----------------------------------------------------------------------------------------------------

A = np.array([[1.0, 2.0, 0.5], [-1.0, 1.0, 2.0], [0.3, -0.7, 1.0], [2.0, 1.0, -1.0]])
W = np.array([1.0, 2.0, 0.5, 3.0])


def _distances(x: Any) -> Any:
    return [(x[0] - x[1]) ** 2 + x[2] ** 2, (x[1] - x[2]) ** 2 + x[0] ** 2]


# name: the function, how many kinds, how many arguments
SPELLINGS: dict[str, tuple[Callable[[Any], Any], int, int]] = {
    "pairs": (lambda x: sum(4 * (1 / q**6 - 1 / q**3) for q in _distances(x)), 1, 2),
    "pairs, powers": (lambda x: sum(q**-6.0 - 2 * q**-3.0 for q in _distances(x)), 1, 2),
    "pairs, and one of one variable": (
        lambda x: sum(1 / q**6 - 1 / q**3 for q in [*_distances(x), x[0] ** 2 + 1]), 1, 3,
    ),
    "bonds": (
        lambda x: sum(np.exp(-2 * (np.sqrt(q) - 1)) - 2 * np.exp(-(np.sqrt(q) - 1)) for q in _distances(x)), 1, 2,
    ),
    "bonds as arrays": (lambda x: np.sum(np.exp(-2 * (A @ x)) - 2 * np.exp(-(A @ x))), 1, 4),
    "bonds of several strengths": (lambda x: np.sum(W * np.exp(-2 * (A @ x)) - np.exp(-W * (A @ x))), 4, 4),
    "arrays and numbers": (lambda x: np.sum(np.exp(W * (x[0] * x[1])) / W) + 1 / (x[0] * x[1]), 1, 1),
    "logistic": (lambda x: np.mean(np.log(1 + np.exp(A @ x))), 1, 4),
    "logistic with ridge": (lambda x: np.mean(np.log(1 + np.exp(A @ x))) + np.sum(x**2), 2, 7),
    "magnitudes and squares": (lambda x: np.sum(np.abs(A @ x - 1)) + np.sum((x[1:] * x[:-1] - 1) ** 2), 2, 6),
    "entropies": (lambda x: np.sum((A**2 @ x) * np.log(A**2 @ x)), 1, 4),
    "barriers under a root": (lambda x: np.sqrt(9 - np.sum(np.log(A**2 @ x))), 1, 4),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_of_outer_functions_is_seen(name: str) -> None:
    f, kinds, size = SPELLINGS[name]
    function = trace(f, 3)
    found = outer_functions(function)
    assert found is not None
    assert (len(found.kinds), found.kind_of.size) == (kinds, size)
    points = np.random.default_rng(6).uniform(0.4, 1.5, (7, 3))
    arguments, rest, _ = found.arguments.values_and_rest(points)
    total = rest + sum(np.asarray(found.kinds[kind](arguments[:, [j]])) for j, kind in enumerate(found.kind_of))
    np.testing.assert_allclose(found.lines.least(total), function(points), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum((A @ x - 1) ** 2),
        lambda x: np.sum(np.exp(x)) + x[0] * x[1],
        lambda x: np.exp(x[0] + x[1]) + x[2] ** 2,
        lambda x: np.sum(np.tanh(x)) - np.sum((A @ x) ** 2),
    ],
)
def test_squares_and_what_is_not_coupled_are_left_to_others(f: Callable[[Any], Any]) -> None:
    assert contractor.outer_lines(trace(f, 3)) is None


def contracted(f: Callable[[Any], Any], n: int, box: tuple[float, float], upper: float) -> FloatArray:
    """The lower bound of one box, by a contractor that is called directly."""
    function = trace(f, n)
    made = dual(function)
    assert made is not None
    boxes = Boxes(np.full((1, n), box[0]), np.full((1, n), box[1]))
    found = made.contract(boxes, Known(function, read_bounds([(-9, 9)] * n), upper))
    return np.where(found.is_empty(), np.inf, found.lower)


def test_a_level_that_is_never_reached_empties_and_breaks_nothing() -> None:
    def cubes(x: Any) -> Any:
        return np.sum(np.abs(np.array([x[0] + x[1], x[0] - 2 * x[1], 3 * x[0] + x[1] - 1])) ** 3)

    for f, upper in ((lambda x: np.exp(cubes(x)), 0.0), (lambda x: np.sqrt(cubes(x)), -1.0)):
        assert contracted(f, 2, (-1.0, 1.0), upper)[0] > upper


def test_terms_that_are_defined_nowhere_on_a_box_break_nothing() -> None:
    def f(x: Any) -> Any:
        return -np.log(x[0] + x[1]) - np.log(x[0] - 2 * x[1]) - np.log(3 * x[0] + x[1] - 1) + x[0] * x[1]

    assert contracted(f, 2, (-2.0, -1.0), np.inf)[0] == np.inf


def test_a_rest_that_is_defined_nowhere_on_a_box_breaks_nothing() -> None:
    def f(x: Any) -> Any:
        return np.exp(x[0] - x[1]) + np.exp(x[1] - 2 * x[0]) + np.exp(x[0] + x[1]) + np.log(x[0] * x[1] - 4)

    assert contracted(f, 2, (0.0, 1.0), 30.0)[0] == np.inf

"""Dual: lines are below their squares, no point up to the upper bound is lost, and each rule broken is noticed."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import infimum
from claims import Claim, Truth, falsehoods
from contractions import Applied, boxes_around, missing
from coupled_functions import coupled_function, planted_squares
from infimum.boxes import FloatArray
from infimum.contractors.dual import dual
from infimum.domain import read_bounds
from infimum.function.function import trace
from infimum.function.outer import DualLines
from infimum.passes.outer import lines
from random_functions import RandomFunction
from test_contractors import known_points

Patch = pytest.MonkeyPatch
SEEDS = range(40)


def _tree(*, product: float, total: float) -> Any:
    """(x y - a)^2 + (x + y - b)^2: its residuals are curved along both variables at once alone."""
    x, y = ("x", 0), ("x", 1)
    one, other = ("sub", ("mul", x, y), ("c", product)), ("sub", ("add", x, y), ("c", total))
    return ("add", ("square", one), ("square", other))


MIXED = [
    RandomFunction(f"mixed {a}", _tree(product=a, total=b), ((-2.0, 3.0),) * 2)
    for a, b in ((1.0, 2.5), (-1.0, 1.5), (3.0, 1.0), (2.0, -1.0))
]


def claims(seeds: Any = SEEDS) -> tuple[list[str], int]:
    """False claims about random functions: points up to upper that are removed, bounds above a value; and the boxes."""
    return claims_of((drawn(seed), seed) for seed in seeds)


drawn = cache(coupled_function)
points_of = cache(known_points)


def claims_of(functions: Any) -> tuple[list[str], int]:
    found, count = [], 0
    for f, seed in functions:
        domain = read_bounds(f.bounds, f.n)
        function = trace(f, f.n, box=(domain.lo, domain.hi))
        contractor = dual(function)
        x, values = points_of(f, seed)
        if contractor is None or not len(x):
            continue
        lo, hi = boxes_around(x, f.bounds, seed)
        upper = np.array([math.nextafter(float(v.upper()), math.inf) for v in values])
        for limit in (upper, np.full(len(x), np.inf)):
            kept = Applied(contractor, function, domain).boxes(lo, hi, limit)
            found += [f"{f.name}: {m}" for m in missing(x, kept.ends)]
            found += [f"{f.name}: {b.hex()}" for b, v in zip(kept.lower, values, strict=True) if not v >= b]
        count += len(x)
    return found, count


def test_no_point_up_to_the_upper_bound_is_lost_and_no_bound_is_above_a_value() -> None:
    found, count = claims()
    assert not found
    assert not claims_of([(f, seed) for seed in range(3) for f in MIXED])[0]
    assert count > 300


def _wrong_tangents(how: Callable[..., Any]) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(lines, "tangents", how)


def _twice(b: Any, r: Any) -> Any:
    return b.apply("mul", b.number(2), r)


def _thrice(b: Any, r: Any) -> Any:
    return b.apply("mul", b.number(2.01), r)


def _without_radius(self: lines.Lines) -> Any:
    return self.build.number(0)


def _without_mixed_terms(self: lines.Lines) -> Any:
    b, n = self.build, self.n
    total = b.number(0)
    d = b.apply("sub", lines.line(b, 0, n), lines.line(b, n, n))
    for i in range(n):
        own = lines._element(b, self._by(lines._element(b, self.slopes_on_box, i), i, n - i), 0)
        term = b.apply("mul", b.number(0.5), b.apply("mul", own, b.apply("sqr", lines._element(b, d, i))))
        total = b.apply("add", total, term)
    return total


def _at_centre_alone(self: lines.Lines) -> Any:
    at_centre = self._bound(self.n)
    return [self.on_box, at_centre, self._by(at_centre, self.n, self.n)]


def _always_smooth(self: DualLines, lo: FloatArray, *rest: Any, **more: Any) -> Any:
    return np.ones(len(lo), bool)


def _of_the_centre(self: Any, lo: FloatArray, hi: FloatArray, c: FloatArray, y: FloatArray, **more: Any) -> Any:
    return _ENDS(self, c, c, c, y, **more)


_ENDS = DualLines.ends

# What is broken, and how.
MUTANTS: dict[str, Callable[[Patch], None]] = {
    "the constant's sign": _wrong_tangents(lambda b, r, y: b.apply("mul", y, b.apply("add", _twice(b, r), y))),
    "no constant": _wrong_tangents(lambda b, r, y: b.apply("mul", y, _twice(b, r))),
    "another slope than the constant's": _wrong_tangents(
        lambda b, r, y: b.apply("mul", y, b.apply("sub", _thrice(b, r), y))
    ),
    "no radius in the second order": lambda patch: patch.setattr(lines.Lines, "_curvature", _without_radius),
    "no mixed terms": lambda patch: patch.setattr(lines.Lines, "_curvature", _without_mixed_terms),
    "slopes of the centre on the box": lambda patch: patch.setattr(lines.Lines, "first_order", _at_centre_alone),
    "the centre for the box": lambda patch: patch.setattr(DualLines, "ends", _of_the_centre),
    "smooth everywhere": lambda patch: patch.setattr(DualLines, "smooth", _always_smooth),
    "H is forgotten on the way in": lambda patch: patch.setattr(DualLines, "most", lambda self, upper: upper),
    "H is forgotten on the way out": lambda patch: patch.setattr(DualLines, "least", lambda self, lower: lower),
    "the rest is forgotten": lambda patch: patch.setattr(
        lines, "moved", lambda b, nodes, n, start: [_MOVED(b, nodes, n, start)[0], b.number(0)][: len(nodes)]
    ),
}
_MOVED = lines.moved


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_broken_is_noticed(name: str, monkeypatch: Patch) -> None:
    MUTANTS[name](monkeypatch)
    mixed = [(f, seed) for seed in range(3) for f in MIXED]
    assert claims_of(mixed)[0] or any(claims([seed])[0] for seed in SEEDS)


@pytest.mark.parametrize("seed", range(25))
def test_no_box_with_a_planted_minimiser_is_discarded(seed: int) -> None:
    f, minimum = planted_squares(seed)
    truth = Truth(f.bounds, Fraction(minimum), [list(f.minimiser or ())])
    for iterations in (1, 2, 3, 5, 8):
        result = infimum.minimize(f, f.bounds, max_iter=iterations, threads=1, contractors=("level", "dual"))
        assert not falsehoods(Claim.of(result), truth)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(25, 500))
def test_no_box_with_a_planted_minimiser_is_discarded_by_any_of_the_contractors(seed: int) -> None:
    f, minimum = planted_squares(seed)
    truth = Truth(f.bounds, Fraction(minimum), [list(f.minimiser or ())])
    for options in ({"contractors": ("level", "dual")}, {}):
        result = infimum.minimize(f, f.bounds, max_iter=25, threads=1, time_limit=20, **options)
        assert not falsehoods(Claim.of(result), truth)


@pytest.mark.torture
def test_no_claim_about_many_random_functions_is_false() -> None:
    found, _ = claims(range(50, 2000))
    assert not found

"""Varpro: no value of a fit is below what is claimed, whatever c is, and each rule broken is noticed."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import infimum
from contractions import Applied, boxes_around, boxes_of_any_size, missing
from infimum.boxes import Boxes, FloatArray
from infimum.contractors import Known
from infimum.contractors.fits import varpro as room
from infimum.contractors.fits.varpro import Varpro, Varpros, varpro
from infimum.contractors.table import DEFAULT
from infimum.domain import read_bounds
from infimum.function.function import trace
from infimum.function.outer import DualLines
from infimum.function.projection import Fit, Projection
from infimum.interval import Interval
from infimum.passes.linear_parameters.projected import Projected
from linear_fits import RandomFit, fit_function

Patch = pytest.MonkeyPatch
SEEDS = range(60)


Drawn = tuple[RandomFit, FloatArray, list[Any]]


@cache
def drawn(seed: int) -> Drawn:
    """A fit, points of its box, and balls around its values there."""
    return _with_points(fit_function(seed), seed)


@cache
def kinked(seed: int) -> Drawn:
    """(c - 1)^2 + (c / 8 + 5 - |p - 1/2| - (p - 1/2))^2: level, and falling from 1/2 on."""
    p, c = ("x", 0), ("x", 1)
    apart = ("sub", p, ("c", 0.5))
    rest = (("c", -1.0), ("sub", ("sub", ("c", 5.0), ("abs", apart)), apart))
    column = (("c", 1.0), ("c", 0.125))
    rows = [("add", ("mul", c, factor), fixed) for factor, fixed in zip(column, rest, strict=True)]
    tree = ("add", ("square", rows[0]), ("square", rows[1]))
    return _with_points(RandomFit("kinked", tree, ((-2.0, 2.0), (-20.0, 20.0)), None, 1, (column,), rest), seed)


def _with_points(f: RandomFit, seed: int) -> Drawn:
    x = f.places(10, seed)
    values = [f.value(point) for point in x]
    return f, x[[v is not None for v in values]], [v for v in values if v is not None]


class Astray(Varpro):
    """The same with a fit that is none: every choice is right."""

    def _fitted(self, *given: Any) -> Any:
        fit = super()._fitted(*given)
        draw = np.random.default_rng(fit.c.size)
        turn = fit.turn @ (np.eye(self.projection.count) + 0.1 * draw.normal(size=fit.turn.shape))
        c = fit.c * (1 + 0.3 * draw.normal(size=fit.c.shape))
        return Fit(c, fit.follows * draw.uniform(0, 2, fit.follows.shape), turn)


def claims(seeds: Any = SEEDS) -> tuple[list[str], int, int]:
    return claims_of(drawn(seed) for seed in seeds)


def claims_of(fits: Any) -> tuple[list[str], int, int]:
    """False claims: points up to upper that are removed, bounds above a value; the boxes, and those with a claim."""
    found, count, claimed = [], 0, 0
    for seed, (f, x, values) in enumerate(fits):
        domain = read_bounds(f.bounds, f.n)
        function = trace(f, f.n, box=(domain.lo, domain.hi))
        contractor = varpro(function)
        if contractor is None or not len(x):
            continue
        own = contractor.projection, contractor.lines, None, contractor.price  # dual lines are tested by themselves
        lo, hi = boxes_around(x, f.bounds, seed)
        upper = np.array([math.nextafter(float(v.upper()), math.inf) for v in values])
        limits = (upper, upper + 0.5 * np.abs(upper) + 1e-3)
        for kind, limit in itertools.product((Varpro, Astray), limits):
            kept = Applied(kind(*own), function, domain).boxes(lo, hi, limit)
            found += [f"{f.name}: {m}" for m in missing(x, kept.ends)]
            found += [f"{f.name}: {b.hex()}" for b, v in zip(kept.lower, values, strict=True) if not v >= b]
            claimed += int(((kept.lower > -np.inf) | (kept.lo > lo).any(1) | (kept.hi < hi).any(1)).sum())
        count += 4 * len(x)
    return found, count, claimed


def test_no_point_up_to_the_upper_bound_is_lost_and_no_bound_is_above_a_value() -> None:
    found, count, claimed = claims()
    assert not found
    assert not claims_of(kinked(seed) for seed in range(5))[0]
    assert count > 1500 and claimed > 400


# --- what is broken --------------------------------------------------------------------------------------------------


def put(where: Any, name: str, value: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(where, name, value)


_KAPPA, _ENDS, _REACH, _BOUND, _FROM = room._kappa, Projection.ends, Varpro._reach, Varpro._bound, Projected._from


def _kappa_of_one(ends: Any) -> Any:
    return Interval(np.ones(len(ends.smooth))), ends.smooth


def _kappa_halved(ends: Any) -> Any:
    kappa, usable = _KAPPA(ends)
    return 0.5 * kappa, usable


def _without(name: str) -> Callable[..., Any]:
    """Enclosures of which one is taken as 0."""

    def ends(self: Projection, *given: Any, **more: Any) -> Any:
        found = _ENDS(self, *given, **more)
        own = getattr(found, name)
        nothing = (own[0], 0.0 * own[1]) if isinstance(own, tuple) else 0.0 * own
        return found._replace(**{name: nothing})

    return ends


def _at_the_middle(self: Projection, box: Any, t: Any, *given: Any, **more: Any) -> Any:
    return _ENDS(self, (t, t), t, *given, **more)


def _reach_of(change: Callable[..., Any]) -> Callable[[Patch], None]:
    return put(Varpro, "_reach", lambda self, *given: _REACH(self, *change(*given)))


def _standing_still(self: Varpro, box: Any, fit: Any, *given: Any) -> Any:
    found = _BOUND(self, box, fit, *given)
    own = self.projection.nonlinear
    t = 0.5 * box[0][:, own] + 0.5 * box[1][:, own]
    p = box[0][:, own], box[1][:, own]
    moved = np.sum(Interval(fit.follows) * (Interval(*p) - t)[:, None, :], axis=2)
    around = Interval(*found.c)
    radius = 0.5 * (around.hi - around.lo) - 0.5 * (moved.hi - moved.lo)
    return found._replace(c=(fit.c - radius, fit.c + radius))


# What is broken, and how.
MUTANTS: dict[str, Callable[[Patch], None]] = {
    "kappa is 1": put(room, "_kappa", _kappa_of_one),
    "kappa too small": put(room, "_kappa", _kappa_halved),
    "what is projected is not taken away": put(Projection, "ends", _without("values")),
    "its slope is forgotten": put(Projection, "ends", _without("slopes")),
    "its curvature is forgotten": put(Projection, "ends", _without("curvatures")),
    "the middle for the box": put(Projection, "ends", _at_the_middle),
    "smooth everywhere": put(Projected, "_smooth", lambda self, columns: self.build.number(1)),
    "c does not move with p": put(Varpro, "_bound", _standing_still),
    "c without what is left of the fit": _reach_of(
        lambda ends, kappa, turn, room_: (ends._replace(turned=0.0 * ends.turned), kappa, turn, room_)
    ),
    "c without the room": _reach_of(lambda ends, kappa, turn, room_: (ends, kappa, turn, 0.0 * room_)),
    "T is forgotten": _reach_of(lambda ends, kappa, turn, room_: (ends, kappa, 0.0 * turn, room_)),
    "H is forgotten on the way in": put(DualLines, "most", lambda self, upper: upper),
    "H is forgotten on the way out": put(DualLines, "least", lambda self, lower: lower),
    "the constant is forgotten on the way": put(Projection, "constant", property(lambda self: Interval(10.0))),
    "half a mean-value form": put(
        Projected, "_from", lambda self, at, slopes: _FROM(self, at, [*slopes[:-1], self.build.number(0)])
    ),
    "columns that do not move": put(
        Projected, "_scaled", lambda self, factor, jet: _SCALED(self, factor, _still(self, jet))
    ),
}
_SCALED = Projected._scaled


def _still(self: Projected, jet: Any) -> Any:
    nothing = [self.build.number(0)] * self.q
    return dataclasses.replace(jet, first=nothing, second=[nothing[i:] for i in range(self.q)])


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_broken_is_noticed(name: str, monkeypatch: Patch) -> None:
    MUTANTS[name](monkeypatch)
    assert claims_of(kinked(seed) for seed in range(5))[0] or any(claims([seed])[0] for seed in SEEDS)


# --- what it is for --------------------------------------------------------------------------------------------------


@pytest.mark.torture
def test_no_claim_about_many_random_fits_is_false() -> None:
    found, _, _ = claims(range(60, 2060))
    assert not found


T = np.linspace(0.0, 4.0, 25)
Y = 2 * np.exp(-((T - 1.7) ** 2)) + 0.3 + 0.1 * T + 0.05 * np.sin(11 * T)


def bump(x: Any) -> Any:
    """c_0 exp(-(t - p_0)^2 / p_1) + c_1 + c_2 t, p first."""
    return np.sum((x[2] * np.exp(-((T - x[0]) ** 2) / x[1]) + x[3] + x[4] * T - Y) ** 2)


PARAMETERS = [(0.0, 4.0), (0.2, 5.0)]


@pytest.mark.parametrize("c", [(-np.inf, np.inf), (-1e5, 1e5)])
def test_a_fit_is_closed_whatever_the_ranges_of_its_linear_parameters(c: tuple[float, float]) -> None:
    result = infimum.minimize(bump, [*PARAMETERS, c, c, c], threads=1, fatol=0)
    without = tuple(name for name in DEFAULT if name != "varpro")
    other = infimum.minimize(bump, [*PARAMETERS, c, c, c], threads=1, fatol=0, contractors=without, max_iter=result.nit)
    assert result.success and not other.success
    assert any(name == "varpro" for step in result.history for name, _ in step.work)


def test_around_the_best_fit_the_bound_is_the_minimum_and_the_linear_parameters_are_contracted() -> None:
    bounds = [*PARAMETERS, *[(-1e5, 1e5)] * 3]
    best = infimum.minimize(bump, bounds, threads=1, fatol=0, ftol=1e-9)
    function, domain = trace(bump, 5), read_bounds(bounds, 5)
    own = varpro(function)
    assert own is not None
    lo, hi = domain.lo[None].copy(), domain.hi[None].copy()
    lo[0, :2], hi[0, :2] = best.x[:2] - 1e-3, best.x[:2] + 1e-3
    found = own.contract(Boxes(lo, hi), Known(function, domain, best.fun * (1 + 1e-9)))
    assert best.fun * (1 - 1e-9) <= found.lower[0] <= best.fun
    assert (found.hi - found.lo)[0, 2:].max() < 0.1


def test_where_columns_coalesce_dual_lines_take_over() -> None:
    def pair(x: Any) -> Any:
        return np.sum((x[2] * np.exp(-x[0] * T) + x[3] * np.exp(-x[1] * T) - 1) ** 2)

    bounds = [(0.0, 2.0), (0.0, 2.0), (0.0, 0.1), (0.0, 0.1)]
    function, domain = trace(pair, 4), read_bounds(bounds, 4)
    own = varpro(function)
    assert own is not None and own.fallback is not None
    box = Boxes(domain.lo[None], domain.hi[None])
    known = Known(function, domain, 25.0)
    assert dataclasses.replace(own, fallback=None).contract(box, known).lower[0] == -np.inf
    assert own.contract(box, known).lower[0] > 15


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("upper", [1.0, 1e300, -1e300, np.inf])
def test_numbers_of_any_size_are_borne(upper: float) -> None:
    for seed in range(15):
        f, _, _ = drawn(seed)
        function, everywhere = trace(f, f.n), read_bounds([(None, None)] * f.n, f.n)
        made = [own for own in (varpro(function), Varpros(function)) if own is not None]
        lo, hi = boxes_of_any_size(f.n, seed)
        for own in made:
            found = own.contract(Boxes(lo, hi), Known(function, everywhere, upper))
            assert ((found.lo >= lo) & (found.hi <= hi) | found.is_empty()[:, None]).all()


def test_it_stands_back_where_orthogonal_vectors_are_known() -> None:
    problem = infimum.problems.named("nist_kirby2")
    function = trace(problem.f, problem.n)
    domain = read_bounds([(-np.inf, np.inf)] * 3 + [(-0.015, 0.0), (0.0, 2e-4)], problem.n)
    own = varpro(function)
    assert own is not None
    lo, hi = (np.where(np.isinf(end), end, problem.minimiser)[None] for end in (domain.lo, domain.hi))
    boxes, known = Boxes(lo, hi), Known(function, domain, 10.0)
    assert own.contract(boxes, known).lower[0] > 3
    assert Varpros(function).contract(boxes, known) is boxes


@pytest.mark.parametrize("f", [np.sum, lambda x: (x[0] ** 2 * x[1] ** 2 - 1) ** 2 + (x[0] ** 2 - 2 * x[1] ** 2) ** 2])
def test_there_is_none_where_nothing_is_linear(f: Any) -> None:
    assert varpro(trace(f, 2)) is None

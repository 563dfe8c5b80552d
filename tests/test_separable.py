"""Separable: no bound is above a value, no point up to the upper bound is lost, and each rule broken is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import infimum
from fit_claims import drawn, false_claims
from infimum.boxes import Boxes
from infimum.contractors.fits import separable as contractor
from infimum.contractors.fits.nullspace import nullspace
from infimum.contractors.fits.separable import separable
from infimum.contractors.known import Known
from infimum.domain import read_bounds
from infimum.function.function import trace
from infimum.function.linear_parameters import LinearParameters
from infimum.function.outer import DualLines
from infimum.passes.linear_parameters.support import Support

Patch = pytest.MonkeyPatch
SEEDS = range(14)
KINDS = ("columns", "grids", "ratios")


def claims(seeds: Any, kinds: Any = KINDS) -> tuple[list[str], int]:
    return false_claims(separable, ((drawn(kind, seed), seed) for seed in seeds for kind in kinds))


def test_no_bound_is_above_a_value_and_no_point_up_to_the_upper_bound_is_lost() -> None:
    found, bounded = claims(SEEDS)
    assert not found
    assert bounded > 400


# ---------------------------------------------------------------------------------------------- extreme numbers
T = np.arange(8.0)
EXTREME: dict[str, tuple[Callable[[Any], Any], int]] = {
    "exponentials": (lambda x: np.sum((x[0] * np.exp(-x[1] * T) + x[2] - np.exp(-T)) ** 2), 3),
    "large data": (lambda x: np.sum((x[0] * np.exp(-x[1] * T) + x[2] - 1e160 * T) ** 2), 3),
    "large and small columns": (lambda x: np.sum((1e200 * x[0] * np.exp(-x[1] * T) + 1e-200 * x[2] * T - T) ** 2), 3),
    "waves off a grid": (lambda x: np.sum((x[0] * np.exp(-0.05 * x[1] * T) + x[2] * np.cos(x[3] * (T * 0.1))) ** 2), 4),
    "quotients": (lambda x: np.sum(((x[0] + x[1] * T) / (1 + x[2] * T + x[3] * T**2) - np.exp(-T)) ** 2), 4),
    "large quotients": (lambda x: np.sum(((1e200 * x[0] + 1e-200 * T * x[1]) / (1 + 1e150 * T * x[2]) - T) ** 2), 3),
    "a root outside": (lambda x: np.sqrt(np.sum((x[0] * np.exp(-x[1] * T) + x[2] - np.exp(-T)) ** 2)), 3),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [separable, nullspace])
@pytest.mark.parametrize("name", EXTREME)
def test_boxes_of_any_size_and_points_are_bounded_without_overflow_or_false_claim(name: str, make: Any) -> None:
    f, n = EXTREME[name]
    function = trace(f, n)
    contractor = make(function)
    assert contractor is not None or make is nullspace
    draw = np.random.default_rng(1)
    for scale in (1e-300, 1e-8, 1.0, 700.0, 1e100, 1.7e308) if contractor is not None else ():
        lo = np.vstack([np.full(n, -scale), draw.uniform(-1, 0.5, (4, n)) * scale])
        part = np.array([0.4, 1e-3, 1e-9, 0.0])[:, None]  # the last box is a point
        hi = np.vstack([np.full(n, scale), lo[1:] + part * draw.uniform(0, 1, (4, n)) * scale])
        for limit in (1e300, 1.0):
            known = Known(function, read_bounds([(-scale, scale)] * n, n), np.full(5, limit))
            found = contractor.contract(Boxes(lo, hi), known)
            assert not np.isnan(found.lower).any()
            for x in (lo, hi, lo / 2 + hi / 2):
                with np.errstate(all="ignore"):
                    value = np.asarray(function(x))
                value = np.where(np.isnan(value), np.inf, value * (1 + 1e-12) + 1e-300)
                assert ((found.lower <= value) | ((found.lower == np.inf) & (value > limit))).all()


def test_a_box_on_which_one_group_has_no_bound_and_another_no_point_has_no_point() -> None:
    # log(x_1 - t) is defined nowhere below 0, 1/(x_3 - t) has a pole inside: +inf and -inf are not added up
    f = trace(lambda x: np.sum((x[0] * np.log(x[1] - T) + x[2] / (x[3] - T - 0.5) - 1) ** 2), 4)
    known = Known(f, read_bounds([(-9, 9)] * 4, 4), np.array([1e300]))
    lo, hi = np.array([[-1.0, -5.0, -1.0, 0.0]]), np.array([[1.0, -1.0, 1.0, 5.0]])
    contractor = separable(f)
    assert contractor is not None
    assert contractor.contract(Boxes(lo, hi), known).lower.tolist() == [np.inf]


def test_boxes_with_infinite_ends_stay_as_they_are() -> None:
    f = trace(EXTREME["exponentials"][0], 3)
    known = Known(f, read_bounds([(None, None)] * 3, 3), np.array([0.0]))
    contractor = separable(f)
    assert contractor is not None
    found = contractor.contract(Boxes(np.full((1, 3), 5.0), np.array([[6.0, np.inf, 6.0]])), known)
    assert found.lower.tolist() == [-np.inf] and found.lo.tolist() == [[5.0] * 3]


@pytest.mark.torture
@pytest.mark.parametrize("kind", KINDS)
def test_no_claim_about_many_random_fits_is_false(kind: str) -> None:
    found, bounded = claims(range(len(SEEDS), 2000), (kind,))
    assert not found
    assert bounded > 20_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_by_fits_contractors_alone_claims_nothing_false(kind: str) -> None:
    options: Any = {"max_iter": 4, "threads": 1, "time_limit": 20, "contractors": ("nullspace", "separable")}
    for seed in range(500, 506):
        f = drawn(kind, seed)
        value = f.value(f.best)
        least = infimum.minimize(f, f.bounds, **options)
        most = infimum.minimize(lambda x, f=f: -f(x), f.bounds, maximize=True, **options)
        assert value >= least.minimum.lo and -value <= most.maximum.hi


# ---------------------------------------------------------------------------------------------- each rule broken
def _squares(how: Callable[..., Any]) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(LinearParameters, "square_ends", how)


def _negated(self: LinearParameters, y: Any) -> Any:
    low, high = _SQUARES(self, y)
    return -high, -low


def _c_as_at_the_point(self: LinearParameters, *args: Any, **more: Any) -> Any:
    number, cells, point, c, t, y = args
    return _SUPPORT(self, number, cells, point, (np.clip(t, *c),) * 2, t, y, **more)


def _one_end_of_c(self: LinearParameters, number: int, cells: Any, point: Any, c: Any, *rest: Any, **more: Any) -> Any:
    return _SUPPORT(self, number, cells, point, (c[0], c[0]), *rest, **more)


def _half_of_each_cell(self: LinearParameters, number: int, cells: Any, point: Any, *rest: Any, **more: Any) -> Any:
    return _SUPPORT(self, number, (cells[0], point), point, *rest, **more)


def _without_the_lowest(self: Any, *args: Any) -> None:
    _REFINE(self, *args)
    for own in range(len(self.least)):
        (cells,) = np.nonzero(self.owner == own)
        if cells.size > 1:
            kept = np.ones(len(self.owner), bool)
            kept[cells[self.low[cells].argmin()]] = False
            for name in ("lo", "hi", "owner", "low"):
                setattr(self, name, getattr(self, name)[kept])
            self.least[own] = self.low[self.owner == own].min()


def _parts_thrice(constant: Any, parts: Any) -> Any:  # once would be true: y r - y^2 <= r^2 / 4
    return constant + 3 * sum(parts)


def _parts_without_one(constant: Any, parts: Any) -> Any:
    return _SUM(constant, parts[1:])


def _straight(self: Support, value: Any, point: Any, cell: Any, d: Any) -> Any:
    return self._mean(value, point.first, d)


def _without_mixed_terms(self: Support, value: Any, point: Any, cell: Any, d: Any) -> Any:
    second = [[row[0], *([self.build.number(0)] * (len(row) - 1))] for row in cell.second]
    return _TAYLOR(self, value, point, type(cell)(cell.first, second), d)


def _whole_squares(self: Support, value: Any, point: Any, cell: Any, d: Any) -> Any:
    b = self.build
    halved = [[b.apply("mul", b.number(0.5), row[0]), *row[1:]] for row in cell.second]
    return _TAYLOR(self, value, point, type(cell)(cell.first, halved), d)


_SQUARES, _SUPPORT, _SUM = LinearParameters.square_ends, LinearParameters.support_ends, contractor._sum
_REFINE, _TAYLOR, _SHARPEN = contractor._Cells.refine, Support._taylor, Support._sharpen

# What is broken, and how.
MUTANTS: dict[str, Callable[[Patch], None]] = {
    "the square's sign": _squares(_negated),
    "no square": _squares(lambda self, y: (np.zeros(len(y)), np.zeros(len(y)))),
    "the square rounded down": _squares(lambda self, y: ((y * y).sum(1) * (1 - 1e-7),) * 2),
    "the groups thrice, not twice": lambda patch: patch.setattr(contractor, "_sum", _parts_thrice),
    "a group is forgotten": lambda patch: patch.setattr(contractor, "_sum", _parts_without_one),
    "c as at the point": lambda patch: patch.setattr(LinearParameters, "support_ends", _c_as_at_the_point),
    "c at one end": lambda patch: patch.setattr(LinearParameters, "support_ends", _one_end_of_c),
    "half of each cell": lambda patch: patch.setattr(LinearParameters, "support_ends", _half_of_each_cell),
    "a cell is left out": lambda patch: patch.setattr(contractor._Cells, "refine", _without_the_lowest),
    "smooth everywhere": lambda patch: patch.setattr(Support, "_smooth", lambda self, nodes: self.build.number(1)),
    "slopes of the point on the cell": lambda patch: patch.setattr(
        Support, "_sharpen", lambda self, natural, cell, point, at: _SHARPEN(self, natural, point, point, at)
    ),
    "no second order": lambda patch: patch.setattr(Support, "_taylor", _straight),
    "no mixed terms": lambda patch: patch.setattr(Support, "_taylor", _without_mixed_terms),
    "half the second order": lambda patch: patch.setattr(Support, "_taylor", _whole_squares),
    "H is forgotten on the way out": lambda patch: patch.setattr(DualLines, "least", lambda self, lower: lower),
    "the constant is forgotten": lambda patch: patch.setattr(
        LinearParameters, "constant_ends", lambda self, count: (np.zeros(count), np.zeros(count))
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_broken_is_noticed(name: str, monkeypatch: Patch) -> None:
    MUTANTS[name](monkeypatch)
    assert any(claims([seed], KINDS[:1])[0] for seed in (*range(5), 158, *range(5, 200)))  # 158: mixed terms count

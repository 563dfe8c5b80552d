"""Shave: slices go where f is above the upper bound, and nothing else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import infimum
from contractions import Applied
from infimum.contractors import shave
from infimum.contractors.shave import Shave
from infimum.function.function import Function, trace
from test_contractors import box, lost_levels, pairs_of


def shaving(function: Function) -> Applied:
    return Applied(Shave(), function)


def product(x: Any) -> Any:
    """Natural enclosures treat the two occurrences of x[0] as different numbers."""
    return (x[0] - 1) * (x[0] + 3) + x[1] ** 2


def test_every_point_at_most_upper_is_kept() -> None:
    assert not lost_levels(shaving)


def test_slices_above_the_level_are_cut_off() -> None:
    function = trace(product, 2)
    ((lo, hi), _) = pairs_of(shaving(function).contract(*box((-8, 8), (-1, 1)), -3.0))
    assert -8 < lo <= -2 and 0 <= hi < 8


def test_a_box_with_a_point_of_no_width_and_one_that_is_empty_come_back() -> None:
    function = trace(product, 2)
    assert pairs_of(shaving(function).contract(*box((-1, -1), (0, 0)), -4.0)) == [(-1.0, -1.0), (0.0, 0.0)]
    lo, hi = shaving(function).contract(*box((1, -1), (0, 1)), 0.0)
    assert not (lo <= hi).all()


def test_infinite_boxes_are_shaved_at_zero() -> None:
    function = trace(lambda x: np.exp(x[0]) + x[1] ** 2, 2)
    found = pairs_of(shaving(function).contract(*box((-np.inf, np.inf), (-np.inf, np.inf)), 0.5))
    assert found == [(-np.inf, 0.0), (-np.inf, np.inf)]


def test_many_variables_stay_as_they_are() -> None:
    lo, hi = np.full((1, 17), -1.0), np.ones((1, 17))
    found = shaving(trace(lambda x: np.sum(x**2), 17)).contract(lo, hi, 0.0)
    assert np.array_equal(found[0], lo) and np.array_equal(found[1], hi)


def test_it_runs_by_name_and_is_infimums_own() -> None:
    result = infimum.minimize(product, [(-8, 8), (-1, 1)], contractors="shave", ftol=1e-6, x0=[0, 1])
    assert result.success and -4 in result.minimum and result.trust == ()
    assert any(name == "shave" for step in result.history for name, _ in step.work)


def test_a_slice_cut_off_without_a_reason_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    is_above = shave._is_above
    monkeypatch.setattr(shave, "_is_above", lambda lo, hi, limit, known: is_above(lo, hi, limit - 0.1, known))
    assert lost_levels(shaving, range(12))

"""Uneven: a minimiser in the middle of the domain stays in one box."""

from __future__ import annotations

from typing import Any

import numpy as np

import infimum
from infimum.boxes import Boxes
from infimum.contractors import Known
from infimum.domain import read_bounds
from infimum.function.function import trace
from infimum.search.auto.bisection import bisected
from infimum.search.auto.split_rules import Smear
from infimum.search.auto.uneven import Uneven


def symmetric(x: Any) -> Any:
    return x[0] ** 2 + 3 * x[1] ** 2 - x[0] * x[1] + np.abs(x[0] + x[1])


def test_it_cuts_the_variable_of_smear_below_the_middle() -> None:
    known = Known(trace(symmetric, 2), read_bounds([(-2, 2)] * 2, 2))
    boxes = Boxes([[-2.0, -2.0], [0.0, 1.0]], [[2.0, 2.0], [2.0, 1.5]])
    cuts = Uneven().cuts(boxes, known)
    assert cuts.variables.tolist() == Smear().cuts(boxes, known).variables.tolist()
    low, high = boxes.lo[[0, 1], cuts.variables], boxes.hi[[0, 1], cuts.variables]
    assert np.allclose(cuts.places, 0.55 * low + 0.45 * high)


def test_a_minimiser_in_the_middle_lies_in_one_box() -> None:
    known = Known(trace(symmetric, 2), read_bounds([(-2, 2)] * 2, 2))
    held = {}
    for rule in (Smear(), Uneven()):
        boxes = Boxes([[-2.0, -2.0]], [[2.0, 2.0]])
        for _ in range(4):
            boxes = bisected(boxes, rule.cuts(boxes, known))
        held[type(rule)] = int(((boxes.lo <= 0) & (boxes.hi >= 0)).all(1).sum())
    assert held == {Smear: 4, Uneven: 1}


def test_it_is_chosen_by_name_and_finds_the_truth() -> None:
    result = infimum.minimize(symmetric, [(-2, 2)] * 2, split="uneven", contractors=(), ftol=1e-3, fatol=1e-3)
    assert result.success and 0 in result.minimum
    assert ((result.boxes[:, :, 0] <= 0) & (result.boxes[:, :, 1] >= 0)).all(1).any()

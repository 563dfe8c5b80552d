"""Tried: where a contractor pays it is given all boxes, elsewhere few, and what it is not given stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from infimum.boxes import BoolArray, Boxes
from infimum.contractors import Known
from infimum.contractors.trial import FEW, LEAST, SELDOM, Tried
from infimum.domain import read_bounds
from infimum.function.function import trace

N = 2
KNOWN = Known(trace(lambda x: x[0] + x[1], N), read_bounds([(0, 1)] * N, N))


class Closing:
    """A contractor that empties the boxes that are marked, and remembers how many it was given."""

    def __init__(self, marked: Callable[[Boxes], BoolArray], price: float = 1.0) -> None:
        self.marked = marked
        self.price = price
        self.given: list[int] = []

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        self.given.append(len(boxes))
        return boxes.emptied(self.marked(boxes))


def all_of_them(boxes: Boxes) -> BoolArray:
    return np.ones(len(boxes), bool)


def none_of_them(boxes: Boxes) -> BoolArray:
    return np.zeros(len(boxes), bool)


def boxes_of(width: float, count: int = 1000, seed: int = 0) -> Boxes:
    lo = np.random.default_rng(seed).uniform(0, 1 - width, (count, N))
    return Boxes(lo, lo + width)


def started(own: Any) -> Tried:
    """A contractor that is made by now; the boxes that it waited for are of a size of their own."""
    tried = Tried(lambda: own, N)
    tried.contract(boxes_of(0.9, LEAST), KNOWN)
    own.given.clear()
    return tried


def test_it_is_made_only_when_some_boxes_have_come() -> None:
    made: list[Closing] = []

    def make() -> Closing:
        made.append(Closing(all_of_them))
        return made[-1]

    tried = Tried(make, N)
    assert tried.contract(boxes_of(0.1, LEAST - 1), KNOWN) is not None and not made
    tried.contract(boxes_of(0.1, 1), KNOWN)
    assert len(made) == 1


def test_boxes_that_were_evaluated_meanwhile_count() -> None:
    known = Known(KNOWN.function.on("cpu"), KNOWN.domain)
    own = Closing(all_of_them)
    tried = Tried(lambda: own, N)
    tried.contract(boxes_of(0.1, 1), known)
    known.function.place.boxes_evaluated += LEAST
    assert tried.contract(boxes_of(0.1, 1), known).is_empty().all()


def test_where_a_contractor_hints_a_box_counts_for_several() -> None:
    known = Known(KNOWN.function, KNOWN.domain)
    few = boxes_of(0.1, LEAST // 8)
    for dear, is_made in ((4, False), (8, True)):
        own = Closing(all_of_them)
        known.hint(few, np.ones_like(few.lo))
        Tried(lambda own=own: own, N, dear=dear).contract(few, known)  # type: ignore[misc]
        assert bool(own.given) is is_made


def test_where_there_is_nothing_to_try_boxes_come_back() -> None:
    tried = Tried(lambda: None, N)
    for _ in range(3):
        boxes = boxes_of(0.1)
        assert tried.contract(boxes, KNOWN) is boxes


def test_one_that_pays_is_given_all_boxes() -> None:
    own = Closing(all_of_them)
    tried = started(own)
    found = [tried.contract(boxes_of(0.01, seed=seed), KNOWN) for seed in range(3)]
    assert own.given == [FEW, 1000, 1000]
    assert found[0].is_empty().sum() == FEW and found[1].is_empty().all()


def test_one_that_does_not_pay_is_given_few() -> None:
    own = Closing(none_of_them)
    tried = started(own)
    for seed in range(3):
        tried.contract(boxes_of(0.01, seed=seed), KNOWN)
    assert own.given == [FEW, 1000 // SELDOM, 1000 // SELDOM]


def test_a_dear_one_has_to_take_more_away() -> None:
    def every_fourth(boxes: Boxes) -> BoolArray:
        return np.arange(len(boxes)) % 4 == 0

    for price, count in ((1.0, 1000), (100.0, 1000 // SELDOM)):
        own = Closing(every_fourth, price)
        tried = started(own)
        for seed in range(3):
            tried.contract(boxes_of(0.01, seed=seed), KNOWN)
        assert own.given[-1] == count


def test_each_size_has_its_own_record_and_begins_with_that_of_the_wider_one() -> None:
    own = Closing(lambda boxes: (boxes.hi - boxes.lo)[:, 0] < 0.02)
    tried = started(own)
    for _ in range(2):
        tried.contract(boxes_of(0.1), KNOWN)  # it does not pay
        tried.contract(boxes_of(0.012), KNOWN)  # it does
    assert own.given == [FEW, FEW, 1000 // SELDOM, 1000]
    tried.contract(boxes_of(0.006), KNOWN)
    assert own.given[-1] == 1000


def test_a_change_is_seen() -> None:
    now = [False]
    own = Closing(lambda boxes: np.full(len(boxes), now[0]))
    tried = started(own)
    tried.contract(boxes_of(0.01), KNOWN)
    now[0] = True
    for seed in range(6):
        tried.contract(boxes_of(0.01, seed=seed), KNOWN)
    assert own.given[-1] == 1000


def test_boxes_that_are_not_given_stay_as_they_are_and_the_order_is_kept() -> None:
    own = Closing(all_of_them)
    tried = started(own)
    boxes = boxes_of(0.01).with_lower(np.arange(1000.0))
    found = tried.contract(boxes, KNOWN)
    left = ~found.is_empty()
    assert left.sum() == 1000 - FEW
    for before, after in zip(boxes, found, strict=True):
        np.testing.assert_array_equal(before[left], after[left])
    assert np.isposinf(found.lower[~left]).all()


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0, np.inf)])
def test_boxes_of_an_infinite_domain_have_a_size_too(bounds: Any) -> None:
    known = Known(KNOWN.function, read_bounds([bounds] * N, N))
    tried = started(Closing(none_of_them))
    boxes = Boxes(np.zeros((5, N)), np.array([[np.inf, 1.0]] * 4 + [[0.0, 0.0]]))
    assert len(tried.contract(boxes, known)) == 5


def test_the_same_boxes_lead_to_the_same_choices() -> None:
    def run() -> list[int]:
        own = Closing(lambda boxes: boxes.lo[:, 0] < 0.3)
        tried = started(own)
        for seed, width in enumerate((0.2, 0.1, 0.1, 0.05, 0.02, 0.02)):
            tried.contract(boxes_of(width, seed=seed), KNOWN)
        return own.given

    assert run() == run()

"""Numbers that are no doubles: boxes and constants enclose them, points refuse them, and none is rounded silently."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from infimum import Interval, minimize, pi
from infimum.errors import InfimumError, NotAPoint, UnsupportedValue
from infimum.exact.number import exact
from infimum.function.function import trace
from infimum.graph.constant import constant

BIG = 2**60 + 1
NUMBERS: list[Any] = [
    pi, Fraction(1, 3), exact("0.1"), 2**53 + 1, -(2**53) - 1, np.int64(BIG), np.uint64(2**63 + 1), 10**30,
]  # fmt: skip
FIRST = trace(lambda x: x[0], 2)


def true(number: Any) -> Any:
    return exact(int(number) if isinstance(number, np.integer) else number)


def encloses(found: Any, number: Any) -> bool:
    """One step of the doubles, around the number."""
    lo, hi = float(found.lo), float(found.hi)
    return bool(exact(lo) < true(number) < exact(hi)) and bool(np.nextafter(lo, np.inf) == hi)


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_box_contains_the_ends_given_whatever_stands_beside_them(number: Any) -> None:
    for other in (0, 0.5, 1e20, Fraction(1, 2), "0.25"):
        for box in ([(number, number), (other, other)], [[(number, number), (other, other)]]):
            found = FIRST.enclose(box)
            assert encloses(found if found.ndim == 0 else found[0], number), (other, found)
            assert FIRST.facts(box) is not None and FIRST.gradient(box).shape[-1] == 2
    assert encloses(Interval.from_pairs([(number, number), (0.5, 0.5)])[0], number)


def test_text_and_doubles_in_one_box_keep_their_meanings() -> None:
    f = trace(lambda x: x, 2) if False else FIRST
    tenth = f.enclose([("0.1", "0.1"), (0, 1)])
    assert encloses(tenth, exact("0.1"))
    double = f.enclose([(0.1, 0.1), ("0.1", "0.2")])
    assert double.lo == double.hi == 0.1


@pytest.mark.parametrize("kind", [np.int64, np.uint64, object])
def test_large_integers_in_arrays_are_enclosed(kind: Any) -> None:
    assert encloses(FIRST.enclose(np.array([[BIG, BIG], [0, 1]], kind)), BIG)
    f = trace(lambda x: np.sum(np.array([BIG, 1], np.int64) * x), 2)
    assert encloses(f.enclose([(1, 1), (0, 0)]), BIG)
    made = constant(np.array([BIG, 3], kind) if kind is not object else BIG)
    assert made.is_exact and made.exact_elements()[0] == exact(BIG)


def test_scalars_of_numpy_are_constants_as_they_are() -> None:
    for number in (np.int64(BIG), np.uint64(BIG), BIG):
        f = trace(lambda x, number=number: x[0] + number - BIG, 1)
        assert 0.0 in f.enclose([(0, 0)]) and f.enclose([(0, 0)]).wid <= 512


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_point_that_is_no_double_is_refused(number: Any) -> None:
    for points in ([number, 0.5], [0.5, number], [[0.5, 0.25], [number, 1]], np.array([number, 0.5], object)):
        with pytest.raises(NotAPoint, match="lies between the doubles"):
            FIRST(points)
        with pytest.raises(NotAPoint):
            FIRST.value_and_gradient(points)
    assert FIRST([Fraction(1, 2), 2**60]) == 0.5


def test_long_doubles_are_refused_where_they_are_no_doubles() -> None:
    number = np.longdouble(1) / 3
    for ask in (lambda: FIRST([number, 1]), lambda: FIRST.enclose([(0, number), (0, 1)])):
        with pytest.raises((UnsupportedValue, NotAPoint)):
            ask()
    third = trace(lambda x: x[0] * number, 1).enclose([(1, 1)])  # as a constant it is exact
    assert third.lo < number < third.hi


def test_the_point_tried_first_is_one_of_the_doubles_around_the_number_given() -> None:
    for bounds, x0 in (((0, exact("0.1")), exact("0.1")), ((pi, 4), pi), ((0, 1), Fraction(1, 3))):
        result = minimize(lambda x: (x[0] - 0.5) ** 2, [bounds], x0=[x0])
        assert result.success
    with pytest.raises(InfimumError, match="outside the bounds"):
        minimize(lambda x: x[0], [(0, 1)], x0=[2**53 + 1])

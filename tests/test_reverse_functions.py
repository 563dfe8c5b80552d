"""The reverse operations as a user calls them: the vectors of IEEE 1788, points that must stay, forms and refusals."""

from __future__ import annotations

import inspect
import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import infimum
import infimum.core
import oracle
import vectors
from infimum import interval
from infimum.errors import InfimumError, ShapeMismatch, UnsupportedValue
from infimum.interval import Interval
from test_reverse import FARE, _around, _fare, _points

INF = math.inf
ONE = ("sqr_rev", "abs_rev", "sin_rev", "cos_rev", "tan_rev", "cosh_rev")
TWO = ("mul_rev", "pow_rev1", "pow_rev2", "atan2_rev1", "atan2_rev2")
NAMES = (*ONE, "pown_rev", *TWO, "mul_rev_to_pair", "cancel_minus", "cancel_plus")


def pair(x: Any) -> tuple[float, float]:
    return float(x.lo), float(x.hi)


def asked(standard: str, vector: vectors.Vector) -> tuple[Interval, ...]:
    """What the public function answers to a vector of the standard, as one result or two."""
    name = standard.removesuffix("_bin").removesuffix("_ten")
    found = getattr(interval, name)(*(Interval.from_pairs(a) if isinstance(a, tuple) else a for a in vector.args))
    return found if isinstance(found, tuple) else (found,)


def test_every_reverse_operation_of_the_standard_is_offered_under_its_name() -> None:
    standard = {name.removesuffix("_bin").removesuffix("_ten") for name in vectors.REVERSE}
    assert standard | {"atan2_rev1", "atan2_rev2"} == set(NAMES) <= set(interval.__all__)
    for name in NAMES:
        assert getattr(interval, name).__name__ == name and getattr(interval, name).__doc__


def test_the_vectors_of_the_standard_are_met_through_the_public_functions() -> None:
    fare: Counter[str] = Counter()
    for op in sorted({row for rows in vectors.REVERSE.values() for row in rows}):
        for (standard, vector), (same, reference) in zip(of(op), vectors.reverse_references(op), strict=True):
            assert vector is same
            found = asked(standard, vector)[vectors.REVERSE[standard].index(op)]
            fare[_fare(vector, reference, (np.atleast_1d(found.lo), np.atleast_1d(found.hi)))] += 1
    assert dict(fare) == FARE


def of(op: str) -> list[tuple[str, vectors.Vector]]:
    return [(name, vector) for name, rows in vectors.REVERSE.items() if op in rows for vector in vectors.of(name)]


# --- containment -----------------------------------------------------------------------------------------------------

FORWARD = {"sqr_rev": "sqr", "abs_rev": "abs", "sin_rev": "sin", "cos_rev": "cos", "tan_rev": "tan", "cosh_rev": "cosh"}
BINARY = {"mul_rev": ("mul", 0), "pow_rev1": ("pow", 0), "pow_rev2": ("pow", 1), "atan2_rev1": ("atan2", 0),
          "atan2_rev2": ("atan2", 1)}  # fmt: skip


def lost(name: str, tries: int = 400) -> list[str]:
    """Points whose image lies in c and that a reverse function does not contain, in its long and its short form."""
    random = np.random.default_rng(sum(map(ord, name)))
    missing, tried = [], 0
    for x, b in zip(_points(random, tries).tolist(), _points(random, tries).tolist(), strict=True):
        if name in BINARY:
            op, place = BINARY[name]
            image = oracle.tightest(op, *(((x, x), (b, b)) if place == 0 else ((b, b), (x, x))))
        elif name == "pown_rev":
            image = oracle.tightest("pown", (x, x), tried % 7 - 2)
        else:
            image = oracle.tightest(FORWARD[name], (x, x))
        if oracle.is_empty(image):
            tried += name == "pown_rev"
            continue
        c = Interval(min(image[0], _around(random, image[0])[0]), max(image[1], _around(random, image[1])[1]))
        given = (Interval(*_around(random, b)), c) if name in BINARY else (c,)
        last = (tried % 7 - 2,) if name == "pown_rev" else ()
        function = getattr(interval, name)
        for found in (function(*given, *last), function(*given, Interval(*_around(random, x)), *last)):
            if x not in found:
                missing.append(f"{name}{(*given, *last)}: {x.hex()} not in {found}")
        tried += 1
    assert tried > 100
    return missing


@pytest.mark.parametrize("name", [*ONE, "pown_rev", *TWO])
def test_no_solution_is_lost(name: str) -> None:
    assert not lost(name)


@pytest.mark.parametrize("name", ["sqr_rev", "mul_rev", "pow_rev2", "atan2_rev1"])
def test_swapped_arguments_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, line = getattr(interval, name), interval.entire()
    monkeypatch.setattr(interval, name, lambda first, second=line, *rest: real(second, first, *rest))
    assert lost(name)


def test_pairs_and_cancellation_contain_what_they_promise() -> None:
    random = np.random.default_rng(5)
    for _ in range(300):
        b, c, x, y = (sorted(random.integers(-4, 5, 2) / 2) for _ in range(4))
        low, high = interval.mul_rev_to_pair(Interval(*b), Interval(*c))
        assert pair(low | high) == pair(interval.mul_rev(Interval(*b), Interval(*c)))
        for t, s in itertools.product(np.linspace(-3, 3, 13), np.linspace(*b, 5)):
            if c[0] <= t * s <= c[1]:
                assert t in low or t in high
        for z, sign in ((interval.cancel_minus(Interval(*x), Interval(*y)), 1.0),
                        (interval.cancel_plus(Interval(*x), Interval(*y)), -1.0)):  # fmt: skip
            total = z + sign * Interval(*y)
            assert total.lo <= x[0] and x[1] <= total.hi


# --- forms -----------------------------------------------------------------------------------------------------------


def test_without_x_the_whole_line_is_meant() -> None:
    for name in ONE:
        function = getattr(interval, name)
        assert pair(function(Interval(1, 2))) == pair(function(Interval(1, 2), interval.entire()))
    for name in TWO:
        function = getattr(interval, name)
        given = Interval(1, 2), Interval(0.5, 0.75)
        assert pair(function(*given)) == pair(function(*given, interval.entire()))
    assert pair(interval.pown_rev(Interval(8, 27), 3)) == (2.0, 3.0)
    assert pair(interval.pown_rev(Interval(4, 9), Interval(-INF, 0), 2)) == (-3.0, -2.0)


def test_numbers_arrays_and_exact_constants_are_accepted() -> None:
    assert pair(interval.sqr_rev(4, Interval(0, 10))) == (2.0, 2.0)
    assert 3 in interval.mul_rev(infimum.pi, 3 * infimum.pi)
    several = interval.sqr_rev(Interval([1.0, 4.0], [1.0, 9.0]), Interval(0, 10))
    assert several.lo.tolist() == [1.0, 2.0] and several.hi.tolist() == [1.0, 3.0]
    powers = interval.pown_rev(Interval(8, 27), Interval(-5, 2.5), [1, 3])
    assert interval.is_empty(powers).tolist() == [True, False] and pair(powers[1]) == (2.0, 2.5)
    assert pair(interval.cos_rev(1, Interval(5, 7)))[0] <= 2 * math.pi


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: interval.pown_rev(Interval(1, 2), 0.5), "needs integer exponents, got 0.5"),
        (lambda: interval.pown_rev(Interval(1, 2)), r"takes \(c, p\) or \(c, x, p\), got 1"),
        (lambda: interval.pown_rev(Interval(1, 2), Interval(0, 1), 2, 3), "got 4 arguments"),
        (lambda: interval.pown_rev(Interval(1, 2), 2**40), "beyond 2147483647"),
        (lambda: interval.sqr_rev("1"), "."),
        (lambda: interval.mul_rev(1j, 2), "."),
    ],
)
def test_what_means_nothing_is_refused(call: Any, words: str) -> None:
    with pytest.raises((UnsupportedValue, InfimumError), match=words):
        call()
    with pytest.raises(ShapeMismatch):
        interval.sqr_rev(Interval([1.0, 2.0], [1.0, 2.0]), Interval([1.0] * 3, [2.0] * 3))


def test_the_operands_of_a_reverse_function_are_in_the_standards_order() -> None:
    for name in TWO:
        assert list(inspect.signature(getattr(interval, name)).parameters) == ["b", "c", "x"]
    for name in ONE:
        assert list(inspect.signature(getattr(interval, name)).parameters) == ["c", "x"]

"""Interval: what it accepts, what it refuses, and that its results contain what they stand for."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from infimum import interval
from infimum.errors import (
    AmbiguousComparison,
    InfimumError,
    InvalidInterval,
    NotAPoint,
    ShapeMismatch,
    UndefinedOperation,
    UnsupportedValue,
)
from infimum.exact.number import exact, pi
from infimum.interval import Interval
from test_robustness import STATES, ControlWord

INF = float("inf")
repeatable = settings(derandomize=True, max_examples=200, deadline=None)
finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(min_value=-1e100, max_value=1e100)
small = st.floats(min_value=-50, max_value=50)
share = st.fractions(min_value=0, max_value=1)


@st.composite
def intervals(draw: Any, ends: st.SearchStrategy[float] = moderate) -> Interval:
    a, b = draw(ends), draw(ends)
    return Interval(min(a, b), max(a, b))


def member(x: Interval, t: Fraction) -> Fraction:
    return Fraction(x.lo) + t * (Fraction(x.hi) - Fraction(x.lo))


def same(x: Interval, y: Interval) -> bool:
    return x.shape == y.shape and bool(np.all(interval.equal(x, y)))


# What is accepted.


def test_ends_are_read_only_arrays_of_doubles_with_positive_zero() -> None:
    x = Interval([-0.0, 1], [2, 3])
    assert x.lo.dtype == np.float64
    assert math.copysign(1, x.lo[0]) == 1
    with pytest.raises(ValueError, match="read-only"):
        x.lo[0] = 5
    with pytest.raises(AttributeError):
        x.lo = 5  # type: ignore[misc]


def test_the_users_array_is_copied() -> None:
    given_array = np.array([1.0, 2.0])
    x = Interval(given_array)
    given_array[0] = 9
    assert x.lo.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "number",
    [10**400, 2**53 + 1, -(3**60), Fraction(1, 3), Fraction(1, 10**400), True, np.int64(2**62 + 1)],
    ids=lambda number: str(number)[:12],
)
def test_numbers_that_are_no_doubles_are_enclosed(number: Any) -> None:
    exact = Fraction(int(number)) if isinstance(number, np.integer) else Fraction(number)
    for x in (Interval(number), Interval([number])[0], 0 + Interval(number)):
        assert exact in x
        assert x.lo == x.hi or math.nextafter(x.lo, INF) == x.hi


def test_large_integers_of_an_array_are_enclosed() -> None:
    numbers = np.array([2**53 + 1, 3, -(2**62) - 1])
    assert all(int(n) in x for n, x in zip(numbers, Interval(numbers), strict=True))


def test_ends_broadcast() -> None:
    assert Interval(0, [1, 2, 3]).shape == (3,)
    assert Interval([[0], [1]], [2, 3]).shape == (2, 2)


def test_pairs_and_from_pairs_are_inverse() -> None:
    x = Interval([[0, 1], [INF, -INF]], [[2, 3], [-INF, INF]])
    assert x.pairs().shape == (2, 2, 2)
    assert same(Interval.from_pairs(x.pairs()), x)
    with pytest.raises(InvalidInterval, match=r"shape \(3,\)"):
        Interval.from_pairs([1, 2, 3])


def test_lists_of_intervals_are_stacked() -> None:
    assert same(Interval([Interval(1, 2), 3, Fraction(1, 2)]), Interval([1, 3, 0.5], [2, 3, 0.5]))
    with pytest.raises(ShapeMismatch, match="shapes"):
        Interval([Interval(1, 2), Interval([1, 2])])


def test_copies_and_pickles_are_the_same_set() -> None:
    x = Interval([1, INF], [2, -INF])
    assert same(copy.deepcopy(x), x)
    assert same(pickle.loads(pickle.dumps(x)), x)


# What is refused.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((2, 1), r"lower end 2\.0 exceeds the upper end 1\.0"),
        (([0, 3], [1, 2]), r"at index \(1,\)"),
        ((float("nan"),), "NaN is no number"),
        ((0, float("nan")), "NaN"),
        ((INF,), "infinity is none"),
        ((-INF, -INF), "infinity is none"),
        ((INF, INF), "infinity is none"),
        (("one",), "neither a number"),
        (([1, 2], [3, 4, 5]), r"\(2,\) and \(3,\) do not broadcast"),
        (([[1, 2], [3]],), "rows differ"),
    ],
)
def test_what_is_no_interval_is_refused_by_value(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InfimumError, match=words) as caught:
        Interval(*arguments)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("value", [1j, [1j], np.array([object()]), None, {"a": 1}, np.datetime64("2020-01-01"), b"1"])
def test_what_is_no_real_number_is_refused_by_type(value: Any) -> None:
    with pytest.raises(UnsupportedValue):
        Interval(value)


@pytest.mark.parametrize("value", ["0.1", 1j])
def test_operators_refuse_text_and_complex_numbers(value: Any) -> None:
    with pytest.raises(TypeError, match=r"Interval\('0.1'\)"):
        Interval(1) + value


@pytest.mark.parametrize("value", [float("nan"), INF, np.array([1, INF])])
def test_operators_refuse_what_is_no_real_number(value: Any) -> None:
    with pytest.raises(InvalidInterval):
        Interval(1) * value


def test_shapes_that_do_not_broadcast_are_refused_by_shape() -> None:
    for attempt in (operator.add, operator.lt, interval.subset, interval.hypot, operator.pow):
        with pytest.raises(ShapeMismatch, match=r"\(2,\) and \(3,\)"):
            attempt(Interval([1, 2]), Interval([1, 2, 3.5]))


# Arithmetic contains.


@given(intervals(), intervals(), share, share)
@repeatable
def test_arithmetic_contains_every_value(x: Interval, y: Interval, s: Fraction, t: Fraction) -> None:
    a, b = member(x, s), member(y, t)
    assert a + b in x + y
    assert a - b in x - y
    assert a * b in x * y
    assert abs(a) in abs(x)
    assert -a in -x
    if b != 0:
        assert a / b in x / y


@given(intervals(small), share, st.integers(-6, 9))
@repeatable
def test_integer_powers_contain_every_value_however_they_are_written(x: Interval, s: Fraction, p: int) -> None:
    a = member(x, s)
    assume(a != 0 or p >= 0)
    for exponent in (p, float(p), np.int64(p), Interval(p)):
        assert a**p in x**exponent
    assert a**p in np.power(x, p)


@given(intervals(small), intervals(st.floats(min_value=0.1, max_value=20)), share, share)
@repeatable
def test_remainder_and_floor_division_contain_every_value(x: Interval, y: Interval, s: Fraction, t: Fraction) -> None:
    a, b = member(x, s), member(y, t)
    assert a % b in x % y
    assert a // b in x // y


@given(moderate, intervals())
@repeatable
def test_numbers_stand_on_either_side(number: float, x: Interval) -> None:
    point = Interval(number)
    for op in (operator.add, operator.sub, operator.mul):
        assert same(op(number, x), op(point, x))
        assert same(op(x, number), op(x, point))
        assert same(op(np.float64(number), x), op(point, x))
        assert same(op(np.array([number]), x), op(point, x).reshape(1))


def test_in_place_operators_rebind() -> None:
    x = y = Interval(1, 2)
    x += 1
    assert same(x, Interval(2, 3))
    assert same(y, Interval(1, 2))


def test_array_exponents_take_each_their_own_power() -> None:
    x = Interval(-2, 3)
    assert same(x ** np.array([2, 3]), Interval([0, -8], [9, 27]))
    assert same(x ** np.array([2.0, 3.0]), Interval([0, -8], [9, 27]))
    mixed = Interval(4, 9) ** np.array([2, 0.5])
    assert 81 in mixed[0]
    assert 3 in mixed[1]
    assert same(interval.pown(Interval([1, 2], [2, 3]), [[1], [2]]), Interval([[1, 2], [1, 4]], [[2, 3], [4, 9]]))
    with pytest.raises(UnsupportedValue, match="integer exponents"):
        interval.pown(x, 0.5)


def test_domain_problems_give_sets_never_exceptions() -> None:
    assert interval.is_empty(np.log(Interval(-2, -1)))
    assert same(np.sqrt(Interval(-1, 4)), Interval(0, 2))
    assert interval.is_entire(1 / Interval(-1, 1))
    assert same(1 / Interval(0, 1), Interval(1, INF))
    assert interval.is_empty(Interval(1) / 0)


def test_intersection_and_hull_are_and_and_or() -> None:
    x, y = Interval(1, 3), Interval(2, 5)
    assert same(x & y, Interval(2, 3))
    assert same(x | y, Interval(1, 5))
    assert same(7 | x, Interval(1, 7))
    assert interval.is_empty(x & 7)


# Questions.


@pytest.mark.parametrize(
    ("op", "x", "y", "answer"),
    [
        (operator.lt, Interval(1, 2), Interval(3, 4), True),
        (operator.lt, Interval(3, 4), Interval(1, 3), False),
        (operator.lt, Interval(1, 2), Interval(2, 3), None),
        (operator.le, Interval(1, 2), Interval(2, 3), True),
        (operator.le, Interval(2, 3), Interval(1, 2), None),
        (operator.gt, Interval(3, 4), 2, True),
        (operator.ge, Interval(3, 4), 3, True),
        (operator.ge, 2, Interval(3, 4), False),
        (operator.eq, Interval(2), 2, True),
        (operator.eq, Interval(1, 2), Interval(3, 4), False),
        (operator.eq, Interval(1, 2), Interval(1, 2), None),
        (operator.ne, Interval(1, 2), 5, True),
        (operator.ne, Interval(1, 2), 1, None),
        (operator.lt, interval.empty(), 1, None),
        (operator.eq, interval.empty(), interval.empty(), None),
    ],
)
def test_comparisons_are_answered_only_where_certain(op: Any, x: Any, y: Any, answer: bool | None) -> None:
    if answer is None:
        with pytest.raises(AmbiguousComparison, match="precedes"):
            op(x, y)
    else:
        assert op(x, y) is answer


def test_array_comparisons_are_answered_where_every_element_is_certain() -> None:
    x = Interval([1, 5], [2, 6])
    assert (x < 3).tolist() == [True, False]
    assert (np.array([3, 3]) > x).tolist() == [True, False]
    assert (x != 9).tolist() == [True, True]
    with pytest.raises(AmbiguousComparison, match=r"\[5, 6\] < \[5.5\] at index \(1,\)"):
        _ = x < 5.5


def test_truth_is_answered_only_where_certain() -> None:
    assert bool(Interval(1, 2)) is True
    assert bool(Interval(0)) is False
    for x in (Interval(0, 1), interval.empty(), Interval([1, 2])):
        with pytest.raises(AmbiguousComparison, match="uncertain"):
            bool(x)


def test_other_objects_are_simply_not_equal() -> None:
    assert Interval(1) != "1"
    assert (Interval(1) == None) is False  # noqa: E711


def test_membership_is_exact() -> None:
    tenth = Interval("0.1")
    assert Fraction(1, 10) in tenth
    assert Fraction(1, 10) not in Interval(0.1)
    assert 0.1 in Interval(0.1)
    assert -0.0 in Interval(0)
    assert 10**400 in Interval(0, INF)
    assert 10**400 not in Interval(0, 1e308)
    assert INF not in interval.entire()
    assert float("nan") not in interval.entire()
    assert Interval(1, 2) in Interval(0, 2)
    assert interval.empty() in Interval(0, 2)
    assert Interval(1, 3) not in Interval(0, 2)
    with pytest.raises(UnsupportedValue, match="is_member"):
        _ = 1 in Interval([1, 2])


def test_intervals_are_no_dictionary_keys() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Interval(1))


def test_conversions_lose_nothing() -> None:
    assert float(Interval(0.1)) == 0.1
    assert np.array(Interval([1, 2])).tolist() == [1.0, 2.0]
    for attempt in (float, np.array, math.sin, lambda x: np.array([x, x])):
        with pytest.raises(NotAPoint, match=r"\.mid"):
            attempt(Interval(1, 2))


# Shape, indexing, NumPy.


def test_indexing_iteration_and_shape_follow_numpy() -> None:
    x = Interval([[1, 2, 3], [4, 5, 6]], 10)
    assert (x.shape, x.size, x.ndim, len(x)) == ((2, 3), 6, 2, 2)
    assert x[1, 2].lo == 6
    assert x[:, 1:].shape == (2, 2)
    assert x.T.shape == x.reshape(3, 2).shape == (3, 2)
    assert [row.shape for row in x] == [(3,), (3,)]
    assert x[x.lo > 3].lo.tolist() == [4, 5, 6]
    assert np.shape(x) == (2, 3)
    for attempt in (len, iter, list):
        with pytest.raises(UnsupportedValue, match=r"\.wid|\.lo"):
            attempt(Interval(1, 2))


UFUNCS = [
    np.negative, np.absolute, np.square, np.sqrt, np.cbrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10,
    np.log1p, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh,
    np.arctanh, np.floor, np.ceil, np.trunc, np.rint, np.sign, np.reciprocal,
]  # fmt: skip


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_numpy_functions_enclose_their_values(ufunc: Any) -> None:
    x = Interval([0.2, 0.5], [0.3, 0.9])
    found = ufunc(x)
    inside = ufunc(np.array([0.25, 0.7]))
    # NumPy's own value is a few units from the true one; the intervals here are much wider.
    assert np.all((found.lo <= inside) & (inside <= found.hi))


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.hypot, np.arctan2, np.mod, np.power, np.floor_divide])
def test_numpy_functions_of_two_arguments_enclose_their_values(ufunc: Any) -> None:
    x, y = Interval([0.2, 5], [0.3, 6]), np.array([2.0, 1.5])
    for found, inside in ((ufunc(x, y), ufunc([0.25, 5.5], y)), (ufunc(y, x), ufunc(y, [0.25, 5.5]))):
        assert np.all((found.lo <= inside) & (inside <= found.hi))


@given(st.lists(intervals(moderate), min_size=1, max_size=20), share)
@repeatable
def test_sums_contain_every_value(parts: list[Interval], s: Fraction) -> None:
    x = np.stack(parts)
    values = [member(part, s) for part in parts]
    assert sum(values) in np.sum(x)
    assert sum(values) / len(values) in np.mean(x)
    assert max(values) in np.max(x)
    assert min(values) in np.min(x)


def test_reductions_follow_numpys_axes() -> None:
    x = Interval(np.arange(24.0).reshape(2, 3, 4))
    plain = x.lo
    for axis in (None, 0, -1, (0, 2), (1, 2)):
        for keepdims in (False, True):
            for name in ("sum", "max", "min", "prod"):
                found = getattr(np, name)(x, axis=axis, keepdims=keepdims)
                expected = getattr(np, name)(plain, axis=axis, keepdims=keepdims)
                assert np.array_equal(found.lo, expected) or name == "prod"
                assert found.shape == expected.shape
    assert same(np.add.reduce(x), np.sum(x, axis=0))
    assert np.sum(Interval(np.zeros((0, 2))), axis=0).lo.tolist() == [0, 0]
    with pytest.raises(InvalidInterval, match="no elements"):
        np.max(Interval([]))


def test_sums_are_folded_over_the_fixed_tree() -> None:
    # ((a + b) + (c + d)) + e: any other order loses the small terms beside 1 or -1.
    terms = [1.0, -1.0, 2.0**-60, 2.0**-61, 2.0**-62]
    x = [Interval(t) for t in terms]
    assert same(np.sum(Interval(terms)), ((x[0] + x[1]) + (x[2] + x[3])) + x[4])
    assert same(np.sum(Interval(terms)), Interval(sum(terms[2:])))


def test_products_of_matrices_follow_numpy() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for left, right in ((a, b), (a[0], b), (a, b[:, 0]), (a[0], b[:, 0]), (np.stack([a, a]), b)):
        for product in (Interval(left) @ right, left @ Interval(right), np.matmul(Interval(left), Interval(right))):
            assert np.array_equal(product.lo, left @ right)
    assert same(np.dot(Interval(a), b), Interval(a @ b))
    with pytest.raises(ShapeMismatch, match="do not match"):
        Interval(a) @ a


def test_numpy_functions_that_move_elements_move_both_ends() -> None:
    x = Interval([1, 2, 3], [4, 5, 6])
    assert same(np.concatenate([x, [7]]), Interval([1, 2, 3, 7], [4, 5, 6, 7]))
    assert np.stack([x, x]).shape == (2, 3)
    assert same(np.where(np.array([True, False, True]), x, 0), Interval([1, 0, 3], [4, 0, 6]))
    assert same(np.clip(x, 2, 5), Interval([2, 2, 3], [4, 5, 5]))
    assert same(np.clip(x, 2, np.inf), Interval([2, 2, 3], [4, 5, 6]))
    assert same(np.roll(x, 1), Interval([3, 1, 2], [6, 4, 5]))
    assert np.reshape(x, (3, 1)).shape == (3, 1)
    assert same(np.diff(x), Interval([-2, -2], [4, 4]))
    assert same(np.cumsum(x), Interval([1, 3, 6], [4, 9, 15]))
    assert same(np.outer(x, [2]), Interval([[2], [4], [6]], [[8], [10], [12]]))
    assert 5 in np.linalg.norm(Interval([3, 4]))
    assert same(np.linalg.norm(x, 1), Interval(6, 15))
    assert same(np.linalg.norm(x, np.inf), Interval(3, 6))


def test_numpy_functions_that_are_not_offered_are_refused_by_name() -> None:
    x = Interval([1, 2], [3, 4])
    for attempt in (np.sort, np.isnan, np.add.accumulate, np.linalg.inv, lambda v: np.add(v, v, where=[True, False])):
        with pytest.raises(UnsupportedValue, match=r"np\..* is not offered"):
            attempt(x)


# The functions of the standard.


def test_scalars_give_python_bools_and_floats_and_arrays_give_arrays() -> None:
    x, xs = Interval(1, 2), Interval([1, 2], 3)
    assert interval.subset(x, x) is True
    assert interval.subset(xs, xs).tolist() == [True, True]
    assert type(interval.mid(x)) is float
    assert interval.wid(xs).tolist() == [2, 1]
    assert interval.mid_rad(x) == (1.5, 0.5)
    assert (x.mid, x.rad, x.wid, x.mag, x.mig) == (1.5, 0.5, 1.0, 2.0, 1.0)
    assert interval.overlap(x, xs).tolist() == ["starts", "meets"]


def test_empty_and_entire_have_shapes() -> None:
    assert (interval.empty().lo, interval.empty().hi) == (INF, -INF)
    assert (interval.entire().lo, interval.entire().hi) == (-INF, INF)
    assert interval.is_empty(interval.empty((2, 3))).all()
    assert interval.is_entire(interval.entire(4)).tolist() == [True] * 4


def test_membership_of_arrays_is_elementwise() -> None:
    assert interval.is_member([1, 5, np.inf], Interval(0, 2)).tolist() == [True, False, False]
    assert interval.is_member(Fraction(1, 3), Interval("1/3")) is True


def test_facts_say_where_an_operation_is_defined_and_smooth() -> None:
    assert interval.facts("log", Interval(1, 2)) == (True, True)
    assert interval.facts("sqrt", Interval(0, 1)) == (True, False)
    assert interval.facts("sqrt", Interval(-1, 1)).defined is False
    assert interval.facts("div", 1, Interval([-1, 1], [1, 2])).defined.tolist() == [False, True]
    assert interval.facts("pown", Interval(-1, 1), -2).defined is False
    assert interval.facts("pown", Interval(-1, 1), 2) == (True, True)
    with pytest.raises(UnsupportedValue, match="no such operation"):
        interval.facts("sine", 1)
    with pytest.raises(UnsupportedValue, match="2 interval arguments"):
        interval.facts("add", 1)


def test_illegal_numbers_signal_and_give_the_empty_interval() -> None:
    with pytest.warns(UndefinedOperation, match="exceeds"):
        assert interval.is_empty(interval.nums_to_interval(2, 1))


def _host_results() -> list[Any]:
    """What the host side says of subnormal numbers, as bytes and answers."""
    low, high = Interval(np.array([1]).view(np.float64)[0]), Interval("[1e-320, 1e-310]")
    intervals = [low, high, Interval("1e-323"), Interval("2.5e-5", "0.1"), np.sum(np.stack([low, high, Interval(0.1)])),
                 Interval(2, 3) ** low.lo, Interval(2, 3) ** (low | 0), pi * high,
                 Interval(exact("1e-320")), exact(low.lo).enclose(), low & high,
                 np.sqrt(exact(2)).enclose(), Interval(1, 2) / 3, Interval(Fraction(1, 3) / 2**1060)]  # fmt: skip
    answers = [low < high, high > low, bool(low), low.lo in high, interval.subset(low, Interval(0)), 0 in low,
               interval.overlap(low, high), interval.is_member(0, high), interval.is_singleton(high),
               str(high)]  # fmt: skip
    return [x.pairs().tobytes() for x in intervals] + answers


@pytest.mark.parametrize("state", [state for state in STATES if "traps" not in state])
def test_the_callers_floating_point_state_changes_nothing(state: str) -> None:
    expected = _host_results()
    with ControlWord().being(STATES[state]):
        found = _host_results()
    assert found == expected


@given(finite, finite, finite, finite)
@repeatable
def test_relations_agree_with_each_other(a: float, b: float, c: float, d: float) -> None:
    x, y = Interval(min(a, b), max(a, b)), Interval(min(c, d), max(c, d))
    assert interval.subset(x, y) == interval.equal(x & y, x)
    assert interval.disjoint(x, y) == interval.is_empty(x & y)
    assert interval.equal(x, y) == (interval.subset(x, y) and interval.subset(y, x))
    assert interval.strict_precedes(x, y) == (interval.precedes(x, y) and interval.disjoint(x, y))
    assert interval.overlap(x, y) != ""

"""Exact constants: they stay exact, and their enclosures are the tightest."""

from __future__ import annotations

import math
import pickle
import time
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.errors import AmbiguousComparison, ExactDomainError, InfimumError, ShapeMismatch, UnsupportedValue
from infimum.exact import series as exact_series
from infimum.exact.ball import Bounds, TooLarge, Undecided, rational
from infimum.exact.number import Exact, e, exact, pi
from infimum.interval import Interval, equal, subset

INF = float("inf")
repeatable = settings(derandomize=True, max_examples=150, deadline=None)
rationals = st.fractions(min_value=-100, max_value=100, max_denominator=10**6)

# NumPy's function, the oracle's, and where it is defined.
FUNCTIONS: dict[str, tuple[Any, Any, Any]] = {
    "sqrt": (np.sqrt, lambda x: x.sqrt(), lambda q: q >= 0),
    "cbrt": (np.cbrt, lambda x: x.root(3) if x >= 0 else -((-x).root(3)), lambda q: True),
    "exp": (np.exp, lambda x: x.exp(), lambda q: True),
    "log": (np.log, lambda x: x.log(), lambda q: q > 0),
    "sin": (np.sin, lambda x: x.sin(), lambda q: True),
    "cos": (np.cos, lambda x: x.cos(), lambda q: True),
    "tan": (np.tan, lambda x: x.tan(), lambda q: True),
    "asin": (np.arcsin, lambda x: x.asin(), lambda q: abs(q) <= 1),
    "acos": (np.arccos, lambda x: x.acos(), lambda q: abs(q) <= 1),
    "atan": (np.arctan, lambda x: x.atan(), lambda q: True),
    "sinh": (np.sinh, lambda x: x.sinh(), lambda q: True),
    "cosh": (np.cosh, lambda x: x.cosh(), lambda q: True),
    "tanh": (np.tanh, lambda x: x.tanh(), lambda q: True),
}


def ball(q: Fraction) -> Any:
    return flint.arb(flint.fmpq(q.numerator, q.denominator))


def assert_tight(x: Interval, value: Any) -> None:
    """The oracle's ball is so small that it shows which doubles are next to the number."""
    assert ball(Fraction(x.lo)) <= value or x.lo == x.hi
    assert value <= ball(Fraction(x.hi)) or x.lo == x.hi
    assert x.lo == x.hi or np.nextafter(x.lo, INF) == x.hi


@pytest.fixture(autouse=True)
def oracle_precision() -> Any:
    before, flint.ctx.prec = flint.ctx.prec, 2000
    yield
    flint.ctx.prec = before


# Values.


@pytest.mark.parametrize("name", FUNCTIONS)
@given(q=rationals)
@repeatable
def test_enclosures_are_the_two_doubles_next_to_the_number(name: str, q: Fraction) -> None:
    function, oracle, defined = FUNCTIONS[name]
    q = q / 100 if name in ("asin", "acos") else q
    if not defined(q):
        with pytest.raises(ExactDomainError, match="no real number"):
            function(exact(q))
        return
    constant = function(exact(q))
    assert_tight(constant.enclose(), oracle(ball(q)))
    assert float(constant) == float(oracle(ball(q)))


@pytest.mark.parametrize("name", FUNCTIONS)
@given(q=rationals, slack=st.integers(0, 40), prec=st.sampled_from([96, 200, 500]))
@repeatable
def test_series_contain_the_value_of_every_number_in_the_bounds(name: str, q: Fraction, slack: int, prec: int) -> None:
    _, oracle, defined = FUNCTIONS[name]
    q = q / 100 if name in ("asin", "acos") else q
    if not defined(q):
        return
    x = rational(q, prec)
    try:
        found = exact_series.FUNCTIONS[name](Bounds(x.lo - slack, x.hi + slack, x.exp), prec)
    except (Undecided, TooLarge):
        return
    value = oracle(ball(q))
    assert not value < ball(found.fraction(found.lo))
    assert not value > ball(found.fraction(found.hi))


@given(w=st.integers(20, 90), part=st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=10**9))
@repeatable
def test_series_hold_to_the_last_unit_without_guard_bits(w: int, part: Fraction) -> None:
    z = int(part * 2**w)
    x = ball(Fraction(z, 2**w))
    one = flint.arb(2) ** w
    assert exact_series._atanh_below(z, w) <= x.atanh() * one <= exact_series._atanh_above(z, w)
    assert exact_series._exp_below(z, w) <= x.exp() * one <= exact_series._exp_above(z, w)
    for true, (value, error) in (
        (x.sin(), exact_series._circular_series(z, w, 0)),
        ((2 * x).cos(), exact_series._circular_series(2 * z, w, 1)),
        ((4 * x).atan(), exact_series._atan_point(4 * z, w)),
    ):
        assert abs(true * one - value) <= error
    for n in (5, 239):
        low, high = exact_series._atan_inverse(n, w)
        assert low <= (1 / flint.arb(n)).atan() * one <= high


@pytest.mark.parametrize("w", range(1, 300, 7))
def test_pi_and_log_2_lie_between_neighbouring_integers_of_every_scale(w: int) -> None:
    one = flint.arb(2) ** w
    for true, (low, high) in ((flint.arb.pi(), exact_series._pi(w)), (flint.arb.const_log2(), exact_series._log2(w))):
        assert low < true * one < high
        assert high - low == 1


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        (pi, lambda: flint.arb.pi()),
        (e, lambda: flint.arb.const_e()),
        (pi * e - 3, lambda: flint.arb.pi() * flint.arb.const_e() - 3),
        (np.exp(pi) - pi, lambda: flint.arb.pi().exp() - flint.arb.pi()),
        (1 / (1 + pi), lambda: 1 / (1 + flint.arb.pi())),
        (pi**pi, lambda: flint.arb.pi() ** flint.arb.pi()),
        (exact(2) ** exact(1, 7), lambda: flint.arb(2).root(7)),
        (np.sin(exact(10**22)), lambda: flint.arb(10**22).sin()),
        (np.cos(pi / 7) ** 5, lambda: (flint.arb.pi() / 7).cos() ** 5),
        (np.exp(exact(700)), lambda: flint.arb(700).exp()),
        (np.exp(exact(-740)), lambda: flint.arb(-740).exp()),
        (np.sqrt(exact(2)) + np.sqrt(exact(3)), lambda: flint.arb(2).sqrt() + flint.arb(3).sqrt()),
        (exact(10) ** -300 * pi, lambda: flint.arb(10) ** -300 * flint.arb.pi()),
    ],
)
def test_expressions_are_enclosed_tightly(constant: Exact, value: Any) -> None:
    assert_tight(constant.enclose(), value())


def test_numbers_beyond_the_doubles_are_enclosed_by_half_lines() -> None:
    huge = np.exp(exact(1000)).enclose()
    assert (huge.lo, huge.hi) == (float.fromhex("0x1.fffffffffffffp+1023"), INF)
    tiny = np.exp(exact(-1000)).enclose()
    assert (tiny.lo, tiny.hi) == (0.0, 5e-324)
    assert float(np.exp(exact(1000)) / np.exp(exact(999))) == math.e


def test_a_number_that_rounding_cannot_separate_from_a_double_keeps_both_neighbours() -> None:
    hidden = np.sqrt(exact(3)) * np.sqrt(exact(12))
    found = hidden.enclose()
    assert 6 in found
    assert found.wid <= 4 * np.spacing(6.0)
    with pytest.raises(AmbiguousComparison, match="could not be decided"):
        _ = hidden < 6


# Meaning.


def test_text_is_the_decimal_and_a_float_is_the_double() -> None:
    assert exact("0.1").as_fraction() == Fraction(1, 10)
    assert exact(0.1).as_fraction() == Fraction(0.1)
    assert exact(1, 3).as_fraction() == exact("1/3").as_fraction() == Fraction(1, 3)
    assert exact(Fraction(2, 6)) == exact(1, 3)
    assert exact("0.1") != 0.1
    assert exact(0.1) == 0.1


@given(rationals, rationals)
@repeatable
def test_rational_arithmetic_stays_rational(p: Fraction, q: Fraction) -> None:
    x, y = exact(p), exact(q)
    assert (x + y).as_fraction() == p + q
    assert (x - q).as_fraction() == p - q
    assert (p * y).as_fraction() == p * q
    assert ((x < y), (x == y), (x >= y)) == ((p < q), (p == q), (p >= q))
    if q:
        assert (x / y).as_fraction() == p / q
        assert (x % y).as_fraction() == p % q
        assert (x // y).as_fraction() == p // q


@pytest.mark.parametrize(
    ("constant", "multiple"),
    [
        (2 * pi, Fraction(2)),
        (pi / 3, Fraction(1, 3)),
        (pi * 0.5 + pi / 2, Fraction(1)),
        (pi - pi, Fraction(0)),
        (exact("0.1") * pi * np.sqrt(exact(4)), Fraction(1, 5)),
        (np.arctan(exact(1)), Fraction(1, 4)),
        (np.arccos(exact(-1)), Fraction(1)),
        (np.sqrt(pi**2), Fraction(1)),
        (pi**2 / pi, Fraction(1)),
        ((pi**2 + pi) / (1 + pi), None),
        (pi + 1, None),
        (pi**2, None),
        (e, None),
    ],
)
def test_rational_multiples_of_pi_are_recognised(constant: Exact, multiple: Fraction | None) -> None:
    assert constant.as_rational_multiple_of_pi() == multiple


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        (np.cos(pi / 3), Fraction(1, 2)),
        (np.sin(-pi / 6), Fraction(-1, 2)),
        (np.sin(100 * pi), Fraction(0)),
        (np.tan(5 * pi / 4), Fraction(1)),
        (np.cos(exact(0)), Fraction(1)),
        (np.sqrt(exact(2)) ** 2, Fraction(2)),
        (np.sqrt(exact(2)) ** -4, Fraction(1, 4)),
        (np.sqrt(exact(9, 16)), Fraction(3, 4)),
        (exact(8) ** exact(2, 3), Fraction(4)),
        (np.cbrt(exact(-27)), Fraction(-3)),
        (np.exp(exact(0)), Fraction(1)),
        (np.log(e**5), Fraction(5)),
        (np.log(np.exp(exact(1, 3))), Fraction(1, 3)),
        ((1 + pi) / (2 + 2 * pi), Fraction(1, 2)),
        ((1 + pi) * (1 + e) / (1 + pi) / (1 + e), Fraction(1)),
        (np.floor(pi * 100), Fraction(314)),
        (np.ceil(-pi), Fraction(-3)),
        (np.sign(3 - pi), Fraction(-1)),
        (abs(3 - pi) + 3 - pi, Fraction(0)),
        (pi**0, Fraction(1)),
        (np.cosh(exact(0)), Fraction(1)),
        (np.log10(exact(1, 1000)), Fraction(-3)),
        (np.log2(exact(2**70)), Fraction(70)),
        (np.exp2(exact(-3)), Fraction(1, 8)),
        (np.hypot(exact(3), 4), Fraction(5)),
        (np.log1p(np.expm1(exact(7))), Fraction(7)),
        (np.maximum(pi, exact(22, 7)), Fraction(22, 7)),
        (np.minimum(pi, 3), Fraction(3)),
        (np.trunc(-pi), Fraction(-3)),
    ],
)
def test_values_that_are_rational_are_found_to_be(constant: Exact, value: Fraction) -> None:
    assert constant.as_fraction() == value
    assert constant == value
    assert hash(constant) == hash(value)


def test_equal_forms_are_equal_and_hash_alike() -> None:
    assert 1 / np.sqrt(exact(2)) == np.sqrt(exact(2)) / 2
    assert len({2 * pi, pi + pi, pi * 2.0, exact(4) * pi / 2}) == 1
    assert len({pi, e, exact(3), 3}) == 3
    assert pickle.loads(pickle.dumps(pi / 3)) == pi / 3


def test_comparisons_are_decided_rigorously() -> None:
    assert math.pi < pi < np.nextafter(math.pi, 4)
    assert pi != math.pi
    assert exact("0.1") < 0.1
    assert np.exp(pi * np.sqrt(exact(163))) < 640320**3 + 744
    assert pi > e
    assert pi != "pi"
    assert (pi == None) is False  # noqa: E711
    assert math.floor(pi) == 3
    assert math.ceil(pi) == 4
    assert int(-pi) == -3
    assert bool(pi - 3) is True


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: np.sqrt(exact(-1)),
        lambda: np.log(exact(0)),
        lambda: np.log(3 - pi),
        lambda: pi / 0,
        lambda: 1 / (pi - pi),
        lambda: exact(1, 0),
        lambda: exact(0) ** -1,
        lambda: (3 - pi) ** 0.5,
        lambda: np.tan(pi / 2),
        lambda: np.arcsin(pi),
        lambda: pi + float("nan"),
        lambda: exact(float("inf")),
        lambda: np.exp(np.exp(np.exp(exact(10)))).enclose(),
        lambda: exact(3) ** 10**9,
        lambda: (pi**10**9).enclose(),
        lambda: float(pi ** -(10**9)),
    ],
)
def test_what_is_no_real_number_is_refused_with_a_sentence(attempt: Any) -> None:
    with pytest.raises(ExactDomainError, match=r"\w+ .*\."):
        attempt()


@pytest.mark.parametrize("value", [None, 1j, object(), "one", "1e99999", {}, b"1"])
def test_what_is_no_exact_number_is_refused(value: Any) -> None:
    with pytest.raises((InfimumError, TypeError), match="exact"):
        exact(value)


@pytest.mark.parametrize(
    ("constant", "text"),
    [
        (pi, "pi"),
        (pi / 3, "pi/3"),
        (-2 * pi / 3, "-2*pi/3"),
        (np.sqrt(exact(2)), "sqrt(2)"),
        (exact("0.1"), "exact('1/10')"),
        (exact(3), "exact(3)"),
        (pi + 1, "pi + 1"),
        (e - pi, "-pi + e"),
        (1 / pi, "1/pi"),
        (exact(2) ** pi, "(2)**(pi)"),
        (exact([1, 2]) * pi, "exact([pi, 2*pi])"),
    ],
)
def test_repr_is_readable(constant: Any, text: str) -> None:
    assert repr(constant) == text


# Beside intervals and arrays.


def test_beside_an_interval_a_constant_is_its_tightest_enclosure() -> None:
    x = Interval(1, 2)
    for found in (pi * x, x * pi, np.multiply(pi, x), np.multiply(x, pi), x * exact([pi, pi])[0]):
        assert isinstance(found, Interval)
        assert equal(found, pi.enclose() * x)
    assert pi in Interval(3, 4)
    assert pi not in Interval(math.pi)
    assert equal(Interval(-pi, pi), Interval((-pi).enclose().lo, pi.enclose().hi))
    assert equal(Interval(pi), pi.enclose())
    assert Interval([pi, e]).shape == (2,)
    assert pi > Interval(1, 2)
    assert subset(np.sin(Interval(pi)), Interval(-1e-15, 1e-15))
    assert equal(Interval(-2, 3) ** exact(2), Interval(0, 9))


def test_floats_beside_a_constant_are_exact_doubles() -> None:
    assert (0.1 * exact(10)).as_fraction() == Fraction(0.1) * 10
    assert (0.1 * exact(10)).as_fraction() == Fraction(0.1) * 10
    assert ((np.array([1, 2]) * pi) == exact([pi, 2 * pi])).all()


def test_beside_numpys_floats_an_exact_constant_is_its_nearest_double() -> None:
    x = np.array([0.1, 2.0])
    for value in (x * pi, pi * x, np.cos(2 * pi * x), np.mean(np.cos(pi * x)), x / np.sqrt(exact(np.arange(1, 3)))):
        assert isinstance(value, (np.ndarray, np.float64)) and value.dtype == np.float64
    assert np.array_equal(x * pi, x * np.pi) and type(x[0] * pi) is np.float64
    x *= pi
    assert np.array_equal(x, np.array([0.1, 2.0]) * np.pi)


def test_arrays_of_constants_follow_numpy() -> None:
    i = exact(np.arange(1, 6))
    assert (i.shape, i.size, i.ndim, len(i)) == ((5,), 5, 1, 5)
    assert i[2] == 3
    assert (i[1:3] == [2, 3]).all()
    assert [x.as_fraction() for x in i] == [1, 2, 3, 4, 5]
    assert i.sum() == np.sum(i) == 15
    assert (1 / i)[2].as_fraction() == Fraction(1, 3)
    assert (i**2 < 10).tolist() == [True, True, True, False, False]
    assert (i.reshape(5, 1) * i).shape == (5, 5)
    assert exact([[1, "0.5"], [Fraction(1, 3), pi]])[1, 1] == pi
    assert (np.cos(i * pi)).enclose().lo.tolist() == [-1, 1, -1, 1, -1]
    with pytest.raises(ShapeMismatch, match="broadcast"):
        i + exact([1, 2])
    with pytest.raises(ShapeMismatch, match="rows differ"):
        exact([[1, 2], [3]])
    with pytest.raises(UnsupportedValue, match="not offered"):
        np.sort(i)
    with pytest.raises(TypeError, match="unhashable"):
        hash(i)


def test_arrays_of_constants_beside_intervals_become_intervals() -> None:
    i = exact(np.arange(1, 4))
    found = Interval(0, 1) / i
    assert Fraction(1, 3) in found[2]
    assert found.shape == (3,)
    assert equal(i * Interval(1, 2), Interval([1, 2, 3], [2, 4, 6])).all()
    assert np.array(i, dtype=float).tolist() == [1, 2, 3]


def test_ten_thousand_square_roots_are_enclosed_quickly() -> None:
    started = time.process_time()
    roots = np.sqrt(exact(np.arange(1, 10_001))).enclose()
    assert time.process_time() - started < 5
    assert (roots.lo**2 <= np.arange(1, 10_001) * (1 + 1e-15)).all()
    assert roots[3].lo == roots[3].hi == 2
    assert (roots.hi <= np.nextafter(roots.lo, INF)).all()


def test_in_place_operators_rebind() -> None:
    x = y = pi
    x += 1
    assert (x, y) == (pi + 1, pi)

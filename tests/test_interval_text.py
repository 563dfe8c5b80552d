"""Text and intervals: what is read is enclosed, what is written contains, what is shown can be read again."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum import interval
from infimum.errors import InvalidText, UndefinedOperation
from infimum.interval import Interval
from infimum.interval.outward import above, below, nearest

INF = float("inf")
DATA = Path(__file__).parent / "data" / "itf1788.jsonl"
exhaustive = settings(derandomize=True, max_examples=300, deadline=None)
finite = st.floats(allow_nan=False, allow_infinity=False)


def vectors(op: str) -> list[tuple[str, list[str], str]]:
    records = [json.loads(line) for line in DATA.read_text().splitlines()]
    return [(r["args"][0]["text"], r["expected"][0], r.get("signal", "")) for r in records if r["op"] == op]


@pytest.mark.parametrize(("text", "expected", "signal"), vectors("b-textToInterval"))
def test_text_of_the_standard_is_enclosed_tightly_or_refused(text: str, expected: list[str], signal: str) -> None:
    if signal == "UndefinedOperation":
        with pytest.raises(InvalidText, match="Write"):
            Interval(text)
        with pytest.warns(UndefinedOperation):
            assert interval.is_empty(interval.text_to_interval(text))
        return
    read = Interval(text)
    if expected == ["empty"]:
        assert interval.is_empty(read)
        return
    assert [read.lo, read.hi] == [float.fromhex(end) for end in expected]


@given(st.fractions(max_denominator=10**30) | finite.map(Fraction))
@exhaustive
def test_neighbouring_doubles_are_the_tightest(q: Fraction) -> None:
    low, high = below(q), above(q)
    assert Fraction(low) <= q <= Fraction(high)
    assert low == high or np.nextafter(low, INF) == high
    assert nearest(q) == float(q)


@pytest.mark.parametrize(
    ("q", "low", "high"),
    [
        (Fraction(1, 2**1074), 5e-324, 5e-324),
        (Fraction(1, 2**1075), 0.0, 5e-324),
        (Fraction(-1, 2**1080), -5e-324, 0.0),
        (Fraction(3, 2**1075), 5e-324, 1e-323),
        (Fraction(2**1024), float.fromhex("0x1.fffffffffffffp+1023"), INF),
        (Fraction(-(10**400)), -INF, -float.fromhex("0x1.fffffffffffffp+1023")),
        (Fraction(2**53 + 1), 2.0**53, 2.0**53 + 2),
    ],
)
def test_neighbouring_doubles_at_the_ends_of_the_range(q: Fraction, low: float, high: float) -> None:
    assert (below(q), above(q)) == (low, high)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=25))
@exhaustive
def test_decimal_text_lies_in_its_enclosure(number: object) -> None:
    read = Interval(str(number))
    assert Fraction(str(number)) in read
    assert read.lo == read.hi or np.nextafter(read.lo, INF) == read.hi


@pytest.mark.parametrize("text", ["1e400", "1e999999999", "-1e999999999", "1e-999999999", "0x1p999999", "0e99999999"])
def test_huge_exponents_are_enclosed_without_writing_them_out(text: str) -> None:
    read = Interval(text)
    largest = float.fromhex("0x1.fffffffffffffp+1023")
    expected = {
        "1e400": (largest, INF),
        "1e999999999": (largest, INF),
        "-1e999999999": (-INF, -largest),
        "1e-999999999": (0.0, 5e-324),
        "0x1p999999": (largest, INF),
        "0e99999999": (0.0, 0.0),
    }
    assert (read.lo, read.hi) == expected[text]


@pytest.mark.parametrize(
    "text", ["", "one", "1.2.3", "[1, 2", "[1, 2, 3]", "[2, 1]", "1/0", "[nan]", "inf", "1" * 9999]
)
def test_illegal_text_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(InvalidText, match="Write"):
        Interval(text)


def test_arrays_of_text_are_read_element_by_element() -> None:
    read = Interval(["0.1", "[1, 2]"])
    assert read.shape == (2,)
    assert Fraction(1, 10) in read[0]
    assert (read[1].lo, read[1].hi) == (1.0, 2.0)


def test_two_texts_are_the_two_ends() -> None:
    read = Interval("-1/3", "0.1")
    assert Fraction(-1, 3) in read
    assert Fraction(1, 10) in read


@given(finite, finite)
@exhaustive
def test_repr_evaluates_to_the_same_interval(a: float, b: float) -> None:
    x = Interval(min(a, b), max(a, b))
    again = eval(repr(x), {"Interval": Interval})
    assert interval.equal(x, again)


@pytest.mark.parametrize(
    "x",
    [
        Interval([0.1, 0.2], [0.3, 0.4]),
        Interval([[1, 2], [3, 4]]),
        interval.empty(),
        interval.entire(),
        Interval(0, INF),
        Interval([0, INF, -INF], [1, -INF, INF]),
        Interval(np.zeros((0,))),
        Interval(np.zeros((0, 3))),
    ],
)
def test_repr_of_arrays_and_special_intervals_evaluates_to_the_same(x: Interval) -> None:
    again = eval(repr(x), {"Interval": Interval})
    assert again.shape == x.shape
    assert np.all(interval.equal(x, again))


def test_repr_shows_the_shortest_floats() -> None:
    assert repr(Interval(0.1, 0.2)) == "Interval(0.1, 0.2)"
    assert repr(Interval(0.1)) == "Interval(0.1)"
    assert repr(interval.empty()) == "Interval('[empty]')"


def written_ends(text: str) -> tuple[Fraction, Fraction]:
    """Return the decimal numbers that stand in brackets, exactly."""
    ends = [Fraction(part) for part in text.strip("[]").split(", ")]
    return ends[0], ends[-1]


@given(finite, finite, st.integers(1, 20))
@exhaustive
def test_written_digits_contain_the_interval(a: float, b: float, digits: int) -> None:
    x = Interval(min(a, b), max(a, b))
    assert interval.subset(x, Interval(f"{x:.{digits}}"))
    assert interval.subset(x, Interval(str(x)))


@given(finite, finite, st.integers(1, 20))
@exhaustive
def test_written_digits_contain_the_interval_as_exact_decimals_and_waste_no_digit(a: float, b: float, n: int) -> None:
    x = Interval(min(a, b), max(a, b))
    text = f"{x:.{n}g}"
    lo, hi = written_ends(text)
    assert lo <= Fraction(x.lo) and Fraction(x.hi) <= hi, text
    for end, written in ((Fraction(x.lo), lo), (Fraction(x.hi), hi)):
        # A unit of the last of n digits is at most 10**(1 - n) of a number.
        assert abs(end - written) <= max(abs(end), abs(written)) * Fraction(10) ** (1 - n), text
    for part in text.strip("[]").split(", "):
        mantissa = part.partition("e")[0].lstrip("-").replace(".", "")
        assert len(mantissa.strip("0")) <= n, text


def test_general_format_of_arrays_and_special_intervals() -> None:
    assert f"{Interval(1 / 3, 2 / 3):.3g}" == f"{Interval(1 / 3, 2 / 3):.3}" == "[0.333, 0.667]"
    assert f"{Interval([1 / 3, 2], [INF, 2]):.1g}" == "[[0.3, inf], [2]]"
    assert f"{interval.empty():.3g}" == "[empty]" and f"{interval.entire():.3g}" == "[entire]"
    for wrong in ("g", ".0g", ".g", ".3e", ">10", ".3gg", ".٣"):
        with pytest.raises(ValueError, match="Write for instance"):
            format(Interval(1), wrong)


@given(finite, finite)
@exhaustive
def test_the_width_is_the_smallest_double_above_the_difference(a: float, b: float) -> None:
    lo, hi = min(a, b), max(a, b)
    width = above(Fraction(hi) - Fraction(lo))
    assert Interval(lo, hi).width == width
    assert Interval([lo, 0.0], [hi, INF]).width.tolist() == [width, INF]


def test_the_empty_interval_has_no_width() -> None:
    assert np.isnan(interval.empty().width)


def test_written_digits_are_rounded_outward() -> None:
    assert str(Interval(0.5, 2)) == "[0.5, 2]"
    assert str(Interval(0.1)) == "[0.1, 0.10000000000000001]"
    assert f"{Interval(1 / 3, 2 / 3):.3}" == "[0.333, 0.667]"
    assert f"{Interval(-2 / 3, 1e-30):.2}" == "[-0.67, 1.1e-30]"
    assert str(interval.entire()) == "[entire]"
    with pytest.raises(ValueError, match="Write for instance"):
        f"{Interval(1):.3f}"

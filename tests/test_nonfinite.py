"""Where NumPy makes a number of an infinity or of NaN, the traced function is that number, or it is refused."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.errors import TraceError
from infimum.tracing.trace import trace_graph
from nonfinite_functions import NUMBERS, POINTS, function, text

Ends = tuple[Any, Any] | None


def differences(f: Callable[[Any], Any], points: Any = POINTS, box: Ends = None) -> list[str] | None:
    """Return where the traced function is not NumPy's, or None if it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            traced = infimum.trace(f, points.shape[1], box=box)
        except TraceError:
            return None
    pairs = np.stack([points, points], 2)
    range_of_f, defined = traced.enclose(pairs), traced.facts(pairs).defined
    found = []
    for x, lo, hi, certain in zip(points, range_of_f.lo, range_of_f.hi, np.atleast_1d(defined), strict=True):
        with np.errstate(all="ignore"):
            value = float(np.asarray(f(x.copy())))
        slack = 1e-7 * abs(value)
        if np.isfinite(value) and not (certain and lo - slack <= value <= hi + slack):
            found.append(f"{x}: NumPy {value!r}, traced [{lo!r}, {hi!r}], defined: {certain}")
        if not np.isfinite(value) and certain and max(abs(lo), abs(hi)) < 1e300:  # beyond, it is overflow
            found.append(f"{x}: NumPy {value!r}, traced [{lo!r}, {hi!r}]")
    return found


LINE = np.array(NUMBERS)[:, None]
MUST_TRACE = {
    "a comparison with NaN is false": lambda x: np.where(np.sqrt(x[0]) > 1, 5.0, x[0]),
    "a comparison with NaN turned round is true": lambda x: np.where(~(np.sqrt(x[0]) > 1), 5.0, x[0]),
    "NaN differs from everything": lambda x: np.where(np.log(x[0]) != 0, 5.0, x[0]),
    "and of comparisons": lambda x: np.where((np.sqrt(x[0]) > 1) & (x[0] < 2.5), 5.0, x[0]),
    "or of comparisons": lambda x: np.where((np.sqrt(x[0]) > 1) | (x[0] < -1.5), 5.0, x[0]),
    "select": lambda x: np.select([np.sqrt(x[0]) > 1, np.log(x[0]) < 0], [1.0, 2.0], 3.0),
    "clip of a pole": lambda x: np.clip(np.log(np.abs(x[0])), -3.0, 0.5),
    "exp of minus a pole": lambda x: np.exp(-1 / np.maximum(x[0], 0)),
    "maximum with a pole": lambda x: np.maximum(np.log(np.maximum(x[0], 0)), -10),
    "exp(-1/x**2)": lambda x: np.exp(-1 / x[0] ** 2),
    "parallel resistors": lambda x: 1 / (1 / x[0] + 1 / 2),
    "nansum": lambda x: np.nansum(np.sqrt(np.array([x[0], 1 - x[0]]))),
    "nanmax": lambda x: np.nanmax(np.array([np.sqrt(x[0]), -1.0])),
    "nanmean": lambda x: np.nanmean(np.array([np.sqrt(x[0]), np.log(1 + x[0] ** 2)])),
    "fmin": lambda x: np.fmin(np.sqrt(x[0]), 1.0),
    "max of Python, NaN first": lambda x: max(np.sqrt(x[0]), -1),
    "max of Python, NaN last": lambda x: max(-1, np.sqrt(x[0])),
    "any of comparisons": lambda x: np.any(np.log(np.array([x[0], 2 - x[0]])) < 0) * 1.0 + x[0],
    "the power 0 of NaN": lambda x: np.log(x[0]) ** 0 + (x[0] - 1) ** 2,
    "a sum over powers from 0 on": lambda x: sum(c * np.log(x[0]) ** k for k, c in enumerate([3, 0, 1])),
    "an array of exponents, integers among them": lambda x: np.sum(x[0] ** np.array([0, 1, 2.5])) + x[0],
    "integers in an array of floats": lambda x: np.sum(x[0] ** np.array([1.0, 2.0, 3.0])),
    "an exponent of 2**40": lambda x: (x[0] / 3) ** (2**40),
    "an odd exponent beyond 2**31": lambda x: (x[0] / 3) ** (2**40 + 1),
    "a traced integer exponent": lambda x: x[0] ** np.round(x[0]),
    "powers of -1": lambda x: (-1.0) ** np.floor(x[0]),
    "0**0 in a fit": lambda x: np.sum(x[0] * np.array([0.0, 1.0, 2.0]) ** np.abs(x[0])),
    "x**x": lambda x: x[0] ** x[0],
    "the sign of a zero": lambda x: np.arctan(1 / (-x[0])),
    "the sign bit of a zero": lambda x: np.copysign(2.0, -x[0]),
    "atan2 at the origin": lambda x: np.arctan2(x[0], np.abs(x[0])),
    "atan2 behind a negative zero": lambda x: np.arctan2(-(x[0] - 1) * 0.0, -1.0) + x[0],
    "isnan": lambda x: np.where(np.isnan(np.sqrt(x[0])), 3.0, x[0]),
    "isfinite": lambda x: np.where(np.isfinite(np.sqrt(x[0])), x[0], -7.0),
    "nan_to_num": lambda x: np.nan_to_num(np.sqrt(x[0]), nan=-3.0),
    "constants that are -0.0": lambda x: np.sum(np.arctan2(-np.arange(3.0), x[0] - 3.5)) + x[0],
    "a branch that is -0.0": lambda x: np.arctan(-1 / np.where(x[0] > 0.5, x[0], -0.0)),
    "the zero of an integer": lambda x: np.signbit(int(x[0]) * -1.0) * 1.0 + x[0],
    "the power 0 of an array": lambda x: np.sum(np.power(np.log(x), np.array([0])) * x),
    "the largest of logarithms": lambda x: np.max(np.log(np.abs(np.array([x[0], x[0] - 1])))),
}


ABOUT_OVERFLOW = ("isnan", "isfinite", "nan_to_num")  # questions that have an answer only where doubles suffice


@pytest.mark.parametrize("name", MUST_TRACE)
def test_what_numpy_makes_of_infinities_and_nan_is_traced(name: str) -> None:
    box = (LINE.min(0), LINE.max(0)) if name in ABOUT_OVERFLOW else None
    assert differences(MUST_TRACE[name], LINE, box) == []


@pytest.mark.parametrize("name", ABOUT_OVERFLOW)
def test_whether_doubles_overflow_is_not_asked(name: str) -> None:
    with pytest.raises(TraceError, match="overflow"):
        infimum.trace(MUST_TRACE[name], 1)


@pytest.mark.parametrize("part", range(8))
def test_random_functions_are_numpys_or_refused(part: int, pytestconfig: pytest.Config) -> None:
    count = pytestconfig.getoption("--arguments") // 400
    traced = 0
    for number in range(part * count, (part + 1) * count):
        draw = random.Random(number)
        source = text(draw, 4)
        box, points = None, POINTS
        if number % 2:
            ends = np.array([sorted(draw.sample(NUMBERS, 2)) for _ in range(2)])
            box = ends[:, 0], ends[:, 1]
            points = np.array([x for x in POINTS if (box[0] <= x).all() and (x <= box[1]).all()])
        try:
            found = differences(function(source), points, box)
        except (
            TypeError,
            ZeroDivisionError,
        ):  # of complex numbers, and of Python's own division: NumPy's run has it too
            with pytest.raises((TypeError, ZeroDivisionError)), np.errstate(all="ignore"):
                float(np.asarray(function(source)(np.array([0.7, 1.3]))))
            continue
        assert not found, f"number {number}: {source}: {found}"
        traced += found is not None
    assert traced > count // 3


def test_a_special_case_outside_the_bounds_leaves_no_trace() -> None:
    def rate(x: Any) -> Any:
        return np.exp(-1000 / (8.3 * x[0])) * (x[0] / 300) ** x[1]

    inside = infimum.trace(rate, 2, box=(np.array([300.0, -1.0]), np.array([1000.0, 2.0])))
    assert "where" not in inside.show()
    assert "where" in infimum.trace(rate, 2).show()


def test_a_doubtful_pole_is_refused_with_the_line_and_only_where_it_can_occur() -> None:
    def f(x: Any) -> Any:
        return np.exp(-1 / np.prod(x))

    with pytest.raises(TraceError, match=r"test_nonfinite.py:\d+ .*np.exp"):
        infimum.trace(f, 2)
    infimum.trace(f, 2, box=(np.array([1.0, 1.0]), np.array([2.0, 2.0])))


@pytest.mark.parametrize(
    ("f", "bounds", "least"),
    [
        (lambda x: np.where(np.sqrt(x[0]) > 1, 5.0, x[0]), (-10, 10), -10.0),
        (lambda x: np.log(x[0]) ** 0 + (x[0] - 1) ** 2, (-3, 3), 1.0),
        (lambda x: sum(c * np.log(x[0]) ** k for k, c in enumerate([3, 0, 1])), (0.1, 3), 3.0),
        (lambda x: np.exp(-1 / np.maximum(x[0], 0)), (-1, 1), 0.0),
        (lambda x: np.maximum(np.log(np.maximum(x[0], 0)), -10), (-1, 1), -10.0),
    ],
)
def test_the_minimum_is_that_of_numpys_function(f: Any, bounds: Any, least: float) -> None:
    result = infimum.minimize(f, [bounds])
    assert result.minimum.lo <= least <= result.minimum.hi and result.minimum.hi - result.minimum.lo < 1e-6


# --- signs of zeros, and Python's own numbers ------------------------------------------------------------------------


def _thin(x: Any) -> Any:
    """Below 0 on a slice that no random point meets."""
    return np.abs(3 * x[0] + x[1] - 1.7041) - 1e-4


def _caught(x: Any) -> Any:
    try:
        return 1 / max(_thin(x), 0)
    except ZeroDivisionError:
        return -5.0


class _Timer:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> bool:
        return True


def _swallowed(x: Any) -> Any:
    with _Timer():
        return math.sqrt(x[0])
    return 5.0


@pytest.mark.parametrize(
    ("f", "bounds"),
    [
        (lambda x: np.exp(-1 / (1 / np.log(x[0]))), [(0, 0.5)]),
        (lambda x: np.where(1 / (-1 / (1 / x[0] ** 2)) > 0, -5, x[0] ** 2), [(-1, 1)]),
        (lambda x: np.exp(1 / np.sum(-np.floor(x))), [(0, 1.5)]),
        (lambda x: np.exp(-min(math.inf, np.sqrt(_thin(x)))), [(0, 1)] * 2),
        (lambda x: np.exp(-np.fmin(np.inf, np.sqrt(_thin(x)))), [(0, 1)] * 2),
        (lambda x: abs(float(_thin(x)) ** 1.5) - 5 * (_thin(x) < -5e-5) + x[0], [(0, 1)] * 2),
        (lambda x: np.exp(-1 / max(x[0], 0)), [(-1, 1)]),
        (_caught, [(0, 1)] * 2),
        (_swallowed, [(-1, 1)]),
    ],
)
def test_what_depends_on_the_sign_of_a_zero_or_on_whose_number_it_is_is_refused(f: Any, bounds: Any) -> None:
    with pytest.raises(TraceError):
        infimum.minimize(f, bounds)


@pytest.mark.parametrize("f", [lambda x: np.exp(-1 / float(x[0])), lambda x: np.exp(math.log(x[0])) + x[0]])
def test_where_python_raises_an_error_there_is_no_value(f: Any) -> None:
    traced = infimum.trace(f, 1)
    assert not traced.facts([(0, 0)]).defined and traced.enclose([(0, 0)]).lo == np.inf
    assert traced.facts([(1, 1)]).defined


def test_a_base_that_is_always_negative_zero_is_not_taken_for_zero() -> None:
    with pytest.raises(TraceError, match="may be infinite"):
        trace_graph(lambda x: np.arctan((-0.0 * x[0] ** 2) ** np.round(x[0])) + x[0], 1)

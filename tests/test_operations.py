"""A record says nothing false of its operation: it agrees with the core, with NumPy and with the real function."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from infimum import core
from infimum.ops import OPERATIONS, Operation, ufunc_names

LINE = (-math.inf, math.inf)
ELEMENTWISE = [row for row in OPERATIONS.values() if row.name not in ("pown", "where")]
UNARY = [row for row in ELEMENTWISE if row.arity == 1]
NUMBERS = np.array([-7.5, -2.0, -1.0, -0.75, -0.5, -1e-9, 0.0, 1e-300, 1e-9, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 20.0])
# Rows of the core that are no operation of a function of the user's.
SETS = {"hull", "intersection", "cancel_minus", "cancel_plus", "fma"}
ENDS = {"mid", "rad", "wid", "mag", "mig", "step_low", "step_high"}
CONTINUED = {"sin_over_x", "expm1_over_x", "sinh_over_x"}

each = pytest.mark.parametrize("row", ELEMENTWISE, ids=lambda row: row.name)
each_unary = pytest.mark.parametrize("row", UNARY, ids=lambda row: row.name)


def enclosure(op: str, *operands: tuple[float, float]) -> tuple[float, float]:
    lo, hi = core.apply(op, *((np.array([a]), np.array([b])) for a, b in operands))
    return float(lo[0]), float(hi[0])


def facts(op: str, *operands: tuple[float, float], param: int = 0) -> tuple[bool, bool]:
    defined, smooth = core.facts(op, *((np.array([a]), np.array([b])) for a, b in operands), param=param)
    return bool(defined[0]), bool(smooth[0])


def points(row: Operation) -> list[tuple[float, ...]]:
    """Numbers for which the operation is defined."""
    every = itertools.product(NUMBERS.tolist(), repeat=row.arity)
    return [x for x in every if facts(row.name, *((v, v) for v in x))[0]]


def in_doubles(row: Operation, *x: float) -> float:
    with np.errstate(over="ignore"):
        return float(row.point(*x))


# --- the core --------------------------------------------------------------------------------------------------------


def test_every_row_of_the_core_has_a_record_or_is_no_operation_of_a_function() -> None:
    reverse = {name for name in core.operations() if "_rev" in name}
    assert set(core.operations()) - set(OPERATIONS) == SETS | ENDS | CONTINUED | reverse
    assert set(OPERATIONS) <= set(core.operations())


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.name)
def test_the_core_takes_as_many_operands_as_the_record_says(row: Operation) -> None:
    assert core.operations()[row.name].arity == row.arity


@each
def test_the_core_knows_the_same_facts_on_the_whole_line(row: Operation) -> None:
    assert facts(row.name, *[LINE] * row.arity) == (row.facts != "checked", row.facts == "everywhere")


def test_only_the_exponent_decides_where_an_integer_power_is_defined() -> None:
    assert OPERATIONS["pown"].facts == "checked"
    assert facts("pown", LINE, param=3) == (True, True)
    assert facts("pown", LINE, param=-1) == (False, False)


@each_unary
def test_the_core_is_defined_inside_the_domain_and_at_an_end_without_a_pole(row: Operation) -> None:
    if row.domain is None:
        return
    for end, pole, inward, outward in (
        (row.domain.least, row.domain.at_least, math.inf, -math.inf),
        (row.domain.most, row.domain.at_most, -math.inf, math.inf),
    ):
        if math.isfinite(end):
            inside, outside = math.nextafter(end, inward), math.nextafter(end, outward)
            assert facts(row.name, (inside, inside))[0]
            assert facts(row.name, (end, end))[0] == (pole is None)
            assert not facts(row.name, (outside, outside))[0]


@each
def test_what_is_never_negative_has_no_negative_enclosure(row: Operation) -> None:
    if row.nonnegative:
        assert enclosure(row.name, *[LINE] * row.arity)[0] >= 0


@each
def test_the_ends_of_a_monotone_operation_lie_at_corners(row: Operation) -> None:
    if not row.monotone:
        return
    found = points(row)
    for a, b in list(itertools.combinations(found, 2))[::7]:
        box = [(min(u, v), max(u, v)) for u, v in zip(a, b, strict=True)]
        if not facts(row.name, *box)[0]:
            continue
        corners = [enclosure(row.name, *((v, v) for v in x)) for x in itertools.product(*box)]
        assert enclosure(row.name, *box) == (min(lo for lo, _ in corners), max(hi for _, hi in corners))


# --- NumPy and Python ------------------------------------------------------------------------------------------------


@each
def test_a_number_in_doubles_is_as_near_as_the_record_says(row: Operation) -> None:
    for x in points(row) if ufunc_names(row.name) else ():
        lo, hi = enclosure(row.name, *((v, v) for v in x))
        slack = row.ulps * max(abs(lo), abs(hi)) * 2.0**-52 + row.slack
        assert lo - slack <= in_doubles(row, *x) <= hi + slack, x


@each
def test_numpy_and_math_compute_what_the_record_computes(row: Operation) -> None:
    for x in points(row):
        here = in_doubles(row, *x)
        for name in ufunc_names(row.name):
            if hasattr(np, name):
                with np.errstate(over="ignore"):
                    assert getattr(np, name)(*x) == pytest.approx(here, rel=1e-14, abs=1e-300)
        for name in row.math:
            if not hasattr(math, name):
                continue
            try:
                there = getattr(math, name)(*x)
            except OverflowError:
                assert row.raises and math.isinf(here)
                continue
            assert there == pytest.approx(here, rel=1e-14, abs=1e-300)


@each_unary
def test_math_raises_no_error_where_the_record_says_so(row: Operation) -> None:
    for name in row.math:
        if not row.raises and hasattr(math, name):
            for x in (*NUMBERS.tolist(), 1e308, -1e308, math.inf, -math.inf, math.nan):
                getattr(math, name)(x)


@each_unary
def test_a_zero_has_the_sign_that_the_record_says(row: Operation) -> None:
    # Of -0.0 the sign of a result that is 0; the operation is continuous there, or a rounding.
    with np.errstate(all="ignore"):
        numbers = (-0.0, 0.0, -0.25, *NUMBERS.tolist()) if ufunc_names(row.name) else ()
        found = [(x, row.point(x)) for x in numbers]
    for x, y in found:
        negative = bool(np.signbit(y))
        if y != 0:
            continue
        if row.zero == "positive":
            assert not negative, x
        if row.zero == "operand":
            assert negative == (x == 0 and bool(np.signbit(x))), x
        if row.zero == "rounded":
            assert negative == bool(np.signbit(x)), x


@each
def test_integers_stay_integers_up_to_the_size_that_the_record_says(row: Operation) -> None:
    if row.whole is None:
        return
    integers = [-5.0, -2.0, -1.0, 0.0, 1.0, 3.0, 7.0]
    for x in itertools.product(integers, repeat=row.arity):
        if facts(row.name, *((v, v) for v in x))[0]:
            y = float(row.point(*x))
            assert y == round(y) and abs(y) <= row.whole(*map(abs, x))


# --- the real function -----------------------------------------------------------------------------------------------


@each_unary
def test_an_operation_is_its_operand_times_its_factors(row: Operation) -> None:
    if not row.factors:
        return
    for (x,) in points(row):
        y = enclosure(row.name, (x, x))
        product: Any = (x, x)
        for factor in row.factors:
            part = enclosure(factor.op, (x, x) if factor.of == "operand" else y)
            product = enclosure("mul" if factor.power == 1 else "div", product, part)
        assert product[0] <= y[1] and y[0] <= product[1]


@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.name)
def test_steps_jump_and_nothing_else_is_constant(row: Operation) -> None:
    if row.values != "reals":
        assert row.jump is not None and row.facts == "defined"

"""The facts `defined` and `smooth` of each operation, case by case.

defined: the operation is defined on the whole box. smooth: it is differentiable on an open neighbourhood of the box.
Of a box with an empty side nothing is claimed: both are false.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import infimum.core
import oracle
import samples

Box = tuple[tuple[float, float], ...]

INF = math.inf
TINY = 2.0**-1074
AFTER_1 = math.nextafter(1.0, 2.0)
BEFORE_1 = math.nextafter(1.0, 0.0)
RIGHT_ANGLE = math.pi / 2  # the double below the real number

SMOOTH, KINK, UNDEFINED = (True, True), (True, False), (False, False)

EVERYWHERE = [
    "neg", "add", "sub", "mul", "sqr", "fma", "exp", "exp2", "exp10", "expm1", "sin", "cos", "sinpi", "cospi", "atan",
    "sinh", "cosh", "tanh", "asinh", "sin_over_x", "expm1_over_x", "sinh_over_x", "erf", "erfc",
]  # fmt: skip
NO_POINT_FUNCTION = {"hull", "intersection", "step_low", "step_high", "mid", "rad", "wid", "mag", "mig"}

ROOTS: dict[str, list[tuple[Box, tuple[bool, bool]]]] = {
    "sqrt": [
        (((1, 2),), SMOOTH), (((TINY, INF),), SMOOTH), (((0, 0),), KINK), (((0, 1),), KINK), (((0, INF),), KINK),
        (((-TINY, 1),), UNDEFINED), (((-2, -1),), UNDEFINED), (((-INF, INF),), UNDEFINED),
    ],
    "x_log_x": [
        (((1, 2),), SMOOTH), (((TINY, INF),), SMOOTH), (((0, 0),), KINK), (((0, 1),), KINK), (((0, INF),), KINK),
        (((-TINY, 1),), UNDEFINED), (((-2, -1),), UNDEFINED),
    ],
    "cbrt": [
        (((1, 2),), SMOOTH), (((-2, -1),), SMOOTH), (((TINY, INF),), SMOOTH), (((0, 0),), KINK), (((0, 1),), KINK),
        (((-1, 0),), KINK), (((-1, 1),), KINK), (((-INF, INF),), KINK),
    ],
    "hypot": [
        (((1, 2), (3, 4)), SMOOTH), (((-1, 1), (3, 4)), SMOOTH), (((0, 0), (3, 4)), SMOOTH),
        (((1, 2), (-1, 1)), SMOOTH),
        (((0, 0), (0, 0)), KINK), (((-1, 1), (0, 4)), KINK), (((0, 1), (-1, 0)), KINK),
        (((-INF, INF), (-INF, INF)), KINK),
    ],
}  # fmt: skip
LOGARITHMS: dict[str, list[tuple[Box, tuple[bool, bool]]]] = {
    **dict.fromkeys(
        ("log", "log2", "log10", "lgamma", "digamma", "trigamma"),
        [
            (((1, 2),), SMOOTH), (((TINY, INF),), SMOOTH), (((0, 1),), UNDEFINED), (((0, 0),), UNDEFINED),
            (((-1, 1),), UNDEFINED), (((-2, -1),), UNDEFINED),
        ],
    ),
    "log1p": [
        (((1, 2),), SMOOTH), (((-BEFORE_1, INF),), SMOOTH), (((-1, 1),), UNDEFINED), (((-1, -1),), UNDEFINED),
        (((-3, 1),), UNDEFINED), (((-3, -2),), UNDEFINED),
    ],
}  # fmt: skip
INVERSES: dict[str, list[tuple[Box, tuple[bool, bool]]]] = {
    **dict.fromkeys(
        ("asin", "acos"),
        [
            (((-0.5, 0.5),), SMOOTH), (((-BEFORE_1, BEFORE_1),), SMOOTH), (((-1, 1),), KINK), (((0, 1),), KINK),
            (((-1, 0),), KINK), (((1, 1),), KINK), (((0, AFTER_1),), UNDEFINED), (((-AFTER_1, 0),), UNDEFINED),
            (((2, 3),), UNDEFINED), (((-INF, INF),), UNDEFINED),
        ],
    ),
    "atanh": [
        (((-0.5, 0.5),), SMOOTH), (((-BEFORE_1, BEFORE_1),), SMOOTH), (((0, 1),), UNDEFINED), (((-1, 0),), UNDEFINED),
        (((2, 3),), UNDEFINED),
    ],
    "acosh": [
        (((AFTER_1, INF),), SMOOTH), (((2, 3),), SMOOTH), (((1, 1),), KINK), (((1, INF),), KINK),
        (((BEFORE_1, 2),), UNDEFINED), (((-3, -2),), UNDEFINED),
    ],
    "atan2": [
        (((1, 2), (-1, 1)), SMOOTH), (((-2, -1), (-1, 1)), SMOOTH), (((-1, 1), (1, 2)), SMOOTH),
        (((0, 1), (1, 2)), SMOOTH),
        (((0, 0), (1, 2)), SMOOTH), (((-1, 1), (TINY, INF)), SMOOTH), (((TINY, 1), (-INF, INF)), SMOOTH),
        (((0, 1), (-2, -1)), KINK), (((-1, 0), (-2, -1)), KINK), (((-1, 1), (-2, -1)), KINK),
        (((0, 0), (-2, -1)), KINK),
        (((0, 0), (0, 0)), UNDEFINED), (((-1, 1), (0, 1)), UNDEFINED), (((0, 1), (-1, 0)), UNDEFINED),
        (((-1, 0), (0, 1)), UNDEFINED), (((-INF, INF), (-INF, INF)), UNDEFINED),
    ],
    "tan": [
        (((-1, 1),), SMOOTH), (((2, 4),), SMOOTH), (((RIGHT_ANGLE, RIGHT_ANGLE),), SMOOTH),
        (((-RIGHT_ANGLE, RIGHT_ANGLE),), SMOOTH), (((RIGHT_ANGLE, math.nextafter(RIGHT_ANGLE, 2)),), UNDEFINED),
        (((1, 2),), UNDEFINED), (((26, 27),), UNDEFINED), (((0, 4),), UNDEFINED), (((0, INF),), UNDEFINED),
    ],
}  # fmt: skip
QUOTIENTS: dict[str, list[tuple[Box, tuple[bool, bool]]]] = {
    "div": [
        (((1, 2), (3, 4)), SMOOTH), (((-1, 1), (-4, -3)), SMOOTH), (((0, 0), (TINY, INF)), SMOOTH),
        (((1, 2), (0, 1)), UNDEFINED), (((1, 2), (-1, 0)), UNDEFINED), (((1, 2), (-1, 1)), UNDEFINED),
        (((0, 0), (0, 0)), UNDEFINED), (((1, 2), (-INF, INF)), UNDEFINED),
    ],
    "recip": [
        (((1, 2),), SMOOTH), (((-2, -TINY),), SMOOTH), (((TINY, INF),), SMOOTH), (((0, 1),), UNDEFINED),
        (((-1, 0),), UNDEFINED), (((-1, 1),), UNDEFINED), (((0, 0),), UNDEFINED),
    ],
    "mod": [
        (((0.25, 0.75), (1, 1)), SMOOTH), (((-0.75, -0.25), (1, 1)), SMOOTH), (((7.5, 8.5), (3, 3)), SMOOTH),
        (((0.25, 0.75), (-1, -1)), SMOOTH), (((3.25, 3.5), (1.25, 1.5)), SMOOTH), (((0, 0.5), (1, 1)), KINK),
        (((0.5, 1), (1, 1)), KINK), (((0.5, 1.5), (1, 1)), KINK), (((2, 2), (1, 1)), KINK),
        (((3, 4), (1.25, 2.5)), KINK),
        (((1, INF), (1, 1)), KINK), (((1, 2), (0, 1)), UNDEFINED), (((1, 2), (-1, 1)), UNDEFINED),
        (((1, 2), (0, 0)), UNDEFINED),
    ],
}  # fmt: skip
POWERS: dict[str, list[tuple[Box, tuple[bool, bool]]]] = {
    "pow": [
        (((1, 2), (-3, 4)), SMOOTH), (((TINY, INF), (-INF, INF)), SMOOTH), (((0, 1), (1, 2)), KINK),
        (((0, 0), (2, 2)), KINK),
        (((0, 1), (TINY, 1)), KINK), (((0, 1), (0, 1)), UNDEFINED), (((0, 1), (-1, 1)), UNDEFINED),
        (((0, 1), (0, 0)), UNDEFINED), (((-1, 1), (1, 2)), UNDEFINED), (((-2, -1), (2, 2)), UNDEFINED),
    ],
}  # fmt: skip
STEPS: dict[str, list[tuple[Box, tuple[bool, bool]]]] = {
    **dict.fromkeys(
        ("floor", "ceil"),
        [
            (((0.25, 0.75),), SMOOTH), (((-1.75, -1.25),), SMOOTH), (((AFTER_1, math.nextafter(2.0, 0.0)),), SMOOTH),
            (((1, 1.5),), KINK), (((0.5, 1),), KINK), (((0.5, 1.5),), KINK), (((3, 3),), KINK), (((0, 0.5),), KINK),
            (((-0.5, 0.5),), KINK), (((2.0**53, 2.0**53),), KINK), (((0.5, INF),), KINK), (((-INF, INF),), KINK),
        ],
    ),
    "trunc": [
        (((0.25, 0.75),), SMOOTH), (((-1.75, -1.25),), SMOOTH), (((1, 1.5),), KINK), (((0.5, 1),), KINK),
        (((0.5, 1.5),), KINK), (((-3, -3),), KINK), (((2.0**53, 2.0**53),), KINK), (((-INF, INF),), KINK),
    ],
    **dict.fromkeys(
        ("round_ties_to_even", "round_ties_to_away"),
        [
            (((0.75, 1.25),), SMOOTH), (((-0.25, 0.25),), SMOOTH), (((3, 3),), SMOOTH), (((0.25, 0.75),), KINK),
            (((0.5, 0.5),), KINK), (((2.5, 3),), KINK), (((1, 1.5),), KINK), (((-2.5, -2),), KINK),
            (((0, INF),), KINK),
        ],
    ),
    "sign": [
        (((1, 2),), SMOOTH), (((-INF, -TINY),), SMOOTH), (((0, 0),), KINK), (((0, 1),), KINK), (((-1, 0),), KINK),
        (((-1, 1),), KINK),
    ],
    "abs": [
        (((1, 2),), SMOOTH), (((-INF, -TINY),), SMOOTH), (((0, 0),), KINK), (((0, 1),), KINK), (((-1, 0),), KINK),
        (((-1, 1),), KINK),
    ],
    **dict.fromkeys(
        ("min", "max", "is_less", "is_less_equal", "is_equal"),
        [
            (((0, 1), (2, 3)), SMOOTH), (((2, 3), (0, 1)), SMOOTH), (((0, 1), (1, 2)), KINK), (((1, 2), (0, 1)), KINK),
            (((0, 2), (1, 3)), KINK), (((1, 1), (1, 1)), KINK), (((-INF, INF), (0, 0)), KINK),
            (((-INF, 0), (1, INF)), SMOOTH),
        ],
    ),
}  # fmt: skip
BRANCHES: dict[str, list[tuple[Box, tuple[bool, bool]]]] = {
    "where": [
        (((1, 1), (0, 1), (2, 3)), SMOOTH), (((0, 0), (0, 1), (2, 3)), SMOOTH), (((0, 1), (0, 1), (2, 3)), UNDEFINED),
        (((1, 1), (0, 1), oracle.EMPTY), SMOOTH), (((0, 0), oracle.EMPTY, (2, 3)), SMOOTH),
        (((1, 1), oracle.EMPTY, (2, 3)), UNDEFINED), (((0, 0), (0, 1), oracle.EMPTY), UNDEFINED),
        (((0, 0.5), (0, 1), (0, 1)), UNDEFINED), (((2, 2), (0, 1), (0, 1)), UNDEFINED),
    ],
}  # fmt: skip
TABLES = {**ROOTS, **LOGARITHMS, **INVERSES, **QUOTIENTS, **POWERS, **STEPS, **BRANCHES}
CASES = [(op, box, expected) for op, table in TABLES.items() for box, expected in table]


def _facts(op: str, box: Box, param: int = 0, variant: str | None = None) -> tuple[bool, bool]:
    defined, smooth = infimum.core.facts(op, *[(float(lo), float(hi)) for lo, hi in box], param=param, variant=variant)
    return bool(defined), bool(smooth)


every_variant = pytest.mark.parametrize("variant", infimum.core.variants())


def test_the_tables_cover_every_operation() -> None:
    assert {*TABLES, *EVERYWHERE, "pown", *NO_POINT_FUNCTION} == set(oracle.OPERATIONS)


@every_variant
@pytest.mark.parametrize(("op", "box", "expected"), CASES, ids=[f"{op}{box}" for op, box, _ in CASES])
def test_facts_are_as_tabulated(op: str, box: Box, expected: tuple[bool, bool], variant: str) -> None:
    assert _facts(op, box, variant=variant) == expected


@every_variant
@pytest.mark.parametrize("op", EVERYWHERE)
@pytest.mark.parametrize("side", [(0, 0), (-1, 1), (1, 2), (-INF, INF), (-INF, 0), (1e300, INF)])
def test_functions_without_edges_are_smooth_everywhere(op: str, side: tuple[float, float], variant: str) -> None:
    assert _facts(op, (side,) * samples.ARITY.get(op, 1), variant=variant) == SMOOTH


@every_variant
@pytest.mark.parametrize("exponent", [-8, -7, -2, -1, 0, 1, 2, 7])
def test_an_integer_power_has_a_pole_at_zero_for_negative_exponents_only(exponent: int, variant: str) -> None:
    for side in [(0.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (-1.0, 1.0)]:
        assert _facts("pown", (side,), exponent, variant) == (SMOOTH if exponent >= 0 else UNDEFINED)
    for side in [(1.0, 2.0), (-2.0, -TINY), (TINY, INF)]:
        assert _facts("pown", (side,), exponent, variant) == SMOOTH


@every_variant
@pytest.mark.parametrize("op", sorted(set(oracle.OPERATIONS) - NO_POINT_FUNCTION))
def test_of_an_empty_operand_nothing_is_claimed(op: str, variant: str) -> None:
    arity = samples.ARITY.get(op, 1)
    for which in range(arity):
        box = tuple(oracle.EMPTY if i == which else (2.0, 3.0) for i in range(arity))
        assert _facts(op, box, 2, variant) == UNDEFINED


@pytest.mark.parametrize("op", sorted(set(oracle.OPERATIONS) - NO_POINT_FUNCTION))
def test_all_variants_state_the_same_facts(op: str) -> None:
    for batch in samples.batches(op, 2000):
        stated = [
            infimum.core.facts(op, *batch.operands, param=batch.param, variant=v) for v in infimum.core.variants()
        ]
        for defined, smooth in stated:
            assert np.array_equal(defined, stated[0][0]) and np.array_equal(smooth, stated[0][1])
            assert not (smooth & ~defined).any()

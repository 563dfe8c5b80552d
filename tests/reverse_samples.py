"""Operands for the reverse operations: results C that the operation can have on X, nearly has, or has not.

form     operands       rows
unary    c, x           sqr_rev, sin_rev, ...
binary   b, c, x        mul_rev, pow_rev1, pow_rev2, atan2_rev1, atan2_rev2
choice   c, x, y        min_rev, max_rev
truth    c, x, y        the comparisons: c is made of truth values
where    as the row says
pair     b, c           mul_rev_pair_low, mul_rev_pair_high; cancel_minus, cancel_plus: two intervals
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import samples
from critical import Floats, recipe
from samples import Operand, Random


class Form(NamedTuple):
    """The forward function in doubles, and whose critical points suit x, c and the other operand."""

    value: Callable[..., Any]
    x: str
    c: str
    other: str = ""


def _cospi(x: Floats) -> Floats:
    """cos(pi x) to a few units even near its zeros, where a solution comes nearest to a double."""
    t = np.abs(x)
    value: Floats = np.sin(np.pi * (0.5 - np.minimum(t, 2 - t)))
    return value


UNARY: dict[str, Form] = {
    "sqr_rev": Form(np.square, "sqr", "sqrt"),
    "abs_rev": Form(np.abs, "abs", "abs"),
    "sqrt_rev": Form(lambda x: np.sqrt(np.abs(x)), "sqrt", "sqr"),
    "floor_rev": Form(np.floor, "floor", "floor"),
    "ceil_rev": Form(np.ceil, "ceil", "ceil"),
    "trunc_rev": Form(np.trunc, "trunc", "trunc"),
    "round_ties_to_even_rev": Form(np.rint, "round_ties_to_even", "floor"),
    "round_ties_to_away_rev": Form(np.rint, "round_ties_to_away", "floor"),
    "sign_rev": Form(np.sign, "sign", "sign"),
    "sin_rev": Form(np.sin, "sin", "asin"),
    "cos_rev": Form(np.cos, "cos", "acos"),
    "tan_rev": Form(np.tan, "tan", "atan"),
    "sinpi_rev": Form(lambda x: _cospi(np.fmod(x, 2) - 0.5), "sinpi", "asin"),
    "cospi_rev": Form(lambda x: _cospi(np.fmod(x, 2)), "cospi", "acos"),
    "cosh_rev": Form(np.cosh, "cosh", "acosh"),
    "atan_rev": Form(np.arctan, "atan", "tan"),
    "erf_rev": Form(np.vectorize(math.erf, otypes=[float]), "erf", "asin"),
    "erfc_rev": Form(np.vectorize(math.erfc, otypes=[float]), "erfc", "erfc_result"),
}
BINARY: dict[str, Form] = {
    "mul_rev": Form(np.multiply, "mul", "div", "mul"),
    "pow_rev1": Form(lambda x, b: np.power(np.abs(x), b), "pow", "pow", ""),
    "pow_rev2": Form(lambda x, a: np.power(np.abs(a), x), "", "pow", "pow"),
    "atan2_rev1": Form(lambda y, b: np.arctan2(y, b), "atan2", "tan", "atan2"),
    "atan2_rev2": Form(lambda x, a: np.arctan2(a, x), "atan2", "tan", "atan2"),
}
CHOICE: dict[str, Form] = {
    "min_rev": Form(np.minimum, "min", "min", "min"),
    "max_rev": Form(np.maximum, "max", "max", "max"),
}
TRUTH = ("is_less_rev1", "is_less_rev2", "is_less_equal_rev1", "is_less_equal_rev2", "is_equal_rev1", "is_equal_rev2")
WHERE = ("where_rev", "where_rev_other", "where_rev_cond")
PAIR = ("mul_rev_pair_low", "mul_rev_pair_high", "cancel_minus", "cancel_plus")
ARITY: dict[str, int] = {
    **dict.fromkeys(UNARY, 2), "pown_rev": 2, **dict.fromkeys((*BINARY, *CHOICE, *TRUTH, *WHERE), 3),
    **dict.fromkeys(PAIR, 2),
}  # fmt: skip


class Hard(NamedTuple):
    """Whose hard cases give a solution nearly a double, and an X on which it is the only one."""

    inverse: str
    low: float
    high: float


HARD = {
    "sin_rev": Hard("asin", -1.5, 1.5),
    "cos_rev": Hard("acos", 0.0, 3.0),
    "tan_rev": Hard("atan", -1.5, 1.5),
    "cosh_rev": Hard("acosh", 0.0, samples.INF),
    "atan_rev": Hard("tan", -samples.INF, samples.INF),
}


def hard_boxes(op: str, values: Floats) -> tuple[Operand, ...]:
    """C one of the hard points, X the principal branch."""
    _, low, high = HARD[op]
    return (values, values), (np.full_like(values, low), np.full_like(values, high))


def boxes(random: Random, op: str, n: int, exponent: int = 0) -> tuple[Operand, ...]:
    """Operands of a reverse operation, n of each."""
    if op in WHERE or op in TRUTH:
        return _choices(random, op, n)
    if op in PAIR:
        first = _own(random, "div", n)
        return first, samples._touching(random, first, _widened(random, first, n))
    if op == "pown_rev":
        form = Form(lambda x: np.power(x, float(exponent)), "sqrt", "sqrt")
    else:
        form = (UNARY | BINARY | CHOICE)[op]
    x, point = _operand(random, form.x, n)
    if op in UNARY or op == "pown_rev":
        return _result(random, form, form.value(point), n), x
    other, partner = _operand(random, form.other, n)
    if op in ("pow_rev1", "pow_rev2"):
        simple = random.integers(-8, 9, n) / random.choice([1.0, 2.0, 3.0, 0.01, 1e-4], n)
        chosen = random.random(n) < 0.5
        if op == "pow_rev1":
            partner = np.where(chosen, simple, partner)
            other = np.where(chosen, simple, other[0]), np.where(chosen, simple, other[1])
        else:
            point = np.where(chosen, simple, point)
    c = _result(random, form, form.value(point, partner), n)
    return (c, x, other) if op in CHOICE else (other, c, x)


def _own(random: Random, name: str, n: int) -> Operand:
    return samples.intervals(random, samples.points(random, recipe(name), n), samples.points(random, recipe(name), n))


def _operand(random: Random, name: str, n: int) -> tuple[Operand, Floats]:
    """Intervals, often wide or unbounded, and a point of each or near it."""
    weights = (0.08, 0.12, 0.2, 0.25, 0.04, 0.04, 0.09, 0.09, 0.07, 0.02)
    at = samples.points(random, recipe(name), n)
    lo, hi = samples.intervals(random, at, samples.points(random, recipe(name), n), weights)
    inside = np.clip(lo + (hi - lo) * random.random(n), lo, hi)
    return (lo, hi), np.where(np.isfinite(inside), inside, at)


def _result(random: Random, form: Form, values: Floats, n: int) -> Operand:
    """An interval at a value of the function, or a few doubles off, or somewhere else."""
    values = samples.step(samples._finite(values), samples._offsets(random, n))
    elsewhere = samples.points(random, recipe(form.c), n)
    at = np.where(random.random(n) < 0.7, values, elsewhere)
    lo, hi = samples.intervals(random, at, np.where(random.random(n) < 0.5, values, elsewhere))
    down = random.random(n) < 0.5  # half of the thin ones end at the value
    mirrored = down & np.isfinite(lo) & np.isfinite(hi) & (lo == at)
    return np.where(mirrored, np.maximum(at - (hi - at), -samples.MAX), lo), np.where(mirrored, at, hi)


def _widened(random: Random, x: Operand, n: int) -> Operand:
    """About the width of x, here or elsewhere; sometimes anything."""
    shift = samples._finite(samples.points(random, recipe("add"), n))
    lo = samples.step(samples._finite(x[0] - shift), samples._offsets(random, n) // 16)
    hi = samples.step(samples._finite(x[1] - shift), samples._offsets(random, n) // 16)
    other = _own(random, "mul", n)
    fits = (lo <= hi) & (random.random(n) < 0.6)
    return np.where(fits, lo, other[0]), np.where(fits, hi, other[1])


def _choices(random: Random, op: str, n: int) -> tuple[Operand, ...]:
    condition = samples._conditions(random, n)
    first, second = samples.boxes(random, "is_less", n)
    if op == "where_rev_cond":
        third = samples._touching(random, first, _own(random, "hull", n))
        return first, second, third
    return condition, first, second

"""The oracle itself: the test vectors, and a second library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import flint
import numpy as np
import pytest

import critical
import measure
import oracle
import samples
import vectors

FLINT: dict[str, Callable[[Any], Any]] = {
    "exp": flint.arb.exp, "expm1": flint.arb.expm1, "log": flint.arb.log, "log1p": flint.arb.log1p,
    "sqrt": flint.arb.sqrt,
    "sin": flint.arb.sin, "cos": flint.arb.cos, "tan": flint.arb.tan, "sinpi": flint.arb.sin_pi,
    "cospi": flint.arb.cos_pi,
    "asin": flint.arb.asin, "acos": flint.arb.acos, "atan": flint.arb.atan, "sinh": flint.arb.sinh,
    "cosh": flint.arb.cosh,
    "asinh": flint.arb.asinh, "acosh": flint.arb.acosh, "atanh": flint.arb.atanh,
    "cbrt": lambda x: x.root(3) if x > 0 else -((-x).root(3)),
    "x_log_x": lambda x: x * x.log(), "sin_over_x": flint.arb.sinc, "expm1_over_x": lambda x: x.expm1() / x,
    "sinh_over_x": lambda x: x.sinh() / x, "erf": flint.arb.erf, "erfc": flint.arb.erfc,
    "lgamma": flint.arb.lgamma, "digamma": flint.arb.digamma,
}  # fmt: skip


@pytest.mark.parametrize("op", [op for op in oracle.OPERATIONS if vectors.of(op)])
def test_the_oracle_gives_the_expected_result_of_every_vector(op: str) -> None:
    for expected in vectors.references(op):
        found = measure.reference(expected.batch)
        bad = measure.unequal((found.lo, found.hi), (expected.lo, expected.hi))
        for i in np.flatnonzero(bad):
            pytest.fail(measure.describe(expected.batch, int(i), (found.lo, found.hi), (expected.lo, expected.hi)))


def _points(op: str, count: int) -> Iterator[float]:
    random = np.random.default_rng(7)
    yield from (float(x) for x in samples.points(random, critical.recipe(op), count) if x != 0 and abs(x) < 2.0**70)


@pytest.mark.parametrize("op", FLINT)
def test_the_oracle_agrees_with_flint_at_points(op: str) -> None:
    """Next doubles on both sides of the ball, which is 2^-2200 wide, or on it."""
    compared = 0
    with flint.ctx.workprec(2500):
        for x in _points(op, 400):
            ball = FLINT[op](flint.arb(x))
            lo, hi = oracle.tightest(op, (x, x))
            if not ball.is_finite() or not lo <= hi:
                continue
            compared += 1
            _check_ball(op, x, ball, lo, hi)
    assert compared > 100


def _check_ball(op: str, x: float, ball: Any, lo: float, hi: float) -> None:
    case = f"{op}({x.hex()}): oracle [{lo.hex()}, {hi.hex()}]"
    assert hi in (lo, math.nextafter(lo, math.inf)), case
    if lo == hi:
        assert ball.contains(flint.arb(lo)), case
        return
    assert not (math.isfinite(lo) and ball < flint.arb(lo)), case
    assert not (math.isfinite(hi) and ball > flint.arb(hi)), case


POINT_FUNCTIONS = [
    op for op in oracle.OPERATIONS if op not in ("hull", "intersection", "step_low", "step_high", *oracle.NUMERIC)
]


def _inner_points(batch: samples.Batch) -> samples.Batch:
    """A point of each box, or the empty one of an empty box."""
    random = np.random.default_rng(3)
    sides = []
    for lo, hi in batch.operands:
        low, high = np.maximum(lo, -oracle.MAX), np.minimum(hi, oracle.MAX)
        part = random.random(lo.size)
        with np.errstate(invalid="ignore"):
            between = low * (1 - part) + high * part
        at = np.where(random.random(lo.size) < 0.8, between, np.where(random.random(lo.size) < 0.5, low, high))
        inside = np.clip(at, low, high)
        sides.append((np.where(lo <= hi, inside, lo), np.where(lo <= hi, inside, hi)))
    return samples.Batch(batch.op, batch.param, tuple(sides))


@pytest.mark.parametrize("op", POINT_FUNCTIONS)
def test_the_oracle_covers_its_own_values_at_inner_points(op: str) -> None:
    """Rounding outward is monotone: the tight enclosure of a value lies in that of the range."""
    for batch in samples.batches(op, 2000, seed=5):
        tight, value = measure.reference(batch), measure.reference(_inner_points(batch))
        assert np.all((tight.lo <= tight.hi) | (tight.lo == np.inf) & (tight.hi == -np.inf))
        outside = tight.sharp & (value.lo <= value.hi) & ((value.lo < tight.lo) | (value.hi > tight.hi))
        for i in np.flatnonzero(outside):
            pytest.fail(measure.describe(batch, int(i), (tight.lo, tight.hi), (value.lo, value.hi)))


def test_mod_by_a_number_covers_every_remainder() -> None:
    assert oracle.mod((0.5, 0.75), (1.0, 1.0)) == (0.5, 0.75)
    assert oracle.mod((0.5, 1.0), (1.0, 1.0)) == (0.0, 1.0)
    assert oracle.mod((-0.5, -0.25), (1.0, 1.0)) == (0.5, 0.75)
    assert oracle.mod((0.5, 0.75), (-1.0, -1.0)) == (-0.5, -0.25)
    assert oracle.mod((-1e-300, -1e-300), (1.0, 1.0)) == (1 - 2.0**-53, 1.0)
    assert oracle.mod((3.0, math.inf), (2.0, 2.0)) == (0.0, 2.0)
    assert oracle.mod((3.0, 4.0), (0.0, 0.0)) == oracle.EMPTY

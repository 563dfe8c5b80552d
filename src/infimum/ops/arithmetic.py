"""Arithmetic, powers and roots."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from infimum.ops import nonfinite
from infimum.ops.curves import CONCAVE_RISING, FLATTENING, integer_power
from infimum.ops.record import Builder, Domain, Jump, Node, Operation
from infimum.ops.slopes import of_one, reversed_by, reversed_by_two, scaled, steep_reciprocal_of

LARGEST_POWER = 2**31  # the largest exponent of a pown in magnitude, as the core takes it


def _hypot_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    at_zero = b.apply("is_equal", y, b.number(0))
    slopes = (b.apply("max", b.number(-1), b.apply("min", b.number(1), b.apply("div", x, y))) for x in args)
    return tuple(b.apply("where", at_zero, b.between(-1.0, 1.0), slope) for slope in slopes)


def _pow_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    # At base 0, where the exponent is positive: by the base 0, 1 or unbounded as the exponent is above, at or below 1;
    # by the exponent 0.
    base, exponent = args
    at_zero = b.apply("is_equal", base, b.number(0))
    by_base = b.apply("mul", exponent, b.apply("pow", base, b.apply("sub", exponent, b.number(1))))
    if not b.is_above(exponent, 1.0):
        by_base = b.apply("where", at_zero, b.between(0.0, np.inf), by_base)
    by_exponent = b.apply("where", at_zero, b.number(0), b.apply("mul", y, b.apply("log", base)))
    return by_base, by_exponent


def _pown_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    n = y.data
    assert isinstance(n, int)
    if n == 0:  # 0 x^-1 is undefined at 0, where x^0 is 1
        return (b.number(0),)
    if abs(n - 1) > LARGEST_POWER:
        return (scaled(b, n, b.apply("mul", y, b.apply("recip", args[0]))),)
    return (scaled(b, n, b.apply("pown", args[0], data=n - 1)),)


def _leg(op: Callable[..., Node], c: Node, other: Node, x: Node) -> Node:
    return op("sqr_rev", op("sub", op("sqr", c), op("sqr", other)), x)


ARITHMETIC = (
    Operation(
        name="neg", numpy=("negative",), formula="-t",
        point=np.negative, monotone=True, whole=lambda a: a, ulps=0,
        facts="everywhere", slope=of_one(lambda b, x, y: b.number(-1)), reverse=lambda op, a, c, data: (op("neg", c),),
        exact=True,
        cheap=True, keeps_zero=True,
    ),
    # slack: an underflow of a sum is exact
    Operation(
        name="add", arity=2, numpy=("add",), formula="t + s",
        point=np.add, monotone=True, whole=operator.add, slack=0.0,
        facts="everywhere", slope=lambda b, a, y: (b.number(1), b.number(1)),
        reverse=lambda op, a, c, data: (op("sub", c, a[1]), op("sub", c, a[0])), exact=True,
        nonfinite=nonfinite.sum_of_two, commutative=True, cheap=True, keeps_zero=True,
    ),
    Operation(
        name="sub", arity=2, numpy=("subtract",), formula="t - s",
        point=np.subtract, monotone=True, whole=operator.add, slack=0.0,
        facts="everywhere", slope=lambda b, a, y: (b.number(1), b.number(-1)),
        reverse=lambda op, a, c, data: (op("add", c, a[1]), op("sub", a[0], c)), exact=True,
        nonfinite=nonfinite.sum_of_two, cheap=True, keeps_zero=True,
    ),
    Operation(
        name="mul", arity=2, numpy=("multiply",), formula="t*s",
        point=np.multiply, monotone=True, whole=operator.mul,
        facts="everywhere", slope=lambda b, a, y: (a[1], a[0]),
        reverse=lambda op, a, c, data: (op("mul_rev", a[1], c, a[0]), op("mul_rev", a[0], c, a[1])), exact=True,
        nonfinite=nonfinite.product, commutative=True, cheap=True, keeps_zero=True,
    ),
    Operation(
        name="div", arity=2, numpy=("divide", "true_divide"), formula="t/s",
        point=np.divide, pole=1,
        slope=lambda b, a, y: (b.apply("recip", a[1]), b.apply("neg", b.apply("div", y, a[1]))),
        reverse=lambda op, a, c, data: (op("mul", c, a[1]), op("mul_rev", c, a[0], a[1])), exact=True,
        nonfinite=nonfinite.quotient,
    ),
    Operation(
        name="recip", numpy=("reciprocal",), formula="1/t",
        point=np.reciprocal, pole=0,
        slope=of_one(lambda b, x, y: b.apply("neg", b.apply("sqr", y))),
        reverse=lambda op, a, c, data: (op("pown_rev", c, a[0], data=-1),), exact=True,
        nonfinite=nonfinite.reciprocal, zero="positive",
        curve=integer_power(-1),
    ),
    Operation(
        name="sqr", numpy=("square",), formula="t*t",
        point=np.square, nonnegative=True, whole=lambda a: a * a,
        facts="everywhere", slope=of_one(lambda b, x, y: scaled(b, 2, x)), reverse=reversed_by("sqr_rev"), exact=True,
        zero="positive", cheap=True, keeps_zero=True,
        curve=integer_power(2),
    ),
    Operation(
        name="sqrt", numpy=("sqrt",), math=("sqrt",), formula="the square root of t",
        point=np.sqrt, nonnegative=True, monotone=True,
        slope=steep_reciprocal_of(lambda b, x, y: scaled(b, 2, y)), reverse=reversed_by("sqrt_rev"), exact=True,
        domain=Domain(least=0.0), zero="operand",
        curve=CONCAVE_RISING,
    ),
    Operation(
        name="cbrt", numpy=("cbrt",), math=("cbrt",), scipy=("cbrt",), formula="the cube root of t",
        point=np.cbrt, raises=False, monotone=True,
        facts="defined", slope=steep_reciprocal_of(lambda b, x, y: scaled(b, 3, b.apply("sqr", y))),
        reverse=lambda op, a, c, data: (op("pown", c, data=3),),
        zero="operand",
        curve=FLATTENING,
    ),
    Operation(
        name="hypot", arity=2, numpy=("hypot",), math=("hypot",), formula="sqrt(t*t + s*s)",
        point=np.hypot, raises=False, nonnegative=True,
        facts="defined", slope=_hypot_slope,
        reverse=lambda op, a, c, data: (_leg(op, c, a[1], a[0]), _leg(op, c, a[0], a[1])),
        nonfinite=nonfinite.distance, zero="positive", commutative=True,
    ),
    Operation(
        name="pown",
        point=np.power, pole=0,
        slope=_pown_slope, reverse=reversed_by("pown_rev"), exact=True,
        nonfinite=nonfinite.integer_power,
    ),
    Operation(
        name="pow", arity=2, numpy=("power", "float_power"), math=("pow",), formula="t**s, t >= 0,",
        point=np.power, pole=0,
        slope=_pow_slope, reverse=reversed_by_two("pow"),
        nonfinite=nonfinite.power,
    ),
    Operation(
        name="mod", arity=2, numpy=("mod", "remainder"), formula="t - s*floor(t/s)",
        point=np.mod, jump=Jump(0.0, 1.0, of="divisor"), whole=max,
        slope=lambda b, a, y: (b.number(1), b.apply("neg", b.apply("floor", b.apply("div", a[0], a[1])))),
        reverse=lambda op, a, c, data: (op("add", c, op("mul", a[1], op("floor", op("div", a[0], a[1])))), None),
        nonfinite=nonfinite.remainder,
    ),
)  # fmt: skip

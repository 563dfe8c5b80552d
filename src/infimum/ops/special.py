"""Special functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infimum.ops.curves import ABOVE_ZERO, BELOW_ZERO, CONCAVE_RISING, EVERYWHERE, FLATTENING, Curve, Span
from infimum.ops.record import Builder, Domain, Logic, Node, Operation, States
from infimum.ops.slopes import of_one, reversed_by

_LARGEST = float(np.finfo(np.float64).max)


def _x_log_x(x: Any) -> Any:
    return x * np.log(np.where(x == 0, 1.0, x))


def _x_log_x_slope(b: Builder, x: Node, y: Node) -> Node:
    at_zero = b.apply("is_equal", x, b.number(0))
    return b.apply("where", at_zero, b.between(-np.inf, -_LARGEST), b.apply("add", b.number(1), b.apply("log", x)))


def _erf_slope(b: Builder, x: Node, y: Node) -> Node:
    bell = b.apply("exp", b.apply("neg", b.apply("sqr", x)))
    return b.apply("mul", b.apply("div", b.number(2), b.apply("sqrt", b.pi())), bell)


def _lgamma(x: float) -> float:
    if not x > 0:
        return math.inf if x == 0 else math.nan
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


_SHIFT = 16.0  # from which on few terms of an asymptotic series are enough


def _digamma(x: Any) -> Any:
    with np.errstate(all="ignore"):
        z, before = x + _SHIFT, np.reciprocal(x) + sum(np.reciprocal(x + k) for k in range(1, int(_SHIFT)))
        r = np.reciprocal(z * z)
        return np.log(z) - 0.5 / z - r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r / 240))) - before


def _digamma_at_zero(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of digamma, which is -1/u near 0."""
    (a,), (u,) = node.args, below
    zero = s.compare("is_equal", a, 0.0, u.finite)
    return s.through(node, u, (s.compare("is_less", s.number(0.0), a, u.finite), *s.pole(a, zero, False, True)))


def _trigamma(x: Any) -> Any:
    with np.errstate(all="ignore"):
        z, before = x + _SHIFT, sum(np.reciprocal((x + k) * (x + k)) for k in range(int(_SHIFT)))
        r = np.reciprocal(z * z)
        return 1.0 / z + 0.5 * r + r / z * (1 / 6 - r * (1 / 30 - r * (1 / 42 - r / 30))) + before


def _trigamma_slope(b: Builder, x: Node, y: Node) -> Node:
    # 1/x^2 + 1/x^3 <= -slope <= 1/x^2 + 2/x^3
    cubes = b.apply("mul", b.between(1.0, 2.0), b.apply("pown", x, data=-3))
    return b.apply("neg", b.apply("add", b.apply("pown", x, data=-2), cubes))


SPECIAL = (
    Operation(
        name="erf", math=("erf",), scipy=("erf",), formula="the error function of t",
        point=np.vectorize(math.erf, otypes=[float]), raises=False, monotone=True,
        facts="everywhere", slope=of_one(_erf_slope), reverse=reversed_by("erf_rev"),
        zero="operand",
        curve=FLATTENING,
    ),
    # ulps: SciPy rounds the exponent before it takes the exponential, and its result underflows early
    Operation(
        name="erfc", math=("erfc",), scipy=("erfc",), formula="1 less the error function of t",
        point=np.vectorize(math.erfc, otypes=[float]), raises=False, nonnegative=True, monotone=True, ulps=1024,
        slack=2.0**-1020,
        facts="everywhere", slope=of_one(lambda b, x, y: b.apply("neg", _erf_slope(b, x, y))),
        reverse=reversed_by("erfc_rev"),
        zero="positive",
        curve=Curve(convex=ABOVE_ZERO, concave=BELOW_ZERO, falls=EVERYWHERE),
    ),
    Operation(
        name="x_log_x",
        point=_x_log_x,
        slope=of_one(_x_log_x_slope),
        domain=Domain(least=0.0), zero="positive",
        curve=Curve(convex=EVERYWHERE, rises=(Span(lo=0.375),), falls=(Span(hi=0.3671875),)),
    ),
    # slack: near 1 and 2, where it is 0, SciPy's error is an absolute one
    Operation(
        name="lgamma", math=("lgamma",), scipy=("gammaln",), formula="the logarithm of the gamma function at t > 0",
        point=np.vectorize(_lgamma, otypes=[float]), pole=0, slack=2.0**-49,
        slope=of_one(lambda b, x, y: b.apply("digamma", x)),
        domain=Domain(least=0.0, at_least=math.inf, numbers_outside=True), zero="positive",
        curve=Curve(convex=EVERYWHERE, rises=(Span(lo=1.5),), falls=(Span(hi=1.4375),)),
    ),
    # slack: beside a zero at 1.46 the error is an absolute one
    Operation(
        name="digamma", scipy=("psi", "digamma"), formula="the slope of lgamma at t > 0",
        point=_digamma, monotone=True, pole=0, slack=2.0**-47,
        slope=of_one(lambda b, x, y: b.apply("trigamma", x)),
        domain=Domain(least=0.0, at_least=-math.inf, numbers_outside=True), nonfinite=_digamma_at_zero, zero="positive",
        curve=CONCAVE_RISING,
    ),
    Operation(
        name="trigamma", formula="the slope of digamma at t > 0",
        point=_trigamma, nonnegative=True, monotone=True, pole=0,
        slope=of_one(_trigamma_slope), has_second=False,
        domain=Domain(least=0.0, at_least=math.inf, numbers_outside=True), zero="positive",
        curve=Curve(convex=EVERYWHERE, falls=EVERYWHERE),
    ),
)  # fmt: skip

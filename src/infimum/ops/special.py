"""Special functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infimum.ops.record import Builder, Domain, Node, Operation
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


SPECIAL = (
    Operation(
        name="erf",
        math=("erf",),
        scipy=("erf",),
        formula="the error function of t",
        point=np.vectorize(math.erf, otypes=[float]),
        raises=False,
        monotone=True,
        facts="everywhere",
        slope=of_one(_erf_slope),
        reverse=reversed_by("erf_rev"),
        zero="operand",
    ),
    Operation(
        name="erfc",
        math=("erfc",),
        scipy=("erfc",),
        formula="1 less the error function of t",
        point=np.vectorize(math.erfc, otypes=[float]),
        raises=False,
        nonnegative=True,
        monotone=True,
        ulps=1024,  # SciPy rounds the exponent before it takes the exponential, and its result underflows early
        slack=2.0**-1020,
        facts="everywhere",
        slope=of_one(lambda b, x, y: b.apply("neg", _erf_slope(b, x, y))),
        reverse=reversed_by("erfc_rev"),
        zero="positive",
    ),
    Operation(
        name="x_log_x",
        point=_x_log_x,
        slope=of_one(_x_log_x_slope),
        domain=Domain(least=0.0),
        zero="positive",
    ),
)

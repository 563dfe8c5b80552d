"""Choices between operands: magnitudes, extremes and conditions."""

from __future__ import annotations

import numpy as np

from infimum.ops import nonfinite
from infimum.ops.curves import MAGNITUDE
from infimum.ops.record import Builder, Node, Operation, Slope
from infimum.ops.slopes import of_one, reversed_by, taken


def _abs_slope(b: Builder, x: Node, y: Node) -> Node:
    return b.apply("where", b.apply("is_equal", x, b.number(0)), b.between(-1.0, 1.0), b.apply("sign", x))


def _extreme_slope(op: str) -> Slope:
    def slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
        first = taken(b, args[0], args[1], op)
        return first, b.apply("sub", b.number(1), first)

    return slope


def _where_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    condition = args[0]
    one, zero = b.number(1), b.number(0)
    return zero, b.apply("where", condition, one, zero), b.apply("where", condition, zero, one)


CHOICE = (
    Operation(
        name="abs", numpy=("absolute", "fabs"), math=("fabs",), formula="|t|",
        point=np.abs, raises=False, nonnegative=True, whole=lambda a: a, ulps=0,
        facts="defined", slope=of_one(_abs_slope), reverse=reversed_by("abs_rev"), exact=True,
        zero="positive", cheap=True, keeps_zero=True,
        curve=MAGNITUDE,
    ),
    Operation(
        name="min", arity=2, numpy=("minimum", "fmin"), formula="the smaller of t and s",
        point=np.minimum, monotone=True, whole=max, ulps=0,
        facts="defined", slope=_extreme_slope("min"),
        reverse=lambda op, a, c, data: (op("min_rev", c, a[0], a[1]), op("min_rev", c, a[1], a[0])), exact=True,
        nonfinite=nonfinite.extreme, commutative=True, cheap=True,
    ),
    Operation(
        name="max", arity=2, numpy=("maximum", "fmax"), formula="the larger of t and s",
        point=np.maximum, monotone=True, whole=max, ulps=0,
        facts="defined", slope=_extreme_slope("max"),
        reverse=lambda op, a, c, data: (op("max_rev", c, a[0], a[1]), op("max_rev", c, a[1], a[0])), exact=True,
        nonfinite=nonfinite.extreme, commutative=True, cheap=True,
    ),
    # whole: of its branches
    Operation(
        name="where", arity=3, numpy=("where",),
        point=lambda condition, a, b: np.where(condition != 0, a, b), monotone=True, whole=max, ulps=0,
        facts="defined", slope=_where_slope,
        nonfinite=nonfinite.selection, cheap=True,
    ),
)  # fmt: skip

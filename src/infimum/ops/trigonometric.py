"""Sines, tangents and their inverses."""

from __future__ import annotations

import numpy as np

from infimum.ops import nonfinite
from infimum.ops.curves import ABOVE_ZERO, BELOW_ZERO, EVERYWHERE, FLATTENING, STEEPENING, Curve, Span, wave
from infimum.ops.record import Builder, Domain, Factor, Jump, Node, Operation
from infimum.ops.slopes import (
    inverse,
    of_one,
    one_minus_square,
    one_plus_square,
    reciprocal_of,
    reversed_by,
    reversed_by_two,
    steep_reciprocal,
    steep_reciprocal_of,
)

_LARGEST = float(np.finfo(np.float64).max)
_ABSOLUTE = 2.0**-55  # by which NumPy's sin and cos may be wrong where they are nearly 0


def _times_pi(b: Builder, times: int, x: Node) -> Node:
    return b.apply("mul", b.pi(times), x)


def _atan2_slope(b: Builder, a: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    by_first = b.apply("div", a[1], b.apply("add", b.apply("sqr", a[0]), b.apply("sqr", a[1])))
    by_second = b.apply("div", a[0], b.apply("add", b.apply("sqr", a[0]), b.apply("sqr", a[1])))
    return by_first, b.apply("neg", by_second)


TRIGONOMETRIC = (
    Operation(
        name="sin", numpy=("sin",), math=("sin",), formula="sin t",
        point=np.sin, ulps=16, slack=_ABSOLUTE,
        facts="everywhere", slope=of_one(lambda b, x, y: b.apply("cos", x)), reverse=reversed_by("sin_rev"),
        factors=(Factor("sin_over_x", 1),), exact=True,
        zero="operand",
        curve=wave("sin", "cos", 1),
    ),
    Operation(
        name="cos", numpy=("cos",), math=("cos",), formula="cos t",
        point=np.cos, ulps=16, slack=_ABSOLUTE,
        facts="everywhere", slope=of_one(lambda b, x, y: b.apply("neg", b.apply("sin", x))),
        reverse=reversed_by("cos_rev"), exact=True,
        zero="positive",
        curve=wave("cos", "sin", -1),
    ),
    Operation(
        name="sinpi", formula="sin(pi*t)",
        point=lambda x: np.sin(np.pi * np.remainder(x, 2.0)),
        facts="everywhere", slope=of_one(lambda b, x, y: _times_pi(b, 1, b.apply("cospi", x))),
        reverse=reversed_by("sinpi_rev"),
        zero="operand",
        curve=wave("sinpi", "cospi", 1),
    ),
    Operation(
        name="cospi", formula="cos(pi*t)",
        point=lambda x: np.cos(np.pi * np.remainder(x, 2.0)),
        facts="everywhere", slope=of_one(lambda b, x, y: _times_pi(b, -1, b.apply("sinpi", x))),
        reverse=reversed_by("cospi_rev"),
        zero="positive",
        curve=wave("cospi", "sinpi", -1),
    ),
    Operation(
        name="tan", numpy=("tan",), math=("tan",), formula="tan t",
        point=np.tan, ulps=16, slack=_ABSOLUTE,
        slope=of_one(lambda b, x, y: one_plus_square(b, y)), reverse=reversed_by("tan_rev"),
        factors=(Factor("sin_over_x", 1), Factor("cos", -1)), exact=True,
        nonfinite=nonfinite.tangent, zero="operand",
        curve=Curve((Span(lo=0.0, of="tan"),), (Span(hi=0.0, of="tan"),), rises=(Span(-_LARGEST, _LARGEST, "tan"),)),
    ),
    Operation(
        name="asin", numpy=("arcsin",), math=("asin",), formula="arcsin t",
        point=np.arcsin, monotone=True,
        slope=steep_reciprocal_of(lambda b, x, y: b.apply("sqrt", one_minus_square(b, x))), reverse=inverse("sin"),
        factors=(Factor("sin_over_x", -1, of="result"),),
        domain=Domain(least=-1.0, most=1.0), zero="operand",
        curve=STEEPENING,
    ),
    Operation(
        name="acos", numpy=("arccos",), math=("acos",), formula="arccos t",
        point=np.arccos, monotone=True,
        slope=of_one(lambda b, x, y: b.apply("neg", steep_reciprocal(b, b.apply("sqrt", one_minus_square(b, x))))),
        reverse=inverse("cos"),
        domain=Domain(least=-1.0, most=1.0), zero="positive",
        curve=Curve(convex=BELOW_ZERO, concave=ABOVE_ZERO, falls=EVERYWHERE),
    ),
    Operation(
        name="atan", numpy=("arctan",), math=("atan",), formula="arctan t",
        point=np.arctan, raises=False, monotone=True,
        facts="everywhere", slope=reciprocal_of(lambda b, x, y: one_plus_square(b, x)), reverse=reversed_by("atan_rev"),
        factors=(Factor("cos", 1, of="result"), Factor("sin_over_x", -1, of="result")),
        zero="operand",
        curve=FLATTENING,
    ),
    Operation(
        name="atan2", arity=2, numpy=("arctan2",), math=("atan2",), formula="the angle of the point (s, t)",
        point=np.arctan2, raises=False, jump=Jump(np.nextafter(-np.pi, -4.0), np.nextafter(np.pi, 4.0)),
        slope=_atan2_slope, reverse=reversed_by_two("atan2"),
        nonfinite=nonfinite.angle,
    ),
)  # fmt: skip

"""Exponentials, logarithms and hyperbolic functions."""

from __future__ import annotations

import math

import numpy as np

from infimum.ops.curves import CONCAVE_RISING, CONVEX_RISING, FLATTENING, STEEPENING, VALLEY
from infimum.ops.record import Domain, Factor, Operation
from infimum.ops.slopes import (
    inverse,
    logarithm,
    of_one,
    one_minus_square,
    one_plus_square,
    reciprocal_of,
    reversed_by,
    steep_reciprocal_of,
)

EXPONENTIAL = (
    Operation(
        name="exp", numpy=("exp",), math=("exp",), formula="e**t",
        point=np.exp, nonnegative=True, monotone=True,
        facts="everywhere", slope=of_one(lambda b, x, y: y), reverse=inverse("log"), exact=True,
        zero="positive",
        curve=CONVEX_RISING,
    ),
    Operation(
        name="exp2", numpy=("exp2",), math=("exp2",), scipy=("exp2",), formula="2**t",
        point=np.exp2, nonnegative=True, monotone=True,
        facts="everywhere", slope=of_one(lambda b, x, y: b.apply("mul", logarithm(b, 2), y)), reverse=inverse("log2"),
        zero="positive",
        curve=CONVEX_RISING,
    ),
    Operation(
        name="exp10", scipy=("exp10",), formula="10**t",
        point=lambda x: 10.0**x, nonnegative=True, monotone=True,
        facts="everywhere", slope=of_one(lambda b, x, y: b.apply("mul", logarithm(b, 10), y)), reverse=inverse("log10"),
        zero="positive",
        curve=CONVEX_RISING,
    ),
    Operation(
        name="expm1", numpy=("expm1",), math=("expm1",), scipy=("expm1",), formula="e**t - 1",
        point=np.expm1, monotone=True,
        facts="everywhere", slope=of_one(lambda b, x, y: b.apply("exp", x)), reverse=inverse("log1p"),
        factors=(Factor("expm1_over_x", 1),),
        zero="operand",
        curve=CONVEX_RISING,
    ),
    Operation(
        name="log", numpy=("log",), math=("log",), formula="the natural logarithm of t",
        point=np.log, monotone=True, pole=0,
        slope=reciprocal_of(lambda b, x, y: x), reverse=inverse("exp"), exact=True,
        domain=Domain(least=0.0, at_least=-math.inf), zero="positive",
        curve=CONCAVE_RISING,
    ),
    Operation(
        name="log2", numpy=("log2",), math=("log2",), formula="the logarithm of t to base 2",
        point=np.log2, monotone=True, pole=0,
        slope=reciprocal_of(lambda b, x, y: b.apply("mul", logarithm(b, 2), x)), reverse=inverse("exp2"),
        domain=Domain(least=0.0, at_least=-math.inf), zero="positive",
        curve=CONCAVE_RISING,
    ),
    Operation(
        name="log10", numpy=("log10",), math=("log10",), formula="the logarithm of t to base 10",
        point=np.log10, monotone=True, pole=0,
        slope=reciprocal_of(lambda b, x, y: b.apply("mul", logarithm(b, 10), x)), reverse=inverse("exp10"),
        domain=Domain(least=0.0, at_least=-math.inf), zero="positive",
        curve=CONCAVE_RISING,
    ),
    Operation(
        name="log1p", numpy=("log1p",), math=("log1p",), scipy=("log1p",), formula="the natural logarithm of 1 + t",
        point=np.log1p, monotone=True,
        slope=reciprocal_of(lambda b, x, y: b.apply("add", b.number(1), x)), reverse=inverse("expm1"),
        factors=(Factor("expm1_over_x", -1, of="result"),),
        domain=Domain(least=-1.0, at_least=-math.inf), zero="operand",
        curve=CONCAVE_RISING,
    ),
    Operation(
        name="sinh", numpy=("sinh",), math=("sinh",), formula="sinh t",
        point=np.sinh, monotone=True,
        facts="everywhere", slope=of_one(lambda b, x, y: b.apply("cosh", x)), reverse=inverse("asinh"),
        factors=(Factor("sinh_over_x", 1),),
        zero="operand",
        curve=STEEPENING,
    ),
    Operation(
        name="cosh", numpy=("cosh",), math=("cosh",), formula="cosh t",
        point=np.cosh, nonnegative=True,
        facts="everywhere", slope=of_one(lambda b, x, y: b.apply("sinh", x)), reverse=reversed_by("cosh_rev"),
        zero="positive",
        curve=VALLEY,
    ),
    Operation(
        name="tanh", numpy=("tanh",), math=("tanh",), formula="tanh t",
        point=np.tanh, raises=False, monotone=True,
        facts="everywhere", slope=of_one(lambda b, x, y: one_minus_square(b, y)), reverse=inverse("atanh"),
        factors=(Factor("sinh_over_x", 1), Factor("cosh", -1)),
        zero="operand",
        curve=FLATTENING,
    ),
    Operation(
        name="asinh", numpy=("arcsinh",), math=("asinh",), formula="arsinh t",
        point=np.arcsinh, raises=False, monotone=True,
        facts="everywhere", slope=reciprocal_of(lambda b, x, y: b.apply("sqrt", one_plus_square(b, x))),
        reverse=inverse("sinh"), factors=(Factor("sinh_over_x", -1, of="result"),),
        zero="operand",
        curve=FLATTENING,
    ),
    Operation(
        name="acosh", numpy=("arccosh",), math=("acosh",), formula="arcosh t",
        point=np.arccosh, monotone=True,
        slope=steep_reciprocal_of(lambda b, x, y: b.apply("sqrt", b.apply("sub", b.apply("sqr", x), b.number(1)))),
        reverse=inverse("cosh"),
        domain=Domain(least=1.0), zero="positive",
        curve=CONCAVE_RISING,
    ),
    Operation(
        name="atanh", numpy=("arctanh",), math=("atanh",), formula="artanh t",
        point=np.arctanh, monotone=True,
        slope=reciprocal_of(lambda b, x, y: one_minus_square(b, x)), reverse=inverse("tanh"),
        factors=(Factor("cosh", 1, of="result"), Factor("sinh_over_x", -1, of="result")),
        domain=Domain(least=-1.0, most=1.0, at_least=-math.inf, at_most=math.inf), zero="operand",
        curve=STEEPENING,
    ),
)  # fmt: skip

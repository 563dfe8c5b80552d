"""One record per elementwise operation: everything the rooms above need to know of it.

    name       the core's operation, which encloses its range (and its facts: defined, smooth)
    arity      operands; `pown` also carries an integer in the node's data
    numpy      the NumPy functions that denote it
    math       the functions of Python's math module that denote it
    slope      the partial derivatives as expressions, hulls of all slopes nearby at kinks; None: not differentiable
               anywhere that matters (its slope is 0 between jumps)
    point      its value in plain doubles, for the reference backend
    facts      "everywhere" where it is defined and smooth on all reals: then nothing need be checked

A new elementary function is one record here and one row in the core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from infimum.graph.constant import Constant
from infimum.graph.node import Node
from infimum.graph.payload import value_of

_EITHER = Constant(bounds=(np.array([0.0]), np.array([1.0])))
_ANY_SIGN = Constant(bounds=(np.array([-1.0]), np.array([1.0])))
_RISING = Constant(bounds=(np.array([0.0]), np.array([np.inf])))
_STEEP = Constant(bounds=(np.array([np.finfo(np.float64).max]), np.array([np.inf])))

LARGEST_POWER = 2**31  # the largest exponent of a pown in magnitude, as the core takes it


class Builder(Protocol):
    """What a slope may use to build expressions: the operations by name, and constants."""

    def apply(self, op: str, *args: Node, data: Any = None) -> Node: ...

    def number(self, value: Any) -> Node: ...


Slope = Callable[[Builder, tuple[Node, ...], Node], tuple[Node, ...]]


@dataclass(frozen=True)
class Operation:
    name: str
    arity: int
    point: Callable[..., Any]
    numpy: tuple[str, ...] = ()
    math: tuple[str, ...] = ()
    slope: Slope | None = None
    facts: str = "checked"


def _unary(rule: Callable[[Builder, Node, Node], Node]) -> Slope:
    return lambda b, args, y: (rule(b, args[0], y),)


def _steep_reciprocal_of(rule: Callable[[Builder, Node, Node], Node]) -> Slope:
    return _unary(lambda b, x, y: _steep_at_zero(b, rule(b, x, y)))


def _reciprocal_of(rule: Callable[[Builder, Node, Node], Node]) -> Slope:
    return _unary(lambda b, x, y: b.apply("recip", rule(b, x, y)))


def _n(b: Builder, value: Any) -> Node:
    return b.number(value)


def _one_minus_square(b: Builder, x: Node) -> Node:
    return b.apply("sub", _n(b, 1), b.apply("sqr", x))


def _one_plus_square(b: Builder, x: Node) -> Node:
    return b.apply("add", _n(b, 1), b.apply("sqr", x))


def _scaled(b: Builder, factor: Any, x: Node) -> Node:
    return b.apply("mul", _n(b, factor), x)


def taken(b: Builder, x: Node, y: Node, op: str) -> Node:
    """The slope of min or max by x: 1 where x is taken, 0 where y is, and [0, 1] where they may be equal."""
    less = b.apply("is_less", x, y) if op == "min" else b.apply("is_less", y, x)
    return b.apply("where", b.apply("is_equal", x, y), _n(b, _EITHER), less)


def _choice(b: Builder, args: tuple[Node, ...], op: str) -> tuple[Node, ...]:
    x, y = args
    first = taken(b, x, y, op)
    return first, b.apply("sub", _n(b, 1), first)


def _steep_at_zero(b: Builder, x: Node) -> Node:
    """1/x, beyond all doubles at 0 itself: there the function is defined, and constant if its operand is."""
    return b.apply("where", b.apply("is_equal", x, _n(b, 0)), _n(b, _STEEP), b.apply("recip", x))


def _hypot_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    at_zero = b.apply("is_equal", y, _n(b, 0))
    slopes = (b.apply("max", _n(b, -1), b.apply("min", _n(b, 1), b.apply("div", x, y))) for x in args)
    return tuple(b.apply("where", at_zero, _n(b, _ANY_SIGN), slope) for slope in slopes)


def _abs_slope(b: Builder, x: Node, y: Node) -> Node:
    return b.apply("where", b.apply("is_equal", x, _n(b, 0)), _n(b, _ANY_SIGN), b.apply("sign", x))


def _pow_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    # At base 0, where the exponent is positive: by the base 0, 1 or unbounded as the exponent is above, at or below 1;
    # by the exponent 0.
    base, exponent = args
    at_zero = b.apply("is_equal", base, _n(b, 0))
    by_base = b.apply("mul", exponent, b.apply("pow", base, b.apply("sub", exponent, _n(b, 1))))
    if not (exponent.op == "constant" and (value_of(exponent).enclosure()[0] > 1).all()):
        by_base = b.apply("where", at_zero, _n(b, _RISING), by_base)
    by_exponent = b.apply("where", at_zero, _n(b, 0), b.apply("mul", y, b.apply("log", base)))
    return by_base, by_exponent


def _pown_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    n = y.data
    assert isinstance(n, int)
    if n == 0:  # 0 x^-1 is undefined at 0, where x^0 is 1
        return (_n(b, 0),)
    if abs(n - 1) > LARGEST_POWER:
        return (_scaled(b, n, b.apply("mul", y, b.apply("recip", args[0]))),)
    return (_scaled(b, n, b.apply("pown", args[0], data=n - 1)),)


def _where_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    condition = args[0]
    one, zero = _n(b, 1), _n(b, 0)
    return zero, b.apply("where", condition, one, zero), b.apply("where", condition, zero, one)


def _exact(name: str) -> Any:
    from infimum.exact.number import exact, pi

    return {"ln2": np.log(exact(2)), "ln10": np.log(exact(10)), "pi": pi}[name]


def _step_slope(b: Builder, args: tuple[Node, ...], y: Node) -> tuple[Node, ...]:
    return tuple(_n(b, 0) for _ in args)


def _round_ties_away(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


_ROWS = [
    Operation("neg", 1, np.negative, ("negative",), (), _unary(lambda b, x, y: _n(b, -1)), "everywhere"),
    Operation("add", 2, np.add, ("add",), (), lambda b, a, y: (_n(b, 1), _n(b, 1)), "everywhere"),
    Operation("sub", 2, np.subtract, ("subtract",), (), lambda b, a, y: (_n(b, 1), _n(b, -1)), "everywhere"),
    Operation("mul", 2, np.multiply, ("multiply",), (), lambda b, a, y: (a[1], a[0]), "everywhere"),
    Operation(
        "div",
        2,
        np.divide,
        ("divide", "true_divide"),
        (),
        lambda b, a, y: (b.apply("recip", a[1]), b.apply("neg", b.apply("div", y, a[1]))),
    ),
    Operation(
        "recip", 1, np.reciprocal, ("reciprocal",), (), _unary(lambda b, x, y: b.apply("neg", b.apply("sqr", y)))
    ),
    Operation("sqr", 1, np.square, ("square",), (), _unary(lambda b, x, y: _scaled(b, 2, x)), "everywhere"),
    Operation("sqrt", 1, np.sqrt, ("sqrt",), ("sqrt",), _steep_reciprocal_of(lambda b, x, y: _scaled(b, 2, y))),
    Operation("abs", 1, np.abs, ("absolute", "fabs"), ("fabs",), _unary(_abs_slope)),
    Operation("min", 2, np.minimum, ("minimum", "fmin"), (), lambda b, a, y: _choice(b, a, "min")),
    Operation("max", 2, np.maximum, ("maximum", "fmax"), (), lambda b, a, y: _choice(b, a, "max")),
    Operation("sign", 1, np.sign, ("sign",), (), _step_slope),
    Operation("floor", 1, np.floor, ("floor",), ("floor",), _step_slope),
    Operation("ceil", 1, np.ceil, ("ceil",), ("ceil",), _step_slope),
    Operation("trunc", 1, np.trunc, ("trunc", "fix"), ("trunc",), _step_slope),
    Operation("round_ties_to_even", 1, np.rint, ("rint", "round", "around"), (), _step_slope),
    Operation("round_ties_to_away", 1, _round_ties_away, (), (), _step_slope),
    Operation(
        "mod",
        2,
        np.mod,
        ("mod", "remainder"),
        (),
        lambda b, a, y: (_n(b, 1), b.apply("neg", b.apply("floor", b.apply("div", a[0], a[1])))),
    ),
    Operation("exp", 1, np.exp, ("exp",), ("exp",), _unary(lambda b, x, y: y), "everywhere"),
    Operation(
        "exp2", 1, np.exp2, ("exp2",), ("exp2",), _unary(lambda b, x, y: _scaled(b, _exact("ln2"), y)), "everywhere"
    ),
    Operation(
        "exp10", 1, lambda x: 10.0**x, (), (), _unary(lambda b, x, y: _scaled(b, _exact("ln10"), y)), "everywhere"
    ),
    Operation("expm1", 1, np.expm1, ("expm1",), ("expm1",), _unary(lambda b, x, y: b.apply("exp", x)), "everywhere"),
    Operation("log", 1, np.log, ("log",), ("log",), _reciprocal_of(lambda b, x, y: x)),
    Operation("log2", 1, np.log2, ("log2",), ("log2",), _reciprocal_of(lambda b, x, y: _scaled(b, _exact("ln2"), x))),
    Operation(
        "log10", 1, np.log10, ("log10",), ("log10",), _reciprocal_of(lambda b, x, y: _scaled(b, _exact("ln10"), x))
    ),
    Operation(
        "log1p", 1, np.log1p, ("log1p",), ("log1p",), _reciprocal_of(lambda b, x, y: b.apply("add", _n(b, 1), x))
    ),
    Operation("sin", 1, np.sin, ("sin",), ("sin",), _unary(lambda b, x, y: b.apply("cos", x)), "everywhere"),
    Operation(
        "cos", 1, np.cos, ("cos",), ("cos",), _unary(lambda b, x, y: b.apply("neg", b.apply("sin", x))), "everywhere"
    ),
    Operation(
        "sinpi",
        1,
        lambda x: np.sin(np.pi * np.remainder(x, 2.0)),
        (),
        (),
        _unary(lambda b, x, y: _scaled(b, _exact("pi"), b.apply("cospi", x))),
        "everywhere",
    ),
    Operation(
        "cospi",
        1,
        lambda x: np.cos(np.pi * np.remainder(x, 2.0)),
        (),
        (),
        _unary(lambda b, x, y: _scaled(b, -_exact("pi"), b.apply("sinpi", x))),
        "everywhere",
    ),
    Operation("tan", 1, np.tan, ("tan",), ("tan",), _unary(lambda b, x, y: _one_plus_square(b, y))),
    Operation(
        "asin",
        1,
        np.arcsin,
        ("arcsin",),
        ("asin",),
        _steep_reciprocal_of(lambda b, x, y: b.apply("sqrt", _one_minus_square(b, x))),
    ),
    Operation(
        "acos",
        1,
        np.arccos,
        ("arccos",),
        ("acos",),
        _unary(lambda b, x, y: b.apply("neg", _steep_at_zero(b, b.apply("sqrt", _one_minus_square(b, x))))),
    ),
    Operation(
        "atan",
        1,
        np.arctan,
        ("arctan",),
        ("atan",),
        _reciprocal_of(lambda b, x, y: _one_plus_square(b, x)),
        "everywhere",
    ),
    Operation(
        "atan2",
        2,
        np.arctan2,
        ("arctan2",),
        ("atan2",),
        lambda b, a, y: (
            b.apply("div", a[1], b.apply("add", b.apply("sqr", a[0]), b.apply("sqr", a[1]))),
            b.apply("neg", b.apply("div", a[0], b.apply("add", b.apply("sqr", a[0]), b.apply("sqr", a[1])))),
        ),
    ),
    Operation("sinh", 1, np.sinh, ("sinh",), ("sinh",), _unary(lambda b, x, y: b.apply("cosh", x)), "everywhere"),
    Operation("cosh", 1, np.cosh, ("cosh",), ("cosh",), _unary(lambda b, x, y: b.apply("sinh", x)), "everywhere"),
    Operation("tanh", 1, np.tanh, ("tanh",), ("tanh",), _unary(lambda b, x, y: _one_minus_square(b, y)), "everywhere"),
    Operation(
        "asinh",
        1,
        np.arcsinh,
        ("arcsinh",),
        ("asinh",),
        _reciprocal_of(lambda b, x, y: b.apply("sqrt", _one_plus_square(b, x))),
        "everywhere",
    ),
    Operation(
        "acosh",
        1,
        np.arccosh,
        ("arccosh",),
        ("acosh",),
        _steep_reciprocal_of(lambda b, x, y: b.apply("sqrt", b.apply("sub", b.apply("sqr", x), _n(b, 1)))),
    ),
    Operation(
        "atanh", 1, np.arctanh, ("arctanh",), ("atanh",), _reciprocal_of(lambda b, x, y: _one_minus_square(b, x))
    ),
    Operation(
        "cbrt", 1, np.cbrt, ("cbrt",), ("cbrt",), _steep_reciprocal_of(lambda b, x, y: _scaled(b, 3, b.apply("sqr", y)))
    ),
    Operation("hypot", 2, np.hypot, ("hypot",), ("hypot",), _hypot_slope),
    Operation("pown", 1, np.power, (), (), _pown_slope),
    Operation("pow", 2, np.power, ("power", "float_power"), ("pow",), _pow_slope),
    Operation("is_less", 2, np.less, ("less",), (), _step_slope),
    Operation("is_less_equal", 2, np.less_equal, ("less_equal",), (), _step_slope),
    Operation("is_equal", 2, np.equal, ("equal",), (), _step_slope),
    Operation("where", 3, np.where, ("where",), (), _where_slope),
]

OPERATIONS = {row.name: row for row in _ROWS}

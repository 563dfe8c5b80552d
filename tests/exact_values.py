"""The value of a graph at a point, in ball arithmetic of several hundred bits: what functions are measured against.

Nodes are evaluated one by one with python-flint's `arb` and a table of operations of its own; nothing is shared with
the core, the backends or the passes but the graph itself. A value is a ball, or None where the expression is undefined.
Where a ball cannot decide on which side of a jump or of an edge of definition it lies, `Undecided` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb

from infimum.exact.number import Exact
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of, others_of, value_of

Value = Any  # arb | None: flint has no types
PRECISION = 256
STEP, FINE = 300, 1024  # derivatives are central differences with the step 2^-300, in 1024 bits
SLACK = 80  # and are trusted to 2^-80 of their size


class Undecided(Exception):
    """The ball touches a jump or an edge of definition."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    before, flint.ctx.prec = flint.ctx.prec, bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def ball(number: Any) -> Value:
    """A float, int, Fraction or ball as a ball."""
    if isinstance(number, Fraction):
        return arb(flint.fmpq(number.numerator, number.denominator))
    return number if isinstance(number, arb) else arb(float(number)) if not isinstance(number, int) else arb(number)


# --- decisions -----------------------------------------------------------------------------------------------------


def _less(a: Value, b: Value) -> bool:
    if a < b:
        return True
    if a >= b:
        return False
    raise Undecided


def _equal(a: Value, b: Value) -> bool:
    if not a.overlaps(b):
        return False
    if a.is_exact() and b.is_exact():
        return bool(a == b)
    raise Undecided


def _sign(a: Value) -> int:
    return 0 if _equal(a, arb(0)) else -1 if _less(a, arb(0)) else 1


def _whole(a: Value) -> Value:
    found = a.unique_fmpz()
    if found is None:
        raise Undecided
    return arb(found)


def _floor(a: Value) -> Value:
    return _whole(a.floor())


def _trunc(a: Value) -> Value:
    return _floor(a) if _sign(a) >= 0 else -_floor(-a)


def _ties_to_away(a: Value) -> Value:
    if abs(a) < arb(0.5):
        return arb(0)
    return _floor(a + arb(0.5)) if _sign(a) >= 0 else -_floor(-a + arb(0.5))


def _ties_to_even(a: Value) -> Value:
    high = _floor(a + arb(0.5))
    tie = a.is_exact() and a + arb(0.5) == high
    return high - int(high.unique_fmpz()) % 2 if tie else high


# --- operations ----------------------------------------------------------------------------------------------------


def _on(inside: Callable[[Value], bool], f: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """f where its argument is inside its domain, undefined elsewhere."""
    return lambda a: f(a) if inside(a) else None


def _positive(a: Value) -> bool:
    return _less(arb(0), a)


def _within_one(a: Value) -> bool:
    return not _less(arb(1), abs(a))


def _divide(a: Value, b: Value) -> Value:
    return None if _sign(b) == 0 else a / b


def _mod(a: Value, b: Value) -> Value:
    return None if _sign(b) == 0 else a - b * _floor(a / b)


def _cbrt(a: Value) -> Value:
    side = _sign(a)
    return arb(0) if side == 0 else a.root(3) if side > 0 else -((-a).root(3))


def _pown(a: Value, n: int) -> Value:
    return None if n < 0 and _sign(a) == 0 else a**n


def _pow(a: Value, b: Value) -> Value:
    side = _sign(a)
    if side > 0:
        return (b * a.log()).exp()
    return arb(0) if side == 0 and _sign(b) > 0 else None


def _atan2(y: Value, x: Value) -> Value:
    across = _sign(y)  # the value jumps at y = 0 where x < 0
    along = _sign(x) if across == 0 else 1
    return None if across == 0 and along == 0 else arb.atan2(y, x)


def _tangent(a: Value) -> Value:
    found = a.tan()
    if not found.is_finite():
        raise Undecided
    return found


_TABLE: dict[str, Callable[..., Value]] = {
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divide,
    "recip": lambda a: _divide(arb(1), a),
    "sqr": lambda a: a * a,
    "sqrt": _on(lambda a: _sign(a) >= 0, lambda a: a.sqrt()),
    "abs": abs,
    "min": lambda a, b: a.min(b),
    "max": lambda a, b: a.max(b),
    "sign": lambda a: arb(_sign(a)),
    "floor": _floor,
    "ceil": lambda a: -_floor(-a),
    "trunc": _trunc,
    "round_ties_to_even": _ties_to_even,
    "round_ties_to_away": _ties_to_away,
    "mod": _mod,
    "exp": lambda a: a.exp(),
    "exp2": lambda a: (a * arb.const_log2()).exp(),
    "exp10": lambda a: (a * arb.const_log10()).exp(),
    "expm1": lambda a: a.expm1(),
    "log": _on(_positive, lambda a: a.log()),
    "log2": _on(_positive, lambda a: a.log() / arb.const_log2()),
    "log10": _on(_positive, lambda a: a.log() / arb.const_log10()),
    "log1p": _on(lambda a: _positive(a + 1), lambda a: a.log1p()),
    "sin": lambda a: a.sin(),
    "cos": lambda a: a.cos(),
    "sinpi": lambda a: a.sin_pi(),
    "cospi": lambda a: a.cos_pi(),
    "tan": _tangent,
    "asin": _on(_within_one, lambda a: a.asin()),
    "acos": _on(_within_one, lambda a: a.acos()),
    "atan": lambda a: a.atan(),
    "atan2": _atan2,
    "sinh": lambda a: a.sinh(),
    "cosh": lambda a: a.cosh(),
    "tanh": lambda a: a.tanh(),
    "asinh": lambda a: a.asinh(),
    "acosh": _on(lambda a: not _less(a, arb(1)), lambda a: a.acosh()),
    "atanh": _on(lambda a: _less(abs(a), arb(1)), lambda a: a.atanh()),
    "cbrt": _cbrt,
    "hypot": lambda a, b: (a * a + b * b).sqrt(),
    "pow": _pow,
    "is_less": lambda a, b: arb(int(_less(a, b))),
    "is_less_equal": lambda a, b: arb(int(not _less(b, a))),
    "is_equal": lambda a, b: arb(int(_equal(a, b))),
}

_FOLDS = {"sum": "add", "prod": "mul", "min_of": "min", "max_of": "max"}


def _call(op: str, args: Sequence[Value], data: Any) -> Value:
    if op == "where":
        condition, x, y = args
        return None if condition is None else y if _equal(condition, arb(0)) else x
    if any(a is None for a in args):
        return None
    return _pown(args[0], data) if op == "pown" else _TABLE[op](*args)


def _fold(op: str, terms: Sequence[Value]) -> Value:
    total = terms[0]
    for term in terms[1:]:
        total = _call(op, (total, term), None)
    return total


def _others(op: str, terms: Sequence[Value]) -> list[Value]:
    assert len(terms) > 1
    return [_fold(op, [*terms[:i], *terms[i + 1 :]]) for i in range(len(terms))]


def _recurrence(a: Sequence[Value], b: Sequence[Value], reverse: bool) -> list[Value]:
    found: list[Value] = [None] * len(a)
    last: Value = arb(0)
    for i in reversed(range(len(a))) if reverse else range(len(a)):
        last = found[i] = None if None in (a[i], b[i], last) else a[i] * last + b[i]
    return found


# --- graphs --------------------------------------------------------------------------------------------------------


def evaluate(outputs: Sequence[Node], point: Sequence[Any], bits: int = PRECISION) -> list[list[Value]]:
    """Every output at one point, element by element."""
    with precision(bits):
        x = [ball(v) for v in point]
        values: dict[Node, list[Value]] = {}
        for node in ancestors(outputs):
            values[node] = _node(node, [values[a] for a in node.args], x)
        return [values[node] for node in outputs]


def _node(node: Node, args: list[list[Value]], x: list[Value]) -> list[Value]:
    op = node.op
    if op == "x":
        return x
    if op == "constant":
        return constants(node)
    if op == "take":
        return [args[0][i] if i >= 0 else arb(0) for i in map_of(node).indices().tolist()]
    if op == "concat":
        return [v for a in args for v in a]
    if op in _FOLDS:
        width = integer_of(node)
        return [_fold(_FOLDS[op], args[0][i : i + width]) for i in range(0, len(args[0]), width)]
    if op == "others":
        inner, width = others_of(node)
        return [v for i in range(0, len(args[0]), width) for v in _others(inner, args[0][i : i + width])]
    if op == "recurrence":
        return _recurrence(*args, bool(node.data))
    full = [a * node.size if len(a) == 1 else a for a in args]
    return [_call(op, row, node.data) for row in zip(*full, strict=True)]


def constants(node: Node) -> list[Value]:
    """The elements of a constant, as balls."""
    value = value_of(node)
    if value.symbols is not None:
        return [_of_exact(s) for s in value.symbols]
    lo, hi = value.enclosure()
    return [arb(a) if a == b else arb(a).union(arb(b)) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)]


def _of_exact(number: Exact) -> Value:
    return _of_terms(number._terms)


def _of_terms(terms: Any) -> Value:
    total = arb(0)
    for monomial, coefficient in terms:
        product = ball(coefficient)
        for atom, exponent in monomial:
            product = product * _of_atom(atom) ** exponent
        total = total + product
    return total


def _of_atom(atom: Any) -> Value:
    if atom.name in ("pi", "e"):
        return arb.pi() if atom.name == "pi" else arb.const_e()
    args = [_of_terms(a) for a in atom.args]
    if atom.name == "group":
        return args[0]
    return args[0] ** args[1] if atom.name == "pow" else getattr(args[0], atom.name)()


# --- derivatives and comparison ------------------------------------------------------------------------------------


def value(output: Node, point: Sequence[Any], bits: int = PRECISION) -> Value:
    """A scalar output at one point."""
    return evaluate([output], point, bits)[0][0]


def gradient(output: Node, point: Sequence[Any]) -> list[Value]:
    """The slopes of a scalar output by every variable; None where there is none: undefined nearby, a kink or a jump."""
    return [derivative(output, point, np.eye(len(point))[i]) for i in range(len(point))]


def derivative(output: Node, point: Sequence[Any], direction: Sequence[float]) -> Value:
    """The difference quotient of a scalar output along a direction, where both sides and two steps agree on one."""
    sides = [Fraction(0), *(Fraction(sign, 2**step) for step in (STEP, STEP + 2) for sign in (1, -1))]
    near = []
    for side in sides:
        there = [Fraction(float(v)) + side * Fraction(float(d)) for v, d in zip(point, direction, strict=True)]
        near.append(value(output, there, FINE))
    if any(v is None for v in near):
        return None
    with precision(FINE):
        slopes = [(v - near[0]) / ball(side) for v, side in zip(near[1:], sides[1:], strict=True)]
        far = (1 + abs(slopes[0])) * arb(2) ** (-STEP // 3)
        return None if any(abs(s - slopes[0]) > far for s in slopes[1:]) else (slopes[0] + slopes[1]) / 2


def second_derivative(output: Node, point: Sequence[Any], first: Sequence[float], second: Sequence[float]) -> Value:
    """The mixed central difference of a scalar output along two directions; None where it is undefined nearby."""
    total = arb(0)
    for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        there = [
            Fraction(float(v)) + Fraction(s, 2**STEP) * Fraction(float(a)) + Fraction(t, 2**STEP) * Fraction(float(b))
            for v, a, b in zip(point, first, second, strict=True)
        ]
        near = value(output, there, FINE)
        if near is None:
            return None
        with precision(FINE):
            total = total + s * t * near
    with precision(FINE):
        return total * arb(2) ** (2 * STEP - 2)


def outside(true: Value, lo: float, hi: float, slack_bits: int | None = None) -> bool:
    """The true value certainly lies outside [lo, hi] (by more than the slack of a difference quotient)."""
    with precision(PRECISION):
        slack = arb(0) if slack_bits is None else (1 + abs(true)) * arb(2) ** -slack_bits
        return bool(true + slack < arb(lo)) or bool(true - slack > arb(hi))


def told(point: Sequence[float]) -> str:
    """A point in hexadecimal, for messages."""
    return "(" + ", ".join(float(v).hex() for v in point) + ")"

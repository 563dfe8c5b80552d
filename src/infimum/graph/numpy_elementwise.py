"""NumPy's universal functions and their relatives as operations of the core."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.exact import Exact, exact, pi
from infimum.graph.indexmap import of_indices
from infimum.graph.node import Node
from infimum.graph.ops import OPERATIONS
from infimum.graph.refusal import refusal
from infimum.graph.traced import TracedArray
from infimum.graph.tracer import Rule, Tracer
from infimum.graph.values import is_symbolic, plain

_LARGEST_POWER = 2**31


def _core(op: str, boolean: bool = False) -> Rule:
    return lambda t, *values: t.apply(op, *values, boolean=boolean)


def _swapped(op: str) -> Rule:
    return lambda t, a, b: t.apply(op, b, a, boolean=True)


def _add(t: Tracer, a: Any, b: Any) -> Any:
    # NumPy adds two arrays of true and false as "or".
    if is_boolean(a) and is_boolean(b):
        return t.apply("max", a, b, boolean=True)
    return t.apply("add", a, b)


def _multiply(t: Tracer, a: Any, b: Any) -> Any:
    return t.apply("mul", a, b, boolean=is_boolean(a) and is_boolean(b))


def is_boolean(value: Any) -> bool:
    if isinstance(value, TracedArray):
        return value.boolean or value.dtype.kind == "b"
    return isinstance(value, bool | np.bool_) or getattr(getattr(value, "dtype", None), "kind", "") == "b"


def _not(t: Tracer, value: Any) -> Any:
    if is_boolean(value):
        return t.apply("sub", 1.0, value, boolean=True)
    return t.apply("is_equal", value, 0.0, boolean=True)


def _different(t: Tracer, a: Any, b: Any) -> Any:
    return t.apply("sub", 1.0, t.apply("is_equal", a, b, boolean=True), boolean=True)


def as_truth(t: Tracer, value: Any) -> Any:
    return value if is_boolean(value) else _different(t, value, 0.0)


def _logical(op: str) -> Rule:
    return lambda t, a, b: t.apply(op, as_truth(t, a), as_truth(t, b), boolean=True)


def _bits(op: str, name: str) -> Rule:
    def rule(t: Tracer, a: Any, b: Any) -> Any:
        if not (is_boolean(a) and is_boolean(b)):
            raise refusal(
                f"{name} works on the bits of integers.", "Use it between conditions, as in (x > 0) & (x < 1)."
            )
        return t.apply(op, a, b, boolean=True)

    return rule


def _exclusive(t: Tracer, a: Any, b: Any) -> Any:
    _bits("min", "^")(t, a, b)
    return _different(t, a, b)


def _invert(t: Tracer, a: Any) -> Any:
    if not is_boolean(a):
        raise refusal("~ works on the bits of integers.", "Use it on conditions, as in ~(x > 0).")
    return _not(t, a)


def _choice(op: str, neutral: float) -> Rule:
    """min or max, of which an infinite constant is the neutral element (or the refused answer)."""

    def rule(t: Tracer, a: Any, b: Any) -> Any:
        for one, other in ((a, b), (b, a)):
            if not is_symbolic(one) and _is_double(one) and np.all(np.asarray(plain(one)) == neutral):
                shape = np.broadcast_shapes(np.shape(one), np.shape(other))
                return t.traced(other) if shape == np.shape(other) else t.apply("add", other, np.zeros(shape))
        return t.apply(op, a, b)

    return rule


def _is_double(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray | np.generic | TracedArray)


def power(t: Tracer, base: Any, exponent: Any) -> Any:
    """Integer powers where the exponent is a known integer, sqrt for one half, else pow."""
    if is_symbolic(exponent):
        return t.apply("pow", base, exponent)
    known = plain(exponent)
    if isinstance(known, Exact | Fraction):
        fraction = known.as_fraction() if isinstance(known, Exact) else known
        known = known if fraction is None or fraction.denominator not in (1, 2) else float(fraction)
    if isinstance(known, list | tuple):
        known = np.asarray(known)
    if not isinstance(known, int | float | np.ndarray | np.generic):
        return t.apply("pow", base, known)
    if np.ndim(known) == 0:
        return _power(t, base, known)
    exponents = np.asarray(known)
    distinct = np.unique(exponents)
    if distinct.size == 1:
        shape = np.broadcast_shapes(np.shape(base), exponents.shape)
        wide = base if np.shape(base) == shape else t.apply("add", base, np.zeros(shape))
        return _power(t, wide, distinct[0])
    if not np.all(distinct == np.floor(distinct)):
        return t.apply("pow", base, exponents)
    return _grouped(t, base, exponents, distinct)


def _power(t: Tracer, base: Any, exponent: Any) -> Any:
    if exponent == 0.5:
        return t.apply("sqrt", base)
    if math.isfinite(exponent) and exponent == math.floor(exponent) and abs(exponent) < _LARGEST_POWER:
        return t.apply("pown", base, data=int(exponent))
    return t.apply("pow", base, float(exponent))


def _grouped(t: Tracer, base: Any, exponents: Any, distinct: Any) -> Any:
    """Different integer powers element by element: one pown for each exponent, put back in order."""
    shape = np.broadcast_shapes(np.shape(base), exponents.shape)
    node, own, _ = t.operand(base)
    wide = t.sized(t.broadcast(node, own, shape), int(np.prod(shape)))
    flat = np.broadcast_to(exponents, shape).ravel()
    order = np.argsort(flat, kind="stable")
    pieces: list[Node] = []
    for exponent in distinct:
        (members,) = np.nonzero(flat == exponent)
        part = t.graph.node("take", (wide,), members.size, of_indices(members, wide.size))
        pieces.append(t.graph.node("pown", (part,), members.size, int(exponent)))
    joined = t.graph.node("concat", pieces, wide.size)
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    return t.array(t.graph.node("take", (joined,), wide.size, of_indices(back, wide.size)), shape)


def _floor_divide(t: Tracer, a: Any, b: Any) -> Any:
    return t.apply("floor", t.apply("div", a, b))


def _fmod(t: Tracer, a: Any, b: Any) -> Any:
    return t.apply("sub", a, t.apply("mul", b, t.apply("trunc", t.apply("div", a, b))))


def _modf(t: Tracer, a: Any) -> Any:
    whole = t.apply("trunc", a)
    return t.apply("sub", a, whole), whole


def _copysign(t: Tracer, a: Any, b: Any) -> Any:
    size = t.apply("abs", a)
    return t.apply("where", t.apply("is_less", b, 0.0), t.apply("neg", size), size)


def _heaviside(t: Tracer, a: Any, middle: Any) -> Any:
    above = t.apply("where", t.apply("is_less", 0.0, a), 1.0, middle)
    return t.apply("where", t.apply("is_less", a, 0.0), 0.0, above)


def _logaddexp(t: Tracer, a: Any, b: Any) -> Any:
    gap = t.apply("neg", t.apply("abs", t.apply("sub", a, b)))
    return t.apply("add", t.apply("max", a, b), t.apply("log1p", t.apply("exp", gap)))


def _scaled(factor: Any) -> Rule:
    return lambda t, a: t.apply("mul", factor, a)


def sinc(t: Tracer, a: Any) -> Any:
    """sin(pi a)/(pi a), and 1 at 0."""
    quotient = t.apply("div", t.apply("sinpi", a), t.apply("mul", pi, a))
    return t.apply("where", t.apply("is_equal", a, 0.0), 1.0, quotient)


def not_a_number(answer: bool) -> Rule:
    """isnan and its kind: the variables themselves are real numbers; of anything else it depends on x."""

    def rule(t: Tracer, a: Any) -> Any:
        node = t.operand(a)[0]
        source = node.args[0] if node.op == "take" else node
        if source.op != "x":
            raise refusal(
                "Whether this value is defined depends on x.",
                "Write np.where(condition, a, b) with the condition of the domain.",
            )
        return t.fresh(np.full(np.shape(a), answer)) if np.shape(a) else np.bool_(answer)

    return rule


def _ldexp(t: Tracer, a: Any, b: Any) -> Any:
    return t.apply("mul", a, t.apply("exp2", b) if is_symbolic(b) else np.exp2(plain(b)))


UFUNCS: dict[Any, Rule] = {
    getattr(np, name): _core(row.name)
    for row in OPERATIONS.values()
    for name in row.numpy
    if isinstance(getattr(np, name, None), np.ufunc)
}
UFUNCS |= {
    np.add: _add,
    np.multiply: _multiply,
    np.power: power,
    np.float_power: power,
    np.less: _core("is_less", True),
    np.less_equal: _core("is_less_equal", True),
    np.equal: _core("is_equal", True),
    np.greater: _swapped("is_less"),
    np.greater_equal: _swapped("is_less_equal"),
    np.not_equal: _different,
    np.logical_and: _logical("min"),
    np.logical_or: _logical("max"),
    np.logical_xor: lambda t, a, b: _different(t, as_truth(t, a), as_truth(t, b)),
    np.logical_not: _not,
    np.bitwise_and: _bits("min", "&"),
    np.bitwise_or: _bits("max", "|"),
    np.bitwise_xor: _exclusive,
    np.invert: _invert,
    np.minimum: _choice("min", math.inf),
    np.maximum: _choice("max", -math.inf),
    np.fmin: _choice("min", math.inf),
    np.fmax: _choice("max", -math.inf),
    np.floor_divide: _floor_divide,
    np.divmod: lambda t, a, b: (_floor_divide(t, a, b), t.apply("mod", a, b)),
    np.fmod: _fmod,
    np.modf: _modf,
    np.copysign: _copysign,
    np.signbit: lambda t, a: t.apply("is_less", a, 0.0, boolean=True),
    np.heaviside: _heaviside,
    np.logaddexp: _logaddexp,
    np.positive: lambda t, a: t.traced(a),
    np.conjugate: lambda t, a: t.traced(a),
    np.deg2rad: _scaled(pi / exact(180)),
    np.radians: _scaled(pi / exact(180)),
    np.rad2deg: _scaled(exact(180) / pi),
    np.degrees: _scaled(exact(180) / pi),
    np.ldexp: _ldexp,
    np.isnan: not_a_number(False),
    np.isinf: not_a_number(False),
    np.isfinite: not_a_number(True),
}

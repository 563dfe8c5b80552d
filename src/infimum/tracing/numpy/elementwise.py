"""NumPy's universal functions and their relatives as operations of the core."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infimum.exact.number import exact, pi
from infimum.graph.node import Node, ancestors
from infimum.ops import OPERATIONS, ufunc_names
from infimum.tracing.nonfinite.powers import power
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import is_symbolic, plain

_LARGE = 1e300  # what comes near it may overflow


def _core(op: str, boolean: bool = False) -> Rule:
    return lambda t, *values: t.apply(op, *values, boolean=boolean)


def _compared(op: str, swapped: bool = False) -> Rule:
    """Return the rule of a comparison, as NumPy has it where an operand is infinite or NaN."""

    def rule(t: Tracer, a: Any, b: Any) -> Any:
        first, second = (b, a) if swapped else (a, b)
        return t.lifted(lambda x, y: t.nonfinite.compared(op, x, y), first, second, boolean=True)

    return rule


_equal = _compared("is_equal")


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
    return _equal(t, value, 0.0)


def _different(t: Tracer, a: Any, b: Any) -> Any:
    return t.apply("sub", 1.0, _equal(t, a, b), boolean=True)


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


def _choice(op: str, neutral: float, ignores_nan: bool = False) -> Rule:
    """Return min or max, of which an infinite constant is the neutral element (or the refused answer)."""

    def rule(t: Tracer, a: Any, b: Any) -> Any:
        for one, other in ((a, b), (b, a)):
            if not is_symbolic(one) and _is_double(one) and np.all(np.asarray(plain(one)) == neutral):
                shape = np.broadcast_shapes(np.shape(one), np.shape(other))
                if ignores_nan:  # which is then infinite
                    t.nonfinite.refuse(t.nonfinite.is_nan(t.operand(other)[0]), f"np.f{op}")
                return t.traced(other) if shape == np.shape(other) else t.apply("add", other, np.zeros(shape))
        both = is_boolean(a) and is_boolean(b)
        if ignores_nan:
            return t.lifted(lambda x, y: t.nonfinite.ignoring_nan(t.graph.node(op, (x, y), max(x.size, y.size))), a, b)
        return t.apply(op, a, b, boolean=both)

    return rule


def _is_double(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray | np.generic | TracedArray)


def _quotient(t: Tracer, a: Any, b: Any, name: str) -> Any:
    """Return a/b for functions that round it; they round infinities in ways of their own, which are refused."""
    for value in (a, b):
        t.nonfinite.refuse(t.nonfinite.is_infinite(t.operand(value)[0]), name)
    return t.apply("div", a, b)


def _floor_divide(t: Tracer, a: Any, b: Any) -> Any:
    return t.apply("floor", _quotient(t, a, b, "//"))


def _fmod(t: Tracer, a: Any, b: Any) -> Any:
    return _rest(t, a, t.apply("mul", b, t.apply("trunc", _quotient(t, a, b, "np.fmod"))))


def _rest(t: Tracer, a: Any, whole: Any) -> Any:
    """Return a less what is taken from it; where nothing is left, NumPy's zero has the sign of a."""
    return t.lifted(lambda x, y: t.nonfinite.zeros.forget(t.operation("sub", (x, y))), a, whole)


def _modf(t: Tracer, a: Any) -> Any:
    t.nonfinite.refuse(t.nonfinite.is_infinite(t.operand(a)[0]), "np.modf")  # of which 0 is left over
    whole = t.apply("trunc", a)
    return _rest(t, a, whole), whole


def _sign_bit(t: Tracer, a: Any) -> Any:
    return t.lifted(lambda x: t.nonfinite.as_node(t.nonfinite.is_negative(x)), a, boolean=True)


def _copysign(t: Tracer, a: Any, b: Any) -> Any:
    size = t.apply("abs", a)
    return t.apply("where", _sign_bit(t, b), t.apply("neg", size), size)


def _heaviside(t: Tracer, a: Any, middle: Any) -> Any:
    less = UFUNCS[np.less]
    steps = t.apply("where", less(t, a, 0.0), 0.0, t.apply("where", less(t, 0.0, a), 1.0, middle))
    return t.lifted(lambda x, y: t.nonfinite.where(t.nonfinite.is_nan(x), x, y), a, steps)


def _logaddexp(t: Tracer, a: Any, b: Any) -> Any:
    s = t.nonfinite
    u, v = (s.of(t.operand(value)[0]) for value in (a, b))
    s.refuse(s.either(s.both(u.minus, v.minus), s.both(u.plus, v.plus)), "np.logaddexp")
    gap = t.apply("neg", t.apply("abs", t.apply("sub", a, b)))
    return t.apply("add", t.apply("max", a, b), t.apply("log1p", t.apply("exp", gap)))


def _scaled(factor: Any) -> Rule:
    return lambda t, a: t.apply("mul", factor, a)


def sinc(t: Tracer, a: Any) -> Any:
    """Return sin(pi a)/(pi a), and 1 at 0."""
    quotient = t.apply("div", t.apply("sinpi", a), t.apply("mul", pi, a))
    return t.apply("where", t.apply("is_equal", a, 0.0), 1.0, quotient)


def refuse_overflow(t: Tracer, node: Node) -> None:
    """Refuse a question about infinities and NaN where doubles may overflow: rounding is not followed."""
    for part in ancestors([node]):
        if part.op in ("x", "constant") or (part.op == "take" and part.args[0].op == "x"):
            continue
        lo, hi = t.nonfinite.ranges.of(part)
        if np.any(lo < -_LARGE) or np.any(hi > _LARGE):
            raise refusal(
                "Whether doubles overflow is asked here, and the value may be too large for them.",
                "Write np.where(condition, a, b) with a condition on x, or narrower bounds.",
            )


def asked(which: str) -> Rule:
    """Return isnan, isinf or isfinite: where the real function is defined, and where it has a pole."""

    def rule(t: Tracer, a: Any) -> Any:
        node, shape, _ = t.operand(a)
        refuse_overflow(t, node)
        found = getattr(t.nonfinite, which)(node)
        if isinstance(found, bool):
            return t.fresh(np.full(shape, found)) if shape else np.bool_(found)
        return t.lifted(lambda x: found, a, boolean=True)

    return rule


def _ldexp(t: Tracer, a: Any, b: Any) -> Any:
    return t.apply("mul", a, t.apply("exp2", b) if is_symbolic(b) else np.exp2(plain(b)))


UFUNCS: dict[Any, Rule] = {
    getattr(np, name): _core(op) for op in OPERATIONS for name in ufunc_names(op) if hasattr(np, name)
}
UFUNCS |= {
    np.add: _add,
    np.multiply: _multiply,
    np.power: power,
    np.float_power: power,
    np.less: _compared("is_less"),
    np.less_equal: _compared("is_less_equal"),
    np.equal: _equal,
    np.greater: _compared("is_less", swapped=True),
    np.greater_equal: _compared("is_less_equal", swapped=True),
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
    np.fmin: _choice("min", math.inf, ignores_nan=True),
    np.fmax: _choice("max", -math.inf, ignores_nan=True),
    np.floor_divide: _floor_divide,
    np.divmod: lambda t, a, b: (_floor_divide(t, a, b), t.apply("mod", a, b)),
    np.fmod: _fmod,
    np.modf: _modf,
    np.copysign: _copysign,
    np.signbit: _sign_bit,
    np.heaviside: _heaviside,
    np.logaddexp: _logaddexp,
    np.positive: lambda t, a: t.traced(a),
    np.conjugate: lambda t, a: t.traced(a),
    np.deg2rad: _scaled(pi / exact(180)),
    np.radians: _scaled(pi / exact(180)),
    np.rad2deg: _scaled(exact(180) / pi),
    np.degrees: _scaled(exact(180) / pi),
    np.ldexp: _ldexp,
    np.isnan: asked("is_nan"),
    np.isinf: asked("is_infinite"),
    np.isfinite: asked("is_finite"),
}

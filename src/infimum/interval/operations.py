"""The operations of IEEE 1788 under their names in snake_case, arguments in the standard's order.

They accept Intervals, numbers, arrays and exact constants, and follow the set-based flavour: where an operation
is defined on part of its arguments only, the result encloses the values on that part; nowhere, it is empty.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infimum import core
from infimum.errors import InvalidInterval, UndefinedOperation, UnsupportedValue
from infimum.interval import powers
from infimum.interval.calls import call, is_void, named, operand
from infimum.interval.interval import Interval
from infimum.interval.reading import broadcast, describe
from infimum.interval.text import EMPTY, ENTIRE

Shape = int | tuple[int, ...]


class Facts(NamedTuple):
    """What is proved of an operation on a box: bools for scalars, arrays otherwise."""

    defined: Any
    """The operation is defined on the whole box."""
    smooth: Any
    """It is differentiable on an open neighbourhood of the box."""


def empty(shape: Shape = ()) -> Interval:
    """Be the empty interval, or an array of it."""
    return Interval(np.full(shape, EMPTY[0]), np.full(shape, EMPTY[1]))


def entire(shape: Shape = ()) -> Interval:
    """Be the interval of all real numbers, or an array of it."""
    return Interval(np.full(shape, ENTIRE[0]), np.full(shape, ENTIRE[1]))


def nums_to_interval(lo: object, hi: object) -> Interval:
    """Be [lo, hi]; where there is no such interval, warn of UndefinedOperation and be empty, as IEEE 1788 says."""
    return _constructed(lambda: _nonempty(lo, hi))


def text_to_interval(text: str) -> Interval:
    """Enclose what the text denotes; if nothing, warn of UndefinedOperation and be empty, as IEEE 1788 says."""
    return _constructed(lambda: Interval(text))


def _nonempty(lo: object, hi: object) -> Interval:
    # Interval(inf, -inf) reads the ends of the empty interval back; as two numbers they enclose nothing.
    built = Interval(lo, hi)
    if is_void(built.__interval__()).any():
        raise InvalidInterval(f"nums_to_interval({describe(lo)}, {describe(hi)}): no number lies between these.")
    return built


def _constructed(build: Callable[[], Interval]) -> Interval:
    try:
        return build()
    except InvalidInterval as error:
        warnings.warn(f"{error} The result is empty.", UndefinedOperation, stacklevel=3)
        return empty()


def _unary(op: str, what: str) -> Callable[[object], Interval]:
    def operation(x: object) -> Interval:
        return Interval._of(call(op, operand(x)))

    return named(operation, op, f"Contain {what} for every t in x where it is defined.")


def _binary(op: str, what: str) -> Callable[[object, object], Interval]:
    def operation(x: object, y: object) -> Interval:
        return Interval._of(call(op, operand(x), operand(y)))

    return named(operation, op, f"Contain {what} for every t in x and s in y where it is defined.")


neg = _unary("neg", "-t")
recip = _unary("recip", "1/t")
sqr = _unary("sqr", "t*t")
sqrt = _unary("sqrt", "the square root of t")
cbrt = _unary("cbrt", "the cube root of t")
abs = _unary("abs", "|t|")
sign = _unary("sign", "the sign -1, 0 or 1 of t")
floor = _unary("floor", "the largest integer <= t")
ceil = _unary("ceil", "the smallest integer >= t")
trunc = _unary("trunc", "t rounded towards zero to an integer")
round_ties_to_even = _unary("round_ties_to_even", "the integer nearest to t, the even one of two")
round_ties_to_away = _unary("round_ties_to_away", "the integer nearest to t, the larger in size of two")

exp = _unary("exp", "e**t")
exp2 = _unary("exp2", "2**t")
exp10 = _unary("exp10", "10**t")
expm1 = _unary("expm1", "e**t - 1")
log = _unary("log", "the natural logarithm of t")
log2 = _unary("log2", "the logarithm of t to base 2")
log10 = _unary("log10", "the logarithm of t to base 10")
log1p = _unary("log1p", "the natural logarithm of 1 + t")

sin = _unary("sin", "sin t")
cos = _unary("cos", "cos t")
tan = _unary("tan", "tan t")
sinpi = _unary("sinpi", "sin(pi*t)")
cospi = _unary("cospi", "cos(pi*t)")
asin = _unary("asin", "arcsin t")
acos = _unary("acos", "arccos t")
atan = _unary("atan", "arctan t")
sinh = _unary("sinh", "sinh t")
cosh = _unary("cosh", "cosh t")
tanh = _unary("tanh", "tanh t")
asinh = _unary("asinh", "arsinh t")
acosh = _unary("acosh", "arcosh t")
atanh = _unary("atanh", "artanh t")

add = _binary("add", "t + s")
sub = _binary("sub", "t - s")
mul = _binary("mul", "t*s")
div = _binary("div", "t/s")
min = _binary("min", "the smaller of t and s")
max = _binary("max", "the larger of t and s")
mod = _binary("mod", "t - s*floor(t/s)")
hypot = _binary("hypot", "sqrt(t*t + s*s)")
atan2 = _binary("atan2", "the angle of the point (s, t)")
pow = _binary("pow", "t**s, t >= 0,")


def pos(x: object) -> Interval:
    """Be x itself."""
    return Interval._of(operand(x))


def fma(x: object, y: object, z: object) -> Interval:
    """Contain t*s + r for every t in x, s in y and r in z, rounded once."""
    return Interval._of(call("fma", operand(x), operand(y), operand(z)))


def pown(x: object, p: object) -> Interval:
    """Contain t**p for every t in x, for an integer p or an array of them, where it is defined."""
    return Interval._of(powers.integer_power(operand(x), p))


def hull(x: object, y: object) -> Interval:
    """Be the smallest interval that contains x and y."""
    return Interval._of(call("hull", operand(x), operand(y)))


convex_hull = hull


def intersection(x: object, y: object) -> Interval:
    """Be the numbers that lie in x and in y."""
    return Interval._of(call("intersection", operand(x), operand(y)))


def facts(op: str, *args: object) -> Facts:
    """Say of the named operation whether it is defined, and smooth, on the box of its arguments."""
    known = core.operations()
    if op not in known:
        raise UnsupportedValue(f"facts({op!r}): there is no such operation. Known are {', '.join(sorted(known))}.")
    *values, param = args if op == "pown" else (*args, 0)
    if not isinstance(param, (int, np.integer)):
        raise UnsupportedValue(f"facts('pown', x, p) needs one integer p, got {param!r}.")
    if len(values) != known[op].arity:
        raise UnsupportedValue(f"facts({op!r}): {op} has {known[op].arity} interval arguments, got {len(values)}.")
    pairs = [operand(value) for value in values]
    broadcast(op, pairs)
    defined, smooth = core.facts(op, *pairs, param=int(param))
    if np.ndim(defined) == 0:
        return Facts(bool(defined), bool(smooth))
    return Facts(defined, smooth)

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
from infimum.ops import OPERATIONS

Shape = int | tuple[int, ...]


class Facts(NamedTuple):
    """What is proved of an operation on a box: bools for scalars, arrays otherwise."""

    defined: Any
    """The operation is defined on the whole box."""
    smooth: Any
    """It is differentiable on an open neighbourhood of the box."""


def empty(shape: Shape = ()) -> Interval:
    """Return the empty interval, or an array of it."""
    return Interval(np.full(shape, EMPTY[0]), np.full(shape, EMPTY[1]))


def entire(shape: Shape = ()) -> Interval:
    """Return the interval of all real numbers, or an array of it."""
    return Interval(np.full(shape, ENTIRE[0]), np.full(shape, ENTIRE[1]))


def nums_to_interval(lo: object, hi: object) -> Interval:
    """Return [lo, hi]; if there is none, warn of UndefinedOperation and return the empty interval (IEEE 1788)."""
    return _constructed(lambda: _nonempty(lo, hi))


def text_to_interval(text: str) -> Interval:
    """Enclose what the text denotes; if nothing, warn of UndefinedOperation and return the empty interval."""
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


def _unary(op: str, formula: str) -> Callable[..., Interval]:
    def operation(x: object) -> Interval:
        return Interval._of(call(op, operand(x)))

    return named(operation, op, f"Contain {formula} for every t in x where it is defined.")


def _binary(op: str, formula: str) -> Callable[..., Interval]:
    def operation(x: object, y: object) -> Interval:
        return Interval._of(call(op, operand(x), operand(y)))

    return named(operation, op, f"Contain {formula} for every t in x and s in y where it is defined.")


# One function for every operation whose record has a formula.
ELEMENTWISE: dict[str, Callable[..., Interval]] = {
    row.name: (_unary if row.arity == 1 else _binary)(row.name, row.formula)
    for row in OPERATIONS.values()
    if row.formula
}


def pos(x: object) -> Interval:
    """Return x itself."""
    return Interval._of(operand(x))


def fma(x: object, y: object, z: object) -> Interval:
    """Contain t*s + r for every t in x, s in y and r in z, rounded once."""
    return Interval._of(call("fma", operand(x), operand(y), operand(z)))


def pown(x: object, p: object) -> Interval:
    """Contain t**p for every t in x, for an integer p or an array of them, where it is defined."""
    return Interval._of(powers.integer_power(operand(x), p))


def hull(x: object, y: object) -> Interval:
    """Return the smallest interval that contains x and y."""
    return Interval._of(call("hull", operand(x), operand(y)))


convex_hull = hull


def intersection(x: object, y: object) -> Interval:
    """Return the numbers that lie in x and in y."""
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

"""The reverse operations of IEEE 1788 under their names in snake_case, arguments in the standard's order.

A reverse operation answers: which x can have given this result? It contains every x of X (the whole line, where X is
left out) for which the operation's result lies in c, lies in X itself, and is empty where no x can.

    operation                          contains every x of X with
    sqr_rev(c, X)                      x*x in c
    abs_rev(c, X)                      |x| in c
    pown_rev(c, X, p)                  x**p in c, for an integer p
    sin_rev cos_rev cosh_rev …         sin x in c, and so on for each operation that the core reverses
    mul_rev(b, c, X)                   x*t in c for some t in b
    pow_rev1(b, c, X)                  x**t in c for some t in b, x >= 0
    pow_rev2(a, c, X)                  t**x in c for some t in a, t >= 0
    atan2_rev1(b, c, X)                the angle of the point (t, x) in c for some t in b
    atan2_rev2(a, c, X)                the angle of the point (x, t) in c for some t in a
    mul_rev_to_pair(b, c)              as mul_rev, without X, in two pieces

    operation                          is
    cancel_minus(x, y)                 the z with y + z = x, as intervals
    cancel_plus(x, y)                  the z with z - y = x, as intervals

They accept what the forward operations accept, alone or in arrays. sin_rev(c, X) has every x of X with sin x in c,
where asin(c) has those between -pi/2 and pi/2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

from infimum import core
from infimum.errors import UnsupportedValue
from infimum.interval import powers
from infimum.interval.calls import call, named, operand
from infimum.interval.interval import Interval
from infimum.ops import OPERATIONS

_LINE = Interval("[entire]")


def _of_one(op: str, what: str) -> Callable[..., Interval]:
    def operation(c: object, x: object = _LINE) -> Interval:
        return Interval._of(call(op, operand(c), operand(x)))

    return named(operation, op, f"Contain every t in x with {what} in c; x is the whole line where it is left out.")


def _of_two(op: str, what: str) -> Callable[..., Interval]:
    def operation(b: object, c: object, x: object = _LINE) -> Interval:
        return Interval._of(call(op, operand(b), operand(c), operand(x)))

    sentence = f"Contain every t in x with {what} in c for some s in b; x is the whole line where it is left out."
    return named(operation, op, sentence)


# One function for every operation of one operand that the core can reverse.
REVERSES: dict[str, Callable[..., Interval]] = {
    f"{row.name}_rev": _of_one(f"{row.name}_rev", row.formula)
    for row in OPERATIONS.values()
    if row.arity == 1 and row.formula and f"{row.name}_rev" in core.operations()
}

mul_rev = _of_two("mul_rev", "t*s")
pow_rev1 = _of_two("pow_rev1", "t**s, t >= 0,")
pow_rev2 = _of_two("pow_rev2", "s**t, s >= 0,")
atan2_rev1 = _of_two("atan2_rev1", "the angle of the point (s, t)")
atan2_rev2 = _of_two("atan2_rev2", "the angle of the point (t, s)")


@overload
def pown_rev(c: object, p: object, /) -> Interval: ...
@overload
def pown_rev(c: object, x: object, p: object, /) -> Interval: ...
def pown_rev(c: object, *x_and_p: object) -> Interval:
    """Contain every t in x with t**p in c: pown_rev(c, x, p), or pown_rev(c, p) for the whole line.

    p     t**p in c
    0     every t where 1 is in c, none elsewhere
    even  two branches, t >= 0 and t <= 0: their hull
    odd   one branch; for p < 0 two, without 0
    """
    if len(x_and_p) not in (1, 2):
        raise UnsupportedValue(
            f"pown_rev takes (c, p) or (c, x, p), got {1 + len(x_and_p)} arguments. Write pown_rev(c, 3), for example."
        )
    *x, p = x_and_p
    return Interval._of(powers.integer_root(operand(c), operand(x[0] if x else _LINE), p))


def mul_rev_to_pair(b: object, c: object) -> tuple[Interval, Interval]:
    """Contain every t with t*s in c for some s in b, as two intervals, the lower one first.

    0 in b    0 in c    the pair
    yes       yes       the whole line, and nothing
    yes       no        a piece below 0 and one above it; only one of them where b has one sign; none where b is 0
    no                  c/b, and nothing
    An empty b or c leaves nothing. A piece that is alone comes first.
    """
    pairs = operand(b), operand(c)
    return Interval._of(call("mul_rev_pair_low", *pairs)), Interval._of(call("mul_rev_pair_high", *pairs))


def cancel_minus(x: object, y: object) -> Interval:
    """Return the tightest z for which y + z contains x, where x is at least as wide as y.

    x                 y                     z
    empty             bounded, or empty     empty
    bounded           bounded, no wider     [x.lo - y.lo, x.hi - y.hi]
    anything else                           the whole line
    """
    return Interval._of(call("cancel_minus", operand(x), operand(y)))


def cancel_plus(x: object, y: object) -> Interval:
    """Return cancel_minus(x, -y)."""
    return Interval._of(call("cancel_plus", operand(x), operand(y)))

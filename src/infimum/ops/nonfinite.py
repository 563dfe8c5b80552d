"""How infinities and NaN go through the operations that have rules of their own, as NumPy computes.

A rule is given the node and the states of its operands: where each is finite, +inf, -inf, or in doubt between these and
NaN. It returns the same four truths of the result; where none of them holds, the result is NaN.
"""

from __future__ import annotations

from typing import Any

from infimum.ops.record import Logic, Node, States


def tangent(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of tan: its poles lie at numbers that are no doubles, and NumPy has no value there."""
    (a,), (u,) = node.args, below
    pole = s.compare("is_equal", s.node("cos", a), 0.0, u.finite)
    return s.through(node, u, (s.both(u.finite, s.negation(pole)), False, False, False))


def reciprocal(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of 1/u, whose pole has the sign of the zero."""
    (a,), (u,) = node.args, below
    zero = s.compare("is_equal", a, 0.0, u.finite)
    return s.through(node, u, (s.both(u.finite, s.negation(zero)), *s.pole(a, zero, True, False)))


def integer_power(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of u**n: even negative powers have poles of one sign."""
    (a,), (u,), n = node.args, below, node.data
    if n >= 0:
        return s.through(node, u, ((u.finite if n else True), False, False, False))
    if n % 2:
        return reciprocal(s, node, below)
    zero = s.compare("is_equal", a, 0.0, u.finite)
    return s.through(node, u, (s.both(u.finite, s.negation(zero)), zero, False, False))


def _signs_swapped(u: Any) -> Any:
    return u._replace(plus=u.minus, minus=u.plus)


def sum_of_two(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of u + v and u - v: infinities that cancel make NaN."""
    a, b = below
    if node.op == "sub":
        b = _signs_swapped(b)
    plus = s.either(s.both(a.plus, s.either(b.finite, b.plus)), s.both(a.finite, b.plus))
    minus = s.either(s.both(a.minus, s.either(b.finite, b.minus)), s.both(a.finite, b.minus))
    return s.both(a.finite, b.finite), plus, minus, s.either(a.doubt, b.doubt)


def product(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of u * v: 0 times an infinity is NaN."""
    (x, y), (a, b) = node.args, below
    plus, minus = False, False
    for u, other, v in ((a, y, b), (b, x, a)):
        if u.plus is False and u.minus is False:
            continue
        above, under = s.positive(other, v), s.negative(other, v)
        plus = s.either(plus, s.both(u.plus, above), s.both(u.minus, under))
        minus = s.either(minus, s.both(u.plus, under), s.both(u.minus, above))
    return s.both(a.finite, b.finite), plus, minus, s.either(a.doubt, b.doubt)


def quotient(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of u / v, where the sign of a zero v matters."""
    (x, y), (a, b) = node.args, below
    zero = s.compare("is_equal", y, 0.0, b.finite)
    above, under = s.positive(x, a), s.negative(x, a)
    plus, minus, doubt = s.pole(y, zero, above, under)
    if a.plus is not False or a.minus is not False:
        up, down = s.compare("is_less", s.number(0.0), y, b.finite), s.compare("is_less", y, 0.0, b.finite)
        plus = s.either(plus, s.both(a.plus, up), s.both(a.minus, down))
        minus = s.either(minus, s.both(a.plus, down), s.both(a.minus, up))
    finite = s.both(a.finite, b.finite, s.negation(zero))
    return finite, plus, minus, s.either(doubt, a.doubt, b.doubt)


def extreme(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of min and max: NaN beside anything is NaN."""
    a, b = below
    if node.op == "min":
        a, b = _signs_swapped(a), _signs_swapped(b)
    known = [s.either(u.finite, u.plus, u.minus) for u in (a, b)]
    plus = s.either(s.both(a.plus, known[1]), s.both(b.plus, known[0]))
    minus = s.both(a.minus, b.minus)
    if node.op == "min":
        plus, minus = minus, plus
    return s.both(a.finite, b.finite), plus, minus, s.either(a.doubt, b.doubt)


def distance(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of hypot: it is infinite with an infinity, even beside NaN."""
    a, b = below
    infinite = s.either(a.plus, a.minus, b.plus, b.minus)
    return s.both(a.finite, b.finite), infinite, False, s.both(s.either(a.doubt, b.doubt), s.negation(infinite))


def remainder(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of mod: with an infinite divisor they are in doubt."""
    a, b = below
    zero = s.compare("is_equal", node.args[1], 0.0, b.finite)
    doubt = s.either(a.doubt, b.doubt, b.plus, b.minus)
    return s.both(a.finite, b.finite, s.negation(zero)), False, False, doubt


def angle(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of atan2: the core has no angle at the origin."""
    a, b = below
    origin = s.both(*(s.compare("is_equal", x, 0.0, u.finite) for x, u in zip(node.args, below, strict=True)))
    return s.both(a.finite, b.finite, s.negation(origin)), False, False, s.either(a.doubt, b.doubt)


def power(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of u**v: the core knows no negative base."""
    (x, y), (a, b) = node.args, below
    both = s.both(a.finite, b.finite)
    zero = s.compare("is_equal", x, 0.0, both)
    up, down = s.compare("is_less", s.number(0.0), y, both), s.compare("is_less", y, 0.0, both)
    finite = s.either(s.compare("is_less", s.number(0.0), x, both), s.both(zero, up))
    rises = s.both(a.plus, s.compare("is_less", s.number(0.0), y, b.finite))
    pole = s.both(zero, down)
    doubt = s.either(a.doubt, b.doubt, a.minus, b.plus, b.minus)
    if pole is not False and s.zeros.of(x) is not False:
        return finite, rises, False, s.either(doubt, pole)
    return finite, s.either(rises, pole), False, doubt


def comparison(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of a comparison, which the core does not know of infinities and NaN."""
    finite = s.both(*(u.finite for u in below))
    return finite, False, False, s.negation(finite)


def selection(s: Logic, node: Node, below: list[Any]) -> States:
    """Return the states of where: those of the branch that is taken."""
    condition, a, b = below
    chooser = s.decided(node.args[0])
    finite, plus, minus, doubt = (s.both(condition.finite, s.choose(chooser, x, y)) for x, y in zip(a, b, strict=True))
    return finite, plus, minus, doubt

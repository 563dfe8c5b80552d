"""Expressions read as quotients of polynomials of the variables, with intervals of fractions as coefficients.

    node                               is read as
    x, constants                       a variable, an interval
    add, sub, neg, mul, div, recip,    the same of quotients
    sqr, pown
    take, concat, sum, prod            element by element
    any other                          the interval that is given for it; None: it has none, or it is not finite

Guarantee: at every point of the box for which the intervals were given and where the expression is defined, there are
numbers within the coefficients with which the quotient has the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from infimum.graph.node import Node, ancestors
from infimum.passes.unbounded.elements import elements

_MOST_TERMS = 300
_MOST_ELEMENTS = 4000
_LARGEST_POWER = 24

Monomial = tuple[tuple[int, int], ...]  # (variable, power), in the order of variables
Range = tuple[Fraction, Fraction]
Polynomial = dict[Monomial, Range]

_ONE: Polynomial = {(): (Fraction(1), Fraction(1))}


class Quotient(NamedTuple):
    above: Polynomial
    below: Polynomial


class _TooLong(Exception):
    """Not worth reading."""


def _is_read(node: Node) -> bool:
    return node.op in _RULES or node.op in ("x", "constant", "pown", "take", "concat", "sum", "prod")


def unread(value: Node) -> list[Node]:
    """Return the nodes of which an interval is needed: the first on each way down that are no polynomials."""
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    pending = [value]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            if _is_read(node):
                pending.extend(node.args)
            else:
                found[node] = None
    return sorted(found, key=lambda node: node.number)


def quotient(value: Node, ranges: Mapping[Node, list[tuple[float, float]]]) -> Quotient | None:
    """Return a scalar expression as a quotient of polynomials."""
    nodes = [node for node in ancestors([value]) if node in ranges or _is_read(node)]
    if sum(node.size for node in nodes) > _MOST_ELEMENTS:
        return None
    values: dict[Node, list[Quotient]] = {}
    try:
        for node in nodes:
            if node in ranges:
                values[node] = [_constant(*ends) for ends in ranges[node]]
            elif all(a in values for a in node.args):  # else only an unread node needs it
                values[node] = _elements(node, [values[a] for a in node.args])
    except (_TooLong, ZeroDivisionError):
        return None
    return values[value][0] if value in values else None


def _range(lo: float, hi: float) -> Range:
    if not (np.isfinite(lo) and np.isfinite(hi) and lo <= hi):
        raise _TooLong
    return Fraction(lo), Fraction(hi)


def _elements(node: Node, args: list[list[Quotient]]) -> list[Quotient]:
    if node.op == "x":
        one = (Fraction(1), Fraction(1))
        return [Quotient({((i, 1),): one}, _ONE) for i in range(node.size)]
    return elements(node, args, Quotient({}, _ONE), _constant, _apply)


def _constant(lo: float, hi: float) -> Quotient:
    return Quotient({(): _range(lo, hi)}, _ONE)


def _apply(op: str, row: tuple[Quotient, ...], data: object) -> Quotient:
    if op in _RULES:
        return _RULES[op](*row)
    assert op == "pown" and isinstance(data, int)
    return _power(row[0], data)


# ---------------------------------------------------------------------------------------------- arithmetic
def _sum(a: Quotient, b: Quotient) -> Quotient:
    if a.below == b.below and all(lo == hi for lo, hi in a.below.values()):
        return Quotient(added(a.above, b.above), a.below)
    above = added(multiplied(a.above, b.below), multiplied(b.above, a.below))
    return Quotient(above, multiplied(a.below, b.below))


def _negated(a: Quotient) -> Quotient:
    return Quotient({m: (-hi, -lo) for m, (lo, hi) in a.above.items()}, a.below)


def _product(a: Quotient, b: Quotient) -> Quotient:
    return Quotient(multiplied(a.above, b.above), multiplied(a.below, b.below))


def _inverse(a: Quotient) -> Quotient:
    """Return 1/a; a divisor that is a number becomes a factor."""
    if set(a.above) == {()}:
        lo, hi = a.above[()]
        if lo <= 0 <= hi:
            raise _TooLong
        return Quotient(multiplied(a.below, {(): (1 / hi, 1 / lo)}), _ONE)
    return Quotient(a.below, a.above)


def _power(a: Quotient, power: int) -> Quotient:
    if abs(power) > _LARGEST_POWER:
        raise _TooLong
    base = a if power >= 0 else _inverse(a)
    total = Quotient(_ONE, _ONE)
    for _ in range(abs(power)):
        total = _product(total, base)
    return total


_RULES: dict[str, Callable[..., Quotient]] = {
    "add": _sum,
    "sub": lambda a, b: _sum(a, _negated(b)),
    "neg": _negated,
    "mul": _product,
    "div": lambda a, b: _product(a, _inverse(b)),
    "recip": _inverse,
    "sqr": lambda a: _power(a, 2),
}


def added(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for m, (lo, hi) in b.items():
        before = total.get(m, (Fraction(0), Fraction(0)))
        total[m] = (before[0] + lo, before[1] + hi)
    return {m: (lo, hi) for m, (lo, hi) in total.items() if lo or hi}


def multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    if len(a) * len(b) > _MOST_TERMS:
        raise _TooLong
    total: Polynomial = {}
    for m, c in a.items():
        for k, d in b.items():
            total = added(total, {_joined(m, k): _times(c, d)})
    return total


def _times(c: Range, d: Range) -> Range:
    corners = [x * y for x in c for y in d]
    return min(corners), max(corners)


def _joined(m: Monomial, k: Monomial) -> Monomial:
    powers = dict(m)
    for i, p in k:
        powers[i] = powers.get(i, 0) + p
    return tuple(sorted(powers.items()))

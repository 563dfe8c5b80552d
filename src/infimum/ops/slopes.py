"""Slopes and reverse rules that several operations share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infimum.ops.record import Builder, Node, Reverse, Slope

Rule = Callable[[Builder, Node, Node], Node]  # of the operand and the value
_LARGEST = float(np.finfo(np.float64).max)


def of_one(rule: Rule) -> Slope:
    """Return the slope of an operation of one operand."""
    return lambda b, args, y: (rule(b, args[0], y),)


def reciprocal_of(rule: Rule) -> Slope:
    """Return the slope 1/rule."""
    return of_one(lambda b, x, y: b.apply("recip", rule(b, x, y)))


def steep_reciprocal_of(rule: Rule) -> Slope:
    """Return the slope 1/rule of an operation that is defined where the rule is 0."""
    return of_one(lambda b, x, y: steep_reciprocal(b, rule(b, x, y)))


def steep_reciprocal(b: Builder, x: Node) -> Node:
    """Return 1/x, beyond all doubles at 0 itself: there the function is defined, and constant if its operand is."""
    at_zero = b.apply("is_equal", x, b.number(0))
    return b.apply("where", at_zero, b.between(_LARGEST, np.inf), b.apply("recip", x))


def scaled(b: Builder, factor: Any, x: Node) -> Node:
    """Return a number times an expression."""
    return b.apply("mul", b.number(factor), x)


def one_minus_square(b: Builder, x: Node) -> Node:
    """Return 1 - x^2."""
    return b.apply("sub", b.number(1), b.apply("sqr", x))


def one_plus_square(b: Builder, x: Node) -> Node:
    """Return 1 + x^2."""
    return b.apply("add", b.number(1), b.apply("sqr", x))


def logarithm(b: Builder, base: int) -> Node:
    """Return the exact natural logarithm of a base."""
    return b.apply("log", b.number(base))


def taken(b: Builder, x: Node, y: Node, op: str) -> Node:
    """Return the slope of min or max by x: 1 where x is taken, 0 where y is, and [0, 1] where they may be equal."""
    less = b.apply("is_less", x, y) if op == "min" else b.apply("is_less", y, x)
    return b.apply("where", b.apply("is_equal", x, y), b.between(0.0, 1.0), less)


def flat(b: Builder, args: Sequence[Node], y: Node) -> tuple[Node, ...]:
    """Return the slopes of a step: 0 between its jumps."""
    return tuple(b.number(0) for _ in args)


def inverse(name: str) -> Reverse:
    """Return the reverse rule of an operation that has an inverse."""
    return lambda op, a, c, data: (op(name, c),)


def reversed_by(name: str) -> Reverse:
    """Return the reverse rule that is an operation of the core's, which starts from the operand."""
    return lambda op, a, c, data: (op(name, c, a[0], data=data),)


def reversed_by_two(name: str) -> Reverse:
    """Return the reverse rule of two operands that is made of two operations of the core's."""
    return lambda op, a, c, data: (op(f"{name}_rev1", a[1], c, a[0]), op(f"{name}_rev2", a[0], c, a[1]))

"""Second derivatives in Arb: numbers with their gradient and Hessian, for the trees of random_functions.py."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import flint
import numpy as np

from random_functions import FOLDS, OPERATIONS, PRECISION, Tree, Undecided


class Jet:
    """A ball of Arb, its partial derivatives and the second ones."""

    def __init__(self, value: Any, slope: Any, second: Any) -> None:
        self.value, self.slope, self.second = value, slope, second

    def through(self, value: Any, first: Any, second: Any) -> Jet:
        """h of this, by h, h' and h'' there."""
        outer = np.outer(self.slope, self.slope)
        return Jet(value, first * self.slope, first * self.second + second * outer)

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.slope + other.slope, self.second + other.second)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.value - other.value, self.slope - other.slope, self.second - other.second)

    def __mul__(self, other: Jet) -> Jet:
        a, b = self, other
        outer = np.outer(a.slope, b.slope)
        second = a.value * b.second + b.value * a.second + outer + outer.T
        return Jet(a.value * b.value, a.value * b.slope + b.value * a.slope, second)

    def __truediv__(self, other: Jet) -> Jet:
        r = 1 / other.value
        return self * other.through(r, -r * r, 2 * r * r * r)

    def __abs__(self) -> Jet:
        if self.value > 0:
            return self
        if self.value < 0:
            return self.through(-self.value, flint.arb(-1), flint.arb(0))
        raise Undecided

    # What the operations of random_functions.py ask of a ball.
    def __gt__(self, other: Any) -> bool:
        return bool(self.value > _value(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= _value(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < _value(other))

    def __eq__(self, other: object) -> bool:
        return bool(self.value == _value(other))

    def __ne__(self, other: object) -> bool:
        return bool(self.value != _value(other))

    __hash__ = None  # type: ignore[assignment]

    def sin(self) -> Jet:
        s, c = self.value.sin(), self.value.cos()
        return self.through(s, c, -s)

    def cos(self) -> Jet:
        s, c = self.value.sin(), self.value.cos()
        return self.through(c, -s, -c)

    def exp(self) -> Jet:
        e = self.value.exp()
        return self.through(e, e, e)

    def tanh(self) -> Jet:
        t = self.value.tanh()
        return self.through(t, 1 - t * t, -2 * t * (1 - t * t))

    def atan(self) -> Jet:
        r = 1 / (1 + self.value * self.value)
        return self.through(self.value.atan(), r, -2 * self.value * r * r)

    def sqrt(self) -> Jet:
        if not self.value > 0:
            raise Undecided
        s = self.value.sqrt()
        return self.through(s, 1 / (2 * s), -1 / (4 * s * self.value))

    def log(self) -> Jet:
        r = 1 / self.value
        return self.through(self.value.log(), r, -r * r)

    def floor(self) -> Jet:
        found = self.value.floor()
        if not (found < self.value and self.value < found + 1):
            raise Undecided
        return self.through(found, flint.arb(0), flint.arb(0))

    def is_exact(self) -> bool:
        return bool(self.value.is_exact())

    def min(self, other: Jet) -> Jet:
        if self.value == other.value or not (self.value < other.value or other.value < self.value):
            raise Undecided
        return self if self.value < other.value else other

    def max(self, other: Jet) -> Jet:
        return self if self.min(other) is other else other


def _value(other: Any) -> Any:
    return other.value if isinstance(other, Jet) else other


def variables(point: Sequence[float]) -> list[Jet]:
    """The variables at a point, each with its own unit slope."""
    n = len(point)
    zero = flint.arb(0)
    units = [np.array([flint.arb(int(i == j)) for j in range(n)], object) for i in range(n)]
    return [Jet(flint.arb(float(v)), unit, np.full((n, n), zero, object)) for v, unit in zip(point, units, strict=True)]


def second_derivatives(tree: Tree, point: Sequence[float]) -> Any:
    """The Hessian of a tree at a point as an array (n, n) of balls; Undecided where it cannot be told."""
    flint.ctx.prec = PRECISION
    found = _jet(tree, variables(point)).second
    if not all(ball.is_finite() for ball in found.ravel()):
        raise Undecided
    return found


def _constant(number: float, x: Sequence[Jet]) -> Jet:
    n = len(x)
    zero = flint.arb(0)
    return Jet(flint.arb(number), np.full(n, zero, object), np.full((n, n), zero, object))


def _jet(tree: Tree, x: Sequence[Jet], t: Any = None, u: Any = None) -> Jet:
    name, *rest = tree
    if name == "c":
        return _constant(rest[0], x)
    if name in ("x", "t", "u"):
        return {"x": lambda: x[rest[0]], "t": lambda: t, "u": lambda: u}[name]()
    if name == "where":
        a, b = (_jet(part, x, t, u) for part in rest[:2])
        if not (a.value < b.value or a.value > b.value):
            raise Undecided
        return _jet(rest[2] if a.value < b.value else rest[3], x, t, u)
    if name == "chain":
        parts = [_jet(rest[0], x, *pair) for pair in itertools.pairwise(x)]
        return functools.reduce(lambda a, b: a + b, parts, _constant(0.0, x))
    if name in FOLDS:
        return functools.reduce(FOLDS[name][1], [_jet(rest[0], x, each) for each in x])
    operands = [_jet(part, x, t, u) for part in rest]
    if name == "sign":
        if operands[0].value == 0:
            raise Undecided
        return _constant(1.0 if operands[0].value > 0 else -1.0, x)
    operation: Callable[..., Jet] = OPERATIONS[name].exact
    return operation(*operands)

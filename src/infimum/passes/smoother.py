"""Smooth spellings of sums that were written with a maximum taken out, so that exponentials do not overflow.

    written                                              is
    max(a, b) + log1p(exp(-|a - b|))                     log(exp a + exp b) = a + log1p(exp(b - a))
    min(a, b) - log1p(exp(-|a - b|))                     a - log1p(exp(a - b))
    m + log(sum exp(z - m)), m = max z                   log(sum exp z) = z_0 + log(sum exp(z - z_0))
      likewise with min(z - m, 0), and the sum kept between 1 and the number of its terms
    where(c, z + log1p(exp(-z)), log1p(exp z))           log1p(exp z), whatever c is
    where(c, 1/(1 + exp(-z)), exp(z)/(1 + exp(z)))       1/(1 + exp(-z))
The left ones have kinks in their parts that cancel in the whole: no slope, no second derivative and no curvature could
be told of them part by part. Values are still enclosed as they were written.

Guarantee: the same real function, defined at the same points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, is_number, map_of, value_of
from infimum.passes.simplify import rebuilt

_MOST_TERMS = 12  # of a sum that are looked at, so that long sums cost no more than their length
_WITH = frozenset({"exp"})
_TAKEN_OUT = frozenset({"max", "min", "max_of", "where"})


class Exponents(NamedTuple):
    """What a node is the logarithm of the sum of exponentials of: groups of `width` elements of `of`, or two nodes."""

    of: tuple[Node, ...]
    width: int


class Smoothed(NamedTuple):
    """The output in smooth spelling; of the nodes put in that are log-sum-exps, what they are so of."""

    output: Node
    exponents: dict[Node, Exponents]


def smoothed(build: Build, output: Node) -> Smoothed:
    """Return the same function with fewer kinks; the very same node where nothing was found."""
    nodes = ancestors([output])
    ops = {node.op for node in nodes}
    if not (ops & _WITH and ops & _TAKEN_OUT):
        return Smoothed(output, {})
    found = _Smoother(build)
    new: dict[Node, Node] = {}
    for node in nodes:
        args = [new[a] for a in node.args]
        same = all(a is b for a, b in zip(args, node.args, strict=True))
        new[node] = found.smooth(node if same else rebuilt(build, node, args))
    return Smoothed(new[output], found.exponents)


class _Smoother:
    def __init__(self, build: Build) -> None:
        self.build = build
        self.exponents: dict[Node, Exponents] = {}

    def smooth(self, node: Node) -> Node:
        """Return a node whose operands are smooth already, in smooth spelling."""
        if node.op in ("add", "sub"):
            return self._sum(node)
        if node.op == "where":
            return self._where(node)
        return node

    def op(self, name: str, *args: Node) -> Node:
        return self.build.apply(name, *args)

    # ------------------------------------------------------------------------------------------ sums
    def _sum(self, node: Node) -> Node:
        terms = _terms(node)
        for logarithm, sign in terms:
            if _inside(logarithm).op not in ("log1p", "log"):
                continue
            for other, way in terms:
                made = self._pair(other, logarithm, alike=way == sign)
                if made is None or max(made.size, 1) > node.size:
                    continue
                rest = [(t, s) for t, s in terms if t is not logarithm and t is not other]
                total = made if sign > 0 else self.op("neg", made)
                for term, s in rest:
                    total = self.op("add" if s > 0 else "sub", total, term)
                return self.build.full(total, node.size)
        return node

    def _pair(self, other: Node, logarithm: Node, *, alike: bool) -> Node | None:
        """Return logarithm + other where the signs are alike, logarithm - other where not; None if it stays."""
        if other.op == "take" and logarithm.op == "take" and other.data == logarithm.data:
            inner = self._pair(other.args[0], logarithm.args[0], alike=alike)
            return (
                None if inner is None else self.build.take(self.build.full(inner, map_of(other).source), map_of(other))
            )
        if logarithm.op == "log1p" and other.op == ("max" if alike else "min"):
            return self._of_two(other, logarithm)
        if logarithm.op == "log" and other.op == "max_of" and alike:
            return self._of_many(other, logarithm)
        return None

    def _of_two(self, extreme: Node, logarithm: Node) -> Node | None:
        """Return log1p(exp(-|a - b|)) + max(a, b), or - min(a, b)."""
        a, b = extreme.args
        (power,) = logarithm.args
        if power.op != "exp" or power.args[0].op != "neg" or power.args[0].args[0].op != "abs":
            return None
        (distance,) = power.args[0].args[0].args
        if distance not in {self.op("sub", a, b), self.op("sub", b, a)} | (
            {a, b} if _is_zero(a) or _is_zero(b) else set()
        ):
            return None
        if _is_zero(b) or (a.size > b.size):
            a, b = b, a
        if extreme.op == "min":
            a, b = self.op("neg", a), self.op("neg", b)
        made = self.op("add", a, self.op("log1p", self.op("exp", self.op("sub", b, a))))
        if not _is_zero(a):
            self.exponents[made] = Exponents((a, b), 1)
        return made

    def _of_many(self, largest: Node, logarithm: Node) -> Node | None:
        """Return m + log(sum exp(z - m)) for m = max z."""
        (z,), width = largest.args, integer_of(largest)
        total = _without_bounds(logarithm.args[0], width)
        if total is None or integer_of(total) != width or total.size != largest.size or total.args[0].op != "exp":
            return None
        (below,) = total.args[0].args
        if below.op == "min":
            below = below.args[1] if _is_zero(below.args[0]) else below.args[0] if _is_zero(below.args[1]) else below
        if below.op != "sub" or below.args[0] is not z or not _spreads(below.args[1], largest, width):
            return None
        groups = z.size // width
        first = self.build.take(z, indexmap.affine([(groups, width)], 0, z.size))
        spread = first
        if groups > 1:
            spread = self.build.take(first, indexmap.affine([(groups, 1), (width, 0)], 0, groups))
        shifted = self.op("exp", self.op("sub", z, spread))
        made = self.op("add", first, self.op("log", self.build.reduce("sum", shifted, width)))
        self.exponents[made] = Exponents((z,), width)
        return made

    # ------------------------------------------------------------------------------------------ branches that are equal
    def _where(self, node: Node) -> Node:
        condition, x, y = node.args
        if not self.build.is_total(condition):
            return node
        for read, write in ((self._softplus, self._as_softplus), (self._sigmoid, self._as_sigmoid)):
            z = read(x)
            if z is not None and z is read(y) and z.size == node.size:
                return write(z)
        return node

    def _softplus(self, node: Node) -> Node | None:
        """Return z where a node is log(1 + exp(z)): log1p(exp z), log(1 + exp z), z + log1p(exp(-z))."""
        if node.op == "log1p" and node.args[0].op == "exp":
            return node.args[0].args[0]
        if node.op == "log":
            return _of_one_plus_exp(node.args[0])
        if node.op == "add":
            for z, other in (node.args, node.args[::-1]):
                inner = self._softplus(other) if other.op in ("log", "log1p") else None
                if inner is not None and self.op("neg", z) is inner:
                    return z
        if node.op == "sub" and node.args[0].op in ("log", "log1p"):
            inner = self._softplus(node.args[0])
            if inner is not None and inner is node.args[1]:
                return self.op("neg", inner)
        return None

    def _as_softplus(self, z: Node) -> Node:
        return self.op("log1p", self.op("exp", z))

    def _sigmoid(self, node: Node) -> Node | None:
        """Return z where a node is 1/(1 + exp(-z))."""
        if node.op == "recip" or (node.op == "div" and is_number(node.args[0], 1.0)):
            inner = _of_one_plus_exp(node.args[-1])
            return None if inner is None else self.op("neg", inner)
        if node.op == "div" and node.args[0].op == "exp":
            inner = _of_one_plus_exp(node.args[1])
            return inner if inner is node.args[0].args[0] else None
        return None

    def _as_sigmoid(self, z: Node) -> Node:
        return self.op("recip", self.op("add", self.build.number(1), self.op("exp", self.op("neg", z))))


def _terms(node: Node) -> list[tuple[Node, int]]:
    """Return the first terms of a sum, with their signs."""
    found: list[tuple[Node, int]] = []
    pending = [(node, 1)]
    while pending:
        current, sign = pending.pop()
        if current.op in ("add", "sub") and len(found) + len(pending) < _MOST_TERMS:
            pending += [(current.args[0], sign), (current.args[1], sign if current.op == "add" else -sign)]
        elif current.op == "neg":
            pending.append((current.args[0], -sign))
        else:
            found.append((current, sign))
    return found


def _inside(node: Node) -> Node:
    return node.args[0] if node.op == "take" else node


def _is_zero(node: Node) -> bool:
    return is_number(node, 0.0)


def _of_one_plus_exp(node: Node) -> Node | None:
    """Return z where a node is 1 + exp(z)."""
    if node.op == "add":
        for one, power in (node.args, node.args[::-1]):
            if is_number(one, 1.0) and power.op == "exp":
                return power.args[0]
    return None


def _without_bounds(node: Node, count: int) -> Node | None:
    """Return the sum of `count` exponentials, of which the largest is 1, that a node keeps between 1 and `count`."""
    for _ in range(2):
        if node.op in ("min", "max") and node.args[0].op == "constant":
            lo, hi = value_of(node.args[0]).enclosure()
            if not (np.all(lo >= count) if node.op == "min" else np.all(hi <= 1.0)):
                return None
            node = node.args[1]
    return node if node.op == "sum" else None


def _spreads(node: Node, scalar: Node, width: int) -> bool:
    """Return whether a node is that of each group, for all of its elements."""
    if node is scalar:
        return scalar.size == 1
    wanted = indexmap.affine([(scalar.size, 1), (width, 0)], 0, scalar.size)
    return node.op == "take" and node.args[0] is scalar and map_of(node) == wanted

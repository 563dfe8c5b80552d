"""Smooth spellings of sums that were written with a maximum taken out, so that exponentials do not overflow.

    written                                              is
    max(a, b) + log1p(exp(-|a - b|))                     log(exp a + exp b) = a + log1p(exp(b - a))
    min(a, b) - log1p(exp(-|a - b|))                     a - log1p(exp(a - b))
    m + log(sum exp(z - m)), m = max z                   log(sum exp z), put together from halves as above
    where(c, z + log1p(exp(-z)), log1p(exp z))           log1p(exp z), whatever c is
    where(c, 1/(1 + exp(-z)), exp(z)/(1 + exp(z)))       1/(1 + exp(-z))
The left ones have kinks in their parts that cancel in the whole: no slope, no second derivative and no curvature could
be told of them part by part. Values are still enclosed as they were written: the right ones overflow where exponents
differ by more than 700, and nothing is known of their slopes there.

Before that, what is never met is left out, so that points have the right slopes:

    min(z - m, 0), m = max z                             z - m
    max(S, 1), min(S, n), S = sum of n exp(z - m)        S

Guarantee: the same real function, defined at the same points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, is_number, map_of, value_of
from infimum.ops import names_with
from infimum.passes.simplify import rebuilt

_MOST_TERMS = 12  # of a sum that are looked at, so that long sums cost no more than their length
_NEVER_NEGATIVE = names_with(lambda row: row.nonnegative)
_TAKEN_OUT = frozenset({"max", "min", "max_of", "where"})


class Exponents(NamedTuple):
    """What a node is the logarithm of the sum of exponentials of: groups of `width` elements of `of`, or two nodes."""

    of: tuple[Node, ...]
    width: int


class Smoothed(NamedTuple):
    """The output in smooth spelling; of the nodes put in that are log-sum-exps, what they are so of."""

    output: Node
    exponents: dict[Node, Exponents]


def unbounded(build: Build, output: Node) -> Node:
    """Return the same function without bounds that are never met; the very same node where nothing was found."""
    return _rewritten(build, output, frozenset({"max_of"}), _Bounds(build).without)


def smoothed(build: Build, output: Node) -> Smoothed:
    """Return the same function with fewer kinks; the very same node where nothing was found."""
    found = _Smoother(build)
    return Smoothed(_rewritten(build, output, _TAKEN_OUT, found.smooth), found.exponents)


def _rewritten(build: Build, output: Node, of: frozenset[str], rule: Callable[[Node], Node]) -> Node:
    """Return an expression with a rule applied to all nodes, if it has exp and another operation."""
    nodes = ancestors([output])
    ops = {node.op for node in nodes}
    if "exp" not in ops or not ops & of:
        return output
    new: dict[Node, Node] = {}
    for node in nodes:
        args = [new[a] for a in node.args]
        same = all(a is b for a, b in zip(args, node.args, strict=True))
        new[node] = rule(node if same else rebuilt(build, node, args))
    return new[output]


class _Bounds:
    """Bounds that are never met, of exponents and their sums after the largest was taken out."""

    def __init__(self, build: Build) -> None:
        self.build = build

    def without(self, node: Node) -> Node:
        """Return what a bound is put on, where it is never met."""
        if node.op not in ("min", "max"):
            return node
        for bound, inner in (node.args, node.args[::-1]):
            if node.op == "min" and _is_zero(bound) and _excess_of(inner) is not None:
                return inner
            if bound.op == "constant" and inner.op == "sum" and inner.args[0].op == "exp":
                width = integer_of(inner)
                largest = _excess_of(inner.args[0].args[0])
                lo, hi = value_of(bound).enclosure()
                met = (lo < width).any() if node.op == "min" else (hi > 1.0).any()
                if largest is not None and integer_of(largest) == width and not met:
                    return self.build.full(inner, node.size)
        return node


class _Smoother:
    def __init__(self, build: Build) -> None:
        self.build = build
        self.exponents: dict[Node, Exponents] = {}

    def smooth(self, node: Node) -> Node:
        """Return a node whose operands are smooth already, in smooth spelling."""
        if node.op in ("add", "sub"):
            return self._sum(node)
        return self._where(node) if node.op == "where" else node

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
        if power.op != "exp" or power.args[0].op != "neg":
            return None
        (distance,) = power.args[0].args
        if distance.op == "abs":
            (distance,) = distance.args
        elif distance.op not in _NEVER_NEGATIVE:
            return None
        either = {self.op("sub", a, b), self.op("sub", b, a)}
        if distance not in either and not (distance in (a, b) and (_is_zero(a) or _is_zero(b))):
            return None
        if _is_zero(b) or (a.size < b.size and not _is_zero(a)):  # a sum would take a scalar apart from the rest
            a, b = b, a
        if extreme.op == "min":
            a, b = self.op("neg", a), self.op("neg", b)
        made = self._joined(a, b)
        if not _is_zero(a):
            self.exponents[made] = Exponents((a, b), 1)
        return made

    def _of_many(self, largest: Node, logarithm: Node) -> Node | None:
        """Return m + log(sum exp(z - m)) for m = max z."""
        (z,), width = largest.args, integer_of(largest)
        (total,) = logarithm.args
        if total.op != "sum" or integer_of(total) != width or total.size != largest.size or total.args[0].op != "exp":
            return None
        if _excess_of(total.args[0].args[0]) is not largest:
            return None
        made = self._halved(z, z.size // width, width)
        self.exponents[made] = Exponents((z,), width)
        return made

    def _joined(self, a: Node, b: Node) -> Node:
        """Return log(exp a + exp b)."""
        return self.op("add", a, self.op("log1p", self.op("exp", self.op("sub", b, a))))

    def _halved(self, z: Node, groups: int, width: int) -> Node:
        """Return log(sum exp z) of each group; half of it is joined to the other half, and so on."""
        while width > 1:
            half = width // 2
            first, second, rest = (
                self._columns(z, groups, width, start, count)
                for start, count in ((0, half), (half, half), (2 * half, width - 2 * half))
            )
            assert first is not None and second is not None
            z, width = self.build.full(self._joined(first, second), groups * half), half
            if rest is not None:
                both = self.build.concat([z, rest])
                at = np.column_stack(
                    [np.arange(groups * half).reshape(groups, half), groups * half + np.arange(groups)]
                )
                z, width = self.build.take(both, indexmap.of_indices(at.ravel(), both.size)), half + 1
        return z

    def _columns(self, z: Node, groups: int, width: int, start: int, count: int) -> Node | None:
        if not count:
            return None
        m = indexmap.affine([(groups, width), (count, 1)], start, z.size)
        return self.build.full(self.build.take(z, m), groups * count)

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


def _excess_of(node: Node) -> Node | None:
    """Return m = max z, one for each group of z, where a node is z - m."""
    if node.op != "sub":
        return None
    z, spread = node.args
    largest = _inside(spread)
    if largest.op != "max_of" or largest.args[0] is not z:
        return None
    width = integer_of(largest)
    wanted = indexmap.affine([(largest.size, 1), (width, 0)], 0, largest.size)
    fits = largest.size == 1 if spread is largest else map_of(spread) == wanted
    return largest if fits else None

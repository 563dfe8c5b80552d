"""Sharper enclosures: a sum in which p and p^2 are terms, met with its completed squares.

Where a node is a p^2 + B p + rest for an expression p, both terms move with p, and the natural enclosure forgets that:
over a box with r = 0 in it, 1/r^6 - 1/r^3 would be anything. In

    a p^2 + B p  =  a (p + B/(2a))^2 - B^2/(4a)

p stands once. a is a constant, B a sum of terms without p, mostly a constant too; the square of B goes to the rest, of
which the next square is completed (3 x^2 + 6 x y + 3 y^2 - 14 x - 14 y = 3 (x + y - 7/3)^2 - 49/3). A node in which p^2
meets a term of B becomes the intersection of itself and of this sum. The operation `intersection`
has a meaning for enclosures alone: plain values, derivatives and facts are those of the expression as it was.

Guarantee: wherever a node is defined, what it is met with is defined and the same real number, as its terms are
(passes/sharper/terms.py): all powers in it are products of powers of atoms that the node takes itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors, users
from infimum.graph.payload import integer_of, value_of
from infimum.ops import names_with
from infimum.passes.sharper.terms import ONE, Monomial, Reader, Terms, folded, root, squared

_MOST_NODES = 4000  # of an expression; beyond, looking takes longer than tracing did

_NEVER_NEGATIVE = names_with(lambda row: row.nonnegative)

Mixed = tuple[Monomial, Monomial]  # p, and p times something else


def sharper(value: Node, n: int) -> Node:
    """Return the same function of n variables for enclosures: never wider, narrower where squares could be completed.

    The very same node where nothing was found (or the expression is too long), else one on a graph of its own.
    """
    found = _Sharper(value, n)
    return found.new[value] if found.changed else value


class _Square(NamedTuple):
    """A completed square, the terms of the sum that it changed, and what is left of the sum."""

    node: Node
    touched: set[Monomial]
    left: Terms


class _Sharper:
    def __init__(self, value: Node, n: int) -> None:
        self.build = Build(n)
        self.new: dict[Node, Node] = {}
        self.changed = False
        nodes = ancestors([value])
        if len(nodes) > _MOST_NODES:
            return
        self.read = Reader(self.build, nodes)
        self.mixed = {node: _mixed(self.read.inner[node]) for node in nodes}
        self.fresh = {node: self._fresh(node) for node in nodes}
        found = {node for node in nodes if self.fresh[node]} - self._unfinished(nodes)
        for node in nodes if found else ():
            copy = self.build.x if node.op == "x" else self._copied(node)
            completed = self._completed(node) if node in found else None
            if completed is not None and completed is not copy:
                copy = self.build.graph.node("intersection", (copy, completed), node.size)
                self.changed = True
            self.new[node] = copy

    def _fresh(self, node: Node) -> set[Mixed]:
        """Return which products of p with something else meet p^2 in this node: each side of the sum has a part."""
        found = self.mixed[node]
        if node.op not in ("add", "sub"):
            return found.difference(*(self._seen(a) for a in node.args)) if found else found
        sides = [self.read.outer[a] for a in node.args]
        return {(p, m) for p, m in found if all(squared(p) in side or m in side for side in sides)}

    def _seen(self, node: Node) -> set[Mixed]:
        return self.mixed[node] if self.read.outer[node] is self.read.inner[node] else set()

    def _unfinished(self, nodes: list[Node]) -> set[Node]:
        """Return the nodes whose only user has more terms for the same p: squares are completed there."""
        counts = users(nodes)
        found = set()
        for node in nodes:
            grown = {p for p, _ in self.fresh[node]} if node.op in ("add", "sub") else set()
            for a in node.args if grown else ():
                if counts[a.number] == 1 and any(p in grown for p, _ in self._seen(a)):
                    found.add(a)
        return found

    def _copied(self, node: Node) -> Node:
        return self.build.graph.node(node.op, [self.new[a] for a in node.args], node.size, node.data)

    # ------------------------------------------------------------------------------------------ completing squares
    def _completed(self, node: Node) -> Node | None:
        """Return the node as a sum with completed squares; None where that says nothing new."""
        left = self.read.inner[node]
        squares: list[Node] = []
        touched: set[Monomial] = set()
        for p in _roots(left):
            found = self._square(left, p)
            if found is not None:
                squares.append(found.node)
                touched |= found.touched
                left = found.left
        if not squares or (node.op in ("add", "sub") and not all(touched & set(self.read.outer[a]) for a in node.args)):
            return None  # an operand's squares alone
        parts = [self._term(monomial, c) for monomial, c in left.items() if monomial]
        total = left.get(ONE, self.build.number(0))
        for part in [*squares, *parts]:
            if part is None:
                return None
            total = self.build.apply("add", total, part)
        return total

    def _square(self, terms: Terms, p: Monomial) -> _Square | None:
        """Return a (p + B/(2a))^2, taken out of a sum."""
        parts = [m for m in terms if p <= m]
        base = self.read.node(p, self.new)
        a = terms.get(squared(p))  # None: part of another square already
        if a is None or not parts or base is None or not _is_nonzero(a):
            return None
        if parts == [p] and _is_nonnegative(base) and _same_signs(a, terms[p]):
            return None  # monotone in p: the natural enclosure is as good
        twice = self.build.apply("mul", self.build.number(2), a)
        shift = folded({m - p: self.build.apply("div", terms[m], twice) for m in parts})
        beyond = self.read.product(self.read.product(shift, shift), {ONE: self.build.apply("neg", a)})
        left = self.read.sum({m: c for m, c in terms.items() if m not in parts and m != squared(p)}, beyond)
        if shift is None or beyond is None or left is None:
            return None
        for part in [self._term(monomial, c) for monomial, c in shift.items()]:
            if part is None:
                return None
            base = self.build.apply("add", base, part)
        node = self.build.apply("mul", a, self.build.apply("sqr", base))
        return _Square(node, {squared(p), *parts, *beyond} - {ONE}, left)

    def _term(self, monomial: Monomial, c: Node) -> Node | None:
        if not monomial:
            return c
        part = self.read.node(monomial, self.new)
        return None if part is None else self.build.apply("mul", c, part)


def _roots(terms: Terms) -> list[Monomial]:
    """Return what terms are squares of, the highest powers first."""
    return sorted((root(m) for m in terms if m), key=_degree, reverse=True)


def _degree(m: Monomial) -> Fraction:
    return max(abs(Fraction(power)) for _, power in m)


def _mixed(terms: Terms) -> set[Mixed]:
    """Return every p of which the square is a term, with each term that is p times something without the atoms of p."""
    atoms = [atom for m in terms for atom, _ in m]
    if len(set(atoms)) == len(atoms):
        return set()
    return {(p, m) for p in _roots(terms) for m in terms if p <= m}


def _signs(node: Node) -> tuple[bool, bool]:
    lo, hi = value_of(node).enclosure()
    return bool((lo > 0).all()), bool((hi < 0).all())


def _is_nonzero(node: Node) -> bool:
    lo, hi = value_of(node).enclosure()
    return bool(((lo > 0) | (hi < 0)).all())


def _same_signs(a: Node, b: Node) -> bool:
    return any(one and other for one, other in zip(_signs(a), _signs(b), strict=True))


def _is_nonnegative(p: Node) -> bool:
    """Return whether p is certainly not negative: then a p^2 + b p is monotone in p where a and b have one sign."""
    return p.op in _NEVER_NEGATIVE or (p.op == "pown" and integer_of(p) % 2 == 0)

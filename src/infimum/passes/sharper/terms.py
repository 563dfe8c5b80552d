"""Expressions read as sums of terms: each a constant times powers of atoms.

    node                        is read as
    add, sub, neg               the sums, term by term
    mul, div                    the products, where they are few; a divisor must be a single term
    sqr, pown, recip, sqrt      the power of a single term (sqrt: of an atom)
    exp(c u)                    the atom exp(u) to the power c; u - v and v - u are the same up to the sign of c
    constants                   a term without atoms
    any other                   an atom; so is a sum of which a power is taken somewhere

Guarantee: wherever a node is defined, so are its terms, and their sum is the same real number. (A negative or broken
power of an atom comes from one that the node takes; terms that cancel can only have kept points from having a value.)
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.graph.payload import integer_of, is_number, value_of

_MOST_TERMS = 8  # beyond, a node is an atom: completed squares of long sums cost more than they tell
_MOST_SYMBOLS = 64  # elements of a constant that are no doubles; comparing more costs too much
_LARGEST_POWER = 2**30
_POWERS = frozenset({"sqr", "pown", "recip", "sqrt", "div"})
_HALF = Fraction(1, 2)

Atom = tuple[str, Node]  # ("", u): u itself; ("exp", u): exp(u)
Exponent = int | Fraction
Monomial = frozenset[tuple[Atom, Exponent]]  # no exponent is 0
Terms = dict[Monomial, Node]  # the coefficients are nodes of constants

ONE: Monomial = frozenset()


class Reader:
    """The terms of nodes, arguments before users; coefficients live on the graph of `build`."""

    def __init__(self, build: Build, nodes: list[Node]) -> None:
        self.build = build
        self.inner: dict[Node, Terms] = {}
        self.outer: dict[Node, Terms] = {}  # as users read a node: an atom where powers of it are taken
        self._differences: dict[frozenset[Node], Node] = {}  # u - v or v - u, whichever came first
        bases = {_scaled(node.args[-1])[-1] for node in nodes if node.op in _POWERS}
        for node in nodes:
            self.inner[node] = self._read(node)
            is_base = node in bases and node.op in ("add", "sub")
            self.outer[node] = self._atom(node) if is_base else self.inner[node]

    def _read(self, node: Node) -> Terms:
        """Return the node as a sum of terms; an atom where that is not possible."""
        terms = self._read_if_possible(node)
        return self._atom(node) if terms is None or len(terms) > _MOST_TERMS else terms

    def _read_if_possible(self, node: Node) -> Terms | None:
        operands = [self.outer[a] for a in node.args]
        if node.op == "constant":
            return {ONE: self.build.constant(value_of(node))} if _is_known(node) else None
        if node.op in ("add", "sub"):
            return self.sum(operands[0], operands[1] if node.op == "add" else self.product(operands[1], self._minus()))
        if node.op == "neg":
            return self.product(operands[0], self._minus())
        if node.op == "mul":
            return self.product(*operands)
        if node.op == "div":
            return self.product(operands[0], self._power(operands[1], -1))
        if node.op in ("sqr", "recip", "pown"):
            power = {"sqr": 2, "recip": -1}.get(node.op) or integer_of(node)
            return self._power(operands[0], power)
        if node.op == "sqrt":
            return self._power(self._atom(node.args[0]), _HALF) if operands[0] == self._atom(node.args[0]) else None
        if node.op == "exp":
            return self._exponential(node.args[0])
        return None

    def _atom(self, node: Node) -> Terms:
        return {frozenset({(("", node), 1)}): self.build.number(1)}

    def _minus(self) -> Terms:
        return {ONE: self.build.number(-1)}

    def _exponential(self, exponent: Node) -> Terms | None:
        *factors, u = _scaled(exponent)
        power: Exponent = 1
        for factor in factors:
            known = _rational(factor)
            if known is None or known == 0:
                return None
            power *= known
        if u.op == "neg":
            u, power = u.args[0], -power
        if u.op == "sub":
            first = self._differences.setdefault(frozenset(u.args), u)
            u, power = first, power if first is u else -power
        return {frozenset({(("exp", u), power)}): self.build.number(1)}

    # ------------------------------------------------------------------------------------------ arithmetic of terms
    # None: no such form; coefficients that cannot be folded are no constants any more, and end it too.

    def sum(self, a: Terms | None, b: Terms | None) -> Terms | None:
        if a is None or b is None:
            return None
        total = dict(a)
        for monomial, c in b.items():
            total[monomial] = self.build.apply("add", total[monomial], c) if monomial in total else c
        return folded(total)

    def product(self, a: Terms | None, b: Terms | None) -> Terms | None:
        if a is None or b is None or len(a) * len(b) > _MOST_TERMS:
            return None
        total: Terms | None = {}
        for m, c in a.items():
            for k, d in b.items():
                total = self.sum(total, {_joined(m, k): self._times(c, d)})
        return total

    def _times(self, c: Node, d: Node) -> Node:
        if is_number(c, 1.0) or is_number(d, 1.0):
            return d if is_number(c, 1.0) else c
        return self.build.apply("mul", c, d)

    def _power(self, a: Terms | None, power: Exponent) -> Terms | None:
        if a is None or len(a) != 1:
            return None
        ((monomial, c),) = a.items()
        if power == _HALF:  # of an atom
            return {root(monomial): c}
        return folded({_to_the(monomial, power): self._constant_power(c, int(power))})

    def _constant_power(self, c: Node, power: int) -> Node:
        return c if is_number(c, 1.0) else self.build.apply("pown", c, data=power)

    # ------------------------------------------------------------------------------------------ back to nodes
    def node(self, monomial: Monomial, new: Mapping[Node, Node]) -> Node | None:
        """Return the product of powers as a node of new atoms; None where there is no operation for it."""
        product = self.build.number(1)
        for (kind, u), power in sorted(monomial, key=lambda factor: (factor[0][1].number, factor[0][0])):
            x = new[u]
            if abs(power.numerator) > _LARGEST_POWER and kind != "exp":
                return None
            if kind == "exp":
                x = self.build.apply("exp", self.build.apply("mul", self.build.number(power), x))
            elif power.denominator == 2:
                x = self.build.apply("pown", self.build.apply("sqrt", x), data=power.numerator)
            elif power.denominator == 1:
                x = self.build.apply("pown", x, data=power.numerator)
            else:
                return None
            product = self.build.apply("mul", product, x)
        return product


def squared(p: Monomial) -> Monomial:
    return _to_the(p, 2)


def root(m: Monomial) -> Monomial:
    return frozenset((atom, Fraction(e, 2) if e.denominator > 1 or e % 2 else int(e) // 2) for atom, e in m)


def _joined(m: Monomial, k: Monomial) -> Monomial:
    if not m or not k:
        return m or k
    powers = dict(m)
    for atom, power in k:
        powers[atom] = powers.get(atom, 0) + power
    return frozenset((atom, power) for atom, power in powers.items() if power)


def _to_the(m: Monomial, power: Exponent) -> Monomial:
    return frozenset((atom, exponent * power) for atom, exponent in m) if power else ONE


def _scaled(node: Node) -> list[Node]:
    """Return constant factors, then what they multiply."""
    factors: list[Node] = []
    while node.op == "mul" and node.args[0].op == "constant":
        factors.append(node.args[0])
        node = node.args[1]
    return [*factors, node]


def folded(terms: Terms) -> Terms | None:
    """Return the terms without zeros, if all coefficients are constants."""
    if any(c.op != "constant" for c in terms.values()):
        return None
    return {m: c for m, c in terms.items() if value_of(c).doubles is None or value_of(c).points().any()}


def _is_known(node: Node) -> bool:
    value = value_of(node)
    if value.doubles is None:
        return value.is_exact and value.size <= _MOST_SYMBOLS
    return bool(np.isfinite(value.doubles).all())


def _rational(node: Node) -> Fraction | None:
    if node.size != 1 or not _is_known(node):
        return None
    return value_of(node).exact_elements()[0].as_fraction()

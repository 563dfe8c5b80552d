"""Products read as a constant times powers of factors.

    node                 is read as
    mul, div, neg        the products and quotients of what its operands are read as
    recip, sqr, pown     powers of what the operand is read as
    sqrt                 half the powers, of a single factor without a constant
    constants            the constant alone, if it is not 0
    any other            a factor

Guarantee: wherever a node is defined, so is the product of the powers, and it is the same real number, where factors
that cancelled are not 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.graph.payload import integer_of, is_number, value_of
from infimum.ops import names_with

_MOST_FACTORS = 12
_LARGEST_POWER = 64
_HALF = Fraction(1, 2)
_NEVER_NEGATIVE = names_with(lambda row: row.nonnegative)


class Product(NamedTuple):
    """A constant node times powers of nodes; no power is 0."""

    scale: Node
    powers: dict[Node, Fraction]


class Factors:
    """What nodes of one graph are read as."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self._known: dict[Node, Product | None] = {}
        self._same: dict[Node, Node] = {}

    def read_as(self, node: Node, other: Node) -> None:
        """Read a node as another one that denotes the same number."""
        self._same[node] = other

    def atom(self, node: Node) -> Product:
        return Product(self.build.number(1), {node: Fraction(1)})

    def of(self, node: Node) -> Product | None:
        """Return the node as a product; None where it has none that is simpler."""
        node = self._same.get(node, node)
        if node not in self._known:
            self._known[node] = self._read(node)
        return self._known[node]

    def _read(self, node: Node) -> Product | None:
        if node.op == "constant":
            lo, hi = value_of(node).enclosure()
            return Product(node, {}) if bool(((lo > 0) | (hi < 0)).all()) else None
        if node.op not in ("mul", "div", "neg", "recip", "sqr", "pown", "sqrt"):
            return None
        operands = [self.of(a) or self.atom(a) for a in node.args]
        if any(a.op == "constant" and self.of(a) is None for a in node.args):
            return None
        if node.op == "mul":
            return multiplied(self.build, *operands)
        if node.op == "div":
            divisor = to_the(self.build, operands[1], Fraction(-1))
            return None if divisor is None else multiplied(self.build, operands[0], divisor)
        if node.op == "neg":
            return Product(self.build.apply("neg", operands[0].scale), operands[0].powers)
        if node.op == "sqrt":
            (a,) = operands
            plain = is_number(a.scale, 1.0) and len(a.powers) == 1 and next(iter(a.powers.values())) == 1
            return Product(a.scale, {u: p / 2 for u, p in a.powers.items()}) if plain else None
        power = {"sqr": 2, "recip": -1}.get(node.op) or integer_of(node)
        return to_the(self.build, operands[0], Fraction(power)) if power else None

    # ------------------------------------------------------------------------------------------ back to nodes
    def node(self, product: Product) -> Node | None:
        """Return the product as a quotient of products; None where there is no operation for a power."""
        above, below = product.scale, self.build.number(1)
        for u, power in sorted(product.powers.items(), key=lambda item: item[0].number):
            x = _power(self.build, u, abs(power))
            if x is None:
                return None
            if power > 0:
                above = self.build.apply("mul", above, x)
            else:
                below = self.build.apply("mul", below, x)
        return above if is_number(below, 1.0) else self.build.apply("div", above, below)

    # ------------------------------------------------------------------------------------------ signs and sums with 1
    def is_positive(self, constant: Node) -> bool:
        return bool((value_of(constant).enclosure()[0] > 0).all())

    def is_nonnegative(self, u: Node, power: Fraction) -> bool:
        """Return whether a power is certainly not negative, by its operation or by its exponent."""
        even = power.denominator == 1 and power.numerator % 2 == 0
        return even or power.denominator == 2 or u.op in _NEVER_NEGATIVE

    def one_plus(self, node: Node) -> Node | None:
        """Return the w of a node 1 + w."""
        node = self._same.get(node, node)
        if node.op == "add":
            for one, w in (node.args, node.args[::-1]):
                if is_number(one, 1.0):
                    return w
        if node.op == "sub" and is_number(node.args[0], 1.0):
            return self.build.apply("neg", node.args[1])
        return None

    def less_one(self, node: Node) -> tuple[int, Node | None]:
        """Return (1, g) for a node g - 1, (-1, g) for 1 - g, and (0, None) for others."""
        node = self._same.get(node, node)
        if node.op == "sub" and is_number(node.args[1], 1.0):
            return 1, node.args[0]
        if node.op == "sub" and is_number(node.args[0], 1.0):
            return -1, node.args[1]
        if node.op == "add":
            for one, g in (node.args, node.args[::-1]):
                if is_number(one, -1.0):
                    return 1, g
        return 0, None


def multiplied(build: Build, a: Product, b: Product | None) -> Product | None:
    if b is None:
        return None
    powers = dict(a.powers)
    for u, p in b.powers.items():
        powers[u] = powers.get(u, Fraction(0)) + p
    scale = build.apply("mul", a.scale, b.scale)
    if len(powers) > _MOST_FACTORS or scale.op != "constant":
        return None
    return Product(scale, {u: p for u, p in powers.items() if p})


def to_the(build: Build, a: Product, power: Fraction) -> Product | None:
    """Return an integer power of a product."""
    scale = build.apply("pown", a.scale, data=int(power))
    if scale.op != "constant" or any(abs(p * power) > _LARGEST_POWER for p in a.powers.values()):
        return None
    return Product(scale, {u: p * power for u, p in a.powers.items()})


def _power(build: Build, u: Node, power: Fraction) -> Node | None:
    if power.denominator == 1:
        return build.apply("pown", u, data=int(power))
    if power.denominator == 2:
        return build.apply("pown", build.apply("sqrt", u), data=power.numerator)
    return None

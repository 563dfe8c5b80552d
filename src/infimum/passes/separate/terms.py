"""A function as a sum: the constants and the families of terms that it adds up, each with the factors it stands under.

    f(x) = sum over constants of F(c_j)  +  sum over families of F(node[at_j]),   F the factors, outermost first

Guarantee: both sides are the same real number at every x, and defined on the same set: a factor is a finite number, a
divisor is not 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.folding import summed
from infimum.graph.node import Node
from infimum.graph.payload import integer_of, map_of, value_of

IndexArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_MOST_TERMS = 2**25
_MOST_FACTORS = 32


@dataclass(frozen=True, eq=False)
class Factor:
    """neg, or mul or div by a constant: the same for all terms, or the element at[j] for term j."""

    op: str
    node: Node | None = None
    at: IndexArray | None = None


@dataclass(frozen=True, eq=False)
class Terms:
    """The elements `at` of a node, one term each, under factors."""

    node: Node
    at: IndexArray
    factors: tuple[Factor, ...] = ()

    def under(self, node: Node, *factors: Factor) -> Terms:
        """Return the same elements of an operand; a scalar is read by all of them."""
        at = self.at if node.size == self.node.size else np.zeros_like(self.at)
        return Terms(node, at, (*self.factors, *factors))

    def chosen(self, node: Node, at: IndexArray, terms: IndexArray | BoolArray) -> Terms:
        """Return elements of another node, under the factors of these terms."""
        moved = [f if f.at is None else replace(f, at=f.at[terms]) for f in self.factors]
        return Terms(node, at, tuple(moved))


def addends(value: Node) -> tuple[list[Terms], list[Terms]]:
    """Return the constants and the families that a scalar adds up, from left to right."""
    build = Build(1)
    constants: list[Terms] = []
    families: list[Terms] = []
    stack = [Terms(value, np.zeros(1, np.int64))]
    while stack:
        terms = _collapsed(stack.pop(), build)
        parts = _opened(terms, build)
        if terms.node.op == "constant":
            constants.append(terms)
        elif parts is None:
            families.append(terms)
        else:
            stack.extend(part for part in reversed(parts) if part.at.size)
    return constants, families


def _collapsed(terms: Terms, build: Build) -> Terms:
    """Return a scalar that is added k times under the same factors as one term, k-fold."""
    count = terms.at.size
    if terms.node.size > 1 or count == 1 or any(f.at is not None for f in terms.factors):
        return terms
    times = Factor("mul", build.number(count))
    return Terms(terms.node, terms.at[:1], (*terms.factors, times))


def _opened(terms: Terms, build: Build) -> list[Terms] | None:
    # | node                         | its terms                                      |
    # | add, sub, neg                | its operands', those subtracted under a neg    |
    # | mul, div by a number         | the operand's under that factor; 0 x is none   |
    # | sum                          | the elements of its groups                     |
    # | take                         | the elements that the map leads to, none for 0 |
    # | concat                       | the elements of each piece                     |
    # | any other, or too many       | itself (None)                                  |
    node = terms.node
    if node.op == "take":
        inner = map_of(node).indices()[terms.at]
        return [terms.chosen(node.args[0], inner[inner >= 0], inner >= 0)]
    if node.op == "concat":
        return [terms.chosen(piece, inner, own) for piece, own, inner in pieces(node, terms.at)]
    if node.op == "sum":
        return _members(terms)
    if node.op == "add":
        return [terms.under(a) for a in node.args]
    if len(terms.factors) >= _MOST_FACTORS:
        return None
    if node.op == "sub":
        return [terms.under(node.args[0]), terms.under(node.args[1], Factor("neg"))]
    if node.op == "neg":
        return [terms.under(node.args[0], Factor("neg"))]
    if node.op in ("mul", "div"):
        return _scaled(terms, build)
    return None


def pieces(node: Node, at: IndexArray) -> list[tuple[Node, IndexArray, IndexArray]]:
    """Return the pieces of a concat that elements lie in: each piece, which elements, and their places in it."""
    ends = np.cumsum([piece.size for piece in node.args])
    lies = np.searchsorted(ends, at, side="right")
    order = np.argsort(lies, kind="stable")
    present, first = np.unique(lies[order], return_index=True)
    members = np.split(order, first[1:])
    found = [(node.args[p], own, int(ends[p])) for p, own in zip(present.tolist(), members, strict=True)]
    return [(piece, own, at[own] - (end - piece.size)) for piece, own, end in found]


def _members(terms: Terms) -> list[Terms] | None:
    width = integer_of(terms.node)
    if terms.at.size * width > _MOST_TERMS:
        return None
    at = (terms.at[:, None] * width + np.arange(width)).ravel()
    return [terms.chosen(terms.node.args[0], at, np.repeat(np.arange(terms.at.size), width))]


def _scaled(terms: Terms, build: Build) -> list[Terms] | None:
    a, b = terms.node.args
    if b.op == "constant":
        number, rest = b, a
    elif a.op == "constant" and terms.node.op == "mul":
        number, rest = a, b
    else:
        return None
    lo, hi = value_of(number).enclosure()
    usable = np.isfinite(lo).all() and np.isfinite(hi).all()
    if not usable or (terms.node.op == "div" and ((lo <= 0) & (hi >= 0)).any()):
        return None
    if number.size == 1:
        return [terms.under(rest, Factor(terms.node.op, number))]
    scaled = terms.under(rest, Factor(terms.node.op, number, terms.at))
    counts = (lo[terms.at] != 0) | (hi[terms.at] != 0)
    if counts.all() or not build.is_total(rest):
        return [scaled]
    return [scaled.chosen(rest, scaled.at[counts], counts)]


def total(constants: list[Terms]) -> Constant | None:
    """Return the sum of the constants, exact where they are few, else enclosed; None where one is not finite."""
    build = Build(1)
    found = build.number(0)
    for terms in constants:
        made = build.constant(value_of(terms.node).take(terms.at))
        for factor in reversed(terms.factors):
            made = _under(build, factor, made)
        if made.op != "constant":
            return None
        if made.size < terms.at.size:
            made = build.apply("mul", build.number(terms.at.size), made)
        found = build.apply("add", found, build.constant(summed(value_of(made))))
    lo, hi = value_of(found).enclosure()
    return value_of(found) if np.isfinite(lo).all() and np.isfinite(hi).all() else None


def _under(build: Build, factor: Factor, made: Node) -> Node:
    if factor.node is None:
        return build.apply(factor.op, made)
    number = value_of(factor.node)
    scale = build.constant(number if factor.at is None else number.take(factor.at))
    return build.apply(factor.op, made, scale)

"""The outer form of a function: f = H(sum of w_j phi(u_j) + g), the w_j > 0 and phi squares for a start.

Walking down from f, what is seen through:

    node                                         becomes
    sums, loops rolled up, concat, take          their terms (passes/separate/terms)
    mul, div by constants, neg                   a factor of each term
    what is around the sum                       H, an increasing function (chain.py)
    sqr(sqrt(v))                                 v: both are defined where v >= 0 alone, and v is all that is asked of f
    sqr(u), u^(2j), p * (c p)                    a square of u, of u^j, of p where c > 0
    u'Mu, however it is written                  squares of L'u, where M = LL' is certainly positive (forms.py)

Guarantee: wherever f is defined, so are H, every u_j and g, and f(x) = H(sum of r_j(x)^2 + g(x)); H does not fall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.node import Node
from infimum.graph.payload import integer_of, value_of
from infimum.passes.hessian.pattern import reads
from infimum.passes.outer.chain import Chain, factor
from infimum.passes.outer.forms import as_squares
from infimum.passes.separate.terms import Factor, IndexArray, Terms, addends

_MOST_TERMS = 100_000


@dataclass(frozen=True, eq=False)
class Outer:
    """f = H(sum of squares of the elements of `inner` + rest).

    chain    H as an expression of one variable (of its own graph), None where it is that variable itself
    inner    the r_j, one array node of the function's own graph
    rest     g, a scalar node; a constant where the squares are all there is
    """

    chain: Node | None
    inner: Node
    rest: Node

    @property
    def m(self) -> int:
        """Return the number of squares."""
        return self.inner.size

    @property
    def is_whole(self) -> bool:
        """Return whether nothing but the squares depends on x."""
        return self.rest.op == "constant"


def is_coupled(inner: Node, n: int) -> bool:
    """Return whether some of the elements reads more than one of the n variables."""
    found = reads(inner, n)
    return found is None or bool((np.bincount(found // n) > 1).any())


def squares(build: Build, chains: list[Chain]) -> Outer | None:
    """Return a function's outer form with its squares, below the first of these H; None where there are none."""
    found = (_squares_below(build, chain) for chain in chains)
    return next((outer for outer in found if outer is not None), None)


def _squares_below(build: Build, chain: Chain) -> Outer | None:
    """Return the outer form with this H, None where no square is a term below it."""
    constants, families = addends(chain.inner)
    if sum(terms.at.size for terms in families) > _MOST_TERMS:
        return None
    inner, families = as_squares(build, families)
    others: list[Node] = [_sum(build, terms) for terms in constants]
    for terms in families:
        squared, left = _squares_of(build, terms)
        inner += squared
        others += [_sum(build, part) for part in left]
    if not inner:
        return None
    rest = build.number(0)
    for part in others:
        rest = build.apply("add", rest, part)
    return Outer(chain.outer, build.concat(inner), rest)


# ---------------------------------------------------------------------------------------------- terms
def _squares_of(build: Build, terms: Terms) -> tuple[list[Node], list[Terms]]:
    """Return the roots r of those terms that are squares r^2, and the terms that are left."""
    under = terms
    if under.node.op == "sqr" and under.node.args[0].op == "sqrt":
        inside = _squares_of(build, terms.under(under.node.args[0].args[0]))
        if inside[0]:
            return inside
    base = _base(build, terms)
    if base is None:
        return [], [terms]
    node, inside_terms = base
    weight = factor(build, inside_terms)
    if weight.op != "constant":
        return [], [terms]
    lo, hi = value_of(weight).enclosure()
    usable = np.isfinite(hi) & (lo > 0)
    if not usable.any():
        return [], [terms]
    if not usable.all():
        some = np.flatnonzero(usable)
        found, _ = _squares_of(build, terms.chosen(terms.node, terms.at[some], some))
        few = np.flatnonzero(~usable)
        return found, [terms.chosen(terms.node, terms.at[few], few)]
    root = _elements(build, node, inside_terms.at)
    return [build.apply("mul", build.apply("sqrt", weight), root)], []


def _base(build: Build, terms: Terms) -> tuple[Node, Terms] | None:
    """Return what is squared in the terms, and them with all factors; None where they are no squares."""
    node = terms.node
    if node.op == "sqr":
        return node.args[0], terms.under(node.args[0])
    if node.op == "pown" and integer_of(node) > 0 and integer_of(node) % 2 == 0:
        root = build.apply("pown", node.args[0], data=integer_of(node) // 2)
        return root, terms.under(node.args[0])
    if node.op == "mul":
        left, right = (_stripped(terms.under(a)) for a in node.args)
        if left.node is right.node and left.node.op != "constant" and left.node.size == node.size:
            own = len(terms.factors)
            return left.node, Terms(left.node, terms.at, (*left.factors, *right.factors[own:]))
    return None


def _stripped(terms: Terms) -> Terms:
    """Return the terms with factors by constants taken off their node; those are defined and smooth everywhere."""
    node = terms.node
    if node.op == "neg":
        return _stripped(terms.under(node.args[0], Factor("neg")))
    if node.op == "mul" and node.args[0].op == "constant":
        number = node.args[0]
        at = None if number.size == 1 else terms.at
        return _stripped(terms.under(node.args[1], Factor("mul", number, at)))
    if node.op == "div" and node.args[1].op == "constant" and _misses_zero(value_of(node.args[1])):
        number = node.args[1]
        at = None if number.size == 1 else terms.at
        return _stripped(terms.under(node.args[0], Factor("div", number, at)))
    return terms


def _elements(build: Build, node: Node, at: IndexArray) -> Node:
    if node.op == "constant":
        return build.constant(value_of(node).take(at))
    if node.size == 1:
        return node if at.size == 1 else build.full(node, at.size)
    return build.take(node, indexmap.of_indices(at, node.size))


def _sum(build: Build, terms: Terms) -> Node:
    """Return the sum of the terms under their factors."""
    elements = _elements(build, terms.node, terms.at)
    each = build.full(build.apply("mul", factor(build, terms), elements), terms.at.size)
    return build.reduce("sum", each, terms.at.size)


def _misses_zero(value: Constant) -> bool:
    lo, hi = value.enclosure()
    return bool(((lo > 0) | (hi < 0)).all() and np.isfinite(lo).all() and np.isfinite(hi).all())

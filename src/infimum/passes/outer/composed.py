"""A function as a sum of outer functions of one number each: f = H(sum phi_k(u_k) + g), whatever the phi_k are.

Squares are found as in split.py and are one of the phi. Of what is left, a term becomes phi(u) where all that it reads
of x passes through one number:

    the term                     u                                         phi
    h(v), v read by it alone     the last number that all passes through,  what is done to it
                                 affine steps above it taken into it
    several terms of one number  that number, no affine step taken in      their sum
    what has no such number      it stays in g
    what reads but one variable  likewise, unless its phi is one of the others'

1/q^6 - 1/q^3 is one phi of q; log(1 + exp(-t w.x)) one of t w.x, whatever the t are. Equal phi are one `Kind`.

Guarantee: wherever f is defined, so are H, every u_k, phi_k(u_k) and g, and f(x) = H(sum phi_k(u_k(x)) + g(x)); H does
not fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors, is_fact
from infimum.graph.payload import value_of
from infimum.ops import OPERATIONS
from infimum.passes.outer.chain import Chain, factor
from infimum.passes.outer.split import are_coupled, elements, squares_of, sum_of
from infimum.passes.separate.terms import Terms, addends

BoolArray = npt.NDArray[np.bool_]

_MOST_TERMS = 2000
_MOST_KINDS = 16
_MOST_STEPS = 200  # of one phi
_AFFINE = frozenset({"add", "sub", "neg", "mul", "div"})

Number = tuple[Node, int]  # an element of a node


class Term(NamedTuple):
    """One term of a family: the element at[place] of its node, under its factors."""

    family: Terms
    place: int

    @property
    def at(self) -> int:
        """Return which element of the node it is."""
        return int(self.family.at[self.place])

    def number(self, node: Node) -> Number:
        """Return the element of a node on the way that the term reads."""
        return node, (self.at if node.size > 1 else 0)


@dataclass(frozen=True, eq=False)
class Kind:
    """One phi, of its own graph of one variable, the u that it is applied to, and the sum of all these."""

    phi: Node
    arguments: Node
    total: Node

    @property
    def size(self) -> int:
        """Return how many u there are."""
        return self.arguments.size


@dataclass(frozen=True, eq=False)
class Composed:
    """f = H(sum of phi over the elements of each kind + rest); `chain` is H as in split.Outer."""

    chain: Node | None
    kinds: tuple[Kind, ...]
    inner: Node  # the u of all kinds, in their order
    rest: Node

    @property
    def is_whole(self) -> bool:
        """Return whether nothing but the outer functions depends on x."""
        return self.rest.op == "constant"

    @property
    def m(self) -> int:
        """Return the number of terms."""
        return self.inner.size

    def only(self, build: Build, kept: list[bool]) -> Composed | None:
        """Return the same with the other kinds left in the rest; None where none is kept but squares."""
        rest = self.rest
        for kind, stays in zip(self.kinds, kept, strict=True):
            rest = rest if stays else build.apply("add", rest, kind.total)
        kinds = tuple(kind for kind, stays in zip(self.kinds, kept, strict=True) if stays)
        if not any(kind.phi.op != "sqr" for kind in kinds):
            return None
        return Composed(self.chain, kinds, build.concat([kind.arguments for kind in kinds]), rest)


def composed(build: Build, chains: list[Chain], n: int) -> Composed | None:
    """Return a function's outer functions, below the first H that has some but squares; None where there are none."""
    found = (_composed_below(build, chain, n) for chain in chains)
    return next((one for one in found if one is not None), None)


def _composed_below(build: Build, chain: Chain, n: int) -> Composed | None:
    """Return the outer functions below an H, None where there are none but squares."""
    constants, families = addends(chain.inner)
    if sum(terms.at.size for terms in families) > _MOST_TERMS:
        return None
    squared: list[Node] = []
    terms: list[Term] = []
    for family in families:
        roots, left = squares_of(build, family)
        squared += roots
        terms += [Term(part, place) for part in left for place in range(part.at.size)]
    found = _Gathering(build, terms, n)
    if not found.are_few:
        return None
    kinds = []
    if squared:
        inner = build.concat(squared)
        kinds.append(Kind(_square(), inner, build.reduce("sum", build.apply("sqr", inner), inner.size)))
    for phi, numbers in found.families.items():
        kinds.append(Kind(phi, _gathered(build, numbers), _summed(build, found.members[phi])))
    rest = _added(build, [*(sum_of(build, each) for each in constants), _summed(build, found.others)])
    return Composed(chain.outer, tuple(kinds), build.concat([kind.arguments for kind in kinds]), rest)


class _Gathering:
    """The terms gathered by their phi.

    families, members    for each phi the numbers that it is applied to, and the terms
    others               the terms that have no phi
    """

    def __init__(self, build: Build, terms: list[Term], n: int) -> None:
        self._own = Build(1)
        self._n = n
        self._known_ways: dict[Node, list[Node]] = {}
        self._coupled: dict[Node, BoolArray] = {}
        self._same: dict[tuple[Terms, Node], Node] = {}
        self.families: dict[Node, list[Number]] = {}
        self.members: dict[Node, list[Term]] = {}
        self.others: list[Term] = []
        by_number: dict[Number, list[Term]] = {}
        for term in terms:
            by_number.setdefault(term.number(self._way(term)[-1]), []).append(term)
        alone = [members for number, members in by_number.items() if not self._is_added(number, members)]
        for members in alone if self.are_few else []:
            if not self._is_added_to_others(members):
                self.others += members

    @property
    def are_few(self) -> bool:
        """Return whether there are some phi, and not too many of them; else not all terms were looked at."""
        return 0 < len(self.families) <= _MOST_KINDS

    def _is_added(self, number: Number, members: list[Term]) -> bool:
        """Return whether the terms of one coupled number have a phi, and note it."""
        at = number if len(members) > 1 else members[0].number(_above_affine(self._way(members[0])))
        if len(self.families) > _MOST_KINDS or not self._is_coupled(at):
            return False
        phi = self._phi(members, at)
        if phi is self._own.x:
            return False
        self.families.setdefault(phi, []).append(at)
        self.members.setdefault(phi, []).extend(members)
        return True

    def _is_added_to_others(self, members: list[Term]) -> bool:
        """Return whether the terms of one number that is not coupled have the phi of others, and note it."""
        for node in reversed(self._way(members[0])):
            at = members[0].number(node)
            if all(node in self._way(term) and at == term.number(node) for term in members):
                phi = self._phi(members, at)
                if phi in self.families:
                    self.families[phi].append(at)
                    self.members[phi] += members
                    return True
        return False

    def _way(self, term: Term) -> list[Node]:
        node = term.family.node
        if node not in self._known_ways:
            self._known_ways[node] = _waists(node)
        return self._known_ways[node]

    def _is_coupled(self, number: Number) -> bool:
        node, at = number
        if node not in self._coupled:
            self._coupled[node] = are_coupled(node, self._n)
        return bool(self._coupled[node][at])

    def _phi(self, members: list[Term], at: Number) -> Node:
        """Return the sum of terms as an expression of the number that they pass through."""
        return _added(self._own, [self._expression(term, at[0]) for term in members])

    def _expression(self, term: Term, argument: Node) -> Node:
        """Return one term under its factors as an expression of its number."""
        own, family = self._own, term.family
        if (family, argument) in self._same:
            return self._same[family, argument]
        new: dict[Node, Node] = {argument: own.x}
        pending = [family.node]
        same = all(each.at is None for each in family.factors)
        while pending:
            node = pending[-1]
            if node in new:
                pending.pop()
            elif node.op == "constant":
                new[node] = own.constant(value_of(node).take(np.array([term.number(node)[1]])))
                same = same and node.size == 1
            elif below := [a for a in node.args if a not in new]:
                pending.extend(below)
            else:
                new[node] = own.apply(node.op, *(new[a] for a in node.args), data=node.data)
        made = own.apply("mul", factor(own, _chosen(family, [term.place])), new[family.node])
        if same:
            self._same[family, argument] = made
        return made


def _waists(node: Node) -> list[Node]:
    """Return the nodes that all of x passes through on its way to a node, elementwise, from the node down."""
    order = {a: i for i, a in enumerate(ancestors([node]))}
    varying = _varying(order)
    passed, front = [node], {node}
    for _ in range(_MOST_STEPS):
        top = max(front, key=order.__getitem__)
        if top.op not in OPERATIONS or is_fact(top.op):
            break
        front = (front - {top}) | {a for a in top.args if a in varying}
        if len(front) == 1:
            passed.extend(front)
    return passed


def _varying(nodes: dict[Node, int]) -> set[Node]:
    found: set[Node] = set()
    for node in nodes:
        if node.op == "x" or any(a in found for a in node.args):
            found.add(node)
    return found


def _above_affine(passed: list[Node]) -> Node:
    """Return the highest of the nodes from which on all steps down are affine."""
    node = passed[-1]
    for above in reversed(passed[1:-1]):
        numbers = [a for a in above.args if a is not node]
        if above.op not in _AFFINE or any(a.op != "constant" for a in numbers):
            break
        if above.op == "div" and above.args[0] is not node:
            break
        if above.op != "neg" and len(numbers) != 1:
            break
        node = above
    return node


def _summed(build: Build, terms: list[Term]) -> Node:
    """Return the sum of terms, those of a family together."""
    places: dict[Terms, list[int]] = {}
    for term in terms:
        places.setdefault(term.family, []).append(term.place)
    return _added(build, [sum_of(build, _chosen(family, own)) for family, own in places.items()])


def _chosen(family: Terms, places: list[int]) -> Terms:
    some = np.array(places)
    return family.chosen(family.node, family.at[some], some)


def _square() -> Node:
    own = Build(1)
    return own.apply("sqr", own.x)


def _added(build: Build, nodes: list[Node]) -> Node:
    total = build.number(0)
    for node in nodes:
        total = build.apply("add", total, node)
    return total


def _gathered(build: Build, numbers: list[Number]) -> Node:
    """Return these elements as one array."""
    pieces: list[Node] = []
    start = 0
    for i in range(1, len(numbers) + 1):
        if i == len(numbers) or numbers[i][0] is not numbers[start][0]:
            pieces.append(elements(build, numbers[start][0], np.array([at for _, at in numbers[start:i]])))
            start = i
    return build.concat(pieces)

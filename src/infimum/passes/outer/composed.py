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

from dataclasses import dataclass, field

import numpy as np

from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors, is_fact
from infimum.graph.payload import value_of
from infimum.ops import OPERATIONS
from infimum.passes.outer.split import elements, factor, is_coupled, outermost, squares_of, sum_of
from infimum.passes.separate.terms import Terms, addends

_MOST_TERMS = 2000
_MOST_KINDS = 16
_MOST_STEPS = 200  # of one phi
_AFFINE = frozenset({"add", "sub", "neg", "mul", "div"})

Number = tuple[Node, int]  # an element of a node
Passed = tuple[Terms, list[Node]]  # one term, and the nodes that x passes through on its way to it


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


@dataclass
class _Family:
    """What is gathered for one phi."""

    numbers: list[Number] = field(default_factory=list)
    totals: list[Node] = field(default_factory=list)

    def add(self, build: Build, number: Number, members: list[Passed]) -> None:
        self.numbers.append(number)
        self.totals += [sum_of(build, terms) for terms, _ in members]


def composed(build: Build, value: Node, n: int) -> Composed | None:
    """Return a function's outer functions; None where there are none but squares."""
    chain, value = outermost(value)
    constants, families = addends(value)
    if sum(terms.at.size for terms in families) > _MOST_TERMS:
        return None
    squared: list[Node] = []
    others: list[Node] = [sum_of(build, terms) for terms in constants]
    single: list[Terms] = []
    for terms in families:
        roots, left = squares_of(build, terms)
        squared += roots
        for part in left:
            single += [part.chosen(part.node, part.at[i : i + 1], np.array([i])) for i in range(part.at.size)]
    found = _families(build, single, n, others)
    if not found or len(found) > _MOST_KINDS:
        return None
    kinds = []
    if squared:
        inner = build.concat(squared)
        kinds.append(Kind(_square(), inner, build.reduce("sum", build.apply("sqr", inner), inner.size)))
    for phi, family in found.items():
        arguments = _gathered(build, family.numbers)
        kinds.append(Kind(phi, arguments, _added(build, family.totals)))
    rest = _added(build, others)
    return Composed(chain, tuple(kinds), build.concat([kind.arguments for kind in kinds]), rest)


def _families(build: Build, single: list[Terms], n: int, others: list[Node]) -> dict[Node, _Family]:
    """Return what is gathered for each phi; the terms that have none go to `others`."""
    by_number: dict[Number, list[Passed]] = {}
    for terms in single:
        passed = _waists(terms.node)
        by_number.setdefault(_number(passed[-1], terms), []).append((terms, passed))
    own = Build(1)
    found: dict[Node, _Family] = {}
    alone: list[list[Passed]] = []
    for number, members in by_number.items():
        at = number if len(members) > 1 else _number(_above_affine(members[0][1]), members[0][0])
        phi = _phi(own, members, at)
        if phi is own.x or not is_coupled(_gathered(build, [at]), n):
            alone.append(members)
        else:
            found.setdefault(phi, _Family()).add(build, at, members)
    for members in alone:
        terms, passed = members[0]
        ways = [_number(node, terms) for node in reversed(passed)]
        shared = [at for at in ways if all(at[0] in way and at == _number(at[0], each) for each, way in members)]
        own_family = next((at for at in shared if _phi(own, members, at) in found), None)
        if own_family is None:
            others += [sum_of(build, terms) for terms, _ in members]
        else:
            found[_phi(own, members, own_family)].add(build, own_family, members)
    return found


def _phi(own: Build, members: list[Passed], at: Number) -> Node:
    """Return the sum of terms as an expression of the number that they pass through."""
    return _added(own, [_term(own, terms, at[0]) for terms, _ in members])


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


def _number(node: Node, terms: Terms) -> Number:
    return node, (int(terms.at[0]) if node.size > 1 else 0)


def _term(own: Build, terms: Terms, argument: Node) -> Node:
    """Return one term under its factors as an expression of its number."""
    place = int(terms.at[0])
    new: dict[Node, Node] = {argument: own.x}
    pending = [terms.node]
    while pending:
        node = pending[-1]
        if node in new:
            pending.pop()
        elif node.op == "constant":
            new[node] = own.constant(value_of(node).take(np.array([place if node.size > 1 else 0])))
        elif below := [a for a in node.args if a not in new]:
            pending.extend(below)
        else:
            new[node] = own.apply(node.op, *(new[a] for a in node.args), data=node.data)
    return own.apply("mul", factor(own, terms), new[terms.node])


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

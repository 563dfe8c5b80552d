"""A function as a constant and a sum over blocks of variables, of which no two share a term.

    f(x) = constant + sum over blocks b of g_b(x_b)

Over a box, the minimum of f is the constant plus the minima of the g_b: each can be looked for on its own, and a point
is a minimiser of f exactly when its blocks are minimisers of theirs. Blocks may share a body: one expression of the
block's variables and of the constants in which the blocks differ.

Guarantee: both sides are the same real number at every x, and defined on the same set. A gathered constant is enclosed:
the body's enclosures with its column in place hold for the number itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.node import Node, ancestors
from infimum.passes.separate.body import BodiesDiffer, Body, Scaled
from infimum.passes.separate.reads import partition
from infimum.passes.separate.scalar import Unstageable
from infimum.passes.separate.terms import Factor, Terms, addends, total
from infimum.passes.simplify import rebuilt

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_MOST_CLASSES = 1024  # more bodies than this are no longer worth taking apart


@dataclass(frozen=True, eq=False)
class SharedBody:
    """One body of several blocks: an expression of r + c inputs, a block's variables and then its constants."""

    body: Node
    variables: IndexArray  # (blocks, r)
    lo: FloatArray  # (blocks, c)
    hi: FloatArray


@dataclass(frozen=True, eq=False)
class Blocks:
    """The sum. Every variable is in exactly one block; those that f does not read are blocks with the value 0."""

    n: int
    constant: Constant
    bodies: tuple[SharedBody, ...]


def blocks(value: Node, n: int) -> Blocks | None:
    """Return a simplified function as two or more blocks, or None if it has no such form."""
    constants, families = addends(value)
    constant = total(constants)
    if constant is None or n == 1:
        return None
    of_variables, of_terms = partition(families, n)
    if not of_variables.any():
        return None
    try:
        return Blocks(n, constant, tuple(_Bodies(families, of_variables, of_terms).found()))
    except Unstageable:
        return None


@dataclass(frozen=True, eq=False)
class _Family:
    """Terms in the order of their blocks: block touched[i] has counts[i] of them, from first[i] on."""

    terms: Terms
    order: IndexArray
    touched: IndexArray
    first: IndexArray
    counts: IndexArray

    def rows(self, members: IndexArray) -> IndexArray:
        """Return the terms of blocks that all have equally many, (blocks, count)."""
        at = np.searchsorted(self.touched, members)
        return self.order[self.first[at][:, None] + np.arange(self.counts[at[0]])]


def _family(terms: Terms, of_terms: IndexArray) -> _Family:
    order = np.argsort(of_terms, kind="stable")
    return _Family(terms, order, *np.unique(of_terms[order], return_index=True, return_counts=True))


class _Bodies:
    def __init__(self, families: list[Terms], of_variables: IndexArray, of_terms: IndexArray) -> None:
        cuts = np.cumsum([terms.at.size for terms in families])[:-1]
        pieces = np.split(of_terms, cuts) if families else []
        self.families = [_family(terms, own) for terms, own in zip(families, pieces, strict=True)]
        self.variables = np.argsort(of_variables, kind="stable")
        self.sizes = np.bincount(of_variables)
        self.first = np.cumsum(self.sizes) - self.sizes
        self.place = np.empty_like(self.variables)
        self.place[self.variables] = np.arange(of_variables.size) - np.repeat(self.first, self.sizes)

    def found(self) -> list[SharedBody]:
        """Return the bodies, in the order of their first blocks."""
        waiting = self._groups()
        done: list[tuple[int, SharedBody]] = []
        while waiting:
            if len(done) + len(waiting) > _MOST_CLASSES:
                raise Unstageable
            members, read = waiting.pop()
            try:
                done.append((int(members[0]), self._body(members, read)))
            except BodiesDiffer as differ:
                kinds = np.unique(differ.kinds)
                waiting += [(members[differ.kinds == kind], read) for kind in kinds]
        return [found for _, found in sorted(done, key=lambda pair: pair[0])]

    def _groups(self) -> list[tuple[IndexArray, list[_Family]]]:
        """Return groups of blocks with equally many variables, and equally many terms of each family that they read."""
        kinds, kind = np.unique(self.sizes, return_inverse=True)
        kind = kind.ravel()
        above: list[tuple[int, _Family | None]] = [(-1, None)] * kinds.size  # the kind before its last family
        for family in self.families:
            most = int(family.counts.max()) + 1
            new, inverse = np.unique(kind[family.touched] * most + family.counts, return_inverse=True)
            kind[family.touched] = len(above) + inverse.ravel()
            above += [(before, family) for before in (new // most).tolist()]
        order = np.argsort(kind, kind="stable")
        present, starts = np.unique(kind[order], return_index=True)
        members = np.split(order, starts[1:])
        return [(m, _chain(above, k)) for k, m in zip(present.tolist(), members, strict=True)]

    def _body(self, members: IndexArray, read: list[_Family]) -> SharedBody:
        """Return the one body of some blocks. Raise BodiesDiffer where they have several."""
        reads = int(self.sizes[members[0]])
        body = Body(self.place, members.size, reads)
        by_width: dict[int, list[Scaled]] = {}
        for family in read:
            rows = family.rows(members)
            node = body.elements(family.terms.node, family.terms.at[rows])
            factors = tuple((f.op, _number(body, f, rows)) for f in family.terms.factors)
            by_width.setdefault(rows.shape[1], []).append((node, factors))
        output = body.number(0.0)
        for width, terms in by_width.items():
            output = body.applied("add", body.total(terms, width), output)
        node, lo, hi = body.finished(output)
        variables = self.variables[self.first[members][:, None] + np.arange(reads)]
        return SharedBody(node, variables, lo, hi)


def _chain(above: list[tuple[int, _Family | None]], kind: int) -> list[_Family]:
    """Return the families of a kind, from first to last."""
    found: list[_Family] = []
    before, family = above[kind]
    while family is not None:
        found.append(family)
        before, family = above[before]
    return found[::-1]


def with_constants(body: Node, width: int, constants: tuple[FloatArray, FloatArray]) -> Node:
    """Return a body of `width` variables and further inputs with constants of these ends as its further inputs."""
    build = Build(width)
    inputs = build.concat([build.x, build.constant(Constant(bounds=constants))])
    new: dict[Node, Node] = {}
    for node in ancestors([body]):
        new[node] = inputs if node.op == "x" else rebuilt(build, node, [new[a] for a in node.args])
    return new[body]


def _number(body: Body, factor: Factor, rows: IndexArray) -> Node | None:
    if factor.node is None:
        return None
    return body.elements(factor.node, None if factor.at is None else factor.at[rows])

"""Which variables belong together: variables are nodes, terms are edges, blocks the connected components.

Every term has a label. Labels go down from the terms to what they read, element by element; where two meet, their terms
share a variable and are joined. What reads no variable joins nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.payload import integer_of, map_of, others_of
from infimum.passes.separate.terms import Terms, pieces

IndexArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def partition(families: list[Terms], n: int) -> tuple[IndexArray, IndexArray]:
    """Return the block of each variable (n,), and of each term, families one after the other.

    Blocks are numbered by their first variable. A variable that no term reads is a block; a term that reads no variable
    belongs to block 0.
    """
    count = sum(terms.at.size for terms in families)
    labels = _Labels(families, n)
    joined = components(count, *labels.joins())
    (read,) = np.nonzero(labels.of_variables >= 0)
    keys = count + np.arange(n)
    keys[read] = joined[labels.of_variables[read]]
    known, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(known.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(known.size)
    number = np.zeros(count, np.int64)
    own = known < count
    number[known[own]] = rank[own]
    return rank[inverse.ravel()], number[joined]


def components(count: int, a: IndexArray, b: IndexArray) -> IndexArray:
    """Return the smallest member of each node's connected component, in a graph with the edges a - b.

    Each round hooks every root with a smaller neighbour to it, so that their number at least halves.
    """
    parent = np.arange(count)
    while a.size:
        np.minimum.at(parent, np.maximum(a, b), np.minimum(a, b))
        above = parent[parent]
        while not np.array_equal(above, parent):
            parent, above = above, above[above]
        a, b = parent[a], parent[b]
        a, b = a[a != b], b[a != b]
    return parent


class _Labels:
    """Labels of terms on everything that they read."""

    def __init__(self, families: list[Terms], n: int) -> None:
        nodes = ancestors([terms.node for terms in families])
        self.depends = _dependent(nodes)
        self.found: dict[Node, IndexArray] = {}
        self.of_variables = np.full(n, -1, np.int64)
        self._pairs: list[tuple[IndexArray, IndexArray]] = []
        start = 0
        for terms in families:
            self._put(terms.node, terms.at, start + np.arange(terms.at.size))
            start += terms.at.size
        for node in reversed(nodes):
            labels = self.found.pop(node, None)
            if labels is None:
                continue
            if node.op == "x":
                self.of_variables = labels
                continue
            (at,) = np.nonzero(labels >= 0)
            self._down(node, at, labels[at])

    def joins(self) -> tuple[IndexArray, IndexArray]:
        """Return the pairs of labels that met."""
        if not self._pairs:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate([a for a, _ in self._pairs]), np.concatenate([b for _, b in self._pairs])

    def _put(self, node: Node, at: IndexArray, labels: IndexArray) -> None:
        """Give elements their labels, and join those that meet there."""
        depends = self.depends[node][at]
        at, labels = at[depends], labels[depends]
        if not at.size:
            return
        known = self.found.get(node)
        if known is None:
            known = self.found[node] = np.full(node.size, -1, np.int64)
        before = known[at]
        known[at] = labels
        now = known[at]
        self._join(now, labels, np.ones(at.size, bool))
        self._join(now, before, before >= 0)

    def _join(self, a: IndexArray, b: IndexArray, where: BoolArray) -> None:
        where = where & (a != b)
        if where.any():
            self._pairs.append((a[where], b[where]))

    def _down(self, node: Node, at: IndexArray, labels: IndexArray) -> None:
        # | node         | element i reads                     |
        # | take         | where the map leads                 |
        # | concat       | its place in a piece                |
        # | reduction    | its group                           |
        # | others       | the group that it lies in           |
        # | recurrence   | everything                          |
        # | elementwise  | element i, the one of a scalar      |
        if node.op == "take":
            inner = map_of(node).indices()[at]
            self._put(node.args[0], inner[inner >= 0], labels[inner >= 0])
        elif node.op == "concat":
            for piece, own, inner in pieces(node, at):
                self._put(piece, inner, labels[own])
        elif node.op in REDUCTIONS:
            self._group(node.args[0], at, labels, integer_of(node))
        elif node.op == "others":
            width = others_of(node)[1]
            self._group(node.args[0], at // width, labels, width)
        elif node.op == "recurrence":
            for operand in node.args:
                self._group(operand, np.zeros_like(at[:1]), labels[:1], node.size)
            self._join(labels, np.broadcast_to(labels[:1], labels.shape), np.ones(labels.size, bool))
        else:
            for operand in node.args:
                self._put(operand, at if operand.size == node.size else np.zeros_like(at), labels)

    def _group(self, node: Node, groups: IndexArray, labels: IndexArray, width: int) -> None:
        members = (groups[:, None] * width + np.arange(width)).ravel()
        self._put(node, members, np.repeat(labels, width))


def _dependent(nodes: list[Node]) -> dict[Node, BoolArray]:
    """Return which elements of each node depend on x."""
    found: dict[Node, BoolArray] = {}
    for node in nodes:
        below = [found[a] for a in node.args]
        if not below:
            found[node] = np.full(node.size, node.op == "x")
        elif node.op == "take":
            inner = map_of(node).indices()
            found[node] = (inner >= 0) & below[0][inner]
        elif node.op == "concat":
            found[node] = np.concatenate(below)
        elif node.op in REDUCTIONS:
            found[node] = _any(below[0].reshape(node.size, -1))
        elif node.op == "others":
            width = others_of(node)[1]
            found[node] = np.repeat(_any(below[0].reshape(-1, width)), width)
        elif node.op == "recurrence":
            found[node] = np.full(node.size, any(bool(b.any()) for b in below))
        else:
            own = np.zeros(node.size, bool)
            for b in below:
                own |= b
            found[node] = own
    return found


def _any(groups: BoolArray) -> BoolArray:
    found: BoolArray = np.logical_or.reduce(groups, axis=1)
    return found

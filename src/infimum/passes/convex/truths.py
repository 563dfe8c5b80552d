"""Truths: what is certain of a node's values over a box, as far as possible without looking at the box.

    True      certain on every box
    False     not certain; nothing on a box would make it so
    a node    1 on the boxes where it is certain, anything else where it is not; one for each element, or one for all
A node of truth compares enclosures, so that it is asked of boxes as facts are (passes/facts.py). What holds of all
reals is found beforehand from the operations: 1 + exp(u) is at least 1 whatever u is.

Guarantee: where a truth is True, or its node has the lower end 1 on a box, the statement holds of every point of the
box at which the expression is defined.
"""

from __future__ import annotations

import math

import numpy as np

from infimum import core
from infimum.graph.build import Build
from infimum.graph.node import Node, bottom_up, is_fact
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.ops import OPERATIONS
from infimum.ops.curves import Span, Spans

Truth = bool | Node
Hull = tuple[float, float]

_ENTIRE: Hull = (-math.inf, math.inf)


class Truths:
    """Statements about enclosures on one graph, and their combinations."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self._hulls: dict[Node, Hull] = {}

    # ------------------------------------------------------------------------------------------ statements
    def within(self, node: Node, lo: float = -math.inf, hi: float = math.inf) -> Truth:
        """Return whether the node's values lie in [lo, hi]."""
        low, high = self.hull(node)
        if low >= lo and high <= hi:
            return True
        if low > hi or high < lo:
            return False
        if node.op == "constant":
            least, most = value_of(node).enclosure()
            return self._of_elements((least >= lo) & (most <= hi))
        b = self.build
        above: Truth = low >= lo or b.apply("is_less_equal", b.number(lo), node)
        below: Truth = high <= hi or b.apply("is_less_equal", node, b.number(hi))
        return self.both(above, below)

    def positive(self, node: Node) -> Truth:
        """Return whether the node's values are above 0."""
        low, high = self.hull(node)
        if low > 0.0 or high <= 0.0:
            return low > 0.0
        if node.op == "constant":
            return self._of_elements(value_of(node).enclosure()[0] > 0.0)
        return self.build.apply("is_less", self.build.number(0), node)

    def spans(self, node: Node, spans: Spans) -> Truth:
        """Return whether the range of an operand lies in one of the spans of a curve."""
        return self.either(*(self._in_span(node, span) for span in spans))

    def _in_span(self, node: Node, span: Span) -> Truth:
        of = self.build.apply(span.of, node) if span.of else node
        return self.within(of, span.lo, span.hi)

    # ------------------------------------------------------------------------------------------ combinations
    def both(self, *truths: Truth) -> Truth:
        """Return whether all of them hold."""
        return self._combined("min", truths, decides=False)

    def either(self, *truths: Truth) -> Truth:
        """Return whether at least one of them is certain."""
        return self._combined("max", truths, decides=True)

    def _combined(self, op: str, truths: tuple[Truth, ...], *, decides: bool) -> Truth:
        found: Truth = not decides
        for truth in truths:
            if truth is decides:
                return decides
            if isinstance(truth, Node):
                found = truth if isinstance(found, bool) else self._known(self.build.apply(op, found, truth))
                if found is decides:
                    return decides
        return found

    def all_of(self, truth: Truth, size: int, width: int) -> Truth:
        """Return whether it holds of every element of each group of a node with so many elements."""
        if isinstance(truth, bool):
            return truth
        return self._known(self.build.reduce("min_of", self.build.full(truth, size), width))

    def taken(self, truth: Truth, take: Node) -> Truth:
        """Return the truth about a take's elements, given that about its operand's; a missing one is the number 0."""
        if isinstance(truth, bool) or truth.size == 1:
            return truth
        b = self.build
        not_true = b.apply("sub", b.number(1), truth)
        return self._known(b.apply("sub", b.number(1), b.take(not_true, map_of(take))))

    def joined(self, truths: list[Truth], pieces: list[int]) -> Truth:
        """Return the truth about pieces of these sizes, put one after the other."""
        first = truths[0]
        if isinstance(first, bool) and all(truth is first for truth in truths):
            return first
        parts = [self.build.full(self.node(truth), size) for truth, size in zip(truths, pieces, strict=True)]
        return self._known(self.build.concat(parts))

    def node(self, truth: Truth) -> Node:
        """Return a truth as a node."""
        return self.build.number(int(truth)) if isinstance(truth, bool) else truth

    def _of_elements(self, holds: np.ndarray) -> Truth:
        if holds.all() or not holds.any():
            return bool(holds.all())
        return self.build.number(holds.astype(float))

    def _known(self, node: Node) -> Truth:
        """Return a truth that is the same everywhere as True or False."""
        if node.op != "constant":
            return node
        return self._of_elements(value_of(node).enclosure()[0] == 1.0)

    # ------------------------------------------------------------------------------------------ on all reals
    def hull(self, node: Node) -> Hull:
        """Return ends between which all elements lie, whatever x is."""
        return bottom_up(node, self._hulls, self._hull_of)

    def _hull_of(self, node: Node) -> Hull:
        # | node               | ends                               |
        # | constant           | those of its elements              |
        # | operation          | its own, on those of its operands  |
        # | take, concat, …    | of whatever is taken or put in     |
        # | sum                | as many times those of its operand |
        # | x and all the rest | all reals                          |
        if node.op == "constant":
            lo, hi = value_of(node).enclosure()
            return float(lo.min()), float(hi.max())
        hulls = [self._hulls[a] for a in node.args]
        if is_fact(node.op):
            return 0.0, 1.0
        if node.op in OPERATIONS:
            return _applied(node.op, hulls, node.data if node.op == "pown" else 0)
        if node.op in ("take", "concat", "min_of", "max_of"):
            missing = node.op == "take" and bool((map_of(node).indices() < 0).any())
            both = [*hulls, (0.0, 0.0)] if missing else hulls
            return min(lo for lo, _ in both), max(hi for _, hi in both)
        if node.op == "sum":
            return _applied("mul", [hulls[0], (float(integer_of(node)),) * 2], 0)
        return _ENTIRE


def _applied(op: str, hulls: list[Hull], data: object) -> Hull:
    lo, hi = core.apply(op, *hulls, param=data if isinstance(data, int) else 0)
    return (float(lo), float(hi)) if lo <= hi else _ENTIRE  # nowhere defined: nothing is said

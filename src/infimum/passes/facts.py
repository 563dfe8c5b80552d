"""Where a function is defined and smooth, as graphs of truth values.

    defined   every operation is defined on the whole box
    steady    every operation is defined and continuous on an open neighbourhood of the box
    smooth    every operation is differentiable there: strictly inside its domain, every condition strictly decided, no
              kink
A condition is decided around the box only if what it compares is steady: floor(x) > 4.5 holds on [5, 5.5], yet not just
below 5, and sqrt(x) < 5 holds on [0, 1], yet is undefined just below 0.
A fact node is 1 where the fact is certain; anything else means "not certain". Nodes made only of operations that are
defined and smooth on all reals have no fact node (None): nothing to check.
"""

from __future__ import annotations

import numpy as np

from infimum.graph.constant import Constant
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.ops import OPERATIONS
from infimum.graph.payload import integer_of, map_of
from infimum.passes.build import DEFINED_EVERYWHERE, Build

Fact = Node | None
_COMPARISONS = frozenset({"is_less", "is_less_equal", "is_equal"})
_STEADY = _COMPARISONS | {"abs", "min", "max", "cbrt", "hypot"}  # kinks, but no jumps and no edges of definition


def facts(build: Build, output: Node) -> tuple[Node, Node]:
    """Scalar nodes (defined, smooth) of a scalar output."""
    found = _Facts(build, output)
    return _certain(build, found.defined[output]), _certain(build, found.smooth[output])


def _certain(build: Build, fact: Fact) -> Node:
    return build.number(1) if fact is None else build.reduce("min_of", fact, fact.size)


class _Facts:
    """Facts of every node under an output, element by element."""

    def __init__(self, build: Build, output: Node) -> None:
        self.build = build
        self.defined: dict[Node, Fact] = {}
        self.steady: dict[Node, Fact] = {}  # of a truth value: of what it compares
        self.smooth: dict[Node, Fact] = {}
        self.strict: dict[Node, Node] = {}  # truth values, open wherever a neighbourhood is not decided
        for node in ancestors([output]):
            self.strict[node] = self._strict(node)
            self.defined[node] = self._fact(node, "defined")
            self.steady[node] = self._fact(node, "steady")
            self.smooth[node] = self._fact(node, "smooth")

    # ------------------------------------------------------------------------------------------ truth values
    def _is_truth(self, node: Node) -> bool:
        return self.strict[node] is not node

    def _strict(self, node: Node) -> Node:
        """The truth value, decided only where it is decided around the box too; other nodes stand for themselves."""
        b = self.build
        if node.op in _COMPARISONS:
            decided = b.graph.node(f"smooth:{node.op}", node.args, node.size)
            return b.graph.node("where", (decided, node, b.constant(_OPEN)), node.size)
        if not node.args or not any(self._is_truth(a) for a in node.args):
            return node
        combines = node.op in ("min", "max", "sub", "min_of", "max_of", "take", "concat")
        if not combines or not all(self._is_truth(a) or a.op == "constant" for a in node.args):
            return node
        return b.graph.node(node.op, [self.strict[a] for a in node.args], node.size, node.data)

    def _decided(self, node: Node) -> Node:
        strict, b = self.strict[node], self.build
        return b.graph.node("smooth:where", (strict, b.number(0), b.number(0)), strict.size)

    # ------------------------------------------------------------------------------------------ facts
    def _all(self, facts: list[Fact]) -> Fact:
        result: Fact = None
        for fact in facts:
            if fact is not None:
                result = fact if result is None else self.build.apply("min", result, fact)
        return result

    def _fact(self, node: Node, which: str) -> Fact:
        table = {"defined": self.defined, "steady": self.steady, "smooth": self.smooth}[which]
        if which == "smooth" and self._is_truth(node):
            return self._all([self.steady[node], self._decided(node)])
        if node.op == "where":
            return self._where(node, which, table)
        below = [table[a] for a in node.args]
        if which == "steady" and not self._is_truth(node):  # a truth value read as a number jumps
            below = [self.smooth[a] if self._is_truth(a) else table[a] for a in node.args]
        if node.op in OPERATIONS:
            return self._all([*below, self._own(node, which)])
        return self._structural(node, which, below)

    def _own(self, node: Node, which: str) -> Fact:
        if OPERATIONS[node.op].facts == "everywhere" or (
            node.op == "pown" and isinstance(node.data, int) and node.data > 0
        ):
            return None
        if node.op in (DEFINED_EVERYWHERE if which == "defined" else _STEADY if which == "steady" else ()):
            return None
        kind = "defined" if which == "defined" else "smooth"
        return self.build.graph.node(f"{kind}:{node.op}", node.args, node.size, node.data)

    def _where(self, node: Node, which: str, table: dict[Node, Fact]) -> Fact:
        """The chosen branch counts, both where the condition is open; the others need it decided around the box."""
        b = self.build
        condition, x, y = node.args
        one = b.number(1)
        chooser = condition if which == "defined" else self.strict[condition]
        branches: Fact = None
        if table[x] is not None or table[y] is not None:
            branches = b.apply("where", chooser, table[x] or one, table[y] or one)
        if which == "defined":
            return self._all([table[condition], branches])
        decided = (
            None
            if condition.op == "constant"
            else b.graph.node("smooth:where", (chooser, b.number(0), b.number(0)), chooser.size)
        )
        return self._all([self.steady[condition], decided, branches])

    def _structural(self, node: Node, which: str, below: list[Fact]) -> Fact:
        b = self.build
        if node.op in ("min_of", "max_of") and which == "smooth":
            return self._all([self._alone(node), self._grouped(node, below[0])])
        if all(fact is None for fact in below):
            return None
        if node.op == "take":
            assert below[0] is not None
            false = b.apply("sub", b.number(1), b.full(below[0], node.args[0].size))
            return b.apply("sub", b.number(1), b.take(false, map_of(node)))  # a missing element is 0, which is smooth
        if node.op == "concat":
            one = b.number(1)
            return b.concat([b.full(f or one, a.size) for f, a in zip(below, node.args, strict=True)])
        if node.op in REDUCTIONS:
            return self._grouped(node, below[0])
        return _certain(b, self._all([b.full(f, node.size) if f is not None else None for f in below]))

    def _grouped(self, node: Node, fact: Fact) -> Fact:
        if fact is None:
            return None
        return self.build.reduce("min_of", self.build.full(fact, node.args[0].size), integer_of(node))

    def _alone(self, node: Node) -> Fact:
        """One element of each group is strictly beyond all others."""
        b = self.build
        (a,) = node.args
        width = integer_of(node)
        rest = b.others("min" if node.op == "min_of" else "max", a, width)
        beyond = b.apply("is_less", a, rest) if node.op == "min_of" else b.apply("is_less", rest, a)
        return b.reduce("max_of", beyond, width)


_OPEN = Constant(bounds=(np.array([0.0]), np.array([1.0])))

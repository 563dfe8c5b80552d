"""Where a function is defined and smooth, as graphs of truth values.

    defined   every operation is defined on the whole box
    smooth    every operation is differentiable on an open neighbourhood of the box: strictly inside its domain, every
              condition strictly decided, no kink
What is smooth is asked of near enclosures (passes/near): floor(x) > 4.5 holds on [5, 5.5], yet not just below 5. What a
condition compares must be defined around the box as well: sqrt(x) < 5 holds on [0, 1], yet is undefined just below 0.
A fact node is 1 where the fact is certain; anything else means "not certain". Nodes made only of operations that are
defined and smooth on all reals have no fact node (None): nothing to check.

    node                      smooth where
    comparison, floor, …      its operands are open (near), and it meets no jump on their near enclosures
    mod, atan2                its operands are smooth, and the same
    where                     its condition is open, its near enclosure 0 or 1, and the branch that it chooses is smooth
    min, max of steps alone   it is open, and its near enclosure is one number
    min_of, max_of            its elements are smooth, and one of each group is strictly beyond the others
    other operations          its operands are smooth, and it is smooth on their near enclosures
"""

from __future__ import annotations

from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors, is_fact
from infimum.graph.payload import integer_of, others_of
from infimum.ops import OPERATIONS
from infimum.passes.near import Fact, Near, all_of, certain, chosen, grouped, is_checked, is_stepwise, jumps, through

_EXTREMES = frozenset({"min", "max", "min_of", "max_of"})


def facts(build: Build, output: Node) -> tuple[Node, Node]:
    """Return the scalar nodes (defined, smooth) of a scalar output."""
    found = _Facts(build, output)
    return certain(build, found.defined[output]), certain(build, found.smooth[output])


def smooth_elements(build: Build, output: Node) -> Node:
    """Return which elements of an array are smooth: 1 where it is certain."""
    found = _Facts(build, output).smooth[output]
    return build.full(build.number(1) if found is None else found, output.size)


class _Facts:
    """Facts of every node under an output, element by element."""

    def __init__(self, build: Build, output: Node) -> None:
        self.build = build
        self.near = Near(build, output)
        self.defined: dict[Node, Fact] = {}
        self.smooth: dict[Node, Fact] = {}
        for node in ancestors([output]):
            self.defined[node] = self._defined(node)
            self.smooth[node] = self._smooth(node)

    def _defined(self, node: Node) -> Fact:
        below = [self.defined[a] for a in node.args]
        if node.op == "where":
            return chosen(self.build, node.args[0], *below)
        if node.op not in OPERATIONS:
            return through(self.build, node, below)
        if not is_checked(node) or OPERATIONS[node.op].facts == "defined":
            return all_of(self.build, below)
        own = self.build.graph.node(f"defined:{node.op}", node.args, node.size, node.data)
        return all_of(self.build, [*below, own])

    def _smooth(self, node: Node) -> Fact:
        below = [self.smooth[a] for a in node.args]
        if node.op == "where":
            return self._smooth_where(node)
        if node.op in _EXTREMES and self.near.is_step(node):
            return all_of(self.build, [self.near.is_open(node), self.near.is_point(node)])
        if is_fact(node.op):
            return self.near.is_point(node)
        if jumps(node.op):
            below = [self.near.is_open(a) for a in node.args] if is_stepwise(node.op) else below
            return all_of(self.build, [*below, self.near.between_jumps(node)])
        if node.op in OPERATIONS:
            return all_of(self.build, [*below, self.near.own("smooth", node)] if is_checked(node) else below)
        if node.op in ("min_of", "max_of"):
            return all_of(self.build, [self._alone(node), grouped(self.build, node, below[0])])
        if node.op == "others" and others_of(node)[0] in ("min", "max"):
            return self.build.number(0)
        return through(self.build, node, below)

    def _smooth_where(self, node: Node) -> Fact:
        b = self.build
        condition, x, y = node.args
        near = self.near.of(condition)
        valid: Fact = None
        if condition.op != "constant":
            zero = b.number(0)
            decided = b.graph.node("smooth:where", (near, zero, zero), near.size)
            valid = all_of(b, [self.near.is_open(condition), decided]) if self.near.is_step(condition) else zero
        return chosen(b, near, valid, self.smooth[x], self.smooth[y])

    def _alone(self, node: Node) -> Node:
        """Return whether one element of each group is strictly beyond all others."""
        b = self.build
        (a,) = self.near.operands(node)
        width = integer_of(node)
        rest = b.others("min" if node.op == "min_of" else "max", a, width)
        beyond = b.apply("is_less", a, rest) if node.op == "min_of" else b.apply("is_less", rest, a)
        return b.reduce("max_of", beyond, width)

"""Sharper enclosures of steps: over a box that crosses one jump, a step has two values and nothing between them.

The natural enclosure of floor(x) over [0.9, 1.1] is [0, 1], and (floor(x) - 0.5)^2 seems to reach 0 there. An
expression that reads a few steps becomes the intersection of itself and of the hull of what it is at each corner: every
step at the lower or at the upper end of its range (core: step_low, step_high; both the whole range where that has more
than two integers).

    step                        floor, ceil, trunc, both rounds, comparisons; what is taken from them
    sign(u)                     read as (0 < u) - (u < 0)
    u <= v                      read as not v < u, so that conditions which exclude each other are one step
    u mod c                     met with u - c floor(u / c)
    an array of few steps       read as its elements, where one of them is read alone as well
    expression                  the largest that reads at most six steps, unless its operands share none of them and its
                                operation is monotone or bilinear: then its operands
    elements of arrays          each on its own where every node between the steps and the expression is elementwise;
                                else all corners of all elements

Guarantee: at every point of the box each step is at one of its corners, so that the hull contains the expression's
value; where a corner is undefined nothing is added, and at a point with those steps neither is there a value.
"""

from __future__ import annotations

from itertools import product

from infimum.graph.build import Build
from infimum.graph.indexmap import Affine
from infimum.graph.node import STRUCTURAL, Node, ancestors
from infimum.graph.payload import integer_of, map_of
from infimum.ops import names_with

_MOST_NODES = 4000
_MOST_STEPS = 6
_MOST_COPIES = 2000  # of nodes, in all corners of an expression
_STEPS = names_with(lambda row: row.values in ("integers", "truths"))
# The natural enclosure of these, from the ends of ranges that have nothing in common, is that of the corners already.
_AS_GOOD = names_with(lambda row: row.monotone) | {"expm1_over_x"}

Leaves = frozenset[Node]


def with_corners(value: Node, n: int) -> Node:
    """Return the same function of n variables for enclosures: narrower where steps are crossed.

    The very same node where there is nothing to gain, else one on a graph of its own.
    """
    nodes = ancestors([value])
    if len(nodes) > _MOST_NODES or not any(node.op in _STEPS or node.op == "sign" for node in nodes):
        return value
    found = _Corners(nodes, value, n)
    return found.new[value] if found.changed else value


class _Corners:
    """Nodes copied to a graph of their own, expressions of steps met with their corners."""

    def __init__(self, nodes: list[Node], value: Node, n: int) -> None:
        self.build = Build(n)
        self.new: dict[Node, Node] = {}
        self.changed = False
        self.leaves: dict[Node, Leaves] = {}  # by copies
        self.mixed: dict[Node, Leaves] = {}  # those of which several elements meet in one
        self.apart = _apart(nodes)
        self.elements: dict[Node, list[Node]] = {}
        for node in nodes:
            self.new[node] = self._copied(node)
        chosen = self._chosen(self.new[value])
        met: dict[Node, Node] = {}
        for node in nodes:  # once more, with what was chosen
            copy = self.new[node]
            again = (
                copy if not any(a in met for a in copy.args) else self._with(copy, [met.get(a, a) for a in copy.args])
            )
            if copy in chosen:
                again = self.build.graph.node("intersection", (again, self._hull(copy)), copy.size)
                self.changed = True
            if again is not copy:
                met[copy] = again
        self.new = {node: met.get(copy, copy) for node, copy in self.new.items()}

    def _copied(self, node: Node) -> Node:
        args = [self.new[a] for a in node.args]
        if node.op == "x":
            copy = self.build.x
        elif node.op == "sign":  # three values: two comparisons
            zero = self.build.number(0)
            self._read(zero)
            sides = [self.build.graph.node("is_less", pair, node.size) for pair in ((zero, args[0]), (args[0], zero))]
            copy = self.build.graph.node("sub", sides, node.size)
            for side in sides:
                self._read(side)
        elif node.op == "is_less_equal":
            one, other = self.build.number(1), self.build.graph.node("is_less", args[::-1], node.size)
            self._read(one)
            self._read(other)
            copy = self.build.graph.node("sub", (one, other), node.size)
        elif node.op == "mod" and args[1].op == "constant":
            copy = self._remainder(node, args)
        elif node in self.apart:
            copy = self._elements(node, args)
        elif node.op == "take" and node.size == 1 and node.args[0] in self.elements:
            return self.elements[node.args[0]][int(map_of(node).indices()[0])]
        else:
            copy = self.build.graph.node(node.op, args, node.size, node.data)
        self._read(copy)
        return copy

    def _remainder(self, node: Node, args: list[Node]) -> Node:
        whole = self.build.graph.node("mod", args, node.size)
        made = self.build.graph.node("div", args, node.size)
        steps = [whole, made]
        made = self.build.graph.node("floor", (made,), node.size)
        steps.append(made)
        made = self.build.graph.node("mul", (args[1], made), node.size)
        steps.append(made)
        made = self.build.graph.node("sub", (args[0], made), node.size)
        for step in (*steps, made):
            self._read(step)
        self.changed = True
        return self.build.graph.node("intersection", (whole, made), node.size)

    def _elements(self, node: Node, args: list[Node]) -> Node:
        """Return an array of steps put together of its elements."""
        elements = []
        for i in range(node.size):
            single = [a if a.size == 1 else self._element(a, i) for a in args]
            for a in single:
                self._read(a)
            elements.append(self.build.graph.node(node.op, single, 1))
            self._read(elements[-1])
        self.elements[node] = elements
        return self.build.graph.node("concat", elements, node.size)

    def _with(self, node: Node, args: list[Node]) -> Node:
        return self.build.graph.node(node.op, args, node.size, node.data)

    # ------------------------------------------------------------------------------------------ what is read
    def _read(self, node: Node) -> None:
        """Note the steps that a node reads."""
        below = [self.leaves[a] for a in node.args]
        if node.op in _STEPS or (node.op == "take" and below[0] == {node.args[0]}):  # elements of a step are steps
            self.leaves[node], self.mixed[node] = frozenset({node}), frozenset()
            return
        self.leaves[node] = frozenset().union(*below)
        self.mixed[node] = frozenset().union(*(self.mixed[a] for a in node.args))
        if node.op in STRUCTURAL:
            self.mixed[node] |= {leaf for leaf in self.leaves[node] if leaf.size > 1}

    def _count(self, node: Node) -> int:
        """Return how many steps have ends of their own in an expression."""
        return sum(leaf.size if leaf in self.mixed[node] else 1 for leaf in self.leaves[node])

    def _chosen(self, value: Node) -> set[Node]:
        """Return the expressions to be met with their corners."""
        # | node reads                                     | then         |
        # | no steps, or is one                            | nothing      |
        # | a few, and corners tell more                   | its corners  |
        # | more, or their corners tell no more            | its operands |
        chosen: set[Node] = set()
        seen: set[Node] = set()
        pending = [value]
        while pending:
            node = pending.pop()
            if node in seen or not self.leaves[node] or node in self.leaves[node]:
                continue
            seen.add(node)
            if self._count(node) <= _MOST_STEPS and self._gains(node) and self._is_short(node):
                chosen.add(node)
            else:
                pending.extend(node.args)
        return chosen

    def _gains(self, node: Node) -> bool:
        """Return whether corners tell more of a node than of its operands."""
        if node.op in STRUCTURAL or node.op in ("intersection", "hull"):
            return False
        if node.op not in _AS_GOOD and not (node.op == "pown" and integer_of(node) % 2 == 1 and integer_of(node) > 0):
            return True
        parts = [self.leaves[a] for a in node.args if self.leaves[a]]
        return any(a & b for i, a in enumerate(parts) for b in parts[i + 1 :])

    # ------------------------------------------------------------------------------------------ corners
    def _above(self, node: Node) -> list[Node]:
        """Return the nodes from the steps of an expression up to it."""
        return [a for a in ancestors([node]) if self.leaves[a] & self.leaves[node]]

    def _is_short(self, node: Node) -> bool:
        return len(self._above(node)) << self._count(node) <= _MOST_COPIES

    def _hull(self, node: Node) -> Node:
        leaves = sorted(self.leaves[node], key=lambda leaf: leaf.number)
        above = self._above(node)
        total: Node | None = None
        for ends in product(*(self._ends(leaf, leaf in self.mixed[node]) for leaf in leaves)):
            at = dict(zip(leaves, ends, strict=True))
            for a in above:
                if a not in at:
                    at[a] = self._with(a, [at.get(b, b) for b in a.args])
            total = at[node] if total is None else self.build.graph.node("hull", (total, at[node]), node.size)
        assert total is not None
        return total

    def _ends(self, leaf: Node, mixed: bool) -> list[Node]:
        """Return a step at the ends of its range; where its elements are mixed, at all corners of them."""
        both = [self.build.graph.node(end, (leaf,), leaf.size) for end in ("step_low", "step_high")]
        if not mixed:
            return both
        each = [[self._element(end, i) for end in both] for i in range(leaf.size)]
        return [self.build.graph.node("concat", corner, leaf.size) for corner in product(*each)]

    def _element(self, node: Node, i: int) -> Node:
        return self.build.graph.node("take", (node,), 1, Affine((), i, node.size))


def _apart(nodes: list[Node]) -> set[Node]:
    """Return the arrays of few steps of which an element is read alone as well, or is a step of its own."""
    alone = {(node.op, _sources(node)) for node in nodes if node.op in _STEPS and node.size == 1}
    taken = {node.args[0] for node in nodes if node.op == "take" and node.size == 1 and map_of(node).indices()[0] >= 0}
    few = [node for node in nodes if node.op in _STEPS and 1 < node.size <= _MOST_STEPS]
    return {node for node in few if node in taken or (node.op, node.args) in alone}


def _sources(node: Node) -> tuple[Node, ...]:
    """Return the operands of a step of one element, arrays in place of what is taken from them."""
    return tuple(a.args[0] if a.op == "take" else a for a in node.args)

"""Contraction: from sets that expressions must lie in to the part of the box where they can, as a graph (HC4).

Forward, every node has its enclosure over the box. Backward, from users to operands, each node has a *set*: its
enclosure met with what every user's set says of it. The sets of x are the contracted box; where one is empty, no point
of the box satisfies all constraints.

    node            what its set c says of its operand
    elementwise     the reverse rule of its operation (rules.py); all elements met where the operand is a scalar
    intersection    c itself, for both
    take            c read through the transposed map, all readers met; nothing where nobody reads
    concat          the pieces of c
    sum             c less the others
    prod            c over the others, relationally
    min_of, max_of  as min or max with the others
    recurrence      of b_i: c_i less a_i y_(i-1); of a_i: the rest over y_(i-1); the last c goes back to all others;
                    only where the recurrence is defined everywhere
    others, hull    nothing: an operand of a hull need not be where the value is, nor be defined

A reverse rule also removes operands for which an operation is undefined. That is right only where its value is needed:
not under the branch of a `where` that is not certainly taken, nor for an element that nobody reads. need.py says
where it certainly is; elsewhere operands stay as they are.

Guarantee: a point of the box at which every constrained node is defined and lies in its wanted interval is in the
contracted box.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.indexmap import Affine, IndexMap, Window
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.payload import integer_of, map_of
from infimum.passes.contract.need import Need
from infimum.passes.contract.rules import RULES
from infimum.passes.contract.sets import Sets, inverse
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

_MANY = 4  # more small pieces than this are joined before they are put back
_GROUPED = {"prod": "mul_rev", "min_of": "min_rev", "max_of": "max_rev"}


def contraction(constraints: list[Node], n: int, parameters: int = 0) -> Program:
    """Return the Program that contracts boxes of n variables, given constraints on expressions.

    inputs     the box, the parameters, then a wanted interval for every element of every constraint
    outputs    the contracted box (an empty component: nothing is left), then the constraints' enclosures over the box
    """
    return lower(contracted(constraints, n, parameters), n + parameters + sum(node.size for node in constraints))


def contracted(constraints: list[Node], n: int, parameters: int = 0) -> list[Node]:
    """Return the outputs of `contraction` as nodes."""
    build = Build(n + parameters + sum(node.size for node in constraints))
    new: dict[Node, Node] = {}
    for node in ancestors(constraints):
        if node.op == "x":
            new[node] = _line(build, 0, node.size)
        elif node.op == "take" and node.args[0].op == "x" and isinstance(node.data, Affine):
            m = Affine(node.data.dims, node.data.offset, build.x.size)  # a window must see where the box ends
            new[node] = build.graph.node("take", (build.x,), node.size, m)
        else:
            new[node] = build.graph.node(node.op, [new[a] for a in node.args], node.size, node.data)
    values = [new[node] for node in constraints]
    backward = _Backward(build, _line(build, 0, n), values)
    start = n + parameters
    for value in values:
        backward.meet(value, _line(build, start, value.size))
        start += value.size
    return [backward.set_of_box(), *values]


def _line(build: Build, start: int, size: int) -> Node:
    """Return some of the inputs."""
    m = indexmap.affine([(size, 1)], start, build.x.size)
    return build.graph.node("take", (build.x,), size, m)


class _Backward(Sets):
    """Sets of nodes, as they become known."""

    def __init__(self, build: Build, box: Node, outputs: list[Node]) -> None:
        super().__init__(build)
        self.box = box
        self.nodes = ancestors([*outputs, box])
        self.depends = _dependent(self.nodes, build.x, box.size)
        self.read = _read(outputs)
        self.sets: dict[Node, Node] = {}
        self.taken: dict[Node, list[tuple[Node, IndexMap]]] = {}  # sets of what was taken from a node, and from where
        self.need = Need(self, outputs)

    def meet(self, node: Node, part: Node) -> None:
        """Note that the node lies in this set as well."""
        before = self.sets.get(node, node)
        narrower = part.op.endswith(("_rev", "_rev1", "_rev2")) and node in part.args[-2:] and before is node
        self.sets[node] = part if narrower and part.size == node.size else self.op("intersection", before, part)

    def met(self, node: Node, width: int) -> Node:
        """Return the intersection of each group: from the largest lower to the smallest upper end."""
        if width == 1:
            return node
        return self.op("intersection", self.reduce("max_of", node, width), self.reduce("min_of", node, width))

    # ------------------------------------------------------------------------------------------ from users to operands
    def set_of_box(self) -> Node:
        for node in reversed(self.nodes):
            if node in self.depends and node in self.read and node is not self.box:
                self._pass_on(node)
        self._put_back(self.box)
        return self.sets.get(self.box, self.box)

    def _pass_on(self, node: Node) -> None:
        self._put_back(node)
        self.need.pass_on(node)
        c = self.sets.get(node, node)
        if node.op in RULES:
            self._elementwise(node, c)
        elif node.op == "take":
            (a,) = node.args
            a = self.box if a is self.build.x else a
            self.taken.setdefault(a, []).append((self.full(c, node.size), _within(map_of(node), a.size)))
        elif node.op == "concat":
            self._concat(node, self.full(c, node.size))
        elif node.op in REDUCTIONS:
            self._reduction(node, c)
        elif node.op == "recurrence" and self.build.is_total(node):
            self._recurrence(node, self.full(c, node.size))

    def _elementwise(self, node: Node, c: Node) -> None:
        for operand, part in zip(node.args, RULES[node.op](self.op, node.args, c, node.data), strict=True):
            if part is None or operand not in self.depends:
                continue
            found = self._where_needed(node, part, operand)
            if operand.size < node.size:
                found = self.met(self.full(found, node.size), node.size)
            self.meet(operand, found)

    def _where_needed(self, node: Node, part: Node, operand: Node) -> Node:
        need = self.need.of(node)
        return part if need is None else self.op("where", need, part, operand)

    def _concat(self, node: Node, c: Node) -> None:
        start = 0
        for piece in node.args:
            if piece in self.depends:
                self.meet(piece, self.take(c, indexmap.affine([(piece.size, 1)], start, node.size)))
            start += piece.size

    def _reduction(self, node: Node, c: Node) -> None:
        (a,) = node.args
        width = integer_of(node)
        others = self.build.others(REDUCTIONS[node.op], a, width)
        spread = self.spread(c, node.size, width)
        if node.op == "sum":
            part = self.op("sub", spread, others)
        elif node.op == "prod":
            part = self.op("mul_rev", others, spread, a)
        else:
            part = self.op(_GROUPED[node.op], spread, a, others)
        need = self.need.of(node)
        if need is not None:
            part = self.op("where", self.spread(need, node.size, width), part, a)
        self.meet(a, part)

    def _recurrence(self, node: Node, c: Node) -> None:
        """Contract y_i = a_i y_(i-1) + b_i; from the last set back, y_(i-1) = (y_i - b_i) / a_i where a_i is not 0."""
        a, b = node.args
        size = node.size
        ahead, last = (-1, 0) if node.data else (1, size - 1)
        after, before = (Window(size, shift, 1, size) for shift in (ahead, -ahead))
        at_last = self.build.number((np.arange(size) == last).astype(float))
        steady = self.op("is_equal", self.take(a, after), self.zero)
        factor = self.op("where", steady, self.entire, self.op("recip", self.take(a, after)))
        offset = self.op("neg", self.op("mul", factor, self.take(b, after)))
        offset = self.op("where", at_last, c, self.op("where", steady, self.entire, offset))
        factor = self.op("where", at_last, self.zero, factor)
        back = self.build.graph.node("recurrence", (factor, offset), size, not node.data)
        y, c = self.take(self.op("intersection", node, back), before), self.op("intersection", c, back)
        rest = self.op("sub", c, b)
        for operand, part in ((b, self.op("sub", c, self.op("mul", a, y))), (a, self.op("mul_rev", y, rest, a))):
            if operand in self.depends:
                self.meet(operand, part)

    # ------------------------------------------------------------------------------------------ transposed maps
    def _put_back(self, node: Node) -> None:
        """Meet the node with the sets of what was taken from it; many small pieces are joined and put back at once."""
        pieces = self.taken.pop(node, [])
        small = [piece for piece in pieces if _MANY * piece[1].size < node.size]
        if len(small) > _MANY:
            joined = self.build.graph.node("concat", [c for c, _ in small], sum(c.size for c, _ in small))
            indices = np.concatenate([m.indices() for _, m in small])
            pieces = [piece for piece in pieces if _MANY * piece[1].size >= node.size]
            pieces.append((joined, indexmap.of_indices(indices, node.size)))
        for c, m in pieces:
            self.meet(node, self.transposed(c, m, node.size))

    def transposed(self, c: Node, m: IndexMap, size: int) -> Node:
        """Return for each j the intersection of c[i] over every i that reads j; the entire line if there is none."""
        back = inverse(m, size)
        if back is not None:
            return self._gathered(c, back, m.size)
        total: Node | None = None
        for targets, positions in indexmap.readers(m):
            gathered = self._gathered(c, positions.ravel(), m.size)
            place = np.full(size, -1, np.int64)
            place[targets] = np.arange(targets.size)
            placed = self._gathered(self.met(gathered, positions.shape[1]), place, targets.size)
            total = placed if total is None else self.op("intersection", total, placed)
        return total if total is not None else self.entire

    def _gathered(self, c: Node, indices: indexmap.Indices, source: int) -> Node:
        return self._present(self.take(c, indexmap.of_indices(indices, source)), indices >= 0)

    def _present(self, node: Node, present: Any) -> Node:
        """Return the node's elements, the entire line where they are missing."""
        first, last = (int(np.argmax(end)) for end in (present, present[::-1]))
        if not present[first : present.size - last].all():
            return self.op("where", self.build.number(present.astype(float)), node, self.entire)
        for start, count in ((0, first), (present.size - last, last)):
            if count:  # missing elements are 0 here, the others are 0 there
                ends = np.full(count, np.inf)
                pad = self.build.constant(Constant(bounds=(-ends, ends)))
                node = self.op("add", node, self.take(pad, Window(present.size, -start, 1, count)))
        return node


def _dependent(nodes: list[Node], x: Node, n: int) -> set[Node]:
    """Return the nodes that depend on one of the first n inputs."""
    found: set[Node] = set()
    for node in nodes:
        reads_box = node.args == (x,) and bool((map_of(node).indices() < n).any())
        if reads_box or any(a in found for a in node.args):
            found.add(node)
    return found


def _read(outputs: list[Node]) -> set[Node]:
    """Return the nodes that the outputs read otherwise than through a hull."""
    found: set[Node] = set()
    pending = list(outputs)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(node.args if node.op != "hull" else ())
    return found


def _within(m: IndexMap, size: int) -> IndexMap:
    """Return the map, reading nothing of what lies beyond its source's first elements."""
    if m.source == size:
        return m
    return indexmap.of_indices(np.where(m.indices() < size, m.indices(), -1), size)

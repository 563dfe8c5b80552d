"""Build nodes that are already simple: constants folded, operations rewritten, index maps composed.

expression                      becomes              because
all operands constant           constant             exact arithmetic, or tight intervals for large arrays
an operation                    as graph/rewrites.py says
sum(s * v), sum(s + v)          s * sum(v), …        s a scalar: fewer roundings, s(a + b) lies in sa + sb
take of take, of constants      composed             the same elements
take of an elementwise node     pushed to its operands, as loops recompute rather than store
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.exact.number import exact, pi
from infimum.graph import indexmap
from infimum.graph.constant import Constant, constant, joined
from infimum.graph.folding import folded, summed
from infimum.graph.indexmap import Affine, IndexMap
from infimum.graph.node import Graph, Node, bottom_up, is_fact
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.graph.rewrites import REWRITES
from infimum.ops import OPERATIONS, names_with

_COMMUTATIVE = names_with(lambda row: row.commutative)
# Cheap enough to compute again, wherever an index map leads and in every phase that reads it.
CHEAP = names_with(lambda row: row.cheap)
_KEEP_SIGNS = frozenset(
    {"add", "mul", "div", "min", "sqrt", "take", "concat", "sum", "prod", "min_of", "max_of", "others"}
)


class Build:
    """A graph under construction; a slope builds with it (ops.record.Builder)."""

    def __init__(self, variables: int, shared: frozenset[Node] = frozenset()) -> None:
        self.graph = Graph()
        self.x = self.graph.node("x", (), variables)
        self.keep: set[Node] = set(shared)  # nodes to store rather than to recompute through index maps
        self._total: dict[Node, bool] = {}
        self._nonnegative: dict[Node, bool] = {}

    # ------------------------------------------------------------------------------------------ constants
    def constant(self, value: Constant) -> Node:
        if value.size > 1 and value.doubles is not None and (value.doubles == value.doubles[0]).all():
            value = Constant(value.doubles[:1])  # uniform arrays are scalars: elementwise nodes broadcast them
        return self.graph.node("constant", (), value.size, value)

    def number(self, value: Any) -> Node:
        return self.constant(constant(value))

    def between(self, lo: float, hi: float) -> Node:
        """Return a constant of which only an interval is known."""
        return self.constant(Constant(bounds=(np.array([lo]), np.array([hi]))))

    def pi(self, times: int = 1) -> Node:
        """Return an exact multiple of pi."""
        return self.number(exact(times) * pi)

    def is_above(self, x: Node, bound: float) -> bool:
        """Return whether a node is a constant above a number."""
        return x.op == "constant" and bool((value_of(x).enclosure()[0] > bound).all())

    def full(self, node: Node, size: int) -> Node:
        """Return the node spread to `size` elements."""
        if node.size == size:
            return node
        return self.graph.node("take", (node,), size, indexmap.broadcast(size))

    def is_total(self, node: Node) -> bool:
        """Return whether a node is defined for every real x, by its operations alone."""
        pending = [node]  # deep expressions are walked without recursion
        while pending:
            current = pending[-1]
            below = [] if current in self._total else [a for a in current.args if a not in self._total]
            if below:
                pending.extend(below)
                continue
            below_total = is_fact(current.op) or all(self._total[a] for a in current.args)
            self._total[pending.pop()] = below_total and _is_total_itself(current)
        return self._total[node]

    def is_nonnegative(self, node: Node) -> bool:
        """Return whether a node is never below 0 where it is defined, by its operations alone."""
        return bottom_up(node, self._nonnegative, lambda current: _is_nonnegative(current, self._nonnegative))

    def opaque(self, node: Node) -> Node:
        """Return a leaf that stands for a node while expressions of it are built; it is replaced before lowering."""
        leaf = self.graph.node("opaque", (), node.size, node.number)
        self._total[leaf] = self.is_total(node)
        return leaf

    # ------------------------------------------------------------------------------------------ elementwise
    def apply(self, op: str, *args: Node, data: Any = None) -> Node:
        """Return the simplest node for this operation on these operands."""
        size = max(a.size for a in args)
        if all(a.op == "constant" for a in args):
            known = folded(op, [value_of(a) for a in args], size, data)
            if known is not None:
                return self.constant(known)
        if op in _COMMUTATIVE:
            args = tuple(sorted(args, key=lambda a: (a.op != "constant", a.size > 1, a.number)))
        rule = REWRITES.get(op)
        simpler = rule(self, args, data) if rule else None
        return simpler if simpler is not None else self.graph.node(op, args, size, data)

    # ------------------------------------------------------------------------------------------ structure
    def take(self, node: Node, m: IndexMap) -> Node:
        """Return the node whose element i is node[m(i)]."""
        if indexmap.is_identity(m):
            return node
        if node.size == 1 and isinstance(m, Affine):
            return node if m.size == 1 else self.full(node, m.size)
        if node.op == "constant":
            return self.constant(value_of(node).take(m.indices()))
        if node.op == "take":
            return self.take(node.args[0], indexmap.compose(m, map_of(node)))
        if not isinstance(m, Affine) and not (m.indices() >= 0).any():
            return self.full(self.number(0), m.size)  # nothing is read
        if node.op == "concat":
            inside = self._inside_one_piece(node, m)
            if inside is not None:
                return inside
        if node.op in OPERATIONS and node not in self.keep and self._may_push(node, m):
            operands = [a if a.size == 1 else self.take(a, m) for a in node.args]
            pushed = self.apply(node.op, *operands, data=node.data)
            return pushed if pushed.size == m.size else self.full(pushed, m.size)
        return self.graph.node("take", (node,), m.size, m)

    def _may_push(self, node: Node, m: IndexMap) -> bool:
        """Return whether a take may move inside: it repeats no work and keeps the zeros that missing elements read."""
        if m.size > node.size:
            return False
        guarded = not isinstance(m, Affine) and bool((m.indices() < 0).any())
        if not guarded:
            return True
        scalars = [a for a in node.args if a.size == 1]
        if not OPERATIONS[node.op].keeps_zero or len(scalars) == len(node.args):
            return False
        return not scalars or (node.op == "mul" and all(map(self.is_total, scalars)))  # 0 times nothing is nothing

    def _inside_one_piece(self, node: Node, m: IndexMap) -> Node | None:
        indices = m.indices()
        if not indices.size:
            return None
        lowest, highest = int(indices.min()), int(indices.max())
        start = 0
        for piece in node.args:
            if start <= lowest and highest < start + piece.size:
                return self.take(piece, indexmap.of_indices(indices - start, piece.size))
            start += piece.size
        return None

    def concat(self, pieces: list[Node]) -> Node:
        if len(pieces) == 1:
            return pieces[0]
        if all(p.op == "constant" for p in pieces):
            return self.constant(joined([value_of(p) for p in pieces]))
        sources = {p.args[0] if p.op == "take" else p for p in pieces}
        if len(sources) == 1:  # elements of one array, put together again
            (source,) = sources
            maps = [map_of(p) if p.op == "take" else indexmap.identity(p.size) for p in pieces]
            return self.take(source, indexmap.of_indices(np.concatenate([m.indices() for m in maps]), source.size))
        return self.graph.node("concat", pieces, sum(p.size for p in pieces))

    def reduce(self, op: str, node: Node, width: int) -> Node:
        """Return the reduction of groups of `width` elements; a scalar stands for one full group."""
        groups = max(1, node.size // width)
        if width == 1:
            return node
        if op == "sum" and node.size == 1:
            return self.apply("mul", self.number(width), node)
        if op == "sum" and groups == 1:
            simpler = self._sum_of_scaled(node, width)
            if simpler is not None:
                return simpler
        if op == "sum" and groups == 1 and node.op == "constant" and np.isfinite(value_of(node).enclosure()).all():
            return self.constant(summed(value_of(node)))
        if op in ("min_of", "max_of") and node.size == 1:
            return node
        return self.graph.node(op, (self.full(node, max(node.size, width)),), groups, width)

    def _sum_of_scaled(self, node: Node, width: int) -> Node | None:
        if node.op == "neg":
            return self.apply("neg", self.reduce("sum", node.args[0], width))
        if node.op not in ("mul", "add", "sub"):
            return None
        a, b = node.args
        if a.size > 1 and b.size > 1:
            return None
        if node.op == "mul":
            scalar, vector = (a, b) if a.size == 1 else (b, a)
            return self.apply("mul", scalar, self.reduce("sum", vector, width))
        return self.apply(node.op, self.reduce("sum", a, width), self.reduce("sum", b, width))

    def others(self, op: str, node: Node, width: int) -> Node:
        """Return for each element the reduction of its group without it."""
        return self.graph.node("others", (node,), node.size, (op, width))

    def recurrence(self, a: Node, b: Node, size: int, reverse: bool) -> Node:
        return self.graph.node("recurrence", (self.full(a, size), self.full(b, size)), size, reverse)


def _is_nonnegative(node: Node, known: dict[Node, bool]) -> bool:
    # | node                     | is never below 0 where                                    |
    # | constant                 | its elements are                                          |
    # | even power, sqr, abs, …  | always                                                    |
    # | max                      | one operand is                                            |
    # | where                    | both branches are                                         |
    # | structural, add mul div  | all operands are; an element that is missing is 0         |
    below = [known[a] for a in node.args]
    if node.op == "constant":
        return bool((value_of(node).enclosure()[0] >= 0).all())
    if node.op in OPERATIONS and (OPERATIONS[node.op].nonnegative or (node.op == "pown" and integer_of(node) % 2 == 0)):
        return True
    if node.op == "max":
        return any(below)
    if node.op == "where":
        return all(below[1:])
    return node.op in _KEEP_SIGNS and all(below)


def _is_total_itself(node: Node) -> bool:
    """Return whether its own operation is defined for all operands."""
    if node.op == "pown":
        return integer_of(node) >= 0
    known = OPERATIONS.get(node.op)
    return known is None or known.facts != "checked"

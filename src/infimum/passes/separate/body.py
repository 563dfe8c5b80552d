"""One body for many blocks: the same elements of array expressions, row by row, as one expression of what differs.

A row is a block. Its body reads the block's own variables by their place in the block, and where rows differ in a
constant, a column of gathered constants.

Guarantee: with a row's variables and constants put in, the body is the real function that the row's elements make up.
"""

from __future__ import annotations

import hashlib
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.node import REDUCTIONS, Graph, Node, ancestors
from infimum.graph.payload import integer_of, map_of, others_of, value_of
from infimum.passes.separate.scalar import Unstageable
from infimum.passes.simplify import rebuilt

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Wanted = tuple[Node, IndexArray]
Scaled = tuple[Node, tuple[tuple[str, Node | None], ...]]  # what is added, and its factors, outermost first


class BodiesDiffer(Exception):
    """The rows are not all of one form; those with the same number in `kinds` may be."""

    def __init__(self, kinds: IndexArray) -> None:
        super().__init__()
        self.kinds = kinds


class Body:
    """An expression under construction; `place` is every variable's place in its own block of `reads` variables."""

    def __init__(self, place: IndexArray, rows: int, reads: int) -> None:
        self.place = place
        self.reads = reads
        self.graph = Graph()
        self._x = self.graph.node("x", (), reads)
        self._one = np.zeros((rows, 1), np.int64)
        self._made: dict[tuple[Node, int], Node] = {}
        self._below: dict[tuple[Node, int], list[Wanted]] = {}
        self._rows: list[IndexArray] = []  # keeps what the keys above name alive
        self._columns: list[tuple[FloatArray, FloatArray]] = []
        self._gathered: dict[tuple[Node, bytes], Node] = {}

    # ------------------------------------------------------------------------------------------ elements
    def elements(self, node: Node, at: IndexArray | None = None) -> Node:
        """Return the elements `at` (rows, m) of a node, one for all where it is a scalar.

        Raise BodiesDiffer where rows differ. Deep expressions are walked without recursion.
        """
        first = self._wanted(node, self._one if at is None else at)
        pending = [first]
        while pending:
            wanted = pending[-1]
            key = (wanted[0], id(wanted[1]))
            if key in self._made:
                pending.pop()
                continue
            if key not in self._below:
                self._rows.append(wanted[1])
                self._below[key] = self._reads(*wanted)
            below = self._below[key]
            missing = [w for w in below if (w[0], id(w[1])) not in self._made]
            if missing:
                pending.extend(missing)
                continue
            self._made[key] = self._new(*wanted, [self._made[w[0], id(w[1])] for w in below])
        return self._made[first[0], id(first[1])]

    def _wanted(self, node: Node, at: IndexArray) -> Wanted:
        return node, self._one if node.size == 1 else at

    def _reads(self, node: Node, at: IndexArray) -> list[Wanted]:
        # | node                | its elements read                                        |
        # | x, constant         | nothing                                                  |
        # | take                | where the map leads, if anywhere: the same in every row  |
        # | concat              | the pieces, in the same places in every row              |
        # | reduction           | their groups                                             |
        # | others              | the groups that they lie in                              |
        # | recurrence          | everything                                               |
        # | elementwise         | the operands' elements                                   |
        if not node.args:
            return []
        if node.op == "take":
            inner = map_of(node).indices()[at]
            there = _same(inner >= 0)
            return [self._wanted(node.args[0], inner[:, there])] if there.any() else []
        if node.op == "concat":
            return [self._wanted(piece, at[:, inside] - start) for piece, start, inside in _pieces(node, at)]
        if node.op in REDUCTIONS:
            return [self._wanted(node.args[0], _members(at, integer_of(node)))]
        if node.op == "others":
            width = others_of(node)[1]
            return [self._wanted(node.args[0], _members(at // width, width))]
        if node.op == "recurrence":
            everything = np.broadcast_to(np.arange(node.size), (len(at), node.size))
            return [self._wanted(operand, everything) for operand in node.args]
        return [self._wanted(operand, at) for operand in node.args]

    def _new(self, node: Node, at: IndexArray, below: list[Node]) -> Node:
        width = at.shape[1]
        if node.op == "x":
            return self._take(self._x, _same(self.place[at]))
        if node.op == "constant":
            return self._constant(node, at)
        if node.op == "take":
            there = map_of(node).indices()[at[0]] >= 0
            if not there.any():
                return self.number(0.0)
            source = self._spread(below[0], int(there.sum()))
            return self._take(source, np.where(there, np.cumsum(there) - 1, -1))
        if node.op == "concat":
            pieces = _pieces(node, at)
            joined = [self._spread(b, int(inside.sum())) for b, (_, _, inside) in zip(below, pieces, strict=True)]
            whole = joined[0] if len(joined) == 1 else self.graph.node("concat", joined, width)
            return self._take(whole, np.argsort(np.concatenate([np.flatnonzero(inside) for _, _, inside in pieces])))
        if node.op in REDUCTIONS:
            return self.graph.node(node.op, [self._spread(below[0], width * integer_of(node))], width, node.data)
        if node.op == "others":
            group = others_of(node)[1]
            inside = _same(at % group)
            others = self.graph.node("others", [self._spread(below[0], width * group)], width * group, node.data)
            return self._take(others, np.arange(width) * group + inside)
        if node.op == "recurrence":
            operands = [self._spread(b, node.size) for b in below]
            return self._take(self.graph.node("recurrence", operands, node.size, node.data), _same(at))
        return self.graph.node(node.op, below, max(b.size for b in below), node.data)

    def _constant(self, node: Node, at: IndexArray) -> Node:
        # | in all rows                      | becomes                              |
        # | the same elements, or doubles    | itself                               |
        # | one element all along each row   | one column                           |
        # | anything else                    | a column for each                    |
        # Equal enclosures need not be equal numbers: only doubles are compared by value.
        value = value_of(node)
        if node.size == 1 or (at == at[0]).all():
            return self._number(value.take(at[0]))
        if value.doubles is not None and (value.doubles[at] == value.doubles[at[0]]).all():
            return self._number(Constant(value.doubles[at[0]]))
        if (at == at[:, :1]).all() or (value.doubles is not None and _along(value.doubles[at])):
            at = at[:, :1]
        key = (node, hashlib.sha256(np.ascontiguousarray(at).tobytes()).digest())
        found = self._gathered.get(key)
        if found is None:
            lo, hi = value.enclosure()
            if not (np.isfinite(lo[at]).all() and np.isfinite(hi[at]).all()):
                raise Unstageable  # infinities are no ends of a box of one number
            start = sum(columns[0].shape[1] for columns in self._columns)
            self._columns.append((lo[at], hi[at]))
            found = self._gathered[key] = self.graph.node("gathered", (), at.shape[1], start)
        return found

    def number(self, value: float) -> Node:
        """Return a number as a node."""
        return self._number(Constant(np.array([value])))

    def _number(self, value: Constant) -> Node:
        return self.graph.node("constant", (), value.size, value)

    def _take(self, node: Node, indices: IndexArray) -> Node:
        m = indexmap.of_indices(indices, node.size)
        return node if indexmap.is_identity(m) else self.graph.node("take", (node,), m.size, m)

    def _spread(self, node: Node, size: int) -> Node:
        return node if node.size == size else self.graph.node("take", (node,), size, indexmap.broadcast(size))

    # ------------------------------------------------------------------------------------------ sums
    def total(self, terms: list[Scaled], width: int) -> Node:
        """Return the sum of `width` elements of each of the terms, common factors taken out again."""
        found = self._nested(terms)
        return found if width == 1 else self.graph.node("sum", (self._spread(found, width),), 1, width)

    def _nested(self, terms: list[Scaled]) -> Node:
        result: Node | None = None
        order = [factors[0] if factors else None for _, factors in terms]
        places = {key: i for i, key in reversed(list(enumerate(order))) if key is not None}
        keyed = [
            (i if key is None else places[key], term) for i, (key, term) in enumerate(zip(order, terms, strict=True))
        ]
        for _, group in groupby(sorted(keyed, key=itemgetter(0)), key=itemgetter(0)):
            members = [term for _, term in group]
            node, factors = members[0]
            if factors:
                inner = self._nested([(n, f[1:]) for n, f in members])
                node = self.applied(*factors[0], inner)
            result = node if result is None else self.applied("add", node, result)
        assert result is not None
        return result

    def applied(self, op: str, right: Node | None, left: Node) -> Node:
        """Return left op right, or op left where there is no right."""
        operands = (left,) if right is None else (left, right)
        return self.graph.node(op, operands, max(a.size for a in operands))

    # ------------------------------------------------------------------------------------------ the result
    def finished(self, output: Node) -> tuple[Node, FloatArray, FloatArray]:
        """Return the body as a function of variables, then constants; and the ends (rows, c) of the constants."""
        none = np.empty((len(self._one), 0))
        lo, hi = (np.concatenate([none, *(columns[end] for columns in self._columns)], axis=1) for end in range(2))
        inputs = self.reads + lo.shape[1]
        build = Build(inputs)
        new: dict[Node, Node] = {}
        for node in ancestors([output]):
            if node.op == "x":
                new[node] = build.take(build.x, indexmap.affine([(self.reads, 1)], 0, inputs))
            elif node.op == "gathered":
                at = indexmap.affine([(node.size, 1)], self.reads + integer_of(node), inputs)
                new[node] = build.take(build.x, at)
            else:
                new[node] = rebuilt(build, node, [new[a] for a in node.args])
        return new[output], lo, hi


def _same(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the first row, which all rows equal. Raise BodiesDiffer where they do not."""
    first: npt.NDArray[Any] = rows[0]
    if (rows == first).all():
        return first
    raise BodiesDiffer(np.unique(rows, axis=0, return_inverse=True)[1].ravel())


def _along(rows: FloatArray) -> bool:
    return bool((rows == rows[:, :1]).all())


def _members(groups: IndexArray, width: int) -> IndexArray:
    return (groups[:, :, None] * width + np.arange(width)).reshape(len(groups), -1)


def _pieces(node: Node, at: IndexArray) -> list[tuple[Node, int, npt.NDArray[np.bool_]]]:
    """Return the pieces that the elements lie in, with where each begins and which elements those are."""
    ends = np.cumsum([piece.size for piece in node.args])
    lies = _same(np.searchsorted(ends, at, side="right"))
    present = np.unique(lies).tolist()
    return [(node.args[p], int(ends[p]) - node.args[p].size, lies == p) for p in present]

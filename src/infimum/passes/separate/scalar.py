"""One element of an array expression as a scalar expression of what it gathers: variables, constants, and extras.

An extra is an element of something that is computed over all of x (a reduction, the others of a group, a recurrence).
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import STRUCTURAL, Node, is_fact
from infimum.graph.payload import map_of, value_of
from infimum.ops import OPERATIONS
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Tree = tuple[Any, ...]

_MOST_READS = 2**16  # variables of one element: beyond, nothing is gained by staging


class Unstageable(Exception):
    """The expression has no form that staging knows."""


class Mixed(Exception):
    """The elements asked for are not all of one form: those marked differ from the others."""

    def __init__(self, marked: BoolArray) -> None:
        super().__init__()
        self.marked = marked


class Wanted(NamedTuple):
    """Elements of a node, and by what they are known."""

    node: Node
    at: IndexArray
    key: tuple[Node, bytes]


class Scalar:
    """`count` elements of array expressions as one scalar expression with gathered inputs."""

    def __init__(self, count: int, with_extras: bool = False, most_reads: int = _MOST_READS) -> None:
        self.count = count
        self.most_reads = most_reads
        self.with_extras = with_extras
        self.reads: dict[bytes, int] = {}
        self.columns: list[IndexArray] = []
        self.constants: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self.extras: list[tuple[Node, IndexArray]] = []
        self._made: dict[tuple[Node, bytes], Tree] = {}

    def gathered(self) -> tuple[IndexArray, tuple[FloatArray, FloatArray, FloatArray]]:
        """Return the variables and the constants that the elements read, as rows."""
        reads = np.stack(self.columns, 1) if self.columns else np.empty((self.count, 0), np.int64)
        lo, hi, points = (
            np.stack([c[i] for c in self.constants], 1) if self.constants else np.empty((self.count, 0))
            for i in range(3)
        )
        return reads, (lo, hi, points)

    def program(self, tree: Tree) -> Program:
        """Return one element as a function of what it gathers: variables, constants, extras."""
        starts = {"read": 0, "gathered": len(self.columns), "extra": len(self.columns) + len(self.constants)}
        inputs = starts["extra"] + len(self.extras)
        build = Build(max(1, inputs))
        output = _built(tree, build, starts)
        return lower([build.full(output, 1)], max(1, inputs))

    def tree(self, node: Node, at: IndexArray) -> Tree:
        """Return the elements `at` of a node as one scalar expression. Raise Mixed where their forms differ.

        Deep expressions are walked without recursion, operands from left to right.
        """
        first = self._wanted(node, at)
        pending: list[tuple[Wanted, list[Wanted]]] = [(first, [])] if first.key not in self._made else []
        while pending:
            wanted, below = pending.pop()
            if wanted.key in self._made:
                continue
            if not below:
                below = self._below(wanted)
                missing = [other for other in below if other.key not in self._made]
                if missing:
                    pending.append((wanted, below))
                    pending += [(other, []) for other in reversed(missing)]
                    continue
            self._made[wanted.key] = self._new(wanted, [self._made[other.key] for other in below])
        return self._made[first.key]

    def _wanted(self, node: Node, at: IndexArray) -> Wanted:
        if node.size == 1:
            at = np.zeros_like(at)
        return Wanted(node, at, (node, _key(at)))

    def _below(self, wanted: Wanted) -> list[Wanted]:
        """Return what the elements of a node are made of, nothing for a leaf."""
        # | node                           | its elements are made of                               |
        # | x, constant                    | nothing                                                |
        # | take                           | its operand where the map leads; nothing, where none   |
        # | concat                         | the piece that the elements lie in                     |
        # | reduction, others, recurrence  | nothing: an extra, where they are wanted               |
        # | elementwise                    | the operands' elements                                 |
        node, at, _ = wanted
        if node.op == "take":
            inner = map_of(node).indices()[at]
            none = inner < 0
            if none.any() and not none.all():
                raise Mixed(none)
            return [] if none.any() else [self._wanted(node.args[0], inner)]
        if node.op == "concat":
            return [self._piece(node, at)]
        if node.op in ("x", "constant") or (node.op in STRUCTURAL and self.with_extras):
            return []
        if node.op not in OPERATIONS:
            raise Unstageable
        return [self._wanted(a, at) for a in node.args]

    def _new(self, wanted: Wanted, below: list[Tree]) -> Tree:
        # | node                           | becomes                                                |
        # | x                              | a read                                                 |
        # | constant                       | itself, or a gathered one where elements differ        |
        # | take, concat                   | what it reads; 0 where that is nothing                 |
        # | reduction, others, recurrence  | an extra                                               |
        # | elementwise                    | the operation on the operands' elements                |
        node, at, (_, key) = wanted
        if node.op == "x":
            slot = self.reads.setdefault(key, len(self.columns))
            if slot == len(self.columns):
                self.columns.append(at)
                if slot >= self.most_reads:
                    raise Unstageable
            return ("read", slot)
        if node.op == "constant":
            if node.size == 1:
                return ("constant", node)
            lo, hi = value_of(node).enclosure()
            self.constants.append((lo[at], hi[at], value_of(node).points()[at]))
            return ("gathered", len(self.constants) - 1)
        if node.op in ("take", "concat"):
            return below[0] if below else ("zero",)
        if node.op in STRUCTURAL:
            self.extras.append((node, at))
            return ("extra", len(self.extras) - 1)
        if node.op not in OPERATIONS and not (self.with_extras and is_fact(node.op)):
            raise Unstageable
        return ("apply", node.op, node.data, *below)

    def _piece(self, node: Node, at: IndexArray) -> Wanted:
        start = 0
        for piece in node.args:
            inside = (at >= start) & (at < start + piece.size)
            if inside.all():
                return self._wanted(piece, at - start)
            if inside.any():
                raise Mixed(inside)
            start += piece.size
        raise Unstageable


def _built(tree: Tree, build: Build, starts: dict[str, int]) -> Node:
    """Return the expression as nodes; deep ones are walked without recursion."""
    done: dict[int, Node] = {}
    pending = [tree]
    while pending:
        current = pending[-1]
        below = [] if id(current) in done or current[0] != "apply" else [t for t in current[3:] if id(t) not in done]
        if below:
            pending += reversed(below)
            continue
        pending.pop()
        if id(current) not in done:
            done[id(current)] = _node(current, build, starts, done)
    return done[id(tree)]


def _node(tree: Tree, build: Build, starts: dict[str, int], done: dict[int, Node]) -> Node:
    kind = tree[0]
    if kind in starts:
        return build.take(build.x, indexmap.of_indices([starts[kind] + tree[1]], build.x.size))
    if kind == "constant":
        return build.constant(value_of(tree[1]))
    if kind == "zero":
        return build.number(0)
    return build.apply(tree[1], *(done[id(t)] for t in tree[3:]), data=tree[2])


def _key(at: IndexArray) -> bytes:
    return at.tobytes() if at.size <= 64 else hashlib.sha256(at.tobytes()).digest()

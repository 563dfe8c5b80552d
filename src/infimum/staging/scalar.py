"""One element of an array expression as a scalar expression of what it gathers: variables, constants, and extras.

An extra is an element of something that is computed over all of x (a reduction, the others of a group, a recurrence).
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.graph import indexmap
from infimum.graph.node import STRUCTURAL, Node, is_fact
from infimum.graph.ops import OPERATIONS
from infimum.graph.payload import map_of, value_of
from infimum.passes.build import Build
from infimum.passes.lower import lower
from infimum.passes.program import Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Tree = tuple[Any, ...]

_PLAIN = frozenset({"x", "constant", "take", "concat"})


class Unstageable(Exception):
    """The expression has no form that staging knows."""


class Mixed(Exception):
    """The elements asked for are not all of one form: those marked differ from the others."""

    def __init__(self, marked: BoolArray) -> None:
        super().__init__()
        self.marked = marked


class Scalar:
    """`count` elements of array expressions as one scalar expression with gathered inputs."""

    def __init__(self, count: int, with_extras: bool = False) -> None:
        self.count = count
        self.with_extras = with_extras
        self.reads: dict[bytes, int] = {}
        self.columns: list[IndexArray] = []
        self.constants: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self.extras: list[tuple[Node, IndexArray]] = []
        self._made: dict[tuple[Node, bytes], Tree] = {}

    def gathered(self) -> tuple[IndexArray, tuple[FloatArray, FloatArray, FloatArray]]:
        """The variables and the constants that the elements read, as rows."""
        reads = np.stack(self.columns, 1) if self.columns else np.empty((self.count, 0), np.int64)
        lo, hi, points = (
            np.stack([c[i] for c in self.constants], 1) if self.constants else np.empty((self.count, 0))
            for i in range(3)
        )
        return reads, (lo, hi, points)

    def program(self, tree: Tree) -> Program:
        """One element as a function of what it gathers: variables, constants, extras."""
        starts = {"read": 0, "gathered": len(self.columns), "extra": len(self.columns) + len(self.constants)}
        inputs = starts["extra"] + len(self.extras)
        build = Build(max(1, inputs))
        output = _built(tree, build, starts, {})
        return lower([build.full(output, 1)], max(1, inputs))

    def tree(self, node: Node, at: IndexArray) -> Tree:
        """The elements `at` of a node as one scalar expression, hashable. Raises Mixed where their forms differ."""
        if node.size == 1:
            at = np.zeros_like(at)
        key = (node, _key(at))
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._new(node, at, key[1])
        return found

    def _new(self, node: Node, at: IndexArray, key: bytes) -> Tree:
        # | node                           | becomes                                                |
        # | x                              | a read                                                 |
        # | constant                       | itself, or a gathered one where elements differ        |
        # | take                           | its operand where the map leads; 0 where that is none  |
        # | concat                         | the piece that the elements lie in                     |
        # | reduction, others, recurrence  | an extra, where they are wanted                        |
        # | elementwise                    | the operation on the operands' elements                |
        if node.op == "x":
            slot = self.reads.setdefault(key, len(self.columns))
            if slot == len(self.columns):
                self.columns.append(at)
            return ("read", slot)
        if node.op == "constant":
            if node.size == 1:
                return ("constant", node)
            lo, hi = value_of(node).enclosure()
            self.constants.append((lo[at], hi[at], value_of(node).points()[at]))
            return ("gathered", len(self.constants) - 1)
        if node.op == "take":
            inner = map_of(node).indices()[at]
            none = inner < 0
            if none.all():
                return ("zero",)
            if none.any():
                raise Mixed(none)
            return self.tree(node.args[0], inner)
        if node.op == "concat":
            return self._piece(node, at)
        if node.op in STRUCTURAL - _PLAIN and self.with_extras:
            self.extras.append((node, at))
            return ("extra", len(self.extras) - 1)
        if node.op not in OPERATIONS and not (self.with_extras and is_fact(node.op)):
            raise Unstageable
        return ("apply", node.op, node.data, *(self.tree(a, at) for a in node.args))

    def _piece(self, node: Node, at: IndexArray) -> Tree:
        start = 0
        for piece in node.args:
            inside = (at >= start) & (at < start + piece.size)
            if inside.all():
                return self.tree(piece, at - start)
            if inside.any():
                raise Mixed(inside)
            start += piece.size
        raise Unstageable


def _built(tree: Tree, build: Build, starts: dict[str, int], done: dict[int, Node]) -> Node:
    found = done.get(id(tree))
    if found is not None:
        return found
    kind = tree[0]
    if kind in starts:
        made = build.take(build.x, indexmap.of_indices([starts[kind] + tree[1]], build.x.size))
    elif kind == "constant":
        made = build.constant(value_of(tree[1]))
    elif kind == "zero":
        made = build.number(0)
    else:
        made = build.apply(tree[1], *(_built(t, build, starts, done) for t in tree[3:]), data=tree[2])
    done[id(tree)] = made
    return made


def _key(at: IndexArray) -> bytes:
    return at.tobytes() if at.size <= 64 else hashlib.sha256(at.tobytes()).digest()

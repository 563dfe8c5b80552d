"""What a function is made of, for staging: families of terms under a reduction, and a scalar epilogue over them.

    f(x) = epilogue(z_1, …, z_q),   z_j = reduction of terms t_ji,   t_ji = body_j(some elements of x, some constants)

A scalar that reads x directly is a family of one term. Everything comes from index maps: no function's name is known. A
function of another form (a vector that depends on a reduction, cumulative sums) has no such structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.backends.reference import reduced
from infimum.graph import indexmap
from infimum.graph.constant import Constant
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.ops import OPERATIONS
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.passes.build import Build
from infimum.passes.lower import lower
from infimum.passes.program import Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Pair = tuple[FloatArray, FloatArray]
Tree = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Family:
    """Terms of one body under one reduction."""

    op: str  # add, mul, min or max; "add" for a single term
    count: int
    reads: IndexArray  # (count, r): the variables that each term reads
    lo: FloatArray  # (count, c): the constants that each term reads
    hi: FloatArray
    points: FloatArray
    program: Program  # of r + c inputs
    whole: Program | None  # the reduction of `count` inputs on the fixed tree; None for min and max

    def enclose(self, terms: IndexArray, lo: FloatArray, hi: FloatArray) -> Pair:
        """Contain the given terms, whose read variables lie in the rows of lo and hi."""
        low = np.concatenate([lo, self.lo[terms]], 1)
        high = np.concatenate([hi, self.hi[terms]], 1)
        ((a, b),) = cpu.run(self.program, low, high, threads=1)
        return a[:, 0], b[:, 0]

    def reduce(self, lo: FloatArray, hi: FloatArray) -> Pair:
        """The reduction of all terms on the fixed tree, ends of shape (1,)."""
        if self.whole is None:
            low, high = reduced(self.op, (lo[None], hi[None]))
            return low.ravel(), high.ravel()
        ((low, high),) = cpu.run(self.whole, lo[None], hi[None], threads=1)
        return low.ravel(), high.ravel()

    def values(self, terms: IndexArray, x: FloatArray) -> FloatArray:
        """The given terms in plain doubles at the rows of x."""
        ((value, _),) = cpu.run(self.program, np.concatenate([x, self.points[terms]], 1), None, "point", threads=1)
        return value[:, 0]


@dataclass(frozen=True, eq=False)
class Structure:
    """A function as families and an epilogue over their values."""

    n: int
    families: tuple[Family, ...]
    epilogue: Program


def structure(value: Node, n: int) -> Structure | None:
    """The structure of a simplified function, or None if it has no such form."""
    reads: set[Node] = set()  # depends on x
    reduced: set[Node] = set()  # depends on a reduction over x
    for node in ancestors([value]):
        if node.op == "x" or any(a in reads for a in node.args):
            reads.add(node)
        if any(a in reduced for a in node.args) or (node.op in REDUCTIONS and node in reads):
            reduced.add(node)
            if node.size > 1 or node.op in ("others", "recurrence"):
                return None
    roots: list[Node] = []
    epilogue = Build(0)
    known: dict[Node, Node] = {}
    try:
        result = _epilogue(value, reads, reduced, roots, epilogue, known)
        families = tuple(_family(root, n) for root in roots)
    except Unstageable:
        return None
    if not roots:
        return None
    inputs = Build(len(roots))
    final = _renamed(result, inputs, {})
    return Structure(n, families, lower([final], len(roots)))


class Unstageable(Exception):
    """The expression has no form that staging knows."""


def _epilogue(
    value: Node, reads: set[Node], reduced: set[Node], roots: list[Node], build: Build, known: dict[Node, Node]
) -> Node:
    """The scalar part above the families, with placeholders `input` for them, appended to roots."""
    for node in ancestors([value]):
        if node.size != 1:
            continue
        family = node.op in REDUCTIONS and node in reduced and not any(a in reduced for a in node.args)
        if node in reduced and not family:
            if node.op not in OPERATIONS:
                raise Unstageable
            for argument in node.args:
                _place(argument, reads, roots, build, known)
            known[node] = build.graph.node(node.op, [known[a] for a in node.args], 1, node.data)
    _place(value, reads, roots, build, known)
    return known[value]


def _place(node: Node, reads: set[Node], roots: list[Node], build: Build, known: dict[Node, Node]) -> None:
    """A constant stays; a family, or a scalar that reads x directly, becomes an input."""
    if node in known:
        return
    if node.size != 1:
        raise Unstageable
    if node not in reads:
        known[node] = build.graph.node("constant", (), 1, _constant_value(node))
        return
    roots.append(node)
    known[node] = build.graph.node("input", (), 1, len(roots) - 1)


def _constant_value(node: Node) -> Constant:
    if node.op != "constant":
        raise Unstageable
    return value_of(node)


def _renamed(node: Node, build: Build, done: dict[Node, Node]) -> Node:
    for below in ancestors([node]):
        if below.op == "input":
            done[below] = build.take(build.x, indexmap.of_indices([integer_of(below)], build.x.size))
        elif below.op == "constant":
            done[below] = build.constant(value_of(below))
        else:
            done[below] = build.graph.node(below.op, [done[a] for a in below.args], 1, below.data)
    return done[node]


def _family(root: Node, n: int) -> Family:
    """The terms under a root as one scalar body with gathered inputs."""
    if root.op in REDUCTIONS:
        body, op, count = root.args[0], REDUCTIONS[root.op], integer_of(root)
    else:
        body, op, count = root, "add", 1
    return Scalar(count).family(body, op, n)


def _whole(op: str, count: int) -> Program | None:
    if op not in ("add", "mul") or count == 1:
        return None
    build = Build(count)
    return lower([build.graph.node("sum" if op == "add" else "prod", (build.x,), 1, count)], count)


class Scalar:
    """One element of an array expression as a scalar expression of gathered elements."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.reads: dict[bytes, int] = {}
        self.columns: list[IndexArray] = []
        self.constants: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self.made: dict[tuple[Node, bytes], Tree] = {}

    def family(self, body: Node, op: str, n: int) -> Family:
        tree = self.tree(body, np.arange(self.count) if body.size > 1 else np.zeros(self.count, np.int64))
        reads, pools = self.gathered()
        return Family(op, self.count, reads, *pools, self.program(tree), _whole(op, self.count))

    def gathered(self) -> tuple[IndexArray, tuple[FloatArray, FloatArray, FloatArray]]:
        """The variables and the constants that the terms read."""
        reads = np.stack(self.columns, 1) if self.columns else np.empty((self.count, 0), np.int64)
        lo, hi, points = (
            np.stack([c[i] for c in self.constants], 1) if self.constants else np.empty((self.count, 0))
            for i in range(3)
        )
        return reads, (lo, hi, points)

    def program(self, tree: Tree) -> Program:
        """One term as a function of what it reads, variables first."""
        r = len(self.columns)
        build = Build(r + len(self.constants))
        output = self._build(tree, build, r, {})
        return lower([build.full(output, 1)], r + len(self.constants))

    def tree(self, node: Node, at: IndexArray) -> Tree:
        """The elements `at` of a node as one scalar expression, hashable."""
        key = (node, at.tobytes())
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = self._made(node, at)
        return found

    def _made(self, node: Node, at: IndexArray) -> Tree:
        if node.size == 1 and at.any():
            at = np.zeros_like(at)
        if node.op == "x":
            slot = self.reads.setdefault(at.tobytes(), len(self.columns))
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
            if (inner < 0).all():
                return ("zero",)
            if (inner < 0).any():
                raise Unstageable
            return self.tree(node.args[0], inner)
        if node.op not in OPERATIONS:
            raise Unstageable
        return (
            "apply",
            node.op,
            node.data,
            *(self.tree(a, at if a.size > 1 else np.zeros_like(at)) for a in node.args),
        )

    def _build(self, tree: Tree, build: Build, r: int, done: dict[int, Node]) -> Node:
        found = done.get(id(tree))
        if found is not None:
            return found
        kind = tree[0]
        if kind in ("read", "gathered"):
            position = tree[1] + (r if kind == "gathered" else 0)
            made = build.take(build.x, indexmap.of_indices([position], build.x.size))
        elif kind == "constant":
            made = build.constant(value_of(tree[1]))
        elif kind == "zero":
            made = build.number(0)
        else:
            made = build.apply(tree[1], *(self._build(t, build, r, done) for t in tree[3:]), data=tree[2])
        done[id(tree)] = made
        return made

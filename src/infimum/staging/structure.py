"""What a function is made of, for staging: families of terms under a reduction, and a scalar epilogue over them.

    f(x) = epilogue(z_1, …, z_q),   z_j = reduction of terms t_ji,   t_ji = body_j(some elements of x, some constants)

A scalar that reads x directly is a family of one term. Everything comes from index maps: no function's name is known. A
function of another form (a vector that depends on a reduction, cumulative sums) has no such structure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.payload import integer_of, value_of
from infimum.ops import OPERATIONS
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.separate.scalar import Mixed, Scalar, Unstageable

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


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

    def terms(self) -> core.Terms:
        """Return the same in the form that the core takes."""
        return core.Terms(self.op, self.reads, self.lo, self.hi, self.points, self.program.tape)


@dataclass(frozen=True, eq=False)
class Structure:
    """A function as families and an epilogue over their values."""

    n: int
    families: tuple[Family, ...]
    epilogue: Program


def structure(value: Node, n: int) -> Structure | None:
    """Return the structure of a simplified function, or None if it has no such form."""
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
        families = tuple(_family(root) for root in roots)
    except Unstageable:
        return None
    if not roots:
        return None
    inputs = Build(len(roots))
    final = _renamed(result, inputs, {})
    return Structure(n, families, lower([final], len(roots)))


def _epilogue(
    value: Node, reads: set[Node], reduced: set[Node], roots: list[Node], build: Build, known: dict[Node, Node]
) -> Node:
    """Return the scalar part above the families, with placeholders `input` for them, appended to roots."""
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
    """Keep a constant; make a family, or a scalar that reads x directly, an input."""
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


def _family(root: Node) -> Family:
    """Return the terms under a root as one scalar body with gathered inputs."""
    if root.op in REDUCTIONS:
        body, op, count = root.args[0], REDUCTIONS[root.op], integer_of(root)
    else:
        body, op, count = root, "add", 1
    scalar = Scalar(count)
    try:
        tree = scalar.tree(body, np.arange(count) if body.size > 1 else np.zeros(count, np.int64))
    except Mixed:
        raise Unstageable from None
    reads, (lo, hi, points) = scalar.gathered()
    return Family(op, count, reads, lo, hi, points, scalar.program(tree))

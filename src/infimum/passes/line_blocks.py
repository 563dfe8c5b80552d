"""Blocks of an expression for lines through its graph: what is a function of one other node, element by element.

An elementwise node whose operands are constants and functions of one and the same node u, its *base*, is phi(u): a
block is bounded by one line in u, which loses less than a line for each of its operations. Sums, multiples and the like
are lines themselves.

    node                                            its base
    x, structural ones, mul and others of several   none: it is one for those that read it
    elementwise, of a size with what it reads       that of its operands, or its only operand
"""

from __future__ import annotations

from dataclasses import dataclass

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.ops import OPERATIONS
from infimum.passes.facts import smooth_elements
from infimum.passes.hessian.tangent import Tangents
from infimum.passes.hessian.twice import has_second
from infimum.passes.simplify import rebuilt

LINEAR = frozenset({"neg", "add", "sub", "take", "concat", "sum"})


@dataclass(frozen=True, eq=False)
class Block:
    """phi(u) for the elements u of the base, with phi', phi'' and where phi is smooth: all arrays of as many inputs."""

    base: Node
    build: Build
    outputs: list[Node]
    has_second: bool


def reciprocal(node: Node, size: int) -> Block:
    """Return 1/v as a block for an array of this size, v an element of the node or the node's only one."""
    build = Build(size)
    inputs = build.take(build.x, indexmap.affine([(size, 1)], 0, size))
    return _block(node, build, build.apply("div", build.number(1), inputs))


def _block(base: Node, build: Build, value: Node) -> Block:
    size = build.x.size
    along = build.number(1)
    value = build.full(value, size)
    slope = build.full(Tangents(build, along).of(value) or build.number(0), size)
    curve = build.full(Tangents(build, along).of(slope) or build.number(0), size)
    return Block(base, build, [value, slope, curve, smooth_elements(build, value)], has_second(value))


class Blocks:
    """The bases of the nodes under an output."""

    def __init__(self, output: Node) -> None:
        self.nodes = ancestors([output])
        self.base: dict[Node, Node] = {}
        self._curved: set[Node] = set()
        for node in self.nodes:
            self._read(node)

    def _read(self, node: Node) -> None:
        varies = [a for a in node.args if a.op != "constant"]
        if node.op not in OPERATIONS or not varies:
            return
        bases = {self.base.get(a, a) for a in varies}
        if len(bases) > 1 or any(base.size != node.size for base in bases):
            return
        self.base[node] = bases.pop()
        if not self.is_linear(node) or any(a in self._curved for a in varies):
            self._curved.add(node)

    def is_linear(self, node: Node) -> bool:
        """Return whether a node is linear in its operands that are no constants."""
        if node.op == "mul":
            return any(a.op == "constant" for a in node.args)
        return node.op in LINEAR or (node.op == "div" and node.args[1].op == "constant")

    def block(self, node: Node) -> Block | None:
        """Return a node as a block, None where it is none, or but a line."""
        if node not in self._curved:
            return None
        base = self.base[node]
        build = Build(base.size)
        inputs = build.take(build.x, indexmap.affine([(base.size, 1)], 0, base.size))
        new = {base: inputs}
        for inner in self.nodes:
            if inner.op == "constant":
                new[inner] = rebuilt(build, inner, [])
            elif inner in self.base and self.base[inner] is base:
                new[inner] = rebuilt(build, inner, [new[a] for a in inner.args])
            if inner is node:
                break
        return _block(base, build, new[node])

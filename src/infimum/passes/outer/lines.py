"""What dual lines need of an outer form, as expressions of x and of the lines' places y.

    f = H(S),  S = sum r_j(x)^2 + g(x)  >=  Phi(x, y) = sum y_j (2 r_j(x) - y_j) + g(x)   for every y: (r - y)^2 >= 0

Phi is one expression of (x, y): its gradient by x adds up what the r_j have in common, and its terms cancel.
"""

from __future__ import annotations

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.passes.derive import gradient
from infimum.passes.outer.split import Outer
from infimum.passes.simplify import rebuilt


class Lines:
    """The expressions of an outer form of n variables: inputs x, then y (m numbers)."""

    def __init__(self, outer: Outer, n: int) -> None:
        self.n, self.m = n, outer.m
        self.build = Build(n + outer.m)
        self.inner, self.rest = moved(self.build, [outer.inner, outer.rest], n)
        self.y = line(self.build, n, self.m)

    def bound(self) -> Node:
        """Return Phi."""
        b = self.build
        twice = b.apply("mul", b.number(2), self.inner)
        each = b.full(b.apply("mul", self.y, b.apply("sub", twice, self.y)), self.m)
        return b.apply("add", b.reduce("sum", each, self.m), self.rest)

    def jacobian(self) -> list[Node]:
        """Return for each variable the m partial derivatives of the r_j by it."""
        b = self.build
        each = b.full(b.apply("mul", self.y, self.inner), self.m)
        slopes = gradient(b, b.reduce("sum", each, self.m))
        rows = [gradient(b, b.take(slopes, indexmap.affine([], i, slopes.size))) for i in range(self.n)]
        return [b.take(row, indexmap.affine([(self.m, 1)], self.n, row.size)) for row in rows]


def moved(build: Build, nodes: list[Node], n: int) -> list[Node]:
    """Return expressions of n variables again, as expressions of the first n inputs of another graph."""
    new: dict[Node, Node] = {}
    for node in ancestors(nodes):
        if node.op == "x":
            new[node] = line(build, 0, n)
        else:
            new[node] = rebuilt(build, node, [new[a] for a in node.args])
    return [build.full(new[node], node.size) for node in nodes]


def line(build: Build, start: int, size: int) -> Node:
    """Return some of the inputs."""
    return build.take(build.x, indexmap.affine([(size, 1)], start, build.x.size))

"""What dual lines need of an outer form, as expressions of x, of a centre c and of the lines' places y.

    f = H(S),  S = sum r_j(x)^2 + g(x)  >=  Phi(x, y) = sum y_j (2 r_j(x) - y_j) + g(x)   for every y: (r - y)^2 >= 0

Phi is one expression: its gradient by x adds up what the r_j have in common, and their terms cancel. On a box X, c in X:

    Phi(x) in Phi(X)                                                       always
    Phi(x) in Phi(c) + sum Phi'_i(X) (x_i - c_i)                           Phi once differentiable around X
    Phi(x) in Phi(c) + sum Phi'_i(c) (x_i - c_i) + 1/2 d' Phi''(X) d       its gradient likewise; d = x - c
"""

from __future__ import annotations

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.passes.derive import gradient
from infimum.passes.facts import facts
from infimum.passes.outer.split import Outer
from infimum.passes.simplify import rebuilt


class Lines:
    """The expressions of an outer form of n variables: inputs x, c (n each), then y (m numbers)."""

    def __init__(self, outer: Outer, n: int) -> None:
        self.outer = outer
        self.n, self.m = n, outer.m
        self.inputs = 2 * n + outer.m
        self.build = Build(self.inputs)
        self.y = line(self.build, 2 * n, self.m)
        self.on_box = self._bound(0)
        self.at_centre = self._bound(n)
        self.slopes_on_box = self._by(self.on_box, 0, n)
        self.slopes_at_centre = self._by(self.at_centre, n, n)

    def _bound(self, start: int) -> Node:
        return _bound(self.build, self.outer, self.n, start, self.y)

    def first_order(self) -> list[Node]:
        """Return Phi on X and at c, and its slopes on X and at c."""
        return [self.on_box, self.at_centre, self.slopes_on_box, self.slopes_at_centre]

    def _by(self, node: Node, start: int, size: int) -> Node:
        """Return the partial derivatives of a scalar by some of the inputs."""
        found = gradient(self.build, node)
        return self.build.take(found, indexmap.affine([(size, 1)], start, found.size))

    def second_order(self) -> Node:
        """Return 1/2 d' Phi''(X) d, d = X - c, by one half of the symmetric matrix."""
        b, n = self.build, self.n
        d = b.apply("sub", line(b, 0, n), line(b, n, n))
        parts: list[Node] = []
        for i in range(n):
            own = b.take(self.slopes_on_box, indexmap.affine([], i, n))
            row = self._by(own, i, n - i)
            here = b.take(d, indexmap.affine([], i, n))
            parts.append(b.apply("mul", b.apply("mul", b.number(0.5), b.take(row, first(row))), b.apply("sqr", here)))
            if i + 1 < n:
                beyond = b.take(row, indexmap.affine([(n - i - 1, 1)], 1, n - i))
                others = b.take(d, indexmap.affine([(n - i - 1, 1)], i + 1, n))
                parts.append(b.apply("mul", here, b.reduce("sum", b.apply("mul", beyond, others), n - i - 1)))
        total = parts[0]
        for part in parts[1:]:
            total = b.apply("add", total, part)
        return total

    def facts(self) -> list[Node]:
        """Return whether Phi is defined on the box, is smooth around it, and its gradient is."""
        defined, smooth = facts(self.build, self.on_box)
        total = self.build.reduce("sum", self.build.full(self.slopes_on_box, self.n), self.n)
        return [defined, smooth, facts(self.build, total)[1]]

    def jacobian(self) -> list[Node]:
        """Return for each variable the m partial derivatives of the r_j by it."""
        b = self.build
        (inner,) = moved(b, [self.outer.inner], self.n, 0)
        each = b.full(b.apply("mul", self.y, inner), self.m)
        slopes = self._by(b.reduce("sum", each, self.m), 0, self.n)
        rows = [self._by(b.take(slopes, indexmap.affine([], i, self.n)), 2 * self.n, self.m) for i in range(self.n)]
        return [b.full(row, self.m) for row in rows]


def bound_of(outer: Outer, n: int) -> Node:
    """Return Phi as an expression of x and y alone."""
    build = Build(n + outer.m)
    return _bound(build, outer, n, 0, line(build, n, outer.m))


def _bound(b: Build, outer: Outer, n: int, start: int, y: Node) -> Node:
    """Return Phi of the n inputs from `start` on and of y."""
    inner, rest = moved(b, [outer.inner, outer.rest], n, start)
    each = b.apply("mul", y, b.apply("sub", b.apply("mul", b.number(2), inner), y))
    return b.apply("add", b.reduce("sum", b.full(each, outer.m), outer.m), rest)


def moved(build: Build, nodes: list[Node], n: int, start: int) -> list[Node]:
    """Return expressions of n variables again, as expressions of the n inputs from `start` on of another graph."""
    new: dict[Node, Node] = {}
    for node in ancestors(nodes):
        new[node] = line(build, start, n) if node.op == "x" else rebuilt(build, node, [new[a] for a in node.args])
    return [build.full(new[node], node.size) for node in nodes]


def line(build: Build, start: int, size: int) -> Node:
    """Return some of the inputs."""
    return build.take(build.x, indexmap.affine([(size, 1)], start, build.x.size))


def first(node: Node) -> indexmap.Affine:
    """Return the map to the first element."""
    return indexmap.affine([], 0, node.size)

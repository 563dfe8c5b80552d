"""What dual lines need of an outer form, as expressions of x, of a centre c and of the places y where lines touch.

    f = H(S),  S = sum r_j(x)^2 + g(x)  >=  Phi(x, y) = sum y_j (2 r_j(x) - y_j) + g(x)   for every y: (r - y)^2 >= 0

Phi is one expression: its gradient by x adds up what the r_j have in common, and their terms cancel. On a box X with
the point c in it, d = x - c:

    Phi(x) in Phi(X)                                                 always
    Phi(x) in Phi(c) + sum Phi'_i(X) d_i                             where Phi is smooth around X
    Phi(x) in (Phi(c) + 1/2 d' Phi''(X) d) + sum Phi'_i(c) d_i       likewise: what is smooth here is analytic

The last is Taylor's formula with Lagrange's remainder; the matrix is symmetric, and one half of it is read. Each is an
expression, so that every rounding is outward.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from infimum.concurrency import cached_property
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.passes.derive import gradient
from infimum.passes.facts import facts
from infimum.passes.hessian.tangent import Tangents, unit
from infimum.passes.hessian.twice import has_second
from infimum.passes.outer.composed import Composed
from infimum.passes.outer.split import Outer
from infimum.passes.simplify import rebuilt


class Lines:
    """The expressions of an outer form of n variables: inputs x, c (n each), then y (m numbers)."""

    _numbers = 1  # that say which line it is

    def __init__(self, outer: Outer | Composed, n: int) -> None:
        self.outer = outer
        self.n, self.m = n, outer.m
        self.inputs = 2 * n + self._numbers * outer.m
        self.build = Build(self.inputs)
        self.on_box = self._bound(0)
        self.slopes_on_box = self._by(self.on_box, 0, n)

    def first_order(self) -> list[Node]:
        """Return Phi on X and at c, and its slopes on X."""
        return [self.on_box, self._bound(self.n), self.slopes_on_box]

    def second_order(self) -> list[Node]:
        """Return Phi(c) + 1/2 d' Phi''(X) d, and the slopes at c."""
        at_centre = self._bound(self.n)
        value = self.build.apply("add", at_centre, self._curvature())
        return [value, self._by(at_centre, self.n, self.n)]

    def facts(self) -> list[Node]:
        """Return whether Phi is defined on X, and smooth around X: twice then, where `has_second` holds."""
        return list(facts(self.build, self.on_box))

    @property
    def has_second(self) -> bool:
        """Return whether the form of second order holds where Phi is smooth (passes/hessian/twice)."""
        return has_second(self.on_box)

    def _bound(self, start: int) -> Node:
        """Return Phi of the n inputs from `start` on."""
        b = self.build
        inner, rest = moved(b, [self.outer.inner, self.outer.rest], self.n, start)
        each = b.full(self._each(inner), self.m)
        return b.apply("add", b.reduce("sum", each, self.m), rest)

    def _each(self, inner: Node) -> Node:
        """Return the lines, one for each of what they are of."""
        return tangents(self.build, inner, line(self.build, 2 * self.n, self.m))

    def _curvature(self) -> Node:
        """Return 1/2 d' Phi''(X) d."""
        # | terms        | as                                  |
        # | i = j        | H_ii d_i^2 / 2                      |
        # | i < j        | d_i (the sum of H_ij d_j over j)    |
        b, n = self.build, self.n
        d = b.apply("sub", line(b, 0, n), line(b, n, n))
        total = b.number(0)
        for i, row in enumerate(self._rows()):
            own = b.apply("mul", b.apply("mul", b.number(0.5), _element(b, row, 0)), b.apply("sqr", _element(b, d, i)))
            total = b.apply("add", total, own)
            if i + 1 < n:
                others = b.apply("mul", _from(b, row, 1), _from(b, d, i + 1))
                mixed = b.reduce("sum", b.full(others, n - i - 1), n - i - 1)
                total = b.apply("add", total, b.apply("mul", _element(b, d, i), mixed))
        return total

    def _rows(self) -> Iterator[Node]:
        """Yield the rows of Phi''(X), each from its diagonal on."""
        for i in range(self.n):
            along = Tangents(self.build, unit(self.build, np.array([i]), self.inputs))
            found = along.of(_from(self.build, self.slopes_on_box, i)) or self.build.number(0)
            yield self.build.full(found, self.n - i)

    def _by(self, node: Node, start: int, size: int) -> Node:
        """Return the partial derivatives of a scalar by some of the inputs."""
        found = gradient(self.build, node)
        return self.build.full(self.build.take(found, indexmap.affine([(size, 1)], start, found.size)), size)


class Slanted(Lines):
    """The expressions of sums of lines s_k u_k + a_k below anything: inputs x, c (n each), then s, a (m each)."""

    _numbers = 2

    def _each(self, inner: Node) -> Node:
        return slanted(self.build, inner, *(line(self.build, 2 * self.n + i * self.m, self.m) for i in range(2)))

    def second_order(self) -> list[Node]:
        """Return the slopes at c, and the upper triangle of Phi''(X), row by row."""
        return [self._by(self._bound(self.n), self.n, self.n), self.triangle]

    @cached_property
    def triangle(self) -> Node:
        """Return the upper triangle of Phi''(X), row by row."""
        return self.build.concat(list(self._rows()))


def slanted(b: Build, u: Node, s: Node, a: Node) -> Node:
    """Return the lines s u + a."""
    return b.apply("add", b.apply("mul", s, u), a)


def tangents(b: Build, r: Node, y: Node) -> Node:
    """Return the lines y (2 r - y) that touch the squares r^2 at y and are nowhere above them."""
    return b.apply("mul", y, b.apply("sub", b.apply("mul", b.number(2), r), y))


def jacobian(build: Build, inner: Node, n: int) -> list[Node]:
    """Return for each variable the partial derivatives of the elements by it."""
    seeds = (unit(build, np.array([i]), n) for i in range(n))
    return [build.full(Tangents(build, seed).of(inner) or build.number(0), inner.size) for seed in seeds]


def moved(build: Build, nodes: list[Node], n: int, start: int) -> list[Node]:
    """Return expressions of n variables again, as expressions of the n inputs from `start` on of another graph."""
    new: dict[Node, Node] = {}
    for node in ancestors(nodes):
        new[node] = line(build, start, n) if node.op == "x" else rebuilt(build, node, [new[a] for a in node.args])
    return [build.full(new[node], node.size) for node in nodes]


def line(build: Build, start: int, size: int) -> Node:
    """Return some of the inputs."""
    return build.take(build.x, indexmap.affine([(size, 1)], start, build.x.size))


def _element(build: Build, node: Node, i: int) -> Node:
    return build.take(node, indexmap.affine([], i, node.size))


def _from(build: Build, node: Node, start: int) -> Node:
    return build.take(node, indexmap.affine([(node.size - start, 1)], start, node.size))

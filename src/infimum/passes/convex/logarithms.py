"""Logarithms of expressions: where log u is convex or concave, though u alone would not say so.

    node                    log is convex where                    log is concave where
    a positive number       always                                 always
    exp u                   u is convex                            u is concave
    u v, prod               log u and log v are                    log u and log v are
    1/u, u/v                log u is concave, log v likewise       log u is convex, log v likewise
    u^k, sqrt u, u^p        log u is (k > 0), is concave (k < 0)   likewise
    u + v, sum, max_of      log u and log v are                    -
    min_of                  -                                      log u and log v are
    cosh u                  |u| is                                 -
    erfc u                  -                                      u is convex
    1 + erf u, 1 + tanh u   -                                      u is concave
    1 - erf u, 1 - tanh u   -                                      u is convex
    1 - 1/(1 + exp u)       -                                      u is concave (it is 1/(1 + exp(-u)))
    any other               -                                      it is positive and concave
erf and tanh: 1 + erf and 1 + tanh = 2/(1 + exp(-2u)) are distribution functions of log-concave densities.

Guarantee: where it is certain of a node on a box, the set D of the points of the box at which the node is defined is
convex, the node is positive on D, and its logarithm is convex (concave) on D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infimum.graph.node import Node
from infimum.graph.payload import integer_of, is_number, map_of
from infimum.passes.convex.shape import Shape
from infimum.passes.convex.truths import Truth

if TYPE_CHECKING:
    from infimum.passes.convex.convexity import Shapes

_DEEPEST = 24
_EXPONENTIALS = frozenset({"exp", "exp2", "exp10"})
_SIGMOIDS = frozenset({"erf", "tanh"})


class Logarithms:
    """Where the logarithms of nodes are convex, and where concave."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self._convex: dict[Node, Truth] = {}
        self._concave: dict[Node, Truth] = {}

    def met(self, node: Node, found: Shape) -> Shape:
        """Return the shape of a logarithm node, of which the curve of the logarithm has said this much."""
        t, u = self.shapes.truths, node.args[0]
        if node.op == "log1p":  # of 1 + u: if log u is convex, so is log(1 + u)
            concave = found.concave is True or t.either(found.concave, self._one_plus(u))
            return Shape(t.either(found.convex, self.is_convex(u)), concave)
        concave = found.concave is True or t.either(found.concave, self.is_concave(u))
        return Shape(t.either(found.convex, self.is_convex(u)), concave)

    def is_convex(self, node: Node, depth: int = 0) -> Truth:
        """Return whether a node is certainly positive with a convex logarithm."""
        if node not in self._convex:
            if depth > _DEEPEST:
                return False
            self._convex[node] = self._made(node, depth + 1, convex=True)
        return self._convex[node]

    def is_concave(self, node: Node, depth: int = 0) -> Truth:
        """Return whether a node is certainly positive with a concave logarithm."""
        if node not in self._concave:
            if depth > _DEEPEST:
                return False
            self._concave[node] = self._made(node, depth + 1, convex=False)
        return self._concave[node]

    def _made(self, node: Node, depth: int, *, convex: bool) -> Truth:
        s, t, args = self.shapes, self.shapes.truths, node.args
        same, other = (self.is_convex, self.is_concave) if convex else (self.is_concave, self.is_convex)
        if not s.varies(node):
            return t.positive(node)
        if node.op in _EXPONENTIALS:
            return s.of(args[0])[0 if convex else 1]
        match node.op:
            case "mul":
                return t.both(*(same(a, depth) for a in args))
            case "prod":
                return t.all_of(same(args[0], depth), args[0].size, integer_of(node))
            case "recip":
                return other(args[0], depth)
            case "div":
                return t.both(same(args[0], depth), other(args[1], depth))
            case "sqr" | "sqrt":
                return same(args[0], depth)
            case "pown":
                return (same if integer_of(node) > 0 else other)(args[0], depth)
            case "pow" if not s.varies(args[1]) and t.hull(args[1])[0] >= 0.0:
                return same(args[0], depth)
            case "pow" if not s.varies(args[1]) and t.hull(args[1])[1] <= 0.0:
                return other(args[0], depth)
            case "take":
                is_read = t.taken(same(args[0], depth), node)
                return t.both(is_read, t.positive(node)) if (map_of(node).indices() < 0).any() else is_read
            case "concat":
                return t.joined([same(a, depth) for a in args], [a.size for a in args])
        return self._convex_alone(node, depth) if convex else self._concave_alone(node, depth)

    def _convex_alone(self, node: Node, depth: int) -> Truth:
        s, t, args = self.shapes, self.shapes.truths, node.args
        match node.op:
            case "add" | "max":
                return t.both(*(self.is_convex(a, depth) for a in args))
            case "sum" | "max_of":
                return t.all_of(self.is_convex(args[0], depth), args[0].size, integer_of(node))
            case "cosh":
                return s.magnitude(args[0])
        return False

    def _concave_alone(self, node: Node, depth: int) -> Truth:
        s, t, args = self.shapes, self.shapes.truths, node.args
        found: Truth = False
        match node.op:
            case "min":
                found = t.both(*(self.is_concave(a, depth) for a in args))
            case "min_of":
                found = t.all_of(self.is_concave(args[0], depth), args[0].size, integer_of(node))
            case "erfc":
                found = s.of(args[0]).convex
            case "add" if is_number(args[0], 1.0):
                found = self._one_plus(args[1])
            case "add" if is_number(args[1], 1.0):
                found = self._one_plus(args[0])
            case "sub" if is_number(args[0], 1.0):
                found = self._one_minus(args[1])
        if found is True:
            return True
        return t.either(found, t.both(s.of(node).concave, t.positive(node)))

    def _one_plus(self, u: Node) -> Truth:
        """Return whether log(1 + u) is concave, for a distribution function's u."""
        if u.op in _SIGMOIDS:
            return self.shapes.of(u.args[0]).concave
        return self._one_minus(u.args[0]) if u.op == "neg" else False

    def _one_minus(self, u: Node) -> Truth:
        """Return whether log(1 - u) is concave, for a distribution function's u."""
        if u.op in _SIGMOIDS:
            return self.shapes.of(u.args[0]).convex
        if u.op == "div" and is_number(u.args[0], 1.0):
            divisor = u.args[1]
        elif u.op == "recip":
            divisor = u.args[0]
        else:
            return False
        for one, power in (divisor.args, divisor.args[::-1]) if divisor.op == "add" else ():
            if is_number(one, 1.0) and power.op in _EXPONENTIALS:
                return self.shapes.of(power.args[0]).concave
        return False

"""Sums of squares: expressions whose square root is convex, as a norm of convex magnitudes is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infimum.graph.node import Node
from infimum.graph.payload import integer_of
from infimum.ops.curves import power
from infimum.passes.convex.truths import Truth

if TYPE_CHECKING:
    from infimum.passes.convex.convexity import Shapes

_DEEPEST = 24


class Norms:
    """Which nodes are never negative and have a convex square root.

    node                     it is, where
    u^2, u^4, …; u^p         |u| is convex; u^(p/2) is, p >= 2
    c u, u/c                 u is, c > 0
    u + v, sums, max         u and v are: (sqrt u, sqrt v) has a convex length
    take, concat             what is read is
    a number                 it is not negative
    any other                its logarithm is convex
    """

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self._known: dict[Node, Truth] = {}

    def is_square(self, node: Node, depth: int = 0) -> Truth:
        """Return whether the square root of a node is certainly convex."""
        if node not in self._known:
            if depth > _DEEPEST:
                return False
            self._known[node] = self._made(node, depth + 1)
        return self._known[node]

    def _made(self, node: Node, depth: int) -> Truth:
        s, t, args = self.shapes, self.shapes.truths, node.args
        if not s.varies(node):
            return t.within(node, lo=0.0)
        match node.op:
            case "sqr":
                return s.magnitude(args[0])
            case "pown" if integer_of(node) > 0 and integer_of(node) % 2 == 0:
                return s.magnitude(args[0])
            case "pow" if not s.varies(args[1]) and t.hull(args[1])[0] >= 2.0:
                return s.through(power(1.0, 1.0), args[0]).convex
            case "add" | "max":
                return t.both(*(self.is_square(a, depth) for a in args))
            case "sum" | "max_of":
                return t.all_of(self.is_square(args[0], depth), args[0].size, integer_of(node))
            case "take":
                return t.taken(self.is_square(args[0], depth), node)
            case "concat":
                return t.joined([self.is_square(a, depth) for a in args], [a.size for a in args])
            case "mul" | "div":
                found = s.products.read(node)
                if found is not None and not found.below and len(found.above) == 1:
                    ((u, k),) = found.above.items()
                    inner = s.magnitude(u) if k % 2 == 0 else self.is_square(u, depth) if k == 1 else False
                    if inner is not False:
                        return t.both(found.nonnegative, inner)
        return s.logarithms.is_convex(node, depth)

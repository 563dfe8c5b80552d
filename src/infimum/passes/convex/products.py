"""Products and quotients: which are convex though their factors depend on x.

A product is read as (a coefficient without x) * u^k v^l … / (w^m …):

    factors              convex where
    u                    u is
    u^k, 1/u^k           the curve of the power fits (ops/curves.py)
    u^k / w^m, k > m     w is concave and not negative; |u| is convex (k even), u is convex and not negative (k odd)
    u^k / w^m, 2k > m    likewise, for a sum of squares u (norms.py)
    u log(c u), c > 0    u is affine; so u (log u + affine numbers)
    u log(c u/v)         u and v are affine, v not negative: the perspective of -log
    others               its logarithm is convex: 1/(u v) of positive concave u and v
and concave where minus that is convex; the coefficient turns the shape where it is negative, element by element.
For u^k/w^m: (u^(k/(m+1)))^(m+1) / w^m, where a^(m+1)/w^m is convex in (a, w) for a >= 0 and w > 0, rises with a, falls
with w, and a = |u|^(k/(m+1)) is convex as k >= m + 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from infimum.graph.node import Node
from infimum.graph.payload import integer_of
from infimum.ops.curves import integer_power
from infimum.passes.convex.shape import AFFINE, NEITHER, Shape, scaled, turned
from infimum.passes.convex.truths import Truth

if TYPE_CHECKING:
    from infimum.passes.convex.convexity import Shapes

_MOST = 12  # factors that are looked at
_LOGARITHMS = frozenset({"log", "log2", "log10"})


class Factors(NamedTuple):
    """A product: what depends on x above and below the line with its power, and the sign of all the rest."""

    above: dict[Node, int]
    below: dict[Node, int]
    nonnegative: Truth
    nonpositive: Truth


class Products:
    """The shapes of products."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self._read: dict[Node, Factors | None] = {}

    def shape(self, node: Node) -> Shape:
        """Return the shape of a product, a quotient or an integer power."""
        found = self.read(node)
        if found is None:
            return NEITHER
        shape = scaled(self.shapes.truths, self._of_factors(found), found.nonnegative, found.nonpositive)
        if shape.convex is not True and len(found.above) + len(found.below) > 1:
            convex = self.shapes.truths.either(shape.convex, self.shapes.logarithms.is_convex(node))
            return Shape(convex, shape.concave)
        return shape

    def read(self, node: Node) -> Factors | None:
        """Return the factors of a node; None where there are too many, or one stands on both sides of the line."""
        if node not in self._read:
            self._read[node] = self._factors(node)
        return self._read[node]

    def _factors(self, node: Node) -> Factors | None:
        s, t = self.shapes, self.shapes.truths
        sides: tuple[dict[Node, int], dict[Node, int]] = {}, {}
        plus: Truth = True
        minus: Truth = False
        pending = [(node, 1, 0)]
        count = 0
        while pending:
            u, power, side = pending.pop()
            count += 1
            if count > _MOST:
                return None
            if not s.varies(u):
                if power % 2:
                    above, below = t.within(u, lo=0.0), t.within(u, hi=0.0)
                    plus, minus = (
                        t.either(t.both(plus, above), t.both(minus, below)),
                        t.either(t.both(plus, below), t.both(minus, above)),
                    )
            elif u.op == "neg":
                plus, minus = (minus, plus) if power % 2 else (plus, minus)
                pending.append((u.args[0], power, side))
            elif u.op == "mul":
                pending += [(a, power, side) for a in u.args]
            elif u.op == "sqr":
                pending.append((u.args[0], 2 * power, side))
            elif u.op == "pown" and integer_of(u) > 0:
                pending.append((u.args[0], integer_of(u) * power, side))
            elif side == 0 and u.op in ("div", "recip", "pown"):
                # Below the line nothing is inverted again: 1/(1/u) is undefined where u is 0.
                pending += [(u.args[0], power, 0)] if u.op == "div" else []
                pending.append((u.args[-1], -integer_of(u) * power if u.op == "pown" else power, 1))
            else:
                sides[side][u] = sides[side].get(u, 0) + power
        return None if sides[0].keys() & sides[1].keys() else Factors(*sides, plus, minus)

    def _of_factors(self, found: Factors) -> Shape:
        s = self.shapes
        above, below = list(found.above.items()), list(found.below.items())
        match above, below:
            case [(u, k)], []:
                return s.of(u) if k == 1 else s.through(integer_power(k), u)
            case [], [(w, m)]:
                return s.through(integer_power(-m), w)
            case [(u, k)], [(w, m)]:
                return self._quotient(u, k, w, m)
            case [(u, 1), (v, 1)], []:
                return self._entropy(u, v) or self._entropy(v, u) or NEITHER
        return NEITHER

    def _quotient(self, u: Node, k: int, w: Node, m: int) -> Shape:
        s, t = self.shapes, self.shapes.truths
        size: Truth = False
        if k > m:
            size = s.magnitude(u) if k % 2 == 0 else t.both(s.of(u).convex, t.within(u, lo=0.0))
        if size is not True and 2 * k > m:
            size = t.either(size, s.norms.is_square(u))
        divisor = s.of(w)
        convex = t.both(size, divisor.concave, t.within(w, lo=0.0)) if size is not False else False
        # Below 0 the divisor is -w: (-1)^m times the same.
        mirrored = t.both(size, divisor.convex, t.within(w, hi=0.0)) if size is not False else False
        return Shape(t.either(convex, mirrored), False) if m % 2 == 0 else Shape(convex, mirrored)

    def _entropy(self, u: Node, logarithms: Node) -> Shape | None:
        """Return the shape of u times a sum of logarithms and numbers; None where it is not read as one."""
        s, t = self.shapes, self.shapes.truths
        if s.of(u) != AFFINE:
            return None
        ratio: tuple[dict[Node, int], dict[Node, int]] = {}, {}
        sign: Truth = True
        base = ""
        pending = [(logarithms, 1)]
        for _ in range(_MOST):
            if not pending:
                return self._relative_entropy(u, *ratio, sign)
            node, way = pending.pop()
            if not s.varies(node):
                continue  # a number times u: affine
            if node.op in ("add", "sub"):
                pending += [(node.args[0], way), (node.args[1], way if node.op == "add" else -way)]
            elif node.op == "neg":
                pending.append((node.args[0], -way))
            elif node.op in _LOGARITHMS and base in ("", node.op):
                base = node.op
                found = self.read(node.args[0]) or self._alone(node.args[0])
                sign = t.both(sign, found.nonnegative)
                for place, factors in ((0, found.above), (1, found.below)):
                    side = ratio[place if way > 0 else 1 - place]
                    for v, k in factors.items():
                        side[v] = side.get(v, 0) + k
            else:
                return None
        return None

    def _alone(self, node: Node) -> Factors:
        return Factors({node: 1}, {}, True, False)

    def _relative_entropy(self, u: Node, above: dict[Node, int], below: dict[Node, int], sign: Truth) -> Shape | None:
        s, t = self.shapes, self.shapes.truths
        for one, other, turn in ((above, below, False), (below, above, True)):
            if one != {u: 1} or len(other) > 1:
                continue
            found = Shape(sign, False)
            for v, k in other.items():
                if k != 1 or s.of(v) != AFFINE or v is u:
                    return None
                found = Shape(t.both(sign, t.within(v, lo=0.0)), False)
            return turned(found) if turn else found
        return None

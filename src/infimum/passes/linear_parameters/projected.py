"""Variable projection of residuals r = A(p) c + h(p): what bounds the least |r|^2 over every c from below.

For any c°(p) and any matrix T, with r = A c° + h, B = A T, w = B'r and M = B'B,

    min over c of |A c + h|^2  =  |r|^2 - w'M^-1 w  >=  R - kappa W,     R = |r|^2,  W = |w|^2
wherever 1/kappa > 0 is at most the least eigenvalue of M: then A and T have full rank, so that c° + T z is every c.
c°(p) = c + C (p - t). With c and T of a least-squares fit at a point t, and C such that c° follows the fit to first
order, w is of second order in p - t but for rounding, M is near the unit matrix, and the bound is exact at t with its
slope and its curvature.

On a box with t in it, d = p - t; columns a(p) have derivatives a_i, a_ij. There are x of the box such that

    v(p) is each of v(x) and v(t) + sum_i v_i(x) d_i,     for v any of r, B, w, their first derivatives, and M
and the enclosures of these are met. p and x are inputs of their own, which both are given as the box: they are not the
same number.

Guarantee: on a box around which the columns are smooth, as the first output says, the outputs contain these numbers for
the very c, C and T that are given; the derivatives of R and W are theirs by p.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.passes.facts import facts
from infimum.passes.hessian.twice import has_second
from infimum.passes.linear_parameters.columns import Columns
from infimum.passes.linear_parameters.tangents import NoTangent, Tangents
from infimum.passes.outer.lines import line, moved

_Rule = Callable[[list[Node]], Node]


@dataclass(frozen=True, eq=False)
class _Jet:
    """A number or an array, its first derivatives (q), and second ones: row i has those by i and j for j >= i."""

    value: Node
    first: list[Node]
    second: list[list[Node]]

    def by(self, i: int, j: int) -> Node:
        """Return a second derivative."""
        return self.second[min(i, j)][abs(i - j)]


class Projected:
    """The expressions of one set of columns: L of them, q parameters.

    inputs     x and p (q each), t (q), c (L), C (L, q), T (L, L)
    outputs    whether it is smooth; M (its lower triangle), w (L), R(t), W(t), then their derivatives (q each) at t,
               then those of second order (lower triangles) on the box
    """

    def __init__(self, columns: Columns) -> None:
        self.q, self.count, self.m = columns.nonlinear.size, columns.linear.size, columns.m
        q, count = self.q, self.count
        self.inputs = 3 * q + count + count * q + count**2
        self.build = b = Build(self.inputs)
        self._d = self._apart(q)
        start = 3 * q + count + count * q
        turn = [[line(b, start + j * count + i, 1) for j in range(count)] for i in range(count)]
        natural = self._jets(columns, 0)
        point = self._jets(columns, 2 * q)
        r_at = self._residuals(point, [b.number(0)] * q)
        r = self._sharper(self._residuals(natural, self._apart(0)), r_at)
        turned_at = [self._combined(own, point[:-1]) for own in turn]
        turned = [self._sharper(self._combined(own, natural[:-1]), at) for own, at in zip(turn, turned_at, strict=True)]
        w_at = [self._product(own, r_at) for own in turned_at]
        w = [self._sharper(self._product(own, r), at) for own, at in zip(turned, w_at, strict=True)]
        square, square_at = self._product(r, r), self._product(r_at, r_at)
        lost, lost_at = (self._added([self._squared(one) for one in own]) for own in (w, w_at))
        gram = []
        for i in range(count):
            for j in range(i + 1):
                natural_one, at = self._product(turned[i], turned[j]), self._product(turned_at[i], turned_at[j])
                gram.append(self._met(natural_one.value, self._from(at.value, natural_one.first)))
        self.outputs = [self._smooth(columns), *gram, *(own.value for own in w), square_at.value, lost_at.value]
        self.outputs += [*square_at.first, *lost_at.first]
        self.outputs += [own.by(i, j) for own in (square, lost) for i in range(q) for j in range(i + 1)]

    # ------------------------------------------------------------------------------------------ jets
    def _jets(self, columns: Columns, start: int) -> list[_Jet]:
        """Return the columns and h with their derivatives, by the inputs from `start` on."""
        b, q = self.build, self.q
        tangents = [Tangents(b, start + i) for i in range(q)]
        found = []
        for node in moved(b, [*columns.columns, columns.rest], q, start):
            first = [own.of(node) or b.number(0) for own in tangents]
            second = [[tangents[j].of(first[i]) or b.number(0) for j in range(i, q)] for i in range(q)]
            found.append(_Jet(node, first, second))
        return found

    def _residuals(self, jets: list[_Jet], d: list[Node]) -> _Jet:
        """Return A c° + h, at a point that is d away from t."""
        b, q = self.build, self.q
        total = jets[-1]
        for number, jet in enumerate(jets[:-1]):
            slopes = [line(b, 3 * q + self.count + number * q + i, 1) for i in range(q)]
            steps = [b.apply("mul", slope, step) for slope, step in zip(slopes, d, strict=True)]
            fixed = self._sum([line(b, 3 * q + number, 1), *steps])
            total = self._added([total, self._scaled(_Jet(fixed, slopes, []), jet)])
        return total

    def _scaled(self, factor: _Jet, jet: _Jet) -> _Jet:
        """Return the product of a number that is affine in p with an array."""
        b, own = self.build, range(self.q)
        first = [
            self._sum([b.apply("mul", factor.first[i], jet.value), b.apply("mul", factor.value, jet.first[i])])
            for i in own
        ]
        second = [
            [
                self._sum([
                    b.apply("mul", factor.first[i], jet.first[j]), b.apply("mul", factor.first[j], jet.first[i]),
                    b.apply("mul", factor.value, jet.by(i, j)),
                ])
                for j in range(i, self.q)
            ]
            for i in own
        ]  # fmt: skip
        return _Jet(b.apply("mul", factor.value, jet.value), first, second)

    def _mapped(self, how: _Rule, jets: list[_Jet]) -> _Jet:
        first = [how([jet.first[i] for jet in jets]) for i in range(self.q)]
        second = [[how([jet.second[i][j] for jet in jets]) for j in range(self.q - i)] for i in range(self.q)]
        return _Jet(how([jet.value for jet in jets]), first, second)

    def _added(self, jets: list[_Jet]) -> _Jet:
        return self._mapped(self._sum, jets)

    def _combined(self, factors: list[Node], jets: list[_Jet]) -> _Jet:
        """Return the sum of factors, which do not depend on p, times jets."""
        b = self.build
        return self._mapped(
            lambda nodes: self._sum([b.apply("mul", f, node) for f, node in zip(factors, nodes, strict=True)]), jets
        )

    def _product(self, u: _Jet, v: _Jet) -> _Jet:
        """Return u'v."""
        own = range(self.q)
        first = [self._sum([self._dot(u.first[i], v.value), self._dot(u.value, v.first[i])]) for i in own]
        second = [
            [
                self._sum([
                    self._dot(u.by(i, j), v.value), self._dot(u.first[i], v.first[j]),
                    self._dot(u.first[j], v.first[i]), self._dot(u.value, v.by(i, j)),
                ])
                for j in range(i, self.q)
            ]
            for i in own
        ]  # fmt: skip
        return _Jet(self._dot(u.value, v.value), first, second)

    def _squared(self, u: _Jet) -> _Jet:
        """Return the square of a number."""
        b, two = self.build, self.build.number(2)
        first = [b.apply("mul", two, b.apply("mul", u.value, own)) for own in u.first]
        second = [
            [
                b.apply(
                    "mul", two, self._sum([self._times(u.first[i], u.first[j]), b.apply("mul", u.value, u.by(i, j))])
                )
                for j in range(i, self.q)
            ]
            for i in range(self.q)
        ]
        return _Jet(b.apply("sqr", u.value), first, second)

    def _sharper(self, natural: _Jet, at: _Jet) -> _Jet:
        """Return a jet on the box, its value and slopes met with what their own slopes tell, from t on."""
        own = range(self.q)
        first = [self._met(natural.first[i], self._from(at.first[i], [natural.by(i, j) for j in own])) for i in own]
        value = self._met(natural.value, self._from(at.value, first))
        return _Jet(value, first, natural.second)

    # ------------------------------------------------------------------------------------------ parts
    def _apart(self, start: int) -> list[Node]:
        """Return how far the inputs from `start` on are from t."""
        b, q = self.build, self.q
        return [b.apply("sub", line(b, start + i, 1), line(b, 2 * q + i, 1)) for i in range(q)]

    def _smooth(self, columns: Columns) -> Node:
        """Return whether all columns are defined, and smooth, on the box."""
        b = self.build
        nodes = moved(b, [*columns.columns, columns.rest], self.q, 0)
        together = b.graph.node("concat", nodes, sum(node.size for node in nodes))
        return facts(b, b.graph.node("sum", (together,), 1, together.size))[1]

    def _from(self, at: Node, slopes: list[Node]) -> Node:
        b = self.build
        return self._sum([at, *(b.apply("mul", slope, d) for slope, d in zip(slopes, self._d, strict=True))])

    def _met(self, natural: Node, mean: Node) -> Node:
        """Return enclosures of the same numbers met, as they stand."""
        size = max(natural.size, mean.size)
        return self.build.graph.node(
            "intersection", (self.build.full(natural, size), self.build.full(mean, size)), size
        )

    def _sum(self, nodes: list[Node]) -> Node:
        total = nodes[0]
        for node in nodes[1:]:
            total = self.build.apply("add", total, node)
        return total

    def _times(self, u: Node, v: Node) -> Node:
        return self.build.apply("sqr", u) if u is v else self.build.apply("mul", u, v)

    def _dot(self, u: Node, v: Node) -> Node:
        return self.build.reduce("sum", self.build.full(self._times(u, v), self.m), self.m)


def projected(columns: Columns) -> Projected | None:
    """Return the expressions; None where columns have no second derivatives that are known."""
    if not all(has_second(node) for node in (*columns.columns, columns.rest)):
        return None
    try:
        return Projected(columns)
    except NoTangent:
        return None


def derivatives(columns: Columns) -> list[Node]:
    """Return A, column by column, and h, then their derivatives by each parameter in turn: for `projected` ones."""
    b, nodes = columns.build, (*columns.columns, columns.rest)
    found = list(nodes)
    for i in range(columns.nonlinear.size):
        tangents = Tangents(b, i)
        found += [b.full(tangents.of(node) or b.number(0), node.size) for node in nodes]
    return found

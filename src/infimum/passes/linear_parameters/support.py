"""The separable dual of residuals r = A(p) c + h(p): what y'r is on a box, for any y.

    sum r_k^2 >= 2 y'r - |y|^2 for every y, and y'r = sum over groups G of G(p, c), for columns fall into *groups* that
    share no parameter:  G(p, c) = sum over its columns of c_l S_l(p),  S_l(p) = y'a_l(p)       (h with c = 1)

Each group is enclosed alone, on cells of its own few parameters. For p and a point t of a cell P, with d = p - t, there
are points x of P such that S_l(p) is each of

    natural    S_l(x)
    mean       S_l(t) + sum_i S_l,i(x) d_i                                           where S_l has derivatives on P
    taylor     S_l(t) + sum_i (S_l,i(t) d_i + S_l,ii(x) d_i^2 / 2)
                      + sum_i<j S_l,ij(x) d_i d_j                                    where those have derivatives, too
and G(p, c) each of
    by column  sum c_l S_l(p)
    together   a form of T = sum t_l S_l, for any numbers t_l, and sum (c_l - t_l) S_l(p)
Mean and taylor are Lagrange's remainders along the segment from t to p, which lies in the box P; each has an x of its
own. They need first derivatives that exist on P, and second ones: `smooth` of the S_l and of their first derivatives as
formulas. p and x are inputs of their own, which both are given as P: they are not the same number. All hold at once, so
does the intersection of the enclosures, which is empty only where no point of P has a value; where a derivative may not
exist, natural and by column alone are left.

Guarantee: wherever on P the columns are defined, for every c and the very y that is given, G and S_l lie in these.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.passes.facts import facts
from infimum.passes.linear_parameters.columns import Columns
from infimum.passes.linear_parameters.tangents import NoTangent, Tangents
from infimum.passes.simplify import rebuilt

IndexArray = npt.NDArray[np.int64]

MOST_SLOPES = 4  # parameters of a group up to which second derivatives are made


@dataclass(frozen=True, eq=False)
class Group:
    """Columns that share parameters: their numbers, L for h; the parameters' numbers among p, none for fixed ones."""

    columns: IndexArray
    parameters: IndexArray


def groups(columns: Columns) -> list[Group]:
    """Return the groups; all columns that read no parameter are one."""
    reads = columns.reads
    label = np.arange(len(reads))
    for i in range(reads.shape[1]):
        (readers,) = np.nonzero(reads[:, i])
        for other in readers[1:]:
            label[label == label[other]] = label[readers[0]]
    label[~reads.any(1)] = len(reads)
    found = []
    for one in np.unique(label):
        (own,) = np.nonzero(label == one)
        found.append(Group(own, np.flatnonzero(reads[own].any(0))))
    return found


class Support:
    """The expressions of one group.

    inputs     x and p (q each), t (q), c (l), numbers t_l (l), y (m)
    outputs    G, then the S_l
    """

    def __init__(self, columns: Columns, group: Group) -> None:
        q, count, m = group.parameters.size, group.columns.size, columns.m
        self.q = q
        self.inputs = 3 * q + 2 * count + m
        self.build = Build(self.inputs)
        self.c = [self._line(3 * q + i, 1) for i in range(count)]
        self.t = [self._line(3 * q + count + i, 1) for i in range(count)]
        self.y = self._line(3 * q + 2 * count, m)
        own = [columns.columns[i] if i < len(columns.columns) else columns.rest for i in group.columns]
        place = np.full(columns.reads.shape[1], -1, np.int64)
        place[group.parameters] = np.arange(q)
        on_cell = self._moved(own, place)
        natural = [self._sum(node) for node in on_cell]
        self.outputs = [self._added(self.c, natural), *natural]
        if 0 < q <= MOST_SLOPES:
            at_point = self._moved(own, np.where(place >= 0, place + 2 * q, -1))
            with suppress(NoTangent):
                self._sharpen(natural, self._jet(on_cell, 0), self._jet(at_point, 2 * q), at_point)

    # ------------------------------------------------------------------------------------------ forms
    def _sharpen(self, natural: list[Node], cell: list[_Jet], point: list[_Jet], at_point: list[Node]) -> None:
        """Meet the outputs with the forms that need derivatives."""
        b, q = self.build, self.q
        d = [b.apply("sub", self._line(q + i, 1), self._line(2 * q + i, 1)) for i in range(q)]
        values = [self._sum(node) for node in at_point]
        mean = [self._mean(s, here.first, d) for s, here in zip(values, cell, strict=True)]
        taylor = [self._taylor(s, at, x, d) for s, at, x in zip(values, point, cell, strict=True)]
        each = [self._met(*forms) for forms in zip(natural, mean, taylor, strict=True)]
        by_column = self._added(self.c, each)
        left = self._added([b.apply("sub", c, t) for c, t in zip(self.c, self.t, strict=True)], each)
        value = self._added(self.t, values)
        here, there = self._weighted(cell), self._weighted(point)
        forms = (self._mean(value, here.first, d), self._taylor(value, there, here, d))
        whole = self._met(by_column, *(b.apply("add", form, left) for form in forms))
        derivatives = [node for jet in cell for node in jet.first]
        certain = self._smooth([*natural, *derivatives])
        sharper = zip([whole, *each], self.outputs, strict=True)
        self.outputs = [self._set("where", certain, new, old) for new, old in sharper]

    def _mean(self, value: Node, slopes: list[Node], d: list[Node]) -> Node:
        return self._added([self.build.number(1), *slopes], [value, *d])

    def _taylor(self, value: Node, point: _Jet, cell: _Jet, d: list[Node]) -> Node:
        b = self.build
        total = self._mean(value, point.first, d)
        for i in range(self.q):
            for j in range(i, self.q):
                square = b.apply("mul", b.number(0.5), b.apply("sqr", d[i])) if i == j else b.apply("mul", d[i], d[j])
                total = b.apply("add", total, b.apply("mul", cell.second[i][j - i], square))
        return total

    def _jet(self, columns: list[Node], start: int) -> list[_Jet]:
        """Return the derivatives of y'a for each column, by the inputs from `start` on."""
        b = self.build
        tangents = [Tangents(b, start + i) for i in range(self.q)]
        found = []
        for column in columns:
            slopes = [own.of(column) or b.number(0) for own in tangents]
            curves = [[tangents[j].of(slopes[i]) or b.number(0) for j in range(i, self.q)] for i in range(self.q)]
            found.append(_Jet([self._sum(s) for s in slopes], [[self._sum(s) for s in row] for row in curves]))
        return found

    def _weighted(self, jets: list[_Jet]) -> _Jet:
        """Return the derivatives of sum t_l S_l."""
        first = [self._added(self.t, [jet.first[i] for jet in jets]) for i in range(self.q)]
        second = [
            [self._added(self.t, [jet.second[i][j] for jet in jets]) for j in range(self.q - i)] for i in range(self.q)
        ]
        return _Jet(first, second)

    def _smooth(self, nodes: list[Node]) -> Node:
        """Return whether all of them are defined, and smooth, on the cell."""
        b = self.build
        together = b.graph.node("concat", nodes, len(nodes))  # a sum could lose what cancels
        return facts(b, b.graph.node("sum", (together,), 1, len(nodes)))[1]

    # ------------------------------------------------------------------------------------------ parts
    def _line(self, start: int, size: int) -> Node:
        return self.build.take(self.build.x, indexmap.affine([(size, 1)], start, self.inputs))

    def _moved(self, nodes: list[Node], place: IndexArray) -> list[Node]:
        """Return columns as expressions of these inputs, in the place of p."""
        b = self.build
        new: dict[Node, Node] = {}
        for node in ancestors(nodes):
            if node.op == "x":
                new[node] = b.take(b.x, indexmap.of_indices(place, self.inputs))
            else:
                new[node] = rebuilt(b, node, [new[a] for a in node.args])
        return [b.full(new[node], node.size) for node in nodes]

    def _sum(self, column: Node) -> Node:
        """Return y'a."""
        b = self.build
        if column.op == "constant" and column.size == 1:
            return b.apply("mul", column, b.reduce("sum", self.y, self.y.size))
        return b.reduce("sum", b.full(b.apply("mul", self.y, column), self.y.size), self.y.size)

    def _added(self, factors: list[Node], terms: list[Node]) -> Node:
        b = self.build
        total = b.number(0)
        for factor, term in zip(factors, terms, strict=True):
            total = b.apply("add", total, b.apply("mul", factor, term))
        return total

    def _met(self, *forms: Node) -> Node:
        found = forms[0]
        for form in forms[1:]:
            found = self._set("intersection", found, form)
        return found

    def _set(self, op: str, *args: Node) -> Node:
        """Return a scalar as it stands: enclosures of one number are met, whatever formulas they come from."""
        return self.build.graph.node(op, args)


@dataclass(frozen=True, eq=False)
class _Jet:
    """First derivatives (q) of a sum, and second ones: row i has those by i and j for j >= i."""

    first: list[Node]
    second: list[list[Node]]

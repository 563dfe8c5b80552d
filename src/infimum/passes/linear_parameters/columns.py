"""Residuals that are affine in some variables c, as columns: r(x) = sum of c_l a_l(p) + h(p), p the other variables.

Each node that reads c is a *form*: h and, for each c_l that it reads, a_l, where it has elements.

    node                     its form
    x, take of it            c_l has the number 1 at its place, p is in h
    neg, add, sub            that of each part
    mul, div                 each part times, or over, the operand that does not read c
    where                    each part where the condition, which does not read c, chooses it
    take, concat, sum        that of each part; where a sum adds but a few elements of c_l, those are taken
    recurrence, others       that of each part, the factors not reading c

Guarantee: at every x where the residuals are defined so are the columns, and both sides are the same real numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of, others_of
from infimum.passes.linear_parameters.degrees import BoolArray, linear_variables
from infimum.passes.simplify import rebuilt

IndexArray = npt.NDArray[np.int64]

_MOST_NODES = 20_000
_REST = -1


@dataclass(frozen=True, eq=False)
class Columns:
    """r(x) = sum of c_l a_l(p) + h(p), on a graph whose inputs are p.

    linear, nonlinear   the numbers of the variables c (L) and p (q)
    columns, rest       the a_l and h, arrays of m elements
    reads               (L + 1, q): which of p each column reads, and h
    """

    build: Build
    linear: IndexArray
    nonlinear: IndexArray
    columns: tuple[Node, ...]
    rest: Node
    reads: BoolArray

    @property
    def m(self) -> int:
        """Return the number of residuals."""
        return self.rest.size


def columns(residuals: Node, n: int) -> Columns | None:
    """Return residuals as columns; None where they are affine in no variable, or in all that they read."""
    nodes = ancestors([residuals])
    if len(nodes) > _MOST_NODES:
        return None
    is_linear, is_read = linear_variables(residuals, n), used(residuals, n)
    linear, nonlinear = np.flatnonzero(is_linear & is_read), np.flatnonzero(~is_linear & is_read)
    if not linear.size or not nonlinear.size:
        return None
    forms = _Forms(n, linear, nonlinear)
    found = forms.of(nodes, residuals)
    m = residuals.size
    build = forms.build
    own = tuple(forms.whole(found.get(number), m) for number in range(linear.size))
    rest = forms.whole(found.get(_REST), m)
    reads = np.stack([used(node, nonlinear.size) for node in (*own, rest)])
    return Columns(build, linear, nonlinear, own, rest, reads)


@dataclass(frozen=True, eq=False)
class _Part:
    """Element i is node[i], or the node where it is a scalar, if there[i]; else 0."""

    node: Node
    there: BoolArray

    def spread(self, size: int) -> _Part:
        """Return the part of a scalar as one of so many elements."""
        return self if self.there.size == size else _Part(self.node, np.repeat(self.there, size))


_Form = dict[int, _Part]  # h has the key _REST, a_l the key l


class _Forms:
    def __init__(self, n: int, linear: IndexArray, nonlinear: IndexArray) -> None:
        self.build = Build(nonlinear.size)
        self.n = n
        self.number = np.full(n, -1, np.int64)
        self.number[linear] = np.arange(linear.size)
        self.place = np.full(n, -1, np.int64)  # of each variable among p
        self.place[nonlinear] = np.arange(nonlinear.size)

    def of(self, nodes: list[Node], output: Node) -> _Form:
        made: dict[Node, _Form] = {}
        for node in nodes:
            made[node] = self._made(node, [made[a] for a in node.args])
        return made[output]

    def whole(self, part: _Part | None, size: int) -> Node:
        """Return the part as an array, its missing elements 0."""
        b = self.build
        if part is None:
            return b.full(b.number(0), size)
        if part.there.all():
            return b.full(part.node, size)
        there = part.spread(size).there
        indices = np.where(there, np.arange(size), -1)
        return b.take(b.full(part.node, size), indexmap.of_indices(indices, size))

    # ------------------------------------------------------------------------------------------ nodes
    def _made(self, node: Node, args: list[_Form]) -> _Form:
        if node.op == "x":
            return self._inputs(np.arange(self.n))
        if node.op == "take" and node.args[0].op == "x":
            return self._inputs(map_of(node).indices())
        if node.op == "constant" or all(key == _REST for form in args for key in form):
            whole = [self.whole(form.get(_REST), a.size) for form, a in zip(args, node.args, strict=True)]
            return {_REST: _Part(rebuilt(self.build, node, whole), np.ones(node.size, bool))}
        if node.op in ("mul", "div"):
            return self._scaled(node, *args)
        made = {}
        for key in sorted({key for form in args for key in form}):
            part = self._part(node, [form.get(key) for form in args], args)
            if part is not None:
                made[key] = part
        return made

    def _part(self, node: Node, own: list[_Part | None], args: list[_Form]) -> _Part | None:
        """Return one part of a node that is linear in the operands that read c."""
        if node.op == "take":
            return self._taken(node, own[0])
        if node.op == "concat":
            return self._concat(node, own)
        if node.op == "sum":
            return self._sum(node, own[0])
        if node.op in ("neg", "add", "sub"):
            return self._added(node, own)
        b, size = self.build, node.args[-1].size
        if node.op == "where":
            condition = self.whole(args[0].get(_REST), node.args[0].size)
            branches = (self.whole(one, a.size) for one, a in zip(own[1:], node.args[1:], strict=True))
            made = b.apply("where", condition, *branches)
        elif node.op == "others":
            made = b.others("add", self.whole(own[0], size), others_of(node)[1])
        else:
            assert node.op == "recurrence", node.op
            factors = self.whole(args[0].get(_REST), node.args[0].size)
            made = b.recurrence(factors, self.whole(own[1], size), node.size, bool(node.data))
        return _Part(made, np.ones(node.size, bool))

    def _inputs(self, indices: IndexArray) -> _Form:
        b = self.build
        there = indices >= 0
        places = np.where(there, self.place[indices], -1)
        numbers = np.where(there, self.number[indices], -1)
        made = {}
        if (places >= 0).any():
            made[_REST] = _Part(b.take(b.x, indexmap.of_indices(places, b.x.size)), places >= 0)
        for number in np.unique(numbers[numbers >= 0]).tolist():
            made[number] = _Part(b.number(1), numbers == number)
        return made

    def _taken(self, node: Node, part: _Part | None) -> _Part | None:
        assert part is not None
        b, m = self.build, map_of(node)
        indices = m.indices()
        there = (indices >= 0) & part.there[indices]
        if not there.any():
            return None
        if part.node.size == 1:
            return _Part(part.node, there)
        read = indexmap.of_indices(np.where(there, indices, -1), m.source)
        return _Part(b.take(b.full(part.node, m.source), read), there)

    def _concat(self, node: Node, own: list[_Part | None]) -> _Part:
        b = self.build
        sizes = [a.size for a in node.args]
        nodes = [b.full(b.number(0) if one is None else one.node, k) for one, k in zip(own, sizes, strict=True)]
        there = [np.zeros(k, bool) if one is None else one.there for one, k in zip(own, sizes, strict=True)]
        return _Part(b.concat(nodes), np.concatenate(there))

    def _sum(self, node: Node, part: _Part | None) -> _Part | None:
        """Return the sums of the elements that are there, which may be few of each group."""
        assert part is not None
        b, width, size = self.build, integer_of(node), node.args[0].size
        some = part.there.reshape(-1, width)
        counts = some.sum(1)
        most = int(counts.max())
        if not most:
            return None
        positions = np.full((len(some), most), -1, np.int64)
        rows, at = np.nonzero(some)
        rank = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
        positions[rows, rank] = rows * width + at
        read = b.take(b.full(part.node, size), indexmap.of_indices(positions.ravel(), size))
        return _Part(b.reduce("sum", b.full(read, positions.size), most), counts > 0)

    def _added(self, node: Node, own: list[_Part | None]) -> _Part | None:
        b = self.build
        found = [None if one is None else one.spread(node.size) for one in own]
        if found[-1] is not None and node.op != "add":
            found[-1] = _Part(b.apply("neg", found[-1].node), found[-1].there)
        first, second = found if len(found) > 1 else (found[0], None)
        if first is None or second is None:
            return first or second
        return self._both(first, second, node.size)

    def _both(self, first: _Part, second: _Part, size: int) -> _Part:
        b = self.build
        if np.array_equal(first.there, second.there):
            return _Part(b.apply("add", first.node, second.node), first.there)
        return _Part(b.apply("add", self.whole(first, size), self.whole(second, size)), first.there | second.there)

    def _scaled(self, node: Node, first: _Form, second: _Form) -> _Form:
        """Return a product, of which each element reads c in one operand at most, or a quotient."""
        b, size = self.build, node.size
        made: _Form = {}
        if node.op == "div":
            divisor = self.whole(second.get(_REST), node.args[1].size)
            for key, part in first.items():
                own = part.spread(size)
                made[key] = _Part(b.apply("div", own.node, divisor), own.there)
            return made
        for left, one in first.items():
            for right, other in second.items():
                if _REST not in (left, right):
                    continue  # the elements of one are missing in the other
                own, factor = one.spread(size), other.spread(size)
                there = own.there & factor.there
                if there.any():
                    product = _Part(b.apply("mul", own.node, factor.node), there)
                    key = max(left, right)
                    made[key] = self._both(made[key], product, size) if key in made else product
        return made


def used(residuals: Node, n: int) -> BoolArray:
    """Return which of n inputs an expression reads."""
    found = np.zeros(n, bool)
    for node in ancestors([residuals]):
        if node.op == "take" and node.args[0].op == "x":
            indices = map_of(node).indices()
            found[indices[indices >= 0]] = True
        elif any(a.op == "x" for a in node.args) or (node is residuals and node.op == "x"):
            found[:] = True
    return found

"""Linear layers: f(x) = g(A x + b, x), where rows of A read several variables (rotated functions, regressions).

Walking down from f, the layer's rows are the first expressions met that are affine in x and add up variables:

    node                                 affine where
    x, constant                          always
    neg, add, sub, take, concat, sum     all operands are
    mul                                  one operand is, and the other does not depend on x
    div                                  the first operand is, and the second does not depend on x and is not 0
    any other                            never; what depends on x nowhere is only affine where these rules say so

A row is an element of an affine `sum`, or of an affine `add` or `sub` of two operands that both depend on x; 2 y + 1 is
none: g scales and shifts the row y itself. Affine expressions are defined everywhere, so g(A x + b, x) is defined where
f is.

Guarantee: at every x, f(x) is g(A x + b, x) for a matrix A and a vector b within the layer's intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph import indexmap
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.passes.build import Build
from infimum.passes.simplify import rebuilt

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[FloatArray, FloatArray]

_MOST_ENTRIES = 2**23  # of the matrix, and of any expression on the way to it
_SPARSE = 4  # a layer has at least one entry in so many; sparse ones are better served by contraction of f itself


@dataclass(frozen=True)
class Layer:
    """y = A x + b and the rest of the function, g.

    matrix, offset    the ends of A (m, n) and b (m,)
    value             g, an expression of y (m variables), or of x and then y (n + m variables) where it reads x as well
    """

    matrix: Ends
    offset: Ends
    value: Node
    reads_x: bool

    @property
    def inputs(self) -> int:
        """How many variables g has."""
        rows, columns = self.matrix[0].shape
        return rows + columns if self.reads_x else rows


def linear_layer(value: Node, n: int) -> Layer | None:
    """The layer of a simplified expression of n variables; None where there is none worth the name."""
    nodes = ancestors([value])
    varies = _varying(nodes)
    rows = _rows(value, _affine(nodes, varies), varies)
    m = sum(node.size for node in rows)
    if m < 2 or m * n > _MOST_ENTRIES:
        return None
    forms = _Forms(n, varies)
    form = forms.of(rows)
    if form is None:
        return None
    matrix = form.dense(n)
    filled = np.count_nonzero(np.maximum(*(np.abs(end) for end in matrix)), axis=1)
    if not all(np.isfinite(end).all() for end in (*matrix, *form.offset)):
        return None
    if filled.max() < 2 or filled.sum() * _SPARSE < m * n:
        return None
    g, reads_x = _above(value, rows, n)
    return Layer(matrix, form.offset, g, reads_x)


# ---------------------------------------------------------------------------------------------- which rows
def _varying(nodes: list[Node]) -> set[Node]:
    """The nodes that depend on x."""
    found: set[Node] = set()
    for node in nodes:
        if node.op == "x" or any(a in found for a in node.args):
            found.add(node)
    return found


def _affine(nodes: list[Node], varies: set[Node]) -> set[Node]:
    """The nodes that are affine, by the table above."""
    found: set[Node] = set()
    for node in nodes:
        known = [a in found for a in node.args]
        if node.op in ("x", "constant"):
            fits = True
        elif node.op in ("neg", "add", "sub", "take", "concat", "sum"):
            fits = all(known)
        elif node.op == "mul":
            fits = all(known) and sum(a in varies for a in node.args) <= 1
        elif node.op == "div":
            fits = all(known) and node.args[1].op == "constant" and _misses_zero(node.args[1])
        else:
            fits = False
        if fits:
            found.add(node)
    return found


def _misses_zero(node: Node) -> bool:
    lo, hi = value_of(node).enclosure()
    return bool(((lo > 0) | (hi < 0)).all())


def _rows(value: Node, affine: set[Node], varies: set[Node]) -> list[Node]:
    """The first nodes on every way down that are affine and add up variables."""
    found: dict[int, Node] = {}
    seen: set[Node] = set()
    pending = [value]
    while pending:
        node = pending.pop()
        if node in seen or node not in varies:
            continue
        seen.add(node)
        adds = node.op == "sum" or (node.op in ("add", "sub") and all(a in varies for a in node.args))
        if node in affine and adds:
            found[node.number] = node
        else:
            pending.extend(node.args)
    return [found[number] for number in sorted(found)]


def _above(value: Node, rows: list[Node], n: int) -> tuple[Node, bool]:
    """g: the expression with variables in place of the rows, and whether it reads x too."""
    above = _reached(value, set(rows))
    reads_x = any(node.op == "x" for node in above)
    start = n if reads_x else 0
    build = Build(start + sum(node.size for node in rows))
    new: dict[Node, Node] = {}
    for node in rows:
        new[node] = _line(build, start, node.size)
        start += node.size
    for node in above:
        if node.op == "x":
            new[node] = _line(build, 0, n)
        elif node not in new:
            new[node] = rebuilt(build, node, [new[a] for a in node.args])
    return new[value], reads_x


def _reached(value: Node, rows: set[Node]) -> list[Node]:
    """The nodes that the expression needs when it is given the rows, arguments before users."""
    seen: dict[int, Node] = {}
    pending = [value]
    while pending:
        node = pending.pop()
        if node.number not in seen:
            seen[node.number] = node
            pending.extend(() if node in rows else node.args)
    return [seen[number] for number in sorted(seen)]


def _line(build: Build, start: int, size: int) -> Node:
    return build.take(build.x, indexmap.affine([(size, 1)], start, build.x.size))


# ---------------------------------------------------------------------------------------------- their coefficients
@dataclass(frozen=True)
class _Form:
    """Element i is the sum of coefficients[e] x[columns[e]] over starts[i] <= e < starts[i + 1], plus offset[i]."""

    starts: IndexArray
    columns: IndexArray
    coefficients: Ends
    offset: Ends

    @property
    def size(self) -> int:
        return self.starts.size - 1

    @property
    def counts(self) -> IndexArray:
        return np.diff(self.starts)

    def dense(self, n: int) -> Ends:
        """The coefficients as a matrix; those of the same variable added up."""
        at = np.repeat(np.arange(self.size), self.counts) * n + self.columns
        is_ordered = bool((at[1:] > at[:-1]).all())
        order = np.arange(at.size) if is_ordered else np.argsort(at, kind="stable")
        at = at[order]
        first = np.concatenate([[True], at[1:] != at[:-1]]) if at.size else np.empty(0, bool)
        rank = np.arange(at.size) - np.flatnonzero(first)[np.cumsum(first) - 1]
        total = (np.zeros(self.size * n), np.zeros(self.size * n))
        for r in range(int(rank.max(initial=-1)) + 1):
            (some,) = np.nonzero(rank == r)
            part = tuple(end[order[some]] for end in self.coefficients)
            place = at[some]
            added = part if r == 0 else core.apply("add", tuple(end[place] for end in total), part)
            for end, new in zip(total, added, strict=True):
                end[place] = new
        return total[0].reshape(self.size, n), total[1].reshape(self.size, n)


class _TooMany(Exception):
    """More entries than a layer may have."""


class _Forms:
    """The forms of affine nodes, each made once."""

    def __init__(self, n: int, varies: set[Node]) -> None:
        self.n = n
        self.varies = varies
        self.made: dict[Node, _Form] = {}

    def of(self, rows: list[Node]) -> _Form | None:
        """The rows, one after the other; None if that takes too much."""
        try:
            for node in ancestors(rows):
                self.made[node] = self._new(node, [self.made[a] for a in node.args])
        except _TooMany:
            return None
        return _joined([self.made[node] for node in rows])

    def _new(self, node: Node, args: list[_Form]) -> _Form:
        if node.op == "x":
            one, zero = np.ones(self.n), np.zeros(self.n)
            return _Form(np.arange(self.n + 1), np.arange(self.n), (one, one), (zero, zero))
        if node.op == "constant":
            return _constant(value_of(node).enclosure())
        if node.op == "take":
            return _taken(args[0], map_of(node).indices())
        if node.op == "concat":
            return _joined(args)
        if node.op == "sum":
            return _summed(args[0], integer_of(node))
        spread = [a if a.size == node.size else _taken(a, np.zeros(node.size, np.int64)) for a in args]
        if node.op == "neg":
            return _negated(spread[0])
        if node.op in ("add", "sub"):
            return _added(spread[0], spread[1] if node.op == "add" else _negated(spread[1]))
        first = node.op == "div" or node.args[0] in self.varies
        scaled, factor = spread if first else spread[::-1]
        return _scaled(node.op, scaled, factor.offset)


def _constant(ends: Ends) -> _Form:
    none = np.empty(0)
    return _Form(np.zeros(ends[0].size + 1, np.int64), np.empty(0, np.int64), (none, none), ends)


def _taken(a: _Form, indices: IndexArray) -> _Form:
    present = indices >= 0
    source = np.where(present, indices, 0)
    counts = np.where(present, a.counts[source], 0)
    starts = np.concatenate([[0], np.cumsum(counts)])
    if starts[-1] > _MOST_ENTRIES:
        raise _TooMany
    entries = np.arange(starts[-1]) + np.repeat(a.starts[source] - starts[:-1], counts)
    offset = tuple(np.where(present, end[source], 0.0) for end in a.offset)
    lo, hi = a.coefficients
    return _Form(starts, a.columns[entries], (lo[entries], hi[entries]), (offset[0], offset[1]))


def _joined(pieces: list[_Form]) -> _Form:
    shifts = np.cumsum([0, *(p.columns.size for p in pieces)])
    starts = [p.starts[:-1] + shift for p, shift in zip(pieces, shifts, strict=False)]
    return _Form(
        np.concatenate([*starts, shifts[-1:]]),
        np.concatenate([p.columns for p in pieces]),
        (np.concatenate([p.coefficients[0] for p in pieces]), np.concatenate([p.coefficients[1] for p in pieces])),
        (np.concatenate([p.offset[0] for p in pieces]), np.concatenate([p.offset[1] for p in pieces])),
    )


def _summed(a: _Form, width: int) -> _Form:
    lo, hi = (end.reshape(-1, width) for end in a.offset)
    while lo.shape[1] > 1:
        if lo.shape[1] % 2:
            lo, hi = (np.pad(end, ((0, 0), (0, 1))) for end in (lo, hi))
        low, high = core.apply("add", (_line_of(lo, 0), _line_of(hi, 0)), (_line_of(lo, 1), _line_of(hi, 1)))
        lo, hi = low.reshape(len(lo), -1), high.reshape(len(lo), -1)
    return _Form(a.starts[::width], a.columns, a.coefficients, (lo[:, 0], hi[:, 0]))


def _line_of(pairs: FloatArray, which: int) -> FloatArray:
    return np.ascontiguousarray(pairs[:, which::2]).ravel()


def _negated(a: _Form) -> _Form:
    lo, hi = a.coefficients
    return _Form(a.starts, a.columns, (-hi, -lo), (-a.offset[1], -a.offset[0]))


def _added(a: _Form, b: _Form) -> _Form:
    """Both elements' entries; a variable may stand in both."""
    offset = core.apply("add", a.offset, b.offset)
    if not b.columns.size:
        return _Form(a.starts, a.columns, a.coefficients, offset)
    both = _joined([a, b])
    interleaved = _taken(both, np.arange(2 * a.size).reshape(2, -1).T.ravel())
    return _Form(interleaved.starts[::2], interleaved.columns, interleaved.coefficients, offset)


def _scaled(op: str, a: _Form, factor: Ends) -> _Form:
    each = (np.repeat(factor[0], a.counts), np.repeat(factor[1], a.counts))
    coefficients = core.apply(op, a.coefficients, each) if a.columns.size else a.coefficients
    return _Form(a.starts, a.columns, coefficients, core.apply(op, a.offset, factor))

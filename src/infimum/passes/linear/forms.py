"""Affine expressions as sparse rows of coefficients, known by intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of, value_of

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[FloatArray, FloatArray]

MOST_ENTRIES = 2**23  # of the matrix of a layer, and of any expression on the way to it


@dataclass(frozen=True)
class Form:
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
        """Return the coefficients as a matrix; those of the same variable added up."""
        at = np.repeat(np.arange(self.size), self.counts) * n + self.columns
        is_ordered = bool((at[1:] > at[:-1]).all())
        order = np.arange(at.size) if is_ordered else np.argsort(at, kind="stable")
        at = at[order]
        first = np.concatenate([[True], at[1:] != at[:-1]]) if at.size else np.empty(0, bool)
        rank = np.arange(at.size) - np.flatnonzero(first)[np.cumsum(first) - 1]
        total = (np.zeros(self.size * n), np.zeros(self.size * n))
        for r in range(int(rank.max(initial=-1)) + 1):
            (some,) = np.nonzero(rank == r)
            place, entries = at[some], order[some]
            part = self.coefficients[0][entries], self.coefficients[1][entries]
            if r > 0:
                part = core.apply("add", (total[0][place], total[1][place]), part)
            total[0][place], total[1][place] = part
        return total[0].reshape(self.size, n), total[1].reshape(self.size, n)


class _TooMany(Exception):
    """More entries than a layer may have."""


class Forms:
    """The forms of affine nodes, each made once."""

    def __init__(self, n: int, varies: set[Node]) -> None:
        self.n = n
        self.varies = varies
        self.made: dict[Node, Form] = {}

    def of(self, rows: list[Node]) -> Form | None:
        """Return the rows, one after the other; None if that takes too much."""
        try:
            for node in ancestors(rows):
                self.made[node] = self._new(node, [self.made[a] for a in node.args])
        except _TooMany:
            return None
        return _joined([self.made[node] for node in rows])

    def _new(self, node: Node, args: list[Form]) -> Form:
        if node.op == "x":
            one, zero = np.ones(self.n), np.zeros(self.n)
            return Form(np.arange(self.n + 1), np.arange(self.n), (one, one), (zero, zero))
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


def _constant(ends: Ends) -> Form:
    none = np.empty(0)
    return Form(np.zeros(ends[0].size + 1, np.int64), np.empty(0, np.int64), (none, none), ends)


def _taken(a: Form, indices: IndexArray) -> Form:
    present = indices >= 0
    source = np.where(present, indices, 0)
    counts = np.where(present, a.counts[source], 0)
    starts = np.concatenate([[0], np.cumsum(counts)])
    if starts[-1] > MOST_ENTRIES:
        raise _TooMany
    entries = np.arange(starts[-1]) + np.repeat(a.starts[source] - starts[:-1], counts)
    offset = tuple(np.where(present, end[source], 0.0) for end in a.offset)
    lo, hi = a.coefficients
    return Form(starts, a.columns[entries], (lo[entries], hi[entries]), (offset[0], offset[1]))


def _joined(pieces: list[Form]) -> Form:
    shifts = np.cumsum([0, *(p.columns.size for p in pieces)])
    starts = [p.starts[:-1] + shift for p, shift in zip(pieces, shifts, strict=False)]
    return Form(
        np.concatenate([*starts, shifts[-1:]]),
        np.concatenate([p.columns for p in pieces]),
        (np.concatenate([p.coefficients[0] for p in pieces]), np.concatenate([p.coefficients[1] for p in pieces])),
        (np.concatenate([p.offset[0] for p in pieces]), np.concatenate([p.offset[1] for p in pieces])),
    )


def _summed(a: Form, width: int) -> Form:
    lo, hi = (end.reshape(-1, width) for end in a.offset)
    while lo.shape[1] > 1:
        if lo.shape[1] % 2:
            lo, hi = (np.pad(end, ((0, 0), (0, 1))) for end in (lo, hi))
        low, high = core.apply("add", (_line_of(lo, 0), _line_of(hi, 0)), (_line_of(lo, 1), _line_of(hi, 1)))
        lo, hi = low.reshape(len(lo), -1), high.reshape(len(lo), -1)
    return Form(a.starts[::width], a.columns, a.coefficients, (lo[:, 0], hi[:, 0]))


def _line_of(pairs: FloatArray, which: int) -> FloatArray:
    return np.ascontiguousarray(pairs[:, which::2]).ravel()


def _negated(a: Form) -> Form:
    lo, hi = a.coefficients
    return Form(a.starts, a.columns, (-hi, -lo), (-a.offset[1], -a.offset[0]))


def _added(a: Form, b: Form) -> Form:
    """Return the sums; a variable may stand in both operands."""
    offset = core.apply("add", a.offset, b.offset)
    if not b.columns.size:
        return Form(a.starts, a.columns, a.coefficients, offset)
    both = _joined([a, b])
    interleaved = _taken(both, np.arange(2 * a.size).reshape(2, -1).T.ravel())
    return Form(interleaved.starts[::2], interleaved.columns, interleaved.coefficients, offset)


def _scaled(op: str, a: Form, factor: Ends) -> Form:
    each = (np.repeat(factor[0], a.counts), np.repeat(factor[1], a.counts))
    coefficients = core.apply(op, a.coefficients, each) if a.columns.size else a.coefficients
    return Form(a.starts, a.columns, coefficients, core.apply(op, a.offset, factor))

"""Quadratic forms of an array as squares: u'Mu = |L'u|^2, where M = LL' (PROOF).

What a user writes as r @ W @ r is a sum of products whose operands are linear in the elements of one array u:

    node                   its elements, as sums of c u_i
    take, sum              those that the map leads to; those of its groups, together
    neg, mul, div by c     the operand's, with the factor
    any other              itself: it is u

Products of two such sums of the same u add up to u'Mu. M is enclosed, and so is Cholesky's factor of its symmetric
half: where all enclosures of pivots are positive, every matrix within the enclosure of M is positive definite, and its
own factor lies in that of L. So the residuals L'u have coefficients of which intervals are known, and the sum of their
squares is the form, as real numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import of_bounds
from infimum.graph.node import Node
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.passes.outer.chain import factor
from infimum.passes.separate.terms import Terms

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[FloatArray, FloatArray]

_MOST = 64  # elements of u that are read: the factor costs their third power
_MOST_PARTS = 2**16  # elements of u that the products read, with repetition
_MOST_ADDED = 64  # products that make one element of M
_WIDE = 1e-6  # relative: an enclosure of L that is no narrower says too little


class _Sums(NamedTuple):
    """Sum number row[k] has the part coefficient[k] times element column[k] of the array `of`."""

    of: Node
    row: IndexArray
    column: IndexArray
    coefficient: Ends


def as_squares(build: Build, families: list[Terms]) -> tuple[list[Node], list[Terms]]:
    """Return arrays whose squares add up to some of the families, and the other families."""
    forms: dict[Node, list[tuple[Terms, _Sums, _Sums]]] = {}
    left: list[Terms] = []
    for terms in families:
        read = _read(terms)
        if read is None:
            left.append(terms)
        else:
            forms.setdefault(read[0].of, []).append((terms, *read))
    squares = []
    for u, parts in forms.items():
        some = np.unique(np.concatenate([sums.column for _, first, last in parts for sums in (first, last)]))
        is_coupled = some.size <= _MOST and any(terms.node.op == "mul" for terms, _, _ in parts)
        matrix = _matrix(build, some, parts) if is_coupled else None
        lower = None if matrix is None else _factored(*matrix)
        if lower is None:
            left += [terms for terms, _, _ in parts]
        else:
            squares.append(_applied(build, _taken(build, u, some), lower))
    return squares, left


# ---------------------------------------------------------------------------------------------- reading
def _read(terms: Terms) -> tuple[_Sums, _Sums] | None:
    """Return the two operands of products."""
    node = terms.node
    if node.op not in ("mul", "sqr") or terms.at.size > _MOST_PARTS:
        return None
    sides = [_sums(a, terms.at if a.size == node.size else np.zeros_like(terms.at)) for a in node.args]
    first, last = sides[0], sides[-1]
    if first is None or last is None or first.of is not last.of:
        return None
    return (first, last) if first.of.op != "constant" else None


def _sums(node: Node, at: IndexArray) -> _Sums | None:
    """Return elements of a node as sums of elements of one array."""
    row = np.arange(at.size)
    ones = np.ones(at.size)
    found = _Sums(node, row, at, (ones, ones))
    while found.column.size <= _MOST_PARTS:
        below = _below(found)
        if below is None:
            return found
        found = below
    return None


def _below(s: _Sums) -> _Sums | None:
    node, (row, column) = s.of, (s.row, s.column)
    if node.op == "take":
        inner = map_of(node).indices()[column]
        there = inner >= 0
        return _Sums(node.args[0], row[there], inner[there], (s.coefficient[0][there], s.coefficient[1][there]))
    if node.op == "sum":
        width = integer_of(node)
        inner = (column[:, None] * width + np.arange(width)).ravel()
        wide = (np.repeat(s.coefficient[0], width), np.repeat(s.coefficient[1], width))
        return _Sums(node.args[0], np.repeat(row, width), inner, wide)
    if node.op == "neg":
        return _Sums(node.args[0], row, column, core.apply("neg", s.coefficient))
    if node.op not in ("mul", "div"):
        return None
    number = node.args[0] if node.op == "mul" else node.args[1]
    inside = node.args[1] if node.op == "mul" else node.args[0]
    if number.op != "constant" or inside.op == "constant":
        return None
    lo, hi = value_of(number).enclosure()
    if not (np.isfinite(lo).all() and np.isfinite(hi).all()) or (node.op == "div" and ((lo <= 0) & (hi >= 0)).any()):
        return None
    own = np.zeros_like(column) if number.size == 1 else column
    scaled = core.apply(node.op, s.coefficient, (lo[own], hi[own]))
    return _Sums(inside, row, column if inside.size == node.size else np.zeros_like(column), scaled)


# ---------------------------------------------------------------------------------------------- M and L
def _matrix(build: Build, some: IndexArray, parts: list[tuple[Terms, _Sums, _Sums]]) -> Ends | None:
    """Return ends of the symmetric M of some elements of u, None where an element of it has too many parts."""
    size = some.size
    total = np.zeros((size, size)), np.zeros((size, size))
    rounds = 0
    for terms, first, last in parts:
        weight = factor(build, terms)
        if weight.op != "constant":
            return None
        ends = [np.broadcast_to(end, terms.at.size) for end in value_of(weight).enclosure()]
        order = np.argsort(last.row, kind="stable")
        start, stop = (np.searchsorted(last.row[order], first.row, side) for side in ("left", "right"))
        count = stop - start
        if count.sum() > _MOST_PARTS:
            return None
        own = np.repeat(np.arange(first.row.size), count)
        other = order[np.repeat(start - np.cumsum(count) + count, count) + np.arange(count.sum())]
        c = core.apply(
            "mul",
            core.apply("mul", _at(first.coefficient, own), _at(last.coefficient, other)),
            _at((ends[0], ends[1]), first.row[own]),
        )
        half = core.apply("mul", c, (np.full(own.size, 0.5), np.full(own.size, 0.5)))
        i, j = np.searchsorted(some, first.column[own]), np.searchsorted(some, last.column[other])
        key = np.concatenate([i * size + j, j * size + i])
        lo, hi = np.concatenate([half[0], half[0]]), np.concatenate([half[1], half[1]])
        order = np.argsort(key, kind="stable")
        key, lo, hi = key[order], lo[order], hi[order]
        rank = np.arange(key.size) - np.searchsorted(key, key)  # of those that go to the same place
        rounds += int(rank.max(initial=-1)) + 1
        if rounds > _MOST_ADDED:
            return None
        for r in range(int(rank.max(initial=-1)) + 1):
            (now,) = np.nonzero(rank == r)
            added = np.zeros((2, size, size))
            added[0].flat[key[now]], added[1].flat[key[now]] = lo[now], hi[now]
            total = core.apply("add", total, (added[0], added[1]))
    low, high = np.maximum(total[0], total[0].T), np.minimum(total[1], total[1].T)  # both halves hold the same numbers
    return (low, high) if (low <= high).all() else None


def _at(ends: Ends, some: IndexArray) -> Ends:
    return ends[0][some], ends[1][some]


def _factored(low: FloatArray, high: FloatArray) -> Ends | None:
    """Return ends of the lower triangular L with LL' = M for every symmetric M within; None where that is in doubt."""
    n = len(low)
    left = low.copy(), high.copy()
    found = np.zeros((n, n)), np.zeros((n, n))
    for k in range(n):
        pivot = left[0][k, k], left[1][k, k]
        if not (pivot[0] > 0 and np.isfinite(pivot[1])):
            return None
        root = core.apply("sqrt", (np.array([pivot[0]]), np.array([pivot[1]])))
        found[0][k, k], found[1][k, k] = root[0][0], root[1][0]
        below = slice(k + 1, n)
        if not (left[0][below, k].any() or left[1][below, k].any()):
            continue
        size = n - k - 1
        column = core.apply(
            "div", (left[0][below, k], left[1][below, k]), (np.full(size, root[0]), np.full(size, root[1]))
        )
        found[0][below, k], found[1][below, k] = column
        rows = np.repeat(column[0], size), np.repeat(column[1], size)
        columns = np.tile(column[0], size), np.tile(column[1], size)
        product = core.apply("mul", rows, columns)
        square = core.apply("sqr", column)
        diagonal = np.arange(size) * (size + 1)
        product[0][diagonal], product[1][diagonal] = square
        rest = core.apply("sub", (left[0][below, below].ravel(), left[1][below, below].ravel()), product)
        left[0][below, below], left[1][below, below] = (end.reshape(size, size) for end in rest)
    size_of = np.sqrt(np.diag(high))
    is_narrow = (found[1] - found[0] <= _WIDE * size_of[:, None]).all()
    return found if np.isfinite(found).all() and is_narrow else None


def _taken(build: Build, u: Node, some: IndexArray) -> Node:
    return u if u.size == 1 else build.full(build.take(u, indexmap.of_indices(some, u.size)), some.size)


def _applied(build: Build, u: Node, lower: Ends) -> Node:
    """Return L'u."""
    n = u.size
    low, high = lower
    if not (np.tril(low, -1).any() or np.tril(high, -1).any()):
        return build.full(build.apply("mul", build.constant(of_bounds(np.diag(low), np.diag(high))), u), n)
    number = build.constant(of_bounds(low.T.ravel().copy(), high.T.ravel().copy()))
    tiled = build.take(u, indexmap.of_indices(np.tile(np.arange(n), n), n))
    return build.reduce("sum", build.full(build.apply("mul", number, tiled), n * n), n)

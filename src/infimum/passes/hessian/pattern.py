"""Which second derivatives can be other than 0, and which variables may share a product with the Hessian.

What an element of the gradient does not read has no tangent there: its second derivative is 0. So a variable that no
element reads, but for conditions and steps, adds nothing. The pattern is symmetric, as the Hessian is.

Variables may share a seed where no element of the gradient reads two of them: each element of the Hessian times that
seed is then a single second derivative. Such classes of variables are the colours of a graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.graph.node import REDUCTIONS, Node, ancestors, is_fact
from infimum.graph.payload import integer_of, map_of, others_of
from infimum.passes.near import is_stepwise

IndexArray = npt.NDArray[np.int64]

_MOST_READS = 2**23  # pairs of an element and a variable that it reads
_MOST_PAIRS = 2**24  # of variables that one element reads


@dataclass(frozen=True, eq=False)
class Pattern:
    """The elements of the lower triangle (rows >= columns) that can be other than 0, by columns; and the colours.

    colours    (n,) of each variable, from 0 on; no row of the Hessian holds two variables of one colour
    """

    n: int
    rows: IndexArray
    columns: IndexArray
    colours: IndexArray

    @property
    def count(self) -> int:
        """Return the number of colours."""
        return int(self.colours.max(initial=-1)) + 1


class _TooMany(Exception):
    """More reads than are worth a pattern."""


def pattern(gradient: Node, n: int) -> Pattern | None:
    """Return the pattern of the Hessian, None where it holds too much."""
    try:
        keys = _reads(gradient, n)
        rows, columns = np.divmod(keys, n)
        mirrored = np.sort(columns * n + rows, kind="stable")
        both = keys[mirrored[np.minimum(np.searchsorted(mirrored, keys), mirrored.size - 1)] == keys]
        rows, columns = np.divmod(both, n)
        colours = _colours(rows, columns, n)
    except _TooMany:
        return None
    low = np.flatnonzero(rows >= columns)
    low = low[np.lexsort((rows[low], columns[low]))]
    return Pattern(n, rows[low], columns[low], colours)


# ---------------------------------------------------------------------------------------------- what elements read
# The reads of a node are numbers element * n + variable, in order.


def reads(output: Node, n: int) -> IndexArray | None:
    """Return the reads of a node, None where they are too many to say."""
    try:
        return _made_reads(output, n)
    except _TooMany:
        return None


def _reads(output: Node, n: int) -> IndexArray:
    found = _made_reads(output, n)
    return found if output.size == n else _spread(found, n, n)


def _made_reads(output: Node, n: int) -> IndexArray:
    known: dict[Node, IndexArray] = {}
    for node in ancestors([output]):
        found = _own_reads(node, [known[a] for a in node.args], n)
        if found.size > _MOST_READS:
            raise _TooMany
        known[node] = found
    return known[output]


def _own_reads(node: Node, below: list[IndexArray], n: int) -> IndexArray:
    if node.op == "x":
        return np.arange(n, dtype=np.int64) * (n + 1)
    if is_fact(node.op) or is_stepwise(node.op) or not any(reads.size for reads in below):
        return np.empty(0, np.int64)
    if node.op == "take":
        return _taken(below[0], map_of(node).indices(), n)
    if node.op == "concat":
        starts = np.cumsum([0, *(a.size for a in node.args)])
        return np.concatenate([reads + start * n for reads, start in zip(below, starts, strict=False)])
    if node.op in REDUCTIONS:
        return _grouped(below[0], integer_of(node), n)
    if node.op == "others":
        width = others_of(node)[1]
        groups = np.repeat(np.arange(node.size // width), width)
        return _taken(_grouped(below[0], width, n), groups, n)
    if node.op == "recurrence":
        joined = _union([_spread(r, node.size, n) if a.size == 1 else r for r, a in zip(below, node.args, strict=True)])
        variables = _distinct(joined % n)
        return (np.arange(node.size)[:, None] * n + variables).ravel()
    read = below[1:] if node.op == "where" else below
    operands = node.args[1:] if node.op == "where" else node.args
    return _union([_spread(r, node.size, n) if a.size < node.size else r for r, a in zip(read, operands, strict=True)])


def _union(parts: list[IndexArray]) -> IndexArray:
    parts = [part for part in parts if part.size]
    if not parts:
        return np.empty(0, np.int64)
    if all(part is parts[0] or np.array_equal(part, parts[0]) for part in parts):
        return parts[0]
    return _distinct(np.concatenate(parts))


def _distinct(numbers: IndexArray) -> IndexArray:
    """Return the numbers in order, each once."""
    found = np.sort(numbers, kind="stable")
    return found[np.concatenate([[True], found[1:] != found[:-1]])] if found.size else found


def _spread(reads: IndexArray, size: int, n: int) -> IndexArray:
    """Return the reads of a single number for each of `size` elements."""
    if reads.size * size > _MOST_READS:
        raise _TooMany
    return (np.arange(size)[:, None] * n + reads).ravel()


def _grouped(reads: IndexArray, width: int, n: int) -> IndexArray:
    elements, variables = np.divmod(reads, n)
    return _distinct(elements // width * n + variables)


def _taken(reads: IndexArray, indices: IndexArray, n: int) -> IndexArray:
    present = indices >= 0
    source = np.where(present, indices, 0)
    first, last = (np.searchsorted(reads, (source + k) * n) for k in (0, 1))
    counts = np.where(present, last - first, 0)
    total = int(counts.sum())
    if total > _MOST_READS:
        raise _TooMany
    starts = np.cumsum(counts) - counts
    entries = np.arange(total) + np.repeat(first - starts, counts)
    found: IndexArray = reads[entries] % n + np.repeat(np.arange(indices.size), counts) * n
    return found


# ---------------------------------------------------------------------------------------------- colours


def _colours(rows: IndexArray, columns: IndexArray, n: int) -> IndexArray:
    """Return a colour for each variable; those that one row holds differ. rows are in order."""
    counts = np.bincount(rows, minlength=n)
    if 2 * int(counts.max(initial=0)) > n:
        return np.arange(n, dtype=np.int64)
    if int((counts * (counts - 1)).sum()) > _MOST_PAIRS:
        raise _TooMany
    a, b = _pairs(columns, counts)
    most = int(counts.max(initial=0))
    # Bands and grids: neighbours lie a few distances apart, and a period that divides none of them will do.
    apart = _distinct(np.abs(a - b))
    for period in range(max(1, most), min(2 * most, n) + 1):
        if (apart % period != 0).all():
            return np.arange(n, dtype=np.int64) % period
    return _greedy(a, b, n)


def _pairs(columns: IndexArray, counts: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return all ordered pairs of two variables that some row holds."""
    starts = np.cumsum(counts) - counts
    each = np.repeat(counts, counts)
    first = np.repeat(columns, each)
    place = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    second = columns[np.repeat(np.repeat(starts, counts), each) + place]
    apart = first != second
    keys = _distinct(first[apart] * counts.size + second[apart])
    a, b = np.divmod(keys, counts.size)
    return a, b


def _greedy(a: IndexArray, b: IndexArray, n: int) -> IndexArray:
    """Return colours, the smallest free one for the variables in an order drawn at random, many at a time."""
    order = np.random.default_rng(1).permutation(n)
    colours = np.full(n, -1, np.int64)
    while (colours < 0).any():
        waiting = colours < 0
        blocked = waiting[a] & waiting[b] & (order[b] > order[a])
        now = waiting.copy()
        now[a[blocked]] = False
        used = _distinct(a[now[a] & ~waiting[b]] * (n + 1) + colours[b[now[a] & ~waiting[b]]])
        member, colour = np.divmod(used, n + 1)
        free = np.zeros(n, np.int64)
        rank = np.arange(member.size) - np.searchsorted(member, member)
        dense = rank == colour  # the colours 0, 1, … of a variable's neighbours without a gap
        np.add.at(free, member[dense], 1)
        colours[now] = free[now]
    return colours

"""Index maps: which element of a source each element of a result reads.

A map has `size` results and reads a source of `source` elements; -1 stands for "none", read as 0. Maps compose, and
each has a transpose (who reads me?), which gradients, backward contraction and touched sets all use.

    kind      reads for result i
    Affine    offset + sum of stride_d * i_d, i written in mixed radix by the extents (row-major); never none
    Window    offset + step * i if that lies in the source, else none
    Table     table[i]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.concurrency import cached_property

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Affine:
    """A strided view of a source."""

    dims: tuple[tuple[int, int], ...]  # (extent, stride), outermost first; neighbours that merge are merged
    offset: int
    source: int

    @property
    def size(self) -> int:
        return math.prod(extent for extent, _ in self.dims)

    def indices(self) -> Indices:
        found = np.array([self.offset], np.int64)
        for extent, stride in self.dims:
            found = (found[:, None] + stride * np.arange(extent, dtype=np.int64)).ravel()
        return found


@dataclass(frozen=True)
class Window:
    """A line of a source that may stick out at either end."""

    size: int
    offset: int
    step: int
    source: int

    def indices(self) -> Indices:
        i = self.offset + self.step * np.arange(self.size, dtype=np.int64)
        return np.where((i >= 0) & (i < self.source), i, -1)


@dataclass(frozen=True)
class Table:
    """Any indices at all; two tables are equal when their entries are."""

    entries: bytes
    source: int

    @property
    def size(self) -> int:
        return len(self.entries) // 8

    def indices(self) -> Indices:
        return np.frombuffer(self.entries, np.int64)

    @cached_property
    def _hash(self) -> int:
        return hash((self.entries, self.source))

    def __hash__(self) -> int:
        return self._hash


IndexMap = Affine | Window | Table


def identity(size: int) -> Affine:
    """Read every element in order."""
    return Affine(((size, 1),), 0, size) if size != 1 else Affine((), 0, 1)


def broadcast(size: int) -> Affine:
    """Read the one element of a scalar `size` times."""
    return Affine(((size, 0),), 0, 1) if size != 1 else Affine((), 0, 1)


def is_identity(m: IndexMap) -> bool:
    return isinstance(m, Affine) and m == identity(m.source)


def affine(dims: list[tuple[int, int]], offset: int, source: int) -> Affine:
    """Return the strided view with its dimensions merged as far as they go: one map has one form."""
    merged: list[tuple[int, int]] = []
    for extent, stride in dims:
        if extent == 1:
            continue
        if merged and merged[-1][1] == extent * stride:
            merged[-1] = (merged[-1][0] * extent, stride)
        else:
            merged.append((extent, stride))
    return Affine(tuple(merged), offset, source)


def of_view(view: Indices, base: Indices) -> IndexMap:
    """Return the map that a NumPy view (or copy) of `base = arange(source)` describes."""
    source = base.size
    if view.size and np.may_share_memory(view, base) and view.base is not None:
        start = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 8
        return affine([(e, s // 8) for e, s in zip(view.shape, view.strides, strict=True)], start, source)
    return of_indices(view.ravel(), source)


def of_indices(indices: npt.ArrayLike, source: int) -> IndexMap:
    """Return the simplest map with these entries: a line if they are one, else a table."""
    i = np.ascontiguousarray(indices, np.int64)
    if i.size == 0:
        return Affine(((0, 1),), 0, source)
    if i.size == 1 and i[0] >= 0:
        return Affine((), int(i[0]), source)
    step = int(i[1] - i[0]) if i.size > 1 else 1
    if i.min() >= 0:
        if np.array_equal(i, i[0] + step * np.arange(i.size)):
            return affine([(i.size, step)], int(i[0]), source)
        return _two_level(i, source)
    line = _line_through(i, source)
    return line if line is not None else Table(i.tobytes(), source)


def _two_level(i: Indices, source: int) -> IndexMap:
    """Return a row-major view of two dimensions, if the entries are one."""
    step = int(i[1] - i[0])
    breaks = np.flatnonzero(np.diff(i) != step)
    inner = int(breaks[0]) + 1
    if i.size % inner == 0 and inner < i.size:
        outer = int(i[inner] - i[0])
        expected = (i[0] + outer * np.arange(i.size // inner))[:, None] + step * np.arange(inner)
        if np.array_equal(expected.ravel(), i):
            return affine([(i.size // inner, outer), (inner, step)], int(i[0]), source)
    return Table(i.tobytes(), source)


def _line_through(i: Indices, source: int) -> Window | None:
    """Return the window whose entries these are, missing ones included."""
    (present,) = np.nonzero(i >= 0)
    if present.size == 0:
        return None
    first = int(present[0])
    step = int(i[present[1]] - i[first]) if present.size > 1 and present[1] == first + 1 else source
    found = Window(i.size, int(i[first]) - step * first, step, source)
    return found if np.array_equal(found.indices(), i) else None


def compose(outer: IndexMap, inner: IndexMap) -> IndexMap:
    """Return the map that reads through `outer` what `inner` reads: result i -> inner(outer(i))."""
    if is_identity(inner):
        return outer
    if is_identity(outer):
        return inner
    if isinstance(outer, Affine) and isinstance(inner, Affine) and len(inner.dims) <= 1:
        stride = inner.dims[0][1] if inner.dims else 0
        dims = [(extent, s * stride) for extent, s in outer.dims]
        return affine(dims, inner.offset + stride * outer.offset, inner.source)
    o, i = outer.indices(), inner.indices()
    return of_indices(np.where(o >= 0, i[o], -1), inner.source)


def preimage(m: IndexMap, sources: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which results read one of the marked sources."""
    i = m.indices()
    return (i >= 0) & sources[i]


def readers(m: IndexMap) -> list[tuple[Indices, Indices]]:
    """Return the transpose: pairs (targets, positions), positions of shape (targets, width) padded with -1.

    Every result position appears exactly once over all pairs; targets with similarly many readers share a pair, so that
    padding at most doubles the work.
    """
    i = m.indices()
    (positions,) = np.nonzero(i >= 0)
    order = np.argsort(i[positions], kind="stable")
    positions = positions[order]
    targets, starts, counts = np.unique(i[positions], return_index=True, return_counts=True)
    found = []
    for level in range(int(counts.max(initial=0)).bit_length() + 1):
        width = 1 << level
        (members,) = np.nonzero((counts <= width) & (counts > width // 2))
        if not members.size:
            continue
        columns = np.arange(int(counts[members].max()))
        valid = columns < counts[members][:, None]
        at = np.where(valid, starts[members][:, None] + columns, 0)
        found.append((targets[members], np.where(valid, positions[at], -1)))
    return found

"""Buffer: the memory behind traced arrays, numbers and expressions side by side, shared by views.

An element is a plain number until an expression is written into it. Writing appends the expression as a new source and
points the element at it; reading many elements is one take from the sources that they point at.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infimum.graph.indexmap import Affine, IndexMap, Indices, is_identity, of_indices, of_view
from infimum.graph.node import Node

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer

_NUMBER = -1  # marks an element that still holds a plain number


class Buffer:
    """`size` elements; `pointers[i]` counts through all sources, one after the other (None: source 0 in order)."""

    __slots__ = (
        "_base", "_items", "_starts", "_total", "_whole", "frozen", "pointers", "size", "sources", "tracer", "value",
    )  # fmt: skip

    def __init__(self, tracer: Tracer, size: int, value: npt.NDArray[Any] | None, node: Node | None) -> None:
        self.tracer = tracer
        self.size = size
        self.value = value  # flat, any real dtype; None where every element is an expression
        self.sources = [] if node is None else [node]
        self._starts = [] if node is None else [0]
        self._total = 0 if node is None else node.size
        self._whole = node
        self._base: Indices | None = None
        self._items: dict[int, Any] | None = None
        self.pointers: Indices | None = None
        self.frozen = ""  # why nothing may be written here, if so

    @property
    def known(self) -> bool:
        """Return whether every element is a plain number."""
        return not self.sources

    def base(self) -> Indices:
        """Return the positions of all elements, of which every view is a view."""
        if self._base is None:
            self._base = np.arange(self.size, dtype=np.int64)
        return self._base

    def whole(self) -> Node:
        """Return all elements, in order."""
        if self._whole is not None:
            return self._whole
        found = self.gather(self.base())
        if self.sources or self.frozen:
            self._whole = found  # plain numbers may still change behind our back, by NumPy's own writes
        return found

    def element(self, i: int) -> Any:
        """Return one element: a plain number, or a node of size 1."""
        if not self.sources:
            assert self.value is not None
            return self.value[i]
        if self._items is None:
            self._items = {}
        found = self._items.get(i)
        if found is None:
            found = self._items[i] = self._element(i)
        return found

    def _element(self, i: int) -> Any:
        number = i if self.pointers is None else int(self.pointers[i])
        if number == _NUMBER:
            assert self.value is not None
            return self.value[i]
        at = bisect_right(self._starts, number) - 1
        source = self.sources[at]
        if source.size == 1:
            return source
        return self.tracer.graph.node("take", (source,), 1, Affine((), number - self._starts[at], source.size))

    def gather(self, positions: Indices) -> Node:
        """Return the elements at these positions, in row-major order, as one node."""
        if not self.sources:
            assert self.value is not None
            return self.tracer.constant_node(self.value[positions.ravel()])
        if self.pointers is None:
            return self._take(self.sources[0], of_view(positions, self.base()))
        flat = positions.ravel()
        numbers = self.pointers[flat]
        if np.any(numbers == _NUMBER):
            return self._mixed(numbers, flat)
        return self._from_sources(numbers, self._used(numbers))

    def _used(self, numbers: Indices) -> Indices:
        return np.searchsorted(np.asarray(self._starts), numbers, side="right") - 1

    def _from_sources(self, numbers: Indices, at: Indices, numerals: Node | None = None) -> Node:
        """Return numbered elements of the sources; entries with at = -1 read 0, or from `numerals` in order."""
        used = np.unique(at[at >= 0])
        pieces = [self.sources[int(k)] for k in used]
        sizes = np.array([piece.size for piece in pieces], np.int64)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        starts = np.asarray(self._starts, np.int64)
        rank = np.searchsorted(used, np.maximum(at, 0))
        rank = np.minimum(rank, len(pieces) - 1)
        index = np.where(at >= 0, numbers - starts[np.maximum(at, 0)] + offsets[rank], -1)
        if numerals is not None:
            (holes,) = np.nonzero(at < 0)
            index[holes] = offsets[-1] + (0 if numerals.size == 1 else np.arange(holes.size))
            pieces.append(numerals)
        total = sum(piece.size for piece in pieces)
        source = pieces[0] if len(pieces) == 1 else self.tracer.graph.node("concat", pieces, total)
        return self._take(source, of_indices(index, source.size))

    def _mixed(self, numbers: Indices, flat: Indices) -> Node:
        """Return what gather does where some elements are plain numbers: zeros have no source, others a constant."""
        assert self.value is not None
        hole = numbers == _NUMBER
        numerals = self.value[flat[hole]]
        if hole.all():
            return self.tracer.constant_node(numerals)
        at = np.where(hole, -1, self._used(np.maximum(numbers, 0)))
        if not np.any(numerals) and not np.any(np.signbit(numerals)):
            return self._from_sources(numbers, at)
        if np.all(numerals == numerals[0]):
            numerals = numerals[:1]
        return self._from_sources(numbers, at, self.tracer.constant_node(numerals))

    def _take(self, source: Node, way: IndexMap) -> Node:
        if is_identity(way):
            return source
        return self.tracer.graph.node("take", (source,), way.size, way)

    def write_node(self, positions: Indices | int, node: Node) -> None:
        """Make these elements those of the node, in row-major order (or all of them its one element)."""
        self._whole = None
        if self.pointers is None:
            self.pointers = self.base().copy() if self.sources else np.full(self.size, _NUMBER, np.int64)
        if isinstance(positions, int):
            self.pointers[positions] = self._total
            if self._items:
                self._items.pop(positions, None)
        else:
            order = np.arange(node.size) if node.size > 1 else 0
            self.pointers[positions.ravel()] = self._total + order
            self._items = None
        self.sources.append(node)
        self._starts.append(self._total)
        self._total += node.size

    def write_numbers(self, positions: Indices | int, numbers: Any, dtype: Any) -> None:
        """Make these elements plain numbers, of this type where there were none before."""
        if self.value is None:
            self.value = np.zeros(self.size, dtype)
        self.value[positions] = numbers
        if self.sources:
            if self.pointers is None:
                self.pointers = self.base().copy()
            self.pointers[positions] = _NUMBER
        self._whole = None
        self._items = None

"""A run: the children of one region, emitted one by one in the order (lower bound, index), opening few of them.

The children form a tree, one split variable a level. A prefix of digits is bounded by the epilogue on the fold of what
is fixed and the hulls of what is open; prefix bounds are lowered by 2^-40 of their size, so that they stay below the
bounds of the leaves under them, which are the children's own folds.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.search.slopes import Mask
from infimum.search.structure import Pair, Structure
from infimum.search.tables import NEUTRAL, Split, Tables, met

FloatArray = npt.NDArray[np.float64]

_MARGIN = 2.0**-40


@dataclass(frozen=True, eq=False)
class Prefix:
    """Digits fixed so far, and the folds of the terms that they fix."""

    digits: tuple[int, ...]
    folds: tuple[Pair, ...]


class Run:
    """The children of one region that are not emitted yet."""

    def __init__(
        self, structure: Structure, split: Split, tables: tuple[Tables, ...], masks: Sequence[Mask] = ()
    ) -> None:
        self.structure = structure
        self.masks = masks
        self.split = split
        self.tables = tables
        self._suffixes = [self._suffix(table) for table in tables]
        start = Prefix((), tuple(table.hoisted for table in tables))
        # entries: bound, whether a prefix comes first, child index so far, number, prefix
        self._heap: list[tuple[float, int, int, int, Prefix]] = []
        self._number = 0
        if split.count:
            self._open(start)

    def _suffix(self, table: Tables) -> list[Pair]:
        """For each depth, the fold of the hulls of all terms that are wholly open there."""
        op = table.family.op
        neutral = np.array([NEUTRAL[op]])
        found: list[Pair] = [(neutral, neutral)] * (self.split.count + 1)
        for depth in range(self.split.count - 1, -1, -1):
            fold = found[depth + 1]
            for term in table.terms:
                if term.positions[0] == depth:
                    hull = (np.atleast_1d(term.hulls[0][0]), np.atleast_1d(term.hulls[0][1]))
                    fold = met(op, fold, hull)
            found[depth] = fold
        return found

    # ------------------------------------------------------------------------------------------ the heap
    def bound(self) -> float:
        """No child left has a lower bound below this; inf when none is left."""
        return self._heap[0][0] if self._heap else np.inf

    def advance(self, upper: float) -> tuple[float, int, tuple[int, ...]] | None:
        """Emit the best child if it is known, or open the best prefix and return None. Call while bound() <= upper."""
        bound, _, index, _, prefix = heapq.heappop(self._heap)
        if len(prefix.digits) == self.split.count:
            return bound, index, prefix.digits
        self._open(prefix, upper)
        return None

    def prefixes(self) -> list[tuple[float, tuple[int, ...]]]:
        """What is left, as (lower bound, digits fixed): together they cover every child not emitted."""
        return [(bound, prefix.digits) for bound, _, _, _, prefix in self._heap]

    def _open(self, prefix: Prefix, upper: float = np.inf) -> None:
        """Put the parts of the next split variable in place of a prefix."""
        depth = len(prefix.digits)
        folds = [self._extended(i, prefix) for i in range(len(self.tables))]
        ends = [self._closed(i, prefix, fold, depth + 1) for i, fold in enumerate(folds)]
        lo = np.stack([end[0] for end in ends], 1)
        hi = np.stack([end[1] for end in ends], 1)
        ((bounds, tops),) = cpu.run(self.structure.epilogue, lo, hi, threads=1)
        leaf = depth + 1 == self.split.count
        discarded = self._discarded(prefix)
        for digit in range(self.split.parts):
            if discarded[digit]:
                continue
            bound = float(bounds[digit, 0])
            if bound > float(tops[digit, 0]):
                continue  # the function is defined nowhere there
            if not leaf:
                bound -= abs(bound) * _MARGIN
            if bound > upper:
                continue
            index = sum(k * self.split.parts**i for i, k in enumerate((*prefix.digits, digit)))
            part = tuple((fold[0][digit : digit + 1], fold[1][digit : digit + 1]) for fold in folds)
            self._number += 1
            heapq.heappush(self._heap, (bound, int(leaf), index, self._number, Prefix((*prefix.digits, digit), part)))

    def _discarded(self, prefix: Prefix) -> npt.NDArray[np.bool_]:
        """For each value of the next digit, whether a partial derivative that it completes discards the subtree."""
        found = np.zeros(self.split.parts, bool)
        for mask in self.masks:
            if mask.positions[-1] == len(prefix.digits):
                found |= mask.discards[tuple(prefix.digits[p] for p in mask.positions[:-1])]
        return found

    def _extended(self, i: int, prefix: Prefix) -> Pair:
        """The fold of family i with the terms that the next digit completes, for each value of that digit."""
        table, depth = self.tables[i], len(prefix.digits)
        fold = prefix.folds[i]
        parts = self.split.parts
        fold = (np.broadcast_to(fold[0], parts), np.broadcast_to(fold[1], parts))
        for term in table.terms:
            if term.positions[-1] == depth:
                at = tuple(prefix.digits[p] for p in term.positions[:-1])
                fold = met(table.family.op, fold, (term.hulls[-1][0][at], term.hulls[-1][1][at]))
        return fold

    def _closed(self, i: int, prefix: Prefix, fold: Pair, depth: int) -> Pair:
        """The hull of family i over every completion of the digits, `depth` of them fixed, the last one each value."""
        table = self.tables[i]
        op = table.family.op
        for term in table.terms:
            if term.positions[0] < depth <= term.positions[-1]:
                fixed = [p for p in term.positions if p < depth]
                hull = term.hulls[len(fixed)]
                at = tuple(prefix.digits[p] for p in fixed if p < depth - 1)
                fold = met(op, fold, (hull[0][at], hull[1][at]))
        if any(term.positions[0] >= depth for term in table.terms):
            fold = met(op, fold, self._suffixes[i][depth])
        return fold

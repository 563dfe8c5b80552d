"""Tried: a contractor runs on boxes of a size on which it has been seen to pay, and is tried on a few of the others.

Boxes are sorted into sizes: how often the domain was halved, over all variables on average. For each size a record is
kept of how many boxes the contractor was given, and how many it took away: 1 for one that is emptied, less for one that
is narrowed. It pays where a box less saves more than the contractor costs:

    boxes taken away / boxes given * FOLLOWING  >=  its price

    the record of a size        the contractor is given
    none, and it did not pay    FEW boxes, evenly chosen, until so many have been seen
      on the boxes twice as wide
    none, and it did            all boxes
    it pays                     all boxes
    it does not                 one box in SELDOM, so that a change is seen

Before EARLY boxes a variable have been evaluated, and at least LEAST, it is not even made: most searches are over by
then, and to make its Programs takes as long as so many boxes do. A box may count for several where contractors hint,
which are dear. Counts decide, never a clock, so that a search is the same every time. All of it is policy: a box that
is not given to a contractor stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import like, to_host
from infimum.boxes import Boxes, shrinkage
from infimum.contractors.known import Known
from infimum.domain import Domain

IndexArray = npt.NDArray[np.int64]

EARLY = 64
LEAST = 256  # boxes that are evaluated before it is made, however few variables there are
FEW = 32
SELDOM = 32
FOLLOWING = 8.0  # boxes that would have come of one that is closed: a few generations of children
_MEMORY = 4096.0  # boxes of a record; of more the older ones count less


class Priced(Protocol):
    """A contractor that says what it costs on a box: 1 is as much as the contractors that always run."""

    @property
    def price(self) -> float: ...

    def contract(self, boxes: Boxes, known: Known) -> Boxes: ...


@dataclass
class _Record:
    given: float = 0.0
    taken: float = 0.0

    def add(self, given: int, taken: float) -> None:
        fade = min(1.0, _MEMORY / (self.given + given))
        self.given, self.taken = fade * (self.given + given), fade * (self.taken + taken)


class Tried:
    """One contractor of one search in n variables, made by `make` when it is first tried; None: there is none."""

    def __init__(self, make: Callable[[], Priced | None], n: int, *, dear: int = 1) -> None:
        self._make = make
        self._dear = dear  # for how many boxes one counts where a contractor hints
        self._waiting = max(LEAST, EARLY * n)
        self._evaluated: int | None = None  # boxes, at the last turn
        self._own: Priced | None = None
        self._records: dict[int, _Record] = {}

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return what the contractor leaves of the boxes that it is given, and the others as they are."""
        return self._contract(boxes, known) if self._is_ready(len(boxes), known) else boxes

    def _contract(self, boxes: Boxes, known: Known) -> Boxes:
        assert self._own is not None
        sizes = _sizes(boxes, known.domain)
        given = np.sort(np.concatenate([self._given(int(size), rows) for size, rows in _groups(sizes)]))
        if not given.size:
            return boxes
        if given.size == len(boxes):
            after = self._own.contract(boxes, known)
            self._write_down(boxes, after, sizes)
            return after
        rows = like(given, boxes.lo)
        some = boxes[rows]
        after = self._own.contract(some, known)
        self._write_down(some, after, sizes[given])
        low, high, lower = boxes.lo.copy(), boxes.hi.copy(), boxes.lower.copy()
        low[rows], high[rows], lower[rows] = after
        return Boxes(low, high, lower)

    def _is_ready(self, count: int, known: Known) -> bool:
        """Return whether there is a contractor by now."""
        if self._own is None and self._waiting > 0:
            evaluated = known.function.place.boxes_evaluated
            since = 0 if self._evaluated is None else evaluated - self._evaluated
            self._evaluated = evaluated
            self._waiting -= max(count, since) * (self._dear if known.has_hints else 1)
            if self._waiting <= 0:
                self._own = self._make()
        return self._own is not None

    def _given(self, size: int, rows: IndexArray) -> IndexArray:
        """Return which of the boxes of a size the contractor is given."""
        record = self._records.get(size, _Record())
        if record.given >= FEW:
            most = len(rows) if self._pays(record) else max(1, len(rows) // SELDOM)
        else:
            wider = self._records.get(size - 1)
            most = len(rows) if wider is not None and self._pays(wider) else FEW
        if most >= len(rows):
            return rows
        return rows[np.arange(most) * len(rows) // most]

    def _pays(self, record: _Record) -> bool:
        assert self._own is not None
        return record.taken * FOLLOWING >= self._own.price * record.given > 0

    def _write_down(self, before: Boxes, after: Boxes, sizes: IndexArray) -> None:
        gone = to_host(np.where(after.is_empty(), 1.0, shrinkage(before.ends, after.ends)))
        for size, rows in _groups(sizes):
            self._records.setdefault(int(size), _Record()).add(len(rows), float(np.sum(gone[rows])))


def _sizes(boxes: Boxes, domain: Domain) -> IndexArray:
    """Return how often boxes (k,) are halved, over all variables on average; an infinite range counts as not halved."""
    with np.errstate(all="ignore"):
        parts = like(domain.hi - domain.lo, boxes.lo) / (boxes.hi - boxes.lo)
        halvings = np.frexp(np.where(np.isfinite(parts), parts, 1.0))[1] - 1  # the same on every machine
    found: IndexArray = to_host(np.sum(halvings, axis=1, dtype=np.int64) // boxes.n)
    return found


def _groups(sizes: IndexArray) -> list[tuple[int, IndexArray]]:
    """Return each size with the rows that have it."""
    return [(int(size), np.flatnonzero(sizes == size)) for size in np.unique(sizes)]

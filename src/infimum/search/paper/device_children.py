"""The children of a region that does not stage, all evaluated on GPUs: the bits of enumerated.py and sampling.py.

The children are shared evenly among queues (a GPU and a stream), each evaluates its own in pieces, keeps those that may
hold a minimiser, and sorts them (survivors.py). Only integers are sorted, scanned and compared, so that nothing depends
on an order of threads.

Where a GPU's memory is short, the survivors of earlier regions move to the host's, then pieces are halved.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from infimum.backends.cuda import children as cuda_children
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda.children import Queue, Rows, Table
from infimum.errors import BackendUnavailable
from infimum.fractions import FRACTIONS, at_fraction
from infimum.function.function import Function
from infimum.search.paper.enumerated import boxes, children, refuse_too_many
from infimum.search.paper.split import Split
from infimum.search.paper.survivors import DeviceRun, Survivors
from infimum.search.paper.tuning import BATCH, PIECE

FloatArray = npt.NDArray[np.float64]
T = TypeVar("T")
_Work = Callable[[Queue, int, Any, Any], T]  # on a piece: its queue, first child, lower and upper ends (sets, count)

_FRACTIONS = len(FRACTIONS)
_INFINITY = int(np.float64(np.inf).view(np.int64))


class DeviceChildren:
    """The children of a function's regions, on all GPUs of this machine or on the queues given."""

    def __init__(self, function: Function, queues: list[Queue] | None = None) -> None:
        self.program = function.value_program
        self.queues = cuda_children.queues() if queues is None else queues
        self._kept: list[weakref.ref[Survivors]] = []

    def run(self, split: Split, lo: FloatArray, hi: FloatArray, upper: float) -> DeviceRun:
        """Return the children of [lo, hi] with a lower bound up to `upper`, as EnumeratedRun has them."""
        refuse_too_many(split)
        of = cuda_children.rows(split.variables, split.edges, lo, hi)

        def survivors(queue: Queue, first: int, low: Any, high: Any) -> Survivors:
            keep = (low[0] <= upper) & (low[0] <= high[0])
            indices = self.cupy.flatnonzero(keep)
            bounds = low[0][indices]
            order = self.cupy.argsort(_ordered(bounds), kind="stable")  # equal bounds stay in the order of indices
            part = Survivors(queue, bounds[order], indices[order] + first)
            self._kept.append(weakref.ref(part))
            return part

        self._kept = [kept for kept in self._kept if kept() is not None]
        parts = self._shared(children(split), lambda: cuda_children.table(self.program, of), survivors)
        return DeviceRun(parts)

    def best_point(self, split: Split, lo: FloatArray, hi: FloatArray) -> FloatArray | None:
        """Return the best diagonal point of all children in plain doubles, ties as on the CPU; None without a value."""
        of = cuda_children.rows(split.variables, split.edges, lo, hi)
        points = _diagonals(of)

        def best(_queue: Queue, first: int, values: Any, _: Any) -> tuple[int, int]:
            """Return the least value as an integer of the same order, and the rank of its first place; NaN is last."""
            ordered = _ordered(values)
            least = int(ordered.min())
            if least >= _INFINITY:
                return least, 0
            fraction, child = self.cupy.nonzero(ordered == least)
            return least, int(_rank(child + first, fraction).min())

        made = lambda: cuda_children.point_table(self.program, of, points)  # noqa: E731
        least, rank = min(self._shared(children(split), made, best))
        if least >= _INFINITY:
            return None
        child, fraction = _unranked(rank)
        low, high = boxes(split, np.array([child]), lo, hi)
        return np.asarray(at_fraction(low, high, float(FRACTIONS[fraction]))[0])

    # ------------------------------------------------------------------------------------------ pieces
    @property
    def cupy(self) -> Any:
        return cuda_device.cupy()

    @property
    def _short(self) -> Any:
        return self.cupy.cuda.memory.OutOfMemoryError

    def _shared(self, count: int, made: Callable[[], Table], work: _Work[T]) -> list[T]:
        """Do the work on all children, a share of them on each queue; a round of pieces is under way on all at once."""
        found: list[T] = []
        with cuda_device.cuda_errors_as_refusals():
            shares = [_Share(self, i, count, made, work) for i in range(min(count, len(self.queues)))]
            for _ in range(0, max(share.count for share in shares), PIECE):
                for share in shares:
                    share.start()
                for share in shares:
                    found += share.finish()
        return found

    def halved(self, first: int, count: int, work: Callable[[int, int], T]) -> list[T]:
        """Do the work on so many children; where memory is short, once more, and then on each half."""
        for attempt in range(2):
            try:
                return [work(first, count)]
            except self._short:
                pass  # what the attempt has allocated is free only after this
            if attempt == 0:
                self.spill()
        if count == 1:
            raise BackendUnavailable(cuda_device.memory_is_short())
        half = count // 2
        return self.halved(first, half, work) + self.halved(first + half, count - half, work)

    def spill(self) -> None:
        """Bring what is kept on the GPUs to the host."""
        for kept in self._kept:
            part = kept()
            if part is not None:
                part.fetch_all()
        self._kept = []
        for queue in self.queues:
            with queue.current() as cupy:
                cupy.get_default_memory_pool().free_all_blocks()


class _Share(Generic[T]):
    """One queue's share of a region's children: piece after piece is started, and finished later."""

    def __init__(self, of: DeviceChildren, i: int, count: int, made: Callable[[], Table], work: _Work[T]) -> None:
        self._of, self._queue, self._work = of, of.queues[i], work
        shares = min(count, len(of.queues))
        self._first, self._last = count * i // shares, count * (i + 1) // shares
        self.count = self._last - self._first
        self._ends: tuple[Any, Any] | None = None
        with self._queue.current():
            (self._table,) = of.halved(0, 1, lambda first, count: made())

    def start(self) -> None:
        """Start the next piece, unless memory is short."""
        size, self._ends = min(PIECE, self._last - self._first), None
        if size:
            with self._queue.current(), contextlib.suppress(self._of._short):
                self._ends = self._table.ends(self._first, size)

    def finish(self) -> list[T]:
        """Finish the piece, in smaller ones where memory is short, and return what the work makes of it."""
        first, size = self._first, min(PIECE, self._last - self._first)
        if not size:
            return []
        ends, self._ends = self._ends, None
        self._first += size
        with self._queue.current():
            with contextlib.suppress(self._of._short):
                if ends is not None:
                    return [self._work(self._queue, first, *ends)]
            del ends  # its memory is wanted
            return self._of.halved(first, size, lambda f, c: self._work(self._queue, f, *self._table.ends(f, c)))


def _ordered(values: Any) -> Any:
    """Return integers in the order of the doubles, among which no zero is negative; NaN comes last."""
    bits = values.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _diagonals(of: Rows) -> FloatArray:
    return np.stack([at_fraction(of.lo, of.hi, float(fraction)) for fraction in FRACTIONS])


def _rank(child: Any, fraction: Any) -> Any:
    """Return the place in the order in which the CPU looks at points: by batch, fraction, child."""
    return (child // BATCH * _FRACTIONS + fraction) * BATCH + child % BATCH


def _unranked(rank: int) -> tuple[int, int]:
    batch, rest = divmod(rank, _FRACTIONS * BATCH)
    return batch * BATCH + rest % BATCH, rest // BATCH

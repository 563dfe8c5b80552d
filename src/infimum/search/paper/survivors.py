"""Children of a region that may hold a minimiser, on GPUs: the host fetches a few at a time, the best of all first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda.children import Queue
from infimum.search.paper.tuning import FACTOR, FETCHED

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


class Survivors:
    """Survivors in the order (bound, index): on a device, those that come next also on the host."""

    def __init__(self, queue: Queue, bounds: Any, indices: Any) -> None:
        self._queue = queue
        self._far: tuple[Any, Any] | None = (bounds, indices)
        self._fetched, self._step = 0, FETCHED
        self.count = int(bounds.size)
        self._bounds, self._indices, self._next = np.empty(0), np.empty(0, np.int64), 0

    def best(self) -> tuple[float, int] | None:
        """Return the best survivor's bound and index; None if there is none."""
        if self._next == self._bounds.size and self._far is not None:
            self._fetch(self._step)
            self._step *= FACTOR
        if self._next == self._bounds.size:
            return None
        return float(self._bounds[self._next]), int(self._indices[self._next])

    def drop_best(self) -> None:
        """Drop the best survivor."""
        self._next += 1

    def left(self) -> tuple[FloatArray, IndexArray]:
        self.fetch_all()
        return self._bounds[self._next :], self._indices[self._next :]

    def fetch_all(self) -> None:
        """Fetch what is still on the device."""
        if self._far is not None:
            self._fetch(self._far[0].size)

    def _fetch(self, count: int) -> None:
        """Add so many survivors to those on the host."""
        assert self._far is not None
        at = slice(self._fetched, self._fetched + count)
        with cuda_device.cuda_errors_as_refusals(), self._queue.current() as cupy:
            bounds, indices = (cupy.asnumpy(end[at]) for end in self._far)
        self._bounds = np.concatenate([self._bounds[self._next :], bounds])
        self._indices = np.concatenate([self._indices[self._next :], indices])
        self._next = 0
        self._fetched += count
        if self._fetched >= self._far[0].size:
            self._far = None


class DeviceRun:
    """The surviving children in the order (lower bound, index); call advance while bound() is finite."""

    def __init__(self, parts: list[Survivors]) -> None:
        self._parts = parts
        self.survivors = sum(part.count for part in parts)

    def bound(self) -> float:
        best = self._best()
        return np.inf if best is None else best[0][0]

    def advance(self) -> tuple[float, int]:
        """Emit the best child: its lower bound and its index."""
        best = self._best()
        assert best is not None
        best[1].drop_best()
        return best[0]

    def left(self) -> tuple[FloatArray, IndexArray]:
        """Return the lower bounds and the indices of the children not emitted, in order."""
        parts = [part.left() for part in self._parts]
        bounds = np.concatenate([np.empty(0), *(b for b, _ in parts)])
        indices = np.concatenate([np.empty(0, np.int64), *(i for _, i in parts)])
        order = np.lexsort((indices, bounds))
        return bounds[order], indices[order]

    def _best(self) -> tuple[tuple[float, int], Survivors] | None:
        found = [(best, part) for part in self._parts if (best := part.best()) is not None]
        return min(found, key=lambda one: one[0], default=None)

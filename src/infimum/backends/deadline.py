"""A moment after which work stops, and a place that asks for it between the slices of a batch (POLICY).

Every batch of boxes passes through a Place, so that this is where a time limit is held: contraction passes, descents,
samples and children that are evaluated one by one need not know of it. `Late` unwinds to the search, which gives back
the boxes that it had taken. Slices differ in time alone: the outputs for a box do not depend on its neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import numpy as np

from infimum.backends.cpu import Mode
from infimum.backends.place import FloatArray, Outputs, Place, lies_there
from infimum.passes.program import Program

_FIRST = 8  # boxes of the first slice, from which the speed is read
_SLICE = 0.05  # seconds


class Late(Exception):
    """The moment has passed; what was under way is of no more use."""


class Hurried(Place):
    """Another place, until a moment of time.perf_counter()."""

    def __init__(self, inner: Place, until: float) -> None:
        self.inner = inner
        self.until = until
        self.backend = inner.backend
        self._patient = False
        self._each: dict[tuple[Program, Mode], float] = {}  # seconds for a box, lately

    def left(self) -> float:
        """The seconds until then, none at all where it has passed."""
        return inf if self._patient else max(0.0, self.until - time.perf_counter())

    def ask(self) -> None:
        """Raise Late once the moment has passed."""
        if not self.left():
            raise Late

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """Forget the moment meanwhile: for the few evaluations that an answer cannot do without."""
        before, self._patient = self._patient, True
        try:
            yield
        finally:
            self._patient = before

    def run(
        self,
        program: Program,
        lo: FloatArray,
        hi: FloatArray,
        mode: Mode = "interval",
        variant: str | None = None,
        threads: int | None = 1,
    ) -> Outputs:
        """The same, slice by slice on a CPU; on a GPU, where a batch takes little time, at once."""
        self.ask()
        if self.backend != "cpu" or lies_there(lo):
            return self.inner.run(program, lo, hi, mode, variant, threads)
        parts: list[Outputs] = []
        first = 0
        while first < len(lo) or not parts:
            self.ask()
            began = time.perf_counter()
            each = self._each.get((program, mode))
            last = len(lo) if self._patient else first + (_FIRST if each is None else max(1, int(_SLICE / each)))
            own = slice(first, last)
            parts.append(self.inner.run(program, lo[own], hi[own], mode, variant, threads))
            count = len(lo[own])
            if count:
                self._each[program, mode] = max(1e-9, (time.perf_counter() - began) / count)
            first = last
        return parts[0] if len(parts) == 1 else [_joined(slot) for slot in zip(*parts, strict=True)]

    def there(self, *arrays: FloatArray) -> tuple[FloatArray, ...]:
        """Where the other place has them."""
        return self.inner.there(*arrays)


def _joined(slot: tuple[tuple[FloatArray, FloatArray], ...]) -> tuple[FloatArray, FloatArray]:
    """One output of all slices; of points both ends are one array."""
    low = np.concatenate([lo for lo, _ in slot])
    return low, (low if slot[0][0] is slot[0][1] else np.concatenate([hi for _, hi in slot]))

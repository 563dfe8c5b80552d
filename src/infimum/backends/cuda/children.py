"""The children of a split region on a GPU: each thread finds its own box from its number.

Only the region and its cuts cross to the device: a row of parts for each variable, one part where it is not split.

    child number    its digits in base `parts`, the first split variable's fastest, say which part of each row it has
    at points       several sets of rows, a point of each part in a set; all children of the first set, then of the next

Guarantee: the bits of the program on the boxes themselves, for every way of cutting the children into launches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.backends.cpu import Mode
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda import launch as emit_launch
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_WATCHED = 64  # one call in so many is compared with the CPU
_UNSPLIT = 31  # a place above all digits, where device.h finds a 0


class Rows(NamedTuple):
    """The parts of every variable, one row after the other."""

    lo: FloatArray
    hi: FloatArray
    places: npt.NDArray[np.int32]  # (n, 2): where a variable's row begins, and the place of its digit
    parts: int
    digits: int

    def numbering(self, first: int, count: int) -> npt.NDArray[np.int32]:
        """Return what device.h reads of `count` children from the first on."""
        head = (first, count, self.lo.size, self.parts, self.digits, _bits(self.parts))
        return np.concatenate([np.array(head, np.int32), self.places.ravel()])


def rows(variables: IndexArray, edges: FloatArray, lo: FloatArray, hi: FloatArray) -> Rows:
    """Return the rows of a region [lo, hi] of which some variables are cut at edges (variables, parts + 1)."""
    digits, parts = len(variables), edges.shape[1] - 1
    sizes = np.ones(lo.size, np.int64)
    sizes[variables] = parts
    starts = np.cumsum(sizes) - sizes
    low, high = np.repeat(lo, sizes), np.repeat(hi, sizes)
    at = starts[variables][:, None] + np.arange(parts)
    low[at], high[at] = edges[:, :-1], edges[:, 1:]
    places = np.stack([starts, np.full(lo.size, _UNSPLIT)], 1).astype(np.int32)
    places[variables, 1] = _bits(parts) * np.arange(digits)
    return Rows(low, high, places, parts, digits)


def _bits(parts: int) -> int:
    return (parts - 1).bit_length()


class Queue(NamedTuple):
    """A GPU and a stream of it, whose work goes on beside that of other queues."""

    number: int
    stream: Any

    @contextmanager
    def current(self) -> Iterator[Any]:
        """Send work that is started inside to this queue."""
        cupy = cuda_device.cupy()
        with cupy.cuda.Device(self.number), self.stream:
            yield cupy


def queues(streams: int = 1) -> list[Queue]:
    """Return so many queues on every GPU of this machine."""
    cupy = cuda_device.cupy()
    found = []
    for number in range(cuda_device.count()):
        with cupy.cuda.Device(number):
            found += [Queue(number, cupy.cuda.Stream(non_blocking=True)) for _ in range(streams)]
    return found


class Table(NamedTuple):
    """Rows on the current device, ready for a program of one number."""

    program: Program
    mode: Mode
    rows: Rows
    sets: int
    parts: Any  # lower and upper ends in turn, or points
    source: tuple[FloatArray, FloatArray]  # of the parts: ends (1, parts of all rows), or points (sets, …) twice

    def ends(self, first: int, count: int) -> tuple[Any, Any]:
        """Return the ends (sets, count) of the program on so many children; wait only for those that are compared."""
        while True:
            made, out = self._started(first, count)
            total = self.sets * count
            if made.calls % _WATCHED:
                made.calls += 1
                break
            rows = lambda at, out=out: [tuple(cuda_device.picked(end, at)[:, None] for end in out)]  # noqa: E731
            if made.is_believed(lambda at: self._boxes(first, count, at), total, rows):
                break
        return out[0].reshape(self.sets, count), out[1].reshape(self.sets, count)

    def _boxes(self, first: int, count: int, at: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the boxes (or points) of some numbers: those of `count` children from the first on, set after set."""
        sets, children = at // count, first + at % count
        starts, places = self.rows.places[:, 0], self.rows.places[:, 1]
        digit = np.minimum(places // max(1, _bits(self.rows.parts)), max(0, self.rows.digits - 1))
        digits = children[:, None] // self.rows.parts ** digit.astype(np.int64) % self.rows.parts
        where = starts + np.where(places == _UNSPLIT, 0, digits)
        lo, hi = (end[sets[:, None], where] for end in self.source)
        return lo, hi

    def _started(self, first: int, count: int) -> tuple[cuda_kernel.Kernel, tuple[Any, Any]]:
        cupy = cuda_device.cupy()
        number = cupy.cuda.Device().id
        total = self.sets * count
        team = emit_launch.best_team(self.program, total, _processors(number))
        made = cuda_kernel.kernel(self.program, self.mode, team, number, True)
        free = cupy.cuda.Device().mem_info[0] if made.emitted.scratch(team) else 0
        scratch, blocks = made.scratch(total, free // 4)
        out_lo = cupy.empty(total)
        out_hi = out_lo if made.point else cupy.empty(total)
        split = cupy.asarray(self.rows.numbering(first, count))
        made.launch(self.parts, self.parts, (out_lo, out_hi), scratch, blocks, total, split)
        return made, (out_lo, out_hi)


def table(program: Program, of: Rows) -> Table:
    """Return the table of the children as boxes."""
    parts = cuda_device.cupy().asarray(np.stack([of.lo, of.hi], 1))
    return Table(program, "interval", of, 1, parts, (of.lo[None], of.hi[None]))


def point_table(program: Program, of: Rows, points: FloatArray) -> Table:
    """Return the table of points (sets, parts of all rows) of the children."""
    return Table(program, "point", of, len(points), cuda_device.cupy().asarray(points), (points, points))


@cache
def _processors(number: int) -> int:
    """Return how many processors the current device has."""
    return cuda_device.current().processors

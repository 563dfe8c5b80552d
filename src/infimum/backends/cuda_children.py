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

from infimum.backends import cuda, emit_launch
from infimum.backends.cpu import Mode
from infimum.passes.program import Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_UNSPLIT = 31  # a place above all digits, where device.h finds a 0


class Rows(NamedTuple):
    """The parts of every variable, one row after the other."""

    lo: FloatArray
    hi: FloatArray
    places: npt.NDArray[np.int32]  # (n, 2): where a variable's row begins, and the place of its digit
    parts: int
    digits: int

    def numbering(self, first: int, count: int) -> npt.NDArray[np.int32]:
        """What device.h reads of `count` children from the first on."""
        head = (first, count, self.lo.size, self.parts, self.digits, _bits(self.parts))
        return np.concatenate([np.array(head, np.int32), self.places.ravel()])


def rows(variables: IndexArray, edges: FloatArray, lo: FloatArray, hi: FloatArray) -> Rows:
    """The rows of a region [lo, hi] of which some variables are cut at edges (variables, parts + 1)."""
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
        """Work started inside goes to this queue."""
        cupy = cuda._cupy()
        with cupy.cuda.Device(self.number), self.stream:
            yield cupy


def queues(streams: int = 1) -> list[Queue]:
    """So many queues on every GPU of this machine."""
    cupy = cuda._cupy()
    found = []
    for number in range(cuda.device_count()):
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

    def ends(self, first: int, count: int) -> tuple[Any, Any]:
        """The ends (sets, count) of the program on so many children; nothing is waited for."""
        cupy = cuda._cupy()
        number = cupy.cuda.Device().id
        total = self.sets * count
        team = emit_launch.best_team(self.program, total, _processors(number))
        made = cuda.kernel(self.program, self.mode, team, number, True)
        free = cupy.cuda.Device().mem_info[0] if made.emitted.scratch(team) else 0
        scratch, blocks = made.scratch(total, free // 4)
        out_lo = cupy.empty(total)
        out_hi = out_lo if made.point else cupy.empty(total)
        split = cupy.asarray(self.rows.numbering(first, count))
        made.launch(self.parts, self.parts, (out_lo, out_hi), scratch, blocks, total, split)
        return out_lo.reshape(self.sets, count), out_hi.reshape(self.sets, count)


def table(program: Program, of: Rows) -> Table:
    """The children as boxes."""
    return Table(program, "interval", of, 1, cuda._cupy().asarray(np.stack([of.lo, of.hi], 1)))


def point_table(program: Program, of: Rows, points: FloatArray) -> Table:
    """Points (sets, parts of all rows) of the children."""
    return Table(program, "point", of, len(points), cuda._cupy().asarray(points))


@cache
def _processors(number: int) -> int:
    """Of the current device."""
    return cuda.device().processors

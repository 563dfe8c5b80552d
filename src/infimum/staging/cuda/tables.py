"""Where the tables of regions lie on a device: places of one size, of which the last used ones are kept."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.fractions import FRACTIONS
from infimum.staging.cuda.memory import Machine
from infimum.staging.cuda.world import MOST_AHEAD, MOST_PREFIXES, Head

FloatArray = npt.NDArray[np.float64]
Extra = tuple[FloatArray, FloatArray] | None

_PLACES_BYTES = 2**26
_FEWEST_PLACES = 8


class RegionTables(NamedTuple):
    """Where a region's tables lie on the device, and what they were made with."""

    number: int
    depth: int  # digits of the prefixes that children are looked for by
    prefixes: int
    masked: bool
    extra: Extra


class TablePlaces:
    """Memory of a machine for the tables of regions, and for one search for a sample (`scratch`)."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._first, self._bytes = 0, 0
        self._free: list[int] = []
        self._tables: OrderedDict[int, RegionTables] = OrderedDict()  # the last used last
        self.scratch, self._scratch_bytes = 0, 0

    def __contains__(self, region: int) -> bool:
        return region in self._tables

    def __getitem__(self, region: int) -> RegionTables:
        return self._tables[region]

    def use(self, region: int) -> tuple[RegionTables, int]:
        """Return the tables of a region and their address; they are the last that will be given up."""
        self._tables.move_to_end(region)
        return self._tables[region], self._address(self._tables[region].number)

    def release(self, region: int) -> None:
        """Give up the place of a region, if it has one."""
        tables = self._tables.pop(region, None)
        if tables is not None:
            self._free.append(tables.number)

    def reserve(self, region: int, head: Head, masked: bool, extra: Extra) -> int:
        """Return the address where the tables of a region go, and make room for its sample."""
        values = 16 * (head.pool + head.families * (head.split + 2))
        wanted = ctypes.sizeof(Head) + head.bytes - head.shape + values + head.mask_rows
        if wanted > self._bytes:
            self._bytes = -(-2 * wanted // 256) * 256
            count = max(_FEWEST_PLACES, _PLACES_BYTES // self._bytes)
            self._first = self._machine.room(count * self._bytes)
            self._free = list(range(count))
            self._tables.clear()
        options = 8 * FRACTIONS.size * head.split * head.parts
        scratch = FRACTIONS.size * values + 16 * (head.rows + MOST_AHEAD) + options
        if scratch > self._scratch_bytes:
            self._scratch_bytes = 2 * scratch
            self.scratch = self._machine.room(self._scratch_bytes)
        tables = self._tables.pop(region, None)
        if tables is not None:
            number = tables.number
        elif self._free:
            number = self._free.pop()
        else:
            number = self._tables.popitem(last=False)[1].number
        self._tables[region] = RegionTables(number, *_prefixes(head.split, head.parts), masked, extra)
        return self._address(number)

    def _address(self, number: int) -> int:
        return self._first + number * self._bytes


def _prefixes(split: int, parts: int) -> tuple[int, int]:
    """Return how many digits the prefixes have that children are looked for by, and how many prefixes there are."""
    depth, count = 0, 1
    while depth < split and count * parts <= MOST_PREFIXES:
        depth, count = depth + 1, count * parts
    return depth, count

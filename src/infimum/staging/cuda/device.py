"""The working box of a search whose tables are made on a GPU: same children, same samples, same bits as core.Staging.

    the host has       the tree of regions, the box, what a split touches (core.Staging)
    the device has     the box, every term on its tree, the tables of the last regions (world.py, tables.py)

One small copy crosses to the device for each region that is split, and one comes back: a sample and the next few
children. A run is then (region, last child emitted); children are listed again when it is taken up again. The numbers
of all emitted children are kept for the end, when the core lists what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.core.codes import Advance, Settle, Tables
from infimum.staging.cuda.memory import GpuMachine, Machine
from infimum.staging.cuda.tables import Extra, TablePlaces
from infimum.staging.cuda.text import kernels
from infimum.staging.cuda.world import (
    DEVICE_LISTED,
    DEVICE_SPLIT,
    RESULT_BOUNDS,
    RESULT_COUNT,
    RESULT_INDICES,
    Head,
    new_world,
)
from infimum.staging.working import Pair, Stages

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FEW = 8  # children listed at first: most regions are left after one
_FIRST = (-np.inf, -1)
_LARGEST = float(np.finfo(np.float64).max)


class Run:
    """What is left of a region: children that are listed, and whether there are more after them."""

    __slots__ = ("bounds", "emitted", "indices", "last", "more", "next")

    def __init__(self) -> None:
        self.bounds: list[float] = []
        self.indices: list[int] = []
        self.next = 0
        self.emitted: list[int] = []
        self.last: tuple[float, int] = _FIRST
        self.more = True


class Listed(NamedTuple):
    """The next children of a region, those with a lower bound of at most `upper`."""

    region: int
    upper: float
    bounds: list[float]
    indices: list[int]
    all: bool  # there are no more


class DeviceStaging:
    """core.Staging with its tables on a device.

    It differs in two ways. A bound is that of the next child, or of the last one emitted where the next is not listed
    yet. Where more is left of a region than is listed, what is left is the region itself, as a prefix of no digits.
    After `leave`, core.Staging lists what is left, region by region as they are tabulated again.
    """

    def __init__(
        self,
        stages: Stages,
        domain: Pair,
        inner: Pair,
        widths: FloatArray | None,
        machine: Callable[[str], Machine] = GpuMachine,
    ) -> None:
        assert stages.structure is not None
        self._box = stages.working(domain, inner, widths)
        self.lo, self.hi = self._box.lo, self._box.hi
        self.go, self.wide, self.open = self._box.go, self._box.wide, self._box.open
        self.split, self.point = self._box.split, self._box.point
        self.split_equally, self.split_of = self._box.split_equally, self._box.split_of
        self.excludes, self.discards = self._box.excludes, self._box.discards
        self.parent, self.depth = self._box.parent, self._box.depth
        families, slopes = stages.structure.families, stages.slopes
        programs, reductions = [f.program for f in families], {f.op for f in families}
        self.text = kernels(programs, stages.structure.epilogue, slopes.programs, reductions)
        self.machine = machine(self.text)
        self._result = self.machine.mailbox()
        self._world = new_world(self.machine, self._result, stages, domain, inner)
        self._tables = TablePlaces(self.machine)
        self._runs: dict[int, Run] = {}
        self._upper = np.inf  # the last one heard of: children above it are not listed
        self._asked: tuple[int, float, int, bool] | None = None  # region, upper, how many children, with sample
        self._listed: Listed | None = None
        self._sampled: tuple[int, core.Sample | None] | None = None
        self._here: set[int] | None = None  # after leaving: regions of which the core's box knows what is left

    @property
    def moves(self) -> int:
        """Return a number that grows whenever an end of the box changes."""
        return self._box.moves

    # ------------------------------------------------------------------------------------------ a region
    def tabulate(self, region: int, masked: bool, extra: Extra = None) -> int:
        """Make the tables of the region that the box is, and list its next children; as core.Staging.tabulate says."""
        if self._here is not None:
            return self._tabulate_here(region, masked, extra)
        return self._tabulate(region, masked, extra, region not in self._runs)

    def leave(self) -> None:
        """Go on without the device, for what is left of regions."""
        self._box.forget()
        self._here = set()

    def _tabulate_here(self, region: int, masked: bool, extra: Extra) -> int:
        """Make the tables in the core, and leave there what it would have left after the same children were emitted.

        It emits them in the same order; should it emit another one, all is left, rather than that child lost.
        """
        assert self._here is not None
        kind = self._box.tabulate(region, masked, extra)
        self._box.begin(region, self._upper)
        emitted = set(self._runs[region].emitted)
        while emitted and self._box.bound(region) <= min(self._upper, _LARGEST):
            found, _, index = self._box.advance(region, self._upper)
            if found == Advance.CHILD and index not in emitted:
                self._box.begin(region, self._upper)
                break
            if found == Advance.CHILD:
                emitted.remove(index)
        self._here.add(region)
        return kind

    def settle(self, region: int, upper: float, most: int = 4096) -> int:
        """Make the bound that of the next child, and return one of codes.Settle."""
        if self._here is not None:
            return self._box.settle(region, upper, most) if region in self._here else Settle.NEEDS_TABLES
        run = self._runs[region]
        is_known = run.next < len(run.bounds) or not run.more
        return Settle.DONE if is_known or self._take_up(region, upper) else Settle.NEEDS_TABLES

    def _tabulate(self, region: int, masked: bool, extra: Extra, with_sample: bool) -> int:
        kind, start, size = self._box.pack(region, masked, extra)
        if kind == Tables.NONE:
            return kind
        self._collect()
        head = Head.from_address(start)
        place = self._tables.reserve(region, head, masked, extra)
        self.machine.step(self._world, (start, size), place, self._tables.scratch, with_sample)
        run = self._runs.get(region)
        self._list(region, _FIRST if run is None else run.last, with_sample)
        return kind

    def _list(self, region: int, last: tuple[float, int], with_sample: bool) -> None:
        """Ask for the children of a tabulated region after the last one."""
        self._collect()
        tables, place = self._tables.use(region)
        scratch, wanted = self._tables.scratch if with_sample else 0, FEW if last == _FIRST else DEVICE_LISTED
        where = place, scratch, tables.depth, tables.prefixes
        self.machine.children(self._world, where, last, self._upper, wanted)
        self._asked = region, self._upper, wanted, with_sample

    def _collect(self) -> None:
        """Fetch what was asked for."""
        if self._asked is None:
            return
        region, upper, wanted, with_sample = self._asked
        self._asked = None
        found = self.machine.answer()
        count = int(found[RESULT_COUNT])
        indices = [int(i) for i in found[RESULT_INDICES : RESULT_INDICES + count]]
        self._listed = Listed(region, upper, found[RESULT_BOUNDS : RESULT_BOUNDS + count], indices, count < wanted)
        if with_sample:
            value, lo, hi, child, fraction, there = found[:6]
            self._sampled = region, core.Sample(value, lo, hi, int(child), int(fraction)) if there else None

    def sample(self, region: int) -> core.Sample | None:
        """Return the best sample point of the tabulated region that the box is; None where no sample has a value."""
        self._collect()
        if self._sampled is None or self._sampled[0] != region:
            tables = self._tables[region]
            self._tabulate(region, tables.masked, tables.extra, True)
            self._collect()
            self._listed = None
        assert self._sampled is not None
        return self._sampled[1]

    # ------------------------------------------------------------------------------------------ a run
    def begin(self, region: int, upper: float) -> None:
        """List the first children of a region just tabulated."""
        run = self._runs.get(region)
        if run is not None and run.last != _FIRST:
            self._collect()
            self._listed = None
        self._runs[region] = Run()
        self._take_up(region, upper)

    def _take_up(self, region: int, upper: float) -> bool:
        """Go on with the children after the last one of a run, as far as they are not above `upper`.

        False where the region's tables are needed first.
        """
        self._collect()
        self._upper = upper
        run = self._runs[region]
        if self._listed is None or self._listed.region != region or self._listed.upper < upper:
            if region not in self._tables:
                return False
            self._list(region, run.last, False)
            self._collect()
        assert self._listed is not None
        _, _, bounds, indices, are_all = self._listed
        self._listed = None
        kept = sum(1 for bound in bounds if bound <= upper)
        run.bounds, run.indices, run.next = bounds[:kept], indices[:kept], 0
        run.more = kept == len(bounds) and not are_all
        return True

    def advance(
        self, region: int, upper: float, other_bound: float = np.inf, other: int = -1, most: int = 4096
    ) -> tuple[int, float, int]:
        """Emit the best child, as core.Staging.advance does."""
        run = self._runs[region]
        if run.next == len(run.bounds):
            if not run.more:
                return Advance.NONE, np.inf, -1
            if not self._take_up(region, upper):
                return Advance.NEEDS_TABLES, np.inf, -1
        if run.next == len(run.bounds):
            return Advance.NONE, np.inf, -1
        bound, index = run.bounds[run.next], run.indices[run.next]
        if bound > upper or bound > other_bound or (bound == other_bound and region > other):
            return Advance.NONE, bound, index
        run.next += 1
        run.last = bound, index
        run.emitted.append(index)
        return Advance.CHILD, bound, index

    def bound(self, region: int) -> float:
        """Return a bound that no lower bound of a child left lies below; inf when none is left."""
        if self._here is not None and region in self._here:
            return self._box.bound(region)
        run = self._runs.get(region)
        if run is None:
            return np.inf
        if run.next < len(run.bounds):
            return run.bounds[run.next]
        return run.last[0] if run.more else np.inf

    def left(self, region: int) -> int:
        """Return how many entries `prefixes` has."""
        if self._here is not None and region in self._here:
            return self._box.left(region)
        run = self._runs.get(region)
        return 0 if run is None else 1 if run.more else len(run.bounds) - run.next

    def prefixes(self, region: int) -> tuple[FloatArray, IntArray, IntArray]:
        """Return lower bounds, indices and fixed digits of what is left; it covers every child not emitted."""
        if self._here is not None and region in self._here:
            return self._box.prefixes(region)
        run = self._runs.get(region)
        if run is None:
            return np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
        if run.more:
            return np.array([-np.inf]), np.zeros(1, np.int64), np.zeros(1, np.int64)
        indices = np.array(run.indices[run.next :], np.int64)
        return np.array(run.bounds[run.next :]), indices, np.full(indices.size, DEVICE_SPLIT)

    def release(self, region: int) -> None:
        """Forget a region of which no child can be wanted any more; its descendants stay."""
        self._runs.pop(region, None)
        self._tables.release(region)
        self._box.release(region)

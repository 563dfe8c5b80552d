"""The working box of a search whose tables are made on a GPU: same children, same samples, same bits as core.Staging.

    here     the tree of regions, the box, what a split touches (core.Staging)
    there    the box, every term on its tree, the tables of the last regions (device_step.h, device_children.h)

One small copy goes there for each region that is split, and one comes back: a sample and the next few children. A run
is then (region, last child emitted); children are listed again when it is taken up again. The numbers of all children
emitted are for the end, when the core lists what is left.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.backends.cuda import audit as cuda_audit
from infimum.backends.cuda import compile as cuda
from infimum.backends.cuda.emit import LONG
from infimum.fractions import FRACTIONS
from infimum.staging.cuda.memory import Gpu, Machine
from infimum.staging.cuda.text import kernels
from infimum.staging.structure import Family
from infimum.staging.working import Pair, Stages

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Extra = tuple[FloatArray, FloatArray] | None

# device_tables.h, core/staging/packed.h and core/staging/numbers.h have the same numbers.
_SPLIT, _PARTS, _LISTED, _LEVELS, _CHUNK, _AHEAD = 24, 64, 32, 6, 256, 512
_COUNT, _BOUNDS, _INDICES = 6, 8, 8 + _LISTED
_FEW = 8  # children listed at first: most regions are left after one
_CHILDREN = 2**31
_PREFIXES = 2**14
_PLACES_BYTES = 2**26
_FEWEST_PLACES = 8
_FIRST = (-np.inf, -1)
_LARGEST = float(np.finfo(np.float64).max)
_COMPARED = 4  # regions, before kernels are believed
_BELIEVED: set[tuple[str, Any]] = set()  # texts and machines


_HEAD = (
    "bytes shape split parts families masks stale_count stale ends variables edges family mask extra pool rows "
    "mask_rows digit_bits padding_0 padding_1"
)


class Head(ctypes.Structure):
    """`Packed` of core/staging/packed.h."""

    _fields_ = [(name, ctypes.c_int) for name in _HEAD.split()]


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


class RegionTables(NamedTuple):
    """Where a region's tables lie on the device, and what they were made with."""

    number: int
    depth: int  # digits of the prefixes that children are looked for by
    prefixes: int
    masked: bool
    extra: Extra


def fits(stages: Stages, parts: int, variables: int) -> bool:
    """Whether a search that splits so many variables at a time into so many parts can run on a device."""
    if stages.structure is None or not 2 <= parts <= _PARTS or variables > _SPLIT or parts**variables > _CHILDREN:
        return False
    programs = [*(f.program for f in stages.structure.families), stages.structure.epilogue, *stages.slopes.programs]
    return sum(len(program.instructions) for program in programs) <= LONG


def working(
    stages: Stages,
    ends: tuple[Pair, Pair],
    widths: FloatArray | None,
    backend: str = "cpu",
    partition: tuple[int, int] = (1, 1),
    machine: Callable[[str], Machine] = Gpu,
) -> Working:
    """A working box over a domain, given outward and inward; on a device where that is asked for and possible.

    partition: into how many parts, and how many variables at a time, the search splits. A device that does not give
    the core's numbers is refused by BackendUnavailable (backends/cuda/audit.py says why it might not).
    """
    if backend != "cuda" or not fits(stages, *partition):
        return stages.working(*ends, widths)
    made = DeviceStaging(stages, *ends, widths, machine)
    if (made.text, machine) in _BELIEVED:
        return made
    if not agrees(made, stages, ends, partition):
        raise cuda_audit.refusal(cuda.device().name)
    _BELIEVED.add((made.text, machine))
    return DeviceStaging(stages, *ends, widths, machine)


def agrees(made: Working, stages: Stages, ends: tuple[Pair, Pair], partition: tuple[int, int]) -> bool:
    """Whether a fresh working box gives the core's tables, samples and children on a few regions, each in the last.

    Masks are compared as if the function were smooth: it is their numbers that count here.
    """
    boxes, (parts, variables), cycle = (made, stages.working(*ends, None)), partition, 0
    for _ in range(_COMPARED):
        extra = stages.slopes.extra_ends(made.lo, made.hi)
        told: list[tuple[core.Sample | None, list[tuple[float, int]]]] = []
        following = 0
        for box in boxes if made.open() else ():
            region, following = box.split_equally(cycle, max(1, variables), parts)
            if box.tabulate(region, True, extra) == 2:
                return True
            sample = box.sample(region)
            upper = np.inf if sample is None or not sample.lo <= sample.hi else sample.hi
            box.begin(region, upper)
            told.append((sample, _emitted(box, region, upper)))
        if not told or told[0] != told[1]:
            return not told
        children = told[0][1]
        if not children:
            return True
        for box in boxes:
            box.go(region, children[0][1], _SPLIT)
        cycle = following
    return True


def _emitted(box: Working, region: int, upper: float) -> list[tuple[float, int]]:
    """The first children of a region, one more than are listed at first."""
    found: list[tuple[float, int]] = []
    while len(found) <= _FEW and box.bound(region) <= min(upper, _LARGEST):
        kind, bound, index = box.advance(region, upper)
        if kind == 1:
            found.append((bound, index))
    return found


class DeviceStaging:
    """core.Staging with its tables on a device.

    Differences: a bound is that of the next child, or of the last one emitted where the next is not listed yet; what is
    left of a region of which more is left than is listed is the region itself, as a prefix of no digits. After `leave`
    what is left is listed by core.Staging, region by region as they are tabulated again.
    """

    def __init__(
        self,
        stages: Stages,
        domain: Pair,
        inner: Pair,
        widths: FloatArray | None,
        machine: Callable[[str], Machine] = Gpu,
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
        self._world = self._new_world(stages, domain, inner)
        self._scratch, self._scratch_bytes = 0, 0
        self._first_place, self._place_bytes = 0, 0
        self._free: list[int] = []
        self._tables: OrderedDict[int, RegionTables] = OrderedDict()  # the last used last
        self._runs: dict[int, Run] = {}
        self._upper = np.inf  # the last one heard of: children above it are not listed
        self._asked: tuple[int, float, int, bool] | None = None  # region, upper, how many children, with sample
        self._listed: Listed | None = None
        self._sampled: tuple[int, core.Sample | None] | None = None
        self._here: set[int] | None = None  # after leaving: regions of which the core's box knows what is left

    @property
    def moves(self) -> int:
        """Grows whenever an end of the box changes."""
        return self._box.moves

    # ------------------------------------------------------------------------------------------ what lies there
    def _new_world(self, stages: Stages, domain: Pair, inner: Pair) -> int:
        put, room = self.machine.put, self.machine.room
        assert stages.structure is not None
        ends = [put(np.array(end, np.float64)) for end in (*domain, *inner, *domain)]
        families = np.concatenate([self._family_words(f) for f in stages.structure.families])
        slopes = [
            np.array([c.read.shape[1], c.lo.shape[1], c.extra.shape[1],
                      put(_ints(c.variables)), put(_ints(c.read)), put(c.lo), put(c.hi)], np.int64)
            for c in stages.slopes.classes
        ]  # fmt: skip
        words = [
            FRACTIONS.size,
            *ends,
            put(FRACTIONS),
            put(families),
            put(np.concatenate(slopes) if slopes else np.zeros(1, np.int64)),
            *(room(8 * _PREFIXES) for _ in range(3)),
            room(16),
            self._result,
        ]
        return put(np.array(words, np.int64))

    def _family_words(self, f: Family) -> IntArray:
        put, room = self.machine.put, self.machine.room
        sizes = [f.count]
        while sizes[-1] > 1:
            sizes.append(-(-sizes[-1] // _CHUNK))
        assert len(sizes) <= _LEVELS, "a family has fewer than 256**5 terms"
        total = sum(sizes)
        padding = [0] * (_LEVELS - len(sizes))
        firsts = [sum(sizes[:level]) for level in range(len(sizes))]
        op = ("add", "mul", "min", "max").index(f.op)
        numbers = [op, f.count, f.reads.shape[1], f.lo.shape[1], len(sizes), total]
        pointers = [put(_ints(f.reads)), put(f.lo), put(f.hi), put(f.points)]
        trees = [room(16 * total), room(16 * total * FRACTIONS.size), room(8 * total * FRACTIONS.size), room(f.count)]
        return np.array([*numbers, *firsts, *padding, *sizes, *padding, *pointers, *trees], np.int64)

    def _tables_address(self, region: int, head: Head, masked: bool, extra: Extra) -> int:
        """Return the address where the tables of a region go."""
        values = 16 * (head.pool + head.families * (head.split + 2))
        wanted = ctypes.sizeof(Head) + head.bytes - head.shape + values + head.mask_rows
        if wanted > self._place_bytes:
            self._place_bytes = -(-2 * wanted // 256) * 256
            count = max(_FEWEST_PLACES, _PLACES_BYTES // self._place_bytes)
            self._first_place = self.machine.room(count * self._place_bytes)
            self._free = list(range(count))
            self._tables.clear()
        options = 8 * FRACTIONS.size * head.split * head.parts
        scratch = FRACTIONS.size * values + 16 * (head.rows + _AHEAD) + options
        if scratch > self._scratch_bytes:
            self._scratch_bytes = 2 * scratch
            self._scratch = self.machine.room(self._scratch_bytes)
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
        return self._first_place + number * self._place_bytes

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
        """What the core would have left of a region after the same children were emitted.

        It emits them in the same order; should it emit another one, all is left, rather than that child lost.
        """
        assert self._here is not None
        kind = self._box.tabulate(region, masked, extra)
        self._box.begin(region, self._upper)
        emitted = set(self._runs[region].emitted)
        while emitted and self._box.bound(region) <= min(self._upper, _LARGEST):
            found, _, index = self._box.advance(region, self._upper)
            if found == 1 and index not in emitted:
                self._box.begin(region, self._upper)
                break
            if found == 1:
                emitted.remove(index)
        self._here.add(region)
        return kind

    def settle(self, region: int, upper: float, most: int = 4096) -> int:
        """The bound becomes that of the next child: 0 done, 1 not yet, 2 the region's tables are needed."""
        if self._here is not None:
            return self._box.settle(region, upper, most) if region in self._here else 2
        run = self._runs[region]
        is_known = run.next < len(run.bounds) or not run.more
        return 0 if is_known or self._take_up(region, upper) else 2

    def _tabulate(self, region: int, masked: bool, extra: Extra, with_sample: bool) -> int:
        kind, start, size = self._box.pack(region, masked, extra)
        if kind == 2:
            return kind
        self._collect()
        head = Head.from_address(start)
        tables = self._tables_address(region, head, masked, extra)
        self.machine.step(self._world, (start, size), tables, self._scratch, with_sample)
        run = self._runs.get(region)
        self._list(region, _FIRST if run is None else run.last, with_sample)
        return kind

    def _list(self, region: int, last: tuple[float, int], with_sample: bool) -> None:
        """Ask for the children of a tabulated region after the last one."""
        self._collect()
        self._tables.move_to_end(region)
        tables = self._tables[region]
        scratch, wanted = self._scratch if with_sample else 0, _FEW if last == _FIRST else _LISTED
        where = self._address(tables.number), scratch, tables.depth, tables.prefixes
        self.machine.children(self._world, where, last, self._upper, wanted)
        self._asked = region, self._upper, wanted, with_sample

    def _collect(self) -> None:
        """Fetch what was asked for."""
        if self._asked is None:
            return
        region, upper, wanted, with_sample = self._asked
        self._asked = None
        found = self.machine.answer()
        count = int(found[_COUNT])
        indices = [int(i) for i in found[_INDICES : _INDICES + count]]
        self._listed = Listed(region, upper, found[_BOUNDS : _BOUNDS + count], indices, count < wanted)
        if with_sample:
            value, lo, hi, child, fraction, there = found[:6]
            self._sampled = region, core.Sample(value, lo, hi, int(child), int(fraction)) if there else None

    def sample(self, region: int) -> core.Sample | None:
        """The best sample point of a tabulated region that the box is; None where the function is undefined at all."""
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
        """The first children of a region just tabulated."""
        run = self._runs.get(region)
        if run is not None and run.last != _FIRST:
            self._collect()
            self._listed = None
        self._runs[region] = Run()
        self._take_up(region, upper)

    def _take_up(self, region: int, upper: float) -> bool:
        """The run goes on with the children after its last one, as far as they are not above `upper`.

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
        """Emit the best child as (1, lower bound, index); (0, …): none yet; (2, …): the region's tables are needed."""
        run = self._runs[region]
        if run.next == len(run.bounds):
            if not run.more:
                return 0, np.inf, -1
            if not self._take_up(region, upper):
                return 2, np.inf, -1
        if run.next == len(run.bounds):
            return 0, np.inf, -1
        bound, index = run.bounds[run.next], run.indices[run.next]
        if bound > upper or bound > other_bound or (bound == other_bound and region > other):
            return 0, bound, index
        run.next += 1
        run.last = bound, index
        run.emitted.append(index)
        return 1, bound, index

    def bound(self, region: int) -> float:
        """No child left has a lower bound below this; inf when none is left."""
        if self._here is not None and region in self._here:
            return self._box.bound(region)
        run = self._runs.get(region)
        if run is None:
            return np.inf
        if run.next < len(run.bounds):
            return run.bounds[run.next]
        return run.last[0] if run.more else np.inf

    def left(self, region: int) -> int:
        """How many entries `prefixes` has."""
        if self._here is not None and region in self._here:
            return self._box.left(region)
        run = self._runs.get(region)
        return 0 if run is None else 1 if run.more else len(run.bounds) - run.next

    def prefixes(self, region: int) -> tuple[FloatArray, IntArray, IntArray]:
        """What is left as lower bounds, indices and digits fixed: together they cover every child not emitted."""
        if self._here is not None and region in self._here:
            return self._box.prefixes(region)
        run = self._runs.get(region)
        if run is None:
            return np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
        if run.more:
            return np.array([-np.inf]), np.zeros(1, np.int64), np.zeros(1, np.int64)
        indices = np.array(run.indices[run.next :], np.int64)
        return np.array(run.bounds[run.next :]), indices, np.full(indices.size, _SPLIT)

    def release(self, region: int) -> None:
        """Forget a region of which no child can be wanted any more; its descendants stay."""
        self._runs.pop(region, None)
        tables = self._tables.pop(region, None)
        if tables is not None:
            self._free.append(tables.number)
        self._box.release(region)


def _prefixes(split: int, parts: int) -> tuple[int, int]:
    """How many digits the prefixes have that children are looked for by, and how many such prefixes there are."""
    depth, count = 0, 1
    while depth < split and count * parts <= _PREFIXES:
        depth, count = depth + 1, count * parts
    return depth, count


def _ints(values: IntArray) -> npt.NDArray[np.int32]:
    return np.ascontiguousarray(values, np.int32)


Working = core.Staging | DeviceStaging

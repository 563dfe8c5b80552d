"""The regions of a search by the paper's method: a tree of deltas with one working box, and their children in order.

A region's children are emitted lazily, the best first (docs/staging.md), so that a region is also the run of its
children not yet emitted. The queue holds each region with the lower bound of its next child.
"""

from __future__ import annotations

import heapq
from array import array

import numpy as np
import numpy.typing as npt

from infimum.core.codes import Advance, Settle, Tables
from infimum.deadline import unhurried
from infimum.domain import Domain
from infimum.function.function import Function
from infimum.search.outcome import Options
from infimum.search.paper.device_children import DeviceChildren
from infimum.search.paper.enumerated import EnumeratedRun, Run, children
from infimum.search.paper.partition import Uniform, cut
from infimum.search.paper.remaining import Bounded, remaining
from infimum.search.paper.split import Split
from infimum.staging.cuda.working import working

FloatArray = npt.NDArray[np.float64]
Child = tuple[float, int, int]  # its lower bound, its region and its index there

_WHOLE = 64  # digits of a child's index: all of them
_REGION = 1024  # bytes of a region: what its split has changed, and the prefixes of its children


class Regions:
    """Regions that were split, their children that are left, and the boxes put out; `box` is the working box."""

    def __init__(self, function: Function, domain: Domain, options: Options) -> None:
        self.function = function
        self.domain = domain
        self.options = options
        self.is_defined = False  # at every sample point of the region last tabulated
        self.output: list[Bounded] = []
        self.output_lower = np.inf
        self.following = array("q")  # of each region: the first variable that its children may split
        self._queue: list[tuple[float, int]] = []  # (lower bound, region)
        self._enumerated: dict[int, Run] = {}
        self.boxes_evaluated = 0  # regions by their tables, other children one by one
        self._incomplete: set[int] = set()  # regions whose masks do not hold all that partial derivatives say

    def prepare(self) -> None:
        """Make the working box and what runs on it, which takes long for a large expression."""
        function, domain, options = self.function, self.domain, self.options
        self.box = working(
            function.stages,
            ((domain.lo, domain.hi), (domain.inner_lo, domain.inner_hi)),
            None if options.xtol is None else np.asarray(options.xtol, np.float64),
            function.place.backend,
            (options.partition.parts, options.partition.variables),
        )
        self.on_box = function.on_box(self.box.lo, self.box.hi, lambda: self.box.moves)
        self.device = DeviceChildren(function) if function.place.backend == "cuda" else None
        self._masks_are_all = function.is_smooth_everywhere and function.gradient_is_staged
        # Sample points are moved into the inward-rounded domain; where that is the domain, they lie in their region.
        self._is_inward = bool((domain.lo == domain.inner_lo).all() and (domain.hi == domain.inner_hi).all())

    # ------------------------------------------------------------------------------------------ what is left
    def __len__(self) -> int:
        return len(self.output) + len(self._queue)

    def memory(self) -> int:
        """Return about how many bytes regions, enumerated children and output take."""
        survivors = sum(run.survivors for run in self._enumerated.values())
        return _REGION * len(self.following) + 16 * (survivors + self.domain.n * len(self.output))

    def lowest(self) -> float:
        """Return the smallest lower bound over output and queue."""
        return min(self._queue[0][0] if self._queue else np.inf, self.output_lower)

    def has_candidates(self, upper: float) -> bool:
        """Return whether a child may have a value up to `upper`."""
        return bool(self._queue) and self._queue[0][0] <= upper

    def put_out(self, bound: float) -> None:
        """Add what the box is to the output."""
        bound = -np.inf if np.isnan(bound) else bound  # no number: nothing is known
        self.output.append((bound, np.stack([self.box.lo, self.box.hi], 1)))
        self.output_lower = min(self.output_lower, bound)

    def settle_all(self, upper: float) -> None:
        """Settle what is left up to the upper bound, which then comes in the same boxes on every backend."""
        self.box.leave()
        left, self._queue = self._open(upper), []
        for region in left:
            self.push(region, upper)

    def left(self, lower: float, upper: float, at_once: bool) -> list[Bounded]:
        """Return all boxes with a lower bound up to `upper`. at_once: fewer, where somebody waits for the answer."""
        found = [(bound, box) for bound, box in self.output if bound <= upper]
        regions = self._open(upper)
        return found + remaining(self.box, self._enumerated, regions, lower, upper, at_once) if regions else found

    def _open(self, upper: float) -> list[int]:
        return sorted(region for bound, region in self._queue if bound <= upper)

    # ------------------------------------------------------------------------------------------ the queue
    def take(self, upper: float) -> Child | None:
        """Take the best child and move the box to it. None if another comes first, or it cannot hold a minimiser."""
        _, region = heapq.heappop(self._queue)
        is_checked = self._masks_are_all and region not in self._incomplete
        child = self._advance(region, upper)
        self.push(region, upper)
        if child is None:
            return None
        bound, index = child
        if is_checked:
            self.go(region, index)
        elif self._cannot_hold_a_minimiser(region, index):
            return None
        return bound, region, index

    def _cannot_hold_a_minimiser(self, region: int, index: int) -> bool:
        """Move the box to a child, and return whether a partial derivative has one sign on it.

        That counts where the function is smooth around the box, which does not touch the matching edge.
        """
        whole = self.on_box.whole
        if whole is not None:
            is_discarded = self.box.discards(region, index, whole)
            if not is_discarded:
                self.on_box.has_run()
            return is_discarded
        self.go(region, index)
        if not self.box.excludes(self.on_box.gradient()) or not self.on_box.facts[1]:
            return False
        self.on_box.check_jacobian()
        return True

    def push(self, region: int, upper: float) -> None:
        """Queue a region that still has children which may hold a minimiser, and release one that has none."""
        with unhurried():  # a region that is in no list would be lost
            bound = self._settled(region, upper)
        if np.isnan(bound):
            bound = -np.inf  # no number: nothing is known
        if bound <= upper and bound < np.inf:
            heapq.heappush(self._queue, (bound, region))
            return
        self.box.release(region)
        self._enumerated.pop(region, None)
        self._incomplete.discard(region)

    def _settled(self, region: int, upper: float) -> float:
        """Return the bound of what is left of a region: that of its next child, unless time is up.

        So it does not depend on how children are looked for.
        """
        run = self._enumerated.get(region)
        if run is not None:
            return run.bound()
        while not self.options.is_late():
            kind = self.box.settle(region, upper)
            if kind == Settle.DONE:
                break
            if kind == Settle.NEEDS_TABLES:
                self.box.go(region)
                self.tabulate(region)
        return self.box.bound(region)

    def _advance(self, region: int, upper: float) -> tuple[float, int] | None:
        """Return the best child of a region, or None where another region comes first meanwhile."""
        if region in self._enumerated:
            return self._enumerated[region].advance()
        other = self._queue[0] if self._queue else (np.inf, -1)
        kind, bound, index = self.box.advance(region, upper, *other)
        if kind == Advance.NEEDS_TABLES:
            self.box.go(region)
            self.tabulate(region)
            kind, bound, index = self.box.advance(region, upper, *other)
        return (bound, index) if kind == Advance.CHILD else None

    # ------------------------------------------------------------------------------------------ the working box
    def go(self, region: int, index: int) -> None:
        """Move the box to a child of a region."""
        self.box.go(region, index, _WHOLE)

    def divide(self, cycle: int) -> tuple[int, int]:
        """Split what the box is, and return the new region and the first variable that its children may split."""
        partition = self.options.partition
        if type(partition) is Uniform:
            return self.box.split_equally(cycle, max(1, partition.variables), partition.parts)
        variables, following = self._variables(cycle)
        return self.box.split(variables, cut(partition, self.box.lo[variables], self.box.hi[variables])), following

    def _variables(self, cycle: int) -> tuple[npt.NDArray[np.int64], int]:
        """Return the variables of a cycle that can be split, or of the next that has any, and where the next begins.

        Guarantee: never none, since a region of which nothing can be split is narrow and not split.
        """
        count, n = max(1, self.options.partition.variables), self.function.n
        while True:
            last = min(cycle + count, n)
            lo, hi = self.box.lo[cycle:last], self.box.hi[cycle:last]
            with np.errstate(over="ignore"):
                variables = np.flatnonzero(np.nextafter(lo, hi) < hi) + cycle
            cycle = cycle + count if cycle + count < n else 0
            if variables.size:
                return variables, cycle

    def tabulate(self, region: int) -> bool:
        """Make the tables of the region that the box is, and return whether it stages.

        Partial derivatives count where the function is smooth around the region.
        """
        smooth = self.is_defined = self.function.is_smooth_everywhere
        if not smooth:
            defined, smooth = self.on_box.facts
            self.is_defined = defined and self._is_inward
        kind = self.box.tabulate(region, smooth, self.on_box.extras() if smooth else None)
        if kind != Tables.COMPLETE:
            self._incomplete.add(region)
        return kind != Tables.NONE

    def split_of(self, region: int) -> Split:
        """Return where a region is cut."""
        return Split(*self.box.split_of(region))

    def begin(self, region: int, following: int, upper: float, staged: bool) -> None:
        """Begin with the children of the region that the box is, those that may have a value up to `upper`."""
        if staged:
            self.box.begin(region, upper)
            self.boxes_evaluated += 1
        else:
            split = self.split_of(region)
            self._enumerated[region] = self._all_children(split, upper)
            self.boxes_evaluated += children(split)
        self.following.append(following)
        self.push(region, upper)

    def _all_children(self, split: Split, upper: float) -> Run:
        lo, hi = self.box.lo, self.box.hi
        if self.device is not None:
            return self.device.run(split, lo, hi, upper)
        return EnumeratedRun(self.function, split, lo, hi, upper, self.options.threads)

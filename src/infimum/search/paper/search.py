"""The paper's method: select the best region, sample it, split ten of its variables into four parts, discard, repeat.

Per iteration (an iteration is a region that is split):
    1. select the region with the smallest lower bound (ties: older run, then smaller child index); one narrower than
       the tolerance in every variable goes to the output
    2. lower the upper bound by a sample of the region
    3. its children with a lower bound above the upper bound are never emitted; a child with a partial derivative that
       cannot be zero, away from the matching edge of the domain, is discarded, where the function is smooth around it
Regions are a tree of deltas with one working box, children are emitted lazily (docs/staging.md).
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum.core.codes import Advance, Settle, Tables
from infimum.deadline import Late, unhurried
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.function import Function
from infimum.search.contradiction import refuse_contradiction
from infimum.search.outcome import Options, Outcome, Progress, Proof, acquaint, compared
from infimum.search.paper.device_children import DeviceChildren
from infimum.search.paper.enumerated import EnumeratedRun, Run, refuse_too_many
from infimum.search.paper.partition import Uniform, cut
from infimum.search.paper.remaining import remaining
from infimum.search.paper.sampling import Diagonal, Look
from infimum.search.paper.split import Split
from infimum.search.status import Status
from infimum.search.verdict import judged
from infimum.search.witness import Witness
from infimum.staging.cuda.working import working

FloatArray = npt.NDArray[np.float64]

__all__ = ["Options", "Outcome", "Progress", "search"]

_LOOKS = 4096
_AT_ANY_TIME = (Status.TIME, Status.INTERRUPTED)


def search(
    function: Function, domain: Domain, options: Options, report: Callable[[Progress], bool] = lambda _: False
) -> Outcome:
    """Enclose the global minimum of a function over a domain."""
    return _Search(function, domain, options, report).run()


class _Search:
    def __init__(
        self, function: Function, domain: Domain, options: Options, report: Callable[[Progress], bool]
    ) -> None:
        self.options = options = options.begun()
        self.function = function
        self.domain = domain
        self.report = report
        self.goals = options.goals
        self.proof: Proof | None = None  # whoever proves something sets it, and the search ends
        self.witness = Witness(function, domain)
        # Sample points are moved into the inward-rounded domain; where that is the domain, they lie in their region.
        self.is_inward = bool((domain.lo == domain.inner_lo).all() and (domain.hi == domain.inner_hi).all())
        self.is_defined_here = False  # at every sample point of the region last tabulated
        self.output: list[tuple[float, FloatArray]] = []
        self.output_lower = np.inf
        self.heap: list[tuple[float, int]] = []  # (lower bound, region)
        self.enumerated: dict[int, Run] = {}
        self.incomplete: set[int] = set()  # regions whose masks do not hold all that partial derivatives say
        self.following = array("q")  # of each region: the first variable that its children may split
        self.selected: list[
            tuple[float, int, int]
        ] = []  # (lower bound, region, child) of this iteration, not split yet
        self.iterations = 0
        self.history: list[Progress] = []

    @property
    def upper(self) -> float:
        """The global minimum is not above this."""
        return self.witness.upper

    def _prepare(self) -> None:
        """Make what the search works on, which takes long for a large expression."""
        function, domain, options = self.function, self.domain, self.options
        acquaint(function, domain)
        widths = None if options.xtol is None else np.asarray(options.xtol, np.float64)
        self.box = working(
            function.stages,
            ((domain.lo, domain.hi), (domain.inner_lo, domain.inner_hi)),
            widths,
            options.backend,
            (options.partition.parts, options.partition.variables),
        )
        self.on_box = function.on_box(self.box.lo, self.box.hi, lambda: self.box.moves)
        self.masks_are_all = function.is_smooth_everywhere and function.gradient_is_staged
        self.device = DeviceChildren(function) if options.backend == "cuda" else None

    # ------------------------------------------------------------------------------------------ the loop
    def run(self) -> Outcome:
        try:
            with self.options.clock():
                self._prepare()
                status = self._run()
        except Late:
            status = Status.TIME
            with unhurried():
                self._give_back()
        return self._outcome(status)

    def _give_back(self) -> None:
        """End an iteration for which there was no time: the regions that it would have split are left as they are."""
        if not self.following:  # the domain itself
            lo, hi = self.domain.lo, self.domain.hi
            bottom, top = (float(end[0]) for end in self.function.range_ends(lo[None], hi[None]))
            self.output.append((bottom if bottom <= top else -np.inf, np.stack([lo, hi], 1)))
        for bound, region, index in self.selected:
            self._go(region, index)
            self._put_out(bound)
        self.output_lower = min((bound for bound, _ in self.output), default=np.inf)
        if self.options.x0 is not None and not self.iterations:
            self.witness.offer(self.options.x0)
        if self.upper == np.inf:
            self.witness.offer(at_fraction(self.domain.lo, self.domain.hi, 0.5))

    def _run(self) -> Status:
        if self.options.x0 is not None:
            self.witness.offer(self.options.x0)
        status = Status.PROVED
        if not self._puts_the_domain_out():
            self.iterations = 1
            self._split(0)
            while True:
                stop = self._stop()
                if stop is not None:
                    status = stop
                    break
                if not self._iterate() and not self._has_candidates():
                    break
        return status

    def _puts_the_domain_out(self) -> bool:
        """Whether the domain meets the goals as it is; then it is all the output, or nothing if undefined."""
        if self.box.open() and (self.options.xtol is None or self.box.wide()):
            return False
        lo, hi = self.box.lo, self.box.hi
        bottom, top = (float(end[0]) for end in self.function.range_ends(lo[None], hi[None]))
        self.witness.offer(at_fraction(lo, hi, 0.5))
        if bottom <= top and not self._is_narrow(bottom):
            return False
        if bottom <= top:
            self._put_out(bottom)
        return True

    def _iterate(self) -> bool:
        """Select regions and split them; whether there was one."""
        while len(self.selected) < max(1, self.options.selection.count):
            found = self._select()
            if found is None:
                break
            if not self.selected:
                self.iterations += 1
            self.selected.append(found)
        count = len(self.selected)
        while self.selected:
            _, region, index = self.selected[0]
            self._go(region, index)
            self._split(self.following[region])
            self.selected.pop(0)
        return count > 0

    def _stop(self) -> Status | None:
        lower = self.lower()
        regions = len(self.output) + len(self.heap)
        now = compared(Progress(self.iterations, lower, self.upper, regions, self._seconds()), self.history)
        if not self.history or self.history[-1].iteration < now.iteration:
            self.history.append(now)
        with unhurried():
            is_ended = self.report(now)
        if is_ended:
            return Status.INTERRUPTED
        options = self.options
        is_closed = options.xtol is None and options.ftol is not None and self._gap_closed(lower)
        if is_closed or self.proof is not None:
            return Status.PROVED
        return options.limit(now)

    def _gap_closed(self, lower: float) -> bool:
        return bool(self.goals.are_close(lower, self.upper))

    def _seconds(self) -> float:
        return self.options.seconds()

    def _is_late(self) -> bool:
        return self.options.time_limit is not None and self._seconds() >= self.options.time_limit

    def lower(self) -> float:
        """The smallest lower bound over output and remaining regions, and never above the upper bound."""
        open_bound = self.heap[0][0] if self.heap else np.inf
        return min(self.upper, open_bound, self.output_lower)

    # ------------------------------------------------------------------------------------------ regions
    def _select(self) -> tuple[float, int, int] | None:
        """The next child to split; narrow ones go to the output, those that cannot hold a minimiser are discarded.

        None where none is left, or none was found in a while: limits want to be asked meanwhile.
        """
        for _ in range(_LOOKS):
            if not self._has_candidates() or self._is_late():
                break
            with unhurried():  # what is out of the heap is in no list until it is decided about
                found = self._next()
            if found is not None:
                return found
        return None

    def _next(self) -> tuple[float, int, int] | None:
        """The best child of all, if it is to be split."""
        _, region = heapq.heappop(self.heap)
        is_checked = self.masks_are_all and region not in self.incomplete
        child = self._advance(region)
        self._push(region)
        if child is None:
            return None
        bound, index = child
        if is_checked:
            self._go(region, index)
        elif self._cannot_hold_a_minimiser(region, index):
            return None
        if not self._is_narrow(bound):
            return bound, region, index
        self._put_out(bound)
        return None

    def _settled(self, region: int) -> float:
        """The bound of what is left of a region: that of its next child, unless time is up.

        So it does not depend on how children are looked for.
        """
        run = self.enumerated.get(region)
        if run is not None:
            return run.bound()
        while not self._is_late():
            kind = self.box.settle(region, self.upper)
            if kind == Settle.DONE:
                break
            if kind == Settle.NEEDS_TABLES:
                self.box.go(region)
                self._tabulate(region)
        return self.box.bound(region)

    def _settle_all(self) -> None:
        """What is left up to the upper bound comes in the same boxes on every backend."""
        self.box.leave()
        left, self.heap = sorted(region for bound, region in self.heap if bound <= self.upper), []
        for region in left:
            self._push(region)

    def _advance(self, region: int) -> tuple[float, int] | None:
        """The best child of a region, or None where another region comes first meanwhile."""
        if region in self.enumerated:
            return self.enumerated[region].advance()
        other = self.heap[0] if self.heap else (np.inf, -1)
        kind, bound, index = self.box.advance(region, self.upper, *other)
        if kind == Advance.NEEDS_TABLES:
            self.box.go(region)
            self._tabulate(region)
            kind, bound, index = self.box.advance(region, self.upper, *other)
        return (bound, index) if kind == Advance.CHILD else None

    def _go(self, region: int, index: int) -> None:
        """The working box becomes the child of a region."""
        self.box.go(region, index, 64)

    def _has_candidates(self) -> bool:
        return bool(self.heap) and self.heap[0][0] <= self.upper

    def _put_out(self, bound: float) -> None:
        bound = -np.inf if np.isnan(bound) else bound  # no number: nothing is known
        self.output.append((bound, np.stack([self.box.lo, self.box.hi], 1)))
        self.output_lower = min(self.output_lower, bound)

    def _is_narrow(self, bound: float) -> bool:
        """Whether the box meets the goals, or nothing of it is left to split; verdict.py says what that is worth."""
        if self.box.open() == 0:
            return True
        if self.options.xtol is None or self.box.wide() > 0:
            return False
        return self._gap_closed(bound)

    def _cannot_hold_a_minimiser(self, region: int, index: int) -> bool:
        """The working box becomes the child of a region; whether a partial derivative has one sign on it.

        That counts where the function is smooth around the box, which does not touch the matching edge.
        """
        whole = self.on_box.whole
        if whole is not None:
            is_discarded = self.box.discards(region, index, whole)
            if not is_discarded:
                self.on_box.has_run()
            return is_discarded
        self._go(region, index)
        if not self.box.excludes(self.on_box.gradient()) or not self.on_box.facts[1]:
            return False
        self.on_box.check_jacobian()
        return True

    # ------------------------------------------------------------------------------------------ one iteration
    def _split(self, cycle: int) -> None:
        """Split what the box is."""
        region, following = self._divided(cycle)
        staged = self._tabulate(region) != Tables.NONE
        self.on_box.check_jacobian()  # while a device makes the tables
        if not staged:
            refuse_too_many(self._split_of(region))
        self._sample(region, staged)
        if staged:
            self.box.begin(region, self.upper)
        else:
            self.enumerated[region] = self._enumerated(self._split_of(region))
        self.following.append(following)
        self._push(region)

    def _divided(self, cycle: int) -> tuple[int, int]:
        """Split what the box is: the new region, and the cycle after its own."""
        partition = self.options.partition
        if type(partition) is Uniform:
            return self.box.split_equally(cycle, max(1, partition.variables), partition.parts)
        variables, following = self._variables(cycle)
        return self.box.split(variables, cut(partition, self.box.lo[variables], self.box.hi[variables])), following

    def _split_of(self, region: int) -> Split:
        return Split(*self.box.split_of(region))

    def _enumerated(self, split: Split) -> Run:
        """All children of the box that may hold a minimiser."""
        lo, hi = self.box.lo, self.box.hi
        if self.device is not None:
            return self.device.run(split, lo, hi, self.upper)
        return EnumeratedRun(self.function, split, lo, hi, self.upper, self.options.threads)

    def _tabulate(self, region: int) -> int:
        """Make the tables of the region that the box is; partial derivatives count where it is smooth around it."""
        smooth = self.is_defined_here = self.function.is_smooth_everywhere
        if not smooth:
            defined, smooth = self.on_box.facts
            self.is_defined_here = defined and self.is_inward
        kind = self.box.tabulate(region, smooth, self.on_box.extras() if smooth else None)
        if kind != Tables.COMPLETE:
            self.incomplete.add(region)
        return kind

    def _sample(self, region: int, staged: bool) -> None:
        """Lower the upper bound by a sample of the region that the box is."""
        sampling = self.options.sampling
        plain = staged and isinstance(sampling, Diagonal)
        if plain:
            found = self.box.sample(region)
            is_defined = self.is_defined_here or self.function.is_defined_everywhere
            if found is not None and is_defined and found.lo <= found.hi:
                index, fraction = found.child, found.fraction
                self.witness.take(found.hi, lambda: self.box.point(region, index, fraction))
            elif found is not None and found.lo < self.upper:
                self.witness.offer(self.box.point(region, found.child, found.fraction))
        if plain and not self.witness.spikes:
            return
        best = None if plain else self.witness.x
        if best is not None:
            self.box.go(region)
        lo, hi = self.box.lo.copy(), self.box.hi.copy()
        if not plain:
            split = self._split_of(region)
            point_of = self._point_of(region, split, staged)
            self.witness.look(sampling, Look(self.function, self.domain, point_of, split, lo, hi, best, region + 1))
        self.witness.probe(lo, hi)
        self.box.go(region)

    def _point_of(self, region: int, split: Split, staged: bool) -> Callable[[], FloatArray | None] | None:
        """What finds the best diagonal point of the region that the box is; None where all are evaluated here."""
        if staged:
            return lambda: self._staged_point(region)
        if self.device is None:
            return None
        device, lo, hi = self.device, self.box.lo.copy(), self.box.hi.copy()
        return lambda: device.best_point(split, lo, hi)

    def _staged_point(self, region: int) -> FloatArray | None:
        found = self.box.sample(region)
        return None if found is None else self.box.point(region, found.child, found.fraction)

    def _variables(self, cycle: int) -> tuple[npt.NDArray[np.int64], int]:
        """The variables of a cycle that can be split, or of the next cycle that has any; and the cycle after that.

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

    def _push(self, region: int) -> None:
        """Keep a run that still has children which may hold a minimiser; an infinite bound means that none is left."""
        with unhurried():  # a region that is in no list would be lost
            bound = self._settled(region)
        if np.isnan(bound):
            bound = -np.inf  # no number: nothing is known
        if bound <= self.upper and bound < np.inf:
            heapq.heappush(self.heap, (bound, region))
            return
        self.box.release(region)
        self.enumerated.pop(region, None)
        self.incomplete.discard(region)

    # ------------------------------------------------------------------------------------------ the answer
    def _outcome(self, status: Status) -> Outcome:
        x = self.witness.x
        if status not in _AT_ANY_TIME:
            self._settle_all()
        left = [(bound, box) for bound, box in self.output if bound <= self.upper]
        open_regions = sorted(region for bound, region in self.heap if bound <= self.upper)
        if open_regions:
            at_once = status in _AT_ANY_TIME
            left += remaining(self.box, self.enumerated, open_regions, self.lower(), self.upper, at_once)
        lower = min((bound for bound, _ in left), default=self.upper)
        refuse_contradiction(len(left), x, lower, self.upper)
        boxes = np.stack([box for _, box in left]) if left else np.empty((0, self.function.n, 2))
        found = Outcome(
            lower=min(lower, self.upper),
            upper=self.upper,
            boxes=boxes,
            lower_bounds=np.array([bound for bound, _ in left]),
            x=x,
            fun=float(self.function(x)) if x is not None else np.nan,
            status=status,
            nit=self.iterations,
            nfev=self.witness.evaluations,
            seconds=self._seconds(),
            history=self.history,
            proof=self.proof,
        )
        return judged(found, self.goals)

"""The paper's method: select the best region, sample it, split ten of its variables into four parts, discard, repeat.

Per iteration (an iteration is a region that is split):
    1. select the region with the smallest lower bound (ties: older run, then smaller child index); one narrower than
       the tolerance in every variable goes to the output
    2. lower the upper bound by a sample of the region
    3. its children with a lower bound above the upper bound are never emitted; a child with a partial derivative that
       cannot be zero, away from the matching edge of the domain, is discarded when it is emitted, where the function is
       smooth around it
Regions are a tree of deltas, children are emitted lazily (run.py).
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.function import Function
from infimum.search.enumerated import EnumeratedRun
from infimum.search.outcome import Options, Outcome, Progress
from infimum.search.partition import at_fraction, cut
from infimum.search.regions import Boxes, Region
from infimum.search.run import Run
from infimum.search.sampling import Look
from infimum.search.slopes import Slopes
from infimum.search.status import Status
from infimum.search.structure import structure
from infimum.search.tables import Split, stages, tabulate
from infimum.search.witness import Witness

FloatArray = npt.NDArray[np.float64]

__all__ = ["Options", "Outcome", "Progress", "search"]

_LOOKS = 4096


def search(
    function: Function, domain: Domain, options: Options, report: Callable[[Progress], bool] = lambda _: False
) -> Outcome:
    """Enclose the global minimum of a function over a domain."""
    return _Search(function, domain, options, report).run()


class _Search:
    def __init__(
        self, function: Function, domain: Domain, options: Options, report: Callable[[Progress], bool]
    ) -> None:
        self.function = function
        self.domain = domain
        self.options = options
        self.report = report
        self.structure = structure(function.value_node, function.n)
        self.slopes = Slopes(function.gradient_node) if function.is_smooth_everywhere else None
        self.witness = Witness(function, domain)
        self.boxes = Boxes(domain)
        self.output: list[tuple[float, FloatArray]] = []
        self.output_lower = np.inf
        self.heap: list[tuple[float, int, Region]] = []
        self.iterations = 0
        self.regions = 0  # split so far
        self.started = time.perf_counter()
        self.history: list[Progress] = []

    @property
    def upper(self) -> float:
        """The global minimum is not above this."""
        return self.witness.upper

    # ------------------------------------------------------------------------------------------ the loop
    def run(self) -> Outcome:
        if self.options.x0 is not None:
            self.witness.offer(self.options.x0)
        lo, hi = self.domain.lo.copy(), self.domain.hi.copy()
        status = Status.PROVED
        if self._is_narrow(lo, hi):
            bound = float(self.function.range_ends(lo[None], hi[None])[0][0])
            self.witness.offer(at_fraction(lo, hi, 0.5))
            self._put_out(bound, lo, hi)
        else:
            self.iterations = 1
            self._split(Region(None, (), 0), lo, hi)
            while True:
                stop = self._stop()
                if stop is not None:
                    status = stop
                    break
                if not self._iterate() and not self._has_candidates():
                    break
        return self._outcome(status)

    def _iterate(self) -> bool:
        """Select regions and split them; whether there was one."""
        selected: list[tuple[Region, FloatArray, FloatArray]] = []
        while len(selected) < max(1, self.options.selection.count):
            found = self._select()
            if found is None:
                break
            if not selected:
                self.iterations += 1
            selected.append(found)
        for region in selected:
            self._split(*region)
        return bool(selected)

    def _stop(self) -> Status | None:
        lower = self.lower()
        now = Progress(self.iterations, lower, self.upper, len(self.output) + len(self.heap), self._seconds())
        if not self.history or self.history[-1].iteration < now.iteration:
            self.history.append(now)
        if self.report(now):
            return Status.INTERRUPTED
        options = self.options
        if options.xtol is None and options.ftol is not None and self._gap_closed(lower):
            return Status.PROVED
        if options.max_iter is not None and self.iterations >= options.max_iter:
            return Status.ITERATIONS
        if options.time_limit is not None and now.seconds >= options.time_limit:
            return Status.TIME
        if options.max_regions is not None and now.regions > options.max_regions:
            return Status.REGIONS
        return None

    def _gap_closed(self, lower: float) -> bool:
        assert self.options.ftol is not None
        return np.isfinite(self.upper) and self.upper - lower <= self.options.ftol * max(1.0, abs(self.upper))

    def _seconds(self) -> float:
        return time.perf_counter() - self.started

    def lower(self) -> float:
        """The smallest lower bound over output and remaining regions, and never above the upper bound."""
        open_bound = self.heap[0][0] if self.heap else np.inf
        return min(self.upper, open_bound, self.output_lower)

    # ------------------------------------------------------------------------------------------ regions
    def _select(self) -> tuple[Region, FloatArray, FloatArray] | None:
        """The next region to split; narrow ones go to the output, those that cannot hold a minimiser are discarded.

        None where none is left, or none was among the first few thousand looked at: limits want to be asked meanwhile.
        """
        for _ in range(_LOOKS):
            if not self._has_candidates():
                break
            _, _, node = heapq.heappop(self.heap)
            child = node.run.advance(self.upper)
            self._push(node)
            if child is None:
                continue
            bound, _, digits = child
            lo, hi = self.boxes.child(node, digits)
            if self._cannot_hold_a_minimiser(lo, hi):
                continue
            if self._is_narrow(lo, hi, bound):
                self._put_out(bound, lo, hi)
                continue
            return Region(node, digits, node.following), lo, hi
        return None

    def _has_candidates(self) -> bool:
        return bool(self.heap) and self.heap[0][0] <= self.upper

    def _put_out(self, bound: float, lo: FloatArray, hi: FloatArray) -> None:
        self.output.append((bound, np.stack([lo, hi], 1)))
        self.output_lower = min(self.output_lower, bound)

    def _is_narrow(self, lo: FloatArray, hi: FloatArray, bound: float = np.inf) -> bool:
        """Whether a region meets the goals, or nothing of it is left to split; never one of infinite width."""
        xtol = self.options.xtol
        if xtol is None:
            with np.errstate(over="ignore"):
                return bool((np.nextafter(lo, hi) >= hi).all())
        with np.errstate(over="ignore"):
            stuck = np.nextafter(np.nextafter(lo, hi), hi) >= hi
            narrow = bool(((hi - lo < xtol) | np.isinf(xtol) | stuck).all())
        return bool(stuck.all()) or (narrow and (self.options.ftol is None or self._gap_closed(bound)))

    def _cannot_hold_a_minimiser(self, lo: FloatArray, hi: FloatArray) -> bool:
        """A partial derivative has one sign on a smooth box that does not touch the matching edge of the domain."""
        low, high = self.function.gradient_ends(lo[None], hi[None])
        rising = (low[0] > 0) & (lo != self.domain.lo)
        falling = (high[0] < 0) & (hi != self.domain.hi)
        if not (rising | falling).any():
            return False
        _, smooth = self.function.fact_arrays(lo[None], hi[None])
        if smooth[0] and self.function.has_jacobian:
            middle = at_fraction(lo, hi, 0.5)[None]
            self.function.gradient_ends(middle, middle)  # refuses a formula of the user's that is wrong there
        return bool(smooth[0])

    # ------------------------------------------------------------------------------------------ one iteration
    def _split(self, node: Region, lo: FloatArray, hi: FloatArray) -> None:
        self.regions += 1
        node.number = self.regions
        self.boxes.keep(node, lo, hi)
        variables = self._variables(node, lo, hi)
        node.split = Split(variables, cut(self.options.partition, lo[variables], hi[variables]))
        staged = self.structure if self.structure is not None and stages(self.structure, node.split) else None
        look = Look(self.function, self.domain, staged, node.split, lo, hi, self.witness.x, self.regions)
        self.witness.look(self.options.sampling, look)
        if staged is not None:
            tables = tabulate(staged, node.split, lo, hi)
            masks = self.slopes.masks(node.split, lo, hi, self.domain) if self.slopes is not None else []
            node.run = Run(staged, node.split, tables, masks)
        else:
            node.run = EnumeratedRun(self.function, node.split, lo, hi, self.upper)
        self._push(node)

    def _variables(self, node: Region, lo: FloatArray, hi: FloatArray) -> npt.NDArray[np.int64]:
        """The variables of the node's cycle that can be split, or of the next cycle that has any.

        Guarantee: never none, since a region of which nothing can be split is narrow and not split.
        """
        count, n = max(1, self.options.partition.variables), self.function.n
        while True:
            variables = np.arange(node.cycle, min(node.cycle + count, n))
            node.following = node.cycle + count if node.cycle + count < n else 0
            with np.errstate(over="ignore"):
                variables = variables[np.nextafter(lo[variables], hi[variables]) < hi[variables]]
            if variables.size:
                return variables
            node.cycle = node.following

    def _push(self, node: Region) -> None:
        """Keep a run that still has children which may hold a minimiser; an infinite bound means that none is left."""
        bound = node.run.bound()
        if bound <= self.upper and bound < np.inf:
            heapq.heappush(self.heap, (bound, node.number, node))

    # ------------------------------------------------------------------------------------------ the answer
    def _outcome(self, status: Status) -> Outcome:
        left = [(bound, box) for bound, box in self.output if bound <= self.upper]
        for _, _, node in self.heap:
            for bound, digits in node.run.prefixes():
                if bound <= self.upper:
                    lo, hi = self.boxes.child(node, digits)
                    left.append((bound, np.stack([lo, hi], 1)))
        lower = min((bound for bound, _ in left), default=self.upper)
        if not left and not np.isfinite(self.upper):
            status = Status.UNDEFINED
        boxes = np.stack([box for _, box in left]) if left else np.empty((0, self.function.n, 2))
        x = self.witness.x
        fun = float(self.function(x)) if x is not None else np.nan
        return Outcome(
            lower=min(lower, self.upper),
            upper=self.upper,
            boxes=boxes,
            lower_bounds=np.array([bound for bound, _ in left]),
            x=x,
            fun=fun,
            status=status,
            nit=self.iterations,
            nfev=self.witness.evaluations,
            seconds=self._seconds(),
            history=self.history,
        )

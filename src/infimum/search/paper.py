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
from infimum.errors import InvalidOption
from infimum.function import Function
from infimum.search.enumerated import EnumeratedRun
from infimum.search.outcome import Options, Outcome, Progress
from infimum.search.partition import at_fraction, cut
from infimum.search.run import Run
from infimum.search.sampling import Look
from infimum.search.slopes import Slopes
from infimum.search.spikes import spikes
from infimum.search.status import Status
from infimum.search.structure import structure
from infimum.search.tables import Split, stages, tabulate

FloatArray = npt.NDArray[np.float64]

__all__ = ["Options", "Outcome", "Progress", "search"]

_LOOKS = 4096
_ATTEMPTS = 4  # sample points whose value is proved, until one is better than the best known


def search(
    function: Function, domain: Domain, options: Options, report: Callable[[Progress], bool] = lambda _: False
) -> Outcome:
    """Enclose the global minimum of a function over a domain."""
    return _Search(function, domain, options, report).run()


class _Node:
    """A region that was split: the child of its parent that it is, and its own split."""

    __slots__ = ("cycle", "digits", "following", "number", "parent", "run", "split")

    def __init__(self, parent: _Node | None, digits: tuple[int, ...], cycle: int) -> None:
        self.parent = parent
        self.digits = digits
        self.cycle = cycle  # the first variable that may be split
        self.following: int  # of the children
        self.number: int
        self.split: Split
        self.run: Run | EnumeratedRun


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
        self.spikes = spikes(function.value_node, function.n)
        self.upper = np.inf
        self.x: FloatArray | None = None
        self.output: list[tuple[float, FloatArray]] = []
        self.output_lower = np.inf
        self.heap: list[tuple[float, int, _Node]] = []
        self.iterations = 0
        self.regions = 0  # split so far
        self.evaluations = 0
        self.started = time.perf_counter()
        self.history: list[Progress] = []
        self.working: tuple[_Node | None, FloatArray, FloatArray] = (None, domain.lo, domain.hi)  # a region and its box

    # ------------------------------------------------------------------------------------------ the loop
    def run(self) -> Outcome:
        if self.options.x0 is not None:
            self._try(self.options.x0)
        lo, hi = self.domain.lo.copy(), self.domain.hi.copy()
        status = Status.PROVED
        if self._is_narrow(lo, hi):
            bound = float(self.function.range_ends(lo[None], hi[None])[0][0])
            self._try(at_fraction(lo, hi, 0.5))
            self._put_out(bound, lo, hi)
        else:
            self.iterations = 1
            self._split(_Node(None, (), 0), lo, hi)
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
        selected: list[tuple[_Node, FloatArray, FloatArray]] = []
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
    def _select(self) -> tuple[_Node, FloatArray, FloatArray] | None:
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
            lo, hi = self._box(node, digits)
            if self._cannot_hold_a_minimiser(lo, hi):
                continue
            if self._is_narrow(lo, hi, bound):
                self._put_out(bound, lo, hi)
                continue
            return _Node(node, digits, node.following), lo, hi
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
            return bool((np.nextafter(lo, hi) >= hi).all())
        stuck = np.nextafter(np.nextafter(lo, hi), hi) >= hi
        if stuck.all():
            return True
        with np.errstate(over="ignore"):
            narrow = bool(((hi - lo < xtol) | np.isinf(xtol) | stuck).all())
        return narrow and (self.options.ftol is None or self._gap_closed(bound))

    def _box(self, node: _Node, digits: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """The box of a child, or of all children that begin with the digits."""
        if self.working[0] is not node:
            self.working = (node, *self._box_of(node))
        lo, hi = self.working[1].copy(), self.working[2].copy()
        _lay(lo, hi, node.split, digits)
        return lo, hi

    def _box_of(self, node: _Node) -> tuple[FloatArray, FloatArray]:
        """The box of a region: its ancestors' parts laid over the domain, oldest first. The same bits by every path."""
        path = []
        current = node
        while current.parent is not None:
            path.append((current.parent.split, current.digits))
            current = current.parent
        lo, hi = self.domain.lo.copy(), self.domain.hi.copy()
        for split, digits in reversed(path):
            _lay(lo, hi, split, digits)
        return lo, hi

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
    def _split(self, node: _Node, lo: FloatArray, hi: FloatArray) -> None:
        self.regions += 1
        node.number = self.regions
        self.working = (node, lo, hi)
        variables = self._variables(node, lo, hi)
        node.split = Split(variables, cut(self.options.partition, lo[variables], hi[variables]))
        staged = self.structure if self.structure is not None and stages(self.structure, node.split) else None
        self._sample(Look(self.function, self.domain, staged, node.split, lo, hi, self.x, self.regions).frozen())
        if staged is not None:
            tables = tabulate(staged, node.split, lo, hi)
            masks = self.slopes.masks(node.split, lo, hi, self.domain) if self.slopes is not None else []
            node.run = Run(staged, node.split, tables, masks)
        else:
            node.run = EnumeratedRun(self.function, node.split, lo, hi, self.upper)
        self._push(node)

    def _variables(self, node: _Node, lo: FloatArray, hi: FloatArray) -> npt.NDArray[np.int64]:
        """The variables of the node's cycle that can be split, or of the next cycle that has any.

        Guarantee: never none, since a region of which nothing can be split is narrow and not split.
        """
        count, n = max(1, self.options.partition.variables), self.function.n
        while True:
            variables = np.arange(node.cycle, min(node.cycle + count, n))
            node.following = node.cycle + count if node.cycle + count < n else 0
            variables = variables[np.nextafter(lo[variables], hi[variables]) < hi[variables]]
            if variables.size:
                return variables
            node.cycle = node.following

    def _push(self, node: _Node) -> None:
        """Keep a run that still has children which may hold a minimiser; an infinite bound means that none is left."""
        bound = node.run.bound()
        if bound <= self.upper and bound < np.inf:
            heapq.heappush(self.heap, (bound, node.number, node))

    # ------------------------------------------------------------------------------------------ samples
    def _sample(self, look: Look) -> None:
        """Lower the upper bound by what the sampling proposes, and by points where a condition holds."""
        with np.errstate(all="ignore"):
            points = np.atleast_2d(np.asarray(self.options.sampling.propose(look), np.float64))
        if points.ndim != 2 or points.shape[1] != self.function.n:
            raise InvalidOption(
                f"{type(self.options.sampling).__name__}.propose returns points of shape {points.shape}, where "
                f"(k, {self.function.n}) is meant."
            )
        for point in self._ranked(points):
            if self._try(point):
                break
        for spike in self.spikes:
            probe = spike.point(look.lo, look.hi, look.middle() if self.x is None else self.x)
            if probe is not None:
                self._try(probe)

    def _ranked(self, points: FloatArray) -> FloatArray:
        """The best few points in plain doubles, the best one first."""
        if len(points) == 1:
            return points
        inside = np.clip(points, self.domain.inner_lo, self.domain.inner_hi)
        inside = inside[np.isfinite(inside).all(1)]
        values = np.asarray(self.function(inside)) if len(inside) else np.empty(0)
        return inside[np.argsort(values, kind="stable")[:_ATTEMPTS]]

    def _try(self, point: FloatArray) -> bool:
        """Lower the upper bound by the proved value at a point of the domain where the function is defined."""
        x = np.clip(np.asarray(point, np.float64), self.domain.inner_lo, self.domain.inner_hi)
        if not np.isfinite(x).all():
            return False
        self.evaluations += 1
        bottom, top = (float(end[0]) for end in self.function.range_ends(x[None], x[None]))
        better = bottom <= top < self.upper and bool(self.function.fact_arrays(x[None], x[None])[0][0])
        if better:
            self.upper = top
            self.x = x
        return better

    # ------------------------------------------------------------------------------------------ the answer
    def _outcome(self, status: Status) -> Outcome:
        left = [(bound, box) for bound, box in self.output if bound <= self.upper]
        for _, _, node in self.heap:
            for bound, digits in node.run.prefixes():
                if bound <= self.upper:
                    lo, hi = self._box(node, digits)
                    left.append((bound, np.stack([lo, hi], 1)))
        lower = min((bound for bound, _ in left), default=self.upper)
        if not left and not np.isfinite(self.upper):
            status = Status.UNDEFINED
        boxes = np.stack([box for _, box in left]) if left else np.empty((0, self.function.n, 2))
        fun = float(self.function(self.x)) if self.x is not None else np.nan
        return Outcome(
            lower=min(lower, self.upper),
            upper=self.upper,
            boxes=boxes,
            lower_bounds=np.array([bound for bound, _ in left]),
            x=self.x,
            fun=fun,
            status=status,
            nit=self.iterations,
            nfev=self.evaluations,
            seconds=self._seconds(),
            history=self.history,
        )


def _lay(lo: FloatArray, hi: FloatArray, split: Split, digits: tuple[int, ...]) -> None:
    """Narrow the first split variables to the parts that the digits name."""
    at = np.array(digits, np.int64)
    rows = np.arange(at.size)
    variables = split.variables[: at.size]
    lo[variables], hi[variables] = split.edges[rows, at], split.edges[rows, at + 1]

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
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.function import Function
from infimum.search import samples
from infimum.search.enumerated import EnumeratedRun
from infimum.search.partition import at_fraction, edges
from infimum.search.run import Run
from infimum.search.slopes import Slopes
from infimum.search.status import Status
from infimum.search.structure import structure
from infimum.search.tables import Split, stages, tabulate

FloatArray = npt.NDArray[np.float64]

VARIABLES, PARTS = 10, 4


@dataclass(frozen=True)
class Options:
    """Goals (xtol, ftol: all given ones must hold) and limits (any one stops)."""

    xtol: float | None = 1e-4
    ftol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    max_regions: int | None = None
    x0: FloatArray | None = None
    threads: int = 1


class Progress(NamedTuple):
    """Where the search stands after an iteration."""

    iteration: int
    lower: float
    upper: float
    regions: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """[lower, upper] contains the global minimum, the boxes every global minimiser."""

    lower: float
    upper: float
    boxes: FloatArray
    lower_bounds: FloatArray
    x: FloatArray | None
    fun: float
    status: Status
    nit: int
    nfev: int
    seconds: float
    history: list[Progress] = field(default_factory=list)


def search(
    function: Function, domain: Domain, options: Options, report: Callable[[Progress], bool] = lambda _: False
) -> Outcome:
    """Enclose the global minimum of a function over a domain."""
    return _Search(function, domain, options, report).run()


class _Node:
    """A region that was split: the child of its parent that it is, and its own split."""

    __slots__ = ("cycle", "digits", "number", "parent", "run", "split")

    def __init__(self, parent: _Node | None, digits: tuple[int, ...], cycle: int, number: int) -> None:
        self.parent = parent
        self.digits = digits
        self.cycle = cycle
        self.number = number
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
        self.upper = np.inf
        self.x: FloatArray | None = None
        self.output: list[tuple[float, FloatArray]] = []
        self.heap: list[tuple[float, int, _Node]] = []
        self.iterations = 0
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
            self.output.append((bound, np.stack([lo, hi], 1)))
        else:
            root = _Node(None, (), 0, 0)
            self._split(root, lo, hi)
            while True:
                stop = self._stop()
                if stop is not None:
                    status = stop
                    break
                selected = self._select()
                if selected is None:
                    break
                node, lo, hi = selected
                self._split(node, lo, hi)
        return self._outcome(status)

    def _stop(self) -> Status | None:
        lower = self.lower()
        now = Progress(self.iterations, lower, self.upper, len(self.output) + len(self.heap), self._seconds())
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
        return self.upper - lower <= self.options.ftol * max(1.0, abs(self.upper))

    def _seconds(self) -> float:
        return time.perf_counter() - self.started

    def lower(self) -> float:
        """The smallest lower bound over output and remaining regions, and never above the upper bound."""
        open_bound = self.heap[0][0] if self.heap else np.inf
        return min(self.upper, open_bound, min((bound for bound, _ in self.output), default=np.inf))

    # ------------------------------------------------------------------------------------------ regions
    def _select(self) -> tuple[_Node, FloatArray, FloatArray] | None:
        """The next region to split; narrow ones go to the output, those that cannot hold a minimiser are discarded."""
        while self.heap and self.heap[0][0] <= self.upper:
            _, _, node = heapq.heappop(self.heap)
            child = node.run.advance(self.upper)
            self._push(node)
            if child is None:
                continue
            bound, _, digits = child
            lo, hi = self._box(node, digits)
            if self._cannot_hold_a_minimiser(lo, hi):
                continue
            if self._is_narrow(lo, hi):
                self.output.append((bound, np.stack([lo, hi], 1)))
                continue
            cycle = self._next_cycle(node)
            return _Node(node, digits, cycle, self.iterations + 1), lo, hi
        return None

    def _next_cycle(self, node: _Node) -> int:
        following = node.cycle + VARIABLES
        return 0 if following >= self.function.n else following

    def _is_narrow(self, lo: FloatArray, hi: FloatArray) -> bool:
        xtol = self.options.xtol
        if xtol is None:
            return bool((np.nextafter(lo, hi) >= hi).all())  # nothing is left to split
        stuck = np.nextafter(np.nextafter(lo, hi), hi) >= hi
        return bool(((hi - lo < xtol) | stuck).all())

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
        return bool(smooth[0])

    # ------------------------------------------------------------------------------------------ one iteration
    def _split(self, node: _Node, lo: FloatArray, hi: FloatArray) -> None:
        self.iterations += 1
        self.working = (node, lo, hi)
        variables = np.arange(node.cycle, min(node.cycle + VARIABLES, self.function.n))
        variables = variables[lo[variables] < hi[variables]]  # fixed variables have nothing to split
        node.split = Split(variables, edges(lo[variables], hi[variables], PARTS))
        if self.structure is not None and stages(self.structure, node.split):
            start = self._digits_of_best(node.split)
            self._try(samples.proposal(self.structure, node.split, lo, hi, start))
            tables = tabulate(self.structure, node.split, lo, hi)
            masks = self.slopes.masks(node.split, lo, hi, self.domain) if self.slopes is not None else []
            node.run = Run(self.structure, node.split, tables, masks)
        else:
            node.run = EnumeratedRun(self.function, node.split, lo, hi, self._try, lambda: self.upper)
        self._push(node)

    def _push(self, node: _Node) -> None:
        """Keep a run that still has children which may hold a minimiser; an infinite bound means that none is left."""
        bound = node.run.bound()
        if bound <= self.upper and bound < np.inf:
            heapq.heappush(self.heap, (bound, node.number, node))

    def _digits_of_best(self, split: Split) -> npt.NDArray[np.int64]:
        """The child that holds the best point so far, or the nearest one: where descent starts."""
        if self.x is None:
            return np.full(split.count, PARTS // 2, np.int64)
        inner = split.edges[:, 1:-1]
        return np.asarray((self.x[split.variables][:, None] > inner).sum(1), np.int64)

    def _try(self, point: FloatArray) -> None:
        """Lower the upper bound by the proved value at a point of the domain where the function is defined."""
        x = np.clip(np.asarray(point, np.float64), self.domain.inner_lo, self.domain.inner_hi)
        if not np.isfinite(x).all():
            return
        self.evaluations += 1
        bottom, top = (float(end[0]) for end in self.function.range_ends(x[None], x[None]))
        if bottom <= top < self.upper and self.function.fact_arrays(x[None], x[None])[0][0]:
            self.upper = top
            self.x = x

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

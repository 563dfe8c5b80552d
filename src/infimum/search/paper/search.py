"""The paper's method: select the best region, sample it, split ten of its variables into four parts, discard, repeat.

Per iteration (an iteration is a region that is split):
    1. select the region with the smallest lower bound (ties: older run, then smaller child index); one narrower than
       the tolerance in every variable goes to the output
    2. lower the upper bound by a sample of the region
    3. its children with a lower bound above the upper bound are never emitted; a child with a partial derivative that
       cannot be zero, away from the matching edge of the domain, is discarded, where the function is smooth around it
regions.py keeps the regions, as a tree of deltas with one working box.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum.deadline import unhurried
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.function import Function
from infimum.search.method import Method, Report, unheard
from infimum.search.outcome import Options, Outcome, Work
from infimum.search.paper.enumerated import refuse_too_many
from infimum.search.paper.regions import Child, Regions
from infimum.search.paper.sampling import Diagonal, Look
from infimum.search.paper.split import Split
from infimum.search.paper.tuning import LOOKS
from infimum.search.status import Status
from infimum.search.witness import Witness

FloatArray = npt.NDArray[np.float64]

_WAITED_FOR = (Status.TIME, Status.INTERRUPTED)  # ends of a search for whose answer somebody waits


def search(function: Function, domain: Domain, options: Options, report: Report = unheard) -> Outcome:
    """Enclose the global minimum of a function over a domain."""
    return PaperSearch(function, domain, options, report).run()


class PaperSearch(Method):
    """One search by the paper's method."""

    def __init__(self, function: Function, domain: Domain, options: Options, report: Report = unheard) -> None:
        super().__init__(Witness(function, domain), options, report)
        self.regions = Regions(function, domain, self.options)
        self.selected: list[Child] = []  # of this iteration, not split yet

    # ------------------------------------------------------------------------------------------ the loop
    def run(self) -> Outcome:
        """Search until the goals are met, or a limit is reached."""
        return self._answer_of(self._run)

    def _run(self) -> Status:
        self._prepare()
        self.regions.prepare()
        if self.options.x0 is not None:
            self.points.offer_all(self.options.x0)
        if self._puts_the_domain_out():
            return Status.PROVED
        self.iterations = 1
        self._split(0)
        while True:
            stop = self._stop()
            if stop is not None:
                return stop
            if not self._iterate() and not self.regions.has_candidates(self.upper):
                return Status.PROVED

    def _puts_the_domain_out(self) -> bool:
        """Return whether the domain meets the goals as it is; then it is all the output, or nothing if undefined."""
        box = self.regions.box
        if box.open() and (self.options.xtol is None or box.wide()):
            return False
        bottom, top = self._domain_ends()
        self.points.offer(at_fraction(box.lo, box.hi, 0.5))
        if bottom <= top and not self._is_narrow(bottom):
            return False
        if bottom <= top:
            self.regions.put_out(bottom)
        return True

    def _domain_ends(self) -> tuple[float, float]:
        bottom, top = self.function.range_ends(self.domain.lo[None], self.domain.hi[None])
        return float(bottom[0]), float(top[0])

    def _iterate(self) -> bool:
        """Select regions and split them; return whether there was one."""
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
            self.regions.go(region, index)
            self._split(self.regions.following[region])
            self.selected.pop(0)
        return count > 0

    def _select(self) -> Child | None:
        """Take the next child to split, and put narrow ones out.

        Return None where none is left, or none was found in a while: limits want to be asked meanwhile.
        """
        for _ in range(LOOKS):
            if not self.regions.has_candidates(self.upper) or self.options.is_late():
                break
            with unhurried():  # what is out of the queue is in no list until it is decided about
                found = self.regions.take(self.upper)
                if found is not None and not self._is_narrow(found[0]):
                    return found
                if found is not None:
                    self.regions.put_out(found[0])
        return None

    def _is_narrow(self, bound: float) -> bool:
        """Return whether the box meets the goals, or nothing of it can be split; verdict.py says what that is worth."""
        box = self.regions.box
        if box.open() == 0:
            return True
        if self.options.xtol is None or box.wide() > 0:
            return False
        return bool(self.goals.are_close(bound, self.upper))

    def _give_back(self) -> None:
        """Leave the regions as they are that the iteration would have split; the domain, if there is none yet."""
        regions = self.regions
        if not regions.following:
            bottom, top = self._domain_ends()
            domain = np.stack([self.domain.lo, self.domain.hi], 1)
            regions.output.append((bottom if bottom <= top else -np.inf, domain))
        for bound, region, index in self.selected:
            regions.go(region, index)
            regions.put_out(bound)
        regions.output_lower = min((bound for bound, _ in regions.output), default=np.inf)
        if self.options.x0 is not None and not self.iterations:
            self.points.offer_all(self.options.x0)
        if self.upper == np.inf:
            self.points.offer(at_fraction(self.domain.lo, self.domain.hi, 0.5))

    # ------------------------------------------------------------------------------------------ what is known
    def lower(self) -> float:
        """Return the smallest lower bound of all regions, and never one above the upper bound."""
        return min(self.upper, self.regions.lowest())

    def _count(self) -> int:
        return len(self.regions)

    def _boxes_evaluated(self) -> int:
        return self.regions.boxes_evaluated

    def memory(self) -> int:
        """Return about how many bytes the regions take."""
        return self.regions.memory()

    def _work(self) -> Work:
        """Read the work off the last state: a sample that lowered the upper bound, regions discarded."""
        upper, count = (self.history[-1].upper, self.history[-1].regions) if self.history else (np.inf, 0)
        discarded: Work = (("discard", float(count - len(self.regions))),) if len(self.regions) < count else ()
        return (*discarded, ("sample", 1.0)) if self.upper < upper else discarded

    def _left(self, status: Status) -> tuple[FloatArray, FloatArray]:
        is_waited_for = status in _WAITED_FOR
        if not is_waited_for:
            self.regions.settle_all(self.upper)
        left = self.regions.left(self.lower(), self.upper, is_waited_for)
        boxes = np.stack([box for _, box in left]) if left else np.empty((0, self.function.n, 2))
        return boxes, np.array([bound for bound, _ in left])

    # ------------------------------------------------------------------------------------------ one iteration
    def _split(self, cycle: int) -> None:
        """Split what the box is."""
        regions = self.regions
        region, following = regions.divide(cycle)
        staged = regions.tabulate(region)
        regions.on_box.check_jacobian()  # while a device makes the tables
        if not staged:
            refuse_too_many(regions.split_of(region))
        self._sample(region, staged)
        regions.begin(region, following, self.upper, staged)

    def _sample(self, region: int, staged: bool) -> None:
        """Lower the upper bound by a sample of the region that the box is."""
        sampling, regions = self.options.sampling, self.regions
        plain = staged and isinstance(sampling, Diagonal)
        if plain:
            self._take_diagonal_point(region)
        if plain and not self.function.condition_boxes:
            return
        box, best = regions.box, None if plain else self.points.x
        if best is not None:
            box.go(region)
        lo, hi = box.lo.copy(), box.hi.copy()
        if not plain:
            split = regions.split_of(region)
            point_of = self._point_of(region, split, staged)
            self.points.look(sampling, Look(self.function, self.domain, point_of, split, lo, hi, best, region + 1))
        self.points.probe(lo, hi)
        box.go(region)

    def _take_diagonal_point(self, region: int) -> None:
        """Take the best diagonal point of a region that stages; offer it, where its value must be proved first."""
        box = self.regions.box
        found = box.sample(region)
        if found is None:
            return
        index, fraction = found.child, found.fraction
        is_defined = self.regions.is_defined or self.function.is_defined_everywhere
        if is_defined and found.lo <= found.hi:
            self.points.take(found.hi, lambda: box.point(region, index, fraction))
        elif found.lo < self.upper:
            self.points.offer(box.point(region, index, fraction))

    def _point_of(self, region: int, split: Split, staged: bool) -> Callable[[], FloatArray | None] | None:
        """Return what finds the best diagonal point of the region that the box is; None where all are evaluated."""
        box, device = self.regions.box, self.regions.device
        if staged:

            def of_tables() -> FloatArray | None:
                found = box.sample(region)
                return None if found is None else box.point(region, found.child, found.fraction)

            return of_tables
        if device is None:
            return None
        lo, hi = box.lo.copy(), box.hi.copy()
        return lambda: device.best_point(split, lo, hi)

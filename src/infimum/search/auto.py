"""The default method: contract before you split.

Per iteration, on a batch of the boxes with the smallest lower bounds:
    1. contract each under f(x) <= upper (HC4 through the expression), under what a minimiser's gradient can be, and by
       the mean-value form; what is emptied holds no minimiser
    2. probe: contract the most promising under a guess, f(x) <= lower + a little. What is left has good points in its
       middle; a box that the guess empties has its lower bound raised
    3. look for good points: middles, local descent
    4. what meets the goals goes to the output, the rest is bisected
A box is one of two variables or of a million: the same code. Often nothing is ever split.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum.contractors.boxes import is_empty
from infimum.contractors.devices import NAMES, Devices
from infimum.contractors.unbounded import Ray, unbounded_below
from infimum.contractors.unbounded_boxes import UnboundedBoxes
from infimum.domain import Domain
from infimum.function import Function
from infimum.search.bisection import IndexArray, bisected, chosen, stepped, with_steps
from infimum.search.outcome import Options, Outcome, Progress, worked
from infimum.search.points import Points
from infimum.search.pool import Pool
from infimum.search.status import Status
from infimum.staging.fractions import at_fraction

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_BATCH, _MOST_BATCH = 1024, 2**16  # boxes that an iteration takes, at least and at most, where no number is given
_SHARE = 4  # and a quarter of those that wait
_ENDS = 2**21  # that a batch holds, unless it is a single box
_FEW = 128  # boxes that a batch should have, where splitting can make them
_ROUNDS, _LATER_ROUNDS = 32, 8  # of guesses: in the first iteration, where one box is all there is, and later
_DIVES_FROM = 4  # iterations: before, boxes are too wide for it
_PROBED = 16  # boxes of a batch that are probed
_GUESS = 1e-7  # the first guess above a lower bound, relative, where no ftol says better
_FALLS = 4  # boxes without lower bound near which a proof that there is none is looked for
_MEMORY = 2**31  # bytes of boxes


def search(
    function: Function, domain: Domain, options: Options, report: Callable[[Progress], bool] = lambda _: False
) -> Outcome:
    """Enclose the global minimum of a function over a domain."""
    return Search(function, domain, options, report).run()


class Search:
    """One search; `run` goes on where an earlier one stopped. gap: how far bounds may stay apart, if not by ftol."""

    def __init__(
        self,
        function: Function,
        domain: Domain,
        options: Options,
        report: Callable[[Progress], bool] = lambda _: False,
        gap: float | None = None,
    ) -> None:
        self.started = time.perf_counter()
        self.function = function
        self.domain = domain
        self.options = options
        self.report = report
        names = NAMES if options.contractors is None else options.contractors
        self.devices = Devices(function, domain, options.threads, names)
        self.unbounded = UnboundedBoxes(function, domain)
        self.ray: Ray | None = None  # along which the function falls without bound, where that was proved
        self.points = Points(function, domain)
        self.stepped = stepped(function.value_node, function.n)
        self.open = Pool(domain.n)
        self.done = Pool(domain.n)
        self.widths = None if options.xtol is None else np.broadcast_to(np.asarray(options.xtol, np.float64), domain.n)
        self.guess = _GUESS if options.ftol is None else max(options.ftol / 4, 1e-14)
        self.gap = gap
        self.iterations = 0
        self.work: dict[str, float] = {}  # of this iteration, beside the devices'
        self.history: list[Progress] = []

    @property
    def upper(self) -> float:
        """The global minimum is not above this."""
        return self.points.upper

    # ------------------------------------------------------------------------------------------ the loop
    def run(self, rounds: int | None = None) -> Outcome:
        """The answer; after `rounds` iterations at most, with the status RUNNING where there is more to do."""
        if not self.iterations:
            if self.options.x0 is not None and self.points.offer(self.options.x0):
                self._credit("start")
            self.open.add(self.domain.lo[None].copy(), self.domain.hi[None].copy(), np.array([-np.inf]))
        status: Status | None = None
        while status is None and len(self.open):
            if rounds is not None and self.iterations >= rounds:
                return self._outcome(Status.RUNNING)
            self.iterations += 1
            self._iterate()
            status = self._stop()
        return self._outcome(Status.PROVED if status is None else status)

    def _iterate(self) -> None:
        batch = self.options.batch or min(max(_BATCH, len(self.open) // _SHARE), _MOST_BATCH)
        most = max(1, min(batch, _ENDS // (2 * self.domain.n)))
        lo, hi, lower = self.open.take(most)
        lo, hi, lower = self._contracted(lo, hi, lower)
        lo, hi, lower = self._probed(lo, hi, lower)
        before = self.upper
        self._look(lo, hi, lower)
        if self.upper < before:
            lo, hi, lower = self._contracted(lo, hi, lower)
        meets = self._meets_goals(lo, hi, lower)
        if meets.any():
            self.done.add(lo[meets], hi[meets], lower[meets])
            lo, hi, lower = lo[~meets], hi[~meets], lower[~meets]
        self._split(lo, hi, lower, most)
        self.open.drop_above(self.upper)
        self.done.drop_above(self.upper)

    def _stop(self) -> Status | None:
        lower, options = self.lower(), self.options
        boxes = len(self.open) + len(self.done)
        now = Progress(self.iterations, lower, self.upper, boxes, self._seconds(), self._worked())
        self.history.append(now)
        if self.ray is None and lower == -np.inf:
            self.ray = self._fall()
        if self.report(now):
            return Status.INTERRUPTED
        if not len(self.open):
            return None
        if options.xtol is None and options.ftol is not None and self._gap_closed(lower):
            return Status.PROVED
        reached = options.limit(now)
        if reached is None and len(self.open) * self.domain.n * 16 > _MEMORY and len(self.open) > 1:
            return Status.MEMORY
        return reached

    def _gap(self) -> float:
        """How far a lower bound may lie below the upper one."""
        return self.options.gap(self.upper) if self.gap is None else self.gap

    def _gap_closed(self, lower: float) -> bool:
        return bool(np.isfinite(self.upper)) and self.upper - lower <= self._gap()

    def _seconds(self) -> float:
        return time.perf_counter() - self.started

    def _credit(self, name: str, count: int = 1) -> None:
        self.work[name] = self.work.get(name, 0.0) + count

    def _worked(self) -> tuple[tuple[str, float], ...]:
        """What the iteration did, and a clean sheet for the next one."""
        found = worked(self.devices.work, self.work)
        self.devices.work.clear()
        self.work.clear()
        return found

    def lower(self) -> float:
        """The smallest lower bound over all boxes, and never above the upper bound."""
        return min(self.upper, self.open.lowest(), self.done.lowest())

    def _fall(self) -> Ray | None:
        """A proof that there is no lower bound; looked for from time to time, where none is known."""
        if self.iterations & (self.iterations - 1) or not np.isfinite(self.upper):
            return None
        pools = [pool.all() for pool in (self.done, self.open)]
        boxes = [np.stack([lo, hi], -1)[lower == -np.inf][:_FALLS] for lo, hi, lower in pools]
        return unbounded_below(self.function, self.domain, np.concatenate(boxes)[:_FALLS])

    # ------------------------------------------------------------------------------------------ one iteration
    def _contracted(
        self, lo: FloatArray, hi: FloatArray, lower: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The boxes contracted, those that hold a minimiser kept; their bounds never smaller than before."""
        return self.devices.contract(*self.unbounded.met(lo, hi, lower, self.upper), self.upper)

    def _probed(self, lo: FloatArray, hi: FloatArray, lower: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Guess levels for the first boxes: good points are tried, lower bounds raised, and what is left contracted."""
        # | bounds are as close as a guess | and the boxes | then                                                 |
        # | no                             |               | guess lower + a little                               |
        # | yes                            | wide          | guess less, as long as doubles tell the guess apart  |
        # | yes                            | narrow        | enough                                               |
        if not self.devices.can_guess:
            return lo, hi, lower
        count = min(_PROBED, len(lo)) if self.domain.n < 10_000 else min(1, len(lo))
        for _ in range(_ROUNDS if self.iterations == 1 else _LATER_ROUNDS):
            first = slice(0, count)
            if not count or not np.isfinite(lower[first]).all():
                break
            if self._is_settled(lower[first]).all():
                if self.widths is None or self._is_narrow(lo[first], hi[first]).all():
                    break
                self.guess *= 1e-4
            level = self._level(lower[first])
            if (level <= lower[first]).any():
                break
            probed_lo, probed_hi, bound = self.devices.under(lo[first], hi[first], level)
            emptied = is_empty(probed_lo, probed_hi)
            raised = np.where(emptied, level, np.minimum(level, bound))  # beyond what is left, f is above the level
            lower = np.concatenate([np.maximum(lower[first], raised), lower[count:]])
            if (~emptied).any() and self._tried(probed_lo[~emptied], probed_hi[~emptied], level[~emptied]):
                lo, hi, lower = self._contracted(lo, hi, lower)
                count = min(count, len(lo))
                continue
            if not emptied.any():
                break
            if len(lower) > count and lower[first].min() > lower[count:].min():
                break  # others are lower now: to raise these further would not raise the least bound
            self.guess = min(self.guess * 2, 0.1)
        return self._probed_finely(lo, hi, lower) if len(lo) == 1 else (lo, hi, lower)

    def _tried(self, lo: FloatArray, hi: FloatArray, level: FloatArray) -> bool:
        """Look at the middles of what a level left, and at first descend from them; whether the upper bound fell.

        Between two branches the middle may be a saddle, so that a second descent starts beside it.
        """
        found = self.points.offer_best(self.devices.points(lo, hi, level))
        if found:
            self._credit("probe")
        elif self.iterations == 1:
            for fraction in (0.5, 0.8):
                if self.points.descend(at_fraction(lo, hi, fraction)):
                    found = True
                    self._credit("descent")
        return found

    def _probed_finely(
        self, lo: FloatArray, hi: FloatArray, lower: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A single box under ever smaller guesses, as long as the ones before left it wide."""
        for finer in (1e-3, 1e-6, 1e-8):
            if self._is_settled(lower).all() or not np.isfinite(lower).all() or not len(lo):
                break
            level = self._level(lower, finer)
            probed_lo, probed_hi, _ = self.devices.under(lo, hi, level)
            if is_empty(probed_lo, probed_hi).any():
                return lo, hi, np.maximum(lower, level)
            if self._tried(probed_lo, probed_hi, level):
                lo, hi, lower = self._contracted(lo, hi, lower)
        if self.iterations == 1 and len(lo) and np.isfinite(lower).all() and not self._is_settled(lower).all():
            level = self._level(lower)
            probed_lo, probed_hi, _ = self.devices.under(lo, hi, level, patient=True)
            if is_empty(probed_lo, probed_hi).any():
                return lo, hi, np.maximum(lower, level)
            if self._tried(probed_lo, probed_hi, level):
                lo, hi, _ = self.devices.under(lo, hi, np.full(len(lo), self.upper), patient=True)
                lo, hi, lower = self._contracted(lo, hi, lower)
        return lo, hi, lower

    def _level(self, lower: FloatArray, finer: float = 1.0) -> FloatArray:
        """What is guessed for boxes with such lower bounds: a little more, never above the upper bound."""
        with np.errstate(over="ignore"):
            level: FloatArray = np.minimum(lower + self.guess * finer * np.maximum(1.0, np.abs(lower)), self.upper)
        return level

    def _is_settled(self, lower: FloatArray) -> BoolArray:
        """Whether the upper bound is as close to the lower ones as a guess would be."""
        if not np.isfinite(self.upper):
            return np.zeros(lower.shape, bool)
        settled: BoolArray = self.upper - lower <= self.guess * max(1.0, abs(self.upper)) / 4
        return settled

    def _look(self, lo: FloatArray, hi: FloatArray, lower: FloatArray) -> None:
        """Try the boxes' middles, and from time to time a local descent from the best of them."""
        if not len(lo):
            return
        middles = at_fraction(lo, hi, 0.5)
        if self.points.offer_best(middles):
            self._credit("middle")
        is_time = self.iterations & (self.iterations - 1) == 0  # 1, 2, 4, 8, …
        if is_time and not self._is_settled(lower).all():
            way = self.points.descend(middles, (lo, hi) if self.iterations >= _DIVES_FROM else None)
            if way:
                self._credit(way)
        if self.iterations == 1 and self.points.probe(lo[0], hi[0]):
            self._credit("condition")

    def _meets_goals(self, lo: FloatArray, hi: FloatArray, lower: FloatArray) -> BoolArray:
        """Which boxes are narrow, and close to the upper bound, as far as that is asked for; or cannot be split."""
        with np.errstate(over="ignore"):
            middle = at_fraction(lo, hi, 0.5)
            stuck = ~((lo < middle) & (middle < hi)).any(1)
            good = self._is_narrow(lo, hi)
        if self.options.ftol is not None:
            good = good & np.less_equal(self.upper - lower, self._gap()) & bool(np.isfinite(self.upper))
        found: BoolArray = np.logical_or(good, stuck)
        return found

    def _is_narrow(self, lo: FloatArray, hi: FloatArray) -> BoolArray:
        """Which boxes are as narrow as asked for."""
        if self.widths is None:
            return np.ones(len(lo), bool)
        with np.errstate(over="ignore"):
            found: BoolArray = np.all((hi - lo < self.widths) | np.isinf(self.widths), axis=1)
        return found

    def _split(self, lo: FloatArray, hi: FloatArray, lower: FloatArray, most: int) -> None:
        """Bisect every box, several times while there are few."""
        few = min(_FEW, most)
        while len(lo):
            count = len(lo)
            lo, hi, lower = bisected(lo, hi, lower, self._at(lo, hi))
            self._credit("split", len(lo) - count)
            if len(lo) * 2 > few or len(self.open) > few or len(lo) == count:
                break
        self.open.add(lo, hi, lower)

    def _at(self, lo: FloatArray, hi: FloatArray) -> IndexArray:
        """The variable to cut in each box."""
        if self.options.split == "smear":
            slopes = self.devices.slopes(lo, hi)
            return chosen(lo, hi, self.widths, slopes=None if slopes is None else with_steps(slopes, self.stepped))
        if self.options.split == "round_robin":
            return chosen(lo, hi, self.widths, whole=self.domain.hi - self.domain.lo)
        return chosen(lo, hi, self.widths)

    # ------------------------------------------------------------------------------------------ the answer
    def _outcome(self, status: Status) -> Outcome:
        lo, hi, lower = (np.concatenate(pair) for pair in zip(self.done.all(), self.open.all(), strict=True))
        keep = lower <= self.upper
        lo, hi, lower = lo[keep], hi[keep], lower[keep]
        x = self.points.x
        if x is None and status == Status.PROVED:
            status = Status.NO_POINT if len(lo) else Status.UNDEFINED
        return Outcome(
            lower=min(float(lower.min()) if len(lower) else self.upper, self.upper),
            upper=self.upper,
            boxes=np.stack([lo, hi], 2),
            lower_bounds=lower,
            x=x,
            fun=float(self.function(x)) if x is not None else np.nan,
            status=status,
            nit=self.iterations,
            nfev=self.points.evaluations,
            seconds=self._seconds(),
            history=self.history,
        )

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

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from infimum.contractors.boxes import is_empty
from infimum.contractors.devices import NAMES, Devices
from infimum.deadline import Late, unhurried
from infimum.domain import Domain
from infimum.function import Function
from infimum.search.bisection import IndexArray, bisected, chosen
from infimum.search.outcome import Options, Outcome, Progress, Work, acquaint, worked
from infimum.search.points import Points
from infimum.search.pool import Boxes, Pool, known
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
_NOTHING = np.array([-np.inf])  # the lower bound of a box before it is looked at
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
        self.options = options = options.begun()
        self.function = function
        self.domain = domain
        self.report = report
        self.points = Points(function, domain)
        self.open = Pool(domain.n)
        self.done = Pool(domain.n)
        self.widths = None if options.xtol is None else np.broadcast_to(np.asarray(options.xtol, np.float64), domain.n)
        self.guess = _GUESS if options.ftol is None else max(options.ftol / 4, 1e-14)
        self.gap = gap
        self.iterations = 0
        self.held: Boxes | None = None  # what this iteration has taken out of the pool, as far as it is contracted
        self.work: dict[str, float] = {}  # of this iteration, beside the devices'
        self.history: list[Progress] = []

    @property
    def upper(self) -> float:
        """The global minimum is not above this."""
        return self.points.upper

    @cached_property
    def devices(self) -> Devices:
        """What shrinks boxes; made in the first iteration, as that may take long."""
        names = NAMES if self.options.contractors is None else self.options.contractors
        return Devices(self.function, self.domain, self.options.threads, names)

    # ------------------------------------------------------------------------------------------ the loop
    def run(self, rounds: int | None = None) -> Outcome:
        """The answer; after `rounds` iterations at most, with the status RUNNING where there is more to do."""
        try:
            with self.options.clock():
                status = self._run(rounds)
        except Late:
            with unhurried():
                self._give_back()
            status = Status.TIME
        return self._outcome(status)

    def _run(self, rounds: int | None) -> Status:
        if not self.iterations:
            if self.options.x0 is not None and self.points.offer(self.options.x0):
                self._credit("start")
            self.open.add(self.domain.lo[None].copy(), self.domain.hi[None].copy(), _NOTHING)
            acquaint(self.function, self.domain)
        status: Status | None = None
        while status is None and len(self.open):
            if rounds is not None and self.iterations >= rounds:
                return Status.RUNNING
            self.iterations += 1
            self._iterate()
            status = self._stop()
        return Status.PROVED if status is None else status

    def _iterate(self) -> None:
        batch = self.options.batch or min(max(_BATCH, len(self.open) // _SHARE), _MOST_BATCH)
        most = max(1, min(batch, _ENDS // (2 * self.domain.n)))
        lo, hi, lower = self._hold(self.open.take(most))
        lo, hi, lower = self._hold(self._contracted(lo, hi, lower))
        lo, hi, lower = self._hold(self._probed(lo, hi, lower))
        before = self.upper
        self._look(lo, hi, lower)
        if self.upper < before:
            lo, hi, lower = self._hold(self._contracted(lo, hi, lower))
        meets = self._meets_goals(lo, hi, lower)
        if meets.any():
            self.done.add(lo[meets], hi[meets], lower[meets])
            lo, hi, lower = self._hold((lo[~meets], hi[~meets], lower[~meets]))
        self._split(lo, hi, lower, most)
        self.open.drop_above(self.upper)
        self.done.drop_above(self.upper)

    def _hold(self, boxes: Boxes) -> Boxes:
        """The boxes, of which it is known now that they are under way."""
        self.held = boxes
        return boxes

    def _give_back(self) -> None:
        """End an iteration for which there was no time: its boxes are open again, as far as they were contracted.

        A domain of which nothing is known yet is enclosed, and its middle is a point where no other is known.
        """
        boxes, self.held = self.held, None
        if not self.iterations:
            boxes = self.open.take(1)
        if boxes is not None:
            lo, hi, lower = boxes
            if self.iterations <= 1 and len(lo) == 1 and np.isneginf(lower[0]):
                bottom, top = self.function.range_ends(lo, hi)
                lower = np.where(bottom <= top, bottom, lower)
            if self.upper == np.inf and len(lo):
                self.points.offer(at_fraction(lo[0], hi[0], 0.5))
            self.open.add(lo, hi, lower)
            self.open.drop_above(self.upper)
        self._note(())

    def _note(self, work: Work) -> Progress:
        """Write down where the search stands."""
        boxes = len(self.open) + len(self.done)
        now = Progress(self.iterations, self.lower(), self.upper, boxes, self._seconds(), work)
        self.history.append(now)
        return now

    def _stop(self) -> Status | None:
        now, options = self._note(self._worked()), self.options
        with unhurried():
            is_ended = self.report(now)
        if is_ended:
            return Status.INTERRUPTED
        if not len(self.open):
            return None
        if options.xtol is None and options.ftol is not None and self._gap_closed(now.lower):
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
        return self.options.seconds()

    def _credit(self, name: str, count: int = 1) -> None:
        self.work[name] = self.work.get(name, 0.0) + count

    def _worked(self) -> Work:
        """What the iteration did, and a clean sheet for the next one."""
        found = worked(self.devices.work, self.work)
        self.devices.work.clear()
        self.work.clear()
        return found

    def lower(self) -> float:
        """The smallest lower bound over all boxes, and never above the upper bound."""
        return min(self.upper, self.open.lowest(), self.done.lowest())

    # ------------------------------------------------------------------------------------------ one iteration
    def _contracted(
        self, lo: FloatArray, hi: FloatArray, lower: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The boxes contracted, those that hold a minimiser kept; their bounds never smaller than before."""
        lo, hi, lower = self.devices.contract(lo, hi, lower, self.upper)
        return lo, hi, known(lower)

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
            raised = np.where(
                emptied, level, np.minimum(level, known(bound))
            )  # beyond what is left, f is above the level
            lower = np.concatenate([np.maximum(lower[first], raised), lower[count:]])
            self._hold((lo, hi, lower))
            if (~emptied).any() and self._tried(probed_lo[~emptied], probed_hi[~emptied], level[~emptied]):
                lo, hi, lower = self._hold(self._contracted(lo, hi, lower))
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
                lo, hi, lower = self._hold(self._contracted(lo, hi, lower))
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
            lo, hi, lower = self._hold(bisected(lo, hi, lower, self._at(lo, hi)))
            self._credit("split", len(lo) - count)
            if len(lo) * 2 > few or len(self.open) > few or len(lo) == count:
                break
        self.open.add(lo, hi, lower)
        self.held = None

    def _at(self, lo: FloatArray, hi: FloatArray) -> IndexArray:
        """The variable to cut in each box."""
        if self.options.split == "smear":
            return chosen(lo, hi, self.widths, slopes=self.devices.slopes(lo, hi))
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

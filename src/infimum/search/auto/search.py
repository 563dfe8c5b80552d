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

import numpy as np
import numpy.typing as npt

from infimum.boxes import is_empty
from infimum.concurrency import cached_property
from infimum.contractors.chain import NAMES, Devices
from infimum.contractors.unbounded import unbounded_below
from infimum.contractors.unbounded_boxes import UnboundedBoxes
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.function import Function
from infimum.search.auto.bisection import IndexArray, bisected, chosen, stepped, with_steps
from infimum.search.auto.points import Points
from infimum.search.goals import is_wide
from infimum.search.method import Method, Report, unheard
from infimum.search.outcome import Options, Outcome, Proof, Work, work_summary
from infimum.search.pool import Boxes, Pool, known
from infimum.search.status import Status

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
_FALLS = 4  # boxes without lower bound near which a proof that there is none is looked for


def search(function: Function, domain: Domain, options: Options, report: Report = unheard) -> Outcome:
    """Enclose the global minimum of a function over a domain."""
    return Search(function, domain, options, report).run()


class Search(Method):
    """One search by the default method; `run` goes on where an earlier one stopped, also towards closer goals."""

    points: Points

    def __init__(self, function: Function, domain: Domain, options: Options, report: Report = unheard) -> None:
        super().__init__(Points(function, domain), options, report)
        self.stepped = stepped(function.value_node, function.n)
        self.open = Pool(domain.n)
        self.done = Pool(domain.n)
        self.aim(self.options)
        self.held: Boxes | None = None  # what this iteration has taken out of the pool, as far as it is contracted
        self.work: dict[str, float] = {}  # of this iteration, beside the devices'

    def aim(self, options: Options) -> None:
        """Go on with these goals and limits."""
        self.options = options
        self.goals = options.goals
        self.widths = self.goals.widths(self.domain.n)
        self.guess = max(options.ftol / 4, 1e-14) if options.ftol else _GUESS
        # | ftol | fatol    | a guess is relative to a bound, or to this where the bound is nearer to zero |
        # | None |          | 1                                                                           |
        # |      | positive | where fatol takes over from ftol                                            |
        # |      | zero     | the upper bound                                                             |
        self.floor = 1.0 if options.ftol is None else options.fatol / (4 * self.guess)

    @cached_property
    def devices(self) -> Devices:
        """What shrinks boxes; made in the first iteration, as that may take long."""
        names = NAMES if self.options.contractors is None else self.options.contractors
        return Devices(self.function, self.domain, self.options.threads, names)

    @cached_property
    def unbounded(self) -> UnboundedBoxes:
        """What shrinks unbounded boxes of rational functions."""
        return UnboundedBoxes(self.function, self.domain)

    # ------------------------------------------------------------------------------------------ the loop
    def run(self, rounds: int | None = None) -> Outcome:
        """Search on; after `rounds` iterations at most, with the status RUNNING where there is more to do."""
        return self._answer_of(lambda: self._run(rounds))

    def answer(self) -> Outcome:
        """Return what is known so far."""
        return self._answer(Status.RUNNING)

    def _run(self, rounds: int | None) -> Status:
        if not self.iterations:
            if self.options.x0 is not None and self.points.offer(self.options.x0):
                self._credit("start")
            self.open.add(self.domain.lo[None].copy(), self.domain.hi[None].copy(), _NOTHING)
            self._prepare()
        status: Status | None = None
        while status is None and self._is_unfinished():
            if rounds is not None and self.iterations >= rounds:
                return Status.RUNNING
            self.iterations += 1
            self._iterate()
            status = self._stop()
        return Status.PROVED if status is None else status

    def _is_unfinished(self) -> bool:
        """Whether a box is to be looked at; at the end, those that were put away under other bounds are asked again."""
        if self.proof is not None:
            return False
        if not len(self.open) and len(self.done) and self.goals.ftol is not None:
            lo, hi, lower = self.done.all()
            meets = self._meets_goals(lo, hi, lower)
            self.done = Pool(self.domain.n)
            self.done.add(lo[meets], hi[meets], lower[meets])
            self.open.add(lo[~meets], hi[~meets], lower[~meets])
        return len(self.open) > 0

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

    def _stop(self) -> Status | None:
        # | the user ends it | boxes are left | a goal or limit is reached | then                           |
        # | yes              |                |                            | INTERRUPTED                    |
        # | no               | no             |                            | nothing: it ends by itself     |
        # | no               | yes            | yes                        | PROVED, or the limit           |
        # | no               | yes            | no                         | nothing                        |
        if self.proof is None and self.lower() == -np.inf:
            self._fall()
        found = super()._stop()
        if found == Status.INTERRUPTED:
            return found
        return found if len(self.open) else None

    def _credit(self, name: str, count: int = 1) -> None:
        self.work[name] = self.work.get(name, 0.0) + count

    def _work(self) -> Work:
        """Return what the iteration did, and begin a clean sheet for the next one."""
        found = work_summary(self.devices.work, self.work)
        self.devices.work.clear()
        self.work.clear()
        return found

    def lower(self) -> float:
        """Return the smallest lower bound over all boxes, and never one above the upper bound."""
        return min(self.upper, self.open.lowest(), self.done.lowest())

    def _count(self) -> int:
        return len(self.open) + len(self.done)

    def _boxes_evaluated(self) -> int:
        return self.function.place.boxes_evaluated

    def memory(self) -> int:
        """Return how many bytes boxes and bounds take beside the first one, without which there is no search."""
        return max(0, self._count() - 1) * (16 * self.domain.n + 8)

    def _fall(self) -> None:
        """Prove that there is no lower bound; tried from time to time, where none is known."""
        if self.iterations & (self.iterations - 1) or not np.isfinite(self.upper):
            return
        pools = [pool.all() for pool in (self.done, self.open)]
        boxes = [np.stack([lo, hi], -1)[lower == -np.inf][:_FALLS] for lo, hi, lower in pools]
        ray = unbounded_below(self.function, self.domain, np.concatenate(boxes)[:_FALLS])
        if ray is not None:
            self.proof = Proof(Status.UNBOUNDED, f"This is proved {ray}.")

    # ------------------------------------------------------------------------------------------ one iteration
    def _contracted(
        self, lo: FloatArray, hi: FloatArray, lower: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The boxes contracted, those that hold a minimiser kept; their bounds never smaller than before."""
        lo, hi, lower = self.devices.contract(*self.unbounded.met(lo, hi, lower, self.upper), self.upper)
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
            level: FloatArray = np.minimum(lower + self.guess * finer * self._scale(lower), self.upper)
        return level

    def _scale(self, bound: FloatArray | float) -> FloatArray:
        """What a guess is relative to."""
        floor = self.floor if self.floor or not np.isfinite(self.upper) else abs(self.upper)
        return np.maximum(floor, np.abs(bound))

    def _is_settled(self, lower: FloatArray) -> BoolArray:
        """Whether the upper bound is as close to the lower ones as a guess would be."""
        if not np.isfinite(self.upper):
            return np.zeros(lower.shape, bool)
        settled: BoolArray = self.upper - lower <= self.guess * self._scale(self.upper) / 4
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
        """Which boxes need no cut, or allow none.

        width goal                               value goal      needs no cut
        every wide variable cannot be cut        met, or none    yes; verdict.py says whether the goals are reached
        none                                     met             yes
        none                                     none            no: limits end the search
        anything else                                            only where no variable can be cut
        """
        middle = at_fraction(lo, hi, 0.5)
        cut = (lo < middle) & (middle < hi)
        stuck: BoolArray = np.logical_not(cut.any(1))
        if self.goals.are_none:
            return stuck
        wide = np.zeros_like(cut) if self.widths is None else is_wide(lo, hi, self.widths)
        found: BoolArray = stuck | (self.goals.are_close(lower, self.upper) & ~(cut & wide).any(1))
        return found

    def _is_narrow(self, lo: FloatArray, hi: FloatArray) -> BoolArray:
        """Which boxes are as narrow as asked for."""
        if self.widths is None:
            return np.ones(len(lo), bool)
        found: BoolArray = np.logical_not(is_wide(lo, hi, self.widths).any(1))
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
            slopes = self.devices.slopes(lo, hi)
            return chosen(lo, hi, self.widths, slopes=None if slopes is None else with_steps(slopes, self.stepped))
        if self.options.split == "round_robin":
            return chosen(lo, hi, self.widths, whole=self.domain.hi - self.domain.lo)
        return chosen(lo, hi, self.widths)

    # ------------------------------------------------------------------------------------------ the answer
    def _left(self, status: Status) -> tuple[FloatArray, FloatArray]:
        lo, hi, lower = (np.concatenate(pair) for pair in zip(self.done.all(), self.open.all(), strict=True))
        keep = lower <= self.upper
        return np.stack([lo[keep], hi[keep]], 2), lower[keep]

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

from infimum.boxes import BoolArray, Boxes, FloatArray, concatenated, without_nan
from infimum.contractors.chain import ContractorChain
from infimum.deadline import Late, unhurried
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.expression import unbounded_below
from infimum.function.function import Function
from infimum.search.auto.bisection import bisected, proposed_cuts
from infimum.search.auto.points import Points
from infimum.search.contradiction import refuse_contradiction
from infimum.search.goals import is_wide
from infimum.search.outcome import Options, Outcome, Progress, Proof, Work, acquaint, worked
from infimum.search.pool import Pool
from infimum.search.status import Status
from infimum.search.verdict import judged

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
    """One search; `run` goes on where an earlier one stopped, also towards closer goals.

    proof: what was proved of the function beside its bounds; whoever proves it sets it, and the search ends.
    """

    def __init__(
        self,
        function: Function,
        domain: Domain,
        options: Options,
        report: Callable[[Progress], bool] = lambda _: False,
    ) -> None:
        self.options = options = options.begun()
        self.function = function
        self.domain = domain
        self.report = report
        self.points = Points(function, domain)
        self.open = Pool(domain.n)
        self.done = Pool(domain.n)
        self.proof: Proof | None = None
        self.aim(options)
        self.iterations = 0
        self.held: Boxes | None = None  # what this iteration has taken out of the pool, as far as it is contracted
        self.work: dict[str, float] = {}  # of this iteration, beside the contractors'
        self.history: list[Progress] = []

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

    @property
    def upper(self) -> float:
        """The global minimum is not above this."""
        return self.points.upper

    @cached_property
    def chain(self) -> ContractorChain:
        """What shrinks boxes; made in the first iteration, as that may take long."""
        return ContractorChain(self.function, self.domain, self.options.threads, self.options.contractors)

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

    def answer(self) -> Outcome:
        """What is known so far."""
        return self._outcome(Status.RUNNING)

    def _run(self, rounds: int | None) -> Status:
        if not self.iterations:
            if self.options.x0 is not None and self.points.offer(self.options.x0):
                self._credit("start")
            self.open.add(Boxes(self.domain.lo[None].copy(), self.domain.hi[None].copy()))
            acquaint(self.function, self.domain)
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
            boxes = self.done.all()
            meets = self._meets_goals(boxes)
            self.done = Pool(self.domain.n)
            self.done.add(boxes[meets])
            self.open.add(boxes[~meets])
        return len(self.open) > 0

    def _iterate(self) -> None:
        batch = self.options.batch or min(max(_BATCH, len(self.open) // _SHARE), _MOST_BATCH)
        most = max(1, min(batch, _ENDS // (2 * self.domain.n)))
        boxes = self._hold(self.open.take(most))
        boxes = self._hold(self._contracted(boxes))
        boxes = self._hold(self._probed(boxes))
        before = self.upper
        self._look(boxes)
        if self.upper < before:
            boxes = self._hold(self._contracted(boxes))
        meets = self._meets_goals(boxes)
        if meets.any():
            self.done.add(boxes[meets])
            boxes = self._hold(boxes[~meets])
        self._split(boxes, most)
        self.open.drop_above(self.upper)
        self.done.drop_above(self.upper)

    def _hold(self, boxes: Boxes) -> Boxes:
        """Return the boxes, of which it is known from now on that they are under way."""
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
            if self.iterations <= 1 and len(boxes) == 1 and np.isneginf(boxes.lower[0]):
                bottom, top = self.function.range_ends(*boxes.ends)
                boxes = boxes.with_lower(np.where(bottom <= top, bottom, boxes.lower))
            if self.upper == np.inf and len(boxes):
                self.points.offer(at_fraction(boxes.lo[0], boxes.hi[0], 0.5))
            self.open.add(boxes)
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
        if self.proof is None and now.lower == -np.inf:
            self._fall()
        with unhurried():
            is_ended = self.report(now)
        if is_ended:
            return Status.INTERRUPTED
        if not len(self.open):
            return None
        if options.xtol is None and options.ftol is not None and self.goals.are_close(now.lower, self.upper):
            return Status.PROVED
        reached = options.limit(now)
        if reached is None and len(self.open) * self.domain.n * 16 > _MEMORY and len(self.open) > 1:
            return Status.MEMORY
        return reached

    def _seconds(self) -> float:
        return self.options.seconds()

    def _credit(self, name: str, count: int = 1) -> None:
        self.work[name] = self.work.get(name, 0.0) + count

    def _worked(self) -> Work:
        """What the iteration did, and a clean sheet for the next one."""
        found = worked(self.chain.work, self.work)
        self.chain.work.clear()
        self.work.clear()
        return found

    def lower(self) -> float:
        """The smallest lower bound over all boxes, and never above the upper bound."""
        return min(self.upper, self.open.lowest(), self.done.lowest())

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
    def _contracted(self, boxes: Boxes) -> Boxes:
        """Return the boxes contracted, those that hold a minimiser kept; their bounds are never smaller than before."""
        found = self.chain.contract(boxes, self.upper)
        return found.with_lower(without_nan(found.lower))

    def _probed(self, boxes: Boxes) -> Boxes:
        """Guess levels for the first boxes: try good points, raise lower bounds, and return what is left contracted."""
        # | bounds are as close as a guess | and the boxes | then                                                 |
        # | no                             |               | guess lower + a little                               |
        # | yes                            | wide          | guess less, as long as doubles tell the guess apart  |
        # | yes                            | narrow        | enough                                               |
        if not self.chain.can_guess:
            return boxes
        count = min(_PROBED, len(boxes)) if self.domain.n < 10_000 else min(1, len(boxes))
        for _ in range(_ROUNDS if self.iterations == 1 else _LATER_ROUNDS):
            first = boxes[:count]
            if not count or not np.isfinite(first.lower).all():
                break
            if self._is_settled(first.lower).all():
                if self.widths is None or self._is_narrow(first).all():
                    break
                self.guess *= 1e-4
            level = self._level(first.lower)
            if (level <= first.lower).any():
                break
            probed = self.chain.contract_to_level(first, level)
            is_left = ~probed.is_empty()
            lower = np.maximum(first.lower, probed.lower)
            boxes = self._hold(boxes.with_lower(np.concatenate([lower, boxes.lower[count:]])))
            if is_left.any() and self._tried(probed[is_left], level[is_left]):
                boxes = self._hold(self._contracted(boxes))
                count = min(count, len(boxes))
                continue
            if is_left.all():
                break
            if len(boxes) > count and lower.min() > boxes.lower[count:].min():
                break  # others are lower now: to raise these further would not raise the least bound
            self.guess = min(self.guess * 2, 0.1)
        return self._probed_finely(boxes) if len(boxes) == 1 else boxes

    def _tried(self, boxes: Boxes, level: FloatArray) -> bool:
        """Look at the middles of what a level left, and at first descend from them; say whether the upper bound fell.

        Between two branches the middle may be a saddle, so that a second descent starts beside it.
        """
        found = self.points.offer_best(self.chain.points(boxes, level))
        if found:
            self._credit("probe")
        elif self.iterations == 1:
            for fraction in (0.5, 0.8):
                if self.points.descend(at_fraction(*boxes.ends, fraction)):
                    found = True
                    self._credit("descent")
        return found

    def _probed_finely(self, boxes: Boxes) -> Boxes:
        """Try a single box under ever smaller guesses, as long as the ones before left it wide."""
        for finer in (1e-3, 1e-6, 1e-8):
            if self._is_settled(boxes.lower).all() or not np.isfinite(boxes.lower).all() or not len(boxes):
                break
            level = self._level(boxes.lower, finer)
            probed = self.chain.contract_to_level(boxes, level)
            if probed.is_empty().any():
                return boxes.with_lower(np.maximum(boxes.lower, level))
            if self._tried(probed, level):
                boxes = self._hold(self._contracted(boxes))
        lower = boxes.lower
        if self.iterations == 1 and len(boxes) and np.isfinite(lower).all() and not self._is_settled(lower).all():
            level = self._level(lower)
            probed = self.chain.contract_to_level(boxes, level, patient=True)
            if probed.is_empty().any():
                return boxes.with_lower(np.maximum(lower, level))
            if self._tried(probed, level):
                known = self.chain.contract_to_level(boxes, np.full(len(boxes), self.upper), patient=True)
                boxes = self._contracted(known.with_lower(lower))
        return boxes

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

    def _look(self, boxes: Boxes) -> None:
        """Try the boxes' middles, and from time to time a local descent from the best of them."""
        if not len(boxes):
            return
        middles = at_fraction(*boxes.ends, 0.5)
        if self.points.offer_best(middles):
            self._credit("middle")
        is_time = self.iterations & (self.iterations - 1) == 0  # 1, 2, 4, 8, …
        if is_time and not self._is_settled(boxes.lower).all():
            way = self.points.descend(middles, boxes if self.iterations >= _DIVES_FROM else None)
            if way:
                self._credit(way)
        if self.iterations == 1 and self.points.probe(boxes.lo[0], boxes.hi[0]):
            self._credit("condition")

    def _meets_goals(self, boxes: Boxes) -> BoolArray:
        """Return which boxes need no cut, or allow none.

        width goal                               value goal      needs no cut
        every wide variable cannot be cut        met, or none    yes; verdict.py says whether the goals are reached
        none                                     met             yes
        none                                     none            no: limits end the search
        anything else                                            only where no variable can be cut
        """
        lo, hi = boxes.ends
        middle = at_fraction(lo, hi, 0.5)
        cut = (lo < middle) & (middle < hi)
        stuck: BoolArray = np.logical_not(cut.any(1))
        if self.goals.are_none:
            return stuck
        wide = np.zeros_like(cut) if self.widths is None else is_wide(lo, hi, self.widths)
        found: BoolArray = stuck | (self.goals.are_close(boxes.lower, self.upper) & ~(cut & wide).any(1))
        return found

    def _is_narrow(self, boxes: Boxes) -> BoolArray:
        """Return which boxes are as narrow as asked for."""
        if self.widths is None:
            return np.ones(len(boxes), bool)
        found: BoolArray = np.logical_not(is_wide(*boxes.ends, self.widths).any(1))
        return found

    def _split(self, boxes: Boxes, most: int) -> None:
        """Bisect every box, several times while there are few."""
        few = min(_FEW, most)
        while len(boxes):
            count = len(boxes)
            known = self.chain.known.under(self.upper, self.widths)
            boxes = self._hold(bisected(boxes, proposed_cuts(self.options.split, boxes, known)))
            self._credit("split", len(boxes) - count)
            if len(boxes) * 2 > few or len(self.open) > few or len(boxes) == count:
                break
        self.open.add(boxes)
        self.held = None

    # ------------------------------------------------------------------------------------------ the answer
    def _outcome(self, status: Status) -> Outcome:
        boxes = concatenated([self.done.all(), self.open.all()])
        boxes = boxes[boxes.lower <= self.upper]
        lower, x = boxes.lower, self.points.x
        refuse_contradiction(len(boxes), x, float(lower.min(initial=np.inf)), self.upper)
        found = Outcome(
            lower=min(float(lower.min()) if len(lower) else self.upper, self.upper),
            upper=self.upper,
            boxes=np.stack(boxes.ends, 2),
            lower_bounds=lower,
            x=x,
            fun=float(self.function(x)) if x is not None else np.nan,
            status=status,
            nit=self.iterations,
            nfev=self.points.evaluations,
            seconds=self._seconds(),
            history=self.history,
            proof=self.proof,
        )
        return judged(found, self.goals)

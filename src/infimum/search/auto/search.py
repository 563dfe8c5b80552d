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

from infimum.boxes import BoolArray, Boxes, Ends, FloatArray, without_nan
from infimum.concurrency import cached_property
from infimum.contractors.chain import ContractorChain
from infimum.contractors.links import look
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.expression import unbounded_below
from infimum.function.function import Function
from infimum.search.auto import tuning
from infimum.search.auto.beside import Beside
from infimum.search.auto.bisection import bisected, proposed_cuts
from infimum.search.auto.guess import Guess
from infimum.search.auto.points import Points
from infimum.search.goals import is_wide
from infimum.search.method import Method, Report, unheard
from infimum.search.outcome import Options, Outcome, Proof, Work, work_summary
from infimum.search.pool import Pool, written
from infimum.search.status import Status


def search(function: Function, domain: Domain, options: Options, report: Report = unheard) -> Outcome:
    """Enclose the global minimum of a function over a domain."""
    return Search(function, domain, options, report).run()


class Search(Method):
    """One search by the default method; `run` goes on where an earlier one stopped, also towards closer goals."""

    points: Points

    def __init__(self, function: Function, domain: Domain, options: Options, report: Report = unheard) -> None:
        super().__init__(Points(function, domain, options.threads), options, report)
        self.open = Pool(domain.n, options.threads)
        self.done = Pool(domain.n, options.threads)
        self.aim(self.options)
        self.held: Boxes | None = None  # what this iteration has taken out of the pool, as far as it is contracted
        self.taken = 0  # boxes, so far
        self.work: dict[str, float] = {}  # of this iteration, beside the contractors'
        self.cuts = 0

    def aim(self, options: Options) -> None:
        """Go on with these goals and limits."""
        self.options = options
        self.goals = options.goals
        self.widths = self.goals.widths(self.domain.n)
        self.guess = Guess(options)

    @cached_property
    def chain(self) -> ContractorChain:
        """Return what shrinks boxes; it is made in the first iteration, as that may take long."""
        return ContractorChain(self.function, self.domain, self.options.threads, self.options.contractors)

    @cached_property
    def exploration(self) -> Beside:
        """Return the ways to better points; most searches are over before they are needed."""
        return Beside(self.points, self.options.x0, self.options.threads)

    # ------------------------------------------------------------------------------------------ the loop
    def run(self, rounds: int | None = None, cuts: int | None = None) -> Outcome:
        """Search on; after so many iterations or cuts in all, with the status RUNNING where there is more to do."""
        return self._answer_of(lambda: self._run(rounds, cuts))

    def answer(self) -> Outcome:
        """Return what is known so far."""
        return self._answer(Status.RUNNING)

    def _run(self, rounds: int | None, cuts: int | None) -> Status:
        if not self.iterations:
            if not len(self.open):
                self.open.add(Boxes(self.domain.lo[None].copy(), self.domain.hi[None].copy()))
            if self.options.x0 is not None and self.points.offer_all(self.options.x0):
                self._credit("start")
            self._prepare()
        status: Status | None = None
        try:
            while status is None and self._is_unfinished():
                if (rounds is not None and self.iterations >= rounds) or (cuts is not None and self.cuts >= cuts):
                    return Status.RUNNING
                self.iterations += 1
                self._iterate()
                status = self._stop()
        finally:
            self._end_exploration()
        return Status.PROVED if status is None else status

    def _is_unfinished(self) -> bool:
        """Return whether a box is to be looked at; in the end, boxes put away under other bounds are asked again."""
        if self.proof is not None:
            return False
        if not len(self.open) and len(self.done) and self.goals.ftol is not None:
            boxes = self.done.all()
            meets = self.goals.need_no_cut(boxes, self.upper)
            self.done = Pool(self.domain.n, self.options.threads)
            self.done.add(boxes[meets])
            self.open.add(boxes[~meets])
        return len(self.open) > 0

    def _iterate(self) -> None:
        """Contract, probe, look at and split a batch of the boxes with the smallest lower bounds."""
        least = tuning.HINTED if self.chain.known.has_hints else tuning.BATCH
        batch = self.options.batch or min(max(least, len(self.open) // tuning.BATCH_SHARE), tuning.MOST_BATCH)
        most = max(1, min(batch, tuning.BATCH_ENDS // (2 * self.domain.n)))
        boxes = self._hold(self.open.take(most))
        self.taken += len(boxes)
        boxes = self._hold(self._contracted(boxes))
        boxes = self._hold(self._probed(boxes))
        before = self.upper
        self._end_exploration()
        seen = self._look(boxes)
        self._explore(boxes)
        if self.upper < before:
            boxes, seen = self._hold(self._contracted(boxes)), None
        meets = self.goals.need_no_cut(boxes, self.upper, seen)
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

        A domain of which nothing is known yet is enclosed, and its middle is a point where no other is known: time may
        be up before the first box is taken, as what contracts it is being made.
        """
        boxes, self.held = self.held, None
        if boxes is None and self.iterations <= 1:
            boxes = self.open.take(1)
        if boxes is not None:
            if self.iterations <= 1 and len(boxes) == 1 and np.isneginf(boxes.lower[0]):
                bottom, top = self.function.range_ends(*boxes.ends)
                boxes = boxes.with_lower(np.where(bottom <= top, bottom, boxes.lower))
            if self.upper == np.inf and len(boxes):
                self.points.offer(self._at(at_fraction(*boxes[:1].ends, 0.5))[0])
            self.open.add(boxes)
            self.open.drop_above(self.upper)
        self._note(())

    def _stop(self) -> Status | None:
        # | the user ends it | boxes are left | a goal or limit is reached | then                           |
        # | yes              |                |                            | INTERRUPTED                    |
        # | no               | no             |                            | nothing: it ends by itself     |
        # | no               | yes            | yes                        | PROVED, or the limit           |
        # | no               | yes            | no                         | nothing                        |
        if self.proof is None and self.lower() == -np.inf:
            self._prove_unbounded()
        found = super()._stop()
        if found == Status.INTERRUPTED:
            return found
        return found if len(self.open) else None

    def _credit(self, name: str, count: int = 1) -> None:
        self.work[name] = self.work.get(name, 0.0) + count

    def _work(self) -> Work:
        """Return what the iteration did, and begin a clean sheet for the next one."""
        found = work_summary(self.chain.work, self.work)
        self.chain.work.clear()
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

    def _prove_unbounded(self) -> None:
        """Look for a proof that there is no lower bound, from time to time, where none is known."""
        if self.iterations & (self.iterations - 1) or not np.isfinite(self.upper):
            return
        pools = [pool.all() for pool in (self.done, self.open)]
        boxes = [np.stack([lo, hi], -1)[lower == -np.inf][: tuning.RAYS] for lo, hi, lower in pools]
        work = tuning.RAY_WORK + tuning.RAY_WORK * self.iterations // tuning.RAY_WORK_AFTER
        ray = unbounded_below(self.function, self.domain, np.concatenate(boxes)[: tuning.RAYS], work)
        if ray is not None:
            self.proof = Proof(Status.UNBOUNDED, f"This is proved {ray}.")

    def _at(self, points: FloatArray) -> FloatArray:
        """Return points (k, n) of boxes as the function takes them."""
        return points

    def _seen(self, boxes: Boxes) -> Boxes:
        """Return boxes of the user's variables around all points of these boxes."""
        return boxes

    # ------------------------------------------------------------------------------------------ one iteration
    def _contracted(self, boxes: Boxes) -> Boxes:
        """Return the boxes contracted, those that hold a minimiser kept; their bounds are never smaller than before.

        Where a contractor has found a better point on its way, they are contracted once more.
        """
        found = self.chain.contract(boxes, self.upper, self.goals.need_no_cut)
        if self.points.offer_best(self._at(self.chain.offered())):
            self._credit("offered")
            found = self.chain.contract(found, self.upper, self.goals.need_no_cut)
            self.points.offer_best(self._at(self.chain.offered()))
        return found.with_lower(without_nan(found.lower))

    def narrowed(self, boxes: Boxes) -> Boxes:
        """Return as many boxes, in their order, as far as one turn of all contractors narrows them; nothing is kept."""
        return self.chain.contract_each(boxes, self.upper)

    def _probed(self, boxes: Boxes) -> Boxes:
        """Guess levels for the first boxes: try good points, raise lower bounds, and return what is left contracted."""
        # | bounds are as close as a guess | and the boxes | then                                                 |
        # | no                             |               | guess lower + a little                               |
        # | yes                            | wide          | guess less, as long as doubles tell the guess apart  |
        # | yes                            | narrow        | enough                                               |
        if not self.chain.can_guess:
            return boxes
        count = min(tuning.PROBED if self.domain.n < tuning.MANY_VARIABLES else 1, len(boxes))
        for _ in range(tuning.ROUNDS if self.iterations == 1 else tuning.LATER_ROUNDS):
            first = boxes[:count]
            if not count or not np.isfinite(first.lower).all():
                break
            if self.guess.is_settled(first.lower, self.upper).all():
                if self.widths is None or not is_wide(*first.ends, self.widths).any():
                    break
                self.guess.shrink()
            level = self.guess.level(first.lower, self.upper)
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
            self.guess.grow()
        return self._probed_finely(boxes) if len(boxes) == 1 else boxes

    def _tried(self, boxes: Boxes, level: FloatArray) -> bool:
        """Look at the middles of what a level left, and at first descend from them; say whether the upper bound fell.

        Between two branches the middle may be a saddle, so that a second descent starts beside it.
        """
        found = self.points.offer_best(self._at(self.chain.points(boxes, level)))
        if found:
            self._credit("probe")
        elif self.iterations == 1:
            for fraction in (0.5, 0.8):
                if self.points.descend(self._at(at_fraction(*boxes.ends, fraction))):
                    found = True
                    self._credit("descent")
        return found

    def _probed_finely(self, boxes: Boxes) -> Boxes:
        """Try a single box under ever smaller guesses, as long as the ones before left it wide."""
        for finer in tuning.FINER:
            if not self._is_worth_a_guess(boxes.lower):
                break
            level = self.guess.level(boxes.lower, self.upper, finer)
            probed = self.chain.contract_to_level(boxes, level)
            if probed.is_empty().any():
                return boxes.with_lower(np.maximum(boxes.lower, level))
            if self._tried(probed, level):
                boxes = self._hold(self._contracted(boxes))
        lower = boxes.lower
        if self.iterations == 1 and self._is_worth_a_guess(lower):
            level = self.guess.level(lower, self.upper)
            probed = self.chain.contract_to_level(boxes, level, patient=True)
            if probed.is_empty().any():
                return boxes.with_lower(np.maximum(lower, level))
            if self._tried(probed, level):
                known = self.chain.contract_to_level(boxes, np.full(len(boxes), self.upper), patient=True)
                boxes = self._contracted(known.with_lower(lower))
        return boxes

    def _is_worth_a_guess(self, lower: FloatArray) -> bool:
        """Return whether the lower bounds (k,) are finite, and not as close to the upper one as a guess would be."""
        return bool(np.isfinite(lower).all()) and not self.guess.is_settled(lower, self.upper).all()

    def _look(self, boxes: Boxes) -> tuple[BoolArray, BoolArray] | None:
        """Try the boxes' middles, and from time to time a local descent from the best of them.

        Return which boxes can be cut, and which along a variable that is too wide, where the boxes were looked at.
        """
        if not len(boxes):
            return None
        domain = self.chain.known.domain
        seen = look(boxes, self.chain.known.under(self.upper, self.widths), self._within(domain), tuning.OFFERED)
        self.points.evaluated += len(boxes) - len(seen.points)
        if self.points.offer_best(self._at(seen.points)):
            self._credit("middle")
        is_time = self.iterations & (self.iterations - 1) == 0  # 1, 2, 4, 8, …
        if is_time and not self.guess.is_settled(boxes.lower, self.upper).all():
            middles = self._at(at_fraction(*boxes.ends, 0.5))
            way = self.points.descend(middles, self._seen(boxes) if self.iterations >= tuning.DIVES_FROM else None)
            if self.iterations == 1 and self.options.x0 is not None:
                way = self.points.descend(self.options.x0) or way
            if way:
                self._credit(way)
        if self.iterations == 1 and self.points.probe(boxes.lo[0], boxes.hi[0]):
            self._credit("condition")
        return seen.can_be_cut, seen.is_wide

    def _within(self, domain: Domain) -> Ends:
        """Return ends (n,) of what points of boxes are moved into, where there is any."""
        empty = bool((domain.inner_lo > domain.inner_hi).any())
        return (domain.lo, domain.hi) if empty else (domain.inner_lo, domain.inner_hi)

    def _explore(self, boxes: Boxes) -> None:
        """Look for better points far and wide, as far as the boxes taken pay for it."""
        if self.iterations < tuning.EXPLORE_FROM or not len(boxes):
            return
        if self.guess.is_settled(boxes.lower, self.upper).all():
            return
        way = self.exploration.look(self._seen(boxes), self.taken)
        if way:
            self._credit(way)

    def _end_exploration(self) -> None:
        """Take over what an exploration beside the search has found."""
        if "exploration" in self.__dict__:
            way = self.exploration.end()
            if way:
                self._credit(way)

    def _split(self, boxes: Boxes, most: int) -> None:
        """Bisect every box, several times while there are few."""
        few = min(tuning.HINTED if self.chain.known.has_hints else tuning.FEW_BOXES, most)
        while len(boxes):
            count = len(boxes)
            cuts = proposed_cuts(self.options.split, boxes, self.chain.known.under(self.upper, self.widths))
            if count * 2 > few or len(self.open) > few:
                made = self.open.add_halves(boxes, cuts.variables, cuts.places)
                self._credit("split", made)
                self.cuts += made
                self.held = None
                return
            boxes = self._hold(bisected(boxes, cuts))
            self._credit("split", len(boxes) - count)
            self.cuts += len(boxes) - count
            if len(boxes) * 2 > few or len(boxes) == count:
                break
        self.open.add(boxes)
        self.held = None

    # ------------------------------------------------------------------------------------------ the answer
    def _left(self, status: Status) -> tuple[FloatArray, FloatArray]:
        return written((self.done, self.open), self.domain.n, self.upper)

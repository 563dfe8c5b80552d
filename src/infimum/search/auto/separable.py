"""Sums whose terms share no variables: each block is searched on its own, equal ones once, and answers are combined.

First the whole function is contracted once: where that is enough, nothing need be separated. A block's own gap is its
share of the whole's; where the blocks' points show the whole's gap to be smaller, they are searched further.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from infimum.contractors.contractor import foreign_names
from infimum.deadline import Late
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.blocks import BlockClass, Separated, separate
from infimum.function.function import Function
from infimum.search.auto.search import Search
from infimum.search.auto.tuning import FEW_VARIABLES, MOST_BLOCKS, MOST_ENDS_WHEN_LATE, PASSES, ROUNDS_OF_FEW
from infimum.search.auto.turning import searched
from infimum.search.contradiction import refuse_contradiction
from infimum.search.method import Report, unheard
from infimum.search.outcome import Options, Outcome, Progress, Proof
from infimum.search.product import Answers, Product, share
from infimum.search.status import Status
from infimum.search.tuning import MOST_ENDS
from infimum.search.verdict import judged

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


def search(function: Function, domain: Domain, options: Options, report: Report = unheard) -> Outcome:
    """Enclose the global minimum of a function over a domain, block by block where it is a sum of such."""
    options = options.begun()
    whole = Search(function, domain, options, report)
    first = whole.run(rounds=ROUNDS_OF_FEW if domain.n <= FEW_VARIABLES else 1)
    if first.status != Status.RUNNING:
        return first
    # A contractor of the user's knows the variables of the whole function, not those of a block.
    can_separate = domain.n > 1 and not foreign_names(options.contractors)
    parts = _parts(function, options) if can_separate else None
    if parts is None or sum(blocks.distinct(domain)[0].size for blocks in parts.classes) > MOST_BLOCKS:
        return searched(whole)[1]
    return _BlockSearch(function, domain, options, report, parts, whole).run(first)


def _parts(function: Function, options: Options) -> Separated | None:
    """Return the function as a sum of blocks, where it is one and there is time to see it."""
    try:
        with options.clock():
            return separate(function)
    except Late:
        return None


def _around(boxes: FloatArray, domain: Domain) -> Domain:
    """Return the part of a domain around these boxes."""
    lo, hi = boxes[:, :, 0].min(0), boxes[:, :, 1].max(0)
    return Domain(lo, hi, np.maximum(lo, domain.inner_lo), np.minimum(hi, domain.inner_hi))


class _BlockSearch:
    """The search of a function's blocks, one after the other."""

    def __init__(
        self, function: Function, domain: Domain, options: Options, report: Report, parts: Separated, whole: Search
    ) -> None:
        self.function = function
        self.domain = domain
        self.options = options
        self.report = report
        self.parts = parts
        self.whole = whole
        self.iterations = whole.iterations
        self.evaluated = whole.points.evaluated  # points
        self.memory = 0  # bytes of the searches of blocks, but for the one that runs
        self.status = Status.PROVED
        self.proof: Proof | None = None
        self.has_points = True  # every block, as far as is known
        self.searches: dict[tuple[int, int], Search] = {}  # by class and member
        self.before = 0  # iterations of the block's search before it was run
        self.left = domain  # what the first rounds left of it
        self.best: FloatArray | None = None  # the point that they found

    def run(self, first: Outcome) -> Outcome:
        """Search all blocks, where `first` is what is known of the whole function."""
        self.left, self.best = _around(first.boxes, self.domain), first.x
        asked = self._share(first.upper)
        product, lower, upper, x = self._combined(first, asked)
        for _ in range(PASSES):
            # The whole's gap follows from its upper bound, which the blocks have just found: it may be a smaller one.
            closer = self._share(upper)
            if closer is None or self.status != Status.PROVED or self.options.goals.is_value_met(lower, upper):
                break
            if asked is not None and not closer < asked:
                break
            asked = closer
            product, lower, upper, x = self._combined(first, asked)
        boxes, bounds = self._written(product, lower, self.options.is_late())
        bounds = np.maximum(bounds, lower)  # no value is below `lower`, whichever way it was found
        lower = min(upper, float(bounds.min(initial=np.inf)))
        found = Outcome(
            lower=lower,
            upper=upper,
            boxes=boxes,
            lower_bounds=bounds,
            x=x,
            fun=float(self.function(x)) if x is not None else np.nan,
            status=self.status,
            nit=self.iterations,
            boxes_evaluated=self.function.place.boxes_evaluated,
            points_evaluated=self.evaluated,
            seconds=self.options.seconds(),
            history=self.whole.history,
            product=product,
            proof=self.proof if self.has_points else None,
        )
        return judged(found, self.options.goals)

    @staticmethod
    def _written(product: Product, lower: float, late: bool) -> tuple[FloatArray, FloatArray]:
        """Return the boxes, or one around all of them where they are too many, or many and time is up."""
        if 2 * product.n * product.count() <= (MOST_ENDS_WHEN_LATE if late else MOST_ENDS):
            return product.boxes()
        return product.hull()[None], np.array([lower])

    def _share(self, upper: float) -> float | None:
        """Return the gap that a block may keep where the whole is at most `upper`; None where its own value says."""
        if self.options.ftol is None or not np.isfinite(upper):
            return None
        return share(self.options.goals.gap(upper), (self.parts.lo, self.parts.hi), self.parts.count)

    def _combined(self, first: Outcome, gap: float | None) -> tuple[Product, float, float, FloatArray | None]:
        """Search the blocks, or search them further, and return what is known of the whole: bounds and a point."""
        self.has_points = True
        answers = tuple(self._answers(blocks, gap) for blocks in self.parts.classes)
        product = Product(self.function.n, self.parts.lo, self.parts.hi, answers)
        lower, upper = product.minimum()
        x = product.x()
        if first.upper < upper:
            upper, x = first.upper, first.x
        lower = max(lower, first.lower)
        refuse_contradiction(product.count(), x, lower, upper)
        return product, min(lower, upper), upper, x

    def _answers(self, blocks: BlockClass, gap: float | None) -> Answers:
        first, like = blocks.distinct(self.domain)
        found: list[Outcome] = []
        for member in first.tolist():
            self._limit()
            known = self.searches.get((id(blocks), member))
            if self.status == Status.PROVED:
                found.append(self._block(blocks, member, gap))
            elif known is not None:  # in an earlier pass
                found.append(known.answer())
                self.has_points &= found[-1].x is not None
            else:
                break
        found += self._unsearched(blocks, first[len(found) :])
        lengths = [len(outcome.boxes) for outcome in found]
        answers = Answers(
            blocks.variables[first],
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([outcome.boxes[:, :, 0] for outcome in found]),
            np.concatenate([outcome.boxes[:, :, 1] for outcome in found]),
            np.concatenate([outcome.lower_bounds for outcome in found]),
            np.array([outcome.upper for outcome in found]),
            np.stack([np.full(blocks.width, np.nan) if o.x is None else o.x for o in found]),
        )
        return answers.copied(blocks.variables, like)

    def _block(self, blocks: BlockClass, member: int, gap: float | None) -> Outcome:
        """Search one block, or search it further, within what is left of the limits."""
        at = blocks.variables[member]
        search = self.searches.get((id(blocks), member))
        if search is None:
            whole = self.domain
            domain = Domain(whole.lo[at], whole.hi[at], whole.inner_lo[at], whole.inner_hi[at])
            search = Search(blocks.member(member), domain, self._limited(at, gap), self._reported)
            self.searches[id(blocks), member] = search
        else:
            self.memory -= search.memory()
            search.aim(self._limited(at, gap, search))
        self.before = search.iterations
        self.evaluated -= search.points.evaluated
        search, found = searched(search)
        self.searches[id(blocks), member] = search
        self.iterations += found.nit - self.before
        self.evaluated += found.points_evaluated
        self.memory += search.memory()
        if found.status.is_limit and self.status == Status.PROVED:
            self.status = found.status
        self.has_points &= found.x is not None or found.proof is not None
        if found.proof is not None and (self.proof is None or found.proof.status == Status.UNBOUNDED):
            self.proof = found.proof  # which is one of the sum, where every other block has a point
        return found

    def _limited(self, at: IndexArray, gap: float | None, search: Search | None = None) -> Options:
        """Return the options for a block of some variables, with its gap and what is left of the limits."""
        options = replace(self.options, x0=None if self.options.x0 is None else self.options.x0[:, at])
        if isinstance(options.xtol, np.ndarray) and options.xtol.ndim:
            options = replace(options, xtol=options.xtol[at])
        if gap is not None:
            options = replace(options, ftol=0.0, fatol=gap)
        if options.memory_limit is not None:
            options = replace(options, memory_limit=options.memory_limit - self.memory)
        if options.max_iter is None:
            return options
        done = 0 if search is None else search.iterations
        return replace(options, max_iter=done + options.max_iter - self.iterations)

    def _limit(self) -> None:
        """Write down a limit that is reached, so that no more blocks are searched."""
        options = self.options
        if self.status == Status.PROVED and options.max_iter is not None and self.iterations >= options.max_iter:
            self.status = Status.ITERATIONS
        if self.status == Status.PROVED and self.options.is_late():
            self.status = Status.TIME

    def _unsearched(self, blocks: BlockClass, members: IndexArray) -> list[Outcome]:
        """Return what one evaluation says of blocks for which there was no time: a box, its enclosure, and a point.

        A block's minimisers are parts of minimisers of the whole, so that they lie in what the first rounds left.
        """
        if not members.size:
            return []
        at, status, whole = blocks.variables[members], self.status, self.left
        lo, hi = whole.lo[at], whole.hi[at]
        middle = np.clip(at_fraction(lo, hi, 0.5), whole.inner_lo[at], whole.inner_hi[at])
        x = middle if self.best is None else self.best[at]
        with np.errstate(all="ignore"):
            least, most = blocks.function.range_ends(*blocks.boxes(lo, hi, members))
            point = blocks.boxes(x, x, members)
            bottom, top = blocks.function.range_ends(*point)
            is_good = blocks.function.fact_arrays(*point)[0] & (bottom <= top) & np.isfinite(x).all(1)
        self.function.place.boxes_evaluated += len(members)
        self.evaluated += len(members)
        self.has_points &= bool(is_good.all())
        lower, upper = np.where(least <= most, least, -np.inf), np.where(is_good, top, np.inf)
        boxes, nan = np.stack([lo, hi], 2), float("nan")
        return [
            Outcome(
                lower[i],
                upper[i],
                boxes[i : i + 1],
                lower[i : i + 1],
                x[i] if is_good[i] else None,
                nan,
                status,
                0,
                1,
                1,
                0.0,
            )
            for i in range(len(members))
        ]

    def _reported(self, step: Progress) -> bool:
        """Report a block's progress as the whole's: iterations and time go on, bounds are those of the beginning."""
        last = self.whole.history[-1]
        seconds = self.options.seconds()
        count = self.iterations + step.iteration - self.before
        evaluated = step.boxes_evaluated, self.evaluated + step.points_evaluated
        return self.report(Progress(count, last.lower, last.upper, step.regions, seconds, step.work, *evaluated))

"""Sums whose terms share no variables: each block is searched on its own, likes once, and the answers are combined.

First the whole function is contracted once: where that is enough, nothing need be taken apart. A block's own gap is its
share of the whole's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.function import Function
from infimum.graph.constant import Constant
from infimum.graph.node import Node, ancestors
from infimum.passes.build import Build
from infimum.passes.simplify import rebuilt
from infimum.search.auto import Search
from infimum.search.blocks import Alike, Separated, separated
from infimum.search.contradiction import refuse_contradiction
from infimum.search.outcome import Options, Outcome, Progress
from infimum.search.product import MOST_NUMBERS, Answers, Product, share
from infimum.search.status import Status

FloatArray = npt.NDArray[np.float64]
Report = Callable[[Progress], bool]

_MOST_BLOCKS = 4096  # that differ
_FEW, _ROUNDS_OF_FEW = 8, 4  # variables that are hardly worth taking apart: tried together for a while


def search(function: Function, domain: Domain, options: Options, report: Report = lambda _: False) -> Outcome:
    """Enclose the global minimum of a function over a domain, block by block where it is a sum of such."""
    whole = Search(function, domain, options, report)
    first = whole.run(rounds=_ROUNDS_OF_FEW if domain.n <= _FEW else 1)
    if first.status != Status.RUNNING:
        return first
    parts = separated(function) if domain.n > 1 else None
    if parts is None or sum(alike.distinct(domain)[0].size for alike in parts.classes) > _MOST_BLOCKS:
        return whole.run()
    return _Apart(function, domain, options, report, parts, whole).run(first)


class _Apart:
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
        self.evaluations = whole.points.evaluations
        self.status = Status.PROVED

    def run(self, first: Outcome) -> Outcome:
        constant = (self.parts.lo, self.parts.hi)
        gap = None
        if self.options.ftol is not None:
            gap = share(self.options.ftol, first.upper, constant, self.parts.count)
        answers = tuple(self._answers(alike, gap) for alike in self.parts.classes)
        product = Product(self.function.n, self.parts.lo, self.parts.hi, answers)
        lower, upper = product.minimum()
        x = product.x()
        if first.upper < upper:
            upper, x = first.upper, first.x
        lower = max(lower, first.lower)
        refuse_contradiction(product.count(), x, lower, upper)
        if not product.count():
            self.status = Status.UNDEFINED
        elif x is None and self.status == Status.PROVED:
            self.status = Status.NO_POINT
        boxes, bounds = self._written(product, lower)
        bounds = np.maximum(bounds, lower)  # no value is below `lower`, whichever way it was found
        lower = min(upper, float(bounds.min(initial=np.inf)))
        return Outcome(
            lower=lower,
            upper=upper,
            boxes=boxes,
            lower_bounds=bounds,
            x=x,
            fun=float(self.function(x)) if x is not None else np.nan,
            status=self.status,
            nit=self.iterations,
            nfev=self.evaluations,
            seconds=time.perf_counter() - self.whole.started,
            history=self.whole.history,
            product=product,
        )

    @staticmethod
    def _written(product: Product, lower: float) -> tuple[FloatArray, FloatArray]:
        """The boxes, or one around all of them where they are too many."""
        if 2 * product.n * product.count() <= MOST_NUMBERS:
            return product.boxes()
        return product.hull()[None], np.array([lower])

    def _answers(self, alike: Alike, gap: float | None) -> Answers:
        first, like = alike.distinct(self.domain)
        found = [self._block(alike, int(member), gap) for member in first]
        lengths = [len(outcome.boxes) for outcome in found]
        own = Answers(
            alike.variables[first],
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([outcome.boxes[:, :, 0] for outcome in found]),
            np.concatenate([outcome.boxes[:, :, 1] for outcome in found]),
            np.concatenate([outcome.lower_bounds for outcome in found]),
            np.array([outcome.upper for outcome in found]),
            np.stack([np.full(alike.width, np.nan) if o.x is None else o.x for o in found]),
        )
        return own.copied(alike.variables, like)

    def _block(self, alike: Alike, member: int, gap: float | None) -> Outcome:
        """What is known of one block; once a limit is reached, what one iteration finds."""
        function = with_constants(alike, member)
        at = alike.variables[member]
        whole = self.domain
        domain = Domain(whole.lo[at], whole.hi[at], whole.inner_lo[at], whole.inner_hi[at])
        options = self._limited(replace(self.options, x0=None if self.options.x0 is None else self.options.x0[at]))
        if isinstance(options.xtol, np.ndarray) and options.xtol.ndim:
            options = replace(options, xtol=options.xtol[at])
        found = Search(function, domain, options, self._reported, gap).run()
        self.iterations += found.nit
        self.evaluations += found.nfev
        if found.status not in (Status.PROVED, Status.UNDEFINED, Status.NO_POINT) and self.status == Status.PROVED:
            self.status = found.status
        return found

    def _limited(self, options: Options) -> Options:
        """The options with what is left of the limits."""
        if self.status != Status.PROVED:
            return replace(options, max_iter=1)
        passed = time.perf_counter() - self.whole.started
        if options.time_limit is not None:
            options = replace(options, time_limit=max(0.0, options.time_limit - passed))
        if options.max_iter is not None:
            options = replace(options, max_iter=max(1, options.max_iter - self.iterations))
        return options

    def _reported(self, step: Progress) -> bool:
        """A block's progress as the whole's: iterations and time go on, bounds are those of the beginning."""
        last = self.whole.history[-1]
        seconds = time.perf_counter() - self.whole.started
        count = self.iterations + step.iteration
        return self.report(Progress(count, last.lower, last.upper, step.regions, seconds, step.work))


def with_constants(alike: Alike, member: int) -> Function:
    """The function of one block: its class's body with the block's constants in their places."""
    if not alike.lo.shape[1]:
        return alike.function
    build = Build(alike.width)
    constants = build.constant(Constant(bounds=(alike.lo[member], alike.hi[member])))
    inputs = build.concat([build.x, constants])
    new: dict[Node, Node] = {}
    for node in ancestors([alike.function.value_node]):
        new[node] = inputs if node.op == "x" else rebuilt(build, node, [new[a] for a in node.args])
    return Function(new[alike.function.value_node], alike.width, alike.function.name).on(alike.function.place)

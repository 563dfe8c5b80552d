"""What both methods share: the clock, the log, the limits and the answer (PROOF)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum.deadline import Late, left, unhurried
from infimum.search.contradiction import refuse_contradiction
from infimum.search.outcome import Options, Outcome, Progress, Proof, Work
from infimum.search.status import Status
from infimum.search.verdict import judged
from infimum.search.witness import Witness

FloatArray = npt.NDArray[np.float64]
Report = Callable[[Progress], bool]  # is told where a search stands, and returns whether to end it


def unheard(_: Progress) -> bool:
    """Let a search go on that reports to nobody."""
    return False


class Method(ABC):
    """One search; a subclass says what an iteration does, and which boxes are left.

    proof: what was proved of the function beside its bounds; whoever proves it sets it, and the search ends.
    """

    def __init__(self, points: Witness, options: Options, report: Report) -> None:
        self.function = points.function
        self.domain = points.domain
        self.points = points
        self.options = options.begun()
        self.goals = options.goals
        self.report = report
        self.proof: Proof | None = None
        self.iterations = 0
        self.history: list[Progress] = []

    @property
    def upper(self) -> float:
        """Return an upper bound of the global minimum."""
        return self.points.upper

    @abstractmethod
    def lower(self) -> float:
        """Return a lower bound of the global minimum."""

    @abstractmethod
    def _count(self) -> int:
        """Return the number of regions, put out or not."""

    @abstractmethod
    def _boxes_evaluated(self) -> int:
        """Return how often the function was evaluated over a box."""

    @abstractmethod
    def memory(self) -> int:
        """Return about how many bytes the boxes or regions take."""

    @abstractmethod
    def _work(self) -> Work:
        """Return what was done since the last entry of the history."""

    @abstractmethod
    def _give_back(self) -> None:
        """End an iteration for which there was no time: what it has taken is left as it was."""

    @abstractmethod
    def _left(self, status: Status) -> tuple[FloatArray, FloatArray]:
        """Return the boxes (k, n, 2) that may hold a minimiser, and their lower bounds (k,)."""

    # ------------------------------------------------------------------------------------------ the frame of a search
    def _answer_of(self, work: Callable[[], Status]) -> Outcome:
        """Do the work, until the time limit at most, and return what is known then."""
        try:
            with self.options.clock():
                status = work()
        except Late:
            with unhurried():
                self._give_back()
            status = Status.TIME
        return self._answer(status)

    def _prepare(self) -> None:
        """Make first what an answer cannot do without, where time is limited: the rest may take too long."""
        if left() < np.inf:
            box = self.domain.lo[None], self.domain.hi[None]
            self.function.range_ends(*box)
            self.function.fact_arrays(*box)

    def _note(self, work: Work) -> Progress:
        """Write down where the search stands, once for each iteration."""
        evaluated = self._boxes_evaluated(), self.points.evaluated
        seconds = self.options.seconds()
        now = Progress(self.iterations, self.lower(), self.upper, self._count(), seconds, work, *evaluated)
        if not self.history or self.history[-1].iteration < now.iteration:
            self.history.append(now)
        return now

    def _stop(self) -> Status | None:
        """Note and report where the search stands, and return what ends it, if anything does."""
        now, options = self._note(self._work()), self.options
        with unhurried():
            is_ended = self.report(now)
        if is_ended:
            return Status.INTERRUPTED
        is_closed = options.xtol is None and options.ftol is not None and self.goals.are_close(now.lower, self.upper)
        if is_closed or self.proof is not None:
            return Status.PROVED
        return options.limit(now, self.memory())

    def _answer(self, status: Status) -> Outcome:
        """Return what is known, with the status that the numbers deserve."""
        x = self.points.x
        boxes, bounds = self._left(status)
        lowest = float(bounds.min(initial=np.inf))
        refuse_contradiction(len(boxes), x, lowest, self.upper)
        found = Outcome(
            lower=min(lowest, self.upper),
            upper=self.upper,
            boxes=boxes,
            lower_bounds=bounds,
            x=x,
            fun=float(self.function(x)) if x is not None else np.nan,
            status=status,
            nit=self.iterations,
            boxes_evaluated=self._boxes_evaluated(),
            points_evaluated=self.points.evaluated,
            seconds=self.options.seconds(),
            history=self.history,
            proof=self.proof,
        )
        return judged(found, self.options.goals)

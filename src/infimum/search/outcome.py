"""What a search is asked for and what it answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.contractors.contractor import Contractor
from infimum.contractors.table import DEFAULT
from infimum.deadline import unhurried, until
from infimum.search.auto.split_rules import Smear, SplitRule
from infimum.search.goals import Goals
from infimum.search.paper.partition import Partition, Uniform
from infimum.search.paper.sampling import Diagonal, Sampling
from infimum.search.paper.selection import Best, Selection
from infimum.search.product import Product
from infimum.search.status import Status

FloatArray = npt.NDArray[np.float64]


Work = tuple[tuple[str, float], ...]

MEMORY_LIMIT = 2**31  # bytes, where nothing is asked for

EXPLORED = ("polish", "given", "magnitude", "even", "near", "mixed", "boxes", "population")  # by exploration.py
POINTS = ("start", "offered", "probe", "middle", "descent", "dive", "condition", "sample", *EXPLORED)


class Progress(NamedTuple):
    """Where the search stands after an iteration, what did the work in it, and how much was evaluated so far.

    work: pairs of a name and a number, the contractors first, the busiest of them foremost

    names                                            the number
    linear level … (contractors/table.py)            boxes taken away: 1 for one that is emptied, less for one narrowed
    start offered probe middle descent dive condition
    polish given magnitude even near mixed boxes population
                                                     how often a point of this kind lowered the upper bound
    split                                            boxes cut in two
    discard, sample                                  of the paper's method: how many regions there are fewer, samples
    """

    iteration: int
    lower: float
    upper: float
    regions: int
    seconds: float
    work: Work = ()
    boxes_evaluated: int = 0
    points_evaluated: int = 0

    @property
    def main_work(self) -> str:
        """Name the contractor that took most away and the points that lowered the upper bound, or "split"."""
        names = [name for name, _ in self.work]
        contractor = next((name for name in names if name not in (*POINTS, "split")), None)
        words = [] if contractor is None else [contractor]
        words += [name for name in names if name in POINTS][:1]
        return ", ".join(words) if words else names[-1] if names else ""


def work_summary(contractors: Mapping[str, float], others: Mapping[str, float]) -> Work:
    """Return the work of an iteration in the order of `Progress`; boxes to three digits."""
    busiest = sorted(((name, float(f"{boxes:.3g}")) for name, boxes in contractors.items()), key=lambda pair: -pair[1])
    order = (*POINTS, "split")
    return (*busiest, *sorted(others.items(), key=lambda pair: order.index(pair[0])))


@dataclass(frozen=True)
class Options:
    """Goals (goals.py: all given ones must hold; by default the paper's), limits (any one stops) and strategies.

    partition, sampling and selection are the paper's; contractors and split the default method's.
    """

    xtol: float | FloatArray | None = 1e-4
    ftol: float | None = None
    fatol: float = 1e-9
    max_iter: int | None = None
    time_limit: float | None = None
    started: float | None = None  # the moment of time.perf_counter() from which time counts; None: when a search begins
    max_regions: int | None = None
    memory_limit: int | None = MEMORY_LIMIT  # bytes of boxes and regions
    x0: FloatArray | None = None  # (k, n): points that are tried first
    threads: int = 1
    partition: Partition = field(default_factory=Uniform)
    sampling: Sampling = field(default_factory=Diagonal)
    selection: Selection = field(default_factory=Best)
    contractors: tuple[str | Contractor, ...] = DEFAULT  # what the default method runs, by name or the user's own
    split: SplitRule = field(default_factory=Smear)  # where the default method cuts a box in two
    batch: int | None = None  # boxes that an iteration of the default method takes at most; None: by how many wait

    @property
    def goals(self) -> Goals:
        """Return what is to be reached."""
        return Goals(self.ftol, self.fatol, self.xtol)

    def begun(self) -> Options:
        """Return the options with a moment from which time counts."""
        return self if self.started is not None else replace(self, started=time.perf_counter())

    def seconds(self) -> float:
        """Return the time since then."""
        assert self.started is not None
        return time.perf_counter() - self.started

    def is_late(self) -> bool:
        """Return whether the time limit has passed."""
        return self.time_limit is not None and self.seconds() >= self.time_limit

    def clock(self) -> AbstractContextManager[None]:
        """Return a context in which work stops at the end of the time limit, by Late."""
        if self.time_limit is None:
            return unhurried()
        assert self.started is not None
        return until(self.started + self.time_limit)

    def limit(self, now: Progress, memory: int) -> Status | None:
        """Return the limit that is reached, if any."""
        if self.max_iter is not None and now.iteration >= self.max_iter:
            return Status.ITERATIONS
        if self.time_limit is not None and now.seconds >= self.time_limit:
            return Status.TIME
        if self.max_regions is not None and now.regions > self.max_regions:
            return Status.REGIONS
        if self.memory_limit is not None and memory > self.memory_limit:
            return Status.MEMORY
        return None


class Proof(NamedTuple):
    """What was proved of the function beside its bounds: UNBOUNDED or NOT_ATTAINED, and why, in a sentence."""

    status: Status
    reason: str


class Missed(NamedTuple):
    """A goal that the final numbers do not meet, and the box that is to blame.

    goal         "value" or "width"
    found        upper - lower, or the box's width along `variable`; asked: what it should have been
    number       of the box, counted from 0, and `among` how many boxes: all, or those of one block
    variables    (r,) of the box, whose ends (r, 2) are `box` and whose lower bound is `lower`
    reason       why nothing was done about it
    """

    goal: str
    found: float
    asked: float
    number: int
    among: int
    variables: npt.NDArray[np.int64]
    box: FloatArray
    lower: float
    reason: str
    variable: int = -1


@dataclass(frozen=True, eq=False)
class Outcome:
    """[lower, upper] contains the global minimum, the boxes every global minimiser.

    status and missed are what verdict.py makes of the rest.
    """

    lower: float
    upper: float
    boxes: FloatArray
    lower_bounds: FloatArray
    x: FloatArray | None
    fun: float
    status: Status
    nit: int
    boxes_evaluated: int
    points_evaluated: int
    seconds: float
    history: list[Progress] = field(default_factory=list)
    product: Product | None = None  # where blocks were searched apart: then the boxes may be their hull alone
    proof: Proof | None = None
    missed: Missed | None = None

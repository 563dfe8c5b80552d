"""Result: what is known about the optimum when a search ends, or while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from infimum.interval import Interval, empty
from infimum.interval.outward import FloatArray
from infimum.records import merge, writing
from infimum.records.maximum import outcome_turned_back
from infimum.search.outcome import Missed, Outcome, Progress, Proof
from infimum.search.product import Product
from infimum.search.status import Status

T = TypeVar("T")
_NAMES = (
    "gap", "x", "fun", "success", "status", "message", "nit", "nfev", "boxes_evaluated", "points_evaluated", "nregions",
    "seconds", "history", "backend", "trust",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Result(Mapping[str, Any]):
    """The optimum and every place where it can be, enclosed; attributes or keys, as SciPy's OptimizeResult.

    minimum        Interval that contains the global minimum (maximum, where that was asked for)
    boxes          array (k, n, 2): together they contain every global minimiser; `blocks` gives them as a product,
                   where the function is a sum of blocks that share no variable, and count() says how many there are
    lower_bounds   array (k,): the function is nowhere below this in each box (upper_bounds for a maximum)
    x, fun         the best point found and the function's value there
    success        whether the goals are reached by these numbers; status and message say what ended the search, or
                   which goal was missed, in which box, and why
    gap            how far the bounds of the optimum are apart, rounded upward; inf where one is missing
    nit, seconds   iterations, and the time that they took;  nregions: the number of boxes
    nfev           evaluations of the function: boxes_evaluated, the times that it was enclosed over a box, and
                   points_evaluated, the points at which it was evaluated in plain doubles or proved
    history        a Progress (iteration, lower, upper, regions, seconds, work, boxes_evaluated, points_evaluated) for
                   each report of the search; `work` says what each contractor, the points and the cuts brought,
                   `main_work` the same in a word
    backend        what the search ran on, "cpu" or "cuda: …", and why, where it was chosen by a measurement
    trust          what the proof rests on beside infimum: the contractors of the user's own, by class and module
    """

    optimum: Interval
    listed: FloatArray
    bounds: FloatArray
    x: FloatArray | None
    fun: float
    status: Status
    nit: int
    boxes_evaluated: int
    points_evaluated: int
    seconds: float
    history: Sequence[Progress]
    maximize: bool = False
    backend: str = "cpu"
    product: Product | None = None
    proof: Proof | None = None
    missed: Missed | None = None
    trust: tuple[str, ...] = ()
    regions: int | None = None  # while a search runs: how many there are, of which `listed` is the hull

    # ------------------------------------------------------------------------------------------ the optimum
    @property
    def minimum(self) -> Interval:
        """Return an interval that contains the global minimum."""
        return self._of("minimum", self.optimum)

    @property
    def maximum(self) -> Interval:
        """Return an interval that contains the global maximum."""
        return self._of("maximum", self.optimum)

    @property
    def lower_bounds(self) -> FloatArray:
        """Return for each box a number that the function is nowhere below."""
        return self._of("lower_bounds", self.bounds)

    @property
    def upper_bounds(self) -> FloatArray:
        """Return for each box a number that the function is nowhere above."""
        return self._of("upper_bounds", self.bounds)

    def _of(self, name: str, value: T) -> T:
        of_a_maximum = name in ("maximum", "upper_bounds")
        if of_a_maximum == self.maximize:
            return value
        done, other = ("maximised", "maximum") if self.maximize else ("minimised", "minimum")
        raise AttributeError(f"The function was {done}, so there is no {name}: read result.{other}.")

    @property
    def gap(self) -> float:
        """Return how far the bounds of the optimum are apart at most: upper - lower, rounded upward."""
        return float(self.optimum.wid)

    # ------------------------------------------------------------------------------------------ the rest
    @property
    def nfev(self) -> int:
        """Return how often the function was evaluated, over boxes and at points."""
        return self.boxes_evaluated + self.points_evaluated

    @property
    def success(self) -> bool:
        """Return whether every goal was reached."""
        return self.status == Status.PROVED

    @property
    def message(self) -> str:
        """Return what ended the search, where and why a goal was missed, and what the proof rests on (`trust`)."""
        return f"{self._ending()} {writing.trusted(self.trust)}" if self.trust else self._ending()

    def _ending(self) -> str:
        text = self.status.sentence
        if self.status in (Status.RUNNING, Status.UNDEFINED):
            return text
        if self.proof is not None and self.status == self.proof.status:
            return f"{text} {self.proof.reason}"
        if self.missed is not None and self.status == Status.GOAL_MISSED:
            return f"{text} {writing.missed(self.missed, self.maximize)}"
        if not np.isfinite(self.listed).all():
            text += " A box is unbounded: the optimum may lie at infinity."
        if np.isinf(self.optimum.hi if self.maximize else self.optimum.lo):
            text += f" The function may be unbounded {'above' if self.maximize else 'below'}: no bound was found."
        return text

    # ------------------------------------------------------------------------------------------ the boxes
    @property
    def boxes(self) -> FloatArray:
        """Return the boxes as an array (k, n, 2); refuse where a product has too many to be written down."""
        return self.listed if self.product is None else self.product.boxes()[0]

    @property
    def blocks(self) -> list[tuple[list[int], FloatArray]]:
        """Return the boxes as a product: for each block its variables and its boxes (k, r, 2)."""
        if self.product is None:
            return [(list(range(self.listed.shape[1])), self.listed)]
        return self.product.blocks()

    def count(self) -> int:
        """Return how many boxes there are; of a product there may be 2^50."""
        if self.regions is not None:
            return self.regions
        return len(self.listed) if self.product is None else self.product.count()

    @property
    def nregions(self) -> int:
        """Return the number of boxes; while a search runs, of those that it has, around which `boxes` is one."""
        return self.count()

    def merged(self) -> FloatArray:
        """Return boxes (j, n, 2) of which no two touch: those that do are joined into their hull."""
        return merge.merged(self.boxes)

    def to_dict(self) -> dict[str, Any]:
        """Return the result in plain numbers and lists, as JSON can hold it (infinities and NaN as text)."""
        return {name: writing.plain(value) for name, value in self.items()}

    # ------------------------------------------------------------------------------------------ as a mapping
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _names(self) -> list[str]:
        boxes = "boxes" if self.product is None or self.count() == len(self.listed) else "blocks"
        ends = ["maximum", boxes, "upper_bounds"] if self.maximize else ["minimum", boxes, "lower_bounds"]
        return [*ends, *_NAMES]

    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return writing.report(self)


def result_of(outcome: Outcome, maximize: bool = False, backend: str = "cpu", trust: tuple[str, ...] = ()) -> Result:
    """Return the result of an outcome of the search; of the negated function where a maximum was asked for."""
    if maximize:
        outcome = outcome_turned_back(outcome)
    lower, upper = float(outcome.lower), float(outcome.upper)
    optimum = empty() if outcome.status == Status.UNDEFINED else Interval(lower, upper)
    history = list(outcome.history)
    bounds, fun = np.asarray(outcome.lower_bounds, np.float64), float(outcome.fun)
    boxes = np.asarray(outcome.boxes, np.float64)
    x = None if outcome.x is None else np.asarray(outcome.x, np.float64)
    return Result(
        optimum, boxes, bounds, x, fun, Status(outcome.status), int(outcome.nit), int(outcome.boxes_evaluated),
        int(outcome.points_evaluated), float(outcome.seconds), history,
        maximize, backend, outcome.product, outcome.proof, outcome.missed, trust,
    )  # fmt: skip


def result_under_way(
    step: Progress, domain: FloatArray, maximize: bool = False, backend: str = "cpu", trust: tuple[str, ...] = ()
) -> Result:
    """Return what is known while a search runs: the enclosure so far, and the domain (n, 2) around all its boxes."""
    far = step.upper if maximize else step.lower
    return Result(
        Interval(step.lower, step.upper), domain[None], np.array([far]), None, float("nan"), Status.RUNNING,
        step.iteration, step.boxes_evaluated, step.points_evaluated, step.seconds, [step], maximize, backend,
        trust=trust, regions=step.regions,
    )  # fmt: skip

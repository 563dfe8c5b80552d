"""All contractors together, as the default method applies them to a batch of boxes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import to_host
from infimum.boxes import BoolArray, Boxes, FloatArray, is_empty, shrinkage, taken, total
from infimum.contractors.known import Known
from infimum.contractors.level import Level
from infimum.contractors.linear.layer import layered
from infimum.contractors.linear.slopes import LayerSlopes
from infimum.contractors.mean_value import MeanValue
from infimum.contractors.monotone import Monotone
from infimum.contractors.stationary import Stationary
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.function import Function

NAMES = ("linear", "level", "monotone", "stationary", "mean_value")
_LARGE_LAYER = 64  # variables; beyond, contraction of f itself costs more than all the rest
_NARROW = 2.0**-16  # relative
_MOST_FOR_MEAN_VALUE = 10_000  # variables; beyond, slopes of sums say little and cost much


class Devices:
    """Which contractors run; each can be switched off by leaving out its name. None can make a result false.

    work: how much each has taken away since it was last cleared, in boxes: 1 for a box that it emptied, less for one
    that it narrowed.
    """

    def __init__(self, function: Function, domain: Domain, threads: int = 1, names: tuple[str, ...] = NAMES) -> None:
        self.function = function
        self.domain = domain
        self.threads = threads
        self.names = names
        self.work: dict[str, float] = {}
        linear = layered(function) if "linear" in names else None
        self._linear = linear if linear is not None and linear.is_worthwhile else None
        self._level = Level(function, passes=4)
        self._probe = Level(function, passes=60, least=0.2)
        self._patient = Level(function, passes=max(60, min(3000, 4_000_000 // function.n)), least=0.4 / function.n)
        self._known = Known(function)
        self._monotone = Monotone(function, domain, self._known)
        self._stationary = Stationary(function, domain, passes=1, known=self._known)
        self._mean_value = MeanValue(function, self._known)

    @property
    def can_guess(self) -> bool:
        """Whether boxes can be contracted under a guessed level."""
        return "level" in self.names or self._linear is not None

    def contract(
        self, lo: FloatArray, hi: FloatArray, lower: FloatArray, upper: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Boxes around every point of each box that can be a minimiser with a value up to `upper`, and lower bounds.

        Boxes that have no such point are left out.
        """
        low, high, bound = lo, hi, lower
        if self._linear is not None:
            found = self._linear.narrow(low, high, upper, threads=self.threads)
            self._credit("linear", total(found.gone))
            if self._layer_is_enough((lo, hi), (found.lo, found.hi), upper):
                low, high = LayerSlopes(self._linear, self.domain).contract(
                    found.lo, found.hi, upper, threads=self.threads
                )
                return self._left(low, high, np.maximum(bound, found.lower), upper)
            low, high, bound = self._left(found.lo, found.hi, np.maximum(bound, found.lower), upper)
        low, high, bound = self.function.place.to_device(low, high, bound)
        if "level" in self.names:
            found = self._level.narrow(low, high, upper, threads=self.threads)
            self._credit("level", total(found.gone))
            low, high, bound = self._left(found.lo, found.hi, np.maximum(bound, found.lower), upper)
        else:
            low, high, bound = self._by_enclosure(low, high, bound, upper)
        if "monotone" in self.names and self._is_small():
            after = self._monotone.contract(low, high, threads=self.threads)
            low, high, bound = self._turn("monotone", (low, high), after, bound, upper)
        if "stationary" in self.names and self._is_small():
            after = self._stationary.contract(low, high, threads=self.threads)
            low, high, bound = self._turn("stationary", (low, high), after, bound, upper)
        if "mean_value" in self.names and self._is_small():
            *box, least = self._mean_value.narrow(low, high, upper, threads=self.threads)
            low, high, bound = self._turn("mean_value", (low, high), (box[0], box[1]), np.maximum(bound, least), upper)
        return to_host(low), to_host(high), to_host(bound)

    def under(
        self, lo: FloatArray, hi: FloatArray, level: FloatArray, *, patient: bool = False
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Boxes around the points with a value up to a level for each, and lower bounds on those boxes.

        patient: even a pass that narrows a single variable is worth another, as along a chain of terms.
        """
        bound = np.full(len(lo), -np.inf)
        if self._linear is not None:
            through = self._linear.narrow(lo, hi, level, threads=self.threads)
            if self._layer_is_enough((lo, hi), (through.lo, through.hi), level):
                return through.lo, through.hi, np.where(is_empty(through.lo, through.hi), level, through.lower)
            lo, hi, bound = through.lo, through.hi, through.lower
        if "level" not in self.names:
            return lo, hi, np.where(is_empty(lo, hi), level, bound)
        is_cheap = self._linear is None or self.function.n < _LARGE_LAYER
        probe = self._patient if patient and is_cheap else self._probe
        found = probe.narrow(lo, hi, level, threads=self.threads)
        bound = np.maximum(bound, found.lower)
        return found.lo, found.hi, np.where(is_empty(found.lo, found.hi), level, bound)

    def points(self, lo: FloatArray, hi: FloatArray, level: FloatArray) -> FloatArray:
        """Points of promise (POLICY) of boxes contracted under a level: middles, and what a linear layer leads to."""
        middles = at_fraction(lo, hi, 0.5)
        if self._linear is None:
            return middles
        return np.vstack([middles, self._linear.points(lo, hi, level, threads=self.threads)])

    def slopes(self, lo: FloatArray, hi: FloatArray) -> npt.NDArray[np.float64] | None:
        """The largest slopes in magnitude, to choose where to cut."""
        if not self._is_small():
            return None
        low, high = self._known.gradient_ends(lo, hi, threads=self.threads)
        return np.maximum(np.abs(low), np.abs(high))

    def _layer_is_enough(self, before: Boxes, after: Boxes, upper: npt.ArrayLike) -> bool:
        """Whether contraction through a large layer did so well, or had so little to go by, that all else can wait."""
        if self.function.n < _LARGE_LAYER:
            return False
        narrow = (after[1] - after[0] <= _NARROW * np.maximum(1.0, np.abs(after[0]))).all(1)
        done = is_empty(*after) | narrow | (shrinkage(before, after) > 0.5)
        return not np.isfinite(upper).any() or bool(done.all())

    def _by_enclosure(
        self, lo: FloatArray, hi: FloatArray, lower: FloatArray, upper: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The boxes with the bounds that the function's enclosures give, without those where it is defined nowhere."""
        if not len(lo):
            return lo, hi, lower
        least, most = self.function.sharp_ends(lo, hi, threads=self.threads)
        return self._left(lo, hi, np.maximum(lower, np.where(least <= most, least, np.inf)), upper)

    def _left(
        self, lo: FloatArray, hi: FloatArray, lower: FloatArray, upper: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The boxes that are not empty and whose lower bound is not above `upper`; none of infinite bound."""
        some = self._some(lo, hi, lower, upper)
        return (lo, hi, lower) if some is None else (lo[some], hi[some], lower[some])

    def _turn(
        self, name: str, before: Boxes, after: Boxes, lower: FloatArray, upper: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What is left after a contractor's turn, whose work is written down."""
        some = self._some(*after, lower, upper)
        self._credit(name, taken(before, after, some))
        return (*after, lower) if some is None else (after[0][some], after[1][some], lower[some])

    def _some(self, lo: FloatArray, hi: FloatArray, lower: FloatArray, upper: float) -> BoolArray | None:
        """Which boxes are left, None where all are. A bound that is no number says nothing."""
        some: BoolArray = ~(is_empty(lo, hi) | (lower > upper) | (lower == np.inf))
        if some.all():
            return None
        self._known.keep(some)
        return some

    def _credit(self, name: str, boxes: float) -> None:
        if boxes > 0:
            self.work[name] = self.work.get(name, 0.0) + boxes

    def _is_small(self) -> bool:
        return self.function.n <= _MOST_FOR_MEAN_VALUE

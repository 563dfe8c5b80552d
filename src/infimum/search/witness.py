"""The best point so far: proposals become an upper bound only by a proved value at a point of the domain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum.deadline import ask, unhurried
from infimum.domain import Domain
from infimum.errors import InvalidOption
from infimum.fractions import at_fraction
from infimum.function.function import Function
from infimum.search.paper.sampling import Look, Sampling
from infimum.search.proposals import numbers
from infimum.search.tuning import NUMBERS_AT_ONCE, PROVED_POINTS

FloatArray = npt.NDArray[np.float64]


class Witness:
    """A point x of the domain where the function is defined, with a value of at most `upper`.

    Guarantee: the global minimum is not above `upper`, whatever was proposed.
    """

    def __init__(self, function: Function, domain: Domain) -> None:
        self.function = function
        self.domain = domain
        self.upper = np.inf
        self.evaluated = 0  # points, in plain doubles or by a proof
        self._x: FloatArray | None = None
        self._locate: Callable[[], FloatArray] | None = None

    @property
    def x(self) -> FloatArray | None:
        """Return the point itself."""
        if self._locate is not None:
            self._x, self._locate = self._locate(), None
        return self._x

    def take(self, upper: float, locate: Callable[[], FloatArray]) -> None:
        """Take a point of the domain whose value is proved to be at most `upper`; `locate` finds it, if asked."""
        self.evaluated += 1
        if upper < self.upper:
            self.upper, self._locate = upper, locate

    def adopt(self, other: Witness) -> bool:
        """Take the point that another witness of the same function and domain has proved, where it is better."""
        is_better = other.upper < self.upper
        if is_better:
            self.upper, self._x, self._locate = other.upper, other.x, None
        return is_better

    def offer(self, point: npt.ArrayLike) -> bool:
        """Take the point, moved into the domain, where its proved value is better; say whether it is."""
        x = np.clip(np.asarray(point, np.float64), self.domain.inner_lo, self.domain.inner_hi)
        if not np.isfinite(x).all():
            return False
        self.evaluated += 1
        with unhurried():
            bottom, top = (float(end[0]) for end in self.function.range_ends(x[None], x[None]))
            better = bottom <= top < self.upper and bool(self.function.fact_arrays(x[None], x[None])[0][0])
        if better:
            self.upper, self._x, self._locate = top, x, None
        return better

    def offer_all(self, points: FloatArray) -> bool:
        """Take the best of these points (k, n) by its proved value, where that is better; say whether one is.

        The first one is proved however late it is.
        """
        before = self.upper
        self.offer(points[0])
        most = max(1, NUMBERS_AT_ONCE // self.function.n)
        for first in range(1, len(points), most):
            x = np.clip(points[first : first + most], self.domain.inner_lo, self.domain.inner_hi)
            bottom, top = self.function.range_ends(x, x)
            self.evaluated += len(x)
            top = np.where(bottom <= top, top, np.inf)
            for i in np.argsort(top, kind="stable")[:PROVED_POINTS]:
                if not top[i] < self.upper or self.offer(x[i]):
                    break
        return self.upper < before

    def look(self, sampling: Sampling, look: Look) -> None:
        """Offer what a sampling proposes for a region."""
        with np.errstate(all="ignore"):
            points = np.atleast_2d(numbers(sampling.propose(look.frozen()), f"{type(sampling).__name__}.propose"))
        if points.size == 0:
            return
        if points.ndim != 2 or points.shape[1] != self.function.n:
            raise InvalidOption(
                f"{type(sampling).__name__}.propose returns points of shape {points.shape}, where "
                f"(k, {self.function.n}) is meant."
            )
        for point in self._ranked(points):
            if self.offer(point):
                break

    def probe(self, lo: FloatArray, hi: FloatArray) -> bool:
        """Offer points of a box where a condition of the function holds, or fails; say whether one is better."""
        before = self.upper
        for box in self.function.condition_boxes:
            ask()
            found = box.point(lo, hi, at_fraction(lo, hi, 0.5) if self.x is None else self.x)
            if found is not None:
                self.offer(found)
        return self.upper < before

    def _ranked(self, points: FloatArray) -> FloatArray:
        """Return the best few points in plain doubles, the best one first."""
        if len(points) == 1:
            return points
        inside = np.clip(points, self.domain.inner_lo, self.domain.inner_hi)
        inside = inside[np.isfinite(inside).all(1)]
        self.evaluated += len(inside)
        values = np.asarray(self.function(inside)) if len(inside) else np.empty(0)
        return inside[np.argsort(values, kind="stable")[:PROVED_POINTS]]

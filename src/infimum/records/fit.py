"""Fit: what is known about the best parameters of a model when a search ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.interval import Interval
from infimum.interval.outward import FloatArray
from infimum.records import writing
from infimum.records.result import Result
from infimum.search.status import Status

_NAMES = (
    "rss", "cost", "popt", "pcov", "perr", "ranges", "names", "success", "status", "message", "nit", "nfev", "nregions",
    "seconds",
)  # fmt: skip
_SUMS = Interval(0, np.inf)  # what a sum of squares can be


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The least sum of squares and every place where it can be, enclosed; beside SciPy's estimates.

    rss        Interval that contains the least sum of squares over the bounds: of residuals, divided by sigma where
               that is given; cost is half of it, as SciPy's least_squares has it
    boxes      array (k, n, 2): together they contain every best parameter vector; `ranges` (n, 2) is their hull
    popt, x    the best parameters found, a point within the bounds; fun is the sum of squares there
    pcov       the covariance of popt as curve_fit estimates it, in plain doubles: it is not certified, nor is perr,
               the square roots of its diagonal. None beyond 1,000 parameters, and where there is no popt
    names      what the parameters are called
    success    whether the goals are reached; status and message say what ended the search, or what was missed
    result     the Result of the search, with all the rest

    `popt, pcov = fit` unpacks it as curve_fit's answer.
    Guarantee: rss and boxes, rounding errors included, of the model as it was traced and the data as they were given.
    """

    result: Result
    names: tuple[str, ...]
    pcov: FloatArray | None

    @property
    def rss(self) -> Interval:
        """Return an interval that contains the least sum of squares."""
        return self.result.minimum & _SUMS

    @property
    def cost(self) -> Interval:
        """Return an interval that contains half the least sum of squares."""
        half: Interval = self.rss / 2
        return half

    @property
    def popt(self) -> FloatArray | None:
        """Return the best parameters found; None where no point was found at which the model is defined."""
        return self.result.x

    @property
    def x(self) -> FloatArray | None:
        """Return the same as popt."""
        return self.result.x

    @property
    def fun(self) -> float:
        """Return the sum of squares at popt, in plain doubles."""
        return self.result.fun

    @property
    def perr(self) -> FloatArray | None:
        """Return the standard deviations of popt, the square roots of the diagonal of pcov: not certified."""
        return None if self.pcov is None else np.sqrt(np.diag(self.pcov))

    @property
    def boxes(self) -> FloatArray:
        """Return boxes (k, n, 2) that together contain every best parameter vector."""
        return self.result.boxes

    @property
    def ranges(self) -> FloatArray:
        """Return for each parameter the ends (n, 2) between which all its best values lie; NaN where there is none."""
        found = np.full((len(self.names), 2), np.nan)
        for variables, boxes in self.result.blocks:
            if len(boxes):
                found[variables, 0] = boxes[:, :, 0].min(axis=0)
                found[variables, 1] = boxes[:, :, 1].max(axis=0)
        return found

    @property
    def success(self) -> bool:
        """Return whether every goal was reached."""
        return self.result.success

    @property
    def status(self) -> Status:
        """Return what ended the search."""
        return self.result.status

    @property
    def message(self) -> str:
        """Return what ended the search, where and why a goal was missed."""
        return self.result.message

    @property
    def nit(self) -> int:
        """Return the number of iterations."""
        return self.result.nit

    @property
    def nfev(self) -> int:
        """Return how often the sum of squares was evaluated, over boxes and at points."""
        return self.result.nfev

    @property
    def nregions(self) -> int:
        """Return the number of boxes."""
        return self.result.nregions

    @property
    def seconds(self) -> float:
        """Return the time that the search took."""
        return self.result.seconds

    def __iter__(self) -> Iterator[FloatArray | None]:
        """Return popt and pcov, as curve_fit's answer unpacks."""
        return iter((self.popt, self.pcov))

    def to_dict(self) -> dict[str, Any]:
        """Return the fit in plain numbers and lists, as JSON can hold it, with the result of the search."""
        return {name: writing.plain(getattr(self, name)) for name in _NAMES} | {"result": self.result.to_dict()}

    def __repr__(self) -> str:
        return writing.fit_report(self)

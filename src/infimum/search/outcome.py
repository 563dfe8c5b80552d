"""What a search is asked for and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.search.partition import Partition, Uniform
from infimum.search.product import Product
from infimum.search.sampling import Diagonal, Sampling
from infimum.search.selection import Best, Selection
from infimum.search.status import Status

FloatArray = npt.NDArray[np.float64]


class Progress(NamedTuple):
    """Where the search stands after an iteration."""

    iteration: int
    lower: float
    upper: float
    regions: int
    seconds: float


@dataclass(frozen=True)
class Options:
    """Goals (xtol, ftol: all given ones must hold), limits (any one stops) and strategies (the paper's).

    xtol is one width for all variables or one for each, inf where the width does not matter.
    """

    xtol: float | FloatArray | None = 1e-4
    ftol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    max_regions: int | None = None
    x0: FloatArray | None = None
    threads: int = 1
    partition: Partition = field(default_factory=Uniform)
    sampling: Sampling = field(default_factory=Diagonal)
    selection: Selection = field(default_factory=Best)
    devices: tuple[str, ...] | None = None  # names of the contractors that the default method runs; None for all
    backend: str = "cpu"  # or "cuda": where regions are split and evaluated; the answer does not depend on it

    def gap(self, upper: float) -> float:
        """How far a lower bound may lie below this upper one where ftol is a goal."""
        assert self.ftol is not None
        return self.ftol * max(1.0, abs(upper))

    def limit(self, now: Progress) -> Status | None:
        """The limit that is reached, if any."""
        if self.max_iter is not None and now.iteration >= self.max_iter:
            return Status.ITERATIONS
        if self.time_limit is not None and now.seconds >= self.time_limit:
            return Status.TIME
        if self.max_regions is not None and now.regions > self.max_regions:
            return Status.REGIONS
        return None


@dataclass(frozen=True, eq=False)
class Outcome:
    """[lower, upper] contains the global minimum, the boxes every global minimiser."""

    lower: float
    upper: float
    boxes: FloatArray
    lower_bounds: FloatArray
    x: FloatArray | None
    fun: float
    status: Status
    nit: int
    nfev: int
    seconds: float
    history: list[Progress] = field(default_factory=list)
    product: Product | None = None  # where blocks were searched apart: then the boxes may be their hull alone

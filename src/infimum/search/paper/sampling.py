"""Where to look for good points (POLICY): strategies that propose, by name or as objects.

    Diagonal    the paper's: ten points on the diagonal of every child, the best of them
    Midpoint    the middle of the region
    Grid        a grid over the variables being split
    Latin       a Latin hypercube over the region
    Random      uniform points of the region
    Local       where SciPy's L-BFGS-B descends to from the middle of the region
    Several     all of the above that are named

A sampling is any object with `propose(look)`, which returns points (k, n), or one point (n,). Those that are no numbers
are dropped, those outside the domain are moved into it, the best in plain doubles is kept, and its value is proved: a
sampling can cost time, never truth. What a strategy draws depends on its seed and the iteration alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from infimum.deadline import Late
from infimum.domain import Domain
from infimum.errors import InvalidOption
from infimum.fractions import FRACTIONS, at_fraction
from infimum.function.function import Function
from infimum.search.paper.enumerated import batches, boxes, children
from infimum.search.paper.split import Split
from infimum.search.paper.tuning import BATCH

FloatArray = npt.NDArray[np.float64]

_WORST = 1e300  # stands for an undefined value where a descent needs a number


@dataclass(frozen=True, eq=False)
class Look:
    """What a sampling may look at: the region [lo, hi] about to be split, and the best point so far."""

    function: Function
    domain: Domain
    staged: Callable[[], FloatArray | None] | None  # the best diagonal point; None where all are evaluated here
    split: Split
    lo: FloatArray
    hi: FloatArray
    best: FloatArray | None
    iteration: int

    def frozen(self) -> Look:
        """Return the same on arrays that cannot be written into: what the search goes on with is out of reach."""
        split = Split(_read_only(self.split.variables), _read_only(self.split.edges))
        best = None if self.best is None else _read_only(self.best)
        return replace(self, split=split, lo=_read_only(self.lo), hi=_read_only(self.hi), best=best)

    def middle(self) -> FloatArray:
        return at_fraction(self.lo, self.hi, 0.5)


class Sampling(Protocol):
    """Where to look for points with small values."""

    def propose(self, look: Look) -> npt.ArrayLike:
        """Propose points (k, n), or one point (n,)."""
        ...


@dataclass(frozen=True)
class Diagonal:
    """Ten points on the diagonal of each child, the best of them: the paper's."""

    def propose(self, look: Look) -> FloatArray:
        if look.staged is None:
            return _best_diagonal_point(look)
        found = look.staged()
        return look.middle() if found is None else found


@dataclass(frozen=True)
class Midpoint:
    """The middle of the region."""

    def propose(self, look: Look) -> FloatArray:
        return look.middle()


@dataclass(frozen=True)
class Grid:
    """`points` a variable over as many of the split variables as `most` points allow; the others at their middle."""

    points: int = 3
    most: int = 4096

    def propose(self, look: Look) -> FloatArray:
        count = 0
        while count < look.split.count and self.points ** (count + 1) <= self.most:
            count += 1
        variables = look.split.variables[:count]
        fractions = (np.arange(self.points) + 0.5) / self.points
        x = np.repeat(look.middle()[None], self.points**count, 0)
        rows = np.array(list(itertools.product(fractions, repeat=count))).reshape(-1, count)
        x[:, variables] = at_fraction(look.lo[variables], look.hi[variables], rows)
        return x


@dataclass(frozen=True)
class Latin:
    """A Latin hypercube of `count` points: in each variable, one point in each of `count` equal parts."""

    count: int = 64
    seed: int = 0

    def propose(self, look: Look) -> FloatArray:
        draw = np.random.default_rng((self.seed, look.iteration))
        order = draw.permuted(np.repeat(np.arange(self.count)[:, None], look.lo.size, 1), axis=0)
        return at_fraction(look.lo, look.hi, (order + draw.random(order.shape)) / self.count)


@dataclass(frozen=True)
class Random:
    """`count` uniform points of the region."""

    count: int = 64
    seed: int = 0

    def propose(self, look: Look) -> FloatArray:
        draw = np.random.default_rng((self.seed, look.iteration))
        return at_fraction(look.lo, look.hi, draw.random((self.count, look.lo.size)))


@dataclass(frozen=True)
class Local:
    """Where L-BFGS-B descends to from the middle of the region, within it; every `every`-th iteration.

    Needs SciPy, whose versions may find other points: the result is as true, but may differ from machine to machine.
    """

    every: int = 1
    steps: int = 100

    def propose(self, look: Look) -> FloatArray:
        start = look.middle()
        if (look.iteration - 1) % self.every:
            return start
        try:
            from scipy import optimize  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise InvalidOption("sampling='local' needs SciPy, which is not installed: pip install scipy.") from None
        pairs = optimize.Bounds(look.lo, look.hi)
        with np.errstate(all="ignore"):
            found = optimize.minimize(
                _descent, start, (look.function,), "L-BFGS-B", jac=True, bounds=pairs, options={"maxiter": self.steps}
            )
        return np.stack([np.asarray(found.x, np.float64), start])


@dataclass(frozen=True)
class Several:
    """What each of several samplings proposes."""

    samplings: tuple[Sampling, ...]

    def propose(self, look: Look) -> FloatArray:
        return np.concatenate([np.atleast_2d(np.asarray(s.propose(look), np.float64)) for s in self.samplings])


SAMPLINGS = {
    "paper": Diagonal,
    "midpoint": Midpoint,
    "grid": Grid,
    "latin": Latin,
    "random": Random,
    "local": Local,
}


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _descent(x: FloatArray, function: Function) -> tuple[float, FloatArray]:
    value, slope = function.value_and_gradient(x)
    return (float(value) if np.isfinite(value) else _WORST), np.nan_to_num(np.asarray(slope), posinf=0.0, neginf=0.0)


def _best_diagonal_point(look: Look) -> FloatArray:
    """Return the best of all children's diagonal points, every one evaluated in plain doubles."""
    best, point = np.inf, look.middle()
    count = children(look.split)
    try:
        for start in range(0, count, BATCH):
            pieces = list(batches(start, min(start + BATCH, count), look.lo.size))
            box = boxes(look.split, pieces[0], look.lo, look.hi)
            for fraction in FRACTIONS:
                for index in pieces:
                    if len(pieces) > 1:
                        box = boxes(look.split, index, look.lo, look.hi)
                    x = at_fraction(*box, float(fraction))
                    values = np.asarray(look.function(x))
                    values = np.where(np.isnan(values), np.inf, values)
                    at = int(values.argmin())
                    if values[at] < best:
                        best, point = float(values[at]), x[at]
    except Late:
        pass  # the best of those looked at is better than none
    return point

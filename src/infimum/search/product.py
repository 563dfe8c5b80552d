"""How the answers of blocks combine: the product form (PROOF).

Each block has a list of boxes that contain its minimisers, with lower bounds, and a point with an upper bound. Of the
whole function then

    minimum       constant + sum of the blocks' minima, rounded outward
    minimisers    the product of the blocks' lists: any box of the first block, any of the second, …
    count         the product of the lists' lengths, which may be 2^50; only so many are written down
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.boxes import without_nan
from infimum.errors import InvalidOption
from infimum.interval.folds import fold
from infimum.search.tuning import MOST_ENDS, SUMS_AT_ONCE

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[float, float]

_HUGE = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Answers:
    """What is known of k blocks of r variables each. Block b has the boxes starts[b] to starts[b + 1].

    A block without boxes is undefined all over its domain; one without an upper bound has +inf.
    """

    variables: IndexArray  # (k, r)
    starts: IndexArray  # (k + 1,)
    lo: FloatArray  # (boxes, r)
    hi: FloatArray
    lower_bounds: FloatArray  # (boxes,)
    upper: FloatArray  # (k,): no less than the block's value at x
    x: FloatArray  # (k, r)

    def __post_init__(self) -> None:
        # A bound that is no number says nothing.
        object.__setattr__(self, "lower_bounds", without_nan(self.lower_bounds))
        object.__setattr__(self, "upper", -without_nan(-self.upper))

    def lengths(self) -> IndexArray:
        """Return how many boxes each block has."""
        return np.diff(self.starts)

    def lower(self) -> FloatArray:
        """Return a lower bound (k,) of each block's minimum: that of its lowest box, +inf without boxes."""
        found = np.full(len(self.variables), np.inf)
        has = self.lengths() > 0
        if has.any():
            found[has] = np.minimum.reduceat(self.lower_bounds, self.starts[:-1][has])
        return found

    def copied(self, variables: IndexArray, of: IndexArray) -> Answers:
        """Return the answers of more blocks, of which block i is like block of[i] of these."""
        lengths = self.lengths()[of]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.repeat(self.starts[of] - starts[:-1], lengths) + np.arange(starts[-1])
        return Answers(variables, starts, self.lo[at], self.hi[at], self.lower_bounds[at], self.upper[of], self.x[of])


@dataclass(frozen=True, eq=False)
class Product:
    """The answers of all blocks of a function of n variables, whose constant lies in [lo, hi]."""

    n: int
    lo: float
    hi: float
    answers: tuple[Answers, ...]

    # ------------------------------------------------------------------------------------------ the minimum
    def minimum(self) -> Ends:
        """Return the ends of the global minimum; (+inf, +inf) where a block is undefined all over its domain."""
        # | blocks                             | lower                  | upper                       |
        # | one without boxes                  | +inf: no point at all  | +inf                        |
        # | one without an upper bound         | the sum                | +inf: no point is known     |
        # | else                               | the sum                | the sum                     |
        lower = np.concatenate([own.lower() for own in self.answers])
        upper = np.concatenate([own.upper for own in self.answers])
        if np.isposinf(lower).any():
            return math.inf, math.inf
        found = float(_lower_sum(np.append(lower, self.lo)))
        if np.isposinf(upper).any():
            return found, math.inf
        return found, -float(_lower_sum(-np.append(upper, self.hi)))

    def x(self) -> FloatArray | None:
        """Return the best points of all blocks as one, or None where a block has none."""
        found = np.empty(self.n)
        for own in self.answers:
            if np.isposinf(own.upper).any():
                return None
            found[own.variables] = own.x
        return found

    # ------------------------------------------------------------------------------------------ the minimisers
    def count(self) -> int:
        """Return how many boxes the product has."""
        lengths = np.concatenate([own.lengths() for own in self.answers])
        different, times = np.unique(lengths, return_counts=True)
        return math.prod(k**t for k, t in zip(different.tolist(), times.tolist(), strict=True))

    def hull(self) -> FloatArray:
        """Return one box (n, 2) around all; empty (+inf, -inf) where there are none."""
        found = np.tile([np.inf, -np.inf], (self.n, 1))
        for own in self.answers:
            has = own.lengths() > 0
            if has.all():
                found[own.variables, 0] = np.minimum.reduceat(own.lo, own.starts[:-1], axis=0)
                found[own.variables, 1] = np.maximum.reduceat(own.hi, own.starts[:-1], axis=0)
            else:
                return np.tile([np.inf, -np.inf], (self.n, 1))
        return found

    def widths(self) -> FloatArray:
        """Return the width (n,) of the widest box along each variable, rounded up; 0 where there are none."""
        found = np.zeros(self.n)
        for own in self.answers:
            owner = np.repeat(np.arange(len(own.variables)), own.lengths())
            with np.errstate(over="ignore", invalid="ignore"):
                wide = np.where(own.hi > own.lo, np.nextafter(own.hi - own.lo, np.inf), 0.0)
            np.maximum.at(found, own.variables[owner], wide)
        return found

    def blocks(self) -> list[tuple[list[int], FloatArray]]:
        """Return for each block its variables and its boxes (k, r, 2)."""
        found = []
        for own in self.answers:
            pairs = np.stack([own.lo, own.hi], 2)
            for b, variables in enumerate(own.variables.tolist()):
                found.append((variables, pairs[own.starts[b] : own.starts[b + 1]]))
        return found

    def boxes(self, most: int = MOST_ENDS) -> tuple[FloatArray, FloatArray]:
        """Return the boxes (count, n, 2), lists of earlier blocks running slower, and their lower bounds (count,)."""
        count = self.count()
        if 2 * self.n * count > most:
            shown = str(count) if count < 10**15 else f"2^{math.log2(count):.0f}"
            raise InvalidOption(
                f"The answer has {shown} boxes of {self.n} variables, as the product of the blocks' lists. Read "
                "result.blocks instead."
            )
        if count == 0:
            return np.empty((count, self.n, 2)), np.empty(0)
        ends = self.hull()  # of a block with one box, that box
        several: list[tuple[IndexArray, FloatArray]] = []  # the variables and boxes of blocks that have a choice
        bounds: list[FloatArray] = [np.array([self.lo])]  # of the constant, the blocks without a choice, each other one
        for own in self.answers:
            lengths = own.lengths()
            at = own.starts[:-1][lengths == 1]
            if at.size:
                bounds.append(np.atleast_1d(_lower_sum(own.lower_bounds[at])))
            for block in np.flatnonzero(lengths > 1):
                chosen = slice(*own.starts[block : block + 2])
                several.append((own.variables[block], np.stack([own.lo[chosen], own.hi[chosen]], 2)))
                bounds.append(own.lower_bounds[chosen])
        return _written(ends, several, count), _sums(bounds, count)


def _sums(bounds: list[FloatArray], count: int) -> FloatArray:
    """Return lower bounds of the sums over all choices of a number from each list, earlier lists running slower."""
    found = np.empty(count)
    for first in range(0, count, SUMS_AT_ONCE):
        at = np.arange(first, min(count, first + SUMS_AT_ONCE))
        rows, repeat = np.empty((len(bounds), at.size)), count
        for row, own in zip(rows, bounds, strict=True):
            repeat //= own.size
            row[:] = own[at // repeat % own.size]
        found[at] = _lower_sum(rows)
    return found


def _written(ends: FloatArray, several: list[tuple[IndexArray, FloatArray]], count: int) -> FloatArray:
    """Return all choices of one box from each list, the earlier lists running slower, beside the ends (n, 2) of others.

    Choices are written list by list from the last, each time as often as the list is long: most is written once.
    """
    rows, columns = np.empty((1, 0, 2)), np.empty(0, np.int64)
    for variables, own in reversed(several):
        many = len(own), len(rows)
        joined = np.empty((*many, own.shape[1] + rows.shape[1], 2))
        joined[:, :, : own.shape[1]] = own[:, None]
        joined[:, :, own.shape[1] :] = rows[None]
        rows, columns = joined.reshape(-1, *joined.shape[2:]), np.concatenate([variables, columns])
    if np.array_equal(columns, np.arange(len(ends))):
        return rows
    boxes = np.empty((count, *ends.shape))
    boxes[:] = ends
    boxes[:, columns] = rows
    return boxes


def share(gap: float, constant: Ends, count: int) -> float:
    """Return the gap that each of `count` blocks may keep so that the whole keeps `gap` at most (POLICY).

    Where the constant alone is enclosed less tightly, the goal is out of reach, and the blocks add as much once more.
    """
    width = constant[1] - constant[0]
    allowed = gap - width if gap >= width else width
    return max(0.0, allowed / count * (1 - 2.0**-20))


def _lower_sum(bounds: FloatArray) -> FloatArray:
    """Return a lower bound of the sum along the first axis, rounded down by halves; +inf counts as a huge number."""
    low = np.minimum(bounds, _HUGE)
    return fold("add", (low, np.full_like(low, np.inf)), axis=0)[0]

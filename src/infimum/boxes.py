"""Boxes: arrays (k, n) of lower and upper ends, with a lower bound of the function on each box.

    Boxes    lo, hi and lower: what contractors take and give, and what a search keeps
    Ends     a bare pair of arrays lo, hi: slopes, values, what stands behind a linear layer
The arrays are NumPy's, or CuPy's where boxes lie on a GPU; NumPy's functions work on both. What is added up is added up
in an order of our own, so that both have the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InvalidInterval, ShapeMismatch
from infimum.interval.reading import ends

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ends = tuple[FloatArray, FloatArray]

_SEEN = 16, 2**8  # boxes, and numbers in them, by which the shrinkage of all is judged, where it is only told
_UNKNOWN = np.empty(0)
_DOUBLE = np.dtype(np.float64)  # asked for by identity first: boxes are made often


@dataclass(frozen=True, eq=False, slots=True)
class Boxes:
    """k boxes of n variables: their ends lo, hi (k, n), and lower (k,), which f is nowhere below; -inf if not given.

    A box of which any component has lo > hi is empty. Numbers that are no doubles are refused. The arrays are not
    copied, and nobody writes to them.
    """

    lo: FloatArray
    hi: FloatArray
    lower: FloatArray = field(default_factory=lambda: _UNKNOWN)

    def __post_init__(self) -> None:
        if not (_is_double(self.lo) and _is_double(self.hi) and _is_double(self.lower)):
            for name in ("lo", "hi", "lower"):
                object.__setattr__(self, name, _doubles(getattr(self, name)))
        if self.lo.ndim != 2 or self.lo.shape != self.hi.shape:
            raise ShapeMismatch(
                f"boxes are two arrays (k, n) of lower and upper ends, got shapes {self.lo.shape} and {self.hi.shape}. "
                "For a single box write lo[None], hi[None]."
            )
        if self.lower is _UNKNOWN:
            object.__setattr__(self, "lower", for_each(self.lo, -np.inf))
        elif self.lower.shape != self.lo.shape[:1]:
            raise ShapeMismatch(f"{len(self.lo)} boxes have so many lower bounds, got shape {self.lower.shape}.")

    def __len__(self) -> int:
        return len(self.lo)

    def __iter__(self) -> Iterator[FloatArray]:
        """Yield lo, hi and lower."""
        return iter((self.lo, self.hi, self.lower))

    def __getitem__(self, some: Any) -> Boxes:
        """Return the boxes of a mask (k,), of indices or of a slice."""
        return Boxes(self.lo[some], self.hi[some], self.lower[some])

    @property
    def n(self) -> int:
        """The number of variables."""
        return int(self.lo.shape[1])

    @property
    def ends(self) -> Ends:
        """The arrays lo, hi."""
        return self.lo, self.hi

    def read_only(self) -> Boxes:
        """Return the boxes for code of the user's, which cannot write to them."""
        views = [array.view() for array in self]
        for view in views:
            view.flags.writeable = False
        return Boxes(*views)

    def is_empty(self) -> BoolArray:
        """Return which boxes have no point."""
        return is_empty(self.lo, self.hi)

    def emptied(self, where: BoolArray) -> Boxes:
        """Return the boxes, those marked being empty in every component, with the lower bound +inf."""
        if not where.any():
            return self
        return Boxes(*emptied(self.lo, self.hi, where), np.where(where, np.inf, self.lower))

    def with_lower(self, lower: FloatArray) -> Boxes:
        """Return the boxes with other lower bounds (k,)."""
        return Boxes(self.lo, self.hi, lower)

    def meet(self, other: Boxes) -> Boxes:
        """Return what each box has in common with the other one of its row, with the greater of both lower bounds."""
        return Boxes(*met(self.ends, other.ends), np.maximum(self.lower, other.lower))


def concatenated(parts: Sequence[Boxes]) -> Boxes:
    """Return the boxes of all parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Boxes(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _is_double(given: Any) -> bool:
    dtype = getattr(given, "dtype", None)
    return dtype is _DOUBLE or dtype == np.float64


def _doubles(given: Any) -> FloatArray:
    """Return an array of doubles; refuse numbers that this would change."""
    if _is_double(given):
        same: FloatArray = given
        return same
    found = np.array(given, np.float64)
    if not np.array_equal(np.asarray(given, object), found.astype(object)):
        raise InvalidInterval("an end of a box is no double. Round it outward: infimum.Interval(lo, hi).")
    return found


def limits(boxes: FloatArray, upper: Any) -> FloatArray:
    """Return what f may be at most on each box, (k,): a number or one for each box, rounded upward to doubles."""
    is_double = isinstance(upper, float) or _is_double(upper)
    found = for_each(boxes, upper if is_double else ends(upper)[1])
    if np.isnan(found).any():
        raise InvalidInterval("the number that f may be at most is NaN.")
    return found


def without_nan(lower: FloatArray) -> FloatArray:
    """Return lower bounds, -inf where one is no number: a comparison with NaN would drop its box without a word."""
    found: FloatArray = np.where(np.isnan(lower), -np.inf, lower) if np.isnan(lower).any() else lower
    return found


def is_empty(lo: FloatArray, hi: FloatArray) -> BoolArray:
    """Return which boxes have no point: one empty component is enough."""
    void = np.logical_not(lo <= hi)
    if not void.any():
        return np.zeros_like(void[:, 0])
    found: BoolArray = np.any(void, axis=1)
    return found


def emptied(lo: FloatArray, hi: FloatArray, where: BoolArray) -> Ends:
    """Return the ends, those of boxes that are marked being empty in every component."""
    if not where.any():
        return lo, hi
    return np.where(where[:, None], np.inf, lo), np.where(where[:, None], -np.inf, hi)


def met(a: Ends, b: Ends) -> Ends:
    """Return what two lists of boxes have in common, row by row; one empty component empties the whole box."""
    lo, hi = np.maximum(a[0], b[0]), np.minimum(a[1], b[1])
    return emptied(lo, hi, is_empty(lo, hi))


def shrinkage(before: Ends, after: Ends) -> FloatArray:
    """Return by how much each box shrank: the mean over its components of the part of the width that is gone."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        old, new = before[1] - before[0], after[1] - after[0]
        left = new / old
    mean = sums(left) / left.shape[1]
    if not ((mean >= 0) & (mean <= 1)).all():  # an empty box, 0/0 or inf/inf; finite/inf is 0 already
        left = np.where(np.isnan(left), (new >= old).astype(float), left)
        mean = sums(np.minimum(np.maximum(left, 0.0), 1.0)) / left.shape[1]
    found: FloatArray = 1.0 - mean
    return found


def taken(before: Boxes, after: Boxes, some: BoolArray | None = None) -> float:
    """Return about how many boxes were taken away, those that are left being marked.

    What is left is judged by what the first ones lost.
    """
    seen = max(_SEEN[0], _SEEN[1] // before.n)
    first = slice(0, seen) if some is None else np.flatnonzero(some)[:seen]
    gone = shrinkage((before.lo[first], before.hi[first]), (after.lo[first], after.hi[first]))
    left = len(after) if some is None else int(some.sum())
    return len(after) - left + total(gone) * left / max(1, len(gone))


def for_each(boxes: FloatArray, number: npt.ArrayLike) -> FloatArray:
    """Return a number, or one for each box, as an array (k,) where the boxes lie."""
    found: FloatArray = np.empty_like(boxes[:, 0])
    found[...] = number
    return found


def total(numbers: FloatArray) -> float:
    """Return the sum of an array (k,), added up by halves."""
    return float(sums(numbers[None])[0]) if len(numbers) else 0.0


def sums(rows: FloatArray) -> FloatArray:
    """Return the sums of the rows, added up by halves; a column that is left over is added to the first."""
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        both = rows[:, :half] + rows[:, half : 2 * half]
        if rows.shape[1] % 2:
            both[:, 0] = both[:, 0] + rows[:, -1]
        rows = both
    return rows[:, 0]

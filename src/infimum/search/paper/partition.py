"""Where a range is cut (POLICY): a partition proposes points, `cut` makes them ends of parts.

    Uniform        equal parts, on the scale of [-1, 1] where the range is infinite: the paper's
    Golden         parts by the golden ratio, whose cuts never fall twice on the same point
    Logarithmic    equal ratios where a range has one sign and spans decades

A partition is any object with `variables` (how many are split at a time), `parts`, and `cuts(lo, hi)`, which proposes
parts - 1 points for each range. Cuts are clamped and sorted, neighbours share them exactly, and the outermost parts
keep the range's own ends, so that no partition can lose a point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from infimum.errors import InvalidOption
from infimum.fractions import at_fraction, from_unit, to_unit
from infimum.search.paper.tuning import DECADE, NEAR_ZERO
from infimum.search.proposals import numbers

FloatArray = npt.NDArray[np.float64]

_LARGEST = float(np.finfo(np.float64).max)


class Partition(Protocol):
    """How regions are split."""

    @property
    def parts(self) -> int: ...

    @property
    def variables(self) -> int: ...

    def cuts(self, lo: FloatArray, hi: FloatArray) -> npt.ArrayLike:
        """Propose points (ranges, parts - 1) at which to cut the ranges [lo, hi]."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Equal parts: 4 of 10 variables at a time, as in the paper."""

    parts: int = 4
    variables: int = 10

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        return _at_fractions(lo, hi, [k / self.parts for k in range(1, self.parts)])


@dataclass(frozen=True)
class Golden:
    """Parts by the golden ratio: the widest part is cut again and again, at 0.382 of it."""

    parts: int = 4
    variables: int = 10

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        ends = [0.0, 1.0]
        for _ in range(self.parts - 1):
            widths = np.diff(ends)
            widest = int((widths > widths.max() - 1e-9).argmax())
            ends.insert(widest + 1, ends[widest] + widths[widest] * (3 - 5**0.5) / 2)
        return _at_fractions(lo, hi, ends[1:-1])


@dataclass(frozen=True)
class Logarithmic:
    """Equal ratios on ranges of one sign that span decades; on ranges of both signs a scale that bends at 0."""

    parts: int = 4
    variables: int = 10

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        # | range                          | scale    |
        # | one sign, ends a decade apart  | ratios   |
        # | both signs, wider than 10      | [-1, 1]  |
        # | else                           | uniform  |
        fractions = np.arange(1, self.parts) / self.parts
        plain = _at_fractions(lo, hi, fractions.tolist())
        with np.errstate(all="ignore"):
            small, large = np.minimum(np.abs(lo), np.abs(hi)), np.maximum(np.abs(lo), np.abs(hi))
            large = np.minimum(large, _LARGEST)
            small = np.maximum(small, large * NEAR_ZERO)
            ratio = np.exp(np.log(small)[:, None] + (np.log(large) - np.log(small))[:, None] * fractions)
            curved = from_unit(to_unit(lo)[:, None] + (to_unit(hi) - to_unit(lo))[:, None] * fractions)
            one_sign = (lo >= 0) | (hi <= 0)
            spans = one_sign & (large > DECADE * small) & (small > 0)
            wide = ~one_sign & (hi - lo > DECADE)
        by_ratio = np.where((hi <= 0)[:, None], -ratio[:, ::-1], ratio)
        return np.where(spans[:, None], by_ratio, np.where(wide[:, None], curved, plain))


PARTITIONS = {"paper": Uniform, "uniform": Uniform, "golden": Golden, "logarithmic": Logarithmic}


def cut(partition: Partition, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the ends (ranges, parts + 1) of the parts that a partition proposes.

    Guarantee: never decreasing, no NaN, the first and the last are the ranges' own; so the parts cover the range.
    """
    parts = partition.parts
    proposed = numbers(partition.cuts(lo.copy(), hi.copy()), f"{type(partition).__name__}.cuts")
    if proposed.shape != (lo.size, parts - 1):
        raise InvalidOption(
            f"{type(partition).__name__}.cuts proposes points of shape {proposed.shape}, where {(lo.size, parts - 1)} "
            "is meant: a row for each range, parts - 1 points each."
        )
    first, last = np.maximum(lo, -_LARGEST)[:, None], np.minimum(hi, _LARGEST)[:, None]  # infinity is no part's end
    middle = np.clip(at_fraction(lo, hi, 0.5)[:, None], first, last)
    inner = np.clip(np.where(np.isnan(proposed), middle, proposed), first, last)
    cuts = ((inner > lo[:, None]) & (inner < hi[:, None])).any(axis=1, keepdims=True)
    inner = np.where(cuts, inner, middle)  # or the range would never get narrower
    return np.concatenate([lo[:, None], np.sort(inner, 1), hi[:, None]], 1)


def _at_fractions(lo: FloatArray, hi: FloatArray, fractions: list[float]) -> FloatArray:
    return at_fraction(lo[:, None], hi[:, None], np.array(fractions))

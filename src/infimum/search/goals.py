"""What a search is to reach, in numbers (PROOF).

goal     holds where
value    upper - lower <= max(ftol * |upper|, fatol); where ftol is None, upper and lower are finite
width    every box is narrower than xtol in each variable, or in those that have one; off where xtol is None
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes
from infimum.fractions import at_fraction

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Goals:
    """The goals of a search. xtol is one width for all variables or one for each, inf where any width will do."""

    ftol: float | None = None
    fatol: float = 0.0
    xtol: float | FloatArray | None = None

    @property
    def are_none(self) -> bool:
        """Return whether nothing is asked for, so that a limit ends the search."""
        return self.ftol is None and self.xtol is None

    def gap(self, upper: float) -> float:
        """Return a double that is hardly below, and never above, the distance that may stay between the bounds."""
        assert self.ftol is not None
        relative = self.ftol * abs(upper)
        return max(math.nextafter(relative, 0.0) if relative < math.inf else 0.0, self.fatol)

    def are_close(self, lower: Any, upper: float) -> Any:
        """Return which lower bounds are certainly as close to the upper one as the value goal asks; all without one."""
        if self.ftol is None:
            return np.ones(np.shape(lower), bool)
        if not math.isfinite(upper):
            return np.zeros(np.shape(lower), bool)
        with np.errstate(over="ignore"):
            apart = upper - np.asarray(lower)
            return np.where(apart > 0, np.nextafter(apart, np.inf), apart) <= self.gap(upper)

    def is_value_met(self, lower: float, upper: float) -> bool:
        """Return whether the value goal holds, compared without rounding; without one, any two numbers will do."""
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return False
        if self.ftol is None:
            return True
        allowed = max(_exactly(self.ftol) * abs(Fraction(upper)), _exactly(self.fatol))
        return Fraction(upper) - Fraction(lower) <= allowed

    def widths(self, n: int) -> FloatArray | None:
        """Return the width asked for of each of n variables."""
        return None if self.xtol is None else np.broadcast_to(np.asarray(self.xtol, np.float64), n)

    def need_no_cut(self, boxes: Boxes, upper: float, seen: tuple[BoolArray, BoolArray] | None = None) -> BoolArray:
        """Return which boxes need no cut, or allow none. seen: which can be cut, and which along a wide variable.

        width goal                               value goal      needs no cut
        every wide variable cannot be cut        met, or none    yes; verdict.py says whether the goals are reached
        none                                     met             yes
        none                                     none            no: limits end the search
        anything else                                            only where no variable can be cut
        """
        can_be_cut, is_wide = self._seen(boxes) if seen is None else seen
        stuck: BoolArray = np.logical_not(can_be_cut)
        if self.are_none:
            return stuck
        found: BoolArray = stuck | (self.are_close(boxes.lower, upper) & ~is_wide)
        return found

    def _seen(self, boxes: Boxes) -> tuple[BoolArray, BoolArray]:
        lo, hi = boxes.ends
        middle = at_fraction(lo, hi, 0.5)
        cut = (lo < middle) & (middle < hi)
        widths = self.widths(boxes.n)
        wide = np.zeros_like(cut) if widths is None else is_wide(lo, hi, widths)
        can_be_cut: BoolArray = np.any(cut, axis=1)
        cut_along_wide: BoolArray = np.any(cut & wide, axis=1)
        return can_be_cut, cut_along_wide


def is_wide(lo: FloatArray, hi: FloatArray, widths: FloatArray) -> BoolArray:
    """Return which ends of boxes lie as far apart as `widths`, or farther; never where that is inf, for "any width".

    Guarantee: to nearest, a difference is never rounded across a double, so that `not <` is exact.
    """
    with np.errstate(over="ignore"):
        found: BoolArray = ~(hi - lo < widths) & ~np.isinf(widths)
    return found


def can_be_cut(lo: FloatArray, hi: FloatArray) -> BoolArray:
    """Return which ranges have a double between their ends."""
    with np.errstate(over="ignore"):
        found: BoolArray = np.nextafter(lo, hi) < hi
    return found


def _exactly(number: float) -> Fraction:
    """Return the number itself, or a huge one for infinity, which allows any finite distance."""
    return Fraction(number) if math.isfinite(number) else Fraction(2) ** 1100

"""Where descents and populations may begin: points spread over a box, evenly or by magnitude (POLICY)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.fractions import at_fraction

FloatArray = npt.NDArray[np.float64]

_DECADE = 10.0  # ends of one sign whose quotient is larger are far apart
_WIDE = 1e3  # an end beyond this on a range that holds 0, too
_LEAST = 1e-4  # of the larger end: what is nearer to 0 counts as 0
_LARGEST = 1e6  # in place of infinity


class Chart:
    """A box as a picture of the unit cube: evenly, or with magnitudes drawn evenly along ranges of many of them."""

    def __init__(self, lo: FloatArray, hi: FloatArray) -> None:
        # | range                                      | ends of the picture             | its unit                |
        # | of one sign, hi/lo > 10 (or lo/hi)         | the ends                        | the end nearer to 0     |
        # | holds 0, an end beyond 1,000               | the ends                        | 1e-4 of the larger end  |
        # | an infinite end                            | 1e6 there, or the other, if more| 1e-4 of the larger end  |
        # | another                                    | even                            |                         |
        self.lo, self.hi = lo, hi
        finite = np.isfinite(lo), np.isfinite(hi)
        least, most = (np.abs(np.where(ok, end, 0.0)) for ok, end in zip(finite, (lo, hi), strict=True))
        reach = np.maximum(_LARGEST, 2 * np.maximum(least, most))
        low, high = np.where(finite[0], lo, -reach), np.where(finite[1], hi, reach)
        near, far = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
        has_zero = (low <= 0) & (high >= 0)
        self.is_by_magnitude = np.where(has_zero, far > _WIDE, far > _DECADE * near) & (low < high)
        self._unit = np.where(has_zero, _LEAST * far, np.maximum(near, _LEAST * far))
        self._unit[~self.is_by_magnitude] = 1.0
        with np.errstate(all="ignore"):
            self._low, self._high = np.arcsinh(low / self._unit), np.arcsinh(high / self._unit)

    def points(self, cube: FloatArray, by_magnitude: bool) -> FloatArray:
        """Return the points of the box for points (k, n) of the unit cube."""
        found = at_fraction(self.lo, self.hi, cube)
        if by_magnitude and self.is_by_magnitude.any():
            with np.errstate(all="ignore"):
                curved = self._unit * np.sinh(self._low + (self._high - self._low) * cube)
            found = np.where(self.is_by_magnitude, curved, found)
        return np.clip(found, self.lo, self.hi)


def spread(draw: np.random.Generator, count: int, n: int) -> FloatArray:
    """Return points (count, n) of the unit cube, one in each of `count` slices along every variable."""
    slices = draw.permuted(np.tile(np.arange(count, dtype=np.float64), (n, 1)), axis=1).T
    return np.asarray((slices + draw.random((count, n))) / count)

"""Where a box is cut in two (POLICY): in the variable that the function changes most along, or the widest.

Both halves share the cut and keep the outer ends, so that no choice can lose a point.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.staging.fractions import at_fraction

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


def bisected(
    lo: FloatArray, hi: FloatArray, lower: FloatArray, slopes: FloatArray | None, widths: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every box cut in two; a box of which nothing can be cut stays whole."""
    rows, at = np.arange(len(lo)), chosen(lo, hi, slopes, widths)
    low, high = lo[rows, at], hi[rows, at]
    middle = np.clip(at_fraction(low, high, 0.5), low, high)
    inside = (middle > low) & (middle < high)
    left_hi, right_lo = hi.copy(), lo[inside].copy()
    left_hi[rows[inside], at[inside]] = middle[inside]
    right_lo[np.arange(len(right_lo)), at[inside]] = middle[inside]
    return (
        np.concatenate([lo, right_lo]),
        np.concatenate([left_hi, hi[inside]]),
        np.concatenate([lower, lower[inside]]),
    )


def chosen(lo: FloatArray, hi: FloatArray, slopes: FloatArray | None, widths: FloatArray | None) -> IndexArray:
    """The variable to cut in each box.

    | slopes known and finite        | the largest slope times width                              |
    | else                           | the largest width; an infinite one first                   |
    Variables that are narrow enough already come last.
    """
    with np.errstate(all="ignore"):
        size = np.minimum(hi - lo, np.finfo(np.float64).max)
        weight = size if slopes is None else size * slopes
        plain = ~np.isfinite(weight).all(1)
        weight = np.where(plain[:, None], size, weight)
        middle = at_fraction(lo, hi, 0.5)
        stuck = ~((lo < middle) & (middle < hi))
        wide = size > 0 if widths is None else (size >= widths) & ~np.isinf(widths)
    weight = np.where(stuck, -1.0, weight)
    if widths is not None:
        any_wide = (wide & ~stuck).any(1, keepdims=True)
        weight = np.where(any_wide & ~wide, np.minimum(weight, -0.5), weight)
    found: IndexArray = np.argmax(weight, axis=1)
    return found

"""The vector that bounds a box of parameters best, for bounds that are concave in each parameter alone (POLICY).

Over all probabilities on the vertices of a box that are products with a mean p, the mean of such a bound is greatest
for one vector u(p), and is h(p) then. By duality the best u of all belongs to the p where h is least: Gauss-Newton
steps lead towards it, and the best u on the way counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.backends import linear
from infimum.boxes import FloatArray, without_nan

_STEPS = 4
_MARGIN = 0.02  # of the width: h is flat at the edge


class Bounds(NamedTuple):
    """What a null-space dual says of boxes of p; all but the first is policy.

    least      lower bounds (k,) of the sum of squares
    costs      (k, q): what the width of each p costs the bound
    values     (k,): the least sum of squares at promising p, the other parameters being free
    """

    least: FloatArray
    costs: FloatArray
    values: FloatArray


class Fitted(NamedTuple):
    """The best vectors u (k, m) for means p; h there (k,), its slopes (k, q), and about its curvature (k, q, q)."""

    u: FloatArray
    h: FloatArray
    slope: FloatArray
    curve: FloatArray


def best_vectors(
    lo: FloatArray,
    hi: FloatArray,
    fitted: Callable[[FloatArray], Fitted],
    least: Callable[[FloatArray], FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Return good vectors u (k, m) for boxes (k, q), by their least values at vertices, and means p where h is low."""
    width = hi - lo
    p = np.clip(0.5 * lo + 0.5 * hi, lo + _MARGIN * width, hi - _MARGIN * width)
    now = fitted(p)
    best, u = without_nan(least(now.u)), now.u
    damping = np.full(len(lo), 1e-3)
    for _ in range(_STEPS):
        heavy = damping[:, None] * np.einsum("kii->ki", now.curve) + 1e-300
        curve = now.curve + heavy[:, :, None] * np.eye(lo.shape[1])
        step = linear.box_minimum(np.nan_to_num(curve), np.nan_to_num(now.slope), lo - p, hi - p)
        tried = np.clip(p + np.nan_to_num(step), lo, hi)
        new = fitted(tried)
        value = without_nan(least(new.u))
        better = value > best
        best, u = np.where(better, value, best), np.where(better[:, None], new.u, u)
        lower = new.h <= now.h
        damping = np.where(lower, damping * 0.1, damping * 10 + 1e-3)
        p = np.where(lower[:, None], tried, p)
        now = Fitted(*(np.where(lower.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in zip(new, now, strict=True)))
    return u, p

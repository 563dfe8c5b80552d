"""Where a box reaches the edge of the user's domain: there a minimiser may have a slope."""

from __future__ import annotations

from infimum.backends.placement import like
from infimum.boxes import BoolArray, FloatArray
from infimum.domain import Domain


def touched(domain: Domain, lo: FloatArray, hi: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return which components may lie on the domain's lower edge, and which on its upper one.

    The user's edge lies between the outward- and the inward-rounded one. An infinite edge counts: values may go on
    falling towards it.
    """
    return lo <= like(domain.inner_lo, lo), hi >= like(domain.inner_hi, lo)

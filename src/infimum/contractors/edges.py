"""Where a box reaches the edge of the user's domain: there a minimiser may have a slope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from infimum.backends.placement import like
from infimum.boxes import BoolArray, Ends, FloatArray
from infimum.domain import Domain


@dataclass(frozen=True, eq=False, repr=False)
class ObliqueDomain(Domain):
    """A domain whose edges do not run along the variables, as the user's in rotated coordinates (rotated.py).

    lo and hi contain it. inner_lo and inner_hi, which it contains, are those of the empty box, +inf and -inf: no end of
    a box is an edge.

    reaches    says of boxes lo, hi (k, n) which may reach an edge, (k,)
    """

    reaches: Callable[[FloatArray, FloatArray], BoolArray]


def oblique(lo: FloatArray, hi: FloatArray, reaches: Callable[[FloatArray, FloatArray], BoolArray]) -> ObliqueDomain:
    """Return a domain within a box [lo, hi] (n,), of which `reaches` knows the edges."""
    nothing = np.full(lo.size, np.inf)
    return ObliqueDomain(lo.copy(), hi.copy(), nothing, -nothing, reaches)


def touched(domain: Domain, lo: FloatArray, hi: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return which components may lie on the domain's lower edge, and which on its upper one.

    The user's edge lies between the outward- and the inward-rounded one. An infinite edge counts: values may go on
    falling towards it. A box that may reach an oblique edge may do so with every component.
    """
    if isinstance(domain, ObliqueDomain):
        reaches = np.repeat(domain.reaches(lo, hi)[:, None], domain.n, axis=1)
        return reaches, reaches
    return lo <= like(domain.inner_lo, lo), hi >= like(domain.inner_hi, lo)


def faces(domain: Domain, box: Ends, concave: BoolArray) -> tuple[Ends, BoolArray]:
    """Return ends around the minimisers over the domain in boxes, and which boxes have none.

    concave    (k, n) whether f is strictly concave along a variable all over the box: where a minimiser can go both
               ways, one of them leads down

        such a variable reaches    leaves
        no edge                    nothing
        one edge                   the edge; all where that is at infinity
        both                       all
    """
    lo, hi = box
    at_lower, at_upper = touched(domain, lo, hi)
    edge_lo, edge_hi = like(domain.inner_lo, lo), like(domain.inner_hi, lo)
    only_lower = concave & at_lower & ~at_upper & np.isfinite(edge_lo)
    only_upper = concave & at_upper & ~at_lower & np.isfinite(edge_hi)
    high = np.where(only_lower, np.minimum(hi, edge_lo), hi)
    low = np.where(only_upper, np.maximum(lo, edge_hi), lo)
    gone: BoolArray = np.any(concave & ~at_lower & ~at_upper, axis=1)
    return (low, high), gone

"""Where a box reaches the edge of the user's domain: there a minimiser may have a slope."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infimum.backends.placement import like
from infimum.boxes import BoolArray, Ends, FloatArray
from infimum.domain import Domain
from infimum.function.rotation import Rotation


@dataclass(frozen=True, eq=False, repr=False)
class ObliqueDomain(Domain):
    """A domain whose edges do not run along the variables, as the user's in rotated coordinates (rotated.py).

    lo and hi contain it. inner_lo and inner_hi, which it contains, are those of the empty box, +inf and -inf: no end of
    a box is an edge.

    rotation    takes a box to one around its points as the edges see them
    edges       ends (n,): a box whose image does not lie strictly within them may reach an edge
    """

    rotation: Rotation
    edges: Ends

    def reaches(self, lo: FloatArray, hi: FloatArray) -> BoolArray:
        """Return which boxes (k, n) may reach an edge, (k,)."""
        low, high = self.rotation.image_ends(lo, hi)
        inside = (like(self.edges[0], low) < low) & (high < like(self.edges[1], low))
        found: BoolArray = np.logical_not(inside.all(axis=1))
        return found


def oblique(lo: FloatArray, hi: FloatArray, rotation: Rotation, edges: Ends) -> ObliqueDomain:
    """Return a domain within a box [lo, hi] (n,), whose edges run along the variables that a rotation leads to."""
    nothing = np.full(lo.size, np.inf)
    return ObliqueDomain(lo.copy(), hi.copy(), nothing, -nothing, rotation, edges)


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

"""Rotated boxes: x = p + V u, and boxes of u in place of boxes of x (PROOF).

A function that changes little along a line, and much beside it, is enclosed far better on a box along that line. p and
V are any doubles, chosen by whoever asks; g(u) = f(p + V u) is known with its coefficients in intervals
(passes/linear/rotated.py). X is a box that holds all of the user's domain that is still to be searched.

    what                   is true because
    U around V^-1 (X - p)  with C near V^-1 and e = |I - C V| < 1 in the largest sum over a row, V is regular, and
                           u = V^-1 (x - p) is C (x - p) + (I - C V) u. So max|u_i| <= max|C (x - p)| / (1 - e), and
                           u_i lies within sum_j |I - C V|_ij max|u_j| of C (x - p). Where e is not < 1, V is refused
    U misses X             hull(p + V U) does: no x in X has its u in U
    U is contracted        to the u with p + V u in X, by HC4 on n linear forms
    a lower bound on U     g is nowhere below it on U, nor is f on p + V U, nor on what X has of that
    slopes, curvature      at a minimiser inside the user's domain g has a minimum in every direction. At one on its
                           edge nothing is known of g's slopes, and the faces of U are no edges. So `touched`
                           (edges.py) asks whether hull(p + V U) lies strictly within the inward-rounded domain,
                           and no more
    the answer             hull(p + V U) met with X: it holds every x of X whose u lies in U, and other x too, so that
                           g's bound on U is none of f there: only the least bound of all is
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes, Ends, met
from infimum.contractors.edges import ObliqueDomain, oblique
from infimum.contractors.known import Known
from infimum.contractors.linear.products import Factor, above, centred, defect, differences, ends
from infimum.domain import Domain
from infimum.function.rotation import Rotation


class RotatedBoxes:
    """Boxes of u for a box X of x. `domain` is X as contractors may know it, `user` the user's own domain."""

    def __init__(self, rotation: Rotation, x: Ends, user: Domain, u: Ends) -> None:
        self.rotation = rotation
        self.x = x
        self.user = user
        self.domain: ObliqueDomain = oblique(*u, rotation, (user.inner_lo, user.inner_hi))

    def first(self) -> Boxes:
        """Return the box that holds the u of every x in X."""
        return Boxes(self.domain.lo[None].copy(), self.domain.hi[None].copy())

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around the u of each box with p + V u in X."""
        found = self.rotation.within_ends(*boxes.ends, self.x, threads=known.threads)
        return Boxes(*met(boxes.ends, found), boxes.lower)

    def seen(self, boxes: Boxes) -> Boxes:
        """Return boxes around every x of X whose u lies in each box, empty where none is; nothing is known of f there.

        Such a box holds other x too, whose u lie elsewhere: no lower bound of g on U is one of f on it.
        """
        return Boxes(*met(self.rotation.image_ends(*boxes.ends), self.x))


def rotated_boxes(rotation: Rotation, x: Ends, user: Domain) -> RotatedBoxes | None:
    """Return boxes of u for the box X, ends (n,), of a user's domain; None where V is not proved to be regular."""
    with np.errstate(all="ignore"):
        u = _preimage(rotation, x)
    return None if u is None else RotatedBoxes(rotation, x, user, u)


def _preimage(rotation: Rotation, x: Ends) -> Ends | None:
    """Contain V^-1 (x - p) for every x of a box, ends (n,)."""
    try:
        chosen = np.linalg.inv(rotation.matrix)
    except np.linalg.LinAlgError:
        return None
    inverse = Factor(np.ascontiguousarray(chosen.T))
    rest = defect(inverse, Factor(np.ascontiguousarray(rotation.matrix.T)))
    norm = float(rest.times(np.ones((1, rotation.n))).max())
    if not norm < 1:
        return None
    origin = rotation.origin[None], rotation.origin[None]
    mid, reach = inverse.times(*centred(*differences((x[0][None], x[1][None]), origin)))
    largest = above(above(np.abs(mid) + reach).max(1, keepdims=True) / (1.0 - norm))
    lo, hi = ends(mid, above(reach + rest.times(np.repeat(largest, rotation.n, axis=1))))
    return (lo[0], hi[0]) if np.isfinite(lo).all() and np.isfinite(hi).all() else None

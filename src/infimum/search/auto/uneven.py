"""Uneven: cut where `smear` does, a little below the middle (POLICY).

A minimiser in the middle of the domain, as symmetric functions have it, lies on the edge of every box around it when
boxes are halved, and so in many boxes at once. Cut off the middle, it lies in one.
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.fractions import at_fraction
from infimum.search.auto.split_rules import Cuts, Smear

_FRACTION = 0.45


class Uneven:
    """The variable of `smear`, at 0.45 of its width."""

    def cuts(self, boxes: Boxes, known: Known) -> Cuts:
        """Return cuts a little below the middle."""
        at, rows = Smear().cuts(boxes, known).variables, np.arange(len(boxes))
        return Cuts(at, at_fraction(boxes.lo[rows, at], boxes.hi[rows, at], _FRACTION))

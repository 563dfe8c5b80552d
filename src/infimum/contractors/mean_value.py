"""MeanValue: f(x) lies in f(c) + f'(X) (x - c) for every x in a box X and c in X, where f is smooth.

The centre is policy: any point of the box is right. core/chain/rules.h says where the lower bound is best.
"""

from __future__ import annotations

from dataclasses import dataclass

from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.contractors.links import applied
from infimum.core.chain import Link
from infimum.core.codes import ChainLink


@dataclass(frozen=True)
class MeanValue:
    """The mean-value form. Boxes on which f is not smooth stay as they are, and so do their bounds."""

    @property
    def link(self) -> Link:
        """Return what the core is told."""
        return Link(ChainLink.MEAN_VALUE, ("value", "form"))

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        return applied(self, boxes, known)

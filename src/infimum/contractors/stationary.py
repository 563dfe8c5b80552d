"""Stationary: keep the points whose gradient a minimiser over the domain can have.

What the gradient's component i is at a minimiser, as the box's component i reaches

    no edge of the domain     0
    its lower edge only       >= 0
    its upper edge only       <= 0
    both                      anything
core/chain/rules.h has the rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.contractors.links import applied
from infimum.core.chain import Link
from infimum.core.codes import ChainLink


@dataclass(frozen=True)
class Stationary:
    """HC4 on the partial derivatives, repeated as `Level` is. Boxes on which f is not smooth stay as they are.

    A box that is emptied has no minimiser; infima at infinity are kept by the infinite edges.
    """

    passes: int = 3
    least: float = 0.05

    @property
    def link(self) -> Link:
        """Return what the core is told."""
        return Link(ChainLink.STATIONARY, ("slope",), self.passes, self.least)

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every minimiser over the domain that lies in each box."""
        return applied(self, boxes, known)

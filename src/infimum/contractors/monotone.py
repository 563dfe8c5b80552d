"""Monotone: where a function rises along a variable all over a box, its minimisers there lie at the domain's edge.

    slope on a smooth box    the domain's lower edge is    what is left
    > 0                      not reached                   nothing: values fall further, outside the box
    > 0                      reached                       the edge
    any other                                              the box as it was
and mirrored. The edge is the user's. core/chain/rules.h has the rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.contractors.links import applied
from infimum.core.chain import Link
from infimum.core.codes import ChainLink


@dataclass(frozen=True)
class Monotone:
    """The gradient's signs. Boxes on which f is not smooth stay as they are."""

    @property
    def link(self) -> Link:
        """Return what the core is told."""
        return Link(ChainLink.MONOTONE)

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every minimiser over the domain that lies in each box."""
        return applied(self, boxes, known)

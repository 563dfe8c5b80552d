"""Level: keep the points at which a function is at most a given number."""

from __future__ import annotations

from dataclasses import dataclass

from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.contractors.links import applied
from infimum.core.chain import Link
from infimum.core.codes import ChainLink


@dataclass(frozen=True)
class Level:
    """HC4 on f(x) <= upper, repeated as long as a pass takes `least` of a box away, `passes` times at most."""

    passes: int = 20
    least: float = 0.05

    @property
    def link(self) -> Link:
        """Return what the core is told."""
        return Link(ChainLink.LEVEL, ("level",), self.passes, self.least)

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and the lower bounds found on the way."""
        return applied(self, boxes, known)

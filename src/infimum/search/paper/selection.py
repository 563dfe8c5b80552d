"""Which regions are split next (POLICY): those with the smallest lower bounds, one or several an iteration.

Whatever is selected, every other region stays on the list: a selection can cost time, never truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Selection(Protocol):
    """How many regions an iteration splits."""

    @property
    def count(self) -> int: ...


@dataclass(frozen=True)
class Best:
    """The `count` regions with the smallest lower bounds; one, as in the paper. An iteration splits them all."""

    count: int = 1


SELECTIONS = {"paper": Best, "best": Best}

"""A search over rotated boxes: x = p + V u, where boxes of x see little of how variables depend on each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from infimum.boxes import Boxes, FloatArray, concatenated, taken
from infimum.concurrency import cached_property
from infimum.contractors.chain import ContractorChain
from infimum.contractors.rotated import RotatedBoxes
from infimum.search.auto.search import Search
from infimum.search.outcome import Options
from infimum.search.status import Status

_NARROWER = 0.9  # of the widths asked for, so that rounding makes none of them too wide


class RotatedSearch(Search):
    """A search that goes on where another one stopped, with boxes of u in place of its own.

    points, history, iterations and limits are the other one's; its boxes are held by one box of u. The function, the
    points and the answers are those of x.
    """

    def __init__(self, search: Search, frame: RotatedBoxes) -> None:
        assert search.iterations, "a search that has not begun has no boxes that could be turned"
        self.frame = frame
        super().__init__(search.function, search.domain, search.options, search.report)
        self.points = search.points
        self.history = search.history
        self.iterations = search.iterations
        self.cuts = search.cuts
        lower = min(search.open.lowest(), search.done.lowest())
        self.open.add(frame.first().with_lower(np.array([lower])))

    def aim(self, options: Options) -> None:
        """Go on with these goals and limits; widths asked for of x are met by boxes of u that are narrow enough."""
        super().aim(options)
        if options.xtol is not None:
            widths = self.goals.widths(self.domain.n)
            assert widths is not None
            self.goals = replace(self.goals, xtol=_narrow_enough(self.frame.rotation.matrix, widths))
            self.widths = self.goals.widths(self.domain.n)

    @cached_property
    def chain(self) -> ContractorChain:
        """Return what shrinks boxes of u."""
        contractors = tuple(one for one in self.options.contractors if one != "linear")
        return ContractorChain(self.frame.rotation.function, self.frame.domain, self.options.threads, contractors)

    def _contracted(self, boxes: Boxes) -> Boxes:
        after = self.frame.contract(boxes, self.chain.known)
        some = ~after.is_empty()
        gone = taken(boxes, after, some)
        self.chain.work["rotated"] = self.chain.work.get("rotated", 0.0) + gone
        return super()._contracted(after[some])

    def narrowed(self, boxes: Boxes) -> Boxes:
        """Return as many boxes, in their order, as far as one turn of all contractors narrows them; nothing is kept."""
        return super().narrowed(self.frame.contract(boxes, self.chain.known))

    def _at(self, points: FloatArray) -> FloatArray:
        return self.frame.rotation.points(points)

    def _seen(self, boxes: Boxes) -> Boxes:
        return self.frame.seen(boxes)

    def _left(self, status: Status) -> tuple[FloatArray, FloatArray]:
        """Return boxes of x; f is nowhere below `lower`, and no more is known of it on these."""
        boxes = concatenated([self.done.all(), self.open.all()])
        found = self._seen(boxes[boxes.lower <= self.upper])
        found = found[~found.is_empty()]
        return np.stack(found.ends, 2), np.full(len(found), self.lower())

    def _prove_unbounded(self) -> None:
        """Leave this to a search over x: a path in u may leave the domain."""


def _narrow_enough(matrix: FloatArray, widths: FloatArray) -> FloatArray:
    """Return widths of u (n,) with sum_j |V_ij| w_j below the width asked for of each x_i."""
    size = np.abs(matrix)
    with np.errstate(all="ignore"):
        shares = _NARROWER * widths[:, None] / (size * (size > 0).sum(1, keepdims=True))
    found: FloatArray = np.where(size > 0, shares, np.inf).min(0)
    return found

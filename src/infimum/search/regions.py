"""Regions as a tree of deltas: a region is its parent's child of some digits, and one working box moves along the tree.

Memory is a few hundred bytes a region that was split, never a box. The box of a region is made from the domain and its
ancestors' parts alone, so that it has the same bits by whatever path the search came to it.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.search.enumerated import EnumeratedRun
from infimum.search.run import Run
from infimum.search.tables import Split

FloatArray = npt.NDArray[np.float64]
Box = tuple[FloatArray, FloatArray]

_MEMORY = 32 * 2**20  # bytes of boxes at hand


class Region:
    """A region that is split: the child of its parent that it is, its own split, and the children left of it."""

    __slots__ = ("cycle", "digits", "following", "number", "parent", "run", "split")

    def __init__(self, parent: Region | None, digits: tuple[int, ...], cycle: int) -> None:
        self.parent = parent
        self.digits = digits
        self.cycle = cycle  # the first variable that may be split
        self.following: int  # of the children
        self.number: int
        self.split: Split
        self.run: Run | EnumeratedRun


class Boxes:
    """The boxes of regions and their children; the regions last asked for are kept at hand, within a little memory."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._kept: OrderedDict[Region, Box] = OrderedDict()
        self._most = max(1, min(1024, _MEMORY // (16 * domain.n)))

    def keep(self, region: Region, lo: FloatArray, hi: FloatArray) -> None:
        """Hold a region's box at hand; its children are asked for next."""
        self._kept[region] = (lo, hi)
        self._kept.move_to_end(region)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def child(self, region: Region, digits: tuple[int, ...]) -> Box:
        """The box of a child, or of all children that begin with the digits."""
        box = self._kept.get(region)
        if box is None:
            box = self._of(region)
            self.keep(region, *box)
        lo, hi = box[0].copy(), box[1].copy()
        _lay(lo, hi, region.split, digits)
        return lo, hi

    def _of(self, region: Region) -> Box:
        """The box of a region: its ancestors' parts laid over the domain, oldest first."""
        path = []
        current = region
        while current.parent is not None:
            path.append((current.parent.split, current.digits))
            current = current.parent
        lo, hi = self.domain.lo.copy(), self.domain.hi.copy()
        for split, digits in reversed(path):
            _lay(lo, hi, split, digits)
        return lo, hi


def _lay(lo: FloatArray, hi: FloatArray, split: Split, digits: tuple[int, ...]) -> None:
    """Narrow the first split variables to the parts that the digits name."""
    at = np.array(digits, np.int64)
    rows = np.arange(at.size)
    variables = split.variables[: at.size]
    lo[variables], hi[variables] = split.edges[rows, at], split.edges[rows, at + 1]

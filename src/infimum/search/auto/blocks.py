"""A function taken apart: blocks of variables that can be searched each on its own, those of one body together (PROOF).

Knows: Function, blocks as rows. Never knows: how a block is searched; product.py says how the answers combine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.function.function import Function
from infimum.passes.separate.blocks import blocks

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Alike:
    """Blocks of one body. `function` takes a block's r variables, then its c constants.

    The constants are columns of every box: numbers, or tight intervals around them. They are never split, and whatever
    the function's enclosure, gradient or facts say of a box with them in place is true of the block.
    """

    function: Function
    variables: IndexArray  # (blocks, r)
    lo: FloatArray  # (blocks, c)
    hi: FloatArray
    points: FloatArray  # the doubles nearest to the constants

    @property
    def count(self) -> int:
        """The number of blocks."""
        return len(self.variables)

    @property
    def width(self) -> int:
        """The number of variables of a block."""
        return int(self.variables.shape[1])

    def boxes(self, lo: FloatArray, hi: FloatArray, members: IndexArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Boxes (k, r) of the blocks `members` (k,), all of them by default, as the function takes them: (k, r + c)."""
        own = slice(None) if members is None else members
        return np.hstack([lo, self.lo[own]]), np.hstack([hi, self.hi[own]])

    def at(self, x: FloatArray, members: IndexArray | None = None) -> FloatArray:
        """Points (k, r) of the blocks `members` as the function takes them, for plain doubles."""
        own = slice(None) if members is None else members
        return np.hstack([x, self.points[own]])

    def domain(self, domain: Domain, members: IndexArray | None = None) -> Domain:
        """The user's bounds for the blocks, arrays (k, r + c): a row for each block.

        A constant's column is all edge, so that nothing is concluded from the slope along it.
        """
        own = self.variables if members is None else self.variables[members]
        columns = np.full((len(own), self.lo.shape[1]), np.inf)
        return Domain(
            np.hstack([domain.lo[own], -columns]),
            np.hstack([domain.hi[own], columns]),
            np.hstack([domain.inner_lo[own], columns]),
            np.hstack([domain.inner_hi[own], -columns]),
        )

    def distinct(self, domain: Domain) -> tuple[IndexArray, IndexArray]:
        """Blocks of which no two have the same constants and bounds, and for each block the number of its like there.

        What is proved of one holds for its likes: with equal columns it holds for every number in them.
        """
        own = self.variables
        ends = [domain.lo[own], domain.hi[own], domain.inner_lo[own], domain.inner_hi[own], self.lo, self.hi]
        rows = np.hstack(ends) + 0.0
        if (rows == rows[0]).all():
            return np.zeros(1, np.int64), np.zeros(self.count, np.int64)
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return first, inverse.ravel()


@dataclass(frozen=True, eq=False)
class Separated:
    """f(x) = constant + the sum of all blocks' values; the constant lies in [lo, hi]."""

    n: int
    lo: float
    hi: float
    classes: tuple[Alike, ...]

    @property
    def count(self) -> int:
        """The number of blocks."""
        return sum(alike.count for alike in self.classes)


def separated(function: Function) -> Separated | None:
    """The function as two or more blocks, or None if all its variables hang together."""
    found = blocks(function.value_node, function.n)
    if found is None:
        return None
    lo, hi = found.constant.enclosure()
    classes = []
    for k, own in enumerate(found.classes):
        inputs = own.variables.shape[1] + own.lo.shape[1]
        body = Function(own.body, inputs, f"{function.name}, block {k}").on(function.place)
        classes.append(Alike(body, own.variables, own.lo, own.hi, own.points))
    return Separated(function.n, float(lo[0]), float(hi[0]), tuple(classes))

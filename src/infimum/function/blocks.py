"""A function as a sum over blocks of variables, of which no two share a term; blocks of one body share a Function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.function.function import Function
from infimum.passes.separate.blocks import blocks, with_constants

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BlockClass:
    """Blocks of one body. `function` takes a block's r variables, then its c constants.

    The constants are columns of every box: numbers, or tight intervals around them. They are never split, and whatever
    the function's enclosure, gradient or facts say of a box with them in place is true of the block.
    """

    function: Function
    variables: IndexArray  # (blocks, r)
    lo: FloatArray  # (blocks, c)
    hi: FloatArray

    @property
    def count(self) -> int:
        """Return the number of blocks."""
        return len(self.variables)

    @property
    def width(self) -> int:
        """Return the number of variables of a block."""
        return int(self.variables.shape[1])

    def boxes(self, lo: FloatArray, hi: FloatArray, members: IndexArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return boxes (k, r) of the blocks `members` (k,), or of all, as the function takes them: (k, r + c)."""
        own = slice(None) if members is None else members
        return np.hstack([lo, self.lo[own]]), np.hstack([hi, self.hi[own]])

    def member(self, member: int) -> Function:
        """Return the function of one block: the class's body with the block's constants in their places."""
        if not self.lo.shape[1]:
            return self.function
        body = with_constants(self.function.value_node, self.width, (self.lo[member], self.hi[member]))
        return Function(body, self.width, self.function.name).on(self.function.place)

    def distinct(self, domain: Domain) -> tuple[IndexArray, IndexArray]:
        """Return blocks of which no two have the same constants and bounds, and for each block the index of its like.

        What is proved of a block holds for its likes: with equal columns it holds for every number in them.
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
    classes: tuple[BlockClass, ...]

    @property
    def count(self) -> int:
        """Return the number of blocks."""
        return sum(own.count for own in self.classes)


def separate(function: Function) -> Separated | None:
    """Return the function as two or more blocks, or None if all its variables hang together."""
    found = blocks(function.value_node, function.n)
    if found is None:
        return None
    lo, hi = found.constant.enclosure()
    classes = []
    for k, own in enumerate(found.bodies):
        inputs = own.variables.shape[1] + own.lo.shape[1]
        body = Function(own.body, inputs, f"{function.name}, block {k}").on(function.place)
        classes.append(BlockClass(body, own.variables, own.lo, own.hi))
    return Separated(function.n, float(lo[0]), float(hi[0]), tuple(classes))

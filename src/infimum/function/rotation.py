"""A function in other coordinates: g(u) = f(p + V u), for any doubles p and V."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.concurrency import cached_property
from infimum.function.function import Function
from infimum.passes.contract.contraction import contraction
from infimum.passes.linear.rotated import image, rotated
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]


class Rotation:
    """x = p + V u, where origin is p (n,) and matrix V (n, n): exactly these doubles.

    function    g: its enclosures on a box U contain f at p + V u for every u in U
    """

    def __init__(self, function: Function, origin: FloatArray, matrix: FloatArray, of: Function) -> None:
        self.function = function
        self.origin = origin
        self.matrix = matrix
        self.place = of.place

    @property
    def n(self) -> int:
        """Return the number of variables."""
        return self.origin.size

    @cached_property
    def image(self) -> Program:
        """Return what takes boxes of u to ends around p + V u."""
        return lower([image(self.origin, self.matrix)], self.n)

    @cached_property
    def _within(self) -> Program:
        return contraction([image(self.origin, self.matrix)], self.n)

    def points(self, u: FloatArray) -> FloatArray:
        """Return about p + V u, in plain doubles."""
        x: FloatArray = self.origin + u @ self.matrix.T
        return x

    def image_ends(self, lo: FloatArray, hi: FloatArray) -> Ends:
        """Return ends (k, n) around p + V u for every u of each box."""
        (found,) = self.place.run(self.image, lo, hi)
        return found

    def within_ends(self, lo: FloatArray, hi: FloatArray, x: Ends, *, threads: int = 1) -> Ends:
        """Return ends (k, n) around the u of each box with p + V u in a box of x, ends (n,).

        One pass forward and back; a box of which any component comes out empty has no such u.
        """
        low, high = (np.hstack([u, np.broadcast_to(end, u.shape)]) for u, end in ((lo, x[0]), (hi, x[1])))
        found, _ = self.place.run(self._within, low, high, threads=threads)
        return found


def rotation(function: Function, origin: FloatArray, matrix: FloatArray) -> Rotation | None:
    """Return a function's rotation; None where its expression would be too large, or its coefficients overflow."""
    node = rotated(function.value_node, function.n, origin, matrix)
    if node is None:
        return None
    turned = Function(node, function.n, f"{function.name}, rotated").on(function.place)
    return Rotation(turned, origin, matrix, function)

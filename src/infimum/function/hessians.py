"""Second derivatives of a function: dense for few variables, sparse for many, and times a direction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import Place, like
from infimum.concurrency import cached_property
from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.passes.hessian.degree import is_quadratic
from infimum.passes.hessian.pattern import Pattern, pattern
from infimum.passes.hessian.product import product
from infimum.passes.hessian.rows import Triangle, triangle
from infimum.passes.hessian.twice import has_second
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Body, Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[FloatArray, FloatArray]

MOST_DENSE = 200  # variables
_FEW = 64  # variables, of which patterns are not worth their time
_MOST_AT_ONCE = 2**22  # numbers of a batch of directions


class SparseHessian(NamedTuple):
    """Elements (rows, columns) that contain those of a symmetric matrix, rows >= columns; all others are exactly 0."""

    rows: IndexArray
    columns: IndexArray
    low: FloatArray
    high: FloatArray

    def dense(self, n: int) -> Ends:
        """Return the ends as matrices (n, n)."""
        low, high = np.zeros((2, n, n))
        for matrix, end in ((low, self.low), (high, self.high)):
            matrix[self.rows, self.columns] = matrix[self.columns, self.rows] = end
        return low, high


class Hessians:
    """What is made from a function's value and gradient for its second derivatives, each when it is first asked for."""

    def __init__(self, build: Build, value: Node, gradient: Node, n: int) -> None:
        self.n = n
        self._build, self._value, self._gradient = build, value, gradient

    @cached_property
    def exist(self) -> bool:
        """Return whether second derivatives are known anywhere."""
        return has_second(self._value)

    @cached_property
    def quadratic(self) -> SparseHessian | None:
        """Return the Hessian of a quadratic function, which is the same everywhere; None for any other function."""
        if not is_quadratic(self._build, self._value):
            return None
        origin = np.zeros(self.n)
        found = self._by_units() if self.n <= _FEW else self.sparse(Place(), origin, origin, 1)
        return found if found is not None and np.isfinite([found.low, found.high]).all() else None

    def _by_units(self) -> SparseHessian:
        """Return the Hessian at 0: soonest for few variables."""
        rows, columns = np.tril_indices(self.n)
        origin = np.zeros((1, self.n))
        (low,), (high,) = self.by_products(Place(), origin, origin, 1)
        return SparseHessian(rows, columns, low[rows, columns], high[rows, columns])

    @cached_property
    def pattern(self) -> Pattern | None:
        """Return which second derivatives may be other than 0; None where that is too much to say."""
        return pattern(self._gradient, self.n)

    # ------------------------------------------------------------------------------------------ dense
    @cached_property
    def _triangle(self) -> Triangle:
        assert self.pattern is not None
        return triangle(self._build, self._gradient, self.pattern)

    @cached_property
    def dense_program(self) -> Program:
        """Return the Program of the lower triangle."""
        return lower([self._triangle.values], self.n)

    @cached_property
    def all_program(self) -> Program:
        """Return the Program of value, gradient and the lower triangle."""
        return lower([self._value, self._gradient, self._triangle.values], self.n)

    @cached_property
    def cost(self) -> int | None:
        """Return the operations of a dense Hessian on a box, None where it is not offered."""
        if self.n > MOST_DENSE or self.pattern is None:
            return None
        bodies = [phase for phase in self.dense_program.phases if isinstance(phase, Body)]
        return sum(body.groups * body.width * (body.last - body.first) for body in bodies)

    def full(self, ends: Ends) -> Ends:
        """Return matrices (k, n, n) from the ends (k, count) of the triangle; a NaN or an empty one says nothing."""
        sure = ends[0] <= ends[1]
        return self._matrices(np.where(sure, ends[0], -np.inf)), self._matrices(np.where(sure, ends[1], np.inf))

    def at_points(self, values: FloatArray) -> FloatArray:
        """Return matrices (k, n, n) from values (k, count) of the triangle."""
        return self._matrices(values)

    @cached_property
    def _places(self) -> IndexArray:
        """Return where each element of a matrix stands in the triangle; one place further for those that are 0."""
        rows, columns = self._triangle.rows, self._triangle.columns
        places = np.full((self.n, self.n), rows.size)
        places[rows, columns] = places[columns, rows] = np.arange(rows.size)
        return places.ravel()

    def _matrices(self, values: FloatArray) -> FloatArray:
        count = self._triangle.rows.size
        both = np.hstack([values[:, :count], np.zeros_like(values[:, :1])])
        return both[:, like(self._places, values)].reshape(len(values), self.n, self.n)

    def by_products(self, place: Place, lo: FloatArray, hi: FloatArray, threads: int) -> Ends:
        """Return matrices (k, n, n) from the products with all unit vectors; a NaN or an empty one says nothing."""
        k, n = lo.shape
        seeds = np.tile(like(np.eye(n), lo), (k, 1))
        bottom, top = (np.hstack([np.repeat(end, n, axis=0), seeds]) for end in (lo, hi))
        ((low, high),) = place.run(self.product_program, bottom, top, threads=threads)
        sure = low <= high
        low, high = np.where(sure, low, -np.inf).reshape(k, n, n), np.where(sure, high, np.inf).reshape(k, n, n)
        # Both triangles hold the same numbers.
        return np.maximum(low, low.transpose(0, 2, 1)), np.minimum(high, high.transpose(0, 2, 1))

    # ------------------------------------------------------------------------------------------ sparse
    @cached_property
    def product_program(self) -> Program:
        """Return the Program of the Hessian times a direction, in x and the direction."""
        return product(self._gradient, self.n)

    def products(self, place: Place, points: FloatArray, directions: FloatArray) -> FloatArray:
        """Return the Hessian at points (k, n) times directions (k, n), in plain doubles."""
        ((found, _),) = place.run(self.product_program, both := np.hstack([points, directions]), both, "point")
        return found

    def sparse(self, place: Place, lo: FloatArray, hi: FloatArray, threads: int) -> SparseHessian | None:
        """Return the Hessian on one box (n,), a seed for each colour; None where the pattern is not known."""
        if self.pattern is None:
            return None
        rows, columns, colours = self.pattern.rows, self.pattern.columns, self.pattern.colours
        low, high = np.zeros(rows.size), np.zeros(rows.size)
        each = max(1, _MOST_AT_ONCE // self.n)
        for first in range(0, self.pattern.count, each):
            own = np.arange(first, min(first + each, self.pattern.count))
            seeds = (colours == own[:, None]).astype(float)
            bottom, top = (np.hstack([np.broadcast_to(end, seeds.shape), seeds]) for end in (lo, hi))
            ((a, b),) = place.run(self.product_program, bottom, top, threads=threads)
            colour = colours[columns]
            some = (own[0] <= colour) & (colour <= own[-1])
            at = colour[some] - own[0], rows[some]
            sure = a[at] <= b[at]
            low[some], high[some] = np.where(sure, a[at], -np.inf), np.where(sure, b[at], np.inf)
        return SparseHessian(rows, columns, low, high)

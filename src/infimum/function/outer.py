"""The outer form of a function for those who may not read graphs: its squares as arrays of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from infimum.concurrency import cached_property
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.outer.lines import Lines
from infimum.passes.outer.split import Outer, squares

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.programs import Programs

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]


class OuterPrograms:
    """What is made from the squares of one expression."""

    def __init__(self, outer: Outer, n: int) -> None:
        self.outer = outer
        self.n = n

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.outer, self.n)

    @cached_property
    def values(self) -> Program:
        """Return the residuals: inputs x."""
        return lower([self.outer.inner], self.n)

    @cached_property
    def jacobian(self) -> Program:
        """Return their partial derivatives, one output of m numbers for each variable: inputs x, y."""
        return lower(self.lines.jacobian(), self.n + self.outer.m)


def outer_programs(programs: Programs) -> OuterPrograms | None:
    """Return the Programs of the squares that an expression adds up, None where it adds up none."""
    found = squares(programs.build, programs.value_node)
    return None if found is None else OuterPrograms(found, programs.n)


class Residuals:
    """f = H(sum of r_j(x)^2 + g(x)), H increasing: m residuals of n variables; weights are in them as square roots.

    is_whole    whether g is a constant: the minimisers of f are then those of the sum of squares
    """

    def __init__(self, programs: OuterPrograms, place: Place) -> None:
        self.programs = programs
        self.place = place
        self.n, self.m = programs.n, programs.outer.m
        self.is_whole = programs.outer.is_whole

    def values(self, points: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return the residuals (k, m) at points (k, n) in plain doubles; NaN where undefined."""
        ((found, _),) = self.place.run(self.programs.values, points, points, "point", threads=threads)
        return found

    def jacobian(self, points: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return their partial derivatives (k, m, n) at points in plain doubles."""
        columns = self._columns(points)
        found = self.place.run(self.programs.jacobian, columns, columns, "point", threads=threads)
        return np.stack([column for column, _ in found], axis=2)

    def ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k, m) around the residuals' values on boxes."""
        (found,) = self.place.run(self.programs.values, lo, hi, threads=threads)
        return found

    def jacobian_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k, m, n) around the residuals' partial derivatives on boxes; all reals where there is none."""
        found = self.place.run(self.programs.jacobian, self._columns(lo), self._columns(hi), threads=threads)
        low, high = (np.stack(ends, axis=2) for ends in zip(*found, strict=True))
        nowhere = ~(low <= high)
        return np.where(nowhere, -np.inf, low), np.where(nowhere, np.inf, high)

    def _columns(self, ends: FloatArray) -> FloatArray:
        """Return the inputs of the Jacobian's Program; it does not read y."""
        return np.hstack([ends, np.zeros((len(ends), self.m))])

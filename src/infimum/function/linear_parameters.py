"""Parameters that enter a fit linearly, for those who may not read graphs: the separable dual as arrays of numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from infimum.concurrency import cached_property
from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.graph.payload import value_of
from infimum.passes.linear_parameters.columns import Columns, columns
from infimum.passes.linear_parameters.support import Group, Support, groups
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.outer import OuterPrograms

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[FloatArray, FloatArray]


class LinearPrograms:
    """What is made from the columns of one expression's residuals."""

    def __init__(self, found: Columns, rest: Node) -> None:
        self.columns = found
        self.rest = value_of(rest).enclosure()
        self.groups = groups(found)

    @cached_property
    def supports(self) -> list[Program]:
        """Return the Program of each group."""
        made = [Support(self.columns, group) for group in self.groups]
        return [lower([own.build.concat(own.outputs)], own.inputs) for own in made]


def linear_programs(outer: OuterPrograms | None) -> LinearPrograms | None:
    """Return the Programs of residuals that are affine in some variables; None where there is nothing to gain."""
    if outer is None or not outer.outer.is_whole:
        return None
    found = columns(outer.outer.inner, outer.n)
    return None if found is None else LinearPrograms(found, outer.outer.rest)


class LinearParameters:
    """f = H(sum of r_k^2 + constant), r = A(p) c + h(p): m residuals, c the variables `linear`, p those `nonlinear`.

    groups    columns that share no parameter with others; a column's number is that of its c, L that of h
    """

    def __init__(self, programs: LinearPrograms, place: Place) -> None:
        self._programs = programs
        self._place = place
        self.linear, self.nonlinear = programs.columns.linear, programs.columns.nonlinear
        self.m = programs.columns.m
        self.groups: list[Group] = programs.groups

    def support_ends(
        self, number: int, cells: Ends, point: FloatArray, c: Ends, t: FloatArray, y: FloatArray, *, threads: int = 1
    ) -> tuple[Ends, Ends]:
        """Return ends of G (k,) and of its S_l (k, l) for one group, on cells (k, q) that hold the points (k, q).

        c: the ranges (k, l) of what its columns stand under; t (k, l): any numbers; y (k, m).
        """
        (lo, hi), (c_lo, c_hi) = cells, c
        low = np.hstack([lo, lo, point, c_lo, t, y])
        high = np.hstack([hi, hi, point, c_hi, t, y])
        ((down, up),) = self._place.run(self._programs.supports[number], low, high, threads=threads)
        return (down[:, 0], up[:, 0]), (down[:, 1:], up[:, 1:])

    def constant_ends(self, count: int) -> Ends:
        """Return ends around the constant, (count,)."""
        lo, hi = self._programs.rest
        return np.full(count, lo[0]), np.full(count, hi[0])

    def square_ends(self, y: FloatArray) -> Ends:
        """Return ends (k,) around |y|^2."""
        ((low, high),) = self._place.run(square_program(self.m), y, y)
        return low[:, 0], high[:, 0]


@lru_cache(maxsize=16)
def square_program(m: int) -> Program:
    """Return the sum of the squares of m inputs."""
    build = Build(m)
    return lower([build.reduce("sum", build.apply("sqr", build.x), m)], m)

"""Parameters that enter a fit linearly, for those who may not read graphs: the separable dual as arrays of numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.concurrency import cached_property
from infimum.function.projection import ProjectionPrograms, projection_programs
from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.graph.payload import value_of
from infimum.passes.linear_parameters.columns import Columns, columns, used
from infimum.passes.linear_parameters.ratio import Ratio, bound, ratio
from infimum.passes.linear_parameters.shift import Shift, ShiftNodes, shift
from infimum.passes.linear_parameters.support import MOST_SLOPES, Group, Support, groups
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.outer import OuterPrograms

__all__ = ["MOST_SLOPES", "LinearParameters", "LinearPrograms", "RatioPrograms", "Ratios", "Shifts"]

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

    @cached_property
    def shift(self) -> ShiftPrograms | None:
        """Return the Programs of filters that annihilate the columns, None where there are none."""
        found = shift(self.columns)
        return None if found is None else ShiftPrograms(found)

    @cached_property
    def projection(self) -> ProjectionPrograms | None:
        """Return the Programs of variable projection, None where there are none."""
        return projection_programs(self.columns)


class ShiftPrograms:
    """What is made from columns that filters annihilate."""

    def __init__(self, found: Shift) -> None:
        self.shift = found
        self._nodes = ShiftNodes(found)

    @cached_property
    def atoms(self) -> Program:
        return lower(self._nodes.values(), self.shift.columns.nonlinear.size)

    @cached_property
    def bound(self) -> Program:
        return lower(*self._nodes.bound())

    @cached_property
    def slack(self) -> Program:
        return lower(*self._nodes.slack())


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


class RatioPrograms:
    """What is made from residuals that are quotients of polynomials."""

    def __init__(self, found: Ratio, rest: Node) -> None:
        self.ratio = found
        self.rest = value_of(rest).enclosure()

    @cached_property
    def bound(self) -> Program:
        node, inputs = bound(self.ratio)
        return lower([node], inputs)


def ratio_programs(outer: OuterPrograms | None) -> RatioPrograms | None:
    """Return the Programs of residuals that are quotients of polynomials; None where they are none."""
    if outer is None or not outer.outer.is_whole:
        return None
    found = ratio(outer.outer.inner, outer.n)
    return None if found is None else RatioPrograms(found, outer.outer.rest)


class Ratios:
    """f = H(sum of (N_k / D_k)^2 + constant): what passes/linear_parameters/ratio says of it.

    below, kept    the coefficients of D and N° in plain doubles, by the places of their variables among p
    free           ends of X (m, j)
    monomials      of its columns: pairs (variable, power)
    """

    def __init__(self, programs: RatioPrograms, place: Place) -> None:
        self._programs = programs
        self._place = place
        found = programs.ratio
        self.parameters, self.m = found.parameters, found.m
        self.below = {places: 0.5 * lo + 0.5 * hi for places, (lo, hi) in found.below.items()}
        self.kept = {places: 0.5 * lo + 0.5 * hi for places, (lo, hi) in found.kept.items()}
        self.free = found.free
        self.monomials = found.monomials

    def bound_ends(self, p: FloatArray, u: Ends, *, threads: int = 1) -> Ends:
        """Return ends (k,) around G and the constant at points p (k, q), for all u in ranges (k, m)."""
        ((lo, hi),) = self._place.run(self._programs.bound, np.hstack([p, u[0]]), np.hstack([p, u[1]]), threads=threads)
        low, high = self._programs.rest
        return core.apply("add", (lo[:, 0], hi[:, 0]), (np.full(len(lo), low[0]), np.full(len(lo), high[0])))


class Shifts:
    """f = H(sum of r_k^2 + constant), r = A(p) c + h: filters annihilate A (passes/linear_parameters/shift).

    is_wave     for each atom, whether its filter has order 2
    reads       (atoms, q): which p each reads
    fixed, h    the fixed filter and the constant part in plain doubles
    length      of v
    has_slack   for each c, whether its range counts
    """

    def __init__(self, programs: LinearPrograms, found: ShiftPrograms, place: Place) -> None:
        self._programs = programs
        self._found = found
        self._place = place
        own = found.shift
        self.parameters, self.linear = own.columns.nonlinear, own.columns.linear
        self.m, self.length = own.columns.m, own.length
        self.is_wave = [atom.is_wave for atom in own.atoms]
        self.reads = np.stack([used(atom.value, self.parameters.size) for atom in own.atoms])
        self.fixed = own.fixed
        self.h = 0.5 * own.h[0] + 0.5 * own.h[1]
        self.has_slack = np.array([node is not None for node in own.slack])

    def atom_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k, atoms) around the atoms on boxes of p (k, q)."""
        (found,) = self._place.run(self._found.atoms, lo, hi, threads=threads)
        return found

    def bound_ends(self, z: FloatArray, b: FloatArray, v: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k,) around G and the constant at atoms z (k, atoms)."""
        columns = np.hstack([z, b, v])
        ((lo, hi),) = self._place.run(self._found.bound, columns, columns, threads=threads)
        low, high = self._programs.rest
        return core.apply("add", (lo[:, 0], hi[:, 0]), (np.full(len(lo), low[0]), np.full(len(lo), high[0])))

    def slack(self, p: Ends, z: Ends, v: FloatArray, size: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return at least the slack (k,) on boxes of p with atoms in z, |c| being up to `size` (k, columns)."""
        low, high = np.hstack([p[0], z[0], v, size]), np.hstack([p[1], z[1], v, size])
        ((lo, hi),) = self._place.run(self._found.slack, low, high, threads=threads)
        return np.where(lo[:, 0] <= hi[:, 0], hi[:, 0], np.inf)

"""The outer form of a function for those who may not read graphs: its squares, and what dual lines say of their sum.

The Programs are made once for an expression (`OuterPrograms`); what contractors and starts ask of them has no graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.concurrency import cached_property
from infimum.graph.payload import is_number
from infimum.passes.contract.contraction import contraction
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.outer.lines import Lines, bound_of
from infimum.passes.outer.split import Outer, squares

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.function import Function
    from infimum.function.programs import Programs

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ends = tuple[FloatArray, FloatArray]


class OuterPrograms:
    """What is made from the squares of one expression of n variables."""

    def __init__(self, outer: Outer, n: int) -> None:
        self.outer = outer
        self.n, self.m = n, outer.m

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.outer, self.n)

    @cached_property
    def values(self) -> Program:
        """Return the residuals, and g: inputs x."""
        return lower([self.outer.inner, self.outer.rest], self.n)

    @cached_property
    def jacobian(self) -> Program:
        """Return for each variable the m residuals' partial derivatives: inputs x, c, y, of which it reads x."""
        return lower(self.lines.jacobian(), self.lines.inputs)

    @cached_property
    def first_order(self) -> Program:
        """Return Phi on X, at c, and its slopes on X and at c."""
        return lower(self.lines.first_order(), self.lines.inputs)

    @cached_property
    def second_order(self) -> Program:
        """Return the same, and 1/2 d' Phi''(X) d."""
        return lower([*self.lines.first_order(), self.lines.second_order()], self.lines.inputs)

    @cached_property
    def facts(self) -> Program | None:
        """Return whether Phi is defined on X, smooth around it, and its gradient smooth; None: everywhere."""
        found = self.lines.facts()
        return None if all(is_number(fact, 1.0) for fact in found) else lower(found, self.lines.inputs)

    @cached_property
    def contraction(self) -> Program:
        """Contract X to a level of Phi: inputs x, y, then the range that is wanted."""
        return contraction([bound_of(self.outer, self.n)], self.n, self.m)

    @cached_property
    def chain(self) -> Program | None:
        """Return H; None: it does nothing."""
        return None if self.outer.chain is None else lower([self.outer.chain], 1)

    @cached_property
    def inverse_chain(self) -> Program:
        """Contract a range to those numbers at which H is in a wanted range."""
        assert self.outer.chain is not None
        return contraction([self.outer.chain], 1)


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
        self.n, self.m = programs.n, programs.m
        self.is_whole = programs.outer.is_whole

    def values(self, points: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return the residuals (k, m) at points (k, n) in plain doubles; NaN where undefined."""
        return self._run(self.programs.values, points, points, "point", threads)[0][0]

    def jacobian(self, points: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return their partial derivatives (k, m, n) at points in plain doubles."""
        columns = self._columns(points)
        found = self._run(self.programs.jacobian, columns, columns, "point", threads)
        return np.stack([column for column, _ in found], axis=2)

    def ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k, m) around the residuals' values on boxes."""
        return self._run(self.programs.values, lo, hi, "interval", threads)[0]

    def jacobian_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k, m, n) around the residuals' partial derivatives on boxes; all reals where there is none."""
        found = self._run(self.programs.jacobian, self._columns(lo), self._columns(hi), "interval", threads)
        low, high = (np.stack(ends, axis=2) for ends in zip(*found, strict=True))
        nowhere = ~(low <= high)
        return np.where(nowhere, -np.inf, low), np.where(nowhere, np.inf, high)

    def _columns(self, ends: FloatArray) -> FloatArray:
        return np.hstack([ends, np.zeros((len(ends), self.n + self.m))])

    def _run(self, program: Program, lo: FloatArray, hi: FloatArray, mode: str, threads: int) -> list[Ends]:
        return self.place.run(program, lo, hi, mode, threads=threads)  # type: ignore[arg-type]


class LineEnds(NamedTuple):
    """What is known of Phi on boxes X for the centres c: enclosures of each."""

    on_box: Ends  # (k,)
    at_centre: Ends  # (k,)
    slopes_on_box: Ends  # (k, n)
    slopes_at_centre: Ends  # (k, n)
    second_order: Ends | None  # (k,)


class DualLines:
    """S(x) >= Phi(x, y) for every x and y (passes/outer/lines): the Programs of Phi, and f = H(S)."""

    def __init__(self, programs: OuterPrograms, place: Place) -> None:
        self.programs = programs
        self.place = place
        self.n, self.m = programs.n, programs.m

    def ends(
        self, lo: FloatArray, hi: FloatArray, c: FloatArray, y: FloatArray, *, with_second: bool, threads: int = 1
    ) -> LineEnds:
        """Return enclosures of Phi for centres c (k, n) within the boxes and places y (k, m)."""
        program = self.programs.second_order if with_second else self.programs.first_order
        found = self.place.run(program, np.hstack([lo, c, y]), np.hstack([hi, c, y]), threads=threads)
        flat = [(low[:, 0], high[:, 0]) for low, high in (found[0], found[1], *found[4:])]
        return LineEnds(flat[0], flat[1], found[2], found[3], flat[2] if with_second else None)

    def facts(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> tuple[BoolArray, BoolArray]:
        """Return around which boxes Phi is certainly once, and twice differentiable, (k,) each."""
        if self.programs.facts is None:
            return np.ones(len(lo), bool), np.ones(len(lo), bool)
        zeros = np.zeros((len(lo), self.n + self.m))
        found = self.place.run(self.programs.facts, np.hstack([lo, zeros]), np.hstack([hi, zeros]), threads=threads)
        defined, once, twice = (low[:, 0] == 1.0 for low, _ in found)
        return defined & once, defined & once & twice

    def contraction_ends(
        self, lo: FloatArray, hi: FloatArray, y: FloatArray, level: FloatArray, *, threads: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return ends (k, n) around the points of each box with Phi up to a level (k,); empty where there is none."""
        wanted = np.full_like(level, -np.inf)[:, None], level[:, None]
        columns = np.hstack([lo, y, wanted[0]]), np.hstack([hi, y, wanted[1]])
        (low, high), _ = self.place.run(self.programs.contraction, *columns, threads=threads)
        return low, high

    def most(self, upper: FloatArray) -> FloatArray:
        """Return what S may be at most where f may be at most `upper` (k,)."""
        if self.programs.chain is None:
            return upper
        everything = np.full((len(upper), 2), -np.inf), np.full((len(upper), 2), np.inf)
        everything[1][:, 1] = upper
        (low, high), _ = self.place.run(self.programs.inverse_chain, *everything)
        return np.where(low[:, 0] <= high[:, 0], high[:, 0], -np.inf)

    def least(self, lower: FloatArray) -> FloatArray:
        """Return what f is at least where S is at least `lower` (k,)."""
        if self.programs.chain is None:
            return lower
        ((low, high),) = self.place.run(self.programs.chain, lower[:, None], np.full((len(lower), 1), np.inf))
        return np.where(low[:, 0] <= high[:, 0], low[:, 0], -np.inf)


def dual_lines(function: Function) -> DualLines | None:
    """Return the dual lines of a function that adds up squares; None where there are none."""
    outer = function.programs.outer
    return None if outer is None else DualLines(outer, function.place)

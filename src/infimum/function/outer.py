"""The outer form of a function for those who may not read graphs: its squares, and what dual lines say of their sum.

The Programs are made once for an expression (`OuterPrograms`); `Residuals` and `DualLines` run them on arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.backends.cpu import Mode
from infimum.concurrency import cached_property
from infimum.graph.node import Node
from infimum.graph.payload import is_number
from infimum.passes.contract.contraction import contraction
from infimum.passes.derive import gradient
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.outer.composed import Composed
from infimum.passes.outer.lines import Lines, jacobian
from infimum.passes.outer.split import Outer, is_coupled, squares

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.function import Function
    from infimum.function.programs import Programs

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ends = tuple[FloatArray, FloatArray]

_LEAST = -np.finfo(np.float64).max


class Increasing:
    """H, where f = H(S) and H does not fall (passes/outer/chain); None for H: f is S."""

    def __init__(self, outer: Node | None) -> None:
        self._outer = outer

    @cached_property
    def _forward(self) -> Program | None:
        return None if self._outer is None else lower([self._outer], 1)

    @cached_property
    def _backward(self) -> Program:
        """Contract a range to the numbers at which H lies in a wanted range."""
        assert self._outer is not None
        return contraction([self._outer], 1)

    def most(self, upper: FloatArray, place: Place) -> FloatArray:
        """Return what S may be at most where f may be at most `upper` (k,); the least double where f never is."""
        if self._outer is None:
            return upper
        everything = np.full_like(upper[:, None], np.inf)
        columns = np.hstack([-everything, -everything]), np.hstack([everything, upper[:, None]])
        (low, high), _ = place.run(self._backward, *columns)
        return np.where(low[:, 0] <= high[:, 0], np.maximum(high[:, 0], _LEAST), _LEAST)

    def least(self, lower: FloatArray, place: Place) -> FloatArray:
        """Return what f is at least where S is at least `lower` (k,)."""
        if self._forward is None:
            return lower
        nowhere = lower == np.inf
        columns = np.where(nowhere, 0.0, lower)[:, None], np.full_like(lower[:, None], np.inf)
        ((low, high),) = place.run(self._forward, *columns)
        return np.where(nowhere, np.inf, np.where(low[:, 0] <= high[:, 0], low[:, 0], -np.inf))


class OuterPrograms:
    """What is made from the squares of one expression of n variables. Inputs: x, or x, c, y where it says so."""

    def __init__(self, programs: Programs, outer: Outer | Composed) -> None:
        self._build = programs.build
        self.outer = outer
        self.n, self.m = programs.n, outer.m

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.outer, self.n)

    @cached_property
    def residuals(self) -> Program:
        """Return the residuals, g and the gradient of g."""
        rest = self.outer.rest
        return lower([self.outer.inner, rest, gradient(self._build, rest)], self.n)

    @cached_property
    def jacobian(self) -> Program:
        """Return for each variable the m residuals' partial derivatives."""
        return lower(jacobian(self._build, self.outer.inner, self.n), self.n)

    @cached_property
    def bounds(self) -> Program:
        """Return Phi on X and at c, its slopes on X; then the form of second order, if any: inputs x, c, y."""
        second = self.lines.second_order() if self.lines.has_second else []
        return lower([*self.lines.first_order(), *second], self.lines.inputs)

    @cached_property
    def facts(self) -> Program | None:
        """Return whether Phi is defined, and smooth: inputs x, c, y. None: everywhere."""
        found = self.lines.facts()
        return None if all(is_number(fact, 1.0) for fact in found) else lower(found, self.lines.inputs)

    @cached_property
    def increasing(self) -> Increasing:
        """Return H."""
        return Increasing(self.outer.chain)


def outer_programs(programs: Programs) -> OuterPrograms | None:
    """Return the Programs of the squares that an expression adds up, None where it adds up none."""
    found = squares(programs.build, programs.chains)
    return None if found is None else OuterPrograms(programs, found)


class Residuals:
    """f = H(sum of r_j(x)^2 + g(x)), H increasing: m residuals of n variables; weights are in them as square roots.

    is_whole    whether g is a constant: the minimisers of f are then those of the sum of squares
    """

    def __init__(self, programs: OuterPrograms, place: Place) -> None:
        self._programs = programs
        self._place = place
        self.n, self.m = programs.n, programs.m
        self.is_whole = programs.outer.is_whole

    def values(self, points: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return the residuals (k, m) at points (k, n) in plain doubles; NaN where undefined."""
        return self._run(self._programs.residuals, points, points, "point", threads)[0][0]

    def values_and_rest(self, points: FloatArray, *, threads: int = 1) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the residuals (k, m), g (k,) and its gradient (k, n) in plain doubles."""
        found = self._run(self._programs.residuals, points, points, "point", threads)
        return found[0][0], found[1][0][:, 0], found[2][0]

    def jacobian(self, points: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return the residuals' partial derivatives (k, m, n) at points in plain doubles."""
        found = self._run(self._programs.jacobian, points, points, "point", threads)
        return np.stack([column for column, _ in found], axis=2)

    def ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k, m) around the residuals' values on boxes."""
        return self._run(self._programs.residuals, lo, hi, "interval", threads)[0]

    def rest_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k,) around g on boxes."""
        low, high = self._run(self._programs.residuals, lo, hi, "interval", threads)[1]
        return low[:, 0], high[:, 0]

    def jacobian_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return ends (k, m, n) around the partial derivatives on boxes around which the residuals are smooth."""
        found = self._run(self._programs.jacobian, lo, hi, "interval", threads)
        low, high = (np.stack(ends, axis=2) for ends in zip(*found, strict=True))
        nowhere = ~(low <= high)
        return np.where(nowhere, -np.inf, low), np.where(nowhere, np.inf, high)

    def _run(self, program: Program, lo: FloatArray, hi: FloatArray, mode: Mode, threads: int) -> list[Ends]:
        return self._place.run(program, lo, hi, mode, threads=threads)


class Form(NamedTuple):
    """A function that lies in value + slope (x - c) for every x of a box, c its centre."""

    value: Ends  # (k,)
    slope: Ends  # (k, n)


class LineEnds(NamedTuple):
    """What is known of Phi on boxes: its range, and forms that hold where it is smooth, the second not always there."""

    range: Ends  # (k,)
    forms: tuple[Form, ...]


class DualLines:
    """S(x) >= Phi(x, y) for every x and y, f = H(S): enclosures of Phi, and H (passes/outer/lines)."""

    def __init__(self, programs: OuterPrograms, place: Place) -> None:
        self._programs = programs
        self._place = place
        self.n, self.m = programs.n, programs.m

    @property
    def operations(self) -> int:
        """How many operations a box takes, the choice of y included."""
        made = self._programs
        return made.residuals.operations + made.jacobian.operations + made.bounds.operations

    def ends(self, lo: FloatArray, hi: FloatArray, c: FloatArray, y: FloatArray, *, threads: int = 1) -> LineEnds:
        """Return enclosures of Phi for centres c (k, n) within the boxes and places y (k, m)."""
        found = self._place.run(self._programs.bounds, np.hstack([lo, c, y]), np.hstack([hi, c, y]), threads=threads)
        flat = [(low[:, 0], high[:, 0]) for low, high in found[:2] + found[3:4]]
        forms = [Form(value, known_slopes(slope)) for value, slope in zip(flat[1:], found[2::2], strict=True)]
        return LineEnds(flat[0], tuple(forms))

    def smooth(self, lo: FloatArray, hi: FloatArray, c: FloatArray, y: FloatArray, *, threads: int = 1) -> BoolArray:
        """Return around which boxes Phi is certainly smooth, (k,)."""
        program = self._programs.facts
        if program is None:
            everywhere: BoolArray = np.ones_like(lo[:, 0], dtype=bool)
            return everywhere
        found = self._place.run(program, np.hstack([lo, c, y]), np.hstack([hi, c, y]), threads=threads)
        certain: BoolArray = np.logical_and(*(low[:, 0] == 1.0 for low, _ in found))
        return certain

    def most(self, upper: FloatArray) -> FloatArray:
        """Return what S may be at most where f may be at most `upper` (k,)."""
        return self._programs.increasing.most(upper, self._place)

    def least(self, lower: FloatArray) -> FloatArray:
        """Return what f is at least where S is at least `lower` (k,)."""
        return self._programs.increasing.least(lower, self._place)


def known_slopes(slope: Ends) -> Ends:
    """Return slopes, all reals where there is none."""
    nowhere = ~(slope[0] <= slope[1])
    if not nowhere.any():
        return slope
    return np.where(nowhere, -np.inf, slope[0]), np.where(nowhere, np.inf, slope[1])


def dual_lines(function: Function) -> DualLines | None:
    """Return the dual lines of a function that adds up squares; None where there are none, or nothing is coupled.

    What depends on one variable alone is enclosed as well by itself.
    """
    outer = function.programs.outer
    if outer is None or not is_coupled(outer.outer.inner, function.n):
        return None
    return DualLines(outer, function.place)

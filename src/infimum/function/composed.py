"""The outer functions of a function for those who may not read graphs: f = H(sum phi_k(u_k) + g), phi of one variable.

`OuterFunctions` has each phi as a Function, the u as residuals, and enclosures of what is left when every phi is
replaced by a line: Phi(x) = sum (s_k u_k(x) + a_k) + g(x).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import Place, like
from infimum.concurrency import cached_property
from infimum.function.outer import DualLines, Form, OuterPrograms, Residuals, known_slopes
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.outer.composed import Composed, composed
from infimum.passes.outer.lines import Slanted
from infimum.passes.outer.split import are_coupled

if TYPE_CHECKING:
    from infimum.function.function import Function

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ends = tuple[FloatArray, FloatArray]


class _Programs(OuterPrograms):
    """What is made from the outer functions of one expression of n variables. Inputs: x, or x, c, s, a."""

    @cached_property
    def lines(self) -> Slanted:
        return Slanted(self.outer, self.n)

    @cached_property
    def curvature(self) -> Program | None:
        """Return the upper triangle of Phi''; None where it is not known."""
        return lower([self.lines.triangle], self.lines.inputs) if self.lines.has_second else None

    @cached_property
    def bounds(self) -> Program:
        """Return Phi on X and at c, its slopes on X; then, where known, its slopes at c and Phi'' on X, a triangle."""
        second = self.lines.second_order() if self.lines.has_second else []
        return lower([*self.lines.first_order(), *second], self.lines.inputs)


class SlantedEnds(NamedTuple):
    """What is known of Phi on boxes: its range; where it is smooth, a form, and slopes at c with the curvature on X."""

    range: Ends  # (k,)
    form: Form
    slope: Ends | None  # (k, n)
    curvature: Ends | None  # (k, n, n)


class SlantedLines(DualLines):
    """Enclosures of Phi, and H."""

    def __init__(self, programs: _Programs, place: Place) -> None:
        super().__init__(programs, place)
        self._programs: _Programs = programs

    def slanted_ends(
        self, lo: FloatArray, hi: FloatArray, c: FloatArray, s: FloatArray, a: FloatArray, *, threads: int = 1
    ) -> SlantedEnds:
        """Return enclosures of Phi for centres c (k, n) within the boxes and lines (k, m)."""
        low, high = (np.hstack([end, c, s, a]) for end in (lo, hi))
        found = self._place.run(self._programs.bounds, low, high, threads=threads)
        on_box, at_centre = ((low[:, 0], high[:, 0]) for low, high in found[:2])
        form = Form(at_centre, known_slopes(found[2]))
        if len(found) == 3:
            return SlantedEnds(on_box, form, None, None)
        low, high = (self._full(end) for end in known_slopes(found[4]))
        return SlantedEnds(on_box, form, known_slopes(found[3]), (low, high))

    def slanted_smooth(
        self, lo: FloatArray, hi: FloatArray, c: FloatArray, s: FloatArray, a: FloatArray, *, threads: int = 1
    ) -> BoolArray:
        """Return around which boxes Phi is certainly smooth, (k,)."""
        return self.smooth(lo, hi, c, np.hstack([s, a]), threads=threads)

    def curvature(self, points: FloatArray, s: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return the second derivatives (k, n, n) of Phi at points in plain doubles; 0 where they are not known."""
        program = self._programs.curvature
        if program is None:
            none: FloatArray = np.zeros_like(points)[:, :, None] * np.zeros_like(points)[:, None, :]
            return none
        given = np.hstack([points, points, s, np.zeros_like(s)])
        ((found, _),) = self._place.run(program, given, given, "point", threads=threads)
        return self._full(found)

    def _full(self, triangle: FloatArray) -> FloatArray:
        """Return matrices from their upper triangles, row by row."""
        places = np.zeros((self.n, self.n), np.int64)
        rows, columns = np.triu_indices(self.n)
        places[rows, columns] = places[columns, rows] = np.arange(rows.size)
        return triangle[:, like(places.ravel(), triangle)].reshape(len(triangle), self.n, self.n)


class OuterFunctions:
    """f = H(sum of phi over its arguments + g).

    kinds        each phi, a Function of one variable
    kind_of      (m,) which of them each argument is for
    arguments    the u (m of them) and g, with their derivatives
    """

    def __init__(self, function: Function, found: Composed) -> None:
        from infimum.function.function import Function

        self._function, self._found = function, found
        programs = _Programs(function.programs, found)
        own = function.place.another()
        self.place = function.place
        self.kinds = tuple(Function(kind.phi, 1, "outer function").on(own) for kind in found.kinds)
        self.kind_of = np.repeat(np.arange(len(self.kinds)), [kind.size for kind in found.kinds])
        self.arguments = Residuals(programs, function.place)
        self.lines = SlantedLines(programs, function.place)

    @property
    def coupled(self) -> int:
        """Return how many arguments read more than one variable."""
        return int(are_coupled(self._found.inner, self.lines.n).sum())

    def widest(self, kind: int) -> tuple[float, float]:
        """Return ends around all arguments of a kind, wherever x is."""
        everywhere = np.full((1, self.lines.n), np.inf)
        low, high = (end[0, self.kind_of == kind] for end in self.arguments.ends(-everywhere, everywhere))
        known = low <= high
        return float(low[known].min(initial=np.inf)), float(high[known].max(initial=-np.inf))

    def only(self, kept: list[bool]) -> OuterFunctions | None:
        """Return the same with the other kinds left in g; None where none is kept but squares."""
        if all(kept):
            return self
        found = self._found.only(self._function.programs.build, kept)
        return None if found is None else OuterFunctions(self._function, found)


def outer_functions(function: Function) -> OuterFunctions | None:
    """Return the outer functions of a function, None where there are none but squares."""
    found = composed(function.programs.build, function.programs.chains, function.n)
    return None if found is None else OuterFunctions(function, found)

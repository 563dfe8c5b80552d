"""Variable projection of a fit for those who may not read graphs: its enclosures as arrays of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.concurrency import cached_property
from infimum.interval import Interval
from infimum.passes.linear_parameters.columns import Columns
from infimum.passes.linear_parameters.projected import Projected, derivatives, projected
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.linear_parameters import LinearPrograms

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ends = tuple[FloatArray, FloatArray]


class ProjectionPrograms:
    """What is made from columns that are projected."""

    def __init__(self, columns: Columns, found: Projected) -> None:
        self.found = found
        self.q, self.count = found.q, found.count
        self._columns = columns

    @cached_property
    def at_points(self) -> Program:
        """Return A, column by column, and h, then their derivatives by each parameter."""
        return lower(derivatives(self._columns), self.q)

    @cached_property
    def bounds(self) -> Program:
        return lower([self.found.build.concat(self.found.outputs)], self.found.inputs)


def projection_programs(columns: Columns) -> ProjectionPrograms | None:
    """Return the Programs; None where second derivatives are not known."""
    found = projected(columns)
    return None if found is None else ProjectionPrograms(columns, found)


class Fit(NamedTuple):
    """What is chosen on boxes: c (k, L), C (k, L, q) and T (k, L, L); c° = c + C (p - t)."""

    c: FloatArray
    follows: FloatArray
    turn: FloatArray


class ProjectionEnds(NamedTuple):
    """What is known on boxes of p around points t (passes/linear_parameters/projected), R = |r|^2 and W = |w|^2."""

    smooth: BoolArray  # (k,): where it is not so, nothing is known
    gram: Interval  # M on the box, (k, L, L)
    turned: Interval  # w on the box, (k, L)
    values: tuple[Interval, Interval]  # R and W at t, (k,)
    slopes: tuple[Interval, Interval]  # (k, q)
    curvatures: tuple[Interval, Interval]  # on the box, (k, q, q)


class Projection:
    """min over c of |A(p) c + h(p)|^2 >= R - kappa W: L columns, q parameters."""

    def __init__(self, programs: LinearPrograms, found: ProjectionPrograms, place: Place) -> None:
        self._programs = found
        self._rest = programs.rest
        self._place = place
        self.linear, self.nonlinear = programs.columns.linear, programs.columns.nonlinear
        self.q, self.count = found.q, found.count

    @property
    def operations(self) -> int:
        """How many operations a box takes."""
        return self._programs.bounds.operations + self._programs.at_points.operations

    @property
    def constant(self) -> Interval:
        """Return what is added to the sum of squares."""
        lo, hi = self._rest
        return Interval(lo[0], hi[0])

    def at_points(self, p: FloatArray, *, threads: int = 1) -> FloatArray:
        """Return A and h, then their derivatives by each parameter, (k, 1 + q, m, L + 1), in plain doubles."""
        found = [ends[0] for ends in self._place.run(self._programs.at_points, p, p, "point", threads=threads)]
        each = self.count + 1
        return np.stack([np.stack(found[i : i + each], 2) for i in range(0, len(found), each)], 1)

    def ends(self, box: Ends, t: FloatArray, fit: Fit, *, threads: int = 1) -> ProjectionEnds:
        """Return enclosures on boxes (k, q) that hold t (k, q)."""
        q, count, k = self.q, self.count, len(t)
        given = [t, fit.c, fit.follows.reshape(k, -1), fit.turn.reshape(k, -1)]
        low, high = (np.hstack([end, end, *given]) for end in box)
        ((lo, hi),) = self._place.run(self._programs.bounds, low, high, threads=threads)
        smooth = (lo[:, 0] == 1.0) & np.isfinite(lo).all(1) & np.isfinite(hi).all(1) & (lo <= hi).all(1)
        own = Interval(np.where(smooth[:, None], lo, 0.0), np.where(smooth[:, None], hi, 0.0))
        pairs, each = count * (count + 1) // 2, q * (q + 1) // 2
        sizes = [1, pairs, count, 1, 1, q, q, each, each]
        ends = np.cumsum(sizes)
        parts = [own[:, end - size : end] for size, end in zip(sizes, ends, strict=True)]
        return ProjectionEnds(
            smooth, _full(parts[1], count), parts[2], (parts[3][:, 0], parts[4][:, 0]), (parts[5], parts[6]),
            (_full(parts[7], q), _full(parts[8], q)),
        )  # fmt: skip


def _full(triangle: Interval, n: int) -> Interval:
    """Return matrices (k, n, n) from their lower triangles, row by row."""
    at = np.zeros((n, n), np.int64)
    rows, columns = np.tril_indices(n)
    at[rows, columns] = at[columns, rows] = np.arange(rows.size)
    found: Interval = triangle[:, at.ravel()].reshape(-1, n, n)
    return found

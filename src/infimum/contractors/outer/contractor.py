"""Lines below outer functions of every kind, for functions that add up other things than squares.

f = H(S), S = sum phi_k(u_k) + g, H increasing (passes/outer/composed). For every s and a with phi_k(u) >= s_k u + a_k
on the range of u_k: S(x) >= Phi(x) = sum (s_k u_k(x) + a_k) + g(x), one function whose terms cancel.

    U_k             the range of u_k, without the u that are too high for S <= most: phi_k(u) <= most less the least of
                    all others
    s               slopes of the convex envelopes of the phi_k at a good point of the box: policy
    a               under.py
    lower bounds    Phi(X); its mean-value form; value, slope and curvature (core/linear/quadratic.h): the best of them
    what is kept    the points with Phi(x) <= most, by the last two

Guarantee: where S(x) <= most, every u_k(x) lies in U_k and S(x) >= Phi(x): a bound of Phi above `most` proves that
there is no such point, any other bounds S from below, as does `most` itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.backends.linear import least_squares_box, quadratic
from infimum.backends.placement import Place, like
from infimum.boxes import Boxes, Ends, FloatArray
from infimum.contractors.known import Known
from infimum.contractors.outer.pieces import CONVEX, is_affine, pieces
from infimum.contractors.outer.slopes import Slopes
from infimum.contractors.outer.under import Under
from infimum.fractions import middle
from infimum.function.composed import OuterFunctions, outer_functions
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function

IndexArray = npt.NDArray[np.int64]

MOST_ENTRIES = 20_000  # of the arguments' Jacobian; beyond, its Programs cost more than they bring
_STEPS = 4  # of Newton's method
_EVALUATIONS = 25  # of an outer function over a box, about, for one line; two at points cost as much as one
_SWEEPS = 4  # of each Newton step
_LEAST = -np.finfo(np.float64).max
_ROUNDS = 3  # of the choice of a point for the tangent


@dataclass(frozen=True)
class OuterLines:
    """Lines below the outer functions of one function. Boxes with infinite ends stay as they are."""

    outer: OuterFunctions
    under: list[Under]
    slopes: list[Slopes]
    price: float

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and lower bounds on the boxes given."""
        low, high, lower = (array.copy() for array in boxes)
        limit = known.limits(boxes)
        finite = (np.isfinite(low) & np.isfinite(high) & (low <= high)).all(axis=1)
        active = np.flatnonzero(finite)
        if active.size:
            box, most = (low[active], high[active]), self.outer.lines.most(limit[active])
            low[active], high[active], bound = self._contracted(box, most, known)
            least = np.where(bound > most, np.inf, self.outer.lines.least(np.minimum(bound, most)))
            lower[active] = np.maximum(lower[active], least)
        found = Boxes(low, high, lower)
        return found.emptied(found.is_empty() | (found.lower > limit))

    def _contracted(self, box: Ends, most: FloatArray, known: Known) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ends around the points of each box with S(x) <= most, and lower bounds of Phi on the boxes."""
        low, high, bound = box[0].copy(), box[1].copy(), np.full_like(most, -np.inf)
        ranges, impossible = self._ranges(box, most, known.threads)
        bound[impossible] = np.inf
        x = self._good_points(box, ranges, known.threads)
        s, a = self._lines(x, ranges)
        some = np.flatnonzero(~impossible & np.isfinite(s).all(axis=1) & np.isfinite(a).all(axis=1))
        if some.size:
            part = (low[some], high[some])
            low[some], high[some], bound[some] = self._by_lines(part, s[some], a[some], most[some], known)
        return low, high, bound

    # ------------------------------------------------------------------------------------------ the lines
    def _ranges(self, box: Ends, most: FloatArray, threads: int) -> tuple[Ends, npt.NDArray[np.bool_]]:
        """Return U (k, m), and for which boxes there is no point with S <= most."""
        ends = self.outer.arguments.ends(*box, threads=threads)
        rest = self.outer.arguments.rest_ends(*box, threads=threads)
        impossible = ~(ends[0] <= ends[1]).all(axis=1) | ~(rest[0] <= rest[1])
        lo, hi = (np.where(impossible[:, None], 0.0, end) for end in ends)
        least = np.empty_like(lo)
        for each, under in zip(self._columns(box[0]), self.under, strict=True):
            values = under.phi.sharp_ends(lo[:, each].reshape(-1, 1), hi[:, each].reshape(-1, 1))
            least[:, each] = np.where(values[0] <= values[1], values[0], np.inf).reshape(len(lo), -1)
        impossible = impossible | (least == np.inf).any(axis=1)
        least[impossible] = 0.0
        limits = _all_but_one(self.outer.place, most, np.where(impossible, 0.0, rest[0]), least)
        for each, under in zip(self._columns(box[0]), self.under, strict=True):
            own = lo[:, each].reshape(-1, 1), hi[:, each].reshape(-1, 1)
            low, high = under.phi.contraction_ends(*own, limits[:, each].reshape(-1), threads=threads)[:2]
            lo[:, each] = np.maximum(own[0], low).reshape(len(lo), -1)
            hi[:, each] = np.minimum(own[1], high).reshape(len(lo), -1)
        impossible = impossible | ~(lo <= hi).all(axis=1)
        return (np.where(impossible[:, None], 0.0, lo), np.where(impossible[:, None], 0.0, hi)), impossible

    def _columns(self, box: FloatArray) -> list[IndexArray]:
        """Return the arguments of each phi, where a box lies."""
        return [like(np.flatnonzero(self.outer.kind_of == kind), box) for kind in range(len(self.under))]

    def _lines(self, x: FloatArray, ranges: Ends) -> tuple[FloatArray, FloatArray]:
        """Return s and a (k, m)."""
        u = np.clip(_finite(self.outer.arguments.values(x)), *ranges)
        s, a = np.empty_like(u), np.empty_like(u)
        for each, under, slopes in zip(self._columns(x), self.under, self.slopes, strict=True):
            own = [array[:, each].ravel() for array in (u, *ranges)]
            slope = slopes.best(*own) + 0.0
            touching = slopes.touching(slope, own[1], own[2])
            s[:, each] = slope.reshape(len(u), -1)
            a[:, each] = under.intercepts(own[1], own[2], slope, touching).reshape(len(u), -1)
        return s, a + 0.0

    def _good_points(self, box: Ends, ranges: Ends, threads: int) -> FloatArray:
        """Return points (k, n) of the boxes with a small value, by Newton's method with what bends upward (POLICY)."""
        arguments = self.outer.arguments
        x, radius = middle(*box), 0.5 * box[1] - 0.5 * box[0]
        for _ in range(_STEPS):
            with np.errstate(all="ignore"):
                values, _, slope = arguments.values_and_rest(x, threads=threads)
                u = np.clip(_finite(values), *ranges)
                first, second = np.empty_like(u), np.empty_like(u)
                for each, slopes in zip(self._columns(x), self.slopes, strict=True):
                    one, two = slopes.derivatives(*(array[:, each].ravel() for array in (u, *ranges)))
                    first[:, each], second[:, each] = one.reshape(len(u), -1), two.reshape(len(u), -1)
                curvature = self.outer.lines.curvature(x, np.maximum(first, 0.0), threads=threads)
                safe = np.where(radius > 0, radius, 1.0)
                step, _ = least_squares_box(
                    arguments.jacobian(x, threads=threads) * radius[:, None, :], first,
                    weights=np.maximum(second, 0.0), curvature=curvature * radius[:, :, None] * radius[:, None, :],
                    slopes=slope * radius, ends=((box[0] - x) / safe, (box[1] - x) / safe),
                    rounds=_SWEEPS, threads=threads,
                )  # fmt: skip
                x = np.clip(x + radius * step, *box)
        return x + 0.0

    # ------------------------------------------------------------------------------------------ their sum
    def _by_lines(
        self, box: Ends, s: FloatArray, a: FloatArray, most: FloatArray, known: Known
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ends around the points of each box with Phi(x) <= most, and lower bounds of Phi on the boxes."""
        low, high = box[0].copy(), box[1].copy()
        c = middle(*box)
        threads = known.threads
        found = self.outer.lines.slanted_ends(*box, c, s, a, threads=threads)
        bound = np.where(found.range[0] <= found.range[1], found.range[0], np.inf)
        some = np.flatnonzero(self.outer.lines.slanted_smooth(*box, c, s, a, threads=threads))
        if not some.size:
            return low, high, bound
        own = box[0][some], box[1][some]
        value, slope = ((end[0][some], end[1][some]) for end in found.form)
        *after, least = form_contraction_ends(known.function, own, slope, c[some], value, most[some], threads=threads)
        low[some], high[some] = np.maximum(low[some], after[0]), np.minimum(high[some], after[1])
        bound[some] = np.maximum(bound[some], least)
        if found.slope is not None and found.curvature is not None:
            at_centre, bends = ((end[0][some], end[1][some]) for end in (found.slope, found.curvature))
            edge = np.ones_like(own[0], dtype=bool)
            curved = quadratic(
                own, c[some], value[0], at_centre, bends, edge, most[some], rounds=_ROUNDS, threads=threads
            )
            low[some], high[some] = np.maximum(low[some], curved.lo), np.minimum(high[some], curved.hi)
            bound[some] = np.maximum(bound[some], curved.lower)
        return low, high, bound


def _all_but_one(place: Place, most: FloatArray, rest: FloatArray, least: FloatArray) -> FloatArray:
    """Return what each of (k, m) terms may be where their sum and the rest is at most `most`, rounded upward."""
    most = np.maximum(most, _LEAST)
    total = rest.copy(), np.full_like(rest, np.inf)
    before = []
    for j in range(least.shape[1]):
        before.append(total[0])
        total = place.apply("add", total, (least[:, j], np.full_like(rest, np.inf)))
    after = np.zeros_like(rest)
    limits = np.empty_like(least)
    for j in range(least.shape[1] - 1, -1, -1):
        others = place.apply("add", (before[j], np.full_like(rest, np.inf)), (after, np.full_like(rest, np.inf)))
        limits[:, j] = place.apply("sub", (np.full_like(rest, -np.inf), most), others)[1]
        after = place.apply("add", (after, np.full_like(rest, np.inf)), (least[:, j], np.full_like(rest, np.inf)))[0]
    return limits


def _finite(values: FloatArray) -> FloatArray:
    return np.where(np.isfinite(values), values, 0.0)


def outer_lines(function: Function) -> OuterLines | None:
    """Return the contractor of a function that adds up other things than squares; None where it would bring nothing.

    What is convex nowhere, or affine, stays in g: a chord below it says less than its curvature does. One coupled
    argument alone has nothing that its terms could cancel with.
    """
    outer = outer_functions(function)
    if outer is None:
        return None
    parts = [pieces(phi, *outer.widest(kind)) for kind, phi in enumerate(outer.kinds)]
    bends = [
        any(piece.bend == CONVEX for piece in own) and not is_affine(phi)
        for phi, own in zip(outer.kinds, parts, strict=True)
    ]
    kept = outer.only(bends)
    if kept is None or kept.coupled < 2 or kept.lines.m * function.n > MOST_ENTRIES:
        return None
    of_kept = [own for own, bent in zip(parts, bends, strict=True) if bent]
    under = [Under(phi, own) for phi, own in zip(kept.kinds, of_kept, strict=True)]
    slopes = [Slopes(phi, own) for phi, own in zip(kept.kinds, of_kept, strict=True)]
    lines, each = kept.lines, [phi.value_program.operations for phi in kept.kinds]
    operations = (1 + 0.5 * _STEPS) * lines.operations + _EVALUATIONS * sum(each[kind] for kind in kept.kind_of)
    return OuterLines(kept, under, slopes, operations / function.operations)

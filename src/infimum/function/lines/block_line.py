"""A line below a multiple of phi(u) over a range of u, phi a block (passes/line_blocks).

The least of g(u) = s phi(u) - a u over U, for any a:

    s phi'' on U, phi smooth  a                   the least of g
    <= 0                      slope of the chord  at an end
    >= 0                      slope at the point  above the tangent there, at an end
    else                      slope of the chord  on cells: by Taylor's formula about the middle where phi is smooth on
                                                  the cell, else by s phi(cell) - a cell
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from infimum.interval import Interval
from infimum.passes.line_blocks import Block
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from infimum.backends.placement import Place

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_CELLS = 8


class BlockLine:
    """Lines below multiples of one block, element by element."""

    def __init__(self, block: Block, program: Program, place: Place, threads: int) -> None:
        self._has_second = block.has_second
        self._program, self._place, self._threads = program, place, threads

    def of(self, s: FloatArray, lo: FloatArray, hi: FloatArray, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a and at most the least of s phi(u) - a u; all arrays (k, elements), finite, the points in U."""
        ends = [self._at(end, end)[0] for end in (lo, hi)]
        value, slope, _, _ = self._at(point, point)
        _, _, curve, smooth = self._at(lo, hi)
        bent = Interval(s) * curve
        smooth = smooth & self._has_second
        concave, convex = smooth & (bent.hi <= 0), smooth & (bent.lo >= 0)
        with np.errstate(all="ignore"):
            chord = s * ((_mid(ends[1]) - _mid(ends[0])) / (hi - lo))
            tangent = s * _mid(slope)
        a = np.where(convex & ~concave, tangent, chord)
        a = np.where(np.isfinite(a), a, 0.0) + 0.0
        at_ends = [(s * end - Interval(a) * x).lo for end, x in zip(ends, (lo, hi), strict=True)]
        turned = s * slope - a
        start = s * value - Interval(a) * point
        on_plane = [(start + turned * (Interval(end) - point)).lo for end in (lo, hi)]
        least = np.where(concave, np.minimum(*at_ends), np.minimum(*on_plane))
        rows = np.flatnonzero((~concave & ~convex).any(1))
        if rows.size:
            on_cells = self._on_cells(s[rows], a[rows], lo[rows], hi[rows])
            least[rows] = np.where((concave | convex)[rows], least[rows], on_cells)
        return a, np.where(np.isnan(least), -np.inf, least)

    def _on_cells(self, s: FloatArray, a: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """Return at most the least of g over the cells of U, all of them in one batch."""
        with np.errstate(all="ignore"):
            steps = np.arange(_CELLS + 1)[:, None, None] / _CELLS
            ends = lo + (hi - lo) * steps
        ends = np.clip(np.where(np.isfinite(ends), ends, lo), lo, hi)
        ends[-1] = hi
        low, high = (part.reshape(-1, lo.shape[1]) for part in (ends[:-1], ends[1:]))
        s, a = (np.tile(part, (_CELLS, 1)) for part in (s, a))
        middle = np.clip(0.5 * low + 0.5 * high, low, high)
        value, slope, _, _ = self._at(middle, middle)
        whole, _, curve, smooth = self._at(low, high)
        cell, b = Interval(low, high), Interval(a)
        d = cell - middle
        by_taylor = (s * value - b * middle + (s * slope - b) * d + 0.5 * (s * curve) * d**2).lo
        by_range = (s * whole - b * cell).lo
        each = np.where(smooth & self._has_second, np.fmax(by_taylor, by_range), by_range)
        found: FloatArray = each.reshape(_CELLS, -1, lo.shape[1]).min(0)
        return found

    def _at(self, lo: FloatArray, hi: FloatArray) -> tuple[Interval, Interval, Interval, BoolArray]:
        """Return phi, phi', phi'' and where phi is certainly smooth; all reals where there is nothing."""
        found = self._place.run(self._program, lo, hi, threads=self._threads)
        parts = (
            [np.broadcast_to(low, lo.shape) for low, _ in found],
            [np.broadcast_to(high, lo.shape) for _, high in found],
        )
        known = [low <= high for low, high in zip(*parts, strict=True)]
        intervals = [
            Interval(np.where(is_known, low, -np.inf), np.where(is_known, high, np.inf))
            for low, high, is_known in zip(*parts, known, strict=True)
        ]
        return intervals[0], intervals[1], intervals[2], (parts[0][3] == 1.0) & known[0]


def _mid(ends: Interval) -> FloatArray:
    found: FloatArray = 0.5 * ends.lo + 0.5 * ends.hi
    return found

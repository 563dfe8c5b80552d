"""What core/chain and core/pool.cpp compute, slowly and one box at a time: in NumPy, on the function's own calls.

`Reference` takes boxes through contractors as the core's chain does; `cuts` chooses cuts as the rule `smear` does;
`Listed` is a pool as a list of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from infimum.boxes import BoolArray, Boxes, Ends, FloatArray, emptied, is_empty, met, shrinkage
from infimum.contractors import Contractor, Level, MeanValue, Monotone, Stationary
from infimum.contractors.edges import touched
from infimum.core.chain import TAKEN_UNIT
from infimum.core.codes import ChainKeeping
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.expression import form_contraction_ends
from infimum.function.function import Function

Row = tuple[float, tuple[float, ...]]
_LARGEST = float(np.finfo(np.float64).max)


class Left(NamedTuple):
    """What is left of boxes; slopes has None where the chain need not know any."""

    boxes: Boxes
    rows: list[int]
    slopes: list[Ends | None]
    taken: list[int]  # by each link, in units of 2^-32 boxes
    evaluated: int


@dataclass
class Box:
    """One box on its way: ends (1, n), its lower bound, what f may be at most, its slopes while it stays as it is."""

    lo: FloatArray
    hi: FloatArray
    lower: float
    limit: float
    slopes: Ends | None = None

    @property
    def ends(self) -> Ends:
        return self.lo, self.hi

    @property
    def is_empty(self) -> bool:
        return bool(is_empty(*self.ends)[0])

    def become(self, ends: Ends) -> None:
        """Take other ends; what was known is forgotten where they differ."""
        lo, hi = (end + 0.0 for end in ends)
        if (lo != self.lo).any() or (hi != self.hi).any():
            self.slopes = None
        self.lo, self.hi = lo, hi


@dataclass
class Reference:
    """Contractors of a function on a domain, one after the other."""

    function: Function
    domain: Domain
    contractors: Sequence[Contractor]
    evaluated: int = field(default=0, init=False)

    def run(
        self, boxes: Boxes, limit: FloatArray, keeping: ChainKeeping = ChainKeeping.KEEP_ALL, upper: float = np.inf
    ) -> Left:
        """Take the boxes through all contractors, each on its own."""
        self.evaluated = 0
        taken = [0] * len(self.contractors)
        left: list[tuple[int, Box]] = []
        for k in range(len(boxes)):
            box = Box(boxes.lo[k : k + 1], boxes.hi[k : k + 1], float(boxes.lower[k]), float(limit[k]))
            is_out = False
            for i, contractor in enumerate(self.contractors):
                before = box.ends
                self._apply(contractor, box)
                is_out = keeping != ChainKeeping.KEEP_ALL and self._is_out(box, upper)
                taken[i] += int(TAKEN_UNIT if is_out else float(shrinkage(before, box.ends)[0]) * TAKEN_UNIT)
                if is_out:
                    break
            if is_out and keeping == ChainKeeping.KEEP_ROWS:
                nothing = np.full_like(box.lo, np.inf)
                box.become((nothing, -nothing))
                box.slopes = None
            if keeping != ChainKeeping.KEEP_SOME or not is_out:
                left.append((k, box))
        return Left(
            _joined([box for _, box in left], boxes.n),
            [k for k, _ in left],
            [box.slopes for _, box in left],
            taken,
            self.evaluated,
        )

    @staticmethod
    def _is_out(box: Box, upper: float) -> bool:
        return box.is_empty or box.lower > upper or box.lower == np.inf

    def _apply(self, contractor: Contractor, box: Box) -> None:
        if isinstance(contractor, Level):
            self._level(contractor, box)
        elif box.is_empty:
            return
        elif isinstance(contractor, Monotone):
            self._monotone(box)
        elif isinstance(contractor, Stationary):
            self._stationary(contractor, box)
        else:
            assert isinstance(contractor, MeanValue)
            self._mean_value(box)

    # ---------------------------------------------------------------------------------------- what is known of a box
    def _is_smooth(self, box: Box) -> bool:
        return self.function.is_smooth_everywhere or bool(self.function.fact_arrays(*box.ends)[1][0])

    def _slopes(self, box: Box) -> Ends:
        if box.slopes is None:
            lo, hi = self.function.gradient_ends(*box.ends)
            box.slopes = lo + 0.0, hi + 0.0
        return box.slopes

    # ---------------------------------------------------------------------------------------- contractors
    def _level(self, contractor: Level, box: Box) -> None:
        if box.is_empty:
            box.lower = np.inf
            return
        for _ in range(contractor.passes):
            before = box.ends
            self.evaluated += 1
            lo, hi, least, most = self.function.contraction_ends(*before, box.limit)
            after = np.maximum(before[0], lo), np.minimum(before[1], hi)
            if is_empty(*after)[0] or not least[0] <= min(most[0], box.limit):
                box.become(emptied(*after, np.ones(1, bool)))
                box.lower = np.inf
                return
            box.become(after)
            box.lower = float(np.maximum(box.lower, least[0]))
            if not shrinkage(before, after)[0] >= contractor.least:
                return

    def _monotone(self, box: Box) -> None:
        if not self._is_smooth(box):
            return
        low, high = self._slopes(box)
        rising, falling = low > 0, high < 0
        at_lower, at_upper = touched(self.domain, *box.ends)
        bottom, top = self.domain.inner_lo, self.domain.inner_hi
        after = (
            np.where(falling & np.isfinite(top), np.maximum(box.lo, top), box.lo),
            np.where(rising & np.isfinite(bottom), np.minimum(box.hi, bottom), box.hi),
        )
        nothing = ((rising & ~at_lower) | (falling & ~at_upper)).any(axis=1) | is_empty(*after)
        box.become(emptied(*after, nothing))

    def _stationary(self, contractor: Stationary, box: Box) -> None:
        at_lower, at_upper = touched(self.domain, *box.ends)
        if (at_lower & at_upper).all() or not self._is_smooth(box):
            return
        for _ in range(contractor.passes):
            before = box.ends
            at_lower, at_upper = touched(self.domain, *before)
            wanted = np.where(at_upper, -np.inf, 0.0), np.where(at_lower, np.inf, 0.0)
            lo, hi, low, high = self.function.slope_contraction_ends(*before, wanted)
            impossible = is_empty(np.maximum(low, wanted[0]), np.minimum(high, wanted[1]))
            after = kept(before, emptied(*met(before, (lo, hi)), impossible), is_empty(low, high))
            box.become(after)
            if is_empty(*after)[0] or not shrinkage(before, after)[0] >= contractor.least:
                return

    def _mean_value(self, box: Box) -> None:
        if not self._is_smooth(box):
            return
        before, slope = box.ends, self._slopes(box)
        c = centre(before, slope)
        value = self.function.range_ends(c, c)
        lo, hi, bound = form_contraction_ends(self.function, before, slope, c, value, np.array([box.limit]))
        box.lower = float(np.maximum(box.lower, bound[0]))
        after = met(before, (lo, hi))
        box.become(emptied(*after, np.array([box.lower > box.limit])))


def _joined(boxes: Sequence[Box], n: int) -> Boxes:
    """An empty box has the bound +inf."""
    if not boxes:
        return Boxes(np.empty((0, n)), np.empty((0, n)))
    lower = np.array([np.inf if box.is_empty else box.lower for box in boxes])
    return Boxes(np.vstack([box.lo for box in boxes]), np.vstack([box.hi for box in boxes]), lower)


def centre(box: Ends, slope: Ends) -> FloatArray:
    """The point of each box at which the mean-value form is highest; the middle where no slope is known.

    slopes [l, u], side [a, b]    point
    0 <= l                        a
    u <= 0                        b
    l < 0 < u                     (u a - l b) / (u - l)
    """
    (a, b), (low, high) = box, slope
    a, b = np.maximum(a, -_LARGEST), np.minimum(b, _LARGEST)
    with np.errstate(all="ignore"):
        between = (high * a - low * b) / (high - low)
        between = np.where(np.isfinite(between), between, 0.5 * a + 0.5 * b)
    found: FloatArray = np.clip(np.where(low >= 0, a, np.where(high <= 0, b, between)), a, b) + 0.0
    return found


# --- cuts ------------------------------------------------------------------------------------------------------------


def cuts(
    boxes: Ends,
    slopes: Ends | None,
    *,
    hints: FloatArray | None = None,
    widths: FloatArray | None = None,
    stepped: Any = None,
) -> tuple[Any, FloatArray]:
    """The variable along which each box is cut, and the number at which."""
    lo, hi = boxes
    with np.errstate(all="ignore"):
        size = np.minimum(hi - lo, _LARGEST)
        weight = size
        if slopes is not None:
            steep = np.maximum(np.abs(slopes[0]), np.abs(slopes[1]))
            if stepped is not None and np.any(stepped):
                steep = np.where(stepped & (steep == 0), steep.max(1, keepdims=True), steep)
            product = size * steep
            usable = np.isfinite(product).all(1, keepdims=True) & (product > 0).any(1, keepdims=True)
            weight = np.where(usable, product, size)
    if hints is not None:
        weight = np.where(np.isnan(hints).any(1, keepdims=True), weight, hints)
    middle = at_fraction(lo, hi, 0.5)
    stuck = ~((lo < middle) & (middle < hi))
    weight = np.where(stuck, -1.0, weight)
    if widths is not None:
        wide = (size >= widths) & ~np.isinf(widths)
        any_wide = (wide & ~stuck).any(1, keepdims=True)
        weight = np.where(any_wide & ~wide, np.minimum(weight, -0.5), weight)
    variable = np.argmax(weight, axis=1)
    return variable, middle[np.arange(len(lo)), variable]


# --- pools -----------------------------------------------------------------------------------------------------------


class Listed:
    """A pool as a list of rows (lower, ends), the oldest first."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, boxes: Boxes) -> None:
        self.rows += [(-np.inf if np.isnan(row[0]) else row[0], row[1]) for row in rows_of(boxes)]

    def add_halves(self, boxes: Boxes, sides: Any, at: Any) -> int:
        second = Listed()
        for k, (side, place) in enumerate(zip(sides.tolist(), at.tolist(), strict=True)):
            one, other = boxes[k : k + 1], boxes[k : k + 1]
            if boxes.lo[k, side] < place < boxes.hi[k, side]:
                one, other = (Boxes(half.lo.copy(), half.hi.copy(), half.lower) for half in (one, other))
                one.hi[0, side] = other.lo[0, side] = place
                second.add(other)
            self.add(one)
        self.rows += second.rows
        return len(second.rows)

    def take(self, most: int) -> list[Row]:
        order = sorted(range(len(self.rows)), key=lambda i: self.rows[i][0])[: max(0, most)]  # which is stable
        gone = set(order)
        found = [self.rows[i] for i in order]
        self.rows = [row for i, row in enumerate(self.rows) if i not in gone]
        return found

    def drop_above(self, upper: float) -> None:
        self.rows = [row for row in self.rows if not row[0] > upper]

    def up_to(self, upper: float) -> list[Row]:
        return [row for row in self.rows if row[0] <= upper]

    def lowest(self) -> float:
        return min((row[0] for row in self.rows), default=np.inf)


def rows_of(boxes: Boxes) -> list[Row]:
    ends = np.hstack(boxes.ends).tolist()
    return [(float(low), tuple(row)) for low, row in zip(boxes.lower, ends, strict=True)]


def kept(before: Ends, after: Ends, where: BoolArray) -> Ends:
    """Return the ends after a change, those of boxes that are marked as they were before."""
    marked = where[:, None]
    return np.where(marked, before[0], after[0]), np.where(marked, before[1], after[1])

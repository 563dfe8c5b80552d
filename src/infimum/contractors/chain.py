"""ContractorChain: all contractors, one after the other, as the default method applies them to a batch of boxes.

Between two of infimum's own, boxes stay where they are, on the host or on a GPU; for one of the user's they come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import like, to_host
from infimum.boxes import BoolArray, Boxes, FloatArray, shrinkage, taken, without_nan
from infimum.concurrency import cached_property
from infimum.contractors.contractor import Contractor, contracted_by, is_own
from infimum.contractors.enclosure import Enclosure
from infimum.contractors.known import Known
from infimum.contractors.level import Level
from infimum.contractors.linear.layer import LinearLayer
from infimum.contractors.linear.slopes import LayerSlopes
from infimum.contractors.links import Links, is_linked
from infimum.contractors.table import CLOSING, CONTRACTORS, DEFAULT
from infimum.contractors.unbounded_boxes import UnboundedBoxes
from infimum.core.codes import ChainKeeping
from infimum.domain import Domain
from infimum.fractions import at_fraction
from infimum.function.function import Function

_LARGE_LAYER = 64  # variables; beyond, contraction of f itself costs more than all the rest
_NARROW = 2.0**-16  # relative


Enough = Callable[[Boxes, float], BoolArray]


class ContractorChain:
    """The contractors of infimum that are named, in the order of the table, then the user's own.

    work: how much each has taken away since it was last cleared, in boxes: 1 for a box that it emptied, less for one
    that it narrowed.
    """

    def __init__(
        self,
        function: Function,
        domain: Domain,
        threads: int = 1,
        contractors: Sequence[str | Contractor] = DEFAULT,
    ) -> None:
        self.function = function
        self.known = Known(function, domain, threads=threads)
        self.work: dict[str, float] = {}
        self._has_level = "level" in contractors
        self._names = contractors
        self._closing = self._made(CLOSING)
        self._unbounded = UnboundedBoxes(function, domain)
        self._probe = Level(passes=60, least=0.2)
        self._patient = Level(passes=max(60, min(3000, 4_000_000 // function.n)), least=0.4 / function.n)

    def _made(self, names: Iterable[str]) -> list[tuple[str, Contractor]]:
        """Return those of infimum's contractors that are asked for and can do something for the function."""
        links = ((name, CONTRACTORS[name](self.function)) for name in names if name in self._names)
        return [(name, link) for name, link in links if link is not None]

    @cached_property
    def _linear(self) -> LinearLayer | None:
        made = [link for _, link in self._made(["linear"])]
        return made[0] if made and isinstance(made[0], LinearLayer) else None

    @cached_property
    def _links(self) -> list[Links | tuple[str, Contractor]]:
        """Return the contractors; neighbours that the core knows are one."""
        # Without `level` nothing else would bound f from below, so that plain enclosures do.
        found: list[tuple[str, Contractor]] = [] if self._has_level else [("", Enclosure())]
        found += self._made(name for name in CONTRACTORS if name not in CLOSING and name != "linear")
        found += [(type(own).__name__, own) for own in self._names if not isinstance(own, str)]
        links: list[Links | tuple[str, Contractor]] = []
        for linked, part in groupby(found, lambda link: is_linked(link[1])):
            named = list(part)
            links += [Links(named, self.function, self.known.domain)] if linked else named
        return links

    @property
    def can_guess(self) -> bool:
        """Whether boxes can be contracted under a guessed level."""
        return self._has_level or self._linear is not None

    def contract(self, boxes: Boxes, upper: float, is_enough: Enough | None = None) -> Boxes:
        """Return boxes around every point of each box that can be a minimiser with a value up to `upper`.

        Boxes that have no such point are left out; no lower bound falls. What closes boxes comes first; once they need
        no cut, as `is_enough` says, or an upper bound is in sight for the first time, the others are not asked.
        """
        known = self.known.under(upper)
        known.forget_hints()
        for name, contractor in self._closing:
            boxes = self._turn(name, contractor, boxes, known)
            is_closed = is_enough is not None and bool((np.isfinite(boxes.lower) & is_enough(boxes, upper)).all())
            if is_closed or (upper == np.inf and self.known.has_offers):
                return boxes
        if not self._unbounded.is_idle:
            boxes = self._turn("", self._unbounded, boxes, known)
        if self._linear is not None:
            after = self._linear.contract(boxes, known)
            self._credit("linear", taken(boxes, after))
            if self._layer_is_enough(boxes, after, upper):
                return self._left(LayerSlopes(self._linear).contract(after, known), upper)
            boxes = self._left(after, upper)
        boxes = Boxes(*self.function.place.to_device(*boxes))
        for link in self._links:
            boxes = self._run(link, boxes, known) if isinstance(link, Links) else self._turn(*link, boxes, known)
        known.to_host()
        return Boxes(*map(to_host, boxes))

    def contract_each(self, boxes: Boxes, upper: float) -> Boxes:
        """Return as many boxes, in their order: what one turn of each contractor but `linear` leaves."""
        known = self.known.under(upper)
        for link in (*self._closing, *self._links):
            if isinstance(link, Links):
                boxes, _ = link.run(boxes, known, ChainKeeping.KEEP_ROWS)
            else:
                found = link[1].contract(boxes, known)
                boxes = found.emptied(found.is_empty() | (found.lower > upper))
        return boxes

    def contract_to_level(self, boxes: Boxes, level: FloatArray, *, patient: bool = False) -> Boxes:
        """Return boxes around the points with a value up to a level (k,) for each, and bounds of the boxes given.

        The level may be a guess: where it empties a box, the bound is the level. A patient search goes on for a single
        variable that is narrowed, as along a chain of terms.
        """
        known, found = self.known.under(level), boxes
        is_done = not self._has_level
        if self._linear is not None:
            found = self._linear.contract(boxes, known)
            is_done = is_done or self._layer_is_enough(boxes, found, level)
        if not is_done:
            is_cheap = self._linear is None or self.function.n < _LARGE_LAYER
            found = (self._patient if patient and is_cheap else self._probe).contract(found, known)
        # Beyond what is left, f is above the level.
        bound = np.minimum(level, without_nan(found.lower))
        return found.with_lower(np.where(found.is_empty(), level, bound))

    def offered(self) -> FloatArray:
        """Return the points (k, n) that contractors have proposed since this was last asked."""
        found = [to_host(points) for points in self.known.offered()]
        return np.vstack(found) if found else np.empty((0, self.function.n))

    def points(self, boxes: Boxes, level: FloatArray) -> FloatArray:
        """Return promising points of boxes contracted to a level: middles, and what a linear layer leads to."""
        middles = at_fraction(*boxes.ends, 0.5)
        if self._linear is None:
            return middles
        return np.vstack([middles, self._linear.points(boxes, self.known.under(level))])

    def _layer_is_enough(self, before: Boxes, after: Boxes, upper: npt.ArrayLike) -> bool:
        """Say whether a large layer did so well, or had so little to go by, that the other contractors can wait."""
        if self.function.n < _LARGE_LAYER:
            return False
        narrow = (after.hi - after.lo <= _NARROW * np.maximum(1.0, np.abs(after.lo))).all(1)
        done = after.is_empty() | narrow | (shrinkage(before.ends, after.ends) > 0.5)
        return not np.isfinite(upper).any() or bool(done.all())

    def _run(self, links: Links, boxes: Boxes, known: Known) -> Boxes:
        """Return what is left after the turns of contractors that the core knows, and write down their work."""
        if not len(boxes):
            return boxes
        after, left = links.run(boxes, known, ChainKeeping.KEEP_SOME)
        for name, taken_away in zip(links.names, left.taken, strict=True):
            self._credit(name, taken_away)
        return after

    def _turn(self, name: str, contractor: Contractor, boxes: Boxes, known: Known) -> Boxes:
        """Return what is left after a contractor's turn, and write down its work; that of the nameless is not."""
        if not len(boxes):
            return boxes
        if is_own(contractor):
            after = contractor.contract(boxes, known)
        else:
            found = contracted_by(contractor, Boxes(*map(to_host, boxes)), known)
            after = Boxes(*(like(array, boxes.lo) for array in found))
        some = self._some(after, known.upper)
        if name:
            self._credit(name, taken(boxes, after, some))
        return after if some is None else after[some]

    def _left(self, boxes: Boxes, upper: float) -> Boxes:
        """Return the boxes that are not empty and whose lower bound is not above `upper`; none of infinite bound."""
        some = self._some(boxes, upper)
        return boxes if some is None else boxes[some]

    def _some(self, boxes: Boxes, upper: float) -> BoolArray | None:
        """Return which boxes are left, None where all are. A bound that is no number says nothing."""
        some: BoolArray = ~(boxes.is_empty() | (boxes.lower > upper) | (boxes.lower == np.inf))
        if some.all():
            return None
        self.known.keep(some)
        return some

    def _credit(self, name: str, boxes: float) -> None:
        if boxes > 0:
            self.work[name] = self.work.get(name, 0.0) + boxes

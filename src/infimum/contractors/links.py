"""Links: contractors that the core applies itself, a block of boxes from the first to the last (core/chain).

A contractor that can be one says so by `link`. It is told what it needs of the function by name; a Program is made when
the core first asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from infimum import deadline
from infimum.backends.placement import like, to_host
from infimum.boxes import Boxes, Ends, FloatArray
from infimum.contractors.contractor import Contractor, is_own
from infimum.contractors.edges import ObliqueDomain
from infimum.contractors.known import Known
from infimum.core import Tape
from infimum.core.chain import Chain, Given, Late, Left, Link, Look, NoGradient
from infimum.core.codes import ChainKeeping
from infimum.domain import Domain
from infimum.function.expression import form_tape
from infimum.function.function import Function
from infimum.function.jacobian import refusal

Made = Callable[[], Tape | None]
IndexArray = npt.NDArray[np.int64]


@runtime_checkable
class Linked(Contractor, Protocol):
    """A contractor that the core knows."""

    @property
    def link(self) -> Link:
        """Return what the core is told."""
        ...


class Links:
    """Contractors of one function on one domain, as one chain of the core."""

    def __init__(
        self, named: Sequence[tuple[str, Contractor]], function: Function, domain: Domain, *, sloped: bool = True
    ) -> None:
        self._function = function
        self.names = [name for name, _ in named]
        links = [one.link for _, one in named if isinstance(one, Linked)]
        self._chain = Chain(function.n, links, _given(function, domain, sloped))

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return as many boxes, in their order: what is left of each by all contractors."""
        return self.run(boxes, known, ChainKeeping.KEEP_ALL)[0]

    def run(self, boxes: Boxes, known: Known, keeping: ChainKeeping) -> tuple[Boxes, Left]:
        """Return the boxes that are left where they lie, and what else the core has found.

        KEEP_ALL     all of them, in their order
        KEEP_SOME    those that are not empty and whose lower bound is not above `upper`, a single number
        KEEP_ROWS    all of them, the others emptied
        """
        upper = np.inf if keeping == ChainKeeping.KEEP_ALL else float(known.upper)
        lo, hi, lower = (to_host(array) for array in boxes)
        with _refusals():
            left = self._chain.run(
                (lo, hi, lower), known.limits(Boxes(lo, hi, lower)),
                upper=upper, keeping=keeping, seconds=deadline.left(), threads=known.threads,
            )  # fmt: skip
        self._function.place.boxes_evaluated += left.evaluated
        found = Boxes(*(like(array, boxes.lo) for array in (left.lo, left.hi, left.lower)))
        known.remember(Boxes(left.lo, left.hi, left.lower), left.slopes, left.has_slopes)
        return found, left

    def look(self, boxes: Boxes, known: Known, within: Ends, most: int) -> Look:
        """Return what is seen of boxes of the host's memory."""
        with _refusals():
            return self._chain.look(
                boxes.ends, within, most, widths=known.widths, seconds=deadline.left(), threads=known.threads
            )

    def cuts(self, boxes: Boxes, known: Known, sloped: bool) -> tuple[IndexArray, FloatArray]:
        """Return cuts of boxes of the host's memory."""
        with _refusals():
            return self._chain.cuts(
                boxes.ends, known.remembered() if sloped else None,
                hints=known.hints(boxes) if sloped and known.has_hints else None, widths=known.widths,
                stepped=known.stepped if sloped else None, seconds=deadline.left(), threads=known.threads,
            )  # fmt: skip


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise what the core reports as the errors that a search knows."""
    try:
        yield
    except Late:
        raise deadline.Late from None
    except NoGradient as wrong:
        raise refusal(wrong.variable, wrong.side, wrong.derived, wrong.given) from None


def look(boxes: Boxes, known: Known, within: Ends, most: int) -> Look:
    """Return up to `most` middles of boxes with small values, within a box of ends (n,), and which boxes can be cut."""
    links = known.made("cuts by slopes", lambda: Links([], known.function, known.domain))
    return links.look(boxes, known, within, most)


def cuts(boxes: Boxes, known: Known, *, sloped: bool) -> tuple[IndexArray, FloatArray]:
    """Return the variable along which each box is cut, and the number at which, by slopes or by widths: policy."""
    key = "cuts by slopes" if sloped else "cuts by widths"
    links = known.made(key, lambda: Links([], known.function, known.domain, sloped=sloped))
    return links.cuts(boxes, known, sloped)


def is_linked(contractor: Contractor) -> bool:
    """Say whether the core knows a contractor: one of infimum's own, none that is derived from it elsewhere."""
    return is_own(contractor) and isinstance(contractor, Linked)


def applied(contractor: Linked, boxes: Boxes, known: Known) -> Boxes:
    """Return what is left of boxes by one contractor that the core knows."""
    links = known.made(contractor.link, lambda: Links([("", contractor)], known.function, known.domain))
    return links.contract(boxes, known)


def _given(function: Function, domain: Domain, sloped: bool) -> Given:
    if not sloped:
        return Given({}, (domain.inner_lo, domain.inner_hi), (domain.inner_lo, domain.inner_hi))
    edges, ends = (domain.inner_lo, domain.inner_hi), (domain.inner_lo, domain.inner_hi)
    programs = dict(_programs(function))
    if isinstance(domain, ObliqueDomain):
        edges = domain.edges
        programs["image"] = lambda: domain.rotation.image.tape
    return Given(programs, edges, ends)


def _programs(function: Function) -> Mapping[str, Made]:
    """Return what links may ask for, by name."""
    made = function.programs
    found: dict[str, Made] = {
        "value": lambda: made.value.tape,
        "level": lambda: made.level.tape,
        "slope": lambda: made.slope.tape,
        "gradient": lambda: made.gradient.tape,
        "facts": lambda: None if made.is_smooth_everywhere else made.facts.tape,
        "form": lambda: form_tape(function.n),
        "point": lambda: made.value.tape,
    }
    jacobian = function.jacobian
    if jacobian is not None:
        found["jacobian"] = lambda: jacobian.program.tape
    return found

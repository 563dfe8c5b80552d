"""Links: contractors that the core applies itself, a block of boxes from the first to the last (core/chain).

A contractor that can be one says so by `link`. It is told what it needs of the function by name; a Program is made when
the core first asks for it. Boxes on a GPU are contracted there (backends/cuda/chain.py) once its kernels are loaded;
until then they come to the core and go back. Where that is makes no difference but in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from infimum import deadline
from infimum.backends.cuda import chain as cuda_chain
from infimum.backends.placement import is_on_device, like, to_host
from infimum.boxes import Boxes, Ends, FloatArray
from infimum.concurrency import cached_property
from infimum.contractors.contractor import Contractor, is_own
from infimum.contractors.edges import ObliqueDomain
from infimum.contractors.known import Known
from infimum.core import Tape
from infimum.core.chain import Chain, Given, Late, Left, Link, Look, NoGradient
from infimum.core.codes import ChainKeeping
from infimum.domain import Domain
from infimum.function.expression import form
from infimum.function.function import Function
from infimum.function.jacobian import refusal

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
        self._links = [one.link for _, one in named if isinstance(one, Linked)]
        self._given = _given(function, domain, sloped)
        self._sources: Mapping[str, Any] = self._given.programs
        self._seconds = 0.0  # that the CPU took
        self._chain = Chain(function.n, self._links, self._given)

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return as many boxes, in their order: what is left of each by all contractors."""
        return self.run(boxes, known, ChainKeeping.KEEP_ALL)[0]

    def run(self, boxes: Boxes, known: Known, keeping: ChainKeeping) -> tuple[Boxes, Left]:
        """Return the boxes that are left where they lie, and what else has been found.

        KEEP_ALL     all of them, in their order
        KEEP_SOME    those that are not empty and whose lower bound is not above `upper`, a single number
        KEEP_ROWS    all of them, the others emptied
        """
        upper = np.inf if keeping == ChainKeeping.KEEP_ALL else float(known.upper)
        place = self._function.place
        with _refusals():
            if place.is_ready(self._needed, boxes.lo, self._seconds) and is_on_device(boxes.lo):
                left = self._there.run(
                    (*boxes.ends, boxes.lower),
                    known.limits(boxes),
                    place.run,
                    upper=upper,
                    keeping=keeping,
                    threads=known.threads,
                )
            else:
                left = self._here(boxes, known, upper, keeping)
        place.boxes_evaluated += left.evaluated
        found = Boxes(left.lo, left.hi, left.lower)
        known.remember(found, left.slopes, left.has_slopes)
        return found, left

    def _here(self, boxes: Boxes, known: Known, upper: float, keeping: ChainKeeping) -> Left:
        """Return what the core leaves of boxes that may lie elsewhere."""
        began = perf_counter()
        host = Boxes(*map(to_host, boxes))
        left = self._chain.run(
            (*host.ends, host.lower), known.limits(host),
            upper=upper, keeping=keeping, seconds=deadline.left(), threads=known.threads,
        )  # fmt: skip
        self._seconds += perf_counter() - began
        return left.map(lambda array: like(array, boxes.lo))

    @property
    def _needed(self) -> list[Any]:
        """Return the Programs that were needed so far."""
        return [source.made for source in self._sources.values() if source.made is not None]

    @cached_property
    def _there(self) -> cuda_chain.CudaChain:
        """Return the same chain on the GPU."""
        programs = {name: source.program for name, source in self._sources.items()}
        given = cuda_chain.Given(programs, self._given.edges, self._given.ends)
        return cuda_chain.CudaChain(self._function.n, self._links, given, self._chain)

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


class _Source:
    """A Program that is made when it is first asked for; None where none need be. Called, it is the tape."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._is_made = False
        self.made: Any = None

    def program(self) -> Any:
        """Return the Program."""
        if not self._is_made:
            self.made, self._is_made = self._make(), True
        return self.made

    def __call__(self) -> Tape | None:
        program = self.program()
        return None if program is None else program.tape


def _given(function: Function, domain: Domain, sloped: bool) -> Given:
    edges, ends = (domain.inner_lo, domain.inner_hi), (domain.inner_lo, domain.inner_hi)
    if not sloped:
        return Given({}, edges, ends)
    programs = _programs(function)
    if isinstance(domain, ObliqueDomain):
        rotation, edges = domain.rotation, domain.edges
        programs["image"] = lambda: rotation.image
    return Given({name: _Source(make) for name, make in programs.items()}, edges, ends)


def _programs(function: Function) -> dict[str, Callable[[], Any]]:
    """Return what links may ask for, by name."""
    made = function.programs
    found: dict[str, Callable[[], Any]] = {
        "value": lambda: made.value,
        "level": lambda: made.level,
        "slope": lambda: made.slope,
        "gradient": lambda: made.gradient,
        "facts": lambda: None if made.is_smooth_everywhere else made.facts,
        "form": lambda: form(function.n),
        "point": lambda: made.value,
    }
    jacobian = function.jacobian
    if jacobian is not None:
        found["jacobian"] = lambda: jacobian.program
    return found

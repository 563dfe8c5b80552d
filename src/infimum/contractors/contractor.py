"""Contractor: what is left of boxes when something is known of a minimiser (PROOF)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.errors import BackendUnavailable, InternalError, InvalidOption, ProgramError


@runtime_checkable
class Contractor(Protocol):
    """What takes boxes and what is known, and gives the same number of boxes, in the same order.

    Guarantee: every global minimiser over the domain that lies in a box lies in what is returned for it, provided that
    the minimum is at most `known.upper`. An empty box says that there is none; a lower bound says that f is nowhere
    below it in the box that was given. A contractor changes no array that it is given.
    """

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return what is left of each box, and its lower bound."""
        ...


def is_own(thing: Any) -> bool:
    """Say whether a contractor or a split rule is infimum's own; a subclass that is defined elsewhere is not."""
    return type(thing).__module__.partition(".")[0] == "infimum"


def name_of(thing: Any) -> str:
    """Return how an object of the user's is called: by its class and the module that defines it."""
    return f"{type(thing).__qualname__} of {type(thing).__module__}"


def foreign_names(contractors: Iterable[str | Contractor]) -> tuple[str, ...]:
    """Return what a claim rests on beside infimum: the contractors that are not its own, each named once."""
    names = (name_of(one) for one in contractors if not isinstance(one, str) and not is_own(one))
    return tuple(dict.fromkeys(names))


def contracted_by(contractor: Contractor, boxes: Boxes, known: Known) -> Boxes:
    """Return what a contractor of the user's leaves of boxes on the host, met with these.

    Guarantee: no box grows, no lower bound falls and no row is lost, whatever the contractor returns; what is not a
    box at all is refused by an error that names it.
    """
    found = answer_of(f"The contractor {name_of(contractor)}", contractor.contract, boxes, known)
    return boxes.meet(_checked(name_of(contractor), boxes, found))


def answer_of(who: str, ask: Callable[[Boxes, Known], Any], boxes: Boxes, known: Known) -> Any:
    """Return what code of the user's answers, which cannot write to the boxes; name it where it raises an error."""
    try:
        return ask(boxes.read_only(), known)
    except (BackendUnavailable, InternalError, ProgramError):
        raise
    except Exception as error:
        raise InvalidOption(f"{who} raised {type(error).__name__}: {error}") from error


def _checked(name: str, boxes: Boxes, found: Any) -> Boxes:
    # | returned                             | said                                          |
    # | anything but Boxes                   | its type, and what to return                  |
    # | another number of boxes or variables | both shapes, and how to discard a box         |
    # | a NaN                                | which array has it, and what says "not known" |
    if not isinstance(found, Boxes):
        given = f"{type(found).__name__}, where boxes are asked for. Return infimum.contractors.Boxes(lo, hi, lower)"
        raise InvalidOption(f"The contractor {name} returned {given}.")
    if found.lo.shape != boxes.lo.shape:
        raise InvalidOption(
            f"The contractor {name} returned boxes of shape {found.lo.shape}, where {boxes.lo.shape} was given. "
            "Return as many as are given, in their order: boxes.emptied(where) discards some."
        )
    for array, ends in (("lo", found.lo), ("hi", found.hi), ("lower", found.lower)):
        if np.isnan(ends).any():
            raise InvalidOption(
                f"The contractor {name} returned a NaN in {array}. Where nothing is known, return what was given."
            )
    return found

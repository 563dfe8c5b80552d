"""Contractors that compute in the host's memory: boxes on a GPU come back for their turn."""

from __future__ import annotations

from collections.abc import Callable

from infimum.backends.placement import like, to_host
from infimum.boxes import Boxes
from infimum.contractors.contractor import Contractor
from infimum.contractors.known import Known


def on_host(contract: Callable[[Boxes, Known], Boxes], boxes: Boxes, known: Known) -> Boxes:
    """Return what is left of boxes by a rule of the host's memory, where the boxes lie."""
    found = contract(Boxes(*map(to_host, boxes)), known)
    return Boxes(*(like(array, boxes.lo) for array in found))


class OnHost:
    """A contractor of the host's memory, for boxes wherever they lie."""

    def __init__(self, own: Contractor) -> None:
        self._own = own

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return what the contractor leaves of the boxes."""
        return on_host(self._own.contract, boxes, known)

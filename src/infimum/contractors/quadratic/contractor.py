"""Quadratic: contraction by what is known of a function whose Hessian is the same everywhere."""

from __future__ import annotations

from infimum.boxes import Boxes
from infimum.contractors.contractor import Contractor
from infimum.contractors.known import Known
from infimum.contractors.quadratic.convex import Convex
from infimum.contractors.quadratic.positive import is_positive, scaled
from infimum.function.function import Function


class Quadratic:
    """Tangents of a convex quadratic function."""

    def __init__(self, convex: Convex) -> None:
        self.convex = convex

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every minimiser over the domain with a value up to the level."""
        return self.convex.contract(boxes, known)


def quadratic(function: Function) -> Contractor | None:
    """Return the contractor of a quadratic function, None for any other one."""
    matrix = function.quadratic
    if matrix is None or not (matrix.high != 0).any():
        return None
    found = scaled(matrix, function.n)
    if found is not None and is_positive(found):
        return Quadratic(Convex(function, found))
    return None

"""The contractor of a quadratic function: of a convex one tangents, of any other one those of convex ones below it."""

from __future__ import annotations

from infimum.contractors.contractor import Contractor
from infimum.contractors.quadratic.below import MOST_VARIABLES, Below
from infimum.contractors.quadratic.convex import Convex
from infimum.contractors.quadratic.positive import is_positive, scaled
from infimum.function.function import Function


def convex_quadratic(function: Function) -> Convex | None:
    """Return the contractor of a convex quadratic function, None for any other one."""
    matrix = function.quadratic
    found = None if matrix is None else scaled(matrix, function.n)
    return Convex(function, found) if found is not None and is_positive(found) else None


def quadratic(function: Function) -> Contractor | None:
    """Return the contractor of a quadratic function, None for any other one, or one with too many variables."""
    matrix = function.quadratic
    if matrix is None or not ((matrix.low != 0) | (matrix.high != 0)).any():
        return None
    found = convex_quadratic(function)
    if found is not None:
        return found
    return Below(function, matrix) if function.n <= MOST_VARIABLES else None

"""Which fits are small enough for contractors of their own."""

from __future__ import annotations

from infimum.function.function import Function
from infimum.function.outer import DualLines, Residuals, dual_lines

MOST_VARIABLES = 50
MOST_ENTRIES = 20_000  # of a Jacobian that is held for whole batches of boxes


def small_fit(function: Function, entries: int = MOST_ENTRIES) -> tuple[Residuals, DualLines] | None:
    """Return the residuals of a fit of several parameters and what is around them; None where there are too many."""
    if not 1 < function.n <= MOST_VARIABLES:
        return None
    residuals, lines = function.residuals, dual_lines(function)
    if residuals is None or lines is None or residuals.m * function.n > entries:
        return None
    return residuals, lines

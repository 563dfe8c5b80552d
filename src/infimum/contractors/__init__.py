"""Contractors: what is left of boxes when something is known of a minimiser (PROOF).

Knows: Function, boxes as arrays (k, n) of ends, an upper bound, the domain. Never knows: regions, where to split.

    contractor   keeps every point of a box with                              needs
    Level        a value of at most `upper`                                   -
    Stationary   a gradient that a minimiser over the domain can have         smooth
    MeanValue    a value of at most `upper`, by f(c) + f'(X) (x - c)          smooth
    Monotone     no slope that leads down within the domain                   smooth
Boxes on which the function is not smooth come back from the last three as they were.

An emptied box comes back as (+inf, -inf) in every component.
"""

from __future__ import annotations

from infimum.contractors.level import Level
from infimum.contractors.mean_value import MeanValue
from infimum.contractors.monotone import Monotone
from infimum.contractors.stationary import Stationary

__all__ = ["Level", "MeanValue", "Monotone", "Stationary"]

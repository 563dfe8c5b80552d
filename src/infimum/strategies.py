"""Strategies of method="paper", as objects with numbers of the user's own (POLICY: none can make a result false).

    infimum.minimize(f, bounds, partition=infimum.strategies.Golden(parts=2), sampling=infimum.strategies.Latin(100))

option      objects                                                                  one of the user's own has
partition   Uniform, Golden, Logarithmic (parts, variables)                          parts, variables, cuts(lo, hi)
sampling    Diagonal, Midpoint, Grid, Latin, Random, Local, Several                  propose(look)
selection   Best (count)                                                             count
"""

from __future__ import annotations

from infimum.search.paper.partition import Golden, Logarithmic, Partition, Uniform
from infimum.search.paper.sampling import (
    Diagonal,
    Grid,
    Latin,
    Local,
    Look,
    Midpoint,
    Random,
    Sampling,
    Several,
)
from infimum.search.paper.selection import Best, Selection

__all__ = [
    "Best", "Diagonal", "Golden", "Grid", "Latin", "Local", "Logarithmic", "Look", "Midpoint", "Partition", "Random",
    "Sampling", "Selection", "Several", "Uniform",
]  # fmt: skip

"""Strategies as objects, with numbers of the user's own (POLICY: none of them can make a result false).

    infimum.minimize(f, bounds, partition=infimum.strategies.Golden(parts=2), sampling=infimum.strategies.Latin(100))

option      method   objects                                               one of the user's own has
split       auto     Smear, Largest, RoundRobin                            cuts(boxes, known), which returns Cuts
partition   paper    Uniform, Golden, Logarithmic (parts, variables)       parts, variables, cuts(lo, hi)
sampling    paper    Diagonal, Midpoint, Grid, Latin, Random, Local        propose(look)
selection   paper    Best (count)                                          count
"""

from __future__ import annotations

from infimum.search.auto.split_rules import Cuts, Largest, RoundRobin, Smear, SplitRule
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
    "Best", "Cuts", "Diagonal", "Golden", "Grid", "Largest", "Latin", "Local", "Logarithmic", "Look", "Midpoint",
    "Partition", "Random", "RoundRobin", "Sampling", "Selection", "Several", "Smear", "SplitRule", "Uniform",
]  # fmt: skip

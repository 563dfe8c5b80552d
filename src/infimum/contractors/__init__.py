"""Contractors: what is left of boxes when something is known of a minimiser (PROOF).

Knows: Function, Boxes, an upper bound, the domain. Never knows: regions, where to split, graphs.

    contractor   keeps every point of a box with                              needs
    Level        a value of at most `upper`                                   -
    LinearLayer  a value of at most `upper`, for f(x) = g(A x + b, x)         a linear layer
    LayerSlopes  a minimiser's gradient in y = A x + b                        a layer with an inverse, smooth
    Stationary   a gradient that a minimiser over the domain can have         smooth
    MeanValue    a value of at most `upper`, by f(c) + f'(X) (x - c)          smooth
    Monotone     no slope that leads down within the domain                   smooth
    Dual         a value of at most `upper`, by lines under squares            a sum of squares
    Varpro       a value of at most `upper` for the best linear parameters    a fit with some, smooth
    Lines        a value of at most `upper`, by lines through the graph       -
    Taylor       a minimiser's value and curvature, by f, f' and f''          twice smooth
    Shave        a value of at most `upper`, tried on slices at the ends      -
Boxes on which the function is not smooth come back as they were from those that need it.

Each is a Contractor (contractor.py): `contract(boxes, known)` takes Boxes to as many Boxes within them; an emptied box
comes back as (+inf, -inf) in every component. table.py has those that are known by name; chain.py applies them.
"""

from __future__ import annotations

from infimum.boxes import Boxes
from infimum.contractors.contractor import Contractor
from infimum.contractors.known import Known
from infimum.contractors.level import Level
from infimum.contractors.linear.layer import LinearLayer, layered
from infimum.contractors.linear.slopes import LayerSlopes
from infimum.contractors.mean_value import MeanValue
from infimum.contractors.monotone import Monotone
from infimum.contractors.stationary import Stationary

__all__ = [
    "Boxes", "Contractor", "Known", "LayerSlopes", "Level", "LinearLayer", "MeanValue", "Monotone", "Stationary",
    "layered",
]  # fmt: skip

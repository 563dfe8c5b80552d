"""UnboundedBoxes: keep the points of an unbounded box where a rational function can be at most a level.

A function p/q with q > 0 whose even powers of single variables win is small only within a radius; the same inequality
bounds from below what is approached at infinity alone (passes/unbounded/rational).
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes, FloatArray, met
from infimum.contractors.known import Known
from infimum.domain import Domain
from infimum.function.expression import rational_form
from infimum.function.function import Function


class UnboundedBoxes:
    """The contractor of one rational function on its domain.

    What is known for the last upper bound is kept.
    """

    def __init__(self, function: Function, domain: Domain) -> None:
        infinite = bool(np.isinf(domain.lo).any() or np.isinf(domain.hi).any())
        self._rational = rational_form(function, domain) if infinite else None
        self._radii: tuple[float, FloatArray | None] = (np.inf, None)
        self._lower = -np.inf

    @property
    def is_idle(self) -> bool:
        """Whether nothing is done: the domain is bounded, or the function is not read as a quotient."""
        return self._rational is None

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return the part of each box where f can be at most `upper`, a single number, with its bound raised."""
        upper = float(known.upper)
        if self._rational is None or not np.isfinite(upper):
            return boxes
        if upper != self._radii[0]:
            self._radii = (upper, self._rational.radii(upper))
            self._lower = max(self._lower, self._rational.lower(upper, above=self._lower))
        boxes = boxes.with_lower(np.maximum(boxes.lower, self._lower))
        size = self._radii[1]
        return boxes if size is None else Boxes(*met(boxes.ends, (-size, size)), boxes.lower)

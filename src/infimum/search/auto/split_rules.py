"""Where a box is cut in two (POLICY): rules that propose a variable and a place on it for each box.

rule          the variable that is cut
smear         along which the function changes most: the largest slope times width; where slopes are not known, not
              finite or all 0, the widest. A step has no slope: what it reads counts with the largest one
largest       the widest
round_robin   one after the other: the one that was halved least often, whether by cuts or by contraction
Variables that are narrow enough already come last. These three cut in the middle.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes, FloatArray
from infimum.contractors.known import Known
from infimum.contractors.links import cuts
from infimum.contractors.table import MOST_FOR_SLOPES
from infimum.fractions import at_fraction

IndexArray = npt.NDArray[np.int64]


class Cuts(NamedTuple):
    """For each box the variable that is cut, and the number at which."""

    variables: IndexArray  # (k,)
    places: FloatArray  # (k,)


@runtime_checkable
class SplitRule(Protocol):
    """What proposes where boxes are cut. It is policy: a cut is clamped into its box, so that nothing can be lost."""

    def cuts(self, boxes: Boxes, known: Known) -> Cuts:
        """Return a cut for each box."""
        ...


class Smear:
    """The variable with the largest slope times width; slopes are not asked for where there are many variables."""

    def cuts(self, boxes: Boxes, known: Known) -> Cuts:
        """Return cuts in the middle of the variables along which the function changes most."""
        return Cuts(*cuts(boxes, known, sloped=known.function.n <= MOST_FOR_SLOPES))


class Largest:
    """The widest variable; an infinite one first."""

    def cuts(self, boxes: Boxes, known: Known) -> Cuts:
        """Return cuts in the middle of the widest variables."""
        return cut_at_the_widest(boxes, known)


class RoundRobin:
    """The variable with the largest power of two in width / the domain's width, an infinite one counted as 1."""

    def cuts(self, boxes: Boxes, known: Known) -> Cuts:
        """Return cuts in the middle of the variables that were halved least often."""
        with np.errstate(all="ignore"):
            whole = known.domain.hi - known.domain.lo
            halved = np.ceil(np.log2(_sizes(boxes) / np.where(np.isfinite(whole) & (whole > 0), whole, 1.0)))
        return in_the_middle(boxes, heaviest(4096.0 + np.maximum(halved, -4095.0), boxes, known))


def cut_at_the_widest(boxes: Boxes, known: Known) -> Cuts:
    """Return cuts in the middle of the widest variables."""
    return in_the_middle(boxes, heaviest(_sizes(boxes), boxes, known))


def in_the_middle(boxes: Boxes, variables: IndexArray) -> Cuts:
    """Return cuts in the middle of these variables."""
    rows = np.arange(len(boxes))
    return Cuts(variables, at_fraction(boxes.lo[rows, variables], boxes.hi[rows, variables], 0.5))


def heaviest(weight: FloatArray, boxes: Boxes, known: Known) -> IndexArray:
    """Return the variable of each box with the largest weight (k, n), which is not negative.

    Those that are as narrow as is asked for come last, and after them those that cannot be cut.
    """
    middle = at_fraction(*boxes.ends, 0.5)
    stuck = ~((boxes.lo < middle) & (middle < boxes.hi))
    weight = np.where(stuck, -1.0, weight)
    if known.widths is not None:
        wide = (_sizes(boxes) >= known.widths) & ~np.isinf(known.widths)
        any_wide = (wide & ~stuck).any(1, keepdims=True)
        weight = np.where(any_wide & ~wide, np.minimum(weight, -0.5), weight)
    found: IndexArray = np.argmax(weight, axis=1)
    return found


def _sizes(boxes: Boxes) -> FloatArray:
    """Return the widths (k, n), infinite ones as the largest double."""
    with np.errstate(all="ignore"):
        found: FloatArray = np.minimum(boxes.hi - boxes.lo, np.finfo(np.float64).max)
    return found

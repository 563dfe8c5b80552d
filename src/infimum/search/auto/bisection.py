"""How boxes are cut in two, wherever a split rule proposes it (PROOF).

Both halves share the cut and keep the outer ends, so that no rule can lose a point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.boxes import Boxes, concatenated
from infimum.contractors.contractor import answer_of, is_own, name_of
from infimum.contractors.known import Known
from infimum.errors import InvalidOption
from infimum.fractions import at_fraction
from infimum.search.auto.split_rules import Cuts, SplitRule, cut_at_the_widest

_LEAST = 1 / 64  # of a variable's width that either half keeps of a cut that the user's rule proposes


def bisected(boxes: Boxes, cuts: Cuts) -> Boxes:
    """Return the boxes, each cut in two along its variable; one that cannot be cut there stays whole."""
    rows, at = np.arange(len(boxes)), cuts.variables
    low, high = boxes.lo[rows, at], boxes.hi[rows, at]
    place = np.clip(cuts.places, low, high)
    inside = (place > low) & (place < high)
    left_hi, right_lo = boxes.hi.copy(), boxes.lo[inside]
    left_hi[rows[inside], at[inside]] = place[inside]
    right_lo[np.arange(len(right_lo)), at[inside]] = place[inside]
    return concatenated([Boxes(boxes.lo, left_hi, boxes.lower), Boxes(right_lo, boxes.hi[inside], boxes.lower[inside])])


def proposed_cuts(rule: SplitRule, boxes: Boxes, known: Known) -> Cuts:
    """Return the cuts that a rule proposes, checked and clamped where the rule is the user's.

    Guarantee: a search by any rule comes to an end where one by a rule of infimum's does, as each cut shortens both
    halves; a box whose variable cannot be cut is cut along the widest.
    """
    if is_own(rule):
        return rule.cuts(boxes, known)
    found = answer_of(f"The split rule {name_of(rule)}", rule.cuts, boxes, known)
    return _clamped(_checked(name_of(rule), boxes, found), boxes, known)


def _checked(name: str, boxes: Boxes, found: Any) -> Cuts:
    # | returned                     | said                                |
    # | no pair                      | what to return                      |
    # | variables, places: a shape   | the shape that is wrong             |
    # | variables: no whole numbers  | their type                          |
    # | variables: not 0 to n - 1    | the number                          |
    # | places: no numbers, or NaN   | their type, or that a place is NaN  |
    wanted = f"({len(boxes)},)"
    try:
        variables, places = (np.asarray(part) for part in found)
    except (TypeError, ValueError):
        raise InvalidOption(
            f"The split rule {name} returned {type(found).__name__}. Return a pair (variables, places) of arrays of "
            f"shape {wanted}."
        ) from None
    for what, array, kinds in (("variables", variables, "iu"), ("places", places, "fiu")):
        if array.shape != (len(boxes),):
            raise InvalidOption(f"The split rule {name} returned {what} of shape {array.shape}, not {wanted}.")
        if array.dtype.kind not in kinds:
            raise InvalidOption(f"The split rule {name} returned {what} of type {array.dtype}, not of numbers.")
    outside = (variables < 0) | (variables >= boxes.n)
    if outside.any():
        wrong = int(variables[outside][0])
        raise InvalidOption(f"The split rule {name} returned the variable {wrong}, where 0 to {boxes.n - 1} are meant.")
    if np.isnan(places).any():
        raise InvalidOption(f"The split rule {name} returned NaN for a place. Return the middle where none is better.")
    return Cuts(variables.astype(np.int64), places.astype(np.float64))


def _clamped(cuts: Cuts, boxes: Boxes, known: Known) -> Cuts:
    """Return the cuts with their places inside the boxes, away from the ends; along the widest where that cannot be."""
    rows = np.arange(len(boxes))
    low, high = boxes.lo[rows, cuts.variables], boxes.hi[rows, cuts.variables]
    places = np.clip(cuts.places, at_fraction(low, high, _LEAST), at_fraction(low, high, 1 - _LEAST))
    is_cut = (low < places) & (places < high)
    if is_cut.all():
        return Cuts(cuts.variables, places)
    instead = cut_at_the_widest(boxes, known)
    return Cuts(np.where(is_cut, cuts.variables, instead.variables), np.where(is_cut, places, instead.places))

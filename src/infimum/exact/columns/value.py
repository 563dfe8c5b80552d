"""The doubles next to exact constants in columns, at once for all of them.

Guarantee: element for element what exact/value.py gives. The tightest interval is unique: an enclosure that is known to
be the tightest has the same ends however it was found; the elements for which that is not known go one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.exact import form as exact_form
from infimum.exact import pairs as exact_pairs
from infimum.exact import value as exact_value
from infimum.exact.columns.columns import Columns, IntArray
from infimum.exact.form import Monomial, Terms
from infimum.exact.pairs import Ends, Pair
from infimum.interval.outward import FloatArray

T = TypeVar("T")

_EXACT_INTEGERS = 2**53


def doubles(x: Columns) -> FloatArray | None:
    """Return the elements as doubles, where every element is one."""
    # A reduced fraction is a double if its denominator is a power of two and its numerator is a double, these being
    # below 2**62: then the quotient of the two doubles is exact.
    if not x.is_rational or np.any(x.q & (x.q - 1)) or np.any(x.p.astype(np.float64).astype(np.int64) != x.p):
        return None
    return np.broadcast_to(x.p.astype(np.float64) / x.q.astype(np.float64), x.shape) + 0.0


def enclosures(x: Columns) -> Ends:
    """Return the tightest intervals around the elements."""
    # | elements                          | ends                                              |
    # | roots of integers up to 2**53     | the core's sqrt, which is exactly rounded         |
    # | known to be the tightest by pairs | those                                             |
    # | else                              | one by one, at rising precision                   |
    squares = _squares(x)
    if squares is not None:
        return core.apply("sqrt", (squares, squares))
    with np.errstate(all="ignore"):
        (lo, hi), certain = exact_pairs.settled(_pair(x))
    for index, (below, above) in _one_by_one(x, ~certain, exact_value.enclosure):
        lo[index], hi[index] = below, above
    return lo, hi


def nearest(x: Columns) -> FloatArray:
    """Return the nearest doubles."""
    squares = _squares(x)
    if squares is not None:
        return np.sqrt(squares)  # IEEE 754: the nearest double to the root of a double
    with np.errstate(all="ignore"):
        found, certain = exact_pairs.nearest(_pair(x))
    for index, double in _one_by_one(x, ~certain, exact_value.nearest_double):
        found[index] = double
    return found + 0.0


def _one_by_one(x: Columns, which: npt.NDArray[np.bool_], of: Callable[[Terms], T]) -> Iterator[tuple[Any, T]]:
    for index in zip(*np.nonzero(which), strict=True):
        yield index, of(x.element(index))


def _squares(x: Columns) -> FloatArray | None:
    """Return the squares p*p*a, where every element is the root of such an integer up to 2**53."""
    if x.factor or not _all_one(x.q) or not _all_one(x.b) or np.any(x.p < 0):
        return None
    if int(x.p.max()) ** 2 * int(x.a.max()) >= 2**62 or np.any(x.p * x.p * x.a > _EXACT_INTEGERS):
        return None
    return np.broadcast_to((x.p * x.p * x.a).astype(np.float64), x.shape)


def _pair(x: Columns) -> Pair:
    """Return the elements to about 100 bits; dividing and multiplying by 1 is left out."""
    found = exact_pairs.of_integers(np.array(np.broadcast_to(x.p, x.shape)))
    if not _all_one(x.q):
        found = exact_pairs.div(found, exact_pairs.of_integers(x.q))
    if x.has_roots:
        inside = exact_pairs.of_integers(x.a)
        if not _all_one(x.b):
            inside = exact_pairs.div(inside, exact_pairs.of_integers(x.b))
        found = exact_pairs.mul(found, exact_pairs.sqrt(inside))
    return exact_pairs.mul(found, _factor(x.factor)) if x.factor else found


def _all_one(column: IntArray) -> bool:
    return column.ndim == 0 and bool(column == 1)


def _factor(factor: Monomial) -> Pair:
    """Return the factor to about 100 bits: the double next to it, and the tightest interval around what that lacks."""
    form: Terms = ((factor, Fraction(1)),)
    head = exact_value.nearest_double(form)
    if not np.isfinite(head):
        return Pair(*(np.asarray(np.nan),) * 3)  # never certain: such elements go one by one
    lo, hi = exact_value.enclosure(exact_form.add(form, exact_form.rational(-Fraction(head))))
    return Pair(np.asarray(head), np.asarray(lo), np.asarray(hi))

"""Arrays of real numbers to about 100 bits: a double each, and an interval around what it lacks.

A ``Pair(head, lo, hi)`` stands for numbers in head + [lo, hi], element by element. NumPy's arithmetic chooses the heads
and nothing else.

Guarantee: a result's pair contains the result. Each function states an identity of real numbers that holds whichever
double h was chosen as the head; what follows h in it is enclosed by the core's operations, which round outward.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.interval.outward import FloatArray

Ends = tuple[FloatArray, FloatArray]
BoolArray = npt.NDArray[np.bool_]


class Pair(NamedTuple):
    """Some numbers in head + [lo, hi]."""

    head: FloatArray
    lo: FloatArray
    hi: FloatArray

    @property
    def tail(self) -> Ends:
        return self.lo, self.hi


def of_integers(values: npt.NDArray[np.int64]) -> Pair:
    """Return integers of magnitude below 2**62, without error."""
    head = values.astype(np.float64)
    # Doubles are at most 2**9 apart there: the difference is an integer that a double holds.
    rest = (values - head.astype(np.int64)).astype(np.float64)
    return Pair(head, rest, rest)


def ends(x: Pair) -> Ends:
    """Contain the numbers, in intervals of doubles."""
    return core.apply("add", _point(x.head), x.tail)


def mul(x: Pair, y: Pair) -> Pair:
    """Contain the products: xy = h + (x.head y.head - h) + x.head y.tail + y.head x.tail + x.tail y.tail."""
    head = x.head * y.head
    tail = core.apply("fma", _point(x.head), _point(y.head), _point(-head))
    tail = core.apply("fma", _point(x.head), y.tail, tail)
    tail = core.apply("fma", _point(y.head), x.tail, tail)
    return _gathered(head, core.apply("fma", x.tail, y.tail, tail))


def div(x: Pair, y: Pair) -> Pair:
    """Contain the quotients: x/y = h + (x.head - h y.head + x.tail - h y.tail)/y."""
    head = x.head / y.head
    rest = core.apply("fma", _point(-head), _point(y.head), _point(x.head))
    rest = core.apply("add", rest, x.tail)
    rest = core.apply("fma", _point(-head), y.tail, rest)
    return _gathered(head, core.apply("div", rest, ends(y)))


def sqrt(x: Pair) -> Pair:
    """Contain the roots of positive numbers: sqrt(x) = h + (x.head - h h + x.tail)/(sqrt(x) + h)."""
    head = np.sqrt(x.head)
    rest = core.apply("fma", _point(-head), _point(head), _point(x.head))
    rest = core.apply("add", rest, x.tail)
    return _gathered(head, core.apply("div", rest, core.apply("add", core.apply("sqrt", ends(x)), _point(head))))


def settled(x: Pair) -> tuple[Ends, BoolArray]:
    """Return the doubles below and above the numbers, and which of them are certainly the next ones.

    Rounding is monotone: where both ends of a pair have the same next doubles, so has the number between them.
    """
    (low, high), (below, above) = (core.apply("add", _point(x.head), _point(end)) for end in x.tail)
    return (low, above), (low == below) & (high == above) & np.isfinite(x.head + x.lo + x.hi)


def nearest(x: Pair) -> tuple[FloatArray, BoolArray]:
    """Return the doubles nearest to the numbers, and which of them certainly are: both ends round to the same one."""
    low, high = x.head + x.lo, x.head + x.hi
    return low, (low == high) & np.isfinite(x.head + x.lo + x.hi)


def _gathered(head: FloatArray, tail: Ends) -> Pair:
    """Return the same numbers with the nearest head: head + tail = s + (head - s) + tail."""
    near = head + tail[0]
    lo, hi = core.apply("add", core.apply("sub", _point(head), _point(near)), tail)
    return Pair(near, lo, hi)


def _point(values: FloatArray) -> Ends:
    return values, values

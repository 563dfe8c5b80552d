"""Relations between intervals, and numbers about them, as IEEE 1788 defines them.

Relations are bools for scalars and boolean arrays otherwise; numbers are floats, or arrays. Ends are compared by
their bits, so that no floating-point mode of the process has a say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.interval.calls import MEASURES, BoolArray, call, is_void, named, operand
from infimum.interval.outward import INF, frozen, ordered
from infimum.interval.reading import broadcast, ends

_Order = npt.NDArray[np.int64]
_LOWEST, _HIGHEST = ordered(-INF), ordered(INF)


def _both(name: str, x: object, y: object) -> tuple[_Order, _Order, _Order, _Order, BoolArray, BoolArray]:
    """Return the four ends in comparable form, then which of x and of y are empty."""
    a, b = operand(x), operand(y)
    broadcast(name, [a, b])
    return ordered(a[0]), ordered(a[1]), ordered(b[0]), ordered(b[1]), is_void(a), is_void(b)


def _answer(truth: npt.ArrayLike) -> Any:
    array = np.asarray(truth)
    return bool(array) if array.ndim == 0 else array


def _number(values: npt.NDArray[np.float64]) -> Any:
    return float(values) if values.ndim == 0 else values


def is_empty(x: object) -> Any:
    """Return whether x holds no number."""
    return _answer(is_void(operand(x)))


def is_entire(x: object) -> Any:
    """Return whether x holds every real number."""
    lo, hi = operand(x)
    return _answer((lo == -INF) & (hi == INF))


def is_singleton(x: object) -> Any:
    """Return whether x holds exactly one number."""
    lo, hi = operand(x)
    return _answer(ordered(lo) == ordered(hi))


def is_common_interval(x: object) -> Any:
    """Return whether x is nonempty and bounded."""
    lo, hi = operand(x)
    return _answer(np.isfinite(lo) & np.isfinite(hi))


def is_member(t: object, x: object) -> Any:
    """Return whether the number t lies in x; no infinity and no NaN does."""
    low, high = ends(t)
    pair = operand(x)
    broadcast("is_member", [(low, high), pair])
    real = ~(np.isnan(low) | (np.isinf(low) & (low == high)))
    # The tightest doubles around a number lie in x if and only if the number does.
    inside = (ordered(frozen(low)) >= ordered(pair[0])) & (ordered(frozen(high)) <= ordered(pair[1]))
    return _answer(real & inside)


def equal(x: object, y: object) -> Any:
    """Return whether x and y are the same set."""
    x_lo, x_hi, y_lo, y_hi, _, _ = _both("equal", x, y)
    return _answer((x_lo == y_lo) & (x_hi == y_hi))


def subset(x: object, y: object) -> Any:
    """Return whether every number of x lies in y."""
    x_lo, x_hi, y_lo, y_hi, x_void, _ = _both("subset", x, y)
    return _answer(x_void | ((y_lo <= x_lo) & (x_hi <= y_hi)))


def interior(x: object, y: object) -> Any:
    """Return whether every number of x lies in the interior of y."""
    x_lo, x_hi, y_lo, y_hi, x_void, _ = _both("interior", x, y)
    below = (y_lo < x_lo) | (y_lo == _LOWEST)
    above = (x_hi < y_hi) | (y_hi == _HIGHEST)
    return _answer(x_void | (below & above & (y_lo <= y_hi)))


def disjoint(x: object, y: object) -> Any:
    """Return whether x and y have no number in common."""
    x_lo, x_hi, y_lo, y_hi, x_void, y_void = _both("disjoint", x, y)
    return _answer(x_void | y_void | (x_hi < y_lo) | (y_hi < x_lo))


# | relation        | both empty | one empty | nonempty                                             |
# | less            | true       | false     | x.lo <= y.lo and x.hi <= y.hi                        |
# | strict_less     | true       | false     | the same with <, equal infinite ends counting as <   |
# | precedes        | true       | true      | x.hi <= y.lo                                         |
# | strict_precedes | true       | true      | x.hi < y.lo                                          |


def less(x: object, y: object) -> Any:
    """Return whether every number of x has one >= it in y, and every number of y one <= it in x."""
    x_lo, x_hi, y_lo, y_hi, x_void, y_void = _both("less", x, y)
    return _answer((x_void & y_void) | (~x_void & ~y_void & (x_lo <= y_lo) & (x_hi <= y_hi)))


def strict_less(x: object, y: object) -> Any:
    """Return whether every number of x has one > it in y, and every number of y one < it in x."""
    x_lo, x_hi, y_lo, y_hi, x_void, y_void = _both("strict_less", x, y)
    lower = (x_lo < y_lo) | ((x_lo == y_lo) & (x_lo == _LOWEST))
    upper = (x_hi < y_hi) | ((x_hi == y_hi) & (x_hi == _HIGHEST))
    return _answer((x_void & y_void) | (~x_void & ~y_void & lower & upper))


def precedes(x: object, y: object) -> Any:
    """Return whether every number of x is <= every number of y."""
    _, x_hi, y_lo, _, x_void, y_void = _both("precedes", x, y)
    return _answer(x_void | y_void | (x_hi <= y_lo))


def strict_precedes(x: object, y: object) -> Any:
    """Return whether every number of x is < every number of y."""
    _, x_hi, y_lo, _, x_void, y_void = _both("strict_precedes", x, y)
    return _answer(x_void | y_void | (x_hi < y_lo))


def overlap(x: object, y: object) -> Any:
    """Name how x lies relative to y, in the standard's sixteen words; text, or an array of it."""
    x_lo, x_hi, y_lo, y_hi, x_void, y_void = _both("overlap", x, y)
    # The first row that holds decides.
    rows = [
        (x_void & y_void, "bothEmpty"),
        (x_void, "firstEmpty"),
        (y_void, "secondEmpty"),
        (x_hi < y_lo, "before"),
        (y_hi < x_lo, "after"),
        ((x_lo == y_lo) & (x_hi == y_hi), "equals"),
        ((x_lo == y_lo) & (x_hi < y_hi), "starts"),
        ((x_lo == y_lo) & (y_hi < x_hi), "startedBy"),
        ((x_hi == y_hi) & (y_lo < x_lo), "finishes"),
        ((x_hi == y_hi) & (x_lo < y_lo), "finishedBy"),
        (x_hi == y_lo, "meets"),
        (y_hi == x_lo, "metBy"),
        ((y_lo < x_lo) & (x_hi < y_hi), "containedBy"),
        ((x_lo < y_lo) & (y_hi < x_hi), "contains"),
        (x_lo < y_lo, "overlaps"),
        (y_lo < x_lo, "overlappedBy"),
    ]
    words = np.select([np.asarray(truth) for truth, _ in rows], [word for _, word in rows], default="")
    return str(words) if words.ndim == 0 else words


def inf(x: object) -> Any:
    """Return the lower end; +inf for the empty interval."""
    return _number(operand(x)[0])


def sup(x: object) -> Any:
    """Return the upper end; -inf for the empty interval."""
    return _number(operand(x)[1])


def _measured(op: str) -> Callable[[object], Any]:
    return named(lambda x: _number(call(op, operand(x))[0]), op, f"Return {MEASURES[op]}")


mid, rad, wid, mag, mig = map(_measured, MEASURES)


def mid_rad(x: object) -> tuple[Any, Any]:
    """Return mid and rad."""
    return mid(x), rad(x)

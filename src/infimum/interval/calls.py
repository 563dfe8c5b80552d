"""Calls of the compiled core on pairs of end arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.errors import AmbiguousComparison
from infimum.interval.outward import frozen, ordered
from infimum.interval.reading import Pair, broadcast, ends, refuse_nonreal
from infimum.interval.text import write_interval

BoolArray = npt.NDArray[np.bool_]
Operation = TypeVar("Operation", bound=Callable[..., object])

# The core's operations whose result is a number about one interval.
MEASURES = {
    "mid": "the double nearest to the middle; 0 for entire, NaN for empty.",
    "rad": "the smallest double r such that [mid - r, mid + r] contains the interval; NaN for empty.",
    "wid": "the width hi - lo, rounded up; NaN for empty.",
    "mag": "the largest absolute value; NaN for empty.",
    "mig": "the smallest absolute value; NaN for empty.",
}


def operand(value: object) -> Pair:
    """Return the ends around a value that stands for real numbers."""
    lo, hi = ends(value)
    if hasattr(value, "__interval__"):
        return lo, hi
    refuse_nonreal(value, lo, hi)
    return frozen(lo), frozen(hi)


def call(op: str, *pairs: Pair, param: int = 0) -> Pair:
    """Return the ends of the core's operation, element by element."""
    broadcast(op, list(pairs))
    return core.apply(op, *pairs, param=param)


def named(operation: Operation, name: str, sentence: str) -> Operation:
    """Return the operation under this name, with this sentence for its docstring."""
    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = sentence
    return operation


def is_void(pair: Pair) -> BoolArray:
    """Return which elements are the empty interval."""
    return np.asarray(pair[0] > pair[1])


# A comparison is answered where all numbers of a and b give the same answer.
# | question | certainly true      | certainly false |
# | a < b    | a.hi <  b.lo        | a.lo >= b.hi    |
# | a <= b   | a.hi <= b.lo        | a.lo >  b.hi    |
# | a == b   | one and the same point | disjoint     |
def compare(question: str, a: Pair, b: Pair) -> BoolArray:
    """Return the answer to a < b, a <= b or a == b for every element, all of them certain."""
    broadcast(f"a {question} b", [a, b])
    a_lo, a_hi, b_lo, b_hi = (ordered(end) for end in (*a, *b))
    if question == "<":
        true, false = a_hi < b_lo, a_lo >= b_hi
    elif question == "<=":
        true, false = a_hi <= b_lo, a_lo > b_hi
    else:
        true = (a_lo == b_hi) & (a_hi == b_lo)
        false = (a_hi < b_lo) | (b_hi < a_lo)
    nonempty = ~is_void(a) & ~is_void(b)
    _refuse_ambiguous(question, a, b, (true | false) & nonempty)
    return np.asarray(true)


def _refuse_ambiguous(question: str, a: Pair, b: Pair, certain: BoolArray) -> None:
    if certain.all():
        return
    where = np.unravel_index(int(np.argmin(certain)), certain.shape)
    left, right = (_shown(pair, certain.shape, where) for pair in (a, b))
    place = f" at index {tuple(int(i) for i in where)}" if where else ""
    why = (
        "compares the empty interval, which holds no number"
        if "[empty]" in (left, right)
        else "is true for some of the numbers in these intervals and false for others"
    )
    raise AmbiguousComparison(
        f"{left} {question} {right}{place} {why}. Ask a question about the sets: infimum.interval.precedes(a, b), "
        "strict_precedes(a, b), subset(a, b), disjoint(a, b) or equal(a, b); or compare ends, as in a.hi < b.lo."
    )


def _shown(pair: Pair, shape: tuple[int, ...], where: tuple[np.intp, ...]) -> str:
    lo, hi = (float(np.broadcast_to(end, shape)[where]) for end in pair)
    return write_interval(lo, hi)

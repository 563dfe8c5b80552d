"""The NumPy type that an expression's values would have: its kind, one letter as in NumPy's dtype.kind.

    kind   values of          together with NumPy's types
    f      float64            as NumPy promotes
    b      bool               as NumPy promotes
    i      int64              as NumPy promotes; `bound` is a number that no element exceeds in size
    F I B  Python's float, int and bool: of float(), int(), .item() …; weak, as NumPy says

The type of a result is what NumPy itself gives on tiny arrays of the operands' types. Other types
(float16 of the square root of a truth value, int8 of its square) have no kind; nor have integers that a rule for reals
would get wrong.
"""

from __future__ import annotations

import functools
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.exact.number import Exact, ExactArray
from infimum.tracing.array_methods import DTYPES
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer

LIMIT = 2**63  # the size from which on int64 wraps around
_WEAK: dict[str, type] = {"F": float, "I": int, "B": bool}


def type_of(value: Any) -> Any:
    """Return the dtype of a value as an operand, or Python's float or int where that is weak."""
    kind = type(value)
    if kind is TracedArray:
        return _WEAK.get(value.kind) or value.dtype
    if kind is float or kind is int or kind is bool:
        return kind
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype
    if isinstance(value, ExactArray):
        return np.dtype(np.float64)
    if isinstance(value, int):
        return int
    if isinstance(value, float | Fraction | Exact | Decimal):
        return float
    return np.asarray(value).dtype


def _sample(type_: Any) -> Any:
    return type_(1) if isinstance(type_, type) else np.ones((1, 1), type_)


@functools.lru_cache(maxsize=4096)
def _results(function: Any, types: tuple[Any, ...]) -> tuple[np.dtype[Any], ...]:
    """Return the types of what a function gives for operands of these types; NumPy's TypeError where it gives none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = function(*map(_sample, types))
    return tuple(np.asarray(part).dtype for part in (found if isinstance(found, tuple) else (found,)))


def result_kinds(function: Any, values: Any, name: str = "") -> str:
    """Return the kind of each result of a NumPy function, one letter each; refuse types without a kind."""
    types = tuple(map(type_of, values))
    return "".join(kind_of(dtype, name or function.__name__) for dtype in _results(function, types))


def kind_of(dtype: np.dtype[Any], name: str) -> str:
    """Return the kind of a type; refuse the types that have none."""
    if dtype == DTYPES["f"] or (dtype.kind == "f" and dtype.itemsize > 8):
        return "f"
    if dtype.kind == "b" or dtype == DTYPES["i"]:
        return dtype.kind
    raise refusal(
        f"np.{name} gives {dtype} here, whose rounding or wrapping cannot be traced.",
        "Convert to float before: write a.astype(float), or np.where(condition, 1.0, 0.0) for a condition.",
    )


def joined_kind(values: Any, name: str) -> str:
    """Return the kind of an array made of these pieces, each of which has a type of its own."""
    types = [type_of(value) for value in values]
    return kind_of(np.result_type(*(np.dtype(t) for t in types)), name)


def bound_of(value: Any) -> int:
    """Return a number that no element of an integer operand exceeds in size."""
    if type(value) is TracedArray and not value.known:
        if value.buffer is not None and value.buffer.pointers is not None:
            return LIMIT  # something was written into it
        return 1 if value.boolean else value.bound or LIMIT
    numbers = np.asarray(value.numbers if type(value) is TracedArray else value)
    return max((abs(int(v)) for v in (numbers.min(), numbers.max())), default=0) if numbers.size else 0


def with_kind(t: Tracer, value: Any, kind: str, bound: int = 0) -> Any:
    """Return the same numbers as values of a kind; integers beyond int64 wrap around as NumPy's do."""
    if type(value) is not TracedArray or value.known:
        return value
    if kind == "i" and bound >= LIMIT:
        turns = t.apply("floor", t.apply("add", t.apply("mul", value, 2.0**-64), 0.5))
        value, bound = t.apply("sub", value, t.apply("mul", 2.0**64, turns)), LIMIT
    return typed(t, value, kind, bound)


def typed(t: Tracer, value: Any, kind: str, bound: int = 0) -> Any:
    """Return the same numbers as values of a kind that holds them."""
    if type(value) is not TracedArray or value.known:
        return value
    if value.kind == kind and value.bound == bound:
        return value
    return TracedArray(t, value.shape, value.scalar, value.buffer, value.index, kind=kind, bound=bound)


def unsigned_zero(t: Tracer, value: Any) -> Any:
    """Return the value of an integer: it has one zero, which is +0.0 here, whatever sign a rule for reals gave it."""
    return t.apply("add", value, 0.0)

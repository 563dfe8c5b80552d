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


# Universal functions of integers that are those of reals, and how large their results can be.
_BOUNDS: dict[Any, Any] = {
    np.add: lambda a, b: a + b, np.subtract: lambda a, b: a + b, np.multiply: lambda a, b: a * b,
    np.negative: lambda a: a, np.absolute: lambda a: a, np.positive: lambda a: a, np.conjugate: lambda a: a,
    np.sign: lambda a: 1, np.square: lambda a: a * a,
    np.floor: lambda a: a, np.ceil: lambda a: a, np.trunc: lambda a: a,
    np.minimum: max, np.maximum: max, np.fmin: max, np.fmax: max,
    np.floor_divide: lambda a, b: a, np.remainder: lambda a, b: b, np.fmod: lambda a, b: b,
    np.divmod: lambda a, b: a,
}  # fmt: skip
_WITHIN = frozenset({np.minimum, np.maximum, np.fmin, np.fmax, np.floor, np.ceil, np.trunc, np.positive, np.conjugate})
_DIVISIONS = frozenset({np.floor_divide, np.remainder, np.fmod, np.divmod})
_TRUTHS = {
    np.add: "max", np.multiply: "min", np.maximum: "max", np.minimum: "min", np.fmax: "max", np.fmin: "min",
    np.bitwise_and: "min", np.bitwise_or: "max",
}  # fmt: skip
_BITS = frozenset({np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert})
_SIGNED = frozenset({np.signbit, np.copysign, np.arctan2, np.true_divide})
_SAME = frozenset({np.absolute, np.floor, np.ceil, np.trunc, np.positive, np.conjugate})


def elementwise(t: Tracer, ufunc: np.ufunc, rule: Any, inputs: Any) -> Any:
    """Return what a universal function gives by its rule, with NumPy's type.

    result   operands        answer
    f        any             the rule
    b        all b           or for +, and for *, the rule of comparisons and logic
    i        any             the rule where integers are like reals, wrapped; division by zero gives zero
    other                    refused, or NumPy's TypeError
    """
    kinds = result_kinds(ufunc, inputs)
    kind = kinds[0]
    if kind == "f" or ufunc in _SIGNED:
        inputs = tuple(_read_as_real(t, value) for value in inputs)
    if kind == "f" or ufunc.signature is not None:
        return _own(t, rule(t, *inputs), inputs, kind)
    if kind == "b":
        return _truths(t, ufunc, rule, inputs)
    if ufunc in _BITS:
        return rule(t, *inputs)  # which refuses the bits of integers
    if ufunc is np.power:
        return _integer_power(t, rule, *inputs)
    if ufunc not in _BOUNDS:
        raise refusal(
            f"np.{ufunc.__name__} of integers is not offered.", "Convert to float before: write a.astype(float)."
        )
    bound = _BOUNDS[ufunc](*map(bound_of, inputs))
    if ufunc in _DIVISIONS:
        return _integer_division(t, rule, inputs[0], inputs[1], bound)
    found = t.copied(unsigned_zero(t, rule(t, *inputs)))
    return typed(t, found, "i", min(bound, LIMIT)) if ufunc in _WITHIN else with_kind(t, found, "i", bound)


def _read_as_real(t: Tracer, value: Any) -> Any:
    """Return an operand of a function that asks for the sign of zero."""
    if type(value) is not TracedArray or value.known or value.kind not in "iI":
        return value
    return typed(t, unsigned_zero(t, value), value.kind, value.bound)


def _own(t: Tracer, found: Any, inputs: Any, kind: str) -> Any:
    """Return what a rule gave, never an operand itself: NumPy's functions return new arrays."""
    if isinstance(found, tuple):
        return tuple(_own(t, part, inputs, kind) for part in found)
    if type(found) is TracedArray and kind == "f":
        found = with_kind(t, found, kind)
        if found.buffer is not None and any(type(v) is TracedArray and v.buffer is found.buffer for v in inputs):
            return t.copied(found)
    return found


def _truths(t: Tracer, ufunc: np.ufunc, rule: Any, inputs: Any) -> Any:
    all_truths = all(type_of(value) in (bool, DTYPES["b"]) for value in inputs)
    if all_truths and ufunc in _TRUTHS:
        return with_kind(t, t.apply(_TRUTHS[ufunc], *inputs, boolean=True), "b")
    if all_truths and ufunc in _SAME:
        return t.copied(t.traced(inputs[0]))
    return with_kind(t, rule(t, *inputs), "b")


def _integer_power(t: Tracer, rule: Any, base: Any, exponent: Any) -> Any:
    if type(exponent) is TracedArray and not exponent.known:
        raise refusal("A power of integers with an exponent that varies is not offered.", "Write a.astype(float)**b.")
    known = np.asarray(exponent.numbers if type(exponent) is TracedArray else exponent)
    if (known < 0).any():
        raise ValueError("Integers to negative integer powers are not allowed.")
    size, power = bound_of(base), int(known.max(initial=0))
    bound = 1 if size < 2 else LIMIT if power > 63 else size**power
    return with_kind(t, rule(t, base, exponent), "i", bound)


def _integer_division(t: Tracer, rule: Any, a: Any, b: Any, bound: int) -> Any:
    """Return a quotient or remainder of integers, which is 0 where the divisor is 0."""
    divisor = b.numbers if type(b) is TracedArray and b.known else b
    if type(divisor) is not TracedArray and np.all(np.asarray(divisor) != 0):
        return _typed_parts(t, rule(t, a, b), bound)
    zero = t.ufunc(np.equal, (b, 0))
    found = rule(t, a, t.call(np.where, (zero, 1, b)))
    if isinstance(found, tuple):
        return _typed_parts(t, tuple(t.apply("where", zero, 0.0, part) for part in found), bound)
    return _typed_parts(t, t.apply("where", zero, 0.0, found), bound)


def _typed_parts(t: Tracer, found: Any, bound: int) -> Any:
    if isinstance(found, tuple):
        return with_kind(t, found[0], "i", bound), with_kind(t, found[1], "i", LIMIT - 1)
    return with_kind(t, found, "i", bound)

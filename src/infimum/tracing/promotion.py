"""Universal functions with NumPy's types: which rule integers and truth values follow, and how large they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.tracing.array_methods import DTYPES
from infimum.tracing.dtypes import LIMIT, bound_of, result_kinds, type_of, typed, unsigned_zero, with_kind
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer

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

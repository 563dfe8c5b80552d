"""Python's own numbers among the expressions: float(x[0]), int(x[0]), x[0].item() and what operators make of them.

They raise errors where NumPy gives infinities, know no overflow of integers, and add truth values as integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.exact.number import Exact
from infimum.tracing.dtypes import type_of, typed, unsigned_zero, with_kind
from infimum.tracing.python.text import Text
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray
from infimum.tracing.values import is_symbolic, plain

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer

_RAISING = {
    np.true_divide: "/", np.floor_divide: "//", np.remainder: "%", np.divmod: "divmod", np.power: "**",
    np.floor: "math.floor", np.ceil: "math.ceil", np.trunc: "math.trunc",
}  # fmt: skip
_WHOLE = frozenset({np.floor, np.ceil, np.trunc})
_COMPARISONS = frozenset({np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal})
_BITS = frozenset({np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert})


def operator(t: Tracer, ufunc: np.ufunc, *values: Any) -> Any:
    """Return an operator between Python's own numbers, of which a traced one came from float(), int() or .item().

    operator          operands        result
    < <= == …         any             B
    & | ^             B, B            B; of integers refused
    /                 any             F
    floor ceil trunc  any             I
    **                I, I            I, F where the exponent is known and negative; refused where it varies
    others            a float         F, else I
    """
    rule = t.ufunc_rule(ufunc)
    types = [type_of(value) for value in values]
    mixed = any(type(value) is TracedArray and value.node in t.mixed for value in values)
    if ufunc in _RAISING:
        t.may_raise(_RAISING[ufunc], *values)
    if ufunc is np.power:
        _refuse_complex(t, *values)
    if ufunc in _BITS:
        if ufunc is np.invert or any(kind is not bool for kind in types):
            raise refusal("This operator works on the bits of integers.", "Use it between NumPy's conditions.")
        return with_kind(t, rule(t, *(_numpy(t, v) for v in values)), "B")
    numbers = [_number(t, value) for value in values]
    found = rule(t, *numbers)
    if ufunc in _RAISING:
        found = _without_poles(t, found, numbers, mixed)
    parts = found if isinstance(found, tuple) else (found,)
    if mixed:
        t.mixed.update(part.node for part in parts)
    if ufunc is not np.true_divide and any(type(value) is TracedArray and value.node in t.whole for value in values):
        t.whole.update(part.node for part in parts)
    if ufunc in _COMPARISONS:
        return with_kind(t, found, "B")
    kind = "I" if ufunc in _WHOLE or float not in types else "F"
    if ufunc is np.true_divide or (ufunc is np.power and kind == "I" and _falls(*values)):
        kind = "F"
    if isinstance(found, tuple):
        return tuple(with_kind(t, part, kind) for part in found)
    return with_kind(t, unsigned_zero(t, found) if kind == "I" else found, kind)


def _without_poles(t: Tracer, found: Any, values: list[Any], mixed: bool) -> Any:
    """Return what an operator gave, undefined where Python raises an error."""
    if isinstance(found, tuple):
        return tuple(_without_poles(t, part, values, mixed) for part in found)
    return t.lifted(lambda made, *args: t.nonfinite.raising(made, args, mixed), found, *values)


def _refuse_complex(t: Tracer, base: Any, exponent: Any) -> None:
    """Refuse powers of Python's own negative numbers that are complex."""
    s = t.nonfinite
    a, b = t.operand(base)[0], t.operand(exponent)[0]
    whole = s.compare("is_equal", b, s.node("floor", b), s.of(b).finite)
    if s.both(s.compare("is_less", a, 0.0, s.of(a).finite), s.negation(whole)) is not False:
        raise refusal(
            "This power of Python's own numbers is complex where the base is negative.", "Write np.power(a, b)."
        )


def _number(t: Tracer, value: Any) -> Any:
    """Return a Python number as a real; truth values count as 0 and 1."""
    if type(value) is TracedArray:
        return with_kind(t, value if value.kind == "F" else unsigned_zero(t, value), "f")
    return int(value) if type(value) is bool else value


def _numpy(t: Tracer, value: Any) -> Any:
    return with_kind(t, value, "b") if type(value) is TracedArray else np.bool_(value)


def _falls(base: Any, exponent: Any) -> bool:
    if type(exponent) is TracedArray:
        raise refusal("A power of integers with an exponent that varies is not offered.", "Write float(a)**b.")
    return bool(exponent < 0)


def as_float(t: Tracer, value: Any = 0.0) -> Any:
    """Return float(value), the same number as Python's own; an exact constant stays exact."""
    if isinstance(value, Exact):
        return value
    if isinstance(value, Text):
        return value.count("-")  # which refuses
    if not is_symbolic(value):
        return float(plain(value))
    one = _one(value, "float()")
    return typed(t, one if one.kind in "fF" else unsigned_zero(t, one), "F")


def as_int(t: Tracer, value: Any = 0, *args: Any, **kwargs: Any) -> Any:
    """Return int(value), the integer part as Python's own integer."""
    if args or kwargs or not is_symbolic(value):
        return int(plain(value), *args, **kwargs)
    one = _one(value, "int()")
    if one.kind in "fF":
        t.may_raise("int()", one)
        one = unsigned_zero(t, t.apply("trunc", one))
    return typed(t, one, "I")


def rounded(t: Tracer, value: TracedArray, digits: Any) -> Any:
    """Return round(value, digits), Python's integer where no digits are given."""
    if value.shape:
        raise TypeError("type numpy.ndarray doesn't define __round__ method")
    if value.kind in "fF" and digits is None:
        t.may_raise("round()", value)
    found = t.call(np.round, (typed(t, value, value.kind.lower()), digits or 0))
    if digits is None:
        found = unsigned_zero(t, found)
    return typed(t, found, "I" if digits is None else value.kind)


def weak(t: Tracer, value: Any) -> Any:
    """Return a number as .item() gives it: Python's own."""
    return (
        typed(t, value, value.kind.upper()) if type(value) is TracedArray else getattr(value, "item", lambda: value)()
    )


def _one(value: Any, name: str) -> Any:
    if not isinstance(value, TracedArray):
        raise refusal(f"{name} asks for one number.", "Give one element.")
    if value.size != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return value.item()


def number_class(kind: type, convert: Any, is_instance: Any) -> type:
    """Return a twin of Python's float or int: usable as a type, and a conversion that keeps expressions."""

    class Meta(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return convert(*args, **kwargs) if cls is twin else type.__call__(cls, *args, **kwargs)

        def __instancecheck__(cls, value: Any) -> bool:
            return is_instance(value, kind) if cls is twin else type.__instancecheck__(cls, value)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, kind) if cls is twin else type.__subclasscheck__(cls, other)

        def __eq__(cls, other: object) -> bool:
            return other is cls or (cls is twin and other is kind)

        def __hash__(cls) -> int:
            return hash(kind) if cls is twin else type.__hash__(cls)

    twin: Any = Meta(kind.__name__, (kind,), {"dtype": np.dtype(kind)})
    return twin  # type: ignore[no-any-return]

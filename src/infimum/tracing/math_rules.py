"""Python's math module and its built-in functions on traced values."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from typing import Any

import numpy as np

from infimum.ops import OPERATIONS, Operation
from infimum.tracing.dtypes import bound_of, typed
from infimum.tracing.nonfinite.powers import power
from infimum.tracing.numpy.elementwise import as_truth
from infimum.tracing.numpy.folds import fold, joined_extreme
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import is_symbolic


def _single(t: Tracer, value: Any) -> Any:
    """Return the one number of a value: math's functions take no arrays."""
    if not isinstance(value, TracedArray) or not value.shape:
        return value
    if value.size != 1:
        raise TypeError(
            "only 0-dimensional arrays can be converted to Python scalars: for arrays, np.exp stands for math.exp"
        )
    return value.item()


def _core(row: Operation) -> Rule:
    def rule(t: Tracer, *values: Any) -> Any:
        return t.apply(row.name, *(_single(t, v) for v in values))

    return _raising(rule) if row.domain is not None and row.domain.has_pole else rule


def _raising(rule: Rule) -> Rule:
    """Return the rule of a function of Python's, which raises an error where NumPy's has a pole."""
    return lambda t, *values: t.lifted(
        lambda made, *args: t.nonfinite.raising(made, args), rule(t, *values), *(_single(t, v) for v in values)
    )


def _numpy(function: Any) -> Rule:
    return lambda t, *values, **kwargs: t.call(function, tuple(_single(t, v) for v in values), kwargs)


def _truth(function: Any) -> Rule:
    """Return the rule of a question that Python answers by its own True or False."""

    def rule(t: Tracer, value: Any) -> Any:
        found = t.call(function, (_single(t, value),), {})
        return typed(t, found, "B") if isinstance(found, TracedArray) else bool(found)

    return rule


def _log(t: Tracer, x: Any, base: Any = None) -> Any:
    top = t.apply("log", _single(t, x))
    return top if base is None else t.apply("div", top, t.apply("log", _single(t, base)))


def _hypot(t: Tracer, *values: Any) -> Any:
    if len(values) == 2:
        return t.apply("hypot", *values)
    return t.call(np.linalg.norm, (t.stacked(values),), {})


def _isclose(t: Tracer, a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    for value in (a, b):  # equal infinities are close
        t.nonfinite.refuse(t.nonfinite.is_infinite(t.operand(value)[0]), "math.isclose")
    largest = t.apply("max", t.apply("abs", a), t.apply("abs", b))
    allowed = t.apply("max", t.apply("mul", rel_tol, largest), abs_tol)
    return t.ufunc(np.less_equal, (t.apply("abs", t.apply("sub", a, b)), allowed))


def _sumprod(t: Tracer, p: Any, q: Any) -> Any:
    return t.call(np.dot, tuple(t.cast(t.traced(t.stacked(list(v))), np.float64) for v in (p, q)), {})


MATH: dict[Any, Rule] = {
    getattr(math, name): _core(row) for row in OPERATIONS.values() for name in row.math if hasattr(math, name)
}
MATH |= {
    math.pow: _raising(lambda t, a, b: power(t, _single(t, a), _single(t, b))),
    math.log: _raising(_log),
    math.hypot: _hypot,
    math.dist: lambda t, p, q: t.call(np.linalg.norm, (t.stacked(list(p)) - t.stacked(list(q)),), {}),
    math.fsum: lambda t, values: fold("sum", t, t.stacked(list(values))),
    math.prod: lambda t, values, *, start=1: functools.reduce(operator.mul, values, start),
    math.fmod: _numpy(np.fmod),
    math.modf: _numpy(np.modf),
    math.copysign: _numpy(np.copysign),
    math.degrees: _numpy(np.degrees),
    math.radians: _numpy(np.radians),
    math.isnan: _truth(np.isnan),
    math.isinf: _truth(np.isinf),
    math.isfinite: _truth(np.isfinite),
    math.ldexp: _numpy(np.ldexp),
    math.isclose: _isclose,
}
if hasattr(math, "sumprod"):
    MATH[math.sumprod] = _sumprod


# Functions that give a number, or NaN for NaN, whatever they are given; the others raise errors for some numbers.
_CALM = frozenset({"copysign", "isnan", "isinf", "isfinite", "isclose", "degrees", "radians", "dist"})
_CALM |= {name for row in OPERATIONS.values() if not row.raises for name in row.math}
_RESULTS = {name: "I" for row in OPERATIONS.values() if row.values == "integers" for name in row.math}
_RESULTS |= dict.fromkeys(("isnan", "isinf", "isfinite", "isclose"), "B")


def _python(name: str, rule: Rule) -> Rule:
    """Return the rule of a function of math: its results are Python's own numbers."""

    def python(t: Tracer, *values: Any, **kwargs: Any) -> Any:
        if name not in _CALM:
            t.may_raise(f"math.{name}", *values)
        found = rule(t, *values, **kwargs)
        kind = _RESULTS.get(name, "F")
        return tuple(typed(t, part, kind) for part in found) if isinstance(found, tuple) else typed(t, found, kind)

    return python


MATH |= {function: _python(function.__name__, rule) for function, rule in MATH.items() if function is not math.prod}


def _owned(t: Tracer, found: Any, values: list[Any]) -> Any:
    """Return what min or max chose, with its type.

    all of one type             that type
    NumPy's floats, and Python's numbers of any kind but truth values
                                Python's own number for some x, and NumPy's for others
    else                        refused: the type would depend on x
    """
    if type(found) is not TracedArray or found.shape:
        return found
    kinds = {_kind(value) for value in values}
    if len(kinds) == 1:
        (kind,) = kinds
        return typed(t, found, kind, max(map(bound_of, values)) if kind == "i" else 0)
    if not kinds <= {"f", "F", "I"}:
        raise refusal("min and max of values of different types have a type that depends on x.", "Write np.maximum.")
    if "f" in kinds:
        t.mixed.add(found.node)
    if "I" in kinds or any(type(value) is TracedArray and value.node in t.whole for value in values):
        t.whole.add(found.node)
    return typed(t, found, "F")


def _kind(value: Any) -> str:
    if type(value) is TracedArray:
        return value.kind
    if isinstance(value, np.ndarray | np.generic):
        return {"b": "b", "i": "i", "u": "i"}.get(value.dtype.kind, "f")
    return "B" if type(value) is bool else "I" if type(value) is int else "F"


def _extreme(op: str) -> Rule:
    original = getattr(builtins, op)

    def rule(t: Tracer, *values: Any, **kwargs: Any) -> Any:
        if len(values) == 1 and not isinstance(values[0], TracedArray):
            values = (list(values[0]),)
        if not is_symbolic(values) and not is_symbolic(tuple(kwargs.values())):
            return original(*values, **kwargs)
        if "key" in kwargs:
            raise refusal(f"{op}(..., key=) cannot be traced.", f"Write np.{op} of the values themselves.")
        found = list(values[0] if len(values) == 1 else values)
        if len({np.shape(value) for value in found}) > 1:
            raise refusal(f"{op} of values of different shapes has a shape that depends on x.", f"Write np.{op}imum.")
        return _owned(t, joined_extreme(op, t, found), found)

    return rule


def _sum(t: Tracer, values: Any, /, start: Any = 0) -> Any:
    if isinstance(values, TracedArray) and is_symbolic(values) and type(start) is int and start == 0:
        return fold("sum", t, values, 0)
    return builtins.sum(values, start)


def _decided(op: str, original: Any) -> Rule:
    def rule(t: Tracer, values: Any) -> Any:
        found = list(values)
        if not is_symbolic(found):
            return original(found)
        return typed(t, fold(op, t, t.stacked([as_truth(t, value) for value in found])), "B")

    return rule


BUILTINS: dict[str, Rule] = {
    "max": _extreme("max"),
    "min": _extreme("min"),
    "sum": _sum,
    "all": _decided("min_of", builtins.all),
    "any": _decided("max_of", builtins.any),
}

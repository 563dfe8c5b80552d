"""Exact constants: numbers that stay what they were written as.

``pi``, ``e``, ``exact("0.1")``, ``exact(1, 3)``, ``exact(np.arange(1, n + 1))`` are symbolic and stay exact under
arithmetic and NumPy functions with each other and with ints, floats and Fractions. Beside an Interval they become
the tightest interval around them; ``float()`` gives the nearest double.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import ShapeMismatch, UnsupportedValue
from infimum.exact import form as exact_form
from infimum.exact import rules as exact_rules
from infimum.exact import value as exact_value
from infimum.exact.array import ExactArray, exact_array, nearest_doubles, object_array
from infimum.exact.columns import rules as exact_columns_rules
from infimum.exact.columns.columns import Columns, Unfit
from infimum.exact.form import Terms
from infimum.exact.scalar import Exact, form_of, read_form, simplest

__all__ = ["Exact", "ExactArray", "apply_ufunc", "e", "exact", "pi", "staying_exact"]

pi = Exact(exact_form.of_atom(exact_form.PI))
e = Exact(exact_form.of_atom(exact_form.E))


def exact(value: object, denominator: object = None) -> Any:
    """Return the constant that is exactly the given number; an array of constants for an array.

    Text is read as written: exact("0.1") is one tenth, exact("1/3") a third. A float is that very double, so
    exact(0.1) is 0.1000000000000000055...; use the text for the decimal. exact(1, 3) is a third.
    """
    if denominator is not None:
        return _scalar("divide", (read_form(value), read_form(denominator)))
    if isinstance(value, ExactArray):
        return value
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return exact_array(value)
    return Exact(read_form(value))


_ARRAYS = (ExactArray, np.ndarray, list, tuple)
_KNOWN = (*_ARRAYS, Exact, int, float, Fraction, np.number, np.bool_)


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a universal function of exact constants."""
    # | among the inputs                         | result                                          |
    # | an object of another class (Interval)    | left to that class                              |
    # | NumPy's floats, in an array or alone     | NumPy's floats: the function at nearest doubles |
    # | the same, while a function is traced     | exact, as beside Python's floats                |
    # | an array                                 | element by element                              |
    # | numbers only                             | one constant or one answer                      |
    name = ufunc.__name__
    if not all(isinstance(value, _KNOWN) for value in inputs):
        return NotImplemented
    if not _TRACING.get() and name not in exact_rules.ORDER and any(_is_numpy_float(value) for value in inputs):
        return getattr(ufunc, method)(*(nearest_doubles(value) for value in inputs), **kwargs)
    if method != "__call__" or kwargs or not (name in exact_rules.NUMBERS or name in exact_rules.ORDER):
        raise UnsupportedValue(
            f"np.{name}{'' if method == '__call__' else '.' + method} with these arguments is not "
            "offered for exact constants. Apply it to x.enclose()."
        )
    if any(isinstance(value, _ARRAYS) for value in inputs):
        return _elementwise(name, [exact_array(v if isinstance(v, _ARRAYS) else np.array(v, object)) for v in inputs])
    return _scalar(name, tuple(form_of(value) for value in inputs))


_TRACING: ContextVar[bool] = ContextVar("tracing", default=False)


@contextmanager
def staying_exact() -> Iterator[None]:
    """Let constants stay exact beside NumPy's floats: what is traced is meant as it is written."""
    token = _TRACING.set(True)
    try:
        yield
    finally:
        _TRACING.reset(token)


def _is_numpy_float(value: object) -> bool:
    """Return whether a value is of NumPy's floats, which are data: a constant beside them is its nearest double."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"


def _scalar(name: str, forms: tuple[Terms, ...]) -> Exact | bool:
    if name in exact_rules.NUMBERS:
        return Exact(exact_rules.NUMBERS[name](*forms))
    # Equal forms are equal numbers, and their difference is the empty form.
    difference = exact_form.add(forms[0], exact_form.neg(forms[1]))
    return bool(exact_rules.ORDER[name](exact_value.sign(difference), 0))


def _elementwise(name: str, operands: list[ExactArray]) -> ExactArray | np.ndarray[Any, Any]:
    try:
        np.broadcast_shapes(*(operand.shape for operand in operands))
    except ValueError as error:
        shapes = " and ".join(str(operand.shape) for operand in operands)
        raise ShapeMismatch(f"np.{name}: the shapes {shapes} do not broadcast. Give equal shapes.") from error
    try:
        return _by_columns(name, [operand.columns for operand in operands])
    except Unfit:
        return _one_by_one(name, np.broadcast_arrays(*(operand.values for operand in operands)))


def _by_columns(name: str, operands: list[Columns | None]) -> ExactArray | np.ndarray[Any, Any]:
    if any(operand is None for operand in operands):
        raise Unfit
    if name in exact_rules.ORDER:
        return np.asarray(exact_rules.ORDER[name](exact_columns_rules.order(*operands), 0))  # type: ignore[arg-type]
    if name not in exact_columns_rules.RULES:
        raise Unfit
    return ExactArray(exact_columns_rules.RULES[name](*operands))


def _one_by_one(name: str, arrays: Any) -> ExactArray | np.ndarray[Any, Any]:
    rows = zip(*(values.ravel().tolist() for values in arrays), strict=True)
    results = [_scalar(name, tuple(form_of(value) for value in row)) for row in rows]
    if name in exact_rules.ORDER:
        return np.array(results, dtype=bool).reshape(arrays[0].shape)
    return ExactArray(object_array([simplest(form_of(value)) for value in results]).reshape(arrays[0].shape))

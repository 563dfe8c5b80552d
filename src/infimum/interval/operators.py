"""Python's operators as NumPy functions, for classes that know NumPy's functions.

NumPy's own NDArrayOperatorsMixin also defines ``+=`` as a write into the left side; the classes here are frozen,
and without those methods Python rebinds the name to a new object, which is what the reader expects.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import UnsupportedValue

Method = Callable[[Any, object], Any]


def is_number_like(value: object) -> bool:
    """Return whether the value is a number or an array of Python or NumPy, or knows NumPy's functions itself."""
    if isinstance(value, (str, complex)):
        raise UnsupportedValue(
            f"{value!r} cannot stand beside intervals or exact constants: it is no real number. "
            "For decimal text write infimum.exact('0.1') or Interval('0.1')."
        )
    if isinstance(value, (int, float, Fraction, np.ndarray, np.generic, list, tuple)):
        return True
    return getattr(type(value), "__array_ufunc__", None) is not None


def _forward(ufunc: np.ufunc) -> Method:
    def method(self: Any, other: object) -> Any:
        return ufunc(self, other) if is_number_like(other) else NotImplemented

    return method


def _reflected(ufunc: np.ufunc) -> Method:
    def method(self: Any, other: object) -> Any:
        return ufunc(other, self) if is_number_like(other) else NotImplemented

    return method


def _equality(ufunc: np.ufunc) -> Method:
    def method(self: Any, other: object) -> Any:
        # Text is never equal to a number; that is an answer, not a mistake.
        known = not isinstance(other, (str, complex)) and is_number_like(other)
        return ufunc(self, other) if known else NotImplemented

    return method


class UfuncOperators:
    """Every operator is the NumPy function of that meaning."""

    __slots__ = ()

    __add__, __radd__ = _forward(np.add), _reflected(np.add)
    __sub__, __rsub__ = _forward(np.subtract), _reflected(np.subtract)
    __mul__, __rmul__ = _forward(np.multiply), _reflected(np.multiply)
    __truediv__, __rtruediv__ = _forward(np.true_divide), _reflected(np.true_divide)
    __floordiv__, __rfloordiv__ = _forward(np.floor_divide), _reflected(np.floor_divide)
    __mod__, __rmod__ = _forward(np.remainder), _reflected(np.remainder)
    __pow__, __rpow__ = _forward(np.power), _reflected(np.power)
    __matmul__, __rmatmul__ = _forward(np.matmul), _reflected(np.matmul)
    __lt__, __le__ = _forward(np.less), _forward(np.less_equal)
    __gt__, __ge__ = _forward(np.greater), _forward(np.greater_equal)
    __eq__, __ne__ = _equality(np.equal), _equality(np.not_equal)

    def __neg__(self) -> Any:
        return np.negative(self)  # type: ignore[call-overload]

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return np.absolute(self)  # type: ignore[call-overload]

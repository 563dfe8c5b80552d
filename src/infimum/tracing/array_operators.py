"""Python's operators on traced arrays: each is the universal function of that meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Method = Callable[..., Any]


def forward(ufunc: np.ufunc) -> Method:
    """Return the method of self operator other."""
    return lambda self, other: self.operated(ufunc, self, other)


def backward(ufunc: np.ufunc) -> Method:
    """Return the method of other operator self."""
    return lambda self, other: self.operated(ufunc, other, self)


def single(ufunc: np.ufunc) -> Method:
    """Return the method of an operator of self alone."""
    return lambda self: self.operated(ufunc, self)


def method(function: Callable[..., Any]) -> Method:
    """Return the method that is a NumPy function of self."""
    return lambda self, *args, **kwargs: self.tracer.call(function, (self, *args), kwargs)


class ArrayOperators:
    """The operators that whole arrays and selected elements share, by way of `operated`; and NumPy's protocols."""

    __slots__ = ()
    __array_priority__ = 1000.0
    tracer: Any

    def operated(self, ufunc: np.ufunc, *values: Any) -> Any:
        """Return the universal function of the operands."""
        return self.tracer.ufunc(ufunc, values)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self.tracer.ufunc(ufunc, inputs, method, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.tracer.call(function, args, kwargs)

    __add__, __radd__ = forward(np.add), backward(np.add)
    __sub__, __rsub__ = forward(np.subtract), backward(np.subtract)
    __mul__, __rmul__ = forward(np.multiply), backward(np.multiply)
    __truediv__, __rtruediv__ = forward(np.true_divide), backward(np.true_divide)
    __floordiv__, __rfloordiv__ = forward(np.floor_divide), backward(np.floor_divide)
    __mod__, __rmod__ = forward(np.remainder), backward(np.remainder)
    __pow__, __rpow__ = forward(np.power), backward(np.power)
    __matmul__, __rmatmul__ = forward(np.matmul), backward(np.matmul)
    __and__, __rand__ = forward(np.bitwise_and), backward(np.bitwise_and)
    __or__, __ror__ = forward(np.bitwise_or), backward(np.bitwise_or)
    __xor__, __rxor__ = forward(np.bitwise_xor), backward(np.bitwise_xor)
    __lt__, __le__ = forward(np.less), forward(np.less_equal)
    __gt__, __ge__ = forward(np.greater), forward(np.greater_equal)
    __eq__, __ne__ = forward(np.equal), forward(np.not_equal)
    __neg__, __abs__, __pos__ = single(np.negative), single(np.absolute), single(np.positive)
    __invert__ = single(np.invert)
    sum, prod, mean = method(np.sum), method(np.prod), method(np.mean)
    any, all = method(np.any), method(np.all)

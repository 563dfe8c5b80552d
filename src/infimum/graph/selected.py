"""Selected: the elements of a traced array where a traced condition holds, as in x[x > 0].

How many they are is not known, so they keep their full shape beside the condition; elementwise functions, sums and
assignment under the same condition are all that can be done with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.graph.refusal import refusal

if TYPE_CHECKING:
    from infimum.graph.traced import TracedArray
    from infimum.graph.tracer import Tracer


def _forward(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: self.tracer.ufunc(ufunc, (self, other))


def _backward(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: self.tracer.ufunc(ufunc, (other, self))


def _single(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda self: self.tracer.ufunc(ufunc, (self,))


def _method(function: Any) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: self.tracer.call(function, (self, *args), kwargs)


class Selected:
    """`values` of full shape and the `mask` under which they count."""

    __slots__ = ("mask", "tracer", "values")
    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: Tracer, values: TracedArray, mask: TracedArray) -> None:
        self.tracer = tracer
        self.values = values
        self.mask = mask

    __add__, __radd__ = _forward(np.add), _backward(np.add)
    __sub__, __rsub__ = _forward(np.subtract), _backward(np.subtract)
    __mul__, __rmul__ = _forward(np.multiply), _backward(np.multiply)
    __truediv__, __rtruediv__ = _forward(np.true_divide), _backward(np.true_divide)
    __mod__, __rmod__ = _forward(np.remainder), _backward(np.remainder)
    __pow__, __rpow__ = _forward(np.power), _backward(np.power)
    __neg__, __abs__ = _single(np.negative), _single(np.absolute)
    sum, prod, mean = _method(np.sum), _method(np.prod), _method(np.mean)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self.tracer.ufunc(ufunc, inputs, method, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.tracer.call(function, args, kwargs)

    def elementwise(self, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Selected:
        """The function of the selected elements, which must all be selected alike or be single numbers."""
        operands = []
        for value in inputs:
            if isinstance(value, Selected):
                if value.mask.node is not self.mask.node:
                    raise self.refused("Elements selected by different conditions are combined")
                operands.append(value.values)
            elif np.ndim(value) == 0:
                operands.append(value)
            else:
                raise self.refused("Selected elements are combined with an array of another length")
        return Selected(self.tracer, self.tracer.ufunc(ufunc, tuple(operands)), self.mask)

    def reduced(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Sum, product or mean of the selected elements."""
        call = self.tracer.call
        if args or kwargs:
            raise self.refused(f"np.{function.__name__} with further arguments is asked of selected elements")
        if function in (np.sum, np.mean, np.nansum):
            total = call(np.sum, (call(np.where, (self.mask, self.values, 0.0), {}),), {})
            return total if function is not np.mean else total / call(np.sum, (self.mask,), {})
        if function is np.prod:
            return call(np.prod, (call(np.where, (self.mask, self.values, 1.0), {}),), {})
        raise self.refused(f"np.{function.__name__} of selected elements")

    def refused(self, what: str) -> Exception:
        return refusal(
            f"{what}, but how many elements a[condition] has depends on x.",
            "Write np.where(condition, a, b) over the whole array instead.",
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise self.refused(f".{name} is asked of selected elements")

    def __len__(self) -> int:
        raise self.refused("The length of selected elements is asked for")

    def __iter__(self) -> Any:
        raise self.refused("A loop runs over selected elements")

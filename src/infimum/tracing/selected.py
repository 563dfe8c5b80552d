"""Selected: the elements of a traced array where a traced condition holds, as in x[x > 0].

How many they are is not known, so they keep their full shape beside the condition; elementwise functions, sums and
assignment under the same condition are all that can be done with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from infimum.tracing.array_operators import ArrayOperators, Method
from infimum.tracing.refusal import refusal

if TYPE_CHECKING:
    from infimum.tracing.traced import TracedArray
    from infimum.tracing.tracer import Tracer


# What stands in place of the elements that are not selected.
_IDLE = {np.sum: 0, np.mean: 0, np.nansum: 0, np.any: 0, np.all: 1, np.prod: 1}


def _asked(what: str) -> Method:
    def method(self: Selected, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.refused(what)

    return method


class Selected(ArrayOperators):
    """`values` of full shape and the `mask` under which they count."""

    __slots__ = ("mask", "tracer", "values")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: Tracer, values: TracedArray, mask: TracedArray) -> None:
        self.tracer = tracer
        self.values = values
        self.mask = mask

    def elementwise(self, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Selected:
        """Return the function of the selected elements, which must all be selected alike or be single numbers."""
        operands = []
        if ufunc.signature is not None:
            raise self.refused(f"np.{ufunc.__name__} of selected elements")
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
        """Return sum, product or mean of the selected elements."""
        if args or kwargs:
            raise self.refused(f"np.{function.__name__} with further arguments is asked of selected elements")
        if function not in _IDLE:
            raise self.refused(f"np.{function.__name__} of selected elements")
        call = self.tracer.call
        fold = {np.mean: np.sum, np.nansum: np.sum}.get(function, function)
        found = call(fold, (call(np.where, (self.mask, self.values, _IDLE[function])),))
        return found / call(np.sum, (self.mask,)) if function is np.mean else found

    def refused(self, what: str) -> Exception:
        return refusal(
            f"{what}, but how many elements a[condition] has depends on x.",
            "Write np.where(condition, a, b) over the whole array instead.",
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise self.refused(f".{name} is asked of selected elements")

    __getitem__ = _asked("One of the selected elements is asked for")
    __setitem__ = _asked("One of the selected elements is written")
    __bool__ = _asked("The truth of selected elements is asked for")
    __float__ = _asked("One number is asked of selected elements")
    __array__ = _asked("Numbers are asked of selected elements")
    __len__ = _asked("The length of selected elements is asked for")
    __iter__ = _asked("A loop runs over selected elements")

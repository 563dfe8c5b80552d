"""Selected: the elements of a traced array where a traced condition holds, as in x[x > 0].

How many they are is not known, so they keep their full shape beside the condition; elementwise functions, sums and
assignment under the same condition are all that can be done with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.tracing.array_operators import ArrayOperators
from infimum.tracing.refusal import refusal

if TYPE_CHECKING:
    from infimum.tracing.traced import TracedArray
    from infimum.tracing.tracer import Tracer


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
        call = self.tracer.call
        if args or kwargs:
            raise self.refused(f"np.{function.__name__} with further arguments is asked of selected elements")
        if function is np.any:
            return call(np.any, (call(np.where, (self.mask, self.values, 0), {}),), {})
        if function is np.all:
            return call(np.all, (call(np.where, (self.mask, self.values, 1), {}),), {})
        if function in (np.sum, np.mean, np.nansum):
            total = call(np.sum, (call(np.where, (self.mask, self.values, 0), {}),), {})
            return total if function is not np.mean else total / call(np.sum, (self.mask,), {})
        if function is np.prod:
            return call(np.prod, (call(np.where, (self.mask, self.values, 1), {}),), {})
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

    def __getitem__(self, key: Any) -> Any:
        raise self.refused("One of the selected elements is asked for")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise self.refused("One of the selected elements is written")

    def __bool__(self) -> bool:
        raise self.refused("The truth of selected elements is asked for")

    def __float__(self) -> float:
        raise self.refused("One number is asked of selected elements")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise self.refused("Numbers are asked of selected elements")

    def __len__(self) -> int:
        raise self.refused("The length of selected elements is asked for")

    def __iter__(self) -> Any:
        raise self.refused("A loop runs over selected elements")

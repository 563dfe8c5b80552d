"""FlatIter: a.flat, the elements of an array one after the other, to be read, iterated over and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.tracing.refusal import refusal

if TYPE_CHECKING:
    from infimum.tracing.array_methods import ArrayMethods


class FlatIter:
    """The elements of an array in row-major order; what is read of several is a copy, as of NumPy's flatiter."""

    __slots__ = ("_line", "base")
    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: ArrayMethods) -> None:
        self.base = array
        self._line = array.part(array.positions().ravel())

    def __getitem__(self, key: Any) -> Any:
        found = self._line[key]
        return found.copy() if np.shape(found) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if np.ndim(value) and np.size(value) not in (1, np.size(self._line.positions()[key])):
            raise refusal("a.flat[...] with values of another number repeats them.", "Give one value for each place.")
        self._line[key] = np.ravel(value) if np.ndim(value) > 1 else value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._line)

    def __len__(self) -> int:
        return len(self._line)

    def copy(self) -> Any:
        """Return the elements as an array of one axis."""
        return self._line.copy()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self.base.tracer.ufunc(ufunc, tuple(map(_copied, inputs)), method, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.base.tracer.call(function, tuple(map(_copied, args)), kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise refusal(f".flat.{name} is not offered.", "Write a.ravel() instead.")


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, FlatIter) else value

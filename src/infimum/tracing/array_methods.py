"""What else an ndarray has: its other shapes, copies, casts and the functions that are methods as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from infimum.tracing.array_operators import ArrayOperators, method
from infimum.tracing.buffer import Buffer
from infimum.tracing.refusal import refusal

DTYPES = {"f": np.dtype(float), "b": np.dtype(bool), "i": np.dtype(np.int64)}
DTYPES |= {"F": DTYPES["f"], "B": DTYPES["b"], "I": DTYPES["i"]}


class ArrayMethods(ArrayOperators):
    """The attributes and methods of NumPy's arrays, by way of the tracer's calls."""

    __slots__ = ()
    buffer: Buffer | None
    kind: str
    shape: tuple[int, ...]
    part: Any
    positions: Any
    __getitem__: Any
    __setitem__: Any
    __iter__: Any

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def dtype(self) -> np.dtype[Any]:
        if self.buffer is not None and self.buffer.value is not None:
            return self.buffer.value.dtype
        return DTYPES[self.kind]

    @property
    def T(self) -> Any:
        return self.tracer.call(np.transpose, (self,))

    @property
    def flat(self) -> Any:
        return FlatIter(self) if self.buffer is not None else self.tracer.call(np.ravel, (self,))

    @flat.setter
    def flat(self, value: Any) -> None:
        FlatIter(self)[...] = value

    @property
    def mT(self) -> Any:
        return self.tracer.call(np.swapaxes, (self, -1, -2))

    @property
    def real(self) -> Any:
        return self

    @real.setter
    def real(self, value: Any) -> None:
        self[...] = value

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        return self.tracer.call(np.reshape, (self, shape[0] if len(shape) == 1 else shape), kwargs)

    def transpose(self, *axes: Any) -> Any:
        return self.tracer.call(np.transpose, (self, (axes[0] if len(axes) == 1 else axes) if axes else None))

    def flatten(self, order: Any = "C") -> Any:
        return self.tracer.call(np.ravel, (self, order)).copy()

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Return another array of the same elements; other types read their bits, which is refused."""
        same = dtype is None or dtype is np.ndarray or np.dtype(dtype) == self.dtype
        if not same or type not in (None, np.ndarray):
            raise refusal("view(...) reads the bits of numbers as those of another type.", "Write astype instead.")
        return self if self.buffer is None else self.part(self.positions())

    def copy(self, order: Any = "C") -> Any:
        return self.tracer.copied(self, order)

    def __copy__(self) -> Any:
        return self.tracer.copied(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.tracer.copied(self)

    def astype(
        self, dtype: Any, order: Any = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        dtype = float if dtype is None else dtype
        if order not in ("K", None) or casting not in ("unsafe", "same_kind"):
            raise refusal("astype with order= or casting= is not offered.", "Leave the argument out.")
        if casting == "same_kind" and not np.can_cast(self.dtype, dtype, "same_kind"):
            raise TypeError(f"Cannot cast array data from {self.dtype} to {np.dtype(dtype)} by the rule 'same_kind'")
        return self.tracer.cast(self, dtype, copy)

    def item(self, *key: Any) -> Any:
        if key:
            places = key[0] if len(key) == 1 and isinstance(key[0], tuple) else key
            one = self[places] if len(places) > 1 else self.tracer.call(np.ravel, (self,))[places[0]]
        elif self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        else:
            one = self.tracer.call(np.ravel, (self,))[0] if self.buffer is not None else self
        return self.tracer.weak(one)

    def tolist(self) -> Any:
        if not self.shape:
            return self.item()
        return [item.tolist() for item in self]

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        return self.tracer.call(np.compress, (condition, self), {"axis": axis, "out": out})

    def conj(self) -> Any:
        return self  # of real numbers NumPy returns the array itself, too

    conjugate = conj

    def __contains__(self, value: Any) -> bool:
        return bool(self.tracer.call(np.any, (self == value,)))

    def fill(self, value: Any) -> None:
        self[...] = value

    max, min, ptp, std, var = method(np.max), method(np.min), method(np.ptp), method(np.std), method(np.var)
    dot, cumsum, cumprod, trace = method(np.dot), method(np.cumsum), method(np.cumprod), method(np.trace)
    clip, round, put = method(np.clip), method(np.round), method(np.put)
    ravel, squeeze, swapaxes = method(np.ravel), method(np.squeeze), method(np.swapaxes)
    repeat, take, diagonal = method(np.repeat), method(np.take), method(np.diagonal)
    nonzero, searchsorted = method(np.nonzero), method(np.searchsorted)
    argmax, argmin, argsort = method(np.argmax), method(np.argmin), method(np.argsort)

    def sort(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.tracer.call(np.sort, (self,))
        raise refusal("sort in place is not offered.", "Write np.sort(a) for constant arrays.")

    def is_integer(self) -> Any:
        return self.tracer.weak(self.tracer.ufunc(np.equal, (self, self.tracer.ufunc(np.floor, (self,)))))


class FlatIter:
    """a.flat: the elements in row-major order; what is read of several is a copy, as of NumPy's flatiter."""

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

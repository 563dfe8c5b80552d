"""TracedArray: what the user's function receives in place of a NumPy array.

It has a shape and cells; a single element is a lean scalar with one node. An array whose cells are all plain numbers
behaves as the NumPy array that it is, until an expression is written into it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from infimum.errors import TraceIndexError
from infimum.exact.number import Exact, ExactArray
from infimum.graph.indexmap import Indices
from infimum.graph.node import Node
from infimum.tracing.buffer import Buffer
from infimum.tracing.flatiter import Flat
from infimum.tracing.python.text import Text
from infimum.tracing.refusal import branch_refusal, refusal, users_line

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer

Shape = tuple[int, ...]


def _binary(op: str, ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def method(self: TracedArray, other: Any) -> Any:
        left = self.scalar
        if left is not None and self.kind == "f":
            kind = type(other)
            if kind is TracedArray:
                right = other.scalar if other.kind == "f" else None
            else:
                right = self.tracer.number(other) if kind is float or kind is int else None
            if right is not None:
                return TracedArray(self.tracer, (), self.tracer.operation(op, (left, right)))
        return _operated(self.tracer, ufunc, self, other) if _is_operand(other) else NotImplemented

    return method


def _reflected(op: str, ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def method(self: TracedArray, other: Any) -> Any:
        right = self.scalar
        if right is not None and self.kind == "f":
            left = self.tracer.number(other) if type(other) is float or type(other) is int else None
            if left is not None:
                return TracedArray(self.tracer, (), self.tracer.operation(op, (left, right)))
        return _operated(self.tracer, ufunc, other, self) if _is_operand(other) else NotImplemented

    return method


def _forward(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def method(self: TracedArray, other: Any) -> Any:
        return _operated(self.tracer, ufunc, self, other) if _is_operand(other) else NotImplemented

    return method


def _backward(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    def method(self: TracedArray, other: Any) -> Any:
        return _operated(self.tracer, ufunc, other, self) if _is_operand(other) else NotImplemented

    return method


def _operated(tracer: Tracer, ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """a operator b: NumPy's, or Python's between Python's own numbers."""
    if _is_python(a) and _is_python(b):
        return tracer.python_operator(ufunc, a, b)
    return tracer.ufunc(ufunc, (a, b))


def _is_python(value: Any) -> bool:
    return value.kind in "FIB" if type(value) is TracedArray else type(value) in (int, float, bool)


def _in_place(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: TracedArray, other: Any) -> Any:
        if self.scalar is not None:
            return function(self, other)
        self.tracer.assign_all(self, function(self, other))
        return self

    return method


def _single(ufunc: np.ufunc) -> Callable[[Any], Any]:
    def method(self: TracedArray) -> Any:
        if self.kind in "FIB":
            return self.tracer.python_operator(ufunc, self)
        return self.tracer.ufunc(ufunc, (self,))

    return method


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.call(function, (self, *args), kwargs)

    return method


_OPERANDS = (int, float, Fraction, Decimal, np.ndarray, np.generic, list, tuple, Exact, ExactArray)


def _is_operand(value: Any) -> bool:
    """Whether the value is a number or array; text and complex numbers are refused."""
    if isinstance(value, str | bytes | complex) and not isinstance(value, float):
        raise refusal(f"{value!r} is no real number.", "Objective functions are real: use real numbers throughout.")
    return type(value) is TracedArray or isinstance(value, _OPERANDS)


class TracedArray:
    """An array of expressions of x (or, until one is written into it, of plain numbers)."""

    __slots__ = ("bound", "buffer", "index", "kind", "scalar", "shape", "tracer")
    __array_priority__ = 1000.0

    def __init__(
        self,
        tracer: Tracer,
        shape: Shape,
        scalar: Node | None,
        buffer: Buffer | None = None,
        index: Indices | None = None,
        boolean: bool = False,
        kind: str = "f",
        bound: int = 0,
    ) -> None:
        self.tracer = tracer
        self.shape = shape
        self.scalar = scalar  # the node of an array of shape (), which nobody can write into
        self.buffer = buffer
        self.index = index  # the positions of this view in the buffer; None: all of them in order
        self.kind = "b" if boolean else kind  # the type of the values (kinds)
        self.bound = bound  # of integers: what no element exceeds in size

    @property
    def boolean(self) -> bool:
        """Whether the values are true or false."""
        return self.kind == "b" or self.kind == "B"

    # Reading

    @property
    def known(self) -> bool:
        """Whether this is plain numbers throughout."""
        if self.buffer is None:
            return False
        if self.buffer.pointers is None or self.index is None:
            return self.buffer.known
        return bool(np.all(self.buffer.pointers[self.index] < 0))

    @property
    def node(self) -> Node:
        """The elements in row-major order."""
        if self.scalar is not None:
            return self.scalar
        assert self.buffer is not None
        return self.buffer.whole() if self.index is None else self.buffer.gather(self.index)

    @property
    def numbers(self) -> npt.NDArray[Any]:
        """The plain numbers of a known array."""
        assert self.buffer is not None and self.buffer.value is not None
        if self.index is None:
            return self.buffer.value.reshape(self.shape)
        return self.buffer.value[self.index]

    def positions(self) -> Indices:
        """Where in the buffer each element of this view lies."""
        assert self.buffer is not None
        return self.buffer.base().reshape(self.shape) if self.index is None else self.index

    def part(self, positions: Any) -> TracedArray:
        """Another view of the same buffer."""
        return TracedArray(self.tracer, positions.shape, None, self.buffer, positions, kind=self.kind, bound=self.bound)

    def __getitem__(self, key: Any) -> Any:
        buffer = self.buffer
        if buffer is not None and len(self.shape) == 1 and (type(key) is int or isinstance(key, np.integer)):
            at = self._inside(key)
            found = buffer.element(at if self.index is None else int(self.index[at]))
            if isinstance(found, Node):
                return TracedArray(self.tracer, (), found, kind=self.kind, bound=self.bound)
            return found
        return self.tracer.item(self, key)

    def _inside(self, key: Any) -> int:
        size = self.shape[0]
        if -size <= key < size:
            return int(key) % size
        what = (
            f"x has {size} variables here (n = {size})"
            if self.buffer is self.tracer.x
            else f"the axis has {size} elements"
        )
        raise TraceIndexError(f"{users_line() or ''}\n  {what}, but index {int(key)} was asked for.")

    def __setitem__(self, key: Any, value: Any) -> None:
        self.tracer.assign(self, key, value)

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array" if self.buffer else "'numpy.float64' object is not iterable")
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    # Arithmetic

    __add__, __radd__ = _binary("add", np.add), _reflected("add", np.add)
    __sub__, __rsub__ = _binary("sub", np.subtract), _reflected("sub", np.subtract)
    __mul__, __rmul__ = _binary("mul", np.multiply), _reflected("mul", np.multiply)
    __truediv__, __rtruediv__ = _binary("div", np.true_divide), _reflected("div", np.true_divide)
    __floordiv__, __rfloordiv__ = _forward(np.floor_divide), _backward(np.floor_divide)
    __mod__, __rmod__ = _forward(np.remainder), _backward(np.remainder)
    __rpow__ = _backward(np.power)
    __matmul__, __rmatmul__ = _forward(np.matmul), _backward(np.matmul)
    __divmod__, __rdivmod__ = _forward(np.divmod), _backward(np.divmod)
    __and__, __rand__ = _forward(np.bitwise_and), _backward(np.bitwise_and)
    __or__, __ror__ = _forward(np.bitwise_or), _backward(np.bitwise_or)
    __xor__, __rxor__ = _forward(np.bitwise_xor), _backward(np.bitwise_xor)
    __lshift__, __rlshift__ = _forward(np.left_shift), _backward(np.left_shift)
    __rshift__, __rrshift__ = _forward(np.right_shift), _backward(np.right_shift)
    __lt__, __le__ = _forward(np.less), _forward(np.less_equal)
    __gt__, __ge__ = _forward(np.greater), _forward(np.greater_equal)
    __eq__, __ne__ = _forward(np.equal), _forward(np.not_equal)
    __neg__, __abs__, __invert__ = _single(np.negative), _single(np.absolute), _single(np.invert)
    __pos__ = _single(np.positive)
    __iadd__, __isub__ = _in_place(operator.add), _in_place(operator.sub)
    __imul__, __itruediv__ = _in_place(operator.mul), _in_place(operator.truediv)
    __ifloordiv__, __imod__, __ipow__ = _in_place(operator.floordiv), _in_place(operator.mod), _in_place(operator.pow)
    __iand__, __ior__, __ixor__ = _in_place(operator.and_), _in_place(operator.or_), _in_place(operator.xor)
    __imatmul__ = _in_place(operator.matmul)

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            raise refusal("pow with three arguments is for integers only.", "Write (a**b) % m instead.")
        if type(exponent) is int and self.scalar is not None and self.kind == "f" and abs(exponent) < 2**31:
            return TracedArray(self.tracer, (), self.tracer.operation("pown", (self.scalar,), exponent))
        return _operated(self.tracer, np.power, self, exponent) if _is_operand(exponent) else NotImplemented

    def __round__(self, digits: int | None = None) -> Any:
        return self.tracer.rounded(self, digits)

    __floor__, __ceil__, __trunc__ = _single(np.floor), _single(np.ceil), _single(np.trunc)

    # Questions that only numbers can answer

    def __bool__(self) -> bool:
        if self.known:
            return bool(self.numbers)
        raise self.tracer.refused(branch_refusal())

    def _only_number(self, name: str, instead: str) -> Any:
        if self.known:
            return self.numbers
        raise self.tracer.refused(
            refusal(f"{name} asks for one number, but the value stands for a whole range here.", instead)
        )

    def __hash__(self) -> int:
        if self.buffer is not None:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        raise refusal(
            "A lookup by hash (a dictionary, a set, a cache) asks for one number, but this stands for a whole range.",
            "Write np.select over the values it may have, or leave the cache out.",
        )

    def __float__(self) -> float:
        return float(self._only_number("float()", _AS_IT_IS))

    def __int__(self) -> int:
        return int(self._only_number("int()", "Write np.trunc(value) for the integer part; it stays traced."))

    def __complex__(self) -> complex:
        return complex(self._only_number("complex()", "Use real numbers throughout."))

    def __index__(self) -> int:
        return operator.index(
            self._only_number("An index", "Write np.where or np.select over the elements it may choose from.")
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if self.known:
            return np.array(self.numbers, dtype=dtype)
        raise self.tracer.refused(
            refusal(
                "Code that is not NumPy's, or an array made before the call, asks for numbers, "
                "but the value stands for a whole range here.",
                "Write the formula with NumPy functions, and collect values in an array made inside the function.",
            )
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self.tracer.ufunc(ufunc, inputs, method, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.tracer.call(function, args, kwargs)

    # What else an ndarray has

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
        return _DTYPES[self.kind]

    @property
    def T(self) -> Any:
        return self.tracer.call(np.transpose, (self,), {})

    @property
    def flat(self) -> Any:
        return Flat(self) if self.buffer is not None else self.tracer.call(np.ravel, (self,), {})

    @flat.setter
    def flat(self, value: Any) -> None:
        Flat(self)[...] = value

    @property
    def mT(self) -> Any:
        return self.tracer.call(np.swapaxes, (self, -1, -2), {})

    @property
    def real(self) -> Any:
        return self

    @real.setter
    def real(self, value: Any) -> None:
        self[...] = value

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        return self.tracer.call(np.reshape, (self, shape[0] if len(shape) == 1 else shape), kwargs)

    def transpose(self, *axes: Any) -> Any:
        return self.tracer.call(np.transpose, (self, (axes[0] if len(axes) == 1 else axes) if axes else None), {})

    def flatten(self, order: Any = "C") -> Any:
        return self.tracer.call(np.ravel, (self, order), {}).copy()

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
            one = self[places] if len(places) > 1 else self.tracer.call(np.ravel, (self,), {})[places[0]]
        elif self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        else:
            one = self.tracer.call(np.ravel, (self,), {})[0] if self.buffer is not None else self
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
        return bool(self.tracer.call(np.any, (self == value,), {}))

    def fill(self, value: Any) -> None:
        self[...] = value

    sum, prod, mean = _method(np.sum), _method(np.prod), _method(np.mean)
    max, min, std, var = _method(np.max), _method(np.min), _method(np.std), _method(np.var)
    any, all, ptp = _method(np.any), _method(np.all), _method(np.ptp)
    dot, cumsum, cumprod, trace = _method(np.dot), _method(np.cumsum), _method(np.cumprod), _method(np.trace)
    clip, round, put = _method(np.clip), _method(np.round), _method(np.put)
    ravel, squeeze, swapaxes = _method(np.ravel), _method(np.squeeze), _method(np.swapaxes)
    repeat, take, diagonal = _method(np.repeat), _method(np.take), _method(np.diagonal)
    nonzero, searchsorted = _method(np.nonzero), _method(np.searchsorted)
    argmax, argmin, argsort = _method(np.argmax), _method(np.argmin), _method(np.argsort)

    def sort(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.tracer.call(np.sort, (self,), {})
        raise refusal("sort in place is not offered.", "Write np.sort(a) for constant arrays.")

    def is_integer(self) -> Any:
        return self.tracer.weak(self.tracer.ufunc(np.equal, (self, self.tracer.ufunc(np.floor, (self,)))))

    def __repr__(self) -> str:
        if self.known:
            return repr(self.numbers)
        return Text(f"<traced array of shape {self.shape}>" if self.shape else "<traced number>")

    def __str__(self) -> str:
        return str(self.numbers) if self.known else repr(self)

    def __format__(self, spec: str) -> str:
        return format(self.numbers, spec) if self.known and not self.shape else repr(self)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and (hasattr(np.ndarray, name) or hasattr(np.float64, name) or hasattr(int, name)):
            raise refusal(f".{name} is not offered for traced arrays.", "Write the formula with other NumPy functions.")
        raise AttributeError(f"a traced array has no attribute {name!r}")


_DTYPES = {"f": np.dtype(float), "b": np.dtype(bool), "i": np.dtype(np.int64)}
_DTYPES |= {"F": _DTYPES["f"], "B": _DTYPES["b"], "I": _DTYPES["i"]}
_AS_IT_IS = "Leave the conversion out: the value can be used as it is."

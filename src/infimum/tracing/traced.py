"""TracedArray: what the user's function receives in place of a NumPy array.

It is a view of a buffer; a single element is one node without a buffer. An array whose elements are all plain numbers
behaves as the NumPy array that it is, until an expression is written into it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infimum.errors import TraceIndexError
from infimum.exact.number import Exact, ExactArray
from infimum.graph.indexmap import Indices
from infimum.graph.node import Node
from infimum.tracing.array_methods import ArrayMethods
from infimum.tracing.array_operators import Method, backward, forward, single
from infimum.tracing.branches import branch_refusal
from infimum.tracing.buffer import Buffer
from infimum.tracing.python.text import Text
from infimum.tracing.refusal import refusal, users_line

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer

Shape = tuple[int, ...]


def _quick(op: str, ufunc: np.ufunc) -> tuple[Method, Method]:
    """Return the methods of an operator and its reflection, short for two single floats: loops are made of these."""

    def method(self: TracedArray, other: Any) -> Any:
        node, kind = self.scalar, type(other)
        if node is not None and self.kind == "f":
            if kind is float or kind is int:
                right = self.tracer.number(other)
            else:
                right = other.scalar if kind is TracedArray and other.kind == "f" else None
            if right is not None:
                return TracedArray(self.tracer, (), self.tracer.operation(op, (node, right)))
        return self.operated(ufunc, self, other)

    def reflected(self: TracedArray, other: Any) -> Any:
        if self.scalar is not None and self.kind == "f" and (type(other) is float or type(other) is int):
            nodes = self.tracer.number(other), self.scalar
            return TracedArray(self.tracer, (), self.tracer.operation(op, nodes))
        return self.operated(ufunc, other, self)

    return method, reflected


def _is_python(value: Any) -> bool:
    return value.kind in "FIB" if type(value) is TracedArray else type(value) in (int, float, bool)


def _in_place(function: Callable[[Any, Any], Any]) -> Method:
    def method(self: TracedArray, other: Any) -> Any:
        if self.scalar is not None:
            return function(self, other)
        self.tracer.assign_all(self, function(self, other))
        return self

    return method


_OPERANDS = (int, float, Fraction, Decimal, np.ndarray, np.generic, list, tuple, Exact, ExactArray)


def _is_operand(value: Any) -> bool:
    """Return whether the value is a number or array; text and complex numbers are refused."""
    if isinstance(value, str | bytes | complex) and not isinstance(value, float):
        raise refusal(f"{value!r} is no real number.", "Objective functions are real: use real numbers throughout.")
    return type(value) is TracedArray or isinstance(value, _OPERANDS)


def _converted(convert: Callable[[Any], Any], name: str, instead: str) -> Method:
    def method(self: TracedArray) -> Any:
        if self.known:
            return convert(self.numbers)
        raise refusal(f"{name} asks for one number, but the value stands for a whole range here.", instead)

    return method


class TracedArray(ArrayMethods):
    """An array of expressions of x (or, until one is written into it, of plain numbers)."""

    __slots__ = ("bound", "buffer", "index", "kind", "scalar", "shape", "tracer")

    def __init__(
        self,
        tracer: Tracer,
        shape: Shape,
        scalar: Node | None,
        buffer: Buffer | None = None,
        index: Indices | None = None,
        kind: str = "f",
        bound: int = 0,
    ) -> None:
        self.tracer = tracer
        self.shape = shape
        self.scalar = scalar  # the node of an array of shape (), which nobody can write into
        self.buffer = buffer
        self.index = index  # the positions of this view in the buffer; None: all of them in order
        self.kind = kind  # the type of the values (dtypes)
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
        """Return where in the buffer each element of this view lies."""
        assert self.buffer is not None
        return self.buffer.base().reshape(self.shape) if self.index is None else self.index

    def part(self, positions: Any) -> TracedArray:
        """Return another view of the same buffer."""
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
        is_x = self.buffer is self.tracer.x
        what = f"x has {size} variables here (n = {size})" if is_x else f"the axis has {size} elements"
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

    def operated(self, ufunc: np.ufunc, *values: Any) -> Any:
        """Return an operator of the values: NumPy's, or Python's between Python's own numbers."""
        if not all(map(_is_operand, values)):
            return NotImplemented
        if all(map(_is_python, values)):
            return self.tracer.python_operator(ufunc, *values)
        return self.tracer.ufunc(ufunc, values)

    __add__, __radd__ = _quick("add", np.add)
    __sub__, __rsub__ = _quick("sub", np.subtract)
    __mul__, __rmul__ = _quick("mul", np.multiply)
    __truediv__, __rtruediv__ = _quick("div", np.true_divide)
    __divmod__, __rdivmod__ = forward(np.divmod), backward(np.divmod)
    __lshift__, __rlshift__ = forward(np.left_shift), backward(np.left_shift)
    __rshift__, __rrshift__ = forward(np.right_shift), backward(np.right_shift)
    __floor__, __ceil__, __trunc__ = single(np.floor), single(np.ceil), single(np.trunc)
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
        return self.operated(np.power, self, exponent)

    def __round__(self, digits: int | None = None) -> Any:
        return self.tracer.rounded(self, digits)

    # Questions that only numbers can answer

    def __bool__(self) -> bool:
        if self.known:
            return bool(self.numbers)
        raise branch_refusal()

    def __hash__(self) -> int:
        if self.buffer is not None:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        raise refusal(
            "A lookup by hash (a dictionary, a set, a cache) asks for one number, but this stands for a whole range.",
            "Write np.select over the values it may have, or leave the cache out.",
        )

    __float__ = _converted(float, "float()", "Leave the conversion out: the value can be used as it is.")
    __int__ = _converted(int, "int()", "Write np.trunc(value) for the integer part; it stays traced.")
    __complex__ = _converted(complex, "complex()", "Use real numbers throughout.")
    __index__ = _converted(
        operator.index, "An index", "Write np.where or np.select over the elements it may choose from."
    )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if self.known:
            return np.array(self.numbers, dtype=dtype)
        raise refusal(
            "Code that is not NumPy's, or an array made before the call, asks for numbers, "
            "but the value stands for a whole range here.",
            "Write the formula with NumPy functions, and collect values in an array made inside the function.",
        )

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

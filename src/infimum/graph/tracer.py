"""The tracer: turns each NumPy call of the user's function into nodes of one graph."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import TraceError, TraceIndexError
from infimum.exact import Exact, ExactArray
from infimum.graph.absorbed import ABSORBING, Absorbed
from infimum.graph.cells import Cells
from infimum.graph.constant import constant
from infimum.graph.indexmap import of_view
from infimum.graph.node import Graph, Node
from infimum.graph.ranges import Ends
from infimum.graph.refusal import here, refusal
from infimum.graph.selected import Selected
from infimum.graph.traced import Shape, TracedArray
from infimum.graph.values import has_exact, is_symbolic, plain, unknown

Operand = tuple[Node, Shape, bool]
Rule = Callable[..., Any]

_BEFORE = "This array was made before the call; a function that writes into it has a hidden state."
_COPY = "Write into a copy made inside the function: a = a.copy()."


class Tracer:
    """One run of the user's function: its graph, the variables x, and the rules for NumPy's functions.

    box: the ends of the domain, where it is known; the traced function denotes the user's there.
    """

    def __init__(self, n: int, ufuncs: dict[Any, Rule], functions: dict[Any, Rule], box: Ends | None = None) -> None:
        self.graph = Graph()
        self.n = n
        self.absorbed = Absorbed(self, box)
        self._ufuncs = ufuncs
        self._functions = functions
        self._numbers: dict[float, Node] = {}
        self._exact: dict[int, tuple[Exact, Node]] = {}
        self.met_exact = False
        self.refusals: list[TraceError] = []
        self.x = Cells(self, n, None, self.graph.node("x", (), n))
        self.x.frozen = "x belongs to the caller; writing into it would change the caller's array."

    def variables(self) -> TracedArray:
        """The array that the user's function is called with."""
        return TracedArray(self, (self.n,), None, self.x)

    def refused(self, error: TraceError) -> TraceError:
        """Remember a refusal, so that nobody can swallow it."""
        self.refusals.append(error)
        return error

    # Numbers and arrays

    def number(self, value: float) -> Node:
        """The constant of a Python int or float."""
        found = self._numbers.get(value)
        if found is None:
            if isinstance(value, int) and abs(value) > 2**53:
                found = self.graph.node("constant", (), 1, constant(value))
            else:
                found = self.constant_node(np.array([value], np.float64))
            self._numbers[value] = found
        return found

    def constant_node(self, values: npt.NDArray[Any]) -> Node:
        """A flat array of plain numbers; NaN and infinities are not numbers."""
        if values.dtype.kind not in "biuf":
            raise refusal(
                f"A constant of dtype {values.dtype} is no array of real numbers.", "Use float64, or infimum.exact."
            )
        doubles = values.astype(np.float64)
        if not np.all(np.isfinite(doubles)):
            bad = "NaN" if np.any(np.isnan(doubles)) else "infinity"
            raise refusal(
                f"A constant is {bad}, which is no real number.",
                "Check the data (np.empty leaves elements unset); for a penalty use a large finite number.",
            )
        if values.dtype.itemsize > 8 and values.dtype.kind == "f" and np.any(doubles != values):
            raise refusal("A long double constant is no double.", "Use infimum.exact for exact constants.")
        return self.graph.node("constant", (), values.size, constant(values if values.dtype.kind in "iu" else doubles))

    def array(self, node: Node, shape: Shape, boolean: bool = False) -> TracedArray:
        """A new array with these elements."""
        if not shape:
            return TracedArray(self, (), node, boolean=boolean)
        return TracedArray(self, shape, None, Cells(self, node.size, None, node), boolean=boolean)

    def fresh(self, value: Any) -> Any:
        """What NumPy made, so that expressions can be written into it: arrays are wrapped, numbers are not."""
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            if value.ndim == 0:
                return value[()]
            return TracedArray(self, value.shape, None, Cells(self, value.size, value.ravel().copy(), None))
        if type(value) is tuple or type(value) is list:
            return type(value)(self.fresh(v) for v in value)
        return value

    def given(self, value: npt.NDArray[Any]) -> Any:
        """An array made before the call: it can be read, not written."""
        if value.ndim == 0 or value.dtype.kind not in "biuf":
            return value[()] if value.ndim == 0 else value
        cells = Cells(self, value.size, value.ravel(), None)
        cells.frozen = _BEFORE
        return TracedArray(self, value.shape, None, cells)

    def operand(self, value: Any) -> Operand:
        """A value as (node, shape, whether it is true-or-false)."""
        if isinstance(value, TracedArray):
            return value.node, value.shape, value.boolean or value.dtype.kind == "b"
        if isinstance(value, bool | np.bool_):
            return self.number(float(value)), (), True
        if isinstance(value, int | float):
            return self.number(value), (), False
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
            return self.constant_node(np.ravel(value)), np.shape(value), value.dtype.kind == "b"
        if isinstance(value, Exact):
            return self._exact_number(value), (), False
        if isinstance(value, ExactArray):
            self.met_exact = True
            return self.graph.node("constant", (), value.size, constant(value)), value.shape, False
        if isinstance(value, Fraction):
            return self.graph.node("constant", (), 1, constant(value)), (), False
        if isinstance(value, list | tuple | np.ndarray):
            return self.operand(self.stacked(value))
        raise refusal(f"{value!r} is no real number and no array of such.", "Use numbers, arrays and NumPy functions.")

    def _exact_number(self, value: Exact) -> Node:
        self.met_exact = True
        found = self._exact.get(id(value))
        if found is None:
            node = self.graph.node("constant", (), 1, constant(value))
            found = self._exact[id(value)] = (value, node)
        return found[1]

    def stacked(self, values: Any) -> Any:
        """A nested list of numbers and expressions as one array."""
        rows = [self.stacked(v) if isinstance(v, list | tuple) else v for v in values]
        if not any(isinstance(row, TracedArray | Exact | ExactArray | Fraction) for row in rows):
            return self.fresh(np.array(rows))
        operands = [self.operand(row) for row in rows]
        shapes = {shape for _, shape, _ in operands}
        if len(shapes) > 1:
            raise ValueError(f"the rows of an array differ in shape: {', '.join(map(str, sorted(shapes)))}")
        pieces = [node for node, _, _ in operands]
        node = pieces[0] if len(pieces) == 1 else self.graph.node("concat", pieces, sum(p.size for p in pieces))
        return self.array(node, (len(rows), *shapes.pop()), all(b for _, _, b in operands))

    def traced(self, value: Any) -> TracedArray:
        """A value as a traced array, whatever it was."""
        if isinstance(value, TracedArray):
            return value
        node, shape, boolean = self.operand(value)
        return self.array(node, shape, boolean)

    # Elementwise operations

    def apply(self, op: str, *values: Any, data: Any = None, boolean: bool = False) -> TracedArray:
        """An operation of the core on each element, shapes broadcast as NumPy does."""
        return self.lifted(lambda *nodes: self.operation(op, nodes, data), *values, boolean=boolean)

    def operation(self, op: str, nodes: tuple[Node, ...], data: Any = None) -> Node:
        """The node of an operation, with NumPy's values where an operand is infinite."""
        if op in ABSORBING and not (op == "pown" and data > 0):
            return self.absorbed.applied(op, nodes, data)
        return self.graph.node(op, nodes, max(node.size for node in nodes), data)

    def lifted(self, make: Callable[..., Node], *values: Any, boolean: bool = False) -> TracedArray:
        """What `make` builds of the elements' nodes, shapes broadcast as NumPy does."""
        operands = [self.operand(value) for value in values]
        if not any(shape for _, shape, _ in operands):
            return TracedArray(self, (), make(*(node for node, _, _ in operands)), boolean=boolean)
        shape = np.broadcast_shapes(*(shape for _, shape, _ in operands))
        size = int(np.prod(shape, dtype=np.int64))
        if size == 0:
            return self.fresh(np.zeros(shape))  # type: ignore[no-any-return]
        nodes = [self.broadcast(node, own, shape) if node.size != 1 else node for node, own, _ in operands]
        return self.array(self.sized(make(*nodes), size), shape, boolean)

    def broadcast(self, node: Node, own: Shape, shape: Shape) -> Node:
        """A node of shape `own` read in shape `shape`."""
        if own == shape or (own == shape[len(shape) - len(own) :] and node.size == np.prod(shape)):
            return node
        base = np.arange(node.size, dtype=np.int64)
        view = np.broadcast_to(base.reshape(own), shape)
        if view.size == node.size:
            return node
        way = of_view(view, base)
        return self.graph.node("take", (node,), way.size, way)

    def sized(self, node: Node, size: int) -> Node:
        """A node of `size` elements: one element is repeated."""
        return node if node.size == size else self.broadcast(node, (1,), (size,))

    # NumPy's functions

    def ufunc(self, ufunc: np.ufunc, inputs: tuple[Any, ...], method: str = "__call__", **kwargs: Any) -> Any:
        """What a universal function gives: nodes where an input is an expression, else NumPy's own result."""
        out = kwargs.pop("out", None)
        selected = next((v for v in inputs if isinstance(v, Selected)), None)
        if method != "__call__":
            result = self._ufunc_method(ufunc, method, inputs, kwargs)
        elif selected is not None:
            result = selected.elementwise(ufunc, inputs)
        elif not any(is_symbolic(value) for value in inputs):
            result = self.fresh(ufunc(*map(plain, inputs), **plain(kwargs)))
        elif kwargs.get("where", True) is not True:
            raise refusal(f"np.{ufunc.__name__}(..., where=) is not offered.", "Write np.where(condition, a, b).")
        elif ufunc in self._ufuncs:
            result = self._ufuncs[ufunc](self, *(self.stacked(v) if isinstance(v, list | tuple) else v for v in inputs))
        else:
            raise self.refused(unknown(ufunc))
        target = out[0] if isinstance(out, tuple) else out
        if target is None:
            return result
        self.assign(target, ..., result)
        return target

    def _ufunc_method(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not any(is_symbolic(value) for value in inputs):
            return self.fresh(getattr(ufunc, method)(*map(plain, inputs), **plain(kwargs)))
        rule = self._functions.get((ufunc, method))
        if rule is not None:
            return rule(self, *inputs, **kwargs)
        if method == "outer":
            a, b = (self.traced(value) for value in inputs)
            return self.ufunc(ufunc, (a.reshape(a.shape + (1,) * b.ndim), b))
        raise self.refused(refusal(f"np.{ufunc.__name__}.{method} cannot be traced.", "Write the formula another way."))

    def knows(self, function: Any) -> bool:
        """Whether there is a rule for this NumPy function."""
        return isinstance(function, np.ufunc) or function in self._functions

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a NumPy function gives."""
        if isinstance(function, np.ufunc):
            return self.ufunc(function, args, **kwargs)
        if args and isinstance(args[0], Selected) and len(args) == 1:
            return args[0].reduced(function)
        rule = self._functions.get(function)
        views = rule is not None and getattr(rule, "keeps_views", False) and args and isinstance(args[0], TracedArray)
        if not views and not is_symbolic(args) and not is_symbolic(tuple(kwargs.values())):
            return self.fresh(function(*plain(args), **plain(kwargs)))
        if rule is None:
            raise self.refused(unknown(function))
        kwargs.pop("like", None)
        return rule(self, *args, **kwargs)

    # Indexing

    def item(self, array: TracedArray, key: Any) -> Any:
        """a[key], sharing its cells where NumPy returns a view."""
        if isinstance(key, TracedArray) and not key.known and key.boolean and key.shape == array.shape:
            return Selected(self, array, key)
        key = self._key(key)
        if array.cells is None:
            return self._scalar_item(array, key)
        base = array.positions()
        try:
            found = base[key]
        except IndexError as error:
            what = f"x has {self.n} variables here (n = {self.n}): " if array.cells is self.x else ""
            raise TraceIndexError(f"{here() or ''}\n  {what}{error}.") from error
        if not isinstance(found, np.ndarray):
            one = array.cells.element(int(found))
            return TracedArray(self, (), one, boolean=array.boolean) if isinstance(one, Node) else one
        return self.picked(array, found, np.may_share_memory(found, base))

    def _scalar_item(self, array: TracedArray, key: Any) -> Any:
        found = np.zeros((), np.int64)[key]
        if np.ndim(found) == 0:
            return array
        return self.array(self.sized(array.node, found.size), found.shape, array.boolean)

    def picked(self, array: TracedArray, positions: npt.NDArray[Any], shared: bool) -> Any:
        """The cells at these positions: a view of them, or a new array."""
        if positions.size == 0:
            return self.fresh(np.zeros(positions.shape, array.dtype))
        found = array.view(positions)
        if shared:
            return found
        if found.known:
            return self.fresh(found.numbers)
        return self.array(found.node, positions.shape, array.boolean)

    def _key(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return tuple(self._key(part) for part in key)
        if isinstance(key, slice):
            return slice(*(self._key(part) for part in (key.start, key.stop, key.step)))
        if is_symbolic(key):
            raise self.refused(
                refusal(
                    "An index must be known, but this one stands for a whole range here.",
                    "Write np.where or np.select over the elements it may choose from.",
                )
            )
        return plain(key)

    def assign(self, array: Any, key: Any, value: Any) -> None:
        """a[key] = value."""
        if not isinstance(array, TracedArray):
            raise self.refused(refusal(_BEFORE, _COPY))
        cells = array.cells
        if cells is None:
            raise TypeError("a single number does not support item assignment")
        if cells.frozen:
            raise self.refused(refusal(cells.frozen, _COPY))
        if is_symbolic(key) and isinstance(key, TracedArray):
            key, value = ..., self._masked(array, key, value)
        at = array.positions()[self._key(key)]
        positions = at if isinstance(at, np.ndarray) else int(at)
        if is_symbolic(value) or has_exact(value):
            self._write(array, cells, positions, value)
        else:
            numbers = np.asarray(plain(value))
            if isinstance(positions, np.ndarray) and numbers.shape != positions.shape:
                numbers = np.broadcast_to(_stripped(numbers, positions.ndim), positions.shape)
            cells.write_numbers(positions, numbers)

    def _write(self, array: TracedArray, cells: Cells, positions: Any, value: Any) -> None:
        node, shape, boolean = self.operand(value)
        dtype = array.dtype
        if (dtype.kind != "f" and not (dtype.kind == "b" and boolean)) or (dtype.itemsize < 8 and dtype.kind == "f"):
            raise self.refused(
                refusal(f"This array holds {dtype}, so NumPy would round what is written.", "Make it with dtype=float.")
            )
        if node.size != 1:
            target = np.shape(positions)
            extra = len(shape) - len(target)
            if extra > 0 and all(extent == 1 for extent in shape[:extra]):
                shape = shape[extra:]
            np.broadcast_to(np.empty(shape, bool), target)
            node = self.broadcast(node, shape, target)
        cells.write_node(positions, node)

    def _masked(self, array: TracedArray, mask: TracedArray, value: Any) -> Any:
        """The whole array after a[mask] = value with a traced condition."""
        if not mask.boolean or mask.shape != array.shape:
            self._key(mask)
        if isinstance(value, Selected):
            if value.mask.node is not mask.node:
                raise value.refused("Elements selected by another condition are assigned")
            value = value.values
        elif np.ndim(value) != 0:
            raise Selected(self, array, mask).refused("An array is assigned to selected elements")
        return self.call(np.where, (mask, value, array), {})

    def assign_all(self, array: TracedArray, result: Any) -> None:
        """a += b and the like: write the result into a."""
        if np.shape(result) != array.shape:
            raise ValueError(f"non-broadcastable output operand with shape {array.shape}")
        kind = result.dtype if isinstance(result, TracedArray) else np.asarray(result).dtype
        if not is_symbolic(result) and array.known and not np.can_cast(kind, array.dtype, "same_kind"):
            raise TypeError(f"cannot cast {kind} to {array.dtype} in place")
        self.assign(array, ..., result)

    def copied(self, array: TracedArray) -> Any:
        """A new array with the same elements."""
        if array.known:
            return self.fresh(array.numbers)
        return self.array(array.node, array.shape, array.boolean)

    def cast(self, array: TracedArray, dtype: Any) -> Any:
        """a.astype(dtype)."""
        kind = np.dtype(dtype)
        if array.known:
            return self.fresh(array.numbers.astype(kind))
        if kind.kind == "f" and kind.itemsize >= 8:
            return self.array(array.node, array.shape)
        if kind.kind in "iu":
            return self.ufunc(np.trunc, (array,))
        if kind.kind == "b":
            return array if array.boolean else self.ufunc(np.not_equal, (array, 0.0))
        raise self.refused(
            refusal(
                f"Values of dtype {kind} cannot be traced.", "Use float (float64): the claim is about real numbers."
            )
        )


def _stripped(numbers: npt.NDArray[Any], ndim: int) -> npt.NDArray[Any]:
    while numbers.ndim > ndim and numbers.shape[0] == 1:
        numbers = numbers[0]
    return numbers

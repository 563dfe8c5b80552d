"""The tracer: turns each NumPy call of the user's function into nodes of one graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import TraceError, TraceIndexError, UnsupportedValue
from infimum.exact.number import Exact, ExactArray, exact
from infimum.graph.constant import constant
from infimum.graph.indexmap import of_view
from infimum.graph.node import Graph, Node
from infimum.tracing import arguments, kinds, python_kinds
from infimum.tracing.cells import Cells
from infimum.tracing.clock import Moment
from infimum.tracing.guards import caught
from infimum.tracing.kinds import bound_of, joined_kind, type_of
from infimum.tracing.nonfinite.absorbed import ABSORBING, Absorbed
from infimum.tracing.raising import never_raises
from infimum.tracing.ranges import Ends
from infimum.tracing.refusal import refusal, users_line
from infimum.tracing.selected import Selected
from infimum.tracing.traced import Shape, TracedArray
from infimum.tracing.values import has_exact, is_symbolic, plain, unknown

Operand = tuple[Node, Shape, bool]
Rule = Callable[..., Any]

_BEFORE = "This array was made before the call; a function that writes into it has a hidden state."
_VIEWED = "This array is, or has, a view that is not followed."
_COPY = "Write into a copy made inside the function: a = a.copy()."


class Tracer:
    """One run of the user's function: its graph, the variables x, and the rules for NumPy's functions.

    box: the ends of the domain, where it is known; the traced function denotes the user's there.
    """

    def __init__(self, n: int, ufuncs: dict[Any, Rule], functions: dict[Any, Rule], box: Ends | None = None) -> None:
        self.graph = Graph()
        self.n = n
        self.absorbed = Absorbed(self, box)
        self.mixed: set[Node] = set()  # numbers that are Python's own for some x, and NumPy's for others
        self.whole: set[Node] = set()  # those of them that are integers for some x
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
        if value == 0 and math.copysign(1.0, value) < 0:
            return self.constant_node(np.array([value], np.float64))
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
            return self.graph.node("constant", (), values.size, constant(exact(values)))
        zero = doubles == 0
        if np.any(zero & np.signbit(doubles)):
            return self._with_negative_zeros(doubles, zero)
        return self.graph.node("constant", (), values.size, constant(values if values.dtype.kind in "iu" else doubles))

    def _with_negative_zeros(self, doubles: npt.NDArray[np.float64], zero: npt.NDArray[np.bool_]) -> Node:
        """Constants of which some are -0.0: the negatives of others; what is both is not followed."""
        if np.all(np.signbit(doubles[zero])):
            return self.graph.node("neg", (self.graph.node("constant", (), zero.size, constant(-doubles)),), zero.size)
        return self.absorbed.zeros.forget(self.graph.node("constant", (), zero.size, constant(doubles)))

    def array(
        self, node: Node, shape: Shape, boolean: bool = False, kind: str = "f", bound: int = 0, like: Any = None
    ) -> TracedArray:
        """A new array with these elements, in memory in the order of `like`."""
        if not shape:
            return TracedArray(self, (), node, boolean=boolean, kind=kind, bound=bound)
        cells = Cells(self, node.size, None, node)
        return TracedArray(self, shape, None, cells, laid_out(like), boolean, kind, bound)

    def fresh(self, value: Any) -> Any:
        """What NumPy made, so that expressions can be written into it: arrays are wrapped, numbers are not."""
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            _no_subclass(value)
            cells = Cells(self, value.size, value.ravel().copy(), None)
            return TracedArray(self, value.shape, None, cells, laid_out(value), kind=_KINDS[value.dtype.kind])
        if type(value) is tuple or type(value) is list:
            return type(value)(self.fresh(v) for v in value)
        return value

    def given(self, value: npt.NDArray[Any]) -> Any:
        """An array made before the call: it can be read, not written."""
        if value.ndim == 0 or value.dtype.kind not in "biuf":
            return value[()] if value.ndim == 0 else value
        cells = Cells(self, value.size, value.ravel(), None)
        cells.frozen = _BEFORE
        return TracedArray(self, value.shape, None, cells, kind=_KINDS[value.dtype.kind])

    def operand(self, value: Any) -> Operand:
        """A value as (node, shape, whether it is true-or-false)."""
        if isinstance(value, TracedArray):
            return value.node, value.shape, value.boolean or value.dtype.kind == "b"
        if isinstance(value, bool | np.bool_):
            return self.number(float(value)), (), True
        if isinstance(value, int | float) and not isinstance(value, Moment):
            return self.number(value), (), False
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
            _no_subclass(value)
            return self.constant_node(np.ravel(value)), np.shape(value), value.dtype.kind == "b"
        if isinstance(value, Exact):
            return self._exact_number(value), (), False
        if isinstance(value, ExactArray):
            self.met_exact = True
            return self.graph.node("constant", (), value.size, constant(value)), value.shape, False
        if isinstance(value, Fraction | Decimal):
            return self.graph.node("constant", (), 1, constant(exact(value))), (), False
        if isinstance(value, list | tuple | np.ndarray):
            return self.operand(self.stacked(value))
        if isinstance(value, Moment):
            value < 0  # noqa: B015 (which refuses: the time is no number of the formula)
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
        if not any(isinstance(row, TracedArray | Exact | ExactArray | Fraction | Decimal) for row in rows):
            return self.fresh(np.array(rows))
        operands = [self.operand(row) for row in rows]
        shapes = {shape for _, shape, _ in operands}
        if len(shapes) > 1:
            raise ValueError(f"the rows of an array differ in shape: {', '.join(map(str, sorted(shapes)))}")
        pieces = [node for node, _, _ in operands]
        node = pieces[0] if len(pieces) == 1 else self.graph.node("concat", pieces, sum(p.size for p in pieces))
        kind = joined_kind(rows, "array")
        self.refuse_mixed(rows)
        bound = max(map(bound_of, rows)) if kind == "i" else 0
        return self.array(node, (len(rows), *shapes.pop()), kind=kind, bound=bound)

    def refuse_mixed(self, rows: list[Any]) -> None:
        """Refuse an array that is one of integers for some x: what is written into it then is rounded."""
        mixed = [isinstance(row, TracedArray) and row.scalar in self.whole for row in rows]
        if any(mixed) and not any(
            type_of(row) in _FLOATS for row, is_mixed in zip(rows, mixed, strict=True) if not is_mixed
        ):
            raise self.refused(
                refusal("The type of this array depends on x.", "Write np.maximum, or 0.0 in place of 0.")
            )

    def traced(self, value: Any) -> TracedArray:
        """A value as a traced array, whatever it was."""
        if isinstance(value, TracedArray):
            return value
        value = self.stacked(value) if isinstance(value, list | tuple) else value
        if isinstance(value, TracedArray):
            return value
        node, shape, _ = self.operand(value)
        dtype = np.dtype(type_of(value))
        kind = dtype.kind if dtype in (np.bool_, np.int64) else "f"
        return self.array(node, shape, kind=kind, bound=bound_of(value) if kind == "i" else 0)

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
        if any(map(has_exact, inputs)) and any(map(_is_short, inputs)):
            raise self.refused(
                refusal("NumPy would round the exact constant to few digits here.", "Use float64 numbers.")
            )
        target = kwargs.pop("out", None)
        if ufunc.nout > 1 and target is not None and method == "__call__":
            given = target if isinstance(target, tuple) else (target,)
            target = given + (None,) * (ufunc.nout - len(given))
        elif isinstance(target, tuple) and len(target) == 1:
            target = target[0]
        if method == "__call__":
            found = self._elementwise(ufunc, inputs, target, kwargs)
        else:
            found = self._ufunc_method(ufunc, method, inputs, kwargs)
        if isinstance(target, tuple):
            return tuple(f if one is None else self.into(one, f, True) for one, f in zip(target, found, strict=True))
        return found if target is None else self.into(target, found)

    def _elementwise(self, ufunc: np.ufunc, inputs: tuple[Any, ...], target: Any, kwargs: dict[str, Any]) -> Any:
        """The function without out=; under where= the elements of the target stay."""
        options = {name: value for name, value in kwargs.items() if not arguments.is_idle(name, value)}
        where = options.pop("where", True)
        if where is not True and (where is None or target is None or isinstance(target, tuple)):
            raise arguments.not_honoured(ufunc, "where")  # NumPy leaves the other elements unset
        found = self._of_elements(ufunc, inputs, options)
        return found if where is True else self.call(np.where, (where, found, target), {})

    def _of_elements(self, ufunc: np.ufunc, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        selected = next((v for v in inputs if isinstance(v, Selected)), None)
        symbolic = any(is_symbolic(value) for value in inputs) or _exact_beside_arrays(inputs)
        if not symbolic:
            try:
                return self.fresh(ufunc(*map(plain, inputs), **plain(options)))
            except UnsupportedValue:
                pass  # a function that exact constants do not know: its value is enclosed
        as_floats = options.get("dtype") is not None and np.dtype(options["dtype"]) == np.float64
        if as_floats and ufunc is not np.ldexp:
            options.pop("dtype")
            inputs = tuple(self.cast(self.traced(value), np.float64) for value in inputs)
        for name in options:
            raise arguments.not_honoured(ufunc, name)
        if selected is not None:
            return selected.elementwise(ufunc, inputs)
        if ufunc not in self._ufuncs:
            raise self.refused(unknown(ufunc))
        if ufunc in _OF_OBJECTS and any(isinstance(value, Fraction | Decimal) for value in inputs):
            raise refusal(f"np.{ufunc.__name__} of a Fraction gives an object.", "Write the comparison with 0.")
        operands = tuple(self.stacked(v) if isinstance(v, list | tuple) else v for v in inputs)
        found = kinds.elementwise(self, ufunc, self._ufuncs[ufunc], operands)
        template = layout(operands) if ufunc.signature is None else None
        if template is None:
            return found
        return (
            tuple(self.reordered(part, template) for part in found)
            if isinstance(found, tuple)
            else self.reordered(found, template)
        )

    def reordered(self, array: Any, template: Any) -> Any:
        """A new array whose elements lie in memory as those of the template."""
        if not isinstance(array, TracedArray) or array.cells is None:
            return array
        if array.known:
            return self.fresh(_filled(template, array))
        return self.array(array.node, array.shape, kind=array.kind, bound=bound_of(array), like=template)

    def _ufunc_method(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        symbolic = any(is_symbolic(value) for value in (*inputs, *kwargs.values()))
        if not symbolic and method != "at":
            return self.fresh(getattr(ufunc, method)(*map(plain, inputs), **plain(kwargs)))
        rule = self._functions.get((ufunc, method))
        if rule is not None:
            call = arguments.bound(arguments.METHODS[method], rule, inputs, kwargs)
            return rule(self, *call.args, **call.kwargs)
        if method == "outer" and not kwargs:
            a, b = (self.traced(value) for value in inputs)
            return self.ufunc(ufunc, (a.reshape(a.shape + (1,) * b.ndim), b))
        raise self.refused(refusal(f"np.{ufunc.__name__}.{method} cannot be traced.", "Write the formula another way."))

    def into(self, target: Any, found: Any, several: bool = False) -> Any:
        """out=: write what a function gave, maybe one of several results, into an array, by NumPy's casting rule."""
        if not isinstance(target, TracedArray):
            raise self.refused(refusal(_BEFORE, _COPY))
        own = type_of(found)
        if not np.can_cast(np.dtype(own), target.dtype, "same_kind"):
            raise TypeError(f"cannot cast the output from {np.dtype(own)} to {target.dtype} with rule 'same_kind'")
        if np.broadcast_shapes(np.shape(found), target.shape) != target.shape:
            raise ValueError(f"non-broadcastable output operand with shape {target.shape}")
        if several and np.shape(found) != target.shape:
            raise self.refused(
                refusal("NumPy spreads all results to the shape of out=.", "Give a target of that shape.")
            )
        self.assign(target, ..., found)
        return target

    def python_operator(self, ufunc: np.ufunc, *values: Any) -> Any:
        """An operator between Python's own numbers, of which a traced one came from float(), int() or .item()."""
        if ufunc not in self._ufuncs:
            raise self.refused(unknown(ufunc))
        return python_kinds.operator(self, ufunc, self._ufuncs[ufunc], values)

    def weak(self, value: Any) -> Any:
        """A number as .item() gives it."""
        return python_kinds.weak(self, value)

    def rounded(self, value: TracedArray, digits: Any) -> Any:
        """round(value, digits)."""
        return python_kinds.rounded(self, value, digits)

    def may_raise(self, name: str, *values: Any) -> None:
        """Refuse what raises an error for some numbers where the user's code may catch it."""
        if caught() and not never_raises(self, name, values):
            raise refusal(
                f"{name} raises an error for some numbers, and the code around it may catch that error.",
                "Write np.where(condition, a, b) with the condition under which it is defined, without try.",
            )

    def adopt(self, ufunc: np.ufunc, rule: Rule) -> None:
        """Know a universal function of another library."""
        self._ufuncs = {**self._ufuncs, ufunc: rule}

    def knows(self, function: Any) -> bool:
        """Whether there is a rule for this NumPy function."""
        return isinstance(function, np.ufunc) or function in self._functions

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a NumPy function gives."""
        if isinstance(function, np.ufunc):
            return self.ufunc(function, args[: function.nin], **arguments.with_out(function, args, kwargs))
        if args and isinstance(args[0], Selected):
            return args[0].reduced(function, args[1:], kwargs)
        rule = self._functions.get(function)
        if rule is None and not is_symbolic(args) and not is_symbolic(list(kwargs.values())):
            return self.plain_call(function, args, kwargs)
        if rule is None:
            raise self.refused(unknown(function))
        kwargs = dict(kwargs)
        args, target = arguments.split_out(function, args, kwargs)
        found = self._ruled(function, rule, args, kwargs)
        if target is None:
            return found
        if not isinstance(found, TracedArray) or not _holds(getattr(target, "dtype", found.dtype), type_of(found)):
            raise arguments.not_honoured(function, "out")
        return self.into(target, found)

    def plain_call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a function without a rule gives for plain numbers."""
        if has_exact(args) or has_exact(list(kwargs.values())):
            name = getattr(function, "__name__", repr(function))
            raise refusal(
                f"{name} would round an exact constant to a double.",
                "Use exact constants in formulas with elementary functions, or write float(c) before the function.",
            )
        if kwargs.get("out") is not None:
            raise arguments.not_honoured(function, "out")
        return self._apart(function, args, kwargs)

    def _apart(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What NumPy makes of plain numbers. An array and a view of it can then be read, but not written any more."""
        given = plain(args)
        found = function(*given, **plain(kwargs))
        made = self.fresh(found)
        pairs = zip(found, made, strict=True) if isinstance(found, list | tuple) else [(found, made)]
        for part, wrapped in pairs:
            for value, array in zip(args, given, strict=True):
                if isinstance(wrapped, TracedArray) and isinstance(value, TracedArray) and _share(part, array):
                    for one in (wrapped, value):
                        if one.cells is not None and not one.cells.frozen:
                            one.cells.frozen = _VIEWED
        return made

    def _ruled(self, function: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        views = getattr(rule, "keeps_views", False) and args and isinstance(args[0], TracedArray)
        values = (*args, *kwargs.values())
        if function in _ABOUT_SHAPES and len(values) == 1 and isinstance(args[0], ExactArray):
            return function(*args)
        if not views and not is_symbolic(values) and not has_exact(values):
            if function is np.clip and not arguments.is_idle("where", kwargs.get("where", True)):
                raise arguments.not_honoured(function, "where")  # NumPy leaves the other elements unset
            return self._apart(function, args, kwargs)
        call = arguments.bound(function, rule, args, kwargs)
        if call.as_floats:
            return rule(self, self._floats(call.args[0]), *call.args[1:], **call.kwargs)
        return rule(self, *call.args, **call.kwargs)

    def _floats(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._floats(part) for part in value]
        return self.cast(self.traced(value), np.float64)

    # Indexing

    def item(self, array: TracedArray, key: Any) -> Any:
        """a[key], sharing its cells where NumPy returns a view."""
        if isinstance(key, TracedArray) and not key.known and key.boolean and key.shape == array.shape:
            return Selected(self, self.copied(array), key)
        key = self._key(key)
        if array.cells is None:
            return self._scalar_item(array, key)
        base = array.positions()
        try:
            found = base[key]
        except IndexError as error:
            what = f"x has {self.n} variables here (n = {self.n}): " if array.cells is self.x else ""
            raise TraceIndexError(f"{users_line() or ''}\n  {what}{error}.") from error
        if not isinstance(found, np.ndarray):
            one = array.cells.element(int(found))
            return TracedArray(self, (), one, kind=array.kind, bound=array.bound) if isinstance(one, Node) else one
        return self.picked(array, found, np.may_share_memory(found, base))

    def _scalar_item(self, array: TracedArray, key: Any) -> Any:
        found = np.zeros((), np.int64)[key]
        if np.ndim(found) == 0:
            return array
        return self.array(self.sized(array.node, found.size), found.shape, kind=array.kind, bound=array.bound)

    def picked(self, array: TracedArray, positions: npt.NDArray[Any], shared: bool) -> Any:
        """The cells at these positions: a view of them, or a new array."""
        if positions.size == 0:
            return self.fresh(np.zeros(positions.shape, array.dtype))
        found = array.part(positions)
        if shared:
            return found
        if found.known:
            return self.fresh(found.numbers)
        return self.array(found.node, positions.shape, kind=array.kind, bound=bound_of(array), like=positions)

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
            raise refusal("A single number cannot be written into.", "Write a = ... to give the name a new value.")
        if cells.frozen:
            raise self.refused(refusal(cells.frozen, _COPY))
        if array.index is not None and not array.index.flags.writeable:
            raise refusal("This array can only be read: its elements stand for several places.", _COPY)
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
            cells.write_numbers(positions, numbers, array.dtype)

    def _write(self, array: TracedArray, cells: Cells, positions: Any, value: Any) -> None:
        value = self.stacked(value) if isinstance(value, list | tuple) else value
        node, shape, _ = self.operand(value)
        dtype = array.dtype
        if not _holds(dtype, type_of(value)):
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
        own = np.dtype(type_of(result))
        if not np.can_cast(own, array.dtype, "same_kind"):
            raise TypeError(f"cannot cast {own} to {array.dtype} in place with rule 'same_kind'")
        self.assign(array, ..., result)

    def copied(self, array: TracedArray, order: Any = "K") -> Any:
        """A new array with the same elements."""
        template = None if array.cells is None else np.copy(array.positions(), order)
        if array.known:
            return self.fresh(np.array(array.numbers, order="C") if template is None else _filled(template, array))
        found = self.array(array.node, array.shape, kind=array.kind, bound=bound_of(array), like=template)
        return found if array.cells is None or array.shape else self.boxed(found)

    def size_of(self, array: TracedArray) -> float:
        """A number that no element exceeds in size over the domain; infinity where none is known."""
        lo, hi = self.absorbed.ranges.of(array.node)
        return float(max(np.max(np.abs(lo), initial=0.0), np.max(np.abs(hi), initial=0.0)))

    def boxed(self, array: TracedArray) -> TracedArray:
        """A number as an array without axes, which can be written into."""
        if array.cells is not None:
            return array
        return TracedArray(self, (), None, Cells(self, 1, None, array.node), kind=array.kind.lower(), bound=array.bound)

    def cast(self, array: TracedArray, dtype: Any, copy: bool = True) -> Any:
        """a.astype(dtype).

        to           of expressions
        float64      the same numbers
        int64        the integer part; NaN and what is beyond int64 is its smallest number, as on most processors
        bool         whether it is not 0
        others       refused: they round or wrap
        """
        dtype = np.dtype(dtype)
        if dtype == array.dtype and not copy:
            return array
        if array.known:
            return self.fresh(_filled(array.positions(), array).astype(dtype))
        like = None if array.cells is None else array.positions()
        if dtype.kind == "f" and dtype.itemsize >= 8:
            node = array.node if array.kind not in "iI" else self.operation("add", (array.node, self.number(0.0)))
            return self.array(node, array.shape, like=like)  # the zero of an integer has no sign
        if dtype == np.int64 and array.kind in "bBiI":
            return self.array(array.node, array.shape, kind="i", bound=bound_of(array), like=like)
        size = self.size_of(array) if dtype == np.int64 else math.inf
        if size < 2.0**62 and self.absorbed.is_nan(array.node) is False:
            whole = self.apply("add", self.ufunc(np.trunc, (array,)), 0.0)  # the zero of an integer has no sign
            return self.array(whole.node, array.shape, kind="i", bound=math.ceil(size), like=like)
        if dtype == np.int64:
            inside = self.ufunc(np.less, (self.ufunc(np.absolute, (array,)), 2.0**63))
            whole = self.call(np.where, (inside, self.ufunc(np.trunc, (array,)), -(2.0**63)), {})
            whole = self.apply("add", whole, 0.0)
            return self.array(whole.node, array.shape, kind="i", bound=kinds.LIMIT, like=like)
        if dtype.kind == "b":
            return self.copied(array) if array.boolean else self.ufunc(np.not_equal, (array, 0.0))
        raise self.refused(
            refusal(
                f"Values of dtype {dtype} cannot be traced.", "Use float (float64): the claim is about real numbers."
            )
        )


_FLOATS = (float, np.dtype(float))
_KINDS = {"b": "b", "i": "i", "u": "i", "f": "f"}
_OF_OBJECTS = frozenset(
    {np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.isnan, np.isinf, np.isfinite}
)
_ABOUT_SHAPES = (np.sum, np.shape, np.ndim, np.size)


def _share(a: Any, b: Any) -> bool:
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)


def _no_subclass(value: Any) -> None:
    """Refuse matrices, masked arrays and their kind, whose operators mean something else."""
    if isinstance(value, np.ndarray) and type(value) not in (np.ndarray, np.memmap):
        raise refusal(f"A {type(value).__name__} computes in ways of its own.", "Write np.asarray(a) before.")


def laid_out(like: Any) -> Any:
    """The places of elements that lie in memory in another than row-major order, as those of `like`; else None."""
    if like is None or like.ndim < 2 or like.flags.c_contiguous:
        return None
    found = np.empty_like(like, np.int64, subok=False)
    if found.flags.c_contiguous:
        return None
    found[...] = np.arange(found.size).reshape(found.shape)
    return found


def _filled(template: Any, array: TracedArray) -> npt.NDArray[Any]:
    """The numbers of a known array, in memory in the order of the template."""
    found = np.empty_like(template, array.dtype)
    found[...] = array.numbers
    return found


def layout(operands: tuple[Any, ...]) -> Any:
    """An array that lies in memory as NumPy's result of these operands would; None where that is row-major."""
    places = [v.positions() if type(v) is TracedArray and v.cells is not None else v for v in operands]
    arrays = [v for v in places if isinstance(v, np.ndarray) and v.ndim > 1]
    if all(v.flags.c_contiguous for v in arrays):
        return None
    shapes = np.broadcast_shapes(*map(np.shape, operands))
    laid = [np.empty_like(v, np.int8) if isinstance(v, np.ndarray) else np.int8(0) for v in places]
    found = np.negative(laid[0]) if len(laid) == 1 else np.add(laid[0], laid[1])
    if len(laid) == 3:
        found = np.where(laid[0], laid[1], laid[2])
    return found if found.shape == shapes and not found.flags.c_contiguous else None


def _exact_beside_arrays(values: tuple[Any, ...]) -> bool:
    """Whether an exact constant meets an array of doubles, which knows no exact elements."""
    if not any(has_exact(value) for value in values):
        return False
    return any(isinstance(v, TracedArray | np.ndarray | list | tuple) and np.shape(v) for v in values)


def _is_short(value: Any) -> bool:
    """Whether a value is of float32 or float16."""
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f" and value.dtype.itemsize < 8


def _holds(dtype: np.dtype[Any], own: Any) -> bool:
    """Whether an array of this dtype takes expressions of that type as they are."""
    kind = np.dtype(own).kind
    if dtype.kind == "f":
        return dtype.itemsize >= 8
    return (dtype.kind == "b" and kind == "b") or (dtype == np.int64 and kind in "bi")


def _stripped(numbers: npt.NDArray[Any], ndim: int) -> npt.NDArray[Any]:
    while numbers.ndim > ndim and numbers.shape[0] == 1:
        numbers = numbers[0]
    return numbers

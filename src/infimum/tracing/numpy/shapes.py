"""NumPy functions that only move elements: reshape, concatenate, roll and their kind.

Each is applied to arrays of positions in place of the elements; what comes out says which element goes where.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.graph.indexmap import of_indices
from infimum.tracing.buffer import Buffer
from infimum.tracing.calls import freeze, keeps_views
from infimum.tracing.dtypes import bound_of, joined_kind
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import is_symbolic, plain


def _view(function: Any) -> Rule:
    """Return the rule of a function that rearranges one array and returns a view wherever NumPy does."""

    @keeps_views
    def rule(t: Tracer, a: Any, *args: Any, **kwargs: Any) -> Any:
        a = t.traced(a)
        if a.buffer is None:
            a = TracedArray(t, (), None, Buffer(t, 1, None, a.node), kind=a.kind, bound=a.bound)
        base = a.positions()
        found = function(base, *plain(args), **plain(kwargs))
        if function is np.resize and not a.size:
            raise refusal("np.resize of no elements gives zeros.", "Write np.zeros.")
        if isinstance(found, list | tuple):
            return type(found)(_picked(t, a, part, base) for part in found)
        return _picked(t, a, found, base)

    return rule


def _picked(t: Tracer, a: TracedArray, found: Any, base: Any) -> Any:
    if isinstance(found, np.ndarray) and not found.ndim and np.may_share_memory(found, base):
        return a.part(found)
    if np.ndim(found) == 0:
        assert a.buffer is not None
        return t.array(a.buffer.gather(np.ravel(found)), (), kind=a.kind, bound=bound_of(a))
    return t.picked(a, found, np.may_share_memory(found, base))


def _moved(function: Any, *data: int) -> Rule:
    """Return the rule of a function that puts elements of several arrays in new places, and zeros elsewhere."""

    def rule(t: Tracer, *args: Any, **kwargs: Any) -> Any:
        pieces: list[Any] = []
        used = [1]  # 0 stands for the zeros that NumPy fills in

        def numbered(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return [numbered(part) for part in value]
            node, shape, _ = t.operand(value)
            first = used[0]
            used[0] += node.size
            pieces.append((node, value))
            numbers = np.arange(first, used[0], dtype=np.int64).reshape(shape)
            if isinstance(value, TracedArray) and value.index is not None and not value.index.flags.c_contiguous:
                laid = np.empty_like(value.index)
                laid[...] = numbers
                return laid
            return numbers

        arguments = [numbered(a) if i in data else plain(a) for i, a in enumerate(args)]
        found = function(*arguments, **plain(kwargs))
        nodes = [node for node, _ in pieces if node.size] or [pieces[0][0]]
        total = used[0] - 1
        source = nodes[0] if len(nodes) == 1 else t.graph.node("concat", nodes, total)
        kind = joined_kind([value for _, value in pieces], function.__name__)
        bound = max(bound_of(value) for _, value in pieces) if kind == "i" else 0

        def placed(index: Any) -> Any:
            if index.size == 0:
                return t.fresh(np.zeros(index.shape, {"f": float, "b": bool, "i": np.int64}[kind]))
            flat = np.ravel(index) - 1
            if flat.size == total and np.array_equal(flat, np.arange(total)):
                return t.array(source, index.shape, kind=kind, bound=bound, like=index)
            way = of_indices(flat, total)
            return t.array(
                t.graph.node("take", (source,), way.size, way), index.shape, kind=kind, bound=bound, like=index
            )

        return type(found)(placed(part) for part in found) if isinstance(found, list | tuple) else placed(found)

    rule.refuses = ("dtype", "casting")  # type: ignore[attr-defined]
    return rule


def _compress(t: Tracer, condition: Any, a: Any, axis: Any = None) -> Any:
    """Return np.compress or np.extract, whose condition must be known."""
    if is_symbolic(condition):
        return t.traced(a).reshape(-1)[t.traced(condition).reshape(-1)] if axis is None else plain(condition)
    return _view(lambda base: np.compress(plain(condition), base, axis=axis))(t, a)


def _extract(t: Tracer, condition: Any, arr: Any) -> Any:
    flat = t.traced(arr).reshape(-1)
    return _compress(t, t.call(np.ravel, (t.unlisted(condition),)), flat)


def _at_least(function: Any) -> Rule:
    rule = _view(function)

    @keeps_views
    def each(t: Tracer, *arys: Any) -> Any:
        found = tuple(rule(t, a) for a in arys)
        return found[0] if len(found) == 1 else found

    return each


def _insert(t: Tracer, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Return np.insert; the values take the type of the array."""
    arr = t.traced(arr)
    values = t.cast(t.traced(values), arr.dtype, copy=False)
    return _moved(np.insert, 0, 2)(t, arr, obj, values, **({} if axis is None else {"axis": axis}))


def _diag(t: Tracer, v: Any, k: int = 0) -> Any:
    found = _moved(np.diag, 0)(t, v, k)
    if np.ndim(v) == 2:
        freeze(found, v)
    return found


def _size(t: Tracer, a: Any, axis: Any = None) -> Any:
    shape = np.shape(a) if not isinstance(a, list | tuple) else t.stacked(a).shape
    return np.size(np.broadcast_to(0, shape), plain(axis))


def _broadcast_arrays(t: Tracer, *arrays: Any) -> Any:
    shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
    return tuple(t.call(np.broadcast_to, (t.traced(a), shape)) for a in arrays)


def _meshgrid(t: Tracer, *arrays: Any, sparse: bool = False, indexing: str = "xy") -> Any:
    places = [np.arange(np.size(a)).reshape(np.shape(a)) for a in arrays]
    grids: Any = np.meshgrid(*places, sparse=sparse, indexing=indexing)  # type: ignore[call-overload]
    return tuple(t.traced(a).reshape(-1)[grid] for a, grid in zip(arrays, grids, strict=True))


def _pad(t: Tracer, array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    zeros = not is_symbolic(constant_values) and np.all(np.asarray(plain(constant_values)) == 0)
    if mode in ("edge", "wrap", "reflect", "symmetric") or (mode == "constant" and zeros):
        return _moved(np.pad, 0)(t, array, plain(pad_width), mode)
    raise refusal("np.pad with these arguments cannot be traced.", "Write np.concatenate with the values to add.")


def _unstack(t: Tracer, a: Any, *, axis: int = 0) -> Any:
    return tuple(t.call(np.moveaxis, (a, axis, 0)))


def _take_along_axis(t: Tracer, a: Any, indices: Any, axis: Any = -1) -> Any:
    return _view(np.take_along_axis)(t, a, np.asarray(plain(indices)), axis)


_VIEWS = (
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "rollaxis", "expand_dims", "squeeze", "broadcast_to",
    "flip", "fliplr", "flipud", "rot90", "roll", "tile", "repeat", "take",
    "diagonal", "split", "array_split", "hsplit", "vsplit", "dsplit", "delete", "resize", "matrix_transpose",
    "permute_dims",
)  # fmt: skip

FUNCTIONS: dict[Any, Rule] = {getattr(np, name): _view(getattr(np, name)) for name in _VIEWS if hasattr(np, name)}
FUNCTIONS |= {
    getattr(np, name): _moved(getattr(np, name), *data)
    for name, data in {
        "concatenate": (0,), "stack": (0,), "hstack": (0,), "vstack": (0,), "dstack": (0,), "column_stack": (0,),
        "row_stack": (0,), "block": (0,), "append": (0, 1), "diagflat": (0,),
        "tril": (0,), "triu": (0,),
    }.items()
    if hasattr(np, name)
}  # fmt: skip
FUNCTIONS |= {
    np.atleast_1d: _at_least(np.atleast_1d), np.atleast_2d: _at_least(np.atleast_2d),
    np.atleast_3d: _at_least(np.atleast_3d), np.diag: _diag, np.insert: _insert, np.compress: _compress,
    np.extract: _extract, np.size: _size, np.shape: lambda t, a: t.traced(a).shape,
    np.ndim: lambda t, a: t.traced(a).ndim, np.broadcast_arrays: _broadcast_arrays, np.meshgrid: _meshgrid,
    np.pad: _pad, np.take_along_axis: _take_along_axis, np.real: lambda t, a: t.traced(a),
    np.isscalar: lambda t, a: isinstance(a, TracedArray) and a.buffer is None,
    np.iscomplexobj: lambda t, a: False, np.isrealobj: lambda t, a: True,
}  # fmt: skip
if hasattr(np, "unstack"):
    FUNCTIONS[np.unstack] = _unstack

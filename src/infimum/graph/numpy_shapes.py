"""NumPy functions that only move elements: reshape, concatenate, roll and their kind.

Each is applied to arrays of positions in place of the elements; what comes out says which element goes where.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.graph.cells import Cells
from infimum.graph.indexmap import of_indices
from infimum.graph.refusal import refusal
from infimum.graph.traced import TracedArray
from infimum.graph.tracer import Rule, Tracer
from infimum.graph.values import plain


def _view(function: Any) -> Rule:
    """A function that rearranges one array and returns a view wherever NumPy does."""

    def rule(t: Tracer, a: Any, *args: Any, **kwargs: Any) -> Any:
        a = t.traced(a)
        if a.cells is None:
            a = TracedArray(t, (), None, Cells(t, 1, None, a.node), boolean=a.boolean)
        base = a.positions()
        found = function(base, *plain(args), **plain(kwargs))
        if isinstance(found, list | tuple):
            return type(found)(_picked(t, a, part, base) for part in found)
        return _picked(t, a, found, base)

    rule.keeps_views = True  # type: ignore[attr-defined]
    return rule


def _picked(t: Tracer, a: TracedArray, found: Any, base: Any) -> Any:
    if np.ndim(found) == 0:
        assert a.cells is not None
        return a if not a.shape and a.scalar is not None else t.array(a.cells.gather(np.ravel(found)), (), a.boolean)
    return t.picked(a, found, np.may_share_memory(found, base))


def _moved(function: Any, *data: int) -> Rule:
    """A function that puts elements of several arrays in new places, and zeros elsewhere."""

    def rule(t: Tracer, *args: Any, **kwargs: Any) -> Any:
        pieces: list[Any] = []
        used = [1]  # 0 stands for the zeros that NumPy fills in

        def numbered(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return [numbered(part) for part in value]
            node, shape, boolean = t.operand(value)
            first = used[0]
            used[0] += node.size
            pieces.append((node, boolean))
            return np.arange(first, used[0], dtype=np.int64).reshape(shape)

        arguments = [numbered(a) if i in data else plain(a) for i, a in enumerate(args)]
        found = function(*arguments, **plain(kwargs))
        nodes = [node for node, _ in pieces if node.size] or [pieces[0][0]]
        total = used[0] - 1
        source = nodes[0] if len(nodes) == 1 else t.graph.node("concat", nodes, total)
        boolean = all(b for _, b in pieces)

        def placed(index: Any) -> Any:
            if index.size == 0:
                return t.fresh(np.zeros(index.shape))
            flat = np.ravel(index) - 1
            if flat.size == total and np.array_equal(flat, np.arange(total)):
                return t.array(source, index.shape, boolean)
            way = of_indices(flat, total)
            return t.array(t.graph.node("take", (source,), way.size, way), index.shape, boolean)

        return type(found)(placed(part) for part in found) if isinstance(found, list | tuple) else placed(found)

    return rule


def _asarray(t: Tracer, a: Any, dtype: Any = None, *args: Any, copy: Any = None, **kwargs: Any) -> Any:
    """np.asarray and its kind: the array itself, or a list made an array."""
    found = t.stacked(a) if isinstance(a, list | tuple) else t.traced(a)
    kind = np.dtype(dtype) if dtype is not None else found.dtype
    if kind != found.dtype and not (kind.kind == "f" and kind.itemsize >= 8 and found.dtype.kind == "f"):
        found = t.cast(found, kind)
    return found


_asarray.keeps_views = True  # type: ignore[attr-defined]


def _array(t: Tracer, a: Any, dtype: Any = None, copy: Any = True, ndmin: int = 0, **kwargs: Any) -> Any:
    found = _asarray(t, a, dtype)
    found = found.copy() if isinstance(a, TracedArray) else found
    return found.reshape((1,) * (ndmin - found.ndim) + found.shape) if found.ndim < ndmin else found


def _like(value: float | None) -> Rule:
    def rule(t: Tracer, a: Any, *args: Any, dtype: Any = None, shape: Any = None, **kwargs: Any) -> Any:
        fill = args[0] if value is None else value
        if value is not None and args:
            dtype = args[0]
        kind = np.dtype(dtype) if dtype is not None else (a.dtype if isinstance(a, TracedArray) else np.dtype(float))
        found = t.fresh(np.zeros(np.shape(a) if shape is None else shape, kind))
        if fill != 0 if isinstance(fill, int | float) else True:
            if not np.shape(found):
                return t.traced(fill)
            found[...] = fill
        return found

    return rule


def _full(t: Tracer, shape: Any, fill: Any, dtype: Any = None, **kwargs: Any) -> Any:
    found = t.fresh(np.zeros(plain(shape)))
    if not np.shape(found):
        return t.traced(fill)
    found[...] = fill
    return found


def _copyto(t: Tracer, target: Any, source: Any, **kwargs: Any) -> None:
    if kwargs.get("where", True) is not True:
        source = t.call(np.where, (kwargs["where"], source, target), {})
    t.assign(target, ..., source)


def _fill_diagonal(t: Tracer, a: Any, value: Any, wrap: bool = False) -> None:
    rows = np.arange(min(np.shape(a)))
    t.assign(a, (rows,) * np.ndim(a), value)


def _put(t: Tracer, a: Any, at: Any, values: Any, mode: str = "raise") -> None:
    t.assign(a.reshape(-1), np.asarray(plain(at)), values)


for _writes in (_copyto, _fill_diagonal, _put):
    _writes.keeps_views = True  # type: ignore[union-attr]


def _add_at(t: Tracer, a: Any, at: Any, values: Any) -> None:
    """np.add.at on one axis: an index that comes twice adds twice."""
    places = np.atleast_1d(np.asarray(plain(at)))
    wide = t.call(np.broadcast_to, (t.traced(values), places.shape), {})
    for k, place in enumerate(places.tolist()):
        t.assign(a, place, a[place] + wide[k])


def _size(t: Tracer, a: Any, axis: Any = None) -> Any:
    shape = np.shape(a) if not isinstance(a, list | tuple) else t.stacked(a).shape
    return int(np.prod(shape)) if axis is None else shape[axis]


def _split_axis(name: str) -> Rule:
    return _view(getattr(np, name))


def _broadcast_arrays(t: Tracer, *arrays: Any, **kwargs: Any) -> Any:
    shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
    return tuple(t.call(np.broadcast_to, (t.traced(a), shape), {}) for a in arrays)


def _meshgrid(t: Tracer, *arrays: Any, **kwargs: Any) -> Any:
    return tuple(_moved(lambda *a, i=i, **k: np.meshgrid(*a, **k)[i], *range(len(arrays)))(t, *arrays, **kwargs)
                 for i in range(len(arrays)))  # fmt: skip


def _pad(t: Tracer, a: Any, width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    values = kwargs.get("constant_values", 0)
    if (not callable(mode) and mode in ("edge", "wrap", "reflect", "symmetric")) or np.all(np.asarray(values) == 0):
        return _moved(np.pad, 0)(t, a, width, mode, **{k: v for k, v in kwargs.items() if k != "constant_values"})
    raise refusal("np.pad with these arguments cannot be traced.", "Write np.concatenate with the values to add.")


def _unstack(t: Tracer, a: Any, *, axis: int = 0) -> Any:
    return tuple(t.call(np.moveaxis, (a, axis, 0), {}))


def _take_along_axis(t: Tracer, a: Any, indices: Any, axis: Any = -1) -> Any:
    return _view(np.take_along_axis)(t, a, np.asarray(plain(indices)), axis)


_VIEWS = (
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "rollaxis", "expand_dims", "squeeze", "broadcast_to",
    "atleast_1d", "atleast_2d", "atleast_3d", "flip", "fliplr", "flipud", "rot90", "roll", "tile", "repeat", "take",
    "diagonal", "split", "array_split", "hsplit", "vsplit", "delete", "resize", "compress", "matrix_transpose",
    "permute_dims",
)  # fmt: skip

FUNCTIONS: dict[Any, Rule] = {getattr(np, name): _view(getattr(np, name)) for name in _VIEWS if hasattr(np, name)}
FUNCTIONS |= {
    getattr(np, name): _moved(getattr(np, name), *data)
    for name, data in {
        "concatenate": (0,), "stack": (0,), "hstack": (0,), "vstack": (0,), "dstack": (0,), "column_stack": (0,),
        "row_stack": (0,), "block": (0,), "append": (0, 1), "insert": (0, 2), "diag": (0,), "diagflat": (0,),
        "tril": (0,), "triu": (0,),
    }.items()
    if hasattr(np, name)
}  # fmt: skip
FUNCTIONS |= {
    np.asarray: _asarray,
    np.asanyarray: _asarray,
    np.ascontiguousarray: _asarray,
    np.asarray_chkfinite: _asarray,
    np.array: _array,
    np.copy: lambda t, a, *args, **kwargs: t.traced(a).copy(),
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.empty_like: _like(0.0),
    np.full_like: _like(None),
    np.full: _full,
    np.copyto: _copyto,
    np.fill_diagonal: _fill_diagonal,
    np.put: _put,
    (np.add, "at"): _add_at,
    np.size: _size,
    np.shape: lambda t, a: t.traced(a).shape,
    np.ndim: lambda t, a: t.traced(a).ndim,
    np.broadcast_arrays: _broadcast_arrays,
    np.meshgrid: _meshgrid,
    np.pad: _pad,
    np.take_along_axis: _take_along_axis,
    np.real: lambda t, a: t.traced(a),
    np.isscalar: lambda t, a: isinstance(a, TracedArray) and not a.shape,
    np.iscomplexobj: lambda t, a: False,
    np.isrealobj: lambda t, a: True,
}
if hasattr(np, "unstack"):
    FUNCTIONS[np.unstack] = _unstack

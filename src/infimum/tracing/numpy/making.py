"""Functions that make an array (of a list, like another one, filled with a value) or write into one."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.tracing.calls import keeps_views
from infimum.tracing.dtypes import type_of
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import plain


@keeps_views
def _asarray(t: Tracer, a: Any, dtype: Any = None, copy: Any = None) -> Any:
    """Return the array itself, or a list as an array: np.asarray and its relatives."""
    found = t.stacked(a) if isinstance(a, list | tuple) else t.boxed(t.traced(a))
    found = found if dtype is None else t.boxed(t.cast(found, dtype, copy=False))
    if copy is False and not (isinstance(a, TracedArray) and found is a):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return t.copied(found) if copy and found is a else found


@keeps_views
def _contiguous(t: Tracer, a: Any, dtype: Any = None) -> Any:
    found = _asarray(t, a, dtype)
    if not found.shape:
        return found.reshape(1)
    return found if found.positions().flags.c_contiguous else t.copied(found, "C")


@keeps_views
def _array(t: Tracer, a: Any, dtype: Any = None, copy: Any = True, ndmin: int = 0) -> Any:
    found = _asarray(t, a, dtype, copy)
    return found.reshape((1,) * (ndmin - found.ndim) + found.shape) if found.ndim < ndmin else found


def _like(value: float) -> Rule:
    def rule(t: Tracer, a: Any, dtype: Any = None, shape: Any = None) -> Any:
        return _full_like(t, a, value, dtype, shape)

    return rule


def _full_like(t: Tracer, a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    a = t.traced(a)
    found = _full(t, a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype)
    return found if a.buffer is None or shape is not None else t.reordered(found, a.positions())


def _full(t: Tracer, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    fill = t.unlisted(fill_value)
    if dtype is None:
        t.refuse_mixed([fill])
    kind = np.dtype(type_of(fill) if dtype is None else dtype)
    found = t.fresh(np.zeros(plain(shape), kind))
    t.assign(found, ..., fill)
    return found


@keeps_views
def _copyto(t: Tracer, dst: Any, src: Any, where: Any = True) -> None:
    if where is not True:
        src = t.call(np.where, (where, src, dst))
    t.into(dst, src)


@keeps_views
def _fill_diagonal(t: Tracer, a: Any, val: Any) -> None:
    if np.ndim(val):
        raise refusal("np.fill_diagonal with an array is not offered.", "Write a[range(n), range(n)] = values.")
    rows = np.arange(min(np.shape(a)))
    t.assign(a, (rows,) * np.ndim(a), val)


@keeps_views
def _put(t: Tracer, a: Any, ind: Any, v: Any) -> None:
    at, values = np.asarray(plain(ind)), t.traced(v)
    if values.size not in (1, at.size):
        raise refusal("np.put with fewer values than places is not offered.", "Give one value for each place.")
    t.assign(a.part(a.positions().ravel()), at.ravel(), values.reshape(-1))


@keeps_views
def _putmask(t: Tracer, a: Any, mask: Any, values: Any) -> None:
    if np.ndim(values):
        raise refusal(
            "np.putmask and np.place with several values are not offered.", "Write np.where(mask, values, a)."
        )
    t.assign(a, ..., t.call(np.where, (mask, values, a)))


def _add_at(t: Tracer, a: Any, indices: Any, b: Any) -> None:
    """Do np.add.at: an index that comes twice adds twice."""
    places = a.positions()[plain(indices)]
    wide = t.call(np.broadcast_to, (t.traced(b), np.shape(places))).reshape(-1)
    for k, place in enumerate(np.ravel(places)):
        one = a.part(np.array([place]))
        t.into(one, one + wide[k])


FUNCTIONS: dict[Any, Rule] = {
    np.asarray: _asarray, np.asanyarray: _asarray, np.asarray_chkfinite: _asarray, np.ascontiguousarray: _contiguous,
    np.array: _array, np.copy: lambda t, a: t.copied(t.traced(a)),
    np.zeros_like: _like(0), np.ones_like: _like(1), np.full_like: _full_like, np.full: _full,
    np.putmask: _putmask, np.place: _putmask, np.copyto: _copyto, np.fill_diagonal: _fill_diagonal, np.put: _put,
    (np.add, "at"): _add_at,
}  # fmt: skip
if hasattr(np, "astype"):
    FUNCTIONS[np.astype] = lambda t, x, dtype, copy=True: t.cast(t.traced(x), dtype, copy)

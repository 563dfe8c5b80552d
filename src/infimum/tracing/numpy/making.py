"""Functions that make an array: of a list, like another one, filled with a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.tracing.dtypes import type_of
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import plain


def _asarray(t: Tracer, a: Any, dtype: Any = None, copy: Any = None) -> Any:
    """np.asarray and its kind: the array itself, or a list made an array."""
    found = t.stacked(a) if isinstance(a, list | tuple) else t.boxed(t.traced(a))
    found = found if dtype is None else t.boxed(t.cast(found, dtype, copy=False))
    if copy is False and not (isinstance(a, TracedArray) and found is a):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return t.copied(found) if copy and found is a else found


_asarray.keeps_views = True  # type: ignore[attr-defined]


def _contiguous(t: Tracer, a: Any, dtype: Any = None) -> Any:
    found = _asarray(t, a, dtype)
    if not found.shape:
        return found.reshape(1)
    return found if found.positions().flags.c_contiguous else t.copied(found, "C")


_contiguous.keeps_views = True  # type: ignore[attr-defined]


def _array(t: Tracer, a: Any, dtype: Any = None, copy: Any = True, ndmin: int = 0) -> Any:
    found = _asarray(t, a, dtype, copy)
    return found.reshape((1,) * (ndmin - found.ndim) + found.shape) if found.ndim < ndmin else found


_array.keeps_views = True  # type: ignore[attr-defined]


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


FUNCTIONS: dict[Any, Rule] = {
    np.asarray: _asarray, np.asanyarray: _asarray, np.asarray_chkfinite: _asarray, np.ascontiguousarray: _contiguous,
    np.array: _array, np.copy: lambda t, a: t.copied(t.traced(a)),
    np.zeros_like: _like(0), np.ones_like: _like(1), np.full_like: _full_like, np.full: _full,
}  # fmt: skip
if hasattr(np, "astype"):
    FUNCTIONS[np.astype] = lambda t, x, dtype, copy=True: t.cast(t.traced(x), dtype, copy)

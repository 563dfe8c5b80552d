"""a.astype(dtype), and what an array of a dtype can hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.tracing.dtypes import LIMIT, bound_of, unsigned_zero
from infimum.tracing.layout import filled
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer


def cast(t: Tracer, array: TracedArray, dtype: Any, copy: bool = True) -> Any:
    """Return a.astype(dtype).

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
        return t.fresh(filled(array.positions(), array).astype(dtype))
    like = None if array.buffer is None else array.positions()
    if dtype.kind == "f" and dtype.itemsize >= 8:
        node = array.node if array.kind not in "iI" else t.operation("add", (array.node, t.number(0.0)))
        return t.array(node, array.shape, like=like)
    if dtype == np.int64:
        whole, bound = _integers(t, array)
        return t.array(whole.node, array.shape, kind="i", bound=bound, like=like)
    if dtype.kind == "b":
        return t.copied(array) if array.boolean else t.ufunc(np.not_equal, (array, 0.0))
    raise refusal(f"Values of dtype {dtype} cannot be traced.", "Use float (float64): the claim is about real numbers.")


def _integers(t: Tracer, array: TracedArray) -> tuple[TracedArray, int]:
    """Return the elements as int64, and a number that none of them exceeds in size."""
    if array.kind in "bBiI":
        return array, bound_of(array)
    size = size_of(t, array)
    if size < 2.0**62 and t.nonfinite.is_nan(array.node) is False:
        return unsigned_zero(t, t.ufunc(np.trunc, (array,))), math.ceil(size)
    inside = t.ufunc(np.less, (t.ufunc(np.absolute, (array,)), 2.0**63))
    whole = t.call(np.where, (inside, t.ufunc(np.trunc, (array,)), -(2.0**63)))
    return unsigned_zero(t, whole), LIMIT


def size_of(t: Tracer, array: TracedArray) -> float:
    """Return a number that no element exceeds in size over the domain; infinity where none is known."""
    lo, hi = t.nonfinite.ranges.of(array.node)
    return float(max(np.max(np.abs(lo), initial=0.0), np.max(np.abs(hi), initial=0.0)))


def holds(dtype: np.dtype[Any], own: Any) -> bool:
    """Return whether an array of this dtype takes expressions of that type as they are."""
    kind = np.dtype(own).kind
    if dtype.kind == "f":
        return dtype.itemsize >= 8
    return (dtype.kind == "b" and kind == "b") or (dtype == np.int64 and kind in "bi")

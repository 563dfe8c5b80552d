"""Copies of an array: in another order of memory, of another dtype. The order decides what NumPy's views are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infimum.tracing.dtypes import LIMIT, bound_of, unsigned_zero
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer


def laid_out(like: Any) -> Any:
    """Return the places of elements that lie in memory as those of `like`, None where that is row-major order."""
    if like is None or like.ndim < 2 or like.flags.c_contiguous:
        return None
    found = np.empty_like(like, np.int64, subok=False)
    if found.flags.c_contiguous:
        return None
    found[...] = np.arange(found.size).reshape(found.shape)
    return found


def layout(operands: tuple[Any, ...]) -> Any:
    """Return an array that lies in memory as NumPy's result of these operands would; None where that is row-major."""
    places = [v.positions() if type(v) is TracedArray and v.buffer is not None else v for v in operands]
    arrays = [v for v in places if isinstance(v, np.ndarray) and v.ndim > 1]
    if all(v.flags.c_contiguous for v in arrays):
        return None
    shapes = np.broadcast_shapes(*map(np.shape, operands))
    laid = [np.empty_like(v, np.int8) if isinstance(v, np.ndarray) else np.int8(0) for v in places]
    found = np.negative(laid[0]) if len(laid) == 1 else np.add(laid[0], laid[1])
    if len(laid) == 3:
        found = np.where(laid[0], laid[1], laid[2])
    return found if found.shape == shapes and not found.flags.c_contiguous else None


def reordered(t: Tracer, array: Any, template: Any) -> Any:
    """Return a new array whose elements lie in memory as those of the template."""
    if not isinstance(array, TracedArray) or array.buffer is None:
        return array
    if array.known:
        return t.fresh(filled(template, array))
    return t.array(array.node, array.shape, kind=array.kind, bound=bound_of(array), like=template)


def copied(t: Tracer, array: TracedArray, order: Any = "K") -> Any:
    """Return a new array with the same elements."""
    template = None if array.buffer is None else np.copy(array.positions(), order)
    if array.known:
        return t.fresh(np.array(array.numbers, order="C") if template is None else filled(template, array))
    found = t.array(array.node, array.shape, kind=array.kind, bound=bound_of(array), like=template)
    return found if array.buffer is None or array.shape else t.boxed(found)


def filled(template: Any, array: TracedArray) -> npt.NDArray[Any]:
    """Return the numbers of a known array, in memory in the order of the template."""
    found = np.empty_like(template, array.dtype)
    found[...] = array.numbers
    return found


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

"""The order of an array's elements in memory, which decides what NumPy's views and copies are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infimum.tracing.dtypes import bound_of
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

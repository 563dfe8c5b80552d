"""Reading and writing elements: a[key], a[key] = value, a += b, out=."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infimum.errors import TraceIndexError
from infimum.graph.node import Node
from infimum.tracing.buffer import Buffer
from infimum.tracing.copies import holds
from infimum.tracing.dtypes import bound_of, type_of
from infimum.tracing.refusal import MADE_BEFORE, WRITE_A_COPY, refusal, users_line
from infimum.tracing.selected import Selected
from infimum.tracing.traced import TracedArray
from infimum.tracing.values import has_exact, is_symbolic, plain

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer


def item(t: Tracer, array: TracedArray, key: Any) -> Any:
    """Return a[key], which shares the buffer where NumPy returns a view."""
    if isinstance(key, TracedArray) and not key.known and key.boolean and key.shape == array.shape:
        return Selected(t, t.copied(array), key)
    key = _known_key(t, key)
    if array.buffer is None:
        return _scalar_item(t, array, key)
    base = array.positions()
    try:
        found = base[key]
    except IndexError as error:
        what = f"x has {t.n} variables here (n = {t.n}): " if array.buffer is t.x else ""
        raise TraceIndexError(f"{users_line() or ''}\n  {what}{error}.") from error
    if not isinstance(found, np.ndarray):
        one = array.buffer.element(int(found))
        return TracedArray(t, (), one, kind=array.kind, bound=array.bound) if isinstance(one, Node) else one
    return picked(t, array, found, np.may_share_memory(found, base))


def _scalar_item(t: Tracer, array: TracedArray, key: Any) -> Any:
    found = np.zeros((), np.int64)[key]
    if np.ndim(found) == 0:
        return array
    return t.array(t.sized(array.node, found.size), found.shape, kind=array.kind, bound=array.bound)


def picked(t: Tracer, array: TracedArray, positions: npt.NDArray[Any], shared: bool) -> Any:
    """Return the elements at these positions of the buffer: a view of them, or a new array."""
    if positions.size == 0:
        return t.fresh(np.zeros(positions.shape, array.dtype))
    found = array.part(positions)
    if shared:
        return found
    if found.known:
        return t.fresh(found.numbers)
    return t.array(found.node, positions.shape, kind=array.kind, bound=bound_of(array), like=positions)


def _known_key(t: Tracer, key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(_known_key(t, part) for part in key)
    if isinstance(key, slice):
        return slice(*(_known_key(t, part) for part in (key.start, key.stop, key.step)))
    if is_symbolic(key):
        raise refusal(
            "An index must be known, but this one stands for a whole range here.",
            "Write np.where or np.select over the elements it may choose from.",
        )
    return plain(key)


def assign(t: Tracer, array: Any, key: Any, value: Any) -> None:
    """Do a[key] = value."""
    buffer = _writable(t, array)
    if is_symbolic(key) and isinstance(key, TracedArray):
        key, value = ..., _masked(t, array, key, value)
    at = array.positions()[_known_key(t, key)]
    positions = at if isinstance(at, np.ndarray) else int(at)
    if is_symbolic(value) or has_exact(value):
        _write(t, array, positions, value)
    else:
        numbers = np.asarray(plain(value))
        if isinstance(positions, np.ndarray) and numbers.shape != positions.shape:
            numbers = np.broadcast_to(_stripped(numbers, positions.ndim), positions.shape)
        buffer.write_numbers(positions, numbers, array.dtype)


def _writable(t: Tracer, array: Any) -> Buffer:
    """Return the buffer of an array that may be written into; refuse the others."""
    if not isinstance(array, TracedArray):
        raise refusal(MADE_BEFORE, WRITE_A_COPY)
    if array.buffer is None:
        raise refusal("A single number cannot be written into.", "Write a = ... to give the name a new value.")
    if array.buffer.frozen:
        raise refusal(array.buffer.frozen, WRITE_A_COPY)
    if array.index is not None and not array.index.flags.writeable:
        raise refusal("This array can only be read: its elements stand for several places.", WRITE_A_COPY)
    return array.buffer


def _write(t: Tracer, array: TracedArray, positions: Any, value: Any) -> None:
    """Write expressions into an array."""
    value = t.unlisted(value)
    node, shape, _ = t.operand(value)
    dtype = array.dtype
    if not holds(dtype, type_of(value)):
        raise refusal(f"This array holds {dtype}, so NumPy would round what is written.", "Make it with dtype=float.")
    if node.size != 1:
        target = np.shape(positions)
        extra = len(shape) - len(target)
        if extra > 0 and all(extent == 1 for extent in shape[:extra]):
            shape = shape[extra:]
        np.broadcast_to(np.empty(shape, bool), target)
        node = t.broadcast(node, shape, target)
    assert array.buffer is not None
    array.buffer.write_node(positions, node)


def _masked(t: Tracer, array: TracedArray, mask: TracedArray, value: Any) -> Any:
    """Return the whole array after a[mask] = value with a traced condition."""
    if not mask.boolean or mask.shape != array.shape:
        _known_key(t, mask)
    if isinstance(value, Selected):
        if value.mask.node is not mask.node:
            raise value.refused("Elements selected by another condition are assigned")
        value = value.values
    elif np.ndim(value) != 0:
        raise Selected(t, array, mask).refused("An array is assigned to selected elements")
    return t.call(np.where, (mask, value, array))


def _stripped(numbers: npt.NDArray[Any], ndim: int) -> npt.NDArray[Any]:
    while numbers.ndim > ndim and numbers.shape[0] == 1:
        numbers = numbers[0]
    return numbers


def assign_all(t: Tracer, array: TracedArray, result: Any) -> None:
    """Do a += b and the like: write the result into a."""
    if np.shape(result) != array.shape:
        raise ValueError(f"non-broadcastable output operand with shape {array.shape}")
    own = np.dtype(type_of(result))
    if not np.can_cast(own, array.dtype, "same_kind"):
        raise TypeError(f"cannot cast {own} to {array.dtype} in place with rule 'same_kind'")
    assign(t, array, ..., result)


def into(t: Tracer, target: Any, found: Any, several: bool = False) -> Any:
    """Do out=: write what a function gave, maybe one of several results, into an array, by NumPy's casting rule."""
    if not isinstance(target, TracedArray):
        raise refusal(MADE_BEFORE, WRITE_A_COPY)
    own = np.dtype(type_of(found))
    if not np.can_cast(own, target.dtype, "same_kind"):
        raise TypeError(f"cannot cast the output from {own} to {target.dtype} with rule 'same_kind'")
    if np.broadcast_shapes(np.shape(found), target.shape) != target.shape:
        raise ValueError(f"non-broadcastable output operand with shape {target.shape}")
    if several and np.shape(found) != target.shape:
        raise refusal("NumPy spreads all results to the shape of out=.", "Give a target of that shape.")
    assign(t, target, ..., found)
    return target

"""Running sums, products and extremes, differences, integrals over a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.graph.indexmap import is_identity, of_indices
from infimum.tracing.dtypes import with_kind
from infimum.tracing.numpy.folds import axes_of, folded_kind, rows_of
from infimum.tracing.traced import Shape
from infimum.tracing.tracer import Rule, Tracer


def _running(op: str, t: Tracer, a: Any, axis: Any, make: Any) -> Any:
    """Run along one axis: bring it inside, let `make` do flat rows of the given width, and put it back."""
    a = t.traced(a)
    if axis is None or not a.ndim:
        a, axis = a.reshape(-1), 0
    axis = axes_of(a, axis)[0]
    rows, width, shape = rows_of(t, a, (axis,))
    kind, bound = folded_kind(op, a, width)
    if a.size == 0:
        return t.fresh(np.zeros(a.shape, np.int64 if kind == "i" else float))
    if rows.size > width and t.nonfinite.is_finite(rows.node) is not True:
        # A recurrence over all rows would carry what is not a number from one row to the next, times zero.
        lines = rows.reshape(-1, width)
        node = t.graph.node("concat", [make(line.node, width) for line in lines], rows.size)
    else:
        node = make(rows.node, width)
    found = with_kind(t, t.array(node, (*shape, width)), kind, bound)
    return t.call(np.moveaxis, (found, -1, axis)) if axis != a.ndim - 1 else found


def _starts(size: int, width: int) -> Any:
    return np.arange(size) % width == 0


def _take(t: Tracer, node: Any, keep: Any) -> Any:
    way = of_indices(np.where(keep, np.arange(node.size), -1), node.size)
    return node if is_identity(way) else t.graph.node("take", (node,), node.size, way)


def _cumsum(t: Tracer, a: Any, axis: Any = None) -> Any:
    def make(node: Any, width: int) -> Any:
        carry = np.ones(node.size) if width == node.size else np.where(_starts(node.size, width), 0.0, 1.0)
        return t.graph.node("recurrence", (t.constant_node(carry), node), node.size, False)

    return _running("sum", t, a, axis, make)


def _cumprod(t: Tracer, a: Any, axis: Any = None) -> Any:
    def make(node: Any, width: int) -> Any:
        first = _starts(node.size, width)
        if width == 1:
            return node
        factors, start = _take(t, node, ~first), _take(t, node, first)
        return t.graph.node("recurrence", (factors, start), node.size, False)

    return _running("prod", t, a, axis, make)


def _accumulated(join: np.ufunc) -> Rule:
    def rule(t: Tracer, a: Any, axis: Any = 0) -> Any:
        a = t.call(np.moveaxis, (t.traced(a), axis, 0))
        rows = [a[0]]
        for k in range(1, len(a)):
            rows.append(t.ufunc(join, (rows[-1], a[k])))
        return t.call(np.moveaxis, (t.stacked(rows), 0, axis))

    return rule


def _diff(t: Tracer, a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a
    a = t.traced(a)
    parts = [t.traced(part) for part in (prepend, a, append) if part is not None]
    shape = np.shape(a)
    ends = [p if p.ndim else t.call(np.broadcast_to, (p, _one(shape, axis))) for p in parts]
    found = ends[0] if len(ends) == 1 else t.call(np.concatenate, (ends, axis))
    for _ in range(n):
        last = t.call(np.moveaxis, (found, axis, -1))
        join = np.not_equal if found.dtype.kind == "b" else np.subtract
        found = t.call(np.moveaxis, (t.ufunc(join, (last[..., 1:], last[..., :-1])), -1, axis))
    return found


def _one(shape: Shape, axis: int) -> Shape:
    found = list(shape)
    found[axis] = 1
    return tuple(found)


def _trapezoid(t: Tracer, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    last = t.call(np.moveaxis, (t.traced(y), axis, -1))
    step = dx
    if x is not None:
        along = t.traced(x)
        step = t.call(np.diff, (along if along.ndim == 1 else t.call(np.moveaxis, (along, axis, -1)),))
    middle = t.ufunc(np.add, (last[..., 1:], last[..., :-1]))
    return t.call(np.sum, (t.ufunc(np.multiply, (step, middle)) / 2.0, -1))


FUNCTIONS: dict[Any, Rule] = {
    np.cumsum: _cumsum, np.cumprod: _cumprod, np.diff: _diff,
    (np.add, "accumulate"): lambda t, a, axis=0: _cumsum(t, a, axis),
    (np.multiply, "accumulate"): lambda t, a, axis=0: _cumprod(t, a, axis),
    (np.minimum, "accumulate"): _accumulated(np.minimum), (np.maximum, "accumulate"): _accumulated(np.maximum),
}  # fmt: skip
FUNCTIONS |= {getattr(np, name): _trapezoid for name in ("trapezoid", "trapz") if hasattr(np, name)}

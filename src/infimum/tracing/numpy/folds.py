"""NumPy functions that fold many elements into few: sums, products, extremes, all, any."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infimum.tracing.dtypes import bound_of, type_of, with_kind
from infimum.tracing.nonfinite.finiteness import FINITE
from infimum.tracing.numpy.elementwise import as_truth
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import Shape, TracedArray
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import has_exact, is_symbolic, plain

_Axes = tuple[int, ...]
_MOST_ONE_BY_ONE = 64


def axes_of(a: TracedArray, axis: Any) -> _Axes:
    if axis is None:
        return tuple(range(a.ndim))
    if not a.ndim and axis in (0, -1):
        return ()
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    if len({k % max(a.ndim, 1) for k in axes}) < len(axes):
        raise ValueError("duplicate value in 'axis'")
    return tuple(range(a.ndim)[int(k)] if -a.ndim <= k < a.ndim else _no_axis(int(k), a.ndim) for k in axes)


def _no_axis(axis: int, ndim: int) -> int:
    raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")


def rows_of(t: Tracer, a: TracedArray, axes: _Axes) -> tuple[TracedArray, int, Shape]:
    """Return the array with these axes innermost, their common length, and the shape of the others."""
    others = tuple(k for k in range(a.ndim) if k not in axes)
    width = math.prod(a.shape[k] for k in axes)
    shape = tuple(a.shape[k] for k in others)
    turned = a if axes == tuple(range(a.ndim - len(axes), a.ndim)) else a.transpose(others + axes)
    return turned, width, shape


def fold(op: str, t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """Reduce over some axes by sum, prod, min_of or max_of."""
    a = t.traced(a)
    axes = axes_of(a, axis)
    rows, width, shape = rows_of(t, a, axes)
    kept = tuple(1 if k in axes else extent for k, extent in enumerate(a.shape)) if keepdims else shape
    kind, bound = folded_kind(op, a, width)
    if a.size == 0 or width == 0:
        if op in ("min_of", "max_of"):
            raise ValueError("zero-size array to reduction operation which has no identity")
        found = np.full(kept, 0 if op == "sum" else 1, np.int64 if kind == "i" else float)
        return t.fresh(found) if kept else found[()]
    node = rows.node if width == 1 else t.graph.node(op, (rows.node,), rows.size // width, width)
    if width > 1 and op in ("min_of", "max_of"):
        node = t.nonfinite.extremes(node)
    if width == 1 and op == "sum" and t.nonfinite.zeros.of(node) is not False:
        node = t.nonfinite.zeros.forget(t.operation("add", (node, t.number(0.0))))  # NumPy may begin with 0.0
    return with_kind(t, t.array(node, kept), kind, bound)


def folded_kind(op: str, a: TracedArray, width: int) -> tuple[str, int]:
    """Return the kind of a reduction, and how large integers can be: sums and products of truth values are integers."""
    kind = a.kind.lower()
    if kind == "f" or (kind == "b" and op in ("min_of", "max_of")):
        return kind, 0
    largest = bound_of(a)
    return "i", {"sum": largest * width, "prod": max(1, largest) ** width}.get(op, largest)


def _reduction(op: str, join: np.ufunc) -> Rule:
    neutral = {"sum": 0, "prod": 1}.get(op)

    def rule(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True) -> Any:
        if where is not True:
            if neutral is None and initial is None:
                raise ValueError("reduction operation does not have an identity, so to use a where mask needs initial")
            if neutral is None and t.traced(a).kind not in "fF":
                raise refusal(
                    "NumPy rounds initial= to the type of the elements.", "Write np.where(where, a, b) before."
                )
            a = t.call(np.where, (where, a, initial if neutral is None else neutral))
        if neutral is None and initial is not None and not np.size(a):
            raise refusal("The extreme of no elements is initial= itself.", "Give an array with elements.")
        found = fold(op, t, a, axis, keepdims)
        if initial is None:
            return found
        if np.promote_types(own := np.dtype(type_of(found)), np.dtype(type_of(initial))) != own:
            raise refusal("NumPy rounds initial= to the type of the elements.", "Add the number afterwards.")
        return t.ufunc(join, (found, initial))

    return rule


def without_nan(t: Tracer, a: Any, neutral: float) -> Any:
    """Return the array with a neutral number in place of every NaN; the array itself where there can be none."""
    a = t.traced(a)
    if a.kind not in "fF":
        return a
    return t.lifted(lambda x: t.nonfinite.where(t.nonfinite.is_nan(x), t.number(neutral), x), t.traced(a))


def _nan_reduction(rule: Rule, neutral: float) -> Rule:
    return lambda t, a, axis=None, keepdims=False: rule(t, without_nan(t, a, neutral), axis=axis, keepdims=keepdims)


def _nan_extreme(op: str, join: np.ufunc) -> Rule:
    """Return the rule of nanmin or nanmax: min or max where nothing can be NaN, else one element after the other."""

    def rule(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        a = t.traced(a)
        if t.nonfinite.is_nan(a.node) is False:
            return fold(op, t, a, axis, keepdims)
        rows, width, shape = rows_of(t, a, axes_of(a, axis))
        if keepdims or width > _MOST_ONE_BY_ONE:
            raise refusal("NaN may stand among these elements.", "Write np.where(condition, a, b) first.")
        columns = rows.reshape((*shape, width))
        found = columns[..., 0]
        for k in range(1, width):
            found = t.ufunc(join, (found, columns[..., k]))
        return found

    return rule


def _ufunc_reduce(rule: Rule) -> Rule:
    # A ufunc's reduce runs over the first axis unless told otherwise.
    def reduce(
        t: Tracer, array: Any, axis: Any = 0, keepdims: Any = False, initial: Any = None, where: Any = True
    ) -> Any:
        return rule(t, array, axis, keepdims, initial, where)

    return reduce


def _decided(op: str) -> Rule:
    def rule(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        truth = t.traced(as_truth(t, t.traced(a)))
        return fold(op, t, truth, axis, keepdims)

    return rule


def _trace(t: Tracer, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return t.call(np.sum, (t.call(np.diagonal, (t.traced(a), offset, axis1, axis2)), -1))


def _count_nonzero(t: Tracer, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    found = fold("sum", t, as_truth(t, t.traced(a)), axis, keepdims)
    return with_kind(t, found, "I") if axis is None and not keepdims else found


def joined_extreme(op: str, t: Tracer, values: list[Any]) -> Any:
    """Return the smallest or largest of a list of numbers, infinite starting values left out."""
    idle = math.inf if op == "min" else -math.inf
    useful = [v for v in values if is_symbolic(v) or has_exact(v) or not np.all(np.asarray(plain(v), object) == idle)]
    if len(useful) < len(values):  # which NaN does not replace
        for value in useful:
            t.nonfinite.refuse(t.nonfinite.is_nan(t.operand(value)[0]), op)
    if len(useful) == 1:
        return useful[0]
    if any(t.nonfinite.of(t.operand(v)[0]) is not FINITE for v in useful):
        return _one_by_one(op, t, useful)
    if len(useful) == 2:
        return t.apply(op, *useful)
    return fold(f"{op}_of", t, t.stacked(useful))


def _one_by_one(op: str, t: Tracer, values: list[Any]) -> Any:
    """Return Python's min or max: the first value, then each that is certainly better, which NaN never is."""
    found = values[0]
    for value in values[1:]:
        better = t.ufunc(np.less if op == "min" else np.greater, (value, found))
        found = t.apply("where", better, value, found)
    return found


_SUM, _PROD = _reduction("sum", np.add), _reduction("prod", np.multiply)
_MIN, _MAX = _reduction("min_of", np.minimum), _reduction("max_of", np.maximum)
_ALL, _ANY = _decided("min_of"), _decided("max_of")

FUNCTIONS: dict[Any, Rule] = {
    np.sum: _SUM, np.nansum: _nan_reduction(_SUM, 0.0), np.prod: _PROD, np.nanprod: _nan_reduction(_PROD, 1.0),
    np.min: _MIN, np.amin: _MIN, np.nanmin: _nan_extreme("min_of", np.fmin),
    np.max: _MAX, np.amax: _MAX, np.nanmax: _nan_extreme("max_of", np.fmax),
    np.all: _ALL, np.any: _ANY, np.trace: _trace, np.count_nonzero: _count_nonzero,
    (np.add, "reduce"): _ufunc_reduce(_SUM), (np.multiply, "reduce"): _ufunc_reduce(_PROD),
    (np.minimum, "reduce"): _ufunc_reduce(_MIN), (np.maximum, "reduce"): _ufunc_reduce(_MAX),
    (np.logical_and, "reduce"): lambda t, array, axis=0, keepdims=False: _ALL(t, array, axis, keepdims),
    (np.logical_or, "reduce"): lambda t, array, axis=0, keepdims=False: _ANY(t, array, axis, keepdims),
}  # fmt: skip

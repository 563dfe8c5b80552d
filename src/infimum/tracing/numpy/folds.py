"""NumPy functions that fold many elements into few: sums, products, extremes, norms, running sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infimum.graph.indexmap import is_identity, of_indices
from infimum.tracing.kinds import bound_of, type_of, with_kind
from infimum.tracing.nonfinite.states import FINITE
from infimum.tracing.numpy.elementwise import as_truth
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import Shape, TracedArray
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import has_exact, is_symbolic, plain

_Axes = tuple[int, ...]
_MOST_ONE_BY_ONE = 64


def _axes(a: TracedArray, axis: Any) -> _Axes:
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


def _rows(t: Tracer, a: TracedArray, axes: _Axes) -> tuple[TracedArray, int, Shape]:
    """The array with these axes innermost, their common length, and the shape of the others."""
    others = tuple(k for k in range(a.ndim) if k not in axes)
    width = math.prod(a.shape[k] for k in axes)
    shape = tuple(a.shape[k] for k in others)
    turned = a if axes == tuple(range(a.ndim - len(axes), a.ndim)) else a.transpose(others + axes)
    return turned, width, shape


def fold(op: str, t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """Reduce over some axes by sum, prod, min_of or max_of."""
    a = t.traced(a)
    axes = _axes(a, axis)
    rows, width, shape = _rows(t, a, axes)
    kept = tuple(1 if k in axes else extent for k, extent in enumerate(a.shape)) if keepdims else shape
    kind, bound = _folded(op, a, width)
    if a.size == 0 or width == 0:
        if op in ("min_of", "max_of"):
            raise ValueError("zero-size array to reduction operation which has no identity")
        found = np.full(kept, 0 if op == "sum" else 1, np.int64 if kind == "i" else float)
        return t.fresh(found) if kept else found[()]
    node = rows.node if width == 1 else t.graph.node(op, (rows.node,), rows.size // width, width)
    if width > 1 and op in ("min_of", "max_of"):
        node = t.absorbed.extremes(node)
    if width == 1 and op == "sum" and t.absorbed.zeros.of(node) is not False:
        node = t.absorbed.zeros.forget(t.operation("add", (node, t.number(0.0))))  # NumPy may begin with 0.0
    return with_kind(t, t.array(node, kept), kind, bound)


def _folded(op: str, a: TracedArray, width: int) -> tuple[str, int]:
    """The kind of a reduction, and how large integers can be: sums and products of truth values are integers."""
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
            a = t.call(np.where, (where, a, initial if neutral is None else neutral), {})
        if neutral is None and initial is not None and not np.size(a):
            raise refusal("The extreme of no elements is initial= itself.", "Give an array with elements.")
        found = fold(op, t, a, axis, keepdims)
        if initial is None:
            return found
        if np.promote_types(own := np.dtype(type_of(found)), np.dtype(type_of(initial))) != own:
            raise refusal("NumPy rounds initial= to the type of the elements.", "Add the number afterwards.")
        return t.ufunc(join, (found, initial))

    return rule


def _without_nan(t: Tracer, a: Any, neutral: float) -> Any:
    """The array with a neutral number in place of every NaN; the array itself where there can be none."""
    a = t.traced(a)
    if a.kind not in "fF":
        return a
    return t.lifted(lambda x: t.absorbed.where(t.absorbed.is_nan(x), t.number(neutral), x), t.traced(a))


def _nan_reduction(rule: Rule, neutral: float) -> Rule:
    return lambda t, a, axis=None, keepdims=False: rule(t, _without_nan(t, a, neutral), axis=axis, keepdims=keepdims)


def _nan_mean(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    known = t.lifted(lambda x: t.absorbed.as_node(t.absorbed.negation(t.absorbed.is_nan(x))), t.traced(a), boolean=True)
    return fold("sum", t, _without_nan(t, a, 0.0), axis, keepdims) / fold("sum", t, known, axis, keepdims)


def _nan_extreme(op: str, join: np.ufunc) -> Rule:
    """nanmin and nanmax: as min and max where nothing can be NaN, else one element after the other."""

    def rule(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        a = t.traced(a)
        if t.absorbed.is_nan(a.node) is False:
            return fold(op, t, a, axis, keepdims)
        rows, width, shape = _rows(t, a, _axes(a, axis))
        if keepdims or width > _MOST_ONE_BY_ONE:
            raise t.refused(refusal("NaN may stand among these elements.", "Write np.where(condition, a, b) first."))
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


def _count(a: TracedArray, axis: Any) -> int:
    return math.prod(a.shape[k] for k in _axes(a, axis))


def _floats(t: Tracer, a: Any) -> Any:
    """An array as numbers of which a mean is taken: truth values and integers count as floats."""
    return t.cast(t.traced(a), np.float64, copy=False)


def _mean(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    a = _floats(t, a)
    return fold("sum", t, a, axis, keepdims) / _count(a, axis)


def _var(t: Tracer, a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    a = _floats(t, a)
    count = _count(a, axis) - ddof
    if not count > 0:
        raise refusal(f"A variance of {_count(a, axis)} numbers with ddof={ddof} is no number.", "Give a smaller ddof.")
    centred = t.apply("sub", a, _mean(t, a, axis, keepdims=True))
    return fold("sum", t, t.apply("sqr", centred), axis, keepdims) / count


def _std(t: Tracer, a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    return t.apply("sqrt", _var(t, a, axis, ddof, keepdims))


def _average(t: Tracer, a: Any, axis: Any = None, weights: Any = None, keepdims: Any = False) -> Any:
    if weights is None:
        return _mean(t, a, axis, keepdims)
    t.may_raise("np.average")
    a, weights = _floats(t, a), _floats(t, weights)
    if weights.shape != a.shape:
        if not isinstance(axis, int) or weights.shape != (a.shape[axis],):
            raise TypeError("the weights of np.average have another shape, and no one axis is given")
        weights = weights.reshape([-1 if k == axis % a.ndim else 1 for k in range(a.ndim)])
        weights = t.call(np.broadcast_to, (weights, a.shape), {})
    return fold("sum", t, t.apply("mul", a, weights), axis, keepdims) / fold("sum", t, weights, axis, keepdims)


def _ptp(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return t.ufunc(np.subtract, (fold("max_of", t, a, axis, keepdims), fold("min_of", t, a, axis, keepdims)))


def _norm(t: Tracer, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    a = _floats(t, x)
    axes = _axes(a, axis)
    if ord is None or (ord == 2 and len(axes) == 1) or (ord == "fro" and len(axes) == 2):
        return t.apply("sqrt", fold("sum", t, t.apply("sqr", a), axes, keepdims))
    size = t.apply("abs", a)
    if len(axes) == 1:
        if ord in (math.inf, -math.inf):
            return fold("max_of" if ord > 0 else "min_of", t, size, axes, keepdims)
        if ord == 1:
            return fold("sum", t, size, axes, keepdims)
        if ord == 0:
            return _floats(t, fold("sum", t, t.ufunc(np.not_equal, (a, 0.0)), axes, keepdims))
        if isinstance(ord, int | float) and ord > 0:
            powers = fold("sum", t, t.ufunc(np.power, (size, ord)), axes, keepdims)
            return t.ufunc(np.power, (powers, 1.0 / ord))
    if len(axes) == 2 and ord in (1, -1, math.inf, -math.inf):
        inner = axes[0] if abs(ord) == 1 else axes[1]
        sums = fold("sum", t, size, (inner,), True)
        return fold("max_of" if ord > 0 else "min_of", t, sums, axes, keepdims)
    raise refusal(f"This norm (ord = {ord!r}) cannot be traced.", "Use the Euclidean norm, or ord 1 or np.inf.")


def _running(op: str, t: Tracer, a: Any, axis: Any, make: Any) -> Any:
    """Run along one axis: bring it inside, let `make` do flat rows of the given width, and put it back."""
    a = t.traced(a)
    if axis is None or not a.ndim:
        a, axis = a.reshape(-1), 0
    axis = _axes(a, axis)[0]
    rows, width, shape = _rows(t, a, (axis,))
    kind, bound = _folded(op, a, width)
    if a.size == 0:
        return t.fresh(np.zeros(a.shape, np.int64 if kind == "i" else float))
    if rows.size > width and t.absorbed.is_finite(rows.node) is not True:
        # A recurrence over all rows would carry what is not a number from one row to the next, times zero.
        lines = rows.reshape(-1, width)
        node = t.graph.node("concat", [make(line.node, width) for line in lines], rows.size)
    else:
        node = make(rows.node, width)
    found = with_kind(t, t.array(node, (*shape, width)), kind, bound)
    return t.call(np.moveaxis, (found, -1, axis), {}) if axis != a.ndim - 1 else found


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
        a = t.call(np.moveaxis, (t.traced(a), axis, 0), {})
        rows = [a[0]]
        for k in range(1, len(a)):
            rows.append(t.ufunc(join, (rows[-1], a[k])))
        return t.call(np.moveaxis, (t.stacked(rows), 0, axis), {})

    return rule


def _diff(t: Tracer, a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a
    a = t.traced(a)
    parts = [t.traced(part) for part in (prepend, a, append) if part is not None]
    shape = np.shape(a)
    ends = [p if p.ndim else t.call(np.broadcast_to, (p, _one(shape, axis)), {}) for p in parts]
    found = ends[0] if len(ends) == 1 else t.call(np.concatenate, (ends, axis), {})
    for _ in range(n):
        last = t.call(np.moveaxis, (found, axis, -1), {})
        join = np.not_equal if found.dtype.kind == "b" else np.subtract
        found = t.call(np.moveaxis, (t.ufunc(join, (last[..., 1:], last[..., :-1])), -1, axis), {})
    return found


def _one(shape: Shape, axis: int) -> Shape:
    found = list(shape)
    found[axis] = 1
    return tuple(found)


def _trapezoid(t: Tracer, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    last = t.call(np.moveaxis, (t.traced(y), axis, -1), {})
    step = dx
    if x is not None:
        along = t.traced(x)
        step = t.call(np.diff, (along if along.ndim == 1 else t.call(np.moveaxis, (along, axis, -1), {}),), {})
    middle = t.ufunc(np.add, (last[..., 1:], last[..., :-1]))
    return t.call(np.sum, (t.ufunc(np.multiply, (step, middle)) / 2.0, -1), {})


def _trace(t: Tracer, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return t.call(np.sum, (t.call(np.diagonal, (t.traced(a), offset, axis1, axis2), {}), -1), {})


def _count_nonzero(t: Tracer, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    found = fold("sum", t, as_truth(t, t.traced(a)), axis, keepdims)
    return with_kind(t, found, "I") if axis is None and not keepdims else found


def joined_extreme(op: str, t: Tracer, values: list[Any]) -> Any:
    """The smallest or largest of a list of numbers, infinite starting values left out."""
    idle = math.inf if op == "min" else -math.inf
    useful = [v for v in values if is_symbolic(v) or has_exact(v) or not np.all(np.asarray(plain(v), object) == idle)]
    if len(useful) < len(values):  # which NaN does not replace
        for value in useful:
            t.absorbed.refuse(t.absorbed.is_nan(t.operand(value)[0]), op)
    if len(useful) == 1:
        return useful[0]
    if any(t.absorbed.of(t.operand(v)[0]) is not FINITE for v in useful):
        return _one_by_one(op, t, useful)
    if len(useful) == 2:
        return t.apply(op, *useful)
    return fold(f"{op}_of", t, t.stacked(useful))


def _one_by_one(op: str, t: Tracer, values: list[Any]) -> Any:
    """Python's min or max: the first value, then each that is certainly better, which NaN never is."""
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
    np.all: _ALL, np.any: _ANY, np.mean: _mean, np.nanmean: _nan_mean, np.average: _average,
    np.var: _var, np.std: _std, np.ptp: _ptp, np.linalg.norm: _norm,
    np.cumsum: _cumsum, np.cumprod: _cumprod, np.diff: _diff, np.trace: _trace, np.count_nonzero: _count_nonzero,
    (np.add, "reduce"): _ufunc_reduce(_SUM), (np.multiply, "reduce"): _ufunc_reduce(_PROD),
    (np.minimum, "reduce"): _ufunc_reduce(_MIN), (np.maximum, "reduce"): _ufunc_reduce(_MAX),
    (np.logical_and, "reduce"): lambda t, array, axis=0, keepdims=False: _ALL(t, array, axis, keepdims),
    (np.logical_or, "reduce"): lambda t, array, axis=0, keepdims=False: _ANY(t, array, axis, keepdims),
    (np.add, "accumulate"): lambda t, a, axis=0: _cumsum(t, a, axis),
    (np.multiply, "accumulate"): lambda t, a, axis=0: _cumprod(t, a, axis),
    (np.minimum, "accumulate"): _accumulated(np.minimum), (np.maximum, "accumulate"): _accumulated(np.maximum),
}  # fmt: skip
FUNCTIONS |= {getattr(np, name): _trapezoid for name in ("trapezoid", "trapz") if hasattr(np, name)}

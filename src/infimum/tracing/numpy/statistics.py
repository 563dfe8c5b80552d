"""Means, variances, norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infimum.tracing.numpy.folds import axes_of, fold, without_nan
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Rule, Tracer


def _count(a: TracedArray, axis: Any) -> int:
    return math.prod(a.shape[k] for k in axes_of(a, axis))


def _floats(t: Tracer, a: Any) -> Any:
    """Return an array as numbers of which a mean is taken: truth values and integers count as floats."""
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
        weights = t.call(np.broadcast_to, (weights, a.shape))
    return fold("sum", t, t.apply("mul", a, weights), axis, keepdims) / fold("sum", t, weights, axis, keepdims)


def _ptp(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return t.ufunc(np.subtract, (fold("max_of", t, a, axis, keepdims), fold("min_of", t, a, axis, keepdims)))


def _norm(t: Tracer, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    a = _floats(t, x)
    axes = axes_of(a, axis)
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


def _nan_mean(t: Tracer, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    known = t.lifted(
        lambda x: t.nonfinite.as_node(t.nonfinite.negation(t.nonfinite.is_nan(x))), t.traced(a), boolean=True
    )
    return fold("sum", t, without_nan(t, a, 0.0), axis, keepdims) / fold("sum", t, known, axis, keepdims)


FUNCTIONS: dict[Any, Rule] = {
    np.mean: _mean, np.nanmean: _nan_mean, np.average: _average, np.var: _var, np.std: _std, np.ptp: _ptp,
    np.linalg.norm: _norm,
}  # fmt: skip

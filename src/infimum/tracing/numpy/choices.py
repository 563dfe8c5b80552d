"""Choices and questions: where, select, piecewise, clip, nan_to_num, isclose."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from infimum.tracing.calls import keeps_views
from infimum.tracing.copies import layout
from infimum.tracing.dtypes import bound_of, result_kinds, type_of, typed, with_kind
from infimum.tracing.numpy.elementwise import as_truth, refuse_overflow
from infimum.tracing.refusal import refusal
from infimum.tracing.selected import Selected
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import is_symbolic, plain


def _chosen(a: Any, b: Any) -> Any:
    return np.where(np.ones((1, 1), bool), a, b)


_MISSING = object()


def _where(t: Tracer, condition: Any, x: Any = _MISSING, y: Any = _MISSING) -> Any:
    """Return np.where; a condition that is one known truth value simply chooses."""
    if condition is None:
        raise refusal("None as a condition is false in NumPy.", "Write False.")
    if x is _MISSING or y is _MISSING:
        raise refusal("np.where(condition) gives indices that depend on x.", "Write np.where(condition, a, b).")
    a, b = t.unlisted(x), t.unlisted(y)
    kind = result_kinds(_chosen, (a, b), "where")
    condition = t.unlisted(condition)
    if not is_symbolic(condition):
        known = np.asarray(plain(condition))
        if known.ndim == 0 and np.ndim(a) == np.ndim(b) == 0:
            return with_kind(t, t.traced(a if known else b), kind, _largest(kind, a, b))
        condition = t.fresh(known != 0) if known.dtype.kind != "b" else condition
    else:
        condition = as_truth(t, t.traced(condition))
    found = typed(t, t.apply("where", condition, a, b, boolean=kind == "b"), kind, _largest(kind, a, b))
    template = layout((condition, a, b))
    return found if template is None else t.reordered(found, template)


def _largest(kind: str, a: Any, b: Any) -> int:
    return max(bound_of(a), bound_of(b)) if kind == "i" else 0


def _select(t: Tracer, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    found = default
    for condition, choice in zip(reversed(list(condlist)), reversed(list(choicelist)), strict=True):
        if type_of(condition) not in (bool, np.dtype(bool)):
            raise TypeError("invalid entry in condlist: should be boolean ndarray")
        found = t.call(np.where, (condition, choice, found))
    return found


def _piecewise(t: Tracer, x: Any, condlist: Any, funclist: Any, *args: Any, **kwargs: Any) -> Any:
    """Return np.piecewise: the last true condition decides, and each function sees its own elements alone."""
    x = t.traced(x)
    if x.kind != "f":
        raise refusal("np.piecewise gives the type of its first argument.", "Write x.astype(float) before.")
    if not isinstance(condlist, list | tuple) and np.ndim(condlist) <= x.ndim:
        condlist = [condlist]
    conditions, functions = [as_truth(t, t.traced(c)) for c in condlist], list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ValueError("np.piecewise: one function for each condition, and perhaps one more, are needed")
    if len(functions) > len(conditions):
        true = functools.reduce(lambda a, b: t.ufunc(np.logical_or, (a, b)), conditions)
        conditions.append(as_truth(t, t.traced(t.ufunc(np.logical_not, (true,)))))
    found: Any = 0.0
    for condition, function in zip(conditions, functions, strict=True):
        value = function
        if callable(function):
            value = function(Selected(t, x, condition) if x.shape else x, *args, **kwargs)
            value = value.values if isinstance(value, Selected) else value
        if np.ndim(value) and np.shape(value) != x.shape:
            raise refusal("A function of np.piecewise gives an array of another length.", "Write np.where instead.")
        found = t.call(np.where, (condition, value, found))
    return with_kind(t, found, "f")


def _clip(t: Tracer, a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    a = t.unlisted(a)
    low, high = a_min if min is None else min, a_max if max is None else max
    found = a if low is None else t.ufunc(np.maximum, (a, low))
    found = found if high is None else t.ufunc(np.minimum, (found, high))
    return t.copied(found) if found is a else found


@keeps_views
def _nan_to_num(t: Tracer, x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if not copy:
        raise refusal("np.nan_to_num(..., copy=False) is not offered.", "Write a[...] = np.nan_to_num(a).")
    refuse_overflow(t, t.operand(x)[0])
    largest = float(np.finfo(np.float64).max)
    ends = {"plus": largest if posinf is None else posinf, "minus": -largest if neginf is None else neginf}
    found = t.lifted(lambda u, v: t.nonfinite.where(t.nonfinite.is_nan(u), v, u), x, nan)
    for name, value in ends.items():
        at = t.lifted(lambda u, name=name: t.nonfinite.as_node(getattr(t.nonfinite.of(u), name)), x, boolean=True)
        found = t.apply("where", at, value, found)
    return found


def _isclose(t: Tracer, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    a, b = (t.cast(t.traced(v), np.float64) for v in (a, b))
    for value in (a, b):  # equal infinities are close
        t.nonfinite.refuse(t.nonfinite.is_infinite(t.operand(value)[0]), "np.isclose")
    return abs(a - b) <= atol + rtol * abs(b)


def _allclose(t: Tracer, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    return with_kind(t, t.call(np.all, (_isclose(t, a, b, rtol, atol),)), "B")


def _array_equal(t: Tracer, a1: Any, a2: Any) -> Any:
    a, b = t.traced(a1), t.traced(a2)
    if a.shape != b.shape:
        return False
    return with_kind(t, t.call(np.all, (t.ufunc(np.equal, (a, b)),)), "B")


def _isin_refused(t: Tracer, *args: Any, **kwargs: Any) -> Any:
    raise refusal("np.isin compares with many values at once.", "Write np.any of == comparisons.")


FUNCTIONS: dict[Any, Rule] = {
    np.where: _where, np.select: _select, np.piecewise: _piecewise, np.clip: _clip, np.nan_to_num: _nan_to_num,
    np.isclose: _isclose, np.allclose: _allclose, np.array_equal: _array_equal, np.isin: _isin_refused,
}  # fmt: skip

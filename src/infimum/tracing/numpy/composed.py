"""NumPy functions composed of others: polynomials, differences, grids, interpolation, powers of a matrix.

NumPy's own Python code asks for arrays of numbers; these say the same in functions that trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.tracing.refusal import refusal
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import is_symbolic, plain


def _vander(t: Tracer, x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803 (NumPy's name)
    x = t.traced(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = len(x) if N is None else N
    columns = [t.call(np.ones_like, (x,))]
    for _ in range(1, count):
        columns.append(columns[-1] * x)
    return t.call(np.stack, (columns[:count] if increasing else columns[:count][::-1], -1))


def _gradient(t: Tracer, f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return np.gradient with even spacing: central differences inside, one-sided ones at the ends."""
    f = t.cast(t.traced(f), np.float64, copy=False)
    axes = tuple(range(f.ndim)) if axis is None else tuple(np.atleast_1d(axis) % f.ndim)
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments")
    if any(np.ndim(step) for step in steps) or edge_order not in (1, 2):
        raise refusal("np.gradient with uneven spacing is not offered.", "Give the spacing as one number.")
    found = tuple(_slope(t, f, int(k), h, edge_order) for k, h in zip(axes, steps, strict=True))
    return found[0] if len(found) == 1 else found


def _slope(t: Tracer, f: Any, axis: int, h: Any, edge_order: int) -> Any:
    rows = t.call(np.moveaxis, (f, axis, 0))
    if len(rows) < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    first, last = (rows[1] - rows[0]) / h, (rows[-1] - rows[-2]) / h
    if edge_order == 2:
        first = (-3.0 * rows[0] + 4.0 * rows[1] - rows[2]) / (2.0 * h)
        last = (rows[-3] - 4.0 * rows[-2] + 3.0 * rows[-1]) / (2.0 * h)
    inside = [(rows[k + 1] - rows[k - 1]) / (2.0 * h) for k in range(1, len(rows) - 1)]
    return t.call(np.moveaxis, (t.call(np.stack, ([first, *inside, last],)), 0, axis))


def _ediff1d(t: Tracer, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = t.traced(ary).reshape(-1)
    pieces = [to_begin, t.ufunc(np.subtract, (flat[1:], flat[:-1])), to_end]
    rows = [t.call(np.ravel, (t.traced(p),)) for p in pieces if p is not None]
    return rows[0] if len(rows) == 1 else t.call(np.concatenate, (rows,))


def _linspace(t: Tracer, start: Any, stop: Any, num: Any = 50, endpoint: bool = True) -> Any:
    """Return evenly spaced numbers between two expressions or exact constants."""
    if np.ndim(start) or np.ndim(stop):
        raise refusal("np.linspace between arrays is not offered.", "Write start + t*(stop - start).")
    start, stop = (t.cast(t.traced(value), np.float64) for value in (start, stop))
    count = int(num)
    parts = count - 1 if endpoint else count
    rows = [start + k * (stop - start) / parts if k else start for k in range(count)]
    if endpoint and count > 1:
        rows[-1] = stop
    return t.stacked(rows) if rows else t.fresh(np.zeros(0))


def _matrix_power(t: Tracer, a: Any, n: Any) -> Any:
    exponent = int(plain(n))
    a = t.traced(a)
    if exponent < 0 or a.ndim != 2:
        raise refusal("np.linalg.matrix_power is offered for one matrix and n >= 0.", "Write the inverse out.")
    if exponent == 0:
        return t.fresh(np.eye(len(a), dtype=a.dtype))
    found = a
    for _ in range(exponent - 1):
        found = t.ufunc(np.matmul, (found, a))
    return t.copied(found) if found is a else found


def _round(t: Tracer, a: Any, decimals: int = 0) -> Any:
    a = t.traced(a)
    if a.kind not in "fF":
        if decimals < 0 or a.boolean:
            raise refusal("np.round of integers or truth values is not offered.", "Write a.astype(float) before.")
        return t.copied(a)
    if decimals == 0:
        return t.ufunc(np.rint, (a,))
    scale = 10.0 ** abs(decimals)
    scaled = a * scale if decimals > 0 else a / scale
    whole = t.ufunc(np.rint, (scaled,))
    return whole / scale if decimals > 0 else whole * scale


def _interp(t: Tracer, x: Any, xp: Any, fp: Any) -> Any:
    """Return np.interp: the first value plus, for each piece, its slope times how far x has gone into it."""
    if is_symbolic(xp):
        raise refusal("np.interp with these arguments cannot be traced.", "Give x, constant xp and fp only.")
    x, knots, fp = t.traced(x), np.asarray(plain(xp), float), t.traced(fp)
    steps = np.diff(knots)
    if not (steps > 0).all() or fp.shape != knots.shape:
        raise refusal("np.interp needs increasing xp, and as many fp.", "Sort xp, and leave out what comes twice.")
    slopes = t.call(np.diff, (fp,)) / steps
    into = t.call(np.clip, (x.reshape((*x.shape, 1)) - knots[:-1], 0.0, steps))
    return t.call(np.sum, (slopes * into, -1)) + fp[0]


def _polyval(t: Tracer, p: Any, x: Any) -> Any:
    x = t.unlisted(x)
    coefficients = list(p)
    if not coefficients:
        return t.call(np.zeros_like, (x,))
    found = 0 * x + coefficients[0] if len(coefficients) == 1 else coefficients[0]
    for coefficient in coefficients[1:]:
        found = found * x + coefficient
    return found


def _apply_along_axis(t: Tracer, f: Any, axis: int, a: Any, *args: Any, **kwargs: Any) -> Any:
    rows = t.call(np.moveaxis, (t.traced(a), axis, -1))
    if rows.ndim == 1:
        return f(rows, *args, **kwargs)
    found = t.stacked([_apply_along_axis(t, f, -1, row, *args, **kwargs) for row in rows])
    return found if found.ndim < rows.ndim else t.call(np.moveaxis, (found, -1, axis))


def _series(steps: Any) -> Rule:
    """Return a series of orthogonal polynomials by its recurrence p_(k+1) = steps(k, x, p_k, p_(k-1))."""

    def rule(t: Tracer, x: Any, c: Any) -> Any:
        coefficients = list(t.traced(c)) if is_symbolic(c) else plain(c)
        if np.ndim(coefficients) > 1 and not isinstance(coefficients, list):
            raise refusal("A polynomial with an array of coefficients is not offered.", "Give one row of coefficients.")
        x = t.cast(t.traced(x), np.float64)
        one = t.call(np.ones_like, (x,)) if x.shape else 1.0
        previous: Any = 0.0
        found: Any = 0.0
        for k, coefficient in enumerate(np.atleast_1d(coefficients) if not is_symbolic(c) else coefficients):
            found = found + coefficient * one
            one, previous = steps(k, x, one, previous), one
        return found

    return rule


_SERIES = {
    "polynomial.polyval": lambda k, x, p, q: x * p,
    "chebyshev.chebval": lambda k, x, p, q: x * p if k == 0 else 2.0 * x * p - q,
    "legendre.legval": lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1),
    "hermite.hermval": lambda k, x, p, q: 2.0 * x * p - 2.0 * k * q,
    "hermite_e.hermeval": lambda k, x, p, q: x * p - k * q,
    "laguerre.lagval": lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1),
}

FUNCTIONS: dict[Any, Rule] = {
    np.vander: _vander, np.gradient: _gradient, np.ediff1d: _ediff1d, np.linspace: _linspace, np.interp: _interp,
    np.linalg.matrix_power: _matrix_power, np.round: _round, np.around: _round, np.polyval: _polyval,
    np.fix: lambda t, x: t.ufunc(np.trunc, (x,)), np.apply_along_axis: _apply_along_axis,
}  # fmt: skip
for _name, _steps in _SERIES.items():
    _module, _, _function = _name.partition(".")
    FUNCTIONS[getattr(getattr(np.polynomial, _module), _function)] = _series(_steps)

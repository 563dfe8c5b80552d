"""SciPy's elementary functions on traced values, found by name: SciPy need not be installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.exact.number import Exact, exact
from infimum.graph.node import Node
from infimum.ops import OPERATIONS
from infimum.tracing.numpy.folds import fold
from infimum.tracing.refusal import refusal
from infimum.tracing.tracer import Rule, Tracer

_MODERATE = 300.0  # exponents up to this size neither overflow nor lose everything


def _rosen(t: Tracer, x: Any) -> Any:
    x = t.traced(x)
    return t.call(np.sum, (100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, 0), {})


def _expit(t: Tracer, x: Any) -> Any:
    return t.apply("recip", t.apply("add", 1.0, t.apply("exp", t.apply("neg", x))))


def _log_expit(t: Tracer, x: Any) -> Any:
    """Return scipy.special.log_expit.

    x                 answer
    moderate          -log(1 + exp(-x)), which is smooth
    possibly large    min(x, 0) - log(1 + exp(-|x|)), which does not overflow
    """
    if t.size_of(t.traced(x)) <= _MODERATE:
        return t.apply("neg", t.apply("log1p", t.apply("exp", t.apply("neg", x))))
    small = t.apply("log1p", t.apply("exp", t.apply("neg", t.apply("abs", x))))
    return t.apply("sub", t.apply("min", x, 0.0), small)


def _times_log(log: str) -> Rule:
    """Return x log(y), or x log(1 + y): 0 where x is 0 and y is a number, as SciPy says."""

    def made(t: Tracer, x: Node, y: Node) -> Node:
        if x is y and log == "log":
            return t.operation("x_log_x", (x,))
        s = t.nonfinite
        zero = s.compare("is_equal", x, 0.0, s.of(x).finite)
        nothing = zero if zero is False else s.both(zero, s.negation(s.is_nan(y)))
        return s.where(nothing, t.number(0.0), t.operation("mul", (x, t.operation(log, (y,)))))

    return lambda t, x, y: t.lifted(lambda u, v: made(t, u, v), x, y)


def _huber(t: Tracer, delta: Any, r: Any) -> Any:
    """Return scipy.special.huber for a plain delta > 0. What is made of it is exact, as is the number itself."""
    d, size = _threshold(delta, "huber"), t.apply("abs", r)
    inner = t.apply("mul", 0.5, t.apply("sqr", r))
    outer = t.apply("mul", d, t.apply("sub", size, d / 2))
    return t.call(np.where, (size <= float(d), inner, outer), {})


def _pseudo_huber(t: Tracer, delta: Any, r: Any) -> Any:
    """Return scipy.special.pseudo_huber for a plain delta > 0."""
    d = _threshold(delta, "pseudo_huber")
    root = t.apply("sqrt", t.apply("add", 1.0, t.apply("sqr", t.apply("div", r, d))))
    return t.apply("mul", d * d, t.apply("sub", root, 1.0))


def _threshold(delta: Any, name: str) -> Exact:
    if not (isinstance(delta, int | float | np.floating | np.integer) and 0 < float(delta) < np.inf):
        raise refusal(f"The first argument of {name} must be a plain number above 0.", "Write it with np.where.")
    found: Exact = exact(float(delta))
    return found


def _floats(t: Tracer, a: Any) -> Any:
    return t.cast(t.traced(t.stacked(a) if isinstance(a, list | tuple) else a), np.float64)


# Of exponents that may be large the largest is taken out first; the sum of the rest lies between 1 and their number.
#
#                   moderate exponents                large ones: b = a - max(a), at most 0
#   logsumexp       log(sum(exp(a)))                  max(a) + log(sum(exp(b)))
#   softmax         exp(a) / sum(exp(a))              exp(b) / sum(exp(b))
#   log_softmax     a - logsumexp(a)                  b - log(sum(exp(b)))
# The left ones are smooth and their slopes tight, the right ones do not overflow.
def _without_largest(t: Tracer, a: Any, axis: Any) -> tuple[Any, Any, Any]:
    """Return max(a), b and sum(exp(b))."""
    largest = fold("max_of", t, a, axis, True)
    below = t.apply("min", t.apply("sub", a, largest), 0.0)
    total = fold("sum", t, t.apply("exp", below), axis, True)
    return largest, below, t.apply("min", t.apply("max", total, 1.0), float(a.size))


def _logsumexp(t: Tracer, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    a = _floats(t, a)
    if t.size_of(a) <= _MODERATE:
        return t.apply("log", fold("sum", t, t.apply("exp", a), axis, keepdims))
    largest, _, total = _without_largest(t, a, axis)
    found = t.apply("add", t.apply("log", total), largest)
    return found if keepdims else found.reshape(np.shape(fold("sum", t, a, axis)))


def _softmax(t: Tracer, x: Any, axis: Any = None) -> Any:
    a = _floats(t, x)
    if t.size_of(a) <= _MODERATE:
        parts = t.apply("exp", a)
        return t.apply("div", parts, fold("sum", t, parts, axis, True))
    _, below, total = _without_largest(t, a, axis)
    return t.apply("div", t.apply("exp", below), total)


def _log_softmax(t: Tracer, x: Any, axis: Any = None) -> Any:
    a = _floats(t, x)
    if t.size_of(a) <= _MODERATE:
        return t.apply("sub", a, _logsumexp(t, a, axis, True))
    _, below, total = _without_largest(t, a, axis)
    return t.apply("sub", below, t.apply("log", total))


def _of(op: str) -> Rule:
    return lambda t, *values: t.apply(op, *values)


SCIPY: dict[str, Rule] = {name: _of(row.name) for row in OPERATIONS.values() for name in row.scipy}
SCIPY |= {
    "rosen": _rosen,
    "huber": _huber,
    "pseudo_huber": _pseudo_huber,
    "expit": _expit,
    "log_expit": _log_expit,
    "logit": lambda t, x: t.apply("log", t.apply("div", x, t.apply("sub", 1.0, x))),
    "xlogy": _times_log("log"),
    "xlog1py": _times_log("log1p"),
    "logsumexp": _logsumexp,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
}

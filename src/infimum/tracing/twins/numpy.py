"""Twins of NumPy's own callables, and of what cannot be traced at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.exact.number import Exact, ExactArray
from infimum.tracing.arguments import bound, with_out
from infimum.tracing.refusal import refusal
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import is_symbolic, plain, unknown


class NumpyTwin:
    """A function that traces: NumPy's and math's on plain numbers, nodes on expressions."""

    def __init__(self, tracer: Tracer, function: Any, rule: Rule | None) -> None:
        self._tracer = tracer
        self._function = function
        self._rule = rule
        if isinstance(function, np.ufunc) and rule is not None:
            tracer.adopt(function, rule)
            self._rule = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tracer, function = self._tracer, self._function
        values = (*args, *kwargs.values())
        if self._rule is not None and (is_symbolic(values) or any(isinstance(v, Exact | ExactArray) for v in values)):
            return self._rule(tracer, *args, **kwargs)
        if function in _BY_HAND:
            call = bound(function, _BY_HAND[function], args, kwargs)
            return _BY_HAND[function](tracer, *call.args, **call.kwargs)
        if isinstance(function, np.ufunc):
            return tracer.ufunc(function, args[: function.nin], **with_out(function, args, kwargs))
        if function in tracer.functions:
            return tracer.call(function, args, kwargs)
        if not is_symbolic(args) and not is_symbolic(list(kwargs.values())):
            if getattr(function, "__module__", "") == "math" and not kwargs:
                return function(*plain(args))  # which rounds fractions as Python does
            return tracer.plain_call(function, args, kwargs)
        raise unknown(function)

    def __getattr__(self, name: str) -> Any:
        function = self._function
        if isinstance(function, np.ufunc) and name in ("reduce", "accumulate", "outer", "reduceat", "at"):
            return lambda *args, **kwargs: self._tracer.ufunc(function, args, name, **kwargs)
        return getattr(function, name)

    def __repr__(self) -> str:
        return repr(self._function)


class RandomTwin:
    """A source of random numbers: it has every attribute, and refuses every call."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return RandomTwin(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise refusal(
            f"{self._name} draws random numbers, so the function is a different one at every call.",
            "Draw them once, outside the function, and use the array inside.",
        )


def foreign(tracer: Tracer, function: Any, rule: Rule | None) -> Callable[..., Any]:
    """Return a compiled library's function that traces expressions by rule, or refuses them by name."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_symbolic(args) and not is_symbolic(list(kwargs.values())):
            return tracer.plain_call(function, args, kwargs)
        if rule is not None:
            found = bound(function, rule, args, kwargs)
            return rule(tracer, *found.args, **found.kwargs)
        raise unknown(function)

    return call


def unraised(function: Any) -> Callable[..., Any]:
    """Return np.errstate or a relative, which refuses to turn what NumPy warns of into errors."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if any(value in ("raise", "call", "error") for value in (*args, *kwargs.values()) if isinstance(value, str)):
            raise refusal(
                f"{function.__name__} makes errors of what has no finite value for some numbers.",
                "Leave it out: what is not defined is left out of the search anyway.",
            )
        return function(*args, **kwargs)

    return call


def _empty(t: Tracer, shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """Return np.empty: elements that are read before they are set are no numbers."""
    kind = np.dtype(dtype)
    return t.fresh(np.full(plain(shape), np.nan if kind.kind == "f" else 0, kind, order))


def _fromiter(t: Tracer, iter: Any, dtype: Any, count: int = -1) -> Any:
    found = list(iter)
    return t.call(np.array, (found if count < 0 else found[:count],), {"dtype": dtype})


def _empty_like(t: Tracer, prototype: Any, dtype: Any = None, shape: Any = None) -> Any:
    like = t.traced(prototype)
    return _empty(t, like.shape if shape is None else shape, like.dtype if dtype is None else dtype)


_BY_HAND: dict[Any, Rule] = {np.empty: _empty, np.empty_like: _empty_like, np.fromiter: _fromiter}

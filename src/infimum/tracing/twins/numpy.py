"""The twins of NumPy's own callables and classes, and of what cannot be traced at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.exact.number import Exact, ExactArray
from infimum.tracing.arguments import bound, not_honoured, with_out
from infimum.tracing.dtypes import kind_of, type_of
from infimum.tracing.refusal import refusal
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import has_exact, is_symbolic, plain, unknown

if TYPE_CHECKING:
    from infimum.tracing.twins.twins import Twins


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
        raise tracer.refused(unknown(function))

    def __getattr__(self, name: str) -> Any:
        function = self._function
        if isinstance(function, np.ufunc) and name in ("reduce", "accumulate", "outer", "reduceat", "at"):
            return lambda *args, **kwargs: self._tracer.ufunc(function, args, name, **kwargs)
        return getattr(function, name)

    def __repr__(self) -> str:
        return repr(self._function)


class RandomTwin:
    """A source of random numbers: it has every attribute, and refuses every call."""

    def __init__(self, tracer: Tracer, name: str) -> None:
        self._tracer = tracer
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return RandomTwin(self._tracer, f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._tracer.refused(
            refusal(
                f"{self._name} draws random numbers, so the function is a different one at every call.",
                "Draw them once, outside the function, and use the array inside.",
            )
        )


def foreign(tracer: Tracer, function: Any, rule: Rule | None) -> Callable[..., Any]:
    """A function of a compiled library: its own on plain numbers; on expressions by rule, or refused by name."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_symbolic(args) and not is_symbolic(list(kwargs.values())):
            return tracer.plain_call(function, args, kwargs)
        if rule is not None:
            found = bound(function, rule, args, kwargs)
            return rule(tracer, *found.args, **found.kwargs)
        raise tracer.refused(unknown(function))

    return call


def unraised(function: Any) -> Callable[..., Any]:
    """np.errstate, warnings.simplefilter and their kind, unless they turn what NumPy warns of into errors."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if any(value in ("raise", "call", "error") for value in (*args, *kwargs.values()) if isinstance(value, str)):
            raise refusal(
                f"{function.__name__} makes errors of what has no finite value for some numbers.",
                "Leave it out: what is not defined is left out of the search anyway.",
            )
        return function(*args, **kwargs)

    return call


class _Vectorized:
    """np.vectorize: the function of each element in turn."""

    def __init__(self, tracer: Tracer, function: Any, options: dict[str, Any]) -> None:
        self._tracer = tracer
        self._function = function
        self._options = options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        t = self._tracer
        if kwargs or set(self._options) - {"otypes", "doc", "cache"}:
            name = next(iter(kwargs), None) or next(iter(set(self._options) - {"otypes", "doc", "cache"}))
            raise not_honoured(np.vectorize, name)
        for value in args:
            kind_of(np.dtype(type_of(value)), "vectorize")
        shape = np.broadcast_shapes(*(np.shape(a) for a in args))
        wide = [t.call(np.broadcast_to, (t.traced(a), shape), {}).reshape(-1) for a in args]
        values = [self._function(*(a[k] for a in wide)) for k in range(int(np.prod(shape)))]
        if not values:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        return self._array(values).reshape(shape)

    def _array(self, values: list[Any]) -> Any:
        """The values as an array of the type of the first, as NumPy makes it."""
        t, kinds = self._tracer, self._options.get("otypes")
        if any(isinstance(value, tuple | list) or np.ndim(value) for value in values):
            raise refusal("np.vectorize of a function with several results is not offered.", "Return one number.")
        first = np.dtype(type_of(values[0]) if kinds is None else kinds[0])
        return t.cast(t.traced(t.stacked(values)), first, copy=False)


def _vectorized(tracer: Tracer, function: Any, options: dict[str, Any]) -> Any:
    if function is None:  # as a decorator with options
        return lambda f: _Vectorized(tracer, f, options)
    return _Vectorized(tracer, function, options)


def _iterated(tracer: Tracer, a: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if is_symbolic(a) or args or kwargs:
        raise refusal("np.nditer cannot be traced.", "Write a loop over a.flat, or over np.ndenumerate(a).")
    return iter(plain(a).flat)


_SERIES = tuple(getattr(np.polynomial, name) for name in
                ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"))  # fmt: skip


def numpy_class(twins: Twins, value: Any) -> Any:
    """The twin of a NumPy class or object that has one, else None."""
    tracer = twins.tracer
    if value is np.vectorize:
        return lambda f=None, **options: _vectorized(tracer, f, options)
    if isinstance(value, np.vectorize):
        options = {"otypes": value.otypes, "excluded": value.excluded, "signature": value.signature}
        return _Vectorized(tracer, twins.of(value.pyfunc), {k: v for k, v in options.items() if v})
    if value is np.nditer:
        return lambda a, *args, **kwargs: _iterated(tracer, a, args, kwargs)
    if value is np.ndenumerate:
        return lambda a: ((k, tracer.traced(a)[k]) for k in np.ndindex(*np.shape(a)))
    if isinstance(value, _SERIES):
        return _Polynomial(tracer, value)
    if isinstance(value, type) and issubclass(value, _SERIES):
        return lambda *args, **kwargs: _Polynomial(tracer, value(*plain(args), **plain(kwargs)))
    if value is np.r_ or value is np.c_:
        return _Joined(tracer, value)
    if (
        isinstance(value, type)
        and issubclass(value, np.floating | np.integer | np.bool_)
        and value.__module__ == "numpy"
        and value not in _ABSTRACT
    ):
        return _scalar_class(tracer, value)
    return None


_ABSTRACT = frozenset({np.floating, np.integer, np.signedinteger, np.unsignedinteger})  # kinds of types, no types


def _scalar_class(tracer: Tracer, kind: type) -> type:
    """np.float64 and its kind: usable as a dtype, and a conversion that keeps expressions."""

    def make(cls: type, value: Any = 0.0, *args: Any) -> Any:
        if is_symbolic(value):
            return tracer.cast(tracer.traced(value), kind)
        if has_exact(value):
            if np.dtype(kind) != np.float64:
                raise refusal(f"np.{kind.__name__} would round an exact constant.", "Leave the conversion out.")
            return value
        return tracer.fresh(kind(plain(value), *args))

    try:
        return type(kind.__name__, (kind,), {"__new__": make})
    except TypeError:
        return kind


class _Polynomial:
    """numpy.polynomial.Polynomial: a polynomial with constant coefficients."""

    def __init__(self, tracer: Tracer, original: Any) -> None:
        self._tracer = tracer
        self._original = original

    def __call__(self, x: Any) -> Any:
        if not is_symbolic(x):
            return self._tracer.fresh(self._original(plain(x)))
        offset, scale = self._original.mapparms()
        inside = x if (offset, scale) == (0.0, 1.0) else offset + scale * x
        return self._tracer.call(type(self._original)._val, (inside, self._original.coef), {})

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._original, name)
        if not callable(found):
            return found
        return lambda *args, **kwargs: self._wrapped(found(*args, **kwargs))

    def _wrapped(self, value: Any) -> Any:
        return _Polynomial(self._tracer, value) if isinstance(value, _SERIES) else value


class _Joined:
    """np.r_ and np.c_."""

    def __init__(self, tracer: Tracer, original: Any) -> None:
        self._tracer = tracer
        self._original = original

    def __getitem__(self, key: Any) -> Any:
        t = self._tracer
        if not is_symbolic(key):
            return t.fresh(self._original[plain(key)])
        parts = key if isinstance(key, tuple) else (key,)
        rows = [np.r_[part] if isinstance(part, slice) else part for part in parts]
        return t.call(np.hstack if self._original is np.r_ else np.column_stack, (rows,), {})


def _empty(t: Tracer, shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """np.empty: elements that are read before they are set are no numbers."""
    kind = np.dtype(dtype)
    return t.fresh(np.full(plain(shape), np.nan if kind.kind == "f" else 0, kind, order))


def _fromiter(t: Tracer, iter: Any, dtype: Any, count: int = -1) -> Any:
    found = list(iter)
    return t.call(np.array, (found if count < 0 else found[:count],), {"dtype": dtype})


def _empty_like(t: Tracer, prototype: Any, dtype: Any = None, shape: Any = None) -> Any:
    like = t.traced(prototype)
    return _empty(t, like.shape if shape is None else shape, like.dtype if dtype is None else dtype)


_BY_HAND: dict[Any, Rule] = {np.empty: _empty, np.empty_like: _empty_like, np.fromiter: _fromiter}

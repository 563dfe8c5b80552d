"""Twins of NumPy's classes and objects: scalar types, vectorize, nditer, polynomials, r_ and c_."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.tracing.arguments import not_honoured
from infimum.tracing.dtypes import kind_of, type_of
from infimum.tracing.refusal import refusal
from infimum.tracing.tracer import Tracer
from infimum.tracing.values import has_exact, is_symbolic, plain

if TYPE_CHECKING:
    from infimum.tracing.twins.twins import Twins

_SERIES = tuple(getattr(np.polynomial, name) for name in
                ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"))  # fmt: skip


def numpy_class(twins: Twins, value: Any) -> Any:
    """Return the twin of a NumPy class or object that has one, else None."""
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
    """Return the twin of np.float64 or a relative: usable as a dtype, and a conversion that keeps expressions."""

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
        wide = [t.call(np.broadcast_to, (t.traced(a), shape)).reshape(-1) for a in args]
        values = [self._function(*(a[k] for a in wide)) for k in range(int(np.prod(shape)))]
        if not values:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        return self._array(values).reshape(shape)

    def _array(self, values: list[Any]) -> Any:
        """Return the values as an array of the type of the first, as NumPy makes it."""
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
        return self._tracer.call(type(self._original)._val, (inside, self._original.coef))

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
        return t.call(np.hstack if self._original is np.r_ else np.column_stack, (rows,))

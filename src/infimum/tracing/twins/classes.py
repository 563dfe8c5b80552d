"""Twins of the user's classes and their instances: the same members, whose functions are twins."""

from __future__ import annotations

import functools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.tracing.twins.numpy_classes import numpy_class
from infimum.tracing.twins.origin import origin_of
from infimum.tracing.values import is_symbolic, plain, unknown

if TYPE_CHECKING:
    from infimum.tracing.twins.twins import Twins


def class_twin(twins: Twins, cls: type) -> Any:
    """Return a copy of a class of the user's; other classes have none, but for NumPy's, Decimal and Fraction."""
    if cls is Decimal or cls is Fraction:
        return _exact_class(cls)
    special = numpy_class(twins, cls)
    if special is not None:
        return special
    copyable = type(cls) is type or type(cls).__name__ == "ABCMeta"
    left_alone = issubclass(cls, BaseException | np.ndarray | tuple) or any(map(_is_compiled, cls.__mro__[:-1]))
    if origin_of(cls) != "user" or not copyable or left_alone:
        return cls
    twins.waiting[id(cls)] = []
    try:
        bases = tuple(twins.of(base) for base in cls.__bases__)
        made: Any = type(cls).__call__(type(cls), cls.__name__, bases, _namespace(twins, cls))
    except Exception:
        # A class that cannot be made twice is left alone: NumPy's functions still trace inside it.
        made = cls
    twins.keep(cls, made)
    for put in twins.waiting.pop(id(cls)):
        put(made)
    return made


def _exact_class(kind: type) -> type:
    """Return Decimal or Fraction for numbers alone, since an error of theirs might be caught."""

    def make(cls: type, *args: Any, **kwargs: Any) -> Any:
        if is_symbolic(args):
            raise unknown(kind)
        return kind(*plain(args), **kwargs)

    return type(kind.__name__, (kind,), {"__new__": make})


def _namespace(twins: Twins, cls: type) -> dict[str, Any]:
    left_out = {"__dict__", "__weakref__", "_abc_impl", "__abstractmethods__", *_slots(cls)}
    space = {k: _member(twins, v) for k, v in cls.__dict__.items() if k not in left_out}
    look_up = space.get("__getattribute__") or _inherited(cls)
    of = twins.of
    space["__getattribute__"] = lambda this, name: of(look_up(this, name))
    return space


def _member(twins: Twins, value: Any) -> Any:
    if isinstance(value, property):
        return property(*(twins.of(f) if f else None for f in (value.fget, value.fset, value.fdel)))
    if isinstance(value, staticmethod | classmethod):
        return type(value)(twins.of(value.__func__))
    if isinstance(value, functools.cached_property):
        return functools.cached_property(twins.of(value.func))
    twins.snapshots.take(value)
    return twins.of(value) if isinstance(value, FunctionType) else value


def instance_twin(twins: Twins, value: Any) -> Any:
    """Return an object of the twin of its class, which shares the state of the original."""
    cls = type(value)
    twin = twins.of(cls)
    twins.snapshots.take(getattr(value, "__dict__", None))
    if twin is cls:
        return value
    try:
        made = object.__new__(twin)
        if hasattr(value, "__dict__"):
            object.__setattr__(made, "__dict__", value.__dict__)
        for name in (name for kind in cls.__mro__ for name in _slots(kind)):
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                object.__setattr__(made, name, getattr(value, name))
    except (TypeError, AttributeError):
        return value
    return made


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_compiled(cls: type) -> bool:
    """Return whether a class was made by compiled code: its instances have parts that no copy of the class knows."""
    kinds: Any = (type(object.__init__), type(str.join))
    return any(isinstance(v, kinds) and v.__objclass__ is cls for v in cls.__dict__.values())


def _inherited(cls: type) -> Callable[[Any, str], Any]:
    """Return how attributes are found by the classes above, before any twin of theirs."""
    ways = (kind.__dict__.get("__getattribute__") for kind in cls.__mro__[1:])
    return next(way for way in ways if way is not None)  # type: ignore[no-any-return]

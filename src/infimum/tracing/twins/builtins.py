"""Twins of Python's own functions: conversions, questions about types, clocks and sources of chance."""

from __future__ import annotations

import builtins
import functools
import warnings
from types import UnionType
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.tracing.math_rules import BUILTINS
from infimum.tracing.python.clock import CHANCE, CLOCKS, Moment
from infimum.tracing.python.numbers import as_float, as_int, number_class
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray
from infimum.tracing.twins.numpy import RandomTwin, unraised

if TYPE_CHECKING:
    from infimum.tracing.twins.twins import Twins

_TYPES = {"f": np.float64, "b": np.bool_, "i": np.int64, "F": float, "I": int, "B": bool}


def tracing_builtins(twins: Twins) -> dict[str, Any]:
    """Return Python's built-in functions as the user's twins see them."""
    found = dict(vars(builtins))
    for name, rule in BUILTINS.items():
        found[name] = functools.partial(rule, twins.tracer)
    for kind, convert in ((float, as_float), (int, as_int)):
        made = number_class(kind, functools.partial(convert, twins.tracer), twins.is_instance)
        found[kind.__name__] = twins.keep(kind, made)
    for clock in CLOCKS:
        twins.keep(clock, lambda clock=clock: Moment(clock()))
    for strict in (np.seterr, np.errstate, warnings.simplefilter, warnings.filterwarnings):
        twins.keep(strict, unraised(strict))
    for source in CHANCE:
        twins.keep(source, RandomTwin(source.__name__))
    return found | {
        "isinstance": twins.is_instance, "hasattr": _has_attribute, "type": twins.type_of, "id": _identity,
        "hash": _hashed, "__import__": twins.imported,
    }  # fmt: skip


def _shown_type(value: TracedArray) -> type:
    """Return the type that the user's code would see."""
    return np.ndarray if value.buffer is not None else _TYPES[value.kind]


def type_of(twins: Twins, value: Any, *args: Any, **kwargs: Any) -> Any:
    """Return type(value), or type(name, bases, namespace)."""
    if args:
        return type(value, *args, **kwargs)
    return twins.of(_shown_type(value) if isinstance(value, TracedArray) else type(value))


def _has_attribute(value: Any, name: str) -> bool:
    return hasattr(_shown_type(value) if isinstance(value, TracedArray) else value, name)


def is_instance(twins: Twins, value: Any, kinds: Any) -> bool:
    """Return isinstance(value, kinds), where a class and its twin are one."""
    if isinstance(kinds, tuple | UnionType):
        parts = kinds if isinstance(kinds, tuple) else kinds.__args__
        return any(is_instance(twins, value, kind) for kind in parts)
    original = twins.originals.get(id(kinds), kinds) if kinds != twins.type_of else type
    if isinstance(value, TracedArray) and isinstance(kinds, type):
        return issubclass(_shown_type(value), original)
    return isinstance(value, original) or (original is not kinds and type(kinds) is type and isinstance(value, kinds))


def imported(twins: Twins, name: str, spot: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
    """Return the twin of the module that an import statement inside the function names."""
    return twins.of(builtins.__import__(name, spot, local, names or (), level))


def _identity(value: Any) -> int:
    if isinstance(value, TracedArray):
        raise refusal("The place of an array in memory differs at every call.", "Leave id() out.")
    return id(value)


def _hashed(value: Any) -> int:
    if getattr(type(value), "__hash__", None) is object.__hash__:
        raise refusal("The hash of an object is its place in memory, which differs at every call.", "Leave it out.")
    return hash(value)

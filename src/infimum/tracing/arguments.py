"""Arguments: what the user gave to a NumPy function, by NumPy's own names, and which of it a rule honours.

The signature of a rule is the table of the arguments that it honours. A call is bound to NumPy's signature, arguments
that say what NumPy does anyway are dropped, and what is left must be in the rule's signature; all else is refused.

    argument                                          answer
    equal to NumPy's default, or without meaning      dropped
    in the rule's signature                           handed on
    dtype=float where the rule knows no dtype         the array is converted first
    anything else                                     refused by name
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infimum.errors import TraceError
from infimum.tracing.refusal import refusal

_EMPTY = inspect.Parameter.empty
_NO_VALUE = getattr(np, "_NoValue", None)
# Arguments that change nothing about the numbers of a real array.
_IDLE = frozenset({"subok", "like", "optimize", "device"})
_NEUTRAL: dict[str, tuple[Any, ...]] = {"casting": ("same_kind",), "order": ("K", "C", "A", None), "where": (True,)}
_INSTEAD = {
    "where": "Write np.where(condition, a, b) with the value that leaves the result unchanged instead.",
    "dtype": "Leave it out, or write a.astype(float) before.",
    "casting": "Leave it out: values are real numbers throughout.",
    "initial": "Join the value with np.minimum, np.maximum, + or * afterwards.",
    "out": "Write a[...] = instead.",
}
# Signatures that older NumPy versions do not tell.
_TOLD = {
    "array": "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, ndmax=0, like=None",
    "asarray": "a, dtype=None, order=None, *, device=None, copy=None, like=None",
    "asanyarray": "a, dtype=None, order=None, *, device=None, copy=None, like=None",
    "ascontiguousarray": "a, dtype=None, *, like=None",
    "concatenate": "arrays, axis=0, out=None, *, dtype=None, casting='same_kind'",
    "dot": "a, b, out=None", "inner": "a, b, /", "vdot": "a, b, /", "where": "condition, x=None, y=None, /",
    "copyto": "dst, src, casting='same_kind', where=True", "putmask": "a, mask, values",
    "empty_like": "prototype, dtype=None, order='K', subok=True, shape=None, *, device=None",
    "empty": "shape, dtype=float, order='C', *, device=None, like=None",
    "fromiter": "iter, dtype, count=-1, *, like=None",
    "zeros": "shape, dtype=float, order='C', *, device=None, like=None",
}  # fmt: skip


class Bound(NamedTuple):
    """A call of a rule: what goes by position, what by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    as_floats: bool = False  # whether the first argument is to be converted: dtype=float was asked for


@functools.cache
def _signature(function: Any) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        space: dict[str, Any] = {}
        exec(f"def told({_TOLD[function.__name__]}): ...", space)
        return inspect.signature(space["told"])


def bound(function: Any, rule: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """Return how the rule is to be called for function(*args, **kwargs); refuse what the rule does not honour."""
    signature = _signature(function)
    known = _signature(rule).parameters
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values())
    by_place: list[Any] = []
    by_name: dict[str, Any] = {}
    try:
        found = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise refusal(f"np.{function.__name__}: {error}.", "Give the arguments that NumPy documents.") from None
    for name, value in found.items():
        parameter = signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            by_place += value
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            by_name |= value
        elif parameter.default is _EMPTY:
            by_place.append(value)
        elif not _same(value, parameter.default):
            by_name[name] = value
    by_name = {n: v for n, v in by_name.items() if n in known or takes_all or not is_idle(n, v)}
    refused = getattr(rule, "refuses", ())
    lacking = [n for n in by_name if n in refused or (n not in known and not takes_all)]
    as_floats = lacking == ["dtype"] and np.dtype(by_name["dtype"]) == np.float64
    if as_floats:
        by_name.pop("dtype")
    elif lacking:
        raise not_honoured(function, lacking[0])
    return Bound(tuple(by_place), by_name, as_floats)


def split_out(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """Take out= from a call: the arguments that come by position without it, and the target; kwargs lose theirs."""
    if "out" in kwargs:
        return args, kwargs.pop("out")
    if len(args) < 2:
        return args, None
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [name for name, p in _signature(function).parameters.items() if p.kind in placed]
    if "out" not in names[: len(args)]:
        return args, None
    at = names.index("out")
    kwargs |= dict(zip(names[at + 1 :], args[at + 1 :], strict=False))
    return args[:at], args[at]


def is_idle(name: str, value: Any) -> bool:
    """Return whether an argument asks for what happens anyway."""
    return name in _IDLE or value is _NO_VALUE or (name in _NEUTRAL and any(_same(value, v) for v in _NEUTRAL[name]))


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and isinstance(value, int | float | str) and value == default


def not_honoured(function: Any, name: str) -> TraceError:
    """Return the refusal of an argument that a rule does not know."""
    shown = getattr(function, "__name__", repr(function))
    instead = _INSTEAD.get(name, "Leave the argument out, or write the formula another way.")
    return refusal(f"np.{shown}(..., {name}=) is not offered.", instead)


def with_out(ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a universal function, to which targets given by position are added."""
    extra = args[ufunc.nin :]
    return {**kwargs, "out": extra} if extra else kwargs


def _reduce(
    array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False, initial: Any = _NO_VALUE, where: Any = True
) -> None: ...


def _accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> None: ...


def _at(a: Any, indices: Any, b: Any = None, /) -> None: ...


def _any_method(*args: Any, **kwargs: Any) -> None: ...


# The signatures of the methods of universal functions.
METHODS = {"reduce": _reduce, "accumulate": _accumulate, "at": _at, "outer": _any_method, "reduceat": _any_method}

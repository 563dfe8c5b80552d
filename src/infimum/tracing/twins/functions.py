"""Twins of the user's functions: the same code with other globals and closure cells."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from infimum.tracing.refusal import refusal
from infimum.tracing.scipy_rules import SCIPY
from infimum.tracing.twins.numpy import NumpyTwin, foreign
from infimum.tracing.twins.origin import origin_of

if TYPE_CHECKING:
    from infimum.tracing.twins.twins import Twins

# These are no functions of x themselves.
_SEARCHES = frozenset(
    {("infimum.api.minimize", "minimize"), ("infimum.api.fit", "fit"), ("infimum.api.fit", "least_squares"),
     ("infimum.function.function", "trace")}
)  # fmt: skip


def function_twin(twins: Twins, function: FunctionType) -> Any:
    """Return what a Python function is replaced by.

    whose code        twin
    the user's        a copy with twins in its globals, closure and defaults
    NumPy's           one that traces by rule (the user's own function where np.errstate decorates it)
    a compiled one's  one that traces by rule, or refuses expressions
    another library's the function itself; a search is refused
    """
    place = origin_of(function)
    if (function.__module__, function.__name__) in _SEARCHES:
        return _refuse_search
    if place == "library":
        return function
    if place == "numpy":
        wrapped = getattr(function, "__wrapped__", None)
        decorated = isinstance(wrapped, FunctionType) and origin_of(wrapped) == "user"
        return twins.of(wrapped) if decorated else NumpyTwin(twins.tracer, function, None)
    if place == "compiled":
        return foreign(twins.tracer, function, SCIPY.get(function.__name__))
    return _copy(twins, function)


def _refuse_search(*args: Any, **kwargs: Any) -> Any:
    raise refusal("A search inside the function cannot be traced.", "Run it outside, and use its result inside.")


def _copy(twins: Twins, function: FunctionType) -> FunctionType:
    names = function.__globals__
    space = twins.globals.get(id(names))
    if space is None:
        space = twins.globals[id(names)] = {**names, "__builtins__": twins.builtins}
    closure = function.__closure__ or ()
    shared = tuple(twins.cell(cell, CellType()) for cell in closure)
    made = FunctionType(function.__code__, space, function.__name__, None, shared or None)
    twins.keep(function, made)
    twins.snapshots.take(function.__dict__)
    made.__dict__ = function.__dict__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__defaults__ = twins.of(function.__defaults__) if function.__defaults__ else None
    made.__kwdefaults__ = twins.of(function.__kwdefaults__) if function.__kwdefaults__ else None
    for old, new in zip(closure, shared, strict=True):
        if new is not old:
            _put_when_made(twins, contents(old), functools.partial(setattr, new, "cell_contents"))
    for name in _names(function.__code__):
        if name in names and space.get(name) is names[name]:
            _put_when_made(twins, names[name], functools.partial(space.__setitem__, name))
    return made


def _put_when_made(twins: Twins, value: Any, put: Callable[[Any], None]) -> None:
    """Put the twin of a value where it belongs, as soon as it is finished."""
    waiting = twins.waiting.get(id(value))
    if waiting is not None:
        waiting.append(put)
    else:
        put(twins.of(value))


def contents(cell: CellType) -> Any:
    """Return what a closure cell holds; the cell itself if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _names(code: CodeType) -> set[str]:
    """Return the names that a piece of code, and the code inside it, may look up."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found

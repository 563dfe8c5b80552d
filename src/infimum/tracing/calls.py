"""Calls of NumPy: universal functions, their methods, and all other functions.

among the arguments       a universal function                    another function
an expression             its rule, with NumPy's type (dtypes)    its rule, with the arguments that it honours
selected elements         applied under the same mask             a sum, product or mean under the mask
plain numbers only        NumPy's own result                      NumPy's own result
no rule                   refused by name                         refused by name
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.errors import UnsupportedValue
from infimum.exact.number import ExactArray
from infimum.tracing import arguments
from infimum.tracing.copies import holds, layout
from infimum.tracing.dtypes import elementwise, type_of
from infimum.tracing.refusal import VIEWED, refusal
from infimum.tracing.selected import Selected
from infimum.tracing.traced import TracedArray
from infimum.tracing.values import has_exact, is_symbolic, plain, unknown

if TYPE_CHECKING:
    from infimum.tracing.tracer import Rule, Tracer

_OF_OBJECTS = frozenset(
    {np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.isnan, np.isinf, np.isfinite}
)
_ABOUT_SHAPES = (np.sum, np.shape, np.ndim, np.size)


# Universal functions


def ufunc(t: Tracer, function: np.ufunc, inputs: tuple[Any, ...], method: str = "__call__", **kwargs: Any) -> Any:
    """Return what a universal function gives: nodes where an input is an expression, else NumPy's own result."""
    if any(map(has_exact, inputs)) and any(map(_is_short, inputs)):
        raise refusal("NumPy would round the exact constant to few digits here.", "Use float64 numbers.")
    target = kwargs.pop("out", None)
    if function.nout > 1 and target is not None and method == "__call__":
        given = target if isinstance(target, tuple) else (target,)
        target = given + (None,) * (function.nout - len(given))
    elif isinstance(target, tuple) and len(target) == 1:
        target = target[0]
    if method == "__call__":
        found = _elementwise(t, function, inputs, target, kwargs)
    else:
        found = _ufunc_method(t, function, method, inputs, kwargs)
    if isinstance(target, tuple):
        return tuple(f if one is None else t.into(one, f, True) for one, f in zip(target, found, strict=True))
    return found if target is None else t.into(target, found)


def _elementwise(t: Tracer, function: np.ufunc, inputs: tuple[Any, ...], target: Any, kwargs: dict[str, Any]) -> Any:
    """Return the function without out=; under where= the elements of the target stay."""
    options = {name: value for name, value in kwargs.items() if not arguments.is_idle(name, value)}
    where = options.pop("where", True)
    is_numpys = getattr(np, function.__name__, None) is function  # SciPy's do not keep their word under where=
    if where is not True and (where is None or target is None or isinstance(target, tuple) or not is_numpys):
        raise arguments.not_honoured(function, "where")  # NumPy leaves the other elements unset
    found = _of_elements(t, function, inputs, options)
    return found if where is True else call(t, np.where, (where, found, target))


def _of_elements(t: Tracer, function: np.ufunc, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    selected = next((v for v in inputs if isinstance(v, Selected)), None)
    symbolic = any(is_symbolic(value) for value in inputs) or _exact_meets_array(inputs)
    if not symbolic:
        try:
            return t.fresh(function(*map(plain, inputs), **plain(options)))
        except UnsupportedValue:
            pass  # a function that exact constants do not know: its value is enclosed
    as_floats = options.get("dtype") is not None and np.dtype(options["dtype"]) == np.float64
    if as_floats and function is not np.ldexp:
        options.pop("dtype")
        inputs = tuple(t.cast(t.traced(value), np.float64) for value in inputs)
    for name in options:
        raise arguments.not_honoured(function, name)
    if selected is not None:
        return selected.elementwise(function, inputs)
    rule = t.ufunc_rule(function)
    if function in _OF_OBJECTS and any(isinstance(value, Fraction | Decimal) for value in inputs):
        raise refusal(f"np.{function.__name__} of a Fraction gives an object.", "Write the comparison with 0.")
    operands = tuple(t.unlisted(v) for v in inputs)
    found = elementwise(t, function, rule, operands)
    template = layout(operands) if function.signature is None else None
    if template is None:
        return found
    if isinstance(found, tuple):
        return tuple(t.reordered(part, template) for part in found)
    return t.reordered(found, template)


def _ufunc_method(t: Tracer, function: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return np.add.reduce(...) and its like."""
    symbolic = any(is_symbolic(value) for value in (*inputs, *kwargs.values()))
    if not symbolic and method != "at":
        return t.fresh(getattr(function, method)(*map(plain, inputs), **plain(kwargs)))
    rule = t.functions.get((function, method))
    if rule is not None:
        bound = arguments.bound(arguments.METHODS[method], rule, inputs, kwargs)
        return rule(t, *bound.args, **bound.kwargs)
    if method == "outer" and not kwargs:
        a, b = (t.traced(value) for value in inputs)
        return ufunc(t, function, (a.reshape(a.shape + (1,) * b.ndim), b))
    raise refusal(f"np.{function.__name__}.{method} cannot be traced.", "Write the formula another way.")


def _exact_meets_array(values: tuple[Any, ...]) -> bool:
    """Return whether an exact constant meets an array of doubles, which knows no exact elements."""
    if not any(has_exact(value) for value in values):
        return False
    return any(isinstance(v, TracedArray | np.ndarray | list | tuple) and np.shape(v) for v in values)


def _is_short(value: Any) -> bool:
    """Return whether a value is of float32 or float16."""
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f" and value.dtype.itemsize < 8


# All other functions


def call(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """Return what a NumPy function gives."""
    kwargs = dict(kwargs or {})
    if isinstance(function, np.ufunc):
        return ufunc(t, function, args[: function.nin], **arguments.with_out(function, args, kwargs))
    if args and isinstance(args[0], Selected):
        return args[0].reduced(function, args[1:], kwargs)
    rule = t.functions.get(function)
    if rule is None and not is_symbolic(args) and not is_symbolic(list(kwargs.values())):
        return plain_call(t, function, args, kwargs)
    if rule is None:
        raise unknown(function)
    args, target = arguments.split_out(function, args, kwargs)
    found = _ruled(t, function, rule, args, kwargs)
    if target is None:
        return found
    if not isinstance(found, TracedArray) or not holds(getattr(target, "dtype", found.dtype), type_of(found)):
        raise arguments.not_honoured(function, "out")
    return t.into(target, found)


def _ruled(t: Tracer, function: Any, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    views = getattr(rule, "keeps_views", False) and args and isinstance(args[0], TracedArray)
    values = (*args, *kwargs.values())
    if function in _ABOUT_SHAPES and len(values) == 1 and isinstance(args[0], ExactArray):
        return function(*args)
    if not views and not is_symbolic(values) and not has_exact(values):
        if function is np.clip and not arguments.is_idle("where", kwargs.get("where", True)):
            raise arguments.not_honoured(function, "where")  # NumPy leaves the other elements unset
        return _on_numbers(t, function, args, kwargs)
    bound = arguments.bound(function, rule, args, kwargs)
    if bound.as_floats:
        return rule(t, _floats(t, bound.args[0]), *bound.args[1:], **bound.kwargs)
    return rule(t, *bound.args, **bound.kwargs)


def keeps_views(rule: Rule) -> Rule:
    """Mark a rule that gives views of its first argument, or writes into it: it stands for plain numbers too."""
    rule.keeps_views = True  # type: ignore[attr-defined]
    return rule


def _floats(t: Tracer, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_floats(t, part) for part in value]
    return t.cast(t.traced(value), np.float64)


def plain_call(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what a function without a rule gives for plain numbers."""
    if has_exact(args) or has_exact(list(kwargs.values())):
        name = getattr(function, "__name__", repr(function))
        raise refusal(
            f"{name} would round an exact constant to a double.",
            "Use exact constants in formulas with elementary functions, or write float(c) before the function.",
        )
    if kwargs.get("out") is not None:
        raise arguments.not_honoured(function, "out")
    return _on_numbers(t, function, args, kwargs)


def _on_numbers(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what NumPy makes of plain numbers. An array and a view of it can then be read, but not written."""
    given = plain(args)
    found = function(*given, **plain(kwargs))
    made = t.fresh(found)
    pairs = zip(found, made, strict=True) if isinstance(found, list | tuple) else [(found, made)]
    for part, wrapped in pairs:
        for value, array in zip(args, given, strict=True):
            if isinstance(wrapped, TracedArray) and isinstance(value, TracedArray) and _share(part, array):
                freeze(wrapped, value)
    return made


def _share(a: Any, b: Any) -> bool:
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)


def freeze(*arrays: Any) -> None:
    """Forbid writing into arrays of which one is a view of another in NumPy, and a copy here."""
    for array in arrays:
        if isinstance(array, TracedArray) and array.buffer is not None and not array.buffer.frozen:
            array.buffer.frozen = VIEWED

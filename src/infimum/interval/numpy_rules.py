"""Which operation a NumPy function on intervals means."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import UnsupportedValue
from infimum.interval import folds, powers
from infimum.interval.calls import BoolArray, call, compare, operand
from infimum.interval.reading import Pair
from infimum.ops import OPERATIONS, ufunc_names

# The name of a universal function and the core's; powers and comparisons have rules of their own.
_ELEMENTWISE = {
    name: row.name
    for row in OPERATIONS.values()
    if row.name not in ("pow", "where") and row.values != "truths"
    for name in ufunc_names(row.name)
}

# NumPy's comparison and what to ask of (a, b), in which order.
_QUESTIONS = {
    "less": ("<", False), "less_equal": ("<=", False), "greater": ("<", True), "greater_equal": ("<=", True),
    "equal": ("==", False), "not_equal": ("==", False),
}  # fmt: skip

_REDUCTIONS = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}


def ufunc(function: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the ends, or the answers, of a NumPy universal function; NotImplemented if it is not ours."""
    name = function.__name__
    if not all(_readable(value) for value in inputs):
        return NotImplemented
    if method == "reduce" and name in _REDUCTIONS:
        return _reduced(name, *inputs, **kwargs)
    if method != "__call__":
        raise _refusal(f"np.{name}.{method}")
    if kwargs:
        raise _refusal(f"np.{name}(..., {', '.join(kwargs)}=...)")
    return _called(name, inputs)


def _called(name: str, inputs: tuple[Any, ...]) -> Pair | BoolArray | bool:
    if name in _ELEMENTWISE:
        return call(_ELEMENTWISE[name], *(operand(value) for value in inputs))
    if name in _QUESTIONS:
        return _asked(name, *(operand(value) for value in inputs))
    if name in ("power", "float_power", "pow"):
        return powers.power(operand(inputs[0]), inputs[1])
    if name == "matmul":
        return folds.matmul(operand(inputs[0]), operand(inputs[1]))
    if name == "floor_divide":
        return call("floor", call("div", operand(inputs[0]), operand(inputs[1])))
    if name == "positive":
        return operand(inputs[0])
    raise _refusal(f"np.{name}")


def _asked(name: str, a: Pair, b: Pair) -> BoolArray | bool:
    question, swapped = _QUESTIONS[name]
    answer = compare(question, b, a) if swapped else compare(question, a, b)
    if name == "not_equal":
        answer = ~answer
    return bool(answer) if answer.ndim == 0 else answer


def _readable(value: object) -> bool:
    return hasattr(value, "__interval__") or isinstance(
        value, (int, float, Fraction, np.ndarray, np.generic, list, tuple)
    )


def _reduced(
    name: str, x: Any, axis: folds.Axis = 0, dtype: None = None, out: Any = None, keepdims: bool = False
) -> Pair:
    if dtype is not None or out is not None:
        raise _refusal(f"np.{name}.reduce(..., dtype=..., out=...)")
    return folds.fold(_REDUCTIONS[name], operand(x), axis, keepdims)


def function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the ends of a NumPy function that is no universal function."""
    if function in _REARRANGING:
        return _rearranged(function, args, kwargs)
    if function in _COMPUTING:
        try:
            return _COMPUTING[function](*args, **kwargs)
        except TypeError as error:
            if "unexpected keyword argument" not in str(error):
                raise
            raise _refusal(f"np.{function.__name__} with {', '.join(kwargs)}") from error
    raise _refusal(f"np.{function.__name__}")


def _rearranged(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pair:
    """Return the ends moved as the function moves elements, lower and upper ones alike."""
    values, rest = args[0], args[1:]
    if function in _JOINING:
        pairs = [operand(value) for value in values]
        return (function([lo for lo, _ in pairs], *rest, **kwargs), function([hi for _, hi in pairs], *rest, **kwargs))
    lo, hi = operand(values)
    return function(lo, *rest, **kwargs), function(hi, *rest, **kwargs)


def _where(condition: Any, yes: Any = None, no: Any = None) -> Pair:
    if yes is None or no is None or np.asarray(condition).dtype != np.bool_:
        raise UnsupportedValue(
            "np.where on intervals needs a boolean array and two values: "
            "np.where(condition, a, b), with a condition that is certain."
        )
    (yes_lo, yes_hi), (no_lo, no_hi) = operand(yes), operand(no)
    return np.where(condition, yes_lo, no_lo), np.where(condition, yes_hi, no_hi)


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Pair:
    lower, upper = (a_min if min is None else min), (a_max if max is None else max)
    pair = operand(x)
    if lower is not None and not _is_infinite(lower, -np.inf):
        pair = call("max", pair, operand(lower))
    if upper is not None and not _is_infinite(upper, np.inf):
        pair = call("min", pair, operand(upper))
    return pair


def _is_infinite(value: Any, infinity: float) -> bool:
    return isinstance(value, float) and value == infinity


def _round(x: Any, decimals: int = 0) -> Pair:
    if decimals != 0:
        raise _refusal("np.round with decimals")
    return call("round_ties_to_even", operand(x))


def _diff(x: Any, n: int = 1, axis: int = -1) -> Pair:
    pair = operand(x)
    for _ in range(n):
        lo, hi = (np.moveaxis(end, axis, 0) for end in pair)
        lo, hi = call("sub", (lo[1:], hi[1:]), (lo[:-1], hi[:-1]))
        pair = np.moveaxis(lo, 0, axis), np.moveaxis(hi, 0, axis)
    return pair


def _outer(a: Any, b: Any) -> Pair:
    (a_lo, a_hi), (b_lo, b_hi) = operand(a), operand(b)
    return call("mul", (a_lo.reshape(-1, 1), a_hi.reshape(-1, 1)), (b_lo.reshape(1, -1), b_hi.reshape(1, -1)))


def _each(rearrange: Callable[..., Any], pair: Pair) -> Pair:
    return rearrange(pair[0]), rearrange(pair[1])


def _fold(op: str) -> Callable[..., Pair]:
    def folded(x: Any, axis: folds.Axis = None, *, keepdims: bool = False) -> Pair:
        return folds.fold(op, operand(x), axis, keepdims)

    return folded


def _mean(x: Any, axis: folds.Axis = None, *, keepdims: bool = False) -> Pair:
    return folds.mean(operand(x), axis, keepdims)


def _norm(x: Any, ord: Any = None, axis: folds.Axis = None, keepdims: bool = False) -> Pair:
    return folds.norm(operand(x), ord, axis, keepdims)


_COMPUTING: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _fold("add"), np.prod: _fold("mul"), np.mean: _mean,
    np.max: _fold("max"), np.amax: _fold("max"), np.min: _fold("min"), np.amin: _fold("min"),
    np.cumsum: lambda x, axis=None: folds.running("add", operand(x), axis),
    np.cumprod: lambda x, axis=None: folds.running("mul", operand(x), axis),
    np.dot: lambda a, b: folds.dot(operand(a), operand(b)),
    np.vdot: lambda a, b: folds.dot(_each(np.ravel, operand(a)), _each(np.ravel, operand(b))),
    np.inner: lambda a, b: folds.dot(operand(a), _each(np.transpose, operand(b))),
    np.outer: _outer, np.linalg.norm: _norm, np.where: _where, np.clip: _clip, np.round: _round, np.diff: _diff,
}  # fmt: skip

_JOINING: frozenset[Callable[..., Any]] = frozenset({np.stack, np.concatenate, np.hstack, np.vstack, np.column_stack})
_REARRANGING: frozenset[Callable[..., Any]] = _JOINING | frozenset({
    np.reshape, np.ravel, np.transpose, np.squeeze, np.expand_dims, np.broadcast_to, np.moveaxis, np.swapaxes,
    np.roll, np.flip, np.take, np.repeat, np.tile, np.copy, np.diag, np.atleast_1d, np.atleast_2d, np.delete,
})  # fmt: skip


def _refusal(what: str) -> UnsupportedValue:
    return UnsupportedValue(
        f"{what} is not offered for intervals. Use the functions of infimum.interval, or apply "
        "it to x.lo, x.hi or x.mid if that is what you mean."
    )

"""The parameters of a fit, read: how many there are and what they are called, their bounds, where to start.

SciPy's curve_fit writes bounds as a tuple (lower, upper) of two arrays, infimum as a list of pairs. Where a tuple can
be read in one way alone it is read so; where it can be SciPy's, it is refused with the pairs to write.

bounds                                  read as
scipy.optimize.Bounds                   as SciPy reads them
a pair of numbers                       that pair for every parameter: both conventions agree
a list of pairs, an array (n, 2)        one pair for each parameter
two sequences of n != 2 numbers         refused: SciPy's (lower, upper)
a number and a sequence                 refused likewise
a tuple of two pairs, two parameters    pairs, where both readings agree, or SciPy's leaves no room: ((0, 9), (0, 5));
                                        refused as SciPy's, where the pairs leave none; else as ambiguous:
                                        ((0, 1), (5, 10))
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.errors import InvalidBounds, InvalidOption
from infimum.interval.reading import describe
from infimum.tracing.squares import name_of

_SHOWN = 6
_HOW = "Write one pair for each parameter, such as bounds=[(0, 10), (-1, 1)], or scipy.optimize.Bounds(lower, upper)."


class Places(NamedTuple):
    """What a model takes after x: the names of its parameters, how many it needs, whether it takes any number more."""

    names: tuple[str, ...]
    least: int
    any_more: bool

    def most(self) -> float:
        """Return how many parameters it takes at most."""
        return math.inf if self.any_more else len(self.names)


def places(model: Callable[..., Any]) -> Places:
    """Return what a model takes after x; refuse one that cannot be called as model(x, *params)."""
    try:
        given = list(inspect.signature(model).parameters.values())
    except (TypeError, ValueError):  # compiled functions do not tell
        return Places((), 0, True)
    by_place = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    any_more = any(p.kind is p.VAR_POSITIONAL for p in given)
    by_name = [p.name for p in given if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    name = name_of(model)
    if by_name:
        raise InvalidOption(
            f"{name} takes {by_name[0]} by name alone, and a fit calls model(x, *params). Give it a value: "
            f"functools.partial({name}, {by_name[0]}=…)."
        )
    if not by_place and not any_more:
        raise InvalidOption(f"{name} takes no arguments, and a fit calls model(x, *params). Write def {name}(x, a, b).")
    params = by_place[1:]
    return Places(tuple(p.name for p in params), sum(p.default is p.empty for p in params), any_more)


def names(found: Places, n: int) -> tuple[str, ...]:
    """Return names of n parameters: the model's own, numbered where it takes any number."""
    return (*found.names[:n], *(f"p[{i}]" for i in range(len(found.names), n)))


def parameter_bounds(model: Callable[..., Any], bounds: Any, p0: Any) -> tuple[list[Any] | npt.NDArray[Any], Places]:
    """Return a pair for each parameter, and what the model takes."""
    found = places(model)
    if bounds is None:
        raise InvalidBounds(f"Bounds are missing: every best fit within them is sought. {_HOW}")
    pairs = one_pair_each(bounds, _count(found, p0), found.least <= 2 <= found.most())
    n = len(pairs)
    if not found.least <= n <= found.most():
        takes = ", ".join(found.names[: found.least] if n < found.least else found.names) or "none"
        raise InvalidBounds(
            f"{name_of(model)} takes the parameters {takes} after x, and bounds were given for {n}. {_HOW}"
        )
    return pairs, found


def _count(found: Places, p0: Any) -> int | None:
    """Return how many parameters there are, as far as the model or p0 tells."""
    if not found.any_more:
        return len(found.names)
    shape = () if p0 is None else np.shape(p0)
    return shape[-1] if shape else None


def one_pair_each(bounds: Any, n: int | None, may_be_two: bool = True) -> list[Any] | npt.NDArray[Any]:
    """Return bounds as one pair for each parameter; refuse SciPy's tuple.

    n            how many parameters a single pair is for, or None
    may_be_two   whether there can be two of them
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return _of_scipy(bounds, n)
    if isinstance(bounds, str | dict) or not isinstance(bounds, Iterable):
        raise InvalidBounds(f"bounds={describe(bounds)} are no bounds. {_HOW}")
    is_tuple = isinstance(bounds, tuple)
    if isinstance(bounds, np.ndarray):
        if bounds.ndim == 2 and bounds.shape[0] == 2 and bounds.shape[1] != 2:
            raise _refused(bounds, list(bounds[0]), list(bounds[1]))
        if bounds.shape != (2,):
            return bounds
    given = list(bounds)
    if len(given) != 2:
        return given
    lower, upper = map(_listed, given)
    if lower is None and upper is None:  # two numbers
        if n is None:
            raise InvalidBounds(f"bounds={describe(bounds)} do not tell how many parameters there are. {_HOW}")
        return [(given[0], given[1])] * n
    if lower is None or upper is None or len(lower) != 2 or len(upper) != 2:
        size = len(upper or []) if lower is None else len(lower)
        lower, upper = lower or [given[0]] * size, upper or [given[1]] * size
        if len(lower) == len(upper):
            raise _refused(bounds, lower, upper)
        return given
    if is_tuple and may_be_two:
        _refuse_if_of_scipy(bounds, lower, upper)
    return given


def _of_scipy(bounds: Any, n: int | None) -> list[Any]:
    sides = [
        np.atleast_1d(np.asarray(side, object if hasattr(side, "__interval__") else None))
        for side in (bounds.lb, bounds.ub)
    ]
    size = max(side.size for side in sides)
    if size == 1 and n is not None:
        size = n
    try:
        lower, upper = (np.broadcast_to(side, (size,)).tolist() for side in sides)
    except ValueError:
        shapes = " and ".join(str(side.shape) for side in sides)
        raise InvalidBounds(f"Bounds(lb, ub) have shapes {shapes}. Give one length to both.") from None
    return list(zip(lower, upper, strict=True))


def _listed(value: Any) -> list[Any] | None:
    """Return a sequence as a list; None for a number, and for anything else that is none."""
    if isinstance(value, str) or not hasattr(value, "__len__") or np.ndim(value) == 0:
        return None
    return list(value)


def _refuse_if_of_scipy(bounds: Any, lower: list[Any], upper: list[Any]) -> None:
    """Refuse a tuple of two pairs that SciPy may have meant."""
    try:
        can_be_pairs = all(_end(lo, -math.inf) <= _end(hi, math.inf) for lo, hi in (lower, upper))
        can_be_scipys = all(_end(lo, -math.inf) < _end(hi, math.inf) for lo, hi in zip(lower, upper, strict=True))
    except (TypeError, ValueError):
        return  # what is no number is told by the reader of pairs
    agree = lower[1] is upper[0] or bool(lower[1] == upper[0])
    if not can_be_scipys or agree:
        return
    if not can_be_pairs:
        raise _refused(bounds, lower, upper)
    raise InvalidBounds(
        f"bounds={describe(bounds)} can be read in two ways. Write the list bounds={_shown(lower, upper, False)} for "
        f"one pair for each parameter, or bounds={_shown(lower, upper)} if SciPy's (lower, upper) was meant."
    )


def refuse_columns(bounds: tuple[Any, ...]) -> None:
    """Refuse a tuple of two sequences of two numbers that leave no room as pairs, and do as SciPy's (lower, upper)."""
    sides = [_listed(side) for side in bounds] if len(bounds) == 2 else []
    if not sides or any(side is None or len(side) != 2 for side in sides):
        return
    lower, upper = (side or [] for side in sides)
    try:
        leave_none = all(_end(lo, -math.inf) == _end(hi, math.inf) for lo, hi in (lower, upper))
        leave_room = all(_end(lo, -math.inf) < _end(hi, math.inf) for lo, hi in zip(lower, upper, strict=True))
    except (TypeError, ValueError):
        return  # what is no number is told by the reader of pairs
    if leave_none and leave_room:
        raise _refused(bounds, lower, upper)


def _end(value: Any, missing: float) -> float:
    return missing if value is None else float(value)


def _refused(bounds: Any, lower: list[Any], upper: list[Any]) -> InvalidBounds:
    return InvalidBounds(
        f"bounds={describe(bounds)} is SciPy's (lower, upper). Write one pair for each parameter: "
        f"bounds={_shown(lower, upper)}, or scipy.optimize.Bounds(lower, upper)."
    )


def _shown(lower: list[Any], upper: list[Any], columns: bool = True) -> str:
    pairs = list(zip(lower, upper, strict=True)) if columns else [tuple(lower), tuple(upper)]
    texts = [f"({_text(lo)}, {_text(hi)})" for lo, hi in pairs[:_SHOWN]]
    return f"[{', '.join(texts)}{', …' if len(pairs) > _SHOWN else ''}]"


def _text(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def starts(name: str, given: Any, domain: Domain) -> Any:
    """Return starting points as they are given; refuse a wrong shape, and what lies outside the bounds."""
    if given is None:
        return None
    shape = np.shape(given)
    n = domain.n
    if shape == () and n == 1:
        return [given]
    if not (shape == (n,) or (len(shape) == 2 and shape[1] == n and shape[0] > 0)):
        raise InvalidOption(
            f"{name} has shape {shape}, and there are {n} parameters. Give {n} numbers, or rows of {n} numbers for "
            "several starting points."
        )
    rows = np.asarray(given, object).reshape(-1, n)
    for row, i in np.ndindex(rows.shape):
        if not _is_inside(rows[row, i], domain, i):
            at = f"[{row}, {i}]" if len(shape) == 2 else f"[{i}]"
            pair = f"[{float(domain.lo[i])!r}, {float(domain.hi[i])!r}]"
            raise InvalidOption(f"{name}{at} is {_text(rows[row, i])}, outside the bounds {pair}. Move it inside.")
    return given


def _is_inside(value: Any, domain: Domain, i: int) -> bool:
    """Say whether a number may lie within the bounds of parameter i; what is no number is told by minimize."""
    try:
        return bool(domain.lo[i] <= float(value) <= domain.hi[i])
    except (TypeError, ValueError):
        return True

"""What an operation makes of constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum import core
from infimum.exact.number import Exact, exact
from infimum.graph.constant import Constant, of_bounds, of_symbols
from infimum.interval.folds import fold
from infimum.ops import OPERATIONS

_MOST_EXACT = 64  # elements up to which constants are folded symbol by symbol


def folded(op: str, values: list[Constant], size: int, data: Any) -> Constant | None:
    """Return the constant that the operation makes of constants: exact where that is cheap, else a tight interval."""
    # | operands                                  | constant                                        |
    # | doubles, of which the interval is a point | that double: the interval contains the value    |
    # | few exact numbers                         | the exact value, where it can be kept           |
    # | others, defined                           | the interval                                    |
    # | others                                    | none                                            |
    finite = all(v.doubles is None or np.isfinite(v.doubles).all() for v in values)
    found = None
    if finite and all(v.doubles is not None for v in values):
        found = _enclosed(op, values, data)
        if found is not None and found.doubles is not None:
            return found
    if finite and size <= _MOST_EXACT and all(v.is_exact for v in values):
        exactly = _fold_exactly(op, values, size, data)
        if exactly is not None:
            return exactly
    return found if found is not None else _enclosed(op, values, data)


def summed(value: Constant) -> Constant:
    """Return the sum of a constant's elements: exact where they are few, else enclosed."""
    if value.size == 1:
        return value
    finite = value.doubles is None or bool(np.isfinite(value.doubles).all())
    if finite and value.is_exact and value.size <= _MOST_EXACT:
        return of_symbols([sum(value.exact_elements(), exact(0))])
    lo, hi = fold("add", value.enclosure())
    return of_bounds(np.atleast_1d(lo), np.atleast_1d(hi))


def _enclosed(op: str, values: list[Constant], data: Any) -> Constant | None:
    """Return the tight intervals around an operation's values; none where it may be undefined."""
    if op not in core.operations():
        return None
    pairs = [v.enclosure() for v in values]
    lo, hi = core.apply(op, *pairs, param=data if op in core.POWERS else 0)
    if not (lo <= hi).all():
        return None  # undefined there: leave the operation in place, where its facts are seen
    defined, _ = core.facts(op, *pairs, param=data if op in core.POWERS else 0)
    return of_bounds(np.atleast_1d(lo), np.atleast_1d(hi)) if defined.all() else None


def _fold_exactly(op: str, values: list[Constant], size: int, data: Any) -> Constant | None:
    elements = [v.exact_elements() for v in values]
    columns = [e * size if len(e) == 1 and size > 1 else e for e in elements]
    try:
        return of_symbols([_exact_value(op, row, data) for row in zip(*columns, strict=True)])
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return None


def _exact_value(op: str, row: tuple[Exact, ...], data: Any) -> Exact:
    if op == "pown":
        return _as_exact(row[0] ** int(data)) if abs(int(data)) <= 64 else _no_value()
    known = OPERATIONS.get(op)
    return _as_exact(known.point(*row)) if known is not None and known.exact else _no_value()


def _as_exact(value: Any) -> Exact:
    found: Exact = value if isinstance(value, Exact) else exact(value)
    return found


def _no_value() -> Exact:
    raise ValueError

"""Which of Python's functions raise an error for no number of the domain.

A guard around a function that never raises does not matter: the traced formula is the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.tracing.python.guards import caught
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer

_LARGEST = 709.0  # the exponential of more may overflow


def _positive(lo: float, hi: float) -> bool:
    return lo > 0.0


def _moderate(lo: float, hi: float) -> bool:
    return lo > -_LARGEST and hi < _LARGEST


def _finite(lo: float, hi: float) -> bool:
    return True


# By name, where the last operand must lie; every operand must be a number and finite.
_INSIDE: dict[str, Callable[[float, float], bool]] = {
    "math.log": _positive, "math.log2": _positive, "math.log10": _positive,
    "math.log1p": lambda lo, hi: lo > -1.0, "math.sqrt": lambda lo, hi: lo >= 0.0,
    "math.exp": _moderate, "math.expm1": _moderate, "math.sinh": _moderate, "math.cosh": _moderate,
    "math.asin": lambda lo, hi: lo >= -1.0 and hi <= 1.0, "math.acos": lambda lo, hi: lo >= -1.0 and hi <= 1.0,
    "math.acosh": lambda lo, hi: lo >= 1.0, "math.atanh": lambda lo, hi: lo > -1.0 and hi < 1.0,
    "/": lambda lo, hi: lo > 0.0 or hi < 0.0, "//": lambda lo, hi: lo > 0.0 or hi < 0.0,
    "%": lambda lo, hi: lo > 0.0 or hi < 0.0, "divmod": lambda lo, hi: lo > 0.0 or hi < 0.0,
    "int()": _finite, "round()": _finite, "math.floor": _finite, "math.ceil": _finite, "math.trunc": _finite,
    "math.sin": _finite, "math.cos": _finite, "math.tan": _finite,
}  # fmt: skip


def may_raise(t: Tracer, name: str, *values: Any) -> None:
    """Refuse what raises an error for some numbers where the user's code may catch it."""
    if caught() and not _never_raises(t, name, values):
        raise refusal(
            f"{name} raises an error for some numbers, and the code around it may catch that error.",
            "Write np.where(condition, a, b) with the condition under which it is defined, without try.",
        )


def _never_raises(t: Tracer, name: str, values: tuple[Any, ...]) -> bool:
    """Return whether a function has a number for every number of the domain; False where that is in doubt."""
    inside = _INSIDE.get(name)
    if inside is None or not values or (name == "math.log" and len(values) > 1):
        return False
    ends = [_ends(t, value) for value in values]
    return all(math.isfinite(lo) and math.isfinite(hi) for lo, hi in ends) and inside(*ends[-1])


def _ends(t: Tracer, value: Any) -> tuple[float, float]:
    """Return the range of an operand over the domain; infinite where it may be no number."""
    if type(value) is not TracedArray:
        known = float(value) if isinstance(value, int | float) else math.inf
        return known, known
    if t.nonfinite.is_nan(value.node) is not False:
        return -math.inf, math.inf
    lo, hi = t.nonfinite.ranges.of(value.node)
    return float(np.min(lo)), float(np.max(hi))

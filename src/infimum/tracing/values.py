"""Questions about the values of a user's function: which are expressions, which plain; and the refusal of the rest."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import TraceError
from infimum.exact.number import Exact, ExactArray
from infimum.tracing.python.clock import Moment
from infimum.tracing.refusal import refusal
from infimum.tracing.selected import Selected
from infimum.tracing.traced import TracedArray


def is_symbolic(value: Any) -> bool:
    """Return whether an expression of x stands anywhere in the value."""
    kind = type(value)
    if kind is TracedArray:
        return not value.known
    if kind is Selected:
        return True
    if kind is list or kind is tuple:
        return any(is_symbolic(part) for part in value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return any(is_symbolic(part) for part in value.ravel())
    return False


def has_exact(value: Any) -> bool:
    """Return whether an exact constant stands in the value."""
    if isinstance(value, list | tuple):
        return any(has_exact(part) for part in value)
    return isinstance(value, Exact | ExactArray | Fraction | Decimal)


def plain(value: Any) -> Any:
    """Return the value with known traced arrays as the NumPy arrays that they are."""
    kind = type(value)
    if kind is TracedArray:
        if not value.known:
            raise refusal("This argument must be known, but it stands for a whole range here.", "Give plain numbers.")
        return value.numbers
    if kind is tuple or kind is list:
        return kind(plain(part) for part in value)
    if kind is Moment:
        value.refuse()
    if kind is dict:
        return {name: plain(part) for name, part in value.items()}
    return value


_HINTS = {
    "sort": "Sorting depends on x. For two values use np.minimum and np.maximum.",
    "argmin": "Which element is smallest depends on x. Use np.min for the value, or np.where.",
    "argmax": "Which element is largest depends on x. Use np.max for the value, or np.where.",
    "argsort": "The order depends on x. Use np.minimum and np.maximum.",
    "median": "The median needs sorting, which depends on x. Use np.mean, or np.minimum and np.maximum.",
    "nonzero": "Which elements are nonzero depends on x. Use np.where(condition, a, b) with three arguments.",
    "isnan": "Whether a value is defined depends on x. Write np.where with the condition of the domain.",
    "det": "Write the determinant out as a formula, for example a*d - b*c.",
    "solve": "If the matrix is constant, write np.linalg.inv(A) @ b.",
}
_HINTS |= {"isfinite": _HINTS["isnan"], "isinf": _HINTS["isnan"], "nan_to_num": _HINTS["isnan"]}
_HINTS |= {"percentile": _HINTS["median"], "quantile": _HINTS["median"], "partition": _HINTS["sort"]}


def unknown(function: Any) -> TraceError:
    """Return the refusal of a function that no rule covers, by its name."""
    name = getattr(function, "__name__", repr(function))
    module = (getattr(function, "__module__", None) or "").replace("numpy", "np")
    known_numpy = not module or module.startswith("np")
    full = f"{module or 'np'}.{name}" if not isinstance(function, np.ufunc) else _ufunc_name(function)
    why = f"{full} cannot be traced" + ("." if known_numpy else ": it runs compiled code on numbers, not on ranges.")
    return refusal(why, _HINTS.get(name, "Write the formula with elementary NumPy functions instead."))


def _ufunc_name(function: np.ufunc) -> str:
    own = getattr(np, function.__name__, None) is function
    return f"np.{function.__name__}" if own else f"{function.__name__} (a compiled function)"

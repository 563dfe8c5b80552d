"""How a problem of the frontier is put together from its formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.errors import InvalidOption
from infimum.exact import Exact, ExactArray
from infimum.problems import Problem


def made(name: str, n: int, f: Callable[[Any], Any], bounds: Any, minimum: float | Exact, at: Any) -> Problem:
    """Be a problem: bounds are a list of pairs or one pair for all variables, `at` an array or one number for all."""
    fixed(name, n)

    def objective(x: Any) -> Any:
        return f(x)

    objective.__name__ = objective.__qualname__ = name
    pairs = tuple(bounds) if isinstance(bounds, list) else (bounds,) * n
    minimiser = at if isinstance(at, np.ndarray | ExactArray) else np.full(n, float(at))
    return Problem(name, objective, pairs, minimum, minimiser, int(n))


def fixed(name: str, n: Any, only: int | None = None, least: int = 1) -> None:
    """Refuse a number of variables that the problem does not have."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < least:
        raise InvalidOption(f"{name}: the number of variables must be an integer, at least {least}, got {n!r}.")
    if only is not None and n != only:
        raise InvalidOption(f"{name} has {only} variables, got {n}.")

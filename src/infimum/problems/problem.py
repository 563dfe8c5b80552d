"""A problem: a function with its bounds and what is known about its global minimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InvalidOption
from infimum.exact.number import Exact, ExactArray

Objective = Callable[[Any], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A function with its bounds and what is known about its global minimum."""

    name: str
    f: Objective
    bounds: tuple[tuple[Any, Any], ...]
    minimum: float | Exact
    minimiser: npt.NDArray[np.float64] | ExactArray
    n: int
    jac: Objective | None = None

    def __reduce__(self) -> Any:
        """Send the name of a problem of this package to another process: its function is local to its maker.

        A problem that was changed is sent as it is: what `dataclasses.replace` returns has no such mark.
        """
        from infimum import problems

        is_ours = "_is_named" in self.__dict__ and self.name in problems.names()
        return (problems.named, (self.name, self.n)) if is_ours else super().__reduce__()

    def __repr__(self) -> str:
        return f"<problem {self.name} of {self.n} variables>"


def problem(
    name: str, n: int, f: Objective, bounds: Any, minimum: float | Exact, at: Any, jac: Objective | None = None
) -> Problem:
    """Return the problem of a function, which is given the problem's name.

    bounds   a list of pairs, or one pair for all variables
    at       the minimiser: an array, or one number for all variables
    """
    count = checked_count(name, n)
    f.__name__ = f.__qualname__ = name
    pairs = tuple(bounds) if isinstance(bounds, list) else (bounds,) * count
    if isinstance(at, Exact):
        at = at * np.ones(count, np.int64)
    minimiser = at if isinstance(at, np.ndarray | ExactArray) else np.full(count, float(at))
    found = Problem(name, f, pairs, minimum, minimiser, count, jac)
    found.__dict__["_is_named"] = True
    return found


def checked_count(name: str, n: Any, only: int | None = None, least: int = 1) -> int:
    """Return the number of variables; refuse one that the problem does not have."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < least:
        wanted = "a positive integer" if least == 1 else f"an integer, at least {least}"
        raise InvalidOption(f"{name}: the number of variables must be {wanted}, got {n!r}.")
    if only is not None and n != only:
        raise InvalidOption(f"{name} has {only} variables, got {n}.")
    return int(n)

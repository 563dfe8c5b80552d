"""The goals of a search, read: what is relative to what, and what holds where nothing is given.

option   goal                                                             "auto"    "paper"
ftol     upper - lower <= ftol * |upper| …                                1e-6      None
fatol    … or <= fatol, whichever allows more                             1e-9      1e-9 beside a given ftol
xtol     every box narrower than this, absolutely                         None      1e-4, unless xrtol is given
xrtol    every box narrower than this times the width of the domain       None      None
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from infimum.api.options import tolerance
from infimum.domain import Domain
from infimum.errors import InvalidOption, UnreachableTolerance
from infimum.interval.outward import FloatArray
from infimum.interval.reading import describe
from infimum.search.goals import Goals, can_be_cut


class Default:
    """The value of an option that is not given, by method: an object that no user writes."""

    def __init__(self, auto: float | None, paper: float | None) -> None:
        self.auto = auto
        self.paper = paper

    def __repr__(self) -> str:
        return repr(self.auto)


FTOL, FATOL, XTOL = Default(1e-6, None), Default(1e-9, 1e-9), Default(None, 1e-4)


def goals(method: str, ftol: Any, fatol: Any, xtol: Any, xrtol: Any, domain: Domain) -> Goals:
    """Return the goals that the options mean for this method on this domain."""
    asked = _tolerance("ftol", ftol, method)
    if asked == math.inf:
        raise InvalidOption("ftol=inf asks for nothing. Write ftol=None to switch this goal off.")
    if ftol is FTOL and asked is None and fatol is not FATOL and fatol is not None:
        asked = 0.0  # of the paper's method, which has no goal for the value unless one is given
    slack = _tolerance("fatol", fatol, method) or 0.0
    if xtol is XTOL:
        xtol = XTOL.auto if method == "auto" or xrtol is not None else XTOL.paper
    narrow = [found for found in (widths("xtol", xtol, domain.n), _of_the_domain(xrtol, domain)) if found is not None]
    if len(narrow) == 2:
        return Goals(asked, slack, np.minimum(narrow[0], narrow[1]))
    return Goals(asked, slack, narrow[0] if narrow else None)


def _tolerance(name: str, value: Any, method: str) -> float | None:
    if isinstance(value, Default):
        return value.auto if method == "auto" else value.paper
    return tolerance(name, value, zero=True)


def widths(name: str, given: Any, n: int) -> float | FloatArray | None:
    """Return the widths asked for: one for all variables or one for each, inf where it does not matter; or None.

    given               read as
    a number, None      the width of every variable; the goal switched off
    {index: width}      those variables only
    n numbers           a width for each, inf or None for "any"
    """
    if isinstance(given, dict):
        found = np.full(n, math.inf)
        for index, width in given.items():
            if isinstance(index, bool) or not isinstance(index, int | np.integer) or not -n <= index < n:
                raise InvalidOption(f"{name} names the variable {describe(index)}, and there are {n}: 0 to {n - 1}.")
            read = tolerance(f"{name}[{index}]", width, zero=False)
            found[index] = math.inf if read is None else read
        if not given:
            raise InvalidOption(f"{name}={{}} names no variable. Write {name}=None to switch this goal off.")
        return found
    if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim):
        if np.shape(given) != (n,):
            raise InvalidOption(f"{name} has shape {np.shape(given)}, and the function {n} variables. Give {n} widths.")
        each = [tolerance(f"{name}[{i}]", width, zero=False) for i, width in enumerate(given)]
        return np.array([math.inf if width is None else width for width in each])
    return tolerance(name, given, zero=False)


def _of_the_domain(xrtol: Any, domain: Domain) -> FloatArray | None:
    """Return the widths that are these parts of the domain's, rounded down; any, where bounds fix a variable."""
    given = widths("xrtol", xrtol, domain.n)
    if given is None:
        return None
    part = np.broadcast_to(np.asarray(given, np.float64), domain.n)
    endless = ~(np.isfinite(domain.lo) & np.isfinite(domain.hi)) & np.isfinite(part)
    if endless.any():
        i = int(np.argmax(endless))
        pair = f"({float(domain.lo[i])!r}, {float(domain.hi[i])!r})"
        raise InvalidOption(
            f"xrtol is relative to the width of the domain, and the bounds of variable {i} are {pair}: there is none. "
            "Write xtol, which is absolute, or finite bounds."
        )
    with np.errstate(all="ignore"):
        size = np.minimum(domain.hi - domain.lo, np.finfo(np.float64).max)
        wanted = np.nextafter(np.nextafter(size, 0) * part, 0)
    return np.where(np.isinf(part) | ~can_be_cut(domain.lo, domain.hi), math.inf, np.maximum(wanted, 5e-324))


def warn_if_unreachable(xtol: float | FloatArray | None, domain: Domain) -> None:
    """Warn where the doubles of the domain lie further apart than xtol."""
    if xtol is None:
        return
    far = np.maximum(np.abs(domain.lo), np.abs(domain.hi))
    far = np.where(np.isfinite(far) & (domain.lo < domain.hi), far, 0.0)
    asked = np.broadcast_to(xtol, far.shape)
    with np.errstate(over="ignore"):
        i = int(np.argmax(np.spacing(far) / asked))
    step, least = float(np.spacing(far[i])), float(asked[i])
    if least < step:
        warnings.warn(
            f"xtol={least!r} is finer than the doubles near {float(far[i])!r}, the far end of variable {i}, which lie "
            f"{step!r} apart. A box there cannot get that narrow: if it has to, the goal will be missed.",
            UnreachableTolerance,
            stacklevel=3,
        )

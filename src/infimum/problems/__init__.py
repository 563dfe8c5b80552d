"""Problems with what is known of their minima (POLICY): the paper's, others beyond them, and fits.

infimum.minimize(infimum.problems.levy(1000))
infimum.minimize(infimum.problems.named("srastrigin", 50))
infimum.minimize(infimum.problems.named("nist_misra1a"))      # which has its own number of variables
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches

from infimum.errors import InvalidOption
from infimum.problems import beyond, paper
from infimum.problems.beyond import *  # noqa: F403
from infimum.problems.fits import FITS, fit
from infimum.problems.moved import rotated, shifted
from infimum.problems.paper import *  # noqa: F403
from infimum.problems.problem import Problem

__all__ = ["Problem", "maker", "named", "names", "size", *paper.__all__, *beyond.__all__]

Maker = Callable[..., Problem]
GROUPS: dict[str, dict[str, Maker]] = {
    "paper": {name: getattr(paper, name) for name in paper.__all__},
    "beyond": {
        **{f"s{name}": shifted(name) for name in ("rastrigin", "ackley", "griewank", "levy")},
        **{f"rot{name}": rotated(name) for name in ("rastrigin", "ackley", "griewank", "levy", "rosenbrock")},
        **{name: getattr(beyond, name) for name in beyond.__all__},
    },
    "fits": {name: fit(name) for name in FITS},
}
_ALL: dict[str, Maker] = {name: made for group in GROUPS.values() for name, made in group.items()}


def names(group: str | None = None) -> tuple[str, ...]:
    """Return the names of all problems, or of one group: "paper", "beyond" or "fits"."""
    if group is not None and group not in GROUPS:
        raise InvalidOption(f"There is no group {group!r} of problems. There are {', '.join(GROUPS)}.")
    return tuple(_ALL if group is None else GROUPS[group])


def maker(name: str) -> Maker:
    """Return the function that makes the problem of that name from its number of variables."""
    if name not in _ALL:
        near = get_close_matches(str(name).lower().replace("-", "_"), _ALL, 1, 0.6)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise InvalidOption(f"There is no problem {name!r}.{meant} There are {', '.join(_ALL)}.")
    return _ALL[name]


def size(name: str) -> int | None:
    """Return the number of variables of a problem that has its own, or None where any number will do."""
    default = inspect.signature(maker(name)).parameters["n"].default
    return None if default is inspect.Parameter.empty else int(default)


def named(name: str, n: int | None = None) -> Problem:
    """Return the problem of that name in n variables; n may be left out where the problem has a number of its own."""
    if n is None:
        n = size(name)
    if n is None:
        raise InvalidOption(f"{name} can have any number of variables: give one, such as named({name!r}, 100).")
    return maker(name)(n)

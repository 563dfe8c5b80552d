"""Problems with what is known of their minima (POLICY): the paper's, others beyond them, and fits.

infimum.minimize(infimum.problems.levy(1000))
infimum.minimize(infimum.problems.named("srastrigin", 50))
"""

from __future__ import annotations

from collections.abc import Callable

from infimum.errors import InvalidOption
from infimum.problems import beyond, paper
from infimum.problems.beyond import *  # noqa: F403
from infimum.problems.fits import FITS, fit
from infimum.problems.moved import rotated, shifted
from infimum.problems.paper import *  # noqa: F403
from infimum.problems.problem import Problem

__all__ = ["Problem", "maker", "named", "names", *paper.__all__, *beyond.__all__]

Maker = Callable[[int], Problem]
_GROUPS: dict[str, dict[str, Maker]] = {
    "paper": {name: getattr(paper, name) for name in paper.__all__},
    "beyond": {
        **{f"s{name}": shifted(name) for name in ("rastrigin", "ackley", "griewank", "levy")},
        **{f"rot{name}": rotated(name) for name in ("rastrigin", "ackley", "griewank", "levy", "rosenbrock")},
        **{name: getattr(beyond, name) for name in beyond.__all__},
    },
    "fits": {name: fit(name) for name in FITS},
}
_ALL: dict[str, Maker] = {name: made for group in _GROUPS.values() for name, made in group.items()}


def names(group: str | None = None) -> tuple[str, ...]:
    """Return the names of all problems, or of one group: "paper", "beyond" or "fits"."""
    if group is not None and group not in _GROUPS:
        raise InvalidOption(f"There is no group {group!r} of problems. There are {', '.join(_GROUPS)}.")
    return tuple(_ALL if group is None else _GROUPS[group])


def maker(name: str) -> Maker:
    """Return the function that makes the problem of that name from its number of variables."""
    if name not in _ALL:
        raise InvalidOption(f"There is no problem {name!r}. There are {', '.join(_ALL)}.")
    return _ALL[name]


def named(name: str, n: int) -> Problem:
    """Return the problem of that name in n variables."""
    return maker(name)(n)

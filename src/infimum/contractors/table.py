"""infimum's own contractors by name: how each is made for a function, and which of them run unless others are named."""

from __future__ import annotations

from collections.abc import Callable

from infimum.contractors.contractor import Contractor
from infimum.contractors.convex import convex
from infimum.contractors.dual import MOST_VARIABLES, dual
from infimum.contractors.fits.nullspace import nullspace
from infimum.contractors.fits.separable import separable
from infimum.contractors.fits.varpro import Varpros
from infimum.contractors.inside import with_inside
from infimum.contractors.level import Level
from infimum.contractors.linear.layer import layered
from infimum.contractors.lines import lines
from infimum.contractors.mean_value import MeanValue
from infimum.contractors.monotone import Monotone
from infimum.contractors.on_host import OnHost
from infimum.contractors.quadratic.contractor import convex_quadratic, quadratic
from infimum.contractors.shave import Shave
from infimum.contractors.stationary import Stationary
from infimum.contractors.taylor import MOST_VARIABLES as MOST_DENSE
from infimum.contractors.taylor import taylor
from infimum.contractors.trial import Tried
from infimum.function.function import Function

MOST_FOR_SLOPES = 10_000  # variables; beyond, slopes of sums say little and cost much

DEFAULT = (
    "linear", "level", "quadratic", "convex", "monotone", "stationary", "mean_value", "dual", "nullspace", "varpro",
    "separable", "taylor", "rotated",
)  # fmt: skip
# Those that may close a box at once: they run first, and where they do, the others are not even made.
CLOSING = ("quadratic", "convex")


def _worthwhile_layer(function: Function) -> Contractor | None:
    found = layered(function)
    return found if found is not None and found.is_worthwhile else None


def _by_slopes(contractor: Contractor) -> Callable[[Function], Contractor | None]:
    return lambda function: contractor if function.n <= MOST_FOR_SLOPES else None


def _on_host(make: Callable[[Function], Contractor | None]) -> Callable[[Function], Contractor | None]:
    def made(function: Function) -> Contractor | None:
        found = make(function)
        return None if found is None else OnHost(found)

    return made


def _tried_taylor(function: Function) -> Contractor | None:
    # Contractors that hint cost as much as some 16 others.
    return Tried(lambda: taylor(function), function.n, dear=16) if function.n <= MOST_DENSE else None


# In the order in which they run; None for a function on which one is not worth its time.
CONTRACTORS: dict[str, Callable[[Function], Contractor | None]] = {
    "linear": _worthwhile_layer,
    "level": lambda function: Level(passes=4),
    "quadratic": with_inside(quadratic, convex_quadratic),
    "convex": with_inside(convex, convex),
    "monotone": _by_slopes(Monotone()),
    "stationary": _by_slopes(Stationary(passes=1)),
    "mean_value": _by_slopes(MeanValue()),
    "dual": lambda function: Tried(lambda: dual(function), function.n) if function.n <= MOST_VARIABLES else None,
    "nullspace": _on_host(nullspace),
    "varpro": _on_host(lambda function: Varpros(function) if function.n <= MOST_VARIABLES else None),
    "separable": _on_host(separable),
    "taylor": _tried_taylor,
    "lines": _on_host(lines),
    "shave": lambda function: Shave(),
}
# `rotated` is no link of the chain: a search that is asked for it may turn its boxes (search/auto/turning.py).
NAMES = (*CONTRACTORS, "rotated")

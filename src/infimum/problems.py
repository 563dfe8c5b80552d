"""The twelve benchmark functions of the paper, for any number of variables (POLICY).

Guanglu Zhang, Qihang Shan, Jonathan Cagan: Global optimization tailored for graphics processing units, appendices A, D
and F. Where the paper means a real number that is no double (pi, 0.1, the root of i), so do these functions.

    infimum.minimize(infimum.problems.levy(1000))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InvalidOption
from infimum.exact import Exact, ExactArray, e, exact, pi

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

    def __repr__(self) -> str:
        return f"<problem {self.name} of {self.n} variables>"


def ackley(n: int) -> Problem:
    """Many shallow minima on a slope that flattens outward."""
    slope = exact("0.02")

    def f(x: Any) -> Any:
        return -20 * np.exp(-slope * np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(2 * pi * x))) + 20 + e

    return _problem("ackley", n, f, (-35, 40), 0.0, 0)


def belegundu(n: int) -> Problem:
    """The deflected corrugated spring: rings around one point."""
    tenth = exact("0.1")

    def f(x: Any) -> Any:
        r = np.sum((x - 5) ** 2)
        return tenth * r - np.cos(5 * np.sqrt(r))

    return _problem("belegundu", n, f, (-10, 11), -1.0, 5)


def breiman(n: int) -> Problem:
    """The cosine mixture."""
    tenth = exact("0.1")

    def f(x: Any) -> Any:
        return -tenth * np.sum(np.cos(5 * pi * x)) + np.sum(x**2)

    return _problem("breiman", n, f, (-1, 2), -tenth * _count(n), 0)


def fu(n: int) -> Problem:
    """Squared sines of squares: ever faster waves."""
    centre = exact("0.9")

    def f(x: Any) -> Any:
        t = (x - centre) ** 2
        return 1 + np.sum(8 * np.sin(7 * t) ** 2 + 6 * np.sin(14 * t) ** 2 + t)

    return _problem("fu", n, f, (-10, 10), 1.0, centre)


def griewank(n: int) -> Problem:
    """A bowl less a product of cosines, of another frequency in each variable."""
    roots = np.sqrt(exact(np.arange(1, _count(n) + 1)))

    def f(x: Any) -> Any:
        return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / roots))

    return _problem("griewank", n, f, (-100, 110), 0.0, 0)


def levy(n: int) -> Problem:
    """Waves along each variable, each coupled to the next."""
    return _problem("levy", n, _levy, (-10, 10), 0.0, 1)


def _levy(x: Any) -> Any:
    y = 1 + 0.25 * (x - 1)
    coupled = np.sum((y[:-1] - 1) ** 2 * (1 + 10 * np.sin(pi * y[1:]) ** 2))
    return pi / len(x) * (10 * np.sin(pi * y[0]) ** 2 + (y[-1] - 1) ** 2 + coupled)


def rastrigin(n: int) -> Problem:
    """A bowl with a cosine in each variable."""

    def f(x: Any) -> Any:
        return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * pi * x))

    return _problem("rastrigin", n, f, (-5.5, 6), 0.0, 0)


def salomon(n: int) -> Problem:
    """Ripples of the distance to the origin."""
    tenth = exact("0.1")

    def f(x: Any) -> Any:
        r = np.sqrt(np.sum(x**2))
        return 1 - np.cos(2 * pi * r) + tenth * r

    return _problem("salomon", n, f, (-100, 110), 0.0, 0)


def styblinski(n: int) -> Problem:
    """The corrupted convex quadratic: a bowl less a product of cosines."""

    def f(x: Any) -> Any:
        return np.sum(x**2) / (2 * len(x)) - 4 * len(x) * np.prod(np.cos(x))

    return _problem("styblinski", n, f, (-10, 11), -4.0 * _count(n), 0)


def zabinsky(n: int) -> Problem:
    """Two products of sines."""

    def f(x: Any) -> Any:
        t = x - pi / 6
        return -2.5 * np.prod(np.sin(t)) - np.prod(np.sin(5 * t))

    return _problem("zabinsky", n, f, (0, pi), -3.5, 2 * pi / 3)


def rosenbrock(n: int) -> Problem:
    """A long curved valley; its gradient in the paper's form, in which the variables appear fewer times."""
    if _count(n) < 2:
        raise InvalidOption(f"rosenbrock({n}): it couples each variable to the next, so it needs at least 2 of them.")

    def f(x: Any) -> Any:
        return np.sum(100 * (x[:-1] ** 2 - x[1:]) ** 2 + (x[:-1] - 1) ** 2)

    def jac(x: Any) -> Any:
        # | component | of the two terms that x_i appears in                             |
        # | first     | (400 (x_1^2 - x_2) + 2) x_1 - 2                                  |
        # | inner     | (400 (x_i^2 - x_{i+1}) + 202) x_i - 2 - 200 x_{i-1}^2            |
        # | last      | 200 x_n - 200 x_{n-1}^2                                          |
        first = (400 * (x[:1] ** 2 - x[1:2]) + 2) * x[:1] - 2
        inner = (400 * (x[1:-1] ** 2 - x[2:]) + 202) * x[1:-1] - 2 - 200 * x[:-2] ** 2
        last = 200 * x[-1:] - 200 * x[-2:-1] ** 2
        return np.concatenate([first, inner, last])

    return _problem("rosenbrock", n, f, (-30, 30), 0.0, 1, jac)


def discontinuous(n: int) -> Problem:
    """Levy with a spike to -1 of width 1e-6 in every variable, at 1.5."""
    half_width = exact("5e-7")

    def f(x: Any) -> Any:
        return np.where(np.all(np.abs(x - 1.5) <= half_width), -1, _levy(x))

    return _problem("discontinuous", n, f, (-10, 10), -1.0, 1.5)


_ALL: dict[str, Callable[[int], Problem]] = {
    made.__name__: made
    for made in (
        ackley, belegundu, breiman, fu, griewank, levy, rastrigin, salomon, styblinski, zabinsky, rosenbrock,
        discontinuous,
    )
}  # fmt: skip


def names() -> tuple[str, ...]:
    """The names of the problems."""
    return tuple(_ALL)


def all() -> dict[str, Callable[[int], Problem]]:
    """Every problem by its name, as a function of the number of variables."""
    return dict(_ALL)


def named(name: str, n: int) -> Problem:
    """Be the problem of that name in n variables."""
    if name not in _ALL:
        raise InvalidOption(f"There is no problem {name!r}. There are {', '.join(_ALL)}.")
    return _ALL[name](n)


def _problem(
    name: str, n: int, f: Objective, bounds: tuple[Any, Any], minimum: Any, at: Any, jac: Objective | None = None
) -> Problem:
    """Be the problem whose bounds and minimiser are the same in every variable."""
    count = _count(n)
    f.__name__ = f.__qualname__ = name
    minimiser = _repeated(at, count) if isinstance(at, Exact) else np.full(count, float(at))
    return Problem(name, f, (bounds,) * count, minimum, minimiser, count, jac)


def _repeated(value: Exact, n: int) -> ExactArray:
    repeated: ExactArray = value * np.ones(n, np.int64)
    return repeated


def _count(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidOption(f"The number of variables must be a positive integer, got {n!r}.")
    return int(n)

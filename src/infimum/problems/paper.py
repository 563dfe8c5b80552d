"""The twelve benchmark functions of the paper, for any number of variables (POLICY).

Guanglu Zhang, Qihang Shan, Jonathan Cagan: Global optimization tailored for graphics processing units, appendices A, D
and F. Where the paper means a real number that is no double (pi, 0.1, the root of i), so do these functions.

    infimum.minimize(infimum.problems.levy(1000))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.errors import InvalidOption
from infimum.exact.number import e, exact, pi
from infimum.problems.problem import Problem, checked_count, problem

__all__ = [
    "ackley",
    "belegundu",
    "breiman",
    "discontinuous",
    "fu",
    "griewank",
    "levy",
    "rastrigin",
    "rosenbrock",
    "salomon",
    "styblinski",
    "zabinsky",
]  # fmt: skip


def ackley(n: int) -> Problem:
    """Many shallow minima on a slope that flattens outward."""
    slope = exact("0.02")

    def f(x: Any) -> Any:
        return -20 * np.exp(-slope * np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(2 * pi * x))) + 20 + e

    return problem("ackley", n, f, (-35, 40), 0.0, 0)


def belegundu(n: int) -> Problem:
    """The deflected corrugated spring: rings around one point."""
    tenth = exact("0.1")

    def f(x: Any) -> Any:
        r = np.sum((x - 5) ** 2)
        return tenth * r - np.cos(5 * np.sqrt(r))

    return problem("belegundu", n, f, (-10, 11), -1.0, 5)


def breiman(n: int) -> Problem:
    """The cosine mixture."""
    tenth = exact("0.1")

    def f(x: Any) -> Any:
        return -tenth * np.sum(np.cos(5 * pi * x)) + np.sum(x**2)

    return problem("breiman", n, f, (-1, 2), -tenth * checked_count("breiman", n), 0)


def fu(n: int) -> Problem:
    """Squared sines of squares: ever faster waves."""
    centre = exact("0.9")

    def f(x: Any) -> Any:
        t = (x - centre) ** 2
        return 1 + np.sum(8 * np.sin(7 * t) ** 2 + 6 * np.sin(14 * t) ** 2 + t)

    return problem("fu", n, f, (-10, 10), 1.0, centre)


def griewank(n: int) -> Problem:
    """A bowl less a product of cosines, of another frequency in each variable."""
    roots = np.sqrt(exact(np.arange(1, checked_count("griewank", n) + 1)))

    def f(x: Any) -> Any:
        return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / roots))

    return problem("griewank", n, f, (-100, 110), 0.0, 0)


def levy(n: int) -> Problem:
    """Waves along each variable, each coupled to the next."""
    return problem("levy", n, _levy, (-10, 10), 0.0, 1)


def _levy(x: Any) -> Any:
    y = 1 + 0.25 * (x - 1)
    coupled = np.sum((y[:-1] - 1) ** 2 * (1 + 10 * np.sin(pi * y[1:]) ** 2))
    return pi / len(x) * (10 * np.sin(pi * y[0]) ** 2 + (y[-1] - 1) ** 2 + coupled)


def rastrigin(n: int) -> Problem:
    """A bowl with a cosine in each variable."""

    def f(x: Any) -> Any:
        return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * pi * x))

    return problem("rastrigin", n, f, (-5.5, 6), 0.0, 0)


def salomon(n: int) -> Problem:
    """Ripples of the distance to the origin."""
    tenth = exact("0.1")

    def f(x: Any) -> Any:
        r = np.sqrt(np.sum(x**2))
        return 1 - np.cos(2 * pi * r) + tenth * r

    return problem("salomon", n, f, (-100, 110), 0.0, 0)


def styblinski(n: int) -> Problem:
    """The corrupted convex quadratic: a bowl less a product of cosines."""

    def f(x: Any) -> Any:
        return np.sum(x**2) / (2 * len(x)) - 4 * len(x) * np.prod(np.cos(x))

    return problem("styblinski", n, f, (-10, 11), -4.0 * checked_count("styblinski", n), 0)


def zabinsky(n: int) -> Problem:
    """Two products of sines."""

    def f(x: Any) -> Any:
        t = x - pi / 6
        return -2.5 * np.prod(np.sin(t)) - np.prod(np.sin(5 * t))

    return problem("zabinsky", n, f, (0, pi), -3.5, 2 * pi / 3)


def rosenbrock(n: int) -> Problem:
    """A long curved valley; its gradient in the paper's form, in which the variables appear fewer times."""
    if checked_count("rosenbrock", n) < 2:
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

    return problem("rosenbrock", n, f, (-30, 30), 0.0, 1, jac)


def discontinuous(n: int) -> Problem:
    """Levy with a spike to -1 of width 1e-6 in every variable, at 1.5."""
    half_width = exact("5e-7")

    def f(x: Any) -> Any:
        return np.where(np.all(np.abs(x - 1.5) <= half_width), -1, _levy(x))

    return problem("discontinuous", n, f, (-10, 10), -1.0, 1.5)

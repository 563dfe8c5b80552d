"""Problems beyond the paper, for any number of variables or for their own (POLICY): what `infimum bench frontier` runs.

The names and formulas are the usual ones of the literature; where they mean a real number that is no double, so do
these functions. Shifts and rotations are drawn with a fixed seed and are doubles: a claim is about the function of
those doubles. How sure a known minimum is, and how fast it is to be found, is said in `infimum.bench.cases`.

    infimum.minimize(infimum.problems.schwefel(50))
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InvalidOption
from infimum.exact.number import exact, pi
from infimum.problems.problem import Problem, checked_count, problem

__all__ = [
    "alpine1",
    "dixon_price",
    "eggholder",
    "goldstein_price",
    "hartmann6",
    "lj3",
    "lj3safe",
    "lj4",
    "michalewicz",
    "paviani",
    "powell",
    "qing",
    "schaffer_f7",
    "schwefel",
    "shekel10",
    "styblinski_tang",
    "trid",
    "watson",
    "weierstrass",
    "zakharov",
]  # fmt: skip


# --- sums of terms, each of one variable ---------------------------------------------------------------------------


def schwefel(n: int) -> Problem:
    """Schwefel 2.26: waves that grow outward; the minimum is what its rounded constant leaves of 0."""
    constant = exact("418.9829")

    def f(x: Any) -> Any:
        return constant * len(x) - np.sum(x * np.sin(np.sqrt(np.abs(x))))

    lowest = exact("418.98288727243370627478643519560070869")
    return problem("schwefel", n, f, (-500, 500), n * (constant - lowest), 420.968746359982)


def michalewicz(n: int) -> Problem:
    """Michalewicz with m = 10: narrow valleys, ever more of them from variable to variable."""

    def f(x: Any) -> Any:
        return -np.sum(np.sin(x) * np.sin(np.arange(1, len(x) + 1) * x**2 / pi) ** 20)

    at = _michalewicz_peaks(n)
    return problem("michalewicz", n, f, (0, pi), float(f(at)), at)


def _michalewicz_peaks(n: int) -> npt.NDArray[np.float64]:
    """Return the place of the lowest valley of each term.

    The valleys of term i lie near x with i x^2 / pi = (k + 1/2) pi; sin(x) makes the one nearest to pi / 2 the lowest,
    or a neighbour of it. Newton's method finds where the logarithm of the term is stationary.
    """
    i = np.arange(1.0, n + 1)
    nearest = np.round(i / 4 - 0.5)
    x = np.sqrt((np.maximum(nearest + np.arange(-1, 3)[:, None], 0) + 0.5) * np.pi**2 / i)
    for _ in range(50):
        u, du, ddu = i * x**2 / np.pi, 2 * i * x / np.pi, 2 * i / np.pi
        slope = 1 / np.tan(x) + 20 * du / np.tan(u)
        curve = -1 / np.sin(x) ** 2 + 20 * (ddu / np.tan(u) - du**2 / np.sin(u) ** 2)
        x = x - slope / curve
    terms = np.where((x > 0) & (x < np.pi), np.sin(x) * np.sin(i * x**2 / np.pi) ** 20, -np.inf)
    return np.asarray(np.take_along_axis(x, terms.argmax(axis=0)[None], axis=0)[0], np.float64)


def styblinski_tang(n: int) -> Problem:
    """A quartic in each variable, with two minima of different depth."""

    def f(x: Any) -> Any:
        return np.sum(x**4 - 16 * x**2 + 5 * x) / 2

    lowest = exact("-39.166165703771415463893169739476865340")
    return problem("styblinski_tang", n, f, (-5, 5), n * lowest, -2.903534027771177)


def qing(n: int) -> Problem:
    """The root of i, of either sign, in variable i: 2^n minimisers."""

    def f(x: Any) -> Any:
        return np.sum((x**2 - np.arange(1, len(x) + 1)) ** 2)

    return problem("qing", n, f, (-500, 500), 0.0, np.sqrt(exact(np.arange(1, n + 1))))


def alpine1(n: int) -> Problem:
    """Magnitudes of waves: 8^n minimisers, at 0 and where sin(x) = -0.1."""
    tenth = exact("0.1")

    def f(x: Any) -> Any:
        return np.sum(np.abs(x * np.sin(x) + tenth * x))

    return problem("alpine1", n, f, (-10, 10), 0.0, 0)


def weierstrass(n: int) -> Problem:
    """Eight waves in each variable, each half as high and three times as fast as the one before."""

    def f(x: Any) -> Any:
        # cos(pi 3^k) is -1, so the usual last sum is -n times 1 + 1/2 + ... + 1/128.
        waves = sum(np.sum(np.cos(2 * pi * 3**k * (x + 0.5))) / 2**k for k in range(8))
        return waves + len(x) * (2 - 2**-7)

    return problem("weierstrass", n, f, (-0.5, 0.5), 0.0, 0)


# --- sums of terms that couple neighbours, or all ------------------------------------------------------------------


def trid(n: int) -> Problem:
    """A convex quadratic that interval bounds do not see to be convex."""
    checked_count("trid", n, least=2)

    def f(x: Any) -> Any:
        return np.sum((x - 1) ** 2) - np.sum(x[1:] * x[:-1])

    i = np.arange(1, n + 1)
    return problem("trid", n, f, (-(n**2), n**2), float(-n * (n + 4) * (n - 1) // 6), (i * (n + 1 - i)).astype(float))


def dixon_price(n: int) -> Problem:
    """A chain of parabolas: two minimisers, which differ in the sign of the last variable."""
    checked_count("dixon_price", n, least=2)

    def f(x: Any) -> Any:
        return (x[0] - 1) ** 2 + np.sum(np.arange(2, len(x) + 1) * (2 * x[1:] ** 2 - x[:-1]) ** 2)

    return problem("dixon_price", n, f, (-10, 10), 0.0, np.exp2(2.0 ** (1.0 - np.arange(1, n + 1)) - 1))


def powell(n: int) -> Problem:
    """Powell's singular function: fours of variables, the second derivative singular at the minimiser."""
    if n < 4 or n % 4:
        raise InvalidOption(f"powell({n}): its variables come in fours, so n must be a multiple of 4.")

    def f(x: Any) -> Any:
        a, b, c, d = x[0::4], x[1::4], x[2::4], x[3::4]
        return np.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)

    return problem("powell", n, f, (-4, 5), 0.0, 0)


def zakharov(n: int) -> Problem:
    """A bowl with a steep plate through it."""

    def f(x: Any) -> Any:
        plate = np.sum(np.arange(1, len(x) + 1) * x) / 2
        return np.sum(x**2) + plate**2 + plate**4

    return problem("zakharov", n, f, (-5, 10), 0.0, 0)


def schaffer_f7(n: int) -> Problem:
    """Rings of each pair of neighbours, of roots of their distance to the origin."""
    checked_count("schaffer_f7", n, least=2)

    def f(x: Any) -> Any:
        q = x[:-1] ** 2 + x[1:] ** 2
        return (np.sum(q ** exact(1, 4) * (1 + np.sin(50 * q ** exact(1, 10)) ** 2)) / (len(x) - 1)) ** 2

    return problem("schaffer_f7", n, f, (-100, 100), 0.0, 0)


# --- functions of a few variables ----------------------------------------------------------------------------------


def goldstein_price(n: int = 2) -> Problem:
    """A polynomial of degree 8 with values up to a million."""
    checked_count("goldstein_price", n, only=2)

    def f(x: Any) -> Any:
        a, b = x[0], x[1]
        one = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
        return one * (30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2))

    return problem("goldstein_price", 2, f, (-2, 2), 3.0, np.array([0.0, -1.0]))


def eggholder(n: int = 2) -> Problem:
    """Deep irregular waves; the minimiser lies on the edge."""
    checked_count("eggholder", n, only=2)

    def f(x: Any) -> Any:
        a, b = x[0], x[1] + 47
        return -b * np.sin(np.sqrt(np.abs(b + a / 2))) - a * np.sin(np.sqrt(np.abs(a - b)))

    return problem("eggholder", 2, f, (-512, 512), -959.640662720851, np.array([512.0, 404.2318051137578]))


def shekel10(n: int = 4) -> Problem:
    """Ten wells of different depth and width."""
    checked_count("shekel10", n, only=4)
    wells = exact(
        [["4"] * 4, ["1"] * 4, ["8"] * 4, ["6"] * 4, ["3", "7"] * 2, ["2", "9"] * 2, ["5", "5", "3", "3"],
         ["8", "1"] * 2, ["6", "2"] * 2, ["7", "3.6"] * 2]
    )  # fmt: skip
    width = exact(["0.1", "0.2", "0.2", "0.4", "0.4", "0.6", "0.3", "0.7", "0.5", "0.5"])

    def f(x: Any) -> Any:
        return -np.sum(1 / (np.sum((x - wells) ** 2, axis=1) + width))

    at = np.array([4.000746531592046, 4.000592934138532, 3.9996633980403224, 3.9995098005868077])
    return problem("shekel10", 4, f, (0, 10), -10.536409816692045, at)


def hartmann6(n: int = 6) -> Problem:
    """Four bells in six variables."""
    checked_count("hartmann6", n, only=6)
    narrow = exact(
        [["10", "3", "17", "3.5", "1.7", "8"], ["0.05", "10", "17", "0.1", "8", "14"],
         ["3", "3.5", "1.7", "10", "17", "8"], ["17", "8", "0.05", "10", "0.1", "14"]]
    )  # fmt: skip
    centres = [
        [1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381],
    ]  # fmt: skip
    bells, height = exact(np.array(centres)) / 10_000, exact(["1", "1.2", "3", "3.2"])

    def f(x: Any) -> Any:
        return -np.sum(height * np.exp(-np.sum(narrow * (x - bells) ** 2, axis=1)))

    at = np.array(
        [0.20168951100670543, 0.15001069182345797, 0.476873974221897, 0.2753324304940561, 0.31165161660011326,
         0.6573005340656204]
    )  # fmt: skip
    return problem("hartmann6", 6, f, (0, 1), -3.322368011415515, at)


def paviani(n: int = 10) -> Problem:
    """Logarithms that grow toward both edges, less a root of the product of all variables."""
    checked_count("paviani", n, only=10)
    bounds = (exact("2.001"), exact("9.999"))

    def f(x: Any) -> Any:
        return np.sum(np.log(x - 2) ** 2 + np.log(10 - x) ** 2) - np.prod(x) ** exact(1, 5)

    return problem("paviani", 10, f, bounds, -45.77846970744627, 9.350265833069385)


def watson(n: int = 6) -> Problem:
    """A polynomial fitted to a differential equation at 29 points: nearly singular."""
    checked_count("watson", n, only=6)
    times = [Fraction(i, 29) for i in range(1, 30)]
    powers = exact([[t**j for j in range(6)] for t in times])
    slopes = exact([[j * t ** max(j - 1, 0) for j in range(6)] for t in times])

    def f(x: Any) -> Any:
        return np.sum((slopes @ x - (powers @ x) ** 2 - 1) ** 2) + x[0] ** 2 + (x[1] - x[0] ** 2 - 1) ** 2

    at = np.array(
        [-0.01572508640145911, 1.01243486936911, -0.23299162595674053, 1.2604300877996162, -1.5137289227222894,
         0.9929964324311378]
    )  # fmt: skip
    return problem("watson", 6, f, (-10, 10), 0.00228767005355236, at)


# --- Lennard-Jones atoms: the first at the origin, the second on an axis, the third in a plane ---------------------


def lj3(n: int = 3) -> Problem:
    """Three atoms in a plane, any two of which may coincide: a pole in the box."""
    checked_count("lj3", n, only=3)
    return _triangle_of_atoms("lj3", [(0, 3), (-3, 3), (0, 3)])


def lj3safe(n: int = 3) -> Problem:
    """Three atoms in a plane, no two of which can coincide."""
    checked_count("lj3safe", n, only=3)
    return _triangle_of_atoms("lj3safe", [(0.5, 3), (-3, 3), (0.5, 3)])


def lj4(n: int = 6) -> Problem:
    """Four atoms in space, any two of which may coincide: a pole in the box."""
    checked_count("lj4", n, only=6)

    def f(x: Any) -> Any:
        rest = (x[0] - x[3]) ** 2 + x[4] ** 2 + x[5] ** 2, (x[1] - x[3]) ** 2 + (x[2] - x[4]) ** 2 + x[5] ** 2
        return _three_atoms(x) + _pair(x[3] ** 2 + x[4] ** 2 + x[5] ** 2) + _pair(rest[0]) + _pair(rest[1])

    apart, high = _triangle()
    at = exact([apart, apart / 2, high, apart / 2, high / 3, apart * np.sqrt(exact(2, 3))])
    return problem("lj4", 6, f, [(0, 3), (-3, 3), (0, 3), (-3, 3), (-3, 3), (0, 3)], -6.0, at)


def _triangle_of_atoms(name: str, bounds: list[Any]) -> Problem:
    apart, high = _triangle()
    return problem(name, 3, lambda x: _three_atoms(x), bounds, -3.0, exact([apart, apart / 2, high]))


def _triangle() -> tuple[Any, Any]:
    """Return the distance at which two atoms have the least energy, and the height of the triangle with such sides."""
    apart = exact(2) ** exact(1, 6)
    return apart, apart * np.sqrt(exact(3)) / 2


def _three_atoms(x: Any) -> Any:
    return _pair(x[0] ** 2) + _pair(x[1] ** 2 + x[2] ** 2) + _pair((x[0] - x[1]) ** 2 + x[2] ** 2)


def _pair(square: Any) -> Any:
    """Return the energy of two atoms, from the square of their distance."""
    return 4 * (1 / square**6 - 1 / square**3)

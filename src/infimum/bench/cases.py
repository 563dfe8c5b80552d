"""What is asked of each problem of the frontier, how fast, and how sure its known minimum is.

grade     what                                                      the goal besides the gap of 1e-6
compare   problems that other solvers were timed on                 as fast as the rigorous one among them, or 0.05 s
A         any number of variables, in seconds                       boxes at most 1e-4 wide
B         what needs separability, second order, centred forms      none
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from infimum import problems
from infimum.bench.tables import published
from infimum.errors import InvalidOption
from infimum.interval import Interval
from infimum.interval.outward import FloatArray
from infimum.problems.fits import FITS
from infimum.problems.problem import Problem

GRADES = ("compare", "A", "B")
SOLVERS = {
    "ibex": "IBEX", "gurobi": "Gurobi", "scip": "SCIP", "maingo": "MAiNGO", "baron": "BARON", "discopt": "discopt",
}  # fmt: skip
_FAST = 0.05  # seconds: below this nobody counts who is faster


class Case(NamedTuple):
    """A problem with what is asked of it.

    target: seconds on two cores, None where there is no figure to reach
    ftol: upper - lower <= ftol * max(1, |upper|), that is, fatol is the same number.
    """

    grade: str
    name: str
    n: int
    target: float | None
    ftol: float = 1e-6
    xtol: float | None = None

    def problem(self) -> Problem:
        """Return the problem itself."""
        return problems.named(self.name, self.n)


def cases(grades: Sequence[str] = GRADES, names: Sequence[str] = (), sizes: Sequence[int] = ()) -> list[Case]:
    """Return the cases of these grades, where given only those of some names or numbers of variables."""
    made = {"compare": _compared, "A": _grade_a, "B": _grade_b}
    every = [case for grade in grades for case in made[grade]()]
    for name in names:
        if name not in {case.name for case in every}:
            there = ", ".join(dict.fromkeys(case.name for case in every))
            raise InvalidOption(f"There is no problem {name!r} in {' and '.join(grades)}. There are {there}.")
    found = [case for case in every if (not names or case.name in names) and (not sizes or case.n in sizes)]
    if not found:
        raise InvalidOption(f"None of these problems has {' or '.join(f'{n:,}' for n in sizes)} variables there.")
    return found


def published_rows() -> dict[tuple[str, int], dict[str, str]]:
    """Return what other solvers did: by problem and size, for each its seconds, "no", "false" or nothing, as text."""
    return {(line.pop("problem"), int(line.pop("n"))): line for line in published("frontier.csv")}


def _compared() -> list[Case]:
    made = []
    for (name, n), others in published_rows().items():
        rigorous = others["ibex"]
        finished = rigorous not in ("", "no", "false")
        made.append(Case("compare", name, n, max(float(rigorous), _FAST) if finished else None))
    return made


def _grade_a() -> list[Case]:
    smooth = [name for name in problems.names("paper") if name != "discontinuous"]
    # Griewank's curvature fades as n grows: at a million variables a gap of 1e-6 leaves wider boxes.
    wide = {("griewank", 1_000_000): 2e-3}
    large = [
        Case("A", name, n, seconds, xtol=wide.get((name, n), 1e-4))
        for n, seconds in ((10_000, 1.0), (1_000_000, 10.0))
        for name in smooth
    ]
    moved = [f"{way}{name}" for way in ("s", "rot") for name in ("rastrigin", "griewank", "ackley", "levy")]
    rest = ["zakharov", "schaffer_f7", "weierstrass", "dixon_price", "powell"]
    thousand = [Case("A", name, 1000, 5.0, xtol=1e-4) for name in moved + rest]
    return [*large, *thousand, Case("A", "discontinuous", 1000, 10.0)]


def _grade_b() -> list[Case]:
    table: list[tuple[str, tuple[int, ...], float]] = [
        ("styblinski_tang", (10, 100, 1000), 1.0),
        ("schwefel", (10, 50, 1000), 1.0),
        ("michalewicz", (10, 50, 100), 2.0),
        ("trid", (10, 50, 1000), 2.0),
        ("qing", (50,), 1.0),
        ("alpine1", (50,), 1.0),
        ("rotrosenbrock", (10, 50), 10.0),
        ("paviani", (10,), 10.0),
        ("watson", (6,), 60.0),
        ("goldstein_price", (2,), 0.2),
        ("hartmann6", (6,), 0.1),
        ("shekel10", (4,), 0.1),
        ("eggholder", (2,), 0.1),
        ("lj3", (3,), 1.0),
        ("lj4", (6,), 10.0),
    ]
    fits = [(name, (len(fit.bounds),), 600.0 if name.startswith("pv") else 60.0) for name, fit in FITS.items()]
    return [
        Case("B", name, n, seconds, ftol=_gap(name))
        for name, sizes, seconds in itertools.chain(table, fits)
        for n in sizes
    ]


def _gap(name: str) -> float:
    """Return the goal: 1e-6, relative to a least sum of squares even where that is far below 1."""
    least = FITS[name].least if name in FITS else _WATSON if name == "watson" else 1.0
    return 1e-6 * min(1.0, least)


_WATSON = 0.00228767005355

# --- how sure a minimum is -----------------------------------------------------------------------------------------
# | names                     | the minimum is known                                                     | slack      |
# | _DECIMALS                 | as decimals of the root of an equation in one variable                   | 1e-15      |
# | _BEST                     | as the value at the best point that anybody found                        | 1e-10      |
# | all others                | from the formula, without an error                                       | none       |
_DECIMALS = ("schwefel", "styblinski_tang")
_BEST = ("michalewicz", "eggholder", "shekel10", "hartmann6", "paviani", "watson", *FITS)
_ROUNDED = ("dixon_price",)  # minimisers that are rounded to doubles, although the minimum is exact


def sure(name: str) -> str:
    """Say how the minimum of a problem is known."""
    return "decimals" if name in _DECIMALS else "best known" if name in _BEST else "exact"


def known_minimum(problem: Problem) -> Interval:
    """Return an interval around the minimum, as narrow as the minimum is surely known."""
    slack = {"exact": 0.0, "decimals": 1e-15, "best known": 1e-10}[sure(problem.name)] * abs(float(problem.minimum))
    known: Interval = Interval(problem.minimum) + Interval(-slack, slack)
    return known


def is_true(problem: Problem, minimum: Interval) -> bool:
    """Say whether a claim agrees with what is known of the minimum."""
    known = known_minimum(problem)
    return bool(np.all(minimum.lo <= known.hi) and np.all(known.lo <= minimum.hi))


def holds_the_minimiser(problem: Problem, boxes: FloatArray) -> bool:
    """Say whether a minimiser that is known exactly lies in one of the boxes."""
    if sure(problem.name) != "exact":
        return True
    at = Interval(problem.minimiser)
    slack = 1e-15 * np.abs(at.hi) if problem.name in _ROUNDED else 0.0
    held = (boxes[:, :, 0] - slack <= at.lo) & (at.hi <= boxes[:, :, 1] + slack)
    return bool(np.any(held.all(axis=1)))

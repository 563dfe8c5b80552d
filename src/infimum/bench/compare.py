"""Popular methods beside infimum, as in the paper's appendix E: what each finds, and what is known afterwards."""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from infimum import problems
from infimum.api.minimize import minimize
from infimum.bench.tables import Row, machine, published, table, wide, write_csv
from infimum.domain import Domain, read_bounds
from infimum.errors import InvalidOption
from infimum.function.function import Function, trace
from infimum.interval import Interval
from infimum.records.result import Result
from infimum.records.writing import enclosure
from infimum.search.status import Status

FloatArray = npt.NDArray[np.float64]
OURS = "infimum"


class _TimeUp(Exception):
    """The seconds of a method are spent; raised out of its objective."""


class Objective:
    """A function in plain doubles that keeps the smallest value seen inside the domain, until its time is up."""

    def __init__(self, function: Function, domain: Domain, seconds: float) -> None:
        self.function = function
        self.domain = domain
        self.deadline = time.perf_counter() + seconds
        self.evaluations = 0
        self.best = math.inf

    def value(self, x: FloatArray) -> float:
        """Return f(x)."""
        return self._seen(x, float(self.function(np.asarray(x, np.float64))))

    def value_and_gradient(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return f(x) and its gradient."""
        value, gradient = self.function.value_and_gradient(np.asarray(x, np.float64))
        return self._seen(x, float(value)), np.asarray(gradient)

    def _seen(self, x: FloatArray, value: float) -> float:
        self.evaluations += 1
        if value < self.best and self.domain.contains(x):
            self.best = value
        if time.perf_counter() > self.deadline:
            raise _TimeUp
        return value


# --- the methods: each is one run of SciPy's method with its own defaults ------------------------------------------

Method = Callable[[Any, Objective, FloatArray, list[tuple[float, float]], int], None]


def _basin_hopping(scipy: Any, f: Objective, start: FloatArray, bounds: list[tuple[float, float]], seed: int) -> None:
    local = {"method": "L-BFGS-B", "jac": True, "bounds": bounds}
    scipy.basinhopping(f.value_and_gradient, start, minimizer_kwargs=local, seed=seed)


def _bfgs(scipy: Any, f: Objective, start: FloatArray, bounds: list[tuple[float, float]], seed: int) -> None:
    scipy.minimize(f.value_and_gradient, start, jac=True, method="BFGS")


def _differential_evolution(
    scipy: Any, f: Objective, start: FloatArray, bounds: list[tuple[float, float]], seed: int
) -> None:
    scipy.differential_evolution(f.value, bounds, seed=seed, x0=start)


def _direct(scipy: Any, f: Objective, start: FloatArray, bounds: list[tuple[float, float]], seed: int) -> None:
    scipy.direct(f.value, bounds)


def _nelder_mead(scipy: Any, f: Objective, start: FloatArray, bounds: list[tuple[float, float]], seed: int) -> None:
    scipy.minimize(f.value, start, method="Nelder-Mead", bounds=bounds)


def _trust_region(scipy: Any, f: Objective, start: FloatArray, bounds: list[tuple[float, float]], seed: int) -> None:
    scipy.minimize(f.value_and_gradient, start, jac=True, method="trust-constr", bounds=bounds)


METHODS: dict[str, Method] = {
    "basin-hopping": _basin_hopping,
    "bfgs": _bfgs,
    "differential-evolution": _differential_evolution,
    "direct": _direct,
    "nelder-mead": _nelder_mead,
    "trust-region": _trust_region,
}
_WITHOUT_A_START = ("direct",)  # the same in every run


# --- the experiment ------------------------------------------------------------------------------------------------


def compare(
    methods: Sequence[str], *, name: str = "ackley", n: int = 100, seconds: float = 10.0, runs: int | None = None,
    seed: int = 0, csv_file: str, threads: int | None = None, console: Console | None = None,
) -> int:  # fmt: skip
    """Give every method its seconds, or its runs, from random starting points; print and write what it found."""
    _refuse(methods, seconds, runs)
    scipy = _scipy()
    shown = wide(Console()) if console is None else console
    problem = problems.named(name, n)
    theirs = published_rows() if (name, n) == ("ackley", 100) else {}
    result = minimize(problem, method="paper", threads=threads)
    rows = [_our_row(result)]
    if result.status != Status.INTERRUPTED:
        function, domain = trace(problem.f, n), read_bounds(problem.bounds, n)
        for number, method in enumerate(methods):
            rows.append(_row(scipy, method, function, domain, seconds, runs, (seed, number)))
            print(f"{method}: {rows[-1]['value']:.4g}, {rows[-1]['seconds']:.3g} s", file=sys.stderr, flush=True)
    where = machine(threads)
    made = [{"function": name, "n": n, **r, **_beside(theirs.get(r["method"])), **where} for r in rows]
    write_csv(made, csv_file)
    known = float(problem.minimum)
    shown.print(results_table(made, f"{name}, {n:,} variables; the minimum is {known:g}"), "")
    shown.print(f"{_summary(rows[0], rows[1:], known)} Written to {csv_file}.")
    return 130 if result.status == Status.INTERRUPTED else 0 if result.success else 1


def published_rows() -> dict[str, Row]:
    """Return the paper's table S12: by method, its runs, the smallest value found and the seconds of all runs."""
    return {
        line["method"]: {"runs": int(line["runs"]), "value": float(line["value"]), "seconds": float(line["seconds"])}
        for line in published("paper_compare.csv")
    }


def _refuse(methods: Sequence[str], seconds: float, runs: int | None) -> None:
    unknown = [method for method in methods if method not in METHODS]
    if unknown:
        raise InvalidOption(f"There is no method {unknown[0]!r} to compare with. There are {', '.join(METHODS)}.")
    if not 0 < seconds < math.inf:
        raise InvalidOption(f"--seconds must be positive, got {seconds!r}. It is the time given to each method.")
    if runs is not None and runs < 1:
        raise InvalidOption(f"--runs must be positive, got {runs}. Leave it out to use the seconds up.")


def _scipy() -> Any:
    try:
        return importlib.import_module("scipy.optimize")
    except ImportError:
        raise InvalidOption(
            "SciPy is missing, and `infimum bench compare` compares with its methods. Write pip install scipy."
        ) from None


def _our_row(result: Result) -> Row:
    lower, upper = float(result.minimum.lo), float(result.minimum.hi)
    return {
        "method": OURS, "runs": 1, "cut_short": not result.success, "evaluations": result.nfev, "value": upper,
        "proved_lower": lower, "seconds": round(result.seconds, 6),
    }  # fmt: skip


def _row(
    scipy: Any, method: str, function: Function, domain: Domain, seconds: float, runs: int | None, seed: tuple[int, int]
) -> Row:
    """Run one method again and again, from other starting points, until its time or its runs are used up."""
    rng = np.random.default_rng(seed)
    f = Objective(function, domain, seconds)
    bounds = list(zip(domain.inner_lo.tolist(), domain.inner_hi.tolist(), strict=True))
    most = 1 if method in _WITHOUT_A_START else runs
    started, done, cut_short = time.perf_counter(), 0, False
    while not cut_short and (most is None or done < most) and time.perf_counter() < f.deadline:
        start = rng.uniform(domain.inner_lo, domain.inner_hi)
        done += 1
        try:
            METHODS[method](scipy, f, start, bounds, int(rng.integers(2**31)))
        except _TimeUp:
            cut_short = True
    return {
        "method": method, "runs": done, "cut_short": cut_short, "evaluations": f.evaluations, "value": f.best,
        "proved_lower": None, "seconds": round(time.perf_counter() - started, 6),
    }  # fmt: skip


def _beside(theirs: Row | None) -> Row:
    return {f"paper_{key}": None if theirs is None else theirs[key] for key in ("runs", "value", "seconds")}


# --- what is printed -----------------------------------------------------------------------------------------------


def results_table(rows: Sequence[Row], title: str) -> Table:
    """Return what each method found, and beside it what the paper's runs of it found."""
    ours = ("method", "runs", "evaluations", "smallest value", "proved", "seconds")
    made = table(title, (*ours, "paper: runs", "value", "seconds"), ("method",))
    for r in rows:
        proved = enclosure(Interval(r["proved_lower"], r["value"])) if r["proved_lower"] is not None else "nothing"
        theirs = [_short(r[f"paper_{key}"]) for key in ("runs", "value", "seconds")]
        again = f"{r['runs']:,}{' (cut)' if r['cut_short'] else ''}"
        made.add_row(
            r["method"], again, f"{r['evaluations']:,}", _short(r["value"]), proved, f"{r['seconds']:.3g}", *theirs
        )
    return made


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _summary(ours: Row, theirs: Sequence[Row], known: float) -> str:
    away = [r for r in theirs if not r["value"] - known <= 1e-6 * max(1.0, abs(known))]
    if not theirs:
        return f"{OURS} took {ours['seconds']:.3g} s."
    return (
        f"{len(away)} of {len(theirs)} other methods did not come within 1e-6 of the minimum in "
        f"{sum(r['seconds'] for r in theirs):.3g} s; {OURS} enclosed it in {ours['seconds']:.3g} s."
    )

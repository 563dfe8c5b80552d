"""The problems beyond the paper: what was enclosed, in how many seconds, and what other solvers do on them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from infimum.api import minimize as api
from infimum.bench.calibration import as_additions
from infimum.bench.cases import (
    SOLVERS,
    Case,
    holds_the_minimiser,
    is_true,
    known_minimum,
    published_rows,
    sure,
)
from infimum.bench.tables import Row, machine, table, wide, write
from infimum.errors import InfimumError
from infimum.interval import Interval
from infimum.problems.problem import Problem
from infimum.records.result import Result
from infimum.records.writing import enclosure
from infimum.search.status import Status

PATIENCE = 60.0  # seconds for a row, where nothing else is asked for and its target is not longer
_TITLES = {
    "compare": "Beside other solvers (their seconds; target: the rigorous one, IBEX, or 0.05 s)",
    "A": "Grade A: any number of variables",
    "B": "Grade B: separability, second order, centred forms",
}


def frontier(
    chosen: Sequence[Case], *, csv_file: str, json_file: str, method: str, time_limit: float | None = None,
    threads: int | None = None, backend: str = "auto", console: Console | None = None,
) -> int:  # fmt: skip
    """Run the cases; print and write the rows; return the exit code."""
    shown = wide(Console()) if console is None else console
    where, rows = {**machine(threads), "method": method}, []
    for r in _rows(chosen, method=method, time_limit=time_limit, threads=threads, backend=backend):
        rows.append(r)
        write(rows, where, csv_file, json_file, solvers=SOLVERS)
        done = f"{len(rows)}/{len(chosen)}  {r['problem']}, n = {r['n']:,}: {r['seconds']:.3g} s, {r['verdict']}"
        print(done, file=sys.stderr, flush=True)
    for grade in dict.fromkeys(r["grade"] for r in rows):
        shown.print(results_table([r for r in rows if r["grade"] == grade], _TITLES[grade]), "")
    shown.print(f"{summary(rows)} Written to {csv_file} and {json_file}.")
    interrupted = rows[-1]["status"] == int(Status.INTERRUPTED)
    return 130 if interrupted else 0 if all(r["proved"] and r["true"] for r in rows) else 1


def _rows(chosen: Sequence[Case], *, time_limit: float | None, **how: Any) -> Iterator[Row]:
    """Run one case after the other, until one is interrupted."""
    published = published_rows()
    for case in chosen:
        problem, patience = case.problem(), max(PATIENCE, case.target or 0.0)
        limit = patience if time_limit is None else time_limit
        started, result, refused = time.perf_counter(), None, ""
        try:
            result = api.minimize(problem, ftol=case.ftol, fatol=case.ftol, xtol=case.xtol, time_limit=limit, **how)
        except (InfimumError, MemoryError) as error:
            refused = str(error).partition("\n")[0] or "no memory"
        seconds = time.perf_counter() - started
        yield row(case, problem, result, seconds, refused, published.get((case.name, case.n), {}))
        if result is not None and result.status == Status.INTERRUPTED:
            return


def row(
    case: Case, problem: Problem, result: Result | None, seconds: float, refused: str, others: dict[str, str]
) -> Row:
    """Return one case: what was claimed, whether it is true, and what the others did.

    seconds: from the function to the result, tracing and compilation included. A refusal claims nothing.
    """
    minimum = Interval(-np.inf, np.inf) if result is None else result.minimum
    proved = result is not None and result.success
    true = is_true(problem, minimum)
    if case.xtol is not None and result is not None:
        true = true and holds_the_minimiser(problem, result.boxes)
    known, late = known_minimum(problem), case.target is not None and seconds > case.target
    stopped = "refused" if result is None else f"stopped ({result.status.name.lower()})"
    return {
        "grade": case.grade, "problem": case.name, "n": case.n, "lower": float(minimum.lo), "upper": float(minimum.hi),
        "known_lower": float(known.lo), "known_upper": float(known.hi), "known": sure(case.name),
        "ftol": case.ftol, "xtol": case.xtol, "true": true, "proved": proved,
        "status": None if result is None else int(result.status), "seconds": round(seconds, 6),
        "additions": round(as_additions(seconds)),
        "search_seconds": None if result is None else round(result.seconds, 6), "target": case.target,
        "iterations": None if result is None else result.nit,
        "backend": "" if result is None else result.backend,
        "verdict": "FALSE" if not true else stopped if not proved else "proved, late" if late else "proved",
        "refused": refused, **{solver: others.get(solver, "") for solver in SOLVERS},
    }  # fmt: skip


# --- what is printed and written -----------------------------------------------------------------------------------


def results_table(rows: Sequence[Row], title: str) -> Table:
    """Return what was enclosed, our seconds and those of the solvers that have any."""
    others = [solver for solver in SOLVERS if any(r[solver] for r in rows)]
    ours = ("problem", "n", "minimum in", "seconds", "additions", "target")
    columns = (*ours, *(SOLVERS[solver] for solver in others), "verdict")
    made = table(title, columns, ("problem", "minimum in", "verdict"))
    for r in rows:
        target = "" if r["target"] is None else f"{r['target']:.3g}"
        claimed = enclosure(Interval(r["lower"], r["upper"])) if r["lower"] <= r["upper"] else "nothing"
        theirs = [r[solver] for solver in others]
        spent = f"{r['seconds']:.3g}", f"{r['additions'] / 1e6:,.0f}"
        made.add_row(r["problem"], f"{r['n']:,}", claimed, *spent, target, *theirs, _coloured(r["verdict"]))
    return made


def _coloured(verdict: str) -> str:
    colour = {"proved": "green", "proved, late": "yellow", "FALSE": "bold red"}.get(verdict, "red")
    return f"[{colour}]{verdict}[/]"


def summary(rows: Sequence[Row]) -> str:
    """Say in two sentences how many were proved, in time, and how many claims are false."""
    proved, aimed = [r for r in rows if r["proved"]], [r for r in rows if r["target"] is not None]
    in_time = sum(r["verdict"] == "proved" for r in aimed)
    false = sum(not r["true"] for r in rows)
    total = sum(r["seconds"] for r in rows)
    return (
        f"{len(proved)} of {len(rows)} proved, {in_time} of {len(aimed)} within their target, {total:.3g} s in all. "
        f"{'No claim is' if not false else f'{false} claims are' if false > 1 else '1 claim is'} false."
    )

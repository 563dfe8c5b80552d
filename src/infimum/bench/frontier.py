"""The problems beyond the paper: what was enclosed, in how many seconds, and what other solvers do on them."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from infimum.api import minimize as api
from infimum.bench.calibration import links
from infimum.bench.cases import (
    GRADES,
    SOLVERS,
    Case,
    cases,
    holds_the_minimiser,
    is_true,
    known_minimum,
    published_rows,
    sure,
)
from infimum.bench.paper import Row, machine, table, wide, write_csv
from infimum.errors import InfimumError
from infimum.interval import Interval
from infimum.problems.problem import Problem
from infimum.records.result import Result
from infimum.records.writing import enclosure, plain
from infimum.search.status import Status

PATIENCE = 60.0  # seconds for a row, where nothing else is asked for and its target is not longer
EXAMPLES = """examples:
  infimum bench frontier --grade A
  infimum bench frontier --grade compare --problems levy schwefel --dim 2 10 --time-limit 10
  infimum bench frontier --grade B --problems lj3 hartmann6 --csv atoms.csv --json atoms.json

Grade compare has the problems that other solvers were timed on, grade A problems of up to a million variables, grade B
those that need more than sharp natural bounds. The minimum is to be enclosed to 1e-6, in grade A every minimiser too,
in boxes of 1e-4. "no": the solver gave up; "false": what it printed does not contain the minimum. "additions": how
many million dependent additions take as long, which says more than seconds where a machine is shared."""
_TITLES = {
    "compare": "Beside other solvers (their seconds; target: the rigorous one, IBEX, or 0.05 s)",
    "A": "Grade A: any number of variables",
    "B": "Grade B: separability, second order, centred forms",
}


def add_to(bench: Any, **how: Any) -> None:
    """Add `bench frontier` to the commands."""
    said = "run problems beyond the paper and print other solvers' figures beside ours"
    command = bench.add_parser("frontier", help=said, description=f"{said[0].upper()}{said[1:]}.", **how)
    command.set_defaults(run=run)
    command.add_argument("--grade", nargs="+", choices=GRADES, default=list(GRADES), help="all by default")
    command.add_argument("--problems", nargs="+", default=[], metavar="NAME", help="all of the grade by default")
    command.add_argument("--dim", nargs="+", type=int, default=[], metavar="N", help="only these numbers of variables")
    command.add_argument("--method", default=api.METHODS[0], help=f"{', '.join(api.METHODS)}; the first by default")
    said = f"for each problem; by default {PATIENCE:g}, or its target if that is longer"
    command.add_argument("--time-limit", type=float, metavar="SECONDS", help=said)
    command.add_argument("--threads", type=int, metavar="N", help="as many as there are by default")
    command.add_argument("--backend", default="auto", help="auto, cpu or cuda (an NVIDIA GPU)")
    for kind in ("csv", "json"):
        file = f"infimum-frontier.{kind}"
        command.add_argument(f"--{kind}", default=file, metavar="FILE", help=f"{file} by default")


def run(options: argparse.Namespace) -> int:
    """Do what the arguments ask for."""
    return frontier(
        cases(options.grade, options.problems, options.dim), csv_file=options.csv, json_file=options.json,
        method=options.method, time_limit=options.time_limit, threads=options.threads, backend=options.backend,
    )  # fmt: skip


def frontier(
    chosen: Sequence[Case], *, csv_file: str, json_file: str, method: str, time_limit: float | None = None,
    threads: int | None = None, backend: str = "auto", console: Console | None = None,
) -> int:  # fmt: skip
    """Run the cases; print and write the rows; return the exit code."""
    shown = wide(Console()) if console is None else console
    where, rows = {**machine(threads), "method": method}, []
    for r in _rows(chosen, method=method, time_limit=time_limit, threads=threads, backend=backend):
        rows.append(r)
        write(rows, where, csv_file, json_file)
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
    """Be one case: what was claimed, whether it is true, and what the others did.

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
        "additions": round(links(seconds)),
        "search_seconds": None if result is None else round(result.seconds, 6), "target": case.target,
        "iterations": None if result is None else result.nit,
        "backend": "" if result is None else result.backend,
        "verdict": "FALSE" if not true else stopped if not proved else "proved, late" if late else "proved",
        "refused": refused, **{solver: others.get(solver, "") for solver in SOLVERS},
    }  # fmt: skip


# --- what is printed and written -----------------------------------------------------------------------------------


def results_table(rows: Sequence[Row], title: str) -> Table:
    """Be what was enclosed, our seconds and those of the solvers that have any."""
    others = [solver for solver in SOLVERS if any(r[solver] for r in rows)]
    made = table(title)
    ours = ("problem", "n", "minimum in", "seconds", "additions", "target")
    for name in (*ours, *(SOLVERS[solver] for solver in others), "verdict"):
        left = name in ("problem", "minimum in", "verdict")
        made.add_column(name, justify="left" if left else "right", no_wrap=True)
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


def write(rows: Sequence[Row], where: Row, csv_file: str, json_file: str) -> None:
    """Write the rows so far, with the machine and the date."""
    write_csv([{**r, **where} for r in rows], csv_file)
    content = {**where, "solvers": SOLVERS, "rows": list(rows)}
    Path(json_file).write_text(json.dumps(plain(content), indent=1, allow_nan=False) + "\n")

"""The paper's experiments repeated, its tables beside ours: iterations, regions, enclosure, seconds, ratios."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from infimum import problems
from infimum.api.minimize import minimize
from infimum.bench.calibration import as_additions
from infimum.bench.tables import Row, machine, published, table, wide, write
from infimum.interval import Interval
from infimum.problems.problem import Problem
from infimum.records.result import Result
from infimum.records.writing import counted, enclosure
from infimum.search.status import Status

MACHINES = {"laptop": "RTX 3070 Ti", "workstation": "RTX 4090", "local_server": "RTX A6000", "gh200": "GH200"}


def paper(
    functions: Sequence[str], dims: Sequence[int], *, csv_file: str, json_file: str, time_limit: float | None = None,
    threads: int | None = None, backend: str = "auto", console: Console | None = None,
) -> int:  # fmt: skip
    """Run every function in every dimension; print and write the rows; return the exit code."""
    shown = wide(Console()) if console is None else console
    theirs, rows, interrupted = published_rows(), [], False
    where = machine(threads)
    for n in dims:
        for name in functions:
            problem = problems.named(name, n)
            result = minimize(problem, method="paper", time_limit=time_limit, threads=threads, backend=backend)
            rows.append(row(problem, result, theirs.get((name, n), {})))
            write(rows, where, csv_file, json_file, machines=MACHINES)
            done = f"{name}, n = {n:,}: {counted(result.nit, 'iteration')}, {result.seconds:.3g} s"
            print(done, file=sys.stderr, flush=True)
            interrupted = result.status == Status.INTERRUPTED
            if interrupted:
                break
        if interrupted:
            break
    shown.print(results_table(rows), "", times_table(rows), "")
    shown.print(f"{summary(rows)} Written to {csv_file} and {json_file}.")
    return 130 if interrupted else 0 if all(r["status"] == 0 and r["true"] for r in rows) else 1


def published_rows() -> dict[tuple[str, int], dict[str, float]]:
    """Return the paper's tables: by function and dimension, the numbers that it gives."""
    return {
        (line.pop("function"), int(line.pop("n"))): {key: float(value) for key, value in line.items() if value}
        for line in published("paper_tables.csv")
    }


def row(problem: Problem, result: Result, theirs: dict[str, float]) -> Row:
    """Return one experiment: ours, the paper's, and what follows from both."""
    made: Row = {
        "function": problem.name, "n": problem.n, "iterations": result.nit,
        "paper_iterations": _whole(theirs.get("iterations")), "regions": result.nregions,
        "paper_regions": _whole(theirs.get("output_regions")), "lower": float(result.minimum.lo),
        "upper": float(result.minimum.hi), "true": is_true(problem, result), "status": int(result.status),
        "seconds": round(result.seconds, 6), "additions": round(as_additions(result.seconds)),
        "backend": result.backend,
    }  # fmt: skip
    for name in MACHINES:
        seconds = theirs.get(f"{name}_s")
        made[f"paper_{name}_s"] = seconds
        made[f"ratio_{name}"] = None if seconds is None else round(seconds / max(result.seconds, 1e-9), 1)
    return made


def is_true(problem: Problem, result: Result) -> bool:
    """Say whether the known minimum and minimiser lie in what was claimed."""
    at = Interval(problem.minimiser)
    held = (result.boxes[:, :, 0] <= at.lo) & (at.hi <= result.boxes[:, :, 1])
    return problem.minimum in result.minimum and bool(np.any(held.all(axis=1)))


def results_table(rows: Sequence[Row]) -> Table:
    """Return what was found; the paper's numbers in brackets where ours differ."""
    known = "known minimum and minimiser"
    columns, left = ("function", "n", "iterations", "regions", "minimum in", known), ("function", "minimum in", known)
    made = table("What was found (in brackets the paper's number where it differs)", columns, left)
    for r in rows:
        claimed = enclosure(Interval(r["lower"], r["upper"]))
        made.add_row(
            r["function"], f"{r['n']:,}", _beside(r, "iterations"), _beside(r, "regions"), claimed, _verdict(r)
        )
    return made


def times_table(rows: Sequence[Row]) -> Table:
    """Return our seconds, and how many times longer the paper's machines took; the device, where it is not the CPU."""
    said = "Seconds (and how many million dependent additions take as long here)"
    elsewhere = any(_device(r) != "cpu" for r in rows)
    columns = ["function", "n", "seconds", "additions", *MACHINES.values(), *(["on"] if elsewhere else [])]
    made = table(f"{said}, and how many times longer the paper's machines took", columns, ("function", "on"))
    for r in rows:
        ratios = (_times(r[f"ratio_{name}"]) for name in MACHINES)
        ours = f"{r['seconds']:.3g}", f"{r['additions'] / 1e6:,.0f}"
        made.add_row(r["function"], f"{r['n']:,}", *ours, *ratios, *([_device(r)] if elsewhere else []))
    return made


def summary(rows: Sequence[Row]) -> str:
    """Say in a sentence how many experiments agree with the paper."""
    compared = [r for r in rows if r["paper_iterations"] is not None]
    same = sum(r["iterations"] == r["paper_iterations"] and r["regions"] == r["paper_regions"] for r in compared)
    total = sum(r["seconds"] for r in rows)
    return f"{same} of {len(compared)} equal to the paper in iterations and regions, {total:.3g} s in all."


def _beside(r: Row, name: str) -> str:
    ours, theirs = r[name], r[f"paper_{name}"]
    return f"{ours:,}" if theirs in (None, ours) else f"{ours:,} ({theirs:,})"


def _device(r: Row) -> str:
    """Return "cpu", or the GPU's name."""
    backend, _, text = str(r["backend"]).partition(": ")
    return text.partition(";")[0] if backend == "cuda" else backend


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _verdict(r: Row) -> str:
    if not r["true"]:
        return "LOST"
    return "inside" if r["status"] == 0 else f"inside, stopped ({Status(r['status']).name.lower()})"


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)

"""The paper's experiments repeated, its tables beside ours: iterations, regions, enclosure, seconds, ratios."""

from __future__ import annotations

import csv
import datetime
import json
import platform
import re
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from infimum import core, problems
from infimum.api import options as api_options
from infimum.api.minimize import minimize
from infimum.bench.calibration import links
from infimum.interval import Interval
from infimum.problems.problem import Problem
from infimum.records.result import Result
from infimum.records.writing import enclosure, plain
from infimum.search.status import Status

MACHINES = {"laptop": "RTX 3070 Ti", "workstation": "RTX 4090", "local_server": "RTX A6000", "gh200": "GH200"}
Row = dict[str, Any]


def paper(
    functions: Sequence[str], dims: Sequence[int], *, csv_file: str, json_file: str, time_limit: float | None = None,
    threads: int | None = None, backend: str = "auto", console: Console | None = None,
) -> int:  # fmt: skip
    """Run every function in every dimension; print and write the rows; return the exit code."""
    shown = wide(Console()) if console is None else console
    published, rows, interrupted = published_rows(), [], False
    where = machine(threads)
    for n in dims:
        for name in functions:
            problem = problems.named(name, n)
            result = minimize(problem, method="paper", time_limit=time_limit, threads=threads, backend=backend)
            rows.append(row(problem, result, published.get((name, n), {})))
            write(rows, where, csv_file, json_file)
            print(f"{name}, n = {n:,}: {result.nit:,} iterations, {result.seconds:.3g} s", file=sys.stderr, flush=True)
            interrupted = result.status == Status.INTERRUPTED
            if interrupted:
                break
        if interrupted:
            break
    shown.print(results_table(rows), "", times_table(rows), "")
    shown.print(f"{summary(rows)} Written to {csv_file} and {json_file}.")
    return 130 if interrupted else 0 if all(r["status"] == 0 and r["true"] for r in rows) else 1


def published_rows() -> dict[tuple[str, int], dict[str, float]]:
    """Be the paper's tables: by function and dimension, the numbers that it gives."""
    text = (files("infimum.bench") / "data" / "paper_tables.csv").read_text()
    lines = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {
        (line.pop("function"), int(line.pop("n"))): {key: float(value) for key, value in line.items() if value}
        for line in lines
    }


def row(problem: Problem, result: Result, published: dict[str, float]) -> Row:
    """Be one experiment: ours, the paper's, and what follows from both."""
    made: Row = {
        "function": problem.name, "n": problem.n, "iterations": result.nit,
        "paper_iterations": _whole(published.get("iterations")), "regions": result.nregions,
        "paper_regions": _whole(published.get("output_regions")), "lower": float(result.minimum.lo),
        "upper": float(result.minimum.hi), "true": is_true(problem, result), "status": int(result.status),
        "seconds": round(result.seconds, 6), "additions": round(links(result.seconds)), "backend": result.backend,
    }  # fmt: skip
    for machine in MACHINES:
        seconds = published.get(f"{machine}_s")
        made[f"paper_{machine}_s"] = seconds
        made[f"ratio_{machine}"] = None if seconds is None else round(seconds / max(result.seconds, 1e-9), 1)
    return made


def is_true(problem: Problem, result: Result) -> bool:
    """Say whether the known minimum and minimiser lie in what was claimed."""
    at = Interval(problem.minimiser)
    held = (result.boxes[:, :, 0] <= at.lo) & (at.hi <= result.boxes[:, :, 1])
    return problem.minimum in result.minimum and bool(np.any(held.all(axis=1)))


def results_table(rows: Sequence[Row]) -> Table:
    """Be what was found; the paper's numbers in brackets where ours differ."""
    made = table("What was found (in brackets the paper's number where it differs)")
    for name in ("function", "n", "iterations", "regions", "minimum in", "known minimum and minimiser"):
        made.add_column(name, justify="right" if name in ("n", "iterations", "regions") else "left", no_wrap=True)
    for r in rows:
        claimed = enclosure(Interval(r["lower"], r["upper"]))
        made.add_row(
            r["function"], f"{r['n']:,}", _beside(r, "iterations"), _beside(r, "regions"), claimed, _verdict(r)
        )
    return made


def times_table(rows: Sequence[Row]) -> Table:
    """Be our seconds, and how many times longer the paper's machines took; the device, where it is not the CPU."""
    said = "Seconds (and how many million dependent additions take as long here)"
    made = table(f"{said}, and how many times longer the paper's machines took")
    made.add_column("function", no_wrap=True)
    for name in ("n", "seconds", "additions", *MACHINES.values()):
        made.add_column(name, justify="right", no_wrap=True)
    elsewhere = any(_device(r) != "cpu" for r in rows)
    if elsewhere:
        made.add_column("on", no_wrap=True)
    for r in rows:
        ratios = (_times(r[f"ratio_{machine}"]) for machine in MACHINES)
        ours = f"{r['seconds']:.3g}", f"{r['additions'] / 1e6:,.0f}"
        made.add_row(r["function"], f"{r['n']:,}", *ours, *ratios, *([_device(r)] if elsewhere else []))
    return made


def wide(console: Console) -> Console:
    """Be the console, with room for whole lines where it is no terminal."""
    return console if console.is_terminal else Console(file=console.file, width=140)


def table(title: str) -> Table:
    """Be an empty table without lines."""
    return Table(title=title, title_justify="left", header_style="bold", title_style="bold cyan", box=None)


def summary(rows: Sequence[Row]) -> str:
    """Say in a sentence how many experiments agree with the paper."""
    compared = [r for r in rows if r["paper_iterations"] is not None]
    same = sum(r["iterations"] == r["paper_iterations"] and r["regions"] == r["paper_regions"] for r in compared)
    total = sum(r["seconds"] for r in rows)
    return f"{same} of {len(compared)} equal to the paper in iterations and regions, {total:.3g} s in all."


def machine(threads: int | None) -> Row:
    """Be when and on what the experiments run."""
    return {
        "date": datetime.date.today().isoformat(), "processor": processor(), "instructions": core.variants()[-1],
        "threads": api_options.threads(threads),
    }  # fmt: skip


def processor() -> str:
    """Be the processor's name, as far as the system tells it."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def write(rows: Sequence[Row], where: Row, csv_file: str, json_file: str) -> None:
    """Write the rows so far, doubles with all their digits; each line of the CSV file says where it was measured."""
    write_csv([{**r, **where} for r in rows], csv_file)
    content = {**where, "machines": MACHINES, "rows": list(rows)}
    Path(json_file).write_text(json.dumps(plain(content), indent=1, allow_nan=False) + "\n")


def write_csv(rows: Sequence[Row], file: str) -> None:
    """Write rows that all have the same columns."""
    with Path(file).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _beside(r: Row, name: str) -> str:
    ours, theirs = r[name], r[f"paper_{name}"]
    return f"{ours:,}" if theirs in (None, ours) else f"{ours:,} ({theirs:,})"


def _device(r: Row) -> str:
    """Be "cpu", or the GPU's name."""
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

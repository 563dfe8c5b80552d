"""Cuts a second of whole searches, with the same contractors: this package, and another one beside it.

    python bench/engine.py                        every problem, one thread
    python bench/engine.py --threads 1 2 4        also with more threads
    python bench/engine.py --beside FOLDER        the package infimum of that folder in turns with this one

A search runs for so many iterations that it takes seconds, towards a goal that it does not reach (ftol 1e-10), with
`level`, `monotone`, `stationary` and `mean_value` alone, and with all contractors that run by default. A cut is a box
more. Seconds are those of the loop alone: from the end of the second iteration, by which time all Programs are made, to
the end. Best of --repeat runs, each in a process of its own; packages take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from infimum.bench.tables import processor

RESULTS = Path(__file__).parent / "results" / "engine.md"
HEAD = """# Cuts a second

Written by `bench/engine.py --beside FOLDER --write`: whole searches with the same contractors, in turns with the
package of the folder; the best of {repeat} runs each. `basic`: level, monotone, stationary, mean_value; `default`: all
that run unless others are named. *scaled*: against the first number of threads. {machine}, {date}.

| problem | contractors | threads | cuts | seconds | cuts/s before | cuts/s now | ratio | scaled |
|---|---|---|---|---|---|---|---|---|
"""
BASIC = ("level", "monotone", "stationary", "mean_value")


def lennard_jones(x: Any) -> Any:
    """Return the energy of five atoms: the first at 0, the second on the first axis, the third in the first plane."""
    atoms = [(0, 0, 0), (x[0], 0, 0), (x[1], x[2], 0)] + [tuple(x[3 * i : 3 * i + 3]) for i in (1, 2)]
    total = 0
    for i in range(5):
        for j in range(i):
            q = sum((s - t) ** 2 for s, t in zip(atoms[i], atoms[j], strict=True))
            total = total + 4 * (1 / q**6 - 1 / q**3)
    return total


def rana(x: Any) -> Any:
    a, b = np.sqrt(np.abs(x[1:] + x[:-1] + 1)), np.sqrt(np.abs(x[1:] - x[:-1] + 1))
    return np.sum(x[:-1] * np.cos(a) * np.sin(b) + (1 + x[1:]) * np.sin(a) * np.cos(b))


def on_steps(f: Callable[[Any], Any], parts: int) -> Callable[[Any], Any]:
    """Return f of coordinates rounded down to parts, with a bowl so slight that it tells the parts' points apart."""
    return lambda x: f(np.floor(parts * x) / parts) + 1e-3 * np.sum((x - 0.3) ** 2)


def problem(name: str) -> tuple[Callable[[Any], Any], Any]:
    """Return a function and its bounds."""
    from infimum import problems

    if name == "lj5":
        return lennard_jones, [(0.7, 2.5), (-2.5, 2.5), (0, 2.5)] + [(-2.5, 2.5)] * 5 + [(0, 2.5)]
    if name == "rana4":
        return rana, [(-512.0, 512.0)] * 4
    found = problems.named("hartmann6" if name == "hartmann6 on steps" else name)
    return (on_steps(found.f, 12), found.bounds) if name == "hartmann6 on steps" else (found.f, found.bounds)


# How many iterations: with the four contractors, and with all of them.
NAMES = {
    "lj5": (100, 110),
    "watson": (40, 60),
    "nist_mgh09": (45, 60),
    "nist_roszman1": (42, 60),
    "rana4": (40, 38),
    "hartmann6 on steps": (40, 38),
}


def measured(name: str, contractors: str, threads: int, part: float) -> dict[str, float]:
    """Return what one search in this process took."""
    import infimum

    f, bounds = problem(name)
    given: dict[str, Any] = {} if contractors == "default" else {"contractors": BASIC}
    most = max(4, int(part * NAMES[name][contractors == "default"]))
    result = infimum.minimize(
        f, bounds, ftol=1e-10, fatol=0, max_iter=most, threads=threads, memory_limit=8e9, backend="cpu", **given
    )
    history = result.history
    cuts = [dict(entry.work).get("split", 0.0) for entry in history]
    first = min(2, len(history) - 1)
    took = history[-1].seconds - history[first - 1].seconds
    return {
        "cuts": sum(cuts[first:]),
        "seconds": took,
        "each": sum(cuts[first:]) / max(took, 1e-9),
        "iterations": result.nit,
        "lower": result.minimum.lo,
        "upper": result.minimum.hi,
    }


class Row(NamedTuple):
    """One line of the table.

    beside    cuts a second of each package, this one last
    scaled    against the first number of threads
    """

    name: str
    contractors: str
    threads: int
    found: dict[str, float]
    beside: list[float]
    scaled: float

    def line(self) -> str:
        """Return the line."""
        each = " | ".join(f"{number:,.0f}" for number in self.beside)
        ratio = f"{self.beside[-1] / self.beside[0]:.2f}" if len(self.beside) > 1 else ""
        seconds = f"{self.found['seconds']:.2f}"
        return (
            f"| {self.name} | {self.contractors} | {self.threads} | {self.found['cuts']:,.0f} | {seconds} | {each} | "
            f"{ratio} | {self.scaled:.2f} |"
        )


def run(package: str | None, name: str, contractors: str, threads: int, part: float) -> dict[str, float]:
    """Return what one search takes in a process of its own."""
    environment = dict(os.environ) if package is None else {**os.environ, "PYTHONPATH": package}
    command = [sys.executable, __file__, "--one", name, contractors, str(threads), str(part)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def measured_in_turns(given: argparse.Namespace, packages: list[str | None]) -> Iterator[Row]:
    """Yield a row for each problem, contractors and number of threads; of several runs the fastest counts."""
    for contractors in given.contractors:
        for name in given.names:
            best: dict[tuple[str | None, int], dict[str, float]] = {}
            for _ in range(given.repeat):
                for threads in given.threads:
                    for package in packages:
                        found = run(package, name, contractors, threads, given.part)
                        key = package, threads
                        if key not in best or best[key]["each"] < found["each"]:
                            best[key] = found
            for threads in given.threads:
                beside = [best[package, threads]["each"] for package in packages]
                alone = best[None, given.threads[0]]["each"]
                yield Row(name, contractors, threads, best[None, threads], beside, beside[-1] / alone)


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("names", nargs="*", default=list(NAMES))
    read.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    read.add_argument("--beside", help="a folder with another package infimum")
    read.add_argument("--threads", type=int, nargs="*", default=[1])
    read.add_argument("--part", type=float, default=1.0, help="of the iterations")
    read.add_argument("--repeat", type=int, default=2)
    read.add_argument("--contractors", nargs="*", default=["basic", "default"])
    read.add_argument("--write", action="store_true", help="bench/results/engine.md")
    given = read.parse_args()
    if given.one:
        name, contractors, threads, part = given.one
        print(json.dumps(measured(name, contractors, int(threads), float(part))))
        return
    packages = [given.beside, None] if given.beside else [None]
    lines = []
    for row in measured_in_turns(given, packages):
        lines.append(row.line())
        print(lines[-1], flush=True)
    if given.write:
        RESULTS.write_text(
            HEAD.format(date=date.today(), machine=processor(), repeat=given.repeat) + "\n".join(lines) + "\n"
        )


if __name__ == "__main__":
    main()

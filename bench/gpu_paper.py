"""The paper's tables on one GPU: the staged search on the device against the same search on the CPU, bit for bit.

    python bench/gpu_paper.py                     every function at n = 50, 100, 500, 1000; Levy 10000; Rosenbrock
    python bench/gpu_paper.py levy,ackley 1000    some of them
    python bench/gpu_paper.py --long              Rosenbrock n = 1000 on the CPU as well (minutes)
    python bench/gpu_paper.py --parts             where the time of an iteration goes

Seconds are those of the search alone: import, tracing, context and compilation are apart. With OUT set, gpu_paper.json
is written there.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from infimum import problems
from infimum.backends.cuda import device as cuda_device
from infimum.domain import read_bounds
from infimum.function.function import Function, trace
from infimum.search.outcome import Options, Outcome
from infimum.search.paper import search as paper
from infimum.staging.cuda import device
from infimum.staging.cuda import working as device_working
from infimum.staging.cuda.memory import GpuMachine

NAMES = (
    "ackley", "belegundu", "breiman", "discontinuous", "fu", "griewank", "levy", "rastrigin", "rosenbrock", "salomon",
    "styblinski", "zabinsky",
)  # fmt: skip
SIZES = (50, 100, 500, 1000)
TARGETS = {("levy", 10000): 5.0, ("rosenbrock", 500): 8.0, ("rosenbrock", 1000): 60.0}
LONG_ON_THE_CPU = ("rosenbrock", 1000)


class Timed(GpuMachine):
    """A GPU that waits after each part and notes how long it took."""

    seconds: dict[str, float]

    def __init__(self, text: str) -> None:
        super().__init__(text)
        Timed.seconds = {"step": 0.0, "children": 0.0, "answer": 0.0}

    def _note(self, part: str, started: float) -> None:
        self._stream.synchronize()
        Timed.seconds[part] += time.perf_counter() - started

    def step(self, *arguments: Any) -> None:
        started = time.perf_counter()
        super().step(*arguments)
        self._note("step", started)

    def children(self, *arguments: Any) -> None:
        started = time.perf_counter()
        super().children(*arguments)
        self._note("children", started)

    def answer(self) -> list[float]:
        started = time.perf_counter()
        found = super().answer()
        self._note("answer", started)
        return found


def on_the_device(machine: Any) -> Any:
    """The working box of every search on a device that this makes; what does not fit there fails here."""

    def working(stages: Any, ends: Any, widths: Any, _: str, partition: tuple[int, int]) -> Any:
        if not device_working.fits(stages, *partition):
            raise SystemExit("this function does not stage on a device")
        return device.DeviceStaging(stages, *ends, widths, machine)

    return working


def timed(function: Function, bounds: Any) -> tuple[Outcome, float]:
    """A search, and its seconds."""
    domain = read_bounds(bounds)
    started = time.perf_counter()
    found = paper.search(function, domain, Options())
    return found, time.perf_counter() - started


def same(a: Outcome, b: Outcome) -> bool:
    """Whether two searches ended alike, bit for bit."""
    return (
        (a.nit, a.lower.hex(), a.upper.hex()) == (b.nit, b.lower.hex(), b.upper.hex())
        and np.array_equal(a.boxes, b.boxes)
        and np.array_equal(a.lower_bounds, b.lower_bounds)
    )


def row(name: str, n: int, on_cpu: bool, machine: Any) -> dict[str, Any]:
    """One line of the table."""
    problem = getattr(problems, name)(n)
    function = trace(problem.f, n, jac=problem.jac)
    here = paper.working
    expected, cpu_seconds = timed(function, problem.bounds) if on_cpu else (None, np.nan)
    paper.working = on_the_device(machine)
    try:
        started = time.perf_counter()
        stages, ends = function.stages, (np.zeros(n), np.ones(n))
        made = device.DeviceStaging(stages, ends, ends, None, machine).machine
        compiling = getattr(made, "compile_seconds", np.nan)
        ready = time.perf_counter() - started
        found, seconds = timed(function, problem.bounds)
    finally:
        paper.working = here
    target = TARGETS.get((name, n), 0.5 if n == 1000 else None)
    return {
        "function": name, "n": n, "iterations": found.nit, "regions": len(found.boxes), "lower": found.lower,
        "upper": found.upper, "status": int(found.status), "same": None if expected is None else same(found, expected),
        "seconds": seconds, "us_per_iteration": 1e6 * seconds / found.nit, "compile_seconds": compiling,
        "ready_seconds": ready, "cpu_seconds": cpu_seconds, "target": target,
        "parts": dict(Timed.seconds) if machine is Timed else None,
    }  # fmt: skip


def shown(r: dict[str, Any]) -> str:
    """A row for people."""
    target = "" if r["target"] is None else f"{r['target']:6.1f} {'ok' if r['seconds'] <= r['target'] else 'MISSED'}"
    parts = (
        ""
        if not r["parts"]
        else "  " + ", ".join(f"{k} {1e6 * v / r['iterations']:.0f} us" for k, v in r["parts"].items())
    )
    return (
        f"{r['function']:14}{r['n']:6}{r['iterations']:8}{r['regions']:5}  {r['same']!s:5}{r['seconds']:9.3f} s"
        f"{r['us_per_iteration']:7.0f} us{r['cpu_seconds']:9.3f} s{r['compile_seconds']:7.2f} s  {target}{parts}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="the paper's tables on one GPU")
    parser.add_argument("functions", nargs="?", default="all")
    parser.add_argument("sizes", nargs="?", default=None)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--parts", action="store_true")
    given = parser.parse_args()
    names = NAMES if given.functions == "all" else tuple(given.functions.split(","))
    cases = [(name, int(n)) for n in (given.sizes.split(",") if given.sizes else SIZES) for name in names]
    if given.functions == "all" and given.sizes is None:
        last = [("rosenbrock", 500), ("levy", 10000), ("rosenbrock", 1000)]
        cases = [case for case in cases if case not in last] + last
    print(cuda_device.current(), flush=True)
    print(
        f"{'function':14}{'n':>6}{'iter':>8}{'reg':>5}  same {'GPU':>10}{'each':>10}{'CPU':>11}{'compile':>9}   target"
    )
    rows = []
    for name, n in cases:
        rows.append(row(name, n, given.long or (name, n) != LONG_ON_THE_CPU, Timed if given.parts else GpuMachine))
        print(shown(rows[-1]), flush=True)
        if os.environ.get("OUT"):
            (Path(os.environ["OUT"]) / "gpu_paper.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()

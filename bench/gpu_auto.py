"""The default method on a GPU and on all cores of the CPU beside it.

usage: python bench/gpu_auto.py [--write] [--seconds S] [--leisure]      needs a CUDA device and CuPy

    --write        bench/results/gpu_auto.json and gpu_auto.md, or those files in $OUT where that is set
    --seconds      the time limit of a search (20)
    --leisure      instead of all that: what kernels gain that are not compiled in a hurry (minutes)

    figure         how
    compiled       kernels of a function, all functions' at once on all cores
    boxes/s        ContractorChain.contract: all contractors, from arrays of the host to arrays of the host, best of
                   three; where the CPU takes half a second, it gets no larger batch. level: that contractor's Program
                   alone, on boxes that lie on the device
    search         separable.search as `minimize` runs it, kernels from the cache; boxes: how many were contracted
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from infimum import problems
from infimum.backends import cpu
from infimum.backends.cuda import batch as cuda_batch
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda import launch as emit_launch
from infimum.backends.placement import Gpu
from infimum.boxes import Boxes
from infimum.contractors.chain import ContractorChain
from infimum.domain import Domain, read_bounds
from infimum.function.function import Function, trace
from infimum.passes.contract.linear_form import form_program
from infimum.search.auto import separable
from infimum.search.backend import boxes_all_over
from infimum.search.outcome import Options

RESULTS = Path(__file__).parent / "results"
SIZES = [2**10, 2**12, 2**14, 2**16, 2**18]
ENOUGH = 0.5  # seconds of a batch on the CPU, beyond which no larger one is measured


def dense(n: int) -> Callable[[Any], Any]:
    """As Griewank's, of a bent and turned x: every variable meets every other twice, and sum and product disagree."""
    random = np.random.default_rng(8)
    first, second = (np.linalg.qr(random.normal(size=(n, n)))[0] for _ in range(2))
    scale = np.sqrt(np.arange(1.0, n + 1))

    def f(x: Any) -> Any:
        y = second @ (first @ x + 0.7 * np.sin(3 * (first @ x)) - 0.5)
        return 1 + np.sum(y**2) / 40 - np.prod(np.cos(2 * y / scale + 1))

    return f


class Case(NamedTuple):
    """A function over a domain, and how close its bounds are to come."""

    name: str
    function: Function
    domain: Domain
    ftol: float

    @classmethod
    def of(cls, name: str, n: int, ftol: float = 1e-6) -> Case:
        problem = problems.named(name, n)
        domain = read_bounds(problem.bounds)
        return cls(f"{name} {n}", trace(problem.f, domain.n), domain, ftol)


def cases() -> list[Case]:
    bent = Case("dense 5", trace(dense(5), 5), read_bounds([(-6, 6)] * 5), 1e-6)
    return [
        Case.of("hartmann6", 6),
        Case.of("shekel10", 4),
        Case.of("lj3", 3),
        Case.of("lj4", 6),
        Case.of("watson", 6, 1e-9),
        Case.of("nist_mgh09", 4, 1e-10),
        Case.of("rotrastrigin", 10),
        bent,
    ]


# --- compilation -----------------------------------------------------------------------------------------------------


def compiled(all_cases: list[Case]) -> dict[str, dict[str, float]]:
    """Seconds of NVRTC for each kernel that a large batch of a function asks for."""
    here = cuda_device.current()

    def seconds(work: tuple[Any, str]) -> float:
        program, mode = work
        start = time.perf_counter()
        team = emit_launch.best_team(program, SIZES[-1], here.processors)
        text = cuda_compile.text(program).text
        cuda_compile.compiled(text, mode == "point", team, here.architecture, manner=cuda_compile.QUICK)
        return time.perf_counter() - start

    found = {}
    with ThreadPoolExecutor(cpu.usable_cpus()) as pool:
        for case in all_cases:
            f = case.function
            programs = {
                "level": (f.programs.level, "interval"),
                "stationary": (f.programs.slope, "interval"),
                "gradient": (f.programs.gradient, "interval"),
                "value": (f.value_program, "interval"),
                "points": (f.value_program, "point"),
                "mean value": (form_program(f.n), "interval"),
            }
            if not f.is_smooth_everywhere:
                programs["facts"] = (f.programs.facts, "interval")
            found[case.name] = {name: pool.submit(seconds, work) for name, work in programs.items()}
        return {name: {kind: round(made.result(), 3) for kind, made in of.items()} for name, of in found.items()}


# --- batches ---------------------------------------------------------------------------------------------------------


def best(work: Callable[[], Any], runs: int = 3) -> tuple[float, Any]:
    """The shortest time of some calls after a first one, and what they give."""
    found = work()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - start)
        if sum(seconds) > 2 * ENOUGH:
            break
    return min(seconds), found


def batches(case: Case) -> list[dict[str, Any]]:
    """Boxes a second, contracted under a level that keeps about half of them."""
    threads = cpu.usable_cpus()
    place = Gpu(call=0, patience=0, many=0)
    on_cpu = ContractorChain(case.function, case.domain, threads)
    on_gpu = ContractorChain(case.function.on(place), case.domain, threads)
    moved = case.function.on(place)
    rows: list[dict[str, Any]] = []
    for asked_for in SIZES:
        lo, hi = boxes_all_over(case.domain, asked_for)
        size = len(lo)  # fewer of many variables
        upper = float(np.nanmedian(case.function((lo + hi) / 2)))
        given = Boxes(lo, hi), upper
        there, found = best(partial(on_gpu.contract, *given))
        row: dict[str, Any] = {"boxes": size, "gpu_per_second": size / there}
        if not rows or rows[-1].get("cpu_seconds", np.inf) < ENOUGH:
            here, wanted = best(partial(on_cpu.contract, *given))
            row |= {"cpu_seconds": here, "cpu_per_second": size / here}
            row["same_bits"] = all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))
        alone, _ = best(partial(_level, moved, cuda_device.to_device(lo), cuda_device.to_device(hi), upper))
        row["level_there_per_second"] = size / alone
        rows.append(row)
    return rows


def _level(function: Function, lo: Any, hi: Any, upper: float) -> Any:
    """A run of the level contractor's Program; its last number is fetched, so that all is done by then."""
    return cuda_device.to_host(function.contraction_ends(lo, hi, upper)[2][-1:])


def leisure(all_cases: list[Case]) -> None:
    """Two contractors' Programs on boxes that lie on the device, compiled in a hurry and at leisure."""
    here, size = cuda_device.current(), 2**16

    def measured(work: tuple[Case, Any, bool]) -> Any:
        _, program, quick = work
        start = time.perf_counter()
        emitted, team = cuda_compile.text(program), emit_launch.best_team(program, size, here.processors)
        manner = cuda_compile.QUICK if quick else ""
        code = cuda_compile.compiled(emitted.text, False, team, here.architecture, manner=manner)
        return emitted, team, code, time.perf_counter() - start

    works = [
        (case, program, quick)
        for case in all_cases
        for program in (case.function.programs.level, case.function.programs.slope)
        for quick in (True, False)
    ]
    with ThreadPoolExecutor(cpu.usable_cpus()) as pool:
        made = list(pool.map(measured, works))
    for (case, program, quick), (emitted, team, code, spent) in zip(works, made, strict=True):
        kernel = cuda_kernel.Kernel(program, "interval", team, emitted, code=code)
        lo, hi = boxes_all_over(case.domain, size)
        more = program.n - case.domain.n
        low = cuda_device.to_device(np.hstack([lo, np.full((size, more), -1.0)]))
        high = cuda_device.to_device(np.hstack([hi, np.full((size, more), 1.0)]))
        seconds, _ = best(partial(_last, kernel, low, high))
        way = "in a hurry" if quick else "at leisure"
        print(f"{case.name}: {way} {spent:.1f} s, {seconds / size * 1e9:.2f} ns a box, team {team}", flush=True)


def _last(kernel: Any, lo: Any, hi: Any) -> Any:
    """A run of a kernel; its last number is fetched, so that all is done by then."""
    return cuda_device.to_host(cuda_batch.run_on_device(kernel, lo, hi)[0][0][-1:])


# --- searches --------------------------------------------------------------------------------------------------------


def searched(case: Case, backend: str, seconds: float) -> dict[str, Any]:
    """A search on a backend; batches are as large on every one."""
    options = Options(xtol=None, ftol=case.ftol, fatol=case.ftol, time_limit=seconds, threads=cpu.usable_cpus())
    boxes = 0
    contract = ContractorChain.contract

    def counted(self: ContractorChain, batch: Boxes, upper: float) -> Boxes:
        nonlocal boxes
        boxes += len(batch)
        return contract(self, batch, upper)

    function = case.function.on(backend)
    ContractorChain.contract = counted  # type: ignore[method-assign]
    try:
        found = separable.search(function, case.domain, options)
    finally:
        ContractorChain.contract = contract  # type: ignore[method-assign]
    return {
        "backend": backend,
        "seconds": found.seconds,
        "status": found.status.name,
        "gap": found.upper - found.lower,
        "lower": found.lower,
        "upper": found.upper,
        "iterations": found.nit,
        "boxes": boxes,
        "left": len(found.boxes),
        "kernels": function.place.kernels if isinstance(function.place, Gpu) else 0,
    }


# --- tables ----------------------------------------------------------------------------------------------------------


def table(rows: list[dict[str, Any]], device: str, threads: int) -> str:
    """Both tables as Markdown."""
    lines = [
        f"The default method on {device} and on {threads} threads of the CPU beside it (`bench/gpu_auto.py`).",
        "",
        "Boxes a second through all contractors; level: the level contractor's Program on boxes that lie on the GPU.",
        "",
        "| function | batch | CPU | GPU | times | same bits | level |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        for of in row["batches"]:
            on_cpu = of.get("cpu_per_second")
            both = f"{of['gpu_per_second'] / on_cpu:.1f} | {of['same_bits']}" if on_cpu else " | "
            lines.append(
                f"| {row['name']} | {of['boxes']:,} | {f'{on_cpu:,.3g}' if on_cpu else ''} | "
                f"{of['gpu_per_second']:,.3g} | {both} | {of['level_there_per_second']:,.3g} |"
            )
    lines += [
        "",
        "| function | compiled, s | on | seconds | gap | iterations | boxes | boxes/s | kernels |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        for of in row["searches"]:
            lines.append(
                f"| {row['name']} | {sum(row['compiled'].values()):.1f} | {of['backend']} | "
                f"{of['seconds']:.3g} | {of['gap']:.2g} | {of['iterations']} | {of['boxes']:,} | "
                f"{of['boxes'] / of['seconds']:,.3g} | {of['kernels']} |"
            )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="the default method on a GPU")
    parser.add_argument("--write", action="store_true", help="write bench/results/gpu_auto.json and gpu_auto.md")
    parser.add_argument("--seconds", type=float, default=20.0, help="the time limit of a search")
    parser.add_argument("--leisure", action="store_true", help="kernels compiled in a hurry and at leisure")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the functions")
    arguments = parser.parse_args()
    reason = cuda_device.available()
    if reason is not None:
        print(reason)
        return 1
    here, threads, began = cuda_device.current(), cpu.usable_cpus(), time.perf_counter()
    all_cases = [case for case in cases() if not arguments.only or case.name.split()[0] in arguments.only]
    if arguments.leisure:
        leisure(all_cases)
        return 0
    kernels = compiled(all_cases)
    print(
        f"{here.name}, CUDA {here.driver}, {threads} threads; compiled in {time.perf_counter() - began:.1f} s",
        flush=True,
    )
    rows: list[dict[str, Any]] = []
    for case in all_cases:
        found = [searched(case, backend, arguments.seconds) for backend in ("cpu", "cuda")]
        rows.append({"name": case.name, "compiled": kernels[case.name], "searches": found, "batches": []})
        for of in found:
            print(case.name, {name: of[name] for name in ("backend", "seconds", "gap", "boxes")}, flush=True)
        rows[-1]["batches"] = batches(case)
        for of in rows[-1]["batches"]:
            print(case.name, of, flush=True)
        if arguments.write:  # as far as it has come
            folder = Path(os.environ.get("OUT", RESULTS))
            record = {"date": date.today().isoformat(), "device": here._asdict(), "threads": threads, "cases": rows}
            (folder / "gpu_auto.json").write_text(json.dumps(record, indent=1) + "\n")
            (folder / "gpu_auto.md").write_text(table(rows, here.name, threads))
    print(table(rows, here.name, threads))
    print(f"{time.perf_counter() - began:.0f} s in all")
    return 0 if all(of.get("same_bits", True) for row in rows for of in row["batches"]) else 1


if __name__ == "__main__":
    sys.exit(main())

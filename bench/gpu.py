"""Measure emitted programs on a GPU: time per box, the FP64 rate reached, and the CPU beside it.

usage: python bench/gpu.py [--write] [--quick]       needs a CUDA device and CuPy; --write: bench/results/gpu.json
       python bench/gpu.py --once NAME               one launch, for a profiler

    figure         how
    kernel time    CUDA events around one launch on boxes that lie on the device, median of seven after two
    CPU            backends.cpu on all cores, best of three, fewer boxes
    peaks          small kernels of independent fused multiply-adds, additions and selections
    instructions   hardware counters where `ncu` runs; else the FP64 instructions of the operations, counted below
    share          FP64 instructions over (time * peak of additions); `bound`: the same for the busiest of the pipes
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import infimum.problems
from infimum.backends import cpu
from infimum.backends.cuda import batch as cuda_batch
from infimum.backends.cuda import cache as cuda_cache
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import emit
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda import launch as emit_launch
from infimum.function.function import trace
from infimum.passes.facts import facts
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"

# FP64 instructions of an operation on an interval along its usual way: adds, products, comparisons. Elementary
# functions and quotients were counted in machine code, without the ways that are taken rarely.
COSTS = {
    "neg": 0, "add": 2, "sub": 2, "mul": 10, "sqr": 5, "sqrt": 40, "div": 40, "exp": 120, "sin": 230, "cos": 230,
    "sinpi": 210, "cospi": 210, "min": 2, "max": 2, "abs": 4,
}  # fmt: skip
DEFAULT_COST = 100


# --- functions -------------------------------------------------------------------------------------------------------

A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
C = np.array([1.0, 1.2, 3.0, 3.2])


def hartmann6(x: Any) -> Any:
    return -np.sum(C * np.exp(-np.sum(A * (x - P) ** 2, axis=1)))


def rotated_rastrigin(n: int) -> Callable[[Any], Any]:
    """Rastrigin's function of R(x - s), R orthogonal and dense."""
    random = np.random.default_rng(30)
    rotation = np.linalg.qr(random.normal(size=(n, n)))[0]
    shift = random.uniform(-1, 1, n)

    def f(x: Any) -> Any:
        y = rotation @ (x - shift)
        return 10 * n + np.sum(y**2 - 10 * np.cos(2 * np.pi * y))

    return f


def two_hundred() -> Callable[[Any], Any]:
    """A result that needs 200 operations on six variables between -1 and 1, none of them large."""
    draws = np.random.default_rng(200).integers(0, 2**30, 1000).tolist()

    def f(x: Any) -> Any:
        draw = iter(draws)
        values = [x[i] for i in range(6)]
        done = 8
        while done < 274:
            a, b = values[-1 - next(draw) % 6], values[-1 - next(draw) % 6]
            kind, other = next(draw) % 20, x[next(draw) % 6]
            if kind < 9:
                value, cost = 0.5 * (a * b + other), 3
            elif kind < 13:
                value, cost = 0.5 * (a + b), 2
            elif kind < 17:
                value, cost = 0.5 * (a - other), 2
            elif kind < 19:
                value, cost = 0.5 * (a**2 - other), 3
            else:
                value, cost = np.sin(a + b), 2
            values.append(value)
            done += cost
        return sum(values[-6:])

    return f


class Case(NamedTuple):
    """A program, the side of its boxes' domain, and how many boxes are measured on the GPU and on the CPU."""

    program: Program
    low: float
    high: float
    boxes: int
    boxes_on_cpu: int


def _everything(f: Callable[[Any], Any], n: int) -> Program:
    function = trace(f, n)
    return lower([function.value_node, function.gradient_node, *facts(function.programs.build, function.value_node)], n)


def _value(f: Callable[[Any], Any], n: int) -> Program:
    return lower([trace(f, n).value_node], n)


CASES: dict[str, Callable[[], Case]] = {
    "hartmann6 value, gradient, facts": lambda: Case(_everything(hartmann6, 6), 0, 1, 10**7, 10**6),
    "rotated rastrigin n=30 value": lambda: Case(_value(rotated_rastrigin(30), 30), -5.12, 5.12, 2**21, 2**16),
    "rotated rastrigin n=30 value, gradient": lambda: Case(
        _everything(rotated_rastrigin(30), 30), -5.12, 5.12, 2**20, 2**15
    ),
    "200 operations of 6 variables": lambda: Case(_value(two_hundred(), 6), -1, 1, 2**23, 2**19),
}


def boxes_of(case: Case, count: int) -> tuple[FloatArray, FloatArray]:
    """Small boxes all over the domain."""
    random = np.random.default_rng(1)
    lo = random.uniform(case.low, case.high, (count, case.program.n))
    return lo, np.minimum(lo + (case.high - case.low) * 0.01 * random.random(lo.shape), case.high)


# --- measuring -------------------------------------------------------------------------------------------------------


class Ready(NamedTuple):
    """A kernel with everything that a launch needs."""

    kernel: cuda_kernel.Kernel
    arguments: tuple[Any, ...]

    def launch(self) -> None:
        self.kernel.launch(*self.arguments)


def ready(case: Case, team: int, emitted: emit.Emitted | None = None) -> Ready:
    """Boxes on the device, memory for the outputs."""
    import cupy

    kernel = cuda_kernel.Kernel(case.program, "interval", team, emitted)
    lo, hi = (emit_launch.arranged(cupy.asarray(end), team) for end in boxes_of(case, case.boxes))
    out = (cupy.empty(kernel.values * case.boxes), cupy.empty(kernel.values * case.boxes))
    scratch, blocks = kernel.scratch(case.boxes, 2**33)
    return Ready(kernel, (lo, hi, out, scratch, blocks, case.boxes))


def milliseconds(launch: Callable[[], None]) -> float:
    """The median of seven launches, by events."""
    import cupy

    for _ in range(2):
        launch()
    found = []
    for _ in range(7):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        found.append(cupy.cuda.get_elapsed_time(start, end))
    return statistics.median(found)


PEAKS = """
extern "C" __global__ void fma_peak(double *out, double a, int turns) {
    double x[8];
    for (int i = 0; i < 8; i++) x[i] = threadIdx.x + i;
    for (int t = 0; t < turns; t++)
#pragma unroll
        for (int i = 0; i < 8; i++) x[i] = __fma_rn(x[i], a, a);
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += x[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void add_peak(double *out, double a, int turns) {
    double x[8];
    for (int i = 0; i < 8; i++) x[i] = threadIdx.x + i;
    for (int t = 0; t < turns; t++)
#pragma unroll
        for (int i = 0; i < 8; i++) x[i] = __dadd_rd(x[i], a);
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += x[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void select_peak(double *out, double a, int turns) {
    float x[8];
    for (int i = 0; i < 8; i++) x[i] = threadIdx.x + i;
    for (int t = 0; t < turns; t++)
#pragma unroll
        for (int i = 0; i < 8; i++) x[i] = (threadIdx.x ^ t) & (1 << i) ? x[(i + 1) % 8] : x[i];
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += x[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


def peaks() -> dict[str, float]:
    """Thread instructions per second of one kind, the chip full."""
    import cupy

    module = cupy.RawModule(code=PEAKS, options=("--std=c++17", "--fmad=false"))
    blocks, threads, turns = cuda_device.current().processors * 16, 256, 4096
    out = cupy.empty(blocks * threads)
    found = {}
    for name in ("fma_peak", "add_peak", "select_peak"):
        kernel = module.get_function(name)
        arguments = (out, np.float64(1.0), np.int32(turns))
        spent = milliseconds(lambda k=kernel, a=arguments: k((blocks,), (threads,), a))  # type: ignore[misc]
        found[name] = blocks * threads * turns * 8 / (spent * 1e-3)
    return found


# --- instructions ----------------------------------------------------------------------------------------------------


def counted(program: Program) -> int:
    """FP64 instructions of one box by the table of costs; a reduction meets once less than it has terms."""
    total = 0
    for phase in program.phases:
        if not isinstance(phase, form.Body):
            continue
        for row in program.instructions[phase.first : phase.last].tolist():
            if row[0] == form.REDUCE:
                total += phase.groups * (phase.width - 1) * COSTS[form.NAMES[row[5]]]
            elif form.OP <= row[0] < form.DEFINED:
                name = form.NAMES[form.operation_number(row[0])]
                total += phase.groups * phase.width * COSTS.get(name, DEFAULT_COST)
    return total


METRICS = {
    "fp64": "sm__inst_executed_pipe_fp64.sum",
    "alu": "sm__inst_executed_pipe_alu.sum",
    "all": "smsp__inst_executed.sum",
    "fp64_active": "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
    "alu_active": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "issue_active": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
}


def profiled(name: str) -> dict[str, float] | None:
    """Hardware counters of one launch; warp instructions. None where no profiler runs."""
    found = launches([__file__, "--once", name], METRICS, "1")
    return found[-1][1] if found else None


def launches(script: list[str], metrics: dict[str, str], count: str) -> list[tuple[str, dict[str, float]]]:
    """Hardware counters of a script's first launches, each with its kernel's name; none where no profiler runs."""
    ncu = shutil.which("ncu")
    if ncu is None:
        return []
    command = [ncu, "--clock-control", "none", "--csv", "--page", "raw", "-k", "regex:infimum", "-c", count]
    command += ["--print-units", "base", "--metrics", ",".join(metrics.values()), sys.executable, *script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    rows = [row for row in csv.reader(done.stdout.splitlines()) if len(row) > 5]
    if done.returncode or len(rows) < 3:
        print(f"ncu: {(done.stderr or done.stdout)[-400:]}")
        return []
    found = []
    for row in rows[2:]:  # after the names and the units
        columns = dict(zip(rows[0], row, strict=False))
        counted = {key: float(columns[name].replace(",", "")) for key, name in metrics.items() if columns.get(name)}
        found.append((columns["Kernel Name"], counted))
    return found


# --- the table -------------------------------------------------------------------------------------------------------


def measured(name: str, case: Case, rates: dict[str, float]) -> dict[str, Any]:
    """One case on the GPU and on the CPU, in one run; the bits of both are compared."""
    program = case.program
    team = emit_launch.best_team(program, case.boxes, cuda_device.current().processors)
    made = ready(case, team)
    spent = milliseconds(made.launch)
    lo, hi = boxes_of(case, case.boxes_on_cpu)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        wanted = cpu.run(program, lo, hi)
        times.append(time.perf_counter() - start)
    found = cuda_batch.run(program, lo, hi, team=team)
    same = all(np.array_equal(a.view(np.int64), b.view(np.int64))
               for x, y in zip(found, wanted, strict=True) for a, b in zip(x, y, strict=True))  # fmt: skip
    gpu_ns, cpu_ns = spent * 1e6 / case.boxes, min(times) * 1e9 / case.boxes_on_cpu
    counters = profiled(name)
    fp64 = counters["fp64"] * 32 / case.boxes if counters and "fp64" in counters else float(counted(program))
    row: dict[str, Any] = {
        "case": name, "boxes": case.boxes, "team": team, "milliseconds": spent, "ns_per_box": gpu_ns,
        "cpu_ns_per_box": cpu_ns, "cpu_threads": cpu.usable_cpus(), "times_cpu": cpu_ns / gpu_ns, "same_bits": same,
        "fp64_per_box": fp64, "counted_by": "ncu" if counters else "table",
        "share_of_fp64": fp64 * case.boxes / (spent * 1e-3 * rates["add_peak"]), "counters": counters,
    }  # fmt: skip
    if counters and {"fp64", "alu", "all"} <= counters.keys():
        # Cycles that the schedulers' pipes must be busy: 16 lanes of FP64 and of ALU, one instruction issued a cycle.
        cycles = {"fp64": 2 * counters["fp64"], "alu": 2 * counters["alu"], "issue": counters["all"]}
        busiest = max(cycles, key=lambda pipe: cycles[pipe])
        cycles_per_second = rates["add_peak"] / 16  # of all schedulers together
        row |= {"bound_by": busiest, "share_of_bound": cycles[busiest] / cycles_per_second / (spent * 1e-3)}
    return row


def variants(name: str, case: Case) -> dict[str, float]:
    """Milliseconds of other ways to run the same program."""
    found: dict[str, float] = {}
    plain = emit.emit(case.program)
    for blocks in (2, 3, 4, 5):
        text = f"#define INFIMUM_BLOCKS {blocks}\n{plain.text}"
        found[f"{blocks} blocks a processor"] = milliseconds(ready(case, 1, replace(plain, text=text)).launch)
    text = plain.text.replace("INFIMUM_ENTRY(program, Quick)", "INFIMUM_ENTRY(program, Range)")
    found["without Quick"] = milliseconds(ready(case, 1, replace(plain, text=text)).launch)
    for team in (32, 256):
        fewer = case._replace(boxes=max(1, case.boxes // (8 if team == 32 else 64)))
        found[f"team {team}"] = milliseconds(ready(fewer, team).launch) * case.boxes / fewer.boxes
    limits = emit.UNROLLED, emit.UNROLLED_IN_ALL
    try:
        for limit in (0, 100, 1000):
            emit.UNROLLED, emit.UNROLLED_IN_ALL = limit, 5 * limit
            found[f"unrolled up to {limit}"] = milliseconds(ready(case, 1).launch)
    finally:
        emit.UNROLLED, emit.UNROLLED_IN_ALL = limits
    return found


def compile_times() -> dict[str, list[float]]:
    """Seconds from a new program to its first result, compiled and from the cache, for every paper function."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ[cuda_cache.VARIABLE] = folder
        for team in (1, 32, 256):  # CuPy compiles kernels of its own for copies when it first needs them
            cuda_batch.run(_value(hartmann6, 6), np.zeros((8, 6)), np.ones((8, 6)), team=team)
        for name in infimum.problems.names("paper"):
            problem = infimum.problems.named(name, 1000)
            program = _everything(problem.f, 1000)
            ends = np.array([[float(end) for end in pair] for pair in problem.bounds])
            seconds = []
            for _ in range(2):
                cuda_kernel.kernel.cache_clear()
                start = time.perf_counter()
                cuda_batch.run(program, ends[None, :, 0], ends[None, :, 1])
                seconds.append(time.perf_counter() - start)
            found[name] = seconds
        del os.environ[cuda_cache.VARIABLE]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="measure emitted programs on a GPU")
    parser.add_argument("--write", action="store_true", help="write bench/results/gpu.json")
    parser.add_argument("--quick", action="store_true", help="no variants, no compile times")
    parser.add_argument("--once", metavar="NAME", help="launch one case once")
    arguments = parser.parse_args()
    reason = cuda_device.available()
    if reason is not None:
        print(reason)
        return 1
    if arguments.once:
        case = CASES[arguments.once]()
        made = ready(case, emit_launch.best_team(case.program, case.boxes, cuda_device.current().processors))
        made.launch()
        made.kernel.cupy.cuda.Device().synchronize()
        return 0
    here = cuda_device.current()
    rates = peaks()
    print(f"{here.name}, CUDA {here.driver}; " + ", ".join(f"{k} {v / 1e12:.2f} T/s" for k, v in rates.items()))
    rows = []
    for name, make in CASES.items():
        case = make()
        row = measured(name, case, rates)
        row["variants"] = {} if arguments.quick else variants(name, case)
        rows.append(row)
        bound = f", {row['share_of_bound']:.0%} of {row['bound_by']} bound" if "bound_by" in row else ""
        print(
            f"{name}: {row['milliseconds']:.2f} ms for {row['boxes']:,} boxes, {row['ns_per_box']:.3f} ns a box, "
            f"{row['times_cpu']:.1f} times the CPU ({row['cpu_ns_per_box']:.1f} ns, {row['cpu_threads']} threads), "
            f"{row['fp64_per_box']:.0f} FP64 a box ({row['counted_by']}), {row['share_of_fp64']:.0%} of the FP64 rate"
            f"{bound}, same bits: {row['same_bits']}"
        )
        for label, spent in row["variants"].items():
            print(f"    {label}: {spent:.2f} ms")
    times = {} if arguments.quick else compile_times()
    for name, (first, again) in times.items():
        print(f"{name}: first result after {first:.2f} s, from the cache after {again:.3f} s")
    if arguments.write:
        record = {"date": date.today().isoformat(), "device": here._asdict(), "peaks": rates, "cases": rows}
        (RESULTS / "gpu.json").write_text(json.dumps(record | {"seconds_to_first_result": times}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Where the time of a staged search on a GPU goes: its kernels apart, the parts of each, and their compilation.

    python bench/gpu_stages.py               five functions at n = 500 and 1000, then the compilation of all twelve
    python bench/gpu_stages.py levy 500      some of them
    python bench/gpu_stages.py --options=--Ofast-compile=min     compiled with more options, kernels as well
    python bench/gpu_stages.py --floors levy,salomon 1000        what each kernel must do, and how long it takes

Kernels are timed by events over 300 iterations; the parts of a kernel by its own clock, in a second run whose text is
compiled with INFIMUM_CLOCKS. Compilation is without the cache. Floors are of means over some iterations: FP64
instructions over the peak that gpu.py measures, bytes of the device's memory over its bandwidth. With OUT set,
gpu_stages.json or gpu_floors.json is written there.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from gpu import launches, peaks
from gpu_paper import NAMES, on_the_device

from infimum import problems
from infimum.backends.cuda import cache as cuda_cache
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.domain import read_bounds
from infimum.function.function import Function, trace
from infimum.search.outcome import Options
from infimum.search.paper import search as paper
from infimum.staging.cuda import device
from infimum.staging.cuda import memory as device_memory
from infimum.staging.cuda.memory import GpuMachine
from infimum.staging.cuda.text import KERNELS

CHOSEN = ("levy", "ackley", "griewank", "rosenbrock", "salomon")
SIZES = (500, 1000)
ITERATIONS = 300
SWITCH = "#define INFIMUM_CLOCKS\n"
# Marks of device_step.h, device_sample.h and device_children.h, by place.
PARTS = {
    0: "copy", 1: "terms", 2: "trees", 3: "roots", 8: "dive", 9: "descend", 10: "improve", 11: "prove",
    16: "near", 17: "prefixes", 18: "arrive", 19: "list",
}  # fmt: skip


class Evented(GpuMachine):
    """A GPU that notes how long each kernel took there, and how long the answer was waited for."""

    last: Evented

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.seconds = {"step": 0.0, "children": 0.0, "waited": 0.0}
        self.launches = {"step": 0, "children": 0}
        self._event = {name: [self._cupy.cuda.Event() for _ in range(2)] for name in self.launches}
        self._started: set[str] = set()
        Evented.last = self

    def _between_events(self, name: str, launch: Any, arguments: tuple[Any, ...]) -> None:
        before, after = self._event[name]
        before.record(self._stream)
        launch(*arguments)
        after.record(self._stream)
        self.launches[name] += 1
        self._started.add(name)

    def step(self, *arguments: Any) -> None:
        self._between_events("step", super().step, arguments)

    def children(self, *arguments: Any) -> None:
        self._between_events("children", super().children, arguments)

    def answer(self) -> list[float]:
        started = time.perf_counter()
        found = super().answer()
        self.seconds["waited"] += time.perf_counter() - started
        for name in self._started:
            self.seconds[name] += 1e-3 * self._cupy.cuda.get_elapsed_time(*self._event[name])
        self._started.clear()
        return found


class Marked(GpuMachine):
    """A GPU whose kernels count the cycles of their parts."""

    last: Marked

    def __init__(self, text: str) -> None:
        super().__init__(SWITCH + text)
        modules, _ = device_memory._modules(SWITCH + text, self._cupy.cuda.Device().id)
        self._clocks = [int(module.get_global_var("infimum_clocks")) for module in modules.values()]
        self.cycles()
        Marked.last = self

    def cycles(self) -> list[int]:
        """Cycles of each part so far; the kernels begin again at 0."""
        self._stream.synchronize()
        total, nothing = np.zeros(32, np.int64), np.zeros(32, np.int64)
        for clocks in self._clocks:
            found = np.zeros(32, np.int64)
            self._copy(found.ctypes.data, clocks, found.nbytes, 2, self._stream.ptr)
            self._stream.synchronize()
            self._copy(clocks, nothing.ctypes.data, nothing.nbytes, 1, self._stream.ptr)
            self._stream.synchronize()
            total += found
        return total.tolist()


def searched(function: Function, bounds: Any, machine: Any, iterations: int) -> tuple[int, float]:
    """Iterations and seconds of a search on a machine; its kernels are compiled before."""
    here = paper.working
    paper.working = on_the_device(machine)
    try:
        paper.search(function, read_bounds(bounds), Options(max_iter=3))
        started = time.perf_counter()
        found = paper.search(function, read_bounds(bounds), Options(max_iter=iterations))
        return found.nit, time.perf_counter() - started
    finally:
        paper.working = here


def kernels_of(name: str, n: int) -> dict[str, Any]:
    """Microseconds of each kernel, cycles of each part."""
    problem = getattr(problems, name)(n)
    function = trace(problem.f, n, jac=problem.jac)
    iterations, seconds = searched(function, problem.bounds, Evented, ITERATIONS)
    evented = Evented.last
    each = {name: 1e6 * evented.seconds[name] / max(1, count) for name, count in evented.launches.items()}
    cycles = [0] * 32
    if b"infimum_clocks" in device_memory.headers():
        searched(function, problem.bounds, Marked, ITERATIONS)
        cycles = Marked.last.cycles()
    return {
        "function": name, "n": n, "iterations": iterations, "us": 1e6 * seconds / iterations, **each,
        "launches": evented.launches, "waited": 1e6 * evented.seconds["waited"] / iterations,
        "cycles": {part: cycles[at] // iterations for at, part in PARTS.items()},
    }  # fmt: skip


FLOORS = {
    "fp64": "sm__inst_executed_pipe_fp64.sum", "all": "smsp__inst_executed.sum", "bytes": "dram__bytes.sum",
    "ns": "gpu__time_duration.sum",
}  # fmt: skip
WATCHED = 40  # iterations
BANDWIDTH = 4.8e12  # bytes a second


def floors_of(name: str, n: int, peak: float) -> Iterator[dict[str, Any]]:
    """For each kernel the means of its launches: instructions, bytes, the time these need, and what it takes."""
    found = launches([__file__, "--once", name, str(n)], FLOORS, str(4 * WATCHED))
    for kernel in KERNELS:
        counted = [counters for label, counters in found if label.startswith(f"infimum_{kernel}")][2:]
        if counted:
            mean = {key: float(np.mean([counters[key] for counters in counted])) for key in FLOORS}
            floor = 1e9 * max(32 * mean["fp64"] / peak, mean["bytes"] / BANDWIDTH)
            yield {"function": name, "n": n, "kernel": kernel, **mean, "floor_ns": floor, "share": floor / mean["ns"]}


def compiled(name: str, options: tuple[str, ...]) -> dict[str, Any]:
    """Seconds from the text to a loaded module, with an empty cache; its size."""
    problem = getattr(problems, name)(50)
    stages = trace(problem.f, 50, jac=problem.jac).stages
    ends = (np.zeros(50), np.ones(50))
    kept = cuda_compile.OPTIONS
    cuda_compile.OPTIONS = (*kept, *options)
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.environ[cuda_cache.VARIABLE] = folder
            device_memory._modules.cache_clear()
            made = device.DeviceStaging(stages, ends, ends, None, GpuMachine).machine
            size = sum(path.stat().st_size for path in Path(folder).iterdir())
    finally:
        cuda_compile.OPTIONS = kept
        del os.environ[cuda_cache.VARIABLE]
    return {"function": name, "options": options, "seconds": made.compile_seconds, "bytes": size}


def show_floors(names: list[str], n: int) -> None:
    """Print what kernels must do."""
    peak, rows = peaks()["add_peak"], []
    for name in names:
        for r in floors_of(name, n, peak):
            rows.append(r)
            print(
                f"{name:12}{n:6} {r['kernel']:9} FP64 {32 * r['fp64']:9.0f}, all {32 * r['all']:10.0f} instructions, "
                f"{r['bytes']:9.0f} bytes: floor {1e-3 * r['floor_ns']:6.2f} us of {1e-3 * r['ns']:6.1f}",
                flush=True,
            )
    if os.environ.get("OUT"):
        (Path(os.environ["OUT"]) / "gpu_floors.json").write_text(json.dumps(rows, indent=1))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="where the time of a staged search on a GPU goes")
    parser.add_argument("functions", nargs="?", default=",".join(CHOSEN))
    parser.add_argument("sizes", nargs="?", default=",".join(map(str, SIZES)))
    parser.add_argument("--options", default="")
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--once", action="store_true")
    given = parser.parse_args()
    if given.once:
        problem = getattr(problems, given.functions)(int(given.sizes))
        searched(trace(problem.f, problem.n, jac=problem.jac), problem.bounds, GpuMachine, WATCHED)
        return
    if given.floors:
        show_floors(given.functions.split(","), int(given.sizes))
        return
    cuda_compile.OPTIONS = (*cuda_compile.OPTIONS, *given.options.split())
    print(cuda_device.current(), cuda_compile.OPTIONS, flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ[cuda_cache.VARIABLE] = folder
        for name in given.functions.split(","):
            for n in map(int, given.sizes.split(",")):
                r = kernels_of(name, n)
                rows.append(r)
                print(
                    f"{name:12}{n:6}  {r['us']:6.0f} us: step {r['step']:5.0f}, children {r['children']:5.0f}, "
                    f"waited {r['waited']:5.0f}; cycles {', '.join(f'{k} {v}' for k, v in r['cycles'].items())}",
                    flush=True,
                )
        del os.environ[cuda_cache.VARIABLE]
    for options in ((), ("--split-compile=0",)):
        for name in NAMES:
            r = compiled(name, options)
            rows.append(r)
            print(f"{name:14} {' '.join(options) or 'plain':20} {r['seconds']:6.2f} s {r['bytes']:8} bytes", flush=True)
    if os.environ.get("OUT"):
        (Path(os.environ["OUT"]) / "gpu_stages.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()

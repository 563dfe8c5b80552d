"""A thousand random functions on a GPU and on the CPU, bit for bit.

    python bench/gpu_random.py                    value, gradient and facts of each, contraction of every second one
    python bench/gpu_random.py --functions 100    some of them
    python bench/gpu_random.py --workers 4        processes that compile; as many as there are cores otherwise

NVRTC compiles one program at a time in a process: so other processes compile into the cache, while this one runs what
is there. Boxes are of all widths, points among them, and special ones; every fifth function is also evaluated at
points. The last line counts, and the exit status is 1 where a bit differs.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
if importlib.util.find_spec("flint") is None:  # only their values at points need it
    sys.modules["flint"] = ModuleType("flint")

import emitted_cases
import programs
import random_functions
from infimum.backends import cpu
from infimum.backends.cuda import batch as cuda_batch
from infimum.backends.cuda import cache as cuda_cache
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda.emit import emit, is_long
from infimum.backends.cuda.memory import TEAMS
from infimum.backends.cuda.tape import emit_tape
from infimum.function.function import Function, trace
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
Boxes = tuple[FloatArray, FloatArray]

BOXES = 300
LARGEST = np.finfo(np.float64).max
SPECIAL = (
    (0.0, 0.0), (-0.0, 0.0), (1.0, 1.0), (-1.0, 1.0), (0.0, 1.0), (-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.0),
    (-np.inf, -1.0), (LARGEST, np.inf), (-np.inf, -LARGEST), (LARGEST, LARGEST), (5e-324, 5e-324), (-5e-324, 5e-324),
    (1e-300, 1e300), (-1e300, 1e-300), (709.0, 711.0), (-746.0, -744.0), (1e15, 1e17), (0.5, 1.5), (3.0, 3.5),
)  # fmt: skip


def function(seed: int) -> Function:
    """One or two vectors folded, or a tree of operations, in turn."""
    if seed % 2:
        return emitted_cases.random_function(seed)
    made = random_functions.random_function(seed)
    return trace(made, made.n)


def cases(seed: int) -> Iterator[tuple[Program, str, int]]:
    """The programs of a function with how they run: mode and team."""
    made, team = function(seed), TEAMS[seed // 2 % len(TEAMS)]
    everything = emitted_cases.everything(made)
    yield everything, "interval", team
    if seed % 5 == 0:
        yield everything, "point", team
    if seed % 4 < 2:
        yield made.programs.level, "interval", team


def boxes(n: int, seed: int) -> Boxes:
    """Boxes of all widths, and such that have a special interval in every variable or in one."""
    lo, hi = programs.boxes(n, BOXES)
    random = np.random.default_rng(seed)
    special = np.array(SPECIAL)
    drawn = special[random.integers(len(special), size=(2 * len(special), n))]
    one = lo[: len(special)].copy(), hi[: len(special)].copy()
    column = random.integers(n, size=len(special))
    for end, values in zip(one, special.T, strict=True):
        end[np.arange(len(special)), column] = values
    return np.vstack([lo, drawn[..., 0], one[0]]), np.vstack([hi, drawn[..., 1], one[1]])


def prepare(seed: int, architecture: str) -> int:
    """Compile the programs of a function into the cache."""
    for program, mode, team in cases(seed):
        text = (emit_tape(program) if is_long(program) else emit(program)).text
        cuda_compile.compiled(text, mode == "point", team, architecture)
    return seed


def difference(found: list[Any], wanted: list[Any]) -> str:
    """Where two results differ; empty where they do not."""
    for output, (pair, other) in enumerate(zip(found, wanted, strict=True)):
        for end, a, b in zip(("lo", "hi"), pair, other, strict=True):
            wrong = np.ascontiguousarray(a).view(np.int64) != np.where(np.isnan(b), np.nan, b).view(np.int64)
            if wrong.any():
                box, i = np.argwhere(wrong)[0]
                return f"output {output} {end} box {box} element {i}: {a[box, i].hex()}, wanted {b[box, i].hex()}"
    return ""


def compare(seed: int) -> tuple[int, int, list[str]]:
    """Programs and boxes of a function that were compared; what differed."""
    count, total, wrong = 0, 0, []
    for program, mode, team in cases(seed):
        lo, hi = boxes(program.n, seed)
        if mode == "point":
            lo = hi = np.where(np.isfinite(lo), lo, hi)
        wanted = cpu.run(program, lo, hi, mode)  # type: ignore[arg-type]
        found = cuda_batch.run(program, lo, hi, mode, team=team)  # type: ignore[arg-type]
        told = difference(found, wanted)
        if told:
            wrong.append(f"function {seed}, {mode}, {team} threads a box: {told}")
        count, total = count + 1, total + len(lo)
    return count, total, wrong


def main() -> int:
    """Print what differs, and a count."""
    parser = argparse.ArgumentParser(description="random functions on a GPU and on the CPU, bit for bit")
    parser.add_argument("--functions", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=cpu.usable_cpus())
    given = parser.parse_args()
    started = time.perf_counter()
    architecture = cuda_device.current().architecture
    done, count, total, wrong = 0, 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(cuda_cache.VARIABLE, folder)
        context = multiprocessing.get_context("spawn")  # a process that uses CUDA is not forked
        with ProcessPoolExecutor(given.workers, context) as pool:
            for waiting in as_completed([pool.submit(prepare, s, architecture) for s in range(given.functions)]):
                programs_here, boxes_here, told = compare(waiting.result())
                done, count, total = done + 1, count + programs_here, total + boxes_here
                wrong += told
                for line in told:
                    print(line, flush=True)
                if done % 100 == 0:
                    print(f"{done} functions in {time.perf_counter() - started:.0f} s", flush=True)
    seconds = time.perf_counter() - started
    print(f"{done} functions, {count} programs, {total} boxes in {seconds:.0f} s: {len(wrong)} programs differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

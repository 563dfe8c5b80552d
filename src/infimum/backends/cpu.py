"""Programs on the CPU: the block virtual machine of the compiled core."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.errors import ShapeMismatch
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
Mode = Literal["interval", "point"]


def run(
    program: Program,
    lo: npt.ArrayLike,
    hi: npt.ArrayLike | None = None,
    mode: Mode = "interval",
    variant: str | None = None,
    threads: int | None = None,
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the output slots of a program for every box, as pairs of ends of shape (boxes, size).

    lo and hi have the shape (boxes, n). In mode "point" the boxes are the points lo, hi is not read, and both ends of a
    result are the same array: the value in plain doubles, NaN where it is undefined.

    Guarantee: in mode "interval" the results contain the outputs at every point of the box where they are defined; same
    bits for every variant, number of threads and grouping of boxes.
    """
    low, high = read_batch(program, lo, hi, mode)
    workers = usable_cpus() if threads is None else threads
    if workers < 1:
        raise ValueError(f"threads must be at least 1, got {workers}")
    return core.run_tape(program.tape, low, high, point=mode == "point", variant=variant, threads=workers)


def usable_cpus() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_batch(
    program: Program, lo: npt.ArrayLike, hi: npt.ArrayLike | None, mode: Mode
) -> tuple[FloatArray, FloatArray]:
    """Return the ends (boxes, n) of a batch, or refuse what a program cannot be run on."""
    if mode not in ("interval", "point"):
        raise ValueError(f"mode is 'interval' or 'point', got {mode!r}")
    low = _boxes(program, lo)
    high = low if mode == "point" or hi is None else _boxes(program, hi)
    if low.shape != high.shape:
        raise ShapeMismatch(f"lo has the shape {low.shape}, hi {high.shape}")
    return low, high


def _boxes(program: Program, ends: npt.ArrayLike) -> FloatArray:
    found = np.ascontiguousarray(ends, np.float64)
    if found.ndim != 2 or found.shape[1] != program.n:
        raise ShapeMismatch(f"the program takes boxes of shape (boxes, {program.n}), got {found.shape}")
    return found

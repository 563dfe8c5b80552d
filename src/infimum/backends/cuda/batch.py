"""Programs on batches of boxes on an NVIDIA GPU. Guarantee: the bits of backends.cpu, however the batch is cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends.cpu import Mode, read_batch
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda import launch as emit_launch
from infimum.backends.cuda.device import cuda_errors_as_refusals, picked
from infimum.backends.cuda.kernel import Kernel
from infimum.backends.cuda.memory import TEAMS
from infimum.core import tape as tapes
from infimum.errors import BackendUnavailable, InvalidInterval
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]

_SHARE = 0.7  # of the free memory, for boxes and results


@cuda_errors_as_refusals()
def run(
    program: Program,
    lo: npt.ArrayLike,
    hi: npt.ArrayLike | None = None,
    mode: Mode = "interval",
    team: int | None = None,
    most: int | None = None,
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the output slots of a program for every box, as backends.cpu.run gives them, bit for bit.

    team, the number of threads that share a box (1, 32 or 256), and most, the boxes of one launch, are chosen where
    they are not given; results do not depend on them.
    """
    low, high = read_batch(program, lo, hi, mode)
    if team is not None and team not in TEAMS:
        raise ValueError(f"a team has {', '.join(map(str, TEAMS))} threads, got {team}")
    threads = team or emit_launch.best_team(program, len(low), cuda_device.current().processors)
    return run_kernel(cuda_kernel.kernel(program, mode, threads, cuda_device.cupy().cuda.Device().id), low, high, most)


@cuda_errors_as_refusals()
def run_kernel(
    made: Kernel, low: FloatArray, high: FloatArray, most: int | None = None
) -> list[tuple[FloatArray, FloatArray]]:
    """Run a kernel that is loaded on arrays (boxes, n), as `run` does."""
    found = _run_pieces(made, low, high, most)
    rows = lambda at: [(a[at], b[at]) for a, b in found]  # noqa: E731
    if not made.is_believed(lambda at: (low[at], high[at]), len(low), rows):
        return run_kernel(made, low, high, most)
    return found


def _run_pieces(
    made: Kernel, low: FloatArray, high: FloatArray, most: int | None
) -> list[tuple[FloatArray, FloatArray]]:
    cupy = made.cupy
    count = len(low)
    out_lo = [np.empty((count, size)) for size in made.emitted.outputs]
    out_hi = out_lo if made.point else [np.empty((count, size)) for size in made.emitted.outputs]
    made.wrong.fill(0)
    for first, last in _pieces(cupy, made, count, most):
        _run_piece(
            cupy,
            made,
            low[first:last],
            high[first:last],
            [a[first:last] for a in out_lo],
            [a[first:last] for a in out_hi],
        )
    if not made.point and int(made.wrong[0]):
        raise InvalidInterval(tapes.no_interval(low, high))
    return list(zip(out_lo, out_hi, strict=True))


def _run_piece(
    cupy: Any, made: Kernel, lo: FloatArray, hi: FloatArray, out_lo: list[FloatArray], out_hi: list[FloatArray]
) -> None:
    """Copy boxes to the device, run them and fetch the outputs; in halves where memory is short."""
    try:
        there = cupy.asarray(lo)
        found = made.run(there, there if made.point else cupy.asarray(hi))
        for (low, high), to_lo, to_hi in zip(found, out_lo, out_hi, strict=True):
            to_lo[...] = cupy.asnumpy(low)
            if not made.point:
                to_hi[...] = cupy.asnumpy(high)
    except cupy.cuda.memory.OutOfMemoryError as error:
        cupy.get_default_memory_pool().free_all_blocks()
        if len(lo) == 1:
            raise BackendUnavailable(_too_large(made)) from error
    else:
        return
    half = len(lo) // 2
    for part in (slice(0, half), slice(half, None)):
        _run_piece(cupy, made, lo[part], hi[part], [a[part] for a in out_lo], [a[part] for a in out_hi])


def _too_large(made: Kernel) -> str:
    gpu = cuda_device.current()
    numbers = 2 * (made.program.n + made.values + made.emitted.scratch(made.team))
    return (
        f"a box of this function takes {numbers * 8 / 2**20:,.0f} MiB, more than is free on {gpu.name} "
        f"({gpu.memory / 2**30:.0f} GiB); use backend='cpu'"
    )


def _pieces(cupy: Any, made: Kernel, count: int, most: int | None) -> Iterator[tuple[int, int]]:
    """Return ranges of boxes that fit the memory: boxes and outputs, each also in the other order."""
    free = cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
    per_box = 8 * 2 * (2 * made.program.n + 2 * made.values)
    step = most or max(1, int(_SHARE * free) // per_box)
    return ((first, min(first + step, count)) for first in range(0, count, step))


@cuda_errors_as_refusals()
def run_on_device(made: Kernel, lo: Any, hi: Any) -> list[tuple[Any, Any]]:
    """Run a kernel on boxes on the device, where its outputs stay; by way of the host where memory is short."""
    made.wrong.fill(0)
    try:
        found = made.run(lo, hi)
    except made.cupy.cuda.memory.OutOfMemoryError:
        made.cupy.get_default_memory_pool().free_all_blocks()
        outputs = run_kernel(made, cuda_device.to_host(lo), cuda_device.to_host(hi))
        return [(cuda_device.to_device(low), cuda_device.to_device(high)) for low, high in outputs]
    if not made.point and int(made.wrong[0]):
        raise InvalidInterval(tapes.no_interval(cuda_device.to_host(lo), cuda_device.to_host(hi)))
    rows = lambda at: [(picked(a, at), picked(b, at)) for a, b in found]  # noqa: E731
    if not made.is_believed(lambda at: (picked(lo, at), picked(hi, at)), len(lo), rows):
        return run_on_device(made, lo, hi)
    return found

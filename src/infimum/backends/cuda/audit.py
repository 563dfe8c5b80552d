"""An audit of kernels while they work: some boxes of a batch run on the CPU as well and are compared bit for bit.

A compiler can err. Of a thousand random functions one came out wrong at the optimiser's usual level, with enclosures
that missed values, and right at a lower one (docs/gpu.md). So no kernel is believed because it compiled.

    batch of a kernel     boxes that are compared         where they differ
    its first one         up to 64, from end to end       the kernel is compiled again with care, and the batch repeated
    a later one           one in 4,096, others each time  refused: what came before may be wrong
    with care             the same                        refused

The paper's search discards by the numbers of its kernels: those are compiled with care from the beginning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.backends.cpu import Mode
from infimum.errors import BackendUnavailable
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Outputs = list[tuple[Any, Any]]

CAREFUL = "--ptxas-options=-O1"
_MOST, _ONE_IN = 64, 4096
_PRIME = 7919  # a stride that meets other boxes at every call


def chosen(count: int, calls: int) -> IndexArray:
    """Return which of `count` boxes are compared in a kernel's call number `calls`."""
    wanted = min(_MOST, count if calls == 0 else count // _ONE_IN)
    if not wanted:
        return np.empty(0, np.int64)
    spread = np.linspace(0, count - 1, wanted).astype(np.int64)
    return np.unique((spread + calls * _PRIME) % count)


def agree(program: Program, mode: Mode, boxes: tuple[FloatArray, FloatArray], found: Outputs) -> bool:
    """Return whether outputs for boxes, all in the host's memory, are those of the CPU, bit for bit."""
    wanted = cpu.run(program, *boxes, mode, threads=1)
    return all(
        np.array_equal(bits(a), bits(b))
        for pair, other in zip(found, wanted, strict=True)
        for a, b in zip(pair, other, strict=True)
    )


def bits(values: FloatArray) -> npt.NDArray[np.int64]:
    """Return the bits of numbers, of which NaN has many."""
    return np.ascontiguousarray(np.where(np.isnan(values), np.nan, values)).view(np.int64)


def refusal(device: str) -> BackendUnavailable:
    """Return the error to raise where a kernel cannot be believed."""
    return BackendUnavailable(
        f"the CUDA compiler made a kernel for {device} that gives other numbers than the CPU; use backend='cpu', or "
        "install another version of CuPy's NVRTC"
    )

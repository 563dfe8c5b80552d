"""A program as the C interface takes it: flat arrays, and the call that runs them.

The layout is described in docs/program.md. infimum.passes.lowering.program makes and checks it: the core trusts what it
is given here.
"""

from __future__ import annotations

import ctypes
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from infimum.core.codes import Mode, Status
from infimum.errors import InvalidInterval

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FAILURES = {
    Status.NO_OPERATION: "unknown operation",
    Status.NO_VARIANT: "instruction set not available",
    Status.BAD_SIZES: "bad sizes",
    Status.NO_THREAD: "no thread could be started",
    Status.NO_INTERVAL: "an input is no interval",
    Status.NO_MEMORY: "out of memory",
}


class _Fields(NamedTuple):
    """The fields of `infimum_program` (core/abi.h), arrays contiguous."""

    n: int
    slots: IntArray  # (slots, 3): kind, size, offset in the constant pool
    instructions: IntArray  # (instructions, 8)
    phases: IntArray  # (phases, 6)
    outputs: IntArray
    tables: IntArray
    constant_lo: FloatArray
    constant_hi: FloatArray
    constant_points: FloatArray


class _Program(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("n", "slot_count", "instruction_count", "phase_count", "output_count")),
        *((name, ctypes.c_void_p) for name in _Fields._fields[1:]),
    ]


class _Standing(ctypes.Structure):
    """`infimum_standing` (core/staging/spec.h)."""

    _fields_ = [("program", ctypes.c_void_p), ("out_lo", ctypes.c_void_p), ("out_hi", ctypes.c_void_p)]


class Tape:
    """A program in the form that the C interface takes, made once and run many times."""

    def __init__(self, n: int, *arrays: Any) -> None:
        self.fields = _Fields(n, *arrays)  # keeps the arrays alive whose addresses the structure holds
        f = self.fields
        counts = (len(f.slots), len(f.instructions), len(f.phases), len(f.outputs))
        self.structure = _Program(n, *counts, *(address(a) for a in f[1:]))
        self.sizes = [int(f.slots[slot, 1]) for slot in f.outputs]
        self.pointers = ctypes.c_void_p * len(self.sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the arrays alone to another process, where they have other addresses."""
        return Tape, tuple(self.fields)


def run(
    library: ctypes.CDLL, tape: Tape, lo: FloatArray, hi: FloatArray, point: bool, variant: int, threads: int
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the output slots of every box, (boxes, size) each; at points hi is not read, both ends are one array."""
    out_lo = [np.empty((len(lo), size)) for size in tape.sizes]
    out_hi = out_lo if point else [np.empty((len(lo), size)) for size in tape.sizes]
    status = library.infimum_run_program(
        variant,
        Mode.POINT_MODE if point else Mode.INTERVAL_MODE,
        ctypes.byref(tape.structure),
        ctypes.c_int64(len(lo)),
        ctypes.c_void_p(address(lo)),
        ctypes.c_void_p(address(hi)),
        tape.pointers(*map(address, out_lo)),
        tape.pointers(*map(address, out_hi)),
        threads,
    )
    if status:
        _refuse(status, lo, hi)
    return list(zip(out_lo, out_hi, strict=True))


class Standing:
    """A program on one box that others move: arrays (n,) in and out that stay where they are, for many runs.

    outputs: the ends of each output slot after `run`; overwritten by the next one. ends: all of them in a row.
    structure: program and outputs as `Staging.discards` takes them.
    """

    def __init__(self, library: ctypes.CDLL, tape: Tape, lo: FloatArray, hi: FloatArray, variant: int) -> None:
        self._run = library.infimum_run_program
        self._box = lo, hi
        self._tape = tape
        at = np.concatenate([[0], np.cumsum(tape.sizes)]).tolist()
        self.ends = np.zeros(at[-1]), np.zeros(at[-1])
        self.outputs = [(self.ends[0][i:j], self.ends[1][i:j]) for i, j in pairwise(at)]
        pointers = [tape.pointers(*(address(out[end]) for out in self.outputs)) for end in (0, 1)]
        inputs = [ctypes.c_void_p(address(end)) for end in (lo, hi)]
        self._arguments = (
            variant,
            int(Mode.INTERVAL_MODE),
            ctypes.byref(tape.structure),
            ctypes.c_int64(1),
            *inputs,
            *pointers,
            1,
        )
        self.structure = _Standing(*(ctypes.addressof(part) for part in (tape.structure, *pointers)))

    def run(self) -> None:
        """Fill the outputs for what the box is now."""
        status = self._run(*self._arguments)
        if status:
            _refuse(status, *(end[None] for end in self._box))


def _refuse(status: int, lo: FloatArray, hi: FloatArray) -> NoReturn:
    if status == Status.NO_INTERVAL:
        raise InvalidInterval(no_interval(lo, hi))
    if status == Status.NO_MEMORY:
        raise MemoryError("there is not enough memory to run the program on these boxes")
    raise RuntimeError(f"the program failed in the core: {FAILURES[Status(status)]}")


def no_interval(lo: FloatArray, hi: FloatArray) -> str:
    """Say which of the boxes has a side that is none, and cannot be read."""
    good = (lo <= hi) & (lo < np.inf) & (hi > -np.inf) | (lo == np.inf) & (hi == -np.inf)
    if good.all():
        return "an input is no interval"
    box, variable = (int(i) for i in np.argwhere(~good)[0])
    return f"box {box}, variable {variable}: [{lo[box, variable]}, {hi[box, variable]}] is no interval"


def address(a: npt.NDArray[Any]) -> int:
    """Return where the elements start: several times faster than `a.ctypes.data`."""
    start: int = a.__array_interface__["data"][0]
    return start

"""The C interface of the core as Python sees it."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.core import stages
from infimum.core import tape as tapes
from infimum.core.codes import Fact, Status
from infimum.core.tape import address

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Pair = tuple[npt.ArrayLike, npt.ArrayLike]

_ABI = 5
_IS_DEFINED, _IS_SMOOTH = int(Fact.IS_DEFINED), int(Fact.IS_SMOOTH)  # members are slow to read
_LARGEST_EXPONENT = 2**31


class Operation(NamedTuple):
    """One row of the core's table: how many operands, and what its error bound rests on."""

    name: str
    arity: int
    trust: str


class _Job(ctypes.Structure):
    _fields_ = [
        ("in_", ctypes.c_void_p * 6),
        ("strides", ctypes.c_int64 * 3),
        ("lo", ctypes.c_void_p),
        ("hi", ctypes.c_void_p),
        ("facts", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("param", ctypes.c_int64),
    ]


class Core:
    """A loaded core library: its tables of operations and variants, and the calls that run them."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        for name in ("operation_name", "operation_trust", "variant_name"):
            getattr(library, f"infimum_{name}").restype = ctypes.c_char_p
        stages.declare(library)
        self._operations = {row.name: (i, row) for i, row in enumerate(self._rows())}
        self._variants = self._usable()

    def _rows(self) -> list[Operation]:
        lib = self.library
        return [
            Operation(
                lib.infimum_operation_name(i).decode(),
                lib.infimum_operation_arity(i),
                lib.infimum_operation_trust(i).decode(),
            )
            for i in range(lib.infimum_operation_count())
        ]

    def _usable(self) -> dict[str, int]:
        lib = self.library
        usable = {
            lib.infimum_variant_name(i).decode(): i
            for i in range(lib.infimum_variant_count())
            if lib.infimum_variant_usable(i)
        }
        if not usable:
            raise ImportError(
                "infimum needs a CPU with fused multiply-add (x86-64 from 2013 on with AVX2 and FMA, or any aarch64); "
                "this one does not report it"
            )
        return usable

    def operations(self) -> dict[str, Operation]:
        """Return every operation of this library by name, in the order of its table."""
        return {name: row for name, (_, row) in self._operations.items()}

    def variants(self) -> tuple[str, ...]:
        """Return the instruction sets this CPU can run, best last."""
        return tuple(self._variants)

    def apply(
        self, op: str, *operands: Pair, param: int = 0, variant: str | None = None, threads: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Contain the range of `op` over each box of the broadcast operands.

        Guarantee: same bits for every variant and every number of threads.
        """
        job, shape, _keep = self._job(op, operands, param)
        lo, hi = np.empty(shape), np.empty(shape)
        job.lo, job.hi = address(lo), address(hi)
        self._run(op, job, variant, threads)
        return lo, hi

    def facts(
        self, op: str, *operands: Pair, param: int = 0, variant: str | None = None, threads: int = 1
    ) -> tuple[BoolArray, BoolArray]:
        """Say for each box whether `op` is defined on all of it, and whether it is smooth around it."""
        job, shape, _keep = self._job(op, operands, param)
        bits = np.empty(shape, np.uint8)
        job.facts = address(bits)
        self._run(op, job, variant, threads)
        return (bits & _IS_DEFINED).astype(bool), (bits & _IS_SMOOTH).astype(bool)

    def _job(self, op: str, operands: Sequence[Pair], param: int) -> tuple[_Job, tuple[int, ...], list[Any]]:
        """Return the job without its outputs, the shape of the result, and the arrays that must stay alive."""
        if op not in self._operations:
            raise ValueError(f"the core has no operation {op!r}; it has {', '.join(self._operations)}")
        arity = self._operations[op][1].arity
        if len(operands) != arity:
            raise TypeError(f"{op} takes {arity} intervals, got {len(operands)}")
        if abs(param) > _LARGEST_EXPONENT:
            raise ValueError(f"{op} takes integer exponents up to 2**31 in magnitude, got {param}")
        ends = [np.asarray(end, np.float64) for pair in operands for end in pair]
        shape = ends[0].shape
        if any(end.shape != shape for end in ends):
            shape = np.broadcast_shapes(*(end.shape for end in ends))
        job = _Job(count=math.prod(shape), param=param)
        keep = []
        for i in range(arity):
            lo, hi, job.strides[i] = _flat(ends[2 * i], ends[2 * i + 1], shape)
            job.in_[2 * i], job.in_[2 * i + 1] = address(lo), address(hi)
            keep += [lo, hi]
        return job, shape, keep

    def run_tape(
        self,
        tape: tapes.Tape,
        lo: FloatArray,
        hi: FloatArray,
        *,
        point: bool = False,
        variant: str | None = None,
        threads: int = 1,
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Run a checked program on boxes (or at the points lo): contiguous arrays of shape (boxes, n).

        Guarantee: same bits for every variant and every number of threads.
        """
        return tapes.run(self.library, tape, lo, hi, point, self.number(variant), threads)

    def standing(self, tape: tapes.Tape, lo: FloatArray, hi: FloatArray) -> tapes.Standing:
        """Return a checked program on a box (n,) that others move; contiguous arrays. Guarantee: `run_tape`'s bits."""
        return tapes.Standing(self.library, tape, lo, hi, self.number(None))

    def staging(
        self,
        box: stages.Box,
        families: Sequence[stages.Terms],
        epilogue: tapes.Tape,
        slopes: Sequence[stages.Components],
        variant: str | None = None,
    ) -> stages.Staging:
        """Return a search's working state for a function of this structure. Guarantee: same bits for every variant."""
        return stages.Staging(self.library, self.number(variant), box, families, epilogue, slopes)

    def run_linear(self, routine: int, job: Any, variant: str | None, threads: int) -> int:
        """Run a routine of small linear algebra (core/linear.py), and return its status."""
        status: int = self.library.infimum_run_linear(self.number(variant), routine, job, threads)
        return status

    def number(self, variant: str | None) -> int:
        """Return the number of an instruction set, of the best one where none is named."""
        if variant is not None and variant not in self._variants:
            raise ValueError(f"variant {variant!r} does not run on this CPU; available: {', '.join(self._variants)}")
        return self._variants[variant] if variant else max(self._variants.values())

    def _run(self, op: str, job: _Job, variant: str | None, threads: int) -> None:
        number = self.number(variant)
        status = self.library.infimum_apply(number, self._operations[op][0], ctypes.byref(job), threads)
        if status:
            raise RuntimeError(f"{op} failed in the core: {tapes.FAILURES[Status(status)]}")


def _flat(lo: FloatArray, hi: FloatArray, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray, int]:
    """Return one interval for all (stride 0), or contiguous arrays of the full shape (stride 1)."""
    if lo.size == 1 and hi.size == 1:
        return np.ascontiguousarray(lo), np.ascontiguousarray(hi), 0
    lo, hi = (end if end.shape == shape else np.broadcast_to(end, shape) for end in (lo, hi))
    return np.ascontiguousarray(lo), np.ascontiguousarray(hi), 1


def load(path: Path) -> Core:
    """Open a core library, refusing one that was built for another interface."""
    library = ctypes.CDLL(str(path))
    if library.infimum_abi() != _ABI:
        raise ImportError(
            f"{path.name} has interface {library.infimum_abi()}, this package needs {_ABI}: reinstall infimum"
        )
    return Core(library)

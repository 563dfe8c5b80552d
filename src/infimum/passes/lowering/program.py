"""Programs: what a graph is lowered to, and what every backend runs.

A Program computes output slots from a box. Data lies in slots (flat arrays of intervals); phases run one by one.

    slot kind      holds
    0 INPUT        the box: n intervals
    1 CONSTANT     intervals of the constant pool from `offset` on, the same for every box
    2 VECTOR       what phases store; every element is written by exactly one phase, before any phase reads the slot

    phase          does
    Body           runs instructions for every element of a space of `groups` groups of `width` elements each;
                   element e of group g has the flat index i = g*width + e
    Others         out[g*width + e] = the reduction of group g of `source` without element e (width > 1 for min and max)
    Recurrence     y_i = a_i*y_(i-1) + b_i, two roundings, y_-1 = 0; from the other end if reverse

    instruction: code, dst, a, b, c, p0, p1, p2                            effect
    0 LOAD_AFFINE  dst register, a slot, p0 offset, p1, p2 strides         dst = a[p0 + p1*g + p2*e]
    1 LOAD_WINDOW  dst register, a slot, p0 offset, p1 step                j = p0 + p1*i; dst = a[j], or 0 outside a
    2 LOAD_TABLE   dst register, a slot, p0 start in the table pool        j = tables[p0 + i]; dst = a[j], or 0 for -1
    3 STORE        dst slot, a register, p0 offset, p1 step                dst[p0 + p1*i] = a
    4 REDUCE       dst slot, a register, p0 operation, p1 offset           dst[p1 + g] = fixed tree over e of a
    16 + number    dst, a, b, c registers, p0 integer exponent             the core's operation `number`
    4096 + number  likewise                                                its fact `defined` as 0 or 1
    8192 + number  likewise                                                its fact `smooth` as 0 or 1

Registers live for one element's pass through the body. The reductions are add, mul, min and max over the fixed tree of
docs/program.md, where the flat encoding is written down as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.concurrency import cached_property
from infimum.passes.lowering.check import check
from infimum.passes.lowering.layout import (
    CHUNK,
    CONSTANT,
    DEFINED,
    INPUT,
    LOAD_AFFINE,
    LOAD_TABLE,
    LOAD_WINDOW,
    NUMBERS,
    OP,
    REDUCE,
    SMOOTH,
    STORE,
    VECTOR,
    Body,
    Others,
    Phase,
    Recurrence,
    Slot,
    arity,
    code,
    defines,
    reads,
)
from infimum.passes.lowering.text import show

__all__ = [
    "CHUNK",
    "CONSTANT",
    "DEFINED",
    "INPUT",
    "LOAD_AFFINE",
    "LOAD_TABLE",
    "LOAD_WINDOW",
    "NUMBERS",
    "OP",
    "REDUCE",
    "SMOOTH",
    "STORE",
    "VECTOR",
    "Body",
    "Others",
    "Phase",
    "Program",
    "Recurrence",
    "Slot",
    "allocate",
    "arity",
    "code",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Program:
    """Phases over slots of intervals, and which slots are the answer. The arrays are never written to."""

    n: int
    slots: tuple[Slot, ...]
    constant_lo: FloatArray
    constant_hi: FloatArray
    constant_points: FloatArray
    tables: IntArray
    instructions: IntArray  # (instructions, 8)
    phases: tuple[Phase, ...]
    outputs: tuple[int, ...]

    def check(self) -> None:
        """Raise ProgramError unless every index is in range and everything is written, once, before it is read."""
        check(self)

    def show(self) -> str:
        """Return a listing for people."""
        return show(self)

    @cached_property
    def operations(self) -> int:
        """How many instructions a box takes."""
        bodies = [phase for phase in self.phases if isinstance(phase, Body)]
        return sum(body.groups * body.width * (body.last - body.first) for body in bodies)

    @cached_property
    def tape(self) -> core.Tape:
        """Return the flat encoding of this program, checked."""
        self.check()
        return core.Tape(
            self.n,
            _ints([(s.kind, s.size, s.offset) for s in self.slots], 3),
            _ints(self.instructions, 8),
            _ints([phase.row() for phase in self.phases], 6),
            np.array(self.outputs, np.int64),
            np.ascontiguousarray(self.tables, np.int64),
            *(np.ascontiguousarray(a, np.float64) for a in (self.constant_lo, self.constant_hi, self.constant_points)),
        )


def _ints(rows: npt.ArrayLike, width: int) -> IntArray:
    return np.ascontiguousarray(rows, np.int64).reshape(-1, width)


def allocate(instructions: npt.ArrayLike) -> tuple[IntArray, int]:
    """Renumber the registers of one body so that those no longer needed are used again; return how many remain.

    Every register must be defined once. A result may take the place of an operand that is read for the last time.
    """
    rows = _ints(instructions, 8).tolist()
    used = [reads(row) for row in rows]
    last = {register: i for i, operands in enumerate(used) for register in operands}
    place: dict[int, int] = {}
    free: list[int] = []
    count = 0
    for i, (row, operands) in enumerate(zip(rows, used, strict=True)):
        for position, register in enumerate(operands):
            row[2 + position] = place[register]
        free += [place[register] for register in dict.fromkeys(operands) if last[register] == i]
        if not defines(row[0]):
            continue
        register = row[1]
        if register in place:
            raise ValueError(f"register {register} is defined twice, the second time by instruction {i}")
        if not free:
            free.append(count)
            count += 1
        place[register] = row[1] = free.pop()
        if register not in last:
            free.append(place[register])
    return _ints(rows, 8), count

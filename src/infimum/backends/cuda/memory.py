"""Where the values of an emitted program lie: what is written into the text, into the output, near a thread, or far.

slot                                  place
a constant, one element for all       the expression itself
a constant of up to 64 elements       a table of the text
any other constant                    the pool of the launch
a vector that no phase reads          the output that it is
any other vector                      the memory of the box: registers or shared memory where it is small
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.concurrency import cached_property
from infimum.errors import ProgramError
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program

TEAMS = (1, 32, 256)
SHARED_BYTES = 48 * 1024 - 256  # what every GPU gives a block without asking, less what device.h keeps there
LOCAL_VALUES = 256  # intervals of a box that one thread keeps to itself
WRITTEN = 64  # elements of a constant or a table that are written into the text

_LOADS = (form.LOAD_AFFINE, form.LOAD_WINDOW, form.LOAD_TABLE)
_INTERVAL_BYTES = 16
_WARP_TEAMS = 4  # teams of 32 threads in a block
_LARGEST = 2**31


class Plan:
    """The memory of one program, checked."""

    def __init__(self, program: Program) -> None:
        program.check()
        if _reach(program) >= _LARGEST:
            raise ProgramError("a GPU takes slots, tables and bodies of fewer than 2**31 elements; use backend='cpu'")
        self.program = program

    @cached_property
    def read(self) -> set[int]:
        """Return the slots that phases read."""
        found: set[int] = set()
        for phase in self.program.phases:
            if isinstance(phase, form.Body):
                rows = self.program.instructions[phase.first : phase.last]
                found |= {int(row[2]) for row in rows if row[0] in _LOADS}
            elif isinstance(phase, form.Others):
                found.add(phase.source)
            else:
                found |= {phase.a, phase.b}
        return found

    @cached_property
    def used(self) -> set[int]:
        """Return the slots that the text names: not constants of which only single elements are read."""
        found = set(self.program.outputs)
        for phase in self.program.phases:
            if isinstance(phase, form.Body):
                rows = self.program.instructions[phase.first : phase.last].tolist()
                loads = [row for row in rows if row[0] in _LOADS and not self.is_single(row, phase)]
                found |= {row[2] for row in loads} | {row[1] for row in rows if row[0] in (form.STORE, form.REDUCE)}
            elif isinstance(phase, form.Others):
                found |= {phase.out, phase.source}
            else:
                found |= {phase.out, phase.a, phase.b}
        return found

    def is_single(self, row: list[int], phase: form.Body) -> bool:
        """Return whether an instruction loads the same element of a constant every time."""
        moves = (row[6] and phase.groups > 1) or (row[7] and phase.width > 1)
        return row[0] == form.LOAD_AFFINE and not moves and self.program.slots[row[2]].kind == form.CONSTANT

    @cached_property
    def direct(self) -> dict[int, int]:
        """Return which slots are written to which output at once: vectors that no phase reads, wanted once."""
        outputs = self.program.outputs
        return {
            slot: number
            for number, slot in enumerate(outputs)
            if self.program.slots[slot].kind == form.VECTOR and slot not in self.read and outputs.count(slot) == 1
        }

    @cached_property
    def places(self) -> dict[int | str, tuple[int, int]]:
        """Return start and size of each vector in a box's memory, and of the chunks' results of a long Others."""
        wanted: list[tuple[int | str, int]] = [
            (number, slot.size)
            for number, slot in enumerate(self.program.slots)
            if slot.kind == form.VECTOR and number not in self.direct
        ]
        wanted += [
            (f"w{number}", chunk_results(phase.width))
            for number, phase in enumerate(self.program.phases)
            if isinstance(phase, form.Others) and phase.width > form.CHUNK
        ]
        found: dict[int | str, tuple[int, int]] = {}
        start = 0
        for key, size in wanted:
            found[key] = start, size
            start += size
        return found

    @cached_property
    def quick(self) -> bool:
        """Return whether one thread may compute with intervals that are taken to be not empty: no constant is empty."""
        return bool((self.program.constant_lo <= self.program.constant_hi).all())

    @cached_property
    def work(self) -> int:
        """Return how many values of memory a box needs."""
        return sum(size for _, size in self.places.values())

    @cached_property
    def heap(self) -> int:
        """Return how many values the trees of Others need at once."""
        widths = [phase.width for phase in self.program.phases if isinstance(phase, form.Others)]
        return 2 * _span(max(widths)) if widths else 0

    @cached_property
    def near(self) -> tuple[int, ...]:
        """Return the teams that keep a box's values in registers or shared memory."""
        room = {
            1: self.work <= LOCAL_VALUES,
            32: _WARP_TEAMS * (self.work + max(32, self.heap)) * _INTERVAL_BYTES <= SHARED_BYTES,
            256: (self.work + max(256, self.heap)) * _INTERVAL_BYTES <= SHARED_BYTES,
        }
        return tuple(team for team in TEAMS if room[team])

    def is_written(self, number: int) -> bool:
        """Return whether a constant is a table of the text."""
        slot = self.program.slots[number]
        pool = self.pool(number)
        return slot.kind == form.CONSTANT and 0 < slot.size <= WRITTEN and bool(np.isfinite(pool).all())

    def pool(self, number: int) -> npt.NDArray[np.float64]:
        """Return a constant's rows of lo, hi and point."""
        p, slot = self.program, self.program.slots[number]
        here = slice(slot.offset, slot.offset + slot.size)
        return np.stack([p.constant_lo[here], p.constant_hi[here], p.constant_points[here]], 1)

    @cached_property
    def offsets(self) -> list[int]:
        """Return how many values lie before each output."""
        sizes = [self.program.slots[slot].size for slot in self.program.outputs]
        return [sum(sizes[:output]) for output in range(len(sizes))]


def chunk_results(width: int) -> int:
    """Return how many results of chunks the tree over `width` terms has on all its levels."""
    found = 0
    while width > form.CHUNK:
        width = -(-width // form.CHUNK)
        found += width
    return found


def _reach(program: Program) -> int:
    """Return the largest index that the text computes."""
    found = max((slot.size for slot in program.slots), default=0)
    for phase in program.phases:
        if isinstance(phase, form.Body):
            rows = program.instructions[phase.first : phase.last].tolist()
            steps = [abs(row[6]) for row in rows if row[0] in (form.LOAD_WINDOW, form.STORE)]
            offsets = [abs(row[5]) for row in rows if row[0] in (form.LOAD_WINDOW, form.STORE, form.LOAD_TABLE)]
            found = max(found, phase.groups * phase.width * max([1, *steps]) + max([0, *offsets]))
    return found


def _span(m: int) -> int:
    return min(form.CHUNK, 1 << max(0, m - 1).bit_length())

"""What a launch of emitted text is given and gives back, as arrays of NumPy or CuPy.

team      boxes and outputs lie as
1         [element][box]: neighbouring threads read neighbouring numbers
32, 256   [box][element]: likewise, for the threads of one box
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.backends.cuda.memory import TEAMS
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program

THREADS = {1: 128, 32: 128, 256: 256}  # of a block; device.h has the same
LARGEST_GRID = 2**20


def arranged(boxes: Any, team: int) -> Any:
    """Return boxes (count, n) in the order in which a team reads them; nobody writes to them."""
    ordered = boxes.T if team == 1 else boxes
    return ordered if ordered.flags.c_contiguous else ordered.copy(order="C")


def split(flat: Any, sizes: tuple[int, ...], count: int, team: int) -> list[Any]:
    """Return the outputs, (count, size) each, of the one array that a launch has written."""
    found, start = [], 0
    for size in sizes:
        part = flat[start : start + size * count]
        found.append(part.reshape(size, count).T if team == 1 else part.reshape(count, size))
        start += size * count
    return found


def pool(program: Program, point: bool) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the constants as a kernel reads them: points, or lo and hi in turn; never without an element."""
    if point:
        return np.append(program.constant_points, 0.0)
    return np.append(np.stack([program.constant_lo, program.constant_hi], 1).ravel(), 0.0)


def tables(program: Program) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the index tables, never without an element."""
    return np.append(program.tables, 0).astype(np.int32)


def blocks(count: int, team: int, most: int = LARGEST_GRID) -> int:
    """Return how many blocks a launch over `count` boxes has; each team goes on to further boxes."""
    boxes = THREADS[team] // team
    return max(1, min(most, -(-count // boxes)))


def teams(grid: int, team: int) -> int:
    """Return how many teams that many blocks are."""
    return grid * (THREADS[team] // team)


def best_team(program: Program, count: int, processors: int) -> int:
    """Return how many threads share a box.

    widest phase      boxes per processor   team
    up to 64          any                   1
    up to 4096        64 or more            1 where a box's vectors are few, else 32
    more, or fewer boxes                    32 for up to 1024 elements, else 256
    """
    widest = max((_width(phase) for phase in program.phases), default=1)
    vectors = sum(slot.size for slot in program.slots if slot.kind == form.VECTOR)
    many = is_many(count, processors)
    if widest <= 64 or (many and widest <= 4096 and vectors <= 512):
        return TEAMS[0]
    return TEAMS[1] if widest <= 1024 or (many and widest <= 4096) else TEAMS[2]


def is_many(count: int, processors: int) -> bool:
    """Return whether a batch keeps all processors busy with a box a thread; the best team depends on this too."""
    return count >= 64 * processors


def _width(phase: form.Phase) -> int:
    return phase.count if isinstance(phase, form.Recurrence) else phase.groups * phase.width

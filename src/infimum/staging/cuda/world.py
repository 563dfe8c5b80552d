"""What a staged search keeps on a device, as the kernels' headers lay it out: the box, families of terms, slopes."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

from infimum.core.codes import Reduction, Size
from infimum.fractions import FRACTIONS
from infimum.staging.cuda.memory import Machine
from infimum.staging.structure import Family
from infimum.staging.working import Pair, Stages

IntArray = npt.NDArray[np.int64]

# The kernels' headers have the same names and numbers; core/staging/packed.h has PACKED_LEVELS.
DEVICE_SPLIT, DEVICE_PARTS, DEVICE_LISTED, PACKED_LEVELS, MOST_AHEAD = 24, 64, 32, 5, 512
RESULT_COUNT, RESULT_BOUNDS, RESULT_INDICES = 6, 8, 8 + DEVICE_LISTED
MOST_PREFIXES = 2**14

_HEAD = (
    "bytes shape split parts families masks stale_count stale ends variables edges family mask extra pool rows "
    "mask_rows digit_bits padding_0 padding_1"
)


class Head(ctypes.Structure):
    """`Packed` of core/staging/packed.h."""

    _fields_ = [(name, ctypes.c_int) for name in _HEAD.split()]


def new_world(machine: Machine, result: int, stages: Stages, domain: Pair, inner: Pair) -> int:
    """Put `World` (device_tables.h) on a machine and return its address; result: where answers go."""
    put, room = machine.put, machine.room
    assert stages.structure is not None
    ends = [put(np.array(end, np.float64)) for end in (*domain, *inner, *domain)]
    families = np.concatenate([_family_words(machine, f) for f in stages.structure.families])
    slopes = [
        np.array([c.read.shape[1], c.lo.shape[1], c.extra.shape[1],
                  put(_ints(c.variables)), put(_ints(c.read)), put(c.lo), put(c.hi)], np.int64)
        for c in stages.slopes.classes
    ]  # fmt: skip
    words = [
        FRACTIONS.size,
        *ends,
        put(FRACTIONS),
        put(families),
        put(np.concatenate(slopes) if slopes else np.zeros(1, np.int64)),
        *(room(8 * MOST_PREFIXES) for _ in range(3)),
        room(16),
        result,
    ]
    return put(np.array(words, np.int64))


def _family_words(machine: Machine, f: Family) -> IntArray:
    """Put the terms of a family on a machine; return `FamilyWorld`."""
    put, room = machine.put, machine.room
    sizes = [f.count]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // Size.CHUNK))
    assert len(sizes) <= PACKED_LEVELS + 1, "a family has fewer than 256**5 terms"
    total = sum(sizes)
    padding = [0] * (PACKED_LEVELS + 1 - len(sizes))
    firsts = [sum(sizes[:level]) for level in range(len(sizes))]
    op = Reduction[f.op.upper()]
    numbers = [op, f.count, f.reads.shape[1], f.lo.shape[1], len(sizes), total]
    pointers = [put(_ints(f.reads)), put(f.lo), put(f.hi), put(f.points)]
    trees = [room(16 * total), room(16 * total * FRACTIONS.size), room(8 * total * FRACTIONS.size), room(f.count)]
    return np.array([*numbers, *firsts, *padding, *sizes, *padding, *pointers, *trees], np.int64)


def _ints(values: IntArray) -> npt.NDArray[np.int32]:
    return np.ascontiguousarray(values, np.int32)

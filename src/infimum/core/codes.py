"""Every integer that crosses the C interface, by name; core/codes.h has the same names and numbers for C++."""

from __future__ import annotations

from enum import IntEnum


class SlotKind(IntEnum):
    """Where the intervals of a slot come from (docs/program.md)."""

    INPUT = 0
    CONSTANT = 1
    VECTOR = 2


class PhaseKind(IntEnum):
    """What a phase of a program does."""

    BODY = 0
    OTHERS = 1
    RECURRENCE = 2


class Code(IntEnum):
    """Codes of instructions; an operation's code is OP plus its number, and its facts have codes of their own."""

    LOAD_AFFINE = 0
    LOAD_WINDOW = 1
    LOAD_TABLE = 2
    STORE = 3
    REDUCE = 4
    OP = 16
    DEFINED = 4096
    SMOOTH = 8192


class Size(IntEnum):
    """How many terms of a reduction form one tree."""

    CHUNK = 256


class Mode(IntEnum):
    """Whether a program encloses boxes or is evaluated at points."""

    INTERVAL_MODE = 0
    POINT_MODE = 1


class Fact(IntEnum):
    """Bits of what is known of an operation on a box."""

    IS_DEFINED = 1
    IS_SMOOTH = 2


class Status(IntEnum):
    """What a call returns."""

    OK = 0
    NO_OPERATION = 1
    NO_VARIANT = 2
    BAD_SIZES = 3
    NO_THREAD = 4
    NO_INTERVAL = 5
    NO_MEMORY = 6


class StagingFailure(IntEnum):
    """What a call of staging returns where it fails."""

    NO_MEMORY = -1
    FAULT = -2
    NOTHING_TO_SPLIT = -3


class Reduction(IntEnum):
    """The reductions of a family of terms."""

    ADD = 0
    MUL = 1
    MIN = 2
    MAX = 3


class Tables(IntEnum):
    """What `tabulate` did: PARTIAL where a partial derivative is missing, NONE where the split does not stage."""

    COMPLETE = 0
    PARTIAL = 1
    NONE = 2


class Advance(IntEnum):
    """What `advance` did."""

    NONE = 0
    CHILD = 1
    NEEDS_TABLES = 2


class Settle(IntEnum):
    """What `settle` did."""

    DONE = 0
    NOT_YET = 1
    NEEDS_TABLES = 2

"""The numbers of a Program: kinds of slots and phases, codes of instructions, and the rows that phases are encoded as.

docs/program.md describes them; core/codes.py has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infimum import core
from infimum.core.codes import Code, PhaseKind, Reduction, Size, SlotKind

INPUT, CONSTANT, VECTOR = map(int, SlotKind)
BODY, OTHERS, RECURRENCE = map(int, PhaseKind)
LOAD_AFFINE, LOAD_WINDOW, LOAD_TABLE, STORE, REDUCE, OP, DEFINED, SMOOTH = map(int, Code)
CHUNK = int(Size.CHUNK)

NUMBERS = {name: number for number, name in enumerate(core.operations())}
NAMES = tuple(NUMBERS)
ARITIES = tuple(row.arity for row in core.operations().values())
REDUCTIONS = tuple(reduction.name.lower() for reduction in Reduction)


@dataclass(frozen=True)
class Slot:
    """`size` intervals of one kind; a constant's begin at `offset` in the pool."""

    kind: int
    size: int
    offset: int = 0


@dataclass(frozen=True)
class Body:
    """Run instructions [first, last) over a space of `groups` x `width` elements."""

    groups: int
    width: int
    first: int
    last: int
    registers: int

    def row(self) -> tuple[int, ...]:
        return BODY, self.groups, self.width, self.first, self.last, self.registers


@dataclass(frozen=True)
class Others:
    """For every element the reduction of the other elements of its group; `operation` is a core number."""

    out: int
    source: int
    operation: int
    groups: int
    width: int

    def row(self) -> tuple[int, ...]:
        return OTHERS, self.groups, self.width, self.out, self.source, self.operation


@dataclass(frozen=True)
class Recurrence:
    """y_i = a_i*y_(i-1) + b_i over the first `count` elements."""

    out: int
    a: int
    b: int
    count: int
    reverse: bool = False

    def row(self) -> tuple[int, ...]:
        return RECURRENCE, self.count, int(self.reverse), self.out, self.a, self.b


Phase = Body | Others | Recurrence


def code(operation: str) -> int:
    """Return the instruction code of a core operation."""
    return OP + NUMBERS[operation]


def reads(instruction: Sequence[int]) -> tuple[int, ...]:
    """Return the registers that an instruction reads."""
    kind = instruction[0]
    if kind >= OP:
        return tuple(instruction[2 : 2 + arity(kind)])
    return (instruction[2],) if kind in (STORE, REDUCE) else ()


def arity(instruction_code: int) -> int:
    """Return how many registers an operation or a fact reads."""
    return ARITIES[operation_number(instruction_code)]


def defines(instruction_code: int) -> bool:
    """Return whether dst is a register."""
    return instruction_code not in (STORE, REDUCE)


def operation_number(instruction_code: int) -> int:
    """Return the core number of an operation's or a fact's code."""
    if instruction_code < DEFINED:
        return instruction_code - OP
    return instruction_code - (DEFINED if instruction_code < SMOOTH else SMOOTH)


def takes_exponent(instruction_code: int) -> bool:
    """Return whether an operation has an integer beside its registers."""
    return NAMES[operation_number(instruction_code)] in core.POWERS

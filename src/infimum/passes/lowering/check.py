"""The rules that a Program keeps, so that a backend may run it without checks of its own.

rule        says
sizes       slots, groups and widths are positive, spaces have fewer than 2**40 elements
indices     slots, registers, pools and tables are read and written within their bounds
order       a register is defined before it is read; a VECTOR slot is written completely before a phase reads it
once        no element of a slot is written twice, and no phase reads a slot that it writes
reductions  are add, mul, min or max; OTHERS of min and max has at least two elements a group
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from infimum.errors import ProgramError
from infimum.passes.lowering import layout as form

if TYPE_CHECKING:
    from infimum.passes.lowering.program import Program

_LARGEST = 2**40
_LARGEST_EXPONENT = 2**31
_REDUCTIONS = frozenset(form.NUMBERS[name] for name in form.REDUCTIONS)


def check(program: Program) -> None:
    """Raise ProgramError unless the program keeps every rule."""
    _Checker(program).run()


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise ProgramError(sentence)


class _Checker:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.rows = np.asarray(program.instructions)
        self.written: dict[int, npt.NDArray[np.bool_]] = {}
        self.complete: set[int] = set()
        self.stores: set[int] = set()  # the slots that the phase at hand writes
        self.where = "the program"

    def run(self) -> None:
        self._pools()
        self._slots()
        for number, phase in enumerate(self.program.phases):
            self.where = f"phase {number}"
            if isinstance(phase, form.Body):
                self._body(phase)
            elif isinstance(phase, form.Others):
                self._others(phase)
            else:
                self._recurrence(phase)
        self.where = "the outputs"
        _require(bool(self.program.outputs), "a program needs an output")
        for slot in self.program.outputs:
            self._readable(slot)

    # ------------------------------------------------------------------------------------------ data
    def _pools(self) -> None:
        p = self.program
        lo, hi, points = (np.asarray(a) for a in (p.constant_lo, p.constant_hi, p.constant_points))
        _require(lo.ndim == 1 and lo.shape == hi.shape == points.shape, "the constant pools differ in length")
        _require(bool(np.all((lo <= hi) & (lo < np.inf) & (hi > -np.inf))), "a constant is no interval")
        _require(not np.isnan(points).any(), "a constant is NaN")
        rows = self.rows
        _require(rows.ndim == 2 and rows.shape[1] == 8 and rows.dtype == np.int64, "instructions are rows of 8 int64")
        _require(np.asarray(p.tables).dtype == np.int64 and np.ndim(p.tables) == 1, "tables are one row of int64")

    def _slots(self) -> None:
        p = self.program
        _require(0 < p.n < _LARGEST, f"a program needs a variable, got n = {p.n}")
        for number, slot in enumerate(p.slots):
            _require(0 < slot.size < _LARGEST, f"slot {number} has size {slot.size}")
            if slot.kind == form.INPUT:
                _require(slot.size == p.n, f"slot {number} is an input of size {slot.size}, and n = {p.n}")
            elif slot.kind == form.CONSTANT:
                inside = slot.offset >= 0 and slot.offset + slot.size <= len(p.constant_lo)
                _require(inside, f"slot {number} leaves the constant pool")
            else:
                _require(slot.kind == form.VECTOR, f"slot {number} has the unknown kind {slot.kind}")
                self.written[number] = np.zeros(slot.size, bool)

    def _slot(self, number: int) -> form.Slot:
        _require(0 <= number < len(self.program.slots), f"{self.where}: there is no slot {number}")
        return self.program.slots[number]

    def _readable(self, number: int, needed: int = 1) -> form.Slot:
        slot = self._slot(number)
        if number in self.written and number not in self.complete:
            complete = bool(self.written[number].all())
            _require(complete, f"{self.where}: slot {number} is read before it is written completely")
            self.complete.add(number)
        _require(needed <= slot.size, f"{self.where}: slot {number} has {slot.size} elements, needed are {needed}")
        return slot

    def _write(self, number: int, offset: int, step: int, count: int) -> None:
        slot = self._slot(number)
        _require(slot.kind == form.VECTOR, f"{self.where}: slot {number} cannot be written to")
        _require(step != 0 or count == 1, f"{self.where}: a store to slot {number} writes one element {count} times")
        ends = sorted((offset, offset + step * (count - 1)))
        _require(ends[0] >= 0 and ends[1] < slot.size, f"{self.where}: a store leaves slot {number}, size {slot.size}")
        there = self.written[number][ends[0] : ends[1] + 1 : abs(step) or 1]
        _require(not there.any(), f"{self.where}: an element of slot {number} is written twice")
        there[:] = True

    def _space(self, groups: int, width: int) -> None:
        _require(groups > 0 and width > 0, f"{self.where}: an empty space of {groups} groups of {width}")
        _require(groups * width < _LARGEST, f"{self.where}: {groups} groups of {width} are too many")

    # ------------------------------------------------------------------------------------------ phases
    def _others(self, phase: form.Others) -> None:
        self._space(phase.groups, phase.width)
        _require(phase.operation in _REDUCTIONS, f"{self.where}: operation {phase.operation} is no reduction")
        neutral = form.NAMES[phase.operation] in ("add", "mul")
        _require(neutral or phase.width > 1, f"{self.where}: min and max of no element at all")
        self._readable(phase.source, phase.groups * phase.width)
        self._write(phase.out, 0, 1, phase.groups * phase.width)

    def _recurrence(self, phase: form.Recurrence) -> None:
        self._space(phase.count, 1)
        self._readable(phase.a, phase.count)
        self._readable(phase.b, phase.count)
        self._write(phase.out, 0, 1, phase.count)

    def _body(self, phase: form.Body) -> None:
        self._space(phase.groups, phase.width)
        inside = 0 <= phase.first <= phase.last <= len(self.rows)
        _require(inside, f"{self.where}: there are no instructions {phase.first} to {phase.last}")
        _require(phase.registers >= 0, f"{self.where}: {phase.registers} registers")
        body = self.rows[phase.first : phase.last]
        self.stores = set(body[(body[:, 0] == form.STORE) | (body[:, 0] == form.REDUCE), 1].tolist())
        for number in self.stores:
            _require(self._slot(number).kind == form.VECTOR, f"{self.where}: slot {number} cannot be written to")
        defined = [False] * phase.registers
        for i, row in enumerate(body.tolist(), phase.first):
            wrong = self._wrong(row, defined)
            if wrong:
                raise ProgramError(f"{self.where}, instruction {i}: {wrong}")
            if form.defines(row[0]):
                defined[row[1]] = True
            if row[0] < form.OP:
                self._memory(phase, row)

    def _wrong(self, row: list[int], defined: list[bool]) -> str:
        """Return the rule that an instruction breaks, apart from its reads and writes of memory; nothing where none."""
        code, registers = row[0], len(defined)
        if not self._known(code):
            return f"unknown code {code}"
        for register in form.reads(row):
            if not (0 <= register < registers and defined[register]):
                return f"register {register} is read before it is defined"
        if form.defines(code) and not 0 <= row[1] < registers:
            return f"there is no register {row[1]}"
        if code < form.OP:
            return "" if max(map(abs, row[5:])) < _LARGEST else "offsets and steps stay below 2**40"
        return "" if abs(row[5]) <= _LARGEST_EXPONENT else f"the exponent {row[5]} is too large"

    @staticmethod
    def _known(code: int) -> bool:
        return 0 <= code <= form.REDUCE or (code >= form.OP and form.operation_number(code) < len(form.NAMES))

    def _memory(self, phase: form.Body, row: list[int]) -> None:
        """Check an instruction that reads or writes a slot."""
        code, dst, a, _, _, p0, p1, p2 = row
        count = phase.groups * phase.width
        if code == form.STORE:
            self._write(dst, p0, p1, count)
            return
        if code == form.REDUCE:
            _require(p0 in _REDUCTIONS, f"{self.where}: operation {p0} is no reduction")
            self._write(dst, p1, 1, phase.groups)
            return
        _require(a not in self.stores, f"{self.where}: slot {a} is read and written in one phase")
        self._load(phase, code, self._readable(a), p0, p1, p2)

    def _load(self, phase: form.Body, code: int, slot: form.Slot, p0: int, p1: int, p2: int) -> None:
        if code == form.LOAD_AFFINE:
            reach = (p1 * (phase.groups - 1), p2 * (phase.width - 1))
            low = p0 + sum(min(0, r) for r in reach)
            high = p0 + sum(max(0, r) for r in reach)
            inside = low >= 0 and high < slot.size
            _require(inside, f"{self.where}: a load of [{low}, {high}] leaves a slot of {slot.size}")
        if code == form.LOAD_TABLE:
            count = phase.groups * phase.width
            _require(p0 >= 0 and p0 + count <= len(self.program.tables), f"{self.where}: a table leaves the pool")
            entries = self.program.tables[p0 : p0 + count]
            inside = int(entries.min()) >= -1 and int(entries.max()) < slot.size
            _require(inside, f"{self.where}: an entry of a table leaves a slot of {slot.size}")

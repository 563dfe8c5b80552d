"""Programs: what is refused, what a listing says, how registers are used again, and the flat encoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import infimum.core
from infimum.errors import ProgramError
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program, allocate
from tapes import NUMBER, Maker


def example() -> Program:
    """Slots: 0 the box (6), 1 a constant (2), 2 a vector (6), 3 a vector (3), 4 a vector (6)."""
    m = Maker(6)
    c = m.constant(2.0, (0.5, 0.75))
    a, sums, rest = m.vector(6), m.vector(3), m.vector(6)
    x = m.load(0, 0, 2, 1)
    product = m.op("mul", x, m.load(c, 0, 0, 1))
    m.store(a, m.op("pown", product, param=3))
    m.reduce(sums, product)
    m.end(3, 2)
    m.phases.append(form.Others(rest, a, NUMBER["mul"], 2, 3))
    total = m.vector(1)
    m.reduce(total, m.op("add", m.window(rest, -1, 1), m.table(sums, [0, 1, 2, -1, 0, 1])), "max")
    m.end(1, 6)
    run = m.vector(6)
    m.phases.append(form.Recurrence(run, 0, rest, 6, True))
    return m.program(total, sums, run)


def test_a_good_program_passes() -> None:
    example().check()


def _row(program: Program, kind: int) -> int:
    return int(np.flatnonzero(program.instructions[:, 0] == kind)[0])


def _edited(kind: int, column: int, value: int) -> Callable[[], Program]:
    """The example with one number of its first instruction of that code changed."""

    def make() -> Program:
        program = example()
        rows = program.instructions.copy()
        rows[_row(program, kind), column] = value
        return replace(program, instructions=rows)

    return make


def _phase(number: int, **changes: Any) -> Callable[[], Program]:
    def make() -> Program:
        program = example()
        phases = list(program.phases)
        phases[number] = replace(phases[number], **changes)
        return replace(program, phases=tuple(phases))

    return make


def _slot(number: int, **changes: int) -> Callable[[], Program]:
    def make() -> Program:
        program = example()
        slots = list(program.slots)
        slots[number] = replace(slots[number], **changes)
        return replace(program, slots=tuple(slots))

    return make


def _changed(**changes: Any) -> Callable[[], Program]:
    return lambda: replace(example(), **changes)


def _stored_again() -> Program:
    m = Maker(4)
    out = m.vector(4)
    for _ in range(2):
        m.store(out, m.load(0, 0, 1))
        m.end(4)
    return m.program(out)


def _read_and_written() -> Program:
    m = Maker(4)
    out, other = m.vector(4), m.vector(4)
    m.store(out, m.load(0, 0, 1))
    m.store(other, m.load(out, 0, 1))
    m.end(4)
    return m.program(out, other)


POWN = form.OP + NUMBER["pown"]
MUL = form.OP + NUMBER["mul"]
BAD: dict[str, tuple[Callable[[], Program], str]] = {
    "a register that is not there": (_edited(POWN, 1, 99), "no register 99"),
    "a negative register": (_edited(MUL, 2, -1), "register -1 is read before"),
    "a register not yet defined": (_edited(MUL, 2, 2), "read before it is defined"),
    "an unknown code": (_edited(MUL, 0, 7), "unknown code 7"),
    "an unknown operation": (_edited(MUL, 0, form.OP + 2000), "unknown code"),
    "an exponent beyond the core's": (_edited(POWN, 5, 2**40), "exponent"),
    "a load before the slot": (_edited(form.LOAD_AFFINE, 5, -1), "leaves a slot of 6"),
    "a load behind the slot": (_edited(form.LOAD_AFFINE, 6, 3), "leaves a slot of 6"),
    "a load backwards out of the slot": (_edited(form.LOAD_AFFINE, 7, -1), "leaves a slot of 6"),
    "a load of no slot": (_edited(form.LOAD_AFFINE, 2, 77), "no slot 77"),
    "a load of what is written later": (_edited(form.LOAD_AFFINE, 2, 4), "before it is written"),
    "a window with a huge step": (_edited(form.LOAD_WINDOW, 6, 2**60), "below 2"),
    "a table beyond the pool": (_edited(form.LOAD_TABLE, 5, 1), "leaves the pool"),
    "a table before the pool": (_edited(form.LOAD_TABLE, 5, -1), "leaves the pool"),
    "an entry beyond the slot": (_changed(tables=np.array([0, 1, 2, 3, 0, 1])), "entry of a table"),
    "an entry below -1": (_changed(tables=np.array([0, 1, 2, -2, 0, 1])), "entry of a table"),
    "tables of another type": (_changed(tables=np.zeros(6)), "int64"),
    "a store behind the slot": (_edited(form.STORE, 5, 1), "leaves slot 2"),
    "a store before the slot": (_edited(form.STORE, 6, -1), "leaves slot 2"),
    "a store to one place": (_edited(form.STORE, 6, 0), "writes one element 6 times"),
    "a store to the box": (_edited(form.STORE, 1, 0), "cannot be written"),
    "a store to a constant": (_edited(form.STORE, 1, 1), "cannot be written"),
    "a reduction behind the slot": (_edited(form.REDUCE, 6, 1), "leaves slot 3"),
    "a reduction by subtraction": (_edited(form.REDUCE, 5, NUMBER["sub"]), "no reduction"),
    "a second store": (_stored_again, "written twice"),
    "a slot read and written at once": (_read_and_written, "read and written"),
    "an empty space": (_phase(0, groups=0), "empty space"),
    "a space beyond all bounds": (_phase(0, groups=2**45), "too many"),
    "instructions that are not there": (_phase(2, last=99), "no instructions"),
    "too few registers": (_phase(0, registers=1), "register"),
    "others of a difference": (_phase(1, operation=NUMBER["sub"]), "no reduction"),
    "others of one element in min": (_phase(1, operation=NUMBER["min"], groups=6, width=1), "no element"),
    "others beyond the slot": (_phase(1, groups=3), "needed are 9"),
    "others in place": (_phase(1, out=2), "written twice"),
    "a recurrence beyond its slots": (_phase(3, count=7), "needed are 7"),
    "a recurrence on itself": (_phase(3, a=6), "before it is written"),
    "an input of another size": (_slot(0, size=5), "n = 6"),
    "a constant beyond the pool": (_slot(1, offset=1), "constant pool"),
    "a slot without elements": (_slot(2, size=0), "size 0"),
    "a slot of unknown kind": (_slot(2, kind=3), "unknown kind"),
    "no variables": (_changed(n=0), "n = 0"),
    "no output": (_changed(outputs=()), "output"),
    "an output that is not there": (_changed(outputs=(40,)), "no slot 40"),
    "a vector never written": (_changed(phases=()), "before it is written"),
    "a constant of NaN": (_changed(constant_lo=np.array([np.nan, 0.5])), "no interval"),
    "a constant upside down": (_changed(constant_lo=np.array([3.0, 0.5])), "no interval"),
    "a point constant of NaN": (_changed(constant_points=np.array([np.nan, 0.5])), "NaN"),
    "pools of different lengths": (_changed(constant_hi=np.ones(3)), "differ in length"),
    "instructions of another width": (_changed(instructions=np.zeros((4, 7), np.int64)), "rows of 8"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_program_is_refused(what: str) -> None:
    make, sentence = BAD[what]
    with pytest.raises(ProgramError, match=sentence):
        make().check()


def test_a_bad_program_has_no_encoding() -> None:
    with pytest.raises(ProgramError):
        _ = _stored_again().tape


def test_the_encoding_is_as_documented() -> None:
    tape = example().tape.fields
    assert tape.n == 6
    assert tape.slots[:3].tolist() == [[0, 6, 0], [1, 2, 0], [2, 6, 0]]
    assert tape.phases.tolist() == [
        [0, 3, 2, 0, 6, 2],
        [1, 2, 3, 4, 2, NUMBER["mul"]],
        [0, 1, 6, 6, 10, 2],
        [2, 6, 1, 6, 0, 4],
    ]
    assert tape.outputs.tolist() == [5, 3, 6]
    assert tape.instructions.flags.c_contiguous and tape.instructions.dtype == np.int64


def test_a_listing_names_everything() -> None:
    assert example().show().splitlines() == [
        "program of 6 variables",
        "  s0   input            6",
        "  s1   constant         2  2.0, 0.625",
        "  s2   vector           6",
        "  s3   vector           3",
        "  s4   vector           6",
        "  s5   vector           1",
        "  s6   vector           6",
        "phase 0: body over 3 x 2, 2 registers",
        "  r0 = s0[2g + e]",
        "  r1 = s1[e]",
        "  r1 = mul(r0, r1)",
        "  r0 = pown(r1, 3)",
        "  s2[i] = r0",
        "  s3[g] = add over e of r1",
        "phase 1: s4 = others of mul of s2, 2 x 3",
        "phase 2: body over 1 x 6, 2 registers",
        "  r0 = s4[-1 + i] or 0 outside",
        "  r1 = s3[table[i]]",
        "  r1 = add(r0, r1)",
        "  s5[g] = max over e of r1",
        "phase 3: s6[i] = s0[i]*s6[i+1] + s4[i], 6 elements",
        "outputs s5, s3, s6",
    ]


def test_registers_are_used_again_when_they_are_no_longer_needed() -> None:
    chain = [(form.LOAD_AFFINE, 0, 0, 0, 0, 0, 0, 0)]
    chain += [(MUL, i, i - 1, i - 1, 0, 0, 0, 0) for i in range(1, 100)]
    rows, count = allocate(chain)
    assert count == 1 and (rows[1:, 1] == 0).all()
    tree = [(form.LOAD_AFFINE, i, 0, 0, 0, i, 0, 0) for i in range(8)]
    tree += [(MUL, 8 + i, 2 * i, 2 * i + 1, 0, 0, 0, 0) for i in range(7)]
    assert allocate(tree)[1] == 8


def test_a_result_nobody_reads_keeps_no_register() -> None:
    loads = [(form.LOAD_AFFINE, i, 0, 0, 0, 0, 0, 0) for i in range(50)]
    assert allocate(loads)[1] == 1


def test_a_register_defined_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="register 0 is defined twice"):
        allocate([(form.LOAD_AFFINE, 0, 0, 0, 0, 0, 0, 0)] * 2)


def test_codes_know_their_operations() -> None:
    for name, row in infimum.core.operations().items():
        for base in (form.OP, form.DEFINED, form.SMOOTH):
            assert form.NAMES[form.operation_number(base + NUMBER[name])] == name
            assert form.arity(base + NUMBER[name]) == row.arity

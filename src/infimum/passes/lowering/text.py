"""Programs as text, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from infimum.passes.lowering import layout as form

if TYPE_CHECKING:
    from infimum.passes.lowering.program import Program

_KINDS = ("input", "constant", "vector")


def show(program: Program) -> str:
    """Return the slots as text, then the phases with their instructions, then the outputs."""
    return "\n".join(_lines(program))


def _lines(program: Program) -> Iterator[str]:
    yield f"program of {program.n} variables"
    for number, slot in enumerate(program.slots):
        yield f"  s{number:<3} {_KINDS[slot.kind]:<8} {slot.size:>9}{_constant(program, slot)}"
    for number, phase in enumerate(program.phases):
        if isinstance(phase, form.Body):
            space = f"{phase.groups} x {phase.width}" if phase.width > 1 else f"{phase.groups}"
            yield f"phase {number}: body over {space}, {phase.registers} registers"
            yield from (f"  {_instruction(row)}" for row in program.instructions[phase.first : phase.last].tolist())
        elif isinstance(phase, form.Others):
            what = f"others of {form.NAMES[phase.operation]}"
            yield f"phase {number}: s{phase.out} = {what} of s{phase.source}, {phase.groups} x {phase.width}"
        else:
            before = "i+1" if phase.reverse else "i-1"
            formula = f"s{phase.a}[i]*s{phase.out}[{before}] + s{phase.b}[i]"
            yield f"phase {number}: s{phase.out}[i] = {formula}, {phase.count} elements"
    yield "outputs " + ", ".join(f"s{slot}" for slot in program.outputs)


def _constant(program: Program, slot: form.Slot) -> str:
    if slot.kind != form.CONSTANT:
        return ""
    shown = program.constant_points[slot.offset : slot.offset + min(slot.size, 4)]
    return "  " + ", ".join(repr(float(v)) for v in shown) + (", …" if slot.size > 4 else "")


def _instruction(row: list[int]) -> str:
    code, dst, a, _, _, p0, p1, p2 = row
    if code == form.LOAD_AFFINE:
        return f"r{dst} = s{a}[{_sum(p0, (p1, 'g'), (p2, 'e'))}]"
    if code == form.LOAD_WINDOW:
        return f"r{dst} = s{a}[{_sum(p0, (p1, 'i'))}] or 0 outside"
    if code == form.LOAD_TABLE:
        return f"r{dst} = s{a}[table[{_sum(p0, (1, 'i'))}]]"
    if code == form.STORE:
        return f"s{dst}[{_sum(p0, (p1, 'i'))}] = r{a}"
    if code == form.REDUCE:
        return f"s{dst}[{_sum(p1, (1, 'g'))}] = {form.NAMES[p0]} over e of r{a}"
    name = form.NAMES[form.operation_number(code)]
    operands = [f"r{register}" for register in form.reads(row)] + ([str(p0)] if form.takes_exponent(code) else [])
    fact = "smooth " if code >= form.SMOOTH else "defined " if code >= form.DEFINED else ""
    return f"r{dst} = {fact}{name}({', '.join(operands)})"


def _sum(offset: int, *terms: tuple[int, str]) -> str:
    parts = [str(offset)] if offset else []
    parts += [name if factor == 1 else f"{factor}{name}" for factor, name in terms if factor]
    return " + ".join(parts).replace("+ -", "- ") or "0"

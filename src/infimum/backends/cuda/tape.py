"""A Program for the tape interpreter: one kernel for all programs of the same operations, and the array that it reads.

tape.h has the layout: a header of places and counts, then slots, instructions, phases and outputs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.backends.cuda.emit import Emitted, called
from infimum.backends.cuda.memory import chunk_results
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program

_HEADER = 11


def emit_tape(program: Program) -> Emitted:
    """Return the interpreter's text, and what a launch on this program must bring."""
    sizes = tuple(program.slots[slot].size for slot in program.outputs)
    _, values, registers = _memory(program)
    return Emitted(text(program), values, (), sizes, "infimum_tape", True, registers)


def text(program: Program) -> str:
    """Return the interpreter of the operations that occur: text that is the same for programs of any length."""
    codes = sorted({int(code) for code in program.instructions[:, 0] if code >= form.OP})
    rows = [
        f"{'INFIMUM_POWER' if form.takes_exponent(c) else 'INFIMUM_OPERATION'}({c}, {called(c)}, {form.arity(c)})"
        for c in codes
    ]
    lines = ["// The tape interpreter of these operations.", "#ifndef INFIMUM_NAMESPACE"]
    lines += ["#define INFIMUM_NAMESPACE infimum_cuda", "#endif"]
    lines += ["#define INFIMUM_OPERATIONS \\"]
    lines += [f"    {row} \\" for row in rows]
    return "\n".join([*lines, "", '#include "tape.h"', "", "INFIMUM_ENTRY(tape, Range)", ""])


def encoded(program: Program, team: int) -> npt.NDArray[np.int64]:
    """Return the program as the kernel reads it."""
    places, values, registers = _memory(program)
    fields = program.tape.fields
    slots = fields.slots.copy()
    slots[:, 2] = np.where(slots[:, 0] == form.VECTOR, places, slots[:, 2])
    sections = [slots.ravel(), fields.instructions.ravel(), fields.phases.ravel(), fields.outputs]
    starts = _HEADER + np.cumsum([0, *(section.size for section in sections)])
    terms = values - _terms(program)
    header = [
        starts[0], len(slots), starts[1], starts[2], len(fields.phases), starts[3], len(fields.outputs),
        terms - _results(program), terms, values, values + registers * team,
    ]  # fmt: skip
    return np.concatenate([np.array(header, np.int64), *sections])


def _memory(program: Program) -> tuple[npt.NDArray[np.int64], int, int]:
    """Return where vectors lie in a team's memory, how many values come before the registers, how many registers."""
    sizes = np.array([slot.size if slot.kind == form.VECTOR else 0 for slot in program.slots], np.int64)
    bodies = [phase for phase in program.phases if isinstance(phase, form.Body)]
    registers = max((body.registers for body in bodies), default=0)
    return np.cumsum(sizes) - sizes, int(sizes.sum()) + _results(program) + _terms(program), registers


def _results(program: Program) -> int:
    return max((chunk_results(p.width) for p in program.phases if isinstance(p, form.Others)), default=0)


def _terms(program: Program) -> int:
    """Return the terms of the body that keeps most."""
    codes = program.instructions[:, 0]
    bodies = [phase for phase in program.phases if isinstance(phase, form.Body)]
    kept = (int((codes[b.first : b.last] == form.REDUCE).sum()) * b.groups * b.width for b in bodies)
    return max(kept, default=0)

"""The kernels of a staged search as CUDA C++ text.

A program of one output without loops (a term, a slope, an epilogue) becomes a template of its values, in the words of
backends/cuda/device.h; the rest is the same for every function and stands in device_step.h and device_children.h.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from infimum.backends.cuda.emit import applied, literal
from infimum.core.codes import Reduction
from infimum.errors import ProgramError
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program

KERNELS = ("step", "children")
REDUCTIONS = tuple(reduction.name.lower() for reduction in Reduction)


def kernels(
    families: Sequence[Program], epilogue: Program, slopes: Sequence[Program], reductions: Iterable[str] = REDUCTIONS
) -> str:
    """Return the text of `infimum_step` and `infimum_children` for a function of this structure.

    reductions: those of its families, or more; the text has no code for others. A kernel is left out where
    INFIMUM_WITHOUT_STEP or INFIMUM_WITHOUT_CHILDREN is defined.
    """
    inputs = max(program.n for program in (*families, *slopes))
    mask = sum(1 << Reduction[name.upper()] for name in set(reductions))
    lines = [
        f"// A function of {len(families)} families of terms, with {len(slopes)} classes of slopes.",
        "#ifndef INFIMUM_NAMESPACE",
        "#define INFIMUM_NAMESPACE infimum_cuda",
        "#endif",
        f"#define INFIMUM_REDUCTIONS {mask}",
        '#include "device.h"',
        "",
        "namespace INFIMUM_NAMESPACE {",
        "",
        f"enum {{ FAMILIES = {len(families)}, MOST_INPUTS = {inputs} }};",
        *_function("epilogue", epilogue, "LONG_FN"),  # called from several places, the others from one
    ]
    for name, programs in (("term", families), ("slope", slopes)):
        for number, program in enumerate(programs):
            lines += _function(f"{name}_{number}", program)
        lines += _choice(name, len(programs))
    lines += ["", "}  // namespace INFIMUM_NAMESPACE", ""]
    for name in KERNELS:
        lines += [f"#ifndef INFIMUM_WITHOUT_{name.upper()}", f'#include "device_{name}.h"', "#endif"]
    return "\n".join([*lines, ""])


def _choice(name: str, count: int) -> Iterator[str]:
    """Write the function that calls that of a family or class by its number."""
    yield ""
    yield "template <class V>"
    yield f"INFIMUM_FN V {name}(int number, const V *x) {{"
    yield "    switch (number) {"
    for number in range(count - 1):
        yield f"        case {number}: return {name}_{number}<V>(x);"
    yield f"        default: return {f'{name}_{count - 1}<V>(x)' if count else 'x[0]'};"
    yield "    }"
    yield "}"


def _function(name: str, program: Program, kind: str = "FN") -> Iterator[str]:
    """Write a program of one output as a function of its inputs. Guarantee: the bits of every backend."""
    program.check()
    if [program.slots[slot].size for slot in program.outputs] != [1]:
        raise ProgramError("a term, a slope and an epilogue have one output")
    yield ""
    yield "template <class V>"
    yield f"INFIMUM_{kind} V {name}(const V *x) {{"
    for number, slot in enumerate(program.slots):
        if slot.kind == form.VECTOR:
            yield f"    V s{number}[{slot.size}];"
    for phase in program.phases:
        if not isinstance(phase, form.Body) or phase.groups * phase.width != 1:
            raise ProgramError("a term, a slope and an epilogue have no loop")
        yield "    {"
        if phase.registers:
            yield f"        V {', '.join(f'r{i}' for i in range(phase.registers))};"
        for row in program.instructions[phase.first : phase.last].tolist():
            yield f"        {_instruction(program, row)}"
        yield "    }"
    yield f"    return clean({_element(program, program.outputs[0], 0)});"
    yield "}"


def _instruction(program: Program, row: list[int]) -> str:
    code, dst, a, _, _, p0, p1, _ = row
    if code == form.LOAD_AFFINE:
        return f"r{dst} = {_element(program, a, p0)};"
    if code == form.LOAD_WINDOW:
        return f"r{dst} = {_element(program, a, p0 if 0 <= p0 < program.slots[a].size else -1)};"
    if code == form.LOAD_TABLE:
        return f"r{dst} = {_element(program, a, int(program.tables[p0]))};"
    if code == form.STORE:
        return f"s{dst}[{p0}] = clean(r{a});"
    if code == form.REDUCE:
        return f"s{dst}[{p1}] = clean(r{a});"
    return applied(row)


def _element(program: Program, number: int, at: int) -> str:
    """Return element `at` of a slot as text; 0 where there is none."""
    slot = program.slots[number]
    if at < 0:
        return "exactly<V>(0.0)"
    if slot.kind == form.INPUT:
        return f"x[{at}]"
    if slot.kind == form.VECTOR:
        return f"s{number}[{at}]"
    values = (end[slot.offset + at] for end in (program.constant_lo, program.constant_hi, program.constant_points))
    return f"constant<V>({', '.join(literal(float(v)) for v in values)})"

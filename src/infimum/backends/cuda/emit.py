"""A Program as CUDA C++ text: one loop or straight-line body a phase, in the words of device.h.

The text is the same for one thread, one warp or one block a box, and for boxes and points; the macros INFIMUM_TEAM and
INFIMUM_VALUE choose what is compiled. Its length depends on the instructions, not on the number of variables.

    in the program                in the text
    slot 3                        s3, declared with its size; s3[j] reads, store(s3, j, r2) writes
    register 2                    the variable r2
    operation, `defined` of it    r2 = mul(r0, r1), r2 = defined_mul(r0, r1)
    Body                          each<groups, width, …>, with reductions reduced<…>
    Others, Recurrence            others<…>, recurrence<…>

    a small body                  unrolled for one thread (ALL, ELEMENTS), so that vectors become registers
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from infimum.backends.cuda.memory import WRITTEN, Plan
from infimum.concurrency import cached_property
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program

LONG = 2000  # instructions; a longer program runs on the tape interpreter
UNROLLED, UNROLLED_IN_ALL = 400, 2000  # instructions of one phase, of all phases, after unrolling


@dataclass(frozen=True)
class Emitted:
    """The text of a program, and the memory that a launch of it must bring."""

    text: str
    work: int  # values of a box
    near: tuple[int, ...]  # the teams that find room for them in registers or shared memory
    outputs: tuple[int, ...]  # sizes
    name: str  # of the kernel
    is_tape: bool = False  # whether the text is the interpreter's
    registers: int = 0  # of each thread, where the program is interpreted

    def scratch(self, team: int) -> int:
        """Return how many values each team needs in the launch's scratch."""
        return 0 if team in self.near else self.work + self.registers * team


def emit(program: Program, name: str = "program") -> Emitted:
    """Return the text whose kernel `infimum_<name>` computes the outputs of a program."""
    return _Text(program, name).emitted


def is_long(program: Program) -> bool:
    """Return whether a program is for the tape interpreter."""
    return len(program.instructions) > LONG


class _Text:
    """One program on its way to text."""

    def __init__(self, program: Program, name: str) -> None:
        self.plan = Plan(program)
        self.program = program
        self.name = name
        self.tables: dict[tuple[int, int], str] = {}
        self.unrolled = 0

    # ------------------------------------------------------------------------------------------ the whole
    @cached_property
    def emitted(self) -> Emitted:
        body = [line for number in range(len(self.program.phases)) for line in self._phase(number)]
        text = "\n".join([*self._head(), *self._function(body), ""])
        sizes = tuple(self.program.slots[slot].size for slot in self.program.outputs)
        return Emitted(text, self.plan.work, self.plan.near, sizes, f"infimum_{self.name}")

    def _head(self) -> Iterator[str]:
        yield f"// A program of {self.program.n} variables, {len(self.program.instructions)} instructions."
        yield "#ifndef INFIMUM_NAMESPACE"
        yield "#define INFIMUM_NAMESPACE infimum_cuda"
        yield "#endif"
        yield '#include "device.h"'
        yield ""
        yield "namespace INFIMUM_NAMESPACE {"
        yield ""
        for number, slot in enumerate(self.program.slots):
            if number in self.plan.used and self.plan.is_written(number):
                yield f"__device__ const double {self.name}_s{number}[{slot.size}][3] = {{"
                for row in self._constants(number):
                    yield f"    {{{', '.join(row)}}},"
                yield "};"
        for (first, count), label in self.tables.items():
            entries = ", ".join(str(v) for v in self.program.tables[first : first + count].tolist())
            yield f"__device__ const int {label}[{count}] = {{{entries}}};"

    def _function(self, body: list[str]) -> Iterator[str]:
        near = " || ".join(f"T == {team}" for team in self.plan.near) or "false"
        heap = f"(T > {self.plan.heap} ? T : {self.plan.heap})" if self.plan.heap else "T"
        if self.plan.quick:
            yield f"INFIMUM_LONG_FN void {self.name}_again(const Arguments &a, long long box);"
            yield ""
        yield "template <class V, int T>"
        yield f"INFIMUM_FN void {self.name}(const Arguments &a, const Boxes &boxes) {{"
        yield f"    constexpr bool NEAR = {near};  // where {self.plan.work} values of a box find room"
        yield f"    constexpr int WORK = T > 1 && NEAR ? {self.plan.work} : 0, BUFFER = T > 1 ? {heap} : 0;"
        yield "    __shared__ V shared[THREADS<T> / T * (WORK + BUFFER) + 1];"
        yield "    const Team<T> team = team_of<T>();"
        yield "    V *const buffer = shared + team.seat * BUFFER;"
        yield "    V *const vectors = shared + THREADS<T> / T * BUFFER;"
        yield f"    const auto memory = memory_of<V, T, NEAR>(a, team, vectors, {max(self.plan.work, 1)});"
        yield "#pragma unroll 1"
        yield "    for (long long box = boxes.first; box < a.count; box += boxes.step) {"
        yield "        begin<V>();"
        yield from (f"        {line}" if line else "" for line in [*self._slots(), *body, *self._outputs()])
        if self.plan.quick:
            yield f"        if (was_unusual<V>()) {self.name}_again(a, box);"
        yield "    }"
        yield "}"
        if self.plan.quick:
            yield f"INFIMUM_LONG_FN void {self.name}_again(const Arguments &a, long long box) {{"
            yield f"    {self.name}<Range, 1>(a, {{box, a.count}});"
            yield "}"
        yield ""
        yield "}  // namespace INFIMUM_NAMESPACE"
        yield ""
        yield f"INFIMUM_ENTRY({self.name}, {'Quick' if self.plan.quick else 'Range'})"

    # ------------------------------------------------------------------------------------------ slots
    def _constants(self, number: int) -> list[list[str]]:
        return [[literal(v) for v in row] for row in self.plan.pool(number).tolist()]

    def _slots(self) -> Iterator[str]:
        for number, slot in enumerate(self.program.slots):
            label, size = f"s{number}", slot.size
            if number not in self.plan.used and slot.kind != form.INPUT:
                continue
            if slot.kind == form.INPUT:
                yield f"const auto {label} = input<V, T, {size}>(a, box);  // the box"
                yield f"check_input(team, a, {label});"
            elif slot.kind == form.CONSTANT and self.plan.is_written(number):
                yield f"const auto {label} = written<V, {size}>({self.name}_{label});"
            elif slot.kind == form.CONSTANT:
                yield f"const auto {label} = pooled<V, {size}>(a, {slot.offset});"
            elif number in self.plan.direct:
                output = self.plan.direct[number]
                before = self.plan.offsets[output]
                yield f"const auto {label} = output<V, T, {size}>(a, {before}, box);  // output {output}"
            else:
                yield f"auto {label} = memory.template vector<{size}>({self.plan.places[number][0]});"
        for key, (start, size) in self.plan.places.items():
            if isinstance(key, str):
                yield f"auto {key} = memory.template vector<{size}>({start});  // results of chunks"

    def _outputs(self) -> Iterator[str]:
        for output, slot in enumerate(self.program.outputs):
            if slot not in self.plan.direct:
                to = f"output<V, T, {self.program.slots[slot].size}>(a, {self.plan.offsets[output]}, box)"
                yield f"hand_out(team, {to}, s{slot});  // output {output}"

    # ------------------------------------------------------------------------------------------ phases
    def _phase(self, number: int) -> Iterator[str]:
        phase = self.program.phases[number]
        yield ""
        if isinstance(phase, form.Body):
            yield from self._body(number, phase)
        elif isinstance(phase, form.Others):
            name = form.NAMES[phase.operation]
            unroll = self._unroll(phase.groups, phase.width, 4)
            results = f"w{number}" if phase.width > form.CHUNK else "NoResults<V>()"
            yield f"// phase {number}: others of {name} of s{phase.source}, {phase.groups} x {phase.width}"
            head = f"others<V, {phase.groups}, {phase.width}, {unroll}, {name.capitalize()}>"
            yield f"{head}(team, buffer, s{phase.out}, s{phase.source}, {results});"
        else:
            yield f"// phase {number}: recurrence of {phase.count} elements{', from the end' if phase.reverse else ''}"
            head = f"recurrence<{str(phase.reverse).lower()}, V>"
            yield f"{head}(team, {phase.count}, s{phase.out}, s{phase.a}, s{phase.b});"

    def _body(self, number: int, phase: form.Body) -> Iterator[str]:
        rows = self.program.instructions[phase.first : phase.last].tolist()
        k, m = phase.groups, phase.width
        unroll = self._unroll(k, m, len(rows))
        sums = [row for row in rows if row[0] == form.REDUCE]
        yield f"// phase {number}: body over {f'{k} x {m}' if m > 1 else k}"
        kinds = ", ".join(["V", *(form.NAMES[row[5]].capitalize() for row in sums)])
        if sums:
            yield f"reduced<V, {k}, {m}, {unroll}, Terms<{kinds}>>("
            yield "    team, buffer,"
            yield "    [&](int g, int e) {"
        else:
            yield f"each<V, {k}, {m}, {unroll}>(team, [&](int g, int e) {{"
        indent = "        " if sums else "    "
        if phase.registers:
            yield f"{indent}V {', '.join(f'r{i}' for i in range(phase.registers + len(sums)))};"
        # A term is kept aside: its register may be written again before the body ends.
        kept = iter(range(phase.registers, phase.registers + len(sums)))
        for row in rows:
            if row[0] == form.REDUCE:
                yield f"{indent}r{next(kept)} = r{row[2]};  // {form.NAMES[row[5]]} over e"
            else:
                yield indent + self._instruction(row, phase)
        if not sums:
            yield "});"
            return
        values = ", ".join(f"r{phase.registers + i}" for i in range(len(sums)))
        yield f"{indent}return terms<{kinds}>({values});"
        yield "    },"
        yield f"    [&](int g, const Terms<{kinds}> &all) {{"
        for i, row in enumerate(sums):
            yield f"{indent}store(s{row[1]}, {_sum(row[6], (1, 'g' if k > 1 else ''))}, total<{i}>(all));"
        yield "    });"

    def _unroll(self, k: int, m: int, instructions: int) -> str:
        for unroll, count in (("ALL", k * m), ("ELEMENTS", m)):
            cost = count * instructions
            if cost <= UNROLLED and self.unrolled + cost <= UNROLLED_IN_ALL and (count > 1 or k == 1):
                self.unrolled += cost
                return unroll
        return "LOOPS"

    # ------------------------------------------------------------------------------------------ instructions
    def _instruction(self, row: list[int], phase: form.Body) -> str:
        code, dst, a, _, _, p0, p1, p2 = row
        k, m = phase.groups, phase.width
        if self.plan.is_single(row, phase):
            lo, hi, point = (literal(v) for v in self.plan.pool(a)[p0].tolist())
            return f"r{dst} = constant<V>({lo}, {hi}, {point});  // s{a}"
        if code == form.LOAD_AFFINE:
            return f"r{dst} = s{a}[{_sum(p0, (p1, 'g' if k > 1 else ''), (p2, 'e' if m > 1 else ''))}];"
        if code == form.LOAD_WINDOW:
            return f"r{dst} = window<V>(s{a}, {_sum(p0, *_flat(p1, k, m))});"
        if code == form.LOAD_TABLE:
            return f"r{dst} = picked<V>(s{a}, {self._table(p0, k, m)});"
        if code == form.STORE:
            return f"store(s{dst}, {_sum(p0, *_flat(p1, k, m))}, r{a});"
        return applied(row)

    def _table(self, first: int, k: int, m: int) -> str:
        """Return entry i of a table as text."""
        if k * m > WRITTEN:
            return f"INFIMUM_READ(a.tables + {_sum(first, *_flat(1, k, m))})"
        label = self.tables.setdefault((first, k * m), f"{self.name}_t{len(self.tables)}")
        return f"{label}[{_sum(0, *_flat(1, k, m))}]"


def called(code: int) -> str:
    """Return the function of device.h that computes an operation or a fact."""
    fact = "smooth_" if code >= form.SMOOTH else "defined_" if code >= form.DEFINED else ""
    return fact + form.NAMES[form.operation_number(code)]


def applied(row: list[int]) -> str:
    """Return the statement of an instruction that is an operation or a fact."""
    code, dst, p0 = row[0], row[1], row[5]
    operands = [f"r{register}" for register in form.reads(row)] + ([f"{p0}LL"] if form.takes_exponent(code) else [])
    return f"r{dst} = {called(code)}({', '.join(operands)});"


def literal(x: float) -> str:
    """Return a double as C++ text, exactly."""
    if np.isfinite(x):
        mantissa, _, exponent = float(x).hex().partition("p")
        return f"{mantissa.rstrip('0').removesuffix('.') if '.' in mantissa else mantissa}p{exponent}"
    return f"of_bits({np.float64(x).view(np.int64)}LL)"


def _flat(step: int, k: int, m: int) -> list[tuple[int, str]]:
    """Return step*i as text, where i = g*m + e."""
    return [(step * m, "g" if k > 1 else ""), (step, "e" if m > 1 else "")]


def _sum(offset: int, *terms: tuple[int, str]) -> str:
    parts = [str(offset)] if offset else []
    parts += [name if factor == 1 else f"{factor} * {name}" for factor, name in terms if factor and name]
    return " + ".join(parts) or "0"

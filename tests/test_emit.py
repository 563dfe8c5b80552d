"""Emitted CUDA text computes the bits of the virtual machine, compiled here by the host's compiler against a shim."""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import host_cuda
import infimum.core
import nvrtc
import programs
import samples
from emitted_cases import PAPER, Boxes, paper, paper_boxes, random_case
from infimum.backends import cpu
from infimum.backends.cuda import tape as emit_tape
from infimum.backends.cuda.emit import emit, is_long
from infimum.backends.cuda.memory import TEAMS
from infimum.errors import InvalidOption
from infimum.function.function import trace
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program
from tapes import Maker
from test_vm import first_difference, same

MODES = ("interval", "point")
Case = tuple[Program, Boxes]


@pytest.fixture
def folder(pytestconfig: pytest.Config) -> Path:
    if host_cuda.compiler() is None:
        pytest.skip("no C++ compiler")
    return Path(pytestconfig.cache.mkdir("emitted"))


def compare(cases: list[Case], folder: Path, teams: tuple[int, ...] = TEAMS) -> None:
    """All cases in one library, in every team and mode, against the virtual machine."""
    texts = [emit(program, f"p{i}") for i, (program, _) in enumerate(cases)]
    made = host_cuda.library([text.text for text in texts], folder)
    for text, (program, boxes) in zip(texts, cases, strict=True):
        _compare_one(made, text, program, boxes, teams)


def _compare_one(made: ctypes.CDLL, text: Any, program: Program, boxes: Boxes, teams: tuple[int, ...]) -> None:
    for mode in MODES:
        wanted = cpu.run(program, *boxes, mode, threads=1)  # type: ignore[arg-type]
        for team in teams:
            found = host_cuda.run(made, text, program, boxes, mode, team)
            assert same(found, wanted), (text.name, team, mode, first_difference(found, wanted), program.show())


# --- the same bits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 300])
def test_the_papers_functions_have_the_bits_of_the_virtual_machine(n: int, folder: Path) -> None:
    compare([(paper(name, n), paper_boxes(name, n, 150 if n == 6 else 5)) for name in PAPER], folder)


@pytest.mark.parametrize("n", [1, 5, 257, 1000])
def test_hand_made_programs_have_the_bits_of_the_virtual_machine(n: int, folder: Path) -> None:
    compare([(make(n), programs.boxes(n, 9 if n < 100 else 3)) for make in programs.PROGRAMS.values()], folder)


def test_random_programs_have_the_bits_of_the_virtual_machine(folder: Path) -> None:
    made = [programs.scrambled(seed) for seed in range(6)]
    compare([(program, programs.boxes(program.n, 2)) for program in made], folder)


def test_sixty_random_functions_have_the_bits_of_the_virtual_machine(folder: Path) -> None:
    compare([random_case(seed) for seed in range(60)], folder)


def test_a_tree_of_three_levels_has_the_bits_of_the_virtual_machine(folder: Path) -> None:
    n = 66_000
    m = Maker(n)
    total, rest = m.vector(1), m.vector(n)
    m.reduce(total, m.load(0, 0, 0, 1), "add")
    m.end(1, n)
    m.phases.append(form.Others(rest, 0, form.NUMBERS["add"], 1, n))
    compare([(m.program(total, rest), programs.boxes(n, 1))], folder)


def test_the_interpreter_has_the_bits_of_the_virtual_machine(folder: Path) -> None:
    made = [make(n) for make in programs.PROGRAMS.values() for n in (1, 257)]
    made += [programs.scrambled(3), programs.long_tape(3000)]
    rows = np.concatenate([program.instructions for program in made])
    library = host_cuda.library([emit_tape.text(dataclasses.replace(made[0], instructions=rows))], folder)
    for program in made:
        _compare_one(library, emit_tape.emit_tape(program), program, programs.boxes(program.n, 3), TEAMS)
    assert is_long(made[-1])


def _three(batch: samples.Batch, end: int) -> Any:
    """One end of a batch's intervals as rows of three."""
    return np.resize(np.concatenate([pair[end] for pair in batch.operands]), (batch.operands[0][0].size, 3))


@pytest.mark.parametrize("numeric", [False, True])
def test_every_operation_and_fact_has_the_bits_of_the_virtual_machine(numeric: bool, folder: Path) -> None:
    rows = infimum.core.operations().values()
    m = Maker(3)
    x = [m.load(0, i) for i in range(3)]
    outs = []
    for row in (row for row in rows if numeric or row.trust != "numeric"):
        for base in (form.OP, form.DEFINED, form.SMOOTH):
            outs.append(m.vector(1))
            m.store(outs[-1], m.op(row.name, *x[: row.arity], param=-3, base=base))
    # Sums and products of results that may be empty or infinite.
    for name in ("add", "sub", "mul"):
        outs.append(m.vector(1))
        m.store(outs[-1], m.op(name, m.op("div", x[0], x[1]), m.op("log", x[2])))
    m.end(1)
    program = m.program(*outs)
    batches = [batch for op in ("fma", "mul", "atan2", "sqrt", "sin") for batch in samples.batches(op, 60)]
    lo, hi = (np.concatenate([_three(batch, end) for batch in batches]) for end in (0, 1))
    compare([(program, (lo, hi))], folder, (1,))


def test_an_operation_alone_has_the_bits_of_the_virtual_machine_on_rare_boxes_too(folder: Path) -> None:
    # Each in a program of its own: an unusual result of one would have the others computed again with care.
    cases: list[Case] = []
    for op in ("neg", "add", "sub", "mul", "sqr", "min", "max", "abs", "div", "sqrt", "exp"):
        m = Maker(arity := infimum.core.operations()[op].arity)
        out = m.vector(1)
        m.store(out, m.op(op, *(m.load(0, i) for i in range(arity))))
        m.end(1)
        for batch in samples.batches(op, 300):
            lo, hi = (np.stack([pair[end] for pair in batch.operands], 1) for end in (0, 1))
            infinite = np.array(list(itertools.product([-np.inf, -1.0, 0.0, 2.0, np.inf], repeat=2 * arity)))
            low, high = infinite[:, :arity], infinite[:, arity:]
            good = ((low <= high) & (low < np.inf) & (high > -np.inf) | (low == np.inf) & (high == -np.inf)).all(1)
            cases.append((m.program(out), (np.concatenate([lo, low[good]]), np.concatenate([hi, high[good]]))))
    compare(cases, folder, (1,))


@pytest.mark.parametrize("op", list(infimum.core.operations()))
def test_no_operation_sees_the_sign_of_a_zero(op: str) -> None:
    # The virtual machine makes every zero +0 after each operation; emitted text does so only where it stores.
    arity = infimum.core.operations()[op].arity
    m = Maker(arity)
    operands = [m.load(0, i) for i in range(arity)]
    outs = [m.vector(1) for _ in range(3)]
    for out, base in zip(outs, (form.OP, form.DEFINED, form.SMOOTH), strict=True):
        m.store(out, m.op(op, *operands, param=3, base=base))
    m.end(1)
    program = m.program(*outs)
    random = np.random.default_rng(1)
    batches = [[(lo.copy(), hi.copy()) for lo, hi in batch.operands] for batch in samples.batches(op, 500)]
    edges = np.sort(random.choice([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 3.0], (3, 2, 5000)), 1)
    for operands_of in [*batches, [tuple(pair) for pair in edges[:arity]]]:
        lo, hi = (np.stack([pair[end] for pair in operands_of], 1) + 0.0 for end in (0, 1))
        for mode in MODES:
            wanted = cpu.run(program, lo, hi, mode, threads=1)  # type: ignore[arg-type]
            for _ in range(3):
                signs = random.random((2, *lo.shape)) < 0.6
                minus = [np.where((end == 0) & sign, -0.0, end) for end, sign in zip((lo, hi), signs, strict=True)]
                found = cpu.run(program, *minus, mode, threads=1)  # type: ignore[arg-type]
                assert same(found, wanted), (mode, first_difference(found, wanted))


# --- the text --------------------------------------------------------------------------------------------------------


def _spring(x: Any) -> Any:
    return np.sum(x**2 * np.sin(x)) + 3 * x[0]


def test_a_function_is_shown_as_readable_text() -> None:
    text = trace(_spring, 4).show(backend="cuda")
    for line in (
        "        const auto s0 = input<V, T, 4>(a, box);  // the box",
        "        // phase 0: body over 1",
        "        each<V, 1, 1, ALL>(team, [&](int g, int e) {",
        "        // phase 1: body over 1 x 4",
        "        reduced<V, 1, 4, ALL, Terms<V, Add>>(",
        "                r1 = sqr(r0);",
        "                r0 = sin(r0);",
        "                return terms<V, Add>(r2);",
        "            r0 = constant<V>(0x1.8p+1, 0x1.8p+1, 0x1.8p+1);  // s2",
        "        const auto s4 = output<V, T, 1>(a, 0, box);  // output 0",
        "        if (was_unusual<V>()) program_again(a, box);",
        "INFIMUM_ENTRY(program, Quick)",
    ):
        assert line in text.splitlines(), text


def test_a_function_is_shown_as_a_graph_or_a_program_or_not_at_all() -> None:
    function = trace(_spring, 4)
    assert function.show() == function.show(backend="graph")
    assert function.show(backend="cpu").startswith("program of 4 variables")
    with pytest.raises(InvalidOption, match="'rocm'"):
        function.show(backend="rocm")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PAPER)
def test_the_text_does_not_grow_with_the_number_of_variables(name: str) -> None:
    lengths = [len(emit(paper(name, n)).text.splitlines()) for n in (300, 3000)]
    assert lengths[0] == lengths[1] < 250


def test_every_number_in_the_text_is_exact(folder: Path) -> None:
    random = np.random.default_rng(5)
    values = [*np.ldexp(random.uniform(-1, 1, 60), random.integers(-1070, 1020, 60)).tolist(), 0.1, 5e-324, -0.0]
    m = Maker(1)
    constant, out = m.constant(*values), m.vector(len(values))
    m.store(out, m.load(constant, 0, 1))
    m.end(len(values))
    single = m.vector(len(values))
    for i in range(len(values)):
        m.store(single, m.load(constant, i), i)
    m.end(1)
    program = m.program(out, single)
    assert "0x1.999999999999ap-4" in emit(program).text
    compare([(program, programs.boxes(1, 2))], folder)


# --- NVRTC -----------------------------------------------------------------------------------------------------------


def _ptx(text: str, architecture: int | str, team: int, value: str) -> str:
    compiler = nvrtc.library()
    if compiler is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")
    source = f"#define INFIMUM_TEAM {team}\n#define INFIMUM_VALUE {value}\n{text}"
    kind = "compute" if isinstance(architecture, int) else "sm"
    return host_cuda.ptx(compiler, source, f"{kind}_{architecture}")


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize(("architecture", "team", "n"), [(80, 32, 1000), (90, 1, 6), (100, 256, 1000)])
def test_nvrtc_compiles_the_papers_functions_and_contracts_nothing(
    name: str, architecture: int, team: int, n: int
) -> None:
    text = _ptx(emit(paper(name, n)).text, architecture, team, "Range")
    assert ".entry infimum_program(" in text
    operations = re.findall(r"\b(add|sub|mul|fma|mad|div|sqrt|rcp|rsqrt|ex2|lg2|sin|cos)\.([\w.]*)f64\b", text)
    assert operations
    assert {modifier for _, modifier in operations} <= {"rn.", "rm.", "rp."}
    assert not re.findall(r"__(?:nv|internal)_\w+", text)


@pytest.mark.parametrize(
    "make", [lambda: emit(programs.product(300)), lambda: emit_tape.emit_tape(programs.branches(7))]
)
@pytest.mark.parametrize("team", TEAMS)
@pytest.mark.parametrize("value", ["Range", "Point"])
def test_nvrtc_compiles_every_team_and_mode(make: Callable[[], Any], team: int, value: str) -> None:
    made = make()
    assert f".entry {made.name}(" in _ptx(made.text, 90, team, value)


@pytest.mark.parametrize("team", TEAMS[1:])
def test_vectors_that_just_fit_shared_memory_do(team: int) -> None:
    def made(n: int) -> Any:
        m = Maker(1)
        wide, total = m.vector(n), m.vector(1)
        m.store(wide, m.load(0))
        m.end(n)
        m.reduce(total, m.load(wide, 0, 0, 1))
        m.end(1, n)
        return emit(m.program(total))

    n = max(n for n in range(500, 3200) if team in made(n).near)
    assert made(n).scratch(team) == 0 < made(n + 1).scratch(team)
    _ptx(made(n).text, "90", team, "Range")

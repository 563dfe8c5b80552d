"""The virtual machine computes what a program says, bit for bit, however the work is cut and shared."""

from __future__ import annotations

import ctypes
import resource
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import infimum.core
import samples
import tapes
from infimum.backends import cpu
from infimum.errors import InvalidInterval, ShapeMismatch
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program
from programs import PROGRAMS, boxes, levy, long_tape, rastrigin, scrambled
from tapes import Maker

SIZES = (1, 5, 255, 256, 257, 1000)
BATCHES = (1, 3, 8, 100)
THREADS = (1, 2, 8)
MODES = ("interval", "point")


# --- comparing -----------------------------------------------------------------------------------------------------


def same(found: list[Any], wanted: list[Any]) -> bool:
    """Bit for bit, and every NaN is the one NaN that the virtual machine writes."""
    return all(
        a.shape == b.shape and np.array_equal(a.view(np.int64), np.where(np.isnan(b), np.nan, b).view(np.int64))
        for pair, other in zip(found, wanted, strict=True)
        for a, b in zip(pair, other, strict=True)
    )


@cache
def made(name: str, n: int) -> Program:
    return PROGRAMS[name](n)


def compare(program: Program, count: int, mode: str, threads: tuple[int, ...] = THREADS) -> None:
    lo, hi = boxes(program.n, count)
    wanted = tapes.expected(program, lo, hi, mode == "point")
    for variant in infimum.core.variants():
        for number in threads:
            found = cpu.run(program, lo, hi, mode, variant, number)  # type: ignore[arg-type]
            assert same(found, wanted), (variant, number, first_difference(found, wanted))


def first_difference(found: list[Any], wanted: list[Any]) -> str:
    for o, (pair, other) in enumerate(zip(found, wanted, strict=True)):
        for end, a, b in zip(("lo", "hi"), pair, other, strict=True):
            wrong = a.view(np.int64) != np.where(np.isnan(b), np.nan, b).view(np.int64)
            if wrong.any():
                box, i = np.argwhere(wrong)[0]
                return f"output {o} {end} box {box} element {i}: {a[box, i].hex()}, wanted {b[box, i].hex()}"
    return ""


# --- the same bits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_computes_what_it_says(name: str, n: int, mode: str) -> None:
    for count in BATCHES if n <= 257 else (1, 3):
        if n * count <= 3000:
            compare(made(name, n), count, mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_tape_of_ten_thousand_operations_computes_what_it_says(mode: str) -> None:
    program = long_tape(10_000)
    assert len(program.instructions) > 10_000
    assert program.phases[0].registers < 200  # type: ignore[union-attr]
    for count in (1, 100):
        compare(program, count, mode, (1, 2))


@pytest.mark.parametrize("seed", range(12))
def test_a_random_program_computes_what_it_says(seed: int) -> None:
    program = scrambled(seed)
    program.check()
    for count in (1, 2, 9, 20):
        compare(program, count, MODES[(seed + count) % 2], (1, 3))


@pytest.mark.parametrize("op", list(infimum.core.operations()))
def test_every_operation_and_fact_runs_in_both_modes(op: str) -> None:
    arity = infimum.core.operations()[op].arity
    for batch in samples.batches(op, 500):
        ends = [tuple(np.where(np.isinf(lo) | np.isinf(hi), 0.0, end) for end in (lo, hi)) for lo, hi in batch.operands]
        m = Maker(arity)
        operands = [m.load(0, i) for i in range(arity)]
        outs = [m.vector(1) for _ in range(3)]
        for out, base in zip(outs, (form.OP, form.DEFINED, form.SMOOTH), strict=True):
            m.store(out, m.op(op, *operands, param=batch.param, base=base))
        m.end(1)
        program = m.program(*outs)
        lo, hi = (np.stack([pair[i] for pair in ends], 1) for i in range(2))
        for mode in MODES:
            wanted = tapes.expected(program, lo, hi, mode == "point")
            for variant in infimum.core.variants():
                found = cpu.run(program, lo, hi, mode, variant, 1)  # type: ignore[arg-type]
                assert same(found, wanted), (op, mode, variant, first_difference(found, wanted))


def test_more_than_one_level_of_chunks_gives_the_same_bits_for_every_cut() -> None:
    n = 256 * 256 + 300
    program, lo, hi = rastrigin(n), *boxes(n, 3)
    terms = infimum.core.apply("sqr", (lo, hi))
    wave = infimum.core.apply(
        "mul", (10.0, 10.0), infimum.core.apply("cospi", infimum.core.apply("mul", (2.0, 2.0), (lo, hi)))
    )
    terms = infimum.core.apply("add", infimum.core.apply("sub", terms, wave), (10.0, 10.0))
    wanted = tapes.tree(
        lambda a, b: infimum.core.apply("add", a, b), [(terms[0][:, i], terms[1][:, i]) for i in range(n)]
    ).value
    for variant in infimum.core.variants():
        for threads in THREADS:
            for count in (1, 3):
                ((low, high),) = cpu.run(program, lo[:count], hi[:count], variant=variant, threads=threads)
                assert (low[:, 0] == wanted[0][:count]).all() and (high[:, 0] == wanted[1][:count]).all()


def test_others_of_many_chunks_do_not_depend_on_the_cut() -> None:
    n = 256 * 258 + 7
    m = Maker(n)
    out = m.vector(n)
    m.phases.append(form.Others(out, 0, tapes.NUMBER["add"], 1, n))
    program, lo, hi = m.program(out), *boxes(n, 2)
    ((low, high),) = cpu.run(program, lo, hi, threads=1)
    for variant in infimum.core.variants():
        for threads in THREADS:
            for first in (0, 1):
                one = slice(first, first + 1)
                found = cpu.run(program, lo[one], hi[one], variant=variant, threads=threads)
                assert same(found, [(low[one], high[one])])
    random = np.random.default_rng(0)
    terms = [(lo[:, i], hi[:, i]) for i in range(n)]
    whole = tapes.tree(partial(infimum.core.apply, "add"), terms).value
    for i in random.integers(0, n, 20):
        again = infimum.core.apply("add", (low[:, i], high[:, i]), terms[i])
        assert np.all(again[0] <= whole[1]) and np.all(again[1] >= whole[0])
        assert np.allclose(again[0], whole[0], rtol=1e-9) and np.allclose(again[1], whole[1], rtol=1e-9)


def test_registers_without_reuse_give_the_same_bits() -> None:
    lo, hi = boxes(40, 20)
    assert same(cpu.run(levy(40, reuse=False), lo, hi), cpu.run(levy(40), lo, hi))


# --- what goes in and comes out ----------------------------------------------------------------------------------


def test_an_empty_box_gives_empty_results_and_no_boxes_give_none() -> None:
    program = rastrigin(3)
    lo, hi = np.zeros((2, 3)), np.ones((2, 3))
    lo[1, 2], hi[1, 2] = np.inf, -np.inf
    ((low, high),) = cpu.run(program, lo, hi)
    assert low[0, 0] <= high[0, 0] and (low[1, 0], high[1, 0]) == (np.inf, -np.inf)
    ((low, _),) = cpu.run(program, lo[:0], hi[:0])
    assert low.shape == (0, 1)


@pytest.mark.parametrize("bad", [(np.nan, 1.0), (0.0, np.nan), (2.0, 1.0), (np.inf, np.inf), (-np.inf, -np.inf)])
@pytest.mark.parametrize("count", [1, 9])
def test_what_is_no_interval_is_refused(bad: tuple[float, float], count: int) -> None:
    lo, hi = np.zeros((count, 11)), np.ones((count, 11))
    lo[-1, 9], hi[-1, 9] = bad
    with pytest.raises(InvalidInterval, match=f"box {count - 1}, variable 9"):
        cpu.run(rastrigin(11), lo, hi)


def test_boxes_of_another_shape_are_refused() -> None:
    for shape in [(3,), (2, 4), (2, 3, 1)]:
        with pytest.raises(ShapeMismatch, match=r"\(boxes, 3\)"):
            cpu.run(rastrigin(3), np.zeros(shape), np.ones(shape))
    with pytest.raises(ShapeMismatch):
        cpu.run(rastrigin(3), np.zeros((2, 3)), np.ones((3, 3)))
    with pytest.raises(ValueError, match="mode"):
        cpu.run(rastrigin(3), np.zeros((2, 3)), np.ones((2, 3)), "nearest")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads"):
        cpu.run(rastrigin(3), np.zeros((2, 3)), np.ones((2, 3)), threads=0)


def test_the_callers_floating_point_state_does_not_matter_and_comes_back() -> None:
    libm = ctypes.CDLL(None)
    if not hasattr(libm, "fesetround"):
        pytest.skip("the C library has no fesetround")
    lo, hi = boxes(50, 30)
    wanted = cpu.run(levy(50), lo, hi)
    upward = 0x800 if infimum.core.variants()[-1] != "scalar" else 0x400000
    try:
        assert libm.fesetround(upward) == 0
        found = cpu.run(levy(50), lo, hi, threads=3)
        state = libm.fegetround()
    finally:
        libm.fesetround(0)
    assert state == upward and same(found, wanted)


def test_memory_for_a_million_variables_is_that_of_the_slots() -> None:
    n = 1_000_000
    m = Maker(n)
    slots = [m.vector(n) for _ in range(12)]
    source = 0
    for slot in slots:
        m.store(slot, m.op("add", m.load(source, 0, 1), m.window(0, 1, 1)))
        m.end(n)
        source = slot
    total = m.vector(1)
    m.reduce(total, m.load(source, 0, 0, 1))
    m.end(1, n)
    program = m.program(total)
    lo, hi = boxes(n, 1)
    _ = program.tape
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu.run(program, lo, hi, threads=2)
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert used < 12 * 16 * n * 1.3


def test_a_run_that_needs_too_much_memory_is_refused() -> None:
    m = Maker(1)
    huge, total = m.vector(2**38), m.vector(1)
    program = m.program(total)
    tape = infimum.core.Tape(
        1,
        np.array([(0, 1, 0), (2, m.slots[huge].size, 0), (2, 1, 0)], np.int64),
        np.zeros((0, 8), np.int64),
        np.zeros((0, 6), np.int64),
        np.array([total]),
        program.tables,
        *[np.zeros(0)] * 3,
    )
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**37, hard))
    try:
        with pytest.raises(MemoryError):
            infimum.core.run_tape(tape, np.zeros((1, 1)), np.zeros((1, 1)))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

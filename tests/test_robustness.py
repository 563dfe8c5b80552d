"""Whatever the caller's floating-point state and however many threads call: the same bits, and the state comes back."""

from __future__ import annotations

import ctypes
import mmap
import platform
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest

import infimum
import infimum.core
import samples
from samples import Batch

OPERATIONS = tuple(infimum.core.operations())
BOXES = 2000

# --- the floating-point control word, read and written by a few bytes of machine code -----------------------------

_READ_AND_WRITE = {
    # push rax; stmxcsr [rsp]; pop rax; ret          push rdi; ldmxcsr [rsp]; pop rdi; ret
    "x86_64": ("50 0fae1c24 58 c3", "57 0fae1424 5f c3"),
    # mrs x0, fpcr; ret                              msr fpcr, x0; ret
    "aarch64": ("00443bd5 c0035fd6", "00441bd5 c0035fd6"),
}
# Bits that say how to compute; the rest of MXCSR are flags that every operation may raise.
_CONTROL = {"x86_64": 0xFFC0, "aarch64": 0xFFFFFFFF}
_STATES = {
    "x86_64": {
        "the default": 0x1F80,
        "flush to zero": 0x1F80 | 0x8000,
        "subnormals are zero": 0x1F80 | 0x0040,
        "both, as left by fast-math libraries": 0x1F80 | 0x8040,
        "rounding down": 0x1F80 | 0x2000,
        "rounding up": 0x1F80 | 0x4000,
        "rounding to zero": 0x1F80 | 0x6000,
        "rounding up and both flushes": 0x1F80 | 0xC040,
        "traps for invalid, division by zero, overflow": 0x1F80 & ~0x0680,
    },
    "aarch64": {
        "the default": 0,
        "flush to zero": 1 << 24,
        "rounding up": 1 << 22,
        "rounding down": 2 << 22,
        "rounding to zero": 3 << 22,
        "rounding up and flush": 1 << 24 | 1 << 22,
    },
}
MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
STATES = _STATES.get(MACHINE, {})
every_state = pytest.mark.parametrize("state", STATES)


class ControlWord:
    """The control word of the calling thread."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        read, write = (bytes.fromhex(code) for code in _READ_AND_WRITE[MACHINE])
        self._page[: len(read)] = read
        self._page[64 : 64 + len(write)] = write
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self.read = ctypes.CFUNCTYPE(ctypes.c_uint32)(start)
        self.write = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(start + 64)

    def control(self) -> int:
        return int(self.read()) & _CONTROL[MACHINE]

    @contextmanager
    def being(self, value: int) -> Iterator[None]:
        before = self.read()
        self.write(value)
        try:
            yield
        finally:
            self.write(before)


@pytest.fixture(scope="module")
def word() -> ControlWord:
    if MACHINE not in _READ_AND_WRITE:
        pytest.skip(f"the control word of {MACHINE} is not known here")
    try:
        return ControlWord()
    except OSError as error:
        pytest.skip(f"this system gives no executable page: {error}")


# --- what is computed --------------------------------------------------------------------------------------------


@cache
def _batches() -> tuple[Batch, ...]:
    return tuple(batch for op in OPERATIONS for batch in samples.batches(op, BOXES, seed=7))


def _bits(batch: Batch, variant: str | None = None, threads: int = 1) -> tuple[bytes, bytes]:
    lo, hi = infimum.core.apply(batch.op, *batch.operands, param=batch.param, variant=variant, threads=threads)
    return lo.tobytes(), hi.tobytes()


@cache
def _expected() -> tuple[tuple[bytes, bytes], ...]:
    return tuple(_bits(batch) for batch in _batches())


def _differing(compute: Callable[[Batch], tuple[bytes, bytes]]) -> set[str]:
    """The operations whose bits are not those of a quiet machine with one thread."""
    _expected()
    return {b.op for b, expected in zip(_batches(), _expected(), strict=True) if compute(b) != expected}


# --- the control word --------------------------------------------------------------------------------------------


def test_the_states_are_felt_by_plain_doubles(word: ControlWord) -> None:
    tiny, one = np.array([4e-320]), np.array([1.0])
    third = one / 3
    with word.being(STATES["flush to zero"]):
        flushed = (tiny + tiny).tobytes() != np.array([8e-320]).tobytes() or (tiny * one).tobytes() != tiny.tobytes()
        assert word.control() == STATES["flush to zero"]
    with word.being(STATES["rounding up"]):
        up = one / 3
    assert up[0] > third[0]
    assert flushed or MACHINE == "x86_64"  # FTZ alone keeps an exact subnormal sum; DAZ does not
    if MACHINE == "x86_64":
        with word.being(STATES["both, as left by fast-math libraries"]):
            both = tiny + tiny
        assert both.tobytes() == np.zeros(1).tobytes()


@every_state
@pytest.mark.parametrize("variant", infimum.core.variants())
def test_the_callers_state_changes_no_bit_and_comes_back(word: ControlWord, state: str, variant: str) -> None:
    value = STATES[state]
    after = set()

    def compute(batch: Batch) -> tuple[bytes, bytes]:
        with word.being(value):
            bits = _bits(batch, variant)
            after.add(word.control())
        return bits

    assert _differing(compute) == set()
    assert after == {value}


@every_state
def test_the_callers_state_does_not_reach_the_worker_threads(word: ControlWord, state: str) -> None:
    def compute(batch: Batch) -> tuple[bytes, bytes]:
        with word.being(STATES[state]):
            return _bits(batch, threads=4)

    assert _differing(compute) == set()


@every_state
def test_the_callers_state_changes_no_fact(word: ControlWord, state: str) -> None:
    for batch in _batches():
        expected = infimum.core.facts(batch.op, *batch.operands, param=batch.param)
        with word.being(STATES[state]):
            found = infimum.core.facts(batch.op, *batch.operands, param=batch.param)
        assert [f.tobytes() for f in found] == [e.tobytes() for e in expected], batch.op


@pytest.mark.parametrize("mode", ["downward", "upward", "toward zero"])
def test_fesetround_changes_no_bit(mode: str) -> None:
    name = {"x86_64": (0x400, 0x800, 0xC00), "aarch64": (0x800000, 0x400000, 0xC00000)}.get(MACHINE)
    try:
        libm = ctypes.CDLL("libm.so.6")
    except OSError:
        pytest.skip("no libm.so.6")
    if name is None:
        pytest.skip(f"FE_UPWARD of {MACHINE} is not known here")
    number = dict(zip(("downward", "upward", "toward zero"), name, strict=True))[mode]

    def compute(batch: Batch) -> tuple[bytes, bytes]:
        assert libm.fesetround(number) == 0
        try:
            bits = _bits(batch)
            assert libm.fegetround() == number
        finally:
            libm.fesetround(0)
        return bits

    assert _differing(compute) == set()


@every_state
def test_the_callers_state_changes_no_interval(word: ControlWord, state: str) -> None:
    if "traps" in state:
        pytest.skip("Python itself divides by zero on purpose")
    tiny = infimum.Interval(4e-320, 5e-320)
    x = infimum.Interval(0.1, "0.2")

    def results() -> list[infimum.Interval]:
        return [x, tiny + tiny, tiny * 3, 1 / tiny, np.sqrt(tiny), np.exp(x * 3), x + x, tiny - tiny, -tiny]

    expected = results()
    with word.being(STATES[state]):
        found, inside = results(), 3e-320 in tiny
    assert [y.pairs().tobytes() for y in found] == [y.pairs().tobytes() for y in expected]
    assert not inside


# --- threads -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 64])
def test_the_number_of_threads_changes_no_bit(threads: int) -> None:
    assert _differing(lambda batch: _bits(batch, threads=threads)) == set()


def test_eight_python_threads_at_once_get_the_same_bits(word: ControlWord) -> None:
    _expected()
    differing: dict[int, set[str]] = {}
    states = list(STATES.values())
    start = threading.Barrier(8)

    def call(number: int) -> None:
        variant = infimum.core.variants()[number % len(infimum.core.variants())]

        def compute(batch: Batch) -> tuple[bytes, bytes]:
            with word.being(states[number % len(states)]):
                return _bits(batch, variant, threads=1 + number % 3)

        start.wait()
        differing[number] = _differing(compute)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert differing == {number: set() for number in range(8)}


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 63, 64, 65, 511, 513])
def test_every_length_of_array_gives_the_same_bits(count: int) -> None:
    for batch, (lo, hi) in zip(_batches(), _expected(), strict=True):
        ends = tuple((a[:count], b[:count]) for a, b in batch.operands)
        size = ends[0][0].size
        for variant in infimum.core.variants():
            got = infimum.core.apply(batch.op, *ends, param=batch.param, variant=variant, threads=2)
            assert (got[0].tobytes(), got[1].tobytes()) == (lo[: 8 * size], hi[: 8 * size]), (batch.op, variant)

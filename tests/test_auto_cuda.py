"""The default method on a GPU has the bits of the CPU, batch by batch and search by search; arrays stay where they are.

Without a GPU: emitted text on the host, behind arrays that refuse to meet the host's (fake_cupy.Far).
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import fake_cupy
import host_cuda
import infimum
import nvrtc
from infimum import problems
from infimum.backends import cpu
from infimum.backends import placement as place
from infimum.backends.cuda import audit
from infimum.backends.cuda import batch as cuda_batch
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda import linear as cuda_linear
from infimum.backends.placement import Gpu, Movable, Place, is_on_device
from infimum.boxes import Boxes, shrinkage
from infimum.contractors.chain import ContractorChain
from infimum.contractors.dual import dual
from infimum.contractors.known import Known
from infimum.contractors.table import DEFAULT, NAMES
from infimum.contractors.taylor import taylor
from infimum.core.linear import Found, Job
from infimum.domain import Domain, read_bounds
from infimum.errors import BackendUnavailable, InvalidOption
from infimum.function.function import Function, trace
from infimum.passes.contract.linear_form import form_program
from infimum.search import backend, placed
from infimum.search.auto import search as auto
from infimum.search.auto import separable
from infimum.search.backend import Choice
from infimum.search.outcome import Options, Outcome
from random_functions import random_function
from test_backends import rotated_rastrigin
from test_backends import same as same_outcome

EVERYTHING = {"call": 0.0, "patience": 0.0, "many": 0}  # on the GPU, at once


class Case(NamedTuple):
    """A function over a domain, and how it is asked for."""

    f: Callable[..., Any]
    bounds: Any
    iterations: int = 3


def of(problem: Any, iterations: int = 3) -> Case:
    return Case(problem.f, problem.bounds, iterations)


def _branches(x: Any) -> Any:
    return np.where(x[0] + x[1] > 0.3, np.sqrt(x[0] + 1.5), np.log(2 - x[1])) + (x[0] * x[1] - 0.2) ** 2


def _drawn() -> Case:
    f = random_function(204)
    return Case(f, f.bounds)


CASES: dict[str, Callable[[], Case]] = {
    "hartmann6": lambda: of(problems.hartmann6()),
    "shekel10": lambda: of(problems.shekel10()),
    "eggholder": lambda: of(problems.eggholder()),
    "goldstein_price": lambda: of(problems.goldstein_price(), 5),
    "rosenbrock 4": lambda: of(problems.rosenbrock(4)),
    "lj3": lambda: of(problems.lj3()),
    "where": lambda: Case(_branches, [(-1, 1), (-1, 1)]),
    "random": _drawn,
    "rotated Rastrigin": lambda: Case(rotated_rastrigin(3), [(-5.12, 5.12)] * 3),
}


def asked(case: Case, **options: Any) -> tuple[Function, Domain, Options]:
    domain = read_bounds(case.bounds)
    return trace(case.f, domain.n), domain, Options(**{"ftol": 1e-6, "max_iter": case.iterations, **options})


def searched(case: Case, where: Any, **options: Any) -> Outcome:
    function, domain, given = asked(case, **options)
    return separable.search(function.on(where), domain, given)


def pretend(folder: Path, monkeypatch: pytest.MonkeyPatch, **given: Any) -> Any:
    if host_cuda.compiler() is None:
        pytest.skip("no C++ compiler")
    made = fake_cupy.module(folder, strict=True, **given)
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


@pytest.fixture
def fake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One GPU, on the host, whose arrays refuse the host's."""
    return pretend(folder, monkeypatch)


@pytest.fixture
def quick(fake: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same with the core's virtual machine in place of Programs' kernels: nothing but rules to compile, once."""
    compiled = cuda_compile.compiled

    def rules(text: str, *given: Any, **how: Any) -> bytes:
        is_rules = '#include "device_chain.h"' in text or '#include "device_fused.h"' in text
        return compiled(text, *given, **how) if is_rules else b""

    monkeypatch.setattr(cuda_compile, "compiled", rules)
    monkeypatch.setattr(cuda_kernel, "Kernel", CoreKernel)
    monkeypatch.setattr(cuda_linear, "run", linear_by_the_core)
    return fake


def linear_by_the_core(job: Job) -> Found:
    arrays = [array for array in (*job.given, job.marks) if array is not None]
    assert all(map(is_on_device, arrays))
    return cuda_linear._on_cpu(job)


class CoreKernel:
    """What place.py asks of a kernel, by the CPU."""

    def __init__(self, program: Any, mode: Any, team: int, *_: Any, **__: Any) -> None:
        self.program, self.mode, self.point = program, mode, mode == "point"
        self.cupy = cuda_device.cupy()
        self.emitted = type("Emitted", (), {"outputs": tuple(program.slots[slot].size for slot in program.outputs)})
        self.wrong = np.zeros(1, np.int32)
        self.values = sum(self.emitted.outputs)

    def is_believed(self, *_: Any) -> bool:
        return True

    def run(self, lo: Any, hi: Any) -> list[tuple[Any, Any]]:
        assert is_on_device(lo) and is_on_device(hi)
        found = cpu.run(self.program, cuda_device.to_host(lo), cuda_device.to_host(hi), self.mode, threads=1)
        return [(cuda_device.to_device(a), cuda_device.to_device(b)) for a, b in found]


# --- the same bits ---------------------------------------------------------------------------------------------------


# The others run with the core as kernel below, and on a GPU: their texts take long to compile.
@pytest.mark.parametrize("name", ["hartmann6", "goldstein_price", "rotated Rastrigin", "lj3", "where", "random"])
def test_a_search_on_emitted_text_has_the_bits_of_the_cpu(name: str, fake: Any) -> None:
    case = CASES[name]()
    gpu = Gpu(**EVERYTHING)
    there = searched(case, gpu)
    assert same_outcome(there, searched(case, "cpu"))
    assert fake.launches and gpu.kernels <= 9


SMALL = {
    f"{name} {n}": (name, n)
    for name, n in (
        ("levy", 3), ("griewank", 3), ("ackley", 3), ("rastrigin", 3), ("rosenbrock", 6), ("zabinsky", 4),
        ("salomon", 3), ("schwefel", 3), ("michalewicz", 3), ("styblinski_tang", 10), ("trid", 6), ("dixon_price", 5),
        ("powell", 8), ("qing", 4), ("alpine1", 4), ("zakharov", 4), ("schaffer_f7", 4), ("weierstrass", 2),
        ("rotrastrigin", 5), ("rotgriewank", 4), ("rotrosenbrock", 4), ("sackley", 5), ("paviani", 10), ("watson", 6),
        ("goldstein_price", 2), ("hartmann6", 6), ("shekel10", 4), ("eggholder", 2), ("lj3", 3), ("lj4", 6),
        ("nist_misra1a", 2), ("nist_mgh09", 4), ("nist_rat42", 3),
    )
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_a_search_with_its_boxes_on_the_device_has_the_bits_of_the_cpu(name: str, quick: Any) -> None:
    case = of(problems.named(*SMALL[name]), 8)
    assert same_outcome(searched(case, Gpu(**EVERYTHING)), searched(case, "cpu"))


def test_blocks_and_a_gradient_of_the_users_have_the_bits_of_the_cpu(quick: Any) -> None:
    assert searched(of(problems.styblinski_tang(9), 12), Gpu(**EVERYTHING)).product is not None

    def f(x: Any) -> Any:
        return x[0] ** 2 - x[0] * x[1] + x[1] ** 2 + np.sqrt(1 + x[0] ** 2)

    def slope(x: Any) -> Any:
        return [2 * x[0] - x[1] + x[0] / np.sqrt(1 + x[0] ** 2), 2 * x[1] - x[0]]

    domain = read_bounds([(-2, 3)] * 2)
    function = trace(f, 2, jac=slope)
    here, there = (separable.search(function.on(where), domain, Options()) for where in ("cpu", Gpu(**EVERYTHING)))
    assert same_outcome(here, there)


@pytest.mark.parametrize("end", [0, 1])
def test_a_fault_on_the_device_is_seen_in_the_result(end: int, quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(self: CoreKernel, lo: Any, hi: Any) -> Any:
        found = [list(pair) for pair in CoreKernel.run(self, lo, hi)]
        found[0][end][0, 0] = found[0][1 - end][0, 0]
        return [tuple(pair) for pair in found]

    monkeypatch.setattr(cuda_kernel, "Kernel", type("Faulty", (CoreKernel,), {"run": faulty}))
    case = CASES["hartmann6"]()
    with pytest.raises(BackendUnavailable, match="other numbers than the CPU"):
        searched(case, Gpu(**EVERYTHING))
    monkeypatch.setattr(audit, "chosen", lambda *_: np.empty(0, np.int64))
    assert not same_outcome(searched(case, Gpu(**EVERYTHING)), searched(case, "cpu"))


def test_boxes_cross_to_the_device_and_back_once_for_all_contractors(
    quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES["hartmann6"]()
    function, domain, _ = asked(case)
    lo = np.random.default_rng(5).uniform(0, 0.9, (200, 6))
    lo[::4] = np.asarray(problems.hartmann6().minimiser, float) - 0.05
    boxes = Boxes(lo, lo + 0.1)
    there_alone = ("level", "monotone", "stationary", "mean_value")  # the others compute on the host
    wanted = ContractorChain(function, domain, contractors=there_alone).contract(boxes, -0.5)
    crossed: list[int] = []
    there, kernel = cuda_device.to_device, cuda_device.to_host
    monkeypatch.setattr(place.cuda_device, "to_device", lambda a: crossed.append(np.size(a)) or there(a))
    monkeypatch.setattr(place.cuda_device, "to_host", lambda a: crossed.append(np.size(a)) or kernel(a))
    monkeypatch.setattr(CoreKernel, "run", quiet(crossed, CoreKernel.run))
    monkeypatch.setattr(audit, "chosen", lambda *_: np.empty(0, np.int64))
    found = ContractorChain(function.on(Gpu(**EVERYTHING)), domain, contractors=there_alone).contract(boxes, -0.5)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))
    assert len(wanted) == 50  # the boxes that hold the minimiser
    back = [300] * 4 + [300, 300, 50]  # slopes with the boxes that they are known of, then the boxes
    assert [size for size in crossed if size > 4 * domain.n] == [1200, 1200, 200, *back]
    assert not any(map(is_on_device, found))


def test_every_contractor_by_name_has_the_cpus_bits_on_a_gpu(quick: Any) -> None:
    case = CASES["hartmann6"]()
    function, domain, _ = asked(case)
    lo = np.random.default_rng(6).uniform(0, 0.8, (60, 6))
    for names in (NAMES, ("shave",)):
        wanted, found = (
            ContractorChain(f, domain, contractors=names).contract(Boxes(lo, lo + 0.2), -0.5)
            for f in (function, function.on(Gpu(**EVERYTHING)))
        )
        assert 0 < len(wanted) < 60 and all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


MOST_OF_TABLES = 420  # numbers of a table of slopes (contractors/outer), which goes to the device with every batch


def _pulses(x: Any) -> Any:
    t = np.linspace(0, 5, 12)
    return np.sum((x[0] * np.exp(-x[1] * t) + x[2] * t - np.cos(t)) ** 2)


@pytest.mark.parametrize(
    ("make", "f", "box"),
    [
        (dual, _pulses, [(0, 3), (0, 2), (-1, 1)]),
        (dual, lambda x: np.sqrt(1 + _pulses(x)), [(0, 3), (0, 2), (-1, 1)]),
        (dual, problems.lj3().f, problems.lj3().bounds),
        (
            dual,
            lambda x: np.sum(np.abs(x[0] * np.arange(1, 6) + x[1] ** 2 - 3)) + np.log1p((x[0] * x[1]) ** 2),
            [(-2, 2)] * 2,
        ),
        (taylor, problems.hartmann6().f, [(0, 1)] * 6),
        (taylor, lambda x: np.abs(x[0]) * np.sin(x[1]) + x[0] ** 2 * x[1] ** 4, [(-1, 1), (-1, 1)]),
    ],
    ids=["squares", "a root of squares", "pairs", "kinks", "taylor", "taylor with a kink"],
)
def test_dual_lines_and_second_order_stay_on_the_device(
    make: Any, f: Any, box: Any, quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain, n = read_bounds(box), len(box)
    lo = np.random.default_rng(1).uniform(domain.lo, domain.hi, (600, n))
    lo[::5, 0] = domain.lo[0]
    boxes = Boxes(lo, np.minimum(lo + 0.05 * (domain.hi - domain.lo), domain.hi))
    here, there = trace(f, n), trace(f, n).on(Gpu(**EVERYTHING))
    level = float(np.nanmedian(np.asarray(here(lo))))
    wanted = make(here).contract(boxes, Known(here, domain, level))
    known = Known(there, domain, level)
    far, contractor, crossed = Boxes(*map(cuda_device.to_device, boxes)), make(there), []
    up, down = cuda_device.to_device, cuda_device.to_host
    monkeypatch.setattr(place.cuda_device, "to_device", lambda a: crossed.append(np.size(a)) or up(a))
    monkeypatch.setattr(place.cuda_device, "to_host", lambda a: crossed.append(np.size(a)) or down(a))
    monkeypatch.setattr(CoreKernel, "run", quiet(crossed, CoreKernel.run))
    monkeypatch.setattr(cuda_linear, "run", quiet(crossed, linear_by_the_core))
    found = contractor.contract(far, known)
    assert all(map(is_on_device, found)) and max(crossed, default=0) <= MOST_OF_TABLES
    assert all(np.array_equal(cuda_device.to_host(a), b) for a, b in zip(found, wanted, strict=True))
    assert not np.array_equal(wanted.lower, boxes.lower) and wanted.is_empty().any()


def test_a_contractor_of_the_users_gets_boxes_of_the_host(quick: Any) -> None:
    class Halves:
        def contract(self, boxes: Boxes, known: Any) -> Boxes:
            assert not any(map(is_on_device, boxes)) and not any(map(is_on_device, known.gradient(boxes)))
            return boxes.emptied(boxes.lo[:, 0] > 0.5)

    function, domain, _ = asked(CASES["hartmann6"]())
    lo = np.random.default_rng(6).uniform(0, 0.8, (60, 6))
    gpu = function.on(Gpu(**EVERYTHING))
    found = ContractorChain(gpu, domain, contractors=(*DEFAULT, Halves())).contract(Boxes(lo, lo + 0.2), np.inf)
    wanted = ContractorChain(gpu, domain).contract(Boxes(lo, lo + 0.2), np.inf)
    wanted = wanted[wanted.lo[:, 0] <= 0.5]
    assert len(wanted) and all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def quiet(crossed: list[int], run: Callable[..., Any]) -> Callable[..., Any]:
    """A run of which what crosses inside is not counted: kernels on a GPU read what lies there."""

    def counted(*given: Any) -> Any:
        before = len(crossed)
        found = run(*given)
        del crossed[before:]
        return found

    return counted


def test_sums_of_shrinkage_are_the_same_on_both_and_about_right() -> None:
    random = np.random.default_rng(3)
    for n in (1, 2, 3, 7, 8, 9, 100):
        lo, hi = np.zeros((50, n)), random.uniform(0, 2, (50, n))
        after = lo, hi * random.random((50, n))
        here = shrinkage((lo, hi), after)
        there = shrinkage((fake_cupy.far(lo), fake_cupy.far(hi)), tuple(map(fake_cupy.far, after)))
        assert isinstance(there, fake_cupy.Far) and np.array_equal(here, fake_cupy.near(there))
        assert np.allclose(here, (1 - after[1] / hi).mean(1), rtol=1e-14)


# --- where a batch runs ----------------------------------------------------------------------------------------------


def test_small_batches_stay_on_the_cpu_and_a_short_search_compiles_nothing(fake: Any) -> None:
    for name in ("hartmann6", "lj3", "where"):
        case = CASES[name]()
        function, domain, given = asked(case)
        gpu = Gpu()
        assert same_outcome(separable.search(function.on(gpu), domain, given), searched(case, "cpu"))
        assert gpu.kernels == 0
    assert fake.compiled == 0 and not fake.launches


def test_a_large_batch_waits_for_no_compilation_and_moves_when_it_is_done(
    quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    release: list[int] = []

    def slowly(*_: Any, **__: Any) -> bytes:
        while not release:
            time.sleep(0.001)
        return b"code"

    monkeypatch.setattr(cuda_compile, "compiled", slowly)
    gpu = Gpu(call=1e-12, patience=1e-12, many=10**9)
    function = trace(problems.hartmann6().f, 6).on(gpu)
    lo = np.random.default_rng(1).random((50, 6))
    wanted = function.range_ends(lo, lo + 0.1)  # nothing is known yet: the CPU
    assert gpu.kernels == 0
    kernels = []
    for _ in range(3):
        found = function.range_ends(lo, lo + 0.1)
        kernels.append([known.kernel for known in gpu._known.values()])
        assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))
        (known,) = gpu._known.values()
        if not release:
            release.append(1)
            assert known.making is not None
            known.making.result(10)
    assert gpu.kernels == 1 and kernels[0] == [None] and isinstance(kernels[-1][0], CoreKernel)


def test_an_nvrtc_that_cannot_hurry_compiles_at_leisure(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_program, asked_for = fake.cuda.nvrtc.compileProgram, []

    def knowing_less(program: Any, options: list[str]) -> None:
        asked_for.append(cuda_compile.QUICK in options)
        if cuda_compile.QUICK in options:
            raise fake_cupy.NVRTCError("NVRTC_ERROR_INVALID_OPTION")
        compile_program(program, options)

    monkeypatch.setattr(fake.cuda.nvrtc, "compileProgram", knowing_less)
    function = trace(_branches, 2)
    lo = np.random.default_rng(1).uniform(-1, 0.9, (20, 2))
    found = function.on(Gpu(**EVERYTHING)).range_ends(lo, lo + 0.1)
    assert asked_for == [True, False] and np.array_equal(found, function.range_ends(lo, lo + 0.1))


def test_a_compilation_that_fails_is_said_in_a_sentence(quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> bytes:
        raise BackendUnavailable("NVRTC (1, 2) does not know this GPU: install a newer CuPy")

    monkeypatch.setattr(cuda_compile, "compiled", failing)
    with pytest.raises(BackendUnavailable, match="install a newer CuPy"):
        searched(CASES["lj3"](), Gpu(**EVERYTHING))


def test_a_function_says_where_it_is_and_no_other_place_is_offered(quick: Any) -> None:
    function = trace(_branches, 2)
    assert function.place.backend == "cpu" and function.on("cuda").place.backend == "cuda"
    assert function.on("cuda").on("cpu").place.backend == "cpu"
    with pytest.raises(InvalidOption, match="backend='cpu' or 'cuda', got 'tpu'"):
        function.on("tpu")


@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_nvrtc_compiles_contraction_in_a_hurry(architecture: int) -> None:
    compiler = nvrtc.library()
    if compiler is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")
    function = trace(_branches, 2)
    for program in (function.programs.level, function.programs.slope, form_program(2)):
        made = cuda_compile.text(program)
        head = "#define INFIMUM_TEAM 1\n#define INFIMUM_VALUE Range\n"
        shown = host_cuda.ptx(compiler, head + made.text, f"compute_{architecture}", (cuda_compile.QUICK,))
        assert f".entry {made.name}(" in shown


# --- batches of another size -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 7, 5000])
def test_a_batch_of_any_size_has_the_same_bits_on_both_and_the_same_truth(batch: int, quick: Any) -> None:
    case = of(problems.hartmann6(), 300)
    here, there = (searched(case, where, batch=batch) for where in ("cpu", Gpu(**EVERYTHING)))
    assert same_outcome(here, there) and here.lower <= -3.3223680114 <= here.upper + 1e-9
    usual = searched(case, "cpu")
    assert max(usual.lower, here.lower) <= min(usual.upper, here.upper)
    assert batch > 100 or usual.nit != here.nit


def test_a_batch_is_as_large_as_asked_for_and_no_larger_than_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    take = auto.Pool.take
    monkeypatch.setattr(auto.Pool, "take", lambda pool, most: taken.append(most) or take(pool, most))
    for n, given, wanted in (
        (3, {}, 1024), (3, {"batch": 70}, 70), (3, {"batch": 5}, 5), (2048, {}, 512), (2048, {"batch": 65_536}, 512),
    ):  # fmt: skip
        problem = problems.rastrigin(n)
        function, domain, options = asked(of(problem, 1), **given)
        taken.clear()
        auto.search(function, domain, options)
        assert set(taken) == {wanted}, (n, given)


def test_a_batch_is_a_quarter_of_the_boxes_that_wait_on_every_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int]] = []
    take = auto.Pool.take
    monkeypatch.setattr(auto.Pool, "take", lambda pool, most: taken.append((len(pool), most)) or take(pool, most))
    function, domain, options = asked(of(problems.watson(), 40), contractors=("level", "mean_value"))
    auto.search(function, domain, options)
    assert max(waiting for waiting, _ in taken) > 4 * 1024
    assert all(most == max(1024, waiting // 4) for waiting, most in taken)


# --- the interface ---------------------------------------------------------------------------------------------------


def minimum(backend: str, **options: Any) -> infimum.Result:
    return infimum.minimize(_branches, [(-1, 1), (-1, 1)], backend=backend, progress=False, **options)


def test_cuda_runs_the_default_method_and_says_so(quick: Any) -> None:
    here, there = minimum("cpu", batch=64), minimum("cuda", batch=64)
    assert here.backend == "cpu" and there.backend == "cuda: Fake"
    assert np.array_equal(here.boxes, there.boxes) and here.nit == there.nit and here.fun == there.fun
    assert minimum("cuda", method="auto").backend == "cuda: Fake"


def test_a_batch_belongs_to_the_default_method() -> None:
    with pytest.raises(InvalidOption, match=r"batch=5 belongs to method='auto'.*selection=Best"):
        minimum("cpu", batch=5, method="paper")
    with pytest.raises(InvalidOption, match="batch must be a positive integer, got 0"):
        minimum("cpu", batch=0)


def test_what_is_missing_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert minimum("auto").backend == "cpu"
    with pytest.raises(BackendUnavailable, match="needs CuPy: pip install"):
        minimum("cuda")
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module(tmp_path, status=35))
    assert minimum("auto").backend == "cpu"
    monkeypatch.setattr(placed, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(placed, "MANY_BOXES", 1)
    assert "update the driver" in minimum("auto").backend
    with pytest.raises(BackendUnavailable, match="update the driver"):
        minimum("cuda")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (fake_cupy.OutOfMemoryError(), r"memory of Fake .* is used up: .* or use backend='cpu'"),
        (fake_cupy.CUDARuntimeError(700), r"CUDA failed on the way .*use backend='cpu'"),
    ],
)
def test_what_fails_between_two_runs_is_said_in_a_sentence(
    error: Exception, words: str, quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(ContractorChain, "contract", failing)
    with pytest.raises(BackendUnavailable, match=words):
        minimum("cuda")


def test_boxes_for_which_memory_is_short_go_by_way_of_the_host(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = pretend(folder, monkeypatch, memory=8 * 400)
    case = CASES["where"]()
    assert same_outcome(searched(case, Gpu(**EVERYTHING)), searched(case, "cpu"))
    assert 0 < max(count for _, count in small.launches) <= 400


# --- auto ------------------------------------------------------------------------------------------------------------


def test_a_short_search_never_asks_whether_a_gpu_is_there(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_device, "available", lambda: pytest.fail("asked"))
    assert minimum("auto").backend == "cpu" and not fake.launches


@pytest.mark.parametrize(("on_cpu", "on_gpu", "chosen"), [(4e-6, 1e-6, "cuda"), (1.5e-6, 1e-6, "cpu")])
def test_a_long_search_goes_on_where_a_gpu_is_much_faster(
    on_cpu: float, on_gpu: float, chosen: str, quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placed, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(placed, "MANY_BOXES", 1)
    seconds = itertools.cycle([on_cpu, on_gpu])
    monkeypatch.setattr(backend, "_box_seconds", lambda *_: next(seconds))
    shown: list[tuple[int, str]] = []
    found = minimum("auto", callback=lambda so_far: shown.append((so_far.nit, so_far.backend)))
    measured = f"{on_cpu * 1e9:,.3g} ns to contract a box on the CPU, {on_gpu * 1e9:,.3g} ns on Fake"
    assert found.backend == (f"cuda: Fake; {measured}" if chosen == "cuda" else f"cpu: {measured}")
    assert shown[0] == (1, "cpu") and shown[1] == (2, found.backend), "it does not begin again"
    wanted = minimum(chosen)
    assert np.array_equal(found.boxes, wanted.boxes) and found.nit == wanted.nit
    assert [step.iteration for step in found.history] == [step.iteration for step in wanted.history]


def test_a_place_that_has_moved_does_all_that_the_new_place_does_otherwise() -> None:
    others = {name for name, made in vars(Gpu).items() if callable(made) and name in vars(Place) and name != "__init__"}
    assert others == {"run", "another", "is_ready", "to_device"} and others <= set(vars(Movable))
    asked: list[str] = []

    class Elsewhere(Place):
        def is_ready(self, programs: Any, boxes: Any, seconds: float) -> bool:
            asked.append("is_ready")
            return True

    place = Movable()
    assert not place.is_ready([], np.zeros((1, 1)), 0.0)
    place.move(Elsewhere())
    assert place.is_ready([], np.zeros((1, 1)), 0.0) and asked == ["is_ready"]


def test_limits_count_from_the_beginning_and_a_callback_ends_it_on_either(
    quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placed, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(placed, "MANY_BOXES", 1)
    slowly = lambda *_: time.sleep(0.3) or Choice("cuda", "cuda: Fake", "Fake")  # noqa: E731
    monkeypatch.setattr(backend, "_faster_with_boxes", slowly)
    found = infimum.minimize(problems.watson(6), backend="auto", time_limit=0.5, progress=False)
    assert found.status == 1 and 0.4 < found.seconds < 30
    asked_at: list[int] = []
    stopped = minimum("auto", callback=lambda so_far: asked_at.append(so_far.nit) or True)
    assert stopped.status == 5 and asked_at == [1] and stopped.backend == "cpu"


def test_auto_begins_again_on_the_cpu_where_a_gpu_fails_on_the_way(quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placed, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(placed, "MANY_BOXES", 1)
    monkeypatch.setattr(backend, "_faster_with_boxes", lambda *_: Choice("cuda", "cuda: Fake", "Fake"))

    wanted, real = minimum("cpu"), infimum.function.function.Function.on

    def wrong(self: Any, where: Any) -> Any:
        if where == "cuda":
            raise BackendUnavailable("a kernel is wrong")
        return real(self, where)

    monkeypatch.setattr(infimum.function.function.Function, "on", wrong)
    found = minimum("auto")
    assert found.backend == "cpu: a kernel is wrong"
    assert np.array_equal(found.boxes, wanted.boxes) and found.nit == wanted.nit
    with pytest.raises(BackendUnavailable, match="a kernel is wrong"):
        minimum("cuda")


def test_auto_measures_on_both_and_goes_on_where_the_gpu_fails(quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placed, "LONG_SECONDS", 0.0)
    monkeypatch.setattr(placed, "MANY_BOXES", 1)
    monkeypatch.setattr(backend, "BOXES_ON_CPU", 64)
    monkeypatch.setattr(backend, "BOXES_ON_GPU", 128)
    assert "ns to contract a box on the CPU" in minimum("auto").backend

    def failing(*_: Any) -> Any:
        raise fake_cupy.OutOfMemoryError

    monkeypatch.setattr(CoreKernel, "run", failing)
    monkeypatch.setattr(cuda_batch, "run_kernel", failing)
    assert minimum("auto").backend.startswith("cpu: the memory of Fake")


def test_boxes_that_are_measured_lie_in_the_domain() -> None:
    for bounds in ([(-1, 2)] * 3, [(-np.inf, np.inf), (0, np.inf), (1, 1)], [(1e300, 1.1e300)]):
        domain = read_bounds(bounds)
        lo, hi = backend.boxes_all_over(domain, 100)
        assert (lo <= hi).all() and lo.shape == (100, domain.n)
    assert len(backend.boxes_all_over(read_bounds([(0, 1)] * 4_000_000), 100)[0]) == 1


# --- on a GPU --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ahead() -> None:
    """All kernels of the searches below, compiled on all cores into the cache."""
    places = [Gpu(call=0.0, patience=1e-12, many=10**9) for _ in SMALL]
    for name, place_of in zip(SMALL, places, strict=True):
        searched(of(problems.named(*SMALL[name]), 8), place_of)
    for making in (known.making for place_of in places for known in place_of._known.values()):
        if making is not None:
            making.result()


@pytest.mark.gpu
@pytest.mark.parametrize("name", SMALL)
def test_a_gpu_searches_by_the_default_method_with_the_cpus_bits(name: str, ahead: None) -> None:
    case = of(problems.named(*SMALL[name]), 8)
    gpu = Gpu(**EVERYTHING)
    assert same_outcome(searched(case, gpu, threads=4), searched(case, "cpu", threads=4))
    assert gpu.kernels


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_a_gpu_contracts_large_batches_with_the_cpus_bits(name: str) -> None:
    case = CASES[name]()
    function, domain, _ = asked(case)
    lo, hi = backend.boxes_all_over(domain, 50_000)
    upper = float(np.nanmedian(function((lo + hi) / 2)))
    wanted = ContractorChain(function, domain, 16).contract(Boxes(lo, hi), upper)
    found = ContractorChain(function.on(Gpu(**EVERYTHING)), domain, 16).contract(Boxes(lo, hi), upper)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["watson", "nist_mgh09", "hartmann6"])
def test_batches_of_a_gpu_have_the_cpus_bits_through_a_whole_search(name: str) -> None:
    case = of(problems.named(name, {"watson": 6, "nist_mgh09": 4, "hartmann6": 6}[name]), 16)
    here, there = (searched(case, where, threads=16) for where in ("cpu", "cuda"))
    assert same_outcome(here, there)


@pytest.mark.gpu
def test_a_gpu_is_named_and_a_long_search_is_measured() -> None:
    found = infimum.minimize(problems.watson(6), xtol=None, ftol=1e-9, time_limit=20, progress=False)
    assert "ns to contract a box on the CPU" in found.backend or found.seconds < 1.5
    assert infimum.minimize(problems.lj3(), backend="cuda", progress=False).backend.startswith("cuda: ")

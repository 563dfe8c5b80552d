"""Staging on a device changes nothing but the time: samples, children and whole searches are the core's, bit for bit.

Without a GPU the same kernel text runs on the host (host_staging.py); tests marked `gpu` run it where there is one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import host_cuda
import host_staging
import infimum
import nvrtc
from infimum import core, problems
from infimum.backends.cuda import compile as cuda_compile
from infimum.domain import read_bounds
from infimum.errors import BackendUnavailable
from infimum.function.function import Function, trace
from infimum.search.outcome import Options, Outcome
from infimum.search.paper import regions
from infimum.search.paper import search as paper
from infimum.search.paper.partition import Uniform
from infimum.search.paper.sampling import Midpoint
from infimum.search.paper.selection import Best
from infimum.staging.cuda import device
from infimum.staging.cuda import memory as device_memory
from infimum.staging.cuda import tables as device_tables
from infimum.staging.cuda import working as device_working
from infimum.staging.cuda import world as device_world
from infimum.staging.cuda.device import DeviceStaging
from infimum.staging.cuda.text import kernels
from infimum.staging.cuda.working import Working
from infimum.staging.structure import structure
from infimum.staging.working import equal_parts
from test_staging import FUNCTIONS, Region, _region, _walked

PROBLEMS = {name: getattr(problems, name) for name in (
    "ackley", "belegundu", "breiman", "discontinuous", "fu", "griewank", "levy", "rastrigin", "rosenbrock", "salomon",
    "styblinski", "zabinsky",
)}  # fmt: skip
every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_problem = pytest.mark.parametrize("name", PROBLEMS)
needs_a_compiler = pytest.mark.skipif(host_cuda.compiler() is None, reason="needs a C++ compiler")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("staging")


@pytest.fixture(params=["host", pytest.param("gpu", marks=pytest.mark.gpu)])
def machine(request: pytest.FixtureRequest, folder: Path) -> Callable[[str], Any]:
    if request.param == "gpu":
        return device_memory.GpuMachine
    if host_cuda.compiler() is None:
        pytest.skip("needs a C++ compiler")
    return host_staging.machine(folder)


# ---------------------------------------------------------------------------------------------- one region
def _children(box: Working, region: int, upper: float) -> list[tuple[float, int]]:
    found = []
    box.begin(region, upper)
    while box.bound(region) <= upper and box.bound(region) < np.inf:
        kind, bound, index = box.advance(region, upper)
        if kind == 1:
            found.append((bound, index))
    return found


def _everything(box: Working, region: Region, upper: float = np.inf) -> tuple[Any, ...]:
    """What a working box says of a split region: what its tables hold, the sample, all children."""
    masked = bool(region.function.facts(region.pairs).smooth)
    extra = region.function.stages.slopes.extra_ends(region.lo, region.hi) if masked else None
    number = box.split(region.variables, region.edges)
    kind = box.tabulate(number, masked, extra)
    return kind, box.sample(number), _children(box, number, upper)


def _both(region: Region, machine: Callable[[str], Any]) -> tuple[core.Staging, DeviceStaging]:
    ends = (region.lo, region.hi)
    stages = region.function.stages
    return stages.working(ends, ends, None), DeviceStaging(stages, ends, ends, None, machine)


@every_function
def test_sample_and_children_are_those_of_the_core(name: str, machine: Callable[[str], Any]) -> None:
    for split in ([0, 1, 2], [2, 3, 4], [5, 0, 3], [4], [1, 0, 2, 3, 5]):
        region = _region(name, split, 1)
        here, there = _both(region, machine)
        assert _everything(here, region) == _everything(there, region), split


@every_function
def test_children_above_the_upper_bound_are_left_out_and_no_other(name: str, machine: Callable[[str], Any]) -> None:
    region = _region(name, [1, 2, 4], 2)
    every = _everything(_both(region, machine)[0], region)[2]
    for upper in [every[len(every) // 2][0], every[0][0], every[0][0] - 1]:
        here, there = _both(region, machine)
        assert _everything(here, region, upper) == _everything(there, region, upper)


def _rugged(x: Any) -> Any:
    """The same for every order of its variables: many sample points are equally good, and descent seldom finds one."""
    return np.sin(5 * np.sum(np.cos(3 * x))) + np.sqrt(np.sum(x**2) + 1) / 8


@pytest.mark.parametrize("threads", [1, 64])
def test_of_equally_good_samples_the_cores_is_found(threads: int, folder: Path) -> None:
    function, machine = trace(_rugged, 6), host_staging.machine(folder, threads)
    for parts, count, width in (
        (4, 6, 4.0),
        (4, 6, 1.0),
        (3, 6, 2.5),
        (2, 6, 3.0),
        (4, 5, 2.0),
        (5, 4, 6.0),
        (4, 6, 8.0),
    ):
        for shift in np.linspace(-1.0, 1.0, 9):
            lo, hi = np.full(6, shift - width / 2), np.full(6, shift + width / 2)
            variables = np.arange(count)
            region = Region(function, lo, hi, variables, equal_parts(lo[variables], hi[variables], parts))
            found = []
            for box in _both(region, machine):
                number = box.split(region.variables, region.edges)
                box.tabulate(number, False, None)
                found.append(box.sample(number))
            assert found[0] == found[1], (parts, count, width, shift)


@pytest.mark.parametrize("prefixes", [1, 4, 64])
@every_function
def test_prefixes_of_few_digits_lead_to_the_same_children(
    name: str, prefixes: int, machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_tables, "MOST_PREFIXES", prefixes)
    for split in ([2, 3, 4, 0, 1], [5, 0, 3, 1]):
        region = _region(name, split, 1)
        here, there = _both(region, machine)
        assert _everything(here, region) == _everything(there, region), split


@needs_a_compiler
@pytest.mark.parametrize("backwards", [False, True])
@every_function
def test_the_order_of_threads_between_two_barriers_does_not_matter(name: str, backwards: bool, folder: Path) -> None:
    for split, n in (([2, 3, 4, 0, 1], 6), ([2, 3], 600)):
        region = _region(name, split, 3, n)
        here, there = _both(region, host_staging.machine(folder, 64, backwards))
        assert _everything(here, region) == _everything(there, region)


def _of_all_pairs(x: Any) -> Any:
    i, j = np.triu_indices(60, 1)
    return np.sum((x[i] - x[j]) ** 2 + np.sin(x[i] * x[j]))


@pytest.mark.parametrize("threads", [1, 64])
def test_a_split_too_large_for_near_memory_gives_the_cores_sample_and_children(threads: int, folder: Path) -> None:
    function, variables = trace(_of_all_pairs, 60), np.array([3, 20, 21, 40, 59])
    lo, hi = np.full(60, -1.5), np.linspace(0.1, 2, 60)
    region = Region(function, lo, hi, variables, equal_parts(lo[variables], hi[variables], 4))
    box = function.stages.working((lo, hi), (lo, hi), None)
    _, start, size = box.pack(box.split(variables, region.edges), False, None)
    head = device_world.Head.from_address(start)
    assert size > 12288 and head.bytes - head.shape > 4096 and head.pool > 1024  # device_step.h, device_children.h
    here, there = _both(region, host_staging.machine(folder, threads))
    assert _everything(here, region) == _everything(there, region)


@pytest.mark.parametrize("name", ["sum", "chain", "sum and product", "maximum"])
def test_tables_made_after_a_walk_are_those_of_the_core(name: str, machine: Callable[[str], Any]) -> None:
    n = 700  # more than two chunks of the tree
    function = trace(FUNCTIONS[name], n)
    here, lo, hi, known = _walked(function, n, 40, 11)
    there = DeviceStaging(function.stages, (lo, hi), (lo, hi), np.full(n, 1e-3), machine)
    random = np.random.default_rng(11)
    for number, (_, _, variables, edges) in enumerate(known):
        if number:
            region = int(random.integers(number))
            index = int(random.integers(3**2))
            there.go(region, index, 2)
        random.choice(n, 2, replace=False)
        assert there.split(variables, edges) == number
    for region in [17, 3, 39, 0, 21, 3]:
        found = []
        for box in (here, there):
            box.go(region)
            assert box.tabulate(region, False) == 1
            found.append((box.sample(region), _children(box, region, np.inf)))
        assert found[0] == found[1], region


def test_a_region_whose_tables_are_gone_goes_on_where_it_was(machine: Callable[[str], Any]) -> None:
    region = _region("sum", [0, 1, 2], 1)
    here, there = _both(region, machine)
    expected = _everything(here, region)[2]
    number = there.split(region.variables, region.edges)
    masked = bool(region.function.facts(region.pairs).smooth)
    there.tabulate(number, masked, None)
    there.begin(number, np.inf)
    found = []
    while there.bound(number) < np.inf:
        there._tables.release(number)
        kind, bound, index = there.advance(number, np.inf)
        if kind == 2:
            there.go(number)
            there.tabulate(number, masked, None)
        elif kind == 1:
            found.append((bound, index))
    assert found == expected


def test_what_is_left_covers_every_child_that_was_not_emitted(machine: Callable[[str], Any]) -> None:
    region = _region("partly undefined", [0, 1, 2], 1)
    here, there = _both(region, machine)
    every = _everything(here, region)[2]
    number = there.split(region.variables, region.edges)
    there.tabulate(number, False, None)
    there.begin(number, np.inf)
    for emitted in range(len(every) + 1):
        bounds, indices, depths = there.prefixes(number)
        assert there.left(number) == bounds.size
        whole = 0 in depths.tolist()
        assert whole or indices.tolist() == [index for _, index in every[emitted:]]
        while emitted < len(every) and there.advance(number, np.inf)[0] != 1:
            pass


# ---------------------------------------------------------------------------------------------- whole searches
def _search(function: Function, problem: Any, options: Options) -> Outcome:
    return paper.search(function, read_bounds(problem.bounds), options)


def _assert_same(
    problem: Any, options: Options, machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = trace(problem.f, problem.n, jac=problem.jac)
    expected = _search(function, problem, options)

    def on_the_device(*arguments: Any) -> Working:
        stages, ends, widths, _, partition = arguments
        assert device_working.fits(stages, *partition)
        return device_working.working(stages, ends, widths, "cuda", partition, machine)

    monkeypatch.setattr(regions, "working", on_the_device)
    found = _search(function, problem, options)
    assert (found.nit, found.status) == (expected.nit, expected.status)
    assert (found.lower.hex(), found.upper.hex()) == (expected.lower.hex(), expected.upper.hex())
    assert np.array_equal(found.boxes, expected.boxes)
    assert np.array_equal(found.lower_bounds, expected.lower_bounds)
    assert np.array_equal(found.x, expected.x)
    assert [step[:4] for step in found.history] == [step[:4] for step in expected.history]


@every_problem
def test_a_search_on_a_device_ends_with_the_same_answer(
    name: str, machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(partition=Uniform(4, 5))
    _assert_same(PROBLEMS[name](23), options, machine, monkeypatch)


@pytest.mark.parametrize("name", ["levy", "rosenbrock", "griewank"])
def test_a_search_with_the_papers_partition_ends_with_the_same_answer(
    name: str, machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _assert_same(PROBLEMS[name](20), Options(), machine, monkeypatch)


@needs_a_compiler
@pytest.mark.parametrize("backwards", [False, True])
def test_a_search_with_as_many_threads_as_on_a_gpu_ends_with_the_same_answer(
    backwards: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = host_staging.machine(folder, device_memory.STEP_THREADS, backwards, 64)
    _assert_same(PROBLEMS["rosenbrock"](20), Options(), machine, monkeypatch)


def test_a_search_with_room_for_one_region_ends_with_the_same_answer(
    machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_tables, "_PLACES_BYTES", 0)
    monkeypatch.setattr(device_tables, "_FEWEST_PLACES", 1)
    _assert_same(PROBLEMS["rosenbrock"](30), Options(partition=Uniform(4, 5)), machine, monkeypatch)


@pytest.mark.parametrize("changed", [{"selection": Best(3)}, {"sampling": Midpoint()}])
def test_other_strategies_end_with_the_same_answer(
    changed: dict[str, Any], machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(partition=Uniform(3, 6), **changed)
    _assert_same(PROBLEMS["griewank"](20), options, machine, monkeypatch)


@pytest.mark.parametrize("name", ["griewank", "rosenbrock", "salomon"])
def test_a_search_that_ends_with_its_gap_ends_with_the_same_answer(
    name: str, machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(partition=Uniform(3, 6), xtol=None, ftol=1e-6)
    _assert_same(PROBLEMS[name](20), options, machine, monkeypatch)


@pytest.mark.parametrize("most", [1, 2, 5, 9, 40])
@pytest.mark.parametrize("name", ["rastrigin", "rosenbrock", "ackley", "discontinuous"])
def test_a_search_stopped_after_some_iterations_leaves_the_same_boxes(
    name: str, most: int, machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _assert_same(PROBLEMS[name](12), Options(partition=Uniform(4, 5), max_iter=most), machine, monkeypatch)


def test_a_search_stopped_by_its_regions_leaves_the_same_boxes(
    machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(partition=Uniform(4, 5), max_regions=7)
    _assert_same(PROBLEMS["rosenbrock"](20), options, machine, monkeypatch)


@pytest.mark.parametrize("place", [0, 1, 2, 8, 40])
def test_kernels_that_give_other_numbers_are_not_believed(
    place: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the sample's value and range, a child's bound and its index."""

    class Faulty(host_staging.Host):
        def answer(self) -> list[float]:
            found = super().answer()
            found[place] = np.nextafter(found[place], np.inf) if place < 40 else found[place] + 1
            return found

    faulty = lambda text: Faulty(text, folder, 1, False, 2)  # noqa: E731
    problem = PROBLEMS["levy"](12)
    stages, domain = trace(problem.f, problem.n).stages, read_bounds(problem.bounds)
    ends = (domain.lo, domain.hi), (domain.inner_lo, domain.inner_hi)
    made = device_working.working(stages, ends, None, "cuda", (4, 5), host_staging.machine(folder))
    assert isinstance(made, device.DeviceStaging)
    monkeypatch.setattr(device_working.cuda_device, "current", lambda: type("Device", (), {"name": "a GPU"}))
    with pytest.raises(BackendUnavailable, match="other numbers than the CPU"):
        device_working.working(stages, ends, None, "cuda", (4, 5), faulty)


def test_an_interrupted_search_leaves_a_true_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = PROBLEMS["rastrigin"](12)
    function = trace(problem.f, problem.n)
    machine = host_staging.machine(folder)
    monkeypatch.setattr(regions, "working", lambda *a: device_working.working(a[0], a[1], a[2], "cuda", a[4], machine))
    for most in (1, 2, 5, 9):
        options, domain = Options(partition=Uniform(4, 5)), read_bounds(problem.bounds)
        found = paper.search(function, domain, options, lambda now, most=most: now.iteration >= most)
        assert found.lower <= 0.0 <= found.upper
        inside = [((box[:, 0] <= 0.0) & (box[:, 1] >= 0.0)).all() for box in found.boxes]
        assert any(inside)


# ---------------------------------------------------------------------------------------------- terms that cancel
# Rounding is then large against the sum, and the enclosure of a prefix may begin above those of its children.
def _cancelling(seed: int, size: float, n: int) -> Function:
    large = np.random.default_rng(seed).normal(size=n) * size
    large[-1] = -large[:-1].sum()
    return trace(lambda x: np.sum(large + np.cos(2 * infimum.pi * x)), n)


@pytest.mark.parametrize("prefixes", [1, 16, 64, 2**14])
@pytest.mark.parametrize("size", [1.0, 1e5, 1e10, 1e15])
def test_children_are_those_of_the_core_where_terms_cancel(
    size: float, prefixes: int, machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_tables, "MOST_PREFIXES", prefixes)
    lo, hi = np.zeros(5), np.full(5, 4.0)
    for seed, parts in ((1, 4), (2, 3), (3, 4)):
        variables = np.arange(5)
        edges = equal_parts(lo, hi, parts)
        region = Region(_cancelling(seed, size, 5), lo, hi, variables, edges)
        here, there = _both(region, machine)
        found = _everything(here, region)
        assert found == _everything(there, region)
        assert found[2] == sorted(found[2]) and len(found[2]) == parts**5


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_a_stopped_search_loses_no_child_where_terms_cancel(
    seed: int, machine: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_tables, "MOST_PREFIXES", 16)
    function, domain = _cancelling(seed, 1e10, 4), read_bounds([(0.0, 4.0)] * 4)
    minimisers = np.stack(np.meshgrid(*[np.arange(4) + 0.5] * 4), -1).reshape(-1, 1, 4)
    every = [Options(partition=Uniform(4, 4), max_iter=most) for most in (1, 2, 3, 4)]
    expected = [paper.search(function, domain, options).boxes for options in every]
    monkeypatch.setattr(regions, "working", lambda *a: DeviceStaging(a[0], *a[1], a[2], machine))
    for options, known in zip(every, expected, strict=True):
        boxes = paper.search(function, domain, options).boxes
        assert ((boxes[:, :, 0] <= minimisers) & (minimisers <= boxes[:, :, 1])).all(2).any(1).all(), options.max_iter
        assert np.array_equal(boxes, known)


# ---------------------------------------------------------------------------------------------- the compiler of a GPU
@pytest.mark.parametrize(
    ("name", "architecture"),
    [*((name, "compute_90") for name in PROBLEMS), ("griewank", "compute_80"), ("griewank", "compute_100")],
)
def test_the_kernels_of_every_problem_compile(name: str, architecture: str) -> None:
    compiler = nvrtc.library()
    if compiler is None:
        pytest.skip("needs NVRTC: pip install nvidia-cuda-nvrtc")
    problem = PROBLEMS[name](30)
    function = trace(problem.f, problem.n, jac=problem.jac)
    made = structure(function.value_node, problem.n)
    assert made is not None
    programs, reductions = [f.program for f in made.families], {f.op for f in made.families}
    text = kernels(programs, made.epilogue, function.stages.slopes.programs, reductions)
    found = _ptx(compiler, text, architecture)
    assert ".entry infimum_step" in found and ".entry infimum_children" in found


def _ptx(compiler: ctypes.CDLL, source: str, architecture: str) -> str:
    folders = (*cuda_compile.HEADERS, Path(device_memory.__file__).parent)
    options = [
        *cuda_compile.OPTIONS,
        f"--gpu-architecture={architecture}",
        *(f"--include-path={path}" for path in folders),
    ]
    encoded = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    program = ctypes.c_void_p()
    compiler.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"program.cu", 0, None, None)
    if compiler.nvrtcCompileProgram(program, len(options), encoded):
        raise RuntimeError(nvrtc._text(compiler, program, "ProgramLog"))
    return nvrtc._text(compiler, program, "PTX")


def test_parts_of_the_searches_that_a_device_cannot_take_stay_here() -> None:
    stages = trace(FUNCTIONS["sum"], 30).stages
    assert device_working.fits(stages, 4, 10)
    assert (
        not device_working.fits(stages, 4, 30)
        and not device_working.fits(stages, 100, 2)
        and not device_working.fits(stages, 1, 2)
    )
    ends = (np.zeros(30), np.ones(30))
    assert isinstance(device_working.working(stages, (ends, ends), None, "cuda", (4, 30)), core.Staging)
    assert equal_parts(*ends, 4).shape == (30, 5)

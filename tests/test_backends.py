"""A search has the same bits on every backend; auto says what it chose; what is missing is said in one sentence."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from rich.console import Console

import fake_cupy
import host_cuda
import infimum
import nvrtc
from infimum import problems
from infimum.api.progress import Display
from infimum.backends.cuda import children as cuda_children
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda.emit import emit
from infimum.backends.cuda.memory import TEAMS
from infimum.backends.cuda.tape import emit_tape
from infimum.bench import paper as cli_bench
from infimum.cli import main as cli
from infimum.domain import read_bounds
from infimum.errors import BackendUnavailable, InvalidOption
from infimum.function.function import Function, trace
from infimum.search import backend as backends
from infimum.search.outcome import Options, Outcome, Progress
from infimum.search.paper import device_children, survivors
from infimum.search.paper import search as paper
from infimum.search.paper.device_children import DeviceChildren
from infimum.search.paper.enumerated import EnumeratedRun, Run, children
from infimum.search.paper.partition import Uniform, cut
from infimum.search.paper.sampling import Look, _best_diagonal_point
from infimum.search.paper.split import Split


class Case(NamedTuple):
    """A function that does not stage."""

    f: Callable[..., Any]
    bounds: list[tuple[float, float]]
    partition: Uniform


def rotation(n: int) -> Any:
    return np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]


def rotated_rastrigin(n: int) -> Callable[..., Any]:
    r = rotation(n)

    def f(x: Any) -> Any:
        y = r @ (x - 0.3)
        return 10 * n + np.sum(y**2 - 10 * np.cos(2 * infimum.pi * y))

    return f


def _sums(x: Any) -> Any:
    return np.sum(np.cumsum(x) ** 2) + np.sum(np.sin(np.cumsum(x)))


def _shares(x: Any) -> Any:
    v = x / (1 + np.sum(x**2))
    return np.sum(v**3 - v)


def _undefined_in_places(x: Any) -> Any:
    c = np.cumsum(x)
    return np.sum(np.sqrt(c - 1)) + np.sum(np.abs(c - 1.5))


def _steps(x: Any) -> Any:
    return np.sum(np.floor(4 * np.cumsum(x)) ** 2)


def _bounded(x: Any) -> Any:
    c = np.cumsum(x - 0.5)
    return np.sum(c**2 / (1 + c**2))


CASES = {
    "rotated Rastrigin": Case(rotated_rastrigin(5), [(-5.12, 5.12)] * 5, Uniform(4, 4)),
    "cumulative sums": Case(_sums, [(-2, 3)] * 3, Uniform(3, 3)),
    "vector over a reduction": Case(_shares, [(-3, 2)] * 4, Uniform(5, 2)),
    "undefined in places": Case(_undefined_in_places, [(-1, 2)] * 3, Uniform(4, 3)),
    "many equal values": Case(_steps, [(-1, 1)] * 2, Uniform(70, 2)),
    "unbounded": Case(_bounded, [(-math.inf, math.inf), (0, math.inf), (-1, 1)], Uniform(6, 3)),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.fixture
def fake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One GPU, on the host."""
    return pretend(folder, monkeypatch)


def pretend(folder: Path, monkeypatch: pytest.MonkeyPatch, **given: Any) -> Any:
    if host_cuda.compiler() is None:
        pytest.skip("no C++ compiler")
    made = fake_cupy.module(folder, **given)
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setattr("infimum.staging.cuda.working.fits", lambda *_: False)  # tests/test_staging*.py are about that
    return made


def traced(case: Case) -> Function:
    return trace(case.f, len(case.bounds))


def first_split(case: Case) -> tuple[Split, Any, Any]:
    domain = read_bounds(case.bounds)
    variables = np.arange(domain.n)[-case.partition.variables :]  # not the first ones: places and rows differ
    return Split(variables, cut(case.partition, domain.lo[variables], domain.hi[variables])), domain.lo, domain.hi


def emitted(run: Run, count: int = 10**6) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    while run.bound() < np.inf and len(found) < count:
        bound, index = run.advance()
        found.append((bound.hex(), index))
    return found


def agree(function: Function, case: Case, device: DeviceChildren) -> None:
    """The children and the best point of the first region, on the CPU and on a device."""
    split, lo, hi = first_split(case)
    for upper in (np.inf, 30.0, -1e300):
        wanted = EnumeratedRun(function, split, lo, hi, upper)
        found = device.run(split, lo, hi, upper)
        assert emitted(found, 50) == emitted(wanted, 50)
        for mine, theirs in zip(found.left(), wanted.left(), strict=True):
            assert np.array_equal(mine, theirs)
        assert emitted(found) == emitted(wanted)
    look = Look(function, read_bounds(case.bounds), None, split, lo, hi, None, 1)
    with np.errstate(all="ignore"):
        best = _best_diagonal_point(look)
    there = device.best_point(split, lo, hi)
    assert np.array_equal(look.middle() if there is None else there, best)


_NUMBERS = ("lower", "upper", "status", "nit", "boxes_evaluated", "points_evaluated")


def same(a: Outcome, b: Outcome) -> bool:
    """Everything but the time."""
    arrays = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("boxes", "lower_bounds", "x"))
    numbers = all(getattr(a, name) == getattr(b, name) for name in _NUMBERS)
    return arrays and numbers and [step[:4] for step in a.history] == [step[:4] for step in b.history]


def search(case: Case, backend: str, **options: Any) -> Outcome:
    asked = Options(partition=case.partition, **options)
    return paper.search(traced(case).on(backend), read_bounds(case.bounds), asked)


# --- children by their numbers ---------------------------------------------------------------------------------------


@every_case
def test_a_search_on_a_gpu_has_the_bits_of_one_on_the_cpu(case: Case, fake: Any) -> None:
    assert same(search(case, "cuda", max_iter=12), search(case, "cpu", max_iter=12))
    assert fake.launches, "the function stages: choose another"


@every_case
def test_children_and_best_points_are_the_same_however_the_work_is_cut(
    case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(folder, monkeypatch, devices=2)
    function = traced(case)
    agree(function, case, DeviceChildren(function, cuda_children.queues()[:1]))
    monkeypatch.setattr(device_children, "PIECE", 7)
    monkeypatch.setattr(survivors, "FETCHED", 3)
    queues = cuda_children.queues(streams=2)
    assert [queue.number for queue in queues] == [0, 0, 1, 1]
    agree(function, case, DeviceChildren(function, queues[:2]))  # two streams of one GPU
    agree(function, case, DeviceChildren(function, queues))


@every_case
def test_children_of_a_kernel_that_gives_other_numbers_are_refused(
    case: Case, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = cuda_kernel.Kernel.launch

    def off(kernel: cuda_kernel.Kernel, lo: Any, hi: Any, out: Any, *rest: Any) -> None:
        launch(kernel, lo, hi, out, *rest)
        out[0][0] = np.nextafter(out[0][0], -np.inf) if out[0][0] == out[0][0] else 0.0

    monkeypatch.setattr(cuda_kernel.Kernel, "launch", off)
    with pytest.raises(BackendUnavailable, match="other numbers than the CPU"):
        search(case, "cuda", max_iter=2)


def test_every_team_reads_children_by_their_numbers(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rotated Rastrigin", "cumulative sums"):
        case = CASES[name]
        function = traced(case)
        for team in TEAMS:
            monkeypatch.setattr(cuda_children.emit_launch, "best_team", lambda *_, team=team: team)
            agree(function, case, DeviceChildren(function))


def test_a_long_program_reads_children_by_their_numbers(fake: Any) -> None:
    def long(x: Any) -> Any:
        y = x[0]
        for i in range(2100):
            y = np.sin(y) + x[i % 3] * (i % 7) if i % 5 else y - x[1]
        return y

    case = Case(long, [(-1, 2)] * 3, Uniform(3, 2))
    function = traced(case)
    assert len(function.value_program.instructions) > 2000
    agree(function, case, DeviceChildren(function))


@pytest.mark.parametrize("parts", [2, 3, 5, 17, 2**12 + 1])
def test_the_digits_of_every_child_fit(parts: int) -> None:
    count = int(math.log(2**24, parts) + 1e-9)
    edges = np.repeat(np.arange(parts + 1.0)[None], count, 0)
    made = cuda_children.rows(np.arange(1, count + 1), edges, np.zeros(count + 2), np.ones(count + 2))
    bits = (parts - 1).bit_length()
    assert made.places[1:-1, 1].max() + bits <= 31 == made.places[0, 1] == made.places[-1, 1]
    assert made.lo.size == 2 + count * parts


def test_more_children_than_are_evaluated_are_refused_alike(fake: Any) -> None:
    case = Case(_sums, [(-2, 3)] * 3, Uniform(300, 3))
    for backend in ("cpu", "cuda"):
        with pytest.raises(InvalidOption, match="27000000 children"):
            search(case, backend, max_iter=2)


def test_survivors_move_to_the_host_where_memory_is_short_and_stay_the_same(fake: Any) -> None:
    case = CASES["rotated Rastrigin"]
    function = traced(case)
    device = DeviceChildren(function)
    split, lo, hi = first_split(case)
    runs = [device.run(split, lo, hi, np.inf) for _ in range(2)]
    assert emitted(runs[0], 5)
    device.spill()
    assert all(part._far is None for run in runs for part in run._parts)
    wanted = emitted(EnumeratedRun(function, split, lo, hi, np.inf))
    assert emitted(runs[0]) == wanted[5:] and emitted(runs[1]) == wanted


def test_pieces_are_halved_until_they_fit_and_a_child_too_large_is_refused_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES["rotated Rastrigin"]
    function = traced(case)
    small = pretend(folder, monkeypatch, memory=8 * 100)
    agree(function, case, DeviceChildren(function))
    assert 0 < max(count for _, count in small.launches) <= 100
    cuda_kernel.kernel.cache_clear()
    pretend(folder, monkeypatch, memory=1)
    with pytest.raises(BackendUnavailable, match=r"memory of Fake \(0 GiB\) is used up: .* or use backend='cpu'"):
        search(case, "cuda", max_iter=2)


def test_a_failure_of_cuda_on_the_way_is_said_in_a_sentence(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise fake_cupy.CUDARuntimeError(700)

    monkeypatch.setattr(fake, "flatnonzero", failing)
    with pytest.raises(BackendUnavailable, match=r"CUDA failed on the way .*use backend='cpu'"):
        search(CASES["cumulative sums"], "cuda", max_iter=2)


@pytest.mark.parametrize("architecture", [80, 90, 100])
@pytest.mark.parametrize("value", ["Range", "Point"])
def test_nvrtc_compiles_kernels_that_read_children(architecture: int, value: str) -> None:
    compiler = nvrtc.library()
    if compiler is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")
    program = traced(CASES["rotated Rastrigin"]).value_program
    for made, team in ((emit(program), 1), (emit(program), 32), (emit_tape(program), 1)):
        head = f"#define INFIMUM_TEAM {team}\n#define INFIMUM_VALUE {value}\n#define INFIMUM_INPUT Children\n"
        assert f".entry {made.name}(" in host_cuda.ptx(compiler, head + made.text, f"compute_{architecture}")


# --- batches ---------------------------------------------------------------------------------------------------------


def test_a_function_takes_its_batches_to_the_backend_named(fake: Any) -> None:
    function = trace(problems.levy(3).f, 3, jac=None)
    lo = np.random.default_rng(3).uniform(-5, 5, (40, 3))
    boxes = np.stack([lo, lo + 0.1], -1)
    for name in ("enclose", "gradient"):
        here, there = (getattr(function, name)(boxes, backend=backend) for backend in ("cpu", "cuda"))
        assert np.array_equal(here.lo, there.lo) and np.array_equal(here.hi, there.hi)
    facts = [function.facts(boxes, backend=backend) for backend in ("cpu", "cuda")]
    assert all(np.array_equal(a, b) for a, b in zip(*facts, strict=True))
    assert np.array_equal(function(lo, backend="cpu"), function(lo, backend="cuda"))
    assert function(lo[0], backend="cuda") == function(lo[0]) and len(fake.launches) == 5
    with pytest.raises(InvalidOption, match="backend='cpu' or 'cuda', got 'tpu'"):
        function.enclose(boxes, backend="tpu")


# --- which backend ---------------------------------------------------------------------------------------------------


def minimum(backend: str, case: Case = CASES["cumulative sums"], **options: Any) -> infimum.Result:
    return infimum.minimize(
        case.f, case.bounds, partition=case.partition, max_iter=4, backend=backend, progress=False, **options
    )


def ends(result: infimum.Result) -> tuple[float, float]:
    return float(result.minimum.lo), float(result.minimum.hi)


LARGE = Case(_sums, [(-2, 3)] * 6, Uniform(4, 6))


def test_cuda_says_which_device_and_the_result_is_the_same(fake: Any) -> None:
    here, there = minimum("cpu"), minimum("cuda")
    assert here.backend == "cpu" and "backend" not in repr(here)
    assert there.backend == "cuda: Fake" and "  backend  cuda: Fake\n" in repr(there)
    assert there.to_dict()["backend"] == "cuda: Fake"
    assert ends(here) == ends(there) and np.array_equal(here.boxes, there.boxes) and here.nit == there.nit


def test_the_method_is_the_default_one_on_every_backend_unless_a_strategy_is_given(fake: Any) -> None:
    plain = {"f_or_problem": _sums, "bounds": [(-1, 2)] * 2, "max_iter": 3, "progress": False}
    for backend in ("cpu", "cuda"):
        wanted = infimum.minimize(method="auto", backend=backend, **plain)
        found = infimum.minimize(backend=backend, **plain)
        assert np.array_equal(found.boxes, wanted.boxes) and found.nit == wanted.nit
        given = infimum.minimize(partition=Uniform(3, 2), backend=backend, **plain)
        named = infimum.minimize(partition=Uniform(3, 2), method="paper", backend=backend, **plain)
        assert np.array_equal(given.boxes, named.boxes) and not np.array_equal(given.boxes, found.boxes)


def test_several_gpus_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(folder, monkeypatch, devices=2)
    found = minimum("cuda")
    assert found.backend == "cuda: 2 of Fake" and ends(found) == ends(minimum("cpu"))


def test_auto_without_cupy_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert minimum("auto").backend == "cpu"


@pytest.mark.parametrize(
    ("status", "words"), [(35, "update the driver"), (100, "none is visible"), (999, "nvidia-smi")]
)
def test_auto_is_the_cpu_where_cuda_does_not_start_and_says_why(
    status: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module(tmp_path, status=status))
    found = minimum("auto").backend
    assert found.startswith("cpu: ") and words in found
    with pytest.raises(BackendUnavailable, match=words):
        minimum("cuda")


def test_a_missing_gpu_is_one_sentence_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert cli.main(["solve", "levy", "--dim", "2", "--backend", "cuda"]) == cli.WRONG
    said = capsys.readouterr().err
    assert said.startswith("infimum: backend='cuda' needs CuPy: pip install") and said.count("\n") == 1
    assert cli.main(["solve", "levy", "--dim", "2", "--backend", "auto", "--quiet"]) == cli.PROVED


def test_auto_is_the_cpu_where_a_function_stages_or_has_few_children(fake: Any) -> None:
    problem = problems.levy(12)
    staged = infimum.minimize(problem, method="paper", backend="auto", max_iter=2, progress=False)
    assert staged.backend == "cpu: the function stages, so that children cost little"
    assert minimum("auto").backend == "cpu: a region has only 27 children"
    assert not fake.launches


@pytest.mark.parametrize(("on_cpu", "on_gpu", "chosen"), [(2e-6, 1e-6, "cuda"), (1e-6, 2e-6, "cpu")])
def test_auto_takes_what_was_measured_to_be_faster(
    on_cpu: float, on_gpu: float, chosen: str, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "_child_on_cpu", lambda *_: on_cpu)
    monkeypatch.setattr(backends, "_child_on_gpu", lambda *_: on_gpu)
    made = backends.for_paper("auto", traced(LARGE), read_bounds(LARGE.bounds), Options(partition=LARGE.partition))
    assert made.backend == chosen and made.text.startswith(f"{chosen}: ")
    assert f"{on_cpu * 1e9:,.3g} ns a child on the CPU, {on_gpu * 1e9:,.3g} ns on Fake" in made.text
    assert made.shown("f") == ("f on Fake" if chosen == "cuda" else "f")


def test_auto_measures_on_both(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "CHILDREN_ON_GPU", 64)
    found = minimum("auto", LARGE)
    assert found.backend.partition(": ")[0] in ("cpu", "cuda") and "ns a child on the CPU" in found.backend
    assert {count for _, count in fake.launches[:3]} == {64}


def test_auto_is_the_cpu_where_the_gpu_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(folder, monkeypatch, memory=1)
    assert minimum("auto", LARGE).backend.startswith("cpu: the memory of Fake")


def test_the_progress_line_names_the_device() -> None:
    shown = io.StringIO()
    with Display(True, backends.Choice("cuda", "cuda: Fake", "Fake").shown("f"), shown) as display:
        display.update(Progress(3, 0.0, 1.0, 5, 2.0))
    assert shown.getvalue().startswith("f on Fake  iteration 3")


def test_the_papers_table_says_the_device(fake: Any, tmp_path: Path) -> None:
    files = {"csv_file": str(tmp_path / "a.csv"), "json_file": str(tmp_path / "a.json")}
    shown = io.StringIO()
    cli_bench.paper(["levy"], [2], backend="cuda", console=Console(file=shown, width=160), **files)
    assert "Fake" in shown.getvalue() and "cuda: Fake" in Path(files["csv_file"]).read_text()
    plain = io.StringIO()
    cli_bench.paper(["levy"], [2], backend="cpu", console=Console(file=plain, width=160), **files)
    assert " on\n" not in plain.getvalue() and "cpu" not in plain.getvalue().partition("Seconds")[2]


# --- on a GPU --------------------------------------------------------------------------------------------------------


@pytest.mark.gpu
@every_case
def test_a_gpu_searches_with_the_cpus_bits(case: Case) -> None:
    assert same(search(case, "cuda", max_iter=40), search(case, "cpu", max_iter=40))


@pytest.mark.gpu
@pytest.mark.parametrize("streams", [1, 2])
def test_a_gpu_evaluates_the_papers_million_children_with_the_cpus_bits(streams: int) -> None:
    case = Case(rotated_rastrigin(30), [(-5.12, 5.12)] * 30, Uniform(4, 10))
    function = traced(case)
    split, lo, hi = first_split(case)
    assert children(split) == 4**10
    device = DeviceChildren(function, cuda_children.queues(streams))
    found, wanted = device.run(split, lo, hi, 1e3), EnumeratedRun(function, split, lo, hi, 1e3, 16)
    assert emitted(found, 20_000) == emitted(wanted, 20_000)
    for mine, theirs in zip(found.left(), wanted.left(), strict=True):
        assert np.array_equal(mine, theirs)
    look = Look(function, read_bounds(case.bounds), None, split, lo, hi, None, 1)
    assert np.array_equal(device.best_point(split, lo, hi), _best_diagonal_point(look))


@pytest.mark.gpu
@every_case
def test_streams_and_pieces_change_nothing_on_a_gpu(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    function = traced(case)
    monkeypatch.setattr(device_children, "PIECE", 101)
    monkeypatch.setattr(survivors, "FETCHED", 10)
    agree(function, case, DeviceChildren(function, cuda_children.queues(streams=2)))


@pytest.mark.gpu
def test_auto_measures_and_says_what_it_chose_on_a_gpu() -> None:
    case = Case(rotated_rastrigin(30), [(-5.12, 5.12)] * 30, Uniform(4, 10))
    found = minimum("auto", case, time_limit=20)
    assert found.backend.startswith(("cpu: ", "cuda: ")) and "ns a child on the CPU" in found.backend

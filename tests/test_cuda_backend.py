"""The CUDA backend: the CPU's bits on a GPU; without one, its bookkeeping on a stand-in for CuPy, and its sentences."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fake_cupy
import host_cuda
import programs
from emitted_cases import PAPER, paper, paper_boxes
from infimum.backends import cpu
from infimum.backends.cuda import audit as cuda_audit
from infimum.backends.cuda import batch as cuda_batch
from infimum.backends.cuda import cache as cuda_cache
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda import launch as emit_launch
from infimum.backends.cuda.emit import emit
from infimum.backends.cuda.memory import TEAMS
from infimum.errors import BackendUnavailable, InvalidInterval, ShapeMismatch
from test_vm import first_difference, same

MODES = ("interval", "point")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own, and no kernel left over from another test."""
    monkeypatch.setenv(cuda_cache.VARIABLE, str(tmp_path / "cache"))
    cuda_kernel.kernel.cache_clear()
    yield tmp_path / "cache"
    cuda_kernel.kernel.cache_clear()


@pytest.fixture
def fake(own_cache: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> Any:
    if host_cuda.compiler() is None:
        pytest.skip("no C++ compiler")
    made = fake_cupy.module(Path(pytestconfig.cache.mkdir("emitted")))
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


def agree(program: Any, boxes: Any, modes: tuple[str, ...] = MODES, **options: Any) -> None:
    for mode in modes:
        wanted, found = cpu.run(program, *boxes, mode), cuda_batch.run(program, *boxes, mode, **options)  # type: ignore[arg-type]
        assert same(found, wanted), (mode, options, first_difference(found, wanted), program.show())


# --- without a GPU ---------------------------------------------------------------------------------------------------


def test_importing_infimum_does_not_import_cupy() -> None:
    code = "import sys, infimum, infimum.backends.cuda.compile; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("status", "words"), [(35, "update the driver"), (100, "use backend='cpu'"), (999, "check the driver")]
)
def test_a_device_that_does_not_start_is_named_in_one_sentence(
    status: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy.module(tmp_path, status=status))
    with pytest.raises(BackendUnavailable, match=words):
        cuda_batch.run(programs.rastrigin(3), np.zeros((2, 3)), np.ones((2, 3)))


def test_a_missing_cupy_is_named_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert "pip install 'infimum[cuda13]'" in str(cuda_device.available())
    with pytest.raises(BackendUnavailable, match="needs CuPy"):
        cuda_batch.run(programs.rastrigin(3), np.zeros((2, 3)), np.ones((2, 3)))


@pytest.mark.parametrize("team", TEAMS)
def test_batches_are_cut_into_pieces_that_give_the_same_bits(fake: Any, team: int) -> None:
    for program in (programs.levy(5), programs.product(300)):
        agree(program, programs.boxes(program.n, 23), team=team, most=5)
    assert {count for _, count in fake.launches} == {5, 3}


def test_a_long_program_runs_on_the_interpreter(fake: Any) -> None:
    program = programs.long_tape(3000)
    agree(program, programs.boxes(program.n, 4))


def test_an_empty_batch_has_empty_results(fake: Any) -> None:
    ((lo, hi),) = cuda_batch.run(programs.rastrigin(3), np.zeros((0, 3)), np.zeros((0, 3)))
    assert lo.shape == hi.shape == (0, 1)


def test_boxes_that_do_not_fit_are_run_in_halves_and_a_box_too_large_is_refused(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = programs.rastrigin(3)
    folder = cuda_cache.folder().parent
    small = fake_cupy.module(folder, memory=8 * 5)
    monkeypatch.setitem(sys.modules, "cupy", small)
    agree(program, programs.boxes(3, 11), most=11)
    assert max(count for _, count in small.launches) == 5
    smaller = fake_cupy.module(folder, memory=1)
    monkeypatch.setitem(sys.modules, "cupy", smaller)
    cuda_kernel.kernel.cache_clear()
    with pytest.raises(BackendUnavailable, match="use backend='cpu'"):
        cuda_batch.run(program, *programs.boxes(3, 4))


class Wrong:
    """A compiler that errs: one number is off by a bit, in calls after so many good ones, unless it takes care."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, careful_too: bool = False, since: int = 0) -> None:
        launch = cuda_kernel.Kernel.launch
        self.calls = 0

        def off(kernel: cuda_kernel.Kernel, lo: Any, hi: Any, out: Any, *rest: Any) -> None:
            launch(kernel, lo, hi, out, *rest)
            self.calls += 1
            if (careful_too or not kernel.is_careful) and self.calls > since:
                end = out[self.calls % 2]
                end[-1] = np.nextafter(end[-1], np.inf)

        monkeypatch.setattr(cuda_kernel.Kernel, "launch", off)


@pytest.mark.parametrize("mode", MODES)
def test_a_kernel_that_gives_other_numbers_is_compiled_again_with_care(
    mode: str, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Wrong(monkeypatch)
    agree(programs.rastrigin(3), programs.boxes(3, 40), (mode,), team=1)
    assert wrong.calls == 2 and fake.compiled == 2


def test_a_kernel_that_is_wrong_even_with_care_is_refused(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Wrong(monkeypatch, careful_too=True)
    with pytest.raises(BackendUnavailable, match="other numbers than the CPU; use backend='cpu'"):
        cuda_batch.run(programs.rastrigin(3), *programs.boxes(3, 40), team=1)


def test_a_kernel_that_is_seen_to_be_wrong_after_it_was_believed_is_refused(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Wrong(monkeypatch, since=1)
    monkeypatch.setattr(cuda_audit, "_ONE_IN", 1)
    program, boxes = programs.rastrigin(3), programs.boxes(3, 40)
    cuda_batch.run(program, *boxes, team=1)
    with pytest.raises(BackendUnavailable, match="other numbers than the CPU"):
        cuda_batch.run(program, *boxes, team=1)


def test_every_box_is_compared_sooner_or_later() -> None:
    assert cuda_audit.chosen(40, 0).tolist() == list(range(40))
    assert {0, 999_999} <= set(cuda_audit.chosen(1_000_000, 0)) and cuda_audit.chosen(1_000_000, 0).size == 64
    assert cuda_audit.chosen(4095, 1).size == 0 and cuda_audit.chosen(0, 0).size == 0
    seen = {int(i) for call in range(1, 9000) for i in cuda_audit.chosen(4096, call)}
    assert seen == set(range(4096))


def test_a_text_is_compiled_once_and_found_on_disk(fake: Any, own_cache: Path) -> None:
    program, boxes = programs.rastrigin(3), programs.boxes(3, 4)
    for _ in range(3):
        cuda_batch.run(program, *boxes)
        cuda_kernel.kernel.cache_clear()
    assert fake.compiled == 1
    (entry,) = own_cache.iterdir()
    for damaged in (entry.read_bytes()[:-3], b"", entry.read_bytes()[:40] + b"x" + entry.read_bytes()[41:]):
        entry.write_bytes(damaged)
        cuda_batch.run(program, *boxes)
        cuda_kernel.kernel.cache_clear()
    assert fake.compiled == 4
    cuda_batch.run(program, *boxes, "point")
    assert fake.compiled == 5


def test_a_cache_that_cannot_be_written_costs_only_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv(cuda_cache.VARIABLE, str(blocked))
    assert cuda_cache.cached("x", lambda: b"made") == b"made"


def test_what_is_no_interval_or_has_another_shape_is_refused(fake: Any) -> None:
    lo, hi = np.zeros((4, 11)), np.ones((4, 11))
    lo[2, 9] = 2.0
    for team in TEAMS:
        with pytest.raises(InvalidInterval, match="box 2, variable 9"):
            cuda_batch.run(programs.rastrigin(11), lo, hi, team=team)
    with pytest.raises(ShapeMismatch, match=r"\(boxes, 3\)"):
        cuda_batch.run(programs.rastrigin(3), np.zeros(3), np.ones(3))
    with pytest.raises(ValueError, match="threads"):
        cuda_batch.run(programs.rastrigin(3), np.zeros((1, 3)), np.ones((1, 3)), team=7)


def test_wide_programs_get_larger_teams_and_many_small_boxes_one_thread_each() -> None:
    teams = [
        emit_launch.best_team(programs.rastrigin(n), count, 132)
        for n, count in ((6, 10), (6, 10**7), (300, 10**6), (1000, 100), (20_000, 1))
    ]
    assert teams == [1, 1, 1, 32, 256]


# --- on a GPU --------------------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("n", [6, 300, 1000])
@pytest.mark.parametrize("name", PAPER)
def test_a_gpu_gives_the_cpus_bits_on_the_papers_functions(name: str, n: int) -> None:
    for team in TEAMS:
        agree(paper(name, n), paper_boxes(name, n, 5000 if n == 6 else 70), team=team)


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 5, 257, 1000])
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_a_gpu_gives_the_cpus_bits_on_hand_made_programs(name: str, n: int) -> None:
    for team in TEAMS:
        agree(programs.PROGRAMS[name](n), programs.boxes(n, 200), team=team)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(12))
def test_a_gpu_gives_the_cpus_bits_on_random_programs(seed: int) -> None:
    program = programs.scrambled(seed)
    for team in TEAMS:
        agree(program, programs.boxes(program.n, 20), team=team, most=13)


@pytest.mark.gpu
def test_a_gpu_gives_the_cpus_bits_on_a_long_tape() -> None:
    program = programs.long_tape(10_000)
    for team in TEAMS:
        agree(program, programs.boxes(program.n, 1000), team=team)


@pytest.mark.gpu
def test_a_gpu_gives_the_cpus_bits_on_a_thousand_random_functions() -> None:
    script = Path(__file__).parent.parent / "bench" / "gpu_random.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.gpu
@pytest.mark.parametrize("name", PAPER)
def test_a_new_function_compiles_within_two_seconds_and_comes_from_the_cache_in_a_tenth(
    name: str, own_cache: Path
) -> None:
    for team in TEAMS:  # CuPy compiles kernels of its own for copies when it first needs them
        cuda_batch.run(programs.rastrigin(3), *programs.boxes(3, 8), team=team)
    for n in (6, 1000):
        program, boxes = paper(name, n), paper_boxes(name, n, 64)
        emit(program)
        seconds = []
        for _ in range(2):
            cuda_kernel.kernel.cache_clear()
            start = time.perf_counter()
            cuda_batch.run(program, *boxes)
            seconds.append(time.perf_counter() - start)
        assert seconds[0] < 2.0 and seconds[1] < 0.1, seconds


@pytest.mark.gpu
def test_a_batch_larger_than_one_launch_gives_the_cpus_bits() -> None:
    agree(paper("levy", 6), paper_boxes("levy", 6, 300_000), most=70_001)

"""Small linear algebra on a GPU has the bits of the CPU; without a GPU its text runs on the host (host_shim.h)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fake_cupy
import host_cuda
import nvrtc
import quadratics
from infimum.backends import linear as placed
from infimum.backends.cuda import audit
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import linear as on_gpu
from infimum.backends.placement import is_on_device
from infimum.core import linear
from infimum.core.codes import LinearRoutine
from infimum.core.linear import Cpu, Found, Job
from infimum.errors import BackendUnavailable
from quadratics import symmetric


class Kept:
    """A runner that keeps its jobs, and answers as the CPU does."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def __call__(self, job: Job) -> Found:
        self.jobs.append(job)
        return Cpu(threads=4)(job)


def jobs(seed: int, count: int, n: int) -> list[Job]:
    """One of each routine, and least squares without what can be left out; some numbers are not finite."""
    draw, on = np.random.default_rng(seed), Kept()
    made = quadratics.case(seed, count, n)._replace(limit=draw.normal(size=count))
    made.curvature[0][:: count // 2 + 1, 0, 0] = -np.inf
    made.run(on=on)
    gram = made.own_curvature @ made.own_curvature.swapaxes(1, 2)
    linear.is_positive(symmetric(np.where(draw.random((count, 1, 1)) < 0.7, gram, gram - 1)), on=on)
    ends = made.lo - made.centre, made.hi - made.centre
    linear.box_minimum(made.own_curvature, made.own_slope, *ends, on=on)
    jacobian, residual = draw.normal(size=(count, n + 2, n)), draw.normal(size=(count, n + 2))
    residual[:: count // 3 + 1, 1] = np.nan
    linear.least_squares_box(jacobian, residual, on=on)
    linear.least_squares_box(
        jacobian, residual, weights=draw.random((count, n + 2)), curvature=gram, slopes=made.own_slope, ends=ends, on=on
    )
    return on.jobs


def there(job: Job) -> Job:
    """The same job with its arrays on the device."""
    given = tuple(None if array is None else cuda_device.to_device(array) for array in job.given)
    marks = None if job.marks is None else cuda_device.to_device(job.marks)
    return Job(job.routine, job.shape, given, job.sizes, job.flags, marks, job.m, job.rounds)


def same(found: Found, wanted: Found) -> bool:
    assert all(map(is_on_device, (*found.arrays, found.flags)))
    pairs = zip((*found.arrays, found.flags), (*wanted.arrays, wanted.flags), strict=True)
    return all(np.ascontiguousarray(cuda_device.to_host(a)).tobytes() == b.tobytes() for a, b in pairs)


def loaded(routine: LinearRoutine) -> on_gpu.LinearKernel:
    return on_gpu.kernel(routine, 0).result()


@pytest.fixture
def fake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    if host_cuda.compiler() is None:
        pytest.skip("no C++ compiler")
    made = fake_cupy.module(folder, strict=True)
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


def test_every_routine_has_the_cpus_bits(fake: Any) -> None:
    for count, n in ((1, 1), (2, 9), (300, 3)):
        for job in jobs(count, count, n):
            loaded(job.routine)
            before = len(fake.launches)
            assert same(on_gpu.run(there(job)), Cpu()(job)), job.routine
            assert len(fake.launches) == before + 1
    assert fake.compiled == len(LinearRoutine)


def test_no_boxes_are_no_work(fake: Any) -> None:
    for job in jobs(1, 2, 2):
        loaded(job.routine)
        none = [None if array is None else array[:0] for array in job.given]
        empty = Job(job.routine, (0, 2), tuple(none), job.sizes, job.flags, None, job.m, job.rounds)
        found = on_gpu.run(there(empty))
        assert [a.shape for a in found.arrays] == [(0, size) for size in job.sizes] and not fake.launches


def test_arrays_are_worked_on_where_they_lie(fake: Any) -> None:
    made = quadratics.case(1, 5, 3)
    for routine in LinearRoutine:
        loaded(routine)
    matrices = cuda_device.to_device(made.own_curvature)
    assert is_on_device(placed.is_positive(matrices)) and len(fake.launches) == 1
    assert not is_on_device(placed.is_positive(made.own_curvature)) and len(fake.launches) == 1


def test_a_kernel_that_is_not_there_yet_is_not_waited_for(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release: list[int] = []
    compiled = cuda_compile.compiled

    def slowly(*given: Any, **options: Any) -> bytes:
        while not release:
            pass
        return compiled(*given, **options)

    monkeypatch.setattr(cuda_compile, "compiled", slowly)
    job = jobs(1, 5, 2)[1]
    assert same(on_gpu.run(there(job)), Cpu()(job)) and not fake.launches
    release.append(1)
    loaded(job.routine)
    assert same(on_gpu.run(there(job)), Cpu()(job)) and len(fake.launches) == 1


def test_a_job_that_does_not_fit_runs_on_the_cpu(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job = jobs(1, 5, 2)[0]
    loaded(job.routine)

    def full(size: int) -> Any:
        raise fake_cupy.OutOfMemoryError

    monkeypatch.setattr(fake, "empty", full)
    assert same(on_gpu.run(there(job)), Cpu()(job)) and not fake.launches


class Wrong:
    """A compiler that errs: one number is off by a bit, in jobs after so many good ones, unless it takes care."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, careful_too: bool = False, since: int = 0) -> None:
        run = on_gpu.LinearKernel._run
        self.calls = 0

        def off(kernel: on_gpu.LinearKernel, job: Job) -> Found:
            found = run(kernel, job)
            self.calls += 1
            if (careful_too or not kernel.is_careful) and self.calls > since:
                if found.arrays:
                    found.arrays[0][-1, 0] = np.nextafter(found.arrays[0][-1, 0], np.inf)
                else:
                    found.flags[-1, 0] = 1 - found.flags[-1, 0]
            return found

        monkeypatch.setattr(on_gpu.LinearKernel, "_run", off)


@pytest.mark.parametrize("routine", [LinearRoutine.IS_POSITIVE, LinearRoutine.QUADRATIC])
def test_a_kernel_that_gives_other_numbers_is_compiled_again_with_care(
    routine: LinearRoutine, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Wrong(monkeypatch)
    (job,) = (job for job in jobs(1, 5, 2) if job.routine == routine)
    loaded(routine)
    assert same(on_gpu.run(there(job)), Cpu()(job)) and wrong.calls == 2 and fake.compiled == 2


def test_a_kernel_that_is_not_to_be_believed_is_refused(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job = jobs(1, 5, 2)[0]
    loaded(job.routine)
    with monkeypatch.context() as patch:
        Wrong(patch, careful_too=True)
        with pytest.raises(BackendUnavailable, match="other numbers than the CPU; use backend='cpu'"):
            on_gpu.run(there(job))
    on_gpu.kernel.cache_clear()
    loaded(job.routine)
    Wrong(monkeypatch, since=1)
    monkeypatch.setattr(audit, "_ONE_IN", 1)
    on_gpu.run(there(job))
    with pytest.raises(BackendUnavailable, match="other numbers than the CPU"):
        on_gpu.run(there(job))


@pytest.mark.parametrize("architecture", ["compute_80", "compute_90"])
def test_nvrtc_compiles_every_routine(architecture: str) -> None:
    compiler = nvrtc.library()
    if compiler is None:
        pytest.skip("no NVRTC")
    for routine in LinearRoutine:
        text = host_cuda.ptx(compiler, on_gpu.text(routine), architecture)
        assert f"infimum_linear_{routine.name.lower()}" in text


# --- on a GPU --------------------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 3, 8, 20, 60])
def test_a_gpu_has_the_cpus_bits_on_large_batches(n: int) -> None:
    for job in jobs(n, 200_000 // (n * n + 10), n):
        loaded(job.routine)
        assert same(on_gpu.run(there(job)), Cpu(threads=16)(job)), job.routine

"""Small linear algebra on the current GPU: a thread takes a box (device_linear.h). Guarantee: the bits of core.linear.

kernel of the routine      a job runs on
not there yet              the CPU; a thread of its own compiles the kernel, once for all functions
loaded                     the GPU; some boxes are compared with the CPU's, as those of Programs are (audit.py)
loaded, memory is short    the CPU
"""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends.cuda import audit, launch
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda.device import cuda_errors_as_refusals, picked
from infimum.core.codes import LinearRoutine
from infimum.core.linear import Cpu, Found, Job

INPUTS, OUTPUTS = 9, 4  # of device_linear.h
_BLOCKS = 32  # per processor
_SHARE = 4  # of the free memory, for what threads write down
_ENTRY = '#include "device_linear.h"\nINFIMUM_LINEAR_ENTRY({}, {})\n'


def text(routine: LinearRoutine) -> str:
    """Return the CUDA C++ of a routine."""
    return _ENTRY.format(_name(routine), int(routine))


def _name(routine: LinearRoutine) -> str:
    return f"linear_{routine.name.lower()}"


def run(job: Job) -> Found:
    """Run a job whose arrays lie on the current GPU, where what it gives back will lie."""
    making = kernel(job.routine, cuda_device.cupy().cuda.Device().id)
    return making.result().run(job) if making.done() else _on_cpu(job)


@cache
def kernel(routine: LinearRoutine, number: int) -> Future[LinearKernel]:
    """Return what becomes the kernel of a routine on GPU `number`, the current one."""
    return _compilers().submit(LinearKernel, routine, number)


@cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(len(LinearRoutine))


class LinearKernel:
    """The kernel of one routine on GPU `number`."""

    def __init__(self, routine: LinearRoutine, number: int) -> None:
        self.cupy = cuda_device.cupy()
        self.routine = routine
        self.calls = 0
        with self.cupy.cuda.Device(number), cuda_errors_as_refusals():
            self.device = cuda_device.current()
            self._load("")

    def _load(self, manner: str) -> None:
        self.is_careful = bool(manner)
        module = self.cupy.cuda.function.Module()
        module.load(cuda_compile.compiled(text(self.routine), False, 1, self.device.architecture, manner=manner))
        self._function = module.get_function(f"infimum_{_name(self.routine)}")

    @cuda_errors_as_refusals()
    def run(self, job: Job) -> Found:
        """Run a job on the GPU; on the CPU where the memory is short."""
        try:
            found = self._run(job)
        except self.cupy.cuda.memory.OutOfMemoryError:
            self.cupy.get_default_memory_pool().free_all_blocks()
            return _on_cpu(job)
        return found if self._is_believed(job, found) else self.run(job)

    def _run(self, job: Job) -> Found:
        count, n = job.shape
        each = launch.THREADS[1]
        space = 8 * each * (6 * n * n + 40 * n)  # bytes of a block; INFIMUM_LINEAR_SPACE
        free = self.cupy.cuda.Device().mem_info[0] + self.cupy.get_default_memory_pool().free_bytes()
        blocks = min(max(1, -(-count // each)), _BLOCKS * self.device.processors, max(1, free // _SHARE // space))
        absent = self.cupy.empty(1)
        given = [absent if array is None else _by_element(array) for array in job.given]
        present = sum(1 << i for i, array in enumerate(job.given) if array is not None)
        out = [self.cupy.empty(size * count) for size in job.sizes]
        flags = self.cupy.zeros(max(1, job.flags * count), np.uint8)
        arrays = (
            *given, *[absent] * (INPUTS - len(given)),
            absent if job.marks is None else _by_element(job.marks.astype(np.uint8)),
            *out, *[absent] * (OUTPUTS - len(out)), flags, self.cupy.empty(blocks * space // 8),
            self.cupy.asarray(np.array([n, job.m, job.rounds, present], np.int64)),
        )  # fmt: skip
        if count:
            self._function((blocks,), (each,), (*arrays, np.int64(count)))
        of_boxes = [array.reshape(size, count).T for array, size in zip(out, job.sizes, strict=True)]
        return Found(of_boxes, flags[: job.flags * count].reshape(job.flags, count).T)

    def _is_believed(self, job: Job, found: Found) -> bool:
        """Return whether some boxes have the CPU's numbers; False where the job must be repeated, with care."""
        at, first = audit.chosen(job.shape[0], self.calls), not self.calls
        self.calls += 1
        if not at.size or _agree(job, found, at):
            return True
        if not first or self.is_careful:
            raise audit.refusal(self.device.name)
        self.calls = 0
        self._load(audit.CAREFUL)
        return False


def _by_element(array: Any) -> Any:
    """Return an array (count, …) as the threads read it: all boxes' first elements, then the second ones."""
    return array.reshape(len(array), math.prod(array.shape[1:])).T.copy(order="C")


def _agree(job: Job, found: Found, at: npt.NDArray[np.int64]) -> bool:
    wanted = Cpu()(_mapped(job, lambda array: picked(array, at), len(at)))
    same = all(
        np.array_equal(audit.bits(picked(a, at)), audit.bits(b))
        for a, b in zip(found.arrays, wanted.arrays, strict=True)
    )
    return same and np.array_equal(picked(found.flags, at), wanted.flags)


def _on_cpu(job: Job) -> Found:
    found = Cpu()(_mapped(job, cuda_device.to_host, job.shape[0]))
    return Found([cuda_device.to_device(array) for array in found.arrays], cuda_device.to_device(found.flags))


def _mapped(job: Job, to_host: Any, count: int) -> Job:
    """Return the same job for some of its boxes, in the host's memory."""
    given = tuple(None if array is None else to_host(array) for array in job.given)
    marks = None if job.marks is None else to_host(job.marks)
    return replace(job, shape=(count, job.shape[1]), given=given, marks=marks)

"""The GPU as a staged search uses it, through CuPy: memory that stays, two kernels, one small answer."""

from __future__ import annotations

import ctypes
import time
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from infimum.backends.cuda import audit as cuda_audit
from infimum.backends.cuda import cache as cuda_cache
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.staging.cuda.text import KERNELS

FloatArray = npt.NDArray[np.float64]

RESULT_SIZE = 72  # doubles; device_tables.h
STEP_THREADS, CHILDREN_THREADS = 1024, 512  # device_step.h, device_children.h
_HERE = Path(__file__).parent
_TO_DEVICE = 1  # cudaMemcpyKind


class Machine(Protocol):
    """What runs the kernels: a GPU, or in the tests the host."""

    def put(self, values: npt.NDArray[Any]) -> int:
        """Keep a copy of an array there; its address."""
        ...

    def room(self, size: int) -> int:
        """Reserve bytes of memory there, all 0; return their address."""
        ...

    def mailbox(self) -> int:
        """Return the address of the memory for the result, which kernels write and the host reads."""
        ...

    def step(self, world: int, packed: tuple[int, int], place: int, scratch: int, with_sample: bool) -> None:
        """Start `infimum_step` on packed bytes, which lie here at an address; an answer came since the last start."""
        ...

    def children(
        self, world: int, where: tuple[int, int, int, int], last: tuple[float, int], upper: float, wanted: int
    ) -> None:
        """Start `infimum_children`; where: the place, the sample's tables or 0, digits and number of prefixes."""
        ...

    def answer(self) -> list[float]:
        """Wait, and read the result."""
        ...


class GpuMachine:
    """A Machine on the current GPU; its memory is freed with it."""

    def __init__(self, text: str) -> None:
        self._cupy = cuda_device.cupy()
        modules, self.compile_seconds = _modules(text, self._cupy.cuda.Device().id)
        self._step, self._children = (modules[name].get_function(f"infimum_{name}") for name in KERNELS)
        self._kept: list[Any] = []
        self._stream = self._cupy.cuda.get_current_stream()
        self._copy = self._cupy.cuda.runtime.memcpyAsync
        self._packed = self._cupy.empty(0, np.uint8)
        self._sent = self._cupy.cuda.alloc_pinned_memory(1)  # what is packed, where the GPU fetches it without a halt
        # Page-locked memory has the same address on both sides: kernels write the result straight into it.
        self._pinned = self._cupy.cuda.alloc_pinned_memory(RESULT_SIZE * 8)
        self._answer = np.frombuffer(self._pinned, np.float64, RESULT_SIZE)

    def put(self, values: npt.NDArray[Any]) -> int:
        return self._keep(lambda: self._cupy.asarray(np.append(values.ravel(), values.dtype.type(0))))

    def room(self, size: int) -> int:
        return self._keep(lambda: self._cupy.zeros(max(size, 16), np.uint8))

    def mailbox(self) -> int:
        return int(self._pinned.ptr)

    def _keep(self, make: Any) -> int:
        with cuda_device.cuda_errors_as_refusals():
            self._kept.append(make())
        return int(self._kept[-1].data.ptr)

    def step(self, world: int, packed: tuple[int, int], place: int, scratch: int, with_sample: bool) -> None:
        start, size = packed
        with cuda_device.cuda_errors_as_refusals():
            if self._packed.size < size:
                self._packed = self._cupy.empty(2 * size, np.uint8)
                self._sent = self._cupy.cuda.alloc_pinned_memory(2 * size)
            there = self._packed.data.ptr
            ctypes.memmove(self._sent.ptr, start, size)
            self._copy(there, self._sent.ptr, size, _TO_DEVICE, self._stream.ptr)
            self._step((1,), (STEP_THREADS,), (world, there, place, scratch, int(with_sample)))

    def children(
        self, world: int, where: tuple[int, int, int, int], last: tuple[float, int], upper: float, wanted: int
    ) -> None:
        place, scratch, depth, prefixes = where
        blocks = max(1, -(-prefixes // CHILDREN_THREADS)) + (scratch > 0)
        arguments = (world, place, scratch, depth, float(last[0]), last[1], float(upper), wanted)
        self._children((blocks,), (CHILDREN_THREADS,), arguments)

    def answer(self) -> list[float]:
        with cuda_device.cuda_errors_as_refusals():
            self._stream.synchronize()
        found: list[float] = self._answer.tolist()
        return found


@lru_cache(maxsize=64)
def _modules(text: str, number: int) -> tuple[dict[str, Any], float]:
    """Return each kernel on GPU `number`, and the seconds that compiling or reading them took, both at once."""
    started = time.perf_counter()
    cupy = cuda_device.cupy()
    nvrtc, architecture = cupy.cuda.nvrtc, cuda_device.current().architecture
    from concurrent.futures import ThreadPoolExecutor  # which brings more than a search on the CPU needs

    with ThreadPoolExecutor(len(KERNELS)) as threads:
        codes = list(threads.map(lambda name: _compiled(text, name, nvrtc, architecture), KERNELS))
    modules = {name: cupy.cuda.function.Module() for name in KERNELS}
    for module, code in zip(modules.values(), codes, strict=True):
        module.load(code)
    return modules, time.perf_counter() - started


def _compiled(text: str, kernel: str, nvrtc: Any, architecture: str) -> bytes:
    """One of the kernels, without the others."""
    others = [f"--define-macro=INFIMUM_WITHOUT_{name.upper()}" for name in KERNELS if name != kernel]
    options = [*cuda_compile.OPTIONS, cuda_audit.CAREFUL, f"--gpu-architecture=sm_{architecture}", *others]
    name = cuda_cache.key(text, headers(), repr(options), repr(nvrtc.getVersion()))
    return cuda_cache.cached(
        name, lambda: cuda_compile.machine_code(nvrtc, text, [*options, f"--include-path={_HERE}"])
    )


@cache
def headers() -> bytes:
    """Return every header that the text may include."""
    return cuda_compile.headers() + b"".join(path.read_bytes() for path in sorted(_HERE.glob("*.h")))

"""The GPU through CuPy: whether there is one, what it is called, what its errors mean, and arrays that cross to it.

CuPy is imported when it is needed, never before. BackendUnavailable says in one sentence what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.errors import BackendUnavailable

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_INSUFFICIENT_DRIVER, _NO_DEVICE = 35, 100


class Device(NamedTuple):
    """A GPU as people and kernels know it."""

    name: str
    driver: str  # the newest CUDA that the driver understands
    architecture: str
    processors: int
    memory: int  # bytes


def available() -> str | None:
    """Return None if programs can run on a GPU here; else the sentence that says why not and what to do."""
    try:
        found = import_module("cupy")
    except ImportError:
        return "backend='cuda' needs CuPy: pip install 'infimum[cuda13]', or 'infimum[cuda12]' for a driver below 580"
    try:
        if not found.cuda.runtime.getDeviceCount():
            return "backend='cuda' needs an NVIDIA GPU, and none is visible here; use backend='cpu'"
        found.cuda.nvrtc.getVersion()
    except Exception as error:
        return _reason(error)
    return None


def _reason(error: Exception) -> str:
    status = getattr(error, "status", None)
    if status == _INSUFFICIENT_DRIVER:
        return "the NVIDIA driver is older than the CUDA of CuPy: update the driver, or pip install 'infimum[cuda12]'"
    if status == _NO_DEVICE:
        return "backend='cuda' needs an NVIDIA GPU, and none is visible here; use backend='cpu'"
    return f"CUDA does not start here ({error}); check the driver with nvidia-smi, or use backend='cpu'"


@contextmanager
def cuda_errors_as_refusals() -> Iterator[None]:
    """Turn an error of CUDA into BackendUnavailable, which says in a sentence what to do."""
    try:
        yield
    except Exception as error:
        kind = type(error).__name__
        if kind == "OutOfMemoryError":
            raise BackendUnavailable(memory_is_short()) from error
        if kind in ("CUDARuntimeError", "CUDADriverError"):
            raise BackendUnavailable(
                f"CUDA failed on the way ({error}); check the GPU with nvidia-smi, or use backend='cpu'"
            ) from error
        raise


def memory_is_short() -> str:
    """Return the sentence for a GPU on which even the smallest piece of work finds no room."""
    gpu = current()
    return (
        f"the memory of {gpu.name} ({gpu.memory / 2**30:.0f} GiB) is used up: "
        "end other programs that use it, or use backend='cpu'"
    )


def is_installed() -> bool:
    """Return whether CuPy can be imported, whatever it can do."""
    try:
        import_module("cupy")
    except ImportError:
        return False
    return True


def count() -> int:
    """Return how many GPUs there are."""
    return int(cupy().cuda.runtime.getDeviceCount())


def current() -> Device:
    """Return the GPU that programs run on."""
    cuda = cupy().cuda
    gpu = cuda.Device()
    properties = cuda.runtime.getDeviceProperties(gpu.id)
    driver = cuda.runtime.driverGetVersion()
    return Device(
        properties["name"].decode(),
        f"{driver // 1000}.{driver % 1000 // 10}",
        gpu.compute_capability,
        properties["multiProcessorCount"],
        properties["totalGlobalMem"],
    )


def cupy() -> Any:
    """Return CuPy, or refuse where programs cannot run on a GPU."""
    reason = available()
    if reason is not None:
        raise BackendUnavailable(reason)
    return import_module("cupy")


@cuda_errors_as_refusals()
def to_device(array: Any) -> Any:
    """Return a copy of the array on the device."""
    return cupy().asarray(array)


@cuda_errors_as_refusals()
def to_host(array: Any) -> FloatArray:
    """Return a copy of a device's array in the host's memory."""
    found: FloatArray = cupy().asnumpy(array)
    return found


def picked(array: Any, at: IndexArray) -> FloatArray:
    """Return some elements of a device's array in the host's memory."""
    return to_host(array[to_device(at)])

"""As much of CuPy as backends/cuda/compile.py asks for, on NumPy arrays: kernels are compiled by the host's compiler.

`module(folder, memory)` is a device of that many bytes of memory; `compiled` counts the texts that it compiled. With
`strict` its arrays are told apart from the host's, and the two never meet unnoticed.
"""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import host_cuda


class OutOfMemoryError(MemoryError):
    pass


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int) -> None:
        super().__init__(f"error {status}")
        self.status = status


class NVRTCError(RuntimeError):
    pass


class Stream:
    """Everything is done at once, in whatever stream."""

    def __init__(self, non_blocking: bool = False) -> None:
        pass

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def synchronize(self) -> None:
        pass


class Far(np.ndarray):  # type: ignore[type-arg]
    """An array of the device: the host's arrays neither meet it in a function nor index it, as with CuPy."""

    __cuda_array_interface__: Any = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return far(getattr(ufunc, method)(*map(near, inputs), **options))

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        if function is np.where and not any(isinstance(value, np.ndarray) for value in inputs[1:]):
            raise TypeError("CuPy may choose half precision for a choice between two numbers: give an array")
        return far(function(*map(near, inputs), **{name: near(value) for name, value in options.items()}))

    def __getitem__(self, at: Any) -> Any:
        return far(self.view(np.ndarray)[near(at)])

    def __setitem__(self, at: Any, value: Any) -> None:
        self.view(np.ndarray)[near(at)] = near(value)


def near(value: Any) -> Any:
    """What the host computes with in place of the device; an array of the host is refused there."""
    if isinstance(value, list | tuple):
        return type(value)(map(near, value))
    if isinstance(value, Far):
        return value.view(np.ndarray)
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return value


def far(value: Any) -> Any:
    """A result as the device has it."""
    return value.view(Far) if isinstance(value, np.ndarray) else value


def _argument(given: Any) -> Any:
    """What a kernel is given, as C takes it."""
    if isinstance(given, np.float64):
        return ctypes.c_double(given)
    return ctypes.c_longlong(given) if isinstance(given, np.int64) else ctypes.c_void_p(given.ctypes.data)


def module(folder: Path, memory: int = 2**33, status: int = 0, devices: int = 1, strict: bool = False) -> Any:
    """A CuPy whose devices have so much memory; with a status, one that does not start."""
    fake = SimpleNamespace(compiled=0, launches=[])

    def device_count() -> int:
        if status:
            raise CUDARuntimeError(status)
        return devices

    def empty(size: int, dtype: Any = np.float64) -> Any:
        if np.dtype(dtype).itemsize * size > memory:
            raise OutOfMemoryError
        return np.full(size, np.nan if dtype is np.float64 else 77, dtype)

    def compile_program(program: dict[str, Any], options: list[str]) -> None:
        fake.compiled += 1
        program["options"] = [option for option in options if option.startswith("--define-macro")]

    class Module:
        def load(self, code: bytes) -> None:
            text, options = json.loads(code)
            for option in options:
                if "INFIMUM_INPUT" in option:
                    text = f"#define INFIMUM_INPUT {option.rpartition('=')[2]}\n{text}"
            self.library = host_cuda.library([text], folder)
            self.point = "--define-macro=INFIMUM_VALUE=Point" in options
            self.team = next(int(option.rpartition("=")[2]) for option in options if "INFIMUM_TEAM" in option)

        def get_function(self, name: str) -> Any:
            def launch(grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...]) -> None:
                *arrays, count = arguments
                assert block[0] == {1: 128, 32: 128, 256: 256}[self.team]
                fake.launches.append((grid[0], int(count)))
                pointers = [_argument(a) for a in arrays]
                function = getattr(self.library, name)
                function(self.team, int(self.point), ctypes.c_uint(grid[0]), *pointers, ctypes.c_longlong(count))

            return launch

    class Device:
        current = 0
        compute_capability = "90"
        mem_info = (memory, memory)

        def __init__(self, number: int | None = None) -> None:
            self.id = Device.current if number is None else number

        def __enter__(self) -> Device:
            self.before, Device.current = Device.current, self.id
            return self

        def __exit__(self, *_: object) -> None:
            Device.current = self.before

    properties = {"name": b"Fake", "multiProcessorCount": 1, "totalGlobalMem": memory}
    fake.cuda = SimpleNamespace(
        runtime=SimpleNamespace(
            getDeviceCount=device_count,
            getDeviceProperties=lambda number: properties,
            driverGetVersion=lambda: 13010,
            CUDARuntimeError=CUDARuntimeError,
        ),
        nvrtc=SimpleNamespace(
            getVersion=lambda: (13, 4),
            createProgram=lambda text, name, headers, names: {"text": text},
            compileProgram=compile_program,
            getCUBIN=lambda program: json.dumps([program["text"], program["options"]]).encode(),
            getProgramLog=lambda program: "",
            destroyProgram=lambda program: None,
            NVRTCError=NVRTCError,
        ),
        Device=Device,
        Stream=Stream,
        get_current_stream=Stream,
        function=SimpleNamespace(Module=Module),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    )
    fake.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)
    fake.asarray, fake.asnumpy, fake.empty, fake.zeros = np.asarray, np.asarray, empty, np.zeros
    fake.flatnonzero, fake.nonzero, fake.argsort, fake.arange = np.flatnonzero, np.nonzero, np.argsort, np.arange
    if strict:
        fake.asarray, fake.asnumpy = (lambda a: np.array(a).view(Far)), (lambda a: np.array(a.view(np.ndarray)))
        fake.empty = lambda size, dtype=np.float64: far(empty(size, dtype))
        fake.zeros, fake.arange = (lambda size, dtype: far(np.zeros(size, dtype))), (lambda size: far(np.arange(size)))
    return fake

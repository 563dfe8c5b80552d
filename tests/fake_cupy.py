"""As much of CuPy as backends/cuda.py asks for, on NumPy arrays: kernels are compiled by the host's compiler.

`module(folder, memory)` is a device of that many bytes of memory; `compiled` counts the texts that it compiled.
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


def module(folder: Path, memory: int = 2**33, status: int = 0, devices: int = 1) -> Any:
    """A CuPy whose devices have so much memory; with a status, one that does not start."""
    fake = SimpleNamespace(compiled=0, launches=[])

    def device_count() -> int:
        if status:
            raise CUDARuntimeError(status)
        return devices

    def empty(size: int) -> Any:
        if 8 * size > memory:
            raise OutOfMemoryError
        return np.full(size, np.nan)

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
                pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
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
    fake.flatnonzero, fake.nonzero, fake.argsort = np.flatnonzero, np.nonzero, np.argsort
    return fake

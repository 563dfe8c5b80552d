"""A Machine for staging/cuda/device.py on the host: the kernel text, compiled by the host's compiler against a shim."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import host_cuda
import infimum.core
import infimum.staging.cuda
from infimum.staging.cuda import memory as device_memory

TESTS = Path(__file__).parent
FOLDERS = (*host_cuda.FOLDERS, Path(infimum.staging.cuda.__file__).parent)
FLAGS = ("-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-fast-math", "-fno-math-errno")


def library(text: str, folder: Path) -> ctypes.CDLL:
    """The kernels of a text; made once for the same text, headers and flags."""
    source = '#include "host_staging.h"\n' + text
    machine = ("-mfma", "-mavx2") if infimum.core.variants()[-1] != "scalar" else ()
    shim = b"".join((TESTS / name).read_bytes() for name in ("host_threads.h", "host_staging.h"))
    parts = source.encode() + shim + device_memory.headers() + repr((FLAGS, machine, host_cuda.compiler())).encode()
    key = hashlib.sha256(parts).hexdigest()[:32]
    built = folder / f"{key}.so"
    if not built.exists():
        # Another process may compile the same text at this moment.
        written, partial = (folder / f"{key}.{os.getpid()}.{suffix}" for suffix in ("cpp", "so"))
        written.write_text(source)
        folders = [f"-I{where}" for where in FOLDERS]
        command = [str(host_cuda.compiler()), *FLAGS, *machine, *folders, str(written), "-o", str(partial)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
        partial.rename(built)
    return ctypes.CDLL(str(built))


class Host:
    """Blocks of so many threads, which run in either order between two barriers."""

    def __init__(self, text: str, folder: Path, threads: int = 1, backwards: bool = False, blocks: int = 2) -> None:
        made = library(text, folder)
        pointer, integer, long, double = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong, ctypes.c_double
        self._step, self._children = made.host_step, made.host_children
        self._step.argtypes = [integer, integer, pointer, pointer, pointer, pointer, long]
        self._children.argtypes = [ctypes.c_uint, integer, integer, *[pointer] * 3, long, double, long, double, long]
        self._step.restype = self._children.restype = None
        self._threads, self._backwards = threads, int(backwards)
        self._blocks = blocks
        self._kept: list[Any] = []

    def put(self, values: npt.NDArray[Any]) -> int:
        self._kept.append(np.append(values.ravel(), values.dtype.type(0)))
        return int(self._kept[-1].ctypes.data)

    def room(self, size: int) -> int:
        self._kept.append(np.zeros(size // 8 + 2))
        return int(self._kept[-1].ctypes.data)

    def step(self, world: int, packed: tuple[int, int], place: int, scratch: int, with_sample: bool) -> None:
        there = ctypes.create_string_buffer(ctypes.string_at(*packed), packed[1])
        self._step(self._threads, self._backwards, world, ctypes.addressof(there), place, scratch, with_sample)

    def children(
        self, world: int, where: tuple[int, int, int, int], last: tuple[float, int], upper: float, wanted: int
    ) -> None:
        place, scratch, depth, _ = where
        threads, blocks = min(self._threads, device_memory.CHILDREN_THREADS), self._blocks + (scratch > 0)
        self._children(blocks, threads, self._backwards, world, place, scratch, depth, *last, upper, wanted)

    def mailbox(self) -> int:
        self._result = self.room(8 * device_memory.RESULT_SIZE)
        return self._result

    def answer(self) -> list[float]:
        found: list[float] = np.frombuffer(ctypes.string_at(self._result, 8 * device_memory.RESULT_SIZE)).tolist()
        return found


def machine(folder: Path, threads: int = 1, backwards: bool = False, blocks: int = 2) -> Callable[[str], Host]:
    """What DeviceStaging makes its machine with; threads are 1, or a multiple of 32."""
    return lambda text: Host(text, folder, threads, backwards, blocks)

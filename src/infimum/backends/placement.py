"""Where batches run: on the CPU, or on a GPU as far as that saves time. Places differ in time alone, not in bits.

    batch                                  its kernel               runs on
    one that takes the CPU half a ms       any                      the CPU
    a larger one                           is loaded                the GPU
    a larger one                           is being compiled        the CPU, meanwhile
    a larger one                           is none                  the CPU, until it has spent as long on this program
                                                                    as is worth a compilation; then that begins

What the CPU took before says what it would take. Compilation needs seconds and runs in threads of its own. Arrays that
lie on the device stay there, and so does what is made from them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infimum import core, deadline
from infimum.backends import cpu
from infimum.backends.cpu import Mode
from infimum.backends.cuda import batch as cuda_batch
from infimum.backends.cuda import chain as cuda_chain
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda import launch as emit_launch
from infimum.backends.cuda.emit import Emitted
from infimum.concurrency import cached_property
from infimum.errors import InvalidOption
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from concurrent.futures import Future

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]
Outputs = list[Ends]

_CALL = 5e-4  # seconds that a batch is taken to need on a GPU at least: copies, launches and waiting
_PATIENCE = 0.25  # seconds on the CPU that are worth a compilation
_MANY = 2**15  # ends of boxes; from so many on also the arithmetic between two runs is faster on a GPU
_COMPILERS = 4  # at a time
_FIRST = 8  # boxes of the first slice where time is limited: the speed is read off it
_SLICE = 0.05  # seconds


class Place:
    """Where a function's batches run: the CPU; `Gpu` is another place.

    boxes_evaluated: how often a function that runs here was evaluated over a box.
    """

    backend = "cpu"

    def __init__(self) -> None:
        self.boxes_evaluated = 0
        self._each: dict[tuple[Program, Mode], float] = {}  # seconds for a box, lately

    def run(
        self,
        program: Program,
        lo: FloatArray,
        hi: FloatArray,
        mode: Mode = "interval",
        variant: str | None = None,
        threads: int | None = 1,
    ) -> Outputs:
        """Return the output slots for every box, where lo and hi lie. Guarantee: the bits of backends.cpu.run."""
        if deadline.left() == np.inf:
            return cpu.run(program, lo, hi, mode, variant=variant, threads=threads)
        return self._sliced(program, lo, hi, mode, variant, threads)

    def _sliced(
        self, program: Program, lo: FloatArray, hi: FloatArray, mode: Mode, variant: str | None, threads: int | None
    ) -> Outputs:
        """Do the same a few boxes at a time until the deadline: the outputs for a box depend on that box alone."""
        parts: list[Outputs] = []
        first = 0
        while first < len(lo) or not parts:
            deadline.ask()
            began = time.perf_counter()
            own = slice(first, first + max(1, int(_SLICE / self._each.get((program, mode), _SLICE / _FIRST))))
            parts.append(cpu.run(program, lo[own], hi[own], mode, variant=variant, threads=threads))
            self._each[program, mode] = max(1e-9, (time.perf_counter() - began) / max(1, len(lo[own])))
            first = own.stop
        return parts[0] if len(parts) == 1 else [_joined(slot) for slot in zip(*parts, strict=True)]

    def apply(self, operation: str, a: Ends, b: Ends) -> Ends:
        """Return an operation on intervals, a pair of ends (k,) each, where they lie. Guarantee: core.apply's bits."""
        if not is_on_device(a[0]):
            return core.apply(operation, a, b)
        lo, hi = np.stack((a[0], b[0]), axis=1), np.stack((a[1], b[1]), axis=1)
        ((low, high),) = self.run(_alone(operation), lo, hi)
        return low[:, 0], high[:, 0]

    def another(self) -> Place:
        """Return a place of the same kind that counts for itself."""
        return Place()

    def is_ready(self, programs: Sequence[Program], boxes: FloatArray, seconds: float) -> bool:
        """Return whether a chain of `programs`, on which the CPU has spent so long, can run on boxes of a device."""
        return False

    def to_device(self, *arrays: FloatArray) -> tuple[FloatArray, ...]:
        """Return the arrays, the first one (boxes, n), where much work on them is done soonest."""
        return arrays


class Movable(Place):
    """The CPU, until it becomes another place: what runs here goes on there, without beginning again."""

    def __init__(self) -> None:
        super().__init__()
        self._now: Place = Place()

    def move(self, place: Place) -> None:
        """Run all that follows at this place."""
        self._now, self.backend = place, place.backend

    def run(
        self,
        program: Program,
        lo: FloatArray,
        hi: FloatArray,
        mode: Mode = "interval",
        variant: str | None = None,
        threads: int | None = 1,
    ) -> Outputs:
        """Run where this is now."""
        return self._now.run(program, lo, hi, mode, variant, threads)

    def another(self) -> Place:
        """Return a place of the kind that this is now."""
        return self._now.another()

    def is_ready(self, programs: Sequence[Program], boxes: FloatArray, seconds: float) -> bool:
        """Return whether a chain can run on boxes of a device now."""
        return self._now.is_ready(programs, boxes, seconds)

    def to_device(self, *arrays: FloatArray) -> tuple[FloatArray, ...]:
        """Return the arrays where much work on them is done soonest now."""
        return self._now.to_device(*arrays)


@dataclass
class _Known:
    """What is known of a program in one mode and for one team: its kernel, and what it took on the CPU."""

    seconds: float = 0.0
    each: float = np.inf  # seconds for a box, at best
    making: Future[tuple[Emitted, bytes]] | None = None
    kernel: cuda_kernel.Kernel | None = None

    def took(self, seconds: float, count: int) -> None:
        """Add what the CPU took for so many boxes."""
        self.seconds += seconds
        self.each = min(self.each, seconds / max(1, count))


class Gpu(Place):
    """One GPU, and the CPU for small batches. call, patience, many: as above; 0 sends everything to the GPU at once."""

    backend = "cuda"

    def __init__(self, call: float = _CALL, patience: float = _PATIENCE, many: int = _MANY) -> None:
        super().__init__()
        self.call = call
        self.patience = patience
        self.many = many
        self._known: dict[tuple[Program, Mode, int], _Known] = {}
        self._teams: dict[tuple[Program, bool], int] = {}
        from concurrent.futures import ThreadPoolExecutor  # which brings more than a search on the CPU needs

        self._compilers = ThreadPoolExecutor(_COMPILERS)

    def another(self) -> Gpu:
        """Return a place of the same kind that counts for itself."""
        return Gpu(self.call, self.patience, self.many)

    @cached_property
    def device(self) -> cuda_device.Device:
        """Return the GPU."""
        return cuda_device.current()

    @property
    def kernels(self) -> int:
        """Return how many kernels are loaded or being made."""
        return sum(known.making is not None for known in self._known.values())

    def run(
        self,
        program: Program,
        lo: FloatArray,
        hi: FloatArray,
        mode: Mode = "interval",
        variant: str | None = None,
        threads: int | None = 1,
    ) -> Outputs:
        """Run on the GPU where the batch is worth it and the kernel is loaded."""
        deadline.ask()
        team = self._team(program, len(lo))
        known = self._known.setdefault((program, mode, team), _Known())
        on_device = is_on_device(lo)
        if len(lo) and (on_device or known.each * len(lo) >= self.call):
            kernel = self._kernel(program, mode, team, known)
            if kernel is not None:
                return cuda_batch.run_on_device(kernel, lo, hi) if on_device else cuda_batch.run_kernel(kernel, lo, hi)
        start = time.perf_counter()
        found = cpu.run(program, to_host(lo), to_host(hi), mode, variant=variant, threads=threads)
        outputs = [(like(a, lo), like(b, lo)) for a, b in found]
        known.took(time.perf_counter() - start, len(lo))
        return outputs

    def is_ready(self, programs: Sequence[Program], boxes: FloatArray, seconds: float) -> bool:
        """Return whether all kernels of a chain are loaded; they are begun once the CPU has spent enough on it.

        boxes: the lower ends of a batch; a small one is none of a GPU's business.
        """
        if seconds < self.patience or not (is_on_device(boxes) or boxes.size >= self.many):
            return False
        rules = cuda_chain.kernels(cuda_device.cupy().cuda.Device().id)
        found = rules.done() or not self.patience
        for program in programs:
            team = self._team(program, len(boxes))
            known = self._known.setdefault((program, "interval", team), _Known())
            known.seconds = max(known.seconds, self.patience)
            found = self._kernel(program, "interval", team, known) is not None and found
        return found

    def to_device(self, *arrays: FloatArray) -> tuple[FloatArray, ...]:
        """Send arrays of many numbers to the device, once there is a kernel to run on them."""
        is_ready = not self.patience or any(known.kernel for known in self._known.values())
        return tuple(cuda_device.to_device(a) for a in arrays) if is_ready and arrays[0].size >= self.many else arrays

    def _team(self, program: Program, count: int) -> int:
        """Return how many threads share a box; it is kept, because every run asks for it."""
        processors = self.device.processors
        key = program, emit_launch.is_many(count, processors)
        if key not in self._teams:
            self._teams[key] = emit_launch.best_team(program, count, processors)
        return self._teams[key]

    def _kernel(self, program: Program, mode: Mode, team: int, known: _Known) -> cuda_kernel.Kernel | None:
        """Return the kernel once it is made; it is made as soon as the CPU has spent enough on the program."""
        if known.kernel is None:
            if known.making is None and known.seconds >= self.patience:
                known.making = self._compilers.submit(_made, program, mode, team, self.device.architecture)
            if known.making is not None and (known.making.done() or not self.patience):
                emitted, code = known.making.result()
                with cuda_device.cuda_errors_as_refusals():
                    known.kernel = cuda_kernel.Kernel(program, mode, team, emitted, code=code)
        return known.kernel


def _made(program: Program, mode: Mode, team: int, architecture: str) -> tuple[Emitted, bytes]:
    """Return the text of a program and its machine code."""
    emitted = cuda_compile.text(program)
    return emitted, cuda_compile.compiled(emitted.text, mode == "point", team, architecture, manner=cuda_compile.QUICK)


@cache
def _alone(operation: str) -> Program:
    """Return the Program of one operation on two variables."""
    build = Build(2)
    return lower([build.apply(operation, *(build.take(build.x, indexmap.affine([], i, 2)) for i in range(2)))], 2)


def place(backend: str) -> Place:
    """Return the place of that name."""
    if backend == "cpu":
        return Place()
    if backend == "cuda":
        return Gpu()
    raise InvalidOption(f"a batch runs on backend='cpu' or 'cuda', got {backend!r}")


# ------------------------------------------------------------------------------------------------ arrays


def _joined(slot: tuple[tuple[FloatArray, FloatArray], ...]) -> tuple[FloatArray, FloatArray]:
    """Return one output of all slices together; of points both ends are one array."""
    low = np.concatenate([lo for lo, _ in slot])
    return low, (low if slot[0][0] is slot[0][1] else np.concatenate([hi for _, hi in slot]))


def is_on_device(array: Any) -> bool:
    """Return whether an array lies on a device."""
    return hasattr(array, "__cuda_array_interface__")


def to_host(array: Any) -> Any:
    """Return the array in the host's memory."""
    return cuda_device.to_host(array) if is_on_device(array) else array


def like(array: Any, other: Any) -> Any:
    """Return an array of the host where the other one lies: in the host's memory or on a device."""
    return cuda_device.to_device(array) if is_on_device(other) else array

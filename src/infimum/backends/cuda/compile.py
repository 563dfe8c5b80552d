"""Programs on an NVIDIA GPU: the text of emit.py, compiled by NVRTC through CuPy, kept on disk, launched on batches.

CuPy is imported when it is needed, never before. What is missing is said in one sentence by BackendUnavailable.

Guarantee: the bits of backends.cpu, for every team and every way of cutting the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.backends.cpu import Mode, _boxes
from infimum.backends.cuda import audit as cuda_audit
from infimum.backends.cuda import cache as cuda_cache
from infimum.backends.cuda import launch as emit_launch
from infimum.backends.cuda.emit import Emitted, emit, is_long
from infimum.backends.cuda.memory import TEAMS
from infimum.backends.cuda.tape import emit_tape, encoded
from infimum.core import tape as tapes
from infimum.errors import BackendUnavailable, InvalidInterval, ShapeMismatch
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

HEADERS = (Path(core.__file__).parent, Path(__file__).parent)
OPTIONS = ("--std=c++17", "--fmad=false")  # contraction would change bits
QUICK = "--Ofast-compile=mid"  # reverse operations are long: seconds of compilation in place of a minute
_SHARE = 0.7  # of the free memory, for boxes and results
_BLOCKS_WITH_SCRATCH = 8  # per processor, where teams bring memory of their own
_INSUFFICIENT_DRIVER, _NO_DEVICE = 35, 100


class Device(NamedTuple):
    """A GPU as people and kernels know it."""

    name: str
    driver: str  # the newest CUDA that the driver understands
    architecture: str
    processors: int
    memory: int  # bytes


# ------------------------------------------------------------------------------------------------ what is there


def available() -> str | None:
    """None if programs can run on a GPU here; else the sentence that says why not and what to do."""
    try:
        import cupy  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return "backend='cuda' needs CuPy: pip install 'infimum[cuda13]', or 'infimum[cuda12]' for a driver below 580"
    try:
        if not cupy.cuda.runtime.getDeviceCount():
            return "backend='cuda' needs an NVIDIA GPU, and none is visible here; use backend='cpu'"
        cupy.cuda.nvrtc.getVersion()
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
    """What fails in CUDA on the way is said in a sentence by BackendUnavailable."""
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
    """The sentence where even the smallest piece of work finds no room."""
    here = device()
    return (
        f"the memory of {here.name} ({here.memory / 2**30:.0f} GiB) is used up: "
        "end other programs that use it, or use backend='cpu'"
    )


def is_installed() -> bool:
    """Whether CuPy is there, whatever it can do."""
    try:
        import cupy  # noqa: F401
    except ImportError:
        return False
    return True


def device_count() -> int:
    """How many GPUs are there."""
    return int(_cupy().cuda.runtime.getDeviceCount())


def device() -> Device:
    """The GPU that programs run on."""
    cupy = _cupy()
    here = cupy.cuda.Device()
    properties = cupy.cuda.runtime.getDeviceProperties(here.id)
    driver = cupy.cuda.runtime.driverGetVersion()
    return Device(
        properties["name"].decode(),
        f"{driver // 1000}.{driver % 1000 // 10}",
        here.compute_capability,
        properties["multiProcessorCount"],
        properties["totalGlobalMem"],
    )


def _cupy() -> Any:
    reason = available()
    if reason is not None:
        raise BackendUnavailable(reason)
    import cupy

    return cupy


# ------------------------------------------------------------------------------------------------ kernels


class Kernel:
    """A program compiled for one mode and one team, with its constants on the device. All arrays are CuPy's.

    children: whether it takes the children of a split region (cuda_children.py) instead of boxes.
    code: its machine code, where that was made before.
    """

    def __init__(
        self,
        program: Program,
        mode: Mode,
        team: int,
        emitted: Emitted | None = None,
        children: bool = False,
        code: bytes | None = None,
    ) -> None:
        self.cupy = _cupy()
        self.program = program
        self.point = mode == "point"
        self.team = team
        self.children = children
        self.emitted = emitted or text(program)
        self.processors = device().processors
        self.calls = 0  # that were watched: cuda_audit.py
        self.is_careful = children  # what a search discards is not looked at again
        manner = cuda_audit.CAREFUL if children else ""
        self._load(code or compiled(self.emitted.text, self.point, team, device().architecture, children, manner))
        self._pool = self.cupy.asarray(emit_launch.pool(program, self.point))
        self._tables = self.cupy.asarray(emit_launch.tables(program))
        self._tape = self.cupy.asarray(encoded(program, team) if self.emitted.is_tape else np.zeros(1, np.int64))
        self._split = self.cupy.zeros(1, np.int32)
        self.wrong = self.cupy.zeros(1, np.int32)
        self.cupy.cuda.get_current_stream().synchronize()  # other streams use the same constants

    def _load(self, code: bytes) -> None:
        module = self.cupy.cuda.function.Module()
        module.load(code)
        self._function = module.get_function(self.emitted.name)

    @property
    def mode(self) -> Mode:
        """What it was made for."""
        return "point" if self.point else "interval"

    def is_believed(self, boxes: Callable[[IndexArray], tuple[FloatArray, FloatArray]], count: int, found: Any) -> bool:
        """Whether some of a call's outputs, found(at), are the CPU's; False where the call must be repeated, with care.

        boxes(at), found(at): those of the numbers `at` below count, in the host's memory.
        """
        at, first = cuda_audit.chosen(count, self.calls), not self.calls
        self.calls += 1
        if not at.size or cuda_audit.agree(self.program, self.mode, boxes(at), found(at)):
            return True
        if not first or self.is_careful:
            raise cuda_audit.refusal(device().name)
        self.calls, self.is_careful = 0, True
        architecture = device().architecture
        self._load(compiled(self.emitted.text, self.point, self.team, architecture, self.children, cuda_audit.CAREFUL))
        return False

    @property
    def values(self) -> int:
        """How many numbers the outputs of a box are."""
        return sum(self.emitted.outputs)

    def scratch(self, count: int, most: int) -> tuple[Any, int]:
        """Memory for the teams, `most` bytes of it, and how many blocks that is enough for."""
        each = self.emitted.scratch(self.team) * (1 if self.point else 2) * 8
        if not each:
            return self.cupy.empty(1), emit_launch.blocks(count, self.team)
        per_block = each * emit_launch.teams(1, self.team)
        wanted = max(1, min(_BLOCKS_WITH_SCRATCH * self.processors, most // per_block))
        blocks = emit_launch.blocks(count, self.team, wanted)
        return self.cupy.empty(per_block * blocks // 8), blocks

    def launch(
        self, lo: Any, hi: Any, out: tuple[Any, Any], scratch: Any, blocks: int, count: int, split: Any = None
    ) -> None:
        """Start the kernel on boxes that emit_launch has arranged, or on children; nothing is waited for."""
        out_lo, out_hi = out
        numbering = self._split if split is None else split
        memory = (lo, hi, out_lo, out_hi, self._pool, self._tables, scratch, self.wrong, self._tape, numbering)
        self._function((blocks,), (emit_launch.THREADS[self.team],), (*memory, np.int64(count)))

    def run(self, lo: Any, hi: Any) -> list[tuple[Any, Any]]:
        """The outputs of boxes (count, n) on the device, (count, size) each; at points both ends are one array.

        `wrong` is not looked at: an input that is no interval has set it.
        """
        count = len(lo)
        free = self.cupy.cuda.Device().mem_info[0] + self.cupy.get_default_memory_pool().free_bytes()
        scratch, blocks = self.scratch(count, free // 4)
        out_lo = self.cupy.empty(self.values * count)
        out_hi = out_lo if self.point else self.cupy.empty(self.values * count)
        ends = [emit_launch.arranged(end, self.team) for end in ((lo,) if self.point else (lo, hi))]
        self.launch(ends[0], ends[-1], (out_lo, out_hi), scratch, blocks, count)
        found = [emit_launch.split(flat, self.emitted.outputs, count, self.team) for flat in (out_lo, out_hi)]
        return list(zip(*found, strict=True))


def text(program: Program) -> Emitted:
    """A program as CUDA C++: itself, or the interpreter for a long one."""
    return emit_tape(program) if is_long(program) else emit(program)


@lru_cache(maxsize=128)
def kernel(program: Program, mode: Mode, team: int, number: int, children: bool = False) -> Kernel:
    """The kernel of a program on GPU `number`, the current one, made once."""
    return Kernel(program, mode, team, children=children)


def compiled(text: str, point: bool, team: int, architecture: str, children: bool = False, manner: str = "") -> bytes:
    """Machine code of emitted text; from the disk where it was compiled before. manner: one more option."""
    nvrtc = _cupy().cuda.nvrtc
    options = [*OPTIONS, f"--gpu-architecture=sm_{architecture}", *_macros(point, team, children)]
    all_options = [*options, manner] if manner else options
    name = cuda_cache.key(text, _headers(), repr(all_options), repr(nvrtc.getVersion()))

    def make() -> bytes:
        try:
            return _compile(nvrtc, text, all_options)
        except BackendUnavailable:
            if manner != QUICK:
                raise
            return _compile(nvrtc, text, options)  # an NVRTC that does not know how to hurry

    return cuda_cache.cached(name, make)


def _macros(point: bool, team: int, children: bool) -> list[str]:
    chosen = {"VALUE": "Point" if point else "Range", "TEAM": team}
    if children:
        chosen["INPUT"] = "Children"
    return [f"--define-macro=INFIMUM_{name}={value}" for name, value in chosen.items()]


@cache
def _headers() -> bytes:
    """Every header that the text may include."""
    paths = sorted(path for folder in HEADERS for path in folder.rglob("*") if path.suffix in (".h", ".def"))
    return b"".join(path.read_bytes() for path in paths)


def _compile(nvrtc: Any, text: str, options: list[str]) -> bytes:
    program = nvrtc.createProgram(text, "program.cu", (), ())
    try:
        nvrtc.compileProgram(program, [*options, *(f"--include-path={folder}" for folder in HEADERS)])
        code: bytes = nvrtc.getCUBIN(program)
    except nvrtc.NVRTCError as error:
        log = nvrtc.getProgramLog(program)
        if "gpu-architecture" in log:
            raise BackendUnavailable(
                f"NVRTC {nvrtc.getVersion()} does not know this GPU: install a newer CuPy"
            ) from error
        raise BackendUnavailable(f"NVRTC refused the text of a program, a fault of infimum: {log}") from error
    finally:
        nvrtc.destroyProgram(program)
    return code


# ------------------------------------------------------------------------------------------------ batches


@cuda_errors_as_refusals()
def run(
    program: Program,
    lo: npt.ArrayLike,
    hi: npt.ArrayLike | None = None,
    mode: Mode = "interval",
    team: int | None = None,
    most: int | None = None,
) -> list[tuple[FloatArray, FloatArray]]:
    """The output slots of a program for every box, as backends.cpu.run gives them, bit for bit.

    team, the number of threads that share a box (1, 32 or 256), and most, the boxes of one launch, are chosen where
    they are not given; results do not depend on them.
    """
    if mode not in ("interval", "point"):
        raise ValueError(f"mode is 'interval' or 'point', got {mode!r}")
    if team is not None and team not in TEAMS:
        raise ValueError(f"a team has {', '.join(map(str, TEAMS))} threads, got {team}")
    low = _boxes(program, lo)
    high = low if mode == "point" or hi is None else _boxes(program, hi)
    if low.shape != high.shape:
        raise ShapeMismatch(f"lo has the shape {low.shape}, hi {high.shape}")
    threads = team or emit_launch.best_team(program, len(low), device().processors)
    return run_kernel(kernel(program, mode, threads, _cupy().cuda.Device().id), low, high, most)


@cuda_errors_as_refusals()
def run_kernel(
    made: Kernel, low: FloatArray, high: FloatArray, most: int | None = None
) -> list[tuple[FloatArray, FloatArray]]:
    """`run` with a kernel that is there, on arrays (boxes, n)."""
    found = _run_pieces(made, low, high, most)
    rows = lambda at: [(a[at], b[at]) for a, b in found]  # noqa: E731
    if not made.is_believed(lambda at: (low[at], high[at]), len(low), rows):
        return run_kernel(made, low, high, most)
    return found


def _run_pieces(
    made: Kernel, low: FloatArray, high: FloatArray, most: int | None
) -> list[tuple[FloatArray, FloatArray]]:
    cupy = made.cupy
    count = len(low)
    out_lo = [np.empty((count, size)) for size in made.emitted.outputs]
    out_hi = out_lo if made.point else [np.empty((count, size)) for size in made.emitted.outputs]
    made.wrong.fill(0)
    for first, last in _pieces(cupy, made, count, most):
        _run_piece(
            cupy,
            made,
            low[first:last],
            high[first:last],
            [a[first:last] for a in out_lo],
            [a[first:last] for a in out_hi],
        )
    if not made.point and int(made.wrong[0]):
        raise InvalidInterval(tapes._no_interval(low, high))
    return list(zip(out_lo, out_hi, strict=True))


def _run_piece(
    cupy: Any, made: Kernel, lo: FloatArray, hi: FloatArray, out_lo: list[FloatArray], out_hi: list[FloatArray]
) -> None:
    """Bring boxes to the device, run them and fetch the outputs; in halves where memory is short."""
    try:
        there = cupy.asarray(lo)
        found = made.run(there, there if made.point else cupy.asarray(hi))
        for (low, high), to_lo, to_hi in zip(found, out_lo, out_hi, strict=True):
            to_lo[...] = cupy.asnumpy(low)
            if not made.point:
                to_hi[...] = cupy.asnumpy(high)
    except cupy.cuda.memory.OutOfMemoryError as error:
        cupy.get_default_memory_pool().free_all_blocks()
        if len(lo) == 1:
            raise BackendUnavailable(_too_large(made)) from error
    else:
        return
    half = len(lo) // 2
    for part in (slice(0, half), slice(half, None)):
        _run_piece(cupy, made, lo[part], hi[part], [a[part] for a in out_lo], [a[part] for a in out_hi])


def _too_large(made: Kernel) -> str:
    here = device()
    numbers = 2 * (made.program.n + made.values + made.emitted.scratch(made.team))
    return (
        f"a box of this function takes {numbers * 8 / 2**20:,.0f} MiB, more than is free on {here.name} "
        f"({here.memory / 2**30:.0f} GiB); use backend='cpu'"
    )


def _pieces(cupy: Any, made: Kernel, count: int, most: int | None) -> Iterator[tuple[int, int]]:
    """Ranges of boxes that fit the memory: boxes and outputs, each also in the other order."""
    free = cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
    per_box = 8 * 2 * (2 * made.program.n + 2 * made.values)
    step = most or max(1, int(_SHARE * free) // per_box)
    return ((first, min(first + step, count)) for first in range(0, count, step))


# ------------------------------------------------------------------------------------------------ arrays there


@cuda_errors_as_refusals()
def run_on_device(made: Kernel, lo: Any, hi: Any) -> list[tuple[Any, Any]]:
    """`run_kernel` for boxes on the device, whose outputs stay there; by way of the host where memory is short."""
    made.wrong.fill(0)
    try:
        found = made.run(lo, hi)
    except made.cupy.cuda.memory.OutOfMemoryError:
        made.cupy.get_default_memory_pool().free_all_blocks()
        outputs = run_kernel(made, to_host(lo), to_host(hi))
        return [(to_device(low), to_device(high)) for low, high in outputs]
    if not made.point and int(made.wrong[0]):
        raise InvalidInterval(tapes._no_interval(to_host(lo), to_host(hi)))
    rows = lambda at: [(picked(a, at), picked(b, at)) for a, b in found]  # noqa: E731
    if not made.is_believed(lambda at: (picked(lo, at), picked(hi, at)), len(lo), rows):
        return run_on_device(made, lo, hi)
    return found


@cuda_errors_as_refusals()
def to_device(array: Any) -> Any:
    """The array on the device."""
    return _cupy().asarray(array)


@cuda_errors_as_refusals()
def to_host(array: Any) -> FloatArray:
    """The array of a device, here."""
    found: FloatArray = _cupy().asnumpy(array)
    return found


def picked(array: Any, at: IndexArray) -> FloatArray:
    """Some elements of an array of a device, here."""
    return to_host(array[to_device(at)])

"""A program as a kernel on the current GPU, with its constants there."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends.cpu import Mode
from infimum.backends.cuda import audit as cuda_audit
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import launch as emit_launch
from infimum.backends.cuda.emit import Emitted
from infimum.backends.cuda.tape import encoded
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_BLOCKS_WITH_SCRATCH = 8  # per processor, where teams bring memory of their own


class Kernel:
    """A program compiled for one mode and one team, with its constants on the device. All arrays are CuPy's.

    children: whether it takes the children of a split region (children.py) instead of boxes.
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
        self.cupy = cuda_device.cupy()
        self.program = program
        self.point = mode == "point"
        self.team = team
        self.children = children
        self.emitted = emitted or cuda_compile.text(program)
        self.processors = cuda_device.current().processors
        self.calls = 0  # that were watched: audit.py
        self.is_careful = children  # what a search discards is not looked at again
        self._load(code or self._compiled(cuda_audit.CAREFUL if children else ""))
        self._pool = self.cupy.asarray(emit_launch.pool(program, self.point))
        self._tables = self.cupy.asarray(emit_launch.tables(program))
        self._tape = self.cupy.asarray(encoded(program, team) if self.emitted.is_tape else np.zeros(1, np.int64))
        self._split = self.cupy.zeros(1, np.int32)
        self.wrong = self.cupy.zeros(1, np.int32)
        self.cupy.cuda.get_current_stream().synchronize()  # other streams use the same constants

    def _compiled(self, manner: str) -> bytes:
        architecture = cuda_device.current().architecture
        return cuda_compile.compiled(self.emitted.text, self.point, self.team, architecture, self.children, manner)

    def _load(self, code: bytes) -> None:
        module = self.cupy.cuda.function.Module()
        module.load(code)
        self._function = module.get_function(self.emitted.name)

    @property
    def mode(self) -> Mode:
        """Return the mode that it was made for."""
        return "point" if self.point else "interval"

    def is_believed(self, boxes: Callable[[IndexArray], tuple[FloatArray, FloatArray]], count: int, found: Any) -> bool:
        """Return whether some of a call's outputs are the CPU's; False where the call must be repeated, with care.

        boxes(at), found(at): those of the numbers `at` below count, in the host's memory.
        """
        at, first = cuda_audit.chosen(count, self.calls), not self.calls
        self.calls += 1
        if not at.size or cuda_audit.agree(self.program, self.mode, boxes(at), found(at)):
            return True
        if not first or self.is_careful:
            raise cuda_audit.refusal(cuda_device.current().name)
        self.calls, self.is_careful = 0, True
        self._load(self._compiled(cuda_audit.CAREFUL))
        return False

    @property
    def values(self) -> int:
        """Return how many numbers the outputs of a box are."""
        return sum(self.emitted.outputs)

    def scratch(self, count: int, most: int) -> tuple[Any, int]:
        """Return memory for the teams, of at most `most` bytes, and how many blocks it is enough for."""
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
        """Return the outputs of boxes (count, n) on the device, (count, size) each; at points both ends are one array.

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


@lru_cache(maxsize=128)
def kernel(program: Program, mode: Mode, team: int, number: int, children: bool = False) -> Kernel:
    """Return the kernel of a program on GPU `number`, the current one, made once."""
    return Kernel(program, mode, team, children=children)

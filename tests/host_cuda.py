"""Emitted CUDA text compiled by the host's compiler against host_shim.h, and run there as a GPU would run it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

import infimum.backends.cuda
import infimum.core
import nvrtc
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import emit
from infimum.backends.cuda import launch as emit_launch
from infimum.backends.cuda import tape as emit_tape
from infimum.passes.lowering.program import Program

TESTS = Path(__file__).parent
FOLDERS = (TESTS, Path(infimum.core.__file__).parent, Path(infimum.backends.cuda.__file__).parent)
# -O1 of g++ is twice as long as -O0, and the boxes are few.
FLAGS = ("-std=c++17", "-O0", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-fast-math", "-fno-math-errno")


def compiler() -> str | None:
    """A C++ compiler of this machine."""
    return next(
        (found for name in (os.environ.get("CXX"), "g++", "clang++", "c++") if name and (found := shutil.which(name))),
        None,
    )


def library(texts: list[str], folder: Path) -> ctypes.CDLL:
    """One library of all texts; made once for the same texts, headers and flags."""
    source = '#include "host_shim.h"\n' + "\n".join(texts)
    headers = b"".join(
        p.read_bytes() for where in FOLDERS for p in sorted(where.rglob("*.h")) + sorted(where.rglob("*.def"))
    )
    machine = ("-mfma", "-mavx2") if infimum.core.variants()[-1] != "scalar" else ()
    key = hashlib.sha256(source.encode() + headers + repr((FLAGS, machine, compiler())).encode()).hexdigest()[:32]
    built = folder / f"{key}.so"
    if not built.exists():
        # Another process may compile the same text at this moment.
        text, partial = (folder / f"{key}.{os.getpid()}.{suffix}" for suffix in ("cpp", "so"))
        text.write_text(source)
        command = [
            str(compiler()),
            *FLAGS,
            *machine,
            *(f"-I{where}" for where in FOLDERS),
            str(text),
            "-o",
            str(partial),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
        partial.rename(built)
    return ctypes.CDLL(str(built))


def run(
    made: ctypes.CDLL, emitted: emit.Emitted, program: Program, boxes: tuple[Any, Any], mode: str, team: int
) -> list[tuple[Any, Any]]:
    """The outputs of every box, as backends.cpu.run gives them; two blocks, so that teams go on to further boxes."""
    count, point = len(boxes[0]), mode == "point"
    lo, hi = (emit_launch.arranged(end, team) for end in boxes)
    out_lo, out_hi = (np.full(sum(emitted.outputs) * count + 1, -7.0) for _ in range(2))
    pool, tables = emit_launch.pool(program, point), emit_launch.tables(program)
    grid = emit_launch.blocks(count, team, 2)
    scratch = np.full(2 * emitted.scratch(team) * emit_launch.teams(grid, team) + 1, np.nan)
    wrong = np.zeros(1, np.int32)
    tape = emit_tape.encoded(program, team) if emitted.is_tape else np.zeros(1, np.int64)
    arrays = (lo, hi, out_lo, out_hi, pool, tables, scratch, wrong, tape, np.zeros(1, np.int32))
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
    getattr(made, emitted.name)(team, int(point), ctypes.c_uint(grid), *pointers, ctypes.c_longlong(count))
    assert not wrong[0]
    found = [
        emit_launch.split(flat[:-1], emitted.outputs, count, team) for flat in (out_lo, out_lo if point else out_hi)
    ]
    return [(np.ascontiguousarray(a), np.ascontiguousarray(b)) for a, b in zip(*found, strict=True)]


def ptx(compiler: ctypes.CDLL, source: str, architecture: str, more: tuple[str, ...] = ()) -> str:
    """Emitted text by NVRTC; a compiler's complaint becomes the exception's text."""
    program = ctypes.c_void_p()
    compiler.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"program.cu", 0, None, None)
    options = [
        *cuda_compile.OPTIONS,
        *more,
        f"--gpu-architecture={architecture}",
        *(f"--include-path={path}" for path in cuda_compile.HEADERS),
    ]
    encoded = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    if compiler.nvrtcCompileProgram(program, len(options), encoded):
        raise RuntimeError(nvrtc._text(compiler, program, "ProgramLog"))
    return nvrtc._text(compiler, program, "PTX")

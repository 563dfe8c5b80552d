"""CUDA text made machine code by NVRTC, and kept on disk."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from infimum import core
from infimum.backends.cuda import cache as cuda_cache
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda.emit import Emitted, emit, is_long
from infimum.backends.cuda.tape import emit_tape
from infimum.errors import BackendUnavailable
from infimum.passes.lowering.program import Program

HEADERS = (Path(core.__file__).parent, Path(__file__).parent)
OPTIONS = ("--std=c++17", "--fmad=false")  # contraction would change bits
QUICK = "--Ofast-compile=mid"  # reverse operations are long: seconds of compilation in place of a minute


def text(program: Program) -> Emitted:
    """Return a program as CUDA C++: itself, or the interpreter for a long one."""
    return emit_tape(program) if is_long(program) else emit(program)


def compiled(text: str, point: bool, team: int, architecture: str, children: bool = False, manner: str = "") -> bytes:
    """Return machine code of emitted text, from the disk where it was compiled before. manner: one more option."""
    nvrtc = cuda_device.cupy().cuda.nvrtc
    options = [*OPTIONS, f"--gpu-architecture=sm_{architecture}", *_macros(point, team, children)]
    all_options = [*options, manner] if manner else options
    name = cuda_cache.key(text, headers(), repr(all_options), repr(nvrtc.getVersion()))

    def make() -> bytes:
        try:
            return machine_code(nvrtc, text, all_options)
        except BackendUnavailable:
            if manner != QUICK:
                raise
            return machine_code(nvrtc, text, options)  # an NVRTC that does not know how to hurry

    return cuda_cache.cached(name, make)


def _macros(point: bool, team: int, children: bool) -> list[str]:
    chosen = {"VALUE": "Point" if point else "Range", "TEAM": team}
    if children:
        chosen["INPUT"] = "Children"
    return [f"--define-macro=INFIMUM_{name}={value}" for name, value in chosen.items()]


@cache
def headers() -> bytes:
    """Return every header that the text may include."""
    paths = sorted(path for folder in HEADERS for path in folder.rglob("*") if path.suffix in (".h", ".def"))
    return b"".join(path.read_bytes() for path in paths)


def machine_code(nvrtc: Any, text: str, options: list[str]) -> bytes:
    """Compile text now, or refuse with what NVRTC says."""
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

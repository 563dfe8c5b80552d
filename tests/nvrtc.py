"""NVIDIA's run-time compiler driven through ctypes: CUDA C++ to PTX, no GPU and no driver needed."""

from __future__ import annotations

import ctypes
import importlib.metadata
from pathlib import Path

CORE = Path(__file__).parent.parent / "src" / "infimum" / "core"


def library() -> ctypes.CDLL | None:
    """Open the NVRTC of an installed nvidia-cuda-nvrtc package; None if there is none."""
    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "nvidia-cuda-nvrtc-cu12"):
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name.startswith("libnvrtc.so"):
                return ctypes.CDLL(str(file.locate()))
    return None


def ptx(nvrtc: ctypes.CDLL, source: str, architecture: str) -> str:
    """Compile for one architecture; a compiler's complaint becomes the exception's text."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None)
    options = ["--std=c++17", "--fmad=false", f"--gpu-architecture={architecture}", f"--include-path={CORE}"]
    encoded = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), encoded)
    if status:
        raise RuntimeError(_text(nvrtc, program, "ProgramLog"))
    return _text(nvrtc, program, "PTX")


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, text)
    return text.value.decode()

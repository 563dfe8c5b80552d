"""The core on CUDA: the same header compiles for every architecture, and a GPU gives the CPU's bits."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infimum.core
import nvrtc
import samples

SOURCE = (Path(__file__).parent / "core_kernels.cu").read_text()
ARCHITECTURES = ("compute_80", "compute_90", "compute_100")


@cache
def _ptx(architecture: str) -> str:
    compiler = nvrtc.library()
    if compiler is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")
    return nvrtc.ptx(compiler, SOURCE, architecture)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_header_compiles_to_a_kernel_for_every_operation(architecture: str) -> None:
    kernels = set(re.findall(r"\.entry infimum_(\w+)\(", _ptx(architecture)))
    assert kernels == set(infimum.core.operations())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_double_operation_in_the_kernels_is_contracted_approximate_or_flushing(architecture: str) -> None:
    # In PTX every add, mul, fma, div and sqrt of doubles names its rounding; without it the assembler may contract.
    operations = re.findall(
        r"\b(add|sub|mul|fma|mad|div|sqrt|rcp|rsqrt|ex2|lg2|sin|cos)\.([\w.]*)f64\b", _ptx(architecture)
    )
    assert operations
    assert {modifier for _, modifier in operations} <= {"rn.", "rm.", "rp."}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_nothing_of_cudas_math_library_is_in_the_kernels(architecture: str) -> None:
    assert not re.findall(r"__(?:nv|internal)_\w+", _ptx(architecture))


@cache
def _module() -> Any:
    import cupy

    options = ("--std=c++17", "--fmad=false", f"-I{nvrtc.CORE}")
    return cupy.RawModule(code=SOURCE, options=options, backend="nvrtc")


def _on_gpu(batch: samples.Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import cupy

    count = batch.operands[0][0].size
    ends = [cupy.asarray(end) for pair in batch.operands for end in pair]
    ends += ends[:2] * (3 - len(batch.operands))
    lo, hi, facts = cupy.empty(count), cupy.empty(count), cupy.empty(count, cupy.uint8)
    kernel = _module().get_function(f"infimum_{batch.op}")
    kernel(((count + 127) // 128,), (128,), (*ends, lo, hi, facts, np.int64(count), np.int64(batch.param)))
    return cupy.asnumpy(lo), cupy.asnumpy(hi), cupy.asnumpy(facts)


def _same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NaN (a number of the empty interval) equals NaN, whatever its bits; everything else bit for bit."""
    return (a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))


@pytest.mark.gpu
@pytest.mark.parametrize("op", list(infimum.core.operations()))
def test_a_gpu_gives_the_bits_of_the_cpu(op: str, pytestconfig: pytest.Config) -> None:
    for batch in samples.batches(op, pytestconfig.getoption("--arguments")):
        lo, hi, facts = _on_gpu(batch)
        cpu_lo, cpu_hi = infimum.core.apply(op, *batch.operands, param=batch.param)
        defined, smooth = infimum.core.facts(op, *batch.operands, param=batch.param)
        wrong = np.flatnonzero(~(_same_bits(lo, cpu_lo) & _same_bits(hi, cpu_hi) & (facts == (defined | smooth << 1))))
        assert wrong.size == 0, "\n".join(
            f"{op} {[(a.hex(), b.hex()) for a, b in batch.box(i)]} param {batch.param}: "
            f"gpu {lo[i].hex()} {hi[i].hex()}, cpu {cpu_lo[i].hex()} {cpu_hi[i].hex()}"
            for i in wrong[:5]
        )

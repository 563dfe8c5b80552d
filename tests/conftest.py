"""Options and marks of the test suite."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import torture
from infimum import core
from infimum.backends.cuda import cache as cuda_cache
from infimum.backends.cuda import chain as cuda_chain
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.cuda import linear as cuda_linear
from infimum.core.chain import Chain
from infimum.core.pool import Pool

MUTANTS = str(Path(__file__).parent.parent / "build" / "mutants" / "libinfimum_mutants.so")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--arguments", type=int, default=10_000, metavar="N", help="random arguments per operation of the core"
    )
    parser.addoption("--record", action="store_true", help="write measured figures to bench/results")
    parser.addoption("--require-gpu", action="store_true", help="fail, rather than skip, where there is no CUDA device")
    parser.addoption("--mutants", default=MUTANTS, metavar="PATH", help="the test build of the core with mutants")


def pytest_configure(config: pytest.Config) -> None:
    # Where SIGINT is ignored on entry (nohup, `&` in a script), Ctrl-C is tested all the same, in processes of our own
    # too: a child inherits "ignored", but not a handler.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark before pytest deselects by marks."""
    torture.mark(items)


@pytest.fixture
def break_rule(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Break a rule of chains and pools, by its number in core/broken.h (0 for none): they are the test build's."""
    path = Path(pytestconfig.getoption("--mutants"))
    if not path.exists():
        pytest.skip("needs the test build of the core: make mutants")
    loaded = core.load(path)
    for made in (Chain, Pool):
        monkeypatch.setitem(made.__init__.__kwdefaults__, "core", loaded)  # type: ignore[misc]
    loaded.library.infimum_break.argtypes = [ctypes.c_int]
    loaded.library.infimum_break(0)
    yield loaded.library.infimum_break
    loaded.library.infimum_break(0)


def missing_gpu() -> str:
    """Say why there is no usable CUDA device; empty if there is one."""
    try:
        import cupy  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return "CuPy is not installed"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device: {error}"
    return "" if count else "no CUDA device"


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") is None:
        return
    reason = missing_gpu()
    if reason and item.config.getoption("--require-gpu"):
        pytest.fail(f"--require-gpu: {reason}")
    if reason:
        pytest.skip(reason)


@pytest.fixture
def folder(tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where emitted text is compiled; no kernel is left over from another test, or for one."""
    monkeypatch.setenv(cuda_cache.VARIABLE, str(tmp_path / "cache"))
    for made in (cuda_kernel.kernel, cuda_linear.kernel, cuda_chain.kernels):
        made.cache_clear()
    yield Path(pytestconfig.cache.mkdir("emitted"))
    for made in (cuda_kernel.kernel, cuda_linear.kernel, cuda_chain.kernels):
        made.cache_clear()

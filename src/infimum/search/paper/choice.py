"""Which backend the paper's search runs on (POLICY): the answer does not depend on it, only the time.

asked     a GPU is there    chosen
cpu                         the CPU
cuda      no                refused, with a sentence that says what to do
cuda      yes               the GPUs
auto      no                the CPU
auto      yes               the CPU, where the first region stages or has few children; else whichever evaluates
                            children of the first region faster, compilation and first calls not counted
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.backends.cuda import children as cuda_children
from infimum.backends.cuda import device as cuda_device
from infimum.domain import Domain
from infimum.errors import BackendUnavailable, ProgramError
from infimum.function.function import Function
from infimum.search.outcome import Options
from infimum.search.paper.enumerated import BATCH, boxes, children
from infimum.search.paper.partition import cut
from infimum.search.paper.split import Split

FEW = 2**12  # children that a CPU has evaluated before a kernel is compiled
_ON_CPU, _ON_GPU = BATCH, 2**16  # children that are measured: each backend with a batch that suits it


class Choice(NamedTuple):
    """A backend, and the sentence that says why it was chosen."""

    backend: str
    text: str
    device: str = ""

    def shown(self, name: str) -> str:
        """A function's name in the progress line."""
        return f"{name} on {self.device}" if self.device else name


def choose(asked: str, function: Function, domain: Domain, options: Options) -> Choice:
    """The backend for a search by the paper's method."""
    found = named(asked)
    if found is not None:
        return found
    try:
        return _measured(function, domain, options)
    except (BackendUnavailable, ProgramError) as error:
        return Choice("cpu", f"cpu: {error}")


def named(asked: str, count: int | None = None) -> Choice | None:
    """The backend, where nothing need be measured. count: how many GPUs are used, all by default."""
    if asked == "cpu":
        return Choice("cpu", "cpu")
    reason = cuda_device.available()
    if asked == "cuda":
        if reason is not None:
            raise BackendUnavailable(reason)
        name = devices(count)
        return Choice("cuda", f"cuda: {name}", name)
    if reason is not None:
        return Choice("cpu", f"cpu: {reason}" if cuda_device.is_installed() else "cpu")
    return None


def devices(count: int | None = None) -> str:
    """The GPUs in words."""
    with cuda_device.cuda_errors_as_refusals():
        number = cuda_device.count() if count is None else count
        return cuda_device.current().name if number == 1 else f"{number} of {cuda_device.current().name}"


def _measured(function: Function, domain: Domain, options: Options) -> Choice:
    split = _first_split(domain, options)
    if split.count == 0 or children(split) < FEW:
        return Choice("cpu", f"cpu: a region has only {children(split):,} children")
    if function.staged(domain.pairs(), split.variables, split.edges).stages:
        return Choice("cpu", "cpu: the function stages, so that children cost little")
    on_cpu, on_gpu = _seconds_on_cpu(function, domain, split, options.threads), _seconds_on_gpu(function, domain, split)
    name = devices()
    measured = f"{on_cpu * 1e9:,.3g} ns a child on the CPU, {on_gpu * 1e9:,.3g} ns on {name}"
    return Choice("cuda", f"cuda: {name}; {measured}", name) if on_gpu < on_cpu else Choice("cpu", f"cpu: {measured}")


def _first_split(domain: Domain, options: Options) -> Split:
    with np.errstate(over="ignore"):
        open_variables = np.flatnonzero(np.nextafter(domain.lo, domain.hi) < domain.hi)
    variables = open_variables[: max(1, options.partition.variables)]
    return Split(variables, cut(options.partition, domain.lo[variables], domain.hi[variables]))


def _seconds_on_cpu(function: Function, domain: Domain, split: Split, threads: int) -> float:
    count = min(_ON_CPU, children(split))
    batch = boxes(split, np.arange(count), domain.lo, domain.hi)
    return best_seconds(lambda: function.range_ends(*batch, threads=threads)) / count


def _seconds_on_gpu(function: Function, domain: Domain, split: Split) -> float:
    """On one of them."""
    count = min(_ON_GPU, children(split))
    of = cuda_children.rows(split.variables, split.edges, domain.lo, domain.hi)
    with cuda_device.cuda_errors_as_refusals():
        made = cuda_children.table(function.value_program, of)
        return best_seconds(lambda: int(made.ends(0, count)[0].view(np.int64)[0, 0])) / count


def best_seconds(work: Callable[[], object]) -> float:
    """The time of the better of two calls, after a first one."""
    work()
    found = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)

"""Which backend a search runs on: decided here alone (POLICY). The answer does not depend on it, only the time.

asked     a GPU is there    chosen
cpu                         the CPU
cuda      no                refused, with a sentence that says what to do
cuda      yes               the GPU, or GPUs
auto      no                the CPU
auto      yes               the paper's method: the CPU, where the first region stages or has few children; else
                            whichever evaluates children of the first region faster
                            the default method: the CPU, until the search is seen to be long (placed.py); then the GPU,
                            if it contracts boxes much faster
Compilation and first calls are not counted. What is chosen is stored in one place: the function of the search runs
there (`Function.on`), and whoever has to know reads `function.place.backend`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.backends.cuda import children as cuda_children
from infimum.backends.cuda import device as cuda_device
from infimum.backends.placement import Gpu, to_host
from infimum.domain import Domain
from infimum.errors import BackendUnavailable, ProgramError
from infimum.function.function import Function
from infimum.interval.outward import FloatArray
from infimum.search.outcome import Options
from infimum.search.paper.enumerated import boxes, children
from infimum.search.paper.partition import cut
from infimum.search.paper.split import Split
from infimum.search.paper.tuning import BATCH
from infimum.search.tuning import BOXES_ON_CPU, BOXES_ON_GPU, CHILDREN_ON_GPU, FEW_CHILDREN, MEASURED_ENDS, MUCH_FASTER


class Choice(NamedTuple):
    """A backend, the sentence that says why it was chosen, and the names of its GPUs."""

    backend: str
    text: str
    device: str = ""

    def shown(self, name: str) -> str:
        """Return a function's name as the progress line shows it."""
        return f"{name} on {self.device}" if self.device else name


def failed(error: Exception) -> Choice:
    """Return the CPU, for the reason that a GPU failed."""
    return Choice("cpu", f"cpu: {error}")


def named(asked: str, count: int | None = None) -> Choice | None:
    """Return the backend, where nothing need be measured. count: how many GPUs are used, all by default."""
    if asked == "cpu":
        return Choice("cpu", "cpu")
    reason = cuda_device.available()
    if asked == "cuda":
        if reason is not None:
            raise BackendUnavailable(reason)
        name = gpu_names(count)
        return Choice("cuda", f"cuda: {name}", name)
    if reason is not None:
        return Choice("cpu", f"cpu: {reason}" if cuda_device.is_installed() else "cpu")
    return None


def for_paper(asked: str, function: Function, domain: Domain, options: Options) -> Choice:
    """Return the backend for a search by the paper's method."""
    found = named(asked)
    if found is not None:
        return found
    try:
        return _faster_with_children(function, domain, options)
    except (BackendUnavailable, ProgramError) as error:
        return failed(error)


def for_long_search(function: Function, domain: Domain, threads: int) -> Choice:
    """Return the backend for a search by the default method that is seen to be long."""
    try:
        return named("auto", count=1) or _faster_with_boxes(function, domain, threads)
    except (BackendUnavailable, ProgramError) as error:
        return failed(error)


def gpu_names(count: int | None = None) -> str:
    """Return the GPUs in words."""
    with cuda_device.cuda_errors_as_refusals():
        number = cuda_device.count() if count is None else count
        return cuda_device.current().name if number == 1 else f"{number} of {cuda_device.current().name}"


def best_seconds(work: Callable[[], object]) -> float:
    """Return the time of the better of two calls, after a first one."""
    work()
    found = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


# ------------------------------------------------------------------------------------------------ children of a region


def _faster_with_children(function: Function, domain: Domain, options: Options) -> Choice:
    split = _first_split(domain, options)
    if split.count == 0 or children(split) < FEW_CHILDREN:
        return Choice("cpu", f"cpu: a region has only {children(split):,} children")
    if function.staged(domain.pairs(), split.variables, split.edges).stages:
        return Choice("cpu", "cpu: the function stages, so that children cost little")
    on_cpu, on_gpu = _child_on_cpu(function, domain, split, options.threads), _child_on_gpu(function, domain, split)
    name = gpu_names()
    measured = f"{on_cpu * 1e9:,.3g} ns a child on the CPU, {on_gpu * 1e9:,.3g} ns on {name}"
    return Choice("cuda", f"cuda: {name}; {measured}", name) if on_gpu < on_cpu else Choice("cpu", f"cpu: {measured}")


def _first_split(domain: Domain, options: Options) -> Split:
    with np.errstate(over="ignore"):
        open_variables = np.flatnonzero(np.nextafter(domain.lo, domain.hi) < domain.hi)
    variables = open_variables[: max(1, options.partition.variables)]
    return Split(variables, cut(options.partition, domain.lo[variables], domain.hi[variables]))


def _child_on_cpu(function: Function, domain: Domain, split: Split, threads: int) -> float:
    """Return the seconds that a child takes on the CPU."""
    count = min(BATCH, children(split))
    batch = boxes(split, np.arange(count), domain.lo, domain.hi)
    return best_seconds(lambda: function.range_ends(*batch, threads=threads)) / count


def _child_on_gpu(function: Function, domain: Domain, split: Split) -> float:
    """Return the seconds that a child takes on one GPU."""
    count = min(CHILDREN_ON_GPU, children(split))
    of = cuda_children.rows(split.variables, split.edges, domain.lo, domain.hi)
    with cuda_device.cuda_errors_as_refusals():
        made = cuda_children.table(function.value_program, of)
        return best_seconds(lambda: int(made.ends(0, count)[0].view(np.int64)[0, 0])) / count


# ------------------------------------------------------------------------------------------------ contracted boxes


def _faster_with_boxes(function: Function, domain: Domain, threads: int) -> Choice:
    on_cpu = _box_seconds(function.on("cpu"), boxes_all_over(domain, BOXES_ON_CPU), threads)
    name = gpu_names(count=1)
    with cuda_device.cuda_errors_as_refusals():
        lo, hi = (cuda_device.to_device(end) for end in boxes_all_over(domain, BOXES_ON_GPU))
        on_gpu = _box_seconds(function.on(Gpu(call=0, patience=0, many=0)), (lo, hi), threads)
    measured = f"{on_cpu * 1e9:,.3g} ns to contract a box on the CPU, {on_gpu * 1e9:,.3g} ns on {name}"
    if on_gpu * MUCH_FASTER < on_cpu:
        return Choice("cuda", f"cuda: {name}; {measured}", name)
    return Choice("cpu", f"cpu: {measured}")


def _box_seconds(function: Function, ends: tuple[FloatArray, FloatArray], threads: int) -> float:
    """Return the seconds that a contraction takes; the last number is fetched, so that all is done by then."""
    lo, hi = ends
    return best_seconds(lambda: to_host(function.contraction_ends(lo, hi, np.inf, threads=threads)[2][-1:])) / len(lo)


def boxes_all_over(domain: Domain, count: int) -> tuple[FloatArray, FloatArray]:
    """Return boxes all over the domain, or over its middle part where it has no end."""
    number = max(1, min(count, MEASURED_ENDS // (2 * domain.n)))
    first, last = np.clip(domain.lo, -1e3, 1e3), np.clip(domain.hi, -1e3, 1e3)
    random = np.random.default_rng(number)
    lo = first + (last - first) * random.uniform(0.0, 0.9, (number, domain.n))
    return lo, np.maximum(lo, np.minimum(lo + (last - first) * 0.1, last))

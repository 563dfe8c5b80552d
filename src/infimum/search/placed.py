"""A search by either method on the backend that was asked for; choice.py decides for the paper's, this for the default.

asked     a GPU is there    chosen
cpu                         the CPU
cuda      no                refused, with a sentence that says what to do
cuda      yes               the GPU, for batches that are worth it
auto                        the CPU, and most searches are over before CuPy is imported. One that is seen to be long
                            asks whether a GPU is there, has a batch contracted on both, and begins again on a GPU that
                            is much faster; by either method on the CPU, if the GPU then fails

Guarantee: the answer is that of a search on the backend that `choice` names; with batches of one size, the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from infimum.backends.cuda import compile as cuda
from infimum.backends.placement import Gpu, here
from infimum.domain import Domain
from infimum.errors import BackendUnavailable, ProgramError
from infimum.function.function import Function
from infimum.interval.outward import FloatArray
from infimum.search.auto import separable
from infimum.search.outcome import Options, Outcome, Progress
from infimum.search.paper import search as paper
from infimum.search.paper.choice import Choice, best_seconds, choose, devices, named

_LONG, _MANY = 1.0, 2**13  # seconds and boxes of a search that is worth a measurement
_MUCH = 2.0  # times as fast: some of the work stays on the CPU
_ON_CPU, _ON_GPU = 2**13, 2**16  # boxes that are measured: each backend with a batch that suits it
_NUMBERS = 2**22  # ends of them, at most

Report = Callable[[Progress], bool]


class Paper:
    """A search by the paper's method. choice: what it runs on, and why."""

    def __init__(self, asked: str, function: Function, domain: Domain, options: Options) -> None:
        self.choice = choose(asked, function, domain, options)
        self._may_turn_back = asked == "auto" and self.choice.backend == "cuda"
        self._asked = function, domain, options.begun()

    def search(self, report: Report = lambda _: False) -> Outcome:
        """Enclose the global minimum of the function over the domain."""
        function, domain, options = self._asked
        try:
            return paper.search(function, domain, replace(options, backend=self.choice.backend), report)
        except BackendUnavailable as error:
            if not self._may_turn_back:
                raise
            self.choice = Choice("cpu", f"cpu: {error}")
        return paper.search(function, domain, options, report)


class Auto:
    """A search by the default method. choice: what it runs on, and why."""

    def __init__(self, asked: str, function: Function, domain: Domain, options: Options) -> None:
        self._is_open = self._may_turn_back = asked == "auto"
        self.choice = (None if self._is_open else named(asked, count=1)) or Choice("cpu", "cpu")
        self._function = function
        self._domain = domain
        self._options = options.begun()

    def search(self, report: Report = lambda _: False) -> Outcome:
        """Enclose the global minimum of the function over the domain. Limits count from the first beginning."""
        if self._is_open:
            outcome = self._searched(lambda state: report(state) or self._is_to_turn(state))
            if self.choice.backend == "cpu":
                return outcome
        try:
            return self._searched(report)
        except BackendUnavailable as error:
            if not self._may_turn_back:
                raise
            self.choice = Choice("cpu", f"cpu: {error}")
        return self._searched(report)

    def _searched(self, report: Report) -> Outcome:
        options = self._options
        if self.choice.backend == "cpu":
            return separable.search(self._function, self._domain, options, report)
        with cuda.in_words():
            return separable.search(self._function.on("cuda"), self._domain, replace(options, backend="cuda"), report)

    def _is_to_turn(self, state: Progress) -> bool:
        """Whether to begin again on the GPU: measured once, when the search is seen to be long."""
        if not self._is_open or state.seconds < _LONG or state.regions < _MANY:
            return False
        self._is_open = False
        try:
            self.choice = named("auto", count=1) or _measured(self._function, self._domain, self._options.threads)
        except (BackendUnavailable, ProgramError) as error:
            self.choice = Choice("cpu", f"cpu: {error}")
        return self.choice.backend == "cuda"


def _measured(function: Function, domain: Domain, threads: int) -> Choice:
    on_cpu = _seconds(function.on("cpu"), _boxes(domain, _ON_CPU), threads)
    name = devices(count=1)
    with cuda.in_words():
        lo, hi = (cuda.sent(end) for end in _boxes(domain, _ON_GPU))
        on_gpu = _seconds(function.on(Gpu(call=0, patience=0, many=0)), (lo, hi), threads)
    measured = f"{on_cpu * 1e9:,.3g} ns to contract a box on the CPU, {on_gpu * 1e9:,.3g} ns on {name}"
    if on_gpu * _MUCH < on_cpu:
        return Choice("cuda", f"cuda: {name}; {measured}", name)
    return Choice("cpu", f"cpu: {measured}")


def _seconds(function: Function, boxes: tuple[FloatArray, FloatArray], threads: int) -> float:
    """The time of a contraction for each box; the last number is fetched, so that all is done by then."""
    lo, hi = boxes
    return best_seconds(lambda: here(function.contraction_ends(lo, hi, np.inf, threads=threads)[2][-1:])) / len(lo)


def _boxes(domain: Domain, count: int) -> tuple[FloatArray, FloatArray]:
    """Boxes all over the domain, or over its middle part where it has no end."""
    number = max(1, min(count, _NUMBERS // (2 * domain.n)))
    first, last = np.clip(domain.lo, -1e3, 1e3), np.clip(domain.hi, -1e3, 1e3)
    random = np.random.default_rng(number)
    lo = first + (last - first) * random.uniform(0.0, 0.9, (number, domain.n))
    return lo, np.maximum(lo, np.minimum(lo + (last - first) * 0.1, last))


METHODS: dict[str, type[Auto | Paper]] = {"auto": Auto, "paper": Paper}

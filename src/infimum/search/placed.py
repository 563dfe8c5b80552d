"""A search by either method on the backend that was asked for; backend.py decides which that is.

Most searches by the default method are over before CuPy is imported. One that is seen to be long has a batch contracted
on both backends, and goes on on a GPU that is much faster. A search that was not told to use a GPU begins again on the
CPU, if the GPU then fails.

Guarantee: the answer is that of a search on the backend that `choice` names; with batches of one size, the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from infimum.backends.cuda import device as cuda_device
from infimum.backends.placement import Movable
from infimum.domain import Domain
from infimum.errors import BackendUnavailable
from infimum.function.function import Function
from infimum.search.auto import separable
from infimum.search.backend import Choice, failed, for_long_search, for_paper, named
from infimum.search.method import Report, unheard
from infimum.search.outcome import Options, Outcome, Progress
from infimum.search.paper import search as paper
from infimum.search.tuning import LONG_SECONDS, MANY_BOXES


class Placed(ABC):
    """A search on a backend. choice: what it runs on, and why."""

    def __init__(self, asked: str, choice: Choice, function: Function, domain: Domain, options: Options) -> None:
        self.choice = choice
        self._is_free = asked == "auto"
        self._function = function
        self._domain = domain
        self._options = options.begun()

    def search(self, report: Report = unheard) -> Outcome:
        """Enclose the global minimum of the function over the domain. Limits count from the first beginning."""
        try:
            return self._searched(report)
        except BackendUnavailable as error:
            if not self._is_free or self.choice.backend == "cpu":
                raise
            self.choice = failed(error)
        return self._searched(report)

    def _searched(self, report: Report) -> Outcome:
        if self.choice.backend == "cpu":
            return self._run(self._function, report)
        with cuda_device.cuda_errors_as_refusals():
            return self._run(self._function.on(self.choice.backend), report)

    @abstractmethod
    def _run(self, function: Function, report: Report) -> Outcome:
        """Search with a function that is on the backend."""


class Paper(Placed):
    """A search by the paper's method."""

    def __init__(self, asked: str, function: Function, domain: Domain, options: Options) -> None:
        super().__init__(asked, for_paper(asked, function, domain, options), function, domain, options)

    def _run(self, function: Function, report: Report) -> Outcome:
        return paper.search(function, self._domain, self._options, report)


class Auto(Placed):
    """A search by the default method."""

    def __init__(self, asked: str, function: Function, domain: Domain, options: Options) -> None:
        self._is_undecided = asked == "auto"
        self._place = Movable()
        choice = None if self._is_undecided else named(asked, count=1)
        super().__init__(asked, choice or Choice("cpu", "cpu"), function, domain, options)

    def search(self, report: Report = unheard) -> Outcome:
        """Enclose the global minimum as any search does; go on on a GPU, if that is found to be much faster."""
        if not self._is_undecided:
            return super().search(report)
        try:
            with cuda_device.cuda_errors_as_refusals():
                return self._run(self._function.on(self._place), lambda state: report(state) or self._moved(state))
        except BackendUnavailable as error:
            if self.choice.backend == "cpu":
                raise
            self._is_undecided, self.choice = False, failed(error)
        return super().search(report)

    def _run(self, function: Function, report: Report) -> Outcome:
        return separable.search(function, self._domain, self._options, report)

    def _moved(self, state: Progress) -> bool:
        """Move the search to the GPU where that pays: measured once, when it is seen to be long. It is not ended."""
        if self._is_undecided and state.seconds >= LONG_SECONDS and state.regions >= MANY_BOXES:
            self._is_undecided = False
            self.choice = for_long_search(self._function, self._domain, self._options.threads)
            if self.choice.backend != "cpu":
                self._place.move(self._function.on(self.choice.backend).place)
        return False


METHODS: dict[str, type[Auto | Paper]] = {"auto": Auto, "paper": Paper}

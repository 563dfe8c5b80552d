"""The live display of a search (POLICY): one line on the terminal's error stream, gone when the search ends."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, TextIO

from infimum.interval import Interval
from infimum.records.writing import counted, enclosure
from infimum.search.outcome import Progress

if TYPE_CHECKING:
    from rich.live import Live

_PATIENCE = 1.0  # seconds before a display that nobody asked for appears
_PERIOD = 0.1  # seconds between two updates of the terminal's line
_PERIOD_OF_A_FILE = 5.0  # seconds between two lines of a file


class Display:
    """A line with iteration, bounds, gap, regions, who did the work, rate and time; nothing where it is not wanted.

    shown True: from the start, on what is no terminal as a line now and then. False: never. None: on a terminal, once
    the search has lasted a second. A terminal has one such line: of several searches at once, the first has it.
    """

    _line: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, shown: bool | None, name: str, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._wanted = self._stream.isatty() if shown is None else shown
        self._patience = _PATIENCE if shown is None else 0.0
        self.name = name
        self._live: Live | None = None
        self._started = self._next = time.perf_counter()

    def __enter__(self) -> Display:
        self._started = time.perf_counter()
        self._next = self._started + self._patience
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()
            self._line.release()

    def update(self, step: Progress) -> None:
        """Show the step, unless the last one was shown only just now."""
        now = time.perf_counter()
        if not self._wanted or now < self._next:
            return
        if not self._stream.isatty():
            self._next = now + _PERIOD_OF_A_FILE
            print(line(step, self.name), file=self._stream, flush=True)
            return
        self._next = now + _PERIOD
        self._show(line(step, self.name))

    def _show(self, text: str) -> None:
        """Put the text on the terminal's line, unless another search has it."""
        # Here, as most searches are over before anything is shown.
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            if not self._line.acquire(blocking=False):
                return
            console = Console(file=self._stream)
            self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        self._live.update(Text(text, overflow="ellipsis", no_wrap=True), refresh=True)


def line(step: Progress, name: str) -> str:
    """Return the state of a search on one line; the bounds are rounded outward."""
    gap = step.upper - step.lower
    rate = step.iteration / step.seconds if step.seconds > 0 else 0.0
    parts = [
        name,
        f"iteration {step.iteration:,}",
        enclosure(Interval(step.lower, step.upper)) if step.lower <= step.upper else "no value yet",
        f"gap {gap:.2g}",
        counted(step.regions, "region"),
        *([step.main_work] if step.main_work else []),
        f"{rate:,.0f}/s",
        _duration(step.seconds),
    ]
    return "  ".join(parts)


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:.1f} s"
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}"

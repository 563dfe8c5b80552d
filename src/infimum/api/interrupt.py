"""Ctrl-C as a request: the search ends after the current iteration and returns what it has proved so far."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupt:
    """While this context is open, the first Ctrl-C sets `requested`; a second one raises KeyboardInterrupt.

    In other threads than the main one, and where the program has a handler of its own, nothing is changed.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: Any = None
        self._process = os.getpid()

    def __enter__(self) -> Interrupt:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._request)
        return self

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested or os.getpid() != self._process:  # a forked process has this handler, and no such search
            raise KeyboardInterrupt
        self.requested = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

"""An exploration beside the search: its turns run in a thread while boxes are contracted (POLICY).

It has a witness of its own. What that has proved by the time that the next boxes are contracted is taken over then, on
one thread as on many, so that a search goes the same way on all of them. Where a batch is small, a turn is waited for
and its points are known at once.
"""

from __future__ import annotations

import threading
from contextvars import copy_context

import numpy as np

from infimum.boxes import Boxes, FloatArray
from infimum.deadline import Late
from infimum.search.auto.exploration import Exploration
from infimum.search.auto.points import Points
from infimum.search.auto.tuning import BESIDE


class Beside:
    """The exploration of one search, whose points are `points`."""

    def __init__(self, points: Points, given: FloatArray | None = None, threads: int = 1) -> None:
        self._points = points
        self._own = Points(points.function.on(points.function.place.another()), points.domain)
        self._exploration = Exploration(self._own, given)
        self._threads = threads
        self._turn: threading.Thread | None = None
        self._found = ""
        self._error: BaseException | None = None
        self._is_open = False  # whether a turn's points are to be taken over

    def look(self, boxes: Boxes, taken: int) -> str:
        """Explore, as far as the boxes taken pay for it; return what led to a better point, where that is known."""
        self._own.adopt(self._points)
        self._is_open = True
        if len(boxes) < BESIDE:
            self._look(boxes, taken)
            return self.end()
        if self._threads == 1 or not self._is_begun(boxes, taken):
            self._look(boxes, taken)
        return ""

    def _is_begun(self, boxes: Boxes, taken: int) -> bool:
        """Begin a turn in a thread; return whether one could be started."""
        turn = threading.Thread(target=copy_context().run, args=(self._look, boxes, taken), daemon=True)
        try:
            turn.start()
        except RuntimeError:
            return False
        self._turn = turn
        return True

    def end(self) -> str:
        """Wait for the turn that is under way, and take over what it has found; return what led to a better point."""
        if not self._is_open:
            return ""
        if self._turn is not None:
            self._turn.join()
        self._turn, self._is_open = None, False
        self._points.evaluated += self._own.evaluated
        self._own.evaluated = 0
        is_better = self._points.adopt(self._own)
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._found if is_better else ""

    def _look(self, boxes: Boxes, taken: int) -> None:
        self._found = ""
        try:
            with np.errstate(all="ignore"):  # which other threads do not inherit everywhere
                self._found = self._exploration.look(boxes, taken)
        except Late:
            self._found = "polish"  # where it has found anything
        except BaseException as error:
            self._error = error

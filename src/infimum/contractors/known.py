"""What several contractors ask of the same boxes: gradients and facts, evaluated once while a box stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import is_on_device
from infimum.boxes import BoolArray, Boxes, FloatArray
from infimum.function.function import Function

Answers = tuple[npt.NDArray[Any], ...]


class Known:
    """A function's gradients and facts over boxes; the last answers are kept, each beside a copy of its box.

    Guarantee: an answer is handed out again only for a box with the same ends, so that it is the function's own.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self._slopes = _Memory(lambda lo, hi, threads: function.gradient_ends(lo, hi, threads=threads))
        self._facts = _Memory(lambda lo, hi, threads: function.fact_arrays(lo, hi, threads=threads))

    @property
    def is_smooth_everywhere(self) -> bool:
        """Whether no box needs a check."""
        return self.function.is_smooth_everywhere

    def gradient_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Boxes:
        """The ends (k, n) of the gradient on each box."""
        low, high = self._slopes.of(lo, hi, threads)
        return low, high

    def fact_arrays(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> tuple[BoolArray, BoolArray]:
        """`defined` and `smooth` as arrays (k,)."""
        defined, smooth = self._facts.of(lo, hi, threads)
        return defined, smooth

    def keep(self, some: BoolArray) -> None:
        """Forget the boxes that are not among `some` of the last ones."""
        self._slopes.keep(some)
        self._facts.keep(some)


class _Memory:
    """The boxes last asked about, with the answers. Boxes are compared row by row, by their ends."""

    def __init__(self, ask: Callable[[FloatArray, FloatArray, int], Answers]) -> None:
        self._ask = ask
        self._lo = self._hi = np.empty((0, 0))
        self._answers: Answers = ()

    def of(self, lo: FloatArray, hi: FloatArray, threads: int) -> Answers:
        # | boxes as last time | asked                                   |
        # | none, or others    | all of them                             |
        # | some               | the others, and put among the last ones |
        # | all                | none                                    |
        changed = None
        if self._answers and self._lo.shape == lo.shape and is_on_device(lo) == is_on_device(self._lo):
            changed = ((lo != self._lo) | (hi != self._hi)).any(1)
        if changed is None or changed.all():
            self._answers = self._ask(lo, hi, threads)
        elif changed.any():
            answers = tuple(answer.copy() for answer in self._answers)
            for answer, new in zip(answers, self._ask(lo[changed], hi[changed], threads), strict=True):
                answer[changed] = new
            self._answers = answers
        else:
            return self._answers
        self._lo, self._hi = lo.copy(), hi.copy()
        for answer in self._answers:
            if isinstance(answer, np.ndarray):
                answer.flags.writeable = False
        return self._answers

    def keep(self, some: BoolArray) -> None:
        if self._answers and len(some) == len(self._lo) and is_on_device(some) == is_on_device(self._lo):
            self._lo, self._hi = self._lo[some], self._hi[some]
            self._answers = tuple(answer[some] for answer in self._answers)

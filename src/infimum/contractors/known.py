"""What is known while boxes are contracted: gradients and facts are evaluated once while a box stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import is_on_device, to_host
from infimum.boxes import BoolArray, Boxes, Ends, FloatArray, limits
from infimum.core.chain import Slopes
from infimum.domain import Domain
from infimum.function.expression import stepped_variables
from infimum.function.function import Function

_MOST_PAIRS = 2**20  # of boxes that are compared

Answers = tuple[npt.NDArray[Any], ...]
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Known:
    """What contractors and split rules may ask. Boxes lie where the arrays of the question lie: host or GPU.

    function    the function itself: `range_ends`, `sharp_ends`, `contraction_ends`, …
    domain      the user's bounds
    upper       the global minimum is not above this: a number, or for guesses one for each box
    widths      (n,) how narrow boxes are to become, inf for "any width"; None where nothing is asked
    """

    function: Function
    domain: Domain
    upper: Any = np.inf
    threads: int = 1
    widths: FloatArray | None = None
    _memory: _Memories = field(default_factory=lambda: _Memories(), repr=False)

    def under(self, upper: Any, widths: FloatArray | None = None) -> Known:
        """Return the same for another upper bound, and for these widths; what was evaluated is shared."""
        return Known(self.function, self.domain, upper, self.threads, widths, self._memory)

    def limits(self, boxes: Boxes) -> FloatArray:
        """Return what f may be at most on each box, (k,)."""
        return limits(boxes.lo, self.upper)

    def gradient(self, boxes: Boxes) -> Ends:
        """Return the ends (k, n) of the gradient on each box."""
        low, high = self._memory.slopes.of(boxes, self._gradient)
        return low, high

    def smooth(self, boxes: Boxes) -> BoolArray:
        """Return which boxes the function is certainly smooth around, (k,)."""
        if self.function.is_smooth_everywhere:
            everywhere: BoolArray = np.full_like(boxes.lower, True, dtype=bool)
            return everywhere
        return self.facts(boxes)[1]

    def facts(self, boxes: Boxes) -> tuple[BoolArray, BoolArray]:
        """Return on which boxes the function is certainly defined, and around which it is certainly smooth, (k,)."""
        defined, smooth = self._memory.facts.of(boxes, self._facts)
        return defined, smooth

    @property
    def stepped(self) -> BoolArray:
        """Which variables (n,) the function's steps read: along them it changes without a slope."""
        if self._memory.stepped is None:
            self._memory.stepped = stepped_variables(self.function)
        return self._memory.stepped

    def offer(self, points: FloatArray) -> None:
        """Propose points (k, n) with small values. They are policy: whoever searches proves them, or forgets them."""
        if len(points):
            self._memory.offered.append(points)

    @property
    def has_offers(self) -> bool:
        """Whether points were proposed since they were last asked for."""
        return bool(self._memory.offered)

    def offered(self) -> list[FloatArray]:
        """Return what was proposed since it was last asked for."""
        found, self._memory.offered = self._memory.offered, []
        return found

    def hint(self, boxes: Boxes, weights: FloatArray) -> None:
        """Say what a cut of each variable promises on boxes, (k, n), NaN for no opinion: policy, for the default rule.

        It is known of a box as long as it lies in one of these, and until the next time that boxes are contracted.
        """
        self._memory.hinted.append((boxes.ends, weights))

    @property
    def has_hints(self) -> bool:
        """Whether any box was hinted at lately."""
        return any(bool(np.isfinite(weights).any()) for _, weights in self._memory.hinted)

    def hints(self, boxes: Boxes) -> FloatArray:
        """Return what was hinted last about boxes, (k, n); NaN where nothing was."""
        found = np.full_like(boxes.lo, np.nan)
        for ends, weights in reversed(self._memory.hinted):
            rows = np.flatnonzero(np.isnan(found).any(1))
            if not rows.size:
                break
            found[rows] = _matched(boxes[rows].ends, ends, weights)
        return found

    def forget_hints(self) -> None:
        """Forget what was hinted about boxes: others are contracted now."""
        self._memory.hinted = []

    def made(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return what was made for a key once, whatever the upper bound has become since."""
        found = self._memory.made.get(key)
        if found is None:
            found = self._memory.made[key] = make()
        return found

    def remember(self, boxes: Boxes, slopes: Ends, has_slopes: BoolArray) -> None:
        """Keep the gradients of boxes, where there are any."""
        self._memory.slopes.remember(boxes, slopes, has_slopes)

    def remembered(self) -> Slopes | None:
        """Return the boxes of the host's memory whose gradients are known, None where there are none."""
        return self._memory.slopes.remembered()

    def to_host(self) -> None:
        """Bring the gradients to the host's memory, as boxes come back from a device."""
        self._memory.slopes.to_host()

    def keep(self, some: BoolArray) -> None:
        """Forget the answers about boxes that are not among `some` of the last ones."""
        self._memory.slopes.keep(some)
        self._memory.facts.keep(some)

    def _gradient(self, lo: FloatArray, hi: FloatArray) -> Answers:
        return self.function.gradient_ends(lo, hi, threads=self.threads)

    def _facts(self, lo: FloatArray, hi: FloatArray) -> Answers:
        return self.function.fact_arrays(lo, hi, threads=self.threads)


def _read_only(answers: Iterable[npt.NDArray[Any]]) -> Answers:
    """Return the answers; those on the host can no longer be written to."""
    found = tuple(answers)
    for answer in found:
        if isinstance(answer, np.ndarray):
            answer.flags.writeable = False
    return found


class _Memory:
    """The boxes last asked about, with the answers. Boxes are compared row by row, by their ends.

    Guarantee: an answer is handed out again only for a box with the same ends, so that it is the function's own.
    """

    def __init__(self) -> None:
        self._lo = self._hi = np.empty((0, 0))
        self._answers: Answers = ()

    def of(self, boxes: Boxes, ask: Callable[[FloatArray, FloatArray], Answers]) -> Answers:
        """Return what `ask` answers about the boxes."""
        # | boxes as last time | asked                                   |
        # | none, or others    | all of them                             |
        # | some               | the others, and put among the last ones |
        # | all                | none                                    |
        lo, hi = boxes.ends
        changed = None
        if self._answers and self._lo.shape == lo.shape and is_on_device(lo) == is_on_device(self._lo):
            changed = ((lo != self._lo) | (hi != self._hi)).any(1)
        if changed is None or changed.all():
            self._answers = ask(lo, hi)
        elif changed.any():
            answers = tuple(answer.copy() for answer in self._answers)
            for answer, new in zip(answers, ask(lo[changed], hi[changed]), strict=True):
                answer[changed] = new
            self._answers = answers
        else:
            return self._answers
        self._lo, self._hi = lo.copy(), hi.copy()
        self._answers = _read_only(self._answers)
        return self._answers

    def remember(self, boxes: Boxes, answers: Answers, has: BoolArray) -> None:
        """Keep answers about boxes, where there are any: a box without one is unlike every other."""
        if has.any():
            self._lo, self._hi = np.where(has[:, None], boxes.lo, np.nan), boxes.hi
            self._answers = _read_only(answers)

    def remembered(self) -> Slopes | None:
        """Return the boxes with their answers, a pair of ends."""
        if not self._answers or is_on_device(self._lo):
            return None
        return Slopes((self._lo, self._hi), (self._answers[0], self._answers[1]), ~np.isnan(self._lo[:, 0]))

    def to_host(self) -> None:
        """Bring boxes and answers to the host's memory."""
        if self._answers and is_on_device(self._lo):
            self._lo, self._hi = to_host(self._lo), to_host(self._hi)
            self._answers = _read_only(map(to_host, self._answers))

    def keep(self, some: BoolArray) -> None:
        """Forget the boxes that are not among `some`."""
        if self._answers and len(some) == len(self._lo) and is_on_device(some) == is_on_device(self._lo):
            self._lo, self._hi = self._lo[some], self._hi[some]
            self._answers = _read_only(answer[some] for answer in self._answers)


class _Memories:
    """The answers that a search keeps, whatever its upper bound becomes."""

    def __init__(self) -> None:
        self.slopes = _Memory()
        self.facts = _Memory()
        self.stepped: BoolArray | None = None
        self.made: dict[Any, Any] = {}
        self.offered: list[FloatArray] = []
        self.hinted: list[tuple[Ends, FloatArray]] = []


def _matched(boxes: Ends, known: Ends, weights: FloatArray) -> FloatArray:
    """Return the weights of the known box that each box lies in: that of the same ends, or the first around it.

    A part of a box has its weights times the square of what it has of the widths: so do curvatures count.
    """
    found = np.full_like(boxes[0], np.nan)
    if not len(weights) or weights.shape[1:] != found.shape[1:]:
        return found
    rows = {lo.tobytes() + hi.tobytes(): i for i, (lo, hi) in enumerate(zip(*known, strict=True))}
    missing = []
    for i, (lo, hi) in enumerate(zip(*boxes, strict=True)):
        at = rows.get(lo.tobytes() + hi.tobytes())
        if at is None:
            missing.append(i)
        else:
            found[i] = weights[at]
    if len(missing) * len(weights) <= _MOST_PAIRS:
        for i in missing:
            around = ((known[0] <= boxes[0][i]) & (boxes[1][i] <= known[1])).all(1)
            at = int(around.argmax())
            if around[at]:
                with np.errstate(all="ignore"):
                    part = (boxes[1][i] - boxes[0][i]) / (known[1][at] - known[0][at])
                found[i] = np.where(np.isfinite(part), weights[at] * part**2, weights[at])
    return found

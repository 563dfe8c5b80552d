"""A convex function's kinks for those who may not read graphs: planes with mixed slopes (passes/convex/kinks)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.backends.cpu import Mode
from infimum.concurrency import cached_property
from infimum.graph.payload import is_number
from infimum.passes.convex.kinks import GROUPED as GROUPED
from infimum.passes.convex.kinks import Kink as Kink
from infimum.passes.convex.kinks import Kinks as Expressions
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.programs import Programs

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]

MOST_VARIABLES = 200
WITHIN = 1.0 - 2.0**-34  # a sum of as many squares as there may be, at most this as it is rounded, is less than 1
_MOST_ABOVE = np.inf  # how far a kink may be above its line
_MOST_ENTRIES = 200_000  # of the kinks' Jacobian; beyond, its Programs cost much and bring little


class KinkPrograms:
    """What is made from the kinks of one expression of n variables. Inputs: x, s, w."""

    def __init__(self, expressions: Expressions) -> None:
        self.made = expressions

    @cached_property
    def bound(self) -> Program:
        return lower(self.made.bound(), self.made.inputs)

    @cached_property
    def tests(self) -> Program:
        """Return whether Phi is convex, defined and smooth."""
        return lower([self.made.convex, *self.made.facts()], self.made.inputs)

    @cached_property
    def arguments(self) -> Program:
        return lower([self.made.arguments()], self.made.inputs)

    @cached_property
    def jacobian(self) -> Program:
        return lower(self.made.jacobian(), self.made.inputs)


def kink_programs(programs: Programs) -> KinkPrograms | None:
    """Return the Programs of a function's kinks; None without any, with too many, or where Phi is convex nowhere."""
    if programs.n > MOST_VARIABLES:
        return None
    found = Expressions(programs.smoothed.output, programs.n, _MOST_ENTRIES // programs.n)
    return KinkPrograms(found) if found.is_worthwhile and not is_number(found.convex, 0.0) else None


class Slopes(NamedTuple):
    """Phi (k,) at points, its slopes by x (k, n) and by w."""

    value: FloatArray
    by_x: FloatArray
    by_w: FloatArray


class Kinks:
    """The kinks of one function: `numbers` of s, `rests` of w."""

    def __init__(self, programs: KinkPrograms, place: Place) -> None:
        self._programs, self._place = programs, place
        made = programs.made
        self.n, self.numbers, self.rests = made.n, made.numbers, made.rests
        self.each: list[Kink] = made.kinks

    def slopes(self, x: FloatArray, s: FloatArray, w: FloatArray) -> Slopes:
        """Return Phi and its slopes in plain doubles at points (k, n), for (k, numbers) of s and (k, rests) of w."""
        value, by_x, by_w = (found for found, _ in self._run(self._programs.bound, x, s, w))
        return Slopes(value[:, 0], by_x, by_w)

    def arguments(self, x: FloatArray, s: FloatArray, w: FloatArray) -> FloatArray:
        """Return what each s is decided by, (k, numbers), in plain doubles."""
        ((found, _),) = self._run(self._programs.arguments, x, s, w)
        return found

    def jacobian(self, x: FloatArray, s: FloatArray, w: FloatArray) -> FloatArray:
        """Return the arguments' partial derivatives (k, numbers, n) in plain doubles."""
        return np.stack([column for column, _ in self._run(self._programs.jacobian, x, s, w)], axis=2)

    def plane(self, box: Ends, c: FloatArray, s: FloatArray, *, threads: int = 1) -> tuple[Ends, Ends, bool]:
        """Return the ends of a plane's value (1,) and slope (1, n) at the point c (1, n), and whether f is above it.

        Guarantee: where it is, f(x) >= value + slope (x - c) for every x of the box (1, n) at which f is defined.
        """
        none = np.zeros((1, self.rests))
        thin = np.hstack([c, s, none])
        value, by_x, by_w = self._place.run(self._programs.bound, thin, thin, threads=threads)
        wide = np.hstack([box[0], s, none]), np.hstack([box[1], s, np.full_like(none, _MOST_ABOVE)])
        (convex, _), *_ = self._place.run(self._programs.tests, *wide, threads=threads)
        _, (defined, _), (smooth, _) = self._place.run(self._programs.tests, thin, thin, threads=threads)
        known = self._is_allowed(s[0]) and bool(((box[0] <= c) & (c <= box[1])).all())
        known = known and all(truth[0, 0] == 1.0 for truth in (convex, defined, smooth))
        known = known and bool((by_w[0] >= 0.0).all() and (by_x[0] <= by_x[1]).all() and (value[0] <= value[1]).all())
        return (value[0][:, 0], value[1][:, 0]), by_x, known

    def _is_allowed(self, s: FloatArray) -> bool:
        """Return whether every kink is certainly nowhere below its line (above it, for a minimum)."""
        for kink in self.each:
            own = s[kink.s]
            if kink.kind == "norm":
                if not (np.sum(own.reshape(-1, kink.width) ** 2, axis=1) <= WITHIN).all():
                    return False
                continue
            least = -1.0 if kink.kind == "abs" else 0.0
            if not ((least <= own) & (own <= 1.0)).all():
                return False
            if kink.kind == "max_of" and not (own.reshape(-1, kink.width).max(axis=1) > 0.0).all():
                return False
        return True

    def _run(self, program: Program, x: FloatArray, s: FloatArray, w: FloatArray) -> list[Ends]:
        given = np.hstack([x, s, w])
        mode: Mode = "point"
        return self._place.run(program, given, given, mode)

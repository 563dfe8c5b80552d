"""A watch over tracing: the user's own function, run by NumPy, must lie within what the core makes of its graph.

A claim about a function that is not the user's is false, however rigorous. So the graph as traced, before anything is
simplified, is run by the core at points with every rounding widened (passes/widen), and the user's function is called
there. A finite value outside the enclosure, or where it is empty, is an error. NaN, infinities and exceptions say
nothing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.concurrency import cached_property
from infimum.errors import TraceMismatch
from infimum.function.points import constants_of, points_of
from infimum.graph.node import Node
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.widen import widened
from infimum.tracing.trace import Traced

FloatArray = npt.NDArray[np.float64]

_SECONDS, _SHARE = 0.05, 0.05  # of a run: what the watch may take, whichever is more
_ALWAYS = 3
_CLOSE = 1e-12  # relative
_CHUNK = 64
_LARGE = 1 << 20  # numbers that a program holds
_MANY_NODES = 20_000  # of an expression whose program takes long to make
# Without bounds: ranges in which a function is likely to be defined somewhere.
_RANGES = ((0.1, 0.9), (-1.0, 1.0), (1.0, 3.0), (-5.0, 5.0), (0.0, 1e-2), (-100.0, 100.0), (2.0, 50.0), (-0.4, 0.1))


class Comparison:
    """A traced function and the user's own, compared at points.

    retrace      traces the function once more, so that an error can tell a changed state from a fault of infimum
    simplified   returns the program that the search runs; of a large function, its values are compared first

    A Comparison holds the user's function and closures over it, so it cannot be pickled; Watch leaves it behind.
    """

    simplified: Callable[[], Program] | None = None

    def __init__(self, traced: Traced, output: Node, retrace: Callable[[], Traced]) -> None:
        self._traced = traced
        self._output = output
        self._retrace = retrace

    @property
    def n(self) -> int:
        return self._traced.n

    @cached_property
    def constants(self) -> list[float]:
        return constants_of([self._output])

    @cached_property
    def _tight(self) -> Program:
        if self.simplified is not None and self._output.number > _MANY_NODES:
            return self.simplified()
        return lower([self._output], self.n)

    @cached_property
    def _lenient(self) -> Program:
        return lower(widened([self._output], self._traced.has_exact), self.n)

    def compare(self, points: Sequence[FloatArray]) -> int:
        """Refuse a function whose value at a point is not what its graph says; count the points that have a value."""
        points = [point + 0.0 for point in points]  # no -0.0: a box means one zero
        found = zip(points, self._traced.numbers(points), strict=True)
        both = [(point, value) for point, value in found if value is not None and np.isfinite(value).any()]
        if both:
            self._compare(np.array([point for point, _ in both]), np.array([value for _, value in both]))
        return len(both)

    def _compare(self, points: FloatArray, values: FloatArray) -> None:
        # Most values agree to many digits: the larger program is made only where one does not.
        low, high = _ranges(self._tight, points)
        close = _CLOSE * np.abs(values)
        (doubtful,) = np.nonzero(_is_outside(values, low - close, high + close).any(axis=1))
        if not doubtful.size:
            return
        points, values = points[doubtful], values[doubtful]
        low, high = _ranges(self._lenient, points)
        wrong = _is_outside(values, low, high)
        if wrong.any():
            k, i = (int(v[0]) for v in np.nonzero(wrong))
            raise self._mismatch(points[k], values[k], i, (float(low[k, i]), float(high[k, i])))

    def rest(self) -> None:
        """Forget programs that hold much memory until they are needed again."""
        for name in ("_tight", "_lenient"):
            program: Program | None = self.__dict__.get(name)
            if program is not None and program.constant_points.size + program.tables.size > _LARGE:
                del self.__dict__[name]

    def _mismatch(self, point: FloatArray, value: FloatArray, i: int, ends: tuple[float, float]) -> TraceMismatch:
        entry = f" (entry {i})" if value.size > 1 else ""
        formula = "no value" if ends[0] > ends[1] else f"a value in [{ends[0]!r}, {ends[1]!r}]"
        return TraceMismatch(
            f"{self._traced.source} gives {float(value[i])!r}{entry} at x = {_shown(point)}, "
            f"where its traced formula gives {formula}.\n  {self._why(point, value, i)}"
        )

    def _why(self, point: FloatArray, value: FloatArray, i: int) -> str:
        # | called again       | traced again, the graph       | said                                |
        # | another value      |                               | hidden state, random numbers, time  |
        # | the same           | holds the value now           | likewise: it changed in between     |
        # | the same           | does not hold it either       | type of x, or our own fault         |
        (again,) = self._traced.numbers([point])
        if again is None or not np.array_equal(again, value, equal_nan=True):
            other = "fails" if again is None else f"gives {float(again[i])!r}"
            return (
                f"Called once more at the same point it {other}: it keeps a hidden state, or uses random numbers or "
                "the time.\n  Let its value depend on x alone."
            )
        if self._was_changed(point, value):
            return (
                "Traced once more, its formula holds this value: it keeps a hidden state that changes from call to "
                "call.\n  Let its value depend on x alone."
            )
        return (
            "Called once more it gives the same. If it looks at the type of x or of a value (dtype, isinstance), let "
            "it compute\n  the same for all types; otherwise infimum misunderstands a line of it: please report the "
            "function and this message."
        )

    def _was_changed(self, point: FloatArray, value: FloatArray) -> bool:
        try:
            traced = self._retrace()
        except Exception:  # of the user's function, which did not fail before
            return True
        low, high = _ranges(Comparison(traced, traced.output, self._retrace)._lenient, point[None])
        return not _is_outside(value, low[0], high[0]).any()


class Watch:
    """The comparisons of one function, and of its gradient where the user gave one, within a budget of time."""

    def __init__(self, pairs: Sequence[Comparison]) -> None:
        self._pairs = pairs
        self._began = time.perf_counter()
        self._spent = 0.0
        self._waiting: Iterator[FloatArray] = iter(())

    def __reduce__(self) -> tuple[type[Watch], tuple[list[Comparison]]]:
        """Pickle a watch without comparisons: a Function that is sent to another process is not watched there."""
        return Watch, ([],)

    def without_bounds(self) -> None:
        """Compare at a few points where the function has a value, wherever they are."""
        draw = np.random.default_rng(20_240_607)
        for pair in self._pairs:
            points = [draw.uniform(low, high, pair.n) for low, high in _RANGES]
            seen = pair.compare(points[:_ALWAYS])
            for k in range(_ALWAYS, len(points)):
                if seen < _ALWAYS:
                    seen += pair.compare(points[k : k + 1])

    def begin(self, lo: FloatArray, hi: FloatArray, x0: FloatArray | None = None) -> None:
        """Compare at points of the box [lo, hi]: three in any case, and more while the time allows."""
        constants = [c for pair in self._pairs for c in pair.constants]
        self._waiting = points_of(lo, hi, constants)
        self._look(self._waiting if x0 is None else itertools.chain(x0[:1], self._waiting), always=_ALWAYS)
        for pair in self._pairs:
            pair.rest()

    def end(self, points: Iterable[FloatArray]) -> None:
        """Compare at the points that a search ended with, then at those that were left over at its beginning."""
        self._look(itertools.chain(points, self._waiting))

    def _look(self, points: Iterable[FloatArray], always: int = 0) -> None:
        """Compare at points, in chunks that the time left allows by what the last one took."""
        source, size, seen = iter(points), _ALWAYS, 0
        while seen < always or self._left() > 0.0:
            began = time.perf_counter()
            chunk = list(itertools.islice(source, size))
            if not chunk:
                return
            for pair in self._pairs:
                pair.compare(chunk)
            took = time.perf_counter() - began
            self._spent += took
            seen += len(chunk)
            size = max(1, min(4 * size, _CHUNK, int(self._left() / took * len(chunk))))

    def _left(self) -> float:
        return max(_SECONDS, _SHARE * (time.perf_counter() - self._began)) - self._spent


def _ranges(program: Program, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    ((low, high),) = cpu.run(program, points, points, "interval")
    return low, high


def _is_outside(value: FloatArray, low: FloatArray, high: FloatArray) -> npt.NDArray[np.bool_]:
    return np.isfinite(value) & ~((low <= value) & (value <= high))


def _shown(point: FloatArray, most: int = 8) -> str:
    """Return the coordinates in full, the first ones where they are many."""
    shown = ", ".join(repr(v) for v in point[:most].tolist())
    return f"[{shown}]" if point.size <= most else f"[{shown}, … {point.size - most} more]"

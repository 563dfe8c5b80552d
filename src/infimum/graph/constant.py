"""Constants of a graph: what the user's numbers mean, element by element.

A plain double is that exact double; an exact constant is the real number it denotes. Both are enclosed tightly.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.exact import Exact, ExactArray, exact

FloatArray = npt.NDArray[np.float64]


class Constant:
    """A flat array of real constants, in one of three forms. Equal constants compare and hash equal.

    doubles    every element is a double
    symbols    exact constants, not all of them doubles
    bounds     intervals known to contain the elements: what folding large arrays leaves
    """

    __slots__ = ("_enclosure", "_points", "doubles", "key", "symbols")

    def __init__(
        self,
        doubles: FloatArray | None = None,
        symbols: tuple[Exact, ...] | None = None,
        bounds: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self.doubles = doubles
        self.symbols = symbols
        self._enclosure = bounds
        self._points: FloatArray | None = None
        self.key: Hashable
        if doubles is not None:
            self.key = doubles.tobytes()
        elif symbols is not None:
            self.key = symbols
        else:
            assert bounds is not None
            self.key = (bounds[0].tobytes(), bounds[1].tobytes())

    @property
    def size(self) -> int:
        if self.doubles is not None:
            return self.doubles.size
        return len(self.symbols) if self.symbols is not None else self.enclosure()[0].size

    @property
    def is_exact(self) -> bool:
        """The elements themselves are known, not only intervals around them."""
        return self.doubles is not None or self.symbols is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        if self.symbols is not None:
            shown = [repr(v) for v in self.symbols[:4]]
        elif self.doubles is not None:
            shown = [repr(float(v)) for v in self.doubles[:4]]
        else:
            shown = [
                f"[{lo!r}, {hi!r}]" for lo, hi in zip(*(end[:4].tolist() for end in self.enclosure()), strict=True)
            ]
        return ", ".join(shown) + (", …" if self.size > 4 else "")

    def enclosure(self) -> tuple[FloatArray, FloatArray]:
        """The tightest intervals around the elements."""
        if self.doubles is not None:
            return self.doubles, self.doubles
        if self._enclosure is None:
            assert self.symbols is not None
            squares = _squares(self.symbols)
            if squares is not None:
                self._enclosure = core.apply("sqrt", (squares, squares))
                self._points = np.sqrt(squares)
            else:
                intervals = [s.enclose() for s in self.symbols]
                self._enclosure = (
                    np.array([float(v.lo) for v in intervals]),
                    np.array([float(v.hi) for v in intervals]),
                )
        return self._enclosure

    def points(self) -> FloatArray:
        """The nearest doubles."""
        if self.doubles is not None:
            return self.doubles
        if self._points is None:
            lo, hi = self.enclosure()
            if self.symbols is None:
                self._points = core.apply("mid", (lo, hi))[0]
            elif self._points is None:
                self._points = np.array([float(s) for s in self.symbols])
        return self._points

    def exact_elements(self) -> tuple[Exact, ...]:
        """The elements as exact constants; refuse infinities and NaN before calling."""
        if self.symbols is not None:
            return self.symbols
        assert self.doubles is not None
        return tuple(exact(float(v)) for v in self.doubles)

    def take(self, indices: npt.NDArray[np.int64]) -> Constant:
        """The elements at these indices, 0 for -1."""
        if self.doubles is not None:
            return Constant(np.where(indices >= 0, self.doubles[indices], 0.0))
        if self.symbols is not None:
            zero = exact(0)
            return of_symbols([self.symbols[i] if i >= 0 else zero for i in indices])
        lo, hi = self.enclosure()
        return of_bounds(np.where(indices >= 0, lo[indices], 0.0), np.where(indices >= 0, hi[indices], 0.0))


def _squares(symbols: tuple[Exact, ...]) -> FloatArray | None:
    """The squares, where every symbol is a root of a double: long arrays of roots are enclosed at once, as tightly."""
    found = [s.as_square_root() for s in symbols]
    if any(q is None or not _is_double(q) for q in found):
        return None
    return np.array([float(q) for q in found if q is not None])


def of_bounds(lo: FloatArray, hi: FloatArray) -> Constant:
    """Constants known by intervals around them, held as doubles where those are points."""
    if np.array_equal(lo, hi):
        return Constant(lo + 0.0)
    return Constant(bounds=(lo, hi))


def of_symbols(symbols: Sequence[Exact]) -> Constant:
    """Exact constants, held as doubles where all of them are."""
    fractions = [s.as_fraction() for s in symbols]
    if all(f is not None and _is_double(f) for f in fractions):
        return Constant(np.array([float(f) for f in fractions if f is not None]) + 0.0)
    return Constant(symbols=tuple(symbols))


def _is_double(f: Fraction) -> bool:
    try:
        return Fraction(float(f)) == f
    except OverflowError:
        return False


def constant(value: Any) -> Constant:
    """Read a number, an array of numbers, or an exact constant, flattened row-major; a Constant is one already."""
    if isinstance(value, Constant):
        return value
    if isinstance(value, Exact):
        return of_symbols([value])
    if isinstance(value, ExactArray):
        return of_symbols([v for v in value.reshape(-1) if isinstance(v, Exact)])
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return of_symbols([exact(value)])
    return Constant(np.ascontiguousarray(value, np.float64).ravel() + 0.0)

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
from infimum.exact.columns import columns as exact_columns
from infimum.exact.columns import value as exact_columns_value
from infimum.exact.columns.columns import Columns, Unfit
from infimum.exact.number import Exact, ExactArray, exact

FloatArray = npt.NDArray[np.float64]

# More exact constants than these are held in columns, if they have such: equal constants are held alike.
_MOST_SYMBOLS = 64
_FEW = 8


class Constant:
    """A flat array of real constants, in one of four forms. Equal constants compare and hash equal.

    doubles    every element is a double
    symbols    exact constants, not all of them doubles
    columns    many of them, without an object for each; their symbols are made when asked for
    bounds     intervals known to contain the elements: what folding large arrays leaves
    """

    __slots__ = ("_enclosure", "_points", "_symbols", "columns", "doubles", "key")

    def __init__(
        self,
        doubles: FloatArray | None = None,
        symbols: tuple[Exact, ...] | None = None,
        bounds: tuple[FloatArray, FloatArray] | None = None,
        columns: Columns | None = None,
    ) -> None:
        self.doubles = doubles
        self.columns = columns
        self._symbols = symbols
        self._enclosure = bounds
        self._points: FloatArray | None = None
        self.key: Hashable
        if doubles is not None:
            self.key = doubles.tobytes()
        elif symbols is not None:
            self.key = symbols
        elif columns is not None:
            self.key = ("columns", *columns.key)
        else:
            assert bounds is not None
            self.key = (bounds[0].tobytes(), bounds[1].tobytes())

    @property
    def size(self) -> int:
        if self.doubles is not None:
            return self.doubles.size
        if self.columns is not None:
            return self.columns.size
        return len(self._symbols) if self._symbols is not None else self.enclosure()[0].size

    @property
    def symbols(self) -> tuple[Exact, ...] | None:
        """Return the exact constants one by one, where not all of them are doubles."""
        if self._symbols is None and self.columns is not None:
            self._symbols = tuple(map(Exact, self.columns.elements()))
        return self._symbols

    @property
    def is_exact(self) -> bool:
        """Return whether the elements themselves are known, not only intervals around them."""
        return self.doubles is not None or self.columns is not None or self._symbols is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        if self.columns is not None:
            shown = [repr(Exact(self.columns.element(i))) for i in range(min(4, self.size))]
        elif self._symbols is not None:
            shown = [repr(v) for v in self._symbols[:4]]
        elif self.doubles is not None:
            shown = [repr(float(v)) for v in self.doubles[:4]]
        else:
            shown = [
                f"[{lo!r}, {hi!r}]" for lo, hi in zip(*(end[:4].tolist() for end in self.enclosure()), strict=True)
            ]
        return ", ".join(shown) + (", …" if self.size > 4 else "")

    def enclosure(self) -> tuple[FloatArray, FloatArray]:
        """Return the tightest intervals around the elements."""
        if self.doubles is not None:
            return self.doubles, self.doubles
        if self._enclosure is None:
            columns = self._measured_at_once()
            if columns is not None:
                self._enclosure = exact_columns_value.enclosures(columns)
            else:
                ends = [s.enclose() for s in self.exact_elements()]
                self._enclosure = (np.array([float(v.lo) for v in ends]), np.array([float(v.hi) for v in ends]))
        return self._enclosure

    def points(self) -> FloatArray:
        """Return the nearest doubles; the midpoints, where only intervals are known."""
        if self.doubles is not None:
            return self.doubles
        if self._points is None:
            columns = self._measured_at_once()
            if columns is not None:
                self._points = exact_columns_value.nearest(columns)
            elif self.is_exact:
                self._points = np.array([float(s) for s in self.exact_elements()])
            else:
                self._points = core.apply("mid", self.enclosure())[0]
        return self._points

    def _measured_at_once(self) -> Columns | None:
        """Return the columns of exact constants that fit; a few are measured sooner one by one."""
        if not self.is_exact or self.size <= _FEW:
            return None
        try:
            return _columns(self)
        except Unfit:
            return None

    def exact_elements(self) -> tuple[Exact, ...]:
        """Return the elements as exact constants; the caller refuses infinities and NaN before."""
        if self.symbols is not None:
            return self.symbols
        assert self.doubles is not None
        return tuple(exact(float(v)) for v in self.doubles)

    def take(self, indices: npt.NDArray[np.int64]) -> Constant:
        """Return the elements at these indices, 0 for -1."""
        if self.doubles is not None:
            return Constant(np.where(indices >= 0, self.doubles[indices], 0.0))
        if self.columns is not None:
            return of_columns(self.columns.take(indices))
        if self.symbols is not None:
            zero = exact(0)
            return of_symbols([self.symbols[i] if i >= 0 else zero for i in indices])
        lo, hi = self.enclosure()
        return of_bounds(np.where(indices >= 0, lo[indices], 0.0), np.where(indices >= 0, hi[indices], 0.0))


def of_bounds(lo: FloatArray, hi: FloatArray) -> Constant:
    """Return constants known by intervals around them, held as doubles where those are points."""
    if np.array_equal(lo, hi):
        return Constant(lo + 0.0)
    return Constant(bounds=(lo, hi))


def of_columns(columns: Columns) -> Constant:
    """Return the constants of columns, held as doubles where all of them are, as symbols where they are few."""
    doubles = exact_columns_value.doubles(columns)
    if doubles is not None:
        return Constant(doubles.ravel())
    if columns.size <= _MOST_SYMBOLS:
        return Constant(symbols=tuple(map(Exact, columns.elements())))
    return Constant(columns=columns if len(columns.shape) == 1 else columns.each(np.ravel))


def of_symbols(symbols: Sequence[Exact]) -> Constant:
    """Return exact constants, held as doubles where all of them are, in columns where they are many and fit."""
    if len(symbols) > _MOST_SYMBOLS:
        try:
            return of_columns(exact_columns.of_forms((s.form for s in symbols), (len(symbols),)))
        except Unfit:
            pass
    fractions = [s.as_fraction() for s in symbols]
    if all(f is not None and _is_double(f) for f in fractions):
        return Constant(np.array([float(f) for f in fractions if f is not None]) + 0.0)
    return Constant(symbols=tuple(symbols))


def joined(values: Sequence[Constant]) -> Constant:
    """Return the elements of one constant after those of the other."""
    if all(v.doubles is not None for v in values):
        return Constant(np.concatenate([v.doubles for v in values if v.doubles is not None]))
    if not all(v.is_exact for v in values):
        ends = [v.enclosure() for v in values]
        return of_bounds(np.concatenate([lo for lo, _ in ends]), np.concatenate([hi for _, hi in ends]))
    if any(v.columns is not None for v in values):
        try:
            return of_columns(exact_columns.joined([_columns(v) for v in values]))
        except Unfit:
            pass
    return of_symbols([s for v in values for s in v.exact_elements()])


def _columns(value: Constant) -> Columns:
    """Return exact constants in columns; Unfit where there are none."""
    if value.columns is not None:
        return value.columns
    if value.doubles is not None:
        return exact_columns.of_doubles(value.doubles)
    return exact_columns.of_forms((s.form for s in value.exact_elements()), (value.size,))


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
        if value.columns is not None:
            return of_columns(value.columns)
        return of_symbols([v for v in value.reshape(-1) if isinstance(v, Exact)])
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return of_symbols([exact(value)])
    array = np.asarray(value)
    if array.dtype.kind in "iu" and array.size and (array.min() < -(2**53) or array.max() > 2**53):
        return of_symbols([exact(n) for n in array.ravel().tolist()])  # not all of them are doubles
    return Constant(np.ascontiguousarray(array, np.float64).ravel() + 0.0)

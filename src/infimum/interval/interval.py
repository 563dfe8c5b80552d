"""Interval: closed sets of real numbers between two doubles, alone or in arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import AmbiguousComparison, InvalidInterval, NotAPoint, UnsupportedValue
from infimum.interval import folds, numpy_rules
from infimum.interval.calls import MEASURES, call, is_void, operand
from infimum.interval.operators import UfuncOperators
from infimum.interval.outward import INF, FloatArray, frozen, ordered
from infimum.interval.reading import Pair, as_array, broadcast, describe, text_or_number_ends
from infimum.interval.text import write_array, write_python


def _measured(op: str) -> Any:
    return property(lambda self: _number(call(op, self.__interval__())[0]), doc=f"Return {MEASURES[op]}")


class Interval(UfuncOperators):
    """The real numbers t with lo <= t <= hi, for every element of two arrays of doubles.

    ``Interval(1, 2)``, ``Interval(0.1)`` (that double), ``Interval("0.1")`` (the decimal, enclosed),
    ``Interval("[1/3, inf]")``, ``Interval([0, 1], [2, 3])`` (two intervals). Lower ends are rounded down and
    upper ends up where they are no doubles. The empty interval has lo = inf, hi = -inf.
    """

    __slots__ = ("_hi", "_lo")
    __array_priority__ = 1000.0
    # Equality is refused where it is uncertain, so no dictionary could find an interval again.
    __hash__ = None  # type: ignore[assignment]

    _lo: FloatArray
    _hi: FloatArray

    def __init__(self, lo: object, hi: object = None) -> None:
        low = text_or_number_ends(lo)
        high = low if hi is None else text_or_number_ends(hi)
        broadcast("Interval(lo, hi)", [low, high])
        given = (lo,) if hi is None else (lo, hi)
        self._lo, self._hi = _checked(low[0], high[1], given)

    @classmethod
    def _of(cls, pair: Pair) -> Interval:
        """Return the interval of ends that are known to be valid."""
        self = object.__new__(cls)
        self._lo, self._hi = (np.asarray(end, dtype=np.float64) for end in pair)
        self._lo.setflags(write=False)
        self._hi.setflags(write=False)
        return self

    @classmethod
    def from_pairs(cls, pairs: npt.ArrayLike) -> Interval:
        """Return the intervals whose ends lie along the last axis, of length 2."""
        array = as_array(pairs)
        if array.ndim == 0 or array.shape[-1] != 2:
            raise InvalidInterval(f"from_pairs needs a last axis of length 2 (lo, hi), got shape {array.shape}.")
        return cls(array[..., 0], array[..., 1])

    def pairs(self) -> FloatArray:
        """Return one array with a last axis (lo, hi)."""
        return np.stack([self._lo, self._hi], axis=-1)

    def __interval__(self) -> Pair:
        return self._lo, self._hi

    def __reduce__(self) -> tuple[Any, ...]:
        return Interval, (np.array(self._lo), np.array(self._hi))

    # Numbers about the intervals: a float for a scalar, an array otherwise.

    @property
    def lo(self) -> Any:
        """The lower end; +inf for the empty interval."""
        return _number(self._lo)

    @property
    def hi(self) -> Any:
        """The upper end; -inf for the empty interval."""
        return _number(self._hi)

    mid, rad, wid, mag, mig = map(_measured, MEASURES)
    width = wid  # in full; wid is its name in IEEE 1788

    # Shape.

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the arrays lo and hi."""
        return self._lo.shape

    @property
    def size(self) -> int:
        """The number of intervals."""
        return self._lo.size

    @property
    def ndim(self) -> int:
        """The number of axes; 0 for a scalar."""
        return self._lo.ndim

    @property
    def T(self) -> Interval:
        """The intervals with the axes reversed."""
        return Interval._of((self._lo.T, self._hi.T))

    def reshape(self, *shape: Any) -> Interval:
        """Return the same intervals in another shape."""
        return Interval._of((self._lo.reshape(*shape), self._hi.reshape(*shape)))

    def ravel(self) -> Interval:
        """Return the same intervals along one axis."""
        return self.reshape(-1)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise UnsupportedValue(f"len({self!r}): a scalar Interval has no length. Use .width.")
        return len(self._lo)

    def __getitem__(self, index: Any) -> Interval:
        return Interval._of((self._lo[index], self._hi[index]))

    def __iter__(self) -> Iterator[Interval]:
        if self.ndim == 0:
            raise UnsupportedValue(f"{self!r} is one interval and cannot be iterated over. Use .lo and .hi.")
        return (self[i] for i in range(len(self)))

    # Reductions, over a fixed balanced tree.

    def sum(self, axis: folds.Axis = None, keepdims: bool = False) -> Interval:
        """Contain the sum along the axes."""
        return Interval._of(folds.fold("add", self.__interval__(), axis, keepdims))

    def prod(self, axis: folds.Axis = None, keepdims: bool = False) -> Interval:
        """Contain the product along the axes."""
        return Interval._of(folds.fold("mul", self.__interval__(), axis, keepdims))

    def mean(self, axis: folds.Axis = None, keepdims: bool = False) -> Interval:
        """Contain the mean along the axes."""
        return Interval._of(folds.mean(self.__interval__(), axis, keepdims))

    def min(self, axis: folds.Axis = None, keepdims: bool = False) -> Interval:
        """Contain the smallest of the numbers along the axes."""
        return Interval._of(folds.fold("min", self.__interval__(), axis, keepdims))

    def max(self, axis: folds.Axis = None, keepdims: bool = False) -> Interval:
        """Contain the largest of the numbers along the axes."""
        return Interval._of(folds.fold("max", self.__interval__(), axis, keepdims))

    def dot(self, other: object) -> Interval:
        """Contain np.dot(self, other)."""
        return Interval._of(folds.dot(self.__interval__(), operand(other)))

    # Sets.

    def __and__(self, other: object) -> Interval:
        return Interval._of(call("intersection", self.__interval__(), operand(other)))

    def __or__(self, other: object) -> Interval:
        return Interval._of(call("hull", self.__interval__(), operand(other)))

    __rand__, __ror__ = __and__, __or__

    # Questions: answered where certain, refused otherwise.

    def __bool__(self) -> bool:
        if self.size == 1 and not is_void(self.__interval__()).any():
            lo, hi = int(ordered(self._lo).item()), int(ordered(self._hi).item())
            if lo == hi == 0 or lo > 0 or hi < 0:
                return lo != 0
        raise AmbiguousComparison(
            f"the truth of {describe(self)} is uncertain: it holds zero and other numbers, or no number, or is an "
            "array. Ask 0 in x, infimum.interval.is_empty(x) or x.hi < 0 instead."
        )

    def __contains__(self, value: object) -> bool:
        if self.ndim:
            raise UnsupportedValue(
                f"'in' asks about one interval, and this is an array of shape {self.shape}. "
                "Ask infimum.interval.is_member(t, x).all() or subset(a, x).all()."
            )
        if isinstance(value, float) and not np.isfinite(value):
            return False
        # The tightest doubles around a number lie in a set with double ends if and only if the number does.
        lo, hi = operand(value)
        if lo.ndim:
            raise UnsupportedValue(f"{describe(value)} in x: ask about one number or interval at a time.")
        inside = (ordered(lo) >= ordered(self._lo)) & (ordered(hi) <= ordered(self._hi))
        return bool(inside | is_void((lo, hi)))

    # Conversions: only what loses nothing.

    def __float__(self) -> float:
        if self.size != 1:
            raise NotAPoint(f"float() of an array of {self.size} intervals. Use x[i], x.lo, x.hi or x.mid.")
        return float(self._points("float"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self._points("np.array"), dtype=dtype)

    def _points(self, what: str) -> FloatArray:
        if not (ordered(self._lo) == ordered(self._hi)).all():
            raise NotAPoint(
                f"{what}({describe(self)}): an interval that is not a single number has no one value. Use .lo, .hi, "
                ".mid or .pairs(); for functions use NumPy's (np.sin(x)) instead of math's."
            )
        return self._lo

    def __floor__(self) -> Interval:
        return Interval._of(call("floor", self.__interval__()))

    def __ceil__(self) -> Interval:
        return Interval._of(call("ceil", self.__interval__()))

    def __trunc__(self) -> Interval:
        return Interval._of(call("trunc", self.__interval__()))

    def __repr__(self) -> str:
        return write_python(self._lo, self._hi)

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        """Return decimal text whose set contains the interval.

        ".3g" (or ".3") asks for 3 significant digits an end, the lower one rounded down and the upper one up; without
        a specification there are 17.
        """
        match = re.fullmatch(r"(?:\.0*([1-9][0-9]*)g?)?", spec)
        if match is None:
            raise InvalidInterval(f"format specification {spec!r} of an Interval. Write for instance f'{{x:.5g}}'.")
        return write_array(self._lo, self._hi, int(match[1] or 17))

    # NumPy's functions.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _shell(numpy_rules.ufunc(ufunc, method, inputs, kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.shape, np.ndim, np.size):
            return getattr(self, function.__name__)
        return _shell(numpy_rules.function(function, args, kwargs))


def _checked(lo: FloatArray, hi: FloatArray, given: tuple[object, ...]) -> Pair:
    """Return frozen ends, of which each pair is an interval."""
    lo, hi = (frozen(end) for end in np.broadcast_arrays(lo, hi))
    if np.isnan(lo).any() or np.isnan(hi).any():
        raise InvalidInterval(
            f"{_shown(given)}: NaN is no number. For an unknown number write infimum.interval.entire()."
        )
    void = (lo == INF) & (hi == -INF)
    if (((lo == INF) | (hi == -INF)) & ~void).any():
        raise InvalidInterval(
            f"{_shown(given)}: an interval holds real numbers, and infinity is none. "
            "For a half-line write Interval(lo, inf) or Interval(-inf, hi)."
        )
    wrong = (ordered(lo) > ordered(hi)) & ~void
    if wrong.any():
        first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        place = f" at index {tuple(int(i) for i in first)}" if first else ""
        low, high = float(lo[first]), float(hi[first])
        raise InvalidInterval(
            f"{_shown(given)}: the lower end {low!r} exceeds the upper end {high!r}{place}. "
            f"Write Interval({high!r}, {low!r}), or infimum.interval.empty() for no number."
        )
    return lo, hi


def _shown(given: tuple[object, ...]) -> str:
    return f"Interval({', '.join(describe(v) for v in given)})"


def _number(values: FloatArray) -> Any:
    if values.ndim == 0:
        return float(values)
    if values.flags.writeable:
        values.setflags(write=False)
    return values


def _shell(result: Any) -> Any:
    return Interval._of(result) if isinstance(result, tuple) else result

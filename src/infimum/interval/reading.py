"""What may stand for real numbers beside an Interval, and the tightest doubles around it.

An object that encloses itself (Interval, exact constants) says so by a method ``__interval__()`` that returns its
lower and upper ends.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import InvalidInterval, ShapeMismatch, UnsupportedValue
from infimum.interval.outward import FloatArray, above, below
from infimum.interval.text import read_interval

Pair = tuple[FloatArray, FloatArray]
_EXACT_INTEGERS = 2**53


def ends(value: object) -> Pair:
    """Return arrays of doubles, lower <= each number given <= upper, as tight as doubles can be.

    Infinities and NaN pass through: the caller knows whether they mean anything there.
    """
    # | given                          | ends                                    |
    # | Interval, exact constant       | its own                                 |
    # | int, Fraction                  | the doubles next to it                  |
    # | float                          | itself, twice                           |
    # | list or tuple holding such     | those of its elements, stacked          |
    # | anything else NumPy can read   | by dtype                                |
    if isinstance(value, float):
        point = np.asarray(value, dtype=np.float64)
        return point, point
    if isinstance(value, (int, Fraction)):
        return np.asarray(below(value)), np.asarray(above(value))
    if hasattr(value, "__interval__"):
        return _own_ends(value)
    if isinstance(value, (list, tuple)) and _holds_enclosures(value):
        return _stacked(value)
    return _array_ends(as_array(value))


def text_or_number_ends(value: object) -> Pair:
    """Return the same as ends, reading text too, alone or in arrays."""
    if isinstance(value, str):
        lo, hi = read_interval(value)
        return np.asarray(lo), np.asarray(hi)
    if isinstance(value, (list, tuple, np.ndarray)) and not _holds_enclosures(value):
        array = as_array(value)
        if array.dtype.kind in "UO":
            return _elementwise(array, _text_or_number)
    return ends(value)


def describe(value: object) -> str:
    """Return the value as the user may have written it, cut to a readable length."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _own_ends(value: Any) -> Pair:
    lo, hi = value.__interval__()
    return np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64)


def _holds_enclosures(value: object) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    return any(hasattr(v, "__interval__") or _holds_enclosures(v) for v in value)


def _stacked(values: list[object] | tuple[object, ...]) -> Pair:
    parts = [ends(v) for v in values]
    shapes = sorted({lo.shape for lo, _ in parts})
    if len(shapes) > 1:
        raise ShapeMismatch(
            f"{describe(values)} holds elements of shapes {shapes[0]} and {shapes[1]}. "
            "Give all of them one shape, or join them with np.concatenate."
        )
    return np.stack([lo for lo, _ in parts]), np.stack([hi for _, hi in parts])


def as_array(value: object) -> np.ndarray[Any, Any]:
    """Return NumPy's array of the value, of objects where NumPy would round an integer or turn a number to text."""
    try:
        array = np.asarray(value)
        rounds = array.dtype == np.float64 and bool((np.isfinite(array) & (np.abs(array) >= _EXACT_INTEGERS)).any())
        if isinstance(value, (list, tuple)) and (rounds or array.dtype.kind == "U"):
            return np.asarray(value, object)
        return array
    except ValueError as error:
        raise ShapeMismatch(
            f"{describe(value)} is no array: its rows differ in shape. Give rows of one length."
        ) from error


def _array_ends(array: np.ndarray[Any, Any]) -> Pair:
    # | dtype                        | ends                              |
    # | bool, integers up to 2**53, floats up to 64 bits | the doubles themselves, exactly |
    # | larger integers, object      | element by element                |
    # | complex, text, longer floats, dates | refused                    |
    if array.dtype.kind in "bf" and array.dtype.itemsize <= 8:
        points = array.astype(np.float64)
        return points, points
    if array.dtype.kind in "iu":
        return _integer_ends(array)
    if array.dtype.kind == "O":
        return _elementwise(array, _number_ends)
    raise UnsupportedValue(
        f"{describe(array.tolist())} of type {array.dtype} cannot stand for real numbers. "
        f"{_SUBSTITUTES.get(array.dtype.kind, _NUMBERS)}"
    )


_NUMBERS = "Give float64 or integer numbers, Fractions, Intervals or exact constants."
_SUBSTITUTES = {
    "c": "Give real numbers: write the real and the imaginary part as two variables.",
    "U": "Write Interval('0.1') to enclose decimal text.",
    "f": "Convert to float64 with .astype(float) if that is the number you mean.",
}


def _integer_ends(array: np.ndarray[Any, Any]) -> Pair:
    if array.size == 0 or (array.min() >= -_EXACT_INTEGERS and array.max() <= _EXACT_INTEGERS):
        points = array.astype(np.float64)
        return points, points
    return _elementwise(array, lambda n: (below(int(n)), above(int(n))))


def _number_ends(value: object) -> tuple[float, float]:
    if isinstance(value, (int, float, Fraction, np.integer, np.floating)) or hasattr(value, "__interval__"):
        lo, hi = ends(value)
        if lo.shape == ():
            return float(lo), float(hi)
    raise UnsupportedValue(
        f"{describe(value)} of type {type(value).__name__} cannot stand for a real number. " + _NUMBERS
    )


def _text_or_number(value: object) -> tuple[float, float]:
    return read_interval(value) if isinstance(value, str) else _number_ends(value)


def _elementwise(array: np.ndarray[Any, Any], read: Callable[[Any], tuple[float, float]]) -> Pair:
    pairs = np.array([read(v) for v in array.ravel().tolist()], dtype=np.float64).reshape(*array.shape, 2)
    return pairs[..., 0], pairs[..., 1]


def refuse_nonreal(value: object, lo: FloatArray, hi: FloatArray) -> None:
    """Refuse NaN and infinities among the numbers that were read from value."""
    if np.isnan(lo).any() or np.isnan(hi).any():
        raise InvalidInterval(
            f"{describe(value)} contains NaN, which is no number. "
            "For an unknown number write infimum.interval.entire()."
        )
    # An exact number beyond the doubles has one infinite end; infinity itself has both.
    if (np.isinf(lo) & (lo == hi)).any():
        raise InvalidInterval(
            f"{describe(value)} is infinite, and an interval holds real numbers only. "
            "For a half-line write Interval(lo, inf) or Interval(-inf, hi)."
        )


def broadcast(what: str, pairs: list[Pair]) -> None:
    """Refuse operands whose shapes do not broadcast."""
    try:
        np.broadcast_shapes(*[lo.shape for lo, _ in pairs])
    except ValueError as error:
        shapes = " and ".join(str(lo.shape) for lo, _ in pairs)
        raise ShapeMismatch(
            f"{what}: the shapes {shapes} do not broadcast. Give equal shapes, or insert axes of length 1 with reshape."
        ) from error

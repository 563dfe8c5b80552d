"""The measurements of a fit, read: doubles are themselves, text and decimals exactly the numbers that are written.

given                                    read as
float64, shorter floats, bool, integers  doubles, where every number is one; else exactly
text, Decimal, Fraction, exact(...)      exactly: "0.1" is one tenth
what has NumPy's array (pandas, …)       that array
a masked array                           the array, where nothing is masked
NaN, infinity, None, NA, complex, dates  refused, with the row
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InfimumError, InvalidData
from infimum.exact.number import Exact, ExactArray, exact
from infimum.interval import Interval
from infimum.interval.outward import FloatArray
from infimum.interval.reading import as_array, describe

Data = FloatArray | ExactArray

_EXACT_INTEGERS = 2**53
_SUBSTITUTES = {
    "c": "Give real and imaginary parts as rows of their own, and a model that returns both.",
    "M": "Write seconds since the first: (t - t[0]) / np.timedelta64(1, 's').",
    "m": "Write it as a number of some unit: t / np.timedelta64(1, 's').",
    "S": "Decode it: a.astype(str).",
    "V": "Give the columns that the model reads, such as np.stack([table['u'], table['v']]).",
}


def numbers(name: str, given: Any) -> Data:
    """Return an array of the numbers given; refuse, with its row, what is no real number.

    A single number has shape (), or (1,) where it is no double.
    """
    if isinstance(given, Exact):
        given = exact([given])
    if isinstance(given, ExactArray):
        return _as_doubles(given)
    if isinstance(given, np.ma.MaskedArray) and np.ma.getmaskarray(given).any():
        at = _where(np.ma.getmaskarray(given))
        raise InvalidData(f"{name}{at} is masked. Leave such rows out of all data: a[~mask].")
    if isinstance(given, list | tuple) and any(isinstance(value, Interval) for value in given):
        raise InvalidData(f"{name} holds an Interval, and a measurement is one number. Give its middle, and sigma.")
    try:
        array = as_array(given) if isinstance(given, list | tuple) else np.asarray(given)
    except (InfimumError, TypeError, ValueError) as error:
        raise InvalidData(f"{name}={describe(given)} is no array of numbers: {error}") from error
    if not array.size:
        raise InvalidData(f"{name} is empty. Give at least one measurement.")
    kind = array.dtype.kind
    if kind in "fO":
        _refuse_nonfinite(name, array)
    if kind in "bf" and array.dtype.itemsize <= 8:
        return array.astype(np.float64)
    if kind in "iu" and int(array.min()) >= -_EXACT_INTEGERS and int(array.max()) <= _EXACT_INTEGERS:
        return array.astype(np.float64)
    if kind in "iufUO":
        return _as_doubles(_exactly(name, array))
    raise InvalidData(f"{name} is of type {array.dtype}, which holds no real numbers. {_SUBSTITUTES.get(kind, '')}")


def about(data: Data) -> FloatArray:
    """Return the doubles nearest to the data."""
    return data if isinstance(data, np.ndarray) else np.array(data, np.float64)


def _refuse_nonfinite(name: str, array: npt.NDArray[Any]) -> None:
    if array.dtype.kind == "f":
        wrong = ~np.isfinite(array)
    else:
        flat = [_is_missing(value) for value in array.ravel().tolist()]
        wrong = np.array(flat, bool).reshape(array.shape)
    if wrong.any():
        value = array[tuple(np.argwhere(wrong)[0])]
        more = f" (and {int(wrong.sum()) - 1} more)" if wrong.sum() > 1 else ""
        raise InvalidData(
            f"{name}{_where(wrong)} is {value}{more}, which is no measurement. Leave such rows out of all data: "
            f"keep = np.isfinite({name})."
        )


def _is_missing(value: Any) -> bool:
    """Say whether a value is NaN, infinite, None or pandas's NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and not math.isfinite(value)


def _exactly(name: str, array: npt.NDArray[Any]) -> ExactArray:
    """Return the numbers exactly, read one by one where reading them together fails."""
    try:
        found: ExactArray = exact(array.ravel()).reshape(array.shape or (1,))
        return found
    except (InfimumError, TypeError, ValueError):
        for index, value in np.ndenumerate(array):
            try:
                exact(value)
            except (InfimumError, TypeError, ValueError) as error:
                at = f"[{', '.join(map(str, index))}]" if index else ""
                raise InvalidData(
                    f"{name}{at} is {describe(value)}, which is no real number. Give numbers, text such as '0.1', "
                    "Decimals or Fractions."
                ) from error
        raise


def _as_doubles(found: ExactArray) -> Data:
    """Return doubles where every number is one: NumPy offers more for them."""
    lo, hi = found.enclose().lo, found.enclose().hi
    if not np.isfinite([lo, hi]).all():
        raise InvalidData("A measurement is beyond all doubles. Write the data in larger units.")
    return np.asarray(lo, np.float64).reshape(found.shape) if (lo == hi).all() else found


def _where(wrong: npt.NDArray[np.bool_]) -> str:
    """Return the index of the first of some elements, as it is written."""
    if not wrong.ndim:
        return ""
    return f"[{', '.join(str(int(i)) for i in np.argwhere(wrong)[0])}]"

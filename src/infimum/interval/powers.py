"""Powers: which operation of the core x ** p means."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.errors import UnsupportedValue
from infimum.interval.calls import call, operand
from infimum.interval.outward import ordered
from infimum.interval.reading import Pair, broadcast, describe

_LARGEST_EXPONENT = 2**31 - 1
_EXPONENTIALS = {2.0: "exp2", 10.0: "exp10"}


def integer_power(x: Pair, exponent: object) -> Pair:
    """Contain t**p for every t in x, for integers p: an int or an array of integers."""
    return _grouped("pown", [x], _exponents(exponent, "pown", "pow(x, p)"))


def integer_root(c: Pair, x: Pair, exponent: object) -> Pair:
    """Contain every t in x with t**p in c, for integers p: an int or an array of integers."""
    return _grouped("pown_rev", [c, x], _exponents(exponent, "pown_rev", "pow_rev1(p, c, x)"))


def _exponents(exponent: object, op: str, instead: str) -> npt.NDArray[np.int64]:
    exponents = np.asarray(exponent)
    if exponents.dtype.kind not in "iu" and not _is_large_int(exponents):
        raise UnsupportedValue(
            f"{op} needs integer exponents, got {describe(exponent)}. For a real exponent write {instead}."
        )
    return exponents


def power(x: Pair, exponent: object) -> Pair:
    """Contain t**p for every t in x and p in exponent.

    A whole exponent is an integer power, defined for negative t too, whether it is written 2, 2.0 or
    Interval(2); any other exponent means IEEE 1788's pow, which is defined for t >= 0.
    """
    lo, hi = operand(exponent)
    # | special case          | operation, tighter than pow |
    # | exponent exactly 1/2  | sqrt                        |
    # | base exactly 2 or 10  | exp2 or exp10               |
    if lo.shape == () and lo == hi == 0.5:
        return call("sqrt", x)
    if x[0].shape == () and x[0] == x[1] and float(x[0]) in _EXPONENTIALS:
        return call(_EXPONENTIALS[float(x[0])], (lo, hi))
    whole = (ordered(lo) == ordered(hi)) & (ordered(lo) == ordered(np.floor(lo)))
    # | exponents   | operation                  |
    # | all whole   | pown                       |
    # | none whole  | pow                        |
    # | some        | each element its own       |
    if whole.all():
        return _grouped("pown", [x], _integers(lo))
    if not whole.any():
        return call("pow", x, (lo, hi))
    broadcast("x ** p", [x, (lo, hi)])
    shape = np.broadcast_shapes(x[0].shape, lo.shape)
    real = call("pow", x, (lo, hi))
    integer = _grouped("pown", [x], _integers(np.where(whole, lo, 0.0)))
    mask = np.broadcast_to(whole, shape)
    return np.where(mask, integer[0], real[0]), np.where(mask, integer[1], real[1])


def _grouped(op: str, pairs: list[Pair], exponents: npt.NDArray[np.int64]) -> Pair:
    """Return an operation with an integer beside its operands, one call of the core for each integer that occurs."""
    values = np.unique(exponents).tolist()
    for p in values:
        if abs(p) > _LARGEST_EXPONENT:
            instead = "pow(x, Interval(p))" if op == "pown" else "pow_rev1(Interval(p), c, x)"
            raise UnsupportedValue(
                f"the integer exponent {p} is beyond {_LARGEST_EXPONENT}. For x >= 0 write {instead}."
            )
    if len(values) == 1:
        lo, hi = call(op, *pairs, param=int(values[0]))
        shape = np.broadcast_shapes(lo.shape, exponents.shape)
        return np.broadcast_to(lo, shape), np.broadcast_to(hi, shape)
    broadcast("x ** p", [*pairs, (exponents.astype(np.float64),) * 2])
    *ends, exponents = np.broadcast_arrays(*(end for pair in pairs for end in pair), exponents)
    result = np.empty(exponents.shape), np.empty(exponents.shape)
    for p in values:
        mask = exponents == p
        some = [(lo[mask], hi[mask]) for lo, hi in zip(ends[::2], ends[1::2], strict=True)]
        result[0][mask], result[1][mask] = call(op, *some, param=int(p))
    return result


def _integers(whole: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    # Clipping keeps the conversion defined; what it clips is refused by its size anyway.
    return np.clip(whole, -(2.0**53), 2.0**53).astype(np.int64)


def _is_large_int(exponents: npt.NDArray[np.int64]) -> bool:
    return exponents.shape == () and isinstance(exponents.item(), int) and not isinstance(exponents.item(), bool)

"""Doubles next to exact numbers.

Everything here works on integers and bit patterns, never on floating-point operations: a library that
left "denormals are zero" switched on in this process cannot change a result.
"""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

INF = float("inf")
LARGEST = float.fromhex("0x1.fffffffffffffp+1023")
_OVERFLOW = 2**1024 - 2**970
_MINUS_ZERO = np.iinfo(np.int64).min
_MAGNITUDE_BITS = np.int64(np.iinfo(np.int64).max)


def below(value: Fraction | int) -> float:
    """Return the largest double <= value (-inf if there is none)."""
    if value < 0:
        return -above(-value)
    return _truncated(value)[0]


def above(value: Fraction | int) -> float:
    """Return the smallest double >= value (+inf if there is none)."""
    if value < 0:
        return -below(-value)
    nearest, exact = _truncated(value)
    return nearest if exact else _from_bits(_to_bits(nearest) + 1)


def nearest(value: Fraction | int) -> float:
    """Return the double nearest to value, the even one of two equally near."""
    low, high = below(value), above(value)
    if low == high or high == INF or low == -INF:
        return _nearest_at_the_end_of_range(value, low, high)
    middle = (fraction(low) + fraction(high)) / 2
    if value == middle:
        return low if _to_bits(low) % 2 == 0 else high
    return low if value < middle else high


def _nearest_at_the_end_of_range(value: Fraction | int, low: float, high: float) -> float:
    # IEEE 754: what is at least half a step beyond the largest double rounds to infinity.
    if not -_OVERFLOW < value < _OVERFLOW:
        return high if value > 0 else low
    return low if value > 0 else high


def fraction(value: float) -> Fraction:
    """Return the exact number that a finite double is."""
    bits = _to_bits(value)
    exponent, digits = (bits >> 52) & 0x7FF, bits & ((1 << 52) - 1)
    if exponent:
        digits += 1 << 52
    magnitude = digits * Fraction(2) ** (max(exponent, 1) - 1075)
    return -magnitude if bits < 0 else magnitude


def _truncated(value: Fraction | int) -> tuple[float, bool]:
    """Return (the largest double <= value, whether it equals value), for value >= 0."""
    numerator, denominator = value.numerator, value.denominator
    if numerator == 0:
        return 0.0, True
    # m * 2**exponent <= value < (m + 1) * 2**exponent; at most two passes bring m into 53 bits.
    exponent = max(numerator.bit_length() - denominator.bit_length() - 53, -1074)
    m, rest = _scaled_quotient(numerator, denominator, exponent)
    if m >> 53:
        exponent += 1
        m, rest = _scaled_quotient(numerator, denominator, exponent)
    if exponent > 971:
        return LARGEST, False
    # The leading bit of m, added to the exponent field, is the implicit one; subnormals need no case.
    return _from_bits(((exponent + 1074) << 52) + m), rest == 0


def _scaled_quotient(numerator: int, denominator: int, exponent: int) -> tuple[int, int]:
    if exponent >= 0:
        return divmod(numerator, denominator << exponent)
    return divmod(numerator << -exponent, denominator)


def _from_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def _to_bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def ordered(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return integers in the same order as the given doubles, of which none is NaN or -0."""
    bits = np.asarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, ~(bits & _MAGNITUDE_BITS), bits)


def frozen(values: npt.ArrayLike) -> FloatArray:
    """Return a read-only copy of the doubles with -0 replaced by +0."""
    copy = np.array(values, dtype=np.float64)
    bits = copy.view(np.int64)
    bits[bits == _MINUS_ZERO] = 0
    copy.setflags(write=False)
    return copy

"""Elementary functions of bounded numbers, by series in fixed point with every error counted.

The series work on integers that count units of 2**-w. A "below" is summed from terms rounded down, an "above" from
terms rounded up plus a bound of the tail; where terms alternate, (value, error) bounds the distance instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isqrt

from infimum.exact.ball import (
    LARGEST_SCALE,
    ONE,
    Bounds,
    TooLarge,
    Undecided,
    add,
    cbrt,
    div,
    fixed,
    magnitude,
    mul,
    neg,
    over,
    sqrt,
    trimmed,
    up,
)


@lru_cache(maxsize=64)
def _pi(w: int) -> tuple[int, int]:
    """Return 2**w * pi, rounded down and up, by Machin's 16 atan(1/5) - 4 atan(1/239)."""
    guard = w + 32
    a, b = _atan_inverse(5, guard), _atan_inverse(239, guard)
    return (16 * a[0] - 4 * b[1]) >> 32, up(16 * a[1] - 4 * b[0], 32)


def _atan_inverse(n: int, w: int) -> tuple[int, int]:
    # Floors of floors are floors: each term is short by less than 1 unit, and the tail by less than 1.
    total, count, part = 0, 0, (1 << w) // n
    while part:
        term = part // (2 * count + 1)
        total += -term if count % 2 else term
        part //= n * n
        count += 1
    return total - count - 1, total + count + 1


@lru_cache(maxsize=64)
def _log2(w: int) -> tuple[int, int]:
    """Return 2**w * log(2) = 2 atanh(1/3), rounded down and up."""
    guard = w + 32
    third = (1 << guard) // 3
    low, high = _atanh_below(third, guard), _atanh_above(third + 1, guard)
    return (2 * low) >> 32, up(2 * high, 32)


def _atanh_below(z: int, w: int) -> int:
    """Return at most atanh z, for 0 <= z <= 1/2: positive terms, each rounded down."""
    square, part, total, k = (z * z) >> w, z, 0, 1
    while part:
        total += part // k
        part = (part * square) >> w
        k += 2
    return total


def _atanh_above(z: int, w: int) -> int:
    """Return at least atanh z, for 0 <= z <= 1/2: terms rounded up, the tail at most the last part."""
    square, part, total, k = up(z * z, w), z, 0, 1
    while part > 1:
        total += over(part, k)
        part = up(part * square, w)
        k += 2
    return total + 2 * part


def pi(prec: int) -> Bounds:
    """Contain pi."""
    return Bounds(*_pi(prec), -prec)


def log(x: Bounds, prec: int) -> Bounds:
    """Contain the logarithm; Undecided while x may be <= 0."""
    if x.lo <= 0:
        raise Undecided
    w = prec + 32
    k = x.lo.bit_length() + x.exp
    if abs(k) > LARGEST_SCALE:
        raise TooLarge
    # x = m * 2**k with m about 1/2 ... 1, moved to 0.7 ... 1.4 where the series is short.
    low, high = fixed(Bounds(x.lo, x.hi, x.exp - k), w)
    if 10 * low < 7 << w:
        low, high, k = 2 * low, 2 * high, k - 1
    if high > 2 << w:
        raise Undecided
    one = 1 << w
    z_low, z_high = ((low - one) << w) // (low + one), over((high - one) << w, high + one)
    a = _atanh_below(z_low, w) if z_low >= 0 else -_atanh_above(-z_low, w)
    b = _atanh_above(z_high, w) if z_high >= 0 else -_atanh_below(-z_high, w)
    shift = k * _log2(w)[0], k * _log2(w)[1]
    return trimmed(2 * a + min(shift), 2 * b + max(shift), -w, prec)


def exp(x: Bounds, prec: int) -> Bounds:
    """Contain e**x."""
    if magnitude(x) > 20:
        raise TooLarge
    halvings = isqrt(prec) // 2 + 1
    w = prec + max(0, magnitude(x)) + 2 * halvings + 32
    low, high = fixed(x, w)
    log2 = _log2(w)
    k = low // log2[1] - (1 if low < 0 else 0)
    # x - k log 2 >= 0 keeps every term of the series positive.
    shift = sorted((k * log2[0], k * log2[1]))
    a, b = (low - shift[1]) >> halvings, up(high - shift[0], halvings)
    if a < 0 or b > 1 << (w - 1):
        raise Undecided
    low, high = _exp_below(a, w), _exp_above(b, w)
    for _ in range(halvings):
        low, high = (low * low) >> w, up(high * high, w)
    return trimmed(low, high, k - w, prec)


def _exp_below(x: int, w: int) -> int:
    part, total, k = 1 << w, 0, 1
    while part:
        total += part
        part = ((part * x) >> w) // k
        k += 1
    return total


def _exp_above(x: int, w: int) -> int:
    # For x <= 1/2 the terms after one of at most 1 unit add up to at most that one again.
    part, total, k = 1 << w, 0, 1
    while part > 1:
        total += part
        part = over(up(part * x, w), k)
        k += 1
    return total + 2 * part


def sin(x: Bounds, prec: int) -> Bounds:
    """Contain sin x."""
    return _circular(x, 0, prec)


def cos(x: Bounds, prec: int) -> Bounds:
    """Contain cos x = sin(x + pi/2)."""
    return _circular(x, 1, prec)


def _circular(x: Bounds, quarter: int, prec: int) -> Bounds:
    w = prec + max(0, magnitude(x)) + 32
    low, high = fixed(x, w)
    pi_low, pi_high = _pi(w - 1)
    n = (2 * low + pi_low) // (2 * pi_low)
    turns = n * pi_low, n * pi_high
    low, high = low - max(turns), high - min(turns)
    if abs(low) > 1 << w:
        raise Undecided
    # | (n + quarter) mod 4 | 0       | 1       | 2        | 3        |
    # | value               | sin low | cos low | -sin low | -cos low |
    q = (n + quarter) % 4
    value, error = _circular_series(low, w, q % 2)
    if q >= 2:
        value = -value
    # Neither function moves faster than its argument.
    reach = error + high - low
    one = 1 << w
    return trimmed(max(value - reach, -one), min(value + reach, one), -w, prec)


def _circular_series(x: int, w: int, cosine: int) -> tuple[int, int]:
    """Return (value, error) for sin x or cos x, |x| <= 1.

    Each term follows from the one before by a factor <= 1/2, the errors of the rounded square and of two
    divisions adding at most 1/2 + 2 units; so every term is short by at most 5, and so is the tail.
    """
    square, part, total, count = (x * x) >> w, (1 << w if cosine else abs(x)), 0, 0
    k = 0 if cosine else 1
    while part:
        total += -part if count % 2 else part
        part = ((part * square) >> w) // ((k + 1) * (k + 2))
        k += 2
        count += 1
    return (total if cosine or x >= 0 else -total), 5 * count + 5


def atan(x: Bounds, prec: int) -> Bounds:
    """Contain arctan x."""
    # | x                | arctan x               |
    # | surely above 1   | pi/2 - arctan(1/x)     |
    # | surely below -1  | -arctan(-x)            |
    # | else             | by the series          |
    if x.hi < 0 and magnitude(x) > 0:
        return neg(atan(neg(x), prec))
    if x.lo > 0 and x.lo.bit_length() + x.exp > 1:
        quarter = Bounds(*_pi(prec + 8), -prec - 9)
        return add(quarter, neg(atan(div(ONE, x, prec + 8), prec + 8)), prec)
    w = prec + 48
    low, high = fixed(x, w)
    if abs(low) > 2 << w:
        raise Undecided
    value, error = _atan_point(abs(low), w)
    value = value if low >= 0 else -value
    reach = error + high - low
    return trimmed(value - reach, value + reach, -w, prec)


_ATAN_HALVINGS = 5


def _atan_point(x: int, w: int) -> tuple[int, int]:
    """Return (value, error) for arctan x, 0 <= x <= 2, by arctan x = 2 arctan(x / (1 + sqrt(1 + x*x)))."""
    one = 1 << w
    low, high = x, x
    for _ in range(_ATAN_HALVINGS):
        # The quotient rises with x: the lower end comes from low over too much, the upper from high over too little.
        above = isqrt((one << w) + low * low) + 1
        below = isqrt((one << w) + high * high)
        low, high = (low << w) // (one + above), over(high << w, one + below)
    square, part, total, count = (low * low) >> w, low, 0, 0
    while part:
        term = part // (2 * count + 1)
        total += -term if count % 2 else term
        part = (part * square) >> w
        count += 1
    # Each part is short by at most 3 units (a factor below 1/2, two roundings), each term by at most 4.
    error = 4 * count + 4 + high - low
    return total << _ATAN_HALVINGS, error << _ATAN_HALVINGS


def tan(x: Bounds, prec: int) -> Bounds:
    """Contain tan x; Undecided while cos x may be zero."""
    return div(sin(x, prec + 8), cos(x, prec + 8), prec)


def asin(x: Bounds, prec: int) -> Bounds:
    """Contain arcsin x = 2 arctan(x / (1 + sqrt(1 - x*x))) of a number known to lie in [-1, 1]."""
    w = prec + 8
    root = sqrt(_nonnegative(add(ONE, neg(mul(x, x, w)), w)), w)
    return _doubled(atan(div(x, add(ONE, root, w), w), w), prec)


def acos(x: Bounds, prec: int) -> Bounds:
    """Contain arccos x = 2 arctan(sqrt((1 - x) / (1 + x))) of a number known to lie in [-1, 1]."""
    w = prec + 8
    ratio = div(_nonnegative(add(ONE, neg(x), w)), add(ONE, x, w), w)
    return _doubled(atan(sqrt(ratio, w), w), prec)


def sinh(x: Bounds, prec: int) -> Bounds:
    """Contain sinh x."""
    up = exp(x, prec + 8)
    return _halved(add(up, neg(div(ONE, up, prec + 8)), prec))


def cosh(x: Bounds, prec: int) -> Bounds:
    """Contain cosh x."""
    up = exp(x, prec + 8)
    return _halved(add(up, div(ONE, up, prec + 8), prec))


def tanh(x: Bounds, prec: int) -> Bounds:
    """Contain tanh x."""
    square = exp(Bounds(x.lo, x.hi, x.exp + 1), prec + 8)
    return div(add(square, neg(ONE), prec + 8), add(square, ONE, prec + 8), prec)


def _nonnegative(x: Bounds) -> Bounds:
    return Bounds(max(x.lo, 0), max(x.hi, 0), x.exp)


def _doubled(x: Bounds, prec: int) -> Bounds:
    return trimmed(x.lo, x.hi, x.exp + 1, prec)


def _halved(x: Bounds) -> Bounds:
    return Bounds(x.lo, x.hi, x.exp - 1)


FUNCTIONS: dict[str, Callable[[Bounds, int], Bounds]] = {
    "sqrt": sqrt, "cbrt": cbrt, "exp": exp, "log": log, "sin": sin, "cos": cos, "tan": tan, "asin": asin,
    "acos": acos, "atan": atan, "sinh": sinh, "cosh": cosh, "tanh": tanh,
}  # fmt: skip

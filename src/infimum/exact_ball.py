"""Real numbers between two integers at a binary scale, every step rounded outward.

A ``Bounds(lo, hi, exp)`` stands for a number in [lo * 2**exp, hi * 2**exp]. Only integer operations are used:
``>>`` and ``//`` round down, and ``-((-n) >> k)`` rounds up, so each bound below is a bound by construction.
The series work in fixed point, on integers that count units of 2**-w.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

# No number of more binary digits before or after the point is evaluated.
_LARGEST_SCALE = 1 << 20


class Undecided(Exception):
    """More precision is needed before the operation can be carried out."""


class TooLarge(Exception):
    """The number has too many digits to be evaluated."""


class Bounds(NamedTuple):
    """Some number in [lo * 2**exp, hi * 2**exp]."""

    lo: int
    hi: int
    exp: int

    def fraction(self, end: int) -> Fraction:
        """Be one of the ends as an exact number."""
        if self.exp >= 0:
            return Fraction(end << self.exp)
        return Fraction(end, 1 << -self.exp)


def _up(n: int, shift: int) -> int:
    """Be n / 2**shift, rounded up."""
    return -((-n) >> shift)


def _over(n: int, d: int) -> int:
    """Be n / d, rounded up."""
    return -((-n) // d)


def _trimmed(lo: int, hi: int, exp: int, prec: int) -> Bounds:
    shift = max(lo.bit_length(), hi.bit_length()) - prec
    if shift <= 0:
        return Bounds(lo, hi, exp)
    return Bounds(lo >> shift, _up(hi, shift), exp + shift)


def rational(q: Fraction, prec: int) -> Bounds:
    """Contain q; be exact where q has a power of two below the bar and few digits."""
    if q.denominator == 1:
        return _trimmed(q.numerator, q.numerator, 0, prec)
    shift = max(0, prec - q.numerator.bit_length() + q.denominator.bit_length())
    numerator = q.numerator << shift
    return Bounds(numerator // q.denominator, _over(numerator, q.denominator), -shift)


def add(x: Bounds, y: Bounds, prec: int) -> Bounds:
    """Contain the sum."""
    exp = min(x.exp, y.exp)
    if max(x.exp, y.exp) - exp > _LARGEST_SCALE:
        raise TooLarge
    a, b = x.exp - exp, y.exp - exp
    return _trimmed((x.lo << a) + (y.lo << b), (x.hi << a) + (y.hi << b), exp, prec)


def neg(x: Bounds) -> Bounds:
    """Contain the number with its sign changed."""
    return Bounds(-x.hi, -x.lo, x.exp)


def mul(x: Bounds, y: Bounds, prec: int) -> Bounds:
    """Contain the product."""
    corners = (x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi)
    return _trimmed(min(corners), max(corners), x.exp + y.exp, prec)


def div(x: Bounds, y: Bounds, prec: int) -> Bounds:
    """Contain the quotient; Undecided while y may be zero."""
    if y.lo <= 0 <= y.hi:
        raise Undecided
    if y.hi < 0:
        x, y = neg(x), neg(y)
    # | numerator end | the quotient is lowest over | highest over |
    # | >= 0          | y.hi                        | y.lo         |
    # | < 0           | y.lo                        | y.hi         |
    shift = max(0, prec + y.hi.bit_length() - max(x.lo.bit_length(), x.hi.bit_length()))
    low, high = x.lo << shift, x.hi << shift
    return _trimmed(low // (y.hi if low >= 0 else y.lo), _over(high, y.lo if high >= 0 else y.hi),
                    x.exp - y.exp - shift, prec)


def power(x: Bounds, n: int, prec: int) -> Bounds:
    """Contain x**n for an integer n."""
    if n < 0:
        return div(ONE, power(x, -n, prec), prec)
    result, square = ONE, x
    while n:
        if n & 1:
            result = mul(result, square, prec)
        square = mul(square, square, prec)
        n >>= 1
    return result


def sqrt(x: Bounds, prec: int) -> Bounds:
    """Contain the square root of a number known to be >= 0."""
    shift = max(0, 2 * prec - x.hi.bit_length())
    shift += (x.exp - shift) % 2
    low, high = max(x.lo, 0) << shift, x.hi << shift
    root = isqrt(high)
    return _trimmed(isqrt(low), root if root * root == high else root + 1, (x.exp - shift) // 2, prec)


def cbrt(x: Bounds, prec: int) -> Bounds:
    """Contain the cube root."""
    shift = max(0, 3 * prec - max(x.lo.bit_length(), x.hi.bit_length()))
    shift += (x.exp - shift) % 3
    low, high = x.lo << shift, x.hi << shift
    return _trimmed(floor_root(low, 3), -floor_root(-high, 3), (x.exp - shift) // 3, prec)


def floor_root(n: int, k: int) -> int:
    """Be the largest integer r with r**k <= n; for n < 0, k must be odd."""
    if n < 0:
        positive = floor_root(-n, k)
        return -positive if positive**k == -n else -positive - 1
    if n == 0:
        return 0
    # Newton from above: the first step that does not fall has arrived.
    root = 1 << -(-n.bit_length() // k)
    while True:
        step = ((k - 1) * root + n // root ** (k - 1)) // k
        if step >= root:
            return root
        root = step


ONE = Bounds(1, 1, 0)


def _magnitude(x: Bounds) -> int:
    """Be k with |x| <= 2**k."""
    return max(x.lo.bit_length(), x.hi.bit_length()) + x.exp


def _fixed(x: Bounds, w: int) -> tuple[int, int]:
    """Be x in units of 2**-w, rounded down and up."""
    if _magnitude(x) > _LARGEST_SCALE:
        raise TooLarge
    shift = x.exp + w
    if shift >= 0:
        return x.lo << shift, x.hi << shift
    return x.lo >> -shift, _up(x.hi, -shift)


@lru_cache(maxsize=64)
def _pi(w: int) -> tuple[int, int]:
    """Be 2**w * pi, rounded down and up, by Machin's 16 atan(1/5) - 4 atan(1/239)."""
    guard = w + 32
    a, b = _atan_inverse(5, guard), _atan_inverse(239, guard)
    return (16 * a[0] - 4 * b[1]) >> 32, _up(16 * a[1] - 4 * b[0], 32)


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
    """Be 2**w * log(2) = 2 atanh(1/3), rounded down and up."""
    guard = w + 32
    third = (1 << guard) // 3
    low, high = _atanh_below(third, guard), _atanh_above(third + 1, guard)
    return (2 * low) >> 32, _up(2 * high, 32)


def _atanh_below(z: int, w: int) -> int:
    """Be at most atanh z, for 0 <= z <= 1/2: positive terms, each rounded down."""
    square, part, total, k = (z * z) >> w, z, 0, 1
    while part:
        total += part // k
        part = (part * square) >> w
        k += 2
    return total


def _atanh_above(z: int, w: int) -> int:
    """Be at least atanh z, for 0 <= z <= 1/2: terms rounded up, the tail at most the last part."""
    square, part, total, k = _up(z * z, w), z, 0, 1
    while part > 1:
        total += _over(part, k)
        part = _up(part * square, w)
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
    if abs(k) > _LARGEST_SCALE:
        raise TooLarge
    # x = m * 2**k with m about 1/2 ... 1, moved to 0.7 ... 1.4 where the series is short.
    low, high = _fixed(Bounds(x.lo, x.hi, x.exp - k), w)
    if 10 * low < 7 << w:
        low, high, k = 2 * low, 2 * high, k - 1
    if high > 2 << w:
        raise Undecided
    one = 1 << w
    z_low, z_high = ((low - one) << w) // (low + one), _over((high - one) << w, high + one)
    a = _atanh_below(z_low, w) if z_low >= 0 else -_atanh_above(-z_low, w)
    b = _atanh_above(z_high, w) if z_high >= 0 else -_atanh_below(-z_high, w)
    shift = k * _log2(w)[0], k * _log2(w)[1]
    return _trimmed(2 * a + min(shift), 2 * b + max(shift), -w, prec)


def exp(x: Bounds, prec: int) -> Bounds:
    """Contain e**x."""
    if _magnitude(x) > 20:
        raise TooLarge
    halvings = isqrt(prec) // 2 + 1
    w = prec + max(0, _magnitude(x)) + 2 * halvings + 32
    low, high = _fixed(x, w)
    log2 = _log2(w)
    k = low // log2[1] - (1 if low < 0 else 0)
    # x - k log 2 >= 0 keeps every term of the series positive.
    shift = sorted((k * log2[0], k * log2[1]))
    a, b = (low - shift[1]) >> halvings, _up(high - shift[0], halvings)
    if a < 0 or b > 1 << (w - 1):
        raise Undecided
    low, high = _exp_below(a, w), _exp_above(b, w)
    for _ in range(halvings):
        low, high = (low * low) >> w, _up(high * high, w)
    return _trimmed(low, high, k - w, prec)


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
        part = _over(_up(part * x, w), k)
        k += 1
    return total + 2 * part


def sin(x: Bounds, prec: int) -> Bounds:
    """Contain sin x."""
    return _circular(x, 0, prec)


def cos(x: Bounds, prec: int) -> Bounds:
    """Contain cos x = sin(x + pi/2)."""
    return _circular(x, 1, prec)


def _circular(x: Bounds, quarter: int, prec: int) -> Bounds:
    w = prec + max(0, _magnitude(x)) + 32
    low, high = _fixed(x, w)
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
    return _trimmed(max(value - reach, -one), min(value + reach, one), -w, prec)


def _circular_series(x: int, w: int, cosine: int) -> tuple[int, int]:
    """Be (value, error) for sin x or cos x, |x| <= 1.

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
    if x.hi < 0 and _magnitude(x) > 0:
        return neg(atan(neg(x), prec))
    if x.lo > 0 and x.lo.bit_length() + x.exp > 1:
        quarter = Bounds(*_pi(prec + 8), -prec - 9)
        return add(quarter, neg(atan(div(ONE, x, prec + 8), prec + 8)), prec)
    w = prec + 48
    low, high = _fixed(x, w)
    if abs(low) > 2 << w:
        raise Undecided
    value, error = _atan_point(abs(low), w)
    value = value if low >= 0 else -value
    reach = error + high - low
    return _trimmed(value - reach, value + reach, -w, prec)


_ATAN_HALVINGS = 5


def _atan_point(x: int, w: int) -> tuple[int, int]:
    """Be (value, error) for arctan x, 0 <= x <= 2, by arctan x = 2 arctan(x / (1 + sqrt(1 + x*x)))."""
    one = 1 << w
    low, high = x, x
    for _ in range(_ATAN_HALVINGS):
        # The quotient rises with x: the lower end comes from low over too much, the upper from high over too little.
        above = isqrt((one << w) + low * low) + 1
        below = isqrt((one << w) + high * high)
        low, high = (low << w) // (one + above), _over(high << w, one + below)
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
    return _trimmed(x.lo, x.hi, x.exp + 1, prec)


def _halved(x: Bounds) -> Bounds:
    return Bounds(x.lo, x.hi, x.exp - 1)


FUNCTIONS: dict[str, Callable[[Bounds, int], Bounds]] = {
    "sqrt": sqrt, "cbrt": cbrt, "exp": exp, "log": log, "sin": sin, "cos": cos, "tan": tan, "asin": asin,
    "acos": acos, "atan": atan, "sinh": sinh, "cosh": cosh, "tanh": tanh,
}  # fmt: skip

"""Real numbers between two integers at a binary scale, every step rounded outward.

A ``Bounds(lo, hi, exp)`` stands for a number in [lo * 2**exp, hi * 2**exp]. Only integer operations are used:
``>>`` and ``//`` round down, ``up`` and ``over`` round up, so each bound below is a bound by construction.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import NamedTuple

# No number of more binary digits before or after the point is evaluated.
LARGEST_SCALE = 1 << 20


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
        """Return one of the ends as an exact number."""
        if self.exp >= 0:
            return Fraction(end << self.exp)
        return Fraction(end, 1 << -self.exp)


def up(n: int, shift: int) -> int:
    """Return n / 2**shift, rounded up."""
    return -((-n) >> shift)


def over(n: int, d: int) -> int:
    """Return n / d, rounded up."""
    return -((-n) // d)


def trimmed(lo: int, hi: int, exp: int, prec: int) -> Bounds:
    """Contain [lo, hi] * 2**exp with integers of about prec bits."""
    shift = max(lo.bit_length(), hi.bit_length()) - prec
    if shift <= 0:
        return Bounds(lo, hi, exp)
    return Bounds(lo >> shift, up(hi, shift), exp + shift)


def rational(q: Fraction, prec: int) -> Bounds:
    """Contain q; be exact where q has a power of two below the bar and few digits."""
    if q.denominator == 1:
        return trimmed(q.numerator, q.numerator, 0, prec)
    shift = max(0, prec - q.numerator.bit_length() + q.denominator.bit_length())
    numerator = q.numerator << shift
    return Bounds(numerator // q.denominator, over(numerator, q.denominator), -shift)


def add(x: Bounds, y: Bounds, prec: int) -> Bounds:
    """Contain the sum."""
    exp = min(x.exp, y.exp)
    if max(x.exp, y.exp) - exp > LARGEST_SCALE:
        raise TooLarge
    a, b = x.exp - exp, y.exp - exp
    return trimmed((x.lo << a) + (y.lo << b), (x.hi << a) + (y.hi << b), exp, prec)


def neg(x: Bounds) -> Bounds:
    """Contain the number with its sign changed."""
    return Bounds(-x.hi, -x.lo, x.exp)


def mul(x: Bounds, y: Bounds, prec: int) -> Bounds:
    """Contain the product."""
    corners = (x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi)
    return trimmed(min(corners), max(corners), x.exp + y.exp, prec)


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
    return trimmed(
        low // (y.hi if low >= 0 else y.lo), over(high, y.lo if high >= 0 else y.hi), x.exp - y.exp - shift, prec
    )


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
    return trimmed(isqrt(low), root if root * root == high else root + 1, (x.exp - shift) // 2, prec)


def cbrt(x: Bounds, prec: int) -> Bounds:
    """Contain the cube root."""
    shift = max(0, 3 * prec - max(x.lo.bit_length(), x.hi.bit_length()))
    shift += (x.exp - shift) % 3
    low, high = x.lo << shift, x.hi << shift
    return trimmed(floor_root(low, 3), -floor_root(-high, 3), (x.exp - shift) // 3, prec)


def floor_root(n: int, k: int) -> int:
    """Return the largest integer r with r**k <= n; for n < 0, k must be odd."""
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


def magnitude(x: Bounds) -> int:
    """Return k with |x| <= 2**k."""
    return max(x.lo.bit_length(), x.hi.bit_length()) + x.exp


def fixed(x: Bounds, w: int) -> tuple[int, int]:
    """Return x in units of 2**-w, rounded down and up."""
    if magnitude(x) > LARGEST_SCALE:
        raise TooLarge
    shift = x.exp + w
    if shift >= 0:
        return x.lo << shift, x.hi << shift
    return x.lo >> -shift, up(x.hi, -shift)

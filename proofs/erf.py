"""The errors of the two polynomials of erf.h, from their coefficients as they stand there.

The distance from the function is bounded piece by piece: a Taylor polynomial in exact balls, whose last coefficient is
taken over the whole piece (Arb, which python-flint brings). The rounding errors follow the order of the code: a Horner
scheme in double for the high terms, in double-double for the others.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import flint

U = Fraction(1, 2**53)
DOUBLE_DOUBLE = Fraction(1, 2**100)  # the relative error of an operation: double_double.h
PRECISION, ORDER = 300, 12

Series = Callable[[Any], Any]


def exact(ball: Any) -> Fraction:
    """Return the number that an exact ball is."""
    mantissa, exponent = ball.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def erf_over(z: Any) -> Any:
    """Return the series of erf(m)/m for z = m^2 <= 1/4: 40 terms, of which the next is below 2^-240."""
    total, term = flint.arb(0), 2 / flint.arb.pi().sqrt()
    terms = []
    for n in range(40):
        terms.append(term / (2 * n + 1))
        term = -term / (n + 1)
    for c in reversed(terms):
        total = total * z + c
    return total + flint.arb(0, 2.0**-240)


def scaled_erfc(t: Any) -> Any:
    """Return the series of (x + 4) exp(x^2) erfc(x) for t = (x - 4)/(x + 4)."""
    x = 4 * (1 + t) / (1 - t)
    return (x * x).exp() * x.erfc() * (x + 4)


def distance(
    function: Series, coefficients: Sequence[Fraction], low: Fraction, high: Fraction, pieces: int
) -> tuple[Fraction, Fraction]:
    """Return a bound of |p/f - 1| over [low, high], and one of f from below."""
    worst, least = Fraction(0), Fraction(2) ** 100
    p = [flint.arb(c.numerator) / c.denominator for c in coefficients]
    radius = flint.arb((high - low).numerator) / (2 * pieces * (high - low).denominator)
    for i in range(pieces):
        middle = low + (high - low) * Fraction(2 * i + 1, 2 * pieces)
        at = flint.arb(middle.numerator) / middle.denominator
        inside, over = (flint.arb_series([x, 1], ORDER + 1) for x in (at, at + flint.arb(0, 1) * radius))
        f, f_over = function(inside), function(over)
        least_here = (f[0] - _reach(f, f_over, radius, 1)).lower()
        error = _reach(_horner(p, inside) - f, _horner(p, over) - f_over, radius, 0)
        worst, least = max(worst, exact((error / least_here).upper())), min(least, exact(least_here))
    if least <= 0:
        raise ValueError("The pieces are too wide.")
    return worst, least


def _horner(p: Sequence[Any], t: Any) -> Any:
    total = flint.arb_series([0], ORDER + 1)
    for c in reversed(p):
        total = total * t + c
    return total


def _reach(series: Any, over: Any, radius: Any, first: int) -> Any:
    """Return what the terms of a series from the first on can add within the radius."""
    terms = [abs(series[k]) * radius**k for k in range(first, ORDER)]
    return sum(terms, abs(over[ORDER]) * radius**ORDER)


def rounding(high: Sequence[Fraction], pairs: Sequence[Fraction], reach: Fraction) -> Fraction:
    """Return the absolute error of the scheme for |t| <= reach.

    high    the coefficients of the part in double, the highest first; it sees t without its low part
    pairs   those in double-double, the highest first
    """
    size, error = abs(high[0]), Fraction(0)
    for c in high[1:]:
        product = size * reach
        error = error * reach + product * U
        size = product + abs(c)
        error += (size + error) * U
    for c in pairs:
        product = (size + error) * reach
        error = error * reach + 2 * product * DOUBLE_DOUBLE
        size = product + abs(c)
        error += size * DOUBLE_DOUBLE
    return error


def errors(
    constants: Sequence[str],
    paired: Sequence[bool | None],
    function: Series,
    low: Fraction,
    high: Fraction,
    pieces: int,
) -> tuple[Fraction, Fraction]:
    """Return the relative errors of the approximation and of its evaluation.

    The constants come in the order of the code; paired says of each coefficient, from the highest on, whether a low
    part follows it, and None of those that belong to the part in double.
    """
    numbers = iter(Fraction(float.fromhex(c)) for c in constants)
    doubles = [next(numbers) for p in paired if p is None]
    pairs = [next(numbers) + (next(numbers) if p else 0) for p in paired if p is not None]
    with flint.ctx.workprec(PRECISION):
        approximation, least = distance(function, [*doubles, *pairs][::-1], low, high, pieces)
    return approximation, rounding(doubles, pairs, max(abs(low), abs(high))) / least + 4 * DOUBLE_DOUBLE

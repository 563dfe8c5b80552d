"""The value of a canonical form: bounds at any precision, sign, nearest doubles.

Every decision doubles the precision until the bounds decide it. What 6,144 bits do not decide is left undecided,
which is said (sign) or costs width (enclosure), never truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeVar

import numpy as np

from infimum import core
from infimum.errors import AmbiguousComparison, ExactDomainError
from infimum.exact import ball as ball
from infimum.exact import series as series
from infimum.exact.ball import Bounds
from infimum.exact.form import Atom, Terms, as_rational, square_of_root, text
from infimum.interval.outward import FloatArray, above, below, nearest

PRECISIONS = (96, 192, 384, 768, 1536, 3072, 6144)

T = TypeVar("T")


def evaluate(x: Terms, prec: int) -> Bounds:
    """Contain the number that the form denotes."""
    total = Bounds(0, 0, 0)
    for monomial, coefficient in x:
        product = ball.rational(coefficient, prec)
        for atom, exponent in monomial:
            product = ball.mul(product, ball.power(_atom(atom, prec), exponent, prec), prec)
        total = ball.add(total, product, prec)
    if abs(total.exp) > ball.LARGEST_SCALE:
        raise ball.TooLarge
    return total


def _atom(atom: Atom, prec: int) -> Bounds:
    if atom.name == "pi":
        return series.pi(prec)
    if atom.name == "e":
        return series.exp(ball.ONE, prec)
    if atom.name == "group":
        return evaluate(atom.args[0], prec)
    if atom.name == "pow":
        base, exponent = (evaluate(arg, prec) for arg in atom.args)
        return series.exp(ball.mul(exponent, series.log(base, prec), prec), prec)
    return series.FUNCTIONS[atom.name](evaluate(atom.args[0], prec), prec)


def _refined(x: Terms) -> Iterator[Bounds]:
    """Return bounds of the number at one precision after the other."""
    for prec in PRECISIONS:
        try:
            yield evaluate(x, prec)
        except ball.Undecided:
            continue
        except ball.TooLarge as error:
            raise ExactDomainError(
                f"{text(x)} has too many digits to be evaluated. Write it so that no part exceeds about 2**1000000."
            ) from error


def sign(x: Terms) -> int:
    """Return -1, 0 or 1."""
    q = as_rational(x)
    if q is not None:
        return (q > 0) - (q < 0)
    for bounds in _refined(x):
        if bounds.lo > 0 or bounds.hi < 0:
            return 1 if bounds.lo > 0 else -1
    raise AmbiguousComparison(
        f"whether {text(x)} is zero could not be decided with {PRECISIONS[-1]} bits. "
        "Compare float(...) or .enclose() instead, or simplify the expression."
    )


def floor(x: Terms) -> int:
    """Return the largest integer <= the number."""
    q = as_rational(x)
    if q is not None:
        return q.numerator // q.denominator
    for bounds in _refined(x):
        low, high = (bounds.fraction(end) for end in (bounds.lo, bounds.hi))
        if low // 1 == high // 1:
            return int(low // 1)
    raise AmbiguousComparison(
        f"whether {text(x)} is an integer could not be decided with {PRECISIONS[-1]} bits. Simplify the expression."
    )


def enclosure(x: Terms) -> tuple[float, float]:
    """Return the largest double <= the number and the smallest >= it, or what comes nearest to being decided."""
    q = as_rational(x)
    if q is not None:
        return below(q), above(q)
    square = _double_under_root(x)
    if square is not None:
        lo, hi = core.apply("sqrt", (square, square))  # exactly rounded
        return float(lo), float(hi)
    return _settled(x, lambda low, high: (below(low), above(high)), lambda low, high: (below(high), above(low)))


def nearest_double(x: Terms) -> float:
    """Return the double nearest to the number, or one of the two nearest where that is undecided."""
    q = as_rational(x)
    if q is not None:
        return nearest(q)
    square = _double_under_root(x)
    if square is not None:
        return math.sqrt(square)  # IEEE 754: the nearest double to the root of a double
    return _settled(x, lambda low, high: nearest(low), lambda low, high: nearest(high))


def _double_under_root(x: Terms) -> FloatArray | None:
    """Return the integer below 2**53 whose root the number is, or None."""
    square = square_of_root(x)
    if square is None or square.denominator != 1 or square.numerator >= 2**53:
        return None
    return np.asarray(float(square.numerator))


def _settled(x: Terms, outer: Callable[[Fraction, Fraction], T], inner: Callable[[Fraction, Fraction], T]) -> T:
    """Return what both ways of rounding agree on, or the outer one at the highest precision."""
    result: T | None = None
    for bounds in _refined(x):
        low, high = bounds.fraction(bounds.lo), bounds.fraction(bounds.hi)
        result = outer(low, high)
        if result == inner(low, high):
            return result
    if result is None:
        raise ExactDomainError(
            f"{text(x)} could not be evaluated with {PRECISIONS[-1]} bits: an argument may lie on "
            "the edge of a function's domain. Simplify the expression."
        )
    return result

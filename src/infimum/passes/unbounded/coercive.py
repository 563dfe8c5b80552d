"""Where a polynomial on an unbounded box can be small: a lower bound by powers of single variables.

    p(x)  >=  sum of d_i |x_i|^m_i  -  C,   every d_i > 0

a_i |x_i|^m_i is the highest even power of x_i alone (or odd, where x_i has one sign). Any other term |b x^k| is bounded
by the inequality of weighted means: with z_i = a_i |x_i|^m_i, w_i = k_i/m_i and W = sum w_i,

    W = 1    |b x^k| <= K sum w_i z_i                           K >= b prod a_i^-w_i
    W < 1    |b x^k| <= K t (sum w_i z_i + (1 - W) T)           t >= T^-(1 - W), any T > 0
    W > 1    nothing is known

Roots are guessed in double and proved by powers of fractions. Bounded variables go into the coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite, lcm, prod
from typing import NamedTuple

from infimum.passes.unbounded.polynomials import Monomial, Polynomial, Range

_SLACK = 1 + 2.0**-30  # by which a guess is enlarged until it is proved
_TRIES = 40

Bounds = Sequence[tuple[float, float]]


class Minorant(NamedTuple):
    """p(x) >= sum of d |x_i|^m over `powers` (i: (m, d)) - constant."""

    powers: dict[int, tuple[int, Fraction]]
    constant: Fraction


class _Term(NamedTuple):
    """At least c times the product of |x_i|^k_i."""

    c: Fraction
    powers: dict[int, int]


def minorant(p: Polynomial, bounds: Bounds) -> Minorant | None:
    """Return a lower bound of a polynomial over a box by powers of its unbounded variables, or None."""
    terms = _terms(p, bounds)
    lead: dict[int, _Term] = {}
    for term in terms:
        if term.c > 0 and len(term.powers) == 1:
            ((i, power),) = term.powers.items()
            if i not in lead or power > lead[i].powers[i]:
                lead[i] = term
    constant, used, lower = Fraction(0), dict.fromkeys(lead, Fraction(0)), []
    for term in terms:
        if not term.powers:
            constant -= term.c
        elif term.c < 0:
            if any(i not in lead for i in term.powers):
                return None
            weights = {i: Fraction(power, lead[i].powers[i]) for i, power in term.powers.items()}
            total, factor = sum(weights.values(), Fraction(0)), _factor(term, weights, lead)
            if total > 1 or factor is None:
                return None
            if total == 1:
                for i, w in weights.items():
                    used[i] += factor * w
            else:
                lower.append((factor, weights, total))
    left = {i: 1 - u for i, u in used.items()}
    if any(share <= 0 for share in left.values()):
        return None
    for factor, weights, total in lower:
        small = min(left[i] / (2 * len(lower) * factor * w) for i, w in weights.items())
        found = _balance(small, 1 - total)
        if found is None:
            return None
        t, big = found
        constant += factor * t * (1 - total) * big
        for i, w in weights.items():
            used[i] += factor * t * w
    if any(u >= 1 for u in used.values()):
        return None
    powers = {i: (term.powers[i], (1 - used[i]) * term.c) for i, term in lead.items()}
    return Minorant(powers, constant)


def radii(found: Minorant, level: Fraction) -> dict[int, float]:
    """Return how large each |x_i| can be where the polynomial is at most `level`; -1 where it cannot be."""
    room = level + found.constant
    if room < 0:
        return dict.fromkeys(found.powers, -1.0)
    return {i: _root_above(room / d, m) for i, (m, d) in found.powers.items()}


# ---------------------------------------------------------------------------------------------- terms
def _terms(p: Polynomial, bounds: Bounds) -> list[_Term]:
    """Return lower bounds of the terms in the sizes of the unbounded variables, like ones put together."""
    merged: dict[Monomial, Range] = {}
    for monomial, c in p.items():
        free = tuple((i, power) for i, power in monomial if not _is_bounded(bounds[i]))
        for i, power in monomial:
            if _is_bounded(bounds[i]):
                c = _times(c, _power(bounds[i], power))
        before = merged.get(free, (Fraction(0), Fraction(0)))
        merged[free] = (before[0] + c[0], before[1] + c[1])
    return [_Term(_least(monomial, c, bounds), dict(monomial)) for monomial, c in merged.items()]


def _least(monomial: Monomial, c: Range, bounds: Bounds) -> Fraction:
    # | the sign of x^k                                     | c x^k >= … |x^k|         |
    # | known: even powers, or variables of one sign        | the least of sign * c    |
    # | not known                                           | -|c|                     |
    sign = 1
    for i, power in monomial:
        lo, hi = bounds[i]
        if power % 2:
            if lo < 0 < hi:
                return -max(abs(c[0]), abs(c[1]))
            sign = sign if lo >= 0 else -sign
    return c[0] if sign > 0 else -c[1]


def _is_bounded(ends: tuple[float, float]) -> bool:
    return isfinite(ends[0]) and isfinite(ends[1])


def _power(ends: tuple[float, float], power: int) -> Range:
    a, b = Fraction(ends[0]) ** power, Fraction(ends[1]) ** power
    if power % 2 == 0 and ends[0] < 0 < ends[1]:
        return Fraction(0), max(a, b)
    return min(a, b), max(a, b)


def _times(c: Range, d: Range) -> Range:
    corners = [x * y for x in c for y in d]
    return min(corners), max(corners)


# ---------------------------------------------------------------------------------------------- roots
def _factor(term: _Term, weights: dict[int, Fraction], lead: dict[int, _Term]) -> Fraction | None:
    """Return K >= |c| prod a_i^-w_i, proved by K^L prod a_i^(w_i L) >= |c|^L."""
    whole = lcm(*(w.denominator for w in weights.values()))
    goal = abs(term.c) ** whole / prod(lead[i].c ** int(w * whole) for i, w in weights.items())
    return _root(goal, whole)


def _balance(small: Fraction, rest: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return t and T with t >= T^-rest, t at most about `small`."""
    try:
        big = Fraction(float(small) ** float(-1 / rest) * 4)
    except OverflowError:
        return None
    if big <= 0:
        return None
    t = _root(1 / big**rest.numerator, rest.denominator)
    return None if t is None else (t, big)


def _root(goal: Fraction, degree: int) -> Fraction | None:
    """Return a little above the root, proved by its power."""
    try:
        guess = float(goal) ** (1 / degree)
    except OverflowError:
        return None
    for _ in range(_TRIES):
        guess *= _SLACK
        if not 0 < guess < inf:
            return None
        if Fraction(guess) ** degree >= goal:
            return Fraction(guess)
    return None


def _root_above(value: Fraction, degree: int) -> float:
    found = _root(value, degree) if value else Fraction(0)
    return inf if found is None else float(found)

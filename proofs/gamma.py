"""The constants of gamma.h: Bernoulli numbers, values of the zeta function and the zero of digamma, by Arb."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint

SHIFT = 16
TERMS = {"lgamma": 10, "digamma": 10, "trigamma": 8}


def bernoulli(n: int) -> Fraction:
    value = flint.fmpq.bernoulli(n)
    return Fraction(int(value.p), int(value.q))


_STIRLING: dict[str, Callable[[int], Fraction]] = {
    "lgamma": lambda k: bernoulli(2 * k) / (2 * k * (2 * k - 1)),
    "digamma": lambda k: -bernoulli(2 * k) / (2 * k),
    "trigamma": lambda k: bernoulli(2 * k),
}
_POWER = {"lgamma": -1, "digamma": 0, "trigamma": 1}  # the term k has r to 2k and this


def left_out(name: str) -> Fraction:
    """Return the first term that Stirling's sum leaves out, at its largest."""
    k = TERMS[name] + 1
    return abs(_STIRLING[name](k)) / Fraction(SHIFT) ** (2 * k + _POWER[name])


def _fraction(ball: Any) -> Fraction:
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _parts(value: Fraction, count: int) -> list[float]:
    """Return the nearest double, the nearest to what it leaves, and so on."""
    found = []
    for _ in range(count):
        found.append(float(value))
        value -= Fraction(found[-1])
    return found


def turn() -> Any:
    """Return the zero of digamma by Newton's steps; its derivative is the Hurwitz zeta function of 2."""
    x = flint.arb(1.4616)
    for _ in range(9):
        x = (x - x.digamma() / flint.arb(2).zeta(x)).mid()
    return x


def turns_after(x: float) -> bool:
    """Tell whether digamma, which increases, is negative at x and positive at the next double."""
    with flint.ctx.workprec(200):
        return bool(flint.arb(x).digamma() < 0 and flint.arb(math.nextafter(x, 2.0)).digamma() > 0)


def is_least(value: float) -> bool:
    """Tell whether the least value of log Gamma lies between a double and the next one.

    At a ball around the zero of digamma, wide enough to be sure, log Gamma contains it.
    """
    with flint.ctx.workprec(200):
        around = turn() + flint.arb(0, 2.0**-150)
        certain = (turn() - 2.0**-150).digamma() < 0 and (turn() + 2.0**-150).digamma() > 0
        least = around.lgamma()
        return bool(certain and least > value and least < math.nextafter(value, 1.0))


def constants() -> dict[str, list[float]]:
    """Return the constants of each function in the order of its code."""
    with flint.ctx.workprec(400):
        zero = turn()
        half_log = (2 * flint.arb.pi()).log() / 2 - flint.arb(1) / 2
        near_zero = [(-1) ** (k + 1) * flint.arb(k + 1).zeta(zero) for k in (4, 3, 2)]
        euler = flint.arb.const_euler()
        near_one = [(-1) ** k * flint.arb(k).zeta() / k for k in (4, 3, 2)]
        near_two = [(-1) ** k * (flint.arb(k).zeta() - 1) / k for k in (4, 3, 2)]
        return {
            "DD<D> lgamma_stirling(DD<D> z)": [
                *_stirling("lgamma", {1: 2, 2: 2}), *_parts(_fraction(half_log), 2),
            ],
            "DD<D> lgamma_near(D d, Mask<D> two)": [
                *[float(_fraction(c)) for pair in zip(near_two, near_one, strict=True) for c in pair],
                float(1 - _fraction(euler)), float(-_fraction(euler)), _parts(-_fraction(euler), 2)[1],
            ],
            "DD<D> digamma_stirling(DD<D> z)": _stirling("digamma", {1: 2}),
            "DD<D> digamma_near(D x)": [
                *_parts(_fraction(zero), 3)[1:], *[float(_fraction(c)) for c in near_zero],
                *_parts(_fraction(flint.arb(2).zeta(zero)), 2),
            ],
            "DD<D> trigamma_stirling(DD<D> z)": _stirling("trigamma", {}),
        }  # fmt: skip


def _stirling(name: str, parts: dict[int, int]) -> list[float]:
    """Return the coefficients from the highest on, some in several parts."""
    return [c for k in range(TERMS[name], 0, -1) for c in _parts(_STIRLING[name](k), parts.get(k, 1))]

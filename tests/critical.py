"""Where it is interesting to evaluate an operation of the core: its critical points, range and exact cases."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX = float.fromhex("0x1.fffffffffffffp+1023")
TINY = 2.0**-1074
NORMAL = 2.0**-1022


class Recipe(NamedTuple):
    """Where the points of an operand are drawn: near critical ones, between low and high, and at exact ones."""

    critical: Floats
    low: float
    high: float
    exact: Floats


def _array(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def _both_signs(x: Floats) -> Floats:
    return np.concatenate([x, -x])


def _multiples(constant: str, divisor: int, numbers: Iterable[int]) -> Floats:
    """The doubles nearest to k/divisor times log(2), pi, …: integer arithmetic, correctly rounded."""
    bits = 400
    wide = gmpy2.context(precision=bits + 80)
    value = {"pi": wide.const_pi, "ln2": wide.const_log2, "log10(2)": lambda: wide.log10(2)}[constant]()
    scaled = int(wide.mul_2exp(value, bits))
    return np.array([k * scaled / (divisor << bits) for k in numbers])


@cache
def _nearly_right_angles() -> Floats:
    """Doubles up to 2^30 that lie closer to a multiple of pi/2 than any neighbour of theirs: continued fractions."""
    bits = 300
    wide = gmpy2.context(precision=bits + 80)
    right_angle = int(wide.mul_2exp(wide.const_pi(), bits - 1))
    found: set[float] = set()
    for exponent in range(-60, -22):
        top, bottom = right_angle << -exponent, 1 << bits
        p, p_before = 1, 0
        while bottom:
            quotient = top // bottom
            top, bottom = bottom, top - quotient * bottom
            p, p_before = quotient * p + p_before, p
            if p >= 2**53:
                break
            found.add(math.ldexp(float(p), exponent))
    return np.array(sorted(x for x in found if x < 2.0**30))


@cache
def _right_angles() -> Floats:
    """Nearest doubles to multiples of pi/2: the first ones, random ones up to 2^30, and the worst."""
    random = np.random.default_rng(1788)
    some = (int(k) for k in np.exp2(random.uniform(7, 29.34, 1500)))
    beyond = _array(6381956970095103 * 2.0**797, 2.0**30, 2.0**31, 1e22, 2.0**52, 2.0**1023)
    return np.concatenate(
        [_multiples("pi", 2, range(1, 130)), _multiples("pi", 2, some), _multiples("pi", 4, range(1, 200, 2)),
         _nearly_right_angles(), beyond]
    )  # fmt: skip


_POWERS_OF_2 = np.exp2(np.arange(-1074.0, 1024.0))
_POWERS_OF_10 = np.array([float(f"1e{k}") for k in range(-323, 309)])
_INTEGERS = np.arange(-40.0, 41.0)
_SMALL = np.concatenate([_INTEGERS, _INTEGERS / 2, _INTEGERS / 8, _array(0.1, 0.2, 0.3, 1e3, 1e6, 2.0**52, 2.0**53)])
_EVERYWHERE = _both_signs(
    _array(0.0, TINY, 2 * TINY, NORMAL, NORMAL - TINY, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 10.0, 2.0**26, 2.0**27,
           2.0**52, 2.0**53, 2.0**-26, 2.0**-27, 2.0**-53, 2.0**-54, 2.0**-105, 2.0**-511, 2.0**-537, 2.0**-967,
           2.0**-1000, 2.0**511, 2.0**512, 2.0**970, 2.0**1000, 2.0**1023, MAX)
)  # fmt: skip


def _recipe(critical: Floats, low: float, high: float, exact: Floats = _SMALL) -> Recipe:
    """The critical points of the function weigh about as much as those of all functions, or more."""
    repeated = [critical] * (1 + _EVERYWHERE.size // max(critical.size, 1))
    return Recipe(np.concatenate([_EVERYWHERE, *repeated]), low, high, exact)


# Around each of these a function changes its case, or an algorithm its branch.
_NEAR_ONE = np.exp2(-np.arange(1.0, 53.0))
_ABOVE_ONE = np.concatenate([np.ones(60), 1 + _NEAR_ONE])
_BELOW_ONE = np.concatenate([np.ones(60), 1 - _NEAR_ONE])
_UNIT = _both_signs(np.concatenate([_BELOW_ONE, _array(0.5, math.sqrt(0.5), math.sqrt(3) / 2)]))
_QUARTERS = np.arange(-60.0, 60.0) / 4
_BEYOND_HALVES = np.exp2(np.arange(48.0, 56.0)) + 0.5
_SQUARES = np.arange(1.0, 3000.0) ** 2
_CUBES = np.arange(1.0, 2000.0) ** 3
# Overflow and underflow of exp, expm1, sinh, cosh; where tanh and expm1 round to 1 and -1; half and whole log(2).
_GROWTH = _both_signs(
    _array(708.396418532264, 709.782712893384, 710.475860073944, 745.1332191019412, 19.061547465398, 18.7149738751,
           22.0, 37.42994775, 0.34657359027997264, 0.6931471805599453)
)  # fmt: skip
# Where sin(x)/x has its first extrema, and one over its values there.
_TANGENT_POINTS = _array(4.493409457909064, 7.725251836937707, 10.904121659428899, 4.603338848751700, 7.789705767492725)
# Where erf and erfc change their case, are 1/2 or 3/2, round to 1 or 2, or underflow.
_TAILS = _both_signs(_array(0.4769362762044699, 0.5, 4.0, 5.863584748755167, 5.921587195794508, 6.5, 26.543258454250,
                            27.226017111108366, 27.5))  # fmt: skip
# Zeros and the turn of log Gamma, whose slope is zero there; where the core changes its case.
_GAMMA = np.concatenate([
    np.arange(1.0, 18.0), *[_array(1.4616321449683623, 1.0, 2.0)] * 10, 1 + 2.0**-np.arange(10.0, 53.0),
    2 + 2.0**-np.arange(10.0, 52.0), 2 - 2.0**-np.arange(10.0, 52.0), 1.4616321449683623 + 2.0**-np.arange(10.0, 53.0),
    1.4616321449683623 - 2.0**-np.arange(10.0, 53.0), _array(2.0**-100, 2.0**-512, 2.0**900, 2.55634827e305),
])  # fmt: skip
# Where implementations of atan often cut their range.
_SLOPES = _both_signs(_array(0.4142135623730951, 2.414213562373095, 0.4375, 0.6875, 1.1875, 2.4375, 1e8, 1e16, 1e17))


def _around_logarithms() -> Floats:
    halfway = math.sqrt(0.5) * _POWERS_OF_2[60:]
    return np.concatenate([_POWERS_OF_2, halfway, *[_ABOVE_ONE, _BELOW_ONE] * 10])


def _around_powers() -> Recipe:
    critical = np.concatenate([_ABOVE_ONE, _BELOW_ONE, _POWERS_OF_2[::16]])
    return _recipe(critical, 0.0, 20.0, np.concatenate([np.arange(1.0, 50.0), _SQUARES[:40], _POWERS_OF_2[::8]]))


def _around_integer_powers() -> Recipe:
    sevenths = np.exp2(np.arange(-1074.0, 1024.0) / 7)
    exact = np.concatenate([_INTEGERS, _both_signs(_POWERS_OF_2[::8])])
    return _recipe(np.concatenate([_ABOVE_ONE, _BELOW_ONE, sevenths]), -20.0, 20.0, exact)


def _around_squares() -> Recipe:
    scaled = [_SQUARES * factor for factor in (1.0, 2.0**-1070, 2.0**1000, 2.0**-20)]
    return _recipe(np.concatenate(scaled), 0.0, 1e6, _SQUARES)


def _around_minus_one() -> Recipe:
    critical = np.concatenate([-_BELOW_ONE, _both_signs(np.exp2(-np.arange(1.0, 1074.0)))])
    return _recipe(critical, -1.0, 10.0)


@cache
def _recipes() -> dict[str, Recipe]:
    ln2 = np.concatenate([_multiples("ln2", 2, range(-2160, 2060)), *[_GROWTH] * 50])
    binary, decimal = np.arange(-1080.0, 1030.0), np.arange(-326.0, 310.0)
    tenths = np.concatenate([decimal, _multiples("log10(2)", 1, range(-1075, 1025))])
    angles = _recipe(_both_signs(_right_angles()), -100.0, 100.0)
    halves = np.concatenate([_QUARTERS, _BEYOND_HALVES, np.exp2(np.arange(-30.0, 55.0))])
    jumps = _recipe(np.concatenate([_QUARTERS * 2, _BEYOND_HALVES]), -20.0, 20.0)
    logarithms = _around_logarithms()
    peaks = _multiples("pi", 2, range(3, 20, 2))
    return {
        "sqrt": _around_squares(),
        "cbrt": _recipe(_both_signs(_CUBES), -1e6, 1e6, _both_signs(_POWERS_OF_2)),
        "exp": _recipe(ln2, -750.0, 715.0),
        "expm1": _recipe(ln2, -60.0, 715.0),
        "exp2": _recipe(np.concatenate([binary, binary + 0.5]), -1080.0, 1030.0, binary),
        "exp10": _recipe(tenths, -326.0, 310.0, np.arange(-20.0, 40.0)),
        "log": _recipe(logarithms, 0.0, 10.0, _POWERS_OF_2),
        "log2": _recipe(logarithms, 0.0, 10.0, _POWERS_OF_2),
        "log10": _recipe(np.concatenate([logarithms, _POWERS_OF_10]), 0.0, 10.0, _POWERS_OF_10),
        "log1p": _around_minus_one(),
        **dict.fromkeys(("sin", "cos", "tan"), angles),
        **dict.fromkeys(("sinpi", "cospi"), _recipe(halves, -20.0, 20.0)),
        **dict.fromkeys(("asin", "acos", "atanh"), _recipe(_UNIT, -1.0, 1.0)),
        "atan": _recipe(_SLOPES, -30.0, 30.0),
        "acosh": _recipe(_ABOVE_ONE, 1.0, 30.0),
        "asinh": _recipe(_both_signs(np.exp2(np.arange(-30.0, 30.0))), -30.0, 30.0),
        **dict.fromkeys(("sinh", "cosh"), _recipe(_GROWTH, -715.0, 715.0)),
        "tanh": _recipe(_GROWTH, -25.0, 25.0),
        "recip": _recipe(np.concatenate([_both_signs(_POWERS_OF_2), 1 / np.arange(1.0, 99.0)]), -10.0, 10.0),
        "pow": _around_powers(),
        "pown": _around_integer_powers(),
        "x_log_x": _recipe(np.concatenate([logarithms, *[_array(math.exp(-1.0))] * 60]), 0.0, 2.0, _POWERS_OF_2),
        "sin_over_x": _recipe(_both_signs(np.concatenate([_TANGENT_POINTS, peaks])), -12.0, 12.0),
        "expm1_over_x": _recipe(np.concatenate([_GROWTH, _both_signs(np.exp2(-np.arange(1.0, 60.0)))]), -60.0, 715.0),
        "sinh_over_x": _recipe(np.concatenate([_GROWTH, _both_signs(np.exp2(-np.arange(1.0, 60.0)))]), -715.0, 715.0),
        **dict.fromkeys(("erf", "erfc"), _recipe(_TAILS, -8.0, 28.0)),
        **dict.fromkeys(("lgamma", "digamma", "trigamma"), _recipe(_GAMMA, 0.0, 20.0, np.arange(1.0, 60.0))),
        "erfc_result": _recipe(np.concatenate([_BELOW_ONE, 2 * _BELOW_ONE, _POWERS_OF_2[:1075:16]]), 0.0, 2.0),
        **dict.fromkeys(("floor", "ceil", "trunc", "round_ties_to_even", "round_ties_to_away"), jumps),
        **dict.fromkeys(("step_low", "step_high"), _recipe(np.concatenate([_INTEGERS] * 4), -3.0, 3.0, _INTEGERS)),
    }


@cache
def recipe(op: str) -> Recipe:
    """Where it is interesting to evaluate op, for its first operand at least."""
    return _recipes().get(op) or _recipe(_array(), -100.0, 100.0)

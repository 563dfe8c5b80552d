"""Tightest enclosures by MPFR: what every interval operation of the core is measured against.

An interval is a pair of floats (lo, hi); the empty one is (inf, -inf). Each operation clips its operands to its natural
domain (IEEE 1788, set-based) and returns the smallest closed interval with binary64 ends that contains the range.
Nothing here shares code or method with the core.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import gmpy2

Pair = tuple[float, float]

INF = math.inf
NAN = math.nan
MAX = float.fromhex("0x1.fffffffffffffp+1023")
EMPTY: Pair = (INF, -INF)
ENTIRE: Pair = (-INF, INF)


def _binary64(rounding: int) -> Any:
    """A context whose results are binary64 numbers, subnormal ones included."""
    return gmpy2.context(precision=53, emin=-1073, emax=1024, subnormalize=True, round=rounding)


DOWN = _binary64(gmpy2.RoundDown)
UP = _binary64(gmpy2.RoundUp)
NEAREST = _binary64(gmpy2.RoundToNearest)

# sin and cos of any double are decided by 1024 + 53 bits of 1/pi and as many more as a double can come near a multiple
# of pi (about 62); the rest is slack.
_WIDE = gmpy2.context(precision=1400)
_PI = _WIDE.const_pi()


def is_empty(x: Pair) -> bool:
    return x[0] > x[1]


# --- operations that only choose among the ends ------------------------------------------------------------------


def neg(x: Pair) -> Pair:
    return x if is_empty(x) else (-x[1], -x[0])


def abs_(x: Pair) -> Pair:
    return x if is_empty(x) else (mig(x), mag(x))


def min_(x: Pair, y: Pair) -> Pair:
    return EMPTY if is_empty(x) or is_empty(y) else (min(x[0], y[0]), min(x[1], y[1]))


def max_(x: Pair, y: Pair) -> Pair:
    return EMPTY if is_empty(x) or is_empty(y) else (max(x[0], y[0]), max(x[1], y[1]))


def hull(x: Pair, y: Pair) -> Pair:
    return min(x[0], y[0]), max(x[1], y[1])


def intersection(x: Pair, y: Pair) -> Pair:
    lo, hi = max(x[0], y[0]), min(x[1], y[1])
    return EMPTY if lo > hi else (lo, hi)


def _truth(always: bool, never: bool) -> Pair:
    return float(always), float(not never)


def is_less(x: Pair, y: Pair) -> Pair:
    return EMPTY if is_empty(x) or is_empty(y) else _truth(x[1] < y[0], x[0] >= y[1])


def is_less_equal(x: Pair, y: Pair) -> Pair:
    return EMPTY if is_empty(x) or is_empty(y) else _truth(x[1] <= y[0], x[0] > y[1])


def is_equal(x: Pair, y: Pair) -> Pair:
    if is_empty(x) or is_empty(y):
        return EMPTY
    return _truth(x[0] == x[1] == y[0] == y[1], is_empty(intersection(x, y)))


def where(condition: Pair, x: Pair, y: Pair) -> Pair:
    """The branch that the condition chooses, both where it is open (or no truth value at all)."""
    if is_empty(condition):
        return EMPTY
    return x if condition == (1, 1) else y if condition == (0, 0) else hull(x, y)


def _stepwise(step: Callable[[float], float]) -> Callable[[Pair], Pair]:
    """A nondecreasing function whose values at doubles are doubles."""
    return lambda x: x if is_empty(x) else (step(x[0]), step(x[1]))


def _integral(rounding: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: x if math.isinf(x) else float(rounding(x))


def _ties_to_away(x: float) -> float:
    whole = math.trunc(abs(x))
    return math.copysign(whole + (abs(x) - whole >= 0.5), x)


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


# --- the four operations, fma, roots -----------------------------------------------------------------------------


def add(x: Pair, y: Pair) -> Pair:
    if is_empty(x) or is_empty(y):
        return EMPTY
    return float(DOWN.add(x[0], y[0])), float(UP.add(x[1], y[1]))


def sub(x: Pair, y: Pair) -> Pair:
    return add(x, neg(y))


def _times(context: Any, a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else float(context.mul(a, b))


def mul(x: Pair, y: Pair) -> Pair:
    if is_empty(x) or is_empty(y):
        return EMPTY
    corners = [(a, b) for a in x for b in y]
    return min(_times(DOWN, a, b) for a, b in corners), max(_times(UP, a, b) for a, b in corners)


def div(x: Pair, y: Pair) -> Pair:
    """Contain {a/b: a in x, b in y, b != 0}.

    y = 0        empty
    y < 0, y <= 0   the same with both signs changed
    y > 0        corners; inf/inf is left out, for y unbounded brings 0 by its finite corner
    0 = y.lo     like y > 0, and 1/b is unbounded above
    0 inside y   0 if x = 0, else everything
    """
    if is_empty(x) or is_empty(y) or y == (0, 0):
        return EMPTY
    if x == (0, 0):
        return 0.0, 0.0
    if y[1] <= 0:
        return div(neg(x), neg(y))
    if y[0] < 0:
        return ENTIRE
    if y[0] == 0:
        lo = -INF if x[0] < 0 else float(DOWN.div(x[0], y[1]))
        hi = INF if x[1] > 0 else float(UP.div(x[1], y[1]))
        return lo, hi
    corners = [(a, b) for a in x for b in y if not (math.isinf(a) and math.isinf(b))]
    return min(float(DOWN.div(a, b)) for a, b in corners), max(float(UP.div(a, b)) for a, b in corners)


def recip(x: Pair) -> Pair:
    return div((1.0, 1.0), x)


def sqr(x: Pair) -> Pair:
    return x if is_empty(x) else (float(DOWN.mul(mig(x), mig(x))), float(UP.mul(mag(x), mag(x))))


def _fused(context: Any, a: float, b: float, c: float) -> float:
    if a == 0 or b == 0 or math.isinf(c):
        return c
    return float(context.fma(a, b, c))


def fma(x: Pair, y: Pair, z: Pair) -> Pair:
    if is_empty(x) or is_empty(y) or is_empty(z):
        return EMPTY
    corners = [(a, b) for a in x for b in y]
    return min(_fused(DOWN, a, b, z[0]) for a, b in corners), max(_fused(UP, a, b, z[1]) for a, b in corners)


# --- monotone functions ------------------------------------------------------------------------------------------


def _increasing(name: str, domain: Pair = ENTIRE, open_ends: bool = False) -> Callable[[Pair], Pair]:
    """A function that increases on its domain, with limits at the ends of it that MPFR returns there."""
    down, up = getattr(DOWN, name), getattr(UP, name)

    def enclose(x: Pair) -> Pair:
        lo, hi = max(x[0], domain[0]), min(x[1], domain[1])
        if lo > hi or (open_ends and (hi == domain[0] or lo == domain[1] < INF)):
            return EMPTY
        return float(down(lo)), float(up(hi))

    return enclose


def acos(x: Pair) -> Pair:
    lo, hi = max(x[0], -1.0), min(x[1], 1.0)
    return EMPTY if lo > hi else (float(DOWN.acos(hi)), float(UP.acos(lo)))


def _decreasing(name: str) -> Callable[[Pair], Pair]:
    """A function that decreases everywhere, with limits that MPFR returns at the infinities."""
    down, up = getattr(DOWN, name), getattr(UP, name)
    return lambda x: x if is_empty(x) else (float(down(x[1])), float(up(x[0])))


def cosh(x: Pair) -> Pair:
    return x if is_empty(x) else (float(DOWN.cosh(mig(x))), float(UP.cosh(mag(x))))


def hypot(x: Pair, y: Pair) -> Pair:
    if is_empty(x) or is_empty(y):
        return EMPTY
    return float(DOWN.hypot(mig(x), mig(y))), float(UP.hypot(mag(x), mag(y)))


# --- trigonometry ------------------------------------------------------------------------------------------------


def _half_turns(x: float, offset: float) -> int:
    """floor(x/pi - offset), decided with all bits that matter."""
    return int(_WIDE.floor(_WIDE.sub(_WIDE.div(x, _PI), offset)))


def _wave(name: str, offset: float) -> Callable[[Pair], Pair]:
    """cos(t - offset*pi): maxima where t/pi - offset is an even integer, minima where it is an odd one."""
    down, up = getattr(DOWN, name), getattr(UP, name)

    def enclose(x: Pair) -> Pair:
        if is_empty(x):
            return EMPTY
        if math.isinf(x[0]) or math.isinf(x[1]):
            return -1.0, 1.0
        first, last = _half_turns(x[0], offset), _half_turns(x[1], offset)
        lo = -1.0 if (last + 1) // 2 > (first + 1) // 2 else float(min(down(x[0]), down(x[1])))
        hi = 1.0 if last // 2 > first // 2 else float(max(up(x[0]), up(x[1])))
        return lo, hi

    return enclose


def tan(x: Pair) -> Pair:
    if is_empty(x):
        return EMPTY
    if math.isinf(x[0]) or math.isinf(x[1]) or _half_turns(x[0], 0.5) != _half_turns(x[1], 0.5):
        return ENTIRE
    return float(DOWN.tan(x[0])), float(UP.tan(x[1]))


def _of_pi(function: str, r: float, context: Any) -> float:
    """Round sin(pi*r) or cos(pi*r) correctly, for |r| <= 1/2 where the value is not rational."""
    if function == "cos" and abs(r) < 2.0**-30:
        return 1.0 if context is UP else math.nextafter(1.0, 0.0)
    precision = 160
    while True:
        wide = gmpy2.context(precision=precision)
        value = getattr(wide, function)(wide.mul(wide.const_pi(), r))
        slack = wide.div_2exp(abs(value), precision - 20)
        below, above = context.plus(wide.sub(value, slack)), context.plus(wide.add(value, slack))
        if below == above:
            return float(below)
        precision *= 2


def _sinpi_at(x: float, context: Any) -> float:
    """sin(pi*x) for a finite x. The reduction is exact, the value rational only at multiples of 1/2."""
    t = math.fmod(x, 2.0)
    t -= 2.0 * ((t > 1.0) - (t < -1.0))
    if t in (0.0, 1.0, -1.0):
        return 0.0
    if t in (0.5, -0.5):
        return 2.0 * t
    if abs(t) <= 0.25:
        return _of_pi("sin", t, context)
    if abs(t) >= 0.75:
        return _of_pi("sin", math.copysign(1.0 - abs(t), t), context)
    quarter = _of_pi("cos", abs(t) - 0.5, context if t > 0 else UP if context is DOWN else DOWN)
    return math.copysign(quarter, t)


def _cospi_at(x: float, context: Any) -> float:
    """cos(pi*x) for a finite x."""
    t = abs(math.fmod(x, 2.0))
    t = min(t, 2.0 - t)
    if t in (0.0, 0.5, 1.0):
        return 1.0 - 2.0 * t
    if t < 0.25:
        return _of_pi("cos", t, context)
    if t <= 0.75:
        return _of_pi("sin", 0.5 - t, context)
    return -_of_pi("cos", 1.0 - t, UP if context is DOWN else DOWN)


def _wave_of_pi(at: Callable[[float, Any], float], offset: float) -> Callable[[Pair], Pair]:
    """cos(pi*(t - offset)); floor(t - offset) counts the extrema, in integers."""

    def half_turns(t: float) -> int:
        whole = math.floor(t)
        return whole - (t - whole < offset)

    def enclose(x: Pair) -> Pair:
        if is_empty(x):
            return EMPTY
        if math.isinf(x[0]) or math.isinf(x[1]):
            return -1.0, 1.0
        first, last = half_turns(x[0]), half_turns(x[1])
        lo = -1.0 if (last + 1) // 2 > (first + 1) // 2 else min(at(x[0], DOWN), at(x[1], DOWN))
        hi = 1.0 if last // 2 > first // 2 else max(at(x[0], UP), at(x[1], UP))
        return lo, hi

    return enclose


def atan2(y: Pair, x: Pair) -> Pair:
    """Contain the angle of every (a, b) with a in x and b in y but (0, 0).

    y < 0, or y <= 0 <= x         mirror at the first axis
    y.lo < 0 <= y.hi, x.lo < 0    the cut is crossed: [-pi, pi]
    y.lo < 0 < y.hi, x.lo >= 0    left corners
    y.lo >= 0                     below
    """
    if is_empty(x) or is_empty(y) or x == y == (0, 0):
        return EMPTY
    if y[0] < 0 <= y[1] and x[0] < 0:
        return -float(UP.const_pi()), float(UP.const_pi())
    if y[0] < 0 < y[1]:
        return float(DOWN.atan2(y[0], x[0] + 0.0)), float(UP.atan2(y[1], x[0] + 0.0))
    if y[0] < 0:
        return neg(atan2(neg(y), x))
    return _upper_half_plane((y[0] + 0.0, y[1] + 0.0), (x[0] + 0.0, x[1] + 0.0))


def _upper_half_plane(y: Pair, x: Pair) -> Pair:
    """The angle falls with x; it rises with y for x > 0, is pi/2 for x = 0 (and y > 0), falls with y for x < 0.

    A side x = 0 counts with the point of it that is farthest from the excluded (0, 0); if there is none, y = 0, and the
    box is a piece of the axis.
    """
    if y[1] == 0:
        return (0.0 if x[1] > 0 else float(DOWN.const_pi())), (float(UP.const_pi()) if x[0] < 0 else 0.0)
    return float(DOWN.atan2(y[0] if x[1] > 0 else y[1], x[1])), float(UP.atan2(y[0] if x[0] < 0 else y[1], x[0]))


# --- powers ------------------------------------------------------------------------------------------------------


def pown(x: Pair, n: int) -> Pair:
    """x**n for an integer n; 0**n is undefined for n < 0, and 1 for n = 0."""
    if is_empty(x) or (n < 0 and x == (0, 0)):
        return EMPTY
    if n == 0:
        return 1.0, 1.0
    if n % 2 == 0:
        x = abs_(x)
    if n > 0:
        return float(DOWN.pow(x[0], n)), float(UP.pow(x[1], n))
    if x[0] < 0 < x[1]:
        return ENTIRE
    lo = -INF if x[1] == 0 else float(DOWN.pow(x[1], n))
    hi = INF if x[0] == 0 else float(UP.pow(x[0], n))
    return lo, hi


def _power(x: float, y: float, context: Any) -> float:
    """The limit of s**t for s → x in (0, inf), then t → y."""
    if y == 0 or x == 1:
        return 1.0
    if x == 0 or math.isinf(x) or math.isinf(y):
        return INF if (x > 1) == (y > 0) else 0.0
    return float(context.pow(x, y))


def pow_(x: Pair, y: Pair) -> Pair:
    """Contain {s**t: s > 0, or s = 0 and t > 0}.

    s**t is monotone in s for fixed t and in t for fixed s, so the corners (or limits there) are the extrema.
    """
    x = intersection(x, (0.0, INF))
    if is_empty(x) or is_empty(y):
        return EMPTY
    if x[1] == 0:
        return (0.0, 0.0) if y[1] > 0 else EMPTY
    corners = [(s, t) for s in x for t in y]
    return min(_power(s, t, DOWN) for s, t in corners), max(_power(s, t, UP) for s, t in corners)


# --- mod ---------------------------------------------------------------------------------------------------------


def down(q: Fraction) -> float:
    """The largest double that is not above q."""
    try:
        f = q.numerator / q.denominator
    except OverflowError:
        return MAX if q > 0 else -INF
    return math.nextafter(f, -INF) if Fraction(f) > q else f


def up(q: Fraction) -> float:
    """The smallest double that is not below q."""
    return -down(-q)


def mod_at(x: float, y: float) -> Fraction:
    """x - y*floor(x/y), exactly."""
    p, q = Fraction(x), Fraction(y)
    return p - q * (p // q)


def mod(x: Pair, y: Pair) -> Pair:
    """numpy.mod of an interval by a number: contain x - y*floor(x/y)."""
    if is_empty(x) or is_empty(y) or y == (0, 0):
        return EMPTY
    if y[0] != y[1]:
        raise ValueError(f"the exact range is known here for a point divisor only, got {y}")
    if y[0] < 0:
        return neg(mod(neg(x), neg(y)))
    if math.isinf(x[0]) or math.isinf(x[1]):
        return 0.0, y[0]
    divisor = Fraction(y[0])
    if Fraction(x[0]) // divisor != Fraction(x[1]) // divisor:
        return 0.0, y[0]
    return down(Fraction(x[0]) % divisor), up(Fraction(x[1]) % divisor)


# --- numbers from intervals --------------------------------------------------------------------------------------


def mag(x: Pair) -> float:
    return NAN if is_empty(x) else max(abs(x[0]), abs(x[1]))


def mig(x: Pair) -> float:
    if is_empty(x):
        return NAN
    return 0.0 if x[0] <= 0 <= x[1] else min(abs(x[0]), abs(x[1]))


def wid(x: Pair) -> float:
    return NAN if is_empty(x) else float(UP.sub(x[1], x[0]))


def mid(x: Pair) -> float:
    """The nearest double to the middle; of an unbounded interval the standard's choice."""
    if is_empty(x):
        return NAN
    if x == ENTIRE:
        return 0.0
    if math.isinf(x[0]) or math.isinf(x[1]):
        return -MAX if x[0] == -INF else MAX
    middle = (Fraction(x[0]) + Fraction(x[1])) / 2
    return middle.numerator / middle.denominator + 0.0


def rad(x: Pair) -> float:
    """The smallest double r such that x lies in [mid - r, mid + r]."""
    if is_empty(x):
        return NAN
    m = mid(x)
    return max(float(UP.sub(m, x[0])), float(UP.sub(x[1], m)))


def _number(function: Callable[[Pair], float]) -> Callable[[Pair], Pair]:
    return lambda x: (function(x), function(x))


# --- limits ------------------------------------------------------------------------------------------------------

_FINE = gmpy2.context(precision=1300, emin=-(2**40), emax=2**40)  # more bits than a double can need: 1 + 2^-1074/2
_ONE_OVER_E = _FINE.exp(-1)


def _both(value: Any) -> Pair:
    return float(DOWN.plus(value)), float(UP.plus(value))


def _limit_at(name: str, u: float) -> Pair:
    """u log(u), or name(u)/u: the number rounded down and up, at the edges the limit."""
    if name == "log":
        return (u, u) if u in (0.0, INF) else _both(_FINE.mul(u, _FINE.log(u)))
    if u == 0:
        return 1.0, 1.0
    if math.isinf(u):
        return (0.0, 0.0) if u < 0 else (INF, INF)
    if abs(u) > 1e4 and (name == "sinh" or (name == "expm1" and u > 0)):
        return MAX, INF
    if abs(u) < 2.0**-500 and name != "expm1":  # 1 - u^2/6, 1 + u^2/6: more bits than there are
        return (math.nextafter(1.0, 0.0), 1.0) if name == "sin" else (1.0, math.nextafter(1.0, 2.0))
    return _both(_FINE.div(getattr(_FINE, name)(u), u))


def x_log_x(x: Pair) -> Pair:
    lo, hi = max(x[0], 0.0), x[1]
    if is_empty(x) or hi < 0:
        return EMPTY
    a, b = _limit_at("log", lo), _limit_at("log", hi)
    inside = lo < _ONE_OVER_E < hi
    return (float(DOWN.plus(-_ONE_OVER_E)) if inside else min(a[0], b[0])), max(a[1], b[1])


def sin_over_x_extrema(most: float) -> list[Any]:
    """Where tan(u) = u, 0 < u <= most, near the odd multiples of a right angle; the first few."""
    found = []
    for k in range(1, 40):
        u = _FINE.div(_FINE.mul(2 * k + 1, _FINE.const_pi()), 2)
        u = _FINE.sub(u, _FINE.div(1, u))
        for _ in range(12):  # Newton's steps for sin(u) - u cos(u), whose slope is u sin(u)
            s, c = _FINE.sin(u), _FINE.cos(u)
            u = _FINE.sub(u, _FINE.div(_FINE.sub(s, _FINE.mul(u, c)), _FINE.mul(u, s)))
        if u > most:
            break
        found.append(u)
    return found


@cache
def _first_extrema() -> list[Any]:
    return sin_over_x_extrema(20.0)


def sin_over_x(x: Pair) -> Pair:
    """The range; beyond 20 only values that occur."""
    if is_empty(x):
        return EMPTY
    lo, hi = mig(x), mag(x)
    values = [_limit_at("sin", lo), (0.0, 0.0) if math.isinf(hi) else _limit_at("sin", hi)]
    values += [_both(_FINE.div(_FINE.sin(u), u)) for u in _first_extrema() if lo < u < hi]
    return min(v[0] for v in values), max(v[1] for v in values)


def expm1_over_x(x: Pair) -> Pair:
    return EMPTY if is_empty(x) else (_limit_at("expm1", x[0])[0], _limit_at("expm1", x[1])[1])


def sinh_over_x(x: Pair) -> Pair:
    return EMPTY if is_empty(x) else (_limit_at("sinh", mig(x))[0], _limit_at("sinh", mag(x))[1])


# --- gamma -------------------------------------------------------------------------------------------------------

_TURN = "1.46163214496836234126265954232572132846819620400644635129598840859878644"  # where log Gamma is least
_LEAST = gmpy2.context(precision=200).lngamma(gmpy2.mpfr(_TURN, 240))


def lgamma(x: Pair) -> Pair:
    lo, hi = max(x[0], 0.0), x[1]
    if is_empty(x) or hi <= 0:
        return EMPTY
    ends = [v for v in (lo, hi) if 0 < v < INF]
    least = (
        float(DOWN.plus(_LEAST)) if lo < float(_TURN) < hi or not ends else min(float(DOWN.lngamma(v)) for v in ends)
    )
    return least, INF if len(ends) < 2 else max(float(UP.lngamma(v)) for v in ends)


def _just_above(q: Fraction) -> Pair:
    """A number above q by less than can be seen, rounded down and up."""
    return down(q), up(q) if up(q) != q else math.nextafter(up(q), INF)


def _trigamma_at(x: float) -> Pair:
    """trigamma(x), the Hurwitz zeta function of 2 at x: between 1/x and 1/x + 1/x^2, and 1/x^2 + 1 and 1/x^2 + 2."""
    if x >= 2.0**200:
        return _just_above(1 / Fraction(x))
    if x <= 2.0**-200:
        return _just_above(1 / Fraction(x) ** 2)
    precision = 100
    while True:
        with flint.ctx.workprec(precision):
            ball = flint.arb(2).zeta(flint.arb(x))
            ends = [_fraction(ball.lower()), _fraction(ball.upper())]
        if down(ends[0]) == down(ends[1]) and up(ends[0]) == up(ends[1]):
            return down(ends[0]), up(ends[0])
        precision *= 2


def _fraction(x: Any) -> Fraction:
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def trigamma(x: Pair) -> Pair:
    lo, hi = max(x[0], 0.0), x[1]
    if is_empty(x) or hi <= 0:
        return EMPTY
    return (0.0 if hi == INF else _trigamma_at(hi)[0]), (INF if lo == 0 else _trigamma_at(lo)[1])


def step_low(x: Pair) -> Pair:
    return (x[0], x[0]) if x[1] - x[0] <= 1 and not is_empty(x) else x


def step_high(x: Pair) -> Pair:
    return (x[1], x[1]) if x[1] - x[0] <= 1 and not is_empty(x) else x


# --- the table ---------------------------------------------------------------------------------------------------

_POSITIVE: Pair = (0.0, INF)
_UNIT: Pair = (-1.0, 1.0)

EXACT: dict[str, Callable[..., Pair]] = {
    "neg": neg,
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "recip": recip,
    "sqr": sqr,
    "sqrt": _increasing("sqrt", _POSITIVE),
    "fma": fma,
    "abs": abs_,
    "min": min_,
    "max": max_,
    "sign": _stepwise(_sign),
    "floor": _stepwise(_integral(math.floor)),
    "ceil": _stepwise(_integral(math.ceil)),
    "trunc": _stepwise(_integral(math.trunc)),
    "round_ties_to_even": _stepwise(_integral(round)),
    "round_ties_to_away": _stepwise(_integral(_ties_to_away)),
    "mod": mod,
    "hull": hull,
    "intersection": intersection,
    "is_less": is_less,
    "is_less_equal": is_less_equal,
    "is_equal": is_equal,
    "where": where,
    "step_low": step_low,
    "step_high": step_high,
}
CHECKED: dict[str, Callable[..., Pair]] = {
    "exp": _increasing("exp"),
    "log": _increasing("log", _POSITIVE, open_ends=True),
    "sin": _wave("sin", 0.5),
    "cos": _wave("cos", 0.0),
    "sinpi": _wave_of_pi(_sinpi_at, 0.5),
    "cospi": _wave_of_pi(_cospi_at, 0.0),
}
ARGUED: dict[str, Callable[..., Pair]] = {
    "exp2": _increasing("exp2"),
    "exp10": _increasing("exp10"),
    "expm1": _increasing("expm1"),
    "log2": _increasing("log2", _POSITIVE, open_ends=True),
    "log10": _increasing("log10", _POSITIVE, open_ends=True),
    "log1p": _increasing("log1p", (-1.0, INF), open_ends=True),
    "tan": tan,
    "asin": _increasing("asin", _UNIT),
    "acos": acos,
    "atan": _increasing("atan"),
    "atan2": atan2,
    "sinh": _increasing("sinh"),
    "cosh": cosh,
    "tanh": _increasing("tanh"),
    "asinh": _increasing("asinh"),
    "acosh": _increasing("acosh", (1.0, INF)),
    "atanh": _increasing("atanh", _UNIT, open_ends=True),
    "cbrt": _increasing("cbrt"),
    "hypot": hypot,
    "pown": pown,
    "pow": pow_,
    "x_log_x": x_log_x,
    "sin_over_x": sin_over_x,
    "expm1_over_x": expm1_over_x,
    "sinh_over_x": sinh_over_x,
    "erf": _increasing("erf"),
    "erfc": _decreasing("erfc"),
    "lgamma": lgamma,
    "digamma": _increasing("digamma", _POSITIVE, open_ends=True),
    "trigamma": trigamma,
}
NUMERIC: dict[str, Callable[..., Pair]] = {
    "mid": _number(mid),
    "rad": _number(rad),
    "wid": _number(wid),
    "mag": _number(mag),
    "mig": _number(mig),
}
OPERATIONS: dict[str, Callable[..., Pair]] = {**EXACT, **CHECKED, **ARGUED, **NUMERIC}
TRUST: dict[str, str] = {
    **dict.fromkeys(EXACT, "exact"),
    **dict.fromkeys(CHECKED, "checked"),
    **dict.fromkeys(ARGUED, "argued"),
    **dict.fromkeys(NUMERIC, "numeric"),
}


def tightest(op: str, *operands: Any) -> Pair:
    """The tight result of one operation, zeros positive."""
    lo, hi = OPERATIONS[op](*operands)
    return lo + 0.0, hi + 0.0

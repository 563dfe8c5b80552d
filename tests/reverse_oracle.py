"""Tight results of the reverse operations by MPFR: the hull of all x in X with op(x, b) in C for some b in B.

The solutions are pieces, intervals of reals whose ends are known as two neighbouring doubles (or one). Where the core
rounds its pieces exactly, the result is what X keeps of the pieces rounded outward; for all others what X keeps of the
real pieces, decided exactly. Every row below is a function that returns X and the pieces. Nothing here shares code or
method with the core.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import gmpy2

import oracle
from oracle import DOWN, EMPTY, ENTIRE, INF, MAX, UP, Pair, intersection, is_empty, neg

TINY = math.ulp(0.0)


class End(NamedTuple):
    """A real number between two doubles; open: it is not itself a solution."""

    down: float
    up: float
    open: bool = False


class Piece(NamedTuple):
    lo: End
    hi: End

    def kept_by(self, x: Pair) -> Pair:
        """The hull of what x keeps of the piece."""
        above = self.lo.up < x[1] or (self.lo.up == x[1] and not self.lo.open)
        below = self.hi.down > x[0] or (self.hi.down == x[0] and not self.hi.open)
        if is_empty(x) or not above or not below:
            return EMPTY
        return max(self.lo.down, x[0]), min(self.hi.up, x[1])

    def outward(self, relative: float = 0.0) -> Piece:
        """The piece with its ends rounded outward, after moving them by a part of themselves."""
        lo, hi = self.lo.down, self.hi.up
        if relative:
            lo, hi = float(DOWN.sub(lo, abs(lo) * relative + TINY)), float(UP.add(hi, abs(hi) * relative + TINY))
        return Piece(number(lo, self.lo.open), number(hi, self.hi.open))


Solutions = tuple[Pair, list[Piece]]


def number(value: float, is_open: bool = False) -> End:
    return End(value, value, is_open)


def _real(value: Any) -> End:
    """A number known far beyond a double; one that is a double up to that is that double."""
    below, above = float(DOWN.plus(value)), float(UP.plus(value))
    for double in (below, above):
        if math.isfinite(double) and abs(value - gmpy2.mpfr(double, 2000)) <= abs(value) * gmpy2.mpfr(2.0) ** -150:
            return number(double)
    return End(below, above)


def between(lo: float, hi: float) -> Piece:
    return Piece(number(lo), number(hi))


def minus(piece: Piece) -> Piece:
    (a, b, p), (c, d, q) = piece
    return Piece(End(-d, -c, q), End(-b, -a, p))


def kept(x: Pair, pieces: Iterable[Piece]) -> Pair:
    """The hull of what x keeps of all pieces."""
    result = EMPTY
    for piece in pieces:
        result = oracle.hull(result, piece.kept_by(x))
    return result


NOTHING: Solutions = (EMPTY, [])


def _just(result: Pair) -> Solutions:
    return result, [between(*ENTIRE)]


def _nonnegative(c: Pair) -> Pair:
    return intersection(c, (0.0, INF))


def _signed(piece: Piece) -> list[Piece]:
    return [piece, minus(piece)]


# --- arithmetic --------------------------------------------------------------------------------------------------


def _even(root: Callable[[float], End], least: float = 0.0) -> Callable[[Pair, Pair], Solutions]:
    """The reverse of an even function, increasing from `least` at 0 on, whose positive inverse is `root`."""

    def solve(c: Pair, x: Pair) -> Solutions:
        c = intersection(c, (least, INF))
        return x, [] if is_empty(c) else _signed(Piece(root(c[0]), root(c[1])))

    return solve


def _rounded(name: str) -> Callable[[float], End]:
    down, up = getattr(DOWN, name), getattr(UP, name)
    return lambda v: End(float(down(v)), float(up(v)))


def sqrt_rev(c: Pair, x: Pair) -> Solutions:
    c = _nonnegative(c)
    if is_empty(c):
        return NOTHING
    squares = [End(float(DOWN.mul(v, v)), float(UP.mul(v, v))) for v in c]
    return x, [Piece(*squares)]


def _quotient(c: float, b: float) -> End:
    """c/b for b >= 0; the limit from above at b = 0."""
    if c == 0 or math.isinf(b):
        return number(0.0)
    if b == 0:
        return number(math.copysign(INF, c))
    return End(float(DOWN.div(c, b)), float(UP.div(c, b)))


def _by_positive(c: Pair, b: Pair) -> list[Piece]:
    """c/b over c and the b > 0."""
    b = _nonnegative(b)
    if is_empty(b) or is_empty(c) or b[1] == 0:
        return []
    return [Piece(_quotient(c[0], b[1] if c[0] >= 0 else b[0]), _quotient(c[1], b[0] if c[1] >= 0 else b[1]))]


def _quotients(b: Pair, c: Pair) -> list[Piece]:
    if is_empty(b) or is_empty(c):
        return []
    if b[0] <= 0 <= b[1] and c[0] <= 0 <= c[1]:
        return [between(*ENTIRE)]
    return sorted(_by_positive(c, b) + _by_positive(neg(c), neg(b)), key=lambda piece: piece.lo.down)


def mul_rev(b: Pair, c: Pair, x: Pair) -> Solutions:
    return x, _quotients(b, c)


def _pair(which: int) -> Callable[[Pair, Pair], Solutions]:
    return lambda b, c: (ENTIRE, _quotients(b, c)[which : which + 1])


def min_rev(c: Pair, x: Pair, y: Pair) -> Solutions:
    """Either x is the minimum, in C and not above some y, or a y in C is, and x not below it."""
    if is_empty(c) or is_empty(y):
        return NOTHING
    own, other = intersection(c, (-INF, y[1])), intersection(c, y)
    pieces = [] if is_empty(own) else [between(*own)]
    return x, pieces if is_empty(other) else [*pieces, between(other[0], INF)]


def max_rev(c: Pair, x: Pair, y: Pair) -> Solutions:
    return x, [minus(piece) for piece in min_rev(neg(c), neg(x), neg(y))[1]]


def cancel_minus(x: Pair, y: Pair) -> Solutions:
    bounded = all(map(math.isfinite, y)) or is_empty(y)
    if is_empty(x) and bounded:
        return NOTHING
    if is_empty(x) or is_empty(y) or not all(map(math.isfinite, (*x, *y))):
        return _just(ENTIRE)
    lo, hi = (Fraction(x[i]) - Fraction(y[i]) for i in range(2))
    return _just(ENTIRE if lo > hi else (oracle.down(lo), oracle.up(hi)))


def cancel_plus(x: Pair, y: Pair) -> Solutions:
    return cancel_minus(x, neg(y))


# --- steps and choices -------------------------------------------------------------------------------------------


def _step(v: float, by: Fraction) -> End:
    if math.isinf(v):
        return number(v)
    return End(oracle.down(Fraction(v) + by), oracle.up(Fraction(v) + by))


def _integers(c: Pair) -> Pair:
    if is_empty(c):
        return EMPTY
    lo, hi = oracle.OPERATIONS["ceil"](c)[0], oracle.OPERATIONS["floor"](c)[1]
    return EMPTY if lo > hi else (lo, hi)


def _by_integers(reach: Callable[[float, float], tuple[End, End]]) -> Callable[[Pair, Pair], Solutions]:
    def solve(c: Pair, x: Pair) -> Solutions:
        k = _integers(c)
        return x, [] if is_empty(k) else [Piece(*reach(*k))]

    return solve


def _floor_reach(k: float, m: float) -> tuple[End, End]:
    return number(k), _step(m, Fraction(1))._replace(open=True)


def _ceil_reach(k: float, m: float) -> tuple[End, End]:
    return _step(k, Fraction(-1))._replace(open=True), number(m)


def _trunc_reach(k: float, m: float) -> tuple[End, End]:
    return number(k) if k > 0 else _step(k, Fraction(-1)), number(m) if m < 0 else _step(m, Fraction(1))


def _round_reach(k: float, m: float) -> tuple[End, End]:
    return _step(k, Fraction(-1, 2)), _step(m, Fraction(1, 2))


def sign_rev(c: Pair, x: Pair) -> Solutions:
    of_sign = {
        -1.0: Piece(number(-INF), number(0.0, True)),
        0.0: between(0.0, 0.0),
        1.0: Piece(number(0.0, True), number(INF)),
    }
    return x, [piece for sign, piece in of_sign.items() if c[0] <= sign <= c[1]]


def _compared(true: Callable[[Pair], Piece], false: Callable[[Pair], Piece], second: bool) -> Callable[..., Solutions]:
    def solve(c: Pair, x: Pair, y: Pair) -> Solutions:
        if is_empty(x) or is_empty(y):
            return NOTHING
        target, other = (y, x) if second else (x, y)
        pieces = [piece(other) for value, piece in ((1, true), (0, false)) if c[0] <= value <= c[1]]
        return target, pieces

    return solve


def _below(y: Pair) -> Piece:
    return Piece(number(-INF), number(y[1], True))


def _not_above(y: Pair) -> Piece:
    return between(-INF, y[1])


def _above(y: Pair) -> Piece:
    return Piece(number(y[0], True), number(INF))


def _not_below(y: Pair) -> Piece:
    return between(y[0], INF)


def _equal(second: bool) -> Callable[[Pair, Pair, Pair], Solutions]:
    def solve(c: Pair, x: Pair, y: Pair) -> Solutions:
        if is_empty(x) or is_empty(y):
            return NOTHING
        target = y if second else x
        same = intersection(x, y) if c[0] <= 1 <= c[1] else EMPTY
        different = target if c[0] <= 0 <= c[1] and not x[0] == x[1] == y[0] == y[1] else EMPTY
        return _just(oracle.hull(same, different))

    return solve


def _branch(taken: Pair) -> Callable[[Pair, Pair, Pair], Solutions]:
    def solve(condition: Pair, c: Pair, a: Pair) -> Solutions:
        if is_empty(condition) or is_empty(c):
            return NOTHING
        return _just(intersection(a, c) if condition == taken else a)

    return solve


def where_rev_cond(c: Pair, a: Pair, b: Pair) -> Solutions:
    possible = [float(v) for v, branch in ((0, b), (1, a)) if not is_empty(intersection(branch, c))]
    return _just((possible[0], possible[-1]) if possible else EMPTY)


# --- powers ------------------------------------------------------------------------------------------------------

_WIDE = gmpy2.context(precision=300, emin=-(10**9), emax=10**9)


def _root(v: float, n: int) -> End:
    """v^(1/n) for v >= 0, with its limits at 0 and inf."""
    if v == 0 or math.isinf(v):
        return number(0.0 if (v == 0) == (n > 0) else INF)
    return _real(_WIDE.exp(_WIDE.div(_WIDE.log(v), n)))


def pown_rev(c: Pair, x: Pair, n: int) -> Solutions:
    if is_empty(c):
        return NOTHING
    if n == 0:
        return _just(x if c[0] <= 1 <= c[1] else EMPTY)
    pieces = _roots(_nonnegative(c), n)
    mirrored = pieces if n % 2 == 0 else _roots(_nonnegative(neg(c)), n)
    return x, [*pieces, *map(minus, mirrored)]


def _roots(c: Pair, n: int) -> list[Piece]:
    if is_empty(c) or (n < 0 and c[1] == 0):
        return []
    return [Piece(_root(c[0], n), _root(c[1], n)) if n > 0 else Piece(_root(c[1], n), _root(c[0], n))]


def _real_root(c: float, b: float) -> End:
    """c^(1/b) for c >= 0, b > 0, with its limits."""
    if c == 1 or c == 0:
        return number(c)
    if math.isinf(c):
        return number(INF)
    if b == 0 or math.isinf(b):
        return number(1.0 if b else 0.0 if c < 1 else INF, True)
    exponent = _WIDE.div(_WIDE.log(c), b)
    if abs(exponent) > 800:
        return End(0.0, math.ulp(0.0)) if exponent < 0 else End(MAX, INF)
    return _real(_WIDE.exp(exponent))


def _inverse(end: End) -> End:
    """1/end of a limit; other roots have their inverse computed by _real_root of 1/c."""
    return number(INF if end.down == 0 else 0.0 if math.isinf(end.down) else 1.0, end.open)


def _inverse_root(c: float, b: float) -> End:
    if c in (0.0, 1.0) or math.isinf(c) or b == 0 or math.isinf(b):
        end = _inverse(_real_root(c, b))
        return end._replace(open=end.open or math.isinf(c))
    exponent = _WIDE.minus(_WIDE.div(_WIDE.log(c), b))
    if abs(exponent) > 800:
        return End(0.0, math.ulp(0.0)) if exponent < 0 else End(MAX, INF)
    return _real(_WIDE.exp(exponent))


def pow_rev1(b: Pair, c: Pair, x: Pair) -> Solutions:
    """x = c^(1/b), larger for larger c, and nearer to 1 for larger b."""
    c = _nonnegative(c)
    if is_empty(c) or is_empty(b):
        return NOTHING
    pieces = []
    p, n = _nonnegative(b), _nonnegative(neg(b))
    if not is_empty(p) and p[1] > 0:
        lo = _real_root(c[0], p[1] if c[0] >= 1 else p[0])
        pieces.append(Piece(lo, _real_root(c[1], p[0] if c[1] >= 1 else p[1])))
    if not is_empty(n) and n[1] > 0 and c[1] > 0:
        lo = _inverse_root(c[1], n[0] if c[1] >= 1 else n[1])
        pieces.append(Piece(lo, _inverse_root(c[0], n[1] if c[0] >= 1 else n[0])))
    if b[0] <= 0 <= b[1] and c[0] <= 1 <= c[1]:
        pieces.append(Piece(number(0.0, True), number(INF)))
    return x, pieces


def _log_ratio(c: float, a: float) -> End:
    """log(c)/log(a) for a > 1, with its limits."""
    if c == 1:
        return number(0.0)
    if c == 0 or math.isinf(c) or a == 1:
        return number(INF if c > 1 else -INF)
    if math.isinf(a):
        return number(0.0, True)
    return _real(_WIDE.div(_WIDE.log(c), _WIDE.log(a)))


def _log_ratio_below(c: float, a: float) -> End:
    """-log(c)/log(a) for a < 1, with its limits."""
    if c == 1:
        return number(0.0)
    if c == 0 or math.isinf(c) or a == 1:
        return number(INF if c > 1 else -INF)
    if a == 0:
        return number(0.0, True)
    return _real(_WIDE.minus(_WIDE.div(_WIDE.log(c), _WIDE.log(a))))


def pow_rev2(a: Pair, c: Pair, x: Pair) -> Solutions:
    """x = log(c)/log(a), of larger magnitude for an a nearer to 1."""
    a, c = _nonnegative(a), _nonnegative(c)
    if is_empty(a) or is_empty(c):
        return NOTHING
    pieces = [between(*ENTIRE)] if a[0] <= 1 <= a[1] and c[0] <= 1 <= c[1] else []
    if a[0] == 0 and c[0] == 0:
        pieces.append(Piece(number(0.0, True), number(INF)))
    if a[1] > 1 and c[1] > 0:
        u, v = max(a[0], 1.0), a[1]
        lo = _log_ratio(c[0], v if c[0] >= 1 else u)
        pieces.append(Piece(lo, _log_ratio(c[1], u if c[1] >= 1 else v)))
    if a[0] < 1 and a[1] > 0 and c[1] > 0:
        w, z = a[0], min(a[1], 1.0)
        lo = _log_ratio_below(c[0], w if c[0] >= 1 else z)
        pieces.append(minus(Piece(lo, _log_ratio_below(c[1], z if c[1] >= 1 else w))))
    return x, pieces


# --- waves -------------------------------------------------------------------------------------------------------


class _Wave(NamedTuple):
    """A periodic function: its inverse, where branch m begins, and the half turn by which it is counted."""

    inverse: str
    offset: Fraction  # branch m begins at (m + offset) half turns
    of_pi: bool = False


_SPECIAL = {"asin": {-1.0: Fraction(-1, 2), 0.0: Fraction(0), 1.0: Fraction(1, 2)},
            "acos": {-1.0: Fraction(1), 0.0: Fraction(1, 2), 1.0: Fraction(0)}}  # fmt: skip


def _wave_rev(wave: _Wave) -> Callable[[Pair, Pair], Solutions]:
    def solve(c: Pair, x: Pair) -> Solutions:
        c = c if wave.inverse == "atan" else intersection(c, (-1.0, 1.0))
        if is_empty(c) or is_empty(x):
            return NOTHING
        finite = [v for v in x if math.isfinite(v)]
        context = gmpy2.context(precision=300 + max([0, *(math.frexp(v)[1] for v in finite)]))
        pieces = [_branch_piece(wave, c, m, context) for v in finite for m in _near(wave, v, context)]
        return x, pieces + [between(v, v) for v in x if math.isinf(v)]

    return solve


def _near(wave: _Wave, v: float, context: Any) -> range:
    """The branch of v and its neighbours."""
    if wave.of_pi:
        m = math.floor(Fraction(v) - wave.offset)
    else:
        m = int(context.floor(context.sub(context.div(v, context.const_pi()), gmpy2.mpq(wave.offset))))
    return range(m - 1, m + 2)


def _branch_piece(wave: _Wave, c: Pair, m: int, context: Any) -> Piece:
    base, sign = m, 1
    if m % 2 and wave.inverse != "atan":
        base, sign = (m + 1 if wave.inverse == "acos" else m), -1
    ends = [_turned(wave, v, base, sign, context) for v in c]
    rising = (wave.inverse != "acos") == (sign == 1)
    return Piece(*(ends if rising else ends[::-1]))


def _turned(wave: _Wave, v: float, base: int, sign: int, context: Any) -> End:
    """base half turns plus or minus the inverse at v."""
    if wave.of_pi and v in _SPECIAL[wave.inverse]:
        value = base + sign * _SPECIAL[wave.inverse][v]
        return End(oracle.down(value), oracle.up(value))
    angle = context.mul(getattr(context, wave.inverse)(v), sign)  # never outside the context: 53 bits there
    half_turn = context.const_pi()
    if wave.of_pi:
        angle, half_turn = context.div(angle, half_turn), gmpy2.mpz(1)
    total = context.add(context.mul(half_turn, base), angle)
    return number(0.0) if total == 0 else End(float(DOWN.plus(total)), float(UP.plus(total)))


def atan_rev(c: Pair, x: Pair) -> Solutions:
    half_pi = float(DOWN.const_pi()) / 2
    if is_empty(c) or c[0] > half_pi or c[1] < -half_pi:
        return NOTHING
    lo = number(-INF) if c[0] < -half_pi else _rounded("tan")(c[0])
    return x, [Piece(lo, number(INF) if c[1] > half_pi else _rounded("tan")(c[1]))]


# --- erf ---------------------------------------------------------------------------------------------------------

_FINE = gmpy2.context(precision=240)
_HALF_ROOT_PI = _FINE.div(_FINE.sqrt(_FINE.const_pi()), 2)


@cache
def _erf_inverse(v: float, complement: bool) -> End:
    """The x with erf(x) = v, or erfc(x) = v, by Newton's steps for the smaller of erf and erfc at |x|."""
    a = _FINE.sub(1, v) if complement else _FINE.plus(v)
    if v in ((0.0, 2.0) if complement else (-1.0, 1.0)):
        return number(math.copysign(INF, a))
    size = abs(a)
    if size == 0:
        return number(0.0)
    near = size < 0.5
    rest = _FINE.plus(v if v < 1 else 2 - v) if complement else _FINE.sub(1, size)
    wanted = size if near else _FINE.log(rest)
    x = _FINE.mul(size, _HALF_ROOT_PI) if near else _FINE.sqrt(-wanted)
    step = x
    while abs(step) > _FINE.div_2exp(x, 100):  # squared by the step itself
        value = _FINE.erf(x) if near else _FINE.erfc(x)
        wrong = _FINE.sub(wanted, value) if near else _FINE.mul(_FINE.sub(_FINE.log(value), wanted), value)
        step = _FINE.mul(_FINE.mul(wrong, _HALF_ROOT_PI), _FINE.exp(_FINE.square(x)))
        x = _FINE.add(x, step)
    x = x if a > 0 else -x
    return End(float(DOWN.plus(x)), float(UP.plus(x)))


def erf_rev(c: Pair, x: Pair) -> Solutions:
    c = intersection(c, (-1.0, 1.0))
    if is_empty(c) or c[0] == 1 or c[1] == -1:
        return NOTHING
    return x, [Piece(_erf_inverse(c[0], False), _erf_inverse(c[1], False))]


def erfc_rev(c: Pair, x: Pair) -> Solutions:
    c = intersection(c, (0.0, 2.0))
    if is_empty(c) or c[0] == 2 or c[1] == 0:
        return NOTHING
    return x, [Piece(_erf_inverse(c[1], True), _erf_inverse(c[0], True))]


# --- angles: points that are solutions, not all ------------------------------------------------------------------


def _certain(y: float, x: float, c: Pair) -> bool:
    lo, hi = oracle.atan2((y, y), (x, x))
    return c[0] <= lo <= hi <= c[1]


def _points(x: Pair) -> list[float]:
    if is_empty(x):
        return []
    lo, hi = max(x[0], -MAX), min(x[1], MAX)
    inside = [lo * (1 - t) + hi * t for t in (0.1, 0.37, 0.5, 0.83)]
    return sorted(v for v in {lo, hi, 0.0, 1.0, -1.0, *inside} if lo <= v <= hi)


def atan2_rev1(b: Pair, c: Pair, x: Pair) -> Solutions:
    found = [y for y in _points(x) if any(_certain(y, v, c) for v in _points(b))]
    return _just((found[0], found[-1]) if found else EMPTY)


def atan2_rev2(a: Pair, c: Pair, x: Pair) -> Solutions:
    found = [v for v in _points(x) if any(_certain(y, v, c) for y in _points(a))]
    return _just((found[0], found[-1]) if found else EMPTY)


# --- the table ---------------------------------------------------------------------------------------------------

_HALF = Fraction(-1, 2)
EXACT: dict[str, Callable[..., Solutions]] = {
    "sqr_rev": _even(_rounded("sqrt")),
    "abs_rev": _even(number),
    "sqrt_rev": sqrt_rev,
    "mul_rev": mul_rev,
    "min_rev": min_rev,
    "max_rev": max_rev,
    "floor_rev": _by_integers(_floor_reach),
    "ceil_rev": _by_integers(_ceil_reach),
    "trunc_rev": _by_integers(_trunc_reach),
    "round_ties_to_even_rev": _by_integers(_round_reach),
    "round_ties_to_away_rev": _by_integers(_round_reach),
    "sign_rev": sign_rev,
    "is_less_rev1": _compared(_below, _not_below, second=False),
    "is_less_rev2": _compared(_above, _not_above, second=True),
    "is_less_equal_rev1": _compared(_not_above, _above, second=False),
    "is_less_equal_rev2": _compared(_not_below, _below, second=True),
    "is_equal_rev1": _equal(second=False),
    "is_equal_rev2": _equal(second=True),
    "where_rev": _branch((1.0, 1.0)),
    "where_rev_other": _branch((0.0, 0.0)),
    "where_rev_cond": where_rev_cond,
    "mul_rev_pair_low": _pair(0),
    "mul_rev_pair_high": _pair(1),
    "cancel_minus": cancel_minus,
    "cancel_plus": cancel_plus,
}
ARGUED: dict[str, Callable[..., Solutions]] = {
    "pown_rev": pown_rev,
    "sin_rev": _wave_rev(_Wave("asin", _HALF)),
    "cos_rev": _wave_rev(_Wave("acos", Fraction(0))),
    "tan_rev": _wave_rev(_Wave("atan", _HALF)),
    "sinpi_rev": _wave_rev(_Wave("asin", _HALF, of_pi=True)),
    "cospi_rev": _wave_rev(_Wave("acos", Fraction(0), of_pi=True)),
    "cosh_rev": _even(_rounded("acosh"), least=1.0),
    "atan_rev": atan_rev,
    "pow_rev1": pow_rev1,
    "pow_rev2": pow_rev2,
    "atan2_rev1": atan2_rev1,
    "atan2_rev2": atan2_rev2,
    "erf_rev": erf_rev,
    "erfc_rev": erfc_rev,
}
OPERATIONS: dict[str, Callable[..., Solutions]] = {**EXACT, **ARGUED}
TRUST: dict[str, str] = {**dict.fromkeys(EXACT, "exact"), **dict.fromkeys(ARGUED, "argued")}
INNER = ("atan2_rev1", "atan2_rev2")  # some solutions are known here, not all


def tightest(op: str, *operands: Any) -> Pair:
    """The tight result of one reverse operation, zeros positive."""
    x, pieces = OPERATIONS[op](*operands)
    lo, hi = kept(x, [piece.outward() for piece in pieces] if op in EXACT else pieces)
    return lo + 0.0, hi + 0.0


def loosest(op: str, *operands: Any) -> Pair:
    """What X keeps of the pieces rounded outward after moving their ends by 2^-54, as the core's error bounds allow."""
    x, pieces = OPERATIONS[op](*operands)
    lo, hi = kept(x, [piece.outward(2.0**-54) for piece in pieces])
    return lo + 0.0, hi + 0.0

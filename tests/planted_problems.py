"""Whole problems whose minimum and one minimiser are known beforehand: every claim of a search can be checked.

Every number in a function is a small binary fraction, so that NumPy computes its numbers without an error,
and the function of doubles is the one of real numbers. The same Python function is run on arrays of Arb's balls.

family        S, with its minimum at p
squares       pairs w (r + e)² + w (r - e)² = 2 w r² + 2 w e², where r(p) = 0: random smooth maps of a few variables
pairs         points on a line or in the plane, a potential for each pair that is least at their distance in p
rational      a fit of x₀/(x₁ + t) or (x₀ + x₁ t)/(1 + x₂ t), each datum twice, e above and e below the model at p
exponential   the same of x₀ 2^(-x₁ t) + … + x₂
form          (u + e)'M(u + e) + (u - e)'M(u - e) = 2 u'Mu + 2 e'Me, M positive and not diagonal, u(p) = 0
quadratic     a convex quadratic, multiplied out
box           a quadratic that is mostly not convex: the least of its stationary points on all faces of the box
loss          exp(u) - u, |u + e| + |u - e|, cosh(u) and log-sum-exp of affine u
logistic      a logistic regression with a ridge; minimum and minimiser enclosed by strong convexity
chain         a sum over neighbours: squares, cosines, or a state that is handed on

A linear function that rises from p into the box is added to some where p is on a side. f is S, or an increasing
function of it, and is maximised with the sign turned in some.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize as local_minimum

FloatArray = npt.NDArray[np.float64]
Function = Callable[[Any], Any]

PRECISION = 300
PLACES = ("inside", "side", "corner")


@dataclass(frozen=True, eq=False)
class Planted:
    """A function over a box, its minimum (a Fraction or a ball) and a minimiser (doubles or balls)."""

    name: str
    place: str
    f: Function
    bounds: tuple[tuple[float, float], ...]
    minimum: Any
    minimiser: tuple[Any, ...]
    maximize: bool = False

    @property
    def asked(self) -> Function:
        """The function that is handed over: minus f where a maximum is asked for."""
        return (lambda x: -self.f(x)) if self.maximize else self.f

    def value(self, x: Any) -> Any:
        """A ball around f at a point; None where Arb cannot tell."""
        flint.ctx.prec = PRECISION
        found = self.f(np.array([v if isinstance(v, flint.arb) else flint.arb(float(v)) for v in x], object))
        return found if found.is_finite() else None


# ---------------------------------------------------------------------------------------------- drawing
class Draw:
    """Small binary fractions at random."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def pick(self, options: Any) -> Any:
        return options[int(self.random.integers(len(options)))]

    def chance(self, of: float) -> bool:
        return bool(self.random.random() < of)

    def count(self, lo: int, hi: int) -> int:
        return int(self.random.integers(lo, hi + 1))

    def eighths(self, shape: Any, most: float = 2.0) -> FloatArray:
        """Multiples of 1/8 in [-most, most]."""
        return self.random.integers(round(-8 * most), round(8 * most) + 1, shape) / 8.0

    def slopes(self, shape: Any) -> FloatArray:
        """Multiples of 1/4 in [-1, 1], some of them 0."""
        return self.random.integers(-4, 5, shape) / 4.0

    def error(self, shape: Any, zero: bool) -> FloatArray:
        """Multiples of 1/4 up to 1, or zeros."""
        return np.zeros(shape) if zero else self.random.integers(0, 5, shape) / 4.0


@dataclass(frozen=True, eq=False)
class Body:
    """S, its minimum, its minimiser p where that is planted, and how far from p a box may reach below and above."""

    s: Function
    minimum: Any
    p: FloatArray
    below: float = 2.0
    above: float = 2.0


def _summed(draw: Draw, terms: Callable[[Any], list[Any]]) -> Function:
    """The sum of terms in one of several spellings."""
    kind = draw.count(0, 2)
    if kind == 0:
        return lambda x: sum(terms(x))
    if kind == 1:
        return lambda x: np.sum(np.array(terms(x)))

    def looped(x: Any) -> Any:
        total = 0.0
        for term in terms(x):
            total = total + term
        return total

    return looped


# ---------------------------------------------------------------------------------------------- families
_MAPS: list[Function] = [
    lambda u: u,
    np.sin,
    np.tanh,
    np.expm1,
    lambda u: u + u**3,
    lambda u: u / (1 + u * u),
    lambda u: u * np.cos(u),
]


def squares(draw: Draw, n: int, zero: bool) -> Body:
    p = draw.eighths(n)
    m = draw.count(n, n + 3)
    a, other = draw.slopes((m, n)), draw.slopes((m, n))
    maps, kinds = [draw.pick(_MAPS) for _ in range(m)], [draw.count(0, 2) for _ in range(m)]
    w, e = 2.0 ** draw.random.integers(-3, 4, m), draw.error(m, zero)
    at, beside = a @ p, other @ p

    def r(x: Any, j: int) -> Any:
        u, v = a[j] @ x - at[j], other[j] @ x - beside[j]
        return [maps[j](u), maps[j](u) * np.cos(v), maps[j](u) + u * v][kinds[j]]

    def terms(x: Any) -> list[Any]:
        found = []
        for j in range(m):
            residual = r(x, j)
            found += [w[j] * residual**2] if zero else [w[j] * (residual + e[j]) ** 2, w[j] * (residual - e[j]) ** 2]
        return found

    return Body(_summed(draw, terms), sum(Fraction(2 * w[j] * e[j] ** 2) for j in range(m)), p)


def pairs(draw: Draw, n: int, zero: bool) -> Body:
    d = 2 if n % 2 == 0 and n > 2 and draw.chance(0.7) else 1
    atoms = n // d
    while True:
        fixed = draw.eighths((draw.count(1, 2), d), 3.0)  # as one point alone has no neighbour
        p = draw.eighths((atoms, d))
        every = np.concatenate([p, fixed])
        apart = ((every[:, None] - every[None]) ** 2).sum(2)[np.triu_indices(len(every), 1)]
        if (apart > 0).all():
            break
    kind = draw.pick(["morse", "distance"] if d == 2 else ["lennard-jones", "morse", "distance"])

    def potential(s: Any, least: float) -> Any:
        if kind == "morse":
            return (1 - np.exp(-(s - least) / 2)) ** 2
        if kind == "distance":
            return (s - least) ** 2
        q = least / s
        return q**6 - 2 * q**3

    def s(x: Any) -> Any:
        places = [[x[i * d + k] for k in range(d)] for i in range(atoms)] + [list(row) for row in fixed]
        total = 0.0
        for (i, j), least in zip(itertools.combinations(range(len(places)), 2), apart, strict=True):
            apart_now = sum((a - b) ** 2 for a, b in zip(places[i], places[j], strict=True))
            if i < atoms:
                total = total + potential(apart_now, float(least))
        return total

    moving = sum(1 for i, _ in itertools.combinations(range(len(every)), 2) if i < atoms)
    return Body(s, Fraction(-moving if kind == "lennard-jones" else 0), p.ravel())


def rational(draw: Draw, n: int, zero: bool) -> Body:
    three = n > 2
    p = draw.eighths(3 if three else 2)
    p[p == 0] = 1.0
    if three:
        p[2] = draw.pick([0.5, 1.0, 2.0])
        t = (2.0 ** np.array([0, 1, 2, 3, -1]) - 1) / p[2]
        bottom = 1 + p[2] * t
    else:
        p[1] = abs(p[1])
        bottom = 2.0 ** np.array([2, 3, 4, 5])
        t = bottom - p[1]
    y = ((p[0] + p[1] * t) if three else p[0]) / bottom
    return _fit(draw, p, t, y, zero, lambda x, t: (x[0] + x[1] * t) / (1 + x[2] * t) if three else x[0] / (x[1] + t))


def exponential(draw: Draw, n: int, zero: bool) -> Body:
    n = max(n, 2)
    p = draw.eighths(n)
    p[1::2] = draw.random.integers(0, 4, len(p[1::2])) / 2.0
    t = 2.0 * np.arange(draw.count(3, 5))

    def model(x: Any, t: Any) -> Any:
        total = x[n - 1] if n % 2 else 0.0
        for i in range(0, n - 1, 2):
            total = total + x[i] * 2.0 ** (-x[i + 1] * t)
        return total

    return _fit(draw, p, t, model(p, t), zero, model)


def _fit(draw: Draw, p: FloatArray, t: FloatArray, y: FloatArray, zero: bool, model: Callable[[Any, Any], Any]) -> Body:
    e = draw.error(len(t), zero)
    t, y, e = (t, y, e) if zero else (np.repeat(t, 2), np.repeat(y, 2), np.repeat(e, 2) * np.tile([1, -1], len(t)))
    data = y + e
    kind = draw.count(0, 2)

    def s(x: Any) -> Any:
        r = model(x, t) - data
        return [
            lambda: np.sum(r**2),
            lambda: r @ r,
            lambda: sum((model(x, a) - b) ** 2 for a, b in zip(t, data, strict=True)),
        ][kind]()

    return Body(s, sum(Fraction(v) ** 2 for v in e), p, below=draw.pick([0.5, 1.0, 4.0]))


def form(draw: Draw, n: int, zero: bool) -> Body:
    p = draw.eighths(n)
    k = draw.count(2, 4)
    a, half = draw.slopes((k, n)), draw.random.integers(-2, 3, (k, k)).astype(float)
    matrix = half.T @ half + draw.pick([0.0, 0.25, 1.0]) * np.eye(k)
    at, e, curve = a @ p, draw.error(k, zero), draw.pick(_MAPS)
    kind = draw.count(0, 2)

    def s(x: Any) -> Any:
        u = curve(a @ x - at)
        total: Any = 0.0
        for v in (u + e, u - e):
            total = total + (
                v @ matrix @ v
                if kind == 0
                else v @ (matrix @ v)
                if kind == 1
                else np.sum(v[:, None] * matrix * v[None, :])
            )
        return total

    return Body(s, 2 * Fraction(float(e @ matrix @ e)), p)


def quadratic(draw: Draw, n: int, zero: bool) -> Body:
    p = draw.eighths(n)
    m = draw.random.integers(-3, 4, (n + draw.count(0, 2), n)).astype(float)
    q = m.T @ m
    b, c = -2 * (q @ p), float(p @ q @ p) + (0.0 if zero else float(draw.eighths(())))
    return Body(lambda x: x @ q @ x + b @ x + c, Fraction(c) - Fraction(float(p @ q @ p)), p, above=4.0)


def loss(draw: Draw, n: int, zero: bool) -> Body:
    p = draw.eighths(n)
    m = draw.count(n, n + 4)
    a, e = draw.slopes((m, n)), draw.error(m, zero)
    at = a @ p
    kind = draw.pick(["poisson", "absolute", "cosh", "log-sum-exp"])

    def s(x: Any) -> Any:
        u = a @ x - at
        if kind == "poisson":
            return np.sum(np.exp(u) - u - 1)
        if kind == "absolute":
            return np.sum(np.abs(u + e) + np.abs(u - e))
        if kind == "cosh":
            return np.sum(np.cosh(u) - 1)
        return np.log(np.sum(np.exp(u)) + np.sum(np.exp(-u)))

    flint.ctx.prec = PRECISION
    return Body(s, {"absolute": 2 * sum(map(Fraction, e)), "log-sum-exp": flint.arb(2 * m).log()}.get(kind, 0), p)


def chain(draw: Draw, n: int, zero: bool) -> Body:
    n = max(n, 2)
    p = draw.eighths(n)
    kind = draw.pick(["squares", "cosines", "states"])
    steps = p[1:] - p[:-1] ** 2
    apart = p[1:] - p[:-1]
    w = 2.0 ** draw.random.integers(-2, 5, n - 1)

    def s(x: Any) -> Any:
        if kind == "squares":
            return np.sum(w * (x[1:] - x[:-1] ** 2 - steps) ** 2 + (x[:-1] - p[:-1]) ** 2)
        if kind == "cosines":
            return -np.sum(w * np.cos(x[1:] - x[:-1] - apart)) + np.sum((x - p) ** 2)
        state, total = x[0] - p[0], (x[0] - p[0]) ** 2
        for i in range(1, n):
            state = np.sin(state) + x[i] - p[i]
            total = total + w[i - 1] * state**2
        return total

    return Body(s, -sum(map(Fraction, w)) if kind == "cosines" else 0, p)


FAMILIES = {f.__name__: f for f in (squares, pairs, rational, exponential, form, quadratic, loss, chain)}
NAMES = (*FAMILIES, "box", "logistic")


# ---------------------------------------------------------------------------------------------- whole problems
def planted_problem(seed: int) -> Planted:
    """The problem of this number; every second one has the minimum 0, but for those whose minimum is what it is."""
    draw = Draw(4_000_000 + seed)
    name, zero, n = NAMES[seed % len(NAMES)], seed % 2 == 0, draw.count(1, 6)
    maximize = draw.chance(0.2)
    if name == "box":
        return _box(draw, min(n, 4), maximize, zero)
    if name == "logistic":
        return _logistic(draw, n, maximize)
    body = FAMILIES[name](draw, n, zero)
    n, place = len(body.p), draw.pick(PLACES)
    on_side = {"inside": np.zeros(n, bool), "corner": np.ones(n, bool)}.get(place, draw.random.random(n) < 0.5)
    if place == "side":
        on_side[draw.count(0, n - 1)] = True
    at_top = on_side & (draw.random.random(n) < 0.5)
    lo = np.where(on_side & ~at_top, body.p, body.p - body.below * draw.random.integers(1, 9, n) / 8)
    hi = np.where(at_top, body.p, body.p + body.above * draw.random.integers(1, 9, n) / 8)
    rise = np.where(on_side, draw.random.integers(0, 9, n) / 8 * np.where(at_top, -1.0, 1.0), 0.0)
    s, minimum = body.s, body.minimum
    if on_side.any() and draw.chance(0.5):
        s = _tilted(s, rise, body.p)
    f, minimum = _outer(draw, s, minimum, zero)
    bounds = tuple(zip(lo.tolist(), hi.tolist(), strict=True))
    return Planted(f"{name} {seed}", place, f, bounds, minimum, tuple(body.p.tolist()), maximize)


def _tilted(s: Function, rise: FloatArray, p: FloatArray) -> Function:
    return lambda x: s(x) + np.sum(rise * (x - p))


def _outer(draw: Draw, s: Function, minimum: Any, zero: bool) -> tuple[Function, Any]:
    """An increasing function of S, with its minimum; shifted so that it is 0 where that can be written exactly."""
    exact = isinstance(minimum, (int, Fraction))
    kind = draw.count(0, 9) if exact else 0
    shift = float(-minimum) if zero and exact and minimum else float(draw.eighths(())) if not zero else 0.0
    low = Fraction(minimum + Fraction(shift)) if exact else minimum + shift
    base = s if shift == 0 else lambda x: s(x) + shift
    flint.ctx.prec = PRECISION
    ball = flint.arb(low.numerator) / low.denominator if isinstance(low, Fraction) else low
    if kind == 1 and exact and low >= 0:
        return (lambda x: np.sqrt(base(x))), ball.sqrt()
    if kind == 2 and exact and low > -1:
        return (lambda x: np.log(1 + base(x))), ball.log1p()
    if kind == 6 and exact and low > -1:
        return (lambda x: 1 - 1 / (1 + base(x))), 1 - 1 / (1 + low)
    if kind == 7 and exact and low >= 0:
        return (lambda x: base(x) ** 2), low * low
    if kind == 8:
        return (lambda x: 1 - np.exp(-base(x) / 8)), -(-ball / 8).expm1()
    if kind == 3:
        return (lambda x: np.expm1(base(x) / 16)), (ball / 16).expm1()
    if kind == 4:
        return (lambda x: 256 * base(x)), 256 * low
    if kind == 5:
        return (lambda x: base(x) / 1024), low / 1024
    return base, low


# ---------------------------------------------------------------------------------------------- quadratics on a box
def _box(draw: Draw, n: int, maximize: bool, zero: bool) -> Planted:
    """The least stationary point over all faces, in fractions: a quadratic has its minimum over a box there."""
    m = draw.random.integers(-4, 5, (n, n)).astype(float)
    q = m + m.T
    b = draw.eighths(n, 4.0)
    lo = -draw.random.integers(1, 17, n) / 8
    hi = draw.random.integers(1, 17, n) / 8
    half = [[Fraction(v) for v in row] for row in q]
    linear = [Fraction(v) for v in b]
    best: tuple[Fraction, list[Fraction]] | None = None
    for face in itertools.product((0, 1, 2), repeat=n):
        x = _stationary(
            half, linear, [(None, Fraction(a), Fraction(c))[k] for k, a, c in zip(face, lo, hi, strict=True)]
        )
        if x is None or any(not a <= v <= c for v, a, c in zip(x, lo.tolist(), hi.tolist(), strict=True)):
            continue
        value = sum(half[i][j] * x[i] * x[j] for i in range(n) for j in range(n)) / 2
        value += sum(v * g for v, g in zip(x, linear, strict=True))
        if best is None or value < best[0]:
            best = value, x
    assert best is not None  # a corner is a face
    value, x = best
    c = float(-value) if zero and Fraction(float(-value)) == -value else 0.0
    at_end = [v in (Fraction(a), Fraction(d)) for v, a, d in zip(x, lo, hi, strict=True)]
    place = "corner" if all(at_end) else "side" if any(at_end) else "inside"
    flint.ctx.prec = PRECISION
    return Planted(
        "box",
        place,
        lambda z: 0.5 * (z @ q @ z) + b @ z + c,
        tuple(zip(lo.tolist(), hi.tolist(), strict=True)),
        value + Fraction(c),
        tuple(x),
        maximize,
    )


def _stationary(q: list[list[Fraction]], b: list[Fraction], fixed: list[Fraction | None]) -> list[Fraction] | None:
    """The point with the slope 0 along the variables that are not fixed; None where there is not exactly one."""
    free = [i for i, v in enumerate(fixed) if v is None]
    rows = [
        [q[i][j] for j in free] + [-b[i] - sum(q[i][j] * v for j, v in enumerate(fixed) if v is not None)] for i in free
    ]
    for k in range(len(free)):
        pivot = next((r for r in range(k, len(free)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in range(len(free)):
            if r != k:
                rows[r] = [v - rows[r][k] * w for v, w in zip(rows[r], rows[k], strict=True)]
    found = iter([row[-1] for row in rows])
    return [next(found) if v is None else v for v in fixed]


# ---------------------------------------------------------------------------------------------- logistic regressions
def _logistic(draw: Draw, n: int, maximize: bool) -> Planted:
    """Enclosed from a good point z: with strong convexity mu and the slope g there, d = z - x* of the minimiser x*.

    mu |d|² <= (g(z) - g(x*)) d <= g(z) d, and g_i d_i <= 0 where z_i lies at an end from which f rises; hence
    mu |d| <= |g'|, where g' is g without those, and f(z) - |g'| |d| <= f(x*) <= f(z). The sum of sizes stands for |g'|.
    """
    m = draw.count(3, 12)
    a = draw.eighths((m, n))
    ridge = draw.pick([0.125, 0.5, 1.0])
    lo, hi = -draw.random.integers(1, 9, n) / 8, draw.random.integers(1, 9, n) / 8
    spelling = draw.count(0, 1)

    def f(x: Any) -> Any:
        u = a @ x
        return np.sum(np.log1p(np.exp(-u)) if spelling else np.log(1 + np.exp(-u))) + ridge * np.sum(x**2)

    def slope(x: Any) -> Any:
        return -(a.T @ (1 / (1 + np.exp(a @ x)))) + 2 * ridge * x

    found = local_minimum(f, np.zeros(n), jac=slope, bounds=list(zip(lo, hi, strict=True)), tol=1e-14).x
    flint.ctx.prec = PRECISION
    held = (found <= lo + 1e-9) & (slope(found) > 0) | (found >= hi - 1e-9) & (slope(found) < 0)
    found = np.where(held, np.where(slope(found) > 0, lo, hi), found)
    z = np.array([flint.arb(v) for v in found.tolist()], object)
    free = np.flatnonzero(~held)
    for _ in range(6 if free.size else 0):
        u = a @ z
        weight = [v.exp() / (1 + v.exp()) ** 2 for v in u]
        hessian = flint.arb_mat(
            [
                [sum(weight[j] * a[j, i] * a[j, k] for j in range(m)) + (2 * ridge if i == k else 0) for k in free]
                for i in free
            ]
        )
        step = hessian.solve(flint.arb_mat([[slope(z)[i]] for i in free]))
        for at, i in enumerate(free):
            z[i] = (z[i] - step[at, 0]).mid()
    g = slope(z)
    for i in np.flatnonzero(held):
        assert g[i] > 0 if found[i] == lo[i] else g[i] < 0
    assert all(lo[i] < z[i] and z[i] < hi[i] for i in free)
    size = sum((g[i].abs_upper() for i in free), flint.arb(0)).abs_upper()
    apart = (size / (2 * ridge)).abs_upper()
    around = tuple(z[i] if held[i] else z[i] + flint.arb(0, apart) for i in range(n))
    value = f(z)
    minimum = value.union(value - size * apart)
    place = "corner" if held.all() else "side" if held.any() else "inside"
    bounds = tuple(zip(lo.tolist(), hi.tolist(), strict=True))
    return Planted("logistic", place, f, bounds, minimum, around, maximize)

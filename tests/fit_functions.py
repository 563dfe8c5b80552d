"""Random fits with two meanings: NumPy's, which is traced, and exact values row by row in balls (python-flint).

    kind       models
    columns    sums of c a(t; p), some of c, p shared, the a's poles, kinks and steps included
    grids      sums of exponentials, powers, waves and fixed columns on equidistant t, as doubles or exact decimals
    ratios     quotients of polynomials of t, coefficients shared by both, poles inside
Spelled as a sum, a mean, a dot product, a norm or a loop, some rows masked or weighted, some t repeated, with an
increasing function of the sum outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import scipy.optimize

import infimum
from infimum.boxes import FloatArray

PRECISION = 200


class Undefined(Exception):
    """No value, or none that can be told."""


class _Balls:
    """NumPy's functions of one number, on balls."""

    pi = property(lambda self: flint.arb.pi())

    def exp(self, x: Any) -> Any:
        return x.exp()

    def exp2(self, x: Any) -> Any:
        return flint.arb(2) ** x

    def cos(self, x: Any) -> Any:
        return x.cos()

    def sin(self, x: Any) -> Any:
        return x.sin()

    def arctan(self, x: Any) -> Any:
        return x.atan()

    def abs(self, x: Any) -> Any:
        return abs(x)

    def log(self, x: Any) -> Any:
        if not x > 0:
            raise Undefined
        return x.log()

    def sqrt(self, x: Any) -> Any:
        if x == 0:
            return flint.arb(0)
        if not x > 0:
            raise Undefined
        return x.sqrt()

    def over(self, a: Any, b: Any) -> Any:
        if b.contains(0):
            raise Undefined
        return a / b

    def power(self, a: Any, b: Any) -> Any:
        return (b * self.log(a)).exp()

    def before(self, a: Any, b: Any, yes: Any, no: Any) -> Any:
        if a < b:
            return yes
        if a >= b:
            return no
        raise Undefined


class _Arrays:
    """The same on NumPy's arrays and on traced ones."""

    pi = infimum.pi

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def over(self, a: Any, b: Any) -> Any:
        return a / b

    def power(self, a: Any, b: Any) -> Any:
        return a**b

    def before(self, a: Any, b: Any, yes: Any, no: Any) -> Any:
        return np.where(a < b, yes, no)


class _Doubles(_Arrays):
    pi = math.pi


Model = Callable[[Any, Any, Any], Any]  # of functions, t and parameters


@dataclass(frozen=True, eq=False)
class Fit:
    """A sum of squares over `bounds`; `times`, `data`, `weights` are numbers or text, `kept` marks the rows."""

    name: str
    model: Model
    bounds: tuple[tuple[float, float], ...]
    times: tuple[Any, ...]
    data: tuple[float, ...]
    weights: tuple[float, ...]
    kept: tuple[bool, ...]
    spelling: str
    outside: str
    best: tuple[float, ...]  # parameters that data were made with

    @property
    def n(self) -> int:
        return len(self.bounds)

    def __call__(self, x: Any) -> Any:
        if self.spelling == "loop":
            total: Any = 0.0
            for t, d, w, kept in zip(self.times, self.data, self.weights, self.kept, strict=True):
                if kept:
                    total = total + (w * (self.model(_Arrays(), _number(t), x) - d)) ** 2
            return self._outside(total)
        t = infimum.exact(list(self.times)) if isinstance(self.times[0], str) else np.array(self.times)
        r = np.array(self.weights) * (self.model(_Arrays(), t, x) - np.array(self.data))
        if not all(self.kept):
            r = np.where(np.array(self.kept), r, 0.0)
        if self.spelling == "dot":
            return self._outside(np.dot(r, r))
        if self.spelling == "norm":
            return self._outside(np.linalg.norm(r) ** 2)
        return self._outside(np.mean(r**2) if self.spelling == "mean" else np.sum(r**2))

    def _outside(self, total: Any) -> Any:
        if self.outside == "root":
            return np.sqrt(total)
        if self.outside == "log":
            return 0.5 * np.log(total + 1.0) - 2.0
        return 0.3 * total - 1.5 if self.outside == "scaled" else total

    def value(self, point: Any) -> Any:
        """A ball around the value at a point of doubles; None where there is none, or it cannot be told."""
        flint.ctx.prec = PRECISION
        x = [flint.arb(float(v)) for v in point]
        ops, total = _Balls(), flint.arb(0)
        try:
            for t, d, w, kept in zip(self.times, self.data, self.weights, self.kept, strict=True):
                if kept:
                    own = flint.arb(w) * (self.model(ops, _ball(t), x) - flint.arb(d))
                    total += own * own
            if self.spelling == "mean":
                total /= len(self.times)
            if self.outside == "root":
                total = ops.sqrt(total)
            elif self.outside == "log":
                total = (total + 1).log() / 2 - 2
            elif self.outside == "scaled":
                total = flint.arb(0.3) * total - flint.arb(1.5)
        except Undefined:
            return None
        return total if total.is_finite() else None

    def residuals(self, x: FloatArray) -> FloatArray:
        """The residuals at one point in plain doubles."""
        t = np.array([float(_fraction(t)) for t in self.times])
        kept = np.array(self.kept)
        with np.errstate(all="ignore"):
            r = np.array(self.weights) * (np.broadcast_to(self.model(_Doubles(), t, x), t.shape) - np.array(self.data))
        found: FloatArray = np.nan_to_num(np.where(kept, r, 0.0), nan=1e9, posinf=1e9, neginf=-1e9)
        return found

    def lowest(self, lo: FloatArray, hi: FloatArray, start: FloatArray) -> FloatArray:
        """A point of a box where squares are small: from `start` on by SciPy."""
        free = np.flatnonzero(hi - lo > 1e-12 * (1 + np.abs(lo)))
        if not free.size:
            return start

        def residuals(own: FloatArray) -> FloatArray:
            x = start.copy()
            x[free] = own
            return self.residuals(x)

        with np.errstate(all="ignore"):
            found = scipy.optimize.least_squares(
                residuals, np.clip(start, lo, hi)[free], bounds=(lo[free], hi[free]), x_scale="jac", max_nfev=60
            ).x
        x = start.copy()
        x[free] = found
        inside: FloatArray = np.clip(x, lo, hi)
        return inside


def _fraction(t: Any) -> Fraction:
    return Fraction(t)


def _number(t: Any) -> Any:
    return infimum.exact(t) if isinstance(t, str) else t


def _ball(t: Any) -> Any:
    own = _fraction(t)
    return flint.arb(flint.fmpq(own.numerator, own.denominator))


# --- what a model adds up: a(t; p), and where its parameters lie ------------------------------------------------------
Term = tuple[tuple[tuple[float, float], ...], Callable[..., Any]]

_COLUMNS: dict[str, Term] = {
    "decay": (((0.0, 3.0),), lambda f, t, p: f.exp(-p * t)),
    "rise": (((0.0, 3.0),), lambda f, t, p: 1 - f.exp(-p * t)),
    "peak": (((-1.0, 4.0), (0.3, 2.0)), lambda f, t, p, s: f.exp(-(((t - p) / s) ** 2))),
    "line shape": (((-1.0, 4.0), (0.3, 2.0)), lambda f, t, p, s: f.over(s, (t - p) ** 2 + s**2)),
    "wave": (((0.2, 4.0),), lambda f, t, p: f.cos(p * t)),
    "moved wave": (((0.2, 4.0), (-2.0, 2.0)), lambda f, t, p, s: f.sin(p * t + s)),
    "pole": (((-3.0, 4.0),), lambda f, t, p: f.over(1 + 0 * t, t - p)),
    "logarithm": (((0.1, 3.0),), lambda f, t, p: f.log(t + p)),
    "edge of a logarithm": (((-2.0, 3.0),), lambda f, t, p: f.log(t + p)),
    "root": (((0.0, 3.0),), lambda f, t, p: f.sqrt(t + p)),
    "kink": (((-1.0, 4.0),), lambda f, t, p: f.abs(t - p)),
    "step": (((-1.0, 4.0),), lambda f, t, p: f.before(t, p, 1 + 0 * t, 0.5 * t)),
    "saturation": (((0.1, 3.0),), lambda f, t, p: f.over(t, p + t)),
    "angle": (((-3.0, 3.0),), lambda f, t, p: f.arctan(p * t)),
    "power": (((-1.0, 2.0),), lambda f, t, p: f.power(t + 1, p)),
    "one": ((), lambda f, t: 1 + 0 * t),
    "line": ((), lambda f, t: t),
}
_GRIDS: dict[str, Term] = {
    "decay": (((0.0, 3.0),), lambda f, t, p: f.exp(-p * t)),
    "growth": (((-1.0, 1.0),), lambda f, t, p: f.exp(p * (t - 1) + 0.3)),
    "halving": (((0.0, 3.0),), lambda f, t, p: f.exp2(-p * t)),
    "geometric": (((0.1, 1.5),), lambda f, t, p: f.power(p, t)),
    "time constant": (((0.3, 5.0),), lambda f, t, p: f.exp(-t / p)),
    "wave": (((0.2, 3.0),), lambda f, t, p: f.cos(p * t)),
    "moved wave": (((0.2, 3.0), (-2.0, 2.0)), lambda f, t, p, s: f.sin(p * t + s)),
    "wave by periods": (((1.5, 9.0),), lambda f, t, p: f.cos(2 * f.pi * t / p)),
    "one": ((), lambda f, t: 1 + 0 * t),
    "line": ((), lambda f, t: t),
    "fixed wave": ((), lambda f, t: f.cos(0.7 * t)),
}


def _sum_of(terms: list[tuple[Any, int | None, list[int]]], extra: int | None) -> Model:
    """The sum of c a(t; p) over terms (a, number of c, numbers of p); c `extra` stands in an exponent as well."""

    def model(f: Any, t: Any, x: Any) -> Any:
        total = 0 * t
        for column, c, own in terms:
            value = column(f, t, *(x[i] for i in own))
            total = total + (value if c is None else x[c] * value)
        return total if extra is None else total + 0.2 * f.exp(-0.1 * x[extra] * t)

    return model


def _summed(draw: np.random.Generator, known: dict[str, Term], most: int) -> tuple[Model, list[tuple[float, float]]]:
    """A model and where its parameters lie: the c first."""
    names = list(known)
    while True:
        chosen = [names[i] for i in draw.integers(len(names), size=int(draw.integers(1, most + 1)))]
        if any(known[name][0] for name in chosen):
            break
    reach = float(draw.choice([2.0, 10.0, 100.0]))
    bounds = [(-reach, reach) if draw.random() < 0.6 else (0.0, reach) for _ in chosen]
    terms: list[tuple[Any, int | None, list[int]]] = []
    used: dict[tuple[float, float], int] = {}
    for number, name in enumerate(chosen):
        ranges, column = known[name]
        own = []
        for one in ranges:
            if one not in used or draw.random() < 0.7:
                used[one] = len(bounds)
                bounds.append(one)
            own.append(used[one])
        terms.append((column, None if draw.random() < 0.1 and number else number, own))
    if any(c is None for _, c, _ in terms):  # those c are not read then: give them to the first term as well
        first, _, own = terms[0]
        terms += [(first, i, own) for i, (_, number, _) in enumerate(list(terms)) if number is None]
    extra = 0 if draw.random() < 0.15 and known is _COLUMNS else None
    return _sum_of(terms, extra), bounds


def _quotient(draw: np.random.Generator) -> tuple[Model, list[tuple[float, float]]]:
    above, below = int(draw.integers(1, 4)), int(draw.integers(1, 3))
    kind = str(draw.choice(["plain", "plain", "shared", "product", "two", "saturation", "square"]))
    lowest = -1.0 if draw.random() < 0.3 else 0.0
    bounds = [(-5.0, 5.0)] * above + [(lowest, 2.0)] * below

    def model(f: Any, t: Any, x: Any) -> Any:
        c, p = [x[i] for i in range(above)], [x[above + i] for i in range(below)]
        top = c[0] + 0 * t
        for i in range(1, above):
            top = top + c[i] * t**i
        bottom = 1 + 0 * t
        for i in range(below):
            bottom = bottom + p[i] * t ** (i + 1)
        if kind == "shared":  # as Kowalik and MGH09 have it
            return c[0] * f.over(t**2 + p[0] * t, t**2 + t * p[-1] + p[0] + 0.1) + sum(c[1:], 0 * t)
        if kind == "product":
            return f.over(top, bottom + 0.1 * p[0] * p[-1] * t if below > 1 else bottom)
        if kind == "square":  # not affine in p
            return f.over(top, 1 + p[0] ** 2 * t + p[-1] * t**2)
        if kind == "two":
            return f.over(top, bottom) + f.over(p[0] * t, 1 + t)
        if kind == "saturation":
            return f.over(c[0] * t, p[0] + t + 0.01) + 0 * t * sum(c[1:], 0 * p[-1])
        return f.over(top, bottom)

    return model, bounds


def _times(draw: np.random.Generator, kind: str) -> tuple[Any, ...]:
    m = int(draw.choice([2, 3, 5, 8, 12]))
    if kind == "grids":
        m = int(draw.choice([5, 7, 10, 14]))
        how = int(draw.integers(6))
        if how == 0:
            return tuple(float(k) for k in range(m))
        if how == 1:
            return tuple((np.arange(m) * 0.05).tolist())
        if how == 2:
            return tuple(np.linspace(0.1, 3.7, m).tolist())
        if how == 3:
            return tuple(f"{k * 3 + 1}e-1" for k in range(m))
        if how == 4:
            return tuple((2.0 - np.arange(m) * 0.1).tolist())
        return tuple((np.arange(m) * 0.5 + 2e-7 * draw.uniform(-1, 1, m)).tolist())  # hardly a grid
    t = np.round(np.sort(draw.uniform(0.0, 4.0, m)), int(draw.choice([1, 3, 16])))
    if draw.random() < 0.3:
        t[m // 2] = t[0]
    return tuple(t.tolist())


def fit_function(kind: str, seed: int) -> Fit:
    """A random fit of this kind that has a value at the parameters its data were made with."""
    draw = np.random.default_rng([{"columns": 1, "grids": 2, "ratios": 3}[kind], seed])
    while True:
        if kind == "ratios":
            model, bounds = _quotient(draw)
        else:
            model, bounds = _summed(draw, _COLUMNS if kind == "columns" else _GRIDS, 4 if kind == "columns" else 3)
        times = _times(draw, kind)
        m = len(times)
        best = tuple(float(draw.uniform(lo, hi)) for lo, hi in bounds)
        weights = tuple(draw.choice([0.5, 1.0, 3.0], m).tolist()) if draw.random() < 0.2 else (1.0,) * m
        kept = tuple((draw.random(m) < 0.8).tolist()) if draw.random() < 0.2 else (True,) * m
        spelling = str(draw.choice(["sum", "sum", "mean", "dot", "norm", "loop"]))
        outside = str(draw.choice(["", "", "", "root", "log", "scaled"]))
        if kind != "columns" and draw.random() < 0.5:  # what has no range
            bounds = [(-np.inf, np.inf) if b[0] <= -2.0 and b[1] >= 2.0 else b for b in bounds]
        exactly = Fit("", model, tuple(bounds), times, (0.0,) * m, (1.0,) * m, (True,) * m, "sum", "", best)
        clean = exactly.residuals(np.array(best))
        noise = float(draw.choice([0.0, 1e-3, 0.1, 1.0]))
        data = tuple((clean + noise * draw.normal(size=m)).tolist())
        made = Fit(f"{kind} {seed}", model, tuple(bounds), times, data, weights, kept, spelling, outside, best)
        if any(kept) and np.abs(clean).max() < 1e6 and made.value(best) is not None:
            return made

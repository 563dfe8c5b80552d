"""Objective functions as people write them: one record each, for tests of everything that starts from a function."""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos as mcos
from typing import Any

import numpy as np
from numpy import exp, sin

import objective_helpers
from infimum.exact.number import e, exact, pi
from objective_helpers import bump

T = np.linspace(0.0, 4.0, 25)
Y = 2.0 * np.exp(-0.7 * T) + 0.3
A4 = np.array([[4.0, 1, 0, 0], [1, 3, 1, 0], [0, 1, 2, 0.5], [0, 0, 0.5, 1]])
B4 = np.array([1.0, -2.0, 0.5, 3.0])
HART_A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
HART_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
HART_C = [1.0, 1.2, 3.0, 3.2]
SHEKEL_A = np.array([[4, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7]], float)
SHEKEL_C = np.array([0.1, 0.2, 0.2, 0.4, 0.4])


@dataclass(frozen=True)
class Objective:
    """A function, how many variables it has, and the box in which it is defined almost everywhere."""

    name: str
    f: Callable[..., Any]
    n: int
    bounds: tuple[float, float]
    args: tuple[Any, ...] = field(default=())


ALL: list[Objective] = []


def objective(n: int, low: float = -2.0, high: float = 2.0, args: tuple[Any, ...] = ()) -> Callable[[Any], Any]:
    def note(f: Any) -> Any:
        ALL.append(Objective(f.__name__, f, n, (low, high), args))
        return f

    return note


def add(name: str, f: Any, n: int, low: float = -2.0, high: float = 2.0, args: tuple[Any, ...] = ()) -> None:
    ALL.append(Objective(name, f, n, (low, high), args))


# Classic test functions, in several styles


@objective(6, -5, 10)
def zakharov(x):
    ii = np.arange(1, x.size + 1)
    s = np.sum(0.5 * ii * x)
    return np.sum(x**2) + s**2 + s**4


@objective(5, -5, 5)
def styblinski_tang(x):
    return 0.5 * (x**4 - 16 * x**2 + 5 * x).sum()


@objective(4, -5, 5)
def styblinski_tang_loop(x):
    s = 0
    for xi in x:
        s += xi**4 - 16 * xi**2 + 5 * xi
    return s / 2


@objective(5, -10, 10)
def dixon_price(x):
    i = np.arange(2, len(x) + 1)
    return (x[0] - 1) ** 2 + np.sum(i * (2 * x[1:] ** 2 - x[:-1]) ** 2)


@objective(5, -10, 10)
def dixon_price_loop(x):
    total = (x[0] - 1) ** 2
    for i in range(1, len(x)):
        total += (i + 1) * (2 * x[i] ** 2 - x[i - 1]) ** 2
    return total


@objective(8, -4, 5)
def powell(x):
    a, b, c, d = x[0::4], x[1::4], x[2::4], x[3::4]
    return np.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)


@objective(8, -4, 5)
def powell_loop(x):
    s = 0.0
    for i in range(0, len(x), 4):
        s += (x[i] + 10 * x[i + 1]) ** 2 + 5 * (x[i + 2] - x[i + 3]) ** 2
        s += (x[i + 1] - 2 * x[i + 2]) ** 4 + 10 * (x[i] - x[i + 3]) ** 4
    return s


@objective(5, 0, math.pi)
def michalewicz(x):
    i = np.arange(1, len(x) + 1)
    return -np.sum(np.sin(x) * np.sin(i * x**2 / np.pi) ** 20)


@objective(5, 0, math.pi)
def michalewicz_loop(x):
    return -sum(math.sin(x[i]) * math.sin((i + 1) * x[i] ** 2 / math.pi) ** 20 for i in range(len(x)))


@objective(4, -500, 500)
def schwefel(x):
    return 418.9829 * len(x) - np.sum(x * np.sin(np.sqrt(np.abs(x))))


@objective(4, -500, 500)
def schwefel_loop(x):
    d = len(x)
    return 418.9829 * d - sum([xi * math.sin(math.sqrt(abs(xi))) for xi in x])


@objective(5, -10, 10)
def schwefel_222(x):
    return np.abs(x).sum() + np.abs(x).prod()


@objective(6, -32, 32)
def ackley_textbook(x, a=20, b=0.2, c=2 * np.pi):
    d = len(x)
    return -a * np.exp(-b * np.sqrt(np.sum(x**2) / d)) - np.exp(np.sum(np.cos(c * x)) / d) + a + np.exp(1)


@objective(2, -512, 512)
def egg_holder(x):
    x1, x2 = x
    return -(x2 + 47) * np.sin(np.sqrt(np.abs(x2 + x1 / 2 + 47))) - x1 * np.sin(np.sqrt(np.abs(x1 - (x2 + 47))))


@objective(2)
def goldstein_price(x):
    a, b = x[0], x[1]
    p = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    q = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return p * q


@objective(6, 0, 1)
def hartmann6(x):
    outer = 0
    for i in range(4):
        inner = 0
        for j in range(6):
            inner = inner + HART_A[i, j] * (x[j] - HART_P[i, j]) ** 2
        outer = outer + HART_C[i] * np.exp(-inner)
    return -outer


@objective(6, 0, 1)
def hartmann6_vector(x):
    return -np.dot(HART_C, np.exp(-np.sum(HART_A * (x - HART_P) ** 2, axis=1)))


@objective(4, 0, 10)
def shekel(x):
    return -np.sum(1 / (np.sum((x - SHEKEL_A) ** 2, axis=1) + SHEKEL_C))


@objective(6, 0.5, 2.5)
def lennard_jones(x):
    r = x.reshape(-1, 3)
    e = 0.0
    for i in range(len(r)):
        for j in range(i):
            d2 = np.sum((r[i] - r[j]) ** 2)
            e += d2**-6 - 2 * d2**-3
    return e


@objective(9, 0.5, 4)
def lennard_jones_vector(x):
    r = x.reshape((3, 3))
    i, j = np.triu_indices(3, 1)
    d2 = ((r[i] - r[j]) ** 2).sum(axis=-1)
    return (1 / d2**6 - 2 / d2**3).sum()


@objective(2, -5, 5)
def himmelblau(v):
    x, y = v
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2


@objective(2, -10, 10)
def easom(x):
    return -np.cos(x[0]) * np.cos(x[1]) * np.exp(-((x[0] - np.pi) ** 2) - (x[1] - np.pi) ** 2)


@objective(2, -5, 5)
def six_hump_camel(x):
    x1, x2 = x[0], x[1]
    return (4 - 2.1 * x1**2 + x1**4 / 3) * x1**2 + x1 * x2 + (-4 + 4 * x2**2) * x2**2


@objective(2, -5, 15)
def branin(x):
    a, b, c, r, s, t = 1, 5.1 / (4 * np.pi**2), 5 / np.pi, 6, 10, 1 / (8 * np.pi)
    return a * (x[1] - b * x[0] ** 2 + c * x[0] - r) ** 2 + s * (1 - t) * np.cos(x[0]) + s


@objective(4, -10, 10)
def colville(x):
    return (100 * (x[0] ** 2 - x[1]) ** 2 + (x[0] - 1) ** 2 + (x[2] - 1) ** 2 + 90 * (x[2] ** 2 - x[3]) ** 2
            + 10.1 * ((x[1] - 1) ** 2 + (x[3] - 1) ** 2) + 19.8 * (x[1] - 1) * (x[3] - 1))  # fmt: skip


@objective(3, -1, 1)
def sum_of_different_powers(x):
    return np.sum(np.abs(x) ** (np.arange(len(x)) + 2))


@objective(4, -3, 3)
def permdb(x):
    n = len(x)
    total = 0
    for i in range(1, n + 1):
        inner = sum((j**i + 0.5) * ((x[j - 1] / j) ** i - 1) for j in range(1, n + 1))
        total += inner**2
    return total


@objective(2, -100, 100)
def schaffer2(x):
    s = x[0] ** 2 + x[1] ** 2
    return 0.5 + (np.sin(x[0] ** 2 - x[1] ** 2) ** 2 - 0.5) / (1 + 0.001 * s) ** 2


@objective(6, -100, 100)
def schaffer_f7(x):
    si = np.sqrt(x[:-1] ** 2 + x[1:] ** 2)
    return (np.mean(np.sqrt(si) * (np.sin(50 * si**0.2) + 1))) ** 2


# Branches


@objective(4)
def branch_where(x):
    return np.sum(np.where(x > 0, x**2, -3 * x))


@objective(4)
def branch_select(x):
    return np.select([x < -1, x < 0, x >= 1], [-x - 1, x**2, np.log(1 + abs(x))], default=0.5).sum()


@objective(4)
def branch_piecewise(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda t: -t, lambda t: t**2]).sum()


@objective(5)
def branch_masks(x):
    out = np.zeros_like(x)
    m = x > 0.3
    out[m] = x[m] ** 2 + 1
    out[~m] = -x[~m]
    return out.sum() + np.sum(x[m])


@objective(3)
def branch_product_of_conditions(x):
    return ((x > 0) * x**2 + (x <= 0) * (-x)).sum() + 1.0 * (x[0] > x[1])


@objective(3)
def branch_nested(x):
    return np.where(np.logical_and(x[0] > 0, x[1] > 0), x[2], np.where(x[0] < -1, x[0] * x[1], x[1] ** 2))


@objective(3)
def penalty(x):
    g = x[0] + x[1] - 1
    return x[2] ** 2 + 100 * np.maximum(0, g) ** 2 + 10 * max(0, -x[0]) ** 2 + min(x[1], 0, x[2])


@objective(4, -3, 3)
def clip_and_steps(x):
    return np.clip(x, -1, 1.5).sum() + np.heaviside(x - 0.5, 0.5).sum() + np.sign(x).sum() * 0.1


@objective(3, -3, 3)
def steps(x):
    return np.floor(x).sum() + np.ceil(x[0] * 2) + np.sum(np.mod(x, 0.7)) + (x[1] % 2) + x[2] // 3 + np.round(x[0], 1)


@objective(3)
def huber(r):
    delta = 0.8
    a = np.abs(r)
    return np.sum(np.where(a <= delta, 0.5 * r * r, delta * (a - 0.5 * delta)))


@objective(4)
def any_and_all(x):
    return np.where((x > 0).any() & ~(x > 1).all(), x.sum(), x @ x) + np.count_nonzero(x > 0.5)


# Matrices and shapes


@objective(4)
def quadratic_form(x):
    return 0.5 * x @ A4 @ x - B4 @ x


@objective(4)
def quadratic_form_dot(x):
    return 0.5 * np.dot(x.T, np.dot(A4, x)) - B4.dot(x)


@objective(4)
def quadratic_form_einsum(x):
    return np.einsum("i,ij,j", x, A4, x) - np.einsum("i,i->", B4, x)


@objective(4)
def residual_norm(x):
    return np.linalg.norm(A4 @ x - B4) + np.linalg.norm(x, 1) + np.linalg.norm(x, np.inf)


@objective(6)
def matrix_of_x(x):
    m = x.reshape(2, 3)
    return np.sum(m @ m.T) + m.sum(axis=0).prod() + m.max(axis=1).sum() + (m**2).mean(axis=1)[0] + np.trace(m[:, :2])


@objective(3)
def outer_products(x):
    return np.sum(np.outer(x, x) * np.eye(3)) + np.inner(x, [1, 2, 3]) + np.tensordot(x, x, axes=1) + np.vdot(x, x)


@objective(4)
def broadcast_pairs(x):
    d = x[:, None] - x[None, :]
    return np.sum(d**2) / 2 + np.abs(x[:, np.newaxis] * x).sum()


@objective(4)
def joined(x):
    y = np.concatenate([x, [1.0, 2.0], x[::-1]])
    z = np.hstack((x[:2], 5.0, np.append(x[2:], 1)))
    return np.sum(y * np.arange(10)) + np.stack([x, 2 * x]).sum(axis=0)[1] ** 2 + np.sum(z**2) + np.vstack([x, x]).min()


@objective(5)
def rolled(x):
    return np.sum((x - np.roll(x, 1)) ** 2) + np.sum(np.diff(x) ** 2) + np.flip(x)[0] * x[-1] + np.diff(x, n=2).sum()


@objective(5)
def running(x):
    return np.sum(np.cumsum(x) ** 2) + np.cumprod(x)[-1] + np.cumsum(x.reshape(5, 1) * np.ones(2), axis=0).max()


@objective(6)
def indexed(x):
    return x[[0, 2, 4]].sum() + x[np.array([1, -1])].prod() + x[1:-1:2] @ x[-2::-2][:2] + x[np.arange(6) % 2 == 0].max()


@objective(4)
def moments(x):
    return x.mean() + x.std() * 2 + x.var(ddof=1) + np.ptp(x) + x.max() - x.min() + np.average(x, weights=[1, 2, 3, 4])


@objective(4)
def determinant_2x2(x):
    m = np.array([[x[0], x[1]], [x[2], x[3]]])
    return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0] + m.T[1, 0] ** 2


@objective(3)
def rotation(x):
    c, s = np.cos(x[2]), np.sin(x[2])
    r = np.array([[c, -s], [s, c]])
    v = r @ x[:2]
    return v[0] ** 2 + 10 * v[1] ** 2


@objective(4)
def column_and_row(x):
    m = np.zeros((2, 2))
    m[0, :] = x[:2]
    m[:, 1] += x[2:] ** 2
    m[1] = m[1] * 2 + 1
    return m.ravel().dot(np.array([1.0, 2, 3, 4])) + m.T.flatten()[1]


# Loops, helpers, state


@objective(5)
def item_assignment(x):
    y = np.empty(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + math.sin(x[i])
    return np.sum(y**2)


@objective(4)
def in_place(x):
    y = x.copy()
    y -= 1
    y[1:] *= x[:-1]
    y[0] += 3
    z = y
    z /= 2
    return y.sum()


@objective(4)
def lists(x):
    terms = []
    for a, b in zip(x[:-1], x[1:], strict=True):  # noqa: RUF007
        terms.append((a - b) ** 2)
    return sum(terms) + np.sum([abs(t) for t in x]) + np.array(terms).max()


@objective(4)
def enumerated(x):
    return sum(i * v**2 for i, v in enumerate(x, start=1)) + functools.reduce(lambda a, b: a * b, x)


@objective(3)
def imports_inside(x):
    import math as m

    import numpy as numpy_inside
    from numpy import cosh

    return m.exp(x[0]) + numpy_inside.zeros(3).sum() + cosh(x[1]) + numpy_inside.sum(numpy_inside.asarray(x) ** 3)


@objective(3)
def bare_names(x):
    return sin(x[0]) + exp(x[1]) + mcos(x[2])


@objective(3)
def helper_module(x):
    return bump(x[0], 0.5) + objective_helpers.bump(x[1], 0.1, width=2) + objective_helpers.spread(x).sum()


@objective(2, 0.2, 3)
def math_everything(x):
    a, b = x
    return (math.log(a) + math.log(b, 2) + math.log10(a) + math.log2(b) + math.log1p(a) + math.expm1(b) + math.pow(a, b)
            + math.atan2(a, b) + math.hypot(a, b) + math.fabs(a - b) + math.floor(a) + math.ceil(b) + math.tanh(a)
            + math.asinh(b) + math.fsum([a, b]) + math.prod([a, b]) + math.radians(a)
            + math.dist((a, b), (1, 2)))  # fmt: skip


@objective(2, 0.2, 0.9)
def numpy_everything(x):
    a, b = x
    return (np.arcsin(a) + np.arccos(b) + np.arctan(a) + np.arctan2(a, b) + np.arcsinh(a) + np.arctanh(b) + np.cbrt(a)
            + np.arccosh(1 + a) + np.log2(a) + np.log10(b) + np.exp2(a) + np.log1p(b) + np.expm1(a) + np.hypot(a, b)
            + np.tan(a) + np.sinh(b) + np.square(a) + np.reciprocal(b) + np.logaddexp(a, b) + np.sinc(a)
            + np.fmod(a, 0.3) + np.deg2rad(b) + np.rint(a) + np.trunc(3 * b) + np.copysign(a, b - 0.5))  # fmt: skip


class Counted:
    """An objective that counts its calls and keeps what it saw."""

    def __init__(self, centre: Any) -> None:
        self.centre = np.asarray(centre, float)
        self.calls = 0
        self.work = [math.sin, np.cos]

    def shift(self, x: Any) -> Any:
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = x[i] - self.centre[i]
        return y

    def fun(self, x: Any) -> Any:
        self.calls += 1
        y = self.shift(x)
        return np.sum(y**2) + self.work[0](x[0]) + self.work[1](x[1])

    def __call__(self, x: Any) -> Any:
        return self.fun(x) + 1


class Heavier(Counted):
    def fun(self, x: Any) -> Any:
        return 2 * super().fun(x) + self.scale

    @property
    def scale(self) -> float:
        return math.sqrt(4.0)


def make_closure(shift: float, power: int) -> Callable[[Any], Any]:
    count = 0

    def g(t: Any) -> Any:
        return math.cos(t) ** power

    def f(x: Any) -> Any:
        nonlocal count
        count += 1
        return sum(g(t - shift) for t in x)

    return f


def with_args(x, a, b, c=1.0):
    return a * np.sum((x - b) ** 2) + c


add("bound method", Counted([0.1, 0.2, 0.3]).fun, 3)
add("callable object", Counted([0.1, 0.2, 0.3]), 3)
add("inherited method", Heavier([0.1, 0.2, 0.3]).fun, 3)
add("closure", make_closure(0.4, 2), 3)
add("partial", functools.partial(with_args, a=2.0, b=np.array([1.0, 2.0, 3.0])), 3)
add("args", with_args, 3, args=(3.0, np.array([0.5, 0.5, -0.5])))
add("lambda", lambda x: (x[0] - 1) ** 2 + abs(x[1]) ** 1.5, 2)
add("one variable", lambda x: np.sin(x) + np.sin(10 * x / 3), 1, 2.7, 7.5)


# Data fitting


@objective(3, 0, 3)
def fit_exponential(p):
    return np.sum((p[0] * np.exp(-p[1] * T) + p[2] - Y) ** 2)


@objective(3, 0.1, 3)
def fit_logistic(p, t=T, y=Y):
    model = p[0] / (1 + np.exp(-p[1] * (t - p[2])))
    r = y - model
    return r.dot(r) / len(r)


@objective(6, 0.2, 2)
def fit_peaks(p):
    model = np.zeros_like(T)
    for k in range(0, 6, 3):
        model = model + p[k] * np.exp(-(((T - p[k + 1]) / p[k + 2]) ** 2))
    return np.mean((Y - model) ** 2)


@objective(2)
def fit_line_loop(p):
    a, b = p
    err = 0
    for t, y in zip(T, Y, strict=True):
        err += (a * t + b - y) ** 2
    return math.sqrt(err / len(T))


@objective(4)
def fit_polynomial(p):
    return np.linalg.norm(np.vander(T / 4, 4) @ p - Y) ** 2 + np.polyval(p, 0.5)


@objective(2, -3, 3)
def logistic_loss(w):
    data = np.array([[1.0, 0.5], [-0.5, 1.0], [0.3, -2.0]])
    labels = np.array([1, -1, 1])
    return np.log1p(np.exp(-labels * (data @ w))).sum() + 0.1 * w @ w


@objective(5, 0.01, 1)
def photovoltaic(p):
    iph, isd, rs, rsh, n = p
    v = np.array([-0.2, 0.1, 0.3, 0.5])
    i = np.array([0.76, 0.75, 0.7, 0.4])
    vt = 1.380649e-23 * 306.15 / 1.602176634e-19
    current = iph - 1e-6 * isd * (np.exp((v + i * rs) / ((1 + n) * vt)) - 1) - (v + i * rs) / (100 * rsh)
    return np.sqrt(np.mean((i - current) ** 2))


@objective(3, 0.5, 3.5)
def interpolated(x):
    return np.interp(x[0], [0, 1, 2, 4], [1.0, 0.0, 3.0, 2.0]) + np.interp(x, T, Y).sum()


@objective(3)
def trapezoid(p):
    return getattr(np, "trapezoid" if hasattr(np, "trapezoid") else "trapz")(p[0] * np.sin(T) + p[1] * T**2 - p[2], T)


# Exact constants and powers


@objective(4, -5, 5)
def exact_rastrigin(x):
    return exact("10") * len(x) + np.sum(x**2 - 10 * np.cos(2 * pi * x)) + e - exact(1, 3)


@objective(3, 0.1, 2)
def powers(x):
    return (
        x[0] ** -2
        + x[1] ** 0.5
        + x[2] ** 1.5
        + 2 ** x[0]
        + x[1] ** x[2]
        + x[0] ** 3.0
        + np.power(x, 2).sum()
        + 1 / x[0]
    )


@objective(4)
def array_exponents(x):
    return (
        np.sum(x ** np.array([1, 2, 3, 2]))
        + np.sum(np.abs(x) ** np.array([0.5, 1.5, 2.5, 1.0]))
        + np.sum(x ** [2, 2, 2, 2])
    )


@objective(3)
def constants_on_either_side(x):
    return (
        np.sum(np.array([1, 2, 3]) - x)
        + (1.5 / (2 + x**2)).sum()
        + np.float64(2) * x[0]
        - np.float32(0.5) * x[1]
        + -x[2]
    )


@objective(2)
def vectorised_scalar_function(x):
    return np.vectorize(lambda t: math.sin(t) if True else 0)(x).sum() + np.apply_along_axis(np.sum, 0, x)


@objective(3)
def ufunc_methods(x):
    return np.add.reduce(x) + np.multiply.reduce(x) + np.maximum.reduce(x) + np.subtract.outer(x, x).max()


@objective(3)
def min_of_terms(x):
    best = np.inf
    for c in (-1.0, 0.0, 1.0):
        best = min(best, np.sum((x - c) ** 2) + c)
    return best


@objective(4)
def sum_of_python_objects(x):
    class Point:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def norm2(self):
            return self.a**2 + self.b**2

    return sum(Point(x[i], x[i + 1]).norm2() for i in range(0, 4, 2))


@objective(10)
def neural_network(w):
    hidden = np.tanh(np.array([[0.5], [1.0], [-1.0]]) @ w[:3].reshape(1, 3) + w[3:6])
    out = hidden @ w[6:9] + w[9]
    return np.mean((out - np.array([0.1, 0.4, -0.2])) ** 2)


@objective(6, -1, 1)
def discretised_energy(u):
    full = np.concatenate(([0.0], u, [1.0]))
    h = 1 / (len(full) - 1)
    return np.sum((full[1:] - full[:-1]) ** 2) / (2 * h) + h * np.sum(full[1:-1] ** 4 - full[1:-1])


# Further habits


@dataclass
class Material:
    """A user's record with methods."""

    stiffness: float
    load: Any

    def energy(self, u: Any) -> Any:
        return self.stiffness * math.sin(u[0]) + self.load.dot(u)


@dataclass(frozen=True, slots=True)
class Spring:
    stiffness: float

    def energy(self, u: Any) -> Any:
        return 0.5 * self.stiffness * math.pow(u[0], 2)


STEEL, COIL = Material(2.0, np.arange(3.0)), Spring(3.0)
WEIGHTS = np.polynomial.Polynomial([1.0, 2.0, -0.5])
FUNCTIONS = {"wave": math.sin, "hill": np.cosh}


@objective(3)
def records(x):
    return STEEL.energy(x) + COIL.energy(x) + Spring(1.5).energy(x[1:])


@objective(3)
def table_of_functions(x):
    return sum(f(t) for f, t in zip(FUNCTIONS.values(), x, strict=False)) + WEIGHTS(x[2]) + np.poly1d([1, 2])(x[0])


@objective(4)
def split_and_product(x):
    u, v = np.split(x, 2)
    a, _ = x.reshape(2, 2)
    return u @ v + np.cross([1, 2, 3], np.append(a, 1.0)).sum() + np.kron(u, v).sum()


@objective(3)
def kernel(x):
    z = np.linspace(0, 1, 11)
    return np.exp(-(np.subtract.outer(z, x) ** 2)).sum(axis=0) @ np.ones(3)


@objective(3)
def aliases(x):
    a = np.ones(3) * 2
    a[1] = x[0]
    a += x
    b = a
    b *= 2
    return a.sum()


@objective(3)
def decorated(x):
    @np.vectorize
    def g(t):
        return t**2

    return g(x).sum()


@objective(3)
def joined_by_r_and_c(x):
    return np.r_[x, 1.0, 2.0].sum() + np.c_[x, x].sum() + np.tile(x, 2)[4] + np.repeat(x, 2)[3]


@objective(3)
def keys(x):
    return x[..., 0] + x[None, :][0, 1] + x[-1:][0] + x[(1,)] * x[np.int64(2)]


@objective(3)
def constant_linear_algebra(x):
    a = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]])
    return np.linalg.solve(a, np.ones(3)) @ x + np.linalg.inv(a).dot(x).sum()


@objective(3)
def careful(x):
    x = np.asarray(x, dtype=float)
    if not isinstance(x, np.ndarray) or x.ndim != 1 or np.any(np.isnan(x)):
        return np.nan
    with np.errstate(all="ignore"):
        return np.log(np.abs(x) + 1).sum()


@objective(3)
def convolved(x):
    return np.convolve(x, [1, 2], mode="same").sum() + np.convolve(x, [1, 2, 1])[2] + np.gradient(np.arange(3.0)) @ x


@objective(3)
def with_out(x):
    out = np.empty_like(x)
    np.multiply(x, 2, out=out)
    np.add(out, x, out=out)
    return out.sum() + np.sum(np.fromiter((t * t for t in x), float))


@objective(3)
def column_vector(x):
    c = x.reshape(-1, 1)
    return c.T @ np.eye(3) @ c


@objective(3)
def counting_conditions(x):
    return (x > 0).sum() + (~(x > 0)).mean() + ((x > 0) & (x < 1)).any() + ((x > 0) ^ (x < 1)).all() * 2.0


@objective(3)
def triangles(x):
    m = np.outer(x, x)
    return np.sum(np.triu(m, 1)) + np.diag(m).sum() + np.diag(x)[1, 1] + np.pad(x, 1)[1] + np.tril(m)[2, 0]


@objective(2)
def python_numbers(x):
    return round(x[0]) + round(x[1], 2) + divmod(x[0], 2)[1] + pow(x[1], 2) + x[0].item() + np.size(x)


@objective(2)
def nested_lists(x):
    return np.sum((x[0], x[1])) + np.max([x[0], 0]) + np.sum([[x[0], 1], [2, x[1]]]) + np.full(2, x[0]).prod()


@objective(3, 0.1, 1.5)
def lists_as_vectors(x):
    y = [0.0] * 3
    for i in range(3):
        y[i] = x[i] * 2
    y = np.array(y)
    y[y < 0.5] = 0
    return np.dot(y, y)


@objective(5, -0.5, 0.5)
def weierstrass(x):
    a, b = 0.5, 3
    k = np.arange(12)
    shift = len(x) * np.sum(a**k * np.cos(np.pi * b**k))
    return np.sum(np.sum(a**k * np.cos(2 * np.pi * b**k * (x[:, None] + 0.5)), axis=1)) - shift


@objective(4, -5, 5)
def katsuura(x):
    product = 1
    for i in range(len(x)):
        s = 0
        for k in range(1, 17):
            s += abs(2**k * x[i] - round(2**k * x[i])) / 2**k
        product *= 1 + (i + 1) * s
    return product


@objective(2, 0, 10)
def langermann(x):
    a = np.array([[3, 5], [5, 2], [2, 1], [1, 4], [7, 9]])
    d = np.sum((x - a) ** 2, axis=1)
    return np.sum(np.array([1, 2, 5, 2, 3]) * np.exp(-d / np.pi) * np.cos(np.pi * d))


@objective(6)
def nearest_facilities(x):
    p, c = x.reshape(-1, 2), np.array([[0.0, 0], [1, 1]])
    d = np.linalg.norm(p[:, None, :] - c[None, :, :], axis=2)
    return d.min(axis=1).sum() + np.sqrt(((p[1:] - p[:-1]) ** 2).sum(axis=1)).sum()


@objective(3)
def strided_assignment(x):
    y = np.zeros(6)
    y[::2] = x
    y[1::2] = x[::-1]
    y[2:4] = [x[0], 1.0]
    z = np.zeros(2)
    np.add.at(z, [0, 1, 0], x)
    return y @ np.arange(6) + z[0] * z[1]


def _squares(x: Any) -> Any:
    for t in x:
        yield t**2


def _recursive(x: Any, i: int) -> Any:
    return x[i] ** 2 + (_recursive(x, i - 1) if i > 0 else 0)


@functools.lru_cache
def _coefficient(k: int) -> float:
    return math.factorial(k) + 0.5


@objective(3)
def generators_and_recursion(x):
    return sum(_squares(x)) + _recursive(x, 2) + sum(_coefficient(i) * x[i] for i in range(3))


@objective(3, 0.2, 2)
def guarded(x):
    try:
        weights = np.array(HART_C[:3])
    except IndexError:
        return 1e10
    return math.log(x[0] + 5) + (s := np.sum(weights * x)) * s


class Shape(abc.ABC):
    """A user's family of models."""

    scale = np.array([1.0, 2.0, 3.0])

    @abc.abstractmethod
    def term(self, t: Any) -> Any: ...

    def __call__(self, x: Any) -> Any:
        return sum(self.term(t) for t in x) + self.offset(x) + self.weighted()(x)

    @staticmethod
    def offset(x: Any) -> Any:
        return math.sin(x[0])

    @classmethod
    def weighted(cls) -> Any:
        return lambda x: (cls.scale * x).sum()


class Catenary(Shape):
    def term(self, t: Any) -> Any:
        return math.cosh(t)


add("abstract class", Catenary(), 3)

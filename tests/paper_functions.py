"""The paper's twelve functions, in vector style and in loop style, with their domains."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.exact.number import e, exact, pi

Function = Callable[[Any], Any]


def ackley(x: Any) -> Any:
    return -20 * np.exp(-0.02 * np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(2 * pi * x))) + 20 + e


def belegundu(x: Any) -> Any:
    r = np.sum((x - 5) ** 2)
    return 0.1 * r - np.cos(5 * np.sqrt(r))


def breiman(x: Any) -> Any:
    return -0.1 * np.sum(np.cos(5 * pi * x)) + np.sum(x**2)


def fu(x: Any) -> Any:
    t = (x - 0.9) ** 2
    return 1 + np.sum(8 * np.sin(7 * t) ** 2 + 6 * np.sin(14 * t) ** 2 + t)


def griewank(x: Any) -> Any:
    roots = np.sqrt(exact(np.arange(1, len(x) + 1)))
    return 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / roots))


def levy(x: Any) -> Any:
    y = 1 + 0.25 * (x - 1)
    rest = np.sum((y[:-1] - 1) ** 2 * (1 + 10 * np.sin(pi * y[1:]) ** 2))
    return pi / len(x) * (10 * np.sin(pi * y[0]) ** 2 + (y[-1] - 1) ** 2 + rest)


def rastrigin(x: Any) -> Any:
    return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * pi * x))


def salomon(x: Any) -> Any:
    r = np.sqrt(np.sum(x**2))
    return 1 - np.cos(2 * pi * r) + 0.1 * r


def styblinski(x: Any) -> Any:
    n = len(x)
    return np.sum(x**2) / (2 * n) - 4 * n * np.prod(np.cos(x))


def zabinsky(x: Any) -> Any:
    return -2.5 * np.prod(np.sin(x - pi / 6)) - np.prod(np.sin(5 * (x - pi / 6)))


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[:-1] ** 2 - x[1:]) ** 2 + (x[:-1] - 1) ** 2)


def discontinuous(x: Any) -> Any:
    return np.where(np.all(np.abs(x - 1.5) <= 0.5e-6), -1, levy(x))


def ackley_loop(x: Any) -> Any:
    n = len(x)
    squares = cosines = 0.0
    for i in range(n):
        squares += x[i] ** 2
        cosines += np.cos(2 * pi * x[i])
    return -20 * np.exp(-0.02 * np.sqrt(squares / n)) - np.exp(cosines / n) + 20 + e


def belegundu_loop(x: Any) -> Any:
    r = sum((t - 5) ** 2 for t in x)
    return 0.1 * r - np.cos(5 * np.sqrt(r))


def breiman_loop(x: Any) -> Any:
    cosines = squares = 0
    for t in x:
        cosines += np.cos(5 * pi * t)
        squares += t * t
    return -0.1 * cosines + squares


def fu_loop(x: Any) -> Any:
    total = 1
    for i in range(len(x)):
        t = (x[i] - 0.9) ** 2
        total += 8 * math.sin(7 * t) ** 2 + 6 * math.sin(14 * t) ** 2 + t
    return total


def griewank_loop(x: Any) -> Any:
    total, product = 1, 1
    for i in range(len(x)):
        total += x[i] ** 2 / 4000
        product *= np.cos(x[i] / np.sqrt(exact(i + 1)))
    return total - product


def levy_loop(x: Any) -> Any:
    n = len(x)
    y = [1 + 0.25 * (t - 1) for t in x]
    total = 10 * np.sin(pi * y[0]) ** 2 + (y[n - 1] - 1) ** 2
    for i in range(n - 1):
        total += (y[i] - 1) ** 2 * (1 + 10 * np.sin(pi * y[i + 1]) ** 2)
    return pi / n * total


def rastrigin_loop(x: Any) -> Any:
    total = 10 * len(x)
    for i in range(len(x)):
        total += x[i] ** 2 - 10 * np.cos(2 * pi * x[i])
    return total


def salomon_loop(x: Any) -> Any:
    r = 0
    for t in x:
        r = r + t**2
    r = math.sqrt(r)
    return 1 - np.cos(2 * pi * r) + 0.1 * r


def styblinski_loop(x: Any) -> Any:
    n = len(x)
    squares, product = 0.0, 1.0
    for t in x:
        squares += t * t
        product *= math.cos(t)
    return squares / (2 * n) - 4 * n * product


def zabinsky_loop(x: Any) -> Any:
    first = second = 1.0
    for t in x:
        first = first * np.sin(t - pi / 6)
        second = second * np.sin(5 * (t - pi / 6))
    return -2.5 * first - second


def rosenbrock_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total += 100 * (x[i] ** 2 - x[i + 1]) ** 2 + (x[i] - 1) ** 2
    return total


def discontinuous_loop(x: Any) -> Any:
    inside = True
    for t in x:
        inside = np.logical_and(inside, np.abs(t - 1.5) <= 0.5e-6)
    return np.where(inside, -1, levy_loop(x))


_PI = math.pi

# name: (vector style, loop style, lower bound, upper bound)
FUNCTIONS: dict[str, tuple[Function, Function, float, float]] = {
    "ackley": (ackley, ackley_loop, -35, 40),
    "belegundu": (belegundu, belegundu_loop, -10, 11),
    "breiman": (breiman, breiman_loop, -1, 2),
    "fu": (fu, fu_loop, -10, 10),
    "griewank": (griewank, griewank_loop, -100, 110),
    "levy": (levy, levy_loop, -10, 10),
    "rastrigin": (rastrigin, rastrigin_loop, -5.5, 6),
    "salomon": (salomon, salomon_loop, -100, 110),
    "styblinski": (styblinski, styblinski_loop, -10, 11),
    "zabinsky": (zabinsky, zabinsky_loop, 0, _PI),
    "rosenbrock": (rosenbrock, rosenbrock_loop, -30, 30),
    "discontinuous": (discontinuous, discontinuous_loop, -10, 10),
}

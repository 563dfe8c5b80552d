"""Random functions with jumps, truth values read as numbers, kinks and edges of definition; and what contradicts claims.

Constants and ends of boxes are multiples of 1/4, so that jumps and kinks fall on the ends of boxes all the time. What is
true is read from the traced graph in ball arithmetic, at points of a box and at a distance of 2^-300 from them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import exact_values
from exact_values import Undecided
from infimum.function import Function, trace
from infimum.graph.node import Node
from infimum.graph.trace import trace_graph

F = Callable[[Any], Any]
NEAR = Fraction(1, 2**300)
BITS = 1024


class Jumpy(NamedTuple):
    """A random function: as text, as the tracer left it, and as a Function."""

    text: str
    f: F
    n: int
    raw: Node
    function: Function


def quarter(rng: np.random.Generator, low: int = -8, high: int = 8) -> float:
    return float(rng.integers(low, high + 1)) / 4


class _Maker:
    """Formulas as Python text, numbers and truth values apart, as deep as asked for."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng = rng
        self.n = n

    def _one(self, *choices: Callable[[], str]) -> str:
        return choices[int(self.rng.integers(len(choices)))]()

    def number(self, depth: int) -> str:
        if depth == 0:
            return self._one(self._x, self._x, lambda: repr(quarter(self.rng)))
        a, c = lambda: self.number(depth - 1), lambda: self.truth(depth - 1)
        return self._one(
            lambda: f"({a()} {self._one(*map(lambda s: lambda: s, '+-*'))} {a()})",
            lambda: f"({c()}) * {a()}",
            lambda: f"np.where({c()}, {a()}, {a()})",
            lambda: f"np.where({c()}, {a()}, {a()})",
            lambda: f"np.where({c()}, {a()}, np.where({c()}, {a()}, {a()}))",
            lambda: f"np.{self._word('floor ceil trunc rint sign abs square')}({a()})",
            lambda: f"np.{self._word('sqrt log arcsin reciprocal cbrt exp sin')}({a()})",
            lambda: f"np.{self._word('minimum maximum')}({a()}, {a()})",
            lambda: f"np.mod({a()}, {quarter(self.rng, 1, 6)!r})",
            lambda: f"({a()}) ** {self._word('0 1 2 3 -1 -2')}",
            lambda: f"np.arctan2({a()}, {a()})",
            lambda: f"np.max(np.array([{a()}, {a()}, {a()}]))",
        )

    def truth(self, depth: int) -> str:
        if depth == 0:
            return f"({self._x()} {self._word('< <= > >= == !=')} {quarter(self.rng)!r})"
        a, c = lambda: self.number(depth - 1), lambda: self.truth(depth - 1)
        return self._one(
            lambda: f"({a()} {self._word('< <= > >= == !=')} {a()})",
            lambda: f"({a()} {self._word('< <= > >=')} {quarter(self.rng)!r})",
            lambda: f"({c()} {self._word('& | ^')} {c()})",
            lambda: f"(~{c()})",
            lambda: f"({c()} * 1.0 > 0.5)",
            lambda: f"({c()}.astype(float) > 0.5)",
            lambda: f"({c()} > 0.5)",
            lambda: f"({c()} * 1.0 + {c()} * 2.0 >= {self._word('1 2 3')})",
            lambda: f"np.where({c()}, {c()}, {c()})",
            lambda: f"(np.floor({a()}) > {quarter(self.rng)!r})",
            lambda: f"np.any(np.array([{c()}, {c()}]))",
        )

    def _x(self) -> str:
        return f"x[{self.rng.integers(self.n)}]"

    def _word(self, words: str) -> str:
        return str(self.rng.choice(words.split()))


def jumpy(seed: int) -> Jumpy | None:
    """A random function of one or two variables; None where NumPy or the tracer refuses it."""
    rng = np.random.default_rng(seed)
    n = 1 if rng.random() < 0.7 else 2
    text = f"{_Maker(rng, n).number(int(rng.integers(1, 4)))} + 0.25 * x[0]"
    f = eval(f"lambda x: {text}", {"np": np})
    try:
        return Jumpy(text, f, n, trace_graph(f, n).output, trace(f, n))
    except Exception:  # whether a formula is refused is no matter of facts
        return None


def boxes(seed: int, n: int, count: int) -> list[list[tuple[float, float]]]:
    """Random boxes, their ends multiples of 1/4 or next to one; one in four is a point."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        box = []
        for _ in range(n):
            a, b = sorted([quarter(rng), quarter(rng)])
            b = a if rng.random() < 0.25 else b
            a, b = (float(np.nextafter(a, np.inf)) if rng.random() < 0.2 and a < b else a), max(a, b)
            box.append((a, b))
        found.append(box)
    return found


def samples(box: list[tuple[float, float]]) -> Iterator[tuple[Fraction, ...]]:
    """Points of a box: ends, middles, and every multiple of 1/4 in one variable's range."""
    sides = []
    for a, b in box:
        low, high = Fraction(a), Fraction(b)
        inside = [Fraction(k, 4) for k in range(-8, 9) if low <= Fraction(k, 4) <= high]
        few = inside if len(box) == 1 else inside[:: max(1, len(inside) // 3)]
        sides.append(sorted({low, high, (low + high) / 2, (3 * low + high) / 4, *few}))
    yield from itertools.product(*sides)


def value(f: Jumpy, point: tuple[Fraction, ...]) -> Any:
    """The value as a ball, None where there is none, "open" where balls cannot tell."""
    try:
        return exact_values.value(f.raw, point, BITS)
    except Undecided:
        return "open"


def steps(n: int) -> list[tuple[int, ...]]:
    return [d for d in itertools.product((-1, 0, 1), repeat=n) if any(d)]


def moved(point: tuple[Fraction, ...], direction: tuple[int, ...], by: Fraction) -> tuple[Fraction, ...]:
    return tuple(p + d * by for p, d in zip(point, direction, strict=True))


def false_facts(f: Jumpy, box: list[tuple[float, float]]) -> list[str]:
    """What of `defined`, `smooth` and the gradient on a box a sample contradicts."""
    defined, smooth = f.function.facts(box)
    slopes = np.atleast_2d(f.function.gradient(box).pairs())
    bad = []
    for point in samples(box):
        here = value(f, point)
        if isinstance(here, str):
            continue
        if here is None:
            bad += [f"{f.text} on {box}: claimed to be defined at {point}"] if defined else []
            bad += [f"{f.text} on {box}: claimed to be smooth at {point}"] if smooth else []
            continue
        for direction in steps(f.n):
            found = [value(f, moved(point, direction, k * NEAR)) for k in (1, 2)]
            if any(isinstance(v, str) for v in found):
                continue
            where = f"{f.text} on {box}: at {tuple(map(str, point))} towards {direction}"
            if None in found:
                bad += [f"{where}: smooth, yet undefined beside it"] if smooth else []
                continue
            with exact_values.precision(BITS):
                rate = (found[1] - found[0]) / exact_values.ball(NEAR)
                first = (found[0] - here) / exact_values.ball(NEAR)
                if smooth and bool(abs(first - rate) > (1 + abs(rate)) * exact_values.arb(2) ** -100):
                    bad.append(f"{where}: smooth, yet the slope there is {first.str(5)} and beyond {rate.str(5)}")
                if bool(abs(rate) < exact_values.arb(2) ** 100):
                    low, high = (_along(slopes, direction, side) for side in (-1, 1))
                    slack = (1 + abs(rate)) * exact_values.arb(2) ** -100
                    if bool(rate + slack < low) or bool(rate - slack > high):
                        bad.append(f"{where}: the slope {rate.str(5)} is not in the gradient {slopes.tolist()}")
    return bad


def _along(slopes: Any, direction: tuple[int, ...], side: int) -> Any:
    """One end of the slope along a direction, as a ball."""
    total = exact_values.arb(0)
    for (low, high), d in zip(slopes.tolist(), direction, strict=True):
        if d:
            total = total + d * exact_values.arb(low if d * side < 0 else high)
    return total


def lost(f: Jumpy, box: list[tuple[float, float]], result: Any) -> list[str]:
    """Points of the box whose value is below the minimum claimed, and minimisers in no box of the result."""
    bad = []
    lower, upper = float(result.minimum.lo), float(result.minimum.hi)
    for point in samples(box):
        here = value(f, point)
        if here is None or isinstance(here, str):
            continue
        if bool(here < exact_values.arb(lower)):
            bad.append(f"{f.text} on {box}: {here.str(8)} at {tuple(map(str, point))} is below {lower!r}")
        held = any(all(a <= p <= b for p, (a, b) in zip(point, one, strict=True)) for one in result.boxes)
        if not held and bool(here <= exact_values.arb(lower)):
            bad.append(f"{f.text} on {box}: the minimiser {tuple(map(str, point))} is in no box")
        if len(result.boxes) == 0:
            bad.append(f"{f.text} on {box}: no box, yet {here.str(8)} at {tuple(map(str, point))}")
    return bad

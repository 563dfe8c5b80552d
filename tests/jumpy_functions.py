"""Random functions with jumps, truth values read as numbers, kinks and edges; and what contradicts claims of them.

Constants and ends of boxes are multiples of 1/4, so that jumps and kinks fall on the ends of boxes all the time. What
is true is read from the traced graph in ball arithmetic, at points of a box and at a distance of 2^-300 from them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import exact_values
from exact_values import Undecided
from infimum.function.function import Function, trace
from infimum.graph.node import Node
from infimum.tracing.trace import trace_graph

F = Callable[[Any], Any]
Box = list[tuple[float, float]]
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
            lambda: f"np.{self._word('sum prod max min')}({self.vector(depth - 1)})",
        )

    def vector(self, depth: int) -> str:
        """An array like x."""
        if depth == 0:
            return self._word("x x x[::-1]")
        v, c = lambda: self.vector(depth - 1), lambda: repr(quarter(self.rng))
        return self._one(
            lambda: f"np.where({v()} {self._word('< <= > >= ==')} {c()}, {v()}, {v()})",
            lambda: f"({v()} {self._word('< <= > >= ==')} {c()}) * {v()}",
            lambda: f"np.{self._word('floor ceil sign sqrt log abs cumsum cumprod maximum.accumulate')}({v()})",
            lambda: f"({v()} + {self.number(0)} * {v()})",
            lambda: f"np.concatenate([{v()}[1:], np.zeros(1)])",
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
            lambda: f"np.all({self.vector(depth - 1)} {self._word('< >=')} {quarter(self.rng)!r})",
            lambda: f"(np.sum({self.vector(depth - 1)} > {quarter(self.rng)!r}) >= {self._word('1 2')})",
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
    try:
        with np.errstate(all="ignore"):
            return of_text(text, n)
    except Exception:  # whether a formula is refused is no matter of facts
        return None


def of_text(text: str, n: int = 1) -> Jumpy:
    """The function that a formula of x denotes."""
    f = eval(f"lambda x: {text}", {"np": np})
    return Jumpy(text, f, n, trace_graph(f, n).output, trace(f, n))


def contradicted(text: str, slopes: Callable[[Function, Box], Any] | None = None) -> list[str]:
    """What is claimed falsely of a function of one variable, on all boxes with ends at multiples of 1/2."""
    f = of_text(text)
    pairs = itertools.combinations_with_replacement([k / 2 for k in range(-2, 7)], 2)
    return [bad for a, b in pairs for bad in false_facts(f, [(a, b)], slopes or public_slopes)]


def public_slopes(function: Function, box: Box) -> Any:
    """The gradient as pairs (n, 2), as users have it."""
    return function.gradient(box).pairs()


def derived_slopes(function: Function, box: Box) -> Any:
    """The gradient as pairs (n, 2), as its graph has it."""
    lo, hi = np.array(box).T
    return np.stack(function.gradient_ends(lo[None], hi[None]), -1)[0]


def boxes(seed: int, n: int, count: int) -> list[Box]:
    """Random boxes, their ends multiples of 1/4 or next to one; one in four is a point."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        box = []
        for _ in range(n):
            a, b = sorted([quarter(rng), quarter(rng)])
            b = a if rng.random() < 0.25 else b
            a, b = (float(np.nextafter(a, np.inf)) if rng.random() < 0.2 and a < b and a else a), max(a, b)
            box.append((a, b))
        found.append(box)
    return found


def samples(box: Box) -> Iterator[tuple[Fraction, ...]]:
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


def false_facts(f: Jumpy, box: Box, gradient: Callable[[Function, Box], Any] = public_slopes) -> list[str]:
    """What of `defined`, `smooth` and the gradient on a box a sample contradicts."""
    defined, smooth = f.function.facts(box)
    slopes = gradient(f.function, box)
    bad = []
    for point in samples(box):
        here = value(f, point)
        if isinstance(here, str):
            continue
        if here is None:
            bad += [f"{f.text} on {box}: claimed to be defined at {point}"] if defined else []
            bad += [f"{f.text} on {box}: claimed to be smooth at {point}"] if smooth else []
            continue
        beside: dict[tuple[int, ...], Any] = {}
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
                back = beside.get(tuple(-d for d in direction), -first)
                beside[direction] = first
                for other in (rate, -back) if smooth else ():
                    if bool(abs(first - other) > (1 + abs(rate)) * exact_values.arb(2) ** -60):
                        bad.append(f"{where}: smooth, yet there are slopes {first.str(5)} and {other.str(5)}")
                behind = value(f, moved(point, direction, -NEAR))  # at an edge of definition there is no kink
                if behind is not None and bool(abs(rate) < exact_values.arb(2) ** 100):
                    low, high = (_along(slopes, direction, side) for side in (-1, 1))
                    slack = (1 + abs(rate)) * exact_values.arb(2) ** -60
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


def _held(left: Any, point: tuple[Fraction, ...]) -> bool:
    """Whether a box holds the point, or a double beside it where it is none."""
    x = np.array([float(p) for p in point])
    exact = np.array([Fraction(v) == p for v, p in zip(x, point, strict=True)])
    low, high = (np.where(exact, x, np.nextafter(x, side)) for side in (-np.inf, np.inf))
    return bool(((left[:, :, 0] <= high) & (left[:, :, 1] >= low)).all(1).any())


def lost(f: Jumpy, box: Box, result: Any) -> list[str]:
    """Points of the box whose value is below the minimum claimed, and minimisers in no box of the result."""
    bad = []
    lower, left = float(result.minimum.lo), np.asarray(result.boxes)
    for point in samples(box):
        here = value(f, point)
        if here is None or isinstance(here, str):
            continue
        if bool(here < exact_values.arb(lower)):
            bad.append(f"{f.text} on {box}: {here.str(8)} at {tuple(map(str, point))} is below {lower!r}")
        if len(left) == 0:
            bad.append(f"{f.text} on {box}: no box, yet {here.str(8)} at {tuple(map(str, point))}")
        elif bool(here <= exact_values.arb(lower)) and not _held(left, point):
            bad.append(f"{f.text} on {box}: the minimiser {tuple(map(str, point))} is in no box")
    return bad

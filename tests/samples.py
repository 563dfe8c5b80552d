"""Arguments for the operations of the core, the same on every machine: boxes where rounding and cases go wrong.

A batch holds some thousand boxes for one operation. Points come from five sources: any bit pattern, the range in which
the function is neither trivial nor overflows, the neighbourhood of critical points in units in the last place, values
whose results are exact, and values that belong to another operand (cancellation, quotients near integers, thresholds).
The hard cases, whose results are nearly doubles, come on top.
Around each point stands an interval: the point alone, a few units wide, wider, unbounded, touching zero, or empty.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import hard
from critical import MAX, NORMAL, TINY, Floats, Recipe, recipe

Operand = tuple[Floats, Floats]
Random = np.random.Generator

INF = math.inf


class Batch(NamedTuple):
    """Boxes for one operation; param is the exponent of pown and pown_rev."""

    op: str
    param: int
    operands: tuple[Operand, ...]

    def box(self, i: int) -> tuple[tuple[float, float], ...]:
        return tuple((float(lo[i]), float(hi[i])) for lo, hi in self.operands)


# --- doubles as integers -----------------------------------------------------------------------------------------


def ordinal(x: Floats) -> NDArray[np.int64]:
    """Number the doubles in order: neighbours differ by 1, zero is 0, infinity follows the largest."""
    bits = np.ascontiguousarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def from_ordinal(n: NDArray[np.int64]) -> Floats:
    bits = np.where(n < 0, np.int64(-(2**63)) - n, n)
    return np.ascontiguousarray(bits).view(np.float64) + 0.0


def step(x: Floats, n: NDArray[np.int64]) -> Floats:
    """Move each finite x by n doubles, stopping at the largest ones."""
    largest = np.int64(0x7FEFFFFFFFFFFFFF)
    return from_ordinal(np.clip(ordinal(x) + n, -largest, largest))


# --- points ------------------------------------------------------------------------------------------------------


def _offsets(random: Random, n: int) -> NDArray[np.int64]:
    """Mostly a few units, sometimes many."""
    reach = np.where(random.random(n) < 0.7, 2.0, 40.0)
    far: NDArray[np.int64] = np.rint(np.exp2(random.uniform(0, reach, n)) - 1).astype(np.int64)
    signs: NDArray[np.int64] = random.choice(np.array([-1, 1]), n)
    return far * signs


def _any_double(random: Random, n: int) -> Floats:
    x = random.integers(-(2**63), 2**63, n, dtype=np.int64).view(np.float64)
    return np.where(np.isfinite(x), x, 1.0)


def points(random: Random, source: Recipe, n: int) -> Floats:
    """Finite doubles from every source of the recipe."""
    scale = max(abs(source.low), abs(source.high))
    geometric = scale * np.exp2(-random.uniform(0, 40, n)) * random.choice([-1.0, 1.0], n)
    candidates = [
        _any_double(random, n),
        random.uniform(source.low, source.high, n),
        np.clip(geometric, source.low, source.high),
        step(random.choice(source.critical, n), _offsets(random, n)),
        random.choice(source.exact, n),
    ]
    return np.choose(random.choice(5, n, p=[0.12, 0.25, 0.15, 0.36, 0.12]), candidates) + 0.0


_SHAPES = ("point", "thin", "medium", "wide", "from zero", "to zero", "above", "below", "entire", "empty")
_WEIGHTS = (0.30, 0.25, 0.18, 0.12, 0.025, 0.025, 0.035, 0.035, 0.01, 0.02)
POINTS_ONLY = (1.0, *[0.0] * 9)


def intervals(random: Random, at: Floats, other: Floats, weights: tuple[float, ...] = _WEIGHTS) -> Operand:
    """An interval of some shape at each point; wide ones reach to the other point."""
    n = at.size
    width = np.minimum(np.abs(at) * np.exp2(-random.uniform(0, 50, n)), MAX / 2)
    ends = [
        (at, at),
        (at, step(at, random.integers(1, 4, n))),
        (at, np.minimum(at + width, MAX)),
        (np.minimum(at, other), np.maximum(at, other)),
        (np.minimum(at, 0.0), np.maximum(at, 0.0)),
        (-np.abs(at), np.zeros(n)),
        (at, np.full(n, INF)),
        (np.full(n, -INF), at),
        (np.full(n, -INF), np.full(n, INF)),
        (np.full(n, INF), np.full(n, -INF)),
    ]
    shape = random.choice(len(_SHAPES), n, p=np.array(weights))
    return np.choose(shape, [lo for lo, _ in ends]) + 0.0, np.choose(shape, [hi for _, hi in ends]) + 0.0


# --- operands that belong together -------------------------------------------------------------------------------

_THRESHOLDS = np.array([TINY, 3 * TINY, NORMAL, 2.0**-967, 2.0**-53, 1.0, 2.0, 3.0, 10.0, 2.0**53, 2.0**1023, MAX])


def _finite(x: Floats) -> Floats:
    return np.where(np.isfinite(x), x, 1.0)


def _sum_partner(random: Random, x: Floats) -> Floats:
    """Nearly -x or x, or smaller by a factor around the precision."""
    scale = np.where(random.random(x.size) < 0.5, 1.0, np.exp2(random.integers(-56, 57, x.size)))
    return step(_finite(-x * scale * random.choice([-1.0, 1.0], x.size)), _offsets(random, x.size))


def _product_partner(random: Random, x: Floats) -> Floats:
    """So that the product comes near a threshold."""
    wanted = random.choice(_THRESHOLDS, x.size) * random.choice([-1.0, 1.0], x.size)
    return step(_finite(wanted / x), _offsets(random, x.size))


def _quotient_partner(random: Random, x: Floats) -> Floats:
    """So that the quotient comes near a threshold or an integer."""
    whole = np.rint(np.exp2(random.uniform(0, 53, x.size)))
    quotient = np.where(random.random(x.size) < 0.5, random.choice(_THRESHOLDS, x.size), whole)
    return step(_finite(x / quotient * random.choice([-1.0, 1.0], x.size)), _offsets(random, x.size))


def _divisor(random: Random, x: Floats) -> Floats:
    """Divisors of x with quotients from 1 to 2^60, nearly whole or not."""
    quotient = np.exp2(random.uniform(-2, 60, x.size))
    quotient = np.where(random.random(x.size) < 0.6, np.rint(quotient) + 1, quotient)
    return step(_finite(x / quotient * random.choice([-1.0, 1.0], x.size)), _offsets(random, x.size) // 8)


def _exponent(random: Random, x: Floats) -> Floats:
    """So that x to it spreads over all exponents, or is small and whole."""
    binary = np.log2(np.where(x > 0, x, 3.0))
    spread = _finite(random.uniform(-1090, 1040, x.size) / np.where(binary == 0, 1.0, binary))
    edge = _finite(random.choice([-1075.0, -1074.0, -1022.0, 1024.0], x.size) / np.where(binary == 0, 1.0, binary))
    simple = random.integers(-40, 41, x.size) / random.choice([1.0, 2.0, 4.0], x.size)
    return np.choose(random.integers(0, 3, x.size), [spread, step(edge, _offsets(random, x.size)), simple])


def _side(random: Random, x: Floats) -> Floats:
    """The other side of a triangle: of like length, within a factor 2^60, or a whole multiple."""
    ratios = [
        np.exp2(random.uniform(-60, 60, x.size)),
        random.uniform(0.2, 5, x.size),
        random.choice([0.75, 4 / 3, 2.4, 1.0], x.size),
    ]
    ratio = np.choose(random.integers(0, 3, x.size), ratios)
    return _finite(x * ratio * random.choice([-1.0, 1.0], x.size))


def _neighbour(random: Random, x: Floats) -> Floats:
    return step(x, _offsets(random, x.size))


_PARTNERS: dict[str, Callable[[Random, Floats], Floats]] = {
    "add": _sum_partner,
    "sub": _sum_partner,
    "mul": _product_partner,
    "fma": _product_partner,
    "div": _quotient_partner,
    "mod": _divisor,
    "pow": _exponent,
    "hypot": _side,
    "atan2": _side,
}
_COMPARISONS = ("is_less", "is_less_equal", "is_equal")
_BINARY = (
    "add", "sub", "mul", "div", "min", "max", "mod", "hull", "intersection", "atan2", "hypot", "pow", *_COMPARISONS,
)  # fmt: skip
ARITY: dict[str, int] = {**dict.fromkeys(_BINARY, 2), "fma": 3, "where": 3}
POWERS = ("pown", "pown_rev")  # with an exponent
_MOSTLY_POINTS = (0.80, 0.05, 0.03, 0.03, 0.02, 0.02, 0.01, 0.01, 0.01, 0.02)
_EXPONENTS = (
    2, 3, -1, -2, 0, 1, 4, 5, 7, 8, 10, -3, -7, -8, 11, 17, 64, 100, 255, -100, -255, 1000, -1001, 2047, 65536, -65537,
    2**31 - 1, -(2**31),
)  # fmt: skip


def _second(random: Random, op: str, x: Floats, n: int) -> Floats:
    """Half of the second operands belong to the first, half are drawn on their own."""
    own = points(random, recipe("" if op == "pow" else op), n)
    return np.where(random.random(n) < 0.6, _PARTNERS.get(op, _neighbour)(random, x), own)


def _addend(random: Random, x: Floats, y: Floats) -> Floats:
    product = np.clip(x * y, -MAX, MAX)
    scale = np.where(random.random(x.size) < 0.6, 1.0, np.exp2(random.integers(-110, 111, x.size)))
    close = step(_finite(-product * scale), _offsets(random, x.size))
    return np.where(random.random(x.size) < 0.75, close, points(random, recipe("fma"), x.size))


def _touching(random: Random, x: Operand, y: Operand) -> Operand:
    """Some of the y begin where x ends, end where it begins, or are x itself."""
    choice, regular = random.integers(0, 8, x[0].size), np.isfinite(x[0]) & np.isfinite(x[1])
    lo = np.select([regular & (choice == 0), regular & (choice == 1), choice == 2], [x[1], y[0], x[0]], y[0])
    hi = np.select([regular & (choice == 0), regular & (choice == 1), choice == 2], [y[1], x[0], x[1]], y[1])
    return np.where(lo <= hi, lo, y[0]), np.where(lo <= hi, hi, y[1])


def _conditions(random: Random, n: int) -> Operand:
    """Decided either way, open, empty, and what no comparison gives."""
    truths = [(1, 1), (0, 0), (0, 1), (INF, -INF), (0, 0.5), (0.5, 1), (2, 2), (-1, 1), (1, 2)]
    ends = np.array(truths, dtype=np.float64)
    found = ends[random.choice(len(ends), n, p=[0.3, 0.3, 0.2, 0.05, 0.03, 0.03, 0.03, 0.03, 0.03])]
    return found[:, 0].copy(), found[:, 1].copy()


def boxes(random: Random, op: str, n: int, weights: tuple[float, ...] = _WEIGHTS) -> tuple[Operand, ...]:
    """Operands of op, n of each."""
    if op == "where":
        return (_conditions(random, n), *boxes(random, "hull", n, weights))
    x = points(random, recipe(op), n)
    first = intervals(random, x, points(random, recipe(op), n), weights)
    if op not in ARITY:
        return (first,)
    y = _second(random, op, x, n)
    if op == "mod" and weights is _WEIGHTS:
        weights = _MOSTLY_POINTS
    second = intervals(random, y, _second(random, op, x, n), weights)
    if op in _COMPARISONS:
        second = _touching(random, first, second)
    if ARITY[op] == 2:
        return first, second
    return first, second, intervals(random, _addend(random, x, y), _addend(random, x, y), weights)


def batches(op: str, count: int, seed: int = 0) -> Iterator[Batch]:
    """About count boxes for op, and the hard cases; another seed gives other boxes."""
    random = np.random.default_rng([zlib.crc32(op.encode()), seed])
    exponents = _EXPONENTS if op in POWERS else (0,)
    reverse = op in reverse_samples.ARITY
    for exponent in exponents:
        size = -(-count // len(exponents))
        with np.errstate(all="ignore"):
            operands = reverse_samples.boxes(random, op, size, exponent) if reverse else boxes(random, op, size)
        yield Batch(op, exponent, operands)
    if columns := hard.points(op):
        yield Batch(op, 0, tuple((x, x) for x in columns))
    if op in reverse_samples.HARD and (columns := hard.points(reverse_samples.HARD[op].inverse)):
        yield Batch(op, 0, reverse_samples.hard_boxes(op, columns[0]))


import reverse_samples  # noqa: E402  (it needs what is above)

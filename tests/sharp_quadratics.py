"""Quadratics of one or two variables whose claims are decided exactly, with numbers of which few operations round.

Most numbers are short, so that what is computed of them is exact; here and there one has all its bits. The function is
the lowest one in a corner of its box that agrees with what is told, and its minima are found in fractions. So a single
rounding in the wrong direction shows in a claim that is false by a unit of the last place.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from quadratics import Case, is_semidefinite, symmetric, upward

FloatArray = npt.NDArray[np.float64]


def numbers(draw: np.random.Generator, long: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Short numbers, often 0 or a power of two, but for a part `long` of them, (k, 1, …)."""
    small = draw.choice([0.0, 0.0, 1.0, 2.0, 0.5, 3.0, 5.0, 0.75, 7.0], shape) * draw.choice([-1.0, 1.0], shape)
    return np.where(draw.random(shape) < long, draw.normal(size=shape) * 2.0 ** draw.integers(-3, 3, shape), small)


def sharp(seed: int, count: int = 240) -> Case:
    """Boxes of one or two variables with numbers of usual size, or so small that scaling them underflows."""
    draw = np.random.default_rng(seed)
    n = 1 + seed % 2
    some = draw.choice([0.0, 0.1, 0.3, 1.0], (count, 1))
    centre = numbers(draw, some, (count, n)) * (draw.random((count, 1)) < 0.3)
    below, above = np.abs(numbers(draw, some, (2, count, n)))
    low, high = curvatures(draw, some, np.maximum(below, above))
    slope, uncertain = numbers(draw, some, (2, count, n)) * (draw.random((2, count, 1)) < [[[0.6]], [[0.3]]])
    ends = low, high
    slopes = np.minimum(slope, slope + uncertain), np.maximum(slope, slope + uncertain)
    around, chosen = about(draw, slope), draw.random((count, 1)) < 0.2
    slopes = np.where(chosen, around[0], slopes[0]), np.where(chosen, around[1], slopes[1])
    value = numbers(draw, some[:, 0], (count,)) * (draw.random(count) < 0.5)
    corner = draw.choice([-1.0, 1.0], (count, n))
    own = np.where(corner[:, :, None] * corner[:, None, :] > 0, *ends)
    own_slope = np.where(corner > 0, *slopes)
    lo, hi = centre - below, centre + above
    edge, limit = draw.random((count, n)) < 0.3, np.full(count, np.inf)
    made = Case(lo, hi, centre, value, slopes, ends, edge, limit, own_slope, own, lo[:, None])
    return small(made, draw) if seed % 8 > 5 else made


def about(draw: np.random.Generator, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends a little beyond and within -size and size: their radius has more bits than a double."""
    beyond = 1.0 + draw.random((2, *size.shape)) * 2.0 ** -draw.integers(1, 50, (2, *size.shape))
    beyond = np.where(draw.random(beyond.shape) < 0.5, beyond, 2.0 - beyond)
    return -np.abs(size) * beyond[0], np.abs(size) * beyond[1]


def curvatures(draw: np.random.Generator, some: FloatArray, width: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of curvatures.

    kind    about 0 | convex | with a singular one | nearly singular | little on the diagonal | nearly flat | any
    """
    count, n = width.shape
    found = symmetric(numbers(draw, some[:, :, None], (count, n, n)))
    radius = np.abs(symmetric(numbers(draw, some[:, :, None], (count, n, n)))) * (draw.random((count, 1, 1)) < 0.5)
    kind, one = draw.integers(7, size=(count, 1, 1)), np.eye(n)
    size = 2.0 ** draw.integers(-3, 2, (count, 1, 1))
    row = numbers(draw, 0.0 * some, (count, n))
    gram = row[:, :, None] * row[:, None, :]
    found = np.where(kind == 0, 2.0**-300 * one, found)
    found = np.where(kind == 1, found + one * (np.abs(found).sum(2, keepdims=True) + size), found)
    found = np.where(kind == 2, gram - radius * one, found)
    found = np.where(kind == 3, gram + one * 2.0 ** draw.integers(-40, -4, (count, 1, 1)), found)
    found = np.where(kind == 4, found * np.where(one > 0, size / 256, 1.0), found)
    part = np.select([kind == 0, kind == 2, kind == 3], [0.0 * one, one, 0.0 * one], 1.0 + 0.0 * one)
    radius = radius * part * np.where(kind == 2, 1.0, 2.0 ** draw.integers(-6, 1, (count, 1, 1)))
    low, high = found - radius, found + radius
    # What the radii take from the diagonal is about all of it.
    flat = tuple(symmetric(end) for end in about(draw, np.where(one > 0, 0.0, found)))
    spread = (np.abs(found) * (1.0 - one) * width[:, None, :]).sum(2) / np.where(width > 0, width, 1.0)
    own = (spread * (1.0 + draw.random((count, n)) * 2.0 ** -draw.integers(1, 50, (count, n))))[:, :, None] * one
    return np.where(kind == 5, flat[0] + own, low), np.where(kind == 5, flat[1] + own, high)


def small(made: Case, draw: np.random.Generator) -> Case:
    """About the same functions in other units of x and of f: some of what is computed underflows."""
    count, n = made.lo.shape
    of_f = np.where(draw.random(count) < 0.5, draw.integers(-1078, -1000, count), draw.integers(-600, 60, count))
    of_x = np.maximum(draw.integers(-1000, 900, (count, n)), (of_f[:, None] - 1000) // 2)
    far = -draw.integers(0, 1085, (count, 1)) * (draw.random((count, 1)) < 0.3)  # along one way alone
    of_x = np.where(far < 0, np.maximum(of_x, 100), of_x)
    to_lower = draw.random((count, 1)) < 0.5
    slope = of_f[:, None] - of_x
    curvature = slope[:, :, None] - of_x[:, None, :]
    stiff = draw.integers(0, 1000, (count, 1, 1)) * (draw.random((count, 1, 1)) < 0.3)
    curvature = np.minimum(curvature + stiff, 1000)
    lo, hi = made.lo - made.centre, made.hi - made.centre
    return made._replace(
        lo=np.ldexp(np.ldexp(lo, of_x), far * to_lower), hi=np.ldexp(np.ldexp(hi, of_x), far * ~to_lower),
        centre=0.0 * hi, value=np.ldexp(made.value, of_f),
        slope=tuple(np.ldexp(end, slope) for end in made.slope), own_slope=np.ldexp(made.own_slope, slope),
        curvature=tuple(np.ldexp(end, curvature) for end in made.curvature),
        own_curvature=np.ldexp(made.own_curvature, curvature),
    )  # fmt: skip


def on_a_line(lo: float, hi: float, slope: float, curvature: float, limit: FloatArray) -> Case:
    """Slope x + curvature x^2/2 on [lo, hi], below each limit."""
    shape = limit.size, 1
    nothing, slopes, curvatures = np.zeros(shape), np.full(shape, slope), np.full((*shape, 1), curvature)
    return Case(
        np.full(shape, lo), np.full(shape, hi), nothing, nothing[:, 0], (slopes, slopes), (curvatures, curvatures),
        nothing > 0, limit, slopes, curvatures, nothing[:, None],
    )  # fmt: skip


def false_claims_of_tiny_numbers(**how: Any) -> Iterator[str]:
    """Boxes, slopes, level sets and curvatures of which something is less than the least double once it is scaled."""
    limit = np.arange(1, 65) * 2.0**-1070
    lines = [
        on_a_line(0.0, 2.0**-1000, 3 * 2.0**-30, 2.0**950, limit),
        on_a_line(-(2.0**500), 2.0**-1060, -(2.0**60), 2.0**-900, limit[:1]),
        on_a_line(-(2.0**-20), 2.0**-20, 2.0**-1060, 1.0, limit[:1]),
    ]
    lines += [on_a_line(-m.hi[0, 0], -m.lo[0, 0], -m.own_slope[0, 0], m.own_curvature[0, 0, 0], m.limit) for m in lines]
    for made in lines:
        found = made.run(**how)
        for i in range(len(made.lo)):
            function = Exact(made, i)
            if found.lower[i] > function.least() or _is_lost(made, found, i, function, function.least()):
                yield f"on [{made.lo[i, 0].hex()}, {made.hi[i, 0].hex()}], {i}"
    # The second row's element on the diagonal becomes 3/4 of the least double.
    matrix = np.array([[[1.0, 0.9 * 2.0**-500], [0.9 * 2.0**-500, 0.75 * 2.0**-1000]]])
    half, nothing = np.array([[0.5, 2.0**-38]]), np.zeros((1, 2))
    box = Case(
        -half, half, nothing, nothing[:, 0], (nothing,) * 2, (matrix,) * 2, nothing > 0, limit[:1], *(nothing,) * 3
    )
    if box.run(**how).convex[0]:
        yield "a matrix with a negative eigenvalue is convex"


def false_corners(seeds: range, **how: Any) -> Iterator[str]:
    """Lower bounds above what some function that agrees with all that is told is in a corner of its box."""
    for seed in seeds:
        made = sharp(seed, 6000)
        lower = made.run(**how).lower
        for signs in product((-1.0, 1.0), repeat=made.lo.shape[1]):
            corner = np.array(signs)
            d = np.where(corner < 0, made.lo, made.hi).astype(np.longdouble) - made.centre
            own = np.where(corner[:, None] * corner > 0, *made.curvature), np.where(corner > 0, *made.slope)
            with np.errstate(all="ignore"):
                about = made.value + ((own[1] + (own[0] * d[:, None] / 2).sum(2)) * d).sum(1)
                near = np.flatnonzero(~(lower < about - 2.0**-58 * np.abs(about)))
            for i in near:
                function = Exact(made._replace(own_curvature=own[0], own_slope=own[1]), i)
                if lower[i] > function.at([function.box[j][int(s > 0)] for j, s in enumerate(signs)]):
                    yield f"seed {seed} box {i}: {lower[i].hex()} is too high"


def false_saddles(seeds: range, **how: Any) -> Iterator[str]:
    """Boxes that are said to have no minimiser, where a singular matrix with no negative eigenvalue is as told."""
    for seed in seeds:
        draw = np.random.default_rng(seed)
        count, n = 20_000, 2 + seed % 2
        row = numbers(draw, np.full((count, 1), 0.5), (count, n)).astype(np.float32).astype(float)  # with exact squares
        most = row[:, :, None] * row[:, None, :]
        radius = np.abs(symmetric(numbers(draw, np.full((count, 1, 1), 0.3), (count, n, n))))
        radius = radius * np.where(np.eye(n) > 0, 1.0, draw.random((count, 1, 1)) < 0.3)
        radius = np.where(draw.random((count, 1, 1)) < 0.5, radius, np.eye(n) * -2.0 * about(draw, most)[0])
        below = np.where(most > 0, most - radius, most), np.where(most < 0, most + radius, most)
        ones, nothing = np.ones((count, n)), np.zeros((count, n))
        made = Case(
            -ones, ones, nothing, nothing[:, 0], (nothing, nothing), (np.minimum(*below), np.maximum(*below)),
            nothing > 0, np.full(count, np.inf), nothing, most, ones[:, None],
        )  # fmt: skip
        yield from (f"seed {seed} box {i}: {row[i].tolist()}" for i in np.flatnonzero(made.run(**how).no_minimiser))


class Exact:
    """One function of a case in fractions, of d = x - centre."""

    def __init__(self, made: Case, i: int) -> None:
        def exactly(array: FloatArray) -> list[Fraction]:
            return [Fraction(a) for a in array[i].tolist()]

        self.centre = exactly(made.centre)
        self.box = [(lo - c, hi - c) for lo, hi, c in zip(exactly(made.lo), exactly(made.hi), self.centre, strict=True)]
        self.value = Fraction(float(made.value[i]))
        self.slope = exactly(made.own_slope)
        self.curvature = [[Fraction(a) for a in row] for row in made.own_curvature[i].tolist()]

    def at(self, d: list[Fraction]) -> Fraction:
        """The value at a point."""
        rows = [sum((h * t for h, t in zip(row, d, strict=True)), Fraction(0)) for row in self.curvature]
        return self.value + sum((t * (g + row / 2) for t, g, row in zip(d, self.slope, rows, strict=True)), Fraction(0))

    def least_at(self, i: int, t: Fraction) -> Fraction:
        """The minimum over the box where its i-th component is t."""
        value = self.value + t * (self.slope[i] + t * self.curvature[i][i] / 2)
        if len(self.slope) == 1:
            return value
        j = 1 - i
        b, c = self.slope[j] + t * self.curvature[i][j], self.curvature[j][j]
        places = [*self.box[j]]
        if c > 0 and self.box[j][0] < -b / c < self.box[j][1]:
            places.append(-b / c)
        return value + min(u * (b + u * c / 2) for u in places)

    def least(self) -> Fraction:
        """The minimum over the box."""
        sides = [self.least_at(i, end) for i, ends in enumerate(self.box) for end in ends]
        h, g = self.curvature, self.slope
        if len(g) == 1:
            return (
                min(*sides, self.least_at(0, -g[0] / h[0][0]))
                if h[0][0] > 0 and self._holds(0, -g[0] / h[0][0])
                else min(sides)
            )
        determinant = h[0][0] * h[1][1] - h[0][1] ** 2
        if h[0][0] > 0 and determinant > 0:
            t = (h[0][1] * g[1] - h[1][1] * g[0]) / determinant
            if self._holds(0, t):
                sides.append(self.least_at(0, t))
        return min(sides)

    def _holds(self, i: int, t: Fraction) -> bool:
        return self.box[i][0] <= t <= self.box[i][1]


@cache
def exact(seed: int) -> tuple[Case, list[Exact], list[Fraction]]:
    """The functions of a seed with their minima; the limits are these, or a little above."""
    made = sharp(seed)
    functions = [Exact(made, i) for i in range(len(made.lo))]
    least = [function.least() for function in functions]
    draw = np.random.default_rng(seed)
    part = np.abs(numbers(draw, draw.choice([0.0, 1.0], (len(made.lo), 1)), (len(made.lo), 1)))[:, 0]
    part = part * 2.0 ** -draw.integers(0, draw.choice([4, 60], len(made.lo)), len(made.lo))
    limit = []
    for function, lowest, share in zip(functions, least, part.tolist(), strict=True):
        end = function.least_at(0, function.box[0][0])
        limit.append(upward(lowest + Fraction(share) * (end - lowest)))
    return made._replace(limit=np.array(limit)), functions, least


def false_claims(seeds: range, **how: Any) -> Iterator[str]:
    """What is claimed and is not so."""
    for seed in seeds:
        made, functions, least = exact(seed)
        found = made.run(**how)
        lower = found.lower.tolist()
        for i, function in enumerate(functions):
            name = f"seed {seed} box {i}"
            if lower[i] > least[i]:
                yield f"{name}: {lower[i].hex()} is too high"
            if _is_lost(made, found, i, function, least[i]):
                yield f"{name}: points are lost from {found.lo[i].tolist()} to {found.hi[i].tolist()}"
            wide = made.lo[i] < made.hi[i]
            if found.convex[i] and not is_semidefinite(made.own_curvature[i][np.ix_(wide, wide)]):
                yield f"{name}: it is not convex"
            if found.no_minimiser[i] and _may_have_one(made, i):
                yield f"{name}: there may be a minimiser"


def _is_lost(made: Case, found: Any, i: int, function: Exact, least: Fraction) -> bool:
    limit = Fraction(float(made.limit[i]))
    if not (found.lo[i] <= found.hi[i]).all():
        return least <= limit
    for j, c in enumerate(function.centre):
        for end, old in ((found.lo[i, j], made.lo[i, j]), (found.hi[i, j], made.hi[i, j])):
            if end != old and function.least_at(j, Fraction(float(end)) - c) < limit:
                return True
    return False


def _may_have_one(made: Case, i: int) -> bool:
    """Whether the matrix within the curvatures that is nearest to a convex one is so, along what is no edge."""
    low, high = made.curvature[0][i], made.curvature[1][i]
    nearest = np.clip(0.0, low, high)
    np.fill_diagonal(nearest, high.diagonal())
    free = ~made.edge[i]
    return is_semidefinite(nearest[np.ix_(free, free)])

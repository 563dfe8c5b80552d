"""Points of a box at which a function is compared: random ones, corners, faces, and where jumps are likely."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from infimum.graph.node import Node, ancestors
from infimum.graph.payload import value_of

FloatArray = npt.NDArray[np.float64]

RANDOM = 256
_SPECIAL = 96  # points with coordinates at whole numbers, halves and the function's own constants
_CORNERS = 32
_FACES = 16
_MANY = 1_000  # variables: beyond, only points drawn at random and a few corners
_SEED = 20_240_607
_WIDE = 1e3  # a range wider than this is drawn by magnitude half of the time
_LARGEST = 1e300


def points_of(lo: FloatArray, hi: FloatArray, constants: Sequence[float] = ()) -> Iterator[FloatArray]:
    """Yield points of the box [lo, hi], each an array of its own; the first three are drawn at random.

    The ends may be infinite. At most 256 are random, and about 150 others; fewer beyond 1,000 variables.
    """
    draw = np.random.default_rng(_SEED)
    box = _Box(lo + 0.0, hi + 0.0, draw)
    yield from (box.anywhere(by_magnitude=k == 2) for k in range(3))
    if lo.size > _MANY:
        yield from (box.corner(side) for side in ("lo", "hi"))
        yield from (box.anywhere(by_magnitude=k % 2 == 1) for k in range(16))
        return
    kinds = [
        box.corners(_CORNERS),
        box.specials(_special_values(constants), _SPECIAL),
        box.faces(_FACES),
        iter(box.many(RANDOM - 3)),
    ]
    # In turns, so that a run that is cut short has seen some of each kind.
    for group in itertools.zip_longest(*kinds):
        yield from (point for point in group if point is not None)


def constants_of(outputs: Iterable[Node], most: int = 64) -> list[float]:
    """Return numbers that stand in an expression: conditions change there, and edges of definition lie there."""
    found: dict[float, None] = {}
    for node in ancestors(outputs):
        if node.op == "constant":
            found.update(dict.fromkeys(value_of(node).points()[:8].tolist()))
        if len(found) >= most:
            break
    return [value for value in found if math.isfinite(value)][:most]


def _special_values(constants: Sequence[float]) -> FloatArray:
    plain = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 4.0, 5.0, 10.0, -4.0, -5.0, -10.0, 2.5, -2.5]
    own = [v for c in constants for v in (c, -c)]
    return np.unique(np.array([*plain, *own]) + 0.0)


class _Box:
    """A box [lo, hi] of which points are taken."""

    def __init__(self, lo: FloatArray, hi: FloatArray, draw: np.random.Generator) -> None:
        self._lo, self._hi, self._draw = lo, hi, draw
        self._bottom, self._top = np.maximum(lo, -_LARGEST), np.minimum(hi, _LARGEST)
        finite = np.isfinite(lo) & np.isfinite(hi)
        near = np.where(np.isfinite(lo), lo, np.where(np.isfinite(hi), hi - 10.0, -10.0))
        self._near = near, np.where(finite, hi, np.where(np.isfinite(hi), hi, near + 20.0))
        with np.errstate(over="ignore", invalid="ignore"):
            self._is_wide = ~(hi - lo <= _WIDE)

    def _inside(self, point: FloatArray) -> FloatArray:
        return np.minimum(np.maximum(point, self._lo), self._hi) + 0.0  # no -0.0: the box means one zero

    def anywhere(self, by_magnitude: bool = False) -> FloatArray:
        """Return a point drawn at random: evenly, or where the range is wide with magnitudes drawn evenly."""
        (point,) = self._drawn(np.array([by_magnitude]))
        return np.asarray(point)

    def many(self, count: int) -> FloatArray:
        """Return points (count, n) drawn at random, in turns evenly and by magnitude."""
        return self._drawn(np.arange(count) % 2 == 1)

    def _drawn(self, by_magnitude: npt.NDArray[np.bool_]) -> FloatArray:
        (low, high), draw = self._near, self._draw
        shape = by_magnitude.size, low.size
        share = draw.random(shape)
        points = low * (1.0 - share) + high * share
        if self._is_wide.any() and by_magnitude.any():
            most = np.where(draw.random(shape[0]) < 0.8, 6.0, 100.0)[:, None]
            magnitude = 10.0 ** (-3.0 + (most + 3.0) * draw.random(shape))
            either = np.where(draw.random(shape) < 0.5, -1.0, 1.0)
            sign = np.where(self._bottom >= 0, 1.0, np.where(self._top <= 0, -1.0, either))
            points = np.where(self._is_wide & by_magnitude[:, None], sign * magnitude, points)
        return self._inside(points)

    def corner(self, side: str) -> FloatArray:
        """Return the lowest or highest corner, with a point drawn at random along infinite sides."""
        end = self._lo if side == "lo" else self._hi
        return self._inside(np.where(np.isfinite(end), end, self.anywhere()))

    def corners(self, most: int) -> Iterator[FloatArray]:
        """Yield the middle, then corners: all of them while they are few."""
        low, high = self.corner("lo"), self.corner("hi")
        yield self._middle()
        n = low.size
        if 2 ** min(n, 30) <= most:
            yield from (
                self._inside(np.where(sides, high, low)) for sides in itertools.product((False, True), repeat=n)
            )
            return
        yield from (low, high)
        for _ in range(most - 2):
            yield self._inside(np.where(self._draw.random(n) < 0.5, low, high))

    def faces(self, most: int) -> Iterator[FloatArray]:
        """Yield middles of faces."""
        ends = self.corner("lo"), self.corner("hi")
        for i, side in itertools.islice(itertools.product(range(self._lo.size), (0, 1)), most):
            point = self._middle()
            point[i] = ends[side][i]
            yield self._inside(point)

    def _middle(self) -> FloatArray:
        low, high = self._near
        return self._inside(0.5 * low + 0.5 * high)

    def specials(self, values: FloatArray, most: int) -> Iterator[FloatArray]:
        """Yield points with all, or some, coordinates at special values, as far as these lie within the box."""
        n = self._lo.size
        for k in range(most):
            alike = k < min(values.size, most // 2)
            wanted = np.full(n, values[k]) if alike else self._draw.choice(values, n)
            other = self.anywhere() if k % 3 else self._middle()
            allowed = (self._lo <= wanted) & (wanted <= self._hi) & ((self._draw.random(n) < 0.7) | (k % 2 == 0))
            if allowed.any():
                yield self._inside(np.where(allowed, wanted, other))

"""Quadratic functions within given curvatures, evaluated in fractions: the oracle of what `linear.quadratic` claims."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.core import linear

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Case(NamedTuple):
    """Boxes with what is known of a function there, and one for each: value + slope.d + d'(curvature)d/2."""

    lo: FloatArray
    hi: FloatArray
    centre: FloatArray
    value: FloatArray
    slope: tuple[FloatArray, FloatArray]
    curvature: tuple[FloatArray, FloatArray]
    edge: BoolArray
    limit: FloatArray
    own_slope: FloatArray
    own_curvature: FloatArray
    points: FloatArray  # (k, points, n) in the box

    def run(self, **how: Any) -> linear.Quadratic:
        box = self.lo, self.hi
        return linear.quadratic(box, self.centre, self.value, self.slope, self.curvature, self.edge, self.limit, **how)

    def exact(self, i: int, x: Any) -> Fraction:
        """The value of the i-th function at a point."""
        d = [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(x, self.centre[i], strict=True)]
        found = Fraction(float(self.value[i]))
        for j, dj in enumerate(d):
            row = sum((Fraction(float(h)) * dk for h, dk in zip(self.own_curvature[i, j], d, strict=True)), Fraction(0))
            found += dj * (Fraction(float(self.own_slope[i, j])) + row / 2)
        return found

    def near(self, x: FloatArray) -> FloatArray:
        """The same in doubles, for points (k, n)."""
        d = x - self.centre
        curved = np.einsum("ki,kij,kj->k", d, self.own_curvature, d)
        return np.asarray(self.value + (self.own_slope * d).sum(1) + curved / 2)


def symmetric(matrices: FloatArray) -> FloatArray:
    return np.asarray(np.tril(matrices) + np.tril(matrices, -1).swapaxes(-1, -2))


def upward(value: Fraction) -> float:
    """The least double that is not below."""
    found = float(value)
    return found if Fraction(found) >= value else float(np.nextafter(found, np.inf))


def case(seed: int, count: int = 40, n: int | None = None) -> Case:
    """Convex, nearly convex and indefinite functions, wide and thin curvatures, boxes of all sizes."""
    draw = np.random.default_rng(seed)
    n = 1 + seed % 4 if n is None else n
    shape = (count, n)
    columns = draw.normal(size=(count, n, n))
    curvature = symmetric(columns @ columns.swapaxes(1, 2))
    curvature -= (draw.random((count, 1, 1)) < 0.5) * draw.random((count, 1, 1)) * np.eye(n)
    curvature *= 10.0 ** np.where(draw.random((count, 1, 1)) < 0.25, draw.uniform(-20, -8, (count, 1, 1)), 0)
    radius = symmetric(draw.random((count, n, n))) * (draw.random((count, 1, 1)) < 0.6)
    radius *= np.abs(curvature) * 10.0 ** draw.uniform(-4, 0, (count, 1, 1))
    curved = curvature - radius, curvature + radius
    at_end = symmetric((draw.random((count, n, n)) < 0.5).astype(float))
    at_end[::3, np.arange(n), np.arange(n)] = 0.0  # the least curvature along each variable
    own = np.where(at_end > 0, curved[1], curved[0])
    size = 10.0 ** draw.uniform(-6, 2, (count, 1)) * 10.0 ** draw.uniform(-1, 0, shape)
    centre = draw.normal(size=shape) * 10.0 ** draw.uniform(-3, 3, (count, 1))
    lo, hi = centre - size, centre + size * draw.uniform(0.2, 2, (count, 1))
    fixed = draw.random(shape) < 0.05
    lo, hi = np.where(fixed, centre, lo), np.where(fixed, centre, hi)
    towards = centre + (hi - lo) * draw.uniform(-0.4, 0.4, shape)  # about the stationary point
    slope = -np.einsum("kij,kj->ki", own, towards - centre)
    slope += (draw.random((count, 1)) < 0.3) * draw.normal(size=shape) * np.abs(slope).max(1, keepdims=True)
    uncertain = np.abs(slope) * draw.random(shape) * 1e-3 * (draw.random((count, 1)) < 0.3)
    slopes = slope - uncertain, slope + uncertain
    own_slope = np.where(draw.random(shape) < 0.5, *slopes)
    value = draw.normal(size=count) * 10.0 ** draw.uniform(-8, 1, count)
    points = lo[:, None] + (hi - lo)[:, None] * draw.random((count, 6, n))
    points = np.clip(points, lo[:, None], hi[:, None])
    made = Case(
        lo, hi, centre, value, slopes, curved, draw.random(shape) < 0.3, np.full(count, np.inf), own_slope, own, points
    )
    return made._replace(points=np.concatenate([points, extreme(made, draw)], axis=1))


def extreme(made: Case, draw: np.random.Generator) -> FloatArray:
    """Points that are hardest to keep: minima in the box, and ends of level sets along a variable."""
    count, n = made.lo.shape
    t = linear.box_minimum(made.own_curvature, made.own_slope, made.lo - made.centre, made.hi - made.centre)
    best = np.clip(made.centre + t, made.lo, made.hi)
    inverse = np.linalg.pinv(made.own_curvature, rcond=1e-30)
    found = [best]
    for i in range(n):
        along = inverse[:, i] / np.maximum(np.abs(inverse[:, i]).max(1, keepdims=True), 1e-300)
        reach = draw.uniform(-0.5, 0.5, (count, 1)) * (made.hi - made.lo).min(1, keepdims=True)
        found.append(np.clip(best + along * reach, made.lo, made.hi))
        beside = best.copy()
        beside[:, i] += draw.uniform(-0.1, 0.1, count) * (made.hi - made.lo)[:, i]
        found.append(np.clip(beside, made.lo, made.hi))
    return np.stack(found, 1)


def is_semidefinite(matrix: Any) -> bool:
    """Decide it exactly, by elimination in fractions: a pivot 0 needs a row of zeros."""
    rows = [[Fraction(float(a)) for a in row] for row in matrix.tolist()]
    n = len(rows)
    for j in range(n):
        pivot = rows[j][j]
        if pivot < 0 or (pivot == 0 and any(rows[j][k] for k in range(j, n))):
            return False
        if pivot == 0:
            continue
        for i in range(j + 1, n):
            if rows[i][j]:
                factor = rows[i][j] / pivot
                for k in range(i, n):
                    rows[i][k] -= factor * rows[j][k]
                    rows[k][i] = rows[i][k]
    return True


def false_claims(seeds: range, **how: Any) -> list[str]:
    """What is claimed of boxes and is not so of a function that agrees with all that was given."""
    wrong = []
    for seed in seeds:
        made = case(seed)
        for j in range(made.points.shape[1]):
            x = made.points[:, j]
            values = [made.exact(i, x[i]) for i in range(len(x))]
            asked = made._replace(limit=np.array([upward(v) for v in values]))
            found = asked.run(**how)
            inside = ((found.lo <= x) & (x <= found.hi)).all(1)
            wrong += [f"seed {seed} box {i}: a point is lost" for i in np.flatnonzero(~inside)]
            lower = found.lower.tolist()
            wrong += [
                f"seed {seed} box {i}: {b.hex()} is too high"
                for i, b in enumerate(lower)
                if b > -np.inf and Fraction(b) > values[i]
            ]
        wrong += [f"seed {seed} box {i}: {why}" for i, why in _false_facts(made, found)]
    return wrong


def _false_facts(made: Case, found: linear.Quadratic) -> list[tuple[int, str]]:
    wrong = []
    for i in range(len(made.lo)):
        own, wide = made.own_curvature[i], made.lo[i] < made.hi[i]
        free = ~made.edge[i]
        most = own.copy()
        np.fill_diagonal(most, made.curvature[1][i].diagonal())
        if found.convex[i] and not is_semidefinite(own[np.ix_(wide, wide)]):
            wrong.append((i, "convex"))
        if found.no_minimiser[i] and any(is_semidefinite(h[np.ix_(free, free)]) for h in (own, most)):
            wrong.append((i, "no minimiser"))
        if (found.concave[i] & (own.diagonal() >= 0)).any():
            wrong.append((i, "concave"))
    return wrong

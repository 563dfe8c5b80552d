"""A population of points that learns steps from its own differences: where slopes lead nowhere (POLICY).

Differential evolution with the step sizes of its successes (Tanabe and Fukunaga's SHADE, without an archive), in the
unit cube of a chart of the domain. It draws from a seeded generator, so that it goes the same way every time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.search.auto.evaluations import Evaluations
from infimum.search.auto.starts import Chart, spread

FloatArray = npt.NDArray[np.float64]

_MEMORY = 6  # pairs of step size and crossover that are remembered
_BEST = 0.15  # of the population: one of the best of them is what a member moves towards
_ALIKE = 1e-9  # of the unit cube: a population that is no wider has converged


class Population:
    """Members (k, n) of the unit cube, each the picture of a point of the domain, with the values (k,) there."""

    def __init__(
        self, evaluate: Evaluations, chart: Chart, by_magnitude: bool, count: int, draw: np.random.Generator
    ) -> None:
        self.evaluate, self.chart, self.by_magnitude = evaluate, chart, by_magnitude
        self.draw = draw
        self.cube = spread(draw, count, evaluate.n)
        self.value = self._values(self.cube)
        self.sizes, self.crossings = np.full((2, _MEMORY), 0.5)
        self.next = 0  # of the memory, to be written

    @property
    def best(self) -> FloatArray:
        """The best point (n,) of the domain among them."""
        at = int(np.argmin(self.value))
        return np.asarray(self.chart.points(self.cube[at : at + 1], self.by_magnitude)[0])

    @property
    def has_converged(self) -> bool:
        """Whether all members have come together, or have one value."""
        return bool(np.ptp(self.cube, axis=0).max() < _ALIKE) or bool(np.ptp(self.value) == 0)

    def generation(self) -> None:
        """Try one child for each member; the better one of both stays."""
        draw, u = self.draw, self.cube
        k, n = u.shape
        which = draw.integers(_MEMORY, size=k)
        size = np.clip(self.sizes[which] + 0.1 * np.tan(np.pi * (draw.random(k) - 0.5)), 0.05, 1.0)
        crossing = np.clip(self.crossings[which] + 0.1 * draw.standard_normal(k), 0.0, 1.0)
        order = np.argsort(self.value, kind="stable")
        towards = order[draw.integers(max(2, int(_BEST * k)), size=k)]
        first, second = draw.integers(k, size=(2, k))
        child = u + size[:, None] * (u[towards] - u + u[first] - u[second])
        child = np.where(child < 0, u / 2, np.where(child > 1, (1 + u) / 2, child))
        mixed = draw.random((k, n)) < crossing[:, None]
        mixed[np.arange(k), draw.integers(n, size=k)] = True
        child = np.where(mixed, child, u)
        value = self._values(child)
        better = value < self.value
        if better.any():
            gain = np.minimum(self.value[better] - value[better], 1e300)
            weight = gain / gain.sum()
            self.sizes[self.next] = (weight * size[better] ** 2).sum() / (weight * size[better]).sum()
            self.crossings[self.next] = (weight * crossing[better]).sum()
            self.next = (self.next + 1) % _MEMORY
        self.cube = np.where(better[:, None], child, u)
        self.value = np.where(better, value, self.value)

    def _values(self, cube: FloatArray) -> FloatArray:
        """Return the values (k,), the largest double for those that are no number or infinite."""
        values = self.evaluate.values(self.chart.points(cube, self.by_magnitude))
        return np.where(np.isfinite(values), values, np.finfo(np.float64).max)

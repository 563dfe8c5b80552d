"""Better points, many at a time, for a small share of what the boxes cost (POLICY).

Turn by turn, one way after the other; a way that found a better point has another turn. Of many starts the best ones
descend side by side: by residuals where f is a sum of squares, by slopes otherwise.

way         its starts
even        spread evenly over the domain
magnitude   spread with magnitudes drawn evenly, where a variable's range has many
boxes       spread over the boxes of the batch, which may hold the minimum
near        beside the best ends of descents, at all distances
mixed       the same, variables of one in another
population  none: generations of a population
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes
from infimum.deadline import Late
from infimum.fractions import at_fraction
from infimum.search.auto import tuning
from infimum.search.auto.descents import Descents, QuasiNewton
from infimum.search.auto.elite import Elite
from infimum.search.auto.evaluations import Evaluations
from infimum.search.auto.least_squares import LevenbergMarquardt, linear_variables, with_best_linear
from infimum.search.auto.points import Points
from infimum.search.auto.population import Population
from infimum.search.auto.starts import Chart, spread

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_SEED = 20_240_607
_SAME = 1e-6  # of the value: descents that end no farther apart have ended at one minimum


class Exploration:
    """The ways to better points, in turns, and what they have cost.

    misses: turns since the last better point, and descents that ended where it is: the more, the dearer is a turn
    """

    def __init__(self, points: Points) -> None:
        self.points = points
        self.evaluate = Evaluations(points.function)
        self.lo, self.hi = points.domain.inner_lo, points.domain.inner_hi
        self.draw = np.random.default_rng(_SEED)
        self.chart = Chart(self.lo, self.hi)
        self.width = min(tuning.FIRST_WIDTH, self._most())
        self.misses = 0.0
        self.spent = 0.0
        self.turns = 0
        self.population: Population | None = None
        self.linear: IndexArray | None = None
        self.elite = Elite(self.lo, self.hi, self.draw)
        self.ways = ["even", "near", "mixed", "boxes", "population"]
        if self.chart.is_by_magnitude.any():
            self.ways.insert(0, "magnitude")

    def _most(self) -> int:
        """Return how many points may descend side by side: few of many variables, as each takes memory."""
        n = self.points.function.n
        squares = self.evaluate.squares
        each = max(n * min(n, 24), 0 if squares is None else squares.m * n)
        return min(tuning.MOST_WIDTH, tuning.DESCENT_NUMBERS // each)

    def look(self, boxes: Boxes, taken: int) -> str:
        """Take turns as long as the boxes that the search has taken pay for them; return the last way that led to a better point."""
        found = ""
        while self.width >= tuning.LEAST_WIDTH and self.spent <= tuning.SHARE * taken - tuning.TURN:
            way = self.ways[0]
            before, paid = self.points.upper, self.evaluate.spent
            hits = self._turn(way, boxes)
            is_better = self.points.upper < before - _SAME * abs(before) or (
                np.isinf(before) and self.points.upper < before
            )
            found = way if self.points.upper < before else found
            self.turns += 1
            dearer = min(tuning.DEAREST, 1 + self.misses / tuning.PATIENCE)
            self.spent += dearer * (self.evaluate.spent - paid)
            if is_better:
                self.misses = 0.0
            else:
                self.misses += 1 + hits
                self.ways = [*self.ways[1:], way]
                if self.misses > tuning.PATIENCE:
                    self.width = min(2 * self.width, self._most())
        return found

    def _turn(self, way: str, boxes: Boxes) -> int:
        """Take one turn; return how many descents ended at the best point that was known."""
        with np.errstate(all="ignore"):
            before = self.evaluate.count
            try:
                if way == "population":
                    return self._generations()
                return self._descents(self._starts(way, boxes))
            finally:
                self.points.evaluated += self.evaluate.count - before

    # ------------------------------------------------------------------------------------------ descents
    def _starts(self, way: str, boxes: Boxes) -> FloatArray:
        """Return starts (descents, tries, n): the best try of each descent is where it starts."""
        # | way        | and                       | starts                                  |
        # | even       |                           | of the domain                           |
        # | magnitude  |                           | of the domain, by magnitude             |
        # | boxes      |                           | of boxes drawn from the batch           |
        # | near       | there are kept points     | those with some variables moved         |
        # | mixed      | there are two             | mixtures of them                        |
        # | near, mixed| there are not             | of the domain                           |
        if way == "near" and len(self.elite.x):
            return self.elite.near(self.width, tuning.TRIES)
        if way == "mixed" and len(self.elite.x) > 1:
            return self.elite.mixed(self.width, tuning.TRIES)
        count, n = tuning.STARTS * self.width, self.points.function.n
        cube = spread(self.draw, count, n)
        if way == "boxes" and len(boxes):
            some = self.draw.integers(len(boxes), size=count)
            x = np.clip(at_fraction(boxes.lo[some], boxes.hi[some], cube), self.lo, self.hi)
        else:
            x = self.chart.points(cube, way == "magnitude")
        return x[None]

    def _best(self, starts: FloatArray) -> FloatArray:
        """Return the best starts, as many as may descend, with linear variables where they are best."""
        groups, tries, n = starts.shape
        x = starts.reshape(-1, n)
        if self.evaluate.squares is not None:
            x = with_best_linear(self.evaluate, x, self._linear(), self.lo, self.hi)
        values = self.evaluate.values(x).reshape(groups, tries)
        values = np.where(np.isnan(values), np.inf, values)
        at = np.argsort(values, axis=1, kind="stable")[:, : max(1, self.width // groups)]
        chosen = (at + tries * np.arange(groups)[:, None]).ravel()
        return x[chosen[np.isfinite(values.ravel()[chosen])]]

    def _descents(self, starts: FloatArray) -> int:
        x = self._best(starts)
        if not len(x):
            return 0
        kind: type[Descents] = QuasiNewton if self.evaluate.squares is None else LevenbergMarquardt
        descents = kind(self.evaluate, x, self.lo, self.hi)
        before = self.points.upper
        try:
            descents.run(tuning.STEPS)
        except Late:
            self.points.offer(descents.x[np.argmin(descents.value)])
            raise
        self._offer(descents.x)
        values = self.points.values(descents.x)
        self.elite.keep(descents.x, values)
        return int((np.abs(values - before) <= _SAME * np.abs(before)).sum()) if np.isfinite(before) else 0

    def _offer(self, x: FloatArray) -> None:
        if self.points.offer_best(x):
            self.points.polish(self.evaluate)

    def _linear(self) -> IndexArray:
        """Return the variables that enter linearly, found once."""
        if self.linear is None:
            one, other = self.chart.points(spread(self.draw, 2, self.points.function.n), by_magnitude=True)
            self.linear = linear_variables(self.evaluate, one, other)
        return self.linear

    # ------------------------------------------------------------------------------------------ generations
    def _generations(self) -> int:
        n = self.points.function.n
        if self.population is None or self.population.has_converged:
            count = int(np.clip(tuning.MEMBERS * n, tuning.LEAST_MEMBERS, tuning.MOST_MEMBERS))
            by_magnitude = bool(self.chart.is_by_magnitude.any()) and bool(self.draw.random() < 0.5)
            cube = spread(self.draw, count, n)
            self.population = Population(
                lambda u: self.evaluate.values(self.chart.points(u, by_magnitude)), cube, self.draw
            )
            self.by_magnitude = by_magnitude
        for _ in range(tuning.GENERATIONS):
            self.population.generation()
        best = self.population.cube[self.population.best]
        self._offer(self.chart.points(best[None], self.by_magnitude))
        return 0

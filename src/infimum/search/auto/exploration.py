"""Better points, many at a time, for a small share of what the boxes cost (POLICY).

Turn by turn, one way after the other; a way that found a better point has another turn. Of many starts the best descend
side by side: by residuals where f is a sum of squares, by slopes otherwise. The more turns find nothing, and the more
descents end at the best point that is known, the dearer is a turn.

way         its starts
polish      none: a descent from the best point down to its last digits, where another way has found it
given       the user's points, once
magnitude   spread over the domain with magnitudes drawn evenly, where a variable's range has many
even        spread over the domain evenly
near        beside the best ends of descents, at all distances
mixed       the same, with variables of one in another
boxes       spread over the boxes of the batch, which may hold the minimum
population  none: generations of a population
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes
from infimum.concurrency import cached_property
from infimum.deadline import Late
from infimum.fractions import at_fraction
from infimum.search.auto import tuning
from infimum.search.auto.descents import Descents, QuasiNewton
from infimum.search.auto.elite import Elite
from infimum.search.auto.evaluations import CALL, Evaluations
from infimum.search.auto.least_squares import LevenbergMarquardt, linear_variables, with_best_linear
from infimum.search.auto.points import Points
from infimum.search.auto.population import Population
from infimum.search.auto.starts import Chart, spread

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_SEED = 20_240_607
_SAME = 1e-6  # of the value: descents that end no farther apart have ended at one minimum
_WAYS = ("even", "near", "mixed", "boxes", "population")


class Exploration:
    """The ways to better points in turns, and what they have cost, in values at a point.

    misses: turns since the last better point, and descents that ended where it is
    """

    def __init__(self, points: Points, given: FloatArray | None = None) -> None:
        self.points = points
        self.lo, self.hi = points.domain.inner_lo, points.domain.inner_hi
        self.given = given
        self.evaluate = Evaluations(points.function)
        self.draw = np.random.default_rng(_SEED)
        self.elite = Elite(self.lo, self.hi, self.draw)
        self.width = min(tuning.FIRST_WIDTH, self._most)
        self.population: Population | None = None
        self.polished = np.inf  # the upper bound after the last polish
        self.misses = 0.0
        self.spent = 0.0

    @cached_property
    def chart(self) -> Chart:
        """Return the domain as a picture of the unit cube."""
        return Chart(self.lo, self.hi)

    @cached_property
    def ways(self) -> list[str]:
        """Return the ways in the order of their next turns."""
        first = [] if self.given is None else ["given"]
        return [*first, *(["magnitude"] if self.chart.is_by_magnitude.any() else []), *_WAYS]

    @cached_property
    def _numbers(self) -> int:
        """How many numbers a point's descent takes in its largest array."""
        n, squares = self.points.function.n, self.evaluate.squares
        return n * max(min(n, tuning.STEP_PAIRS), 0 if squares is None else squares.m)

    @property
    def _most(self) -> int:
        """How many points may descend side by side."""
        return min(tuning.MOST_WIDTH, tuning.DESCENT_NUMBERS // self._numbers)

    # ------------------------------------------------------------------------------------------ turns
    def look(self, boxes: Boxes, taken: int) -> str:
        """Take turns as long as the boxes that a search has taken pay for them; return the last that led to better."""
        found = ""
        share = tuning.SHARE if self.evaluate.squares is None else tuning.SHARE_OF_SQUARES
        first = min(taken, tuning.FIRST_BOXES)
        while self.spent + tuning.TURN <= share * (first + tuning.LATER * (taken - first)):
            before, is_raw = self.points.upper, self.points.upper < self.polished
            if not is_raw and self.width < tuning.LEAST_WIDTH:
                break
            way = "polish" if is_raw else self.ways[0]
            dearer = min(tuning.DEAREST, 1 + self.misses / tuning.PATIENCE)
            hits = self._turn(way, boxes, dearer)
            if self.points.upper < before:
                found = way
            if is_raw:
                continue
            if self.points.upper < before - _SAME * abs(before) or np.isinf(before) > np.isinf(self.points.upper):
                self.misses = 0.0
            else:
                self.misses += 1 + hits
                self.ways = [*self.ways[1:], way]
                if self.misses > tuning.PATIENCE:
                    self.width = min(2 * self.width, self._most)
            if way == "given":
                self.ways = [other for other in self.ways if other != "given"]
        return found

    def _turn(self, way: str, boxes: Boxes, dearer: float) -> int:
        """Take one turn, and pay for it; return how many descents ended at the best point that was known."""
        count, cost, others = self.evaluate.count, self.evaluate.spent, self.points.evaluated
        try:
            with np.errstate(all="ignore"):
                if way == "polish":
                    return self._polish()
                return self._generations() if way == "population" else self._descents(self._starts(way, boxes))
        finally:
            alone = self.points.evaluated - others
            self.spent += dearer * (self.evaluate.spent - cost + CALL * alone)
            self.points.evaluated += self.evaluate.count - count

    # ------------------------------------------------------------------------------------------ descents
    def _starts(self, way: str, boxes: Boxes) -> FloatArray:
        """Return starts (groups, tries, n), of which the best of each group descend."""
        # | way         | and                   | starts                            | groups              |
        # | given       |                       | the user's                        | one                 |
        # | magnitude   |                       | of the domain, by magnitude       | one                 |
        # | even        |                       | of the domain                     | one                 |
        # | boxes       |                       | of boxes drawn from the batch     | one                 |
        # | near, mixed | descents have ended   | made from the best of their ends  | one for each descent|
        # | near, mixed | none has              | of the domain                     | one                 |
        if way == "given" and self.given is not None:
            return self.given[None]
        if way in ("near", "mixed") and len(self.elite.x):
            made = self.elite.near if way == "near" else self.elite.mixed
            return made(self.width, tuning.TRIES)
        count = min(tuning.STARTS * self.width, max(self.width, tuning.START_NUMBERS // self._numbers))
        cube = spread(self.draw, count, self.points.function.n)
        if way != "boxes":
            return self.chart.points(cube, way == "magnitude")[None]
        some = self.draw.integers(len(boxes), size=count)
        return np.clip(at_fraction(boxes.lo[some], boxes.hi[some], cube), self.lo, self.hi)[None]

    def _best(self, starts: FloatArray) -> FloatArray:
        """Return the best starts, as many as may descend, their linear variables moved to where they are best."""
        groups, tries, n = starts.shape
        x = starts.reshape(-1, n)
        if self.evaluate.squares is not None:
            x = with_best_linear(self.evaluate, x, self._linear, self.lo, self.hi)
        values = self.evaluate.values(x).reshape(groups, tries)
        values = np.where(np.isnan(values), np.inf, values)
        at = np.argsort(values, axis=1, kind="stable")[:, : max(1, self.width // groups)]
        chosen = (at + tries * np.arange(groups)[:, None]).ravel()
        return np.asarray(x[chosen[np.isfinite(values.ravel()[chosen])]])

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
        values = self.evaluate.values(descents.x)
        self.elite.keep(descents.x, values)
        return int((np.abs(values - before) <= _SAME * np.abs(before)).sum()) if np.isfinite(before) else 0

    def _offer(self, x: FloatArray) -> None:
        if self.points.offer_best(x):
            self._polish()

    def _polish(self) -> int:
        self.points.polish(self.evaluate)
        self.polished = self.points.upper
        return 0

    @cached_property
    def _linear(self) -> IndexArray:
        """The variables that enter linearly."""
        cube = spread(self.draw, 2 * tuning.CASTS, self.points.function.n)
        return linear_variables(self.evaluate, *np.split(self.chart.points(cube, by_magnitude=True), 2))

    # ------------------------------------------------------------------------------------------ generations
    def _generations(self) -> int:
        if self.population is None or self.population.has_converged:
            self.population = self._spread_population()
        for _ in range(tuning.GENERATIONS):
            self.population.generation()
        self._offer(self.population.best[None])
        return 0

    def _spread_population(self) -> Population:
        n = self.points.function.n
        count = int(np.clip(tuning.MEMBERS * n, tuning.LEAST_MEMBERS, tuning.MOST_MEMBERS))
        by_magnitude = bool(self.chart.is_by_magnitude.any()) and bool(self.draw.random() < 0.5)
        return Population(self.evaluate, self.chart, by_magnitude, count, self.draw)

"""What a result claims, and everything about it that is certainly false by numbers that infimum had no part in.

Numbers are doubles, Fractions or balls of Arb; a comparison counts only where it is certain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

from infimum.search.status import Status
from random_functions import RandomFunction

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Claim:
    """The minimum lies in [lower, upper], every minimiser in the boxes, no value in a box below its bound."""

    lower: float
    upper: float
    boxes: FloatArray
    bounds: FloatArray
    x: FloatArray | None
    status: Status

    @classmethod
    def of(cls, result: Any) -> Claim:
        """The claim of a result, of the negated function for a maximum."""
        if not result.maximize:
            return cls(*_ends(result.optimum), result.listed, result.bounds, result.x, result.status)
        lower, upper = _ends(result.optimum)
        return cls(-upper, -lower, result.listed, -result.bounds, result.x, result.status)

    def changed(self, **fields: Any) -> Claim:
        return replace(self, **fields)


def _ends(interval: Any) -> tuple[float, float]:
    return float(interval.lo), float(interval.hi)


@dataclass(frozen=True)
class Truth:
    """What is known of a function: its minimum, some minimisers, values at points (a ball, or None: unknown)."""

    bounds: Sequence[tuple[Any, Any]]
    minimum: Any = None
    minimisers: Sequence[Sequence[Any]] = ()
    points: Sequence[tuple[FloatArray, Any]] = ()
    value: Callable[[FloatArray], Any] = lambda _: None


def truth_of(f: RandomFunction) -> Truth:
    """What Arb knows of a random function: values at the best of many points, and the minimiser where it is planted."""
    near = f.good_points() if f.minimiser is None else f.points_near(f.minimiser)
    points = [(point, value) for point in near if (value := f.value(point)) is not None]
    if f.minimiser is None:
        return Truth(f.bounds, points=points, value=f.value)
    return Truth(f.bounds, 0.0, [f.minimiser], points, f.value)


def ball(number: Any) -> Any:
    """A number as a ball of Arb."""
    flint.ctx.prec = 300
    if isinstance(number, Fraction):
        return flint.arb(number.numerator) / flint.arb(number.denominator)
    return number if isinstance(number, flint.arb) else flint.arb(float(number))


def neighbours(number: Any) -> tuple[float, float]:
    """The doubles just below and above a number, or the number itself twice."""
    exact = ball(number)
    down = up = float(exact.mid())
    while not flint.arb(down) <= exact:
        down = math.nextafter(down, -math.inf)
    while not flint.arb(up) >= exact:
        up = math.nextafter(up, math.inf)
    return down, up


def holding(boxes: FloatArray, point: Iterable[Any]) -> npt.NDArray[np.bool_]:
    """Which boxes certainly contain the point."""
    down, up = (np.array(ends) for ends in zip(*map(neighbours, point), strict=True))
    return np.asarray(((boxes[:, :, 0] <= down) & (up <= boxes[:, :, 1])).all(1))


def falsehoods(claim: Claim, truth: Truth) -> list[str]:
    """Every sentence of the claim that is certainly false."""
    # | sentence                                  | is false where                                                |
    # | there is no minimum                       | the function has a value somewhere                            |
    # | the minimum is in [lower, upper]          | it is known and outside, or a value is below lower            |
    # | upper is the bound of a value             | x lies outside the bounds, or the value there is above upper  |
    # | the boxes hold every minimiser            | a known one is in none of them                                |
    # | a box's bound is below its values         | a known value in it is below that                             |
    # | lower is the least bound                  | it is not, or a box leaves the domain                         |
    known = [(tuple(p), ball(truth.minimum)) for p in truth.minimisers]
    if claim.status == Status.UNDEFINED:
        return ["undefined everywhere"] if known or truth.points else []
    found = [] if claim.lower <= claim.upper else [f"lower {claim.lower.hex()} <= upper {claim.upper.hex()}"]
    if truth.minimum is not None and flint.arb(claim.upper) < ball(truth.minimum):
        found.append(f"the minimum is at most {claim.upper.hex()}")
    if truth.minimum is not None and flint.arb(claim.lower) > ball(truth.minimum):
        found.append(f"the minimum is at least {claim.lower.hex()}")
    for point, value in [*known, *((tuple(p), v) for p, v in truth.points)]:
        inside = holding(claim.boxes, point)
        if flint.arb(claim.lower) > value:
            found.append(f"{claim.lower.hex()} is below the value {value} at {point}")
        if inside.any() and flint.arb(float(claim.bounds[inside].max())) > value:
            found.append(f"the bound of a box is below the value {value} at {point}")
        if (point, value) in known and not inside.any():
            found.append(f"the boxes hold the minimiser {point}")
    if claim.x is not None:
        found += _of_the_point(claim, truth, claim.x)
    return found + _of_the_boxes(claim, truth)


def _of_the_point(claim: Claim, truth: Truth, x: FloatArray) -> list[str]:
    inside = all(ball(lo) <= flint.arb(v) <= ball(hi) for v, (lo, hi) in zip(x.tolist(), truth.bounds, strict=True))
    value = truth.value(x)
    below = value is None or not value > flint.arb(claim.upper)
    return ([] if inside else [f"x = {x} is within the bounds"]) + (
        [] if below else [f"the value {value} at x is at most {claim.upper.hex()}"]
    )


def _of_the_boxes(claim: Claim, truth: Truth) -> list[str]:
    outer = [(neighbours(lo)[0], neighbours(hi)[1]) for lo, hi in truth.bounds]
    within = all(
        (claim.boxes[:, i, 0] >= lo).all() and (claim.boxes[:, i, 1] <= hi).all() for i, (lo, hi) in enumerate(outer)
    )
    least = min([claim.upper, *claim.bounds.tolist()])
    proper = bool((claim.boxes[:, :, 0] <= claim.boxes[:, :, 1]).all())
    return ([] if within and proper else ["the boxes lie within the bounds"]) + (
        [] if claim.lower == least else [f"{claim.lower.hex()} is the least of the bounds, {least.hex()}"]
    )

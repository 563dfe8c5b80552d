"""What contractors of fits claim, against exact values: at random points, and where squares are least in a box."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from contractions import boxes_around
from fit_functions import Fit, fit_function
from infimum.boxes import Boxes, FloatArray
from infimum.contractors.known import Known
from infimum.domain import read_bounds
from infimum.function.function import Function, trace

Make = Callable[[Function], Any]
drawn = cache(fit_function)


@cache
def boxes_of(f: Fit, seed: int, count: int = 10) -> tuple[FloatArray, FloatArray, list[list[Any]], list[FloatArray]]:
    """Boxes around points of a fit, the values of f at some points of each, and the points that are lowest."""
    draw = np.random.default_rng(seed)
    lo, hi = (np.array(end, float) for end in zip(*f.bounds, strict=True))
    low, high = np.clip(lo, -10.0, 10.0), np.clip(hi, -10.0, 10.0)
    points = np.vstack([draw.uniform(low, high, (count - 4, f.n)), *([np.array(f.best)[None]] * 4)])
    lo, hi = boxes_around(points, f.bounds, seed)
    values, lowest = [], []
    for i, point in enumerate(points):
        within = np.clip(lo[i], -100.0, 100.0), np.clip(hi[i], -100.0, 100.0)
        inside = np.clip(draw.uniform(*within, (3, f.n)), lo[i], hi[i])
        least = f.lowest(lo[i], hi[i], point)
        values.append([f.value(x) for x in (least, point, *inside)])
        lowest.append(least)
    return lo, hi, values, lowest


def false_claims(make: Make, functions: Iterable[tuple[Fit, int]], count: int = 10) -> tuple[list[str], int]:
    """Claims that are false: bounds above a value in the box, boxes with a point up to `upper` that are left out.

    Also how many boxes were bounded.
    """
    found, bounded = [], 0
    for f, seed in functions:
        domain = read_bounds(f.bounds, f.n)
        function = trace(f, f.n, box=(domain.lo, domain.hi))
        contractor = make(function)
        if contractor is None:
            continue
        lo, hi, values, _ = boxes_of(f, seed, count)
        known = [[v for v in some if v is not None] for some in values]
        least = np.array(
            [min((math.nextafter(float(v.upper()), math.inf) for v in some), default=math.inf) for some in known]
        )
        for limit in (least, np.full(len(lo), 1e300)):
            boxes = Boxes(lo, hi)
            after = contractor.contract(boxes, Known(function, domain, limit))
            bounded += int((after.lower > -np.inf).sum())
            for i, some in enumerate(known):
                if some and not (after.lo[i] == lo[i]).all():
                    found.append(f"{f.name}: box {i} lost a value {float(some[0].mid()).hex()}")
                if not all(v >= after.lower[i] for v in some):
                    found.append(f"{f.name}: box {i} has a value below {float(after.lower[i]).hex()}")
    return found, bounded

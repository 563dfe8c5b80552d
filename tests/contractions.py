"""Points that a contraction must keep: what the tests of contraction and of contractors share."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.backends import cpu
from infimum.boxes import Boxes, Ends, FloatArray
from infimum.contractors import Contractor, Known, LayerSlopes, Level, MeanValue, Monotone, Stationary, layered
from infimum.domain import Domain, read_bounds
from infimum.function.function import Function
from infimum.passes.contract.contraction import contraction


class Applied:
    """A contractor together with one function and its domain, on plain arrays of ends."""

    def __init__(self, contractor: Contractor, function: Function, domain: Domain | None = None) -> None:
        everywhere = read_bounds([(None, None)] * function.n, function.n)
        self.contractor = contractor
        self.known = function, everywhere if domain is None else domain

    def boxes(self, lo: Any, hi: Any, upper: Any = np.inf) -> Boxes:
        """Return the boxes with their lower bounds, contracted."""
        return self.contractor.contract(Boxes(lo, hi), Known(*self.known, upper))

    def contract(self, lo: Any, hi: Any, upper: Any = np.inf) -> Ends:
        """Return the ends of the boxes, contracted."""
        return self.boxes(lo, hi, upper).ends


def level(function: Function, **how: Any) -> Applied:
    return Applied(Level(**how), function)


def mean_value(function: Function) -> Applied:
    return Applied(MeanValue(), function)


def stationary(function: Function, domain: Domain) -> Applied:
    return Applied(Stationary(), function, domain)


def monotone(function: Function, domain: Domain) -> Applied:
    return Applied(Monotone(), function, domain)


def layer(function: Function) -> Applied:
    found = layered(function)
    assert found is not None
    return Applied(found, function)


def layer_slopes(function: Function, domain: Domain) -> Applied:
    found = layered(function)
    assert found is not None
    return Applied(LayerSlopes(found), function, domain)


def boxes_around(points: FloatArray, bounds: Any, seed: int) -> Ends:
    """For each point a box of some size within the bounds that contains it; now and then its end."""
    draw = np.random.default_rng(seed)
    low, high = (np.array(end, float) for end in zip(*bounds, strict=True))
    reach = 10.0 ** draw.uniform(-3, 2, (2, *points.shape)) * (draw.random((2, *points.shape)) < 0.8)
    far = draw.random((2, len(points), 1)) < 0.2
    lo = np.where(far[0], low, np.maximum(low, points - reach[0]))
    hi = np.where(far[1], high, np.minimum(high, points + reach[1]))
    return np.minimum(lo, points), np.maximum(hi, points)


def missing(points: FloatArray, boxes: Ends) -> list[str]:
    """The points that are not in their boxes."""
    inside = ((boxes[0] <= points) & (points <= boxes[1])).all(axis=1)
    return [
        f"{[v.hex() for v in points[i].tolist()]} not in {boxes[0][i].tolist()} to {boxes[1][i].tolist()}"
        for i in np.flatnonzero(~inside)
    ]


def boxes_of_any_size(n: int, seed: int) -> Ends:
    """Boxes with ends of any size, some of them infinite, some with no width."""
    draw = np.random.default_rng(seed)
    ends = np.sort(draw.normal(size=(2, 30, n)) * 10.0 ** draw.integers(-320, 308, (2, 30, n)), axis=0)
    lo, hi = ends
    lo[:5], hi[3:8], hi[8] = -np.inf, np.inf, lo[8]
    lo[9], hi[9] = -1.7e308, 1.7e308
    lo[10:20] = draw.normal(size=(10, n))
    hi[10:20] = lo[10:20] + 10.0 ** draw.integers(-320, 3, (10, n))
    return lo, hi


def wishes(value: Ends, seed: int) -> Ends:
    """Intervals that contain the values: these themselves, from or to infinity, or wider, in turn."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(4, size=value[0].shape)
    wider = np.where(kind == 3, 0.1, 0.0)
    lo = np.where(kind == 1, -np.inf, value[0] - wider * np.minimum(np.abs(value[0]), 1e300))
    hi = np.where(kind == 2, np.inf, value[1] + wider * np.minimum(np.abs(value[1]), 1e300))
    return lo, hi


def removed(function: Function, points: FloatArray, boxes: Ends, seed: int = 0) -> list[str]:
    """Points at which the function is defined and has its wanted value, and which are contracted away all the same."""
    defined, _ = function.fact_arrays(points, points)
    points, boxes = points[defined], (boxes[0][defined], boxes[1][defined])
    value = function.range_ends(points, points)
    return missing(points, contracted(function, boxes, wishes(value, seed)))


def contracted(function: Function, boxes: Ends, wanted: Ends, variant: str | None = None) -> Ends:
    """The boxes, contracted once under a wish for the function's value."""
    program = contraction([function.value_node], function.n)
    low, high = (np.hstack([end, wish[:, None]]) for end, wish in zip(boxes, wanted, strict=True))
    found, _ = cpu.run(program, low, high, variant=variant, threads=1)
    return found

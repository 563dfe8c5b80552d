"""Points that a contraction must keep: what the tests of contraction and of contractors share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.function.function import Function
from infimum.passes.contract.contraction import contraction

FloatArray = npt.NDArray[np.float64]
Boxes = tuple[FloatArray, FloatArray]


def boxes_around(points: FloatArray, bounds: Any, seed: int) -> Boxes:
    """For each point a box of some size within the bounds that contains it; now and then its end."""
    draw = np.random.default_rng(seed)
    low, high = (np.array(end, float) for end in zip(*bounds, strict=True))
    reach = 10.0 ** draw.uniform(-3, 2, (2, *points.shape)) * (draw.random((2, *points.shape)) < 0.8)
    far = draw.random((2, len(points), 1)) < 0.2
    lo = np.where(far[0], low, np.maximum(low, points - reach[0]))
    hi = np.where(far[1], high, np.minimum(high, points + reach[1]))
    return np.minimum(lo, points), np.maximum(hi, points)


def missing(points: FloatArray, boxes: Boxes) -> list[str]:
    """The points that are not in their boxes."""
    inside = ((boxes[0] <= points) & (points <= boxes[1])).all(axis=1)
    return [
        f"{[v.hex() for v in points[i].tolist()]} not in {boxes[0][i].tolist()} to {boxes[1][i].tolist()}"
        for i in np.flatnonzero(~inside)
    ]


def wishes(value: Boxes, seed: int) -> Boxes:
    """Intervals that contain the values: these themselves, from or to infinity, or wider, in turn."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(4, size=value[0].shape)
    wider = np.where(kind == 3, 0.1, 0.0)
    lo = np.where(kind == 1, -np.inf, value[0] - wider * np.minimum(np.abs(value[0]), 1e300))
    hi = np.where(kind == 2, np.inf, value[1] + wider * np.minimum(np.abs(value[1]), 1e300))
    return lo, hi


def removed(function: Function, points: FloatArray, boxes: Boxes, seed: int = 0) -> list[str]:
    """Points at which the function is defined and has its wanted value, and which are contracted away all the same."""
    defined, _ = function.fact_arrays(points, points)
    points, boxes = points[defined], (boxes[0][defined], boxes[1][defined])
    value = function.range_ends(points, points)
    return missing(points, contracted(function, boxes, wishes(value, seed)))


def contracted(function: Function, boxes: Boxes, wanted: Boxes, variant: str | None = None) -> Boxes:
    """The boxes, contracted once under a wish for the function's value."""
    program = contraction([function.value_node], function.n)
    low, high = (np.hstack([end, wish[:, None]]) for end, wish in zip(boxes, wanted, strict=True))
    found, _ = cpu.run(program, low, high, variant=variant, threads=1)
    return found

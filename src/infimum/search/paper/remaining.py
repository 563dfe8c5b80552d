"""What a stopped search leaves: boxes that cover every child not yet looked at, not more than memory allows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.search.paper.enumerated import Run
from infimum.search.paper.tuning import LEFT_ENDS, MOST_WHEN_WAITED_FOR
from infimum.staging.cuda.working import Working

FloatArray = npt.NDArray[np.float64]
Bounded = tuple[float, FloatArray]


def remaining(
    box: Working, enumerated: dict[int, Run], regions: list[int], lower: float, upper: float, at_once: bool = False
) -> list[Bounded]:
    """Return the boxes left of the given regions with their lower bounds, none above `upper`.

    One box a prefix of children; where those are too many, whole regions, or the regions above them. Such a box also
    holds children that were emitted or discarded, so that its bound is `lower`, which holds everywhere. at_once: fewer
    boxes of many variables, where somebody waits for the answer.
    """
    most = max(1024, LEFT_ENDS // (2 * box.lo.size))
    if at_once:
        most = max(1, min(MOST_WHEN_WAITED_FOR, LEFT_ENDS // (2 * box.lo.size)))
    entries: list[tuple[int, float, int, int]] = []
    for region in regions:
        bounds, indices, depths = (part.tolist() for part in _left(box, enumerated, region))
        entries += [
            (region, bound, index, depth)
            for bound, index, depth in zip(bounds, indices, depths, strict=True)
            if bound <= upper
        ]
        if len(entries) > most:
            return _coarse(box, regions, lower, most)
    found: list[Bounded] = []
    for region, bound, index, depth in entries:
        box.go(region, index, depth)
        found.append((bound if depth else lower, np.stack([box.lo, box.hi], 1)))
    return found


def _left(
    box: Working, enumerated: dict[int, Run], region: int
) -> tuple[FloatArray, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if region not in enumerated:
        return box.prefixes(region)
    bounds, indices = enumerated[region].left()
    return bounds, indices, np.full(bounds.size, 64)


def _coarse(box: Working, regions: list[int], lower: float, most: int) -> list[Bounded]:
    """Return whole regions; the deepest are replaced by those above them until they are few enough."""
    by_depth: dict[int, set[int]] = {}
    for region in regions:
        by_depth.setdefault(box.depth(region), set()).add(region)
    count = len(regions)
    while count > most:
        deepest = max(by_depth)
        gone = by_depth.pop(deepest)
        above = by_depth.setdefault(deepest - 1, set())
        count -= len(gone) + len(above)
        above.update(box.parent(region) for region in gone)
        count += len(above)
    found: list[Bounded] = []
    for region in sorted(set().union(*by_depth.values())):
        box.go(region)
        found.append((lower, np.stack([box.lo, box.hi], 1)))
    return found
